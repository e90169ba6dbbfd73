"""What blind readers answered on sheets of generated stories, against the oracle's keys.

`blind/SHEET.json` is what a reader saw, `blind/keys.json` the oracle's answers, and
`blind/answers/SHEET-WAY-READER.json` the raw answers of a reader (a language model that had seen nothing else), at
once. Items without an answer were not reached and do not count.
"""

import json
from collections import Counter
from pathlib import Path

BLIND = Path(__file__).parent / "blind"


def shares():
    """Right answers and answers, by sheet and way of reading."""
    keys = json.loads((BLIND / "keys.json").read_text(encoding="utf-8"))
    right, given = Counter(), Counter()
    for path in sorted((BLIND / "answers").glob("*.json")):
        sheet = json.loads(path.read_text(encoding="utf-8"))
        cell = (sheet["sheet"], sheet["way"])
        for number, letter in sheet["answers"].items():
            given[cell] += 1
            right[cell] += letter == keys[sheet["sheet"]][int(number) - 1]["answer"]
    return {cell: right[cell] / count for cell, count in given.items()}


def test_every_key_names_an_option_of_its_item():
    keys = json.loads((BLIND / "keys.json").read_text(encoding="utf-8"))
    for name, key in keys.items():
        items = json.loads((BLIND / f"{name}.json").read_text(encoding="utf-8"))["items"]
        assert len(items) == len(key)
        assert all(one["answer"] in item["options"] for item, one in zip(items, key, strict=True))


def test_readers_who_answer_at_once_agree_with_the_oracle_on_every_item():
    assert shares() == {("seen-en", "once"): 1, ("seen-zh", "once"): 1}
