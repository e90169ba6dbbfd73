"""SAGE in the authors' own words; the modules here have their structure and our words."""

import json
import re

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.instruments.sage.person.authors import read_feeling, read_text, read_words
from sociometer.instruments.sage.person.emotion import CARDS, Protocol

SIMULATOR = '''
import package_that_is_not_installed

target_prompt = """聊聊心事。"""

def planning_reply(player_data):
    template = """感受：{{target}}
{{simulator_role}}
{{simulator_scene}}
情绪{{emotion}}
{{dialog_history}}
"""
    mapping = {"user": "自己", "assistant": "对方"}
    planning = {}
    planning["change"] = 0

def player_reply(player_data, planning):
    template = """说话：{{target}}
{{player_type}}
{{player_topic}}
前文{{dialog_history}}
最新{{new_history}}
想法{{planning}}
{{emotion}}
"""
    if not planning:
        prompt = template.replace("{{planning}}", planning["analyse"])
    else:
        prompt = template.replace("{{planning}}", "合不合：\\n" + planning['TargetCompletion']
            + "\\n感受：" + planning["activity"] + planning["analyse"])
    prompt = prompt.replace("{{target}}", target_prompt).replace("{{emotion}}", emo_state)
    mapping = {"user": "自己", "assistant": "对方"}
'''
SUBJECT = '''
def call_npc(player_history):
    role_system = """陪人说话。\\n"""
    history = [{"role": "system", "content": role_system}]
'''
PEOPLE = 20


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder with twenty people and the authors' two modules."""
    folder = tmp_path / "data" / "sage"
    (folder / "profiles").mkdir(parents=True)
    (folder / "simulator_response.py").write_text(SIMULATOR, encoding="utf-8")
    (folder / "npc_response.py").write_text(SUBJECT, encoding="utf-8")
    mark = next(iter(CARDS.values())).mark
    people = [
        {
            "id": f"p{number}",
            "player": f"人物{number}号",
            "scene": f"背景{number}\n# 隐藏主题\n盼{mark}",
            "task": mark,
            "first_talk": "在吗",
        }
        for number in range(PEOPLE)
    ]
    lines = "\n".join(json.dumps(one, ensure_ascii=False) for one in people)
    (folder / "profiles" / "simulator_profile_withfirsttalk.jsonl").write_text(lines, encoding="utf-8")
    monkeypatch.setenv("SOCIOMETER_DATA", str(folder.parent))
    return folder


def scripted(final_of):
    """A server for both roles: the feelings of each person move to their final value."""

    def say(body):
        prompt = body["messages"][-1]["content"]
        if body["messages"][0]["role"] == "system":
            return "嗯。"
        number = int(re.search(r"人物(\d+)号", prompt)[1])
        final = final_of(number)
        if prompt.startswith("感受"):
            now = int(re.search(r"情绪(\d+)", prompt)[1])
            step = max(-10, min(10, final - now))
            return (
                f"Content:\n[听见了]\n**TargetCompletion：**\n[合]\nActivity:\n想\nAnalyse:\n好些\nChange:\n[{step:+d}]"
            )
        near = abs(final - int(prompt.rsplit("现在", 1)[-1])) < 1 if "现在" in prompt else False
        return (
            "Thinking:\n想\nOrigin:\n好\nChange:\n口语\nResponse:\n[“嗯嗯，你说。”]" if not near else "Response:\n再见"
        )

    return say


@pytest.fixture
def replicate(data, openai_server, key, tmp_path, capsys):
    def call(*options):
        server = f"openai/mine@{openai_server.url}"
        store = ["--store", str(tmp_path / "runs.db"), "--quiet", "--json"]
        roles = ["--model", f"DeepSeek-V3={server}", "--role", f"simulator={server}"]
        code = run_command(["paper", "replicate", "sage", *roles, *store, *options])
        return code, json.loads(capsys.readouterr().out)

    return call


def like_the_row(number):
    """One of twenty soothed, eight lost, the others between: about the printed 37.6, 5 % and 39 %."""
    return 100 if number == 0 else 0 if number <= 8 else 54 if number % 2 else 64


def test_dialogues_like_the_printed_row_hit_it(replicate, openai_server):
    openai_server.say = scripted(like_the_row)
    code, result = replicate()
    assert {one["figure"]["measure"]: one["within"] for one in result["figures"]} == {
        "sentient": True, "success": True, "failure": True,
    }  # fmt: skip
    assert code == 0
    bodies = [received.body for received in openai_server.received]
    assert not any("response_format" in body for body in bodies), "no schema is sent with the authors' words"
    subject = next(body for body in bodies if body["messages"][0]["role"] == "system")
    assert subject["messages"][0]["content"] == "陪人说话。\n"
    feeling = next(body["messages"][0]["content"] for body in bodies if body["messages"][0]["content"][:2] == "感受")
    assert feeling.startswith("感受：聊聊心事。\n人物") and "# 隐藏主题" in feeling
    assert '"role": "自己"' in feeling and '"role": "对方"' in feeling
    words = next(body["messages"][0]["content"] for body in bodies if body["messages"][0]["content"][:2] == "说话")
    assert "想法合不合：\n合\n感受：想好些\nEmotion-" in words


def test_happier_dialogues_miss_it(replicate, openai_server):
    openai_server.say = scripted(lambda number: 90 + number % 8)
    code, result = replicate()
    assert code == 1
    assert not {one["figure"]["measure"]: one["within"] for one in result["figures"]}["sentient"]


def test_a_dry_run_plays_whole_dialogues(replicate, openai_server):
    code, rows = replicate("--dry-run")
    calls = {row["estimate"]["role"]: row["estimate"]["requests"] for row in rows}
    assert code == 0 and not openai_server.received
    assert calls["subject"] > 2 * PEOPLE and calls["simulator"] > 3 * PEOPLE


def test_replies_are_read_by_their_labels():
    text = "Content: a\nTargetCompletion:\n[b]\n*Activity*：c\nAnalyse: d\nChange:\n-25（很难过）"
    assert read_feeling(text) == read_feeling(
        json.dumps({"said": "a", "serves": "b", "activity": "c", "feeling": "d", "change": -25})
    )
    assert read_feeling("Change: 很多") is None
    assert [read_feeling(f"Change: {said}").change for said in ("−3", "–3", "-3", "[+3]")] == [-3, -3, -3, 3]
    assert read_feeling("Change: 2½") is read_feeling("Change: 1/5") is None
    assert read_words("Thinking:\nx\nResponse:\n[“走吧”]").words == "走吧"
    assert read_words("走吧") is None


def test_any_word_of_farewell_ends_a_dialogue_as_in_the_authors_code():
    told = "他没说再见就走了"
    assert Protocol(any_farewell=True).ending(50, 2, told) == "farewell"
    assert Protocol().ending(50, 2, told) is None


def test_what_the_release_lacks_is_said(data, tmp_path, capsys):
    run = ["run", "sage", "--model", "baseline/random", "--wording", "paper", "--store", str(tmp_path / "runs.db")]
    assert run_command(run) == 2
    assert "--wording paper needs --official" in capsys.readouterr().err
    with pytest.raises(DataError, match=r"npc_response\.py: has no text named 'call_npc\.system'"):
        read_text(data / "npc_response.py", name="call_npc.system")
    (data / "simulator_response.py").unlink()
    assert run_command([*run, "--official"]) == 2
    assert "sociometer get data sage" in capsys.readouterr().err
