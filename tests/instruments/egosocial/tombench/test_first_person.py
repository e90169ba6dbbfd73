import csv
import json
import re

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.tombench.first_person import (
    FOLDER,
    Edit,
    FirstPerson,
    applied,
    digest,
    first_person,
    shipped,
)
from sociometer.instruments.egosocial.tombench.release import TomBenchQuestion, Wording, read_folder

ARNO = Wording("Arno's kite is lost, but he smiles at Ida.", "What does Arno feel?", ("Joy", "He is sad, as Ida is"))
YOU = Wording("Your kite is lost, but you smile at Ida.", "What do you feel?", ("Joy", "I am sad, as Ida is"))
ARNO_ZH = Wording("阿诺的风筝断了线，他对表妹笑了笑。", "阿诺心里是什么感受？", ("高兴", "他很难过"))
YOU_ZH = Wording("你的风筝断了线，你对表妹笑了笑。", "你心里是什么感受？", ("高兴", "我很难过"))
PRONOUNS = {
    "en": re.compile(r"\b(?:he|she|him|her|his|hers|himself|herself|they|them|their|theirs|themselves)\b", re.I),
    "zh": re.compile("[他她]"),
}
PAIRS = [("en", ARNO, YOU), ("zh", ARNO_ZH, YOU_ZH)]


def line(language="en", third=ARNO, first=YOU, **changes):
    fields = {"id": "tombench-x-001", "language": language, "ego": "Arno", "order": 1, "kept": 0}
    old, new = ((words.story, words.question, *words.options) for words in (third, first))
    edits = tuple(Edit(place, 0, len(text), new[place]) for place, text in enumerate(old))
    return FirstPerson(**{**fields, "digest": digest(third), "edits": edits, **changes})


def question(english=ARNO):
    return TomBenchQuestion("tombench-x-001", "tombench-x-story-000", "X", "emotion", english, ARNO_ZH, 1)


@pytest.mark.parametrize(("language", "third", "first"), PAIRS)
def test_edits_turn_the_released_text_into_the_conversion(language, third, first):
    assert applied(line(language, third, first), third) == first


def test_an_edit_replaces_characters_at_a_place():
    edits = (Edit(0, 0, 6, "Your"), Edit(1, 10, 9, "you"))
    first = applied(line(edits=edits), ARNO)
    assert first.story.startswith("Your kite")
    assert first.question == "What does you?"


def test_a_changed_release_is_refused_naming_the_item():
    changed = Wording(ARNO.story + " ", ARNO.question, ARNO.options)
    with pytest.raises(DataError, match=r"tombench-x-001 .* has changed since it was converted"):
        applied(line(), changed)


def test_a_conversion_says_who_is_you_and_what_it_measures():
    found = first_person([line(order=2)], [question()])
    assert found["tombench-x-001"].texts == YOU
    assert (found["tombench-x-001"].ego, found["tombench-x-001"].measures) == ("Arno", "theory of mind")


def test_a_conversion_of_a_question_that_is_not_there_is_left_out():
    assert first_person([line()], []) == {}


@pytest.fixture(scope="module")
def released(official):
    return {question.id: question for question in read_folder(official / "tombench")}


@pytest.fixture(scope="module", params=sorted(path.stem for path in FOLDER.glob("??.jsonl")))
def conversions(request, released):
    """Every shipped conversion of a language: its line, the released question and the text in the first person."""
    language = request.param
    lines = shipped(language)
    assert lines
    assert all(line.language == language for line in lines)
    pairs = [(line, released[line.id].wording(language)) for line in lines]
    return [(line, third, applied(line, third)) for line, third in pairs]


def whole(words):
    return "\n".join((words.story, words.question, *words.options))


def naming(name, language):
    """What finds a name in a text; an English one in either spelling, "Xiao Ming" or "Xiaoming", of the release."""
    if language == "zh":
        return re.compile(re.escape(name))
    short = re.fullmatch(r"(Xiao|Lao) ?([A-Za-z][a-z]*)", name)
    spelling = rf"{short[1]} ?[{short[2][0].upper()}{short[2][0].lower()}]{short[2][1:]}" if short else re.escape(name)
    return re.compile(rf"\b{spelling}\b")


def test_no_shipped_conversion_names_you(conversions):
    named = [line.id for line, _, first in conversions if naming(line.ego, line.language).search(whole(first))]
    assert named == []


def test_no_pronoun_of_you_is_left(conversions):
    """The reader counted the pronouns of other people; one more would be a forgotten one of "you"."""
    found = {line.id: len(PRONOUNS[line.language].findall(whole(first))) for line, _, first in conversions}
    assert [line.id for line, _, _ in conversions if found[line.id] != line.kept] == []


def test_everybody_is_told_who_they_are(conversions):
    you = {"en": "you", "zh": "你"}
    without = [
        line.id for line, _, first in conversions if you[line.language] not in (first.story + first.question).lower()
    ]
    assert without == []


def test_options_stay_apart_and_numbers_stay_the_same(conversions):
    for line, third, first in conversions:
        assert len(set(first.options)) == len(set(third.options)), line.id
        digits = [[mark for mark in whole(words) if mark.isdecimal()] for words in (third, first)]
        assert digits[0] == digits[1], line.id


def test_edits_are_minimal_so_that_no_sentence_of_the_authors_is_shipped(conversions):
    longest = {"en": 60, "zh": 25}
    long = [line.id for line, _, _ in conversions if any(len(e.words) > longest[line.language] for e in line.edits)]
    assert long == []


def test_lines_are_of_one_item_each_and_edits_lie_in_order_within_their_texts(conversions):
    assert len({line.id for line, _, _ in conversions}) == len(conversions)
    for line, third, _ in conversions:
        assert line.order in (0, 1, 2), line.id
        texts = (third.story, third.question, *third.options)
        ends = [0] * len(texts)
        for edit in line.edits:
            assert edit.length >= 0 and ends[edit.text] <= edit.start, line.id
            ends[edit.text] = edit.start + edit.length
            assert ends[edit.text] <= len(texts[edit.text]), line.id


def test_no_item_is_both_converted_and_left_out(conversions, released):
    language = conversions[0][0].language
    with (FOLDER / f"left-out.{language}.csv").open(encoding="utf-8", newline="") as rows:
        names = [row["id"] for row in csv.DictReader(rows)]
    assert len(set(names)) == len(names)
    assert set(names) <= set(released)
    assert not set(names) & {line.id for line, _, _ in conversions}


@pytest.fixture(scope="module", params=sorted(path.name for path in FOLDER.glob("review-*.jsonl")))
def review(request):
    """The findings of a second reader."""
    return [json.loads(row) for row in (FOLDER / request.param).read_text(encoding="utf-8").splitlines()]


def test_a_second_reader_says_what_is_wrong(review):
    assert len({row["id"] for row in review}) == len(review)
    for row in review:
        assert row["verdict"] in ("ok", "wording", "meaning"), row["id"]
        assert (row["note"] == "") == (row["verdict"] == "ok"), row["id"]


def test_what_a_second_reader_accepted_is_what_is_shipped(review, released):
    language = review[0]["language"]
    lines = {line.id: line for line in shipped(language)}
    found = {item: digest(applied(line, released[item].wording(language))) for item, line in lines.items()}
    assert {row["id"] for row in review} <= set(lines)
    assert [row["id"] for row in review if row["verdict"] == "ok" and found[row["id"]] != row["conversion"]] == []
