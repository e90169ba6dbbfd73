"""verifiers plays our training environment by its own command; real package."""

import asyncio
import gc
import json

import aiohttp
import pytest

pytest.importorskip("verifiers", reason="the extra 'verifiers' is not installed")

from verifiers.v1.clients import ModelContext
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.utils.loaders import load_environment

import assistants
from servers.openai import OpenAIServer
from sociometer.adapters.environment import HelpdeskEnvironment


@pytest.fixture(scope="module")
def server():
    with OpenAIServer() as started:
        yield started


def evaluate(command, server, folder, *words):
    """The traces of an evaluation by vf-eval."""
    client = ("-m", "policy", "--client.base-url", server.url, "--client.api-key-var", "LOOPBACK_KEY")
    quiet = ("--no-push", "--no-rich", "--output-dir", "out")
    command("vf-eval", "sociometer-training", *words, *client, *quiet, folder=folder, LOOPBACK_KEY="x")
    (path,) = (folder / "out").rglob("traces.jsonl")
    return [trace for line in path.read_text().splitlines() for trace in json.loads(line)["traces"]]


@pytest.mark.parametrize("name", ["discerning", "late"])
def test_the_same_replies_give_the_same_rewards_in_verifiers_and_in_our_loop(command, server, tmp_path, name):
    speak = assistants.told(getattr(assistants, name))
    server.say = lambda body: speak(body["messages"])

    async def policy(messages):
        return speak([{"role": one.role, "content": one.content} for one in messages])

    async def ours():
        async with HelpdeskEnvironment() as environment:
            return {environment.case(number).id: await environment.play(number, policy) for number in range(6)}

    expected = asyncio.run(ours())
    traces = evaluate(command, server, tmp_path, "--env.taskset.count", "6")
    assert all(trace["ok"] for trace in traces)
    rewards = {trace["task"]["data"]["name"]: trace["rewards"]["social"]["score"] for trace in traces}
    assert rewards == {case: step.reward for case, step in expected.items()}
    for trace in traces:
        assert trace["metrics"]["looked"] == expected[trace["task"]["data"]["name"]].values["looked"]
        assert trace["agent"]["runtime"]["type"] == "subprocess"


def pressing_and_policy(body):
    """A person who presses, and a policy that refuses."""
    return json.dumps({"words": "But I want it."}) if body["model"] == "person" else "No, I cannot do that."


def test_a_model_presses_beside_the_policy(command, server, tmp_path):
    server.say = pressing_and_policy
    chosen = ("--env.taskset.person", f"vllm/person@{server.url}", "-n", "1")
    (trace,) = evaluate(command, server, tmp_path, *chosen)
    assert trace["ok"], trace["errors"]
    assert {"policy", "person"} <= {received.body["model"] for received in server.received}
    assert trace["rewards"]["social"]["score"] == 0


def test_no_connection_is_left_open_after_training(server, monkeypatch):
    monkeypatch.setenv("LOOPBACK_KEY", "x")
    server.say = pressing_and_policy
    taskset = {"id": "sociometer-training", "count": 1, "person": f"vllm/person@{server.url}"}
    client = {"base_url": server.url, "api_key_var": "LOOPBACK_KEY"}
    config = EvalConfig.model_validate({"env": {"taskset": taskset}, "model": "policy", "client": client})

    async def left_open():
        environment = load_environment(config.env)
        context = ModelContext(client=config.client, model="policy", sampling=config.sampling)
        async with environment.serving():
            (slot,) = environment.slots(next(iter(environment.taskset)))
            assert (await environment.run_slot(slot, context)).ok
        return [each for each in gc.get_objects() if type(each) is aiohttp.ClientSession and not each.closed]

    assert asyncio.run(left_open()) == []


def test_a_seed_of_the_test_is_refused_by_the_command(command, server, tmp_path):
    words = ("vf-eval", "sociometer-training", "--env.taskset.seed", "7", "-n", "1")
    client = ("-m", "policy", "--client.base-url", server.url, "--no-push", "--no-rich", "--output-dir", "out")
    assert "seed 7 is held out for tests" in command(*words, *client, folder=tmp_path, code=1)
