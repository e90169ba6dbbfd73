"""Readers without the situation: a bag-of-words classifier of the options, and rules that follow one cue."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sociometer.core.lazy import lazy
from sociometer.core.measure import Cell, Table
from sociometer.core.sheets import read_rows

stats = lazy("scipy.stats")

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sociometer.instruments.sesi.items import Question

CHANCE = 0.25
MARGIN = 0.08
"""How far above chance a reader without the situation may be before `lint` fails."""
FEWEST_ITEMS = 40
"""With fewer items the classifier has too little training data, and its accuracy means nothing."""
MODEL = "a classifier of the options' words"
_FOLDS, _SHUFFLES, _PENALTY = 10, 5, 20.0
_DATA = Path(__file__).parent / "data"
_GUESSED = _DATA / "guessed.csv"
_WORD = re.compile(r"[a-z']+|\d+")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-zé]+")

Rule = Callable[[Sequence[str]], list[float]]
"""A rule's number for each option; it takes the highest and draws among equal ones."""


class Guess(Struct, frozen=True):
    """The accuracy of a reader without the situation on a set of items; `too_good` says whether `lint` fails on it."""

    reader: str
    accuracy: float
    items: int
    too_good: bool


def guesses(items: Sequence[Question]) -> list[Guess]:
    """Every rule, and the classifier if there are enough items to train it."""
    found = {name: rule_accuracy(name, items) * len(items) for name in RULES}
    if len(items) >= FEWEST_ITEMS:
        found = {MODEL: sum(cross_validated(items)), **found}
    return [
        Guess(name, earned / len(items), len(items), _too_good(earned, len(items))) for name, earned in found.items()
    ]


def table(found: Sequence[Guess]) -> Table:
    """The readers without the situation, next to chance."""
    rows: list[tuple[Cell, ...]] = [("a random option", CHANCE, "")]
    if all(guess.reader != MODEL for guess in found):
        rows.append((MODEL, None, f"needs {FEWEST_ITEMS} items"))
    rows += [(guess.reader, guess.accuracy, "too good" if guess.too_good else "") for guess in found]
    note = (
        f"A reader is too good if it is more than {100 * MARGIN:.0f} points above chance and p < .05 (exact,"
        f" one-sided). The classifier is trained on other items of the set ({_FOLDS}-fold, mean of {_SHUFFLES}"
        " shuffles)."
    )
    columns = ("rule", "accuracy", "verdict")
    return Table("baselines", "Baselines without the situation", columns, tuple(rows), note, {"accuracy": "share"})


def rule_accuracy(name: str, items: Sequence[Question]) -> float:
    """The accuracy of a rule on some items."""
    return sum(_earned(RULES[name](item.options), item.answer) for item in items) / len(items)


def _too_good(earned: float, items: int) -> bool:
    """Whether a reader is above chance by more than the margin, and by more than luck explains on so few items."""
    luck = float(stats.binom.sf(round(earned) - 1, items, CHANCE))
    return earned / items > CHANCE + MARGIN and luck < 0.05


def _earned(values: Sequence[float], answer: int) -> float:
    best = max(values)
    return (values[answer] == best) / sum(value == best for value in values)


def _pattern(name: str) -> re.Pattern[str]:
    """A committed word list as one pattern."""
    lines = (_DATA / "words" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    words = [re.escape(line.strip()) for line in lines if line.strip() and not line.startswith("#")]
    # one \b before all words: the pattern is tried at the beginnings of words only
    return re.compile(rf"\b(?:{'|'.join(words)})\b".replace(r"\*", r"\w*"), re.IGNORECASE)


@cache
def _polite() -> re.Pattern[str]:
    return _pattern("polite")


@cache
def _specific() -> re.Pattern[str]:
    return _pattern("specific")


def politeness(option: str) -> float:
    """The number of words of courtesy, care and compromise (`data/words/polite.txt`)."""
    return float(len(_polite().findall(option)))


def specificity(option: str) -> float:
    """The number of digits, names, numbers, days and measures (`data/words/specific.txt`)."""
    return float(len(_specific().findall(option)) + len(_NAME.findall(option)) + len(re.findall(r"\d+", option)))


RULES: dict[str, Rule] = {
    "the longest option": lambda options: [float(len(text)) for text in options],
    "the shortest option": lambda options: [-float(len(text)) for text in options],
    "the most specific option": lambda options: [specificity(text) for text in options],
    "the least specific option": lambda options: [-specificity(text) for text in options],
    "the politest option": lambda options: [politeness(text) for text in options],
    "the least polite option": lambda options: [-politeness(text) for text in options],
}


BY_LENGTH = ("the longest option", "the shortest option")
"""The rules that are cheap enough for every summary."""


def cross_validated(items: Sequence[Question]) -> list[float]:
    """For each item the share of the shuffles in which a classifier that was trained on other items picks the key.

    It is a ridge regression on the words and pairs of words of an option, alone and together with the ability,
    relative to the other options of the item; items of one cluster are in the same fold.
    """
    import numpy as np

    alike = _similarities(items)
    target = np.full((len(items), 4), -CHANCE)
    keys = np.array([item.answer for item in items])
    target[np.arange(len(items)), keys] += 1.0
    names = [item.cluster or item.id for item in items]
    hits = np.zeros(len(items))
    for shuffle in range(_SHUFFLES):
        fold = _folds(names, shuffle)
        for number in range(_FOLDS):
            known = np.repeat(fold != number, 4)
            if known.all():
                continue
            system = alike[np.ix_(known, known)] + _PENALTY * np.eye(int(known.sum()))
            weights = np.linalg.solve(system, target.ravel()[known])
            values = (alike[np.ix_(~known, known)] @ weights).reshape(-1, 4)
            hits[fold == number] += values.argmax(axis=1) == keys[fold == number]
    return [float(share) for share in hits / _SHUFFLES]


def _folds(names: Sequence[str], shuffle: int) -> npt.NDArray[np.int_]:
    """The fold of each item; equal names have equal folds, and the order of the items has no effect."""
    import numpy as np

    order = sorted(set(names), key=lambda name: hashlib.sha256(f"{shuffle}/{name}".encode()).digest())
    fold = {name: place % _FOLDS for place, name in enumerate(order)}
    return np.array([fold[name] for name in names])


def _similarities(items: Sequence[Question]) -> npt.NDArray[np.float64]:
    """The products of all options' features, each option relative to the mean of its item."""
    import numpy as np

    seen = [_features(option, item.ability) for item in items for option in item.options]
    counts = Counter(feature for features in seen for feature in features)
    columns = {feature: place for place, feature in enumerate(sorted(f for f, count in counts.items() if count > 1))}
    table = np.zeros((len(seen), len(columns)))
    for row, features in enumerate(seen):
        table[row, [columns[feature] for feature in features if feature in columns]] = 1.0
    by_item = table.reshape(len(items), 4, -1)
    table = (by_item - by_item.mean(axis=1, keepdims=True)).reshape(len(seen), -1)
    alike: npt.NDArray[np.float64] = table @ table.T
    return alike


def _features(option: str, ability: str) -> set[str]:
    words = _WORD.findall(option.lower())
    pairs = {f"{one} {two}" for one, two in pairwise(words)}
    return {*words, *pairs, *(f"{ability}: {word}" for word in words), *(f"^{' '.join(words[:n])}" for n in (1, 2))}


def fingerprint(item: Question) -> str:
    """A fingerprint of what the classifier sees of an item, so that a stored guess is not used for another text."""
    text = "\n".join((item.ability, *item.options, str(item.answer)))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def _guessed() -> dict[str, float]:
    return {row["fingerprint"]: float(row["guessed"]) for _, row in read_rows(_GUESSED)}


def options_only(items: Sequence[Question]) -> float | None:
    """The classifier's accuracy on these items: from the stored shares of a known set, or trained on the items.

    None if the items are unknown and too few to train it.
    """
    known = _guessed()
    shares = [known.get(fingerprint(item)) for item in items]
    stored = [share for share in shares if share is not None]
    if items and len(stored) == len(items):
        return sum(stored) / len(items)
    return sum(cross_validated(items)) / len(items) if len(items) >= FEWEST_ITEMS else None
