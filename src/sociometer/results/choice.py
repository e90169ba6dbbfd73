"""Which stored runs a comparison, a report or a paper is about: the named ones, or those that `all` means."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import NotFound, UsageError, hint, unknown
from sociometer.core.form import norm_digest
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Shown
from sociometer.core.settings import SettingValue
from sociometer.core.task import TASK, asked_items
from sociometer.core.words import counted, first_of, grouped, listed
from sociometer.results.candidates import common_items, short_run_note
from sociometer.results.groups import groups_of, runs_of_people, study_run
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.runs import SeveralRuns
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.store.studies import find_study, study_books

EVERY = "all"
Load = Callable[..., Instrument]
"""Gives the instrument of this name; for an imported benchmark, of this name and card."""
_MOST_TOLD = 6
"""The maximum number of chosen runs of one instrument that a note names."""
_MOST_OF_KIND = "each subject's run with the most items, of those with the items, roles and settings of most subjects"


class LeftOut(Struct, frozen=True):
    """A stored run that was not chosen, and why."""

    run: str
    subject: str
    instrument: str
    tasks: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.subject or 'no subject'} ({self.run}): {self.why}"


class ChosenRuns(Shown, frozen=True):
    """The runs that a user named, or one run for each subject and instrument."""

    runs: tuple[StoredRun, ...]  # The runs, in the order of the words or of the store.
    notes: tuple[str, ...] = ()
    """A sentence for each instrument: the chosen runs and the subjects without one; none if the runs were named."""
    left_out: tuple[LeftOut, ...] = ()  # The other runs of the same instruments; none if the runs were named.

    def __str__(self) -> str:
        return "\n".join(map(str, (*map(repr, self.runs), *self.notes, *self.left_out)))

    def __iter__(self) -> Iterator[StoredRun]:
        return iter(self.runs)

    @property
    def by_instrument(self) -> dict[str, list[StoredRun]]:
        """The runs of each instrument."""
        return grouped((run.instrument, run) for run in self.runs)

    def not_chosen(self, instrument: str, task: str) -> tuple[str, ...]:
        """Every other run of a task, and why it was not chosen."""
        return tuple(str(one) for one in self.left_out if one.instrument == instrument and task in one.tasks)


def find_run(store: Store, load: Load, reference: str, instruments: Sequence[str] = ()) -> StoredRun:
    """The run that `Runs.get` finds; the people of the study with this name."""
    if not store.path.exists() and not [*study_books(store.path)]:
        raise UsageError(f"there is no run '{reference}': there is no store at {store.path}.")
    try:
        people = study_run(store, reference, load, instruments)
        return people or _opened(store, load, store.runs.get(reference, instruments))
    except NotFound:
        studies = [name for book in study_books(store.path) for name in book.names()]
        for study in (name for name in studies if reference.startswith(f"{name}.")):
            runs = " or ".join(f"{part}.PARTICIPANT" for part in find_study(store.path, study)[0].parts)
            where = f"one person's is {runs}, and '{hint('study show', study)}' lists the participants"
            raise NotFound(f"study {study} has no run '{reference}'; {where}.") from None
        if not get_close_matches(reference, studies, n=1):
            raise
        raise unknown("run", reference, studies, f"To see all studies: {hint('study list')}") from None


def choose_runs(
    store: Store,
    load: Load,
    references: Sequence[str] = (),
    *,
    instrument: str = "",
    subject: str = "",
    one_kind: bool = False,
    every: bool = False,
) -> ChosenRuns:
    """The named runs; without names or with `all`, every subject's run with the most items on every instrument.

    The name of an instrument means these runs of it; with `every`, all runs of its test.
    Items are those of the instrument's default test; among runs with equally many, the newest counts. Runs on official
    and on bundled items, on another norm, with different models in the other roles, or with another wording or order of
    options are of different kinds. The kind that most subjects have is preferred, then official items; `one_kind`
    leaves out subjects without a run of it. For one `subject`, all kinds are returned.
    """
    if references and not means_all(references):
        mine = [instrument] if instrument else []
        meant = _joined([_meant(store, load, one, mine, every) for one in references])
        told = meant.notes if every else (*meant.notes, *_only_shown(meant.runs))
        return structs.replace(meant, runs=_named(meant.runs, mine).runs, notes=told)
    # The participants of a study are one subject together, not one each.
    people, groups = runs_of_people(store), groups_of(store, load).values()
    records = [one for one in _records(store) if one.id not in people and instrument in ("", one.instrument)]
    runs = [_opened(store, load, one) for one in records if one.subject]
    runs += [one for one in groups if instrument in ("", one.instrument)]
    standing = [one for run in runs if subject in ("", run.subject) and (one := _standing(run)) is not None]
    fullest = _fullest(standing, one_kind=one_kind, each_kind=bool(subject))
    others = _only_others(records, {one.run.instrument for one in fullest}, subject)
    if not fullest and others:
        raise UsageError(f"{' '.join(others)} Name the runs that you want.")
    if not fullest:
        what = f" of {instrument}" if instrument else ""
        who = f" with subject '{subject}'" if subject else ""
        start = hint("run", instrument or "INSTRUMENT", "--model", "MODEL")
        raise UsageError(f"the store has no run{what}{who}. Start one with: {start}")
    past = {run.id: next(iter(run.past.values())) for run in runs if run.past and not run.tasks}
    left_out = _left_out(fullest, standing, [one for one in records if subject in ("", one.subject)], past)
    notes = _notes(fullest, standing, one_kind=one_kind)
    shown = _only_shown([run for run in runs if subject in ("", run.subject)])
    return ChosenRuns(tuple(one.run for one in fullest), (*notes, *others, *shown), tuple(left_out))


def choose_by_words(
    store: Store, load: Load, installed: Collection[str], words: Sequence[StoredRun | str], *, one_kind: bool = False
) -> ChosenRuns:
    """The runs that instruments, references or `all` (also no words) mean; of several, those on the same items."""
    imported = {one.instrument for one in _records(store) if one.manifest.card is not None}
    instruments = [word for word in words if isinstance(word, str) and (word in installed or word in imported)]
    references = [word for word in words if word not in instruments]
    if references and not means_all(references):
        several = [_fitting(store, load, installed, word, instruments) for word in references]
        if any(len(each) != 1 for each in several) and len(several) > 1 and (alike := _alike(several)):
            return alike
        for word in (word for word, each in zip(references, several, strict=True) if len(each) != 1):
            find_run(store, load, str(word), instruments)  # says which runs fit
        named = _named([each[0] for each in several], instruments)
        return ChosenRuns(tuple(run for runs in named.by_instrument.values() for run in runs))
    names = dict.fromkeys(instruments or [""])
    return _joined([choose_runs(store, load, instrument=name, one_kind=one_kind) for name in names])


def _joined(chosen: Sequence[ChosenRuns]) -> ChosenRuns:
    return ChosenRuns(
        tuple(run for one in chosen for run in one.runs),
        tuple(note for one in chosen for note in one.notes),
        tuple(left for one in chosen for left in one.left_out),
    )


def _meant(store: Store, load: Load, word: str, instruments: Sequence[str], every: bool) -> ChosenRuns:
    """The run of this name, or those that the name of an instrument with several runs means."""
    try:
        return ChosenRuns((find_run(store, load, word, instruments),))
    except SeveralRuns as error:
        if all(one.instrument != word for one in error.args[1]):
            raise
        if not every:
            return choose_runs(store, load, instrument=word)
        people, records = runs_of_people(store), [one for one in error.args[1] if one.subject]
        played = (one for one in records if not (one.manifest.given_items or one.manifest.config.step_of))
        return ChosenRuns(tuple(_opened(store, load, one) for one in played if one.id not in people))


def choose_for_paper(store: Store, load: Load, instrument: str, references: Sequence[str] = ()) -> ChosenRuns:
    """The named runs; with `all`, the most complete run of each subject, task and setting; without names, of these the
    runs of the official test and analyses of runs.
    """
    if references and not means_all(references):
        return choose_runs(store, load, references, instrument=instrument)
    fullest: dict[tuple[object, ...], tuple[tuple[bool, int, float], StoredRun]] = {}
    for record in _records(store):
        analysis = bool(record.manifest.given_items)
        if record.instrument != instrument or record.manifest.card is not None or not (record.subject or analysis):
            continue
        run, config = _opened(store, load, record), record.manifest.config
        if run.tasks in ((), (TASK,)):  # only stored numbers; a check for contamination has no score
            continue
        roles = tuple(sorted((role, who.label) for role, who in record.manifest.roles.items()))
        settings = tuple(sorted(config.settings.items()))
        # Analyses of different runs of a subject differ in their items only.
        first = next(run.episodes(), None) if analysis else None
        item = b"" if first is None else msgspec.json.encode(first.item)
        kind = (record.subject, config.tasks, settings, config.official, roles, item)
        weight = (record.status is RunStatus.FINISHED, store.totals(record).done, record.created)
        if kind not in fullest or weight > fullest[kind][0]:
            fullest[kind] = (weight, run)
    play = hint("run", instrument, "--official", "--model", "MODEL")
    if not fullest:
        raise UsageError(f"the store has no run of {instrument}. Start one with: {play}")
    every = tuple(run for _, run in fullest.values())
    if references:
        return ChosenRuns(every)
    if not any(run.manifest.whose_items != "bundled" for run in every):
        other = "name other runs, or give 'all'"
        raise UsageError(f"no stored run has the official items of {instrument}: play them ('{play}'), {other}.")
    kept = tuple(run for run in every if run.manifest.whose_items != "bundled" or run.manifest.given_items)
    told = first_of([f"{run.subject or ', '.join(run.tasks)} {run.id}" for run in kept], 8)
    left = len(every) - len(kept)
    also = f"; left out, on bundled items: {counted(left, 'run')}." if left else "."
    return ChosenRuns(kept, (f"{instrument}: using {told}{also}",))


def means_all(references: Sequence[StoredRun | str]) -> bool:
    """Whether `all` is given; an error if a run is named next to it."""
    named = [one if isinstance(one, str) else one.id for one in references if one != EVERY]
    if named and EVERY in references:
        raise UsageError(f"'{EVERY}' chooses the runs itself; leave out '{named[0]}', or name every run.")
    return not named


def names_runs(words: Collection[Any], runs: Sequence[StoredRun]) -> bool:
    """Whether one of these words for runs is a run or its name: neither `all` nor an instrument."""
    return any(not isinstance(one, str) or one not in (EVERY, *(run.instrument for run in runs)) for one in words)


def without_short(runs: Sequence[StoredRun], words: Collection[Any]) -> tuple[Sequence[StoredRun], list[str]]:
    """The runs of a page for these words, and why others are left out: of all runs those that share too few items."""
    if names_runs(words, runs):
        return runs, []
    left: dict[str, str] = {}
    for members in grouped(((run.instrument, _kind(run)), run) for run in runs).values():
        scored = [{f"{task}/{item}" for task in run.tasks for item in run.counted_items(task)} for run in members]
        common = common_items(scored)
        for place, has in common.short.items():
            run = members[place]
            why = f"; it ended early: {run.why_ended}" if run.why_ended else ""
            left[run.id] = short_run_note(f"{run.subject} on {run.instrument} ({run.id})", has, common.items) + why
        if common.short:  # the command is long, so only the last of them has it
            includes = "includes it" if len(common.short) == 1 else f"includes all {len(common.short)}"
            left[run.id] += f"; '{hint('report', *(one.reference for one in members))}' {includes}"
    return [run for run in runs if run.id not in left], list(left.values())


def _records(store: Store) -> Iterable[RunRecord]:
    """The records of all runs; a mistyped path creates no store."""
    return store.runs.all() if store.path.exists() else ()


def _opened(store: Store, load: Load, record: RunRecord) -> StoredRun:
    return StoredRun(store, record, load(record.instrument, record.manifest.card))


def _named(runs: Sequence[StoredRun], instruments: Sequence[str]) -> ChosenRuns:
    """Runs that a user named, each once; an error if one is of none of these instruments."""
    for run in runs:
        if instruments and run.instrument not in instruments:
            raise UsageError(f"run '{run.id}' is a run of {run.instrument}, not of {', '.join(instruments)}.")
    return ChosenRuns(tuple({run.id: run for run in runs}.values()))


def _fitting(
    store: Store, load: Load, installed: Collection[str], word: StoredRun | str, instruments: Sequence[str]
) -> list[StoredRun]:
    """The runs that a word can mean; for an unknown word the error suggests runs or instruments."""
    if isinstance(word, StoredRun):
        return [word]
    try:
        return [find_run(store, load, word, instruments)]
    except SeveralRuns as error:
        return [_opened(store, load, one) for one in error.args[1] if one.subject]
    except NotFound:
        # the id of a run begins with its instrument, and is similar to it
        if get_close_matches(word, installed, n=1) and not word.startswith(tuple(f"{name}-" for name in installed)):
            raise unknown("instrument", word, installed) from None
        raise


def _alike(several: Sequence[Sequence[StoredRun]]) -> ChosenRuns | None:
    """For each word the run of its subject with the most items, of one kind for all; None if a word means several."""
    words = [[one for run in runs if (one := _standing(run)) is not None] for runs in several]
    chosen: list[_Standing] = []
    for instrument in dict.fromkeys(one.run.instrument for one in words[0]):
        able = [[one for one in word if one.run.instrument == instrument] for word in words]
        shared = set.intersection(*({one.kind for one in word} for word in able))
        if shared:
            first = _first_kind([one for word in able for one in word if one.kind in shared])
            means = [_fullest([one for one in word if one.kind == first], one_kind=True) for word in able]
            if any(len(subjects) > 1 for subjects in means):
                return None
            chosen += [subjects[0] for subjects in means]
    notes = _notes(chosen, [one for word in words for one in word], one_kind=True)
    return ChosenRuns(tuple(one.run for one in chosen), tuple(notes)) if chosen else None


class _Kind(Struct, frozen=True):
    """What comparable runs have in common: the origin of items, other roles, norms and settings that tell apart."""

    whose: str
    company: tuple[str, ...]
    apart: frozenset[tuple[str, SettingValue]] = frozenset()


class _Standing(Struct, frozen=True):
    """A run that may represent its subject, with the facts that decide whether it does."""

    run: StoredRun
    kind: _Kind
    items: int


def _standing(run: StoredRun) -> _Standing | None:
    """A run of the unaltered default test; None for another one, as a step of a probe, an analysis or a construction.

    Items that were repeated count once.
    """
    manifest, card = run.manifest, run.definition.card
    tasks = set(run.tasks) & set(card.default_tasks(official=manifest.config.official))
    chosen = ((one, manifest.config.settings.get(one.name)) for one in card.setting if not one.form)
    altered = any(one.makes_another_test(value) for one, value in chosen)  # each form is a kind of runs
    whole = run.record.status is RunStatus.FINISHED
    if not tasks or altered or (not whole if manifest.imported else manifest.given_items or manifest.config.step_of):
        return None
    items = sum(asked_items(run.counted_items(task)) for task in tasks)
    return _Standing(run, _kind(run), items)


def _fullest(standing: Sequence[_Standing], *, one_kind: bool, each_kind: bool = False) -> list[_Standing]:
    """For each instrument and subject the run with the most items (the newest among equals), oldest subject first.

    With `each_kind`, one for each kind.
    """
    able = standing if each_kind else _without_trials(standing)
    groups = grouped(((one.run.instrument, one.run.subject, one.kind if each_kind else None), one) for one in able)
    found = []
    for (instrument, _, _), members in groups.items():
        first = _first_kind([one for one in able if one.run.instrument == instrument])
        of_kind = [one for one in members if one.kind == first]
        if of_kind or not one_kind:
            found.append(max(of_kind or members, key=lambda one: (one.items, one.run.record.created)))
    return found


def _without_trials(standing: Sequence[_Standing]) -> list[_Standing]:
    """The runs with at least half as many items as any other real run of the subject on items of this origin has."""

    def own(one: _Standing) -> tuple[object, ...]:
        return one.run.instrument, one.run.subject, one.kind.whose, _is_real(one.run)

    most = {key: max(items) for key, items in grouped((own(one), one.items) for one in standing).items()}
    return [one for one in standing if 2 * one.items >= most[own(one)]]


def _first_kind(standing: Sequence[_Standing]) -> _Kind:
    """The kind that most subjects have, then official items, usual settings, the most items and the newest; with a
    stand-in elsewhere last.
    """

    def weight(kind: _Kind) -> tuple[float, ...]:
        of_kind = [one for one in standing if one.kind == kind]
        subjects, items = len({one.run.subject for one in of_kind}), max(one.items for one in of_kind)
        newest = max(one.run.record.created for one in of_kind)
        return _is_real(of_kind[0].run), subjects, kind.whose == "official", not kind.apart, items, newest

    return max(dict.fromkeys(one.kind for one in standing), key=weight)


def _is_real(run: StoredRun) -> bool:
    return not any(who.identity.stand_in for role, who in run.manifest.roles.items() if role != SUBJECT)


def _kind(run: StoredRun) -> _Kind:
    company = tuple(f"{role}={label}" for role, label in sorted(run.manifest.other_roles.items()))
    apart = ((one, run.manifest.config.settings.get(one.name)) for one in run.definition.card.setting if one.apart)
    chosen = {(one.name, value) for one, value in apart if not one.is_default(value)}
    norms = {("norm", norm_digest(norm)) for norm in run.manifest.norms.values()} - {("norm", "")}
    return _Kind(run.manifest.whose_items, company, frozenset(chosen | norms))


def _notes(chosen: Sequence[_Standing], standing: Sequence[_Standing], *, one_kind: bool) -> Iterator[str]:
    """For each instrument: the chosen runs, their items, what is left out, and how to compare runs on other items."""
    for instrument in dict.fromkeys(one.run.instrument for one in chosen):
        mine = [one for one in chosen if one.run.instrument == instrument]
        told = [f"{one.run.subject} {one.run.id} ({counted(one.items, f'{one.kind.whose} item')})" for one in mine]
        all_of = [one for one in standing if one.run.instrument == instrument]
        others = {one.run.subject for one in all_of}
        most = _MOST_OF_KIND if len({one.kind for one in all_of}) > 1 else "each subject's run with the most items"
        left = sorted(others - {one.run.subject for one in mine})
        also = f"; left out, because their runs have other items, roles or settings: {', '.join(left)}" if left else ""
        yield f"{instrument}: using {most}: {first_of(told, _MOST_TOLD)}{also}."
        whose = listed(sorted({one.kind.whose for one in mine}))
        able = (one for one in standing if one_kind and one.run.instrument == instrument)
        for other, members in grouped((one.kind.whose, one) for one in able).items():
            runs = [one.run.reference for one in _fullest(members, one_kind=True)]
            if other not in whose and 1 < len(runs) <= _MOST_TOLD:
                said = f"compared on {whose} items; runs on {other} items are left out. To compare those:"
                yield f"{instrument}: {said} {hint('compare', *runs)}"


def _left_out(
    chosen: Sequence[_Standing], standing: Sequence[_Standing], records: Sequence[RunRecord], past: Mapping[str, str]
) -> Iterator[LeftOut]:
    """Every other run of the chosen instruments, and why it was not chosen; `past` says it of earlier versions."""
    ids, able = {one.run.id for one in chosen}, {one.run.id: one for one in standing}
    taken = grouped((one.run.instrument, one) for one in chosen)
    for record in records:
        if record.id not in ids and record.instrument in taken:
            why = past.get(record.id) or _why_not_chosen(able.get(record.id), taken[record.instrument])
            yield LeftOut(record.id, record.subject, record.instrument, record.manifest.config.tasks, why)


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


def _only_others(records: Sequence[RunRecord], taken: Collection[str], subject: str) -> list[str]:
    """For each instrument that is not taken, the runs that do not count as a subject's score."""
    mine = (one for one in records if one.subject and one.instrument not in taken and subject in ("", one.subject))
    played = (one for one in mine if not (one.manifest.given_items or one.manifest.config.step_of))
    return [
        f"{name}: no run of the unaltered test; left out: {first_of(runs, _MOST_TOLD)}."
        for name, runs in grouped((one.instrument, one.reference) for one in played).items()
    ]


def _why_not_chosen(one: _Standing | None, chosen: Sequence[_Standing]) -> str:
    if one is None:
        return "not a complete run of the unaltered test"
    kinds = {other.kind for other in chosen}
    if one.kind.whose not in {kind.whose for kind in kinds}:
        return f"{one.kind.whose} items"
    if one.kind.apart not in {kind.apart for kind in kinds}:
        return f"another {listed(sorted({f'--{name}' for name, _ in one.kind.apart ^ chosen[0].kind.apart}))}"
    if one.kind not in kinds:
        return f"other roles ({', '.join(one.kind.company) or 'none'})"
    mine = [other for other in chosen if other.run.subject == one.run.subject]
    other = max(mine, key=lambda other: other.kind == one.kind)
    has = f"more items ({other.items} instead of {one.items})"
    if other.kind != one.kind:
        has = "the items, roles and settings that most subjects have"
    elif other.items == one.items:
        has = f"as many items ({one.items}) and is newer"
    return f"run {other.run.id} of the subject has {has}"
