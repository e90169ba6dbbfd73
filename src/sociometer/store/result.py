"""A result: all parts of one subject on one form together, computed and never stored."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct, structs

from sociometer.core.conversation import Sampling, Transcript
from sociometer.core.form import Form
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.core.stopping import StoppingRecord
from sociometer.core.task import AnyRun, Episode
from sociometer.store.records import RunRecord, RunStatus, Spent
from sociometer.store.store import Store
from sociometer.store.stored_run import Played, StoredRun

JOINT = "+"
"""Stands between the ids of the parts in the id of a result."""


class FormResult(Struct, frozen=True):
    """The parts of one subject on one form, oldest first."""

    form: Form
    parts: tuple[StoredRun, ...]


def results_of(parts: Sequence[StoredRun]) -> list[StoredRun]:
    """The results of one subject on one test, in the order in which they were begun.

    What was played in several commands on one form is one result. Forms of different tasks that agree in all they
    share are shown together, as one command would have played them. A part whose numbers can only be shown stays
    alone.
    """
    able = [part for part in sorted(parts, key=_begun) if not (part.past or part.record.is_check)]
    bundles: list[dict[str, FormResult]] = []
    for result in _by_form(able):
        home = next((bundle for bundle in bundles if _fits(result.form, bundle)), None)
        if home is None:
            home = {}
            bundles.append(home)
        home[result.form.task] = result
    shown = [_as_run(bundle) for bundle in bundles]
    shown += [part for part in parts if part.past or part.record.is_check]
    return sorted(shown, key=_begun)


def _begun(part: StoredRun) -> tuple[float, str]:
    return part.record.created, part.id


def _by_form(parts: Sequence[StoredRun]) -> list[FormResult]:
    found: dict[object, list[StoredRun]] = {}
    forms: dict[object, Form] = {}
    for part in parts:
        for task in part.tasks:
            form = part.form(task)
            key = form.key("result")
            forms.setdefault(key, form)
            found.setdefault(key, []).append(part)
    return [FormResult(forms[key], tuple(members)) for key, members in found.items()]


def _fits(form: Form, bundle: dict[str, FormResult]) -> bool:
    """Whether a form of another task agrees with the forms of a bundle in all fields that they share."""
    if form.task in bundle:
        return False
    mine = _shared_fields(form)
    for result in bundle.values():
        theirs = _shared_fields(result.form)
        if any(theirs[name] != value for name, value in mine.items() if name in theirs):
            return False
    return True


def _shared_fields(form: Form) -> dict[str, str]:
    """The fields that are not of one task alone; one that a task does not read is left out."""
    fields = form.projection("result")
    own = ("task", "given items", "norm", "tools")
    return {
        name: value
        for name, value in fields.items()
        if name not in own and not name.startswith("file ") and (value or name != "language")
    }


def _as_run(bundle: dict[str, FormResult]) -> StoredRun:
    """The results of a bundle as one run: the part itself, if there is only one."""
    parts = list({part.id: part for result in bundle.values() for part in result.parts}.values())
    if len(parts) == 1 and set(bundle) == set(parts[0].tasks):
        return parts[0]
    return Result({task: result.parts for task, result in bundle.items()})


class Result(StoredRun):
    """Several parts as one run; each item and repeat counts once."""

    def __init__(self, parts: dict[str, tuple[StoredRun, ...]]) -> None:
        by_id: dict[str, StoredRun] = {}
        for members in parts.values():
            by_id |= {part.id: part for part in members}
        every = sorted(by_id.values(), key=_begun)
        self._parts = parts
        self._every = every
        order = [task.name for task in every[0].definition.card.task if task.name in parts]
        self._order = (*order, *(task for task in parts if task not in order))
        super().__init__(_store_of(every[0]), _record_of(every, parts, self._order), _instrument_of(every[0]))

    @property
    def parts(self) -> tuple[StoredRun, ...]:
        return tuple(self._every)

    @property
    def members(self) -> tuple[str, ...]:
        """The parts that it consists of."""
        return tuple(part.id for part in self._every)

    @property
    def tasks(self) -> tuple[str, ...]:
        return self._order

    @cached_property
    def past(self) -> dict[str, str]:
        return {}

    @property
    def status(self) -> RunStatus:
        if all(self._is_complete(task) for task in self._order):
            return RunStatus.FINISHED
        return self._every[-1].status

    @property
    def state(self) -> str:
        return str(self.status) if self.status is RunStatus.FINISHED else self._every[-1].state

    @property
    def why_ended(self) -> str:
        return "" if self.status is RunStatus.FINISHED else self._every[-1].why_ended

    def form(self, task: str) -> Form:
        return self._parts[task][0].form(task)

    def _is_complete(self, task: str) -> bool:
        """Whether a part that was to play the most items of a task has played them all."""
        most = max(part.planned(task) for part in self._parts[task])
        return any(
            part.status is RunStatus.FINISHED and part.part(task) is None
            for part in self._parts[task]
            if part.planned(task) == most
        )

    @cached_property
    def _sources(self) -> dict[str, dict[str, dict[int, StoredRun]]]:
        """The part that each play of an item comes from, by task, item and repeat.

        An outcome counts before a failure, then what was played here before what was copied, then the oldest.
        """
        return {task: self._sources_of(task) for task in self._order}

    def _sources_of(self, task: str) -> dict[str, dict[int, StoredRun]]:
        weights: dict[tuple[str, int], tuple[bool, bool]] = {}
        sources: dict[str, dict[int, StoredRun]] = {}
        for part in self._parts[task]:
            for (item, repeat), has_outcome in part.counted_plays(task).items():
                weight = (has_outcome, not part.record.is_copied)
                if weight > weights.get((item, repeat), (False, False)) or (item, repeat) not in weights:
                    weights[item, repeat] = weight
                    sources.setdefault(item, {})[repeat] = part
        return sources

    def _of(self, task: str, item: str, repeat: int) -> StoredRun:
        return self._sources[task].get(item, {}).get(repeat, self._parts[task][0])

    def part(self, task: str) -> tuple[int, int] | None:
        if self._is_complete(task):
            return None
        planned = max(part.manifest.shuffled.get(task, 0) for part in self._parts[task])
        has = len(self._sources[task])
        return None if not planned or has >= planned else (has, planned)

    def is_cut(self, task: str) -> bool:
        return all(part.is_cut(task) for part in self._parts[task])

    def counted_items(self, task: str) -> set[str]:
        return {item for item, _ in self.finished(task)}

    def counted(self, task: str) -> str:
        part = self.part(task)
        return f"{part[0]} of {part[1]} items" if part else ""

    def outcomes_by_item(self, task: str) -> dict[str, int]:
        done = Counter(item for item, _ in self.finished(task))
        return {item: done[item] for item in self._sources[task]}

    def counted_plays(self, task: str) -> dict[tuple[str, int], bool]:
        done = self.finished(task)
        plays = [(item, repeat) for item, repeats in self._sources[task].items() for repeat in repeats]
        return {place: place in done for place in plays}

    def in_order(self, task: str) -> list[tuple[str, int]]:
        begun = [entry for part in self._parts[task] for entry in part.in_order(task)]
        return list(dict(begun).items())

    def stopping(self, task: str) -> StoppingRecord | None:
        """What the rule of a part saw, while no other part has more items."""
        for part in self._parts[task]:
            seen = part.stopping(task)
            if seen is not None and len(self._sources[task]) <= seen.used:
                return seen
        return None

    def first_items(self, task: str, count: int, *, scored: bool = True) -> AnyRun:
        kept = {name for name, _ in self.in_order(task)[:count]}
        view = self._whole_view(task, scored)
        return structs.replace(view, walk=lambda: (one for one in view.walk() if one.item.id in kept))

    def _view(self, task: str, *, scored: bool = True) -> AnyRun:
        return self._whole_view(task, scored)

    def _whole_view(self, task: str, scored: bool) -> AnyRun:
        first = super()._whole_view(task, scored)
        return structs.replace(first, walk=lambda: self._walk(task, None, scored=scored))

    def _times(self, task: str) -> tuple[float, ...]:
        stopping = self.stopping(task)
        return stopping.times if stopping else ()

    def _walk(self, task: str, item: str | None, *, scored: bool) -> Iterator[Episode[Any, Any]]:
        """The plays that count, in the order of items and repeats."""
        sources = self._sources[task]
        shown: set[str] = set()
        for part in self._parts[task]:
            for episode in part.episodes(task, item, scored=scored):
                name = episode.item.id
                repeats = sources.get(name, {})
                if set(repeats.values()) == {part}:
                    if episode.repeat in repeats:
                        yield episode
                elif name not in shown and part in repeats.values():
                    shown.add(name)
                    yield from self._plays_of(task, name, scored=scored)

    def _plays_of(self, task: str, item: str, *, scored: bool) -> Iterator[Episode[Any, Any]]:
        """The plays of an item that come from several parts, in the order of repeats."""
        repeats = self._sources[task][item]
        plays: dict[int, Episode[Any, Any]] = {}
        for part in set(repeats.values()):
            for episode in part.episodes(task, item, scored=scored):
                if repeats.get(episode.repeat) is part:
                    plays[episode.repeat] = episode
        yield from (plays[repeat] for repeat in sorted(plays))

    def episodes(self, task: str = "", item: str | None = None, *, scored: bool = True) -> Iterator[Episode[Any, Any]]:
        for name in (task,) if task else self._order:
            yield from self._walk(name, item, scored=scored)

    def transcript(self, item: Played, task: str = "", repeat: int = 0) -> Transcript:
        task, episode = self.find_episode(item, task, repeat)
        return self._of(task, episode.item.id, episode.repeat).transcript(episode, task)

    def finished(self, task: str) -> set[tuple[str, int]]:
        sources = self._sources[task]
        done: set[tuple[str, int]] = set()
        for part in self._parts[task]:
            done |= {
                (item, repeat) for item, repeat in part.finished(task) if sources.get(item, {}).get(repeat) is part
            }
        return done

    def repeats(self, task: str) -> dict[str, int]:
        return {item: len(repeats) for item, repeats in self._sources[task].items()}

    def failures(self) -> dict[str, int]:
        return dict(sum((Counter(self._whole_view(task, False).failures()) for task in self._order), Counter[str]()))

    def spent(self) -> Spent:
        total = Spent()
        for part in self._every:
            for name, value in structs.asdict(part.spent()).items():
                setattr(total, name, getattr(total, name) + value)
        return total

    def count_replies(self) -> int:
        return sum(part.count_replies() for part in self._every)

    def count_heard(self) -> int:
        return sum(part.count_heard() for part in self._every)

    def sent_sampling(self) -> dict[str, list[Sampling]]:
        sent: dict[str, list[Sampling]] = {}
        for part in self._every:
            for role, found in part.sent_sampling().items():
                mine = sent.setdefault(role, [])
                mine += [sampling for sampling in found if sampling not in mine]
        return sent

    def kept_summary(self, task: str = "") -> Summary:
        return self.made_summary(self._name_of(task))

    def made_summary(self, task: str) -> Summary:
        if task not in self._summaries:
            self._summaries[task] = super().made_summary(task)
        return self._summaries[task]

    @cached_property
    def _summaries(self) -> dict[str, Summary]:
        return {}

    def rescore(self, task: str = "") -> Summary:
        name = self.task(task).name
        for part in self._parts[name]:
            part.rescore(name)
        self._summaries.clear()
        return self.made_summary(name)


def _store_of(part: StoredRun) -> Store:
    return part.opened_in


def _instrument_of(part: StoredRun) -> Instrument:
    return part.definition


def _record_of(
    every: Sequence[StoredRun], parts: dict[str, tuple[StoredRun, ...]], tasks: tuple[str, ...]
) -> RunRecord:
    """The record of several parts as one: the facts of the newest, and what was played in all."""
    newest = every[-1]
    largest = {task: max(members, key=lambda part: part.planned(task)) for task, members in parts.items()}
    limits = [part.manifest.config.limit for part in every]
    limit = None if None in limits else max(filter(None, limits))
    config = structs.replace(newest.manifest.config, tasks=tasks, limit=limit, until=None)
    manifest = structs.replace(
        newest.manifest,
        config=config,
        repeats={task: largest[task].manifest.repeats.get(task, 1) for task in tasks},
        shuffled={task: largest[task].planned(task) for task in tasks},
        norms={task: largest[task].manifest.norms.get(task) for task in tasks},
        roles={role: who for part in every for role, who in part.manifest.roles.items()},
        episodes=sum(largest[task].planned(task) for task in tasks),
    )
    return structs.replace(
        newest.record,
        id=JOINT.join(part.id for part in every),
        manifest=manifest,
        created=every[0].record.created,
        totals=None,
    )
