"""What blind readers answered on the sheets from which the bundled single items come.

`blind/SHEET.json` is what a reader saw, `blind/keys.json` the item behind each number and its key, and
`blind/answers/SHEET-WAY-READER.json` the raw answers of a reader, a language model that had seen neither key nor notes:
after thinking (`thought`), at once (`once`), or on a sheet without situations and questions (`options-only`). Of the
150 items that came from these sheets, those stayed whose key at most one of three stronger readers found from question
and options alone (`blind/singles`).
"""

import json
from pathlib import Path

from sociometer.instruments.sesi import items
from sociometer.reading import read_items
from sociometer.results.measured import measured

BLIND = Path(__file__).parent / "blind"
BUNDLED = {item.id: item for item in read_items(items.BUNDLED, items.Question)}
WORDED_ANEW = {"sesi-cog-108", "sesi-cog-116", "sesi-cog-123", "sesi-con-113", "sesi-con-115", "sesi-emp-110"}
"""Items that the readers found doubtful or oddly worded, and whose text was changed after the reading."""


def read(name):
    return json.loads((BLIND / name).read_text(encoding="utf-8"))


def answers(way):
    """For each bundled item, whether each reader of this way was right."""
    keys, found = read("keys.json"), {}
    for path in sorted((BLIND / "answers").glob(f"*-{way}-*.json")):
        given = json.loads(path.read_text(encoding="utf-8"))
        for number, letter in given["answers"].items():
            key = keys[given["sheet"]][number]
            if key["id"] in BUNDLED:
                found.setdefault(key["id"], []).append(letter == key["answer"])
    return found


def share(found):
    return sum(map(sum, found.values())) / sum(map(len, found.values()))


def test_the_readers_saw_the_bundled_items_except_those_worded_anew():
    keys, differing = read("keys.json"), set()
    for sheet, key in keys.items():
        for row in read(f"{sheet}.json")["items"]:
            item = BUNDLED.get(key[row["number"]]["id"])
            if item is None:
                continue
            options = row["options"]
            same = (row["situation"], row["question"]) == (item.situation, item.question)
            if not same or set(options.values()) != set(item.options):
                differing.add(item.id)
            elif options[key[row["number"]]["answer"]] != item.options[item.answer]:
                raise AssertionError(f"{item.id} has another key on the sheet")
    assert differing == WORDED_ANEW


def test_every_item_was_read_by_several_and_three_of_four_agree_with_the_key_after_thinking():
    found = answers("thought")
    assert set(found) == set(BUNDLED)
    for name, right in found.items():
        assert len(right) >= 4, name
        if name not in WORDED_ANEW:
            assert sum(right) / len(right) >= 0.75, name


def test_readers_of_the_situation_agree_with_the_keys_after_thinking_and_nearly_at_once():
    assert share(answers("thought")) > 0.98
    assert 0.9 < share(answers("once")) < 0.95


def test_the_single_items_are_those_whose_key_few_readers_find_from_question_and_options():
    """Three readers chose among 150; a fourth, who took no part in it, guesses the survivors no better than chance."""
    numbers = read("singles/numbers.json")
    readers = [read(f"singles/options-only-{one}.json") for one in (1, 2, 3)]
    chosen = {
        one["id"]: sum(reader[number] == one["key"] for reader in readers) for number, one in numbers["all"].items()
    }
    earned = [sum(reader[number] == one["key"] for number, one in numbers["all"].items()) for reader in readers]
    assert (len(chosen), earned) == (150, [106, 105, 106])
    assert set(BUNDLED) == {name for name, count in chosen.items() if count <= 1}
    fourth = read("singles/survivors-only-4.json")
    assert set(BUNDLED) == {one["id"] for one in numbers["survivors"].values()}
    found = sum(fourth[number] == one["key"] for number, one in numbers["survivors"].items())
    assert found == 8
    (floor,) = (row for row in measured().records() if "single items" in row["subject"])
    assert (floor["score"], floor["items"]) == (f"{found / len(BUNDLED):.0%}".replace("%", " %"), str(len(BUNDLED)))
