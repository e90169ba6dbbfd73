"""What a player states in fields next to its sentences: six facts that can be checked without reading any words."""

import re

import msgspec

from sociometer.instruments.egosocial.games.blackjack.facts import Facts

NAMES = ("own_total", "own_kind", "own_bust_percent", "open_card_value", "dealer_bust_percent", "dealer_final_total")
EXACT = ("own_total", "own_kind", "open_card_value", "dealer_final_total")
"""The fields that are right or wrong; the other two are chances."""
CHANCE_TOLERANCE = 0.10
"""The allowed error of a stated chance that counts as right."""
OWN_SPREAD, DEALER_SPREAD = 0.32810, 0.09628
"""The standard deviation of both chances over all first decisions, which is the error of the best constant answer."""

BEST_CONSTANT = {
    "own_total": 0.103,
    "own_kind": 0.851,
    "own_bust_percent": 0.361,
    "open_card_value": 0.308,
    "dealer_bust_percent": 0.752,
    "dealer_final_total": 0.327,
}
"""How often the best constant answer is right over all deals: 20, hard, 10 %, 10, 30.5 % and 17."""


class Fields(msgspec.Struct, frozen=True):
    """The fields as they were read; None if one is missing or cannot be read."""

    own_total: int | None = None
    own_kind: str | None = None
    own_bust_percent: float | None = None
    open_card_value: int | None = None
    dealer_bust_percent: float | None = None
    dealer_final_total: int | None = None


Loose = float | str | None
_NUMBER = re.compile(r"\s*(\d{1,3}(?:\.\d{1,4})?)\s*(?:%|percent|points?)?\s*", re.IGNORECASE)


def _number(value: Loose) -> float | None:
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value)
        return float(found[1]) if found else None
    return value


def _whole(value: Loose) -> int | None:
    number = _number(value)
    return None if number is None or number != int(number) else int(number)


def _percent(value: Loose) -> float | None:
    """Return a chance in percent; a share between 0 and 1 is taken as one."""
    number = _number(value)
    if number is None or not 0 <= number <= 100:
        return None
    return number * 100 if 0 < number < 1 else number


def read_fields(given: dict[str, Loose]) -> Fields | None:
    """Return the fields of a reply; None if it has none of them."""
    if all(given.get(name) in (None, "") for name in NAMES):
        return None
    kinds = set(re.findall(r"\b(soft|hard)\b", str(given.get("own_kind") or "").lower()))
    return Fields(
        own_total=_whole(given.get("own_total")),
        own_kind=kinds.pop() if len(kinds) == 1 else None,
        own_bust_percent=_percent(given.get("own_bust_percent")),
        open_card_value=_whole(given.get("open_card_value")),
        dealer_bust_percent=_percent(given.get("dealer_bust_percent")),
        dealer_final_total=_whole(given.get("dealer_final_total")),
    )


def true_fields(facts: Facts) -> Fields:
    """Return the exact fields."""
    return Fields(
        own_total=facts.total.points,
        own_kind=facts.kind,
        own_bust_percent=round(100 * facts.exact.bust_risk, 1),
        open_card_value=11 if facts.shown == 1 else facts.shown,
        dealer_bust_percent=round(100 * facts.exact.dealer_busts, 1),
        dealer_final_total=facts.likeliest_end,
    )


class FieldGrade(msgspec.Struct, frozen=True):
    """Which fields are right, and how far both chances are off (None if there is none)."""

    right: dict[str, bool]
    own_miss: float | None
    dealer_miss: float | None

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

    @property
    def own_skill(self) -> float:
        """Return the quadratic score of the own chance: 1 for the exact one, 0 on average for the best constant."""
        return skill(self.own_miss, OWN_SPREAD)

    @property
    def dealer_skill(self) -> float:
        """Return the quadratic score of the dealer's chance, likewise."""
        return skill(self.dealer_miss, DEALER_SPREAD)


def skill(miss: float | None, spread: float) -> float:
    """Return 1 − miss² ⁄ spread²; a chance that was not given misses by 1.

    If an event has chance p, stating q costs p (1 − q)² + (1 − p) q² = p (1 − p) + (q − p)² on average (Brier). The
    last part is what the statement adds, so only the true chance reaches the top: the rule is proper.
    """
    return round(1 - (1.0 if miss is None else miss) ** 2 / spread**2, 6)


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
        "dealer_final_total": fields.dealer_final_total == facts.likeliest_end,
    }
    return FieldGrade(right, own, dealer)
