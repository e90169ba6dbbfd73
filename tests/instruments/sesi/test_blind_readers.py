"""What blind readers answered on the sheets from which the bundled items come.

`blind/SHEET.json` is what a reader saw, `blind/keys.json` the item behind each number and its key, and
`blind/answers/SHEET-WAY-READER.json` the raw answers of a reader, a language model that had seen neither key nor notes:
after thinking (`thought`), at once (`once`), or on a sheet without situations and questions (`options-only`). The fifty
easiest items of the sheet `first` were replaced by those of the sheet `hard`.
"""

import json
from collections import Counter
from pathlib import Path

from sociometer.instruments.sesi import items
from sociometer.reading import read_items

BLIND = Path(__file__).parent / "blind"
BUNDLED = {item.id: item for item in read_items(items.BUNDLED, items.Question)}
WORDED_ANEW = {
    "sesi-cog-104", "sesi-cog-105", "sesi-cog-108", "sesi-cog-116", "sesi-cog-118", "sesi-cog-122", "sesi-cog-123",
    "sesi-con-104", "sesi-con-113", "sesi-con-115", "sesi-con-128", "sesi-emp-110", "sesi-inf-129", "sesi-pre-102",
    "sesi-pre-104", "sesi-pre-109", "sesi-pre-133",
}  # fmt: skip
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


def test_a_reader_of_the_options_alone_earns_far_less_than_one_of_the_situation():
    assert share(answers("thought")) > 0.98
    assert share(answers("options-only")) < 0.75


def test_readers_who_answer_at_once_are_as_good_as_those_who_think():
    """A limit of the set: these readers miss 1 or 2 % of it at once, so it does not tell strong readers apart."""
    assert share(answers("once")) > 0.95


def test_every_ability_was_read():
    found = answers("once")
    assert Counter(BUNDLED[name].ability for name in found) == dict.fromkeys(items.ABILITIES, 30)


def test_of_the_single_items_few_survive_readers_who_see_only_the_options():
    """Three readers chose among them; a fourth, who took no part in it, guesses the survivors no better than chance."""
    folder = Path(__file__).parent / "blind" / "singles"
    numbers = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))
    readers = [json.loads((folder / f"options-only-{one}.json").read_text(encoding="utf-8")) for one in (1, 2, 3)]
    chosen = {
        one["id"]: sum(reader[number] == one["key"] for reader in readers) for number, one in numbers["all"].items()
    }
    survivors = {name for name, count in chosen.items() if count <= 1}
    assert [sum(reader[number] == one["key"] for number, one in numbers["all"].items()) for reader in readers] == [
        106,
        105,
        106,
    ]
    assert survivors == {one["id"] for one in numbers["survivors"].values()} and len(survivors) == 44
    fourth = json.loads((folder / "survivors-only-4.json").read_text(encoding="utf-8"))
    assert sum(fourth[number] == one["key"] for number, one in numbers["survivors"].items()) == 8
