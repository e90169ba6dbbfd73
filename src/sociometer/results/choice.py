"""Which stored results a comparison, a report or a paper is about: the named ones, or all of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.errors import NotFound, UsageError, hint, unknown
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Shown
from sociometer.core.task import TASK
from sociometer.core.version import __version__
from sociometer.core.words import counted, first_of, grouped, listed
from sociometer.results.groups import groups_of, runs_of_people, study_run
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.resolver import Resolver
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun

EVERY = "all"
Load = Callable[..., Instrument]
"""Gives the instrument of this name; for an imported benchmark, of this name and card."""
_MOST_TOLD = 6
"""The maximum number of runs that a note names."""


class LeftOut(Struct, frozen=True):
    """A stored run that measures no subject, and why it is not shown."""

    run: str
    subject: str
    instrument: str
    tasks: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.subject or 'no subject'} ({self.run}): {self.why}"


class ChosenRuns(Shown, frozen=True):
    """The results that a user named, or those of all subjects."""

    runs: tuple[StoredRun, ...]  # The results, in the order of the words or of the store.
    notes: tuple[str, ...] = ()
    """What is stored and not shown, a sentence each."""
    left_out: tuple[LeftOut, ...] = ()  # The other runs of the same instruments; none if the results were named.

    def __str__(self) -> str:
        return "\n".join(map(str, (*map(repr, self.runs), *self.notes, *self.left_out)))

    def __iter__(self) -> Iterator[StoredRun]:
        return iter(self.runs)

    @property
    def by_instrument(self) -> dict[str, list[StoredRun]]:
        """The results of each instrument."""
        return grouped((run.instrument, run) for run in self.runs)

    def not_chosen(self, instrument: str, task: str) -> tuple[str, ...]:
        """Every other run of a task, and why it is not shown."""
        return tuple(str(one) for one in self.left_out if one.instrument == instrument and task in one.tasks)


def resolver_of(store: Store, load: Load) -> Resolver:
    """What words mean in a store, also the names of studies."""

    def people(name: str, instruments: Sequence[str]) -> StoredRun | None:
        return study_run(store, name, load, instruments)

    return Resolver(store, load, people)


def find_run(store: Store, load: Load, word: str, instruments: Sequence[str] = ()) -> StoredRun:
    """The one result that a word means; an error lists several."""
    return resolver_of(store, load).one(word, instruments)


def choose(
    store: Store, load: Load, installed: Collection[str], words: Sequence[StoredRun | str], *, instrument: str = ""
) -> ChosenRuns:
    """The results that words mean: those of subjects, studies and ids, of the instruments among the words.

    Without words, with `all`, or with names of instruments only, the results of all subjects.
    """
    tests = set(installed) | {one.instrument for one in _records(store) if one.manifest.card is not None}
    instruments = [word for word in words if isinstance(word, str) and word in tests]
    named = [word for word in words if word not in instruments]
    if instrument and not instruments:
        instruments = [instrument]
    if not named or means_all(named):
        return _all_results(store, load, instruments)
    resolver = resolver_of(store, load)
    results: dict[str, StoredRun] = {}
    for word in named:
        for result in _meant(resolver, word, instruments, installed):
            results[result.id] = result
    for result in results.values():
        if instruments and result.instrument not in instruments:
            wanted = listed(instruments)
            raise UsageError(f"'{result.subject}' has no result of {wanted}, only of {result.instrument}.")
    return ChosenRuns(tuple(results.values()), tuple(_only_shown(list(results.values()))))


def choose_for_paper(
    store: Store, load: Load, instrument: str, words: Sequence[str] = (), *, installed: Collection[str] = ()
) -> ChosenRuns:
    """The named results; with `all`, every result of the instrument and the newest of each analysis; without words,
    of these the ones on the official test, and the analyses.
    """
    if words and not means_all(words):
        return choose(store, load, installed, words, instrument=instrument)
    play = hint("run", instrument, "--official", "--model", "MODEL")
    every = [run for run in resolver_of(store, load).every_result(instrument) if not _is_check(run)]
    every += _analyses(store, load, instrument)
    if not every:
        raise UsageError(f"the store has no run of {instrument}. Start one with: {play}")
    if words:
        return ChosenRuns(tuple(every))
    if all(run.manifest.whose_items == "bundled" for run in every):
        other = "name other runs, or give 'all'"
        raise UsageError(f"no stored run has the official items of {instrument}: play them ('{play}'), {other}.")
    kept = [run for run in every if run.manifest.whose_items != "bundled" or run.manifest.given_items]
    told = first_of([f"{run.subject or ', '.join(run.tasks)} {run.id}" for run in kept], 8)
    left = len(every) - len(kept)
    also = f"; left out, on bundled items: {counted(left, 'result')}." if left else "."
    return ChosenRuns(tuple(kept), (f"{instrument}: using {told}{also}",))


def means_all(words: Sequence[StoredRun | str]) -> bool:
    """Whether `all` is given; an error if a result is named next to it."""
    named = [one if isinstance(one, str) else one.id for one in words if one != EVERY]
    if named and EVERY in words:
        raise UsageError(f"'{EVERY}' means every result; leave out '{named[0]}', or name every one.")
    return not named


def names_runs(words: Collection[Any], runs: Sequence[StoredRun]) -> bool:
    """Whether one of these words is a result or its name: neither `all` nor an instrument."""
    return any(not isinstance(one, str) or one not in (EVERY, *(run.instrument for run in runs)) for one in words)


def _meant(
    resolver: Resolver, word: StoredRun | str, instruments: Sequence[str], installed: Collection[str]
) -> list[StoredRun]:
    """The results that a word means; for an unknown word the error suggests results or instruments."""
    if isinstance(word, StoredRun):
        return [word]
    try:
        return resolver.results(word, instruments)
    except NotFound as error:
        # the id of a run begins with its instrument, and is similar to it
        if word.startswith(tuple(f"{name}-" for name in installed)):
            raise
        raise _or_instrument(word, installed, error) from None


def _or_instrument(word: str, installed: Collection[str], error: NotFound) -> Exception:
    suggested = unknown("instrument", word, installed)
    return suggested if "did you mean" in str(suggested) else error


def _all_results(store: Store, load: Load, instruments: Sequence[str]) -> ChosenRuns:
    """The results of all subjects and of the people of all studies."""
    if not store.path.exists():
        raise UsageError(_nothing(instruments))
    resolver = resolver_of(store, load)
    results = [run for run in resolver.every_result() if not _is_check(run)]
    results += groups_of(store, load).values()
    wanted = instruments or list(dict.fromkeys(run.instrument for run in results))
    chosen = [run for run in results if run.instrument in wanted and run.tasks]
    if not chosen:
        raise UsageError(_nothing(instruments))
    past = [run for run in results if run.past and run.instrument in wanted]
    shown = {part for run in chosen for part in run.members}
    people = runs_of_people(store)
    left = [
        LeftOut(one.id, one.subject, one.instrument, one.manifest.config.tasks, _why_left_out(one))
        for one in _records(store)
        if one.id not in shown and one.id not in people and (one.damage or one.instrument in wanted)
    ]
    return ChosenRuns(tuple(chosen), tuple(_only_shown(past)), tuple(left))


def _nothing(instruments: Sequence[str]) -> str:
    what = f" of {listed(list(instruments))}" if instruments else ""
    start = hint("run", instruments[0] if instruments else "INSTRUMENT", "--model", "MODEL")
    return f"the store has no run{what}. Start one with: {start}"


def _records(store: Store) -> Iterable[RunRecord]:
    """The records of all runs; a mistyped path creates no store."""
    return store.runs.all() if store.path.exists() else ()


def _is_check(run: StoredRun) -> bool:
    """Whether a run checks for contamination, or is a benchmark whose import was not finished."""
    if run.manifest.imported:
        return run.record.status is not RunStatus.FINISHED
    return run.record.is_check


def _why_left_out(record: RunRecord) -> str:
    if record.damage:
        return "damaged"
    if record.is_check:
        return "a check for contamination"
    if record.manifest.given_items:
        return "an analysis of stored runs"
    if not record.subject:
        return "measures no model"
    if record.manifest.sociometer_version == __version__:
        return "its name means another model in this store"
    return f"made by version {record.manifest.sociometer_version} and only shown"


def _analyses(store: Store, load: Load, instrument: str) -> list[StoredRun]:
    """The newest finished analysis of each kind: of the same items, with the same models in its roles."""
    newest: dict[tuple[object, ...], tuple[tuple[bool, float], StoredRun]] = {}
    resolver = resolver_of(store, load)
    for record in _records(store):
        if record.instrument != instrument or not record.manifest.given_items or record.damage:
            continue
        run = resolver.opened(record)
        if run.tasks in ((), (TASK,)):
            continue
        config = record.manifest.config
        first = next(run.episodes(), None)
        item = b"" if first is None else msgspec.json.encode(first.item)
        roles = tuple(sorted((role, who.label) for role, who in record.manifest.roles.items()))
        settings = tuple(sorted(config.settings.items()))
        kind = (record.subject, config.tasks, settings, config.official, roles, item)
        weight = (record.status is RunStatus.FINISHED, record.created)
        if kind not in newest or weight > newest[kind][0]:
            newest[kind] = (weight, run)
    return [run for _, run in newest.values()]


def _only_shown(runs: Sequence[StoredRun]) -> list[str]:
    """Which runs, or tasks of runs, of earlier versions are stored and have no part in a comparison, in a sentence."""
    named = [_with_past_tasks(run) for run in runs if run.past]
    if not named:
        return []
    stored = counted(len(named), "stored run")
    which = first_of(named, _MOST_TOLD)
    return [f"Stored by an earlier version and only shown, not compared or reported: {stored} ({which})."]


def _with_past_tasks(run: StoredRun) -> str:
    return f"{run.reference}: {listed(list(run.past))}" if run.tasks else run.reference
