"""The part of a hand that one player may see: its own cards, the open cards and the betting."""

import msgspec
import numpy as np

from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.cards import Card
from sociometer.instruments.egosocial.games.holdem.rules import CALL, FOLD, RAISE, STREETS, Deal, Move, State
from sociometer.instruments.egosocial.games.holdem.simulator import Table

CODES = {"fold": FOLD, "call": CALL, "check": CALL, "raise": RAISE}
_SPOKEN = {"fold": "folds", "call": "calls", "check": "checks", "raise": "raises"}


class Observation(msgspec.Struct, frozen=True):
    """A hand in progress as the player to act sees it."""

    seat: int
    button: int
    hole: tuple[Card, Card]
    board: tuple[Card, ...]
    invested: tuple[int, int]
    legal: tuple[str, ...]
    moves: tuple[Move, ...]


def observe(state: State) -> Observation:
    """Return what the player to act sees."""
    return Observation(
        seat=state.actor,
        button=state.deal.button,
        hole=state.deal.hole[state.actor],
        board=state.board,
        invested=(state.invested[0], state.invested[1]),
        legal=state.legal(),
        moves=tuple(state.moves),
    )


def story(moves: tuple[Move, ...], street: int = 0) -> str:
    """Return the betting so far in words, street by street, up to the street that is being played."""
    parts: list[str] = []
    for index, name in enumerate(STREETS):
        here = [move for move in moves if move.street == name]
        if here or index <= street:
            parts.append(f"{name.capitalize()}.")
            parts += [f"Player {move.player} {_SPOKEN[move.action]}." for move in here]
    return " ".join(parts)


def street_of(board: tuple[Card, ...]) -> int:
    """Return which street so many open cards belong to."""
    return {0: 0, 3: 1, 4: 2, 5: 3}[len(board)]


def table_of(seen: Observation) -> Table:
    """Return the hand as a table of one row, the unseen cards filled in by stand-ins that no feature reads."""
    spare = [card for card in range(cards.DECK_SIZE) if card not in (*seen.hole, *seen.board)]
    other = (spare[0], spare[1])
    hole = (seen.hole, other) if seen.seat == 0 else (other, seen.hole)
    board = (*seen.board, *spare[2 : 7 - len(seen.board)])
    table = Table.of([Deal(hole, board, seen.button)])
    for move in seen.moves:
        table.step(np.array([0]), np.array([CODES[move.action]]))
    return table
