"""A run in the store: its facts, its episodes, and its scores, which can be recomputed."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from itertools import islice
from typing import Any, ClassVar

import msgspec
from msgspec import structs

from sociometer.core.card import Card, MeasureCard
from sociometer.core.conversation import SUBJECT, Exchange, Sampling, Transcript
from sociometer.core.errors import FailureKind, SociometerError, StoreError, UsageError, hint, unknown
from sociometer.core.form import Form
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Measure, Summary
from sociometer.core.reply_summary import scored_as, scored_replies, summarised
from sociometer.core.session import DrawnRequest, Vectors
from sociometer.core.settings import Settings
from sociometer.core.stopping import StoppingRecord
from sociometer.core.task import AnyRun, Episode, Failure, Item, RunView, Score, Task, asked_items, order_of_play
from sociometer.core.words import counted, grouped, sentence
from sociometer.store.past import past_tasks
from sociometer.store.place import StorePlace
from sociometer.store.records import Manifest, RunRecord, RunStatus, Spent
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store

_MOST_RUNS = 1000
_READ_AT_ONCE = 500
_FOR_USERS = {
    "created", "episodes", "failures", "id", "instrument", "manifest", "official", "people", "reference", "rescore",
    "settings", "spent", "status", "stopping", "subject", "summary", "tasks", "transcript", "version", "why_ended",
}  # fmt: skip
"""What completion offers; the rest is for the rooms above."""
_VERDICTS = ("better", "worse", "differs", "equivalent")
_ITEMS = "[one.item.id for one in run.episodes()] lists them."
Played = str | Item | Episode[Any, Any]
"""An episode, or its item, or the id of that."""


class StoredRun:
    """A run with the instrument that made it."""

    def __init__(self, store: Store, record: RunRecord, instrument: Instrument) -> None:
        self.record = record
        self._store = store
        self._instrument = instrument

    in_words: ClassVar[Callable[["StoredRun"], str]] = repr
    """The run with its score; `api.py` sets it, since the words are of a higher floor."""

    def __str__(self) -> str:
        return self.in_words()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name.startswith("_") or name in _FOR_USERS]

    def __repr__(self) -> str:
        return f"<run {self.reference}: {self.subject} on {self.instrument}, {self.status}>"

    @property
    def id(self) -> str:
        """The name that the store gave it: `sesi-k3x7p`."""
        return self.record.id

    @property
    def reference(self) -> str:
        """What a user types for the run: its name, or its id if it has none."""
        return self.record.reference

    @property
    def opened_in(self) -> Store:
        """The store that it was read from."""
        return self._store

    @property
    def store_path(self) -> StorePlace:
        """Where the store is."""
        return self._store.path

    @property
    def instrument(self) -> str:
        """The name of the instrument."""
        return self.record.instrument

    @property
    def definition(self) -> Instrument:
        """The instrument with its card and tasks."""
        return self._instrument

    @property
    def subject(self) -> str:
        """The name of the subject in tables."""
        return self.record.subject

    @property
    def manifest(self) -> Manifest:
        """The record that makes the run repeatable."""
        return self.record.manifest

    @property
    def revision(self) -> str:
        """The name of the subject's weights, or of the person; empty if none was given."""
        role = self.manifest.roles.get(SUBJECT)
        return role.identity.revision if role else ""

    @property
    def version(self) -> str:
        """The version of the instrument that was played."""
        return self.manifest.instrument_version

    @property
    def of_other_version(self) -> bool:
        """Whether another version of the instrument than the installed one scored it."""
        return self.manifest.card is None and self.version != self._instrument.card.version

    @property
    def created(self) -> str:
        """When the run was made, as text."""
        return datetime.fromtimestamp(self.record.created, UTC).strftime("%Y-%m-%d %H:%M UTC")

    @property
    def official(self) -> bool:
        """Whether the items are the paper's own."""
        return self.manifest.whose_items == "official"

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of its tasks whose numbers this version can compute."""
        return tuple(name for name in self.manifest.config.tasks if name not in self.past)

    @cached_property
    def past(self) -> dict[str, str]:
        """Its tasks whose numbers this version can only show as they were stored, each with the reason.

        The reason is the end of a sentence: `made by version 0.3.0; this version has no task 'deeds'`.
        """
        return past_tasks(self._store, self.record, self._instrument)

    @property
    def all_tasks(self) -> tuple[str, ...]:
        """The names of all its tasks."""
        return self.manifest.config.tasks

    @property
    def status(self) -> RunStatus:
        """The status of the run."""
        return status_of(self._store, self.record)

    @property
    def state(self) -> str:
        """The status of the run in words: `playing, 40 %`."""
        return state_of(self._store, self.record)

    @property
    def why_ended(self) -> str:
        """Why the run ended before all items were played: `--max-requests 40 is reached`; empty if it did not."""
        return why_ended(self._store, self.record)

    @property
    def settings(self) -> Settings:
        """The settings of the run for tables and pages, with how the subject answered; paths without their folders."""
        return Settings({**self.manifest.shown_settings(self._instrument.card), **self.manifest.config.ways})

    def count_replies(self) -> int:
        """How many replies of the subject this run stored; 0 if it needed no server."""
        role = self.manifest.roles.get(SUBJECT)
        return self._store.journal.count_replies(self.id, role.identity) if role else 0

    def count_heard(self) -> int:
        """How many replies of the subject its episodes have, also those that other runs paid for."""
        heard = 0
        for task in self.tasks:
            items = [*self._store.episodes.repeats(self.id, task)]
            for start in range(0, len(items), _READ_AT_ONCE):
                said = self._store.episodes.replies(self.id, task, items[start : start + _READ_AT_ONCE]).values()
                heard += sum(role == SUBJECT for _, each in said for role, _ in each)
        return heard

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """The stand-ins among the players; a baseline that is the subject under its own name does not count."""
        return tuple(
            f"{name}: {role.own_name}"
            for name, role in self.manifest.roles.items()
            if role.identity.stand_in
            and not (name == SUBJECT and role.identity.wire == "baseline" and self.subject.startswith(role.own_name))
        )

    def form(self, task: str) -> Form:
        """What was asked in a task."""
        return self.manifest.form(task, self._instrument.card, self.id)

    @property
    def people(self) -> int:
        """How many people are the subject together; 0 for a run of one subject."""
        return 0

    @property
    def parts(self) -> tuple["StoredRun", ...]:
        """The parts that it consists of, oldest first: itself."""
        return (self,)

    @property
    def members(self) -> tuple[str, ...]:
        """The runs that it consists of: those of the people of a study, or itself."""
        return (self.id,)

    def finished(self, task: str) -> set[tuple[str, int]]:
        """The item ids and repeats of a task that have an outcome."""
        return self._store.episodes.finished(self.id, task)

    def of_same_subject(self, task: str) -> list["StoredRun"]:
        """The finished runs of a task by the same subject, newest first."""
        search = RunSearch(words=self.subject, instrument=self.instrument, status=RunStatus.FINISHED, limit=_MOST_RUNS)
        return [
            StoredRun(self._store, record, self._instrument)
            for record in self._store.runs.found(search)
            if record.subject == self.subject and task in record.manifest.config.tasks
        ]

    def name_of(self, run: str) -> str:
        """What another run in the same store is called; its id if it is not there."""
        return next((one.subject for one in self._store.runs.found(RunSearch(ids=(run,)))), run)

    def part(self, task: str) -> tuple[int, int] | None:
        """How many items of a task its numbers come from, and of how many; None if they come from all.

        The items are those from the start of the random order that were all played: among the later ones, those with
        quick answers are finished first.
        """
        planned = self.manifest.shuffled.get(task)
        if planned is None:
            return None
        if (stopping := self.stopping(task)) is not None and stopping.verdict:
            return None if stopping.used == planned else (stopping.used, planned)
        if self.record.status is RunStatus.FINISHED:
            return None
        counts = [count for _, count in self.in_order(task)]
        repeats = self.manifest.repeats[task]
        played = next((nth for nth, count in enumerate(counts) if count < repeats), len(counts))
        return None if played == planned else (played, planned)

    def counted_items(self, task: str) -> set[str]:
        """The items of a task with an outcome that its numbers come from."""
        done, part = {item for item, _ in self.finished(task)}, self.part(task)
        return done & {item for item, _ in self.in_order(task)[: part[0]]} if part else done

    def counted_plays(self, task: str) -> dict[tuple[str, int], bool]:
        """The plays of a task that its numbers come from, by item and repeat, each with whether it has an outcome."""
        items = self.outcomes_by_item(task)
        plays = self._store.episodes.plays(self.id, task)
        return {place: has_outcome for place, has_outcome in plays.items() if place[0] in items}

    def outcomes_by_item(self, task: str) -> dict[str, int]:
        """The items of a task that its numbers come from, also failed ones, each with the number of its outcomes."""
        outcomes = Counter(item for item, _ in self.finished(task))
        part = self.part(task)
        begun = self.in_order(task)[: part[0]] if part else self.in_order(task)
        return {item: outcomes[item] for item, _ in begun}

    def planned(self, task: str) -> int:
        """How many items of a task the run was to play, as far as that is known."""
        return self.manifest.shuffled.get(task, len(self.repeats(task)))

    def counted(self, task: str) -> str:
        """The items that the numbers of a task come from, in words; empty if these are all."""
        if (part := self.part(task)) is None:
            return ""
        first = order_of_play(self.manifest.shuffled[task], self.manifest.config.seed)[: part[0]]
        if self._store.episodes.begun(self.id, task).keys() >= set(first):
            return f"the first {part[0]} of {part[1]} items in their random order"
        return f"{part[0]} of {part[1]} items"

    def in_order(self, task: str) -> list[tuple[str, int]]:
        """The items of a task that were begun, in the order of play, each with the number of its episodes."""
        begun = self._store.episodes.begun(self.id, task)
        order = order_of_play(self.manifest.shuffled.get(task, len(begun)), self.manifest.config.seed)
        return [begun[place] for place in order if place in begun]

    def stopping(self, task: str) -> StoppingRecord | None:
        """The stopping rule of a task and what it saw; None without a rule, or while the run is played."""
        kept = self._store.runs.summary(self.id, task) if self.manifest.config.until else None
        return kept.stopping if kept else None

    def first_items(self, task: str, count: int, *, scored: bool = True) -> AnyRun:
        """So many items of a task from the start of the order of play, as `view` gives them."""
        kept = {name for name, _ in self.in_order(task)[:count]}
        view = self._whole_view(task, scored)
        return structs.replace(view, walk=lambda: (one for one in view.walk() if one.item.id in kept))

    def view(self, task: str = "") -> AnyRun:
        """Items, outcomes and scores of a task (default: the only one), as `summarise` gets them."""
        found = self.task(task)
        return scored_replies(found, self._view(found.name))

    def _view(self, task: str, *, scored: bool = True) -> AnyRun:
        part = self.part(task)
        return self._whole_view(task, scored) if part is None else self.first_items(task, part[0], scored=scored)

    def _whole_view(self, task: str, scored: bool) -> AnyRun:
        found = self.task(task)
        manifest = self.manifest
        return RunView(
            lambda: self._store.episodes.walk(self.id, task, found, scored=scored), self.settings, subject=self.subject,
            roles={name: role.label for name, role in manifest.roles.items()}, norm=manifest.norms.get(found.name),
            run=self.id, stand_ins=self.stand_ins, times=self._times(found.name),
            name=self.subject, task=found.name, card=self._instrument.card, version=self.version,
            created=self.created, status=self.status, why_ended=self.why_ended,
            whose_items=manifest.whose_items, form=self.form(found.name), as_in_paper=manifest.config.official,
            baseline=SUBJECT in manifest.roles and manifest.roles[SUBJECT].identity.wire == "baseline",
            people=self.people, others="; ".join(self._instrument.notices(manifest.other_roles, {}, self.version)),
        )  # fmt: skip

    def _times(self, task: str) -> tuple[float, ...]:
        """The shares of the items that a rule has looked at; without a verdict, the share played so far too."""
        until = self.manifest.config.until
        stopping = self.stopping(task)
        looks = stopping.times if stopping else ()
        if until is None or (stopping and stopping.verdict):
            return looks
        played, planned = self.part(task) or (1, 1)
        if played / planned <= max(looks, default=0.0):
            return looks
        return (*looks, played / planned)

    def episodes(self, task: str = "", item: str | None = None, *, scored: bool = True) -> Iterator[Episode[Any, Any]]:
        """The episodes of a task, or of all tasks, in the order of items and repeats; without `scored`, no scores.

        Items and outcomes of a task in `past` have the fields that they were stored with.
        """
        for name in (task,) if task else self.all_tasks:
            form = None if name in self.past else self.task(name)
            yield from self._store.episodes.walk(self.id, name, form, item, scored=scored)

    def stored_episodes(self) -> int:
        """How many episodes of all tasks are in the store now."""
        return sum(sum(self.repeats(name).values()) for name in self.all_tasks)

    def require_whole(self, rows: int, stored: int) -> None:
        """Raise a StoreError if an export of `rows` lacks episodes of the `stored` ones from before it.

        These are not stored any more, or have no item.
        """
        totals = self.record.totals
        if (lost := max(stored, totals.done + totals.failed if totals else 0) - rows) > 0:
            raise StoreError(
                f"{lost} episodes of run {self.reference} are damaged or missing, so the file has only {rows} rows."
                f" To check the store: {hint('check store')}"
            )

    def spent(self) -> Spent:
        """The requests, tokens and cost of the run, counted from its replies and attempts."""
        return self._store.journal.spent(self.id)

    def repeats(self, task: str) -> dict[str, int]:
        """How many episodes each item of a task has in the store."""
        return self._store.episodes.repeats(self.id, task)

    def transcript(self, item: Played, task: str = "", repeat: int = 0) -> Transcript:
        """The requests, replies and notes of an episode, in order; `print` shows the conversation.

        `item` is an episode, its item or the id of that; without `task`, the first task that has it.
        """
        task, episode = self.find_episode(item, task, repeat)
        return self._store.episodes.transcript(self.id, task, episode.item.id, episode.repeat)

    def find_episode(self, item: Played, task: str, repeat: int, how: str = _ITEMS) -> tuple[str, Episode[Any, Any]]:
        """The task that has an item, and the episode; a UsageError for an unknown item says `how` to list them."""
        if isinstance(item, Episode):
            if task:
                return task, item
            repeat, item = item.repeat, item.item
        name, tasks = str(getattr(item, "id", item)), (task,) if task else self.all_tasks
        for one in tasks:
            for episode in self.episodes(one, name):
                if episode.repeat == repeat:
                    return one, episode
        known = {episode.item.id for one in tasks for episode in self.episodes(one, scored=False)}
        if name in known:
            raise UsageError(f"item '{name}' has no repeat {repeat} in run {self.reference}; they are counted from 0.")
        raise unknown(f"{self.instrument} item", name, known, how)

    def sent_sampling(self) -> dict[str, list[Sampling]]:
        """The sampling parameters as they were sent, by role: all that the first 100 episodes of each task have."""
        sent = (
            (event.role, event.reply.sampling)
            for task in self.all_tasks
            for one in islice(self.episodes(task, scored=False), 100)
            for event in self.transcript(one.item.id, task, one.repeat)
            if isinstance(event, Exchange) and event.reply.sampling is not None
        )
        return grouped(dict.fromkeys(sent))

    def stored_vectors(self, drawn: DrawnRequest) -> Vectors:
        """The vectors that the journal has for a request of this run."""
        find = self._store.journal.lookup
        own = self.manifest.scope or self.id
        if (found := find(drawn.key(""), self.id) or find(drawn.key(own), self.id)) is None:
            raise StoreError(f"vectors of run {self.reference} are missing from the journal.")
        return msgspec.msgpack.decode(found, type=Vectors)

    def failures(self) -> dict[str, int]:
        """The number of failed episodes, by kind of failure; not those that the stopping rule did not need."""
        return self._store.episodes.failures(self.id, self._store.runs.uncounted(self.record))

    def failed(self, task: str) -> int:
        """The number of failed episodes of a task among those that its numbers come from."""
        return sum(one.failure is not None for one in self.view(task).episodes()) if self.failures() else 0

    def summary(self, task: str = "") -> Summary:
        """The summary of a task; for a run in progress or killed, computed from the episodes so far."""
        name = self._name_of(task)
        summary = self.kept_summary(name)
        if name in self.past:
            return structs.replace(summary, notes=(self.past_note(name), *summary.notes))
        others = sentence(self._whole_view(name, scored=False).others)
        notes = filter(None, (self.items_note(name), others))
        return structs.replace(summary, notes=(*notes, *summary.notes))

    def kept_summary(self, task: str = "") -> Summary:
        """The summary as stored, without the notes on its task; for a run in progress or killed, computed."""
        name = self._name_of(task)
        ended = self.record.status is not RunStatus.PLAYING
        kept = self._store.runs.summary(self.id, name) if ended else None
        if kept is None and name in self.past:
            return Summary(())
        return kept or self.made_summary(name)

    @property
    def tests(self) -> set[str]:
        """The tasks that `run` plays if none is named; the others are analyses of stored runs."""
        return {one for which in (False, True) for one in self._instrument.card.default_tasks(official=which)}

    def is_cut(self, task: str) -> bool:
        """Whether the user chose some of a task's items."""
        limit = self.manifest.config.limit or 0
        return 0 < limit <= self.manifest.shuffled.get(task, limit) or bool(self.manifest.config.items)

    def part_of_paper(self, task: str) -> str:
        """Which part of the paper's items the numbers of a task come from; empty if all, or if it has other items."""
        manifest, items = self.manifest, self._store.episodes.items
        card = next((one for one in self._instrument.card.task if one.name == task and self.official), None)
        if card is None:
            return ""
        played = sorted(self.counted_items(task))
        stored = (items(run, task, played).values() for run in self.members if card.paper_clusters)
        clusters = {msgspec.json.decode(one, type=Item).cluster for each in stored for one in each}
        cut = self.is_cut(task) or self.part(task) is not None
        has = asked_items(played), len(clusters), manifest.data_files
        return card.part_of_paper(*has, cut=cut and task in self.tests)

    def items_note(self, task: str) -> str:
        """Which items a task has that are not all of the paper's; empty if it has these, or bundled items."""
        view = self._whole_view(task, scored=False)
        items = view.item_set if ":" in view.item_set else self.part_of_paper(task)
        return f"{task} has {items}." if items else ""

    def past_note(self, task: str) -> str:
        """Why the numbers of a task are only shown, as a sentence; empty for others."""
        why = self.past.get(task, "")
        return f"{why[:1].upper()}{why[1:]}: its numbers are shown as they were stored." if why else ""

    def summarised(self, task: str = "") -> AnyRun:
        """The view of a task with its summary."""
        view = self.view(task)
        return structs.replace(view, summary=self.summary(task), part=self.part_of_paper(view.task))

    def rescore(self, task: str = "") -> Summary:
        """Recompute all scores and the summary from stored outcomes, under the run's lock and in one transaction."""
        found = self.task(task)
        with self._store.hold(self.id):
            scores: dict[tuple[str, int], Score | Failure] = {}
            for episode in self.episodes(found.name, scored=False):
                if episode.outcome is not None:
                    scores[episode.item.id, episode.repeat] = score_safely(
                        found, episode.item, episode.outcome, official=self.manifest.config.official
                    )
            # The stored scores are not read, since they may be damaged.
            view = self._view(found.name, scored=False)
            rescored = structs.replace(view, walk=lambda: (_with_score(one, scores) for one in view.walk()))
            summary = self._summarised(found, rescored)
            self._store.episodes.replace_scores(self.id, found.name, scores, summary)
            self._store.flush()
        return summary

    def keep_summary(self, task: str, stopping: StoppingRecord | None = None) -> Summary:
        """Compute the summary from the stored scores and store it; the caller must hold the run's lock."""
        if stopping is not None:  # the numbers are those of the items that the rule saw
            self._store.runs.set_summary(self.id, task, Summary((), stopping=stopping))
            self._store.flush()
        summary = self.made_summary(task)
        self._store.runs.set_summary(self.id, task, summary)
        return summary

    def made_summary(self, task: str) -> Summary:
        """The summary computed from the stored scores; stores nothing."""
        return self._summarised(self.task(task), self._view(self.task(task).name))

    def _summarised(self, task: Task[Any, Any], view: AnyRun) -> Summary:
        try:
            summary = summarised(task, view)
            return self._with_its_part(task.name, summary)
        except SociometerError:
            raise
        except Exception as error:
            raise SociometerError(
                f"the summary of {self.reference} ({task.name}) could not be computed: {type(error).__name__}: {error}."
                f" All episodes are stored; after fixing this, run '{hint('store rescore', self.reference)}'."
            ) from error

    def _with_its_part(self, task: str, summary: Summary) -> Summary:
        """The summary with a note on the items that it comes from, if these are not all."""
        stopping, counted = self.stopping(task), self.counted(task)
        notes = [f"{str(stopping)[:1].upper()}{str(stopping)[1:]}."] if stopping else []
        if counted and not (stopping and stopping.verdict):
            notes.append(f"Computed on {counted}, which are a sample of all.")
        if not notes:
            return summary
        measures = summary.measures
        if stopping is not None and stopping.widen > 1:
            scales = self._instrument.card.scales(task)
            measures = tuple(one.widened(stopping.widen, *scales.get(one.name, ())) for one in measures)
            notes.append(
                f"All intervals are {stopping.widen:.2f} times as wide as without the looks, so that they hold"
                " whenever the run stops."
            )
        return structs.replace(summary, measures=measures, notes=(*notes, *summary.notes), stopping=stopping)

    def _name_of(self, task: str) -> str:
        """The name of a task (default: the only one), also of one whose numbers are only shown."""
        if not task and len(self.all_tasks) == 1:
            task = self.all_tasks[0]
        return task if task in self.past else self.task(task).name

    def task(self, name: str = "") -> Task[Any, Any]:
        """The task with this name (default: the only one)."""
        if not name:
            if len(self.tasks) > 1:
                raise UsageError(f"run {self.reference} has several tasks ({', '.join(self.tasks)}); give one of them.")
            name = (*self.tasks, *self.past)[0]
        if name in self.past:
            raise UsageError(f"the numbers of run {self.reference} ({name}) can only be shown: {self.past[name]}.")
        return self._instrument.task(name)

    def _repr_html_(self) -> str:
        """How a notebook shows the run: its measures with their intervals and caveats."""
        head = f"<p><b>{escape(self.subject)}</b> on {escape(self.instrument)} ({escape(self.id)}, {self.status})</p>"
        tasks = (f"<h4>{escape(task)}</h4>{self.summary(task)._repr_html_()}" for task in self.all_tasks)
        return head + "".join(tasks)


def _with_score(episode: Episode[Any, Any], scores: Mapping[tuple[str, int], Score | Failure]) -> Episode[Any, Any]:
    scored = scores.get((episode.item.id, episode.repeat))
    if scored is None:
        return episode
    score, failure = (None, scored) if isinstance(scored, Failure) else (scored, None)
    return structs.replace(episode, score=score, failure=failure)


def status_of(store: Store, record: RunRecord) -> RunStatus:
    """The status of a run; a run whose process was killed is stopped."""
    killed = record.status is RunStatus.PLAYING and not store.database.is_played(record.id)
    return RunStatus.STOPPED if killed else record.status


def state_of(store: Store, record: RunRecord) -> str:
    """The status of a run in words: `playing, 40 %`."""
    status, planned = status_of(store, record), record.manifest.episodes
    if record.manifest.imported:
        return "imported" if status is RunStatus.FINISHED else "import not finished"
    if status is RunStatus.FINISHED:
        return _early(store, record) or status
    if why_ended(store, record).endswith(" before its summary"):
        return f"{status} before its summary"
    return f"{status}, {100 * store.totals(record).done // planned} %" if planned else status


def why_ended(store: Store, record: RunRecord) -> str:
    """Why a run ended before all items were played; empty if it did not, or if nobody knows."""
    if status_of(store, record) is not record.status:
        played = store.totals(record).done + store.totals(record).failed
        return "its process was killed" + " before its summary" * (played >= record.manifest.episodes > 0)
    if record.totals and record.totals.why == "interrupted" and record.manifest.config.of_people:
        return f"left after {record.totals.done} of {counted(record.manifest.episodes, 'item')}"
    return record.totals.why.rstrip(".") if record.totals else ""


def _early(store: Store, record: RunRecord) -> str:
    """After how many items the stopping rule ended a run, and how; empty if it played all, or if this is damaged."""
    kept = store.runs.stopping(record).values()
    used, planned = sum(one.used for one in kept), sum(one.items for one in kept)
    first, *others = {one.verdict.partition(" ")[0] for one in kept} or {""}
    how = first if not others and first in _VERDICTS else "decided"
    if any(one.verdict.startswith(("cannot", "not ")) for one in kept):  # "not told from …": a ranking of version 0.3
        how = "cannot be decided"
    return "" if used == planned else f"{how} after {used} of {planned}"


def first_score(
    summary_of: Callable[[str], Summary | None], record: RunRecord, card: Card
) -> tuple[MeasureCard, Measure, Summary] | None:
    """The first primary measure with a value, and the summary that it is from; `summary_of` gives that of a task."""
    for task in record.manifest.config.tasks:
        if summary := summary_of(task):
            cards = [known for known in card.measures_of(task) if known.primary]
            for known in cards or _first_stored(task, summary):
                found = summary.find(known.name)
                if found is not None and found.value is not None:
                    return known, found, summary
    return None


def _first_stored(task: str, summary: Summary) -> list[MeasureCard]:
    """The first measure of a summary of which the card knows nothing, as a plain number."""
    names = [measure.name for measure in summary.measures if not measure.group]
    return [MeasureCard(task, name, name, unit="number") for name in names[:1]]


def score_safely(task: Task[Any, Any], item: Item, outcome: Any, *, official: bool) -> Score | Failure:
    """The score, of an official item that of the first replies, or a failure if scoring raised an error."""
    try:
        return scored_as(task, item, outcome, first=official)[1]
    except Exception as error:
        return Failure(FailureKind.SCORING_ERROR, f"{type(error).__name__}: {error}")
