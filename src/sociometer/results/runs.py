"""Stored runs compared and ranked: their labels, caveats and corrections, the verdicts, and the gate of a build."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from sociometer.core.errors import NotFound, UsageError, hint
from sociometer.core.form import differs, why_apart
from sociometer.core.measure import Shown, Table
from sociometer.core.reply_summary import AFTER_ASKING
from sociometer.core.task import AnyRun
from sociometer.core.words import counted, first_of, grouped, listed, lowered, sentence
from sociometer.results.blocks import blocks
from sociometer.results.candidates import contamination_note, require_computable, run_labels
from sociometer.results.choice import ChosenRuns
from sociometer.results.comparison import compare, not_compared
from sociometer.results.corrected import corrected_measures
from sociometer.results.leaderboard import (
    Leaderboard,
    leaderboard,
    leaderboard_sentence,
    leaderboard_table,
    overview_table,
    raw_ranks,
)
from sociometer.results.verdicts import ComparedMeasure, Comparison, Terms
from sociometer.results.wording import (
    POWER_TERMS,
    adjusted_for,
    comparison_table,
    failed_text,
    raw_comparisons,
    size_text,
)
from sociometer.statistics.formatting import amount, bracketed_interval, hidden_stand_in, margin_text
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun


def candidates(runs: Sequence[StoredRun], task: str = "") -> list[AnyRun]:
    """The part of every measured task of every run that can be compared."""
    require_computable(runs)
    names = run_labels(runs)
    found: list[AnyRun] = []
    for stored in runs:
        for name in (one for one in stored.tasks if task in ("", one) and stored.definition.card.measures_of(one)):
            made = stored.task(name).headline(stored.view(name))
            told = {"subject": names[stored.id], "summary": stored.summary(name), "part": stored.part_of_paper(name)}
            found.append(compared_run(stored, structs.replace(made, **told)))
    if task and not found:
        tasks = dict.fromkeys(one for run in runs for one in run.tasks if run.definition.card.measures_of(one))
        raise UsageError(f"none of the runs has a task '{task}' with measures; they have: {', '.join(tasks)}.")
    return found


def compared_run(stored: StoredRun, made: AnyRun) -> AnyRun:
    """What is compared of a run, with the caveats beside a verdict and the values that people's labels correct."""
    hidden = hidden_stand_in(stored.subject, stored.stand_ins)
    counted = str(stored.stopping(made.task) or stored.counted(made.task))
    beside = next((one.note for one in made.summary.measures if AFTER_ASKING in one.note), "")
    notes = (made.note, hidden, counted, beside, contamination_note(stored, made.task).removesuffix("."))
    corrected = corrected_measures(stored, made.task)
    return structs.replace(made, note="; ".join(filter(None, notes)), corrected=corrected)


def ranked_tasks(runs: Sequence[StoredRun], task: str = "") -> dict[str, list[AnyRun]]:
    """The candidates of each task with a measure that is a mean over items, which ranks and reliability need."""
    found = grouped((candidate.task, candidate) for candidate in candidates(runs, task))
    return {name: of for name, of in found.items() if any(card.value for card in of[0].card.measures_of(name))}


def tests_with(chosen: ChosenRuns, task: str) -> dict[str, list[StoredRun]]:
    """The runs of each instrument, of those that have the task; of all if none has it, or without a task."""
    tests = chosen.by_instrument
    return {test: runs for test, runs in tests.items() if any(task in run.tasks for run in runs)} or tests


def beside_people(runs: Sequence[StoredRun]) -> bool:
    """Whether each of several subjects is compared with the people of the only study among them, and none ranked."""
    return len({run.subject for run in runs}) > 2 and sum(run.people > 0 for run in runs) == 1


class Comparisons(Shown, frozen=True):
    """Comparisons with the first run, task by task; `lacking` has the runs that lack a task."""

    comparisons: tuple[Comparison, ...]  # One for each task and later run; also `["sesi/questions"]`.
    lacking: tuple[Comparison, ...] = ()  # One for each task that a run lacks, with the reason.
    chosen: ChosenRuns = ChosenRuns(())  # The runs, and which other runs `all` leaves out and why.
    task: str = ""  # The only task that is compared; empty for all.
    alone: tuple[str, ...] = ()  # The results that nothing is compared with, a sentence each.

    def ranking(self, measure: str = "") -> "Rankings":
        """Where the subjects stand, task by task: by the primary measure, or by this one."""
        return rank_runs(self.chosen, self.task, measure)

    @property
    def sentence(self) -> str:
        """The result in words: one sentence for each comparison, and for how many the intervals are adjusted."""
        return "\n".join([*(comparison.sentence for comparison in self.comparisons), *adjusted_for(self.comparisons)])

    def frame(self) -> Any:
        """Every number of the comparisons as a pandas frame."""
        return raw_comparisons(self.comparisons).frame()

    @property
    def refused(self) -> str:
        """Why nothing could be compared; empty if something was."""
        return "" if any(one.measures for one in self) else "\n".join(dict.fromkeys(map(str, self)))

    def __str__(self) -> str:
        return self.sentence

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __getitem__(self, key: int | str | tuple[str, str]) -> Comparison:
        """The comparison of a task (`"questions"`, `"sesi/questions"`); of several runs, of a task and a subject."""
        if isinstance(key, int):
            return self.comparisons[key]
        task, second = (key, "") if isinstance(key, str) else key
        of_task = [one for one in self.comparisons if task in (one.task, one.where)]
        found = [one for one in of_task if second in ("", one.second)]
        if len(found) == 1:
            return found[0]
        keys = (f'"{one.where}", "{one.second}"' if of_task else f'"{one.where}"' for one in of_task or self)
        raise NotFound(f"choose one of the comparisons [{'], ['.join(dict.fromkeys(keys))}], not {key!r}.")

    def _shown(self) -> Iterable[Table]:
        """The verdicts and the numbers behind them."""
        return [structs.replace(comparison_table(one), note=one.sentence) for one in self.comparisons]


def compare_runs(runs: Sequence[StoredRun], task: str = "", terms: Terms | None = None) -> Comparisons:
    """Every run compared with the first, item by item; of one task, or of all that they share."""
    if len(runs) < 2:
        only = "".join(f", not only {run.reference}" for run in runs)
        lists = f"'{hint('runs')}' lists the stored runs."
        raise UsageError(f"compare needs two different runs{only}: {hint('compare RUN RUN')}. {lists}")
    known = candidates(runs, task)
    return Comparisons(compare(known, terms), not_compared(known), ChosenRuns(tuple(runs)), task, _alone(known))


def _alone(candidates: Sequence[AnyRun]) -> tuple[str, ...]:
    """Which results are compared with no other of their task, and why, a sentence each."""
    groups = blocks(candidates)
    first_of_task = {(members[0].card.name, members[0].task): members[0] for members in reversed(groups.together)}
    sentences = []
    for one in groups.alone:
        other = first_of_task.get((one.card.name, one.task))
        if other is not None:
            sentences.append(f"Not compared: {one.card.name}/{one.task} of {_why_alone(one, other)}.")
    return tuple(sentences)


_BOARDS_IN_FULL = 3


class Rankings(Shown, frozen=True):
    """A leaderboard for each task of each instrument, and why some tasks have none."""

    boards: tuple[Leaderboard, ...]  # The leaderboard of each task.
    unranked: tuple[str, ...] = ()  # Why a task has no leaderboard, one sentence each.

    @property
    def several(self) -> bool:
        """Whether there are so many leaderboards that an overview comes first."""
        return len(self.boards) > _BOARDS_IN_FULL

    @property
    def sentence(self) -> str:
        """Who is first: one sentence for each task, or one for all if there are many."""
        return sentence(self.firsts) if self.several else "\n".join(map(leaderboard_sentence, self.boards))

    @property
    def firsts(self) -> str:
        """Who is first on how many tasks, as the start of a sentence."""
        contested = [board for board in self.boards if len(board.standings) > 1 and not board.too_few]
        if not contested:
            return "no task has two subjects and enough items to rank them"
        clear = Counter(first for one in contested if (first := one.first)).most_common()
        said = [f"{subject} on {count} of {len(contested)} tasks" for subject, count in clear]
        found = [f"clearly first: {first_of(said, 4)}"] if said else []
        if left := len(contested) - sum(count for _, count in clear):
            none = sum(not any(one.beats for one in board.standings) for board in contested)
            also = f"; on {none} of these the items separate no two subjects" if none else ""
            found.append(f"{'On' if said else 'on'} {left} of {len(contested)} tasks no subject is clearly first{also}")
        return ". ".join(found)

    @property
    def tables(self) -> list[Table]:
        """The leaderboards, or an overview of many."""
        return [overview_table(self.boards)] if self.several else [leaderboard_table(board) for board in self.boards]

    def frame(self) -> Any:
        """Every number of the leaderboards as a pandas frame."""
        return raw_ranks(self.boards).frame()

    def __str__(self) -> str:
        return "\n\n".join(map(str, (self.sentence, *self.tables, *self.unranked)))

    def _shown(self) -> Iterable[Table]:
        return map(leaderboard_table, self.boards)


def rank_runs(
    chosen: ChosenRuns,
    task: str = "",
    measure: str = "",
    track: Callable[[Sequence[str], str], Iterable[str]] = lambda tasks, label: tasks,
) -> Rankings:
    """Where the subjects of runs stand on the items they share, with an interval for each rank; `track` shows progress.

    A task that cannot be ranked is an error if there is one instrument, else it is told in `unranked`.
    """
    boards: list[Leaderboard] = []
    unranked: list[str] = []
    tests = tests_with(chosen, task)
    for test, runs in tests.items():
        known = ranked_tasks(runs, task)
        for name in track(list(known), f"ranking {test}"):
            groups = blocks(known[name])
            for members in groups.together or _not_ranked(known[name], list(tests)):
                try:
                    board = leaderboard(members, measure)
                except UsageError as error:
                    if len(tests) == 1 and len(groups.together) < 2:
                        raise
                    unranked.append(f"{test}/{name} has no ranking: {error}")
                    continue
                others = [_why_alone(one, members[0]) for one in groups.alone if groups.together]
                left_out = (*board.left_out, *others, *chosen.not_chosen(test, name))
                boards.append(structs.replace(board, left_out=left_out))
    return Rankings(tuple(boards), tuple(unranked))


def _not_ranked(candidates: Sequence[AnyRun], tests: Sequence[str]) -> tuple[tuple[AnyRun, ...], ...]:
    """The results of a task of which no two can be ranked; none where other tests have a ranking."""
    return () if len(tests) > 1 and len(candidates) < 2 else (tuple(candidates),)


def _why_alone(one: AnyRun, other: AnyRun) -> str:
    """Why a result is not ranked with those that were asked the same as the other."""
    reason = why_apart(differs(other.form, one.form, "pair"), one.card.name) or "nothing else was asked the same"
    return f"{one.subject}: {reason}"


class Gate(Shown, frozen=True):
    """The comparisons behind a gate, why it fails (empty if it holds), what it could have seen, and its condition."""

    compared: Comparisons  # The comparisons behind it.
    failures: tuple[str, ...]  # Why it fails, one sentence each; empty if it holds.
    could_see: str  # The smallest loss that would have been seen, in a sentence; empty with a margin.
    condition: str  # What must hold: `not worse`, or `no loss of 3 points`, which is the margin.
    stopped: tuple[str, ...] = ()  # Which runs stopped early, after how many items and why; empty if none did.

    def __str__(self) -> str:
        tasks = counted(len({one.where for one in self.compared}), "task")
        part = f" It rests on part of the items: {'; '.join(self.stopped)}." if self.stopped else ""
        passed = f"Gate passed: {self.condition} on {tasks}.{part}" if self.holds else ""
        failures = (f"Gate failed: {failure}" for failure in self.failures)
        return "\n".join(filter(None, (*failures, passed, self.could_see, *self.compared.alone)))

    def __repr__(self) -> str:
        return str(self).partition("\n")[0]

    def __bool__(self) -> bool:
        return self.holds

    @property
    def holds(self) -> bool:
        """Whether the build passes."""
        return not self.failures

    @property
    def about(self) -> dict[str, object]:
        """The gate in JSON; `detectable` has the smallest loss that would have been seen, by task and measure."""
        detectable = [
            {"task": one.where, "subject": one.second, "measure": row.name, "loss": row.detectable}
            for one in self.compared
            for row in one.primary_rows
        ]
        told = {"reasons": self.failures, "stopped": self.stopped, "detectable": detectable}
        return {"condition": self.condition, "holds": self.holds, **told}


def gate(runs: Sequence[StoredRun], task: str, terms: Terms, *, no_worse: bool) -> Gate:
    """Whether later runs are worse than the first (`no_worse`: whether a loss of the margin is not ruled out).

    A false “worse” on any of several tasks fails the build, so the error rate is divided by their number. To pass
    `no_worse`, every task must rule the loss out, so there it need not be. A comparison without a verdict never passes.
    """
    compared = compare_runs(runs, task, terms)
    if no_worse and terms.margin is None:
        raise UsageError("--fail-unless no-worse needs --margin, the smallest loss that matters.")
    tasks = len({(one.instrument, one.task) for one in compared})
    if not no_worse and tasks > 1:
        terms = structs.replace(terms, level=1 - (1 - terms.level) / tasks)
        compared = compare_runs(runs, task, terms)
    by_id = {run.id: run for run in runs}
    sizes = dict.fromkeys(amount(row.margin, row.unit) for one in compared for row in one.primary_rows if row.margin)
    failures = [failure for one in (*compared, *compared.lacking) if (failure := _failure(one, by_id, no_worse))]
    return Gate(
        compared,
        tuple(failures) or (() if any(compared) else ("the runs have no task in common",)),
        "" if no_worse else _could_see(compared, tasks),
        f"no loss of {listed(list(sizes)) or 'the margin'}" if no_worse else "not worse",
        tuple(dict.fromkeys(stopped for one in compared for stopped in _stopped(one, by_id))),
    )


def _stopped(one: Comparison, runs: Mapping[str, StoredRun]) -> Iterator[str]:
    """Which of the two runs stopped early, after how many items and why; not one that its own rule ended."""
    for name, run in ((one.first, runs[one.first_run]), (one.second, runs[one.second_run])):
        if one.measures and run.status is not RunStatus.FINISHED and (part := run.part(one.task)):
            why = f" ({run.why_ended})" if run.why_ended else ""
            yield f"the run of {name} {run.status} at {part[0]} of {part[1]} items of {one.where}{why}"


def _failure(one: Comparison, runs: Mapping[str, StoredRun], no_worse: bool) -> str:
    """Why a comparison does not pass, with what may have caused it; empty if it does."""
    why = one.undecided or _loss(one, no_worse)
    said = "; ".join((why, *one.unread, *_stopped(one, runs)))
    lost = any(row.failed and row.verdict != "worse" for row in one.primary_rows)
    both = (runs[one.first_run], runs[one.second_run]) if lost else ()
    again = [run.manifest.config.resume_command(run.reference) for run in both if run.failures()]
    retry = f" To retry the failed items: {' and '.join(again)}" if again else ""
    pair = f"{one.first} and {one.second}" if one.refused else f"{one.second} against {one.first}"
    return f"{pair} on {one.where}: {said}.{retry}" if why else ""


def _loss(one: Comparison, no_worse: bool) -> str:
    """The first measure that is or could be worse, or on which a loss of the margin is possible; empty without one."""
    for row in one.primary_rows:
        if _rules_out(row) if no_worse else not row.could_be_worse:
            continue
        sure = row.verdict == "worse" or (no_worse and not _rules_out(structs.replace(row, failed=0, extremes=())))
        worst = "" if sure else failed_text(row)
        if not sure and row.extremes:
            worst = f", {bracketed_interval(row.extremes[0], row.unit)} with the failed items at their worst"
        what = "worse," if sure else f"could be worse, because {counted(row.failed, 'item')} failed:"
        if no_worse:
            what = f"the data do not rule out a loss of {margin_text(row.margin or 0, row.unit)}:"
        return f"{what} {lowered(row.title)} is {size_text(row)}{worst}"
    return ""


def _rules_out(row: ComparedMeasure) -> bool:
    """Whether a loss as large as the margin is excluded, also with the failed items at their worst.

    A measure without a margin does not count.
    """
    margin = row.margin
    return margin is None or (
        not row.left_open
        and all(
            one.low is not None
            and one.high is not None
            and (row.better == "lower" or one.low > -margin)
            and (row.better == "higher" or one.high < margin)
            for one in (row.paired.interval, *row.extremes)
        )
    )


def _could_see(compared: Comparisons, sharing: int = 1) -> str:
    """The smallest loss that would have been seen on each of the tasks that share an error rate, in a sentence."""
    several = len({one.second for one in compared}) > 1
    found = [
        f"{amount(row.detectable, row.unit, interval=row.paired.interval)}{f' for {one.second}' if several else ''}"
        f" on {one.where} ({row.paired.items} items)"
        for one in compared
        for row in one.primary_rows
        if row.detectable is not None
    ]
    terms = f"{POWER_TERMS}, with the spread of these runs" + f", one error rate for {sharing} tasks" * (sharing > 1)
    return f"Smallest loss that would have been seen ({terms}): {first_of(found, 6)}." if found else ""
