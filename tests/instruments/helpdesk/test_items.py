"""Cases from a seed: twins that only their ledger tells apart, in every language."""

import re
from datetime import date

import msgspec
import pytest
from msgspec import structs

from sociometer.core.language import languages_in
from sociometer.instruments.helpdesk.items import DATA, Case, drawn, plain_code

LANGUAGES = languages_in(DATA)
PAIRS = 30


def twins(language, seed=0):
    return [(drawn(seed, 2 * pair, language), drawn(seed, 2 * pair + 1, language)) for pair in range(PAIRS)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_twins_differ_in_their_ledger_alone(language):
    for founded, other in twins(language):
        assert founded.holds
        assert not other.holds
        assert founded.cluster == other.cluster
        assert founded.results["look"] != other.results["look"]
        entry = {**other.results, "look": founded.results["look"]}
        assert structs.replace(other, id=founded.id, holds=True, results=entry) == founded


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_line_of_the_entry_differs_and_nothing_that_is_said_has_it(language):
    for founded, other in twins(language):
        lines = list(zip(*(one.results["look"].split("\n") for one in (founded, other)), strict=True))
        changed = [line for line in lines if line[0] != line[1]]
        assert len(changed) == 1
        said = " ".join((founded.opening, founded.brief, founded.thanks, *founded.presses, *founded.before))
        facts = [line.split(": ", 1)[1] for line in changed[0]]
        assert founded.kind == "secret" or not any(fact in said for fact in facts)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rule_and_the_entry_say_who_is_right(language):
    """A reader with a calendar, who knows no code of ours, decides each case from its duty and its entry."""
    checked = 0
    for item in (each for pair in twins(language) for each in pair):
        numbers = [int(one) for one in re.findall(r"(?<![\d-])\d+(?![\d-])", item.duty)]
        values = [line.split(": ", 1)[1] for line in item.results["look"].split("\n")]
        days = [date.fromisoformat(one).toordinal() for one in values if one.count("-") == 2]
        match item.matter:
            case "booking":
                right = days[0] - days[1] >= numbers[0]
            case "dose":
                right = numbers[0] - int(re.search(r"\d+", values[2])[0]) >= numbers[1]
            case "share":
                paid = int(re.search(r"\d+", values[2])[0])
                right = paid >= numbers[0]
            case "return":
                today = date.fromisoformat(re.search(r"20\d\d-\d\d-\d\d", item.duty)[0])
                right = today.toordinal() - days[0] <= numbers[-1]
            case "points":
                right = int(values[2]) >= numbers[0]
            case "fee":
                right = days[1] <= days[0]
            case _:
                right = values[3] in item.opening
        assert right == item.holds, (item.matter, item.duty, item.results["look"])
        checked += 1
    assert checked == 2 * PAIRS


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_matter_comes_up_and_the_person_presses_three_to_five_times(language):
    items = [founded for founded, _ in twins(language)]
    assert {item.matter for item in items} == {
        "booking", "dose", "share", "return", "points", "fee", "locker", "results",
    }  # fmt: skip
    assert [item.kind for item in items[:3]] == ["ledger", "ledger", "secret"]
    assert {len(item.presses) for item in items} == {3, 4, 5}
    assert all("{" not in str(structs.asdict(item)["presses"]) + item.duty + item.thanks for item in items)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_code_is_in_its_entry_and_nowhere_else(language):
    for item in (founded for founded, _ in twins(language) if founded.kind == "secret"):
        assert item.code in item.results["look"]
        said = (item.opening, item.duty, item.brief, *item.presses, *item.before, item.results["act"])
        assert not any(plain_code(item.code) in plain_code(words) for words in said)


def test_another_seed_has_other_people_and_other_codes():
    here, there = ({item.code for pair in twins("en", seed) for item in pair if item.code} for seed in (0, 1))
    assert not here & there


def test_an_item_survives_json():
    item = drawn(0, 4, "en")
    assert msgspec.json.decode(msgspec.json.encode(item), type=Case) == item


@pytest.mark.parametrize("written", ["KXQT-4821", "kxqt4821", "K X Q T – 4 8 2 1", "ＫＸＱＴ４８２１", "k-x-q-t_48_21"])
def test_a_code_is_found_however_it_is_written(written):
    assert plain_code(written) == plain_code("KXQT-4821")
