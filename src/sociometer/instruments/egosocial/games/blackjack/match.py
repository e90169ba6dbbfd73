"""A hand of blackjack: its items (from a seed or the official file), the conversation, and the judge."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Message, Reply, Sampling, Schema, system, user
from sociometer.core.errors import DataError, UsageError
from sociometer.core.session import Session
from sociometer.core.settings import is_paper
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.asking import SAMPLING, Faults, Read, ask_move
from sociometer.instruments.egosocial.games.blackjack.odds import Facts, facts_of
from sociometer.instruments.egosocial.games.blackjack.rules import BlackjackDeal, BlackjackState, new_deal, total_of
from sociometer.instruments.egosocial.games.blackjack.statement import (
    FULL_SCHEMA,
    NAMES,
    SCHEMA,
    Fields,
    Statement,
    grade_fields,
    ideal,
    read_statement,
)
from sociometer.instruments.egosocial.games.cards import Card, spoken
from sociometer.reading import object_schema, read_json, read_lines

NAME = "egosocialarena/blackjack.jsonl"
LONGEST_MESSAGES = 20_000
"""The longest accepted text of a line's two messages; the official ones have a few hundred characters."""
_OPEN = re.compile(r"dealer[^.{]*\bcard is \{([^}]*)\}", re.IGNORECASE)
_HELD = re.compile(r"\byour[^.{]*\bcards are \{([^}]*)\}", re.IGNORECASE)
_CARD = re.compile(r"(Spade|Heart|Diamond|Club)s? (10|[2-9JQKA])", re.IGNORECASE)
DEFAULT_MOVE = "stand"
NO_MOVE = "none"
"""The reading of a reply to an official prompt that asks for beliefs only."""
AUTHORS_SAMPLING = Sampling(temperature=1.0, max_tokens=1024)
"""The sampling of the authors' script, which asks for one decision per deal (`--wording paper`)."""
HIGHEST_GRADE, RIGHT_ABOVE = 100, 85.0
"""The paper's scale, and its threshold: a grade above it counts as right."""


class OfficialLine(msgspec.Struct, frozen=True):
    """One line: both messages unchanged, and the cards they name."""

    system: str
    user: str
    player: tuple[Card, ...]
    open_card: Card


class _Line(msgspec.Struct, frozen=True):
    system: str
    user: str


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


class Hand(Item, frozen=True, kw_only=True):
    """A deal to play; official deals use the text of their own prompt and have one decision."""

    deal: BlackjackDeal
    system: str = ""
    user: str = ""

    @property
    def facets(self) -> dict[str, str]:
        """Whether the cards that the player is dealt have an ace that counts eleven."""
        return {"hand": "soft" if total_of(self.deal.player).soft else "hard"}


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


def matches(source: Source) -> Iterator[Hand]:
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


async def play_match(item: Hand, session: Session) -> HandOutcome:
    """Ask at every decision for two beliefs and a move, until the player stands or passes 21."""
    state = BlackjackState(item.deal)
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


async def _decide(item: Hand, state: BlackjackState, session: Session) -> Decision:
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

    plain = {key: value for key, value in exact.items() if key not in NAMES}
    schema = Schema(SCHEMA, "statement", plain) if item.user else Schema(FULL_SCHEMA, "statement", exact)
    move, faults = await ask_move(
        session,
        "subject",
        messages,
        schema,
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


class _Graded(Struct, frozen=True):
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
    reading = read_json(text, _Graded)
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
    schema = object_schema(grade={"type": "integer", "minimum": 0, "maximum": HIGHEST_GRADE})
    grade, _ = await ask_move(
        session,
        "judge",
        [user(text)],
        Schema(schema, "grade", {"grade": HIGHEST_GRADE}),
        lambda reply: read_grade(reply.text),
        legal=f"a grade from 0 to {HIGHEST_GRADE}",
        default=None,
    )
    return grade
