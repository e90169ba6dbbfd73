"""How many labelled replies the choice reader reads right, beside two simple extraction rules.

Run: python bench/reading.py [files...]; without files, the corpus in tests/corpus.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sociometer.elicit import read_choice

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"
_CAPITAL = re.compile(r"\(([A-Z])\)|(?<![A-Za-z'])([A-Z])(?![A-Za-z'])")
_ANSWER = re.compile(r"(?i)answer\s*(is)?\s*:?\s*\(?([A-D])\)?")
Entry = dict[str, Any]


def sociometer(entry: Entry) -> int | None:
    return read_choice(entry["reply"], entry["options"], entry["labels"], finish=entry["finish"]).index


def last_capital(entry: Entry) -> int | None:
    """The last capital letter in brackets or alone."""
    letters = [match[1] or match[2] for match in _CAPITAL.finditer(entry["reply"])]
    return _index(letters[-1], entry) if letters else None


def first_answer(entry: Entry) -> int | None:
    """The letter behind the first "answer", "answer is" or "answer:"."""
    match = _ANSWER.search(entry["reply"])
    return _index(match[2], entry) if match else None


def _index(letter: str, entry: Entry) -> int | None:
    labels = [label.strip("()").upper() for label in entry["labels"]]
    return labels.index(letter.upper()) if letter.upper() in labels else None


READERS: dict[str, Callable[[Entry], int | None]] = {
    "sociometer": sociometer,
    "last capital letter": last_capital,
    'first "answer" match': first_answer,
}


def outcome(read: int | None, label: int | str) -> str:
    if isinstance(label, str):
        return "right" if read is None else "wrong"
    return "unread" if read is None else "right" if read == label else "wrong"


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]] or sorted(CORPUS.glob("choice-*.jsonl"))
    print(f"{'file':16}{'reader':24}{'right':>7}{'wrong':>7}{'unread':>8}{'replies':>9}")
    for file in files:
        entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for name, reader in READERS.items():
            counts = Counter(outcome(reader(entry), entry["label"]) for entry in entries)
            row = "".join(f"{counts[key]:>{width}}" for key, width in (("right", 7), ("wrong", 7), ("unread", 8)))
            print(f"{file.stem:16}{name:24}{row}{len(entries):>9}")


if __name__ == "__main__":
    main()
