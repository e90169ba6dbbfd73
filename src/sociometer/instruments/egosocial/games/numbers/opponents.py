"""The opponents of number guessing: the paper's steady rules, and a family from which a seed draws.

A drawn opponent opens with its own number and then follows a rule from the numbers of the last round to its next one,
always a whole number.
"""

import functools
import random
from collections.abc import Callable, Sequence

import msgspec

from sociometer.instruments.egosocial.games.numbers.rules import FACTOR, HIGHEST, LOWEST, MIDDLE, Round, clamp

Choosing = Callable[[Sequence[Round]], float]
DRAWN = "drawn"
"""No single rule: opponents drawn from the family by the seed."""
KINDS = ("constant", "slope", "factor", "reply", "noisy", "switching", "modelling")
"""The kinds of opponents, in the order in which a run draws them; all are equally likely."""
STEPS = (-8, -6, -5, -4, -3, -2, 2, 3, 4, 5, 6, 8)
FACTORS = (0.75, 0.8, 0.85, 0.9, 1.1, 1.15)
DEPTHS = (1, 2, 3)
MIXTURES = ((0, 1), (1, 2), (0, 2))
SHARES = (0.8, 1.0, 1.2)
OFFSETS = (0, 6, 12, 18)
NOISES = (1, 2, 3)
SWITCHES = (3, 4, 5, 6, 7)
_STEP = FACTOR / (2 - FACTOR)
# Far enough from both ends that ten rounds of a slope or a factor do not run into them.
_ROUNDS = 10
Chances = dict[int, float]


def constant(rounds: Sequence[Round]) -> float:
    """Always choose 50 (the paper's level 1)."""
    return MIDDLE


def descending(rounds: Sequence[Round]) -> float:
    """Choose 50, 45, 40 and so on down (the paper's level 2)."""
    return clamp(MIDDLE - 5 * len(rounds))


def copying(rounds: Sequence[Round]) -> float:
    """Choose the last round's target, starting with 50 (the paper's level 3)."""
    return clamp(round(rounds[-1].gold, 2)) if rounds else MIDDLE


LEVELS: dict[str, Choosing] = {"level-1": constant, "level-2": descending, "level-3": copying}
"""The paper's opponents."""


class Rule(msgspec.Struct, frozen=True):
    """How the next number follows from the last round.

    `stay` repeats the last number, `slope` adds `by`, `factor` multiplies by `by`; `reply` takes the other's last
    number and `copy` the last target, times `by`, plus `plus`. A reply with `other` chooses between the factors
    `by` and `other` at random each round. `trend` and `mean` reply to the number that they expect of the other: one
    step further from the last two, or the mean of all.
    """

    kind: str
    by: float = 0.0
    plus: int = 0
    other: float | None = None


class Drawn(msgspec.Struct, frozen=True):
    """An opponent: its first number, its rule, how far it strays, and the rule that replaces it after some rounds."""

    kind: str
    start: int
    rule: Rule
    noise: int = 0
    second: Rule | None = None
    switch_after: int = 0


def _whole(number: float) -> int:
    return int(clamp(int(number + 0.5)))


@functools.cache
def rules_of(kind: str) -> tuple[Rule, ...]:
    """Return the rules of a simple kind, all equally likely within it."""
    if kind == "constant":
        return (Rule("stay"),)
    if kind == "slope":
        return tuple(Rule("slope", step) for step in STEPS)
    if kind == "factor":
        return tuple(Rule("factor", by) for by in FACTORS)
    if kind == "modelling":
        return tuple(Rule(how, _STEP**depth, plus) for how in ("trend", "mean") for depth in (1, 2) for plus in OFFSETS)
    replies = [Rule("reply", _STEP**depth, plus) for depth in DEPTHS for plus in OFFSETS]
    copies = [Rule("copy", share, plus) for share in SHARES for plus in OFFSETS]
    return (*replies, *copies)


@functools.cache
def members(kind: str) -> tuple[tuple[Drawn, float], ...]:
    """Return every member of a kind with its probability within the kind; the first number is left open (0)."""
    if kind == "noisy":
        simple = [(rule, 1 / (3 * len(rules_of(base)))) for base in KINDS[:3] for rule in rules_of(base)]
        return tuple((Drawn(kind, 0, rule, noise), share / len(NOISES)) for rule, share in simple for noise in NOISES)
    if kind == "switching":
        simple = [(rule, 1 / (4 * len(rules_of(base)))) for base in KINDS[:4] for rule in rules_of(base)]
        same = sum(1 / (16 * len(rules_of(base))) for base in KINDS[:4])
        return tuple(
            (Drawn(kind, 0, rule, 0, second, after), one * two / (1 - same) / len(SWITCHES))
            for rule, one in simple
            for second, two in simple
            if rule != second
            for after in SWITCHES
        )
    mixtures = [Rule("reply", _STEP**one, plus, _STEP**two) for one, two in MIXTURES for plus in OFFSETS]
    rules = (*rules_of(kind), *(mixtures if kind == "reply" else ()))
    return tuple((Drawn(kind, 0, rule), 1 / len(rules)) for rule in rules)


def starts_of(rule: Rule) -> range:
    """Return the possible first numbers of a rule, all equally likely."""
    if rule.kind == "slope":
        way = abs(int(rule.by)) * (_ROUNDS - 1)
        return range(int(LOWEST) + way, int(HIGHEST) + 1) if rule.by < 0 else range(2, int(HIGHEST) + 1 - way)
    if rule.kind == "factor":
        return range(60, 101) if rule.by < 1 else range(8, 25)
    return range(10, 91)


def draw(kind: str, rng: random.Random) -> Drawn:
    """Return a member of a kind, drawn with its probability."""
    every = members(kind)
    chosen = rng.choices([one for one, _ in every], [share for _, share in every])[0]
    return msgspec.structs.replace(chosen, start=rng.choice(starts_of(chosen.rule)))


def next_chances(opponent: Drawn, rounds: Sequence[Round]) -> Chances:
    """Return the probabilities of an opponent's next number; rounds are seen from its side."""
    if not rounds:
        return _strayed({opponent.start: 1.0}, opponent.noise)
    switched = opponent.second is not None and len(rounds) >= opponent.switch_after
    rule = opponent.second if switched and opponent.second else opponent.rule
    if opponent.noise:
        # The rule goes on from the number it meant, not from the one it strayed to.
        number = opponent.start
        for _ in rounds:
            number = _follow(rule, number, rounds)
        return _strayed({number: 1.0}, opponent.noise)
    own = int(rounds[-1].mine)
    if rule.other is None:
        return {_follow(rule, own, rounds): 1.0}
    chances: Chances = {}
    for by in (rule.by, rule.other):
        number = _whole(rounds[-1].theirs * by + rule.plus)
        chances[number] = chances.get(number, 0.0) + 0.5
    return chances


def _follow(rule: Rule, own: int, rounds: Sequence[Round]) -> int:
    if rule.kind == "stay":
        return own
    if rule.kind == "slope":
        return _whole(own + rule.by)
    if rule.kind == "factor":
        return _whole(own * rule.by)
    return _whole(_answered(rule.kind, rounds) * rule.by + rule.plus)


def _answered(kind: str, rounds: Sequence[Round]) -> float:
    """The number that a rule replies to: shown in the last round, or expected of the other in the next."""
    if kind == "copy":
        return rounds[-1].gold
    theirs = [one.theirs for one in rounds]
    if kind == "mean":
        return sum(theirs) / len(theirs)
    return clamp(2 * theirs[-1] - theirs[-2]) if kind == "trend" and theirs[1:] else theirs[-1]


def _strayed(chances: Chances, noise: int) -> Chances:
    if not noise:
        return chances
    spread: Chances = {}
    for number, chance in chances.items():
        for stray in range(-noise, noise + 1):
            at = int(clamp(number + stray))
            spread[at] = spread.get(at, 0.0) + chance / (2 * noise + 1)
    return spread


def next_number(opponent: Drawn, rounds: Sequence[Round], rng: random.Random) -> float:
    """Return an opponent's next number."""
    chances = next_chances(opponent, rounds)
    return float(rng.choices(list(chances), list(chances.values()))[0])
