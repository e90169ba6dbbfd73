"""Runs whose subject has tools: called or told, decided before anything is sent; killed, checked, capped, attacked."""

import json
import signal
import subprocess
from pathlib import Path

import msgspec
import pytest

import assistants
import forked
import sociometer as sm
from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.adapters.one_turn import plan_of
from sociometer.core.conversation import Exchange, transcript_lines
from sociometer.core.errors import UsageError

DRIVER = Path(__file__).with_name("tools_driver.py")


def run(tmp_path, model, talks=6, **options):
    settings = {"talks": talks}
    return sm.run("helpdesk", model, settings=settings, store=tmp_path / "s.db", **options)


def done(played):
    """What was said and done in every talk."""
    return {one.item.id: (one.outcome.trace, one.outcome.talk) for one in played.episodes("cases")}


@pytest.fixture
def served(openai_server):
    assistants.Called(openai_server, assistants.discerning)
    return f"vllm/m@{openai_server.url}#1"


def test_a_server_is_given_tools_and_a_function_is_told_of_them_and_both_do_the_same(tmp_path, served, openai_server):
    called = run(tmp_path, served)
    told = run(tmp_path, assistants.told(assistants.discerning))
    assert [one.manifest.config.tools for one in (called, told)] == ["called", "told"]
    assert [dict(one.view().settings)["tools"] for one in (called, told)] == ["called", "told"]
    assert [one.summary("cases").notes[0].partition(".")[0] for one in (called, told)] == [
        "tools: called", "tools: told in words, answered in JSON",
    ]  # fmt: skip
    assert done(called) == done(told)
    assert called.summary("cases").measure("discernment").value == 1.0
    assert all("tools" in one.body for one in openai_server.received)


def test_the_same_through_the_other_wire_format(tmp_path, served, anthropic_server):
    anthropic_server.reasoning = "Hm."
    assistants.Called(anthropic_server, assistants.discerning)
    other = run(tmp_path, f"anthropic/m@{anthropic_server.url}#1")
    assert done(other) == done(run(tmp_path, served))
    back = [one for one in anthropic_server.last.body["messages"] if one["role"] == "assistant"]
    assert any(
        block.get("signature") == "x" for one in back if isinstance(one["content"], list) for block in one["content"]
    )


def test_a_user_may_have_a_server_told_in_words(tmp_path, openai_server):
    speak = assistants.told(assistants.discerning)
    openai_server.say = lambda body: speak(body["messages"])
    told = run(tmp_path, f"vllm/m@{openai_server.url}#1", tools="told")
    assert told.manifest.config.tools == "told"
    assert told.summary("cases").measure("discernment").value == 1.0
    assert not any("tools" in one.body for one in openai_server.received)


def test_what_cannot_be_is_refused_before_anything_is_sent(tmp_path, served):
    with pytest.raises(UsageError, match="cannot be given tools"):
        run(tmp_path, assistants.told(assistants.stubborn), tools="called")
    with pytest.raises(UsageError, match="helpdesk/cases"):
        sm.run("sesi", "baseline/random", limit=1, tools="told", store=tmp_path / "s.db")
    with pytest.raises(UsageError, match="helpdesk/cases"):
        sm.run("sage", "baseline/random", limit=1, tools="told", store=tmp_path / "s.db")
    with pytest.raises(UsageError, match="called"):
        run(tmp_path, served, tools="shouted")


def test_called_and_told_are_never_compared(tmp_path, served):
    one, two = run(tmp_path, served), run(tmp_path, assistants.told(assistants.stubborn))
    with pytest.raises(sm.SociometerError, match=r"their subjects use tools in different ways \(called and told\)"):
        sm.compare(one, two)


def test_a_run_without_tools_is_the_run_that_it_was():
    """The name of a run follows from its choices; those of earlier versions are found again."""
    config = plan_of("sesi", "questions", b"{}").config
    assert "tools" not in config.counted
    assert b"tools" not in msgspec.json.encode(config)


def test_calls_and_results_are_in_transcripts(tmp_path, served):
    played = run(tmp_path, served, talks=2)
    (first, *_) = played.episodes("cases")
    events = played.transcript(first.item.id, "cases")
    text = "\n".join(transcript_lines(events))
    assert f"→ look_up {json.dumps({'record': first.item.record})}" in text
    assert f"[result to subject]\n{first.item.results['look']}" in text
    asked = [event for event in events if isinstance(event, Exchange) and event.role == "subject"]
    assert asked[0].reply.calls[0].name == "look_up"
    assert text.count(first.item.opening) == 1 + text.count("[user to person]")


def drive(store, url, kill_at, talks=4):
    driver = forked.start([DRIVER, store, url, talks, kill_at], stdout=forked.PIPE, stderr=forked.PIPE)
    said = driver.communicate(timeout=120)
    return subprocess.CompletedProcess(DRIVER, driver.returncode, *said)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    with OpenAIServer() as server:
        assistants.Called(server, assistants.discerning)
        told = json.loads(drive(tmp_path_factory.mktemp("whole") / "s.db", server.url, 0).stdout)
        return told, len(server.received)


@pytest.mark.parametrize("kill_at", [1, pytest.param(2, marks=pytest.mark.slow), 4])
def test_killed_between_a_call_and_its_result_it_plays_on_and_sends_nothing_twice(
    tmp_path, served, openai_server, undisturbed, kill_at
):
    whole, requests = undisturbed
    assert drive(tmp_path / "s.db", openai_server.url, kill_at).returncode == -signal.SIGKILL
    assert 0 < len(openai_server.received) < requests
    again = drive(tmp_path / "s.db", openai_server.url, 0)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) == whole
    assert len(openai_server.received) == requests


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("called", "bad"),
    [
        ([("a", "look_up", json.dumps({"record": "x" * 1_000_000}))], {"too long": 1}),
        ([("a", "look_up", DEEP)], {"too long": 1}),
        ([("a", "look_up", '{"record":' * 800)], {"arguments": 5}),
        ([(f"c{n}", "look_up", '{"record": "B1000"}') for n in range(10_000)], {"too many": 5, "after the end": 9_987}),
        ([("a", "rm -rf /", "{}")], {"unknown tool": 5}),
        ([("a", None, "{}")], {"unknown tool": 5}),
        ([("a", "look_up", '{"record": "R1"}')] * 2, {"repeated id": 4, "too many": 1, "after the end": 1}),
    ],
)
def test_hostile_calls_end_in_a_counted_end(tmp_path, openai_server, called, bad):
    openai_server.calls = lambda body: called
    openai_server.say = lambda body: ""
    played = run(tmp_path, f"vllm/m@{openai_server.url}#1", talks=2, retries=0)
    for episode in played.episodes("cases"):
        assert episode.failure is None
        assert episode.outcome.ended
        assert episode.outcome.trace == ()
        assert dict(episode.outcome.bad) == bad
    assert played.summary("cases").measure("ended").value == 1.0


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "tool_calls": {"a": 1}},
        {"content": None, "tool_calls": [[[]]]},
        {"content": None, "tool_calls": [{"id": 3, "function": {"name": {}, "arguments": "{}"}}]},
    ],
)
def test_calls_that_cannot_be_read_fail_their_talk_and_nothing_else(tmp_path, openai_server, message):
    body = json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).encode()
    openai_server.fault_of = lambda number: Fault(200, raw=body)
    with pytest.warns(UserWarning, match="malformed reply: 2"):
        played = run(tmp_path, f"vllm/m@{openai_server.url}#1", talks=2, retries=0)
    assert {episode.failure.kind for episode in played.episodes("cases")} == {"malformed reply"}


def test_nested_input_of_the_other_format_fails_its_talk_and_nothing_else(tmp_path, anthropic_server):
    body = b'{"content":[{"type":"tool_use","id":"t","name":"look_up","input":' + DEEP.encode() + b"}]}"
    anthropic_server.fault_of = lambda number: Fault(200, raw=body)
    with pytest.warns(UserWarning, match="malformed reply: 2"):
        played = run(tmp_path, f"anthropic/m@{anthropic_server.url}#1", talks=2, retries=0)
    assert {episode.failure.kind for episode in played.episodes("cases")} == {"malformed reply"}


def test_a_cap_holds_with_tools(tmp_path, served, openai_server):
    openai_server.usage = {"prompt_tokens": 900, "completion_tokens": 50}
    played = run(tmp_path, served, talks=6, max_tokens=12_000, reply_tokens=100)
    spent = played.spent()
    assert spent.requests
    assert spent.input_tokens + spent.output_tokens <= 12_000
    assert played.status != "finished"
