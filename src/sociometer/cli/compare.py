"""`sociometer compare`: two runs with a verdict, several with their ranks, one subject over all instruments."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import click
from msgspec import structs

from sociometer.cli.chosen import (
    EVERY,
    chosen_runs,
    margin_of,
    named_or_chosen,
    not_chosen,
    terms_options,
)
from sociometer.cli.options import open_stored, store_option, store_path
from sociometer.cli.output import SCREEN, Display, TableCommand, display_options, option, print_text
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import ExitCode, UsageError, unknown
from sociometer.core.measure import Cell, Table
from sociometer.core.words import first_of
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.reporting.progress import track, working
from sociometer.results.comparison import compare
from sociometer.results.groups import study_run
from sociometer.results.leaderboard import (
    Leaderboard,
    leaderboard,
    leaderboard_sentence,
    leaderboard_table,
    overview_table,
)
from sociometer.results.profile import ProfileLine, profile_lines
from sociometer.results.reliability import TaskReliability, task_reliability
from sociometer.results.runs import candidates, compare_runs, gate
from sociometer.results.verdicts import ComparedMeasure, Comparison, Terms
from sociometer.results.wording import FAMILIES, comparison_table, overall_sentence
from sociometer.statistics.formatting import (
    bounds_text,
    bracketed_interval,
    estimate,
    interval_text,
    number,
    other_stand_ins,
    signed_amount,
)
from sociometer.store.place import StorePlace
from sociometer.store.stored_run import StoredRun

_COLUMNS = ("instrument", "task", "measure", "value", "95 % interval", "chance", "people", "items", "unreadable")


def show_profile(engine: Engine, subject: str, display: Display) -> None:
    """Print one subject's results on every instrument."""
    subjects = {record.subject for record in engine.store.runs.all() if record.subject}
    people = study_run(engine.store, subject, load)
    if people is None and subject not in subjects:
        raise unknown("subject", subject, subjects, "Run 'sociometer runs' to see the subjects.")
    runs = [people] if people else chosen_runs(engine, (), subject=subject)
    subject = people.subject if people else subject
    lines, whose = lines_over(runs), {stored.id: stored.manifest.whose_items for stored in runs}
    if display.as_json:
        display.json({"subject": subject, "profile": lines})
        return
    rows = tuple(
        (
            line.instrument,
            line.task,
            line.measure_title,
            number(line.value, line.unit, interval=line.interval),
            interval_text(line.interval, line.unit),
            number(line.chance, line.unit),
            number(line.human, line.unit),
            line.items,
            line.unreadable,
            line.errors,
            "; ".join(
                (
                    *([f"{whose[line.run]} items"] if whose[line.run] != "bundled" else []),
                    *(f"stand-in: {name}" for name in other_stand_ins(line.stand_ins)),
                    *([line.note] if line.note else []),
                )
            ),
        )
        for line in lines
    )
    table = Table("profile", f"Profile of {subject}", (*_COLUMNS, "errors", "note"), rows, details=("task",))
    display.show([table], finding=above_chance(subject, lines))


def above_chance(subject: str, lines: Sequence[ProfileLine]) -> str:
    """The number of measures on which the subject is clearly above chance."""
    known = [line for line in lines if line.chance is not None and line.value is not None]
    able = [line for line in known if line.interval is not None and not line.interval.too_few]
    above = sum(line.against(line.chance) == 1 for line in able)
    if not able:
        return f"{subject}: {len(lines)} measures, none with enough items to compare with chance."
    return f"{subject} is better than chance on {above} of {len(able)} measures that have enough items."


def lines_over(runs: Sequence[StoredRun]) -> tuple[ProfileLine, ...]:
    """The primary measures of runs."""
    return profile_lines([stored.summarised(task) for stored in runs for task in stored.tasks])


_BOARDS_IN_FULL = 3


def show_ranking(
    engine: Engine,
    chosen: dict[str, list[StoredRun]],
    words: Sequence[str],
    *,
    task: str,
    measure: str,
    display: Display,
) -> None:
    """Print where the subjects of several runs stand on the items they share, with an interval for each rank."""
    boards: list[Leaderboard] = []
    unranked: list[str] = []
    named = any(word != EVERY and word not in chosen for word in words)
    for test, mine in chosen.items():
        known = candidates(mine, task)
        for name in track(list(dict.fromkeys(candidate.task for candidate in known)), f"ranking {test}"):
            if not any(card.value for card in mine[0].definition.card.measures_of(name)):
                continue
            try:
                board = leaderboard([c for c in known if c.task == name], measure)
                left = () if named else tuple(not_chosen(engine, mine, name))
                boards.append(structs.replace(board, left_out=(*board.left_out, *left)))
            except UsageError as error:
                if len(chosen) == 1:
                    raise
                unranked.append(f"{test}/{name} has no ranking: {error}")
    if display.as_json:
        display.json(boards)
        return
    shown = [leaderboard_table(board) for board in boards]
    several = len(boards) > _BOARDS_IN_FULL
    display.show(
        [overview_table(boards)] if several else shown,
        finding=_firsts(boards) if several else "\n".join(map(leaderboard_sentence, boards)),
        more=shown if several else (),
        notes=unranked,
        files=[_raw_ranks(boards)],
    )


def _firsts(boards: list[Leaderboard]) -> str:
    """The number of tasks on which each subject is first among several."""
    contested = [board for board in boards if len(board.standings) > 1]
    if not contested:
        return "No task has two subjects that can be ranked."
    counts = Counter(board.standings[0].subject for board in contested).most_common()
    said = [f"{subject} on {count} of {len(contested)} tasks" for subject, count in counts]
    return f"First: {', '.join(said[:4])}{' …' if len(said) > 4 else ''}."


def _raw_ranks(boards: list[Leaderboard]) -> Table:
    columns = (
        "instrument", "task", "measure", "unit", "rank", "rank low", "rank high", "subject", "value", "low",
        "high", "items", "beats",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for board in boards:
        what = (board.instrument, board.task, board.measure, board.unit)
        rows += [
            (*what, one.rank, one.ranks.low, one.ranks.high, one.subject, one.value, one.interval.low,
             one.interval.high, one.items, "; ".join(one.beats))
            for one in board.standings
        ]  # fmt: skip
    return Table("leaderboard", "Leaderboard", columns, tuple(rows))


_TASKS_IN_FULL = 3


def show_reliability(chosen: dict[str, list[StoredRun]], *, task: str, measure: str, display: Display) -> None:
    """Print alpha and repeatability of the scores of runs."""
    found = []
    for test, mine in chosen.items():
        known = candidates(mine, task)
        tasks = [
            name
            for name in dict.fromkeys(candidate.task for candidate in known)
            if any(entry.value for entry in mine[0].definition.card.measures_of(name))
        ]
        with working(f"reliability of {test}"):
            found += [task_reliability([c for c in known if c.task == name], measure) for name in tasks]
    if display.as_json:
        display.json(found)
        return
    tables = [table for entry in found for table in _reliability_tables(entry)]
    several = len(found) > _TASKS_IN_FULL
    display.show(
        [] if several else tables,
        finding="\n".join(_reliability_sentence(entry) for entry in found),
        more=tables if several else (),
        files=[_raw_items(found), *(_coefficients(entry) for entry in found)],
    )


def _reliability_sentence(found: TaskReliability) -> str:
    """The coefficients of a test in a sentence."""
    where = f"{found.instrument}/{found.task}, {found.measure}"
    alpha = next((c for c in found.coefficients if c.coefficient == "alpha"), None)
    if alpha is None or alpha.value is None:
        why = alpha.note if alpha else "the runs share fewer than two scored items"
        return f"{where}: reliability cannot be computed: {why}."
    shown = estimate(alpha.value, "number", alpha.interval)
    return f"{where}: Cronbach's alpha {shown} over {alpha.subjects} subjects and {alpha.items} items."


def _coefficients(found: TaskReliability) -> Table:
    where = f"{found.instrument}/{found.task}, {found.measure}"
    rows = tuple(
        (
            c.coefficient,
            number(c.value, "number", interval=c.interval),
            interval_text(c.interval, "number"),
            c.subjects,
            c.items,
            c.note,
        )
        for c in found.coefficients
    )
    columns = ("coefficient", "value", "95 % interval", "subjects", "items", "note")
    return Table(f"reliability-{found.task}", f"Reliability of {where}", columns, rows, "; ".join(found.notes))


def _raw_items(found: list[TaskReliability]) -> Table:
    columns = ("instrument", "task", "measure", "item", "difficulty", "discrimination", "concerns")
    rows = tuple(
        (one.instrument, one.task, one.measure, i.item, i.difficulty, i.discrimination, "; ".join(i.concerns))
        for one in found
        for i in one.items
    )
    return Table("items", "Items", columns, rows)


def _reliability_tables(found: TaskReliability) -> Iterator[Table]:
    yield _coefficients(found)
    where = f"{found.instrument}/{found.task}, {found.measure}"
    if found.repeats:
        again = tuple(
            (who, estimate(r.all_right, "share", r.all_right_interval) if r.all_right is not None else None,
             len(r.unstable), r.icc, r.equal_pairs, r.within_deviation, r.items, r.repeats)
            for who, r in found.repeats.items()
        )  # fmt: skip
        heads = (
            "subject", "right in all", "unstable items", "ICC", "equal pairs", "spread within an item", "items",
            "repeats",
        )  # fmt: skip
        same = [who for who, r in found.repeats.items() if r.icc is None]
        said = [f"No ICC, because every repeat of every item gave the same value: {', '.join(same)}."] if same else []
        said += [f"Unstable for {who}: {first_of(r.unstable, 12)}." for who, r in found.repeats.items() if r.unstable]
        note = " ".join(said)
        yield Table("repeatability", f"Repeatability of {where}", heads, again, note, units={"equal pairs": "share"})
    if found.look_at:
        flagged = tuple((i.item, i.difficulty, i.discrimination, "; ".join(i.concerns)) for i in found.look_at)
        names = ("item", "difficulty", "discrimination", "why")
        note = (
            f"{len(found.look_at)} items to look at, of {len(found.items)} in all; "
            "--to FILE.csv gives the difficulty and discrimination of every item."
        )
        yield Table("items", f"Items to look at in {where}", names, flagged, note)


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


def raw_table(compared: Sequence[Comparison]) -> Table:
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
_GATE = (
    "Condition for exit code 1: a later run is worse on a primary measure, or a comparison has no verdict (the runs "
    "cannot be compared, there are too few clusters, or a run lacks the task)."
)
_NO_WORSE = "Condition for exit code 0: the data rule out a loss of --margin on every primary measure."


def _compare(
    words: tuple[str, ...],
    profile: str | None,
    reliability: bool,
    task: str,
    measure: str,
    margin: tuple[str, ...],
    level: float,
    fail_if: str | None,
    fail_unless: str | None,
    store: StorePlace | None,
    display: Display,
) -> int:
    terms, other_level = Terms(level, margin_of(margin)), level != Terms().level
    of_pairs = {"--margin": margin, "--level": other_level, "--fail-if": fail_if, "--fail-unless": fail_unless}
    if profile is not None:
        given = {"RUN": words, "--reliability": reliability, "--task": task, "--measure": measure}
        _refuse("with --profile, which shows one subject over all its runs", given | of_pairs)
    if reliability:
        _refuse("with --reliability", of_pairs)
    if fail_if and fail_unless:
        raise UsageError("--fail-if and --fail-unless cannot be combined; give one of them.")
    gated = bool(fail_if or fail_unless)
    by_pair = gated or bool(margin)
    if by_pair:
        _refuse("with --margin, --fail-if or --fail-unless", {"--measure": measure})
    with open_stored(store_path(store)) as engine:
        if profile is not None:
            show_profile(engine, profile, display)
            return int(ExitCode.OK)
        chosen = named_or_chosen(engine, words, one_kind=True)
        if reliability:
            show_reliability(chosen, task=task, measure=measure, display=display)
            return int(ExitCode.OK)
        named = bool(words) and not any(word == EVERY or word in chosen for word in words)
        if not by_pair and (measure or not named or any(len(runs) > 2 for runs in chosen.values())):
            _refuse("in a ranking, which has 95 % intervals", {"--level": other_level})
            show_ranking(engine, chosen, words, task=task, measure=measure, display=display)
            return int(ExitCode.OK)
        runs = [run for mine in chosen.values() for run in mine]
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


def _refuse(where: str, given: Mapping[str, object]) -> None:
    """A UsageError about the first of these that is given."""
    for name in (name for name, value in given.items() if value):
        raise UsageError(f"{name} has no effect {where}; leave it out.")


def _print(compared: Sequence[Comparison], display: Display) -> None:
    """The verdicts first; then one or two pairs in full, or all pairs in one table."""
    able = [one for one in compared if one.measures]
    few = len(able) <= _PAIRS_IN_FULL
    tables = [pair_table(one) for one in able] if few else [pairs_table(able)]
    display.show(
        tables,
        finding=verdict_sentences(compared),
        more=[comparison_table(ordered(one)) for one in able],
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
        option("--profile", "Show one subject over all instruments.", metavar="SUBJECT"),
        option("--reliability", "Show the reliability of the scores instead.", is_flag=True),
        option("--task", "Task to compare [default: all].", default=""),
        option("--measure", "Measure to rank by [default: the primary one].", default=""),
        *terms_options(),
        option("--fail-if", _GATE, type=click.Choice(["worse"])),
        option("--fail-unless", _NO_WORSE, type=click.Choice(["no-worse"])),
        store_option(),
        *display_options(),
    ],
    help="Compare two runs item by item, with a verdict; rank three or more, with an interval for each rank. RUN is an"
    " id, the start of an id, a name or 'last'. An INSTRUMENT or 'all' ranks each subject's run with the most items."
    " With --margin, --fail-if or --fail-unless, each later run is compared with the first.",
)


def verdicts_between(runs: list[StoredRun]) -> str:
    """The verdicts between subjects on each task that several of them took, each subject against the first."""
    said: list[str] = []
    together: dict[tuple[str, ...], list[StoredRun]] = {}
    for run in runs:  # runs with different models in another role are on different scales
        roles = sorted(f"{role}={one.label}" for role, one in run.manifest.roles.items() if role != SUBJECT)
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
