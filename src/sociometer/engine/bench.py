"""The workbench that an instrument's own commands are handed; see `core.workbench.Workbench`."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.errors import MachineryError, Stopped, UsageError
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings, SettingValue
from sociometer.core.source import Source
from sociometer.core.task import Instrument, Item, Task
from sociometer.core.workbench import FinishedEpisode
from sociometer.engine.config import RunConfig
from sociometer.engine.data import data_folders
from sociometer.engine.engine import Engine
from sociometer.engine.imports import import_run
from sociometer.engine.stored import Stored


class Bench:
    """One instrument, the user's choices, and the engine."""

    def __init__(
        self,
        engine: Engine,
        instrument: Instrument,
        folder: Path,
        config: RunConfig,
        subjects: tuple[str, ...] = (),
    ) -> None:
        """`config` holds what the user chose; its subject is replaced by each of `subjects` in turn."""
        self.instrument = instrument
        self.subjects = subjects
        self._engine = engine
        self._folder = folder
        self._config = config
        self.failures: Counter[str] = Counter()

    @property
    def seed(self) -> int:
        return self._config.seed

    def source(self, **settings: SettingValue) -> Source:
        chosen = {**self._config.settings, **{name.replace("_", "-"): value for name, value in settings.items()}}
        override = Path(self._config.prompts_folder) if self._config.prompts_folder else None
        return Source(
            Settings.chosen(self.instrument.card.setting, chosen),
            Prompts(self._folder / "prompts", override),
            instrument=self.instrument.card.name,
            official=self._config.official,
            folders=data_folders(self._config.data_folder),
            seed=self._config.seed,
        )

    def play(
        self,
        task: str | Task[Any, Any],
        *,
        subject: str = "",
        settings: Mapping[str, SettingValue] | None = None,
        items: Iterable[Item] | None = None,
        repeats: int | None = None,
    ) -> Stored:
        name = task if isinstance(task, str) else task.name
        config = msgspec.structs.replace(
            self._config,
            subject=subject or (self.subjects[0] if self.subjects else ""),
            tasks=(name,),
            settings={**self._config.settings, **(settings or {})},
            repeats=repeats or self._config.repeats,
        )
        played = self._engine.run(config, items, continue_unfinished=True)
        self.failures.update(played.tally.failed)
        if played.ending.status == "stopped":
            raise Stopped(f"{played.ending.reason}; the same command again plays on.")
        if played.ending.status == "failed":
            raise MachineryError(played.ending.reason)
        return played.run

    def run(self, reference: str, task: str = "") -> Stored:
        stored = self._engine.stored(self._last(task) if reference == "last" else reference)
        if stored.instrument != self.instrument.card.name:
            raise UsageError(f"run {stored.id} is of {stored.instrument}, not of {self.instrument.card.name}.")
        return stored

    def _last(self, task: str) -> str:
        """The id of the newest run of this instrument and task; the newest of all where there is none."""
        store = self._engine.store
        every = store.runs.all() if store.path.exists() else ()
        mine = [run for run in every if run.instrument == self.instrument.card.name]
        found = [run for run in mine if not task or task in run.manifest.tasks]
        return max(found, key=lambda run: run.created).id if found else "last"

    def keep(
        self,
        task: str,
        subject: str,
        episodes: Iterable[FinishedEpisode],
        *,
        settings: Mapping[str, SettingValue] | None = None,
        roles: Mapping[str, str] | None = None,
    ) -> Stored:
        who = {**(roles or {}), "subject": subject}
        return import_run(self._engine.store, self.instrument, self._folder, task, who, episodes, dict(settings or {}))

    def write(self, path: Path, text: str) -> str:
        return write_whole(path, text)


def write_whole(path: Path, text: str) -> str:
    """Writes a file whole or not at all; gives its path."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(partial).chmod(0o644)
        Path(partial).replace(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from None
    return str(path)
