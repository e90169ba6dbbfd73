"""The converter addresses the central person as "you", verbs included, and says when it is not sure."""

import csv
import hashlib
from pathlib import Path

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.elicit import read_items
from sociometer.instruments.sesi import items, readings
from sociometer.instruments.sesi.second_person import to_second_person
from sociometer.instruments.sesi.second_person.mentions import tokens
from sociometer.instruments.sesi.second_person.words import PRONOUNS, base_form


def converted(*texts):
    result = to_second_person(texts)
    assert result.certain, [str(doubt) for doubt in result.doubts]
    return result.texts if len(texts) > 1 else result.texts[0]


@pytest.mark.parametrize(
    ("third", "second"),
    [
        ("A person's wife cheated on him.", "Your wife cheated on you."),
        ("A person is tired.", "You are tired."),
        ("A person was late and has said so.", "You were late and have said so."),
        ("A person has a brother and wants to visit him.", "You have a brother and want to visit him."),
        ("A person tries to help, but worries that she fails.", "You try to help, but worry that you fail."),
        ("A person (31F) does not know what to do.", "You (31F) do not know what to do."),
        (
            "A person, a 40-year-old man in Lima, lives alone and likes it.",
            "You, a 40-year-old man in Lima, live alone and like it.",
        ),
        ("A 27-year-old woman misses her husband.", "You, a 27-year-old woman, miss your husband."),
        (
            "A person often feels that she's ignored by her husband.",
            "You often feel that you're ignored by your husband.",
        ),
        ("A person's husband said that he had warned her.", "Your husband said that he had warned you."),
        ("A person blames herself, and the fault is hers.", "You blame yourself, and the fault is yours."),
        (
            "A person and his girlfriend moved in. They share their kitchen.",
            "You and your girlfriend moved in. You share your kitchen.",
        ),
        ("A person has two kids and works at night.", "You have two kids and work at night."),
    ],
)
def test_pronouns_and_verbs_follow_the_person(third, second):
    assert converted(third) == second


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("Is the person too strict?", "Are you too strict?"),
        ("Does the person owe him an answer?", "Do you owe him an answer?"),
        ("Has the person done enough?", "Have you done enough?"),
        ("How can the person tell her husband what she feels?", "How can you tell your husband what you feel?"),
        ("Am I wrong to mind it?", "Are you wrong to mind it?"),
        ("What is best for the person is unclear, is it not?", "What is best for you is unclear, is it not?"),
    ],
)
def test_questions_turn_their_verbs_too(question, second):
    assert converted("A person quarrels with her husband.", question)[1] == second


def test_others_keep_their_pronouns_and_verbs():
    text = "A person's husband works at night, and he feels that his boss ignores him."
    assert converted(text) == "Your husband works at night, and he feels that his boss ignores him."


def test_what_stands_in_quotation_marks_is_left_alone():
    text = 'A person\'s husband said "she never listens" and left her.'
    assert converted(text) == 'Your husband said "she never listens" and left you.'


def test_another_person_is_not_the_person():
    text = "A person is helped by another person, and meets her in person."
    result = to_second_person([text])
    assert "another person" in (result.texts or (text,))[0]
    assert "in person" in (result.texts or (text,))[0]


@pytest.mark.parametrize(
    "text",
    [
        "A person (25F) has a friend. The person called her yesterday.",
        "A person (30M) has a boss. The person dislikes him.",
        "A person (25F) visits her mother. The person tells her the news.",
        "A person (25F) has a roommate. She is messy.",
    ],
)
def test_nobody_is_made_to_act_upon_themselves(text):
    assert not to_second_person([text]).certain


def test_two_whom_a_pronoun_fits_are_a_doubt_and_not_a_guess():
    result = to_second_person(["A person (30F) lives with her sister. The sister took her coat."])
    assert not result.certain
    assert result.texts == ()
    assert all(str(doubt).startswith("situation: whom does") for doubt in result.doubts)


def test_no_central_person_is_a_doubt():
    assert not to_second_person(["The twins and the cook quarrelled."]).certain


def test_what_a_reader_found_goes_before_the_rules():
    text = "A person's sister told her mother that she had seen her keys."
    places = [(0, at) for at, token in enumerate(tokens(text)) if token.low in PRONOUNS]
    kept = {place: tokens(text)[place[1]].text for place in places}
    assert to_second_person([text], kept).texts == ("Your sister told her mother that she had seen her keys.",)
    hers = kept | {places[-1]: "your"}
    assert to_second_person([text], hers).texts == ("Your sister told her mother that she had seen your keys.",)


def test_a_reader_may_keep_drop_or_replace_any_word():
    text = "A person misses the person she was before a a move."
    read = {(0, 4): "person", (0, 5): "you", (0, 8): "", (0, 9): "the"}
    assert to_second_person([text], read).texts == ("You miss the person you were before the move.",)


def test_what_readers_cannot_tell_either_is_reported_alone():
    text = "A person (30F) lives with her sister. The sister took her coat, and she left her."
    at = [at for at, token in enumerate(tokens(text)) if token.low == "her"][1]
    result = to_second_person([text], {(0, at): "?"})
    assert [str(doubt) for doubt in result.doubts] == ["situation: whom 'her' means is open to readers as well"]


@pytest.mark.parametrize(
    ("verb", "base"),
    [
        ("feels", "feel"),
        ("tries", "try"),
        ("watches", "watch"),
        ("goes", "go"),
        ("is", "are"),
        ("has", "have"),
        ("does", "do"),
    ],
)
def test_the_ending_of_the_third_person_comes_off(verb, base):
    assert base_form(verb) == base


def approved():
    with (Path(__file__).parent / "approved.csv").open(newline="") as file:
        return {row["id"]: row["digest"] for row in csv.DictReader(file)}


def digest(texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def test_every_bundled_item_is_converted_as_two_readers_approved():
    found = list(read_items(items.BUNDLED, items.Question))
    conversions = items.in_second_person(found)
    assert not conversions.doubts
    right = approved()
    assert [q.id for q in conversions.converted if digest(q.texts) != right[q.id]] == []


def test_the_official_items_are_converted_as_two_readers_approved_and_the_rest_named(official_data):
    found = list(items.read_official(official_data / "sesi" / "sesi.csv"))
    conversions = items.in_second_person(found)
    assert len(conversions.converted) == 476 >= 0.95 * len(found)
    assert len(conversions.converted) + len(conversions.doubts) == len(found)
    assert {doubt.why for doubts in conversions.doubts.values() for doubt in doubts} <= {"open", "nobody"}
    right = approved()
    assert [q.id for q in conversions.converted if digest(q.texts) != right[q.id]] == []


def test_what_the_rules_alone_call_certain_agrees_with_the_readers(official_data):
    """117 of the 476 items that readers could settle; 109 of them agree word for word."""
    right = approved()
    found = [q for q in items.read_official(official_data / "sesi" / "sesi.csv") if q.id in right]
    certain = {q.id: result.texts for q in found if (result := to_second_person(q.texts)).certain}
    agree = [name for name, texts in certain.items() if digest(texts) == right[name]]
    assert len(certain) >= 110
    assert len(agree) / len(certain) >= 0.92


def test_every_reading_points_at_the_word_it_names(official_data):
    found = {q.id: q for q in read_items(items.BUNDLED, items.Question)}
    found |= {q.id: q for q in items.read_official(official_data / "sesi" / "sesi.csv")}
    for name, lines in readings.read_readings().items():
        assert len(readings.fitting(found[name].texts, lines)) == len(lines), name


def test_no_reading_holds_more_than_a_few_words():
    for lines in readings.read_readings().values():
        assert all(len(line.word.split()) == 1 and len(line.becomes.split()) <= 6 for line in lines)


def test_readings_of_another_wording_are_not_applied():
    question = next(q for q in read_items(items.BUNDLED, items.Question) if q.id in readings.read_readings())
    lines = readings.read_readings()[question.id]
    assert readings.fitting(question.texts, lines)
    assert readings.fitting(tuple("Now " + text for text in question.texts), lines) == {}


def test_a_sheet_of_doubts_comes_back_as_readings(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    folder = tmp_path / "set" / "sesi"
    folder.mkdir(parents=True)
    situation = "A person (30F) lives with her sister. The sister took her coat."
    row = ["x1", "empathy", situation, "Why?", "She was cold.", "By mistake.", "For fun.", "To sell it.", "0"]
    with (folder / "sesi.csv").open("w", newline="") as file:
        csv.writer(file).writerows([items.COLUMNS, row])
    sheet = tmp_path / "sheet.csv"
    words = ["lint", "sesi", "--data", str(tmp_path / "set"), "--json"]
    assert run_command([*words, "--sheet", str(sheet)]) == 0
    with sheet.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["text"], line["word"], line["becomes"]) for line in lines] == [("0", "her", "?"), ("2", "She", "?")]
    for line, becomes in zip(lines, ("your", "She"), strict=True):
        line["becomes"] = becomes
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys())
        writer.writeheader()
        writer.writerows(lines)
    capsys.readouterr()
    assert run_command([*words, "--readings", str(sheet)]) == 0
    assert "100 % are converted" in capsys.readouterr().out


def test_readings_that_fit_nothing_are_said_and_an_empty_cell_is_open(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    sheet = tmp_path / "sheet.csv"
    question = next(q for q in read_items(items.BUNDLED, items.Question) if q.id in readings.read_readings())
    word = readings.read_readings()[question.id][0]
    lines = [f"{question.id},{word.text},{word.place},{word.word},", "nobody,0,0,A,Your"]
    sheet.write_text("id,text,place,word,becomes\n" + "\n".join(lines) + "\n")
    assert run_command(["lint", "sesi", "--readings", str(sheet)]) == 0
    out = capsys.readouterr().out
    assert "readings of nobody are ignored" in out
    assert f"{question.id}\t" in out and "is open to readers as well" in out


def test_where_nothing_converts_the_way_out_is_said_and_other_factors_go_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    (tmp_path / "sesi.csv").write_text(
        ",".join(items.COLUMNS) + "\nx1,empathy,Anna has a sister.,Why?,A a.,B b.,C c.,D d.,0\n"
    )
    words = ["--data", str(tmp_path), "--model", "baseline/first", "--quiet"]
    assert run_command(["run", "sesi", *words, "--condition", "second-person"]) == 2
    assert "lint sesi --sheet" in capsys.readouterr().err
    assert run_command(["probe", "sesi", *words, "--factor", "person", "--factor", "intelligence"]) == 0
    assert "2 conditions were compared" in capsys.readouterr().out
    assert run_command(["lint", "sesi", "--data", str(tmp_path), "--sheet", str(tmp_path / "s.csv")]) == 0
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [(b"x1,empathy,S\n", "too few cells"), (b"", "contains no items"), (b"x1,empathy,\xff,Q,a,b,c,d,0\n", "not UTF-8")],
)
def test_a_bad_set_is_refused_by_name(tmp_path, monkeypatch, capsys, rows, message):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    (tmp_path / "sesi.csv").write_bytes(",".join(items.COLUMNS).encode() + b"\n" + rows)
    assert run_command(["lint", "sesi", "--data", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert "sesi.csv" in told


@pytest.mark.parametrize(
    ("content", "message"),
    [("id,text\n", "columns missing: place, word, becomes"), ("id,text,place,word,becomes\na,9,0,x,y\n", ":2")],
)
def test_a_bad_file_of_readings_is_refused_naming_the_place(tmp_path, content, message):
    path = tmp_path / "readings.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        readings.read_readings(path)
