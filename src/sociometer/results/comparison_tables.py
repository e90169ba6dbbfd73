"""Comparisons as tables and in a few sentences: one pair in full, several pairs together, every number for a file."""

from collections import Counter
from collections.abc import Sequence

from msgspec import structs

from sociometer.core.measure import Cell, Table
from sociometer.core.words import counted, grouped, sentence
from sociometer.results.comparison import compare
from sociometer.results.measured import room_sentences
from sociometer.results.runs import candidates
from sociometer.results.verdicts import ComparedMeasure, Comparison
from sociometer.results.wording import adjusted_for, overall_sentence
from sociometer.statistics.formatting import number, short_interval, signed_amount
from sociometer.store.stored_run import StoredRun

_SENTENCES = 6
_NOTES = 3


def ordered(comparison: Comparison) -> Comparison:
    """The comparison with its measures in the order of importance: overall, then one way of grouping after another."""
    facets = list(dict.fromkeys(tuple(row.group) for row in comparison.measures))
    rows = sorted(
        comparison.measures, key=lambda row: (bool(row.group), facets.index(tuple(row.group)), not row.primary)
    )
    return structs.replace(comparison, measures=tuple(rows))


def verdict_sentences(compared: Sequence[Comparison]) -> str:
    """The verdicts in a sentence each, or how often each was reached if they are many."""
    tasks = {(one.instrument, one.task) for one in compared}
    ended = [(row.ends[0], one.where) for one in compared for row in one.primary_rows if row.verdict.startswith("both")]
    room = [*adjusted_for(compared), *room_sentences(ended)]
    if len(compared) <= _SENTENCES:
        each = [
            (f"{one.instrument}/{one.task}: " if len(tasks) > 1 else "") + overall_sentence(one) for one in compared
        ]
        return "\n".join([*each, *room])
    lines = []
    for pair in dict.fromkeys((one.second, one.first) for one in compared):
        of = [one for one in compared if (one.second, one.first) == pair]
        found = [row.verdict for one in of for row in one.primary_rows]
        counts = Counter({"not comparable": sum(bool(one.refused) for one in of)}) + Counter(found)
        said = ", ".join(f"{verdict} on {count}" for verdict, count in counts.items())
        what = f"{counts.total()} measures of " * (counts.total() != len(of)) + counted(len(of), "task")
        lines.append(f"{pair[0]} against {pair[1]}, {what}: {said}.")
    more = [f"… and {len(lines) - _SENTENCES} more pairs."] if len(lines) > _SENTENCES else []
    return "\n".join([*lines[:_SENTENCES], *more, *room])


def pair_tables(compared: Sequence[Comparison]) -> list[Table]:
    """A table for each pair; of those whose intervals are adjusted alike, only the last says so."""
    told = [_adjusted(one) for one in compared]
    return [pair_table(one, told[nth] if told[nth] not in told[nth + 1 :] else ()) for nth, one in enumerate(compared)]


def pair_table(comparison: Comparison, adjusted: Sequence[str] = ()) -> Table:
    """Two subjects on one task: both values, the difference with its interval, and the verdict on each measure."""
    found = ordered(comparison).measures
    rows: list[tuple[Cell, ...]] = [(_what(row), *row_values(row), row.verdict_text, row.paired.items) for row in found]
    chance = [row for row in comparison.primary_rows if row.chance is not None]
    beside = f" (chance {number(chance[0].chance, chance[0].unit)})" if chance else ""
    title = f"{comparison.where}: {comparison.second} against {comparison.first}{beside}"
    columns = ("measure", comparison.first, comparison.second, "difference", "verdict", "items")
    return Table(f"compare-{comparison.task}", title, columns, tuple(rows), _note(comparison, adjusted))


def overall_rows(comparison: Comparison) -> int:
    """How many rows of a pair's table are shown first: the measures overall, and the first way of grouping."""
    rows = ordered(comparison).measures
    first = next((tuple(row.group) for row in rows if row.group), ())
    return sum(not row.group or tuple(row.group) == first for row in rows)


def pairs_table(compared: Sequence[Comparison]) -> Table:
    """The primary measures of several comparisons in one table; what is the same in all of them is in its title."""
    firsts, seconds, instruments = (
        list(dict.fromkeys(names))
        for names in zip(*((one.first, one.second, one.instrument) for one in compared), strict=True)
    )
    rows = tuple(
        (
            one.task if len(instruments) == 1 else one.where,
            *((one.second,) if len(seconds) > 1 else ()),
            *((one.first,) if len(firsts) > 1 else ()),
            row.title,
            *row_values(row),
            row.verdict_text,
            row.paired.items,
        )
        for one in compared
        for row in one.primary_rows
    )
    who = ("subject",) if len(seconds) > 1 else ()
    against = ("against",) if len(firsts) > 1 else ()
    columns = ("task", *who, *against, "measure", "reference", "value", "difference", "verdict", "items")
    notes = list(dict.fromkeys(note for one in compared if (note := _note(one))))
    notes = notes if len(notes) <= _NOTES else ["Add --format wide to see what is left out of each comparison."]
    reference = "its reference" if against else f"{firsts[0]} (the reference)"
    title = f"{'Each subject' if who else seconds[0]} against {reference}"
    where = f"{instruments[0]}: " if len(instruments) == 1 else ""
    return Table("compare", where + title, columns, rows, " ".join(notes))


def _what(row: ComparedMeasure) -> str:
    """The measure of a row overall, or the level of its group."""
    if not row.group:
        return row.title
    return "  " + ", ".join(f"{facet} {level}" for facet, level in row.group.items()).replace("_", " ")


def row_values(row: ComparedMeasure) -> tuple[str, str, str]:
    """The values of both, and the difference with its interval: “+8 [−35, 49]”; of shares, in points."""
    first, second = (number(value, row.unit, row.digits) for value in (row.paired.first, row.paired.second))
    shown = signed_amount(row.paired.difference, row.unit, row.digits).split(" ")[0]
    sign = "+" if row.paired.difference > 0 and shown.strip("0.") else ""
    return first, second, f"{sign}{shown} {short_interval(row.paired.interval, row.unit, row.digits)}"


def _note(comparison: Comparison, adjusted: Sequence[str] = ()) -> str:
    return sentence("; ".join((*adjusted, *comparison.notes)), (comparison.first, comparison.second))


def _adjusted(comparison: Comparison) -> list[str]:
    """For how many comparisons the intervals of groups and other measures are adjusted; `adjusted_for` has the rest."""
    families = {
        (f"by {', '.join(row.group)}" if row.group else "other measures").replace("_", " "): row.family
        for row in comparison.measures
        if row.family > 1 and (row.group or not row.primary)
    }
    told = ", ".join(f"{name} {count}" for name, count in families.items())
    return [f"intervals are adjusted for the number of comparisons: {told}"] if told else []


def verdicts_between(runs: list[StoredRun]) -> str:
    """The verdicts between subjects on each task that several of them took, each subject against the first."""
    said: list[str] = []
    # Runs with different models in another role are on different scales.
    others = (sorted(f"{role}={label}" for role, label in run.manifest.other_roles.items()) for run in runs)
    together = grouped(((run.instrument, *roles), run) for run, roles in zip(runs, others, strict=True))
    crossed = len(together) > len({run.instrument for run in runs})
    found: list[Comparison] = []
    for (_, *roles), mine in together.items():
        if len({run.subject for run in mine}) > 1:
            compared = compare(candidates(mine))
            if crossed:
                said.append(f"{', '.join(roles)}: {verdict_sentences(compared)}")
            else:
                found += compared
    return "\n".join(said) or (verdict_sentences(found) if found else "")
