"""Claims of the paper's text: GPT-4.5 on listening scenarios, the direction of SSRR, and the language."""

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev

from sociometer.core.measure import PublishedFigure
from sociometer.core.source import Source
from sociometer.instruments.sage.items import PROFILES, read_profiles
from sociometer.instruments.sage.published.printed import rounded, table
from sociometer.instruments.sage.published.released import ReleasedFile

_MODEL = "GPT-4.5-Preview"
_INTENTION = "listening"
_PRINTED = 57.1
_OVERALL = 62.7
_HAN = re.compile(r"[\u4e00-\u9fff]")


def claims(source: Source, files: Sequence[ReleasedFile]) -> Iterator[PublishedFigure]:
    """The claims with what the released files and the printed tables say; `files` have the paper's simulator."""
    path = source.find(PROFILES)
    profiles = list(read_profiles(path)) if path is not None else []
    yield from _weak_spot({profile.id for profile in profiles if profile.intention == _INTENTION}, files)
    yield _ssrr()
    yield _language([profile.first_words for profile in profiles])


def _weak_spot(scenarios: set[str], files: Sequence[ReleasedFile]) -> Iterator[PublishedFigure]:
    """GPT-4.5's score on the scenarios of people who want to be listened to, against its score on all."""
    where = "Appendix E.2"
    overall = {row["model"]: float(row["score"]) for row in table("table3")}[_MODEL]
    what = f"{_MODEL} overall, as in Table 3"
    yield PublishedFigure(where, what, _OVERALL, overall, overall == _OVERALL, claim=True)
    parts = {file.model: [file.finals[name] for name in scenarios & set(file.finals)] for file in files}
    there = parts.get(_MODEL, [])
    value = rounded(fmean(there)) if there else None
    what = f"{_MODEL} on {_INTENTION} scenarios"
    reason = "" if there else "Needs its dialogues and the profiles: 'sociometer data fetch sage --dialogues'."
    yield PublishedFigure(where, what, _PRINTED, value, value == _PRINTED, reason, claim=True)
    yield _told_apart(where, {model: found for model, found in parts.items() if len(found) > 1})


def _told_apart(where: str, parts: Mapping[str, Sequence[int]]) -> PublishedFigure:
    """Whether the printed gap is larger than the sampling error of so few scenarios, as other models show it."""
    gap = rounded(_OVERALL - _PRINTED)
    what = f"{_MODEL}'s gap on {_INTENTION} scenarios, larger than chance"
    if not parts:
        reason = "Needs released dialogues and the profiles: 'sociometer data fetch sage --dialogues'."
        return PublishedFigure(where, what, gap, None, False, reason, claim=True)
    margin = rounded(fmean(1.96 * stdev(found) / len(found) ** 0.5 for found in parts.values()))
    count = max(map(len, parts.values()))
    reason = (
        f"A mean over {count} scenarios has a margin of {margin} points (95 %), averaged over {len(parts)} models with"
        " dialogues; a smaller gap may be chance."
    )
    return PublishedFigure(where, what, gap, f"margin {margin}", gap > margin, reason, claim=True)


def _ssrr() -> PublishedFigure:
    """Two sections say opposite things about SSRR and rank."""
    return PublishedFigure(
        "section 4.2", "SSRR of high-ranked models", "low", "high (E.2)", False,
        "The paper contradicts itself: E.2 gives low SSRR to the lowest-ranked models. The values are only plotted and"
        " the labels were not released; 'sociometer analyse sage --what strategies' computes SSRR from dialogues.",
        claim=True,
    )  # fmt: skip


def _language(openings: Sequence[str]) -> PublishedFigure:
    chinese = sum(bool(_HAN.search(opening)) for opening in openings)
    reason = (
        "The people in every released scenario speak Chinese."
        if openings and chinese == len(openings)
        else ""
        if openings
        else "Needs the profiles: 'sociometer data fetch sage'."
    )
    found = f"Chinese in {chinese} of {len(openings)}" if openings else None
    holds = bool(openings) and not chinese
    return PublishedFigure("limitations", "language of the scenarios", "English", found, holds, reason, claim=True)
