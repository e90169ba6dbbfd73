"""A round of visits: what people may wish for, what each choice does, and the exact value of every choice.

Each person is won over by one of the things that can be promised. What is said leaves some of them possible, all
equally likely, so a belief is a set, and the chance of reaching the target follows by dynamic programming.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LISTEN, LEAVE = -1, -2
"""The choices besides promising a thing, which is a number from zero."""
TRIES = 2
"""How many wrong promises an outspoken person hears before the talk is over."""
UNIT = 100
"""All sums of money are multiples of it."""
Values = NDArray[np.float32]
"""The chance of reaching the target, by how many units are missing and which things are already promised (as bits)."""


class Policy(Enum):
    """How a visitor chooses: for the target, for the highest sum that can be expected, or at random."""

    BEST = "best"
    RICHEST = "richest"
    RANDOM = "random"


class Visited(NamedTuple):
    """Somebody to visit."""

    worth: int
    frank: bool
    """Whether they say so if a promise does not suit them; others thank you, and nothing comes of it."""
    known: int
    """The wishes that are possible before the visit, as bits."""
    slow: bool = False
    """Whether agreeing with them takes another turn."""
    bars: frozenset[int] = frozenset()
    """The places of later people who want nothing to do with it once this one agrees."""


class Plan(NamedTuple):
    """Something that is worth more if all of several people agree, and nothing if one of them does not."""

    worth: int
    members: frozenset[int]
    """The places of these people in the round."""


class State(NamedTuple):
    """Where a round is, apart from what was promised."""

    place: int
    """The number of the person you are with."""
    left: int
    """How often you can still speak."""
    mind: int
    """The wishes that this person may have, as bits."""
    alive: frozenset[int]
    """The plans that can still come off, with somebody still to ask."""
    barred: frozenset[int] = frozenset()
    """The places of later people who are not called on any more."""
    refused: int = 0


class Hint(NamedTuple):
    """What is said about a wish: that it is not this kind, or that it belongs to this theme."""

    kind: int | None = None
    theme: int | None = None


class Turn(NamedTuple):
    """One way in which a choice may turn out; `promised`: the thing is promised from now on."""

    what: str
    """heard, agrees, thanks, refuses, ends, taken (promised to somebody else; excuses cost a turn) or left"""
    chance: float
    state: State
    gain: int = 0
    promised: bool = False
    hint: Hint | None = None


def bits(mind: int) -> list[int]:
    """The members of a set."""
    return [kind for kind in range(mind.bit_length()) if mind >> kind & 1]


class Round:
    """A round of visits with its exact solution for every target up to the highest.

    `themes` has the theme of each thing that can be promised.
    """

    def __init__(
        self,
        people: tuple[Visited, ...],
        themes: tuple[int, ...],
        decisions: int,
        plans: tuple[Plan, ...] = (),
        highest: int = 0,
    ) -> None:
        self.people, self.themes, self.decisions, self.plans = people, themes, decisions, plans
        self.choices = (*range(len(themes)), LISTEN, LEAVE)
        self._sets, self._missing = np.arange(1 << len(themes)), np.arange(highest // UNIT + 1)
        self._end = np.repeat((self._missing == 0).astype(np.float32)[:, None], len(self._sets), axis=1)
        self._solved: dict[tuple[State, Policy], Values] = {}

    @property
    def start(self) -> State:
        return State(0, self.decisions, self.people[0].known, frozenset(range(len(self.plans))))

    def odds(self, target: int, policy: Policy = Policy.BEST) -> float:
        """The chance of reaching a target from the start."""
        return float(self.solve(self.start, policy)[target // UNIT, 0])

    def over(self, state: State) -> bool:
        return state.place == len(self.people) or state.left == 0

    def told(self, mind: int) -> list[tuple[Hint | None, float, int]]:
        """What may be said about a wish, its chance, and what is possible after it.

        Everything that is new is equally likely: each thing that the wish is not, and its theme.
        """
        kinds = bits(mind)
        if len(kinds) == 1:
            return [(None, 1.0, mind)]
        themes = {theme: sum(1 << kind for kind in kinds if self.themes[kind] == theme) for theme in set(self.themes)}
        parts = {theme: part for theme, part in themes.items() if part}
        after = {Hint(kind=kind): mind & ~(1 << kind) for kind in kinds}
        if len(parts) > 1:
            after |= {Hint(theme=theme): part for theme, part in parts.items()}
        ways = len(kinds) - 1 + (len(parts) > 1)
        return [(hint, rest.bit_count() / len(kinds) / ways, rest) for hint, rest in after.items()]

    def turns(self, state: State, choice: int, *, taken: bool = False) -> Iterator[Turn]:
        """All ways in which a choice may turn out; `taken`: the thing is already promised to somebody."""
        person = self.people[state.place]
        if choice == LISTEN:
            for hint, chance, mind in self.told(state.mind):
                yield Turn("heard", chance, state._replace(left=state.left - 1, mind=mind), hint=hint)
            return
        onward = self._onward(state)
        if choice == LEAVE:
            yield Turn("left", 1.0, onward)
            return
        if taken:
            yield Turn("taken", 1.0, onward._replace(left=max(0, onward.left - 1)))
            return
        fits = (state.mind >> choice & 1) / state.mind.bit_count()
        if fits:
            after = self._onward(state, agreed=True)
            plans = [self.plans[plan] for plan in state.alive]
            gain = person.worth + sum(plan.worth for plan in plans if max(plan.members) == state.place)
            yield Turn("agrees", fits, after, gain, promised=True)
        if fits < 1 and not person.frank:
            yield Turn("thanks", 1 - fits, onward, promised=True)
        elif fits < 1 and state.refused + 1 == TRIES:
            yield Turn("ends", 1 - fits, onward)
        elif fits < 1:
            rest = state.mind & ~(1 << choice)
            refused = state._replace(left=state.left - 1, mind=rest, refused=state.refused + 1)
            yield Turn("refuses", 1 - fits, refused)

    def _onward(self, state: State, *, agreed: bool = False) -> State:
        """The state at the next person's door; a plan is over with its last member, or when one does not agree."""
        person, place = self.people[state.place], state.place + 1
        barred = state.barred | person.bars if agreed else state.barred
        lost = barred if agreed else barred | {state.place}
        alive = frozenset(
            plan
            for plan in state.alive
            if max(self.plans[plan].members) > state.place and not self.plans[plan].members & lost
        )
        while place in barred:
            place += 1
        known = self.people[place].known if place < len(self.people) else 0
        left = max(0, state.left - 1 - (agreed and person.slow))
        return State(place, left, known, alive, frozenset(who for who in barred if who > place))

    def value(self, state: State, choice: int, policy: Policy = Policy.BEST) -> Values:
        """The chances after a choice if every later one follows a policy."""
        found = np.zeros_like(self._end)
        for turn in self.turns(state, choice):
            after = self.solve(turn.state, policy)
            if turn.promised:
                after = after[:, self._sets | 1 << choice]
            if turn.gain:
                after = after[np.maximum(self._missing - turn.gain // UNIT, 0)]
            found += np.float32(turn.chance) * after
        if choice >= 0:
            (left,) = self.turns(state, choice, taken=True)
            found = np.where(self._sets >> choice & 1, self.solve(left.state, policy), found)
        return found

    def solve(self, state: State, policy: Policy = Policy.BEST) -> Values:
        """The chances from here if every choice follows a policy."""
        if self.over(state):
            return self._end
        if (state, policy) not in self._solved:
            self._solved[state, policy] = self._follow(state, policy)
        return self._solved[state, policy]

    def _follow(self, state: State, policy: Policy) -> Values:
        found: Values
        if policy is Policy.RANDOM:  # it does not use what it hears
            values = [self.value(state, choice, policy) for choice in self.choices if choice != LISTEN]
            found = np.mean([*values, self.solve(state._replace(left=state.left - 1), policy)], axis=0)
            return found
        # a promise that cannot fit is never better than leaving, and neither is hearing nothing new
        unsure = [LISTEN] if state.mind.bit_count() > 1 else []
        found = np.array([self.value(state, choice, policy) for choice in (*bits(state.mind), *unsure, LEAVE)])
        if policy is Policy.BEST:
            found = found.max(axis=0)
            return found
        # the sum that can be expected is the sum of the chances of each unit
        richest = found[:, 1:].sum(axis=1).argmax(axis=0)
        return found[richest, :, self._sets].T
