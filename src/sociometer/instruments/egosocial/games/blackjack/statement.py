"""A player's statement at one decision: two beliefs and a move, as asked for and as read back."""

import re

import msgspec

from sociometer.instruments.egosocial.games.blackjack.facts import facts_of
from sociometer.instruments.egosocial.games.blackjack.fields import NAMES, Fields, Loose, read_fields, true_fields
from sociometer.instruments.egosocial.games.blackjack.rules import MOVES
from sociometer.instruments.egosocial.games.cards import Card
from sociometer.instruments.egosocial.games.move_words import one_move
from sociometer.reading import read_json

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


_PERCENT = {"type": "number", "minimum": 0, "maximum": 100}
_FIELDS = {
    "own_total": {"type": "integer"},
    "own_kind": {"type": "string", "enum": ["soft", "hard"]},
    "own_bust_percent": _PERCENT,
    "open_card_value": {"type": "integer"},
    "dealer_bust_percent": _PERCENT,
    "dealer_final_total": {"type": "integer"},
}
_SAID: dict[str, object] = SCHEMA["properties"]  # type: ignore[assignment]
FULL_SCHEMA = {
    "type": "object",
    "properties": {
        "self_belief": _SAID["self_belief"],
        **dict(list(_FIELDS.items())[:3]),
        "external_belief": _SAID["external_belief"],
        **dict(list(_FIELDS.items())[3:]),
        "action": _SAID["action"],
    },
    "required": ["self_belief", *NAMES[:3], "external_belief", *NAMES[3:], "action"],
    "additionalProperties": False,
}
"""The schema of our own variant: the paper's two beliefs and the move, with the graded fields next to the beliefs."""


class Statement(msgspec.Struct, frozen=True):
    """What the player said; the action is the word it used, legal or not (empty: none could be read).

    `fields` is None if the reply has none of them.
    """

    self_belief: str
    external_belief: str
    action: str
    rule: str
    fields: Fields | None = None


class _Loose(msgspec.Struct, frozen=True):
    """The JSON object as models write it: any spelling of the keys."""

    self_belief: str = ""
    external_belief: str = ""
    action: str = ""
    own_total: Loose = None
    own_kind: Loose = None
    own_bust_percent: Loose = None
    open_card_value: Loose = None
    dealer_bust_percent: Loose = None
    dealer_final_total: Loose = None

    def fields(self) -> Fields | None:
        """The fields of the object."""
        return read_fields({name: getattr(self, name) for name in NAMES})


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
    """Return the statement in a reply, from its JSON object or its labelled parts; empty if nothing is found."""
    reading = read_json(text, _Loose)
    value = reading.value
    if value is not None and any((value.self_belief, value.external_belief, value.action, value.fields())):
        return Statement(value.self_belief, value.external_belief, _move(value.action), reading.rule, value.fields())
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


def ideal(player: tuple[Card, ...], open_card: Card) -> dict[str, str | int | float]:
    """Return the exact statement; only the oracle sees it."""
    facts = facts_of(player, open_card)
    worth = "1 or 11" if facts.shown == 1 else str(facts.shown)
    known = msgspec.to_builtins(true_fields(facts))
    return {
        "self_belief": f"My total is a {facts.kind} {facts.total.points}. "
        f"One more card would bust me with a chance of {facts.exact.bust_risk:.0%}.",
        **{name: known[name] for name in NAMES[:3]},
        "external_belief": f"The dealer's open card is worth {worth}. The dealer must draw until reaching 17 and "
        f"stand on 17 or more. The dealer will bust with a chance of {facts.exact.dealer_busts:.0%}.",
        **{name: known[name] for name in NAMES[3:]},
        "action": facts.exact.best,
    }


def paper_ideal(player: tuple[Card, ...], open_card: Card) -> dict[str, str | int | float]:
    """Return the same in the paper's variant, without fields."""
    return {key: value for key, value in ideal(player, open_card).items() if key not in NAMES}
