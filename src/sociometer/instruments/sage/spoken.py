"""What the simulator answers in each of its two hops."""

from msgspec import Struct


class EmotionReply(Struct, frozen=True, forbid_unknown_fields=True):
    """What the simulator answers in the first hop."""

    said: str
    serves: str
    activity: str
    feeling: str
    change: int


class SpokenReply(Struct, frozen=True, forbid_unknown_fields=True):
    """What the simulator answers in the second hop."""

    attitude: str
    aim: str
    tone: str
    content: str
    words: str
