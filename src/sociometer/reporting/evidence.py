"""The transcripts that a report shows (best, worst, unreadable, failed, random), without repeated messages."""

from collections.abc import Sequence
from random import Random
from typing import Any

from msgspec import Struct, structs

from sociometer.core.conversation import Event, Exchange, with_new_messages
from sociometer.core.measure import Figure
from sociometer.core.reply_kind import THEN
from sociometer.core.task import Episode, Score
from sociometer.core.words import grouped
from sociometer.store.stored_run import StoredRun

_MOST_EACH = 4
_ROOM = 200
"""How many transcripts of one kind a page has room for; 'view' shows every transcript."""
KINDS = ("best", "worst", "unreadable", "failed", "random")


class TranscriptLine(Struct, frozen=True, omit_defaults=True):
    """One message or note; `speaker` is system, user, assistant, reply or note."""

    speaker: str
    text: str
    role: str = ""
    name: str = ""
    reasoning: str = ""
    branch: str = ""
    facts: dict[str, str] = {}

    @property
    def is_reading(self) -> bool:
        """Whether it is a note on how a reply was read."""
        return (self.speaker, self.text) == ("note", "read")


class EpisodeShown(Struct, frozen=True, omit_defaults=True):
    """One episode of the evidence with its transcript."""

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
    lines: tuple[TranscriptLine, ...]
    beside: Figure | None = None


def room_for(played: int) -> tuple[int, tuple[str, ...]]:
    """How many transcripts of each kind a page shows of so many pairs of run and task, and which kinds."""
    return max(1, min(_MOST_EACH, _ROOM // max(1, played))), KINDS if played <= _ROOM else KINDS[:-1]


def evidence_of(
    run: StoredRun,
    task: str,
    label: str,
    episodes: Sequence[Episode[Any, Any]],
    *,
    each: int = _MOST_EACH,
    shown_kinds: Sequence[str] = KINDS,
) -> list[EpisodeShown]:
    """Up to `each` of these episodes of every kind, with their transcripts; an episode can have several kinds."""
    instrument = run.definition
    primary = instrument.card.primary_of(task)
    value = primary.value if primary else ""
    lower = primary is not None and primary.better == "lower"
    kinds = choose(episodes, value, each=each, lower_is_better=lower, shown_kinds=shown_kinds)
    return [
        EpisodeShown(
            instrument=instrument.card.name,
            task=task,
            subject=label,
            run=run.id,
            item=episode.item.id,
            repeat=episode.repeat,
            kinds=tuple(kind for kind in KINDS if kind in kinds[place]),
            value=score.values.get(value),
            values=score.values,
            facets=score.facets,
            unreadable=score.unreadable,
            failure=f"{episode.failure.kind}: {episode.failure.message}" if episode.failure else "",
            lines=transcript_lines(run.transcript(episode, task)),
            beside=beside(run, task, episode),
        )
        for place, episode in enumerate(episodes)
        if place in kinds
        for score in (episode.score or Score(values={}),)
    ]


def choose(
    episodes: Sequence[Episode[Any, Any]],
    value: str,
    *,
    each: int,
    lower_is_better: bool = False,
    shown_kinds: Sequence[str] = KINDS,
) -> dict[int, set[str]]:
    """The indexes of the episodes to show, each with the kinds it was chosen for."""
    sign = 1.0 if lower_is_better else -1.0
    order = {
        place: sign * episode.score.values[value]
        for place, episode in enumerate(episodes)
        if episode.score and value in episode.score.values
    }
    # if all values are equal, none is best or worst; no episode is both
    middle = (min(order.values()) + max(order.values())) / 2 if order else 0.0
    best = sorted((place for place in order if order[place] < middle), key=lambda place: (order[place], place))
    worst = sorted((place for place in order if order[place] > middle), key=lambda place: (-order[place], place))
    unreadable = [place for place, episode in enumerate(episodes) if episode.score and episode.score.unreadable]
    failed = [place for place, episode in enumerate(episodes) if episode.failure]
    rest = list(range(len(episodes)))
    Random(7).shuffle(rest)
    lists = zip(KINDS, (best, worst, unreadable, failed, rest), strict=True)
    shown = ((kind, _distinct(episodes, places)[:each]) for kind, places in lists if kind in shown_kinds)
    return {place: {*kinds} for place, kinds in grouped((place, kind) for kind, of in shown for place in of).items()}


def _distinct(episodes: Sequence[Episode[Any, Any]], places: Sequence[int]) -> list[int]:
    """The same indexes, with the first episode of each item before its repeats, which add little."""
    first: dict[str, int] = {}
    for place in places:
        first.setdefault(episodes[place].item.id, place)
    return sorted(places, key=lambda place: first[episodes[place].item.id] != place)


def transcript_lines(events: Sequence[Event]) -> tuple[TranscriptLine, ...]:
    """A transcript as lines; messages that a role already received in the same branch are not repeated."""
    lines: list[TranscriptLine] = []
    for event, messages in with_new_messages(events):
        if not isinstance(event, Exchange):
            facts = {name: _plain(fact) for name, fact in event.facts.items()}
            lines.append(TranscriptLine("note", event.kind, branch=event.branch, facts=facts))
            continue
        for one in messages:
            speaker = {"text": "user", "calls": "assistant", "result": "user"}.get(one.role, one.role)
            lines.append(TranscriptLine(speaker, one.shown, event.role, branch=event.branch))
        reply = event.reply
        lines.append(TranscriptLine("reply", reply.shown, event.role, event.model, reply.reasoning, event.branch))
    return tuple(lines)


def _plain(fact: Any) -> str:
    if isinstance(fact, float):
        return f"{fact:.4g}"
    if isinstance(fact, list | tuple):
        return ", ".join(_plain(part) for part in fact)
    if isinstance(fact, dict):
        return "; ".join(f"{name}: {_plain(part)}" for name, part in fact.items())
    return str(fact)


def beside(run: StoredRun, task: str, episode: Episode[Any, Any]) -> Figure | None:
    """What the instrument draws next to a transcript, if anything: of official items what the first replies said."""
    draw, first = run.definition.beside, run.official and run.definition.task(task).first_replies
    if draw is None or episode.outcome is None:
        return None
    if not (first and episode.score and episode.score.replies.get(THEN)):
        return draw(episode.item, episode.outcome)
    figure = draw(episode.item, first(episode.outcome))
    told = {"title": f"{figure.title}: the first reply, which counts; the second does not"} if figure else {}
    return figure and structs.replace(figure, **told, table=figure.table and structs.replace(figure.table, **told))
