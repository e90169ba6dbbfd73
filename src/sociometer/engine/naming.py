"""Which subject a command measures: one that is stored, or a new one with a name of its own."""

import contextlib
import secrets
import time
from collections.abc import Callable

from msgspec import Struct

from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import StoreError, UsageError, hint
from sociometer.core.form import Form, differs
from sociometer.core.instrument import Instrument
from sociometer.core.subject import LONGEST_NAME, RESERVED, Subject, check_name, dated
from sociometer.core.words import listed
from sociometer.engine.plan import ReadPlan
from sociometer.store.names import NameEntry
from sociometer.store.records import RunRecord
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.studies import study_books


class NamedSubject(Struct, frozen=True):
    """A subject with its name and key in the store, and the run whose replies are its own."""

    name: str
    key: str
    scope: str = ""
    note: str = ""
    """What to know about it before it is played; empty if nothing."""


class Naming:
    """Gives the runs of one command the subjects that they measure."""

    def __init__(self, store: Store, load: Callable[..., Instrument]) -> None:
        self._store = store
        self._load = load
        self._measured: dict[str, NamedSubject] = {}
        """The new subjects of this command whose weights are not known for certain, by digest and name."""

    def name(self, plan: ReadPlan, subject: Subject, *, only_planned: bool = False) -> NamedSubject:
        """The subject of a run; a UsageError if it cannot have the name that the user gave.

        With `only_planned`, what was measured before may be planned again.
        """
        given = plan.config.name
        if given:
            self.check(given)
        if plan.config.fresh or not subject.identity.certain:
            return self._measurement(plan, subject, given, only_planned)
        known = self._name_of(subject.digest)
        if known and given and known != given:
            raise UsageError(
                f"this model is stored as '{known}'; leave out --name '{given}', or rename it:"
                f" {hint('store rename', known, given)}"
            )
        if known:
            return NamedSubject(known, subject.digest)
        entry = self._entry(given) if given else None
        if entry is not None:
            raise UsageError(self._taken(entry))
        return NamedSubject(given or self._free(_typeable(subject.name)), subject.digest)

    def check(self, name: str) -> None:
        """Raise a UsageError if a subject cannot be called so, whoever it is."""
        check_name(name)
        meaning = self._other_meaning(name)
        if meaning:
            raise UsageError(f"the name '{name}' is {meaning}; choose another.")

    def _other_meaning(self, name: str) -> str:
        """What commands take a name for, if that is no subject, study or benchmark; empty otherwise."""
        with contextlib.suppress(UsageError):
            if self._load(name).card.name == name:
                return "the name of an instrument"
        if self._store.path.exists() and self._store.runs.count(RunSearch(ids=(name,))):
            return "the id of a run"
        return ""

    def check_free(self, name: str) -> None:
        """Raise a UsageError if a name cannot be given to a new subject, study or benchmark."""
        self.check(name)
        entry = self._entry(name)
        if entry is not None:
            raise UsageError(self._taken(entry))

    def imported(self, label: str) -> NamedSubject:
        """The subject of a file that names it."""
        key = f"imported:{label}"
        return NamedSubject(self._name_of(key) or self._free(_typeable(label)), key)

    def claim_benchmark(self, name: str) -> None:
        """Take the name of a benchmark; a UsageError if it means something else."""
        entry = self._entry(name)
        if entry is None:
            self.check(name)
        elif entry.kind != "benchmark":
            raise UsageError(self._taken(entry))
        self._store.names.claim(name, "benchmark")

    def _measurement(self, plan: ReadPlan, subject: Subject, given: str, only_planned: bool) -> NamedSubject:
        """The measurement of a model whose weights may have changed since the last one."""
        place = f"{subject.digest} {given}"
        if place in self._measured:
            return self._measured[place]
        entry = self._entry(given) if given else None
        if entry is not None:
            return self._joined(plan, subject, entry, only_planned)
        name = given or self._free_date(subject.name)
        made = NamedSubject(name, f"{subject.digest}@{secrets.token_hex(6)}")
        self._measured[place] = made
        return made

    def _joined(self, plan: ReadPlan, subject: Subject, entry: NameEntry, only_planned: bool) -> NamedSubject:
        """The stored subject of a given name, if this run may add to it."""
        name = entry.name
        if entry.kind != "subject" or entry.digest != subject.digest:
            raise UsageError(self._taken(entry))
        if plan.config.fresh:
            raise UsageError(f"--fresh measures a new subject, and '{name}' is stored; choose another --name.")
        parts = self._store.runs.of_subject(name)
        measured: list[tuple[RunRecord, str]] = []
        for record in parts:
            measured += [(record, task.name) for task in plan.tasks if self._has_form(record, plan, task.name)]
        if not measured or only_planned:
            return NamedSubject(name, entry.key, note=_note_on_weights(name, parts))
        if not plan.config.same:
            first = measured[0][0]
            raise UsageError(
                f"'{name}' was measured on {_tasks_of(plan, measured)} on {_day(first.created)}; add --same if its"
                " weights have not changed since, or choose another name."
            )
        earliest = measured[0][0]
        return NamedSubject(name, entry.key, earliest.manifest.scope or earliest.id)

    def _has_form(self, record: RunRecord, plan: ReadPlan, task: str) -> bool:
        """Whether a stored run asked the same in a task."""
        if record.instrument != plan.config.instrument or task not in record.manifest.config.tasks:
            return False
        card = plan.instrument.card
        stored: Form = record.manifest.form(task, card, record.id)
        return not differs(stored, plan.manifest.form(task, card, ""), "table")

    def _taken(self, entry: NameEntry) -> str:
        """Why a name cannot be given to another subject."""
        if entry.kind == "study":
            return f"the name '{entry.name}' is that of a study; choose another."
        if entry.kind == "benchmark":
            return f"the name '{entry.name}' is that of an imported benchmark; choose another."
        stored = next(iter(self._store.runs.of_subject(entry.name)), None)
        player = stored.manifest.roles.get(SUBJECT) if stored else None
        model = player.label if player else "another model"
        see = hint("show", entry.name)
        return f"the name '{entry.name}' is that of {model}; see it with '{see}', or choose another name."

    def _entry(self, name: str) -> NameEntry | None:
        """What a name means; that of a study is in the book beside the store."""
        with contextlib.suppress(StoreError):  # a damaged book stops no run
            if any(name in book.names() for book in study_books(self._store.path)):
                return NameEntry(name, "study", name)
        return self._store.names.entry(name) if self._store.path.exists() else None

    def _name_of(self, key: str) -> str:
        return self._store.names.of_subject(key) if self._store.path.exists() else ""

    def _free(self, name: str) -> str:
        """The name, with a number if it is that of something else."""
        free = name
        count = 2
        while self._entry(free) is not None or free in RESERVED or self._other_meaning(free):
            free = f"{name} ({count})"
            count += 1
        return free

    def _free_date(self, name: str) -> str:
        """The name with the date and time, which tells measurements apart."""
        now = time.time()
        shown = dated(name, now)
        if self._entry(shown) is None:
            return shown
        return self._free(dated(name, now, exactly=True))


def _typeable(label: str) -> str:
    """A label of somebody's file or server without what cannot be typed."""
    printable = "".join(sign if sign.isprintable() else " " for sign in label)
    short = printable.strip().lstrip("-")[: LONGEST_NAME - 8].strip()
    return short if any(map(str.isalnum, short)) else f"unnamed {short}".strip()


def _note_on_weights(name: str, parts: list[RunRecord]) -> str:
    """A note that nobody can check whether the weights are the same; empty without an earlier measurement."""
    if not parts:
        return ""
    first = parts[0]
    return (
        f"'{name}' was measured on {first.instrument} on {_day(first.created)}; this run counts as the same model."
        " If its weights have changed since, choose another --name."
    )


def _tasks_of(plan: ReadPlan, measured: list[tuple[RunRecord, str]]) -> str:
    """The test, or those of its tasks that were measured before, in words."""
    names = list(dict.fromkeys(task for _, task in measured))
    test = plan.config.instrument
    if len(names) == len(plan.tasks):
        return test
    return listed([f"{test}/{name}" for name in names])


def _day(moment: float) -> str:
    return time.strftime("%-d %B %Y", time.gmtime(moment))
