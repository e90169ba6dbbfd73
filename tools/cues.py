"""What readers earn who follow surface cues of the options: one cue at a time, and classifiers trained on other items.

For whoever writes items: python tools/cues.py [--language zh] [FILE.csv, as the authors of SESI released theirs]
Exits with code 1 if a reader finds more keys than luck does.
"""

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from sociometer.core.measure import Cell, Table
from sociometer.instruments.sesi.items import ENGLISH, bundled, read_official
from sociometer.reporting.terminal import print_table
from sociometer.statistics.paired import holm

LEVEL = 0.05
"""A reader without the situation is too good if it finds more keys than luck does, at this level."""
FEWEST_ITEMS = 40
"""With fewer items a classifier has too little training data, and its accuracy means nothing."""
STRUCTURE, WORDS = CLASSIFIERS = ("a classifier of all cues", "a classifier of the options' words")
_FOLDS, _SHUFFLES = 10, 5
_WORD = re.compile(r"[a-z']+|\d+|[一-鿿]")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-zé]+")
_FOLDER = Path(__file__).parent / "cue_words"
_NOTE = (
    "Readers that see question and options only. Too good: more keys than luck finds, p < .05 (exact, one-sided, Holm"
    " over the cues and over the classifiers)."
)

Floats = npt.NDArray[np.float64]
Cue = Callable[[str, Sequence[str]], list[float]]
"""The strength of a cue in each option, given the question."""


class Shown(Struct, frozen=True):
    """What a reader without the situation sees of an item, and its key; items of one cluster are in the same fold."""

    question: str
    options: tuple[str, ...]
    answer: int
    cluster: Hashable
    kind: str = ""


class Tried(Struct, frozen=True):
    """What a reader earned; `too_good` says whether it is more than luck."""

    reader: str
    accuracy: float
    p_value: float
    too_good: bool = False


def units(text: str) -> set[str]:
    """Words of an English text; pairs of neighbouring characters of a Chinese one."""
    words = _WORD.findall(text.lower())
    if not any("一" <= word <= "鿿" for word in words):
        return set(words)
    return {one + two for one, two in pairwise(words)}


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """A committed word list as one pattern; Chinese words have no boundaries."""
    lines = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    listed = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    chinese = [word for word in listed if not word.isascii()]
    others = [re.escape(word).replace(r"\*", r"\w*") for word in listed if word.isascii()]
    return re.compile(rf"\b(?:{'|'.join(others)})\b|{'|'.join(chinese) or '(?!)'}", re.IGNORECASE)


def _counted(name: str) -> Cue:
    return lambda question, options: [float(len(_pattern(name).findall(text))) for text in options]


def _specific(question: str, options: Sequence[str]) -> list[float]:
    found = _counted("specific")(question, options)
    more = (len(_NAME.findall(text)) + len(re.findall(r"\d+", text)) for text in options)
    return [one + other for one, other in zip(found, more, strict=True)]


def _overlap(question: str, options: Sequence[str]) -> list[float]:
    """The mean share of words that an option has in common with each other option."""
    found = [units(text) for text in options]
    return [
        sum(len(own & other) / (len(own | other) or 1) for place, other in enumerate(found) if place != at)
        for at, own in enumerate(found)
    ]


def _asked(question: str, options: Sequence[str]) -> list[float]:
    wanted = units(question)
    return [len(wanted & own) / (len(own) or 1) ** 0.5 for own in map(units, options)]


CUES: dict[str, Cue] = {
    "characters": lambda question, options: [float(len(text)) for text in options],
    "words shared with the other options": _overlap,
    "words shared with the question": _asked,
    "commas and semicolons": lambda question, options: [float(len(re.findall("[,;，；、]", text))) for text in options],
    "marks at the start": lambda question, options: [float(not text[:1].isalnum()) for text in options],
    "negations": _counted("negative"),
    "polite words": _counted("polite"),
    "specific words": _specific,
}
"""Each cue is tried in both directions: the option with most of it, and the one with fewest."""


def readers() -> dict[str, Cue]:
    """The readers that follow one cue: the option with most of it, and the one with fewest."""
    found: dict[str, Cue] = {}
    for name, cue in CUES.items():
        found |= {f"most {name}": cue, f"fewest {name}": _turned(cue)}
    return found


def _turned(cue: Cue) -> Cue:
    return lambda question, options: [-value for value in cue(question, options)]


def take(values: Sequence[float]) -> list[float]:
    """The probability of each option for a reader who takes the highest value."""
    best = max(values)
    count = sum(value == best for value in values)
    return [float(value == best) / count for value in values]


def tried(items: Sequence[Shown]) -> list[Tried]:
    """What every cue earns in both directions, each position, and the classifiers if there are items enough."""
    earned: dict[str, list[float]] = {
        name: [take(reader(item.question, item.options))[item.answer] for item in items]
        for name, reader in readers().items()
    }
    for place in range(max(len(item.options) for item in items)):
        earned[f"option {chr(65 + place)}"] = [float(item.answer == place) for item in items]
    if len(items) >= FEWEST_ITEMS and len({len(item.options) for item in items}) == 1:
        earned[STRUCTURE] = cross_validated(items, structure(items), 0.05)
        earned[WORDS] = cross_validated(items, bag_of_words(items), 20.0)
    found = {name: sum(hits) / len(hits) for name, hits in earned.items()}
    luck = _luck(items, earned)
    p_values: dict[str, float] = {}
    for family in ([name for name in luck if name not in CLASSIFIERS], [name for name in luck if name in CLASSIFIERS]):
        if family:
            p_values |= dict(zip(family, holm([luck[name] for name in family]).tolist(), strict=True))
    return [Tried(name, share, p_values[name], p_values[name] < LEVEL) for name, share in found.items()]


def _luck(items: Sequence[Shown], earned: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """For each reader the exact probability that random options find as many keys.

    Twins are one question with two keys: a random option is one of them half the time, and never both.
    """
    keys: dict[tuple[str, tuple[str, ...]], dict[int, int]] = {}
    for place, item in enumerate(items):
        keys.setdefault((item.question, item.options), {})[item.answer] = place
    found = np.ones(1)
    for (_, options), places in keys.items():
        share = len(places) / len(options)
        found = np.convolve(found, [1 - share, share])
    counted = [place for places in keys.values() for place in places.values()]
    hits = {name: round(sum(values[place] for place in counted)) for name, values in earned.items()}
    return {name: min(1.0, float(found[count:].sum())) for name, count in hits.items()}


def chance_of(items: Sequence[Shown]) -> float:
    """What a random option earns."""
    return sum(1 / len(item.options) for item in items) / len(items)


def tried_table(found: Sequence[Tried], items: Sequence[Shown]) -> Table:
    """What was tried without the situation, the best first, next to chance."""
    rows: list[tuple[Cell, ...]] = [("a random option", chance_of(items), None, "")]
    ranked = sorted(found, key=lambda one: -one.accuracy)
    rows += [(one.reader, one.accuracy, one.p_value, "too good" if one.too_good else "") for one in ranked]
    columns, units = ("reader", "accuracy", "p (Holm)", "verdict"), {"accuracy": "share", "p (Holm)": "p"}
    title = f"Tried without the situation on {len(items)} items"
    return Table("baselines", title, columns, tuple(rows), _NOTE, units=units)


def structure(items: Sequence[Shown]) -> Floats:
    """Every cue of every option with its rank in the item, and the position, each relative to the item's mean."""
    rows = []
    for item in items:
        columns = [cue(item.question, item.options) for cue in CUES.values()]
        columns += [np.argsort(np.argsort(column)).tolist() for column in columns]
        columns += np.eye(len(item.options)).tolist()
        rows.append(np.array(columns, dtype=np.float64).T)
    table = np.stack(rows)
    table -= table.mean(axis=1, keepdims=True)
    flat = table.reshape(-1, table.shape[2])
    spread = flat.std(axis=0)
    found: Floats = flat / np.where(spread > 1e-9, spread, 1.0) / flat.shape[1] ** 0.5
    return found


def bag_of_words(items: Sequence[Shown]) -> Floats:
    """The words and pairs of words of every option, alone and with the kind of item, relative to the item's mean."""
    seen = [_features(option, item.kind) for item in items for option in item.options]
    counts = Counter(feature for features in seen for feature in features)
    columns = {feature: place for place, feature in enumerate(sorted(f for f, count in counts.items() if count > 1))}
    table = np.zeros((len(seen), len(columns)))
    for row, features in enumerate(seen):
        table[row, [columns[feature] for feature in features if feature in columns]] = 1.0
    by_item = table.reshape(len(items), len(items[0].options), -1)
    found: Floats = (by_item - by_item.mean(axis=1, keepdims=True)).reshape(len(seen), -1)
    return found


def _features(option: str, kind: str) -> set[str]:
    words = _WORD.findall(option.lower())
    pairs = {f"{one} {two}" for one, two in pairwise(words)}
    return {*words, *pairs, *(f"{kind}: {word}" for word in words), *(f"^{' '.join(words[:n])}" for n in (1, 2))}


def cross_validated(items: Sequence[Shown], features: Floats, penalty: float) -> list[float]:
    """For each item the share of the shuffles in which a ridge regression on other items picks the key.

    What a regression without a fold predicts for the fold follows from the inverse of the whole system.
    """
    size = len(items[0].options)
    keys = np.array([item.answer for item in items])
    target = (np.eye(size)[keys] - 1 / size).ravel()
    inverse = np.linalg.inv(features @ features.T + penalty * np.eye(len(features)))
    weights = inverse @ target
    hits = np.zeros(len(items))
    for shuffle in range(_SHUFFLES):
        fold = _folds([item.cluster for item in items], shuffle)
        for number in np.unique(fold):
            mine = fold == number
            left_out = np.repeat(mine, size)
            errors = np.linalg.solve(inverse[np.ix_(left_out, left_out)], weights[left_out])
            values = (target[left_out] - errors).reshape(-1, size)
            # options that are alike get the same value, and the first of them is picked
            hits[mine] += values.round(9).argmax(axis=1) == keys[mine]
    return [float(share) for share in hits / _SHUFFLES]


def _folds(names: Sequence[Hashable], shuffle: int) -> npt.NDArray[np.int_]:
    """The fold of each item; equal names have equal folds, and the order of the items has no effect."""
    order = sorted(set(names), key=lambda name: hashlib.sha256(f"{shuffle}/{name}".encode()).digest())
    fold = {name: place % _FOLDS for place, name in enumerate(order)}
    return np.array([fold[name] for name in names])


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--language", default=ENGLISH, help="Language of the bundled items, without FILE.")
def command(file: Path | None, language: str) -> None:
    """What readers earn without the situations on the items of FILE, or on the bundled items of SESI."""
    found = list(read_official(file) if file else bundled(language))
    shown = [Shown(one.question, one.options, one.answer, one.cluster or one.id, one.ability) for one in found]
    earned = tried(shown)
    print_table(tried_table(earned, shown))
    sys.exit(any(one.too_good for one in earned))


if __name__ == "__main__":
    command()
