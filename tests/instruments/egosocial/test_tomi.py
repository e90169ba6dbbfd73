"""ToMi: its archive as it is read, its sentences in both persons, and its keys next to the oracle."""

import zipfile
from collections import Counter

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.stories.events import Enter, Exit, Move, Place, Question, Remark, Story, Tell
from sociometer.instruments.egosocial.tomi import (
    MEMBER,
    TomiQuestion,
    check,
    parse_question,
    parse_sentence,
    question_text,
    read_archive,
    read_questions,
    sentence,
)

STORY = """1 Uma entered the loft.
2 Ravi entered the loft.
3 The key is in the tin.
4 Uma exited the loft.
5 Ravi moved the key to the jar.
"""
TEXT = STORY + "6 Where will Uma look for the key?\ttin\t1\n" + STORY + "6 Where is the key really?\tjar\t1\n"
TRACE = "enter_agent_1,agent_0_moves_obj,first_order_1_tom,false_belief\nenter_agent_1,reality,false_belief\n"
ROOMS = {"tin": "loft", "jar": "loft"}
LEAVES = (
    Enter("Uma", "loft"),
    Enter("Ravi", "loft"),
    Place("key", "tin"),
    Exit("Uma", "loft"),
    Move("Ravi", "key", "jar"),
)
BACK = (*LEAVES, Exit("Ravi", "loft"), Enter("Uma", "loft"))


def archive(path, text=TEXT, trace=TRACE, name=MEMBER):
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(f"{name}.txt", text)
        made.writestr(f"{name}.trace", trace)
    return path


def test_questions_come_with_story_key_containers_and_types(tmp_path):
    first, second = read_archive(archive(tmp_path / "tomi.zip"))
    assert first.answer == "tin"
    assert first.story.containers_of(first.question.thing) == ("tin", "jar")
    assert (first.question_type, first.story_type) == ("first_order_1_tom", "false_belief")
    assert first.story_number == second.story_number == 0
    assert first.story.rooms == {"tin": "loft", "jar": "loft"}


def test_the_authors_keep_first_order_questions_only_on_true_beliefs():
    (kept,) = read_questions(
        TEXT.split("1 Uma", 2)[0] + STORY + "6 Where will Uma look for the key?\tjar\t1\n", "x,true_belief\n", "x"
    )
    first, reality = read_questions(TEXT, TRACE, "x")
    assert kept.selected
    assert not first.selected
    assert not reality.selected


@pytest.mark.parametrize(
    ("text", "trace", "message"),
    [
        (TEXT.replace("Uma exited", "Uma juggled"), TRACE, "x:4: unknown form of sentence"),
        (TEXT.replace("really", "maybe"), TRACE, "unknown form of question"),
        (TEXT.replace("\ttin", "\tattic"), TRACE, "x:6: key 'attic'"),
        (TEXT, TRACE.splitlines()[0], "the trace ends after 1 lines"),
        (TEXT, TRACE + TRACE, "do not belong together"),
        ("hello\n", TRACE, "x:1: expected a numbered sentence"),
        (TEXT.replace("Ravi entered the loft", "Ravi likes the loft"), TRACE, "Ravi moves something without being"),
    ],
)
def test_a_bad_line_is_refused_naming_file_and_line(text, trace, message):
    with pytest.raises(DataError, match=message):
        list(read_questions(text, trace, "x"))


def test_what_is_no_archive_or_lacks_a_member_is_refused(tmp_path):
    (tmp_path / "no.zip").write_text("not a zip")
    with pytest.raises(DataError, match="not a readable zip archive"):
        list(read_archive(tmp_path / "no.zip"))
    with pytest.raises(DataError, match="has no member"):
        list(read_archive(archive(tmp_path / "odd.zip", name="elsewhere")))


def test_a_member_that_claims_to_be_huge_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr("sociometer.instruments.egosocial.tomi.LARGEST_MEMBER", 10)
    with pytest.raises(DataError, match=r"tomi\.zip: member .* is too large; the limit is 10 bytes"):
        list(read_archive(archive(tmp_path / "tomi.zip")))


@pytest.mark.parametrize("content", [b"\xff\xfe", b"PK\x03\x04\xdb"])
def test_a_member_that_is_no_text_is_refused(tmp_path, content):
    with pytest.raises(DataError, match=r"tomi\.zip: member .* is not UTF-8 text"):
        list(read_archive(archive(tmp_path / "tomi.zip", text=content)))


def test_members_beside_the_ones_that_are_read_are_never_unpacked(tmp_path):
    path = archive(tmp_path / "tomi.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as more:
        more.writestr("../outside", b"\0" * 10_000_000)
    assert len(list(read_archive(path))) == 2
    assert [one.name for one in tmp_path.iterdir()] == ["tomi.zip"]
    assert not (tmp_path.parent / "outside").exists()


def test_the_official_test_file_is_read_whole_and_word_for_word(official):
    questions = list(read_archive(official / "tomi" / "tomi_balanced_story_types.zip"))
    assert len(questions) == 5994
    assert Counter(q.story_number for q in questions).most_common()[0][1] == 6
    assert {len(q.story.containers_of(q.question.thing)) for q in questions} == {2}
    assert sum(q.selected for q in questions) == 1998 + 666
    with zipfile.ZipFile(official / "tomi" / "tomi_balanced_story_types.zip") as released:
        text = released.read(f"{MEMBER}.txt").decode()
    written = []
    for q in questions:
        lines = [sentence(e) for e in q.story.events]
        written += [f"{n} {line}" for n, line in enumerate(lines, 1)]
        written.append(f"{len(lines) + 1} {question_text(q.question)}\t{q.answer}\t1")
    assert "\n".join(written) == text.rstrip("\n")


@pytest.mark.parametrize(
    ("event", "third", "first"),
    [
        (Enter("Uma", "back_room"), "Uma entered the back_room.", "You entered the back_room."),
        (Move("Uma", "key", "red_box"), "Uma moved the key to the red_box.", "You moved the key to the red_box."),
        (Place("key", "red_box"), "The key is in the red_box.", "The key is in the red_box."),
        (Remark("Uma", "dislikes", "mango"), "Uma dislikes the mango", "You dislike the mango"),
        (Remark("Uma", "loves", "mango"), "Uma loves the mango", "You love the mango"),
    ],
)
def test_official_sentences_in_both_persons(event, third, first):
    assert sentence(event) == third
    assert sentence(event, "Uma") == first
    assert parse_sentence(third) == event


def test_tomi_has_no_words_for_what_only_our_stories_tell():
    with pytest.raises(ValueError, match="ToMi has no sentence"):
        sentence(Tell("Uma", "Ravi", "key", "hat_box"))


@pytest.mark.parametrize(
    ("chain", "ego", "text"),
    [
        (("Uma",), None, "Where will Uma look for the key?"),
        (("Uma",), "Uma", "Where will you look for the key?"),
        (("Uma", "Ravi"), None, "Where does Uma think that Ravi searches for the key?"),
        (("Uma", "Ravi"), "Uma", "Where do you think that Ravi searches for the key?"),
        (("Uma", "Ravi"), "Ravi", "Where does Uma think that you search for the key?"),
    ],
)
def test_questions_nest_with_verbs_that_fit(chain, ego, text):
    assert question_text(Question("belief", "key", chain), ego) == text


def test_questions_are_read_back():
    for chain in ((), ("Uma",), ("Uma", "Ravi")):
        kind = "belief" if chain else "reality"
        question = Question(kind, "key", chain)
        assert parse_question(question_text(question)) == question


@pytest.mark.parametrize("text", ["", "Uma danced.", "Uma ate the mango", "The key sleeps.", "Where?"])
def test_unknown_sentences_are_not_guessed(text):
    assert parse_sentence(text) is None
    assert parse_question(text) is None


def asked(events, chain, key):
    return TomiQuestion(0, 0, Story(events, ROOMS), Question("belief", "key", chain), key, "second_order", "x")


@pytest.mark.parametrize(
    ("events", "chain", "key", "corrected", "cause"),
    [
        (LEAVES, ("Ravi", "Uma"), "tin", "tin", ""),
        (LEAVES, ("Ravi", "Uma"), "jar", "tin", "unaware-other"),
        (LEAVES, ("Uma", "Ravi"), "jar", "tin", "unaware-thinker"),
        (BACK, ("Ravi", "Uma"), "jar", "tin", "unseen-return"),
        (BACK, ("Uma", "Ravi"), "jar", "jar", "unsettled"),
        (LEAVES, ("Uma",), "jar", "tin", "other"),
    ],
)
def test_every_disagreement_has_its_cause(events, chain, key, corrected, cause):
    verdict = check(asked(events, chain, key))
    assert (verdict.corrected, verdict.cause) == (corrected, cause)


def test_the_oracle_agrees_with_every_official_memory_reality_and_first_order_answer(tomi_questions):
    causes = Counter((q.question.order, check(q).cause) for q in tomi_questions)
    assert causes == {
        (0, ""): 1998,
        (1, ""): 1998,
        (2, ""): 1534,
        (2, "unaware-thinker"): 129,
        (2, "unaware-other"): 129,
        (2, "unseen-return"): 103,
        (2, "unsettled"): 103,
    }
