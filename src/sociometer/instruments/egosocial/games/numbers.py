"""Number guessing: rules, steady and drawn opponents, the match, its score and its figures.

Both players aim at 0.8 times the average of their numbers. A drawn opponent opens with its own number and then
follows a rule from the numbers of the last round to its next one, always a whole number. The rules and their
probabilities are defined only here: `draw` samples from them, and the learner (`forecasts`) weighs every member.
"""

import functools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Message, Schema, system, user
from sociometer.core.measure import Cell, Figure, Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import AnyRun, Item, RunView, Score
from sociometer.instruments.egosocial.games.asking import Faults, Read, ask_move, refuse_other_opponents
from sociometer.instruments.egosocial.games.game import IllegalMove, reached
from sociometer.reading import read_json
from sociometer.statistics.charts import CurvePoint, curve_chart
from sociometer.statistics.measures import grouped_measures

LOWEST, HIGHEST = 1.0, 100.0
FACTOR = 0.8
MIDDLE = 50.0

# The paper does not say how near a prediction of a broken number must come. Half a step is the tightest
# tolerance under which whole-number predictions can be right at all.
TOLERANCE = 0.5


class Round(msgspec.Struct, frozen=True):
    """What both players chose in one round."""

    mine: float
    theirs: float

    @property
    def gold(self) -> float:
        """The number both were aiming at."""
        return FACTOR * (self.mine + self.theirs) / 2

    def seen_from_the_other_side(self) -> "Round":
        """Return the same round as the second player sees it."""
        return Round(self.theirs, self.mine)


class State:
    """A match in progress: the rounds so far and how many there will be."""

    __slots__ = ("length", "rounds")

    def __init__(self, length: int) -> None:
        self.length = length
        self.rounds: list[Round] = []

    @property
    def over(self) -> bool:
        """Whether all rounds were played."""
        return len(self.rounds) == self.length

    def apply(self, mine: float, theirs: float) -> Round:
        """Play one round with both players' numbers."""
        for number in (mine, theirs):
            if not is_legal(number):
                raise IllegalMove(f"illegal number {number:g}; choose from {LOWEST:g} to {HIGHEST:g}")
        if self.over:
            raise IllegalMove(f"all {self.length} rounds are played; start another match")
        self.rounds.append(Round(mine, theirs))
        return self.rounds[-1]


def is_legal(number: float) -> bool:
    """Return whether a number may be chosen."""
    return LOWEST <= number <= HIGHEST


def clamp(number: float) -> float:
    """Return the nearest number that may be chosen."""
    return min(max(number, LOWEST), HIGHEST)


def format_number(number: float) -> str:
    """Return a number as both players see it, with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


Choosing = Callable[[Sequence[Round], random.Random], float]


def constant(rounds: Sequence[Round], rng: random.Random) -> float:
    """Always choose 50 (the paper's level 1)."""
    return MIDDLE


def descending(rounds: Sequence[Round], rng: random.Random) -> float:
    """Choose 50, 45, 40 and so on down (the paper's level 2)."""
    return clamp(MIDDLE - 5 * len(rounds))


def copying(rounds: Sequence[Round], rng: random.Random) -> float:
    """Choose the last round's target, starting with 50 (the paper's level 3)."""
    return clamp(round(rounds[-1].gold, 2)) if rounds else MIDDLE


def reasoning(depth: int) -> Choosing:
    """Return a level-k player: it expects the other to repeat its last number and answers `depth` steps ahead.

    One step is the best reply to a number x, which is the y with y = 0.8 (x + y) / 2, so y = 2x / 3.
    """
    share = (FACTOR / (2 - FACTOR)) ** depth
    return lambda rounds, rng: clamp(round((rounds[-1].theirs if rounds else MIDDLE) * share, 2))


def noisy(base: Choosing) -> Choosing:
    """Return a rule that deviates from another by a whole number of at most three."""
    return lambda rounds, rng: clamp(base(rounds, rng) + rng.randint(-3, 3))


DRAWN = "drawn"
"""No single rule: opponents drawn from the family by the seed."""
LEVELS = ("level-1", "level-2", "level-3")
"""The paper's opponents; the others are for users who train models, since these are held out for the test."""
OPPONENTS: dict[str, Choosing] = {
    "level-1": constant,
    "level-2": descending,
    "level-3": copying,
    "reasoning-1": reasoning(1),
    "reasoning-2": reasoning(2),
    "noisy-1": noisy(constant),
    "noisy-2": noisy(descending),
    "switching": lambda rounds, rng: (constant if len(rounds) < 5 else descending)(rounds, rng),
}


def choose(name: str, rounds: Sequence[Round], rng: random.Random) -> float:
    """Return the next number of the named opponent; rounds are seen from its side."""
    return OPPONENTS[name](rounds, rng)


def is_right(prediction: float | None, actual: float, tolerance: float = TOLERANCE) -> bool:
    """Return whether a prediction hits a number; an absent one never does.

    A prediction halfway between two whole numbers names neither of them: it would hit both.
    """
    if prediction is None:
        return False
    away = abs(prediction - actual)
    return away < tolerance if actual == int(actual) else away <= tolerance


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


Chances = dict[int, float]


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
        return tuple(
            (Drawn(kind, 0, rule, 0, second, after), one * two / (1 - _same()) / len(SWITCHES))
            for rule, one in simple
            for second, two in simple
            if rule != second
            for after in SWITCHES
        )
    mixtures = [Rule("reply", _STEP**one, plus, _STEP**two) for one, two in MIXTURES for plus in OFFSETS]
    rules = (*rules_of(kind), *(mixtures if kind == "reply" else ()))
    return tuple((Drawn(kind, 0, rule), 1 / len(rules)) for rule in rules)


def _same() -> float:
    """The chance that two rules drawn one after the other are the same."""
    return sum(1 / (16 * len(rules_of(base))) for base in KINDS[:4])


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


def every_member() -> Iterator[tuple[Drawn, float]]:
    """Return all members of the family with their probabilities; the first number is left open (0)."""
    for kind in KINDS:
        for member, share in members(kind):
            yield member, share / len(KINDS)


_KEPT = 1e-12


class Forecast(msgspec.Struct, frozen=True):
    """What the learner expects of one round: the probability of every number."""

    chances: tuple[tuple[int, float], ...]

    @property
    def mode(self) -> int:
        """The most likely number, the lowest of several."""
        return max(self.chances, key=lambda one: (one[1], -one[0]))[0]

    @property
    def hit_rate(self) -> float:
        """The probability of the most likely number."""
        return max(chance for _, chance in self.chances)

    @property
    def median(self) -> int:
        """The prediction with the smallest expected error."""
        return min((number for number, _ in self.chances), key=lambda number: (round(self.error(number), 9), number))

    def error(self, prediction: float) -> float:
        """Return the absolute error that a prediction can expect."""
        return sum(chance * abs(number - prediction) for number, chance in self.chances)

    def regret(self, prediction: float | None) -> float:
        """Return the expected error of a prediction beyond the learner's; the worst one where there is none."""
        worst = max(self.error(LOWEST), self.error(HIGHEST))
        return (worst if prediction is None else self.error(prediction)) - self.error(self.median)


def forecasts(rounds: Iterable[Round]) -> tuple[Forecast, ...]:
    """Return what the learner expects of each round; rounds are seen from the opponent's side."""
    return _forecasts(tuple((one.mine, one.theirs) for one in rounds))


@functools.lru_cache(maxsize=512)
def _forecasts(numbers: tuple[tuple[float, float], ...]) -> tuple[Forecast, ...]:
    rounds = [Round(mine, theirs) for mine, theirs in numbers]
    found = [_first_forecast()]
    live = _after_the_first(rounds[0].mine) if rounds else []
    for place in range(1, len(rounds)):
        shown = rounds[:place]
        expected = [(member, weight, next_chances(member, shown)) for member, weight in live]
        found.append(_forecast((weight, chances) for _, weight, chances in expected))
        number = int(rounds[place].mine)
        kept = [(member, weight * chances.get(number, 0.0)) for member, weight, chances in expected]
        total = sum(weight for _, weight in kept)
        live = [(member, weight / total) for member, weight in kept if weight > _KEPT * total] if total else live
    return tuple(found[: len(rounds)])


def _forecast(weighed: Iterable[tuple[float, Chances]]) -> Forecast:
    total: Chances = {}
    for weight, chances in weighed:
        for number, chance in chances.items():
            total[number] = total.get(number, 0.0) + weight * chance
    whole = sum(total.values())
    return Forecast(tuple((number, total[number] / whole) for number in sorted(total)))


@functools.cache
def _first_forecast() -> Forecast:
    """Return the forecast before the first round."""
    groups: dict[tuple[range, int], float] = {}
    for member, share in every_member():
        key = (starts_of(member.rule), member.noise)
        groups[key] = groups.get(key, 0.0) + share
    return _forecast(
        (share / len(starts), next_chances(_starting(start, noise), ()))
        for (starts, noise), share in groups.items()
        for start in starts
    )


def _starting(start: int, noise: int) -> Drawn:
    member, _ = next(iter(every_member()))
    return msgspec.structs.replace(member, start=start, noise=noise)


@functools.lru_cache(maxsize=100)
def _after_the_first(number: float) -> list[tuple[Drawn, float]]:
    """Return every member that can open with a number, with its first number filled in and weighed."""
    live: list[tuple[Drawn, float]] = []
    for member, share in every_member():
        starts = starts_of(member.rule)
        for start in range(int(number) - member.noise, int(number) + member.noise + 1):
            if start in starts:
                opponent = msgspec.structs.replace(member, start=start)
                chance = next_chances(opponent, ()).get(int(number), 0.0)
                live.append((opponent, share * chance / len(starts)))
    return live


_NUMBER = {"type": "number", "minimum": LOWEST, "maximum": HIGHEST}
SCHEMA = {
    "type": "object",
    "properties": {"prediction": _NUMBER, "choice": _NUMBER},
    "required": ["prediction", "choice"],
    "additionalProperties": False,
}
LEGAL = "a prediction and a choice, each a number from 1 to 100"


class NumberMatch(Item, frozen=True, kw_only=True):
    """A match of a number of rounds against the named opponent, or against one drawn from the family."""

    opponent: str
    rounds: int
    drawn: Drawn | None = None


class RuleView(Struct, frozen=True):
    """The view of a rule-based opponent: its name, the rounds from its side, and its rule if it was drawn."""

    opponent: str
    rounds: tuple[Round, ...]
    drawn: Drawn | None = None


class Guess(Struct, frozen=True):
    """A player's prediction of the other's number, and its own choice."""

    prediction: float
    choice: float

    def __str__(self) -> str:
        return f"prediction {format_number(self.prediction)}, choice {format_number(self.choice)}"


class PlayedRound(Struct, frozen=True):
    """One round: the prediction (None: unreadable), both numbers, and how they were obtained."""

    prediction: float | None
    choice: float
    opponent: float
    faults: Faults


class NumberOutcome(Struct, frozen=True):
    """Everything that happened in a match."""

    rounds: tuple[PlayedRound, ...]
    opponent: str


class _Answer(Struct, frozen=True):
    prediction: float | str
    choice: float | str


def matches(source: Source) -> Iterator[NumberMatch]:
    """One match for each opponent that the settings name; by default those drawn from the seed, or the paper's."""
    rounds = source.settings.whole("rounds")
    named = source.settings.texts("opponents") or (LEVELS if source.official else (DRAWN,))
    for name in named:
        if name == DRAWN:
            yield from _drawn(source, rounds)
            continue
        yield NumberMatch(id=f"numbers-{name}-{rounds}", cluster=f"numbers-{name}", opponent=name, rounds=rounds)


def _drawn(source: Source, rounds: int) -> Iterator[NumberMatch]:
    """The matches against opponents drawn from the seed, the kinds in turn."""
    for index in range(source.settings.whole("drawn")):
        kind = KINDS[index % len(KINDS)]
        name = f"numbers-{source.seed}-{index:02d}-{kind}"
        opponent = draw(kind, random.Random(f"numbers opponent {source.seed} {index}"))
        yield NumberMatch(id=f"{name}-{rounds}", cluster=name, opponent=kind, rounds=rounds, drawn=opponent)


async def play_match(item: NumberMatch, session: Session) -> NumberOutcome:
    """Play all rounds; both players choose before either number is shown."""
    refuse_other_opponents(session)
    state = State(item.rounds)
    played: list[PlayedRound] = []
    while not state.over:
        mirrored = tuple(one.seen_from_the_other_side() for one in state.rounds)
        theirs, _ = await _ask(session, "opponent", mirrored, item, None)
        assert theirs is not None
        number = theirs.choice
        # The oracle knows what the opponent will choose and answers it as well as one can.
        reply = max(LOWEST, number * FACTOR / (2 - FACTOR))
        mine, faults = await _ask(session, "subject", tuple(state.rounds), item, Guess(number, round(reply, 2)))
        choice = mine.choice if mine else _default(session, state.rounds)
        this = state.apply(choice, number)
        prediction = mine.prediction if mine else None
        played.append(PlayedRound(prediction, choice, number, faults))
        session.note(
            "round",
            number=len(played),
            prediction="none" if prediction is None else format_number(prediction),
            choice=format_number(choice),
            opponent=format_number(number),
            target=format_number(this.gold),
        )
    return NumberOutcome(tuple(played), session.identity_of("opponent"))


def _default(session: Session, rounds: Sequence[Round]) -> float:
    """Return the default without a readable number: the subject's last one, or 50 in the first round."""
    number = rounds[-1].mine if rounds else MIDDLE
    session.note("default", role="subject", move=format_number(number))
    return number


async def _ask(
    session: Session, role: str, rounds: tuple[Round, ...], item: NumberMatch, key: Guess | None
) -> tuple[Guess | None, Faults]:
    answer_format = Schema(SCHEMA, "guess", {"prediction": key.prediction, "choice": key.choice} if key else None)
    view = RuleView(item.opponent, rounds, item.drawn) if role == "opponent" else None
    return await ask_move(
        session,
        role,
        _messages(session, rounds, item.rounds),
        answer_format,
        lambda reply: read_guess(reply.text),
        legal=LEGAL,
        default=None,
        view=view,
    )


def _messages(session: Session, rounds: Sequence[Round], length: int) -> list[Message]:
    history = [
        session.prompts.render(
            "games/numbers-history",
            number=number,
            mine=format_number(one.mine),
            theirs=format_number(one.theirs),
            gold=format_number(one.gold),
        )
        for number, one in enumerate(rounds, 1)
    ]
    return [
        system(session.prompts.render("games/numbers-system", length=length)),
        user(
            session.prompts.render(
                "games/numbers-round",
                number=len(rounds) + 1,
                length=length,
                history="\n".join(history) or session.prompts.render("games/numbers-nothing"),
            )
        ),
    ]


_LABELLED = re.compile(r"\b(predict|choice|choose|chosen)\w*\b[^\d\n-]{0,40}?(-?\d{1,6}(?:\.\d{1,6})?)", re.IGNORECASE)
_ROUND = re.compile(r"\bround\s*(?:number\s*|#)?\d+", re.IGNORECASE)


def read_guess(text: str) -> Read[Guess]:
    """Return both numbers in a reply; one outside 1 to 100 is illegal, a missing or ambiguous one unreadable."""
    reading = read_json(text, _Answer)
    if reading.value is not None and reading.rule != "lines":
        pair = (_number(reading.value.prediction), _number(reading.value.choice))
    else:
        pair = _labelled(text[:4000])
    if pair[0] is None or pair[1] is None:
        return Read(None, "unreadable")
    if not (is_legal(pair[0]) and is_legal(pair[1])):
        return Read(None, "illegal")
    return Read(Guess(pair[0], pair[1]))


def _labelled(text: str) -> tuple[float | None, float | None]:
    """Return the numbers that are called prediction and choice, each None unless it is one number throughout."""
    found: dict[bool, set[float]] = {True: set(), False: set()}
    for match in _LABELLED.finditer(_ROUND.sub("this round", text)):
        found[match[1].lower() == "predict"].add(float(match[2]))
    predictions, choices = found[True], found[False]
    return predictions.pop() if len(predictions) == 1 else None, choices.pop() if len(choices) == 1 else None


def _number(value: float | str) -> float | None:
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*", value)
        return float(match[1]) if match else None
    return value


STRANGE_STEP = 2.0
FEWEST_LEARNT = 3


class Patterns(msgspec.Struct, frozen=True):
    """The patterns found in one match; rounds are counted from 1, None if there is none."""

    mid_point_belief: bool
    strange_guess: int | None
    back_on_track: int | None
    always_smaller: bool
    learnt_at: int | None


def find(predictions: Sequence[float | None], actual: Sequence[float], tolerance: float = TOLERANCE) -> Patterns:
    """Return the patterns in a match.

    Mid-point belief: the first prediction is 50. Strange guess: the first round in which the prediction lies more than
    two above the opponent's last number, though the opponent has never gone up. Back on track: the first round after
    a strange guess that opens two right predictions in a row. Always smaller: every prediction lies below the one
    before it, yet some are wrong. Learnt: the first round from which every prediction is right, for at least three
    rounds; if the opponent's numbers change in the match, they must change in those rounds too.
    """
    right = [is_right(guess, number, tolerance) for guess, number in zip(predictions, actual, strict=True)]
    strange = _strange(predictions, actual)
    later = range(strange, len(right) - 1) if strange else ()
    steps = list(pairwise(predictions))
    return Patterns(
        mid_point_belief=bool(predictions) and predictions[0] is not None and abs(predictions[0] - MIDDLE) <= tolerance,
        strange_guess=strange,
        back_on_track=next((place + 1 for place in later if right[place] and right[place + 1]), None),
        always_smaller=bool(steps)
        and not all(right)
        and all(first is not None and second is not None and second < first for first, second in steps),
        learnt_at=_learnt(right, actual, tolerance),
    )


def _strange(predictions: Sequence[float | None], actual: Sequence[float]) -> int | None:
    for index in range(1, len(predictions)):
        guess, shown = predictions[index], actual[:index]
        never_rose = all(later <= earlier for earlier, later in pairwise(shown))
        if guess is not None and never_rose and guess > shown[-1] + STRANGE_STEP:
            return index + 1
    return None


def _learnt(right: Sequence[bool], actual: Sequence[float], tolerance: float) -> int | None:
    """Return the first round of the run of right predictions that ends the match, if that run shows a rule."""
    first = max((index + 1 for index, hit in enumerate(right) if not hit), default=0)
    if len(right) - first < FEWEST_LEARNT:
        return None
    # If one number fits all of these rounds, but not the match, no rule was needed to predict it.
    streak = actual[first:]
    stuck = max(streak) - min(streak) <= 2 * tolerance < max(actual) - min(actual)
    return None if stuck else first + 1


def patterns_of(outcome: NumberOutcome) -> Patterns:
    """Return the patterns in a match's predictions."""
    return find([one.prediction for one in outcome.rounds], [one.opponent for one in outcome.rounds])


def learner_of(item: NumberMatch, outcome: NumberOutcome) -> tuple[Forecast, ...]:
    """Return what the Bayesian learner expects of each round; nothing if the opponent is not of the family."""
    if item.drawn is None:
        return ()
    return forecasts(Round(one.opponent, one.choice) for one in outcome.rounds)


def error_of(prediction: float | None, actual: float) -> float:
    """Return the distance of a prediction from a number; a missing one counts as the worst possible."""
    return max(actual - LOWEST, HIGHEST - actual) if prediction is None else abs(prediction - actual)


def score(item: NumberMatch, outcome: NumberOutcome) -> Score:
    """The share of right predictions, their error and patterns; an unreadable prediction is wrong and as far off as
    one can be.

    `repeating` is the share that a player would get right who predicts the opponent's last number, on the same rounds:
    whoever always chooses one number makes an opponent that replies constant and easy to predict, and `beyond`, the
    share right minus this one, gives no credit for it.

    Against a drawn opponent also the ceiling (the expected share of the Bayesian learner, given the numbers that were
    chosen) and the regret: the expected error beyond the learner's. They are rounded so that a stored number does not
    depend on the processor.
    """
    rounds = outcome.rounds
    right = [is_right(one.prediction, one.opponent) for one in rounds]
    errors = [error_of(one.prediction, one.opponent) for one in rounds]
    found = patterns_of(outcome)
    repeated = sum(is_right(before.opponent, one.opponent) for before, one in pairwise(rounds))
    values = {
        "right": sum(right) / len(right),
        "repeating": repeated / len(rounds),
        "beyond": (sum(right) - repeated) / len(rounds),
        "error": sum(errors) / len(errors),
        "learnt": float(found.learnt_at is not None),
        "mid_point": float(found.mid_point_belief),
        "strange": float(found.strange_guess is not None),
        "back_on_track": float(found.back_on_track is not None),
        "always_smaller": float(found.always_smaller),
        "faults": sum(one.faults.count for one in rounds) / len(rounds),
    }
    if expected := learner_of(item, outcome):
        regrets = [one.regret(played.prediction) for one, played in zip(expected, rounds, strict=True)]
        values["ceiling"] = round(sum(one.hit_rate for one in expected) / len(expected), 6)
        values["regret"] = round(sum(regrets) / len(regrets), 6)
    if found.learnt_at is not None:
        values["learnt_at"] = float(found.learnt_at)
    unreadable = sum(one.faults.defaulted for one in rounds)
    replies = count_replies(how for one in rounds for how in one.faults.asked)
    return Score(values=values, facets={"opponent": item.opponent}, unreadable=unreadable, replies=replies)


_MEASURES = (
    ("right", "accuracy"),
    ("beyond", "beyond_repeating"),
    ("repeating", "repeating"),
    ("ceiling", "ceiling"),
    ("regret", "regret"),
    ("error", "absolute_error"),
    ("learnt", "learnt"),
    ("learnt_at", "learnt_at"),
    ("mid_point", "mid_point_belief"),
    ("strange", "strange_guess"),
    ("back_on_track", "back_on_track"),
    ("always_smaller", "always_smaller"),
    ("faults", "faults_per_round"),
)
_NO_SHARES = ("beyond", "regret", "error", "learnt_at", "faults")
_MAYBE = ("ceiling", "regret")
"""Measures that exist only for drawn opponents."""


def summarise(run: RunView[NumberMatch, NumberOutcome]) -> Summary:
    """Accuracy, error, learning and patterns, overall and by opponent, with the learning curves."""
    measures: list[Measure] = []
    for value, name in _MEASURES:
        binary = False if value in _NO_SHARES else None
        found = grouped_measures(run, value, name, by=["opponent"], binary=binary)
        measures += [one for one in found if one.items or name not in _MAYBE]
    matches = [(item, outcome) for item, outcome, _ in run.scored()]
    family = [(item, outcome) for item, outcome in matches if learner_of(item, outcome)]
    notes = [
        f"A prediction is right within {TOLERANCE:g} of the opponent's number; the paper states no tolerance.",
        "Always choosing one number makes opponents that reply to it constant, which raises the accuracy of a subject"
        " that repeats the last number; 'beyond repeating' gives no credit for it.",
    ]
    by_round: list[dict[str, Any]] = []
    if family:
        measures.append(reached(run, "repeating"))
        by_round = _by_round(family)
        notes.append("The ceiling is a Bayesian learner that knows the family of opponents and saw the same rounds.")
    return Summary(
        measures=tuple(measures),
        tables=(*([_round_table(by_round)] if by_round else []), _pattern_table(matches)),
        notes=tuple(notes),
        series={"by_round": by_round, "matches": [_trace(item, outcome) for item, outcome in matches]},
    )


_Matches = Sequence[tuple[NumberMatch, NumberOutcome]]


def _by_round(family: _Matches) -> list[dict[str, Any]]:
    """Return accuracy, ceiling, what repeating gets right, and regret round by round, over all drawn opponents."""
    cells: dict[int, list[tuple[Forecast, float | None, PlayedRound]]] = {}
    for item, outcome in family:
        last: float | None = None
        for number, (expected, one) in enumerate(zip(learner_of(item, outcome), outcome.rounds, strict=True), 1):
            cells.setdefault(number, []).append((expected, last, one))
            last = one.opponent
    return [
        {
            "round": number,
            "accuracy": fmean(is_right(one.prediction, one.opponent) for _, _, one in seen),
            "ceiling": round(fmean(expected.hit_rate for expected, _, _ in seen), 6),
            "repeating": fmean(is_right(last, one.opponent) for _, last, one in seen),
            "regret": round(fmean(expected.regret(one.prediction) for expected, _, one in seen), 6),
            "matches": len(seen),
        }
        for number, seen in sorted(cells.items())
    ]


def _round_table(by_round: Sequence[dict[str, Any]]) -> Table:
    columns = ("round", "accuracy", "ceiling", "repeating", "regret", "matches")
    rows: tuple[tuple[Cell, ...], ...] = tuple(tuple(point[column] for column in columns) for point in by_round)
    units = {"accuracy": "share", "ceiling": "share", "repeating": "share"}
    note = "regret: the prediction's expected error beyond that of the Bayesian learner, who saw the same rounds"
    return Table("by-round", "Learning by round, against drawn opponents", columns, rows, note, units)


def _pattern_table(matches: _Matches) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for item, outcome in matches:
        hits = sum(is_right(one.prediction, one.opponent) for one in outcome.rounds)
        rows.append((item.opponent, f"{hits}/{len(outcome.rounds)}", *msgspec.structs.astuple(patterns_of(outcome))))
    columns = (
        "opponent", "right", "mid-point", "strange guess at", "back on track at", "always smaller", "always right from",
    )  # fmt: skip
    note = "rounds are counted from 1; empty: never"
    return Table("patterns", "Beliefs about the opponent by match", columns, tuple(rows), note)


def _trace(item: NumberMatch, outcome: NumberOutcome) -> dict[str, Any]:
    return {
        "match": item.id,
        "opponent": item.opponent,
        "predictions": [one.prediction for one in outcome.rounds],
        "numbers": [one.opponent for one in outcome.rounds],
        "choices": [one.choice for one in outcome.rounds],
    }


OPPONENT = "the opponent's numbers"


def number_figures(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Return the figures of number guessing."""
    numbers = [run for run in runs if run.task == "numbers"]
    if numbers:
        yield from _accuracies(numbers)
        yield from _beliefs(numbers)


def _accuracies(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Accuracy by round over the drawn opponents, beside the learner and a player that repeats the last number."""
    series = [(run.subject, run.summary.series.get("by_round") or []) for run in runs]
    if not any(points for _, points in series):
        return
    right = [CurvePoint(point["round"], point["accuracy"], subject) for subject, points in series for point in points]
    bounds = next(points for _, points in series if points)
    right += [CurvePoint(point["round"], point["ceiling"], "Bayesian learner") for point in bounds]
    right += [CurvePoint(point["round"], point["repeating"], "repeats the last number") for point in bounds]
    chart = curve_chart(right, x_title="round", y_title="right predictions", unit="share", domain=(0, 1))
    caption = "The learner knows the family of opponents and sees the same rounds as the first subject."
    yield Figure("number-rounds", "Right predictions by round, drawn opponents", caption, chart=chart)


def _beliefs(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Each opponent's numbers with what every subject expected (the paper's Figure 4); the first match of a kind."""
    traces = [(run.subject, trace) for run in runs for trace in run.summary.series.get("matches", [])]
    firsts: dict[str, str] = {}
    for _, trace in traces:
        firsts.setdefault(trace["opponent"], trace.get("match", ""))
    for opponent, match in firsts.items():
        points: list[CurvePoint] = []
        for subject, trace in traces:
            if trace["opponent"] != opponent or trace.get("match", "") != match:
                continue
            for number, (guess, actual) in enumerate(zip(trace["predictions"], trace["numbers"], strict=True), 1):
                if guess is not None:
                    points.append(CurvePoint(number, guess, subject))
                if subject == traces[0][0]:
                    points.append(CurvePoint(number, actual, OPPONENT))
        if any(point.series != OPPONENT for point in points):
            chart = curve_chart(points, x_title="round", y_title="number", domain=(0, 100))
            caption = "The numbers that each subject expected, and those that the opponent chose."
            if opponent not in ("level-1", "level-2"):
                caption += (
                    " This opponent's numbers can differ between subjects; the chart shows those of the first subject."
                )
            title = f"Expected numbers, opponent {opponent.replace('-', ' ')}"
            yield Figure(f"beliefs-{opponent}", title, caption, chart=chart)
