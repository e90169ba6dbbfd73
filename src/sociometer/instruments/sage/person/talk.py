"""A talk as the person's model sees it, the other's words as quotations; the records of both hops."""

from msgspec import Struct

from sociometer.core.prompts import Prompts
from sociometer.instruments.sage.items import Scenario
from sociometer.reading.quotation import Talk, mark_of, transcript

SIMULATOR = "simulator"


class EmotionReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The simulator's answer in the first hop."""

    said: str
    serves: str
    activity: str
    feeling: str
    change: int


class Plan(Struct, frozen=True):
    """The second hop of a turn: how the person intends to answer."""

    attitude: str
    aim: str
    tone: str
    content: str


class SpokenReply(Plan, frozen=True, forbid_unknown_fields=True):
    """The simulator's answer in the second hop."""

    words: str


class PersonView(Struct, frozen=True):
    """The view of a program in the simulator's role; never sent to a model."""

    hop: str
    scenario: Scenario
    emotion: int
    words: str
    """The person's last words."""
    reply: str
    earlier: tuple[str, ...] = ()
    """The subject's earlier replies."""
    told: tuple[str, ...] = ()
    """The person's words before the last, oldest first."""


def quote_mark(scenario: Scenario, talk: Talk) -> str:
    """The mark of a quotation: a digest of what the subject cannot see, the same for the same context."""
    return mark_of(scenario.id, scenario.hidden, scenario.persona, *(words for _, words in talk))


def talk_so_far(talk: Talk, mark: str, prompts: Prompts, language: str) -> str:
    """A dialogue as the simulator reads it: its own words, and the other's as a quotation."""
    return transcript(talk, mark, own=prompts.render("own", language), other=prompts.render("other", language))
