"""The matched controls of the first person: the same questions with a name, "you" and "I", compared in pairs."""

from collections.abc import Mapping, Sequence

from sociometer.core.instrument import Result
from sociometer.core.measure import Cell, Table
from sociometer.core.task import RunView, SummarisedRun
from sociometer.instruments.egosocial.paper import PARTS, Column
from sociometer.instruments.egosocial.play import Picks
from sociometer.instruments.egosocial.published.reproduce import printed_models, printed_properties
from sociometer.instruments.egosocial.scene import Scene
from sociometer.instruments.egosocial.stories.pairs import CONTROLS
from sociometer.statistics.model_kinds import EXACT, FEW, TRENDS, Described, Properties, kind_rows, trend_rows
from sociometer.statistics.paired import PairedDifference, holm, paired_difference

TITLES = {
    "third": "a name",
    "first": "you, with the system message",
    "you_only": "you",
    "i": "I, with the system message",
    "named": "a name, with the system message",
}
CONTRASTS = (
    ("third", "first", "the whole change to the first person"),
    ("third", "named", "the system message alone"),
    ("third", "you_only", "the word “you” alone"),
    ("named", "first", "“you”, given the system message"),
    ("you_only", "first", "the system message, given “you”"),
    ("first", "i", "“I” instead of “you”"),
)
"""Pairs of tellings, the second minus the first, and what the difference is due to."""
_COLUMNS = ("subject", "tier", "due to", "first", "second", "difference", "from", "to", "p", "p (Holm)", "items")
_UNITS = {"first": "share", "second": "share", "difference": "share-points", "from": "share-points",
          "to": "share-points", "p": "p", "p (Holm)": "p"}  # fmt: skip
Run = RunView[Scene, Picks]


def accuracy_table(runs: Sequence[tuple[str, Run]]) -> Table:
    """Each telling's accuracy by tier."""
    rows: list[tuple[Cell, ...]] = []
    for subject, run in runs:
        for tier in ("all", *_tiers(run)):
            values = [_values(run, name, tier) for name in CONTROLS]
            rows.append((subject, tier, *(sum(found) / len(found) if found else None for found in values)))
    columns = ("subject", "tier", *(TITLES[name] for name in CONTROLS))
    units = dict.fromkeys(columns[2:], "share")
    return Table("accuracy", "Accuracy by version of the story", columns, tuple(rows), units=units)


def contrast_table(runs: Sequence[tuple[str, Run]]) -> Table:
    """The paired contrasts over all tiers and in each, clustered by story; Holm's correction within each tier."""
    rows: list[tuple[Cell, ...]] = []
    for subject, run in runs:
        for tier in ("all", *_tiers(run)):
            found = [(what, _paired(run, one, two, tier)) for one, two, what in CONTRASTS]
            corrected = holm([pair.p_value for _, pair in found]).tolist()
            for (what, pair), p_holm in zip(found, corrected, strict=True):
                bounds = (pair.interval.low, pair.interval.high)
                ends = (pair.first, pair.second, pair.difference, *bounds)
                rows.append((subject, tier, what, *ends, pair.p_value, p_holm, pair.items))
    note = "Differences in points, the second minus the first; intervals and tests are clustered by story."
    details = ("p", "items", *(("subject",) if len(runs) < 2 else ()))
    return Table("contrasts", "Paired contrasts", _COLUMNS, tuple(rows), note, _UNITS, details)


def finding(table: Table) -> str:
    """Which contrasts over all tiers are significant after correction."""
    said = [
        f"{row[0]}: {row[2]} changes accuracy by {float(str(row[5])) * 100:+.1f} points (p = {float(str(row[9])):.3f})."
        for row in table.rows
        if row[1] == "all" and float(str(row[9])) < 0.05
    ]
    return "\n".join(said) or f"None of {len(CONTRASTS)} contrasts changes the accuracy significantly."


def _tiers(run: Run) -> list[str]:
    return list(dict.fromkeys(item.facets["tier"] for item, _, _ in run.scored()))


def _values(run: Run, name: str, tier: str) -> list[float]:
    return [
        score.values[name]
        for item, _, score in run.scored()
        if name in score.values and tier in ("all", item.facets["tier"])
    ]


def _paired(run: Run, first: str, second: str, tier: str) -> PairedDifference:
    both = [
        (item, score)
        for item, _, score in run.scored()
        if {first, second} <= set(score.values) and tier in ("all", item.facets["tier"])
    ]
    return paired_difference(
        [score.values[first] for _, score in both],
        [score.values[second] for _, score in both],
        [item.cluster for item, _ in both],
        items=[item.id for item, _ in both],
    )


COLUMNS: tuple[Column, ...] = tuple(column for _, _, columns in PARTS for column in columns)


def analysis(runs: Sequence[SummarisedRun], properties: Mapping[str, Properties], published: bool) -> Result:
    """Means by kind of model and rank correlations with size and date, for every column that has models."""
    kinds: list[tuple[Cell, ...]] = []
    trends: list[tuple[Cell, ...]] = []
    for column in COLUMNS:
        models = _described(column, runs, properties, published)
        kinds += [(column.title, *row) for row in kind_rows(models, 1)]
        trends += [(column.title, *row) for row in trend_rows(models)]
    missing = sorted({run.subject for run in runs} - set(properties))
    notes = [f"Not in the models file, so excluded: {', '.join(missing)}."] if missing else []
    if published and runs:
        notes.append("Printed values and runs are compared as they are; our items may be easier or harder.")
    note = "p: permutation test over two groups; needs at least two models per group."
    columns = ("scenario", "property", "level", "models", "mean %", "p")
    return Result(
        tables=(
            Table("kinds", "Accuracy by kind of model", columns, tuple(kinds), note),
            Table("trends", "Accuracy by size and date", ("scenario", *TRENDS), tuple(trends), EXACT),
        ),
        notes=(*notes, FEW),
        finding=_finding(kinds),
    )


def _described(
    column: Column, runs: Sequence[SummarisedRun], properties: Mapping[str, Properties], published: bool
) -> list[Described]:
    found = []
    for subject in dict.fromkeys(run.subject for run in runs):
        measure = column.found([run for run in runs if run.subject == subject])
        if measure is not None and measure.value is not None and subject in properties:
            found.append(Described(100 * measure.value, properties[subject]))
    if published and column.printed:
        about = printed_properties()
        found += [Described(values[column.printed], about[name]) for name, values in printed_models().items()]
    return found


def _finding(kinds: Sequence[tuple[Cell, ...]]) -> str:
    tested = {(row[0], row[1]): row[5] for row in kinds if isinstance(row[5], float)}
    clear = [f"{scenario} by {kind}" for (scenario, kind), p in tested.items() if isinstance(p, float) and p < 0.05]
    said = f"{len(tested)} contrasts of two kinds of models, {len(clear) or 'none'} with p < .05"
    return f"{said}: {', '.join(clear)}." if clear else f"{said}."
