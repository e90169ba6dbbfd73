"""verifiers plays our training environments by its own command, and a policy learns from the rewards; real package."""

import asyncio
import gc
import hashlib
import json
import sys
from pathlib import Path

import aiohttp
import msgspec
import pytest

pytest.importorskip("verifiers", reason="the extra 'verifiers' is not installed")

from verifiers.v1.clients import ModelContext
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.utils.loaders import load_environment

from servers.openai import OpenAIServer
from sociometer.adapters.training import ENVIRONMENTS, Choices, other_players, training_plan
from sociometer.core.conversation import Schema
from sociometer.core.session import RoleBinding
from sociometer.engine.runner import play_episode
from sociometer.instruments.egosocial.games.numbers.match import SCHEMA
from sociometer.models.openai import response_format
from sociometer.models.python import PythonPlayer

EXAMPLE = Path(__file__).parents[2] / "docs" / "adapters" / "train_numbers.py"


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


def test_the_reward_of_number_guessing_is_the_share_of_right_predictions(command, server, tmp_path):
    server.say = lambda body: '{"prediction": 50, "choice": 33}'
    chosen = ("--env.taskset.settings", '{"rounds": 4, "opponents": ["switching"]}', "-n", "1")
    (trace,) = evaluate(command, server, tmp_path, "--env.taskset.environment", "numbers", *chosen)
    assert trace["ok"]
    assert trace["rewards"]["social"]["score"] == 1.0
    assert trace["metrics"]["right"] == 1.0
    assert len(trace["calls"]) == 4
    assert trace["agent"]["runtime"]["type"] == "subprocess"
    assert server.last.body["response_format"] == response_format(Schema(SCHEMA, "guess"))


def person_and_policy(body):
    """A person who feels better, and a policy."""
    feeling = {"said": "s", "serves": "s", "activity": "a", "feeling": "f", "change": 10}
    words = {"attitude": "a", "aim": "a", "tone": "t", "content": "c", "words": "Thank you."}
    asks_json = "response_format" in body
    if body["model"] == "policy":
        return "I am with you."
    wanted = json.dumps(body.get("response_format", {}))
    return json.dumps(feeling if "change" in wanted else words) if asks_json else "Thank you."


def test_the_person_of_sage_is_asked_beside_the_policy(command, server, tmp_path, own_scenarios):
    server.say = person_and_policy
    settings = json.dumps({"scenarios": str(own_scenarios), "turns": 2})
    chosen = ("--env.taskset.settings", settings, "--env.taskset.simulator", f"vllm/person@{server.url}", "-n", "1")
    (trace,) = evaluate(command, server, tmp_path, "--env.taskset.environment", "sage", *chosen)
    asked = {received.body["model"] for received in server.received}
    assert {"policy", "person"} <= asked
    assert trace["ok"], trace["errors"]
    metrics = trace["metrics"]
    assert metrics["emotion"] == 60, "the last reply is judged"
    assert trace["rewards"]["social"]["score"] == pytest.approx(0.6 - 0.05 * metrics["length"])


def test_no_connection_is_left_open_after_training(server, monkeypatch):
    monkeypatch.setenv("LOOPBACK_KEY", "x")
    server.say = person_and_policy
    taskset = {"environment": "practice", "settings": {"turns": 2}, "simulator": f"vllm/person@{server.url}"}
    client = {"base_url": server.url, "api_key_var": "LOOPBACK_KEY"}
    env = {"taskset": {"id": "sociometer-training", "count": 1, **taskset}}
    config = EvalConfig.model_validate({"env": env, "model": "policy", "client": client})

    async def left_open():
        environment = load_environment(config.env)
        context = ModelContext(client=config.client, model="policy", sampling=config.sampling)
        async with environment.serving():
            (slot,) = environment.slots(next(iter(environment.taskset)))
            assert (await environment.run_slot(slot, context)).ok
        return [each for each in gc.get_objects() if type(each) is aiohttp.ClientSession and not each.closed]

    assert asyncio.run(left_open()) == []


def reply_to(messages):
    """A reply that depends on what was asked alone: an action of hold'em, or a letter, or nothing that can be read."""
    place = hashlib.sha256(messages[-1]["content"].encode()).digest()[0] % 5
    return '{"action": "call"}' if "What you may do" in messages[-1]["content"] else ("A", "B", "C", "A", "?")[place]


def engine_rewards(name, choices):
    """What our engine gives for the same replies, by item."""
    plan = training_plan(name, choices)
    policy = PythonPlayer(reply_to)
    bindings = {**other_players(name, choices, plan), "subject": RoleBinding(policy, "policy", "policy")}
    found = {}
    for item in plan.items(plan.tasks[0]):
        played = asyncio.run(play_episode(msgspec.structs.replace(plan, bindings=bindings), plan.tasks[0], item))
        found[item.id] = ENVIRONMENTS[name].reward(played.episode.score.values)
    return found


@pytest.mark.parametrize(
    ("name", "settings"), [("stories", {"stories": 4}), ("holdem", {"matches": 4, "hands": 2}), ("goals", {})]
)
def test_the_same_replies_give_the_same_rewards_in_verifiers_and_in_our_engine(
    command, server, tmp_path, own_opponents, own_trees, name, settings
):
    server.say = lambda body: reply_to(body["messages"])
    settings = settings | ({"weights": str(own_opponents)} if name == "holdem" else {})
    data = str(own_trees) if name == "goals" else ""
    words = ["--env.taskset.environment", name, "--env.taskset.settings", json.dumps(settings)]
    traces = evaluate(command, server, tmp_path, *words, *(["--env.taskset.data", data] if data else []))
    assert all(trace["ok"] for trace in traces)
    theirs = {trace["task"]["data"]["name"]: trace["rewards"]["social"]["score"] for trace in traces}
    assert theirs == engine_rewards(name, Choices(settings=settings, data=data))


def test_held_out_opponents_are_refused_by_the_command(command, server, tmp_path):
    words = ("vf-eval", "sociometer-training", "--env.taskset.settings", '{"opponents": ["level-1"]}', "-n", "1")
    client = ("-m", "policy", "--client.base-url", server.url, "--no-push", "--no-rich", "--output-dir", "out")
    said = command(*words, *client, folder=tmp_path, code=1)
    assert "held out for the test: level-1" in said


def test_a_policy_learns_and_is_better_on_held_out_opponents(command, tmp_path):
    said = command(
        Path(sys.executable).name, EXAMPLE, "--rounds-of-training", 12, "--group", 10, "--store", "t.db",
        folder=tmp_path, POLICY_KEY="x",
    )  # fmt: skip
    found = json.loads(said.splitlines()[-1])
    assert found["reward_last"] > found["reward_first"]  # by how much varies with the order in which matches end
    assert found["held_out_after"] > found["held_out_before"] + 0.2
