"""The numbers behind a comparison as a table, the same on the page and on the terminal."""

from collections.abc import Callable

from msgspec import Struct

from sociometer.analysis.compare import ComparedMeasure, Comparison
from sociometer.analysis.verdict import amount, bracket, signed_amount
from sociometer.core.measure import Cell, Table
from sociometer.report.strips import number

FAMILIES = (
    "Holm and BH correct within a task, never over tasks or instruments: the primary measures of all runs compared are "
    "one family, the other measures a second, and every way of grouping one measure is a family of its own."
)


class Column(Struct, frozen=True):
    """One column: its head, what a row shows in it, and whether it is set flush right."""

    head: str
    of: Callable[[ComparedMeasure], Cell]
    right: bool = True


def seen_columns(comparison: Comparison) -> tuple[Column, ...]:
    """What was seen: both values, their difference with its interval, and what follows."""
    return (
        Column("measure", lambda row: row.title, right=False),
        Column("of", group_text, right=False),
        Column(comparison.first, lambda row: number(row.paired.first, row.unit)),
        Column(comparison.second, lambda row: number(row.paired.second, row.unit)),
        Column("difference", lambda row: signed_amount(row.paired.difference, row.unit)),
        Column("interval", lambda row: bracket(row.paired.interval, row.unit)),
        Column("p", lambda row: p_text(row.paired.p_value)),
        Column("p Holm", lambda row: p_text(row.p_holm)),
        Column("would show", lambda row: None if row.detectable is None else amount(row.detectable, row.unit)),
    )


def tested_columns(comparison: Comparison) -> tuple[Column, ...]:
    """What else was tested; equivalence, items needed and McNemar where some row has them."""
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
    """One row a measure and level, with everything that was seen and tested."""
    columns = (*seen_columns(comparison), *tested_columns(comparison), VERDICT)
    rows = tuple(tuple(column.of(row) for column in columns) for row in comparison.measures)
    title = f"{comparison.instrument}/{comparison.task}: {comparison.second} against {comparison.first}"
    note = "; ".join(comparison.notes)
    return Table("compare", title, tuple(column.head for column in columns), rows, note[:1].upper() + note[1:])


def group_text(row: ComparedMeasure) -> str:
    """Of what a row is: a level with the name of its facet, or all."""
    return ", ".join(f"{facet.replace('_', ' ')}: {level}" for facet, level in row.group.items()) or "all"


def p_text(value: float) -> str:
    """A p-value as papers print it."""
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def _same(row: ComparedMeasure) -> Cell:
    """The margin, with yes or no."""
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
    """The exact test, which takes items as independent."""
    found = row.paired.mcnemar
    return None if found is None else p_text(found.p_exact)
