"""Stops a run if most of its first replies are cut off, because its score would depend on the limit."""

from collections import Counter

from sociometer.core.conversation import Exchange
from sociometer.core.errors import StopCause, Stopped
from sociometer.core.reply_kind import AGAIN, cut_off, cut_off_limit
from sociometer.engine.episode import PlayedEpisode
from sociometer.engine.plan import Plan
from sociometer.engine.progress import Progress
from sociometer.engine.roles import SUBJECT

_FIRST = 10  # replies that are looked at
_MORE = 4  # the proposed limit as a multiple of the one that was too short


class ReplyLengths:
    """Watches the first replies of a run."""

    def __init__(self, plan: Plan) -> None:
        self._official = plan.config.official
        self._asked = 0
        self._counts: Counter[str] = Counter()
        self._judged = False

    def add(self, played: PlayedEpisode, progress: Progress) -> Stopped | None:
        """The reason to stop the run if most first replies are cut off; official items only get a warning.

        A resumed run was warned before, so it continues.
        """
        if self._judged or played.episode.score is None:
            return None
        replies = played.episode.score.replies
        heard = sum(isinstance(event, Exchange) and event.role == SUBJECT for event in played.events)
        self._asked += heard - replies.get(AGAIN, 0)
        self._counts.update(replies)
        if self._asked < _FIRST:
            return None
        self._judged = True
        cut = cut_off(self._counts)
        if 2 * cut <= self._asked:
            return None
        message = self._message(cut)
        if self._official or progress.done_before:
            progress.warnings.append(message)
            return None
        return Stopped(f"{message} To continue with the present limit, use 'resume'.", StopCause.CUT_OFF)

    def _message(self, cut: int) -> str:
        limit = cut_off_limit(self._counts)
        at = f" at {limit} tokens" if limit else ""
        more = f"--reply-tokens {_MORE * limit}" if limit else "a higher --reply-tokens"
        cut_off_replies = f"{cut} of the first {self._asked} replies were cut off{at} before they gave an answer"
        return f"{cut_off_replies}; start a new run with {more}."
