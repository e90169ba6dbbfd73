"""`sociometer compare`: two runs with a verdict, several with their ranks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import click

from sociometer.cli.options import margin_of, open_stored, store_option, terms_options, told
from sociometer.cli.output import SCREEN, Display, TableCommand, display_options, option, print_text
from sociometer.core.errors import ExitCode, UsageError, hint
from sociometer.core.words import grouped
from sociometer.engine.run_options import chosen_items
from sociometer.instruments import cards, load
from sociometer.reporting.progress import track, working
from sociometer.results.choice import EVERY, ChosenRuns, choose
from sociometer.results.comparison_tables import ordered, overall_rows, pair_tables, pairs_table, verdict_sentences
from sociometer.results.leaderboard import leaderboard_table, left_out_text, raw_ranks
from sociometer.results.reliability import reliabilities, reliability_tables
from sociometer.results.runs import beside_people, compare_runs, gate, rank_runs
from sociometer.results.verdicts import Comparison, Terms
from sociometer.results.wording import FAMILIES, comparison_table, raw_comparisons
from sociometer.store.place import StorePlace
from sociometer.store.stored_run import StoredRun


def show_ranking(chosen: ChosenRuns, task: str, measure: str, display: Display) -> None:
    """Print where the subjects of several runs stand on the items they share, with an interval for each rank."""
    found = rank_runs(chosen, task, measure, track)
    if not any(len(board.standings) > 1 for board in found.boards):
        left = [f"Left out: {left_out_text(board)}." for board in found.boards if board.left_out]
        needed = f"A ranking needs two subjects with runs on the same items; '{hint('runs')}' lists the stored runs."
        raise UsageError(" ".join(filter(None, (found.sentence, *found.unranked, *left, needed))))
    display.show(
        found.tables,
        finding=found.sentence,
        more=[leaderboard_table(board) for board in found.boards] if found.several else (),
        notes=found.unranked,
        files=[raw_ranks(found.boards)],
        data={"comparisons": (), "rankings": found.boards, "gate": None, "not_compared": ()},
    )


_TASKS_IN_FULL = 3


def _show_reliability(chosen: ChosenRuns, task: str, measure: str, display: Display) -> None:
    """Print alpha and repeatability of the scores of runs."""
    with working(f"reliability of {', '.join(chosen.by_instrument)}"):
        found = reliabilities(chosen, task, measure)
    tables = [table for one in found.tasks for table in reliability_tables(one)]
    several = len(found.tasks) > _TASKS_IN_FULL
    display.show(
        [] if several else tables,
        finding=str(found),
        more=[*(tables if several else ()), found.items],
        notes=[f"{one.where}: {'; '.join(one.notes)}." for one in found.tasks if one.notes],
        files=[found.items],
        data=found.tasks,
    )


_PAIRS_IN_FULL = 2
_GATE = (
    "Condition for exit code 1: a later run is worse on a primary measure, or a comparison has no verdict (the runs "
    "cannot be compared, there are too few clusters, a stand-in played a role, or a run lacks the task)."
)
_NO_WORSE = "Condition for exit code 0: the data rule out a loss of --margin on every primary measure."


def _compare(
    words: tuple[str, ...],
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
    if reliability:
        _refuse("with --reliability", of_pairs)
    if fail_if and fail_unless:
        raise UsageError("--fail-if and --fail-unless cannot be combined; give one of them.")
    gated = bool(fail_if or fail_unless)
    by_pair = gated or bool(margin)
    if by_pair:
        _refuse("with --margin, --fail-if or --fail-unless", {"--measure": measure})
    with open_stored(store) as engine:
        chosen = told(choose(engine.store, load, cards(), words))
        if reliability:
            _show_reliability(chosen, task, measure, display)
            return int(ExitCode.OK)
        tests, runs = chosen.by_instrument, chosen.runs
        named = bool(words) and not any(word == EVERY or word in tests for word in words)
        beside = [beside_people(mine) for mine in tests.values() if len({run.subject for run in mine}) > 2]
        if not by_pair and (measure or not named or not all(beside)):
            _refuse("in a ranking, which has 95 % intervals", {"--level": other_level})
            show_ranking(chosen, task, measure, display)
            return int(ExitCode.OK)
        runs = tuple(sorted(runs, key=lambda run: bool(beside) and not by_pair and not run.people))
        with working("comparing runs"):
            found_gate = gate(runs, task, terms, no_worse=bool(fail_unless)) if gated else None
            compared = found_gate.compared if found_gate is not None else compare_runs(runs, task, terms)
    if found_gate is None and compared.refused:
        raise UsageError("\n".join((compared.refused, *dict.fromkeys(_without_norm(runs, compared)))))
    if display.as_json:
        about = None if found_gate is None else found_gate.about
        everything = (*compared, *compared.lacking)
        display.json({"comparisons": everything, "rankings": (), "gate": about, "not_compared": compared.alone})
    else:
        show_compared(compared.comparisons, display)
        for line in (*lacking_lines(compared.lacking), *compared.alone):
            print_text(line)
        if display.wide and any(comparison.measures for comparison in compared):
            print_text(FAMILIES)
    if found_gate is None:
        return int(ExitCode.OK)
    print_text(str(found_gate), err=True)
    return int(ExitCode.OK if found_gate.holds else ExitCode.GATE_FAILED)


def _without_norm(runs: Sequence[StoredRun], compared: Iterable[Comparison]) -> Iterator[str]:
    """The commands that play models with the key of a study, if the key of their norm is why they are refused."""
    for run in runs if any("without --norm" in one.refused for one in compared) else ():
        if (config := run.manifest.config).settings.get("norm") and not run.people:
            chosen = chosen_items(config, run.definition.card, without="norm")
            yield hint("run", run.instrument, "--model", config.subject, *chosen)


def _refuse(where: str, given: Mapping[str, object]) -> None:
    """A UsageError about the first of these that is given."""
    for name in (name for name, value in given.items() if value):
        raise UsageError(f"{name} has no effect {where}; leave it out.")


def show_compared(compared: Sequence[Comparison], display: Display) -> None:
    """The verdicts first; then one or two pairs in full, or all pairs in one table."""
    able = [one for one in compared if one.measures]
    few = len(able) <= _PAIRS_IN_FULL
    tables = pair_tables(able) if few else [pairs_table(able)]
    display.show(
        tables,
        finding=verdict_sentences(compared),
        more=[comparison_table(ordered(one)) for one in able],
        limits=[min(SCREEN // len(able), overall_rows(one)) for one in able] if few else (),
        files=[raw_comparisons(compared)],
    )


def lacking_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """One line per task: the subjects that have no run of it and so are not compared."""
    return [
        f"{task}: not compared with {', '.join(who)}, which {'have' if len(who) > 1 else 'has'} no run of it."
        for task, who in grouped((one.where, one.second) for one in comparisons).items()
    ]


command = TableCommand(
    "compare",
    callback=_compare,
    params=[
        click.Argument(["words"], nargs=-1, metavar="[RUN…|INSTRUMENT…|all]"),
        option("--task", "Task to compare [default: all].", default=""),
        option("--measure", "Measure to rank by [default: the primary one].", default=""),
        *terms_options(),
        option("--fail-if", _GATE, type=click.Choice(["worse"])),
        option("--fail-unless", _NO_WORSE, type=click.Choice(["no-worse"])),
        option("--reliability", "Show the reliability of the scores instead.", is_flag=True),
        store_option(),
        *display_options(),
    ],
    help="Compare two models item by item, with a verdict; rank three or more, with an interval for each rank. RUN is"
    " the name of a model, a model, a study, the id of a run or 'last'. An INSTRUMENT or 'all' ranks all. What was"
    " asked in the same way is compared. Beside the people of a study, each model is compared with them; with --margin,"
    " --fail-if or --fail-unless, each later one with the first. --to FOLDER writes one file with every number:"
    " comparisons.csv, leaderboard.csv (ranks) or items.csv (--reliability); --to FILE.csv names it yourself.",
)
