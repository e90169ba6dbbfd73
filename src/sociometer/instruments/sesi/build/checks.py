"""Checks of built items: lengths of right and wrong answers, and flags on single items."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from sociometer.core.language import read_texts
from sociometer.core.lazy import lazy
from sociometer.core.measure import Table
from sociometer.instruments.sesi.items import Question
from sociometer.statistics.formatting import p_phrase
from sociometer.statistics.people import cohens_d

stats = lazy("scipy.stats")
_LINK_LEFT = re.compile(r"https?://\S+|www\.\S+|\b[ur]/\w+|@\w{3,}")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_TELLER = re.compile(r"\b(?:I|my|me)\b")
_PLAIN_WORD = re.compile(r"[a-z']+")
_NAME_LEFT = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b")
WORDS = read_texts(Path(__file__).with_name("words.toml"))
NOT_NAMES = frozenset(WORDS["not_names"])
SMALL = 0.1
"""The paper's bound on |Cohen's d|."""


class Flag(Struct, frozen=True):
    """Something to check in one item."""

    item: str
    what: str


def answer_lengths(items: Sequence[Question]) -> tuple[list[int], list[int]]:
    """The words of right and of wrong answers."""
    right = [len(item.options[item.answer].split()) for item in items]
    wrong = [len(text.split()) for item in items for place, text in enumerate(item.options) if place != item.answer]
    return right, wrong


def length_difference(right: Sequence[float], wrong: Sequence[float]) -> tuple[float | None, float]:
    """Cohen's d of two sets of lengths, and p of the two-sample Kolmogorov-Smirnov test."""
    d = cohens_d(wrong, right) if min(len(right), len(wrong)) > 1 else None
    return d, float(stats.ks_2samp(right, wrong).pvalue)


def length_table(items: Sequence[Question]) -> Table:
    """Words of right and wrong answers: means, Cohen's d, and the two-sample Kolmogorov-Smirnov test."""
    right, wrong = answer_lengths(items)
    rows: tuple[tuple[str | float | int | None, ...], ...] = ()
    note = ""
    if right:
        d, p_value = length_difference(right, wrong)
        rows = (
            ("right", len(right), float(np.mean(right)), float(np.std(right))),
            ("wrong", len(wrong), float(np.mean(wrong)), float(np.std(wrong))),
        )
        note = f"Cohen's d = {'undefined' if d is None else format(d, '.2f')}; same distribution: {p_phrase(p_value)}."
    return Table("lengths", "Words of an answer", ("answers", "n", "mean", "deviation"), rows, note)


def flags(items: Sequence[Question]) -> list[Flag]:
    """Situations that are repeated, not three sentences long or in the first person; links, names, equal options."""
    found: list[Flag] = []
    shingles: list[tuple[str, frozenset[str]]] = []
    for item in items:
        texts = (item.situation, item.question, *item.options)
        for text in texts:
            found += [Flag(item.id, f"link or handle left in: {link}") for link in _LINK_LEFT.findall(text)]
            names = sorted({name for name in _NAME_LEFT.findall(text) if name not in NOT_NAMES})
            found += [Flag(item.id, f"name left in: {name}") for name in names]
        if (count := len(_SENTENCE_END.findall(item.situation))) != 3:
            found.append(Flag(item.id, f"the situation has {count} sentences, not three"))
        if _TELLER.search(item.situation) or _TELLER.search(item.question):
            found.append(Flag(item.id, "told in the first person"))
        if len({text.lower() for text in item.options}) < 4:
            found.append(Flag(item.id, "two options are the same"))
        own = _shingles(item.situation)
        alike = (other for other, theirs in shingles if own and len(own & theirs) / len(own | theirs) > 0.6)
        if (first := next(alike, None)) is not None:
            found.append(Flag(item.id, f"situation nearly the same as that of {first}"))
        shingles.append((item.id, own))
    return list(dict.fromkeys(found))


def _shingles(text: str) -> frozenset[str]:
    words = _PLAIN_WORD.findall(text.lower())
    return frozenset(" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2)))
