"""A choice read from probabilities: of each letter, and of each option's text, averaged over option orders."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from sociometer.core.conversation import SUBJECT, Choice, Message
from sociometer.core.session import Session
from sociometer.core.task import Forecast
from sociometer.reading.order import arrange, undo

_CLOSE = 1e-9
Shares = tuple[float, ...]


class Chances(Struct, frozen=True, omit_defaults=True):
    """The probability of each option, in the item's own order, as the mean over the orders it was shown in."""

    letters: tuple[float, ...]
    """From the probability of each option's letter; they add up to 1 (equal where no letter had one)."""
    texts: tuple[float, ...] = ()
    """From the mean log-probability of the tokens of each option's text; empty where only letters were scored."""
    places: tuple[float, ...] = ()
    """The mean probability of the letter at each place; equal without position bias."""
    letter_mass: float = 0.0
    """The mean probability that all letters have together: near 1 for a model that follows the format."""
    orders: int = 0
    """The number of orders in which a letter had a probability."""


async def ask_chances(
    session: Session,
    messages: Callable[[Choice], Sequence[Message]],
    options: Sequence[str],
    order: Sequence[int],
    *,
    key: int | None = None,
    role: str = SUBJECT,
) -> Chances:
    """Score every option in each rotation of the order: each option is at each place once."""
    letters, texts, places, masses, listed = list[Shares](), list[Shares](), list[Shares](), list[float](), 0
    for turn in range(len(order)):
        turned = (*order[turn:], *order[:turn])
        choice = Choice(arrange(options, turned), key=None if key is None else turned.index(key))
        said = messages(choice)
        gap = _gap(said)
        wanted = [*choice.labels, *(choice.options if session.scores_texts(role) else ())]
        found = await session.score(role, said, [gap + text for text in wanted], choice)
        named, written = found[: len(options)], found[len(options) :]
        # An order in which the model lists no letter counts as well: it tells nothing about the options.
        heard = any(one.listed for one in named)
        known = [one.logprob if one.listed else -math.inf for one in named]
        shown = shares(known if heard else [0.0] * len(named))
        letters.append(undo(shown, turned))
        places.append(shown)
        masses.append(sum(math.exp(one.logprob) for one in named if one.listed))
        listed += heard
        if written:
            texts.append(undo(shares([one.logprob / max(1, one.tokens) for one in written]), turned))
    return Chances(_mean(letters), _mean(texts), _mean(places), sum(masses) / len(masses), listed)


def shares(logarithms: Sequence[float]) -> Shares:
    """The shares of a whole that have these logarithms, up to a common factor."""
    most = max(logarithms)
    weights = [math.exp(one - most) for one in logarithms]
    return tuple(weight / sum(weights) for weight in weights)


def most_likely(chances: Sequence[float]) -> int | None:
    """The option with the highest probability; None for a tie, or without probabilities."""
    if not chances:
        return None
    best = max(chances)
    first = [place for place, chance in enumerate(chances) if best - chance < _CLOSE]
    return first[0] if len(first) == 1 else None


def forecasts(chances: Chances | None, key: int, question: str = "") -> tuple[Forecast, ...]:
    """The forecast of a choice for its score; none for an answer that was read from a reply.

    `question` tells several questions of one item apart.
    """
    if chances is None or not chances.letters:  # no letters: a run of an earlier version
        return ()
    made = Forecast(
        question=question,
        right=most_likely(chances.letters) == key,
        confidence=max(chances.letters),
        brier=_brier(chances.letters, key),
        letter_mass=chances.letter_mass,
        text_right=most_likely(chances.texts) == key if chances.texts else None,
        text_brier=_brier(chances.texts, key) if chances.texts else None,
    )
    return (made,)


def _brier(chances: Sequence[float], key: int) -> float:
    return sum((chance - (place == key)) ** 2 for place, chance in enumerate(chances))


def _gap(messages: Sequence[Message]) -> str:
    """What a base model writes between the text and its answer: a space, but not after a Chinese colon."""
    last = messages[-1]
    return " " if last.role == "text" and last.content[-1:].isascii() else ""


def _mean(rows: Sequence[Shares]) -> Shares:
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True)) if rows else ()
