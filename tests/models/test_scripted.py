import asyncio

import pytest

from sociometer.core.conversation import Request, user
from sociometer.core.errors import DataError, MachineryError
from sociometer.models.scripted import Line, Scripted, read_script


def said(script, *texts, role="subject"):
    async def all_of_them():
        try:
            return [(await script.answer(Request(role, (user(text),)))).text for text in texts]
        finally:
            await script.close()

    return asyncio.run(all_of_them())


def test_lines_are_given_in_order():
    assert said(Scripted(["B", "A"]), "first?", "second?") == ["B", "A"]


def test_a_script_that_has_run_dry_says_so():
    with pytest.raises(MachineryError, match="no reply left for role 'subject'") as caught:
        said(Scripted(["B"]), "first?", "second?")
    assert caught.value.kind == "script ran dry"
    assert not caught.value.retryable


def test_a_pattern_answers_whatever_it_finds_before_the_lines_in_order():
    script = Scripted([Line("yes", match="(?i)promise"), Line("no", match="lie", times=1), Line("else")])
    assert said(script, "a Promise", "a lie", "the promise", "a lie") == ["yes", "no", "yes", "else"]


def test_a_line_for_a_role_is_kept_for_it():
    script = Scripted([Line("for the judge", role="judge"), Line("for anyone")])
    assert said(script, "?") == ["for anyone"]
    assert said(script, "?", role="judge") == ["for the judge"]


def test_plain_lines_are_read_from_a_file(tmp_path):
    plain = tmp_path / "answers.txt"
    plain.write_text("B\n\nC\n", encoding="utf-8")
    assert said(read_script(plain), "?", "?") == ["B", "C"]


def test_json_lines_may_match_again_and_again(tmp_path):
    rows = tmp_path / "answers.jsonl"
    rows.write_text('{"reply": "好\\n的", "match": "你好"}\n"A"\n', encoding="utf-8")
    assert said(read_script(rows), "你好吗", "then?", "你好") == ["好\n的", "A", "好\n的"]


@pytest.mark.parametrize(
    ("text", "wrong"), [('"A"\n{"replay": "B"}\n', "2"), ('"A"\n\n{"reply": "B", "match": "("}', "3"), ("[1]", "1")]
)
def test_a_bad_line_is_refused_with_file_and_number(tmp_path, text, wrong):
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_script(path)
    assert f"bad.jsonl:{wrong}:" in str(caught.value)


def test_an_empty_or_binary_script_is_refused(tmp_path):
    empty, binary = tmp_path / "empty.txt", tmp_path / "binary.txt"
    empty.write_text("\n")
    binary.write_bytes(b"\xff\xfe\x00")
    for path, word in ((empty, "empty"), (binary, "UTF-8")):
        with pytest.raises(DataError, match=word):
            read_script(path)


def test_a_changed_script_is_another_player(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_text("B\n")
    before = read_script(path).identity
    path.write_text("C\n")
    assert read_script(path).identity.revision != before.revision
    assert before.certain
    assert before.stand_in
