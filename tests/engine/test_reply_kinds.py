"""Silent, filtered and cut-off replies of a real server stay in the score; a limit that is too low stops a run."""

import json
import re

import sociometer as sm
from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.reporting.content import gather
from sociometer.reporting.headline import troubles


class Mumbler(OpenAIServer):
    """Answers some requests with nothing, or breaks off."""

    finish = "stop"
    text = ""
    silent = 1.0
    count = 0

    def good(self, path, body, fault):
        answer = super().good(path, body, fault)
        choice = answer["choices"][0]
        type(self).count += 1
        if (self.count * 7) % 20 < 20 * self.silent:
            choice["finish_reason"], choice["message"]["content"] = self.finish, self.text
        return answer


def run(capsys, server, store, *words):
    base = ("--model", f"vllm/m@{server.url}#1", "--store", str(store), "--json", "--quiet")
    code = run_command([*words, *base])
    out, err = capsys.readouterr()
    return code, json.loads(out)[0] if out else {}, err


def test_silent_replies_count_as_no_allocation(tmp_path, capsys):
    with Mumbler() as server:
        code, played, _ = run(capsys, server, tmp_path / "s.db", "run", "seceu", "--no-second-question")
    summary = played["summaries"]["feelings"]
    assert code == 0
    assert any("40 of 40 answers contain no allocation" in note for note in summary["notes"])
    assert any("40 silent" in note for note in summary["notes"])
    distance = next(measure for measure in summary["measures"] if measure["name"] == "distance")
    assert (distance["items"], distance.get("errors", 0), distance["unreadable"]) == (40, 0, 40)


def test_filtered_replies_are_wrong_answers_not_failures(tmp_path, capsys):
    class Filter(Mumbler):
        finish = "content_filter"

    with Filter() as server:
        code, played, _ = run(capsys, server, tmp_path / "s.db", "run", "sesi", "--limit", "5")
    accuracy = next(one for one in played["summaries"]["questions"]["measures"] if one["name"] == "accuracy")
    assert (code, accuracy["items"], accuracy["value"], accuracy["unreadable"]) == (0, 5, 0, 5)
    assert any("5 filtered" in note for note in played["summaries"]["questions"]["notes"])


def test_requests_that_a_content_filter_rejects_stay_in_the_score(tmp_path, capsys):
    with OpenAIServer() as server:
        server.fault_of = lambda number: (
            Fault(400, "The prompt was filtered.", "content_filter") if number % 2 else None
        )
        _, played, _ = run(capsys, server, tmp_path / "s.db", "run", "sesi", "--limit", "10", "--no-second-question")
    accuracy = next(one for one in played["summaries"]["questions"]["measures"] if one["name"] == "accuracy")
    assert (accuracy["items"], accuracy.get("errors", 0), accuracy["unreadable"]) == (10, 0, 5)
    assert any("5 filtered" in note for note in played["summaries"]["questions"]["notes"])


def test_a_limit_that_cuts_most_replies_off_stops_the_run_and_names_a_better_one(tmp_path, capsys):
    class Breaker(Mumbler):
        finish, text = "length", "First, let me look at what the options"

    words = ("run", "sesi", "-o", "reply-tokens=8", "-o", "in-flight=2")
    with Breaker() as server:
        code, played, _ = run(capsys, server, tmp_path / "s.db", *words)
        asked = len(server.received)
    assert code != 0
    assert played["ending"]["status"] == "stopped"
    assert "cut off at 8 tokens" in played["ending"]["reason"]
    assert "-o reply-tokens=32" in played["ending"]["reason"]
    assert asked < 40


def test_replies_that_are_unreadable_and_those_that_are_cut_off_are_told_together(tmp_path, capsys):
    class Both(Mumbler):
        text = "I would rather talk about the weather"
        good_so_far = 0

        def good(self, path, body, fault):
            answer = super().good(path, body, fault)
            type(self).good_so_far += 1
            if self.good_so_far % 4 == 0:
                answer["choices"][0]["finish_reason"] = "length"
            return answer

    with Both() as server:
        words = ("run", "sesi", "-o", "in-flight=1", "--no-second-question", "--limit", "40")
        _, played, _ = run(capsys, server, tmp_path / "s.db", *words)
    said = played["ending"]["reason"]
    assert said.startswith("8 of the first 10 replies have no answer that can be read, such as 'I would rather")
    assert ", and 2 were cut off before they gave one. " in said


HARMONY = (
    "<|channel|>analysis<|message|>Which of them? Let me think.<|end|><|start|>assistant<|channel|>final<|message|>"
)


class Babbler(Mumbler):
    text = "I would rather talk about the weather in the mountains"


def test_unreadable_replies_stop_the_run_and_one_is_shown(tmp_path, capsys):
    store, words = tmp_path / "s.db", ("run", "sesi", "-o", "in-flight=2", "--limit", "60")
    with Babbler() as server:
        code, played, err = run(capsys, server, store, *words)
        asked = len(server.received)
        assert (code, played["ending"]["cause"]) == (3, "unreadable")
        assert f"stopped: {played['ending']['reason'].rstrip('.')}" in err
        assert "of the first 10 replies have no answer that can be read" in played["ending"]["reason"]
        assert "the weather in the mountains" in played["ending"]["reason"]
        assert "add -o base" in played["ending"]["reason"]
        assert asked < 60
        assert "To see the replies: sociometer show sesi-" in err and "as it is: sociometer resume sesi-" in err
        assert run_command(["resume", "last", "--store", str(store), "--json", "--quiet"]) == 0
        assert json.loads(capsys.readouterr().out)[0]["ending"]["status"] == "finished"
    assert run_command(["show", "last", "--store", str(store)]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0].endswith("; no reply could be read, so this score says nothing about the model.")
    assert "cannot be told from chance" not in said and "Tests with room" not in said


def test_a_whole_run_of_unreadable_replies_does_not_advise_to_resume(tmp_path, capsys):
    with Babbler() as server:
        code, played, err = run(capsys, server, tmp_path / "s.db", "run", "sesi", "--limit", "10")
    assert (code, played["ending"]["cause"], played["done"]) == (3, "unreadable", 10)
    assert "To see the replies: sociometer show sesi-" in err and "resume" not in err + played["ending"]["reason"]
    assert run_command(["show", "last", "--store", str(tmp_path / "s.db")]) == 0
    assert "100 % (" in (said := capsys.readouterr().out) and "played so far" not in said


def test_harmony_channels_and_tool_calls_are_named_with_the_setting_of_the_server(tmp_path, capsys):
    class Harmony(Mumbler):
        text = f"{HARMONY}perhaps"

    class Tools(Mumbler):
        finish = "tool_calls"

        def good(self, path, body, fault):
            answer = super().good(path, body, fault)
            call = {"id": "1", "type": "function", "function": {"name": "answer", "arguments": "{}"}}
            answer["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
            return answer

    class Written(Mumbler):
        text = '<tool_call>{"name": "answer", "arguments": {"to": "the question"}}</tool_call>'

    named = (
        (Harmony, "--reasoning-parser openai_gptoss"),
        (Tools, "--tool-call-parser"),
        (Written, "They are tool calls"),
    )
    for kind, setting in named:
        with kind() as server:
            code, played, _ = run(capsys, server, tmp_path / f"{kind.__name__}.db", "run", "sesi")
        assert code == 3
        assert setting in played["ending"]["reason"]


def test_a_few_unreadable_replies_stop_nothing_and_are_not_in_the_first_line(tmp_path, capsys):
    class Seldom(Babbler):
        silent = 0.04

    with Seldom() as server:
        code, played, _ = run(capsys, server, tmp_path / "s.db", "run", "sesi", "--limit", "40", "--no-second-question")
    assert (code, played["ending"]["status"]) == (0, "finished")
    assert run_command(["show", "last", "--store", str(tmp_path / "s.db")]) == 0
    assert "unreadable repl" not in capsys.readouterr().out.splitlines()[0]


def test_a_script_is_not_stopped(tmp_path, capsys):
    script = tmp_path / "says.txt"
    script.write_text("I would rather talk about the weather\n" * 40)
    words = [
        "run",
        "sesi",
        "--model",
        f"scripted/{script}",
        "--store",
        str(tmp_path / "s.db"),
        "--quiet",
        "--limit",
        "20",
    ]
    assert run_command(words) == 0


def test_replies_to_the_second_question_do_not_hide_unreadable_ones(tmp_path, capsys):
    class Slow(OpenAIServer):
        """Answers nobody's first question, and the second of two items in three."""

        def good(self, path, body, fault):
            answer = super().good(path, body, fault)
            answers = len(body["messages"]) > 2 and len(body["messages"][0]["content"]) % 3
            answer["choices"][0]["message"]["content"] = "B" if answers else Babbler.text
            return answer

    store = str(tmp_path / "s.db")
    with Slow() as server:
        run(capsys, server, store, "run", "sesi", "--limit", "60")
        assert run_command(["resume", "last", "--store", store, "--quiet"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert re.search(r"60 items, (1[3-9]|2\d) unreadable replies\.$", first)


def test_unreadable_replies_of_all_tasks_are_added_in_the_first_line_and_in_a_report(tmp_path, capsys):
    store, tasks = tmp_path / "s.db", ("generated", "blackjack", "numbers")
    with OpenAIServer() as server:
        server.say = lambda body: "A"  # which no game can read
        words = ("run", "egosocial", "--limit", "3", *(word for task in tasks for word in ("--task", task)))
        run(capsys, server, store, *words)
    played = sm.get_run("last", store=store)
    of_task = {task: sum(one.score.unreadable for one in played.episodes(task)) for task in tasks}
    assert of_task == {"generated": 0, "blackjack": 3, "numbers": 30}
    assert run_command(["show", "last", "--store", str(store)]) == 0
    for first in (capsys.readouterr().out.splitlines()[0], str(played).splitlines()[0]):
        assert first.endswith("; 9 items of 3 tasks, 33 unreadable replies.")
    assert any("m#1: 33 replies could not be read" in said for said in troubles(gather([played], evidence=0)))


def test_unreadable_replies_to_both_tellings_of_a_story_are_added(tmp_path, capsys):
    with OpenAIServer() as server:
        server.say = lambda body: Babbler.text
        words = ("--task", "generated", "--limit", "3", "--no-second-question")
        run(capsys, server, tmp_path / "s.db", "run", "egosocial", *words)
    played = sm.get_run("last", store=tmp_path / "s.db")
    assert str(played).splitlines()[0].endswith("; no reply could be read, so this score says nothing about the model.")
    assert any("m#1: 6 replies could not be read" in said for said in troubles(gather([played], evidence=0)))
