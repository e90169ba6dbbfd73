"""Twins: two situations, one question, two keys; scored by pair."""

import json
import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

import sociometer as sm
from rehearsal import Rehearsal
from sociometer.core.errors import DataError
from sociometer.instruments import load
from sociometer.instruments.sesi import items
from sociometer.models.scripted import Scripted
from sociometer.reading import read_items
from sociometer.results.measured import measured

BUNDLED = list(read_items(items.TWINS, items.Twins))


def twins(name, key_a=0, key_b=1, trap=0, **more):
    return items.Twins(
        id=name, ability="concern", question=f"What helps {name}?", options=("Ask.", "Wait.", "Go.", "Sing."),
        situation_a=f"{name} wants company.", situation_b=f"{name} wants to be alone.", key_a=key_a, key_b=key_b,
        friendly_trap=trap is not None, trap=trap, **more,
    )  # fmt: skip


def played(letters, *, count=12):
    """A rehearsal of pairs with the same letters for each."""
    asked = [item for number in range(count) for item in twins(f"pair-{number}").questions()]
    show = Rehearsal(load("sesi"), {"subject": Scripted(list(letters) * count)}, {})
    return show.summarise("questions", asked)


@pytest.mark.parametrize(
    ("letters", "items_right", "pairs", "trapped"), [("AB", 1, 1, 0), ("AA", 0.5, 0, 1), ("CD", 0, 0, 0)]
)
def test_a_pair_is_won_only_if_both_twins_are_right(letters, items_right, pairs, trapped):
    """Always the friendly option A: every first twin is right, every second one is a trap."""
    summary = played(letters)
    assert summary.measure("accuracy").value == items_right
    assert (summary.measure("pairs").value, summary.measure("pairs").items) == (pairs, 12)
    assert summary.measure("trapped").value == trapped


def test_a_failed_half_is_an_error_of_its_pair_and_no_wrong_answer():
    asked = list(twins("Ida").questions())
    show = Rehearsal(load("sesi"), {"subject": Scripted(["A"])}, {})
    pairs = show.summarise("questions", asked).measure("pairs")
    assert (pairs.value, pairs.errors) == (None, 1)


def test_a_failed_twin_whose_other_is_not_among_the_items_is_no_pair():
    asked = [*twins("Ida").questions(), next(iter(twins("Ben").questions()))]
    show = Rehearsal(load("sesi"), {"subject": Scripted(["A", "B"])}, {})
    pairs = show.summarise("questions", asked).measure("pairs")
    assert (pairs.value, pairs.items, pairs.errors) == (1, 1, 0)


@pytest.mark.parametrize(
    ("change", "why"),
    [({"key_b": 0}, "two different keys"), ({"trap": 3}, "right in neither"), ({"key_a": 4}, "not an option")],
)
def test_wrong_twins_are_refused_with_file_and_line(tmp_path, change, why):
    line = {**msgspec.to_builtins(twins("Ida")), **change}
    path = tmp_path / "twins.jsonl"
    path.write_text(json.dumps(line))
    with pytest.raises(DataError, match=rf"twins.jsonl.*{why}|{why}"):
        list(read_items(path, items.Twins))


def test_the_bundled_pairs_are_sixty_or_more_over_all_abilities_and_half_have_a_friendly_trap():
    assert len(BUNDLED) >= 60
    assert set(Counter(pair.ability for pair in BUNDLED)) == set(items.ABILITIES)
    assert sum(pair.friendly_trap for pair in BUNDLED) >= len(BUNDLED) / 2
    assert (
        len({pair.id for pair in BUNDLED}) == len({pair.question + pair.options[0] for pair in BUNDLED}) == len(BUNDLED)
    )


def test_every_careful_reader_of_a_bundled_twin_chose_its_key():
    """`blind/twins`: the item behind each number of the sheets, and the raw answers of readers who saw no key."""
    folder = Path(__file__).parent / "blind" / "twins"
    numbers = json.loads((folder / "numbers.json").read_text())
    keys = {item.id: "ABCD"[item.answer] for pair in BUNDLED for item in pair.questions()}
    read = Counter()
    for path in folder.glob("careful-*.json"):
        for number, letter in json.loads(path.read_text()).items():
            name = numbers[number]["item"]
            if name in keys:
                assert letter == keys[name], (path.name, name)
                read[name] += 1
    assert set(read) == set(keys) and min(read.values()) >= 5


def test_the_situations_of_a_pair_differ_in_one_place():
    """What lies between the common beginning and the common end is at most a third of the text."""
    for pair in BUNDLED:
        one, two = (re.findall(r"[一-鿿]|[^\s一-鿿]+", text) for text in (pair.situation_a, pair.situation_b))
        start = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
        end = next((n for n, (a, b) in enumerate(zip(one[::-1], two[::-1], strict=False)) if a != b), 0)
        assert max(len(one), len(two)) - start - end <= max(len(one), len(two)) / 3, pair.id


def test_long_twins_are_not_harder_for_a_reader_in_a_hurry():
    """`blind/long`: pairs of 320 to 380 words, which are not bundled, and the raw answers of readers who saw no key."""
    folder = Path(__file__).parent / "blind" / "long"
    pairs = list(read_items(folder / "pairs.jsonl", items.Twins))
    keys = {item.id: "ABCD"[item.answer] for pair in pairs for item in pair.questions()}
    numbers = json.loads((folder / "numbers.json").read_text())
    assert sorted(numbers.values()) == sorted([*keys] * 2), "each situation is on one careful and one hurried sheet"
    read = Counter()
    for path in folder.glob("hurried-*.json"):
        read.update(letter == keys[numbers[number]] for number, letter in json.loads(path.read_text()).items())
    assert (read[True], read.total()) == (24, 24), "figures in the README"


def test_a_failed_item_counts_only_for_the_measures_it_belongs_to(tmp_path):
    asked = [item for item in items.bundled() if items.FRIENDLY not in item.kinds]

    def answer(conversation):
        if asked[0].situation in conversation[-1]["content"]:
            raise RuntimeError("no answer")
        return "A"

    summary = sm.run("sesi", model=answer, store=tmp_path / "s.db", second_question=False).summary()
    assert summary.measure("accuracy").errors == 1
    assert summary.measure("trapped").errors == 0


def test_readers_without_the_situations_pick_one_of_the_two_keys():
    """The figures of the README: the bundled pairs, and the same with rewritten wrong options, which are not used."""
    keys = {pair.id: (pair.key_a, pair.key_b) for pair in BUNDLED}
    folder = Path(__file__).parent / "blind" / "twins"
    bundled = json.loads((folder / "without-situation.json").read_text(encoding="utf-8"))["picked"]
    assert [sum(picked in keys[pair] for pair, picked in one.items()) for one in bundled.values()] == [83, 82, 82]
    assert all(one.keys() == keys.keys() for one in bundled.values())
    found = sum(picked in keys[pair] for one in bundled.values() for pair, picked in one.items())
    (floor,) = (row for row in measured().records() if "twins" in row["subject"])
    share = found / (2 * len(keys) * len(bundled))
    assert (floor["score"], floor["items"]) == (f"{share:.0%}".replace("%", " %"), str(2 * len(keys)))
    tried = json.loads((folder / "rewritten.json").read_text(encoding="utf-8"))
    untouched = [sum(one[pair] in keys[pair] for one in bundled.values()) for pair in tried["rewritten"]]
    assert untouched == [3] * 80, "the pairs in which no reader picked another option"
    assert sum(picked in keys[pair] for one in tried["picked"].values() for pair, picked in one.items()) == 223
    careful = [reading for one in tried["careful"].values() for reading in one.items()]
    right = [picked == keys[place[:-1]]["ab".index(place[-1])] for place, picked in careful]
    assert (sum(right), len(right)) == (160, 160)
