"""How many labelled replies are read right, wrong and not at all, beside the rules that other tools use for choices.

Run: python bench/reading.py [files...]; without files, the corpus in tests/corpus. Intervals are Wilson's, 95 %.
The two rules are written from the descriptions of Inspect's multiple choice (a letter behind "ANSWER:") and of
lm-eval's flexible extraction (the last letter in brackets, else the last one behind "answer is", else standing alone).
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sociometer.reading import read_allocation, read_choice, read_schema

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"
_MARKED = re.compile(r"(?im)\banswer\s*:\s*\**\(?([A-Za-z0-9])\)?(?![A-Za-z0-9])")
_BRACKETS = re.compile(r"\(([A-Z])\)")
_STATED = re.compile(r"(?i)answer is:?\s*\**\(?([A-Z])\)?(?![A-Za-z])")
_ALONE = re.compile(r"(?<![A-Za-z'])([A-Z])(?![A-Za-z'])")
Entry = dict[str, Any]
Read = Callable[[Entry], Any]


def our_choice(entry: Entry) -> int | None:
    return read_choice(entry["reply"], entry["options"], entry["labels"], finish=entry["finish"]).index


def like_inspect(entry: Entry) -> int | None:
    """The letter behind the last "ANSWER:"."""
    return _index(_MARKED.findall(entry["reply"]), entry)


def like_lm_eval(entry: Entry) -> int | None:
    """The last letter in brackets, else behind "answer is", else alone."""
    for pattern in (_BRACKETS, _STATED, _ALONE):
        if found := pattern.findall(entry["reply"]):
            return _index(found, entry)
    return None


def our_points(entry: Entry) -> list[float] | None:
    """The points as shares of ten, since percentages are labelled as they were written."""
    values = read_allocation(entry["reply"], entry["options"], entry["total"]).values
    return None if values is None else _shares(values)


def our_json(entry: Entry) -> Any:
    return read_schema(entry["reply"], entry["schema"]).value


READERS: dict[str, dict[str, Read]] = {
    "choice": {"Sociometer": our_choice, "like Inspect": like_inspect, "like lm-eval": like_lm_eval},
    "allocation": {"Sociometer": our_points},
    "json": {"Sociometer": our_json},
}


def outcome(found: Any, label: Any, kind: str) -> str:
    """Right where both hold the same answer, or the label says that there is none and none was read."""
    if isinstance(label, str):
        return "right" if found is None else "wrong"
    wanted = _shares(label) if kind == "allocation" else label
    return "unread" if found is None else "right" if found == wanted else "wrong"


def wilson(count: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share, z2 = count / total, 1.96**2
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = 1.96 * ((share * (1 - share) + z2 / (4 * total)) / total) ** 0.5 / (1 + z2 / total)
    return max(0.0, centre - half), min(1.0, centre + half)


def _shares(values: Any) -> list[float]:
    total = sum(values)
    return [round(10 * value / total, 6) if total else 0.0 for value in values]


def _index(letters: list[str], entry: Entry) -> int | None:
    labels = [label.strip("()").upper() for label in entry["labels"]]
    return labels.index(letters[-1].upper()) if letters and letters[-1].upper() in labels else None


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]]
    if not files:
        print("measured only: written after the readers were frozen, never used to change a rule")
        report(sorted((CORPUS / "measured").glob("*[0-9].jsonl")))
        print("\nused to improve the readers")
        files = sorted(CORPUS.glob("*[0-9].jsonl"))
    report(files)


def report(files: list[Path]) -> None:
    """Prints the counts of each file and of each kind of answer."""
    print(
        f"{'replies':16}{'read by':14}{'right':>7}{'wrong':>7}{'unread':>8}{'in all':>8}   right, 95 %     wrong, 95 %"
    )
    together: dict[tuple[str, str], Counter[str]] = {}
    for file in files:
        entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for name, read in READERS[entries[0]["kind"]].items():
            counts = Counter(outcome(read(entry), entry["label"], entry["kind"]) for entry in entries)
            together.setdefault((entries[0]["kind"], name), Counter()).update(counts)
            _print(file.stem, name, counts)
    print()
    for (kind, name), counts in together.items():
        _print(f"all: {kind}", name, counts)


def _print(title: str, name: str, counts: Counter[str]) -> None:
    total = sum(counts.values())
    shares = "   ".join("{:.1%} to {:.1%}".format(*wilson(counts[key], total)).rjust(14) for key in ("right", "wrong"))
    numbers = f"{counts['right']:>7}{counts['wrong']:>7}{counts['unread']:>8}{total:>8}"
    print(f"{title:16}{name:14}{numbers}   {shares}")


if __name__ == "__main__":
    main()
