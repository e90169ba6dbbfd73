"""What was paid for is never lost: a server that reports an absurd usage loses nobody a reply."""

import json

import pytest

import forked
import sociometer as sm
from servers.faults import Fault
from sociometer.models.http import strict
from sociometer.models.openai import read_text
from sociometer.store.place import parse_place
from sociometer.store.store import Store

ABSURD = [2**70, -1, "many", None, [1], {"a": 1}, True]


@pytest.mark.parametrize("tokens", ABSURD, ids=str)
def test_a_reply_with_an_absurd_usage_is_kept_and_counted(openai_server, key, tmp_path, tokens):
    openai_server.usage = {"prompt_tokens": tokens, "completion_tokens": tokens}
    options = {"base_url": openai_server.url, "store": tmp_path / "s.db", "reply_tokens": 20, "max_tokens": 500_000}
    run = sm.run("sesi", "openai/m", limit=3, **options)
    assert run.status == "finished"
    asked = len(openai_server.received)
    sm.resume(run, store=tmp_path / "s.db", key_variable="OPENAI_API_KEY")
    assert len(openai_server.received) == asked, "every reply is stored"
    assert run._store.journal.spent(run.id).charged_tokens > 0, "the worst case is charged"


TWO_AT_ONCE = """
import asyncio, sys
from servers.paid import Server, config, engine_with
from sociometer.store.store import Store

class Patient(Server):
    async def answer(self, request):
        if not self.total:
            print("asked", flush=True)
            sys.stdin.readline()
        return await super().answer(request)

with Store(sys.argv[1]) as store:
    server = Patient("A")
    run = engine_with(store, server).run(config(limit=int(sys.argv[2]), in_flight=1)).run
    print(run.id, server.total, flush=True)
"""


def test_what_two_processes_send_for_the_same_reply_is_counted_for_both(place):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), forked.PIPE)
    processes = [forked.start(["-c", TWO_AT_ONCE, place, limit], **pipes) for limit in ("3", "4")]
    both_sent = [process.stdout.readline() for process in processes] == ["asked\n", "asked\n"]
    ended = [process.communicate("\n") for process in processes]
    assert both_sent, ended
    told = [said.split() for said, _ in ended]
    with Store(parse_place(place)) as store:
        for run, sent in told:
            assert store.journal.spent(run).requests == int(sent) > 0


@pytest.mark.parametrize(
    "said", [{"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": 9, "completion_tokens": 1}]
)
def test_a_long_reply_that_is_said_to_have_no_tokens_counts_as_its_worst_case(openai_server, key, tmp_path, said):
    openai_server.usage = said
    openai_server.say = lambda body: "B. " + "It is a long story. " * 200
    options = {"base_url": openai_server.url, "store": tmp_path / "s.db", "reply_tokens": 2_000, "in_flight": 1}
    run = sm.run("sesi", "openai/m", limit=20, max_tokens=20_000, **options)
    assert run.status == "stopped"
    assert 0 < len(openai_server.received) < 8
    assert run._store.journal.spent(run.id).charged_tokens > 2_000


@pytest.mark.parametrize("tokens", [*ABSURD, "NaN"], ids=str)
def test_a_text_completion_with_an_absurd_usage_is_kept(tokens):
    written = "NaN" if tokens == "NaN" else json.dumps(tokens)
    usage = f'{{"prompt_tokens": {written}, "completion_tokens": {written}}}'
    reply = read_text(strict(f'{{"choices": [{{"text": "B"}}], "usage": {usage}}}'.encode()))
    assert (reply.text, reply.usage.output_tokens in (None, 2**70)) == ("B", True)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_reply_with_a_number_that_json_does_not_have_is_kept(openai_server, key, tmp_path, number):
    """Servers written in Python send them, for example as the log-probability of a token that cannot come."""
    token = f'{{"token": "B", "logprob": -0.1, "top_logprobs": [{{"token": "A", "logprob": {number}}}]}}'
    choice = f'{{"message": {{"content": "B: NaN, Infinity"}}, "logprobs": {{"content": [{token}]}}}}'
    body = f'{{"choices": [{choice}], "usage": {{"prompt_tokens": 5, "completion_tokens": 4, "seconds": {number}}}}}'
    openai_server.fault_of = lambda _: Fault(raw=body.encode())
    run = sm.run("sesi", "openai/m", limit=3, base_url=openai_server.url, store=tmp_path / "s.db")
    assert run.status == "finished"
    assert len(openai_server.received) == 3
    assert run._store.journal.spent(run.id).output_tokens == 12
    (event, *_) = run.transcript(next(run.episodes()).item.id)
    assert event.reply.text == "B: NaN, Infinity"
