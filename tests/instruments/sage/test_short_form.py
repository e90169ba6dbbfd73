"""The short talk (--turns 3 --judge-last): named as such, compared with itself only, and what it costs."""

import json
import re

import pytest

from servers.openai import OpenAIServer
from sociometer.cli.main import run_command

from .people import emotion_json, reply_json


class Person(OpenAIServer):
    """Feels better after warm replies, counts what it reads as words, and plays subjects and simulator."""

    def __init__(self):
        super().__init__()
        self.say = self.answered

    def answered(self, body):
        text = "\n".join(message["content"] for message in body["messages"])
        self.usage = {"prompt_tokens": len(text.split()), "completion_tokens": 9, "total_tokens": len(text.split()) + 9}
        if body["model"] == "warm":
            return "I hear you, and it sounds hard."
        if body["model"] == "cold":
            return "Make a list."
        if "attitude" in text:
            return reply_json("And then she left.")
        warm = text.rindex("I hear you") if "I hear you" in text else -1
        cold = text.rindex("Make a list") if "Make a list" in text else -1
        return emotion_json(6 if warm > cold else -2)


@pytest.fixture
def play(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    with Person() as server:

        def call(command, *words, model="", form="", store="s.db"):
            roles = ("--role", f"simulator=vllm/person@{server.url}#1") if model else ()
            named = ("--model", f"vllm/{model}@{server.url}#1", "--name", model) if model else ()
            forms = ("--turns", "3", "--judge-last") if form == "short" else ()
            code = run_command([*command.split(), *words, *named, *roles, *forms, "--store", str(tmp_path / store)])
            said = capsys.readouterr()
            return code, " ".join(said.out.split()), " ".join(said.err.split())

        call.server = server
        yield call


def spent(play, name, store):
    _, out, _ = play("runs", "--json", store=store)
    return next(row for row in json.loads(out) if row["subject"] == name)["spent"]


def test_a_short_talk_has_three_judged_turns_and_no_rates(play):
    assert play("run sage", "--limit", "2", "--quiet", model="warm", form="short")[0] == 0
    _, out, _ = play("show", "warm", "--json")
    summary = json.loads(out)["summaries"]["dialogue"]
    assert [len(each["trajectory"]) for each in summary["series"]["dialogues"]] == [4, 4]
    assert {each["simulator"].endswith(" (short form)") for each in summary["series"]["dialogues"]} == {True}
    measures = {each["name"]: each for each in summary["measures"] if not each.get("group")}
    assert measures["sentient"]["note"] == "short form" and not {"success", "failure"} & set(measures)
    assert any(note.startswith("Short form: three judged turns.") for note in summary["notes"])
    assert "turns 3" in play("runs")[1]


def test_the_option_of_version_0_3_is_answered_with_what_to_type(play):
    code, _, err = play("run sage", "--limit", "1", "--form", "short", model="warm")
    assert code == 2 and "--turns 3 --judge-last plays short talks" in err


def test_short_talks_are_never_compared_with_full_ones(play):
    for form in ("short", "full"):
        play("run sage", "--limit", "4", "--quiet", model="warm", form=form)
    play("run sage", "--limit", "4", "--quiet", model="cold", form="short")
    short, full, cold = (row["run"] for row in json.loads(play("runs", "--json")[1]))
    code, out, err = play("compare", cold, full)
    assert "they differ in the setting 'turns': 3 and 10" in out + err
    code, out, _ = play("compare", cold, short)
    assert code == 0 and "warm" in out and "cold" in out
    assert "Success" not in out and "Failure" not in out, "they need full talks"
    for words in (["sage"], ["cold", "warm"]):
        _, out, _ = play("compare", *words)
        assert "warm (turns 3, judge-last)" in out, "what several subjects were asked"
        assert "warm (turns 10): they differ in the setting 'turns': 3 and 10" in out
    _, out, _ = play("sage simulators", full, short)
    assert "vllm/person#1 (short form) is stricter than vllm/person#1" in out, (
        "another scale, linked like another simulator's"
    )


def test_a_short_comparison_reads_less_than_half_of_a_full_one_as_planned(play):
    planned = {}
    real = dict.fromkeys(("full", "short"), 0)
    for form in real:  # in one store, the short talks would reuse the replies of the full ones
        _, out, _ = play("plan sage", "--limit", "3", "--json", model="warm", form=form, store="plan.db")
        planned[form] = sum(row["estimate"]["input_tokens"] for row in json.loads(out))
        for model in ("warm", "cold"):
            play("run sage", "--limit", "3", "--quiet", model=model, form=form, store=f"{form}.db")
            real[form] += spent(play, model, f"{form}.db")["input_tokens"]
    assert planned["short"] < 0.4 * planned["full"] and 0 < real["short"] < 0.4 * real["full"]


def test_a_short_comparison_stops_when_decided(play, official):
    words = ("--official", "--data", str(official.parent), "--limit", "40", "--quiet")
    play("run sage", *words, model="cold", form="short")
    rule = ("--against", "cold", *words)
    code, out, _ = play("run sage", *rule, model="warm", form="short")
    found = re.search(r"until decided: better after (\d+) of 40 items", out)
    assert code == 0 and found and int(found[1]) < 40
    code, _, err = play("run sage", *rule, model="warm", form="full")
    assert code == 2 and "they differ in the setting 'turns': 3 and 10; add --turns 3; add --judge-last." in err
    _, out, _ = play("compare", "cold", "warm")
    assert "warm" in out and "better" in out
