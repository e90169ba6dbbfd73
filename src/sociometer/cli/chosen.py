"""Selects the stored runs that a command works on."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import partial

import click
from msgspec import Struct

from sociometer.cli.output import Number, option, print_text
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import UsageError, unknown
from sociometer.core.settings import is_paper
from sociometer.core.words import first_of
from sociometer.engine.engine import Engine
from sociometer.instruments import card_of, cards, load
from sociometer.results.candidates import common_items, short_run_note
from sociometer.results.groups import PeopleRun, groups_of, runs_of_people, study_run
from sociometer.store.records import RoleRecord, RunRecord, RunStatus
from sociometer.store.stored_run import StoredRun

EVERY = "all"
_MOST_TOLD = 6
"""The maximum number of chosen runs of one instrument that the message names."""


def runs_argument(required: bool = False) -> click.Argument:
    """The argument RUN…: ids, starts of ids, names, `last` or `all`."""
    return click.Argument(["runs"], nargs=-1, required=required, metavar="RUN…" if required else "[RUN…]")


def chosen_runs(
    engine: Engine,
    references: Sequence[str],
    *,
    instrument: str = "",
    subject: str = "",
    one_kind: bool = False,
) -> list[StoredRun]:
    """The named runs; without names or with `all`, every subject's run with the most items on every instrument.

    Items are those of the instrument's default test; among runs with equally many, the newest counts. Runs on official
    and on bundled items, with different models in the other roles, or in different wordings are of different kinds. The
    kind that most subjects have is preferred; `one_kind` leaves out subjects without a run of it. For one `subject`,
    all kinds are returned. The chosen runs are printed on standard error.
    """
    if references and not means_all(references):
        chosen = list({stored.id: stored for stored in (_stored(engine, one) for one in references)}.values())
        wrong = [stored for stored in chosen if instrument and stored.instrument != instrument]
        if wrong:
            raise UsageError(f"run '{wrong[0].id}' is a run of {wrong[0].instrument}, not of {instrument}.")
        return chosen
    # The participants of a study are one subject together, not one each.
    groups, people = groups_of(engine.store, load), runs_of_people(engine.store)
    records = (
        *(one for one in engine.store.runs.all() if one.id not in people),
        *(one.record for one in groups.values()),
    )
    standing = [
        _Standing(record, _kind(record), _items_of_the_test(groups.get(record.id) or engine, record))
        for record in records
        if record.subject and (not instrument or record.instrument == instrument) and _stands_for_its_subject(record)
    ]
    fullest = _fullest_of_one(standing, subject) if subject else _fullest(standing, one_kind)
    if not fullest:
        what = f" of {instrument}" if instrument else ""
        who = f" with subject '{subject}'" if subject else ""
        raise UsageError(f"the store has no run{what}{who}. Start one with: sociometer run INSTRUMENT --model MODEL")
    for line in _choice_in_words(fullest, standing, subject):
        print_text(line, err=True)
    return [groups.get(one.record.id) or engine.stored(one.record.id) for one in fullest]


def named_or_chosen(engine: Engine, words: Sequence[str], *, one_kind: bool = False) -> dict[str, list[StoredRun]]:
    """The runs by instrument, from instrument names, run references or `all`; no words mean all."""
    imported = {one.instrument for one in engine.store.runs.all() if one.manifest.card is not None}
    references = [word for word in words if word not in cards() and word not in imported]
    instruments = [word for word in words if word in cards() or word in imported]
    if references and not means_all(references):
        runs = [_run_or_instrument(engine, word) for word in references]
        wrong = [run for run in runs if instruments and run.instrument not in instruments]
        if wrong:
            raise UsageError(f"run '{wrong[0].id}' is a run of {wrong[0].instrument}, not of {', '.join(instruments)}.")
    elif instruments:
        runs = [run for name in instruments for run in chosen_runs(engine, (), instrument=name, one_kind=one_kind)]
    else:
        runs = chosen_runs(engine, (), one_kind=one_kind)
    found: dict[str, list[StoredRun]] = {}
    for run in {run.id: run for run in runs}.values():
        found.setdefault(run.instrument, []).append(run)
    return found


def means_all(references: Sequence[str]) -> bool:
    """Whether `all` is given; an error if a run is named next to it."""
    named = [reference for reference in references if reference != EVERY]
    if named and EVERY in references:
        raise UsageError(f"'{EVERY}' chooses the runs itself; leave out '{named[0]}', or name every run.")
    return not named


def not_chosen(engine: Engine, chosen: Sequence[StoredRun], task: str) -> list[str]:
    """Every other stored run of a task, and why it is not among the chosen ones of its instrument."""
    ids = {run.id for run in chosen}
    kinds = {_kind(run.record) for run in chosen}
    people = runs_of_people(engine.store)
    found = []
    for record in engine.store.runs.all():
        if record.id in ids or record.instrument != chosen[0].instrument or task not in record.manifest.config.tasks:
            continue
        if record.id in people:
            continue
        name = f"{record.subject or 'no subject'} ({record.id})"
        found.append(f"{name}: {_why_not_chosen(engine, record, kinds)}")
    return found


def _why_not_chosen(engine: Engine, record: RunRecord, kinds: "set[_Kind]") -> str:
    kind = _kind(record)
    if not record.subject or not _stands_for_its_subject(record):
        return "not a complete run of the unaltered test"
    if kind not in kinds and kind.whose not in {one.whose for one in kinds}:
        return f"{kind.whose} items"
    if kind.in_authors_words not in {one.in_authors_words for one in kinds}:
        return "another wording (--wording)"
    if kind not in kinds:
        return f"other roles ({', '.join(kind.company) or 'none'})"
    items = _items_of_the_test(engine, record)
    return f"another run of the subject has more than {items} items, or the same number and is newer"


def _stored(engine: Engine, reference: str) -> StoredRun:
    """The run with this reference, or the people of the study with this name."""
    return study_run(engine.store, reference, load) or engine.stored(reference)


def _run_or_instrument(engine: Engine, word: str) -> StoredRun:
    """The run with this reference; for an unknown word the error suggests runs or instruments."""
    try:
        return _stored(engine, word)
    except UsageError:
        if get_close_matches(word, cards(), n=1):
            raise unknown("instrument", word, cards()) from None
        raise


def without_short(runs: Sequence[StoredRun]) -> tuple[list[StoredRun], list[str]]:
    """The runs without those that would halve the items shared by others of their kind, and why they are left out."""
    groups: dict[tuple[str, _Kind], list[StoredRun]] = {}
    for run in runs:
        groups.setdefault((run.instrument, _kind(run.record)), []).append(run)
    left: dict[str, str] = {}
    for members in groups.values():
        scored = [{f"{task}/{item}" for task in run.tasks for item, _ in run.finished(task)} for run in members]
        common = common_items(scored)
        for place, has in common.short.items():
            run = members[place]
            left[run.id] = short_run_note(f"{run.subject} on {run.instrument} ({run.id})", has, common.items)
    return [run for run in runs if run.id not in left], list(left.values())


class _Kind(Struct, frozen=True):
    """What comparable runs have in common: the origin of the items, the models in the other roles, the wording."""

    whose: str
    company: tuple[str, ...]
    in_authors_words: bool = False


class _Standing(Struct, frozen=True):
    """A run that may represent its subject, with the facts that decide whether it does."""

    record: RunRecord
    kind: _Kind
    items: int


def _fullest(standing: Sequence[_Standing], one_kind: bool) -> list[_Standing]:
    """For each instrument and subject the run with the most items, the newest among equals, oldest subject first."""
    groups: dict[tuple[str, str], list[_Standing]] = {}
    for one in standing:
        groups.setdefault((one.record.instrument, one.record.subject), []).append(one)
    found = []
    for (instrument, _), members in groups.items():
        first = _first_kind([one for one in standing if one.record.instrument == instrument])
        of_kind = [one for one in members if one.kind == first]
        if of_kind or not one_kind:
            found.append(max(of_kind or members, key=_fullness))
    return found


def _fullest_of_one(standing: Sequence[_Standing], subject: str) -> list[_Standing]:
    """For each instrument and kind, the subject's run with the most items."""
    groups: dict[tuple[str, _Kind], list[_Standing]] = {}
    for one in standing:
        if one.record.subject == subject:
            groups.setdefault((one.record.instrument, one.kind), []).append(one)
    return [max(members, key=_fullness) for members in groups.values()]


def _fullness(one: _Standing) -> tuple[int, float]:
    return one.items, one.record.created


def _first_kind(standing: Sequence[_Standing]) -> _Kind:
    """The kind that most subjects have, then the newest; kinds with a stand-in in another role come last."""

    def weight(kind: _Kind) -> tuple[bool, int, float]:
        of_kind = [one.record for one in standing if one.kind == kind]
        real = not any(who.identity.stand_in for who in _others(of_kind[0]).values())
        return real, len({record.subject for record in of_kind}), max(record.created for record in of_kind)

    return max(dict.fromkeys(one.kind for one in standing), key=weight)


def _kind(record: RunRecord) -> _Kind:
    return _Kind(record.manifest.whose_items, _company(record), is_paper(record.manifest.config.settings))


def _company(record: RunRecord) -> tuple[str, ...]:
    """The models in the other roles of a run."""
    return tuple(f"{role}={who.label}" for role, who in sorted(_others(record).items()))


def _others(record: RunRecord) -> dict[str, RoleRecord]:
    return {role: who for role, who in record.manifest.roles.items() if role != SUBJECT}


def _choice_in_words(chosen: Sequence[_Standing], standing: Sequence[_Standing], subject: str) -> Iterator[str]:
    """One line per instrument: the chosen runs, their items, and the subjects that are left out."""
    for instrument in dict.fromkeys(one.record.instrument for one in chosen):
        mine = [one for one in chosen if one.record.instrument == instrument]
        told = [f"{one.record.subject} {one.record.id} ({one.items} {one.kind.whose} items)" for one in mine]
        names = first_of(told, _MOST_TOLD)
        others = {one.record.subject for one in standing if one.record.instrument == instrument}
        left = sorted(others - {one.record.subject for one in mine}) if not subject else []
        also = f"; left out, because their runs have other items, roles or wording: {', '.join(left)}" if left else ""
        yield f"{instrument}: using each subject's run with the most items: {names}{also}."


def _items_of_the_test(of: Engine | PeopleRun, record: RunRecord) -> int:
    """How many items of the instrument's default test have an outcome; repeats do not count."""
    finished = of.finished if isinstance(of, PeopleRun) else partial(of.store.episodes.finished, record.id)
    card, config = card_of(record.instrument, record.manifest.card), record.manifest.config
    tasks = set(config.tasks) & set(card.default_tasks(official=config.official))
    return sum(len({item for item, _ in finished(task)}) for task in tasks)


def _stands_for_its_subject(record: RunRecord) -> bool:
    """Whether a run is of the unaltered default test, and not a step of a probe, an analysis or a construction."""
    manifest, card = record.manifest, card_of(record.instrument, record.manifest.card)
    if not set(manifest.config.tasks) & set(card.default_tasks(official=manifest.config.official)):
        return False
    if any(setting.makes_another_test(manifest.config.settings.get(setting.name)) for setting in card.setting):
        return False
    if manifest.imported:
        return record.status is RunStatus.FINISHED
    return not (manifest.given_items or manifest.config.step_of)


def terms_options() -> list[click.Parameter]:
    """The options of a comparison: margin and level."""
    margin = (
        "Smallest difference that matters, as the measure is shown: 3 is three points of a share. For the primary "
        "measure; MEASURE=VALUE is for another one, and can be repeated."
    )
    return [
        option("--margin", margin, multiple=True, metavar="VALUE"),
        option(
            "--level", "Confidence level of the differences and verdicts of a comparison.", type=Number(), default=0.95
        ),
    ]


def margin_of(words: Sequence[str]) -> float | dict[str, float] | None:
    """The margin from its words: a number, or MEASURE=VALUE for each measure."""
    if len(words) == 1 and "=" not in words[0]:
        return _number(words[0], words[0])
    pairs = [word.rpartition("=") for word in words]
    for name, _, value in pairs:
        if not name:
            raise UsageError(f"--margin {value} is given next to others; write MEASURE=VALUE for each measure.")
    return {name.strip(): _number(value, f"{name}={value}") for name, _, value in pairs} or None


def _number(text: str, word: str) -> float:
    try:
        return Number().convert(text, None, None)
    except click.BadParameter:
        raise UsageError(f"--margin {word} is no number; write --margin 3 or --margin MEASURE=3.") from None
