import json
from pathlib import Path

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.sage.dialogue import read_dialogues, simulator_of, subject_of
from sociometer.instruments.sage.published.reproduce import rounded


def row(history, final, **more):
    known = {"id": "x", "player": "年龄：30岁", "scene": "事\n####隐藏主题:\n***倾听", "task": "想有人倾听"}
    return {**known, "emo_point": final, "history": history, **more}


def says(words, emotion, change=None):
    turn = {"role": "user", "content": words, "emotion-point": emotion}
    if change is not None:
        turn["planning"] = {
            "change": change,
            "activity": "心里]\n想",
            "content": "c",
            "analyse": "a",
            "TargetCompletion": "t",
        }
        turn["thinking"] = "plan"
    return turn


def replies(words="嗯"):
    return {"role": "assistant", "content": words}


def write(tmp_path, *rows):
    path = tmp_path / "some-model_result.jsonl"
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows), encoding="utf-8")
    return path


def test_a_dialogue_that_keeps_the_protocol_is_read(tmp_path):
    history = [says("开头", 40), replies(), says("好多了", 50, 10), replies("接着说"), says("再见", 55, 5)]
    path = write(tmp_path, row(history, 55))
    [(scenario, dialogue)] = read_dialogues(path)
    assert dialogue.trajectory == (40, 50, 55)
    assert dialogue.ending == "farewell"
    assert dialogue.turns[0].judgement.activity == "想"
    assert scenario.first_words == dialogue.opening == "开头"
    assert subject_of(path) == "some-model"


@pytest.mark.parametrize(
    ("history", "final", "wrong"),
    [
        ([says("a", 30)], 30, "starts at 30"),
        ([says("a", 40), replies(), says("b", 60, 10)], 60, "cannot become 60"),
        ([says("a", 40), replies(), says("b", 55, 15)], 55, "allowed: -10 to 10"),
        ([says("a", 40), replies(), says("b", 45)], 45, "no planning"),
        ([says("a", 40), replies(), says("b", 45, 5)], 44, "emo_point 44"),
        ([says("a", 40), replies(), says("b", 45, 5)], 45, "without a farewell"),
        ([replies()], 40, "allowed here: 'user'"),
        ([], 40, "empty"),
        ([says("a", 40), *[replies(), says("b", 40, 0)] * 10, replies()], 40, "11 replies; allowed: 10"),
    ],
)
def test_a_dialogue_that_breaks_the_protocol_is_refused_by_line(tmp_path, history, final, wrong):
    with pytest.raises(DataError, match=f"(?s):1: .*{wrong}"):
        list(read_dialogues(write(tmp_path, row(history, final))))


def test_the_cap_is_kept(tmp_path):
    up = [replies(), says("x", 50, 10), replies(), says("x", 60, 10), replies(), says("x", 70, 10)]
    high = [replies(), says("x", 80, 10), replies(), says("x", 90, 10), replies(), says("x", 95, 5)]
    path = write(tmp_path, row([says("a", 40), *up, *high, replies(), says("完", 100, 8)], 100))
    [(_, dialogue)] = read_dialogues(path)
    assert dialogue.final == 100 and dialogue.ending == "soothed"


def test_the_simulator_is_read_off_the_released_folder(tmp_path):
    assert simulator_of(tmp_path / "gpt-4o_based_simulator" / "x_result.jsonl") == "gpt-4o"
    assert simulator_of(tmp_path / "transcripts-judge-gpt-4o" / "x_result.jsonl") == "gpt-4o"
    assert simulator_of(tmp_path / "transcripts" / "x_result.jsonl") == "deepseek-v3"
    dated = tmp_path / "deepseek-v3-2024-1227_based_simulator" / "gpt-4o-0808_result.jsonl"
    assert (simulator_of(dated), subject_of(dated)) == ("deepseek-v3", "gpt-4o-0806"), "one name for one model"
    slips = {"gemini2,0-think": "gemini2.0-think", "qwen2.5-72B": "qwen2.5-72b", "qwen2.5-72b_check": "qwen2.5-72b"}
    assert {name: subject_of(Path(f"{name}_result.jsonl")) for name in slips} == slips


def test_another_folder_gives_its_own_name(tmp_path, monkeypatch):
    (tmp_path / "a" / "else").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "else")
    assert simulator_of(Path("x_result.jsonl")) == "else"


def test_a_farewell_is_found_wherever_the_release_ended_on_one(released_talks):
    for _, _, dialogue in released_talks:
        words = [turn.words for turn in dialogue.turns if turn.words]
        assert not any("再见" in said or "拜拜" in said for said in words[:-1])


def test_halves_are_rounded_up_as_tables_print_them():
    assert [rounded(68.15), rounded(68.25), rounded(0.05)] == [68.2, 68.3, 0.1]
