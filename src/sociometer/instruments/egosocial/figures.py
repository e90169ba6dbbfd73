"""Summary -> figures and tables, as the paper shows them; the games add theirs."""

from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Any

from sociometer.core.measure import Figure, Table
from sociometer.core.task import AnyRun
from sociometer.instruments import card_of
from sociometer.instruments.egosocial.games.numbers.figures import number_figures
from sociometer.instruments.egosocial.paper import COLUMNS, PAPER, PEOPLE, Column
from sociometer.instruments.egosocial.play import Picks
from sociometer.instruments.egosocial.published.reproduce import published
from sociometer.instruments.egosocial.scene import Scene
from sociometer.statistics.chart_parts import ReferenceLine
from sociometer.statistics.charts import Dot, dots_of, interval_chart
from sociometer.statistics.formatting import group_text, told_chances

_TITLES = {"table2": ("Table 2", "theory of mind"), "table3": ("Table 3", "socialization")}


def scene_figures(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Every column of the paper's two tables with the paper's models, then paired contrasts."""
    for column in COLUMNS:
        yield from _beside_paper(column, [run for run in runs if run.task == column.task])
    yield from _contrast(runs, ("tomi", "generated", "tombench"), "gain", "order", "First − third person")
    yield from _contrast(runs, ("counterfactual",), "gap", "kind", "Counterfactual gap (factual − counterfactual)")


def _beside_paper(column: Column, runs: Sequence[AnyRun]) -> Iterator[Figure]:
    dots = dots_of((run.subject, column.found([run]), "") for run in runs)
    if not dots:
        return
    card = card_of("egosocial")
    chance = next(known.chance for known in card.measures_of(column.task) if known.name == column.measure)
    lines = chance_lines(runs, chance or 0.0)
    for row in published(column.table) if column.printed else ():
        value = float(row[column.printed]) / 100
        if row["model"] == PEOPLE:
            lines.append(ReferenceLine("people (paper)", value))
        else:
            dots.append(Dot(row["model"], value, group="paper", note="as printed, without an interval"))
    chart = interval_chart(dots, title="accuracy", domain=(0, 1), references=lines, quiet="paper")
    label, title = _TITLES[column.table]
    grey = f"Grey squares are the models of the paper. {PAPER.described[label].note}" if column.printed else ""
    caption = f"Intervals are clustered by {card.task_card(column.task).cluster}. {grey}".strip()
    name = "-".join((column.task, column.measure, *column.group.values())).replace("_", "-")
    yield Figure(name, f"{label}, {title}: {column.title}", caption, chart=chart)


def chance_lines(runs: Sequence[AnyRun], usual: float) -> list[ReferenceLine]:
    """The expected score of guessing: one line for all, or one per subject if their numbers of options differ."""
    earned = {run.subject: told_chances(run.summary).get("first") or usual for run in runs}
    if len(set(earned.values())) < 2:
        return [ReferenceLine("chance", next(iter(earned.values()), usual))]
    return [ReferenceLine(f"chance ({subject})", chance) for subject, chance in earned.items()]


def _contrast(runs: Sequence[AnyRun], tasks: Sequence[str], name: str, facet: str, title: str) -> Iterator[Figure]:
    for task in tasks:
        dots = dots_of(
            (group_text(measure.group) or "all", measure, run.subject)
            for run in runs
            for measure in run.summary.measures
            if run.task == task and measure.name == name and set(measure.group) <= {facet}
        )
        if dots:
            axis, zero = f"{title}, in points", [ReferenceLine("no difference", 0.0)]
            chart = interval_chart(dots, title=axis, unit="share-points", domain=(-1, 1), references=zero)
            named = f"{card_of('egosocial').task_title(task)}: {title}, paired"
            yield Figure(f"{task}-{name}", named, "Positive values favour the first one named.", chart=chart)


def figures(runs: Sequence[AnyRun]) -> Sequence[Figure]:
    """The figures of every scenario that was played."""
    return (*scene_figures(runs), *number_figures(runs))


def beside(item: Any, outcome: Any) -> Figure | None:
    """The figure shown next to a transcript: each telling's options. The transcript of a game has its moves."""
    if not isinstance(item, Scene) or not isinstance(outcome, Picks):
        return None
    rows = tuple(
        (telling.name, ascii_uppercase[place], option, pick.picked == place, telling.answer == place)
        for telling in item.tellings
        if (pick := outcome.of(telling.name)) is not None
        for place, option in enumerate(telling.options)
    )
    table = Table("options", "Options", ("telling", "letter", "option", "picked", "right"), rows)
    return Figure("options", table.title, table=table)
