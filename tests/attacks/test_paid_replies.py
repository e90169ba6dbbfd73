"""What was paid for is never lost: a server that reports an absurd usage loses nobody a reply."""

import os
import subprocess
import sys

import pytest

import sociometer as sm
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
    run = engine_with(store, server).run(config(name=sys.argv[2], in_flight=1)).run
    print(run.id, server.total, flush=True)
"""


def test_what_two_processes_send_for_the_same_reply_is_counted_for_both(place):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [
        subprocess.Popen([sys.executable, "-c", TWO_AT_ONCE, place, name], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True, env=environment)
        for name in ("one", "two")
    ]  # fmt: skip
    assert [process.stdout.readline() for process in processes] == ["asked\n", "asked\n"], "both have sent"
    told = [process.communicate("\n")[0].split() for process in processes]
    with Store(parse_place(place)) as store:
        for run, sent in told:
            assert store.journal.spent(run).requests == int(sent) > 0
