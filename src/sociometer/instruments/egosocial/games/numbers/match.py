"""A match of number guessing: its items, the rounds, and how a reply is read."""

import random
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from sociometer.core.conversation import Message, Schema, system, user
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.egosocial.games.asking import Faults, Read, ask_move, refuse_other_opponents
from sociometer.instruments.egosocial.games.numbers import rules
from sociometer.instruments.egosocial.games.numbers.opponents import DRAWN, KINDS, LEVELS, Drawn, draw
from sociometer.reading import object_schema, read_json
from sociometer.reading.text import plain

_NUMBER = {"type": "number", "minimum": rules.LOWEST, "maximum": rules.HIGHEST}
SCHEMA = object_schema(prediction=_NUMBER, choice=_NUMBER)
LEGAL = "a prediction and a choice, each a number from 1 to 100"
_LABELLED = re.compile(
    r"(?i)\b(predict|cho(?:ice|ose|sen))\w*\b[^\d\n-]{0,40}?(-?\d{1,6}(?:\.\d{1,6})?)(?!\.?\d|\^|\s?/\s?\d)"
)
_ROUND = re.compile(r"\bround\s*(?:number\s*|#)?\d+", re.IGNORECASE)


class NumberMatch(Item, frozen=True, kw_only=True):
    """A match of a number of rounds against the named opponent, or against one drawn from the family."""

    opponent: str
    rounds: int
    drawn: Drawn | None = None


class RuleView(Struct, frozen=True):
    """The view of a rule-based opponent: its name, the rounds from its side, and its rule if it was drawn."""

    opponent: str
    rounds: tuple[rules.Round, ...]
    drawn: Drawn | None = None


class Guess(Struct, frozen=True):
    """A player's prediction of the other's number, and its own choice."""

    prediction: float
    choice: float

    def __str__(self) -> str:
        return f"prediction {rules.format_number(self.prediction)}, choice {rules.format_number(self.choice)}"


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


class _Guessed(Struct, frozen=True):
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
    state = rules.NumbersState(item.rounds)
    played: list[PlayedRound] = []
    while not state.over:
        mirrored = tuple(rules.Round(one.theirs, one.mine) for one in state.rounds)
        theirs, _ = await _ask(session, "opponent", mirrored, item, None)
        assert theirs is not None
        number = theirs.choice
        # The oracle knows what the opponent will choose and answers it as well as one can.
        reply = max(rules.LOWEST, number * rules.FACTOR / (2 - rules.FACTOR))
        mine, faults = await _ask(session, "subject", tuple(state.rounds), item, Guess(number, round(reply, 2)))
        choice = mine.choice if mine else _default(session, state.rounds)
        this = state.apply(choice, number)
        prediction = mine.prediction if mine else None
        played.append(PlayedRound(prediction, choice, number, faults))
        session.note(
            "round",
            number=len(played),
            prediction="none" if prediction is None else rules.format_number(prediction),
            choice=rules.format_number(choice),
            opponent=rules.format_number(number),
            target=rules.format_number(this.gold),
        )
    return NumberOutcome(tuple(played), session.identity_of("opponent"))


def _default(session: Session, rounds: Sequence[rules.Round]) -> float:
    """Return the default without a readable number: the subject's last one, or 50 in the first round."""
    number = rounds[-1].mine if rounds else rules.MIDDLE
    session.note("default", role="subject", move=rules.format_number(number))
    return number


async def _ask(
    session: Session, role: str, rounds: tuple[rules.Round, ...], item: NumberMatch, key: Guess | None
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


def _messages(session: Session, rounds: Sequence[rules.Round], length: int) -> list[Message]:
    history = [
        session.prompts.render(
            "games/numbers-history",
            number=number,
            mine=rules.format_number(one.mine),
            theirs=rules.format_number(one.theirs),
            gold=rules.format_number(one.gold),
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


def read_guess(text: str) -> Read[Guess]:
    """Return both numbers in a reply; one outside 1 to 100 is illegal, a missing or ambiguous one unreadable."""
    reading = read_json(text, _Guessed)
    if reading.value is not None and reading.rule != "lines":
        pair = (_number(reading.value.prediction), _number(reading.value.choice))
    else:
        pair = _labelled(plain(text[:4000]))
    if pair[0] is None or pair[1] is None:
        return Read(None, "unreadable")
    if not (rules.is_legal(pair[0]) and rules.is_legal(pair[1])):
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
