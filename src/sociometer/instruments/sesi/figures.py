"""Summaries -> figures, as the paper shows them; report and viewer only arrange these."""

from collections import Counter
from collections.abc import Mapping, Sequence

from sociometer.core.measure import Figure, Summary, Table
from sociometer.core.task import AnyRun
from sociometer.instruments.sesi.conditions import CONTROL
from sociometer.instruments.sesi.errors import CAUSES
from sociometer.instruments.sesi.items import ABILITIES, FIGURES, Question
from sociometer.instruments.sesi.scoring import meanings
from sociometer.reading import ChoiceAnswer
from sociometer.statistics import charts
from sociometer.statistics.chart_parts import ReferenceLine
from sociometer.statistics.formatting import told_chances


def figures(runs: Sequence[AnyRun]) -> Sequence[Figure]:
    """Accuracy by ability and category, position bias, and the causes of errors, for all subjects together."""
    questions = [run for run in runs if run.task == "questions"]
    control = [run for run in questions if run.settings.get("condition", CONTROL) == CONTROL]
    made: list[Figure] = []
    if control:
        made += [_abilities(control), _positions(control)]
    judged = [run for run in runs if run.task == "errors"]
    if judged:
        made.append(cause_figure([run.summary for run in judged]))
    return made


def _abilities(runs: Sequence[AnyRun]) -> Figure:
    groups: dict[str, dict[str, str]] = {"all": {}, **{ability: {"ability": ability} for ability in ABILITIES}}
    dots = charts.dots_of(
        (name, run.summary.find("accuracy", **group), run.subject) for run in runs for name, group in groups.items()
    )
    chart = charts.interval_chart(dots, title="accuracy", references=_references(runs), domain=(0, 1))
    return FIGURES("abilities", chart=chart)


def _references(runs: Sequence[AnyRun]) -> list[ReferenceLine]:
    """Guessing, if it is the same for all runs."""
    found = {told_chances(run.summary).get("accuracy", 0.25) for run in runs}
    chance = found.pop()
    return [ReferenceLine("guessing", chance)] if chance is not None and not found else []


def _positions(runs: Sequence[AnyRun]) -> Figure:
    cells = []
    for run in runs:
        found = next((table for table in run.summary.tables if table.name == "positions"), None)
        if found is None:
            continue
        total = sum(int(row[1] or 0) for row in found.rows) or 1
        cells += [
            charts.HeatCell(run.subject, str(row[0]), int(row[1] or 0) / total, note=found.note) for row in found.rows
        ]
    return FIGURES("positions", chart=charts.heat_map(cells, title="share of picks", unit="share", domain=(0, 1)))


def cause_figure(summaries: Sequence[Summary], people: Mapping[str, Mapping[str, str]] = {}) -> Figure:
    """The causes that the judge named for each subject, and those that people named, by the name of their bar."""
    portions = [
        charts.Portion(subject, cause, measure.value, f"{measure.items} wrong answers")
        for summary in summaries
        for measure in summary.measures
        if (subject := measure.group.get("subject"))
        and (cause := measure.group.get("cause")) in CAUSES
        and measure.value is not None
    ]
    sides = ["the judge"] if portions else []
    for name, labels in people.items():
        counts, told = Counter(labels.values()), f"{len(labels)} wrong answers"
        portions += [charts.Portion(name, cause, counts[cause] / len(labels), told) for cause in CAUSES]
    who = " and by ".join([*sides, *(["people"] if people else [])])
    return FIGURES("causes", chart=charts.stacked_bars(portions, title="share"), who=who)


def beside(item: object, outcome: object) -> Figure | None:
    """The figure shown next to a transcript: the options with the picked and the right one."""
    if isinstance(item, Question) and isinstance(outcome, ChoiceAnswer):
        kinds = [kind.replace(":", ": ") for kind in item.kinds or ("",) * 4]
        rows = tuple(
            (outcome.letters(index), option, kinds[index], index == outcome.picked, index == item.answer)
            for index, option in enumerate(item.options)
        )
        columns = ("letter", "option", "kind", "picked", "right")
        note = meanings(dict.fromkeys(kind.partition(":")[0] for kind in kinds))
        return FIGURES("options", table=Table("options", "Options", columns, tuple(sorted(rows)), note))
    return None
