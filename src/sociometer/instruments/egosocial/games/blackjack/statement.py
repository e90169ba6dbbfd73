"""A player's statement at one decision: two beliefs and a move, as asked for and as read back."""

import re

import msgspec

from sociometer.elicit import read_json
from sociometer.instruments.egosocial.games.blackjack.odds import odds
from sociometer.instruments.egosocial.games.blackjack.rules import MOVES, points_of, total_of
from sociometer.instruments.egosocial.games.cards import Card
from sociometer.instruments.egosocial.games.move_words import one_move

# Where a server holds a reply to the schema, this keeps a model that repeats itself from never reaching its move.
LONGEST_BELIEF = 400
SCHEMA = {
    "type": "object",
    "properties": {
        "self_belief": {"type": "string", "maxLength": LONGEST_BELIEF},
        "external_belief": {"type": "string", "maxLength": LONGEST_BELIEF},
        "action": {"type": "string", "enum": list(MOVES)},
    },
    "required": ["self_belief", "external_belief", "action"],
    "additionalProperties": False,
}


class Statement(msgspec.Struct, frozen=True):
    """What the player said; the action is the word it used, legal or not (empty: none could be read)."""

    self_belief: str
    external_belief: str
    action: str
    rule: str


class _Loose(msgspec.Struct, frozen=True):
    """The JSON object as models write it: any spelling of the three keys."""

    self_belief: str = ""
    external_belief: str = ""
    action: str = ""


_LABEL = re.compile(
    r"[\"'*_#\s{,-]*+\b(self[-_ ]?beliefs?|external[-_ ]?beliefs?|(?:my |final )?(?:action|move|decision))\b"
    r"[\"'*_]*+\s*+(?:[:=-]++|is\b:?+)\s*+[\"'*_]*+",
    re.IGNORECASE,
)
_WORDS = ("hit", "stand", "stay", "draw", "double", "split", "surrender", "fold", "call", "raise", "check")
# A move that cannot be made out is kept as it was said, so that it is asked for again.
LONGEST_ACTION = 80
_SAME = {"stay": "stand", "draw": "hit"}


def read_statement(text: str) -> Statement:
    """Return the statement in a reply, from its JSON object or its labelled parts; empty where nothing is found."""
    reading = read_json(text, _Loose)
    if reading.value is not None and any(
        (reading.value.self_belief, reading.value.external_belief, reading.value.action)
    ):
        value = reading.value
        return Statement(value.self_belief, value.external_belief, _move(value.action), reading.rule)
    parts = _labelled(text)
    if not parts:
        return Statement("", "", "", reading.rule)
    return Statement(parts.get("self", ""), parts.get("external", ""), _move(parts.get("action", "")), "labels")


def _labelled(text: str) -> dict[str, str]:
    marks = list(_LABEL.finditer(text[:8000]))
    parts: dict[str, str] = {}
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        label = mark[1].lower()
        key = "self" if label.startswith("self") else "external" if label.startswith("external") else "action"
        parts[key] = text[mark.end() : end].strip(" \n\t\"'*_,.}{")
    return parts


def _move(text: str) -> str:
    word = one_move(text, _WORDS) or text.strip()[:LONGEST_ACTION]
    return _SAME.get(word, word)


def ideal(player: tuple[Card, ...], open_card: Card) -> dict[str, str]:
    """Return the statement of somebody who calculates exactly; only the oracle is shown it."""
    total, exact, shown = total_of(player), odds(player, open_card), points_of(open_card)
    worth = "1 or 11" if shown == 1 else str(shown)
    return {
        "self_belief": f"My total is a {'soft' if total.soft else 'hard'} {total.points}. "
        f"One more card would bust me with a chance of {exact.bust_risk:.0%}.",
        "external_belief": f"The dealer's open card is worth {worth}. The dealer must draw until reaching 17 and "
        f"stand on 17 or more. The dealer will bust with a chance of {exact.dealer_busts:.0%}.",
        "action": exact.best,
    }
