"""Comparisons in words: the verdicts as a sentence, and the columns of the table."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.measure import Cell, Table
from sociometer.core.words import counted, levels_of, listed, lowered, plural, sentence, verb_of
from sociometer.results.verdicts import ComparedMeasure, Comparison
from sociometer.statistics import formatting
from sociometer.statistics.formatting import bracketed_interval, number
from sociometer.statistics.people import PlaceAmongPeople

FAMILIES = (
    "A verdict follows from the interval next to it. The intervals of a family hold together with the level asked for "
    "(max-t, or Bonferroni below 40 clusters). Within a task, the primary measures of all pairs of runs are one "
    "family (beside people: those of each run with the people), the other measures are a second one, and every way of "
    "grouping one measure is another. Tasks and instruments are separate families."
)
POWER_TERMS = "80 % power, paired by item"
"""What every detectable difference assumes; the spread follows."""


def overall_sentence(comparison: Comparison) -> str:
    """The verdicts on the primary measures, without those on groups."""
    if comparison.refused:
        return f"{comparison.first} and {comparison.second} cannot be compared: {comparison.refused}."
    primary = _primary(comparison)
    whole = [_whole(row, comparison, named=len(primary) > 1) for row in primary]
    return sentence("; ".join((*whole, *comparison.unread)), (comparison.second, comparison.first))


def group_verdicts(comparison: Comparison) -> str:
    """The verdicts on the groups of the primary measures, in a sentence; empty without any."""
    parts = []
    for row in _primary(comparison):
        grouped = [other for other in comparison.measures if other.group and other.name == row.name]
        # the first facet of an instrument is its main grouping (abilities); the others appear in the table only
        first = tuple(grouped[0].group) if grouped else ()
        parts += _groups([other for other in grouped if tuple(other.group) == first])
    return sentence("; ".join(parts))


def adjusted_for(compared: Sequence[Comparison]) -> list[str]:
    """For how many comparisons the intervals of differences are adjusted, and on which tasks; empty if on none."""
    rows = [(one.where, row.family) for one in compared for row in one.primary_rows]
    families = [str(one) for one in sorted({family for _, family in rows} - {1})]
    tasks = dict.fromkeys(where for where, family in rows if family > 1)
    on = f" on {listed([*tasks], 3)}" if len(tasks) < len({where for where, _ in rows}) else ""
    return [f"Intervals of differences{on} are adjusted for {listed(families)} comparisons."] if families else []


def _primary(comparison: Comparison) -> list[ComparedMeasure]:
    overall = [row for row in comparison.measures if not row.group]
    return [row for row in overall if row.primary] or overall[:1]


_OPEN = "no clear difference"


def _whole(row: ComparedMeasure, comparison: Comparison, named: bool) -> str:
    on = f" on {lowered(row.title)}" if named or row.unit not in ("share", "share-points", "points") else ""
    second, first = comparison.second, comparison.first
    verb = verb_of(second)
    if row.verdict in ("better", "worse", "differs"):
        how = f"{verb} different from" if row.verdict == "differs" else f"{verb} {row.verdict} than"
        said = f"{second} {how} {first}{on}: {size_text(row)}"
    elif row.verdict == "equivalent" and row.margin is not None:
        within = formatting.margin_text(row.margin, row.unit)
        said = f"{second} and {first} are the same{on} within {within}: {second} {verb} {size_text(row)}"
    elif row.verdict.startswith("both"):
        seen = f"{second} {verb} {size_text(row)}{_would(row)}"
        on += " overall" * any(other.group for other in comparison.measures)
        said = f"{second} and {first} are {row.verdict}{on}, where this test does not separate models: {seen}"
    elif row.verdict == "too few":
        count = counted(row.paired.clusters, row.paired.interval.scarce(comparison.cluster))
        said = f"{second} against {first}{on}: {count} {'is' if row.paired.clusters == 1 else 'are'} too few to tell"
    elif row.verdict == "no verdict":
        said = f"no verdict{on}, because a stand-in played a role: {second} {verb} {size_text(row, first)}"
    else:
        said = f"{_OPEN}{on}: {second} {verb} {size_text(row, first)}{failed_text(row) or _would(row)}"
    if {*row.ends} == {"chance", "perhaps chance"}:
        said += "; neither can be told from chance"
    elif len({*row.ends}) == 2 and {"top", "chance"} & {*row.ends}:  # beyond an end, a difference does not show
        top = "best value" if row.better == "lower" else "top"
        texts = {"top": f"is at the {top} of this test", "chance": "cannot be told from chance"}
        texts["perhaps chance"] = texts["chance"]
        told = [f"{name} {texts[end]}" for name, end in zip((first, second), row.ends, strict=True) if end in texts]
        said += f" ({' and '.join(told)}: the true difference may be larger)"
    return said


def failed_text(row: ComparedMeasure) -> str:
    """What the failed items could change; empty if they cannot change the verdict."""
    items = "the failed item" if row.failed == 1 else f"the {row.failed} failed items"
    if row.left_open:
        return f" without {items}, which leave it open: “{row.title}” has no lowest or no highest value"
    if not row.with_failed:
        return ""
    worst, best = (bracketed_interval(one, row.unit, row.digits) for one in row.extremes)
    return f" without {items}, {worst} with them at their worst and {best} at their best"


def size_text(row: ComparedMeasure, than: str = "") -> str:
    """The difference of a comparison in words."""
    return formatting.difference_text(row.paired.difference, row.unit, row.paired.interval, than, row.digits)


def _would(row: ComparedMeasure) -> str:
    if row.detectable is None:
        return ""
    size = formatting.amount(row.detectable, row.unit, interval=row.paired.interval)
    return f". {counted(row.paired.items, 'item')} detect {size} or more ({POWER_TERMS}, with the spread of these runs)"


def _groups(rows: Sequence[ComparedMeasure]) -> list[str]:
    parts = []
    for verdict, said in (("better", "better on"), ("worse", "worse on"), ("differs", "they differ on")):
        found = [f"{_name(row)} ({size_text(row)})" for row in rows if row.verdict == verdict]
        if found:
            parts.append(f"{said} {listed(found)}")
    unsure = [row for row in rows if row.verdict == "cannot tell"]
    if failed := [_name(row) for row in unsure if row.failed]:
        parts.append(f"{_OPEN} on {listed(failed)}, without the items that failed")
    open_rows = [row for row in unsure if row.detectable is not None and not row.failed]
    if open_rows and len(open_rows) <= 8:
        sizes = [float(f"{row.detectable:.2g}") for row in open_rows if row.detectable is not None]
        low, high = (formatting.amount(size, open_rows[0].unit) for size in (min(sizes), max(sizes)))
        reach = high if low == high else f"{low.removesuffix('s').removesuffix(' point')} to {high}"
        names = listed([_name(row) for row in open_rows])
        parts.append(f"{_OPEN} on {names}, where the items detect {reach} or more")
    elif open_rows:
        parts.append(f"{_OPEN} on {len(open_rows)} other groups")
    return parts


def _name(row: ComparedMeasure) -> str:
    return " ".join(levels_of(row.group)).replace("_", " ")


def place_sentence(label: str, measure: MeasureCard, found: PlaceAmongPeople) -> str:
    """The place of a subject among people: “m is better than 26 of 42 people, 62 % [47, 75], and 0.3 SD better …”."""
    bounds = f" {bracketed_interval(found.interval, 'share')}" if not found.interval.too_few else ""
    share, away = f"{number(found.share, 'share', 0)}{bounds}", found.deviations
    way = "worse" if away is not None and away * (-1 if measure.better == "lower" else 1) < 0 else "better"
    said = "" if away is None else f", and {abs(away):.2f} SD {way} than the mean of their scores"
    place = f"better than {found.better_than:g} of {counted(found.people, 'person')}, {share}{said}"
    return f"“{measure.title}”: {label} is {place} (each person on the items that they answered; ties count half)"


class Column(Struct, frozen=True):
    """One column: its head, the cell of a row, and whether it is aligned right."""

    head: str
    of: Callable[[ComparedMeasure], Cell]
    right: bool = True


def observed_columns(comparison: Comparison) -> tuple[Column, ...]:
    """The observed values: both means, their difference with its interval, and what can be detected."""
    part = comparison.cluster
    return (
        Column("measure", lambda row: row.title, right=False),
        Column("group", _group, right=False),
        Column(comparison.first, lambda row: formatting.number(row.paired.first, row.unit, row.digits)),
        Column(comparison.second, lambda row: formatting.number(row.paired.second, row.unit, row.digits)),
        Column("difference", lambda row: formatting.signed_amount(row.paired.difference, row.unit, row.digits)),
        Column("interval", lambda row: bracketed_interval(row.paired.interval, row.unit, row.digits, cluster=part)),
        Column("adjusted for", lambda row: row.family if row.family > 1 else None),
        Column("could detect", _detectable),
    )


def tested_columns(comparison: Comparison) -> tuple[Column, ...]:
    """The other tests; equivalence appears only if a row has a margin."""
    rows = comparison.measures
    return (
        Column("p", lambda row: None if row.verdict == "too few" else formatting.p_text(row.paired.p_value)),
        Column("p adjusted", lambda row: None if row.verdict == "too few" else formatting.p_text(row.p_adjusted)),
        Column("effect", lambda row: None if row.paired.effect is None else round(row.paired.effect, 3)),
        *((Column("same within", _same),) if any(row.margin for row in rows) else ()),
        Column("items", lambda row: row.paired.items),
        Column(plural(comparison.cluster), lambda row: row.paired.clusters),
    )


VERDICT = Column("verdict", lambda row: row.verdict_text, right=False)


def comparison_table(comparison: Comparison) -> Table:
    """One row for each measure and level, with all columns."""
    columns = (*observed_columns(comparison), *tested_columns(comparison), VERDICT)
    rows = tuple(tuple(column.of(row) for column in columns) for row in comparison.measures)
    title = f"{comparison.where}: {comparison.second} against {comparison.first}"
    note = "; ".join(comparison.notes)
    return Table("compare", title, tuple(column.head for column in columns), rows, note[:1].upper() + note[1:])


def raw_comparisons(compared: Sequence[Comparison]) -> Table:
    """Every number of the comparisons, for a file."""
    columns = (
        "instrument", "task", "first", "second", "measure", "group", "unit", "first value", "second value",
        "difference", "low", "high", "p", "p adjusted", "family", "effect", "detectable", "margin", "items",
        "clusters", "failed items", "with failed items", "verdict",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in compared:
        for row in one.measures:
            paired = row.paired
            rows.append((
                one.instrument, one.task, one.first, one.second, row.name,
                "; ".join(f"{facet}={level}" for facet, level in row.group.items()), row.unit, paired.first,
                paired.second, paired.difference, paired.interval.low, paired.interval.high, paired.p_value,
                row.p_adjusted, row.family, paired.effect, row.detectable, row.margin, paired.items,
                paired.clusters, row.failed, " or ".join(row.with_failed), row.verdict,
            ))  # fmt: skip
    return Table("comparisons", "Comparisons", columns, tuple(rows))


def _group(row: ComparedMeasure) -> str:
    return formatting.group_text({facet.replace("_", " "): level for facet, level in row.group.items()}) or "all"


def _detectable(row: ComparedMeasure) -> Cell:
    return None if row.detectable is None else formatting.amount(row.detectable, row.unit, interval=row.paired.interval)


def _same(row: ComparedMeasure) -> Cell:
    """The margin, and whether the interval lies within it."""
    interval = row.paired.interval
    if row.margin is None or interval.low is None or interval.high is None:
        return None
    inside = max(-interval.low, interval.high) < row.margin
    return f"{formatting.margin_text(row.margin, row.unit)}: {'yes' if inside else 'not shown'}"
