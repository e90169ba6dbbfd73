"""The OpenAI wire format against a server not written here: llama.cpp's own, serving the embedded model."""

import json
import os
import select
import subprocess
import sys

import pytest

from sociometer.core.conversation import Request, Sampling, Schema, user
from sociometer.core.errors import MachineryError
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

pytestmark = pytest.mark.slow  # test_imitations.py has what it answers
PROGRAM = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.verbosity, params.n_ctx, params.n_parallel, params.warmup, params.port = -1, 1024, 1, False, 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.api_keys = ["right-key-for-the-test"]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
del server
"""


@pytest.fixture(scope="module")
def llama_server(embedded_model):
    command = [sys.executable, "-c", PROGRAM, str(embedded_model)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        if not select.select([process.stdout], [], [], 120)[0]:
            pytest.fail("llama.cpp's server did not start within two minutes")
        yield process.stdout.readline().decode().strip() + "/v1"
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def ask(url, *requests, name="smollm2"):
    import asyncio

    async def all_of_them():
        player = resolve(f"llamacpp/{name}", ModelOptions(base_url=url, timeout_seconds=120))
        try:
            return [await player.answer(request) for request in requests]
        finally:
            await player.close()

    return asyncio.run(all_of_them())


def test_llama_cpp_answers_with_usage_and_schema(llama_server, monkeypatch):
    monkeypatch.setenv("LLAMACPP_API_KEY", "right-key-for-the-test")
    closed = {"type": "object", "properties": {"mood": {"enum": ["glad", "sad"]}}, "required": ["mood"]}
    drawn = Sampling(temperature=0, max_tokens=4, seed=3, top_p=0.9, stop=("\n\n",))
    said, filled = ask(
        llama_server,
        Request("s", (user("Say hello."),), sampling=drawn),
        Request("s", (user("How is Ben?"),), Schema(closed), Sampling(temperature=0, max_tokens=40)),
    )
    assert said.text
    assert said.usage.output_tokens == 4
    assert json.loads(filled.text)["mood"] in ("glad", "sad")


def test_llama_cpp_refuses_a_wrong_key_and_a_long_prompt(llama_server, monkeypatch):
    monkeypatch.setenv("LLAMACPP_API_KEY", "wrong-key-for-the-test")
    with pytest.raises(MachineryError) as caught:
        ask(llama_server, Request("s", (user("hi"),)))
    assert (caught.value.kind, caught.value.fatal) == ("authentication", True)
    assert os.environ["LLAMACPP_API_KEY"] not in str(caught.value)
    monkeypatch.setenv("LLAMACPP_API_KEY", "right-key-for-the-test")
    with pytest.raises(MachineryError) as caught:
        ask(llama_server, Request("s", (user("word " * 3000),)))
    assert caught.value.kind == "context too long"
