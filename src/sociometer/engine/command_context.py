"""The context of an instrument's own commands: the user's options, the engine and the store."""

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from sociometer.core.command import StudyPerson
from sociometer.core.config import RunConfig, provider_of
from sociometer.core.conversation import SUBJECT, Identity
from sociometer.core.errors import MachineryError, StopCause, Stopped, UsageError
from sociometer.core.inner_model import InnerModel
from sociometer.core.instrument import FinishedEpisode, Instrument
from sociometer.core.measure import Table
from sociometer.core.settings import SettingValue
from sociometer.core.sheets import whole_file
from sociometer.core.source import Source
from sociometer.core.task import Episode, Item, PeopleLabel
from sociometer.engine.engine import Engine
from sociometer.engine.estimate import estimate, how_estimated
from sociometer.engine.plan import make_plan
from sociometer.store.labels import people_of
from sociometer.store.place import file_of
from sociometer.store.records import RoleRecord, RunStatus
from sociometer.store.stored_run import StoredRun
from sociometer.store.studies import PERSON_ROLE, Study, StudyBook, book_path, identity_of, run_name

_PLANNED = {
    "task": "task", "role": "role", "model": "model", "items": "items", "requests": "requests",
    "input tokens": "input_tokens", "output tokens": "output_tokens", "cost ($)": "cost",
    "requests at most": "most_requests", "cost ($) at most": "most_cost",
}  # fmt: skip
"""The columns of a plan, and the field of an estimate in each."""


class EngineContext:
    """The `core.command.CommandContext` of the commands, which describes its members."""

    def __init__(
        self,
        engine: Engine,
        instrument: Instrument,
        config: RunConfig,
        subjects: tuple[str, ...] = (),
        expect: Callable[..., None] = lambda runs, said="": None,
        track: Callable[[Sequence[Any], str], Iterator[Any]] = lambda items, label: iter(items),
        people_of_study: Callable[[str], Mapping[str, StudyPerson]] = lambda study: {},
    ) -> None:
        self.expect = expect
        self.track = track
        self.people_of_study = people_of_study
        self.instrument = instrument
        self.subjects = subjects
        self.seed = config.seed
        self.settings, self.roles = dict(config.settings), dict(config.roles)
        self._engine = engine
        self._config = config
        self.failures: Counter[str] = Counter()

    def source(self, **settings: SettingValue) -> Source:
        chosen = {**self._config.settings, **{name.replace("_", "-"): value for name, value in settings.items()}}
        return make_plan(structs.replace(self._config, settings=chosen), self.instrument, bindings={}).source()

    def items(self, task: str) -> Iterable[Any]:
        config = structs.replace(self._config, tasks=(task,))
        return make_plan(config, self.instrument, bindings={}).item_lists()[task]

    def inner_model(self, name: str, *, revision: str = "", batch_tokens: int) -> InnerModel:
        from sociometer.models.inside import OpenModel  # here, since only this needs torch

        return OpenModel(name, revision=revision, batch_tokens=batch_tokens, track=self.track)

    def play(
        self,
        task: str,
        *,
        subject: str = "",
        settings: Mapping[str, SettingValue] | None = None,
        items: Iterable[Item] | None = None,
    ) -> StoredRun:
        config = structs.replace(
            self._config,
            subject=subject or (self.subjects[0] if self.subjects else ""),
            tasks=(task,),
            settings={**self._config.settings, **(settings or {})},
        )
        played = self._engine.run(config, items, continue_unfinished=True)
        self.failures.update(played.progress.failed)
        if played.ending.status is RunStatus.STOPPED or played.ending.cause is StopCause.INTERRUPTED:
            said = f"{played.ending.reason or 'interrupted'}; repeat the command to continue."
            if not all(role.identity.certain for role in played.run.manifest.roles.values()):
                said += " It asks again what is finished, unless the model has a #REVISION."
            raise Stopped(said, played.ending.cause or StopCause.ERROR)
        if played.ending.status is RunStatus.FAILED:
            raise MachineryError(played.ending.reason)
        return played.run

    def plan_table(self, task: str, items: Sequence[Item]) -> Table:
        found = [
            row
            for subject in self.subjects
            for config in [structs.replace(self._config, subject=subject, tasks=(task,))]
            for row in estimate(self._engine.plan(config, items, sends=False), self._engine.store)
        ]
        rows = [
            tuple(
                one if isinstance(one, str | int) else "unknown" if one is None else round(one, 4)
                for one in (getattr(row, field) for field in _PLANNED.values())
            )
            for row in found
        ]
        return Table("plan", "Plan (nothing was sent)", tuple(_PLANNED), tuple(rows), how_estimated(found))

    def run(self, reference: str, task: str = "") -> StoredRun:
        mine = self.instrument.card.name
        stored = self._engine.stored(self._last(task) if reference == "last" else reference, [mine])
        if stored.instrument != mine:
            raise UsageError(f"run {stored.reference} is a run of {stored.instrument}, not of {mine}.")
        return stored

    def _last(self, task: str) -> str:
        """The id of the newest run of this instrument and task; the newest of all if there is none."""
        store, name = self._engine.store, self.instrument.card.name
        every = (run for run in store.runs.all() if run.instrument == name) if store.path.exists() else ()
        found = [run.id for run in every if not task or task in run.manifest.config.tasks]
        return found[-1] if found else "last"

    def keep(
        self,
        task: str,
        subject: str,
        episodes: Iterable[FinishedEpisode],
        *,
        settings: Mapping[str, SettingValue] | None = None,
        roles: Mapping[str, str] | None = None,
    ) -> StoredRun:
        who = {**(roles or {}), SUBJECT: subject}
        imported = {role: RoleRecord(name, Identity("imported", name), name) for role, name in who.items()}
        return self._keep(self._imported(task, subject, settings), imported, list(episodes))

    def _imported(
        self, task: str, subject: str, settings: Mapping[str, SettingValue] | None = None, name: str = ""
    ) -> RunConfig:
        given = dict(settings or {})
        return RunConfig(
            instrument=self.instrument.card.name, subject=subject, tasks=(task,), settings=given, name=name
        )

    def keep_people(
        self, study: str, task: str, talks: Mapping[str, Mapping[str, Sequence[FinishedEpisode]]], reader: str
    ) -> list[StoredRun]:
        place = file_of(self._engine.store.path, "a study")
        models = list(dict.fromkeys(model for found in talks.values() for model in found))
        first, *further = (self._imported(task, model) for model in models)
        made = Study(study, first, tuple(further), asks=("person",), secret=secrets.token_urlsafe(16))
        if len(made.parts) < len(models):
            raise UsageError(f"two models have too similar names; rename one of them: {', '.join(models)}.")
        body = msgspec.json.encode([(who, model, found) for who, by in talks.items() for model, found in by.items()])
        digest = hashlib.sha256(body).hexdigest()
        with closing(StudyBook(book_path(place))) as book:
            if study not in book.names():
                self._engine.naming.check_free(study)
                book.create(made)
            known = book.study(study)
            # A study that is marked as imported is complete: who is missing has withdrawn.
            if known.imported not in ("", digest) or known.config != first:
                raise UsageError(f"another study is called '{study}'; rename the file.")
            for who, by in () if known.imported else talks.items():
                runs = {models.index(model): found for model, found in by.items()}
                one, _ = book.join(known, {"person": who}, f"{known.secret}/{who}", tuple(runs))
                for number, found in [*runs.items()][len(one.runs) :]:
                    config = self._imported(task, models[number], name=run_name([*made.parts][number], one.id))
                    roles = {PERSON_ROLE: identity_of(one.id), SUBJECT: Identity("people", models[number])}
                    records = {role: RoleRecord(each.name, each, each.name) for role, each in roles.items()}
                    book.set_run(structs.replace(one, started=True), self._keep(config, records, list(found)).id)
                    one = book.participant(one.id) or one
            reads = provider_of(reader) if reader else ""
            book.change(
                structs.replace(
                    known, imported=digest, readers=tuple(dict.fromkeys((*known.readers, *([reads] if reads else []))))
                )
            )
            runs_of = [run for one in book.participants(study) for run in one.runs]
        return [self._engine.stored(run) for run in runs_of]

    def _keep(
        self, config: RunConfig, imported: dict[str, RoleRecord], episodes: Sequence[FinishedEpisode]
    ) -> StoredRun:
        task, store = config.tasks[0], self._engine.store
        found, plan = self.instrument.task(task), make_plan(config, self.instrument, bindings={})
        manifest = structs.replace(plan.described(), roles=imported, imported=True, episodes=len(episodes))
        if config.subject and not config.name:  # a study names the runs of its people
            named = self._engine.naming.imported(config.subject)
            manifest = structs.replace(manifest, subject=named.name, key=named.key)
        body = msgspec.json.encode([(each.item, each.outcome, each.repeat) for each in episodes])
        config_hash = hashlib.sha256(plan.hash_of(manifest).encode() + body).hexdigest()[:32]
        if (known := store.runs.with_config(config_hash)) is not None and known.status is RunStatus.FINISHED:
            return self._engine.stored(known.id)
        # One that was killed is stored again, under the same id.
        run = (known or store.runs.create(manifest, config_hash)).id
        with store.hold(run):
            for position, finished in enumerate(episodes):
                store.runs.add_item(run, task, position, finished.item)
                score = found.score(finished.item, finished.outcome)
                episode: Episode[Any, Any] = Episode(finished.item, finished.repeat, finished.outcome, score, None)
                store.episodes.add(run, task, episode, finished.events)
            store.flush()
            self._engine.stored(run).keep_summary(task)
            store.runs.set_status(run, RunStatus.FINISHED)
            store.flush()
        return self._engine.stored(run)

    def labels(self, run: str, sheet: str) -> tuple[PeopleLabel, ...]:
        return people_of(self._engine.store.path, run).get(sheet, ())

    def write(self, path: Path, text: str, within: Path | None = None) -> str:
        with whole_file(path, within=within) as partial:
            partial.write_text(text, encoding="utf-8")
        return str(path)
