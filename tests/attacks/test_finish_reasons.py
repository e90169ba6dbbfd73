"""A reply that the server ended with an error is a failed request, never a wrong answer."""

import json

import pytest

import sociometer as sm
from servers.faults import Fault
from sociometer.core.conversation import Noted

pytestmark = pytest.mark.filterwarnings("ignore:every item:UserWarning")


def chat(finish, text="", **more):
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish} | more
    return Fault(raw=json.dumps({"choices": [choice], "model": "m"}).encode())


def message(finish, text="", **more):
    content = [{"type": "text", "text": text}] if text else []
    return Fault(raw=json.dumps({"content": content, "stop_reason": finish, "model": "m", **more}).encode())


CHAT = [
    chat("error"),
    chat("error", "The answer is (A"),
    chat("ERROR", "A"),
    chat("abort", "A"),
    chat("insufficient_system_resource", "A"),
    chat("stop", "A", error={"code": 502, "message": "Upstream failed"}),
    chat("stop", "", error={"code": 502, "message": "Upstream failed"}),
    chat(None, "A", error="failed"),
    Fault(raw=b'{"choices": [{"error": {"message": "no message at all"}, "finish_reason": "error"}]}'),
    Fault(raw=b'{"error": {"message": "both"}, "choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}'),
    chat("strange"),
    chat("sk-not-a-name-0123456789"),
]
MESSAGES = [message("error"), message("error", "A"), message("strange"), message("end_turn", "A", error={"type": "x"})]


def play(server, provider, tmp_path, fault):
    server.fault_of = lambda number: fault
    options = {"base_url": server.url, "store": tmp_path / "s.db", "retries": 1}
    run = sm.run("sesi", f"{provider}/m", limit=2, **options)
    return run, (len(run.finished(run.tasks[0])), sum(run.failures().values()))


@pytest.mark.parametrize("fault", CHAT)
def test_an_error_in_a_completion_is_a_failed_request(openai_server, key, tmp_path, fault):
    _, counts = play(openai_server, "openai", tmp_path, fault)
    assert counts == (0, 2)
    assert len(openai_server.received) == 4, "each was tried again"


@pytest.mark.parametrize("fault", MESSAGES)
def test_an_error_in_a_message_is_a_failed_request(anthropic_server, key, tmp_path, fault):
    _, counts = play(anthropic_server, "anthropic", tmp_path, fault)
    assert counts == (0, 2)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_unknown_reason_with_a_text_is_read_and_named_in_a_note(request, key, tmp_path, provider):
    server = request.getfixturevalue(f"{provider}_server")
    run, counts = play(
        server, provider, tmp_path, (chat if provider == "openai" else message)("pause_for_thought", "A")
    )
    assert counts == (2, 0)
    for episode in run.episodes():
        notes = [event for event in run.transcript(episode.item.id) if isinstance(event, Noted)]
        assert [note.facts["reason"] for note in notes if note.kind == "unknown finish reason"] == ["pause_for_thought"]


def test_a_status_in_the_error_of_a_choice_decides_as_it_would_outside(openai_server, key, tmp_path):
    fault = chat("error", error={"code": 400, "message": "This model's maximum context length is 8192 tokens"})
    _, counts = play(openai_server, "openai", tmp_path, fault)
    assert counts == (0, 2)
    assert len(openai_server.received) == 2, "a prompt that is too long is not sent again"
