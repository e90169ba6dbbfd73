"""What a word means: the one place in which words on a command line or in Python become stored results."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cached_property

from sociometer.core.config import model_label
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import NotFound, SociometerError, StoreError, UsageError, hint, unknown
from sociometer.core.hints import in_python
from sociometer.core.instrument import Instrument
from sociometer.core.words import first_of, grouped
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.result import JOINT, results_of
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.store.studies import study_books

LAST = "last"
Load = Callable[..., Instrument]
"""Gives the instrument of this name; for an imported benchmark, of this name and card."""
People = Callable[[str, Sequence[str]], StoredRun | None]
"""Gives the people of the study with this name, on one of these instruments; None if there is no such study."""
_MOST_NAMED = 8
"""The most names that a message lists."""


class SeveralResults(UsageError):
    """A word that several results fit where one is needed; they are the second argument."""

    def __str__(self) -> str:
        return str(self.args[0])


class Resolver:
    """Finds what words mean in a store as it is now. Nothing is guessed: a word that fits two subjects is an error."""

    def __init__(self, store: Store, load: Load, people: People | None = None) -> None:
        self._store = store
        self._load = load
        self._people = people

    def results(self, word: str, instruments: Sequence[str] = ()) -> list[StoredRun]:
        """The results that a word means: of a subject, of the people of a study, or one part by its id.

        A subject is typed by its name or by its model; `last` is the result to which the newest run belongs.
        """
        if not self._store.path.exists() and not [*study_books(self._store.path)]:
            raise UsageError(f"there is no run '{word}': there is no store at {self._store.path}.")
        if self._people is not None and not self._with_ids([word]):
            people = self._people(word, instruments)
            if people is not None:
                return [people]
        results = self._with_tests(self._found(word))
        mine = [result for result in results if not instruments or result.instrument in instruments]
        return mine or results

    def one(self, word: str, instruments: Sequence[str] = ()) -> StoredRun:
        """The only result that a word means; an error lists several."""
        results = self.results(word, instruments)
        if len(results) == 1:
            return results[0]
        told = first_of([_told(result, results) for result in results], _MOST_NAMED)
        such = f", such as {hint('show', results[-1].id)}" if in_python() else ""
        raise SeveralResults(f"'{word}' has several results: {told}; give one of them{such}.", results)

    def record(self, word: str) -> RunRecord:
        """The one run that a word means; an error lists several."""
        parts = self.parts(word)
        if len(parts) == 1:
            return parts[0]
        raise SeveralResults(f"several runs fit '{word}': {self._listed(parts)}; give one of them.", parts)

    def to_resume(self, word: str) -> RunRecord:
        """The run that `resume` continues: of a subject, its only one that is not finished or has failed items."""
        parts = self.parts(word)
        open_parts = [part for part in parts if self._has_more(part)]
        if len(open_parts) == 1:
            return open_parts[0]
        if len(parts) == 1:
            return parts[0]
        if not open_parts:
            raise UsageError(f"'{word}' has no unfinished run: {self._listed(parts)}.")
        raise SeveralResults(f"several runs of '{word}' are unfinished: {self._listed(open_parts)}; give one.", parts)

    def _has_more(self, record: RunRecord) -> bool:
        return record.status is not RunStatus.FINISHED or self._store.totals(record).failed > 0

    def parts(self, word: str) -> list[RunRecord]:
        """The runs that a word means: those of a subject, or one by its id, oldest first."""
        if not self._store.path.exists():
            raise UsageError(f"there is no run '{word}': there is no store at {self._store.path}.")
        if word == LAST:
            return [self._newest()]
        exact = self._with_ids(word.split(JOINT))
        if exact:
            return exact
        if word not in self._subjects:
            named = self._store.runs.named(word)
            if named is not None:
                return [named]
        name = self.subject(word)
        if name:
            return [one for one in self._store.runs.of_subject(name) if self._is_of_subject(one)]
        begun = self._store.runs.beginning_with(word)
        if len(begun) == 1:
            return begun
        if begun and word not in self._instruments():
            raise SeveralResults(f"several runs fit '{word}': {self._listed(begun)}; give one of them.", begun)
        raise self._unknown(word)

    def parts_of(self, words: Iterable[str]) -> list[RunRecord]:
        """The runs that several words mean, each once, in the order of the words."""
        parts: dict[str, RunRecord] = {}
        for word in words:
            for part in self.parts(word):
                parts.setdefault(part.id, part)
        return list(parts.values())

    def subject(self, word: str) -> str:
        """The name of the subject that a word means: its own, or its model's if no other subject has that."""
        names = self._subjects
        if word in names:
            return word
        model = model_label(word)
        alike = [name for name, models in names.items() if {word, model} & models]
        if not alike:
            alike = [name for name, models in names.items() if any(one.startswith(f"{model}#") for one in models)]
        if len(alike) > 1:
            listed = first_of([f"'{name}'" for name in alike], _MOST_NAMED)
            raise UsageError(f"'{word}' fits {len(alike)} subjects: {listed}; give one of these names.")
        return alike[0] if alike else ""

    def every_result(self, instrument: str = "") -> list[StoredRun]:
        """The results of all subjects, of one test or of all, in the order in which they were begun."""
        records = [one for one in self._store.runs.all() if self._is_of_subject(one)]
        mine = [one for one in records if instrument in ("", one.instrument)]
        groups = grouped(((one.subject, one.instrument), self.opened(one)) for one in mine)
        results = [result for parts in groups.values() for result in results_of(parts)]
        return sorted(results, key=lambda result: result.record.created)

    def opened(self, record: RunRecord) -> StoredRun:
        """A run with its instrument."""
        card = record.manifest.card
        instrument = self._load(record.instrument) if card is None else self._load(record.instrument, card)
        return StoredRun(self._store, record, instrument)

    def _found(self, word: str) -> list[StoredRun]:
        if word == LAST:
            return [self._result_with(self._newest())]
        tests = grouped((part.instrument, self.opened(part)) for part in self.parts(word))
        return [result for members in tests.values() for result in results_of(members)]

    def _with_tests(self, results: list[StoredRun]) -> list[StoredRun]:
        """The results without checks of what a subject knows by heart, unless these are all."""
        return [result for result in results if not result.record.is_check] or results

    def _result_with(self, part: RunRecord) -> StoredRun:
        """The result to which a part belongs; the part itself, if it measures no subject."""
        if not self._is_of_subject(part):
            return self.opened(part)
        parts = self._store.runs.of_subject(part.subject)
        mine = [one for one in parts if one.instrument == part.instrument and self._is_of_subject(one)]
        results = results_of([self.opened(one) for one in mine])
        return next((result for result in results if part.id in result.members), self.opened(part))

    def _newest(self) -> RunRecord:
        newest = self._store.runs.newest()
        if newest is None:
            raise UsageError(f"the store has no runs yet; start one: {hint('run INSTRUMENT --model MODEL')}")
        return newest

    def _with_ids(self, ids: Sequence[str]) -> list[RunRecord]:
        """The runs with these ids, oldest first; none if one of them is unknown, an error if one is damaged."""
        records = list(self._store.runs.found(RunSearch(ids=tuple(ids), limit=len(ids))))
        if len(records) != len(ids):
            return []
        for record in records:
            if record.damage:
                raise StoreError(record.damage)
        return sorted(records, key=lambda one: one.created)

    def _is_of_subject(self, record: RunRecord) -> bool:
        """Whether a run measures the model that its name means here."""
        if not record.measures_a_subject or record.id in self._runs_of_people:
            return False
        return self._keys.get(record.subject, "") == record.manifest.key

    @cached_property
    def _keys(self) -> dict[str, str]:
        """The keys of all subjects, by name."""
        return {entry.name: entry.key for entry in self._store.names.every() if entry.kind == "subject"}

    @cached_property
    def _runs_of_people(self) -> frozenset[str]:
        runs: set[str] = set()
        with suppress(StoreError):  # a damaged book hides no other run
            for book in study_books(self._store.path):
                runs.update(book.runs())
        return frozenset(runs)

    @cached_property
    def _subjects(self) -> dict[str, set[str]]:
        """The names of all subjects, each with what its models are called."""
        names: dict[str, set[str]] = {}
        for record in self._store.runs.all():
            if not self._is_of_subject(record):
                continue
            player = record.manifest.roles.get(SUBJECT)
            spec = record.manifest.config.subject
            names.setdefault(record.subject, set()).update({spec, model_label(spec), player.label if player else spec})
        return names

    def _instruments(self) -> set[str]:
        return {one.instrument for one in self._store.runs.all()}

    def _listed(self, records: Iterable[RunRecord]) -> str:
        told = [f"{one.id} ({one.subject} on {one.instrument})" for one in records]
        return first_of(told, _MOST_NAMED)

    def _unknown(self, word: str) -> SociometerError:
        """The error about a word that means nothing here; it names no person of a study."""
        people = self._runs_of_people
        known: set[str] = set(self._subjects)
        known |= {one.id for one in self._store.runs.all() if one.id not in people}
        studies = [name for book in study_books(self._store.path) for name in book.names()]
        for study in studies:
            if word.startswith(f"{study}."):
                where = f"'{hint('study show', study)}' lists the participants"
                return NotFound(f"study {study} has no run '{word}'; one person's is {study}.PARTICIPANT, and {where}.")
        known |= set(studies)
        named = known if len(known) <= _MOST_NAMED else get_close_matches(word, known, n=1)
        other = f"If it is in another store, give {'store=' if in_python() else '--store'}."
        return unknown("run", word, named, f"{other} To see all: {hint('runs')}")


def _told(result: StoredRun, others: Sequence[StoredRun]) -> str:
    """A result as a message lists it: its id, its test, and in what it differs from the others of that test."""
    alike = [other for other in others if other.instrument == result.instrument]
    differing = _what_differs(result, alike) if len(alike) > 1 else ""
    return f"{result.id} ({', '.join(filter(None, (result.instrument, differing)))})"


def _what_differs(result: StoredRun, alike: Sequence[StoredRun]) -> str:
    """The fields in which a result differs from others of its test, in words."""
    fields = [_fields(one) for one in alike]
    mine = _fields(result)
    words = []
    for name, value in mine.items():
        if any(other.get(name) != value for other in fields):
            words.append(f"{name.partition(' ')[2] or name} {value}")
    return ", ".join(words) or f"begun {result.created}"


def _fields(result: StoredRun) -> dict[str, str]:
    """The fields of the forms of a result that people choose."""
    found: dict[str, str] = {}
    for task in result.tasks:
        fields = result.form(task).projection("table")
        found |= {name: value for name, value in fields.items() if name not in ("task", "prompts") and value}
    return found
