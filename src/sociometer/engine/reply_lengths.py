"""Stops a run whose first replies are mostly cut off: its limit, not the subject, would be measured."""

from collections import Counter

from sociometer.core.conversation import Exchange
from sociometer.core.errors import StopCause, Stopped
from sociometer.core.reply_kind import AGAIN, cut_off, cut_off_limit
from sociometer.engine.episode import PlayedEpisode
from sociometer.engine.plan import Plan
from sociometer.engine.progress import Progress
from sociometer.engine.roles import SUBJECT

_FIRST = 10  # replies that are looked at
_MORE = 4  # the limit that is proposed is so many times the one that was too short


class ReplyLengths:
    """Watches the first replies of a run."""

    def __init__(self, plan: Plan) -> None:
        self._official = plan.config.official
        self._asked = 0
        self._counts: Counter[str] = Counter()
        self._judged = False

    def add(self, played: PlayedEpisode, progress: Progress) -> Stopped | None:
        """What stops the run where most first replies are cut off; official items only get a warning.

        A run that is resumed has been warned before, so it goes on.
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
        return Stopped(f"{message} 'resume' goes on as it is.", StopCause.CUT_OFF)

    def _message(self, cut: int) -> str:
        limit = cut_off_limit(self._counts)
        at = f" at {limit} tokens" if limit else ""
        more = f"--reply-tokens {_MORE * limit}" if limit else "a higher --reply-tokens"
        return f"{cut} of the first {self._asked} replies were cut off{at} before they gave an answer; give {more}."
