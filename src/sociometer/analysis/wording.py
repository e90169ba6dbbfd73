"""The sentence of a comparison: its verdicts in words."""

from collections.abc import Sequence

from sociometer.analysis.comparison import ComparedMeasure, Comparison
from sociometer.analysis.formatting import amount, bracketed_interval, in_sentence, signed_amount
from sociometer.core.measure import Interval


def overall_sentence(comparison: Comparison) -> str:
    """The verdicts on the primary measures, without those on groups."""
    if comparison.refused:
        return f"{comparison.second} and {comparison.first} cannot be compared: {comparison.refused}."
    primary = _primary(comparison)
    said = "; ".join(_whole(row, comparison, named=len(primary) > 1) for row in primary) + "."
    return said.replace("the data", "The data", 1) if said.startswith("the data cannot tell ") else said


def sentence_of(comparison: Comparison) -> str:
    """The verdicts of one comparison in one sentence."""
    if comparison.refused:
        return overall_sentence(comparison)
    parts = [overall_sentence(comparison).removesuffix(".")]
    for row in _primary(comparison):
        grouped = [other for other in comparison.measures if other.group and other.name == row.name]
        # the first facet of an instrument is its main grouping (abilities); the others appear in the table only
        first = tuple(grouped[0].group) if grouped else ()
        parts += _groups([other for other in grouped if tuple(other.group) == first])
    return "; ".join(parts) + "."


def _primary(comparison: Comparison) -> list[ComparedMeasure]:
    overall = [row for row in comparison.measures if not row.group]
    return [row for row in overall if row.primary] or overall[:1]


def _whole(row: ComparedMeasure, comparison: Comparison, named: bool) -> str:
    on = f" on {in_sentence(row.title)}" if named else ""
    second, first = comparison.second, comparison.first
    interval = row.paired.interval
    if row.verdict in ("better", "worse"):
        reverse = row.paired.difference < 0
        size = amount(row.paired.difference, row.unit, interval=interval)
        size += f" {bracketed_interval(interval, row.unit, reverse)}"
        return f"{second} is {row.verdict} than {first}{on} by {size}"
    if row.verdict == "differs":
        size = f"{_signed(row)} {bracketed_interval(interval, row.unit)}"
        return f"{second} differs from {first}{on} by {size}"
    if row.verdict == "equivalent" and row.equivalence is not None:
        margin = amount(row.equivalence.margin, row.unit)
        inside = row.equivalence.interval
        span = f"{100 * inside.level:.4g} % interval {bracketed_interval(inside, row.unit)}"
        return f"{second} and {first} are the same{on} within {margin} ({span})"
    if row.verdict == "too few":
        return f"{second} against {first}{on}: {_count(row.paired.clusters)} too few to tell"
    seen = f"a difference of {_signed(row)} {bracketed_interval(interval, row.unit)}"
    return f"the data cannot tell {second} from {first}{on}: {seen}{_would(row)}"


def _signed(row: ComparedMeasure) -> str:
    return signed_amount(row.paired.difference, row.unit, interval=row.paired.interval)


def _would(row: ComparedMeasure) -> str:
    if row.detectable is None:
        return ""
    size = amount(row.detectable, row.unit, interval=row.paired.interval)
    return f", where {row.paired.items} items could detect {size} or more"


def _groups(rows: Sequence[ComparedMeasure]) -> list[str]:
    parts = []
    for verdict in ("better", "worse"):
        found = [row for row in rows if row.verdict == verdict]
        if found:
            parts.append(f"{verdict} on " + _listed([_level(row) for row in found]))
    differing = [row for row in rows if row.verdict == "differs"]
    if differing:
        parts.append("they differ on " + _listed([_level(row, signed=True) for row in differing]))
    open_rows = [row for row in rows if row.verdict == "cannot tell" and row.detectable is not None]
    if open_rows and len(open_rows) <= 8:
        sizes = [row.detectable for row in open_rows if row.detectable is not None]
        widest = max((row.paired.interval for row in open_rows), key=_width)
        low, high = (amount(size, open_rows[0].unit, interval=widest) for size in (min(sizes), max(sizes)))
        reach = high if low == high else f"{low.removesuffix('s').removesuffix(' point')} to {high}"
        names = _listed([_name(row) for row in open_rows])
        parts.append(f"on {names} the data cannot tell: they could detect {reach} or more")
    elif open_rows:
        parts.append(f"on {len(open_rows)} other groups the data cannot tell")
    return parts


def _level(row: ComparedMeasure, signed: bool = False) -> str:
    """One level with the size of its difference; `signed` keeps the sign, for measures without a better direction."""
    reverse = row.paired.difference < 0 and not signed
    size = _signed(row) if signed else amount(row.paired.difference, row.unit, interval=row.paired.interval)
    return f"{_name(row)} by {size} {bracketed_interval(row.paired.interval, row.unit, reverse)}"


def _width(interval: Interval) -> float:
    return 0.0 if interval.low is None or interval.high is None else interval.high - interval.low


def _name(row: ComparedMeasure) -> str:
    words = [level if len(level) > 2 else f"{facet} {level}" for facet, level in row.group.items()]
    return " ".join(words).replace("_", " ")


def _count(clusters: int) -> str:
    return "no items are" if clusters == 0 else "1 cluster is" if clusters == 1 else f"{clusters} clusters are"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
