"""Plays one item once, for runs, rehearsals and estimates."""

from typing import Any

from msgspec import Struct

from sociometer.core.conversation import Event
from sociometer.core.errors import MachineryError, SociometerError, Stopped, StoreError
from sociometer.core.session import DirectReplies, Draw, ReplySource, Session
from sociometer.core.task import Episode, Failure, Item, Task
from sociometer.engine.plan import Plan
from sociometer.store.stored_run import score_safely


class PlayedEpisode(Struct, frozen=True):
    """An episode with its transcript; `error` is the cause if it has no outcome."""

    episode: Episode[Any, Any]
    events: tuple[Event, ...]
    error: Exception | None = None


async def play_episode(
    plan: Plan, task: Task[Any, Any], item: Item, repeat: int = 0, replies: ReplySource | None = None
) -> PlayedEpisode:
    """Play an item and score it; without `replies` the players are asked directly and nothing is stored.

    An error of one item becomes its failure. A stop or a store error concerns the whole run and is raised.
    """
    draw = Draw(plan.instrument.card.name, plan.version, task.name, item.id, repeat, plan.config.seed)
    session = Session(
        replies or DirectReplies(), plan.bindings, draw, plan.settings, plan.prompts,
        official=plan.config.official, second_question=plan.config.second_question, base=plan.config.base,
        answer=plan.config.answer,
    )  # fmt: skip
    try:
        outcome = await task.play(item, session)
    except Exception as raised:
        error = _cause(raised)
        if isinstance(error, Stopped | StoreError):
            raise error from None
        return PlayedEpisode(failed(item, repeat, error), tuple(session.events), error)
    scored = score_safely(task, item, outcome)
    score, failure = (None, scored) if isinstance(scored, Failure) else (scored, None)
    return PlayedEpisode(Episode(item, repeat, outcome, score, failure), tuple(session.events))


def failed(item: Item, repeat: int, error: Exception) -> Episode[Any, Any]:
    """The episode that an error ended."""
    kind = error.kind if isinstance(error, MachineryError) else "instrument error"
    message = str(error) if isinstance(error, SociometerError) else f"{type(error).__name__}: {error}"
    return Episode(item, repeat, None, None, Failure(kind, message.encode("utf-8", "replace").decode()))


def _cause(raised: Exception) -> Exception:
    """The error to report for concurrent branches: a store error, then a stop, then the first one."""
    if not isinstance(raised, ExceptionGroup):
        return raised
    causes = [_cause(error) for error in raised.exceptions]
    for kind in (StoreError, Stopped):
        for cause in causes:
            if isinstance(cause, kind):
                return cause
    return causes[0]
