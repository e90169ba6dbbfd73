"""Experience for training: hands played by a learner that sometimes explores, with the shaped reward of its style."""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sociometer.instruments.egosocial.games.holdem.features import WIDTH, Features, features
from sociometer.instruments.egosocial.games.holdem.net import Net
from sociometer.instruments.egosocial.games.holdem.rules import CALL, FOLD, RAISE
from sociometer.instruments.egosocial.games.holdem.simulator import Policy, Table, choose, random_policy
from sociometer.instruments.egosocial.games.holdem.strength import IntArray

BoolArray = NDArray[np.bool_]


class Shaping(msgspec.Struct, frozen=True):
    """Chips added to the reward for each raise, call of a bet and fold to a bet, and how much a lost chip counts."""

    on_raise: float
    on_call: float
    on_fold: float
    lost_chip: float = 1.0


class Experience(msgspec.Struct, frozen=True):
    """The learner's decisions: what it saw, its action, its reward, and what it saw at its next one in the hand."""

    inputs: Features
    action: IntArray
    reward: Features
    following: Features
    may_raise: BoolArray
    last: BoolArray


class Memory:
    """The most recent decisions; the oldest are overwritten first."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.size, self.next = capacity, 0, 0
        self._inputs = np.zeros((capacity, WIDTH), dtype=np.float32)
        self._following = np.zeros((capacity, WIDTH), dtype=np.float32)
        self._action = np.zeros(capacity, dtype=np.int64)
        self._reward = np.zeros(capacity, dtype=np.float32)
        self._may_raise = np.zeros(capacity, dtype=bool)
        self._last = np.zeros(capacity, dtype=bool)

    def add(self, new: Experience) -> None:
        """Store new decisions and drop the oldest if there is no room."""
        slots = (self.next + np.arange(len(new.action))) % self.capacity
        for key, array in self.arrays().items():
            array[slots] = getattr(new, key)
        self.next = int((self.next + len(slots)) % self.capacity)
        self.size = min(self.size + len(slots), self.capacity)

    def sample(self, count: int, rng: np.random.Generator) -> Experience:
        """Return that many stored decisions, drawn with replacement."""
        slots = rng.integers(0, self.size, count)
        return Experience(**{key: array[slots] for key, array in self.arrays().items()})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays themselves, by the name of their field."""
        return {
            "inputs": self._inputs,
            "action": self._action,
            "reward": self._reward,
            "following": self._following,
            "may_raise": self._may_raise,
            "last": self._last,
        }

    def restore(self, stored: dict[str, NDArray[Any]]) -> None:
        """Fill the arrays from stored ones."""
        for key, array in self.arrays().items():
            array[:] = stored[key]


def collect(
    learner: Net, rival: Policy, hands: int, explore: float, shaping: Shaping, rng: np.random.Generator
) -> Experience:
    """Return the learner's decisions over that many hands in seat 0 against a rival."""
    table = Table.shuffled(rng, hands)
    parts: list[Experience] = []
    seen = np.zeros((hands, WIDTH), dtype=np.float32)
    action, reward = np.zeros(hands, dtype=np.int64), np.zeros(hands, dtype=np.float32)
    waiting = np.zeros(hands, dtype=bool)

    def keep(rows: IntArray, following: Features, may_raise: BoolArray, last: bool) -> None:
        ended = np.full(len(rows), last)
        parts.append(Experience(seen[rows], action[rows], reward[rows].copy(), following, may_raise, ended))

    while len(rows := table.open_rows()):
        actors = table.actor[rows]
        mine, theirs = rows[actors == 0], rows[actors == 1]
        if len(mine):
            now, can = features(table, mine), table.may_raise(mine)
            before = waiting[mine]
            keep(mine[before], now[before], can[before], last=False)
            wild = rng.random(len(mine)) < explore
            chosen = np.where(wild, choose(random_policy(table, mine), rng), _greedy(learner, now, can))
            seen[mine], action[mine], waiting[mine] = now, chosen, True
            reward[mine] = _bonus(shaping, chosen, table.to_call(mine) > 0)
            table.step(mine, chosen)
        if len(theirs):
            table.step(theirs, choose(rival(table, theirs), rng))
    rows = np.flatnonzero(waiting)
    won = table.payoffs()[rows]
    reward[rows] += np.where(won < 0, won * shaping.lost_chip, won)
    keep(rows, np.zeros((len(rows), WIDTH), dtype=np.float32), np.ones(len(rows), dtype=bool), last=True)
    joined = {key: np.concatenate([getattr(part, key) for part in parts]) for key in Experience.__struct_fields__}
    return Experience(**joined)


def _greedy(learner: Net, inputs: Features, may_raise: BoolArray) -> IntArray:
    values = learner.values(inputs)
    values[~may_raise, RAISE] = -np.inf
    best: IntArray = values.argmax(axis=1)
    return best


def _bonus(shaping: Shaping, action: IntArray, facing_bet: BoolArray) -> Features:
    """Return the shaped part of the reward: folds and calls count only if there was a bet to call."""
    bonus = np.zeros(len(action), dtype=np.float32)
    bonus[action == RAISE] = shaping.on_raise
    bonus[(action == CALL) & facing_bet] = shaping.on_call
    bonus[(action == FOLD) & facing_bet] = shaping.on_fold
    return bonus
