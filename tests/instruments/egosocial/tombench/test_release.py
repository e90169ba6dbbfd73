import json
from collections import Counter

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.tombench.release import ABILITIES, read_file, read_folder

ROW = {
    "能力\nABILITY": "Emotion: Hidden emotions",
    "序号\nINDEX": 1,
    "故事": "阿诺的风筝断了线，可他当着表妹的面笑了笑。",
    "问题": "阿诺心里是什么感受？",
    "选项A": "A. 高兴",
    "选项B": "B. 难过",
    "选项C": "C. 骄傲",
    "选项D": "D. 害怕",
    "STORY": "Arno's kite has lost its string, but before his cousin he smiles.",
    "QUESTION": "What does Arno feel?",
    "OPTION-A": "Happy",
    "OPTION-B": "Sad",
    "OPTION-C": "Proud",
    "OPTION-D": "Afraid",
    "答案\nANSWER": "B",
}


def write(path, *rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_row_is_read_in_both_languages(tmp_path):
    (question,) = read_file(write(tmp_path / "Hidden Emotions.jsonl", ROW))
    assert question.id == "tombench-hidden-emotions-001"
    assert question.ability == "emotion"
    assert question.wording("en").options == ("Happy", "Sad", "Proud", "Afraid")
    assert question.wording("zh").options == ("高兴", "难过", "骄傲", "害怕")
    assert question.answer == 1


def test_bare_nan_a_dressed_answer_and_repeated_indices_are_put_right(tmp_path):
    nan = float("nan")
    two = {**ROW, "OPTION-C": nan, "OPTION-D": nan, "选项C": nan, "选项D": nan, "答案\nANSWER": "A. "}
    first, second = read_file(write(tmp_path / "X.jsonl", two, ROW))
    assert len(first.english.options) == len(first.chinese.options) == 2
    assert first.answer == 0
    assert first.cluster == second.cluster
    assert first.id != second.id


def test_an_item_may_have_four_english_and_two_chinese_options(tmp_path):
    (odd,) = read_file(write(tmp_path / "X.jsonl", {**ROW, "选项C": None, "选项D": None}))
    assert (len(odd.english.options), len(odd.chinese.options)) == (4, 2)


def test_the_first_of_two_abilities_counts(tmp_path):
    text = "Belief: Location false beliefs Belief: Second-order beliefs"
    (question,) = read_file(write(tmp_path / "X.jsonl", {**ROW, "能力\nABILITY": text}))
    assert question.ability == "belief"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"答案\nANSWER": "E"}, "answer 'E' is not among the options"),
        ({"能力\nABILITY": "Charm: Wit"}, "unknown ability"),
        ({"STORY": ""}, "'STORY' is ''"),
        ({"OPTION-C": None}, "3 options"),
    ],
)
def test_a_bad_row_is_refused_naming_file_and_line(tmp_path, change, message):
    path = write(tmp_path / "X.jsonl", ROW, {**ROW, **change})
    with pytest.raises(DataError, match=message) as refused:
        list(read_file(path))
    assert refused.value.line == 2


@pytest.mark.parametrize("line", ["{", "[1]"])
def test_what_is_no_row_is_refused(tmp_path, line):
    (tmp_path / "X.jsonl").write_text(line)
    with pytest.raises(DataError, match=r"not JSON|expected an object"):
        list(read_file(tmp_path / "X.jsonl"))


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="ToMBench has 20"):
        list(read_folder(tmp_path))


def test_all_official_items_load(official):
    questions = list(read_folder(official / "tombench"))
    assert len({q.id for q in questions}) == len(questions) == 2860
    assert Counter(q.ability for q in questions) == dict(zip(ABILITIES, (180, 420, 340, 882, 290, 748), strict=True))
    assert Counter(len(q.english.options) for q in questions) == {4: 2377, 2: 483}
    assert not [o for q in questions for o in q.chinese.options if o[:2] in ("A.", "B.", "C.", "D.")]
