"""The second-person forms of items are edits of words."""

import csv
import hashlib
from pathlib import Path

import pytest

from sociometer.cli.main import run_command
from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.items import Reading
from sociometer.reading import read_items

BUNDLED = list(read_items(items.BUNDLED, items.Question))


def test_a_text_without_edits_stays():
    assert items.converted(["One.", "Two?"], [Reading(1, 0, "Two", "Three")]) == ("One.", "Three?")


def test_edits_of_another_wording_are_not_applied():
    made = [Reading(0, 0, "Ana", "You"), Reading(0, 1, "waits", "wait")]
    assert items.applied("Ana waits.", made) == "You wait."
    assert items.applied("Now Ana waits.", made) is None
    assert items.converted(["Now Ana waits.", "Why?"], made) is None


def approved():
    with (Path(__file__).parent / "approved.csv").open(newline="") as file:
        return {row["id"]: row["digest"] for row in csv.DictReader(file)}


def digest(texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def test_the_official_items_are_converted_as_three_readers_approved_and_the_rest_named(official_data):
    found = list(items.read_official(official_data / "sesi" / "sesi.csv"))
    converted, left_out = items.in_second_person(found)
    assert len(converted) == 476
    assert len(left_out) == 24
    right = approved()
    assert [q.id for q in converted if digest(q.texts) != right[q.id]] == []


def test_bundled_items_with_somebody_to_address_are_converted_and_keep_their_key():
    converted, _ = items.in_second_person(BUNDLED)
    before = {item.id: item for item in BUNDLED}
    assert len(converted) >= 20
    for item in converted:
        assert item.answer == before[item.id].answer and item.kinds == before[item.id].kinds
        assert "you" in f"{item.situation} {item.question}".lower(), item.id
        assert item.texts != before[item.id].texts


def test_every_shipped_edit_points_at_the_word_it_names(official_data):
    found = {q.id: q for q in (*BUNDLED, *items.read_official(official_data / "sesi" / "sesi.csv"))}
    for name, lines in items.read_readings().items():
        assert items.converted(found[name].texts, lines) is not None, name


def test_no_shipped_edit_holds_more_than_a_few_words():
    for lines in items.read_readings().values():
        assert all(len(line.word.split()) == 1 and len(line.becomes.split()) <= 6 for line in lines)


@pytest.fixture
def own_set(tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    rows = [
        [
            "x1",
            "concern",
            "Ana has a sister.",
            "What should Ana do?",
            "Call her.",
            "Wait.",
            "Ask Ana's aunt.",
            "Go.",
            "0",
        ],
        ["x2", "concern", "It rains on Bo.", "What should Bo do?", "Run.", "Sit.", "Stand.", "Lie down.", "1"],
        ["x3", "concern", "It snows.", "Why?", "Cold.", "Wind.", "Winter.", "Clouds.", "1"],
    ]
    with (tmp_path / "sesi.csv").open("w", newline="") as file:
        csv.writer(file).writerows([items.COLUMNS, *rows])
    return tmp_path


def test_where_nothing_converts_other_factors_go_on(own_set, capsys):
    words = ["--data", str(own_set), "--model", "baseline/first", "--quiet"]
    assert run_command(["run", "sesi", *words, "--condition", "second-person"]) == 2
    assert "none of the 3 items has a second-person form" in capsys.readouterr().err
    assert run_command(["sesi", "probe", *words, "--factor", "person", "--factor", "intelligence"]) == 0
    assert "2 conditions were compared" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "message"),
    [(b"x1,empathy,S\n", "too few cells"), (b"", "contains no items"), (b"x1,empathy,\xff,Q,a,b,c,d,0\n", "not UTF-8")],
)
def test_a_bad_set_is_refused_by_name(tmp_path, monkeypatch, capsys, rows, message):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    (tmp_path / "sesi.csv").write_bytes(",".join(items.COLUMNS).encode() + b"\n" + rows)
    assert run_command(["sesi", "lint", "--data", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert "sesi.csv" in told
