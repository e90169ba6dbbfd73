"""One hand of blackjack: the items (from a seed or the official file), the conversation and its outcome."""

import random
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from sociometer.core.conversation import Message, Reply, Sampling, Schema, system, user
from sociometer.core.errors import DataError, UsageError
from sociometer.core.session import Session
from sociometer.core.settings import is_paper
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.asking import SAMPLING, Faults, Read, ask_move
from sociometer.instruments.egosocial.games.blackjack import official
from sociometer.instruments.egosocial.games.blackjack.facts import facts_of
from sociometer.instruments.egosocial.games.blackjack.fields import Fields, grade_fields
from sociometer.instruments.egosocial.games.blackjack.grading import Grade, grade
from sociometer.instruments.egosocial.games.blackjack.rules import Deal, State, new_deal, total_of
from sociometer.instruments.egosocial.games.blackjack.statement import (
    FULL_SCHEMA,
    SCHEMA,
    Statement,
    ideal,
    paper_ideal,
    read_statement,
)
from sociometer.instruments.egosocial.games.cards import Card

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
    """What was seen, said and done at one decision, with the grade of every claim; the action may be `NO_MOVE`."""

    player: tuple[Card, ...]
    open_card: Card
    statement: Statement
    action: str
    faults: Faults
    grade: Grade
    asked_fields: bool = False
    """Whether the graded fields were asked for; hands of the official file, and of earlier versions, have none."""

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
        for number, line in enumerate(official.read(_official_file(source)), 1):
            rng = random.Random(f"blackjack official {number}")
            deal = new_deal(rng, line.player, line.open_card)
            yield Hand(id=f"blackjack-official-{number:03d}", deal=deal, system=line.system, user=line.user)
        return
    if is_paper(source.settings):
        raise UsageError(
            "the authors' words are part of their deals; --wording paper needs --official (task blackjack)."
        )
    count = source.settings.whole("deals")
    if count < 1:
        raise UsageError(f"--deals is {count}; it must be 1 or more.")
    for index in range(count):
        deal = new_deal(random.Random(f"blackjack deal {source.seed} {index}"))
        yield Hand(id=f"blackjack-{source.seed}-{index:03d}", deal=deal)


def _official_file(source: Source) -> Path:
    try:
        return source.path(official.NAME)
    except DataError as error:
        raise DataError(
            f"{error} Deals from the seed need no --official. To play other official tasks, name them: "
            "--task tomi, --task tombench, --task counterfactual-official."
        ) from None


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
    # An official prompt fits only the cards it was written for.
    official_words = bool(item.user) and len(player) == len(item.deal.player)
    messages = (
        [system(item.system), user(item.user)] if official_words else _messages(item, player, shown, legal, session)
    )
    statements: list[Statement] = []

    def read(reply: Reply) -> Read[str]:
        statements.append(read_statement(reply.text))
        return _legal_move(statements[-1], legal, action_needed=not official_words)

    move, faults, _ = await ask_move(
        session,
        "subject",
        messages,
        Schema(SCHEMA, "statement", paper_ideal(player, shown))
        if item.user
        else Schema(FULL_SCHEMA, "statement", ideal(player, shown)),
        read,
        legal=", ".join(legal),
        default=DEFAULT_MOVE,
        sampling=AUTHORS_SAMPLING if is_paper(session.settings) else SAMPLING,
    )
    # Beliefs count from the reply that gave them: a second reply that holds only a move does not erase the first.
    spoken_of = [one for one in statements if one.self_belief or one.external_belief or one.fields]
    said = spoken_of[-1] if spoken_of else statements[-1]
    action = move or DEFAULT_MOVE
    chosen = None if faults.defaulted or action == NO_MOVE else action
    graded = grade(player, shown, said.self_belief, said.external_belief, chosen)
    for one in graded.claims:
        session.note("claim", about=one.claim.kind, verdict=one.verdict, fact=one.fact, quote=one.claim.quote)
    if not item.user:
        found = grade_fields(said.fields or Fields(), facts_of(player, shown))
        wrong = [name for name, right in found.right.items() if not right]
        session.note("fields", right=len(found.right) - len(wrong), wrong=", ".join(wrong) or "none")
    session.note("move", action=action, best=graded.best)
    return Decision(player, shown, said, action, faults, graded, asked_fields=not item.user)


def _legal_move(said: Statement, legal: tuple[str, ...], *, action_needed: bool) -> Read[str]:
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


_RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king", "ace")
_SUITS = ("spades", "hearts", "diamonds", "clubs")


def spoken(card: Card) -> str:
    """Return a card's name in words."""
    return f"{_RANKS[cards.rank_of(card)]} of {_SUITS[cards.suit_of(card)]}"


def _words(held: list[Card]) -> str:
    return " ".join(cards.names(held))
