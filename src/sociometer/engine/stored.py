"""A stored run as instruments, reports and commands see it; its numbers can be rebuilt from what was played."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from sociometer.core.errors import SociometerError, UsageError
from sociometer.core.measure import Summary
from sociometer.core.settings import Settings
from sociometer.core.task import Episode, Failure, Instrument, Item, RunView, Score, SummarisedRun, Task
from sociometer.core.transcript import Event
from sociometer.store.lock import is_played
from sociometer.store.records import RunRecord
from sociometer.store.store import Store


class Stored:
    """A run in the store, with the instrument that made it."""

    def __init__(self, store: Store, record: RunRecord, instrument: Instrument) -> None:
        self.record = record
        self._store = store
        self._instrument = instrument

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def instrument(self) -> str:
        return self.record.instrument

    @property
    def subject(self) -> str:
        return self.record.subject

    @property
    def revision(self) -> str:
        """What names the subject's weights, or the person behind it."""
        seat = self.record.manifest.seats.get("subject")
        return seat.identity.revision if seat else ""

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.record.manifest.tasks

    @property
    def status(self) -> str:
        """How the run stands; one that was killed is stopped, though nobody was left to say so."""
        status = self.record.status
        return "stopped" if status == "playing" and not is_played(self._store.path, self.id) else status

    @property
    def settings(self) -> Settings:
        """The settings the run was made with."""
        return _settings(self.record.manifest.settings)

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """Who played a role in place of the real thing; a baseline as the subject stands for nobody but itself."""
        seats = self.record.manifest.seats.items()
        return tuple(
            f"{role}: {seat.spec}"
            for role, seat in seats
            if seat.identity.stand_in and not (role == "subject" and seat.identity.wire == "baseline")
        )

    def view(self, task: str = "") -> RunView[Any, Any]:
        verbs = self._task(task)
        return self._view(verbs, lambda: self._store.episodes.walk(self.id, verbs))

    def summary(self, task: str = "") -> Summary:
        name = self._task(task).name
        return self._store.runs.summary(self.id, name) or self.rescore(name)

    def summarised(self, task: str = "") -> SummarisedRun:
        """The summary with what a figure must say about it."""
        name = self._task(task).name
        return SummarisedRun(
            self.id,
            name,
            self.subject,
            self.record.manifest.settings,
            self.summary(name),
            self.stand_ins,
            _day(self.record.created),
        )

    def transcript(self, task: str, item: str, repeat: int = 0) -> tuple[Event, ...]:
        return self._store.episodes.transcript(self.id, task, item, repeat)

    def episodes(self, task: str, item: str) -> list[Episode[Any, Any]]:
        """The episodes of one item."""
        return list(self._store.episodes.walk(self.id, self._task(task), item))

    def failures(self) -> dict[str, int]:
        """How many episodes failed, by kind."""
        return self._store.episodes.failures(self.id)

    def rescore(self, task: str = "") -> Summary:
        """Scores every stored outcome anew and rebuilds the summary; needs no model and no data files."""
        verbs = self._task(task)
        scores: dict[tuple[str, int], Score | Failure] = {}
        for episode in self._store.episodes.walk(self.id, verbs):
            if episode.outcome is not None:
                scores[episode.item.id, episode.repeat] = score_safely(verbs, episode.item, episode.outcome)
        self._store.episodes.replace_scores(self.id, verbs.name, scores)
        self._store.flush()
        return self.summarise(verbs.name)

    def summarise(self, task: str = "") -> Summary:
        """Makes the summary from the stored scores, and keeps it."""
        verbs = self._task(task)
        try:
            summary = verbs.summarise(self.view(verbs.name))
        except SociometerError:
            raise
        except Exception as error:
            raise SociometerError(
                f"the summary of run {self.id} ({verbs.name}) could not be made: {type(error).__name__}: {error}."
                f" All that was played is stored; once this is mended, 'sociometer rescore {self.id}' makes it."
            ) from error
        self._store.runs.set_summary(self.id, verbs.name, summary)
        self._store.flush()
        return summary

    def _task(self, name: str) -> Task[Any, Any]:
        if not name:
            if len(self.tasks) > 1:
                raise UsageError(f"run {self.id} has several tasks ({', '.join(self.tasks)}); name one.")
            name = self.tasks[0]
        return self._instrument.task(name)

    def _view(self, task: Task[Any, Any], episodes: Callable[[], Iterator[Episode[Any, Any]]]) -> RunView[Any, Any]:
        manifest = self.record.manifest
        return RunView(
            episodes,
            self.settings,
            subject=self.subject,
            roles={role: seat.spec for role, seat in manifest.seats.items()},
            norm=manifest.norms.get(task.name),
            run=self.id,
            stand_ins=self.stand_ins,
        )


def score_safely(task: Task[Any, Any], item: Item, outcome: Any) -> Score | Failure:
    """The score, or the failure that stands in its place where scoring itself broke."""
    try:
        return task.score(item, outcome)
    except Exception as error:
        return Failure("scoring error", f"{type(error).__name__}: {error}")


def _settings(values: dict[str, Any]) -> Settings:
    return Settings({name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
