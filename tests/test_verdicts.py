"""Every verdict that a page or the demonstration states agrees with the interval beside it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "README.zh.md", "docs/tutorial.md", "docs/how-to/ci-gate.md")
N = r"([+−-]?[\d.,]*\d)"
INTERVAL = rf"\[{N}, {N}\]"
SIZE = rf"{N}(?: points?)? (higher|lower)(?: than .*?)? {INTERVAL}"
SURE = re.compile(rf" (?:is (?:better|worse) than|differs from) [^.;]*?: {SIZE}")
OPEN = re.compile(rf"[Nn]o clear difference[^.;]*?: [^.;]*? is {SIZE}")
SAME = re.compile(rf" are the same[^.;]*? within {N}(?: points?)?: [^.;]*? is {SIZE}")
ROW = re.compile(rf"{N} {INTERVAL}\s+(better|worse|differs|equivalent|cannot tell)\b")


def number(text):
    return float(text.replace("−", "-").replace(",", ""))


def sized(groups):
    """The bounds around a difference, which has the sign of its direction."""
    size, way, low, high = groups
    return number(low), number(size) * (1 if way == "higher" else -1), number(high)


def wrong_verdicts(text):
    """What a text says about its intervals and they do not; and how many verdicts it has."""
    text = re.sub(r"\s+", " ", text)
    found = []
    for match in SURE.finditer(text):
        low, size, high = sized(match.groups())
        found.append((match[0], low <= size <= high and not low <= 0 <= high))
    for match in OPEN.finditer(text):
        low, size, high = sized(match.groups())
        found.append((match[0], low <= size <= high and low <= 0 <= high))
    for match in SAME.finditer(text):
        margin, (low, size, high) = number(match[1]), sized(match.groups()[1:])
        found.append((match[0], -margin < low <= size <= high < margin))
    for match in ROW.finditer(text):
        size, low, high = map(number, match.groups()[:3])
        sure = match[4] in ("better", "worse", "differs")
        found.append((match[0], low <= size <= high and sure != (low <= 0 <= high)))
    return [claim for claim, good in found if not good], len(found)


@pytest.mark.parametrize("name", PAGES)
def test_the_verdicts_of_a_page_follow_from_their_intervals(name):
    wrong, count = wrong_verdicts((ROOT / name).read_text(encoding="utf-8"))
    assert wrong == []
    assert count > 0


def test_a_verdict_against_its_interval_is_found():
    text = (
        "B is better than A: 3 points higher [−1, 7]. No clear difference: B is 42 points lower than A [−68, −4]."
        " B and A are the same within 3 points: B is 1 point higher [−2, 4]."
        " score 35 % 23 % −12 [−22, −1] equivalent"
    )
    wrong, count = wrong_verdicts(text)
    assert (len(wrong), count) == (4, 4)
