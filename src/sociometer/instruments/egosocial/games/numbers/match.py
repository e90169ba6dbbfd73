"""A match of number guessing against an opponent with a hidden rule: the items, the conversation and its outcome."""

import random
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Message, Schema, system, user
from sociometer.core.errors import UsageError, unknown
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.egosocial.games.asking import Faults, Read, ask_move
from sociometer.instruments.egosocial.games.numbers.family import KINDS, Drawn, draw
from sociometer.reading import read_json

LOWEST, HIGHEST = 1.0, 100.0
FACTOR = 0.8
MIDDLE = 50.0


class IllegalMove(ValueError):
    """A number outside the range."""


class Round(msgspec.Struct, frozen=True):
    """What both players chose in one round."""

    mine: float
    theirs: float

    @property
    def gold(self) -> float:
        """The number both were aiming at."""
        return FACTOR * (self.mine + self.theirs) / 2

    @property
    def winner(self) -> int:
        """Return 1 where the first player was nearer, -1 where the second was, 0 for a draw."""
        mine, theirs = abs(self.mine - self.gold), abs(self.theirs - self.gold)
        return (mine < theirs) - (mine > theirs)

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


Rule = Callable[[Sequence[Round], random.Random], float]

NOISE = 3.0
SWITCH_AFTER = 5


def constant(rounds: Sequence[Round], rng: random.Random) -> float:
    """Always choose 50 (the paper's level 1)."""
    return MIDDLE


def descending(rounds: Sequence[Round], rng: random.Random) -> float:
    """Choose 50, 45, 40 and so on down (the paper's level 2)."""
    return clamp(MIDDLE - 5 * len(rounds))


def copying(rounds: Sequence[Round], rng: random.Random) -> float:
    """Choose the last round's target, starting with 50 (the paper's level 3)."""
    return clamp(round(rounds[-1].gold, 2)) if rounds else MIDDLE


def reasoning(depth: int) -> Rule:
    """Return a level-k player: it expects the other to repeat its last number and answers `depth` steps ahead.

    One step is the best reply to a number x, which is the y with y = 0.8 (x + y) / 2, so y = 2x / 3.
    """
    step = FACTOR / (2 - FACTOR)

    def rule(rounds: Sequence[Round], rng: random.Random) -> float:
        start = rounds[-1].theirs if rounds else MIDDLE
        return clamp(round(start * step**depth, 2))

    return rule


def noisy(base: Rule, spread: float = NOISE) -> Rule:
    """Return a rule that deviates from another by a whole number of at most `spread`."""

    def rule(rounds: Sequence[Round], rng: random.Random) -> float:
        return clamp(base(rounds, rng) + rng.randint(-int(spread), int(spread)))

    return rule


def switching(first: Rule, second: Rule, after: int = SWITCH_AFTER) -> Rule:
    """Return a rule that follows one rule for some rounds and then another."""

    def rule(rounds: Sequence[Round], rng: random.Random) -> float:
        return (first if len(rounds) < after else second)(rounds, rng)

    return rule


SEATED = "seated"
"""No rule: another model as opponent, in one match."""
DRAWN = "drawn"
"""No single rule: opponents drawn from the family by the seed."""
LEVELS = ("level-1", "level-2", "level-3")
"""The paper's opponents."""
OPPONENTS: dict[str, Rule] = {
    "level-1": constant,
    "level-2": descending,
    "level-3": copying,
    "reasoning-1": reasoning(1),
    "reasoning-2": reasoning(2),
    "noisy-1": noisy(constant),
    "noisy-2": noisy(descending),
    "switching": switching(constant, descending),
}


def choose(name: str, rounds: Sequence[Round], rng: random.Random) -> float:
    """Return the next number of the named opponent; rounds are seen from its side."""
    if name == SEATED:
        raise UsageError(f"--opponents {SEATED} is a match against another model; give --role opponent=MODEL.")
    if name not in OPPONENTS:
        raise unknown("opponent of number guessing", name, OPPONENTS)
    return OPPONENTS[name](rounds, rng)


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
    opponent_faults: Faults


class _Answer(Struct, frozen=True):
    prediction: float | str
    choice: float | str


def matches(source: Source) -> Iterator[NumberMatch]:
    """One match for each opponent that the settings name; by default those drawn from the seed, or the paper's."""
    rounds = source.settings.whole("rounds")
    if rounds < 1:
        raise UsageError(f"--rounds is {rounds}; it must be 1 or more.")
    named = source.settings.texts("opponents") or (LEVELS if source.official else (DRAWN,))
    for name in named:
        if name == DRAWN:
            yield from _drawn(source, rounds)
            continue
        if name not in (*OPPONENTS, SEATED):
            raise unknown("opponent of number guessing", name, (DRAWN, *OPPONENTS, SEATED))
        yield NumberMatch(id=f"numbers-{name}-{rounds}", cluster=f"numbers-{name}", opponent=name, rounds=rounds)


def _drawn(source: Source, rounds: int) -> Iterator[NumberMatch]:
    """The matches against opponents drawn from the seed, the kinds in turn."""
    count = source.settings.whole("drawn")
    if count < 1:
        raise UsageError(f"--drawn is {count}; it must be 1 or more.")
    for index in range(count):
        kind = KINDS[index % len(KINDS)]
        name = f"numbers-{source.seed}-{index:02d}-{kind}"
        opponent = draw(kind, random.Random(f"numbers opponent {source.seed} {index}"))
        yield NumberMatch(id=f"{name}-{rounds}", cluster=name, opponent=kind, rounds=rounds, drawn=opponent)


async def play_match(item: NumberMatch, session: Session) -> NumberOutcome:
    """Play all rounds; both players choose before either number is shown."""
    state = State(item.rounds)
    played: list[PlayedRound] = []
    opponent_faults = Faults()
    while not state.over:
        mirrored = tuple(one.seen_from_the_other_side() for one in state.rounds)
        theirs, their_faults = await _ask(session, "opponent", mirrored, item, None)
        opponent_faults += their_faults
        number = theirs.choice if theirs else _default(session, "opponent", mirrored)
        # The oracle knows what the opponent will choose and answers it as well as one can.
        reply = max(LOWEST, number * FACTOR / (2 - FACTOR))
        mine, faults = await _ask(session, "subject", tuple(state.rounds), item, Guess(number, round(reply, 2)))
        choice = mine.choice if mine else _default(session, "subject", tuple(state.rounds))
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
    return NumberOutcome(tuple(played), session.identity_of("opponent"), opponent_faults)


def _default(session: Session, role: str, rounds: Sequence[Round]) -> float:
    """Return the default without a readable number: the player's last one, or 50 in the first round."""
    number = rounds[-1].mine if rounds else MIDDLE
    session.note("default", role=role, move=format_number(number))
    return number


async def _ask(
    session: Session, role: str, rounds: tuple[Round, ...], item: NumberMatch, key: Guess | None
) -> tuple[Guess | None, Faults]:
    answer_format = Schema(SCHEMA, "guess", {"prediction": key.prediction, "choice": key.choice} if key else None)
    view = RuleView(item.opponent, rounds, item.drawn) if role == "opponent" else None
    guess, faults, _ = await ask_move(
        session,
        role,
        _messages(session, rounds, item.rounds),
        answer_format,
        lambda reply: read_guess(reply.text),
        legal=LEGAL,
        default=None,
        view=view,
    )
    return guess, faults


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
