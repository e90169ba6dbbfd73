"""Blackjack against the dealer: rules, exact odds, items (from a seed or the official file), judge and score."""

import functools
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.conversation import Message, Reply, Sampling, Schema, system, user
from sociometer.core.errors import DataError, UsageError
from sociometer.core.measure import Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.session import Session
from sociometer.core.settings import is_paper
from sociometer.core.source import Source
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.asking import SAMPLING, Faults, Read, ask_move, one_move
from sociometer.instruments.egosocial.games.cards import Card, spoken
from sociometer.instruments.egosocial.games.game import IllegalMove
from sociometer.reading import read_json, read_lines
from sociometer.statistics.measures import grouped_measures

MOVES = ("hit", "stand")
DEALER_STANDS_ON = 17
LIMIT = 21
# No hand can take more: four aces, four twos and three threes make 21.
LONGEST_HAND = 11


class Total(msgspec.Struct, frozen=True):
    """The total of a hand; soft while an ace still counts 11."""

    points: int
    soft: bool

    @property
    def bust(self) -> bool:
        """Whether the hand has passed 21."""
        return self.points > LIMIT


class Deal(msgspec.Struct, frozen=True):
    """The cards of one hand: two for the player, two for the dealer (the first lies open), and the pile."""

    player: tuple[Card, ...]
    dealer: tuple[Card, Card]
    pile: tuple[Card, ...]

    @property
    def open_card(self) -> Card:
        """The dealer's card that lies open."""
        return self.dealer[0]


def points_of(card: Card) -> int:
    """Return a card's points: 2 to 10, and 1 for an ace."""
    rank = cards.rank_of(card)
    return 1 if rank == 12 else min(rank + 2, 10)


def total_of(hand: Iterable[Card]) -> Total:
    """Return the total of a hand."""
    points = [points_of(card) for card in hand]
    low = sum(points)
    if 1 in points and low + 10 <= LIMIT:
        return Total(low + 10, soft=True)
    return Total(low, soft=False)


def new_deal(rng: random.Random, player: tuple[Card, ...] = (), open_card: Card | None = None) -> Deal:
    """Return a deal from a shuffled deck; the player's cards and the dealer's open card may be given."""
    fixed = player if open_card is None else (*player, open_card)
    rest = list(cards.deal(rng, cards.DECK_SIZE - len(fixed), without=fixed))
    mine = player or (rest.pop(0), rest.pop(0))
    shown = rest.pop(0) if open_card is None else open_card
    return Deal(mine, (shown, rest[0]), tuple(rest[1 : 1 + 2 * LONGEST_HAND]))


class State:
    """One hand in progress."""

    __slots__ = ("dealer", "drawn", "pile", "player", "stood")

    def __init__(self, deal: Deal) -> None:
        self.player = list(deal.player)
        self.dealer = list(deal.dealer)
        self.pile = deal.pile
        self.drawn = 0
        self.stood = False

    @property
    def over(self) -> bool:
        """Whether the player has no more moves: it stood or passed 21."""
        return self.stood or total_of(self.player).bust

    def legal(self) -> tuple[str, ...]:
        """Return the moves that are allowed now."""
        return () if self.over else MOVES

    def apply(self, move: str) -> None:
        """Take one legal move; a stand lets the dealer draw."""
        if move not in self.legal():
            raise IllegalMove(f"illegal move {move!r}; the legal moves are {', '.join(self.legal()) or 'none'}")
        if move == "hit":
            self.player.append(self._draw())
            return
        self.stood = True
        while total_of(self.dealer).points < DEALER_STANDS_ON:
            self.dealer.append(self._draw())

    def _draw(self) -> Card:
        self.drawn += 1
        return self.pile[self.drawn - 1]

    def result(self) -> int:
        """Return 1 if the player won, 0 for a draw, -1 if the dealer won; only after the hand is over."""
        if not self.over:
            raise IllegalMove("the hand is not over; a result exists once the player stands or passes 21")
        mine, theirs = total_of(self.player), total_of(self.dealer)
        if mine.bust:
            return -1
        if theirs.bust:
            return 1
        return (mine.points > theirs.points) - (mine.points < theirs.points)


Deck = tuple[int, ...]
FULL_DECK: Deck = (4, 4, 4, 4, 4, 4, 4, 4, 4, 16)


class Odds(msgspec.Struct, frozen=True):
    """The calculated facts about a hand; values are expected stakes won."""

    bust_risk: float
    dealer_busts: float
    dealer_must_draw: float
    hit: float
    stand: float

    @property
    def best(self) -> str:
        """The move with the higher expected value."""
        return "hit" if self.hit > self.stand else "stand"


def unseen(seen: Sequence[Card]) -> Deck:
    """Return the deck without the cards that were seen."""
    counts = list(FULL_DECK)
    for card in seen:
        counts[points_of(card) - 1] -= 1
    return tuple(counts)


def _best_points(low: int, has_ace: bool) -> int:
    return low + 10 if has_ace and low + 10 <= LIMIT else low


def _without(deck: Deck, points: int) -> Deck:
    return (*deck[: points - 1], deck[points - 1] - 1, *deck[points:])


class _Draws(msgspec.Struct, frozen=True):
    """Every set of cards with which a dealer can finish from one open card, in how many orders, and on what."""

    sets: NDArray[np.int64]
    orders: NDArray[np.float64]
    ends: NDArray[np.int64]


@functools.cache
def _draws(open_points: int) -> _Draws:
    """Return the dealer's possible draws, found by adding one card at a time to those that must still draw."""
    open_sets: dict[Deck, int] = {(0,) * 10: 1}
    finished: dict[Deck, tuple[int, int]] = {}
    while open_sets:
        longer: dict[Deck, int] = {}
        for held, orders in open_sets.items():
            for index in range(10):
                if held[index] < FULL_DECK[index]:
                    more = (*held[:index], held[index] + 1, *held[index + 1 :])
                    longer[more] = longer.get(more, 0) + orders
        open_sets = {}
        for held, orders in longer.items():
            low = open_points + sum(points * count for points, count in enumerate(held, 1))
            points = _best_points(low, open_points == 1 or held[0] > 0)
            if points >= DEALER_STANDS_ON:
                finished[held] = (orders, min(points - DEALER_STANDS_ON, 5))
            else:
                open_sets[held] = orders
    return _Draws(
        np.array(list(finished)),
        np.array([float(orders) for orders, _ in finished.values()]),
        np.array([end for _, end in finished.values()]),
    )


@functools.cache
def _falling() -> NDArray[np.float64]:
    """Return a table of n (n-1) ... (n-k+1) for decks of up to 52 and draws of up to 17 cards."""
    return np.array([[float(math.perm(n, k)) for k in range(18)] for n in range(53)])


@functools.lru_cache(maxsize=100_000)
def _dealer(deck: Deck, open_points: int) -> tuple[float, ...]:
    """Return the chances that the dealer ends on 17, 18, 19, 20, 21 or past 21."""
    draws, falling = _draws(open_points), _falling()
    ways = falling[np.array(deck), draws.sets].prod(axis=1) * draws.orders
    chances = ways / falling[sum(deck), draws.sets.sum(axis=1)]
    return tuple(np.bincount(draws.ends, weights=chances, minlength=6).tolist())


def dealer_ends(seen: Sequence[Card], open_card: Card) -> tuple[float, ...]:
    """Return the chances of the dealer's final 17 to 21 and bust, given all seen cards (the open one included)."""
    points = points_of(open_card)
    return _dealer(unseen(seen), points)


def _stand_value(deck: Deck, points: int, open_points: int) -> float:
    ends = _dealer(deck, open_points)
    value = ends[5]
    for index in range(5):
        total = 17 + index
        value += ends[index] * ((points > total) - (points < total))
    return value


@functools.lru_cache(maxsize=100_000)
def _hit_value(deck: Deck, low: int, has_ace: bool, open_points: int) -> float:
    """Return the expected value of hitting, followed by the best play."""
    left = sum(deck)
    value = 0.0
    for points, count in enumerate(deck, 1):
        if low + points > LIMIT:
            value -= count / left
        elif count:
            value += (
                count / left * _best_value(_without(deck, points), low + points, has_ace or points == 1, open_points)
            )
    return value


def _best_value(deck: Deck, low: int, has_ace: bool, open_points: int) -> float:
    """Return the value of the better move, with two exact shortcuts.

    Standing below 17 wins only if the dealer busts, so a hit that cannot bust is never worse. And hitting can at best
    win whenever it does not bust, so where standing earns as much as that, the hit need not be worked out.
    """
    points = _best_points(low, has_ace)
    if low <= LIMIT - 10 and points < DEALER_STANDS_ON:
        return _hit_value(deck, low, has_ace, open_points)
    stand = _stand_value(deck, points, open_points)
    if stand >= 1 - 2 * _bust_risk(deck, low):
        return stand
    return max(_hit_value(deck, low, has_ace, open_points), stand)


def _bust_risk(deck: Deck, low: int) -> float:
    return sum(deck[max(0, LIMIT - low) :]) / sum(deck)


def odds(player: Sequence[Card], open_card: Card) -> Odds:
    """Return the exact odds of a hand that is not over."""
    seen = [*player, open_card]
    deck = unseen(seen)
    mine = [points_of(card) for card in player]
    low, shown = sum(mine), points_of(open_card)
    hit = _hit_value(deck, low, 1 in mine, shown)
    stand = _stand_value(deck, _best_points(low, 1 in mine), shown)
    left = sum(deck)
    bust = _bust_risk(deck, low)
    drawing = sum(
        count
        for points, count in enumerate(deck, 1)
        if _best_points(shown + points, 1 in (shown, points)) < DEALER_STANDS_ON
    )
    return Odds(bust, dealer_ends(seen, open_card)[5], drawing / left, hit, stand)


NEARLY = 0.02
"""Totals whose probability is at most this much below the highest count as the most likely one, too."""


class Facts(msgspec.Struct, frozen=True):
    """A decision: the player's card points (an ace is 1), the total, the open card's points, and the exact odds."""

    points: tuple[int, ...]
    total: Total
    shown: int
    exact: Odds
    pairs: dict[int, float]
    """The probability of each total of the dealer's two cards."""
    ends: tuple[float, ...]
    """The probabilities that the dealer ends on 17, 18, 19, 20, 21 or past 21."""

    @property
    def kind(self) -> str:
        """Soft or hard."""
        return "soft" if self.total.soft else "hard"

    @property
    def likeliest_pair(self) -> int:
        """The most likely total of the dealer's two cards."""
        return max(self.pairs, key=lambda total: (self.pairs[total], total))

    @property
    def likely_ends(self) -> tuple[int, ...]:
        """The most likely total on which the dealer ends without passing 21, then those that are nearly as likely."""
        best = max(range(5), key=lambda place: self.ends[place])
        near = [place for place in range(5) if place != best and self.ends[place] >= self.ends[best] - NEARLY]
        return tuple(DEALER_STANDS_ON + place for place in (best, *near))


def facts_of(player: Sequence[Card], open_card: Card) -> Facts:
    """Return the facts of a decision."""
    deck, shown = unseen([*player, open_card]), points_of(open_card)
    pairs: dict[int, float] = {}
    for hidden, count in enumerate(deck, 1):
        low = shown + hidden
        total = low + 10 if 1 in (shown, hidden) and low + 10 <= LIMIT else low
        if count:
            pairs[total] = pairs.get(total, 0.0) + count / sum(deck)
    points = tuple(points_of(card) for card in player)
    ends = dealer_ends([*player, open_card], open_card)
    return Facts(points, total_of(player), shown, odds(player, open_card), pairs, ends)


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
    "dealer_final_total": 0.551,
}
"""How often the best constant answer is right over all deals: 20, hard, 10 %, 10, 30.5 % and 20."""


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
        return (
            self
            if later is None
            else Fields(*(getattr(self if getattr(later, n) is None else later, n) for n in NAMES))
        )


_NUMBER = re.compile(r"\s*(\d{1,3}(?:\.\d{1,4})?)\s*(%|percent)?\s*(?:points?)?\s*", re.IGNORECASE)


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


LOWEST_SKILL = -1.0


def skill(miss: float | None, spread: float) -> float:
    """Return 1 − miss² ⁄ spread², or −1 if that is more or no chance was given: one reply cannot decide a mean.

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
    return FieldGrade(right, own, dealer)


# Where a server holds a reply to the schema, this keeps a model that repeats itself from never reaching its move.
LONGEST_BELIEF = 400
_BELIEF: dict[str, object] = {"type": "string", "maxLength": LONGEST_BELIEF}
_ACTION: dict[str, object] = {"type": "string", "enum": list(MOVES)}
_WHOLE: dict[str, object] = {"type": "integer"}
# With its sign, as in "31%": a bare 1 could be 1 % or certainty.
_PERCENT: dict[str, object] = {"type": "string", "maxLength": 20}


def _schema(**properties: dict[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


SCHEMA = _schema(self_belief=_BELIEF, external_belief=_BELIEF, action=_ACTION)
FULL_SCHEMA = _schema(
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


NAME = "egosocialarena/blackjack.jsonl"
LONGEST_MESSAGES = 20_000
"""The longest accepted text of a line's two messages; the official ones have a few hundred characters."""


class OfficialLine(msgspec.Struct, frozen=True):
    """One line: both messages unchanged, and the cards they name."""

    system: str
    user: str
    player: tuple[Card, ...]
    open_card: Card


class _Line(msgspec.Struct, frozen=True):
    system: str
    user: str


_OPEN = re.compile(r"dealer[^.{]*\bcard is \{([^}]*)\}", re.IGNORECASE)
_HELD = re.compile(r"\byour[^.{]*\bcards are \{([^}]*)\}", re.IGNORECASE)
_CARD = re.compile(r"(Spade|Heart|Diamond|Club)s? (10|[2-9JQKA])", re.IGNORECASE)


def read(path: Path) -> Iterator[OfficialLine]:
    """Return the lines of the file; a line whose cards cannot be read raises an error with file and line."""
    for number, line in read_lines(path, _Line, "an object with 'system' and 'user'"):
        yield _cards_of(line, path, number)


def _cards_of(line: _Line, path: Path, number: int) -> OfficialLine:
    if (length := len(line.system) + len(line.user)) > LONGEST_MESSAGES:
        raise DataError(f"the messages have {length:,} characters; at most {LONGEST_MESSAGES:,} are read", path, number)
    shown, held = (_CARD.findall(found[1]) if (found := part.search(line.user)) else [] for part in (_OPEN, _HELD))
    if len(shown) != 1 or len(held) < 2:
        raise DataError(
            f"found {len(shown)} open and {len(held)} own cards; the text must have 'The dealer current card is {{Heart"
            " 10}' and 'Your current cards are {Heart 9, Diamond A}'",
            path,
            number,
        )
    taken = [
        cards.RANKS.index(rank.upper().replace("10", "T")) * 4 + cards.SUITS.index(suit[0].upper())
        for suit, rank in (*held, *shown)
    ]
    if len(set(taken)) < len(taken):
        raise DataError("a card appears more often than a deck contains it", path, number)
    return OfficialLine(line.system, line.user, tuple(taken[:-1]), taken[-1])


DEFAULT_MOVE = "stand"
NO_MOVE = "none"
"""The reading of a reply to an official prompt that asks for beliefs only."""
AUTHORS_SAMPLING = Sampling(temperature=1.0, max_tokens=1024)
"""The sampling of the authors' script, which asks for one decision per deal (`--wording paper`)."""


class Hand(Item, frozen=True, kw_only=True):
    """A deal to play; official deals use the text of their own prompt and have one decision."""

    deal: Deal
    system: str = ""
    user: str = ""


class Decision(Struct, frozen=True):
    """What was seen, said and done at one decision; the action may be `NO_MOVE`."""

    player: tuple[Card, ...]
    open_card: Card
    statement: Statement
    action: str
    faults: Faults
    asked_fields: bool = False
    """Whether the graded fields were asked for; hands of the official file have none."""
    grades: tuple[float | None, float | None] | None = None
    """A judge's grades of both beliefs in sentences, from 0 to 100; None without a judge."""

    @property
    def incomplete(self) -> bool:
        """Whether a graded field was asked for and not given."""
        return self.asked_fields and bool((self.statement.fields or Fields()).missing())

    @property
    def moved(self) -> bool:
        """Whether a move was made, by the player or (after faults) by default."""
        return bool(self.statement.action) or self.faults.count > 0


class HandOutcome(Struct, frozen=True):
    """A hand played to its end: every decision, the cards of both, and the result (1 won, 0 drawn, -1 lost).

    There is no result where the player gave its beliefs and no move.
    """

    decisions: tuple[Decision, ...]
    player: tuple[Card, ...]
    dealer: tuple[Card, ...]
    result: int | None


def hands(source: Source) -> Iterator[Hand]:
    """The official deals if official data is requested, otherwise deals from the seed."""
    if source.official:
        for number, line in enumerate(read(source.path(NAME)), 1):
            rng = random.Random(f"blackjack official {number}")
            deal = new_deal(rng, line.player, line.open_card)
            yield Hand(id=f"blackjack-official-{number:03d}", deal=deal, system=line.system, user=line.user)
        return
    if is_paper(source.settings):
        raise UsageError(
            "the authors' words are part of their deals; --wording paper needs --official (task blackjack)."
        )
    for index in range(source.settings.whole("deals")):
        deal = new_deal(random.Random(f"blackjack deal {source.seed} {index}"))
        yield Hand(id=f"blackjack-{source.seed}-{index:03d}", deal=deal)


async def play_hand(item: Hand, session: Session) -> HandOutcome:
    """Ask at every decision for two beliefs and a move, until the player stands or passes 21."""
    state = State(item.deal)
    decisions: list[Decision] = []
    session.note("deal", yours=_words(state.player), open_card=cards.name(item.deal.open_card))
    while not state.over:
        decision = await _decide(item, state, session)
        decisions.append(decision)
        if not decision.moved or is_paper(session.settings):
            session.note("hand over", reason="one decision" if decision.moved else "beliefs without a move")
            return HandOutcome(tuple(decisions), tuple(state.player), tuple(state.dealer), None)
        state.apply(decision.action)
        if decision.action == "hit":
            session.note("card", yours=_words(state.player), total=total_of(state.player).points)
    session.note("hand over", dealer=_words(state.dealer), result=state.result())
    return HandOutcome(tuple(decisions), tuple(state.player), tuple(state.dealer), state.result())


async def _decide(item: Hand, state: State, session: Session) -> Decision:
    player, shown = tuple(state.player), item.deal.open_card
    legal = state.legal()
    # An official prompt fits only the cards it was written for, and only models.
    reworded = session.prompts.replaced("games/blackjack-decision-official")
    official_words = bool(item.user) and len(player) == len(item.deal.player) and not reworded
    messages = (
        [system(item.system), user(item.user)] if official_words else _messages(item, player, shown, legal, session)
    )
    said, exact = Statement("", "", "", ""), ideal(player, shown)

    def read(reply: Reply) -> Read[str]:
        nonlocal said
        said = _joined(said, read_statement(reply.text), legal)
        return _legal_move(said, legal, action_needed=not official_words, fields_needed=not item.user)

    move, faults = await ask_move(
        session,
        "subject",
        messages,
        Schema(SCHEMA, "statement", {key: value for key, value in exact.items() if key not in NAMES})
        if item.user
        else Schema(FULL_SCHEMA, "statement", exact),
        read,
        legal=", ".join(legal),
        default=None,
        sampling=AUTHORS_SAMPLING if is_paper(session.settings) else SAMPLING,
    )
    if move is None and said.action in legal:
        move, faults = said.action, msgspec.structs.replace(faults, defaulted=False)
    if move is None:
        session.note("default", role="subject", move=DEFAULT_MOVE)
    action = move or DEFAULT_MOVE
    facts = facts_of(player, shown)
    if not item.user:
        found = grade_fields(said.fields or Fields(), facts)
        wrong = [name for name, right in found.right.items() if not right]
        session.note("fields", right=len(found.right) - len(wrong), wrong=", ".join(wrong) or "none")
    session.note("move", action=action, best=facts.exact.best)
    grades = await _judged(item, player, said, session)
    return Decision(player, shown, said, action, faults, not item.user, grades)


async def _judged(
    item: Hand, player: tuple[Card, ...], said: Statement, session: Session
) -> tuple[float | None, float | None] | None:
    """The judge's grades of beliefs that have no fields; an empty belief has the lowest without asking."""
    if not item.user or not session.has_role("judge"):
        return None
    grades = [
        await judge_words(session, about, player, item.deal.open_card, words) if words.strip() else 0.0
        for about, words in (("self", said.self_belief), ("external", said.external_belief))
    ]
    session.note("judged", self_belief=grades[0], external_belief=grades[1])
    return grades[0], grades[1]


def _joined(first: Statement, second: Statement, legal: tuple[str, ...]) -> Statement:
    """The statement of two replies: what the second does not give counts from the first, a legal move included."""
    return Statement(
        second.self_belief or first.self_belief,
        second.external_belief or first.external_belief,
        second.action or (first.action if first.action in legal else ""),
        second.rule,
        second.fields if first.fields is None else first.fields.with_more(second.fields),
    )


def _legal_move(said: Statement, legal: tuple[str, ...], *, action_needed: bool, fields_needed: bool) -> Read[str]:
    missing = (said.fields or Fields()).missing() if fields_needed else ()
    if missing and (said.fields or said.self_belief or said.external_belief or said.action):
        return Read(None, "incomplete", missing)
    if said.action in legal:
        return Read(said.action)
    if said.action:
        return Read(None, "illegal")
    if not action_needed and (said.self_belief or said.external_belief):
        return Read(NO_MOVE)
    return Read(None, "unreadable")


def _messages(
    item: Hand, player: tuple[Card, ...], shown: Card, legal: tuple[str, ...], session: Session
) -> list[Message]:
    # A hand of the official file goes on in the paper's variant: two beliefs and a move.
    return [
        system(session.prompts.render("games/blackjack-system")),
        user(
            session.prompts.render(
                "games/blackjack-decision-official" if item.user else "games/blackjack-decision",
                hand=", ".join(spoken(card) for card in player),
                open=spoken(shown),
                legal=" or ".join(legal),
            )
        ),
    ]


def _words(held: list[Card]) -> str:
    return " ".join(cards.names(held))


HIGHEST_GRADE, RIGHT_ABOVE = 100, 85.0
"""The paper's scale, and its threshold: a grade above it counts as right."""


class _Answer(Struct, frozen=True):
    grade: float


def _dealer_facts(facts: Facts) -> str:
    worth = "1 or 11" if facts.shown == 1 else facts.shown
    return (
        f"the open card is worth {worth}; with the hidden card the dealer has {min(facts.pairs)} to "
        f"{max(facts.pairs)}, most likely {facts.likeliest_pair}; the dealer must draw with "
        f"{facts.exact.dealer_must_draw:.0%} and busts with {facts.exact.dealer_busts:.0%}; the dealer draws below 17 "
        "and stands on every 17."
    )


def read_grade(text: str) -> Read[float]:
    """Return the grade in a reply; one outside the scale is illegal."""
    reading = read_json(text, _Answer)
    if reading.value is None:
        return Read(None, "unreadable")
    return Read(reading.value.grade) if 0 <= reading.value.grade <= HIGHEST_GRADE else Read(None, "illegal")


async def judge_words(
    session: Session, about: str, player: tuple[Card, ...], open_card: Card, words: str
) -> float | None:
    """Ask the judge for the grade of a belief about the player's own hand (`self`) or the dealer's (`external`)."""
    facts, own = facts_of(player, open_card), about == "self"
    text = session.prompts.render(
        "games/blackjack-judge",
        highest=HIGHEST_GRADE,
        cards=", ".join(spoken(card) for card in player),
        open=spoken(open_card),
        facts=f"the total is a {facts.kind} {facts.total.points}; one more card busts with {facts.exact.bust_risk:.0%}."
        if own
        else _dealer_facts(facts),
        about="its own hand" if own else "the dealer",
        words=words,
        least="it must state the total, and with an ace how the ace counts."
        if own
        else "the open card, what the dealer may hold or must do now, or the dealer's chance to bust.",
    )
    schema = _schema(grade={"type": "integer", "minimum": 0, "maximum": HIGHEST_GRADE})
    grade, _ = await ask_move(
        session, "judge", [user(text)], Schema(schema, "grade", {"grade": HIGHEST_GRADE}),
        lambda reply: read_grade(reply.text),
        legal=f"a grade from 0 to {HIGHEST_GRADE}", default=None,
    )  # fmt: skip
    return grade


class Played(msgspec.Struct, frozen=True):
    """The action of one decision compared with the best one."""

    best: bool
    lost_value: float


def played(decision: Decision) -> Played:
    """Return how good the action of a decision is, by the exact odds."""
    exact = facts_of(decision.player, decision.open_card).exact
    values = {"hit": exact.hit, "stand": exact.stand}
    action = decision.action if decision.moved and not decision.faults.defaulted else None
    # rounded, so that a stored number does not depend on the processor that computed it
    lost = round(max(values.values()) - values[action], 6) if action in values else 0.0
    return Played(action == exact.best, lost)


def score(item: Hand, outcome: HandOutcome) -> Score:
    """Both beliefs at the first decision, as its fields state them, then the action of every decision and the result.

    Beliefs in sentences alone (hands of the official file) are right if a judge's grade is above the threshold of its
    scale; without a judge they have no value. Where beliefs came without a move there is no action to score, and no
    result.
    """
    decisions = outcome.decisions
    moved = [(played(decision), decision) for decision in decisions if decision.moved]
    legal = [one for one, decision in moved if not decision.faults.defaulted]
    values = {**_beliefs(decisions[0]), "faults": sum(one.faults.count for one in decisions) / len(decisions)}
    if moved:
        values["best_action"] = sum(one.best for one, _ in moved) / len(moved)
    if outcome.result is not None and len(moved) == len(decisions):
        values["result"] = float(outcome.result)
    if legal:
        values["lost_value"] = sum(one.lost_value for one in legal) / len(legal)
    total = total_of(decisions[0].player)
    unreadable = sum(decision.faults.defaulted or decision.incomplete for decision in decisions)
    replies = count_replies(how for decision in decisions for how in decision.faults.asked)
    facets = {"hand": "soft" if total.soft else "hard"}
    return Score(values=values, facets=facets, unreadable=unreadable, replies=replies)


def fields_of(decision: Decision) -> FieldGrade | None:
    """Return the grade of a decision's fields; None if they were not asked for."""
    if not decision.asked_fields:
        return None
    return grade_fields(decision.statement.fields or Fields(), facts_of(decision.player, decision.open_card))


def _beliefs(decision: Decision) -> dict[str, float]:
    fields = fields_of(decision)
    if fields is None:
        if decision.grades is None or None in decision.grades:
            return {}
        own, dealer = ((grade or 0) > RIGHT_ABOVE for grade in decision.grades)
        return {"right": float(own and dealer), "self_right": float(own), "external_right": float(dealer)}
    return {
        "right": float(fields.own_right and fields.dealer_right),
        "self_right": float(fields.own_right),
        "external_right": float(fields.dealer_right),
        "exact_fields": fields.exact_share,
        "own_skill": fields.own_skill,
        "dealer_skill": fields.dealer_skill,
    }


_MEASURES = (
    ("right", "accuracy"),
    ("self_right", "self_belief"),
    ("external_right", "external_belief"),
    ("exact_fields", "exact_fields"),
    ("own_skill", "own_chance"),
    ("dealer_skill", "dealer_chance"),
    ("best_action", "best_action"),
    ("lost_value", "lost_value"),
    ("result", "result"),
    ("faults", "faults_per_decision"),
)
_NO_SHARES = ("own_skill", "dealer_skill", "lost_value", "result", "faults")
_OF_FIELDS = ("right", "self_right", "external_right", "exact_fields", "own_skill", "dealer_skill")
"""Values that exist only for hands with fields."""


def summarise(run: RunView[Hand, HandOutcome]) -> Summary:
    """Beliefs, actions and results, overall and for soft and hard hands."""
    measures: list[Measure] = []
    origin = _origin(run)
    for value, name in _MEASURES:
        binary = False if value in _NO_SHARES else None
        overall, *by_hand = grouped_measures(run, value, name, by=["hand"], binary=binary)
        if value in _OF_FIELDS and not overall.items:
            continue
        if name == "accuracy" and overall.items:
            overall = msgspec.structs.replace(overall, note=f"deals: {origin}")
        measures += [overall, *by_hand]
    by_field = _field_table(run)
    notes = [f"Deals: {origin}."]
    if by_field is None and not any("right" in score.values for _, _, score in run.scored()):
        notes.insert(
            0,
            "Beliefs in sentences are stored and not graded. Add --role judge=MODEL, or let people grade them:"
            " 'sociometer egosocial grade RUN --to FILE'.",
        )
    return Summary(tuple(measures), (by_field,) if by_field else (), tuple(notes))


def _field_table(run: RunView[Hand, HandOutcome]) -> Table | None:
    """Return how often each field is right at the first decision; None if no field was asked for."""
    firsts = [outcome.decisions[0] for _, outcome, _ in run.scored()]
    grades = [found for found in map(fields_of, firsts) if found is not None]
    if not grades:
        return None
    rows = tuple((name, sum(one.right[name] for one in grades) / len(grades), BEST_CONSTANT[name]) for name in NAMES)
    columns = ("field", "right", "best constant")
    note = (
        f"Chances are right within {CHANCE_TOLERANCE:.0%}; own_chance and dealer_chance score them by a proper rule. "
        "The best constant is the answer that would be right most often over all deals."
    )
    units = {"right": "share", "best constant": "share"}
    return Table("fields", "Fields right at the first decision", columns, rows, note, units)


def _origin(run: RunView[Hand, HandOutcome]) -> str:
    """Return the number of deals from each source."""
    official = Counter("from the official file" if item.user else "from the seed" for item, _, _ in run.scored())
    return ", ".join(f"{count} {origin}" for origin, count in sorted(official.items())) or "none"
