"""The second-person forms of items are edits of words; a builder and a reviewer make those of a user's own items."""

import csv
import hashlib
import json
from pathlib import Path

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.items import Reading
from sociometer.reading import read_items

BUNDLED = list(read_items(items.BUNDLED, items.Question))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A person's wife cheated on him.", "Your wife cheated on you."),
        ("A 27-year-old woman misses her husband.", "You, a 27-year-old woman, miss your husband."),
        ("He waits, and the person is late.", "He waits, and you are late."),
        ('Rui says: "Ask Ana!" to Ana.', 'Rui says: "Ask Ana!" to you.'),
        ("Tell Ana (30F) so.", "Tell you so."),
    ],
)
def test_edits_turn_one_text_into_the_other_word_by_word(before, after):
    made = items.edits(0, before, after)
    assert items.applied(before, made) == after
    assert all(len(reading.word.split()) == 1 for reading in made)


def test_a_text_without_edits_stays():
    assert items.converted(["One.", "Two?"], [Reading(1, 0, "Two", "Three")]) == ("One.", "Three?")


def test_edits_of_another_wording_are_not_applied():
    made = items.edits(0, "Ana waits.", "You wait.")
    assert items.applied("Now Ana waits.", made) is None
    assert items.converted(["Now Ana waits.", "Why?"], made) is None


def approved():
    with (Path(__file__).parent / "approved.csv").open(newline="") as file:
        return {row["id"]: row["digest"] for row in csv.DictReader(file)}


def digest(texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def test_the_official_items_are_converted_as_three_readers_approved_and_the_rest_named(official_data):
    found = list(items.read_official(official_data / "sesi" / "sesi.csv"))
    conversions = items.in_second_person(found)
    assert len(conversions.converted) == 476
    assert len(conversions.left_out) == 24
    right = approved()
    assert [q.id for q in conversions.converted if digest(q.texts) != right[q.id]] == []


def test_bundled_items_with_somebody_to_address_are_converted_and_keep_their_key():
    conversions = items.in_second_person(BUNDLED)
    before = {item.id: item for item in BUNDLED}
    assert len(conversions.converted) >= 20
    for item in conversions.converted:
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
    first = {
        "situation": "You have a sister.", "question": "What should you do?",
        "options": ["Call her.", "Wait.", "Ask your aunt.", "Go."],
    }  # fmt: skip
    second = {
        "situation": "It rains on you.", "question": "What should you do?",
        "options": ["Run.", "Sit.", "Stand.", "Lie down."],
    }  # fmt: skip
    script = [
        {"match": "Ana has a sister", "reply": json.dumps(first)},
        {"match": "It rains on Bo", "reply": json.dumps(second)},
        {"match": ".", "reply": "I cannot."},
    ]
    (tmp_path / "script.jsonl").write_text("".join(json.dumps(line) + "\n" for line in script))
    return tmp_path


def test_a_builder_converts_a_users_items_and_only_what_a_reviewer_keeps_is_used(own_set, capsys):
    sheet = own_set / "sheet.csv"
    words = ["--data", str(own_set), "--quiet"]
    builder = ["--role", f"builder=scripted/{own_set / 'script.jsonl'}", "--sheet", str(sheet)]
    assert run_command(["sesi", "convert", *words, *builder]) == 0
    said = capsys.readouterr().out
    assert "2 of 3 items rewritten" in said and "x3" in said
    with sheet.open(newline="") as file:
        lines = list(csv.DictReader(file))
    changed = [(line["id"], line["text"]) for line in lines]
    assert changed == [("x1", "0"), ("x1", "1"), ("x1", "4"), ("x2", "0"), ("x2", "1")]
    assert {line["decision"] for line in lines} == {""}
    assert run_command(["run", "sesi", *words, "--model", "baseline/first", "--condition", "second-person",
                        "--readings", str(sheet)]) == 2, "nothing is kept yet"  # fmt: skip
    for line in lines:
        line["decision"] = "keep" if line["id"] == "x1" else "reject"
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys())
        writer.writeheader()
        writer.writerows(lines)
    items.read_readings.cache_clear()
    found = items.in_second_person(items.read_official(own_set / "sesi.csv"), str(sheet))
    assert [item.texts for item in found.converted] == [
        ("You have a sister.", "What should you do?", "Call her.", "Wait.", "Ask your aunt.", "Go.")
    ]
    assert found.left_out == ("x2", "x3")


def test_readings_that_fit_nothing_are_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("id,text,place,word,becomes\nnobody,0,0,A,Your\n")
    assert run_command(["sesi", "lint", "--readings", str(sheet)]) != 2
    assert "readings of nobody are ignored" in capsys.readouterr().out


def test_where_nothing_converts_the_way_out_is_said_and_other_factors_go_on(own_set, capsys):
    words = ["--data", str(own_set), "--model", "baseline/first", "--quiet"]
    assert run_command(["run", "sesi", *words, "--condition", "second-person"]) == 2
    assert "sociometer sesi convert" in capsys.readouterr().err
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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id\n", "text"),
        ("id,text\na,0\n", "columns missing: place, word, becomes"),
        ("id,text,place,word,becomes\na,9,0,x,y\n", ":2"),
        ("id,text,original,becomes,decision\na,0,x,y,perhaps\n", "unknown decision 'perhaps'"),
    ],
)
def test_a_bad_file_of_readings_is_refused_naming_the_place(tmp_path, content, message):
    path = tmp_path / "readings.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        items.read_readings(path)
