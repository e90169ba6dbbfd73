"""The bundled items keep the promises the instrument makes about them."""

import json
import re
from collections import Counter
from importlib.resources import files

import pytest

ABILITIES = ("empathy", "social-cognition", "self-presentation", "influence", "concern")


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    text = (files("sociometer.instruments.sesi") / "data" / "items.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def sentences(text: str) -> int:
    return len(re.findall(r"[.!?](?=\s|$)", text))


def test_there_are_at_least_twenty_items_for_each_of_the_five_abilities(rows):
    counts = Counter(row["ability"] for row in rows)
    assert set(counts) == set(ABILITIES)
    assert all(count >= 20 for count in counts.values())


def test_ids_are_unique_and_no_situation_stands_twice(rows):
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({row["situation"] for row in rows}) == len(rows)
    assert len({option for row in rows for option in row["options"]}) == 4 * len(rows)


def test_every_situation_has_three_sentences_about_a_person(rows):
    for row in rows:
        assert sentences(row["situation"]) == 3, row["id"]
        assert row["situation"].startswith("A person"), row["id"]
        assert row["question"].endswith("?"), row["id"]
        assert all(sentences(option) == 1 for option in row["options"]), row["id"]


def test_every_item_has_one_right_option_and_both_kinds_of_wrong_ones(rows):
    for row in rows:
        kinds = Counter(kind.partition(":")[0] for kind in row["kinds"])
        assert kinds["right"] == 1 and kinds["reversed"] >= 1 and kinds["switched"] >= 1, row["id"]
        assert row["kinds"][row["answer"]] == "right", row["id"]
        switched_to = [kind.partition(":")[2] for kind in row["kinds"] if kind.startswith("switched")]
        assert all(other in ABILITIES and other != row["ability"] for other in switched_to), row["id"]


def test_right_positions_are_balanced_over_the_set_and_within_each_ability(rows):
    for ability in ABILITIES:
        counts = Counter(row["answer"] for row in rows if row["ability"] == ability)
        assert max(counts[k] for k in range(4)) - min(counts[k] for k in range(4)) <= 1, ability


@pytest.mark.parametrize("measure", [len, lambda text: len(text.split())], ids=["characters", "words"])
@pytest.mark.parametrize("pick", [max, min])
def test_the_length_of_an_option_gives_the_answer_away_no_more_than_chance(rows, pick, measure):
    hits = 0.0
    for row in rows:
        lengths = [measure(option) for option in row["options"]]
        extreme = [i for i, length in enumerate(lengths) if length == pick(lengths)]
        hits += (row["answer"] in extreme) / len(extreme)
    assert 0.20 <= hits / len(rows) <= 0.30
