"""What the player says at a decision: two beliefs, their fields, and a move; how it is read and graded.

The fields state each belief in numbers, which are right or wrong by the exact odds.
"""

import re
from collections.abc import Mapping

import msgspec

from sociometer.instruments.egosocial.games.asking import one_move
from sociometer.instruments.egosocial.games.blackjack.odds import Facts, facts_of
from sociometer.instruments.egosocial.games.blackjack.rules import MOVES
from sociometer.instruments.egosocial.games.cards import Card
from sociometer.reading import object_schema, read_json

NAMES = ("own_total", "own_kind", "own_bust_percent", "open_card_value", "dealer_bust_percent", "dealer_final_total")
EXACT = ("own_total", "own_kind", "open_card_value", "dealer_final_total")
"""The fields that are right or wrong; the other two are chances."""
CHANCE_TOLERANCE = 0.10
"""The allowed error of a stated chance that counts as right."""
OWN_SPREAD, DEALER_SPREAD = 0.32810, 0.09628
"""The standard deviation of both chances over all first decisions, which is the error of the best constant answer."""
BEST_CONSTANT = {
    "own_total": 0.103, "own_kind": 0.851, "own_bust_percent": 0.361, "open_card_value": 0.308,
    "dealer_bust_percent": 0.752, "dealer_final_total": 0.551,
}  # fmt: skip
"""How often the best constant answer is right over all deals: 20, hard, 10 %, 10, 30.5 % and 20."""
_NUMBER = re.compile(r"\s*(\d{1,3}(?:\.\d{1,4})?)\s*(%|percent)?\s*(?:points?)?\s*", re.IGNORECASE)
LOWEST_SKILL = -1.0
# Where a server holds a reply to the schema, this keeps a model that repeats itself from never reaching its move.
LONGEST_BELIEF = 400
_BELIEF: dict[str, object] = {"type": "string", "maxLength": LONGEST_BELIEF}
_ACTION: dict[str, object] = {"type": "string", "enum": list(MOVES)}
_WHOLE: dict[str, object] = {"type": "integer"}
# With its sign, as in "31%": a bare 1 could be 1 % or certainty.
_PERCENT: dict[str, object] = {"type": "string", "maxLength": 20}
_LABEL = re.compile(
    r"[\"'*_#\s{,-]*+\b(self[-_ ]?beliefs?|external[-_ ]?beliefs?|(?:my |final )?(?:action|move|decision))\b"
    r"[\"'*_]*+\s*+(?:[:=-]++|is\b:?+)\s*+[\"'*_]*+",
    re.IGNORECASE,
)
_WORDS = ("hit", "stand", "stay", "draw", "double", "split", "surrender", "fold", "call", "raise", "check")
# A move that cannot be made out is kept as it was said, so that it is asked for again.
LONGEST_ACTION = 80
_SAME = {"stay": "stand", "draw": "hit"}


class Fields(msgspec.Struct, frozen=True):
    """The fields as they were read; None if one is missing or cannot be read."""

    own_total: int | None = None
    own_kind: str | None = None
    own_bust_percent: float | None = None
    open_card_value: int | None = None
    dealer_bust_percent: float | None = None
    dealer_final_total: int | None = None

    def missing(self) -> tuple[str, ...]:
        """Return the names of the fields that were not given or cannot be read."""
        return tuple(name for name in NAMES if getattr(self, name) is None)

    def with_more(self, later: "Fields | None") -> "Fields":
        """Return the fields with those that a later reply gives."""
        given = later or self
        return Fields(*(getattr(self if getattr(given, name) is None else given, name) for name in NAMES))


def _whole(value: str) -> int | None:
    found = _NUMBER.fullmatch(value)
    return None if found is None or float(found[1]) % 1 else int(float(found[1]))


def _percent(value: str) -> float | None:
    """Return a chance in percent; without a sign, a number between 0 and 1 is a share, and a bare 1 may be either."""
    found = _NUMBER.fullmatch(value)
    if found is None or not 0 <= (number := float(found[1])) <= 100 or (number == 1 and not found[2]):
        return None
    return number * 100 if number < 1 and not found[2] else number


def read_fields(given: Mapping[str, str]) -> Fields | None:
    """Return the fields of a reply; None if it has none of them."""
    said = {name: given.get(name) or "" for name in NAMES}
    if not any(said.values()):
        return None
    kinds = set(re.findall(r"\b(soft|hard)\b", said["own_kind"].lower()))
    return Fields(
        own_total=_whole(said["own_total"]),
        own_kind=kinds.pop() if len(kinds) == 1 else None,
        own_bust_percent=_percent(said["own_bust_percent"]),
        open_card_value=_whole(said["open_card_value"]),
        dealer_bust_percent=_percent(said["dealer_bust_percent"]),
        dealer_final_total=_whole(said["dealer_final_total"]),
    )


def true_fields(facts: Facts) -> Fields:
    """Return the exact fields."""
    return Fields(
        own_total=facts.total.points,
        own_kind=facts.kind,
        own_bust_percent=round(100 * facts.exact.bust_risk, 1),
        open_card_value=11 if facts.shown == 1 else facts.shown,
        dealer_bust_percent=round(100 * facts.exact.dealer_busts, 1),
        dealer_final_total=facts.likely_ends[0],
    )


class FieldGrade(msgspec.Struct, frozen=True):
    """Which fields are right, and the quadratic score of both chances (`skill`)."""

    right: dict[str, bool]
    own_skill: float
    dealer_skill: float

    @property
    def own_right(self) -> bool:
        """Whether all fields about the player's own hand are right."""
        return all(self.right[name] for name in NAMES[:3])

    @property
    def dealer_right(self) -> bool:
        """Whether all fields about the dealer are right."""
        return all(self.right[name] for name in NAMES[3:])

    @property
    def exact_share(self) -> float:
        """The share of the four exact fields that are right."""
        return sum(self.right[name] for name in EXACT) / len(EXACT)


def skill(miss: float | None, spread: float) -> float:
    """Return 1 − miss² ⁄ spread², or −1 if that is more or no chance was given: one reply cannot decide a mean.

    1 is for the exact chance, 0 on average for the best constant.

    If an event has chance p, stating q costs p (1 − q)² + (1 − p) q² = p (1 − p) + (q − p)² on average (Brier). The
    last part is what the statement adds, so only the true chance reaches the top: the rule is proper.
    """
    return LOWEST_SKILL if miss is None else max(LOWEST_SKILL, round(1 - miss**2 / spread**2, 6))


def grade_fields(fields: Fields, facts: Facts) -> FieldGrade:
    """Return the grade of the fields; an ace that lies open may be called 1 or 11."""
    own, dealer = (
        None if percent is None else abs(percent / 100 - exact)
        for percent, exact in (
            (fields.own_bust_percent, facts.exact.bust_risk),
            (fields.dealer_bust_percent, facts.exact.dealer_busts),
        )
    )
    right = {
        "own_total": fields.own_total == facts.total.points,
        "own_kind": fields.own_kind == facts.kind,
        "own_bust_percent": own is not None and own <= CHANCE_TOLERANCE,
        "open_card_value": fields.open_card_value in ((1, 11) if facts.shown == 1 else (facts.shown,)),
        "dealer_bust_percent": dealer is not None and dealer <= CHANCE_TOLERANCE,
        "dealer_final_total": fields.dealer_final_total in facts.likely_ends,
    }
    return FieldGrade(right, skill(own, OWN_SPREAD), skill(dealer, DEALER_SPREAD))


SCHEMA = object_schema(self_belief=_BELIEF, external_belief=_BELIEF, action=_ACTION)


FULL_SCHEMA = object_schema(
    self_belief=_BELIEF,
    own_total=_WHOLE,
    own_kind={"type": "string", "enum": ["soft", "hard"]},
    own_bust_percent=_PERCENT,
    external_belief=_BELIEF,
    open_card_value=_WHOLE,
    dealer_bust_percent=_PERCENT,
    dealer_final_total=_WHOLE,
    action=_ACTION,
)
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
    own_total: str = ""
    own_kind: str = ""
    own_bust_percent: str = ""
    open_card_value: str = ""
    dealer_bust_percent: str = ""
    dealer_final_total: str = ""

    def fields(self) -> Fields | None:
        """The fields of the object."""
        return read_fields({name: getattr(self, name) for name in NAMES})


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
    known |= {name: f"{known[name]}%" for name in NAMES if name.endswith("percent")}
    return {
        "self_belief": f"My total is a {facts.kind} {facts.total.points}. "
        f"One more card would bust me with a chance of {facts.exact.bust_risk:.0%}.",
        **{name: known[name] for name in NAMES[:3]},
        "external_belief": f"The dealer's open card is worth {worth}. The dealer must draw until reaching 17 and "
        f"stand on 17 or more. The dealer will bust with a chance of {facts.exact.dealer_busts:.0%}.",
        **{name: known[name] for name in NAMES[3:]},
        "action": facts.exact.best,
    }
