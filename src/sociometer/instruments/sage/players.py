"""A rule-based judge that labels by cues: a stand-in."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from sociometer.core.conversation import Identity, Reply, Request, Usage
from sociometer.core.errors import MachineryError, UsageError
from sociometer.core.player import RulePlayer
from sociometer.instruments.sage.judges.asking import JudgeView
from sociometer.instruments.sage.judges.strategies import find_cues

JUDGED_BY_CUES = ("strategies", "coordinate")
_ANALYSIS: ContextVar[str] = ContextVar("analysis", default="")
_NO_JUDGE = (
    "'cues' only judges strategies and coordinates of sage: bind judge to a model (--role judge=MODEL), or "
    "run only these analyses (--what strategies --what coordinate)."
)


@contextmanager
def seated_for(analysis: str) -> Iterator[None]:
    """Within this context, a player that is bound to a role knows which analysis it is for, and may refuse."""
    token = _ANALYSIS.set(analysis)
    try:
        yield
    finally:
        _ANALYSIS.reset(token)


class CueJudge(RulePlayer):
    """`judge=cues`: labels strategies and style by the same cues; does not rate relationships."""

    def __init__(self) -> None:
        """Raises an error for an analysis that it cannot judge, before a run starts."""
        if _ANALYSIS.get() not in ("", *JUDGED_BY_CUES):
            raise UsageError(_NO_JUDGE)
        super().__init__(Identity("rule", "cues", revision="1", stand_in=True))

    async def answer(self, request: Request) -> Reply:
        """The labels of one reply, or the coordinate of one dialogue."""
        view = request.view
        if not isinstance(view, JudgeView) or view.task not in JUDGED_BY_CUES:
            raise MachineryError(_NO_JUDGE, "no judge", fatal=True)
        found = [find_cues(text, view.language) for text in view.replies]
        if view.task == "strategies":
            return Reply(msgspec.json.encode({"strategies": found[0].strategies}).decode(), usage=Usage(0, 0))
        feeling_codes = sum(code[0] in "BCDE" for each in found for code in each.strategies)
        solving_codes = sum(code[0] in "FG" for each in found for code in each.strategies)
        marks = sum(each.bullets for each in found)
        total = max(1, feeling_codes + solving_codes)
        facts = {
            "reason": f"{feeling_codes} cues of feeling, {solving_codes} of solving, {marks} list marks",
            "solution": round(10 * (solving_codes - feeling_codes) / total),
            "creative": max(-10, -2 * marks),
        }
        return Reply(msgspec.json.encode(facts).decode(), usage=Usage(0, 0))
