"""The simulator's answers in its two hops."""

from msgspec import Struct


class EmotionReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The simulator's answer in the first hop."""

    said: str
    serves: str
    activity: str
    feeling: str
    change: int


class SpokenReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The simulator's answer in the second hop."""

    attitude: str
    aim: str
    tone: str
    content: str
    words: str
