"""A played dialogue: every reply, what the person thought of it, and what they said next."""

from typing import Any

from msgspec import Struct

from sociometer.core.task import Item
from sociometer.instruments.sage.emotion import Ending
from sociometer.instruments.sage.items import Scenario


class Judgement(Struct, frozen=True):
    """The first hop of a turn: the reaction to a reply, and the emotion change."""

    said: str
    serves: str
    activity: str
    feeling: str
    change: int
    before: int
    after: int

    @property
    def moved(self) -> int:
        """The change that counted, after clamping and the cap."""
        return self.after - self.before


class Plan(Struct, frozen=True):
    """The second hop of a turn: how the person intends to answer."""

    attitude: str
    aim: str
    tone: str
    content: str


class Turn(Struct, frozen=True, omit_defaults=True):
    """One reply of the subject, its judgement (None if the protocol does not judge it), and the person's next words."""

    reply: str
    judgement: Judgement | None = None
    plan: Plan | None = None
    words: str = ""
    leak: str = ""
    tokens: int | None = None
    rereads: int = 0
    """The number of times the simulator was asked again because its answer was unreadable."""


class Dialogue(Struct, frozen=True, omit_defaults=True):
    """The outcome of a scenario: the turns, and how the dialogue ended."""

    opening: str
    start: int
    turns: tuple[Turn, ...]
    ending: Ending
    simulator: str = ""

    @property
    def trajectory(self) -> tuple[int, ...]:
        """The emotion at the start and after every judged reply."""
        return (self.start, *(turn.judgement.after for turn in self.turns if turn.judgement is not None))

    @property
    def final(self) -> int:
        """The emotion at the end."""
        return self.trajectory[-1]

    @property
    def leaks(self) -> int:
        """The number of the person's utterances that quoted the hidden intention or revealed the simulation."""
        return sum(turn.leak in ("wording", "machinery") for turn in self.turns)

    @property
    def pleas(self) -> int:
        """The number of the person's utterances that openly asked for what they should keep hidden."""
        return sum(turn.leak == "plea" for turn in self.turns)

    @property
    def tokens(self) -> int | None:
        """The tokens that the subject wrote, or None if a server did not count them."""
        counted = [turn.tokens for turn in self.turns if turn.tokens is not None]
        return sum(counted) if len(counted) == len(self.turns) else None

    @property
    def characters(self) -> int:
        """The characters the subject wrote."""
        return sum(len(turn.reply) for turn in self.turns)

    def said(self, turns: int) -> tuple[tuple[str, str], ...]:
        """The conversation before the reply of turn `turns + 1`: (person or subject, words), oldest first."""
        talk = [("person", self.opening)]
        for turn in self.turns[:turns]:
            talk.append(("subject", turn.reply))
            if turn.words:
                talk.append(("person", turn.words))
        return tuple(talk)


class StoredDialogue(Item, frozen=True, kw_only=True):
    """A dialogue of a stored run, as the item of an analysis."""

    run: str
    subject: str
    scenario: Scenario
    dialogue: Dialogue

    def compared(self) -> Any:
        """The scenario and the simulator; run, subject and dialogue differ between subjects."""
        return self.scenario, self.dialogue.simulator

    def for_raters(self) -> dict[str, str]:
        """The dialogue without names and judgements: A is the person, B is the one who answers."""
        names = {"person": "A", "subject": "B"}
        said = self.dialogue.said(len(self.dialogue.turns))
        return {"talk": "\n\n".join(f"{names[who]}: {words}" for who, words in said)}
