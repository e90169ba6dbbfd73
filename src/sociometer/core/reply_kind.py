"""The kinds of reply, the same for every form of question, and how often each occurred."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct

from sociometer.core.conversation import Reply

_CUT_OFF_AT = "cut off at {} tokens"
AGAIN, THEN = "asked again", "answered then"


class ReplyKind(StrEnum):
    """What came back. None of these leaves the denominator of a score; only failures of the machinery do."""

    ANSWERED = "answered"
    UNREADABLE = "unreadable"
    ILLEGAL = "illegal"
    TWO_ANSWERS = "two answers"
    CUT_OFF = "cut off"
    SILENT = "silent"
    FILTERED = "filtered"


class Asked(Struct, frozen=True, omit_defaults=True):
    """How an answer was obtained: the kind of the last reply and, where it was asked again, of the first."""

    kind: ReplyKind = ReplyKind.ANSWERED
    first: ReplyKind | None = None
    limit: int = 0
    """The limit (tokens) that cut the first reply off; 0 where it is unknown or nothing was cut off."""

    @property
    def again(self) -> bool:
        """Whether there was a second question."""
        return self.first is not None


def kind_of(reply: Reply, read: ReplyKind) -> ReplyKind:
    """The kind of a reply, given what its words were read as."""
    if read in (ReplyKind.ANSWERED, ReplyKind.ILLEGAL):
        return read
    said = bool(reply.text.strip())
    if reply.finish == "content_filter" or (reply.finish == "refusal" and not said):
        return ReplyKind.FILTERED
    if reply.finish == "length":
        return ReplyKind.CUT_OFF
    if not said and reply.finish != "tool_calls":
        return ReplyKind.SILENT
    return read


def count_replies(asked: Iterable[Asked]) -> dict[str, int]:
    """How many first replies held no answer, by kind, how many were asked again, and how many answered then."""
    counts: Counter[str] = Counter()
    for one in asked:
        first = one.first or one.kind
        if first is not ReplyKind.ANSWERED:
            counts[_CUT_OFF_AT.format(one.limit) if first is ReplyKind.CUT_OFF and one.limit else first] += 1
        counts[AGAIN] += one.again
        counts[THEN] += one.again and one.kind is ReplyKind.ANSWERED
    return {name: count for name, count in counts.items() if count}


def cut_off(counts: Mapping[str, int]) -> int:
    """How many first replies were cut off."""
    return sum(count for name, count in counts.items() if name.startswith(ReplyKind.CUT_OFF))


def cut_off_limit(counts: Mapping[str, int]) -> int:
    """The lowest limit that cut a reply off; 0 where it is unknown."""
    limits = [int(name.split()[3]) for name in counts if name.startswith(f"{ReplyKind.CUT_OFF} at ")]
    return min(limits, default=0)
