"""`sociometer compare`: two runs with a verdict, several with their ranks, one subject over all instruments."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import structs

from sociometer.adapters.score_tables import read_table
from sociometer.cli.chosen import EVERY, include_short_option, margin_of, named_or_chosen, terms_options
from sociometer.cli.options import open_stored, store_option, store_path
from sociometer.cli.output import SCREEN, Display, TableCommand, display_options, print_text
from sociometer.cli.profile import show_profile
from sociometer.cli.ranking import show_ranking
from sociometer.cli.reliability import show_reliability
from sociometer.core.errors import ExitCode, UsageError
from sociometer.core.measure import Cell, Table
from sociometer.reporting.progress import working
from sociometer.results.comparison import (
    FAMILIES,
    ComparedMeasure,
    Comparison,
    Terms,
    compare,
    comparison_table,
    overall_sentence,
)
from sociometer.results.gate import gate
from sociometer.results.runs import candidates, compare_runs
from sociometer.statistics.formatting import (
    amount,
    bounds_text,
    bracketed_interval,
    in_sentence,
    number,
    signed_amount,
)
from sociometer.store.place import StorePlace
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
    if len(compared) <= _SENTENCES:
        return "\n".join(
            (f"{one.instrument}/{one.task}: " if len(tasks) > 1 else "") + overall_sentence(one) for one in compared
        )
    lines = []
    for pair in dict.fromkeys((one.second, one.first) for one in compared):
        of = [one for one in compared if (one.second, one.first) == pair]
        found = [row.verdict for one in of for row in one.measures if row.primary and not row.group]
        counts = Counter({"not comparable": sum(bool(one.refused) for one in of)}) + Counter(found)
        said = ", ".join(f"{verdict} on {count}" for verdict, count in counts.items())
        lines.append(f"{pair[0]} against {pair[1]}, {len(of)} task{'s' * (len(of) > 1)}: {said}.")
    more = f"\n… and {len(lines) - _SENTENCES} more pairs." if len(lines) > _SENTENCES else ""
    return "\n".join(lines[:_SENTENCES]) + more


def pair_table(comparison: Comparison) -> Table:
    """Two subjects on one task: both values, the difference with its interval, and the verdict on each measure."""
    rows = tuple(
        (
            _what(row),
            _value(row, row.paired.first),
            _value(row, row.paired.second),
            difference_text(row),
            row.verdict,
            row.paired.items,
        )
        for row in ordered(comparison).measures
    )
    chance = [row for row in comparison.measures if row.primary and not row.group and row.chance is not None]
    beside = f" (chance {number(chance[0].chance, chance[0].unit)})" if chance else ""
    title = f"{comparison.where}: {comparison.second} against {comparison.first}{beside}"
    columns = ("measure", comparison.first, comparison.second, "difference", "verdict", "items")
    return Table(f"compare-{comparison.task}", title, columns, rows, _note(comparison))


def overall_rows(comparison: Comparison) -> int:
    """How many rows of a pair's table are shown first: the measures overall, and the first way of grouping."""
    rows = ordered(comparison).measures
    first = next((tuple(row.group) for row in rows if row.group), ())
    return sum(not row.group or tuple(row.group) == first for row in rows)


def overview_table(compared: Sequence[Comparison]) -> Table:
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
            _value(row, row.paired.first),
            _value(row, row.paired.second),
            difference_text(row),
            row.verdict,
            row.paired.items,
        )
        for one in compared
        for row in ordered(one).measures
        if row.primary and not row.group
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


def complete_table(comparison: Comparison) -> Table:
    """Two subjects on one task with every test, as the page shows it."""
    return comparison_table(ordered(comparison))


def raw_table(compared: Sequence[Comparison]) -> Table:
    """Every number of the comparisons, for a file."""
    columns = (
        "instrument", "task", "first", "second", "measure", "group", "unit", "first value", "second value",
        "difference", "low", "high", "p", "p adjusted", "family", "effect", "detectable", "margin", "items needed",
        "items", "clusters", "failed items", "with failed items", "verdict",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in compared:
        for row in one.measures:
            paired = row.paired
            rows.append((
                one.instrument, one.task, one.first, one.second, row.name,
                "; ".join(f"{facet}={level}" for facet, level in row.group.items()), row.unit, paired.first,
                paired.second, paired.difference, paired.interval.low, paired.interval.high, paired.p_value,
                row.p_adjusted, row.family, paired.effect, row.detectable, row.margin, row.needed, paired.items,
                paired.clusters, row.failed, " or ".join(row.with_failed), row.verdict,
            ))  # fmt: skip
    return Table("comparisons", "Comparisons", columns, tuple(rows))


def difference_text(row: ComparedMeasure) -> str:
    """The difference with its interval in one cell: “+8 [−35, 49]”; of shares, in points."""
    interval = row.paired.interval
    shown = signed_amount(row.paired.difference, row.unit, interval=interval).split(" ")[0]
    sign = "+" if row.paired.difference > 0 and shown.strip("0.") else ""
    bounds = bracketed_interval(interval, row.unit)
    return f"{sign}{shown} {bounds_text(interval, lambda *_: bounds, too_few='(too few)', same='(all equal)')}"


def _what(row: ComparedMeasure) -> str:
    """The measure of a row overall, or the level of its group."""
    if not row.group:
        return row.title
    return "  " + ", ".join(f"{facet} {level}" for facet, level in row.group.items()).replace("_", " ")


def _value(row: ComparedMeasure, value: float) -> str:
    return number(value, row.unit, interval=row.paired.interval)


def _note(comparison: Comparison) -> str:
    note = "; ".join((*adjusted(comparison), *comparison.notes))
    return f"{note[:1].upper()}{note[1:]}." if note else ""


def adjusted(comparison: Comparison) -> list[str]:
    """For how many comparisons the intervals are adjusted; empty if for none."""
    families: dict[str, int] = {}
    for row in comparison.measures:
        name = f"by {', '.join(row.group)}" if row.group else "primary measures" if row.primary else "other measures"
        if row.family > 1:
            families[name.replace("_", " ")] = row.family
    told = ", ".join(f"{name} {count}" for name, count in families.items())
    return [f"intervals are adjusted for the number of comparisons: {told}"] if told else []


_PAIRS_IN_FULL = 2
_MOST_NEEDED = 6
_GATE = (
    "Condition for exit code 1: a later run is worse on a primary measure, or a comparison has no verdict (the runs "
    "cannot be compared, there are too few clusters, or a run lacks the task)."
)
_NO_WORSE = "Condition for exit code 0: the data rule out a loss of --margin on every primary measure."


def _compare(
    words: tuple[str, ...],
    profile: str,
    as_one: bool,
    reliability: bool,
    task: str,
    measure: str,
    margin: tuple[str, ...],
    power: float,
    level: float,
    fail_if: str | None,
    fail_unless: str | None,
    include_short: bool,
    others: tuple[Path, ...],
    store: StorePlace | None,
    display: Display,
) -> int:
    if profile and words:
        raise UsageError("--profile shows one subject over all its runs; leave out RUN.")
    tables = [read_table(path) for path in others]
    with open_stored(store_path(store)) as engine:
        if profile:
            show_profile(engine, profile, as_one, display)
            return int(ExitCode.OK)
        chosen = named_or_chosen(engine, words, one_kind=True)
        if reliability:
            show_reliability(chosen, task=task, measure=measure, include_short=include_short, display=display)
            return int(ExitCode.OK)
        if fail_if and fail_unless:
            raise UsageError("--fail-if and --fail-unless cannot be combined; give one of them.")
        gated = bool(fail_if or fail_unless)
        by_pair = gated or bool(margin)
        named = bool(words) and not any(word == EVERY or word in chosen for word in words)
        if not by_pair and (measure or tables or not named or any(len(runs) > 2 for runs in chosen.values())):
            show_ranking(
                engine, chosen, words, task=task, measure=measure, include_short=include_short, tables=tables,
                display=display,
            )  # fmt: skip
            return int(ExitCode.OK)
        runs = [run for mine in chosen.values() for run in mine]
        terms = Terms(level, power, margin_of(margin))
        with working("comparing runs"):
            found_gate = gate(runs, task, terms, no_worse=bool(fail_unless)) if gated else None
            compared = found_gate.compared if found_gate else compare_runs(runs, task, terms)
    found = (*compared, *compared.lacking)
    if display.as_json:
        display.json(found)
    else:
        _print(compared.comparisons, display)
        _print_lacking(compared.lacking)
        if display.wide and any(comparison.measures for comparison in compared):
            print_text(FAMILIES)
    if found_gate is None:
        return int(ExitCode.OK)
    for line in (*(f"Gate: {failure}" for failure in found_gate.failures), found_gate.could_see):
        print_text(line, err=True)
    return int(ExitCode.OK if found_gate.holds else ExitCode.GATE_FAILED)


def _print(compared: Sequence[Comparison], display: Display) -> None:
    """The verdicts first; then one or two pairs in full, or all pairs in one table."""
    needed = [
        f"To detect {amount(row.margin, row.unit)} on {in_sentence(row.title)}: about {row.needed:,} items."
        for one in compared
        for row in one.measures
        if row.needed is not None and row.margin is not None and row.primary and not row.group
    ]
    able = [one for one in compared if one.measures]
    few = len(able) <= _PAIRS_IN_FULL
    tables = [pair_table(one) for one in able] if few else [overview_table(able)]
    display.show(
        tables,
        finding=verdict_sentences(compared),
        more=[complete_table(one) for one in able],
        notes=list(dict.fromkeys(needed))[:_MOST_NEEDED],
        limits=[min(SCREEN // len(able), overall_rows(one)) for one in able] if few else (),
        files=[raw_table(compared)],
    )


def _print_lacking(comparisons: Sequence[Comparison]) -> None:
    """One line per task: the subjects that have no run of it and so are not compared."""
    lacking: dict[str, list[str]] = {}
    for comparison in comparisons:
        lacking.setdefault(f"{comparison.instrument}/{comparison.task}", []).append(comparison.second)
    for task, who in lacking.items():
        print_text(
            f"{task}: not compared with {', '.join(who)}, which {'have' if len(who) > 1 else 'has'} no run of it."
        )


command = TableCommand(
    "compare",
    callback=_compare,
    params=[
        click.Argument(["words"], nargs=-1, metavar="[RUN…|INSTRUMENT…|all]"),
        click.Option(["--profile"], default="", metavar="SUBJECT", help="Show one subject over all instruments."),
        click.Option(
            ["--overall", "as_one"],
            is_flag=True,
            help="With --profile: add one overall score, with a test of whether it is justified.",
        ),
        click.Option(["--reliability"], is_flag=True, help="Show the reliability of the scores instead."),
        click.Option(["--task"], default="", help="Task to compare [default: all]."),
        click.Option(["--measure"], default="", help="Measure to rank by [default: the primary one]."),
        *terms_options(),
        click.Option(["--fail-if"], type=click.Choice(["worse"]), help=_GATE),
        click.Option(["--fail-unless"], type=click.Choice(["no-worse"]), help=_NO_WORSE),
        include_short_option(),
        click.Option(
            ["others", "--with"],
            type=click.Path(path_type=Path, dir_okay=False),
            multiple=True,
            metavar="FILE",
            help="Table of somebody else's numbers ('export --as numbers') to show in a ranking; repeat for several.",
        ),
        store_option(),
        *display_options(),
    ],
    help="Compare two runs item by item, with a verdict; rank three or more, with an interval for each rank. RUN is an"
    " id, the start of an id, a name or 'last'. An INSTRUMENT or 'all' ranks each subject's run with the most items."
    " With --margin, --fail-if or --fail-unless, each later run is compared with the first.",
)


def verdicts_between(runs: "list[StoredRun]") -> str:
    """The verdicts between subjects on each task that several of them took, each subject against the first."""
    said: list[str] = []
    together: dict[tuple[str, ...], list[StoredRun]] = {}
    for run in runs:  # runs with different models in another role are on different scales
        roles = sorted(f"{role}={one.label}" for role, one in run.manifest.roles.items() if role != "subject")
        together.setdefault((run.instrument, *roles), []).append(run)
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
