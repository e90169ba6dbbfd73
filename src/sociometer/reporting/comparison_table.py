"""The numbers of a comparison as a table, for the page and the terminal."""

from collections.abc import Callable

from msgspec import Struct

from sociometer.core.measure import Cell, Table
from sociometer.results.comparison import ComparedMeasure, Comparison
from sociometer.statistics.formatting import amount, bracketed_interval, group_text, number, p_text, signed_amount

FAMILIES = (
    "Holm and BH correct within a task, not across tasks or instruments: the primary measures of all compared runs are "
    "one family, the other measures are a second one, and every way of grouping one measure is another family."
)


class Column(Struct, frozen=True):
    """One column: its head, the cell of a row, and whether it is aligned right."""

    head: str
    of: Callable[[ComparedMeasure], Cell]
    right: bool = True


def observed_columns(comparison: Comparison) -> tuple[Column, ...]:
    """The observed values: both means, their difference with its interval and p-values, and what can be detected."""
    return (
        Column("measure", lambda row: row.title, right=False),
        Column("group", _group, right=False),
        Column(comparison.first, lambda row: number(row.paired.first, row.unit, interval=row.paired.interval)),
        Column(comparison.second, lambda row: number(row.paired.second, row.unit, interval=row.paired.interval)),
        Column("difference", lambda row: signed_amount(row.paired.difference, row.unit, interval=row.paired.interval)),
        Column("interval", lambda row: bracketed_interval(row.paired.interval, row.unit)),
        Column("p", lambda row: p_text(row.paired.p_value)),
        Column("p Holm", lambda row: p_text(row.p_holm)),
        Column("could detect", _detectable),
    )


def tested_columns(comparison: Comparison) -> tuple[Column, ...]:
    """The other tests; equivalence, items needed and McNemar appear only if a row has them."""
    rows = comparison.measures
    same = (
        Column("same within", _same),
        Column("p same Holm", _p_same),
        Column("items needed", lambda row: row.needed),
    )
    binary = (
        Column("only first : only second right", _discordant),
        Column("p McNemar", _p_mcnemar),
    )
    return (
        Column("p BH", lambda row: p_text(row.p_benjamini_hochberg)),
        Column("family size", lambda row: row.family),
        Column("effect", lambda row: None if row.paired.effect is None else round(row.paired.effect, 3)),
        *(same if any(row.equivalence for row in rows) else ()),
        *(binary if any(row.paired.mcnemar for row in rows) else ()),
        Column("items", lambda row: row.paired.items),
        Column("clusters", lambda row: row.paired.clusters),
    )


VERDICT = Column("verdict", lambda row: row.verdict, right=False)


def comparison_table(comparison: Comparison) -> Table:
    """One row for each measure and level, with all columns."""
    columns = (*observed_columns(comparison), *tested_columns(comparison), VERDICT)
    rows = tuple(tuple(column.of(row) for column in columns) for row in comparison.measures)
    title = f"{comparison.where}: {comparison.second} against {comparison.first}"
    note = "; ".join(comparison.notes)
    return Table("compare", title, tuple(column.head for column in columns), rows, note[:1].upper() + note[1:])


def _group(row: ComparedMeasure) -> str:
    return group_text({facet.replace("_", " "): level for facet, level in row.group.items()}) or "all"


def _detectable(row: ComparedMeasure) -> Cell:
    return None if row.detectable is None else amount(row.detectable, row.unit, interval=row.paired.interval)


def _same(row: ComparedMeasure) -> Cell:
    """The margin, and whether equivalence within it was shown."""
    found = row.equivalence
    if found is None:
        return None
    return f"{amount(found.margin, row.unit)}: {'yes' if found.equivalent else 'not shown'}"


def _p_same(row: ComparedMeasure) -> Cell:
    found = row.equivalence
    return None if found is None else p_text(found.p_value if found.p_holm is None else found.p_holm)


def _discordant(row: ComparedMeasure) -> Cell:
    found = row.paired.mcnemar
    return None if found is None else f"{found.only_first} : {found.only_second}"


def _p_mcnemar(row: ComparedMeasure) -> Cell:
    """The p-value of the exact test, which assumes independent items."""
    found = row.paired.mcnemar
    return None if found is None else p_text(found.p_exact)
