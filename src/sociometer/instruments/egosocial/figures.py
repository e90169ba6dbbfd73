"""Summary -> figures and tables, as the paper shows them; the games add theirs."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from sociometer.core.measure import Figure, Table
from sociometer.core.task import AnyRun
from sociometer.instruments import card_of
from sociometer.instruments.egosocial.games.figures import figures as game_figures
from sociometer.instruments.egosocial.play import Picks
from sociometer.instruments.egosocial.published.reproduce import published
from sociometer.instruments.egosocial.scene import Scene
from sociometer.statistics.charts.intervals import Dot, dot_of, interval_chart
from sociometer.statistics.charts.spec import ReferenceLine


class Beside(Struct, frozen=True):
    """A measure, and the column of the paper to compare it with."""

    task: str
    measure: str
    title: str
    chance: float
    table: str = ""
    column: str = ""
    caveat: str = ""
    group: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its figure."""
        return "-".join((self.task, self.measure, *self.group.values())).replace("_", "-")


_OURS = "Our questions differ from the paper's: compare levels with care."
_BY_RULE = "Ours are fields, checked by the exact odds, on other deals; the paper graded sentences by hand."
_OTHER_NETS = "Our opponents and hands differ from the paper's."
SCENARIOS = (
    Beside("tomi", "first_official", "ToMi, first person (official key)", 0.5, "table2", "tomi_first"),
    Beside("tomi", "third_official", "ToMi, third person (official key)", 0.5, "table2", "tomi_third"),
    Beside("tomi", "first", "ToMi, first person (corrected key)", 0.5, caveat="The paper used the official key."),
    Beside("generated", "first", "Generated stories, first person", 0.5, "table2", "tomi_first", _OURS),
    Beside("generated", "third", "Generated stories, third person", 0.5, "table2", "tomi_third", _OURS),
    Beside("counterfactual", "counterfactual", "Counterfactual rules", 0.5, "table3", "counterfactual", _OURS),
    Beside("counterfactual-official", "counterfactual", "Counterfactual", 0.5, "table3", "counterfactual"),
    Beside("newworld", "newworld", "New World", 0.25, "table3", "newworld"),
    Beside("worlds", "worlds", "Invented worlds", 0.25, "table3", "newworld", _OURS),
    Beside("tombench", "first", "ToMBench, first person", 0.29, "table3", "tombench"),
    Beside("tombench", "third", "ToMBench, third person", 0.29, caveat="The paper printed no third-person figures."),
    *(
        Beside(
            "tombench", "first", f"ToMBench, first person: {ability}", chance, "table3", f"tombench_{ability}",
            group={"ability": ability},
        )
        for ability, chance in (("desire", 0.278), ("emotion", 0.262), ("intention", 0.276))
    ),
    Beside("blackjack", "accuracy", "Blackjack: both beliefs right", 0.0, "table3", "blackjack", _BY_RULE),
    *(
        Beside(
            "numbers", "accuracy", f"Number guessing: level-{level} opponent predicted", 0.01, "table2",
            f"numbers_level_{level}", group={"opponent": f"level-{level}"},
        )
        for level in (1, 2, 3)
    ),
    Beside("holdem", "accuracy", "Hold'em: opponent's style named correctly", 0.5, "table2", "holdem", _OTHER_NETS),
)  # fmt: skip


def scene_figures(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Comparisons with the paper, then paired contrasts."""
    for scenario in SCENARIOS:
        yield from _beside_paper(scenario, [run for run in runs if run.task == scenario.task])
    yield from _contrast(runs, ("tomi", "generated", "tombench"), "gain", "order", "First − third person")
    yield from _contrast(runs, ("counterfactual",), "gap", "kind", "Counterfactual gap (factual − counterfactual)")


def _beside_paper(scenario: Beside, runs: Sequence[AnyRun]) -> Iterator[Figure]:
    dots = []
    for run in runs:
        measure = run.summary.measure(scenario.measure, **scenario.group)
        dot = dot_of(run.subject, measure) if measure is not None else None
        dots += [dot] if dot is not None else []
    if not dots:
        return
    lines = chance_lines(runs, scenario.chance)
    for row in published(scenario.table) if scenario.table else ():
        value = float(row[scenario.column]) / 100
        if row["model"] == "Human":
            lines.append(ReferenceLine("people (paper)", value))
        else:
            dots.append(Dot(row["model"], value, group="paper", note="as printed, without an interval"))
    chart = interval_chart(dots, title="accuracy", domain=(0, 1), references=lines, quiet="paper")
    cluster = card_of("egosocial").task_card(scenario.task).cluster
    grey = "Grey squares are the models of the paper. " if scenario.table else ""
    caption = f"Intervals are clustered by {cluster}. {grey}{scenario.caveat}".strip()
    yield Figure(scenario.name, scenario.title, caption, chart=chart)


def chance_lines(runs: Sequence[AnyRun], usual: float) -> list[ReferenceLine]:
    """The expected score of guessing: one line for all, or one per subject if their numbers of options differ."""
    earned = {run.subject: float(run.summary.series.get("chance", usual)) for run in runs}
    if len(set(earned.values())) < 2:
        return [ReferenceLine("chance", next(iter(earned.values()), usual))]
    return [ReferenceLine(f"chance ({subject})", chance) for subject, chance in earned.items()]


def _contrast(runs: Sequence[AnyRun], tasks: Sequence[str], name: str, facet: str, title: str) -> Iterator[Figure]:
    for task in tasks:
        dots = []
        for run in runs:
            for measure in run.summary.measures:
                if run.task == task and measure.name == name and set(measure.group) <= {facet}:
                    dot = dot_of(measure.group.get(facet, "all"), measure, run.subject)
                    dots += [dot] if dot is not None else []
        if dots:
            chart = interval_chart(dots, title=title, domain=(-1, 1), references=[ReferenceLine("no difference", 0.0)])
            named = card_of("egosocial").task_title(task)
            yield Figure(
                f"{task}-{name}",
                f"{named}: {title}, paired",
                "Positive values favour the first one named.",
                chart=chart,
            )


def figures(runs: Sequence[AnyRun]) -> Sequence[Figure]:
    """The figures of every scenario that was played."""
    return (*scene_figures(runs), *game_figures(runs))


def beside(item: Any, outcome: Any) -> Figure | None:
    """The figure shown next to a transcript: each telling's options. The transcript of a game has its moves."""
    if not isinstance(item, Scene) or not isinstance(outcome, Picks):
        return None
    rows = tuple(
        (telling.name, option, pick.picked == place, telling.answer == place)
        for telling in item.tellings
        if (pick := outcome.of(telling.name)) is not None
        for place, option in enumerate(telling.options)
    )
    table = Table("options", "Options", ("telling", "option", "picked", "right"), rows)
    return Figure("options", table.title, table=table)
