"""Which transcripts a report shows (best, worst, unreadable, failed, random), cut down to what is new in each turn."""

from collections.abc import Sequence
from random import Random
from typing import Any

from msgspec import Struct

from sociometer.core.conversation import Event, Exchange
from sociometer.core.measure import Figure
from sociometer.core.task import Episode, Instrument
from sociometer.store.stored_run import StoredRun

KINDS = ("best", "worst", "unreadable", "failed", "random")


class Line(Struct, frozen=True, omit_defaults=True):
    """One utterance or note; `speaker` is system, user, assistant, reply or note."""

    speaker: str
    text: str
    role: str = ""
    name: str = ""
    reasoning: str = ""
    branch: str = ""
    facts: dict[str, str] = {}


class EpisodeShown(Struct, frozen=True, omit_defaults=True):
    """One transcript in the evidence."""

    instrument: str
    task: str
    subject: str
    run: str
    item: str
    repeat: int
    kinds: tuple[str, ...]
    value: float | None
    values: dict[str, float]
    facets: dict[str, str]
    unreadable: int
    failure: str
    lines: tuple[Line, ...]
    beside: Figure | None = None


def evidence_of(
    run: StoredRun, instrument: Instrument, task: str, label: str, *, each: int = 4, seed: int = 7
) -> list[EpisodeShown]:
    """Up to `each` episodes of every kind, with their transcripts; one episode may be of several kinds."""
    value = next((m.value for m in instrument.card.measures_of(task) if m.primary and m.value), "")
    lower = any(m.primary and m.better == "lower" for m in instrument.card.measures_of(task))
    episodes = list(run.view(task).episodes())
    kinds = choose(episodes, value, each=each, lower_is_better=lower, seed=seed)
    shown = []
    for place in sorted(kinds):
        episode = episodes[place]
        lines = lines_of(run.transcript(episode.item.id, task, episode.repeat))
        score = episode.score
        shown.append(
            EpisodeShown(
                instrument=instrument.card.name,
                task=task,
                subject=label,
                run=run.id,
                item=episode.item.id,
                repeat=episode.repeat,
                kinds=tuple(kind for kind in KINDS if kind in kinds[place]),
                value=score.values.get(value) if score else None,
                values=score.values if score else {},
                facets=score.facets if score else {},
                unreadable=score.unreadable if score else 0,
                failure=f"{episode.failure.kind}: {episode.failure.message}" if episode.failure else "",
                lines=lines,
                beside=_beside(instrument, episode),
            )
        )
    return shown


def choose(
    episodes: Sequence[Episode[Any, Any]], value: str, *, each: int, lower_is_better: bool = False, seed: int = 7
) -> dict[int, set[str]]:
    """Places of the episodes to show, each with the kinds it was chosen for."""
    scored = [place for place, episode in enumerate(episodes) if episode.score and value in episode.score.values]
    sign = 1.0 if lower_is_better else -1.0
    standing = {place: sign * _value(episodes[place], value) for place in scored}
    # where all are alike none is best and none worst, and nobody is both
    middle = (min(standing.values()) + max(standing.values())) / 2 if standing else 0.0
    best = sorted((place for place in scored if standing[place] < middle), key=lambda place: (standing[place], place))
    worst = sorted((place for place in scored if standing[place] > middle), key=lambda place: (-standing[place], place))
    unreadable = [place for place, episode in enumerate(episodes) if episode.score and episode.score.unreadable]
    failed = [place for place, episode in enumerate(episodes) if episode.failure]
    rest = list(range(len(episodes)))
    Random(seed).shuffle(rest)
    found: dict[int, set[str]] = {}
    lists = (best, worst, unreadable, failed, rest)
    for kind, places in zip(KINDS, lists, strict=True):
        for place in _distinct(episodes, places)[:each]:
            found.setdefault(place, set()).add(kind)
    return found


def _distinct(episodes: Sequence[Episode[Any, Any]], places: Sequence[int]) -> list[int]:
    """The same places, one episode of every item first: repeats of one item show little that is new."""
    seen: set[str] = set()
    first: list[int] = []
    again: list[int] = []
    for place in places:
        item = episodes[place].item.id
        (again if item in seen else first).append(place)
        seen.add(item)
    return first + again


def _value(episode: Episode[Any, Any], value: str) -> float:
    return episode.score.values[value] if episode.score else 0.0


def lines_of(events: Sequence[Event]) -> tuple[Line, ...]:
    """A transcript as lines; what a role has already been shown in the same branch is not shown again."""
    lines: list[Line] = []
    before: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for event in events:
        if not isinstance(event, Exchange):
            facts = {name: _plain(fact) for name, fact in event.facts.items()}
            lines.append(Line("note", event.kind, branch=event.branch, facts=facts))
            continue
        key = event.role, event.branch
        known = before.get(key, [])
        messages = [(message.role, message.content) for message in event.messages]
        start = len(known) if known and messages[: len(known)] == known else 0
        lines += [Line(speaker, text, event.role, branch=event.branch) for speaker, text in messages[start:]]
        reply = event.reply
        lines.append(Line("reply", reply.text, event.role, event.model, reply.reasoning, event.branch))
        before[key] = [*messages, ("assistant", reply.text)]
    return tuple(lines)


def _plain(fact: Any) -> str:
    if isinstance(fact, float):
        return f"{fact:.4g}"
    if isinstance(fact, list | tuple):
        return ", ".join(_plain(part) for part in fact)
    if isinstance(fact, dict):
        return "; ".join(f"{name}: {_plain(part)}" for name, part in fact.items())
    return str(fact)


def _beside(instrument: Instrument, episode: Episode[Any, Any]) -> Figure | None:
    if instrument.beside is None or episode.outcome is None:
        return None
    return instrument.beside(episode.item, episode.outcome)
