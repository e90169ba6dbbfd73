"""A judge grades the sentences of a belief from 0 to 10 or, as in the paper, to 100, with the exact facts at hand."""

from msgspec import Struct

from sociometer.core.conversation import Schema, user
from sociometer.core.session import Session
from sociometer.instruments.egosocial.games.asking import Faults, Read, ask_move
from sociometer.instruments.egosocial.games.blackjack.rules import Facts, facts_of
from sociometer.instruments.egosocial.games.cards import Card, spoken
from sociometer.reading import read_json

RIGHT_ABOVE = {10: 5.5, 100: 85.0}
"""The highest grade of each scale, and the threshold without grades by people: a grade above it counts as right."""


def scale_of(session: Session) -> int:
    """Return the highest grade: that of the settings, or else the paper's in the paper's variant."""
    return int(session.settings.text("judge-scale") or (100 if session.official else 10))


def _schema(scale: int) -> dict[str, object]:
    grade = {"type": "integer", "minimum": 0, "maximum": scale}
    return {"type": "object", "properties": {"grade": grade}, "required": ["grade"], "additionalProperties": False}


class _Answer(Struct, frozen=True):
    grade: float


def _own_facts(facts: Facts) -> str:
    return f"the total is a {facts.kind} {facts.total.points}; one more card busts with {facts.exact.bust_risk:.0%}."


def _dealer_facts(facts: Facts) -> str:
    worth = "1 or 11" if facts.shown == 1 else facts.shown
    return (
        f"the open card is worth {worth}; with the hidden card the dealer has {min(facts.pairs)} to "
        f"{max(facts.pairs)}, most likely {facts.likeliest_pair}; the dealer must draw with "
        f"{facts.exact.dealer_must_draw:.0%} and busts with {facts.exact.dealer_busts:.0%}; the dealer draws below 17 "
        "and stands on every 17."
    )


def read_grade(text: str, scale: int) -> Read[float]:
    """Return the grade in a reply; one outside the scale is illegal."""
    reading = read_json(text, _Answer)
    if reading.value is None:
        return Read(None, "unreadable")
    return Read(reading.value.grade) if 0 <= reading.value.grade <= scale else Read(None, "illegal")


async def judge_words(
    session: Session, about: str, player: tuple[Card, ...], open_card: Card, words: str
) -> tuple[float | None, Faults]:
    """Ask the judge for the grade of a belief about the player's own hand (`self`) or the dealer's (`external`)."""
    facts, own, scale = facts_of(player, open_card), about == "self", scale_of(session)
    text = session.prompts.render(
        "games/blackjack-judge",
        highest=scale,
        cards=", ".join(spoken(card) for card in player),
        open=spoken(open_card),
        facts=_own_facts(facts) if own else _dealer_facts(facts),
        about="its own hand" if own else "the dealer",
        words=words,
        least="it must state the total, and with an ace how the ace counts."
        if own
        else "the open card, what the dealer may hold or must do now, or the dealer's chance to bust.",
    )
    grade, faults, _ = await ask_move(
        session, "judge", [user(text)], Schema(_schema(scale), "grade", {"grade": scale}),
        lambda reply: read_grade(reply.text, scale),
        legal=f"a grade from 0 to {scale}", default=None,
    )  # fmt: skip
    return grade, faults
