"""verifiers plays our training environments by its own command, and a policy learns from the rewards; real package."""

import json
import sys
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("verifiers", reason="the extra 'verifiers' is not installed")

from servers.openai import OpenAIServer
from sociometer.instruments import load

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


def test_the_person_of_sage_is_asked_beside_the_policy(command, server, tmp_path):
    scenario = next(iter(load("sage").tasks["dialogue"].items(_source("sage"))))
    other = msgspec.structs.replace(scenario, id="t-1", cluster="t-1", first_words="Other words.")
    (tmp_path / "scenarios.jsonl").write_bytes(msgspec.json.encode(other) + b"\n")
    feeling = {"said": "s", "serves": "s", "activity": "a", "feeling": "f", "change": 10}
    words = {"thinking": "t", "reply": "Thank you.", "said": "Thank you."}

    def say(body):
        asks_json = "response_format" in body
        if body["model"] == "policy":
            return "I am with you."
        wanted = json.dumps(body.get("response_format", {}))
        return json.dumps(feeling if "change" in wanted else words) if asks_json else "Thank you."

    server.say = say
    settings = json.dumps({"scenarios": str(tmp_path / "scenarios.jsonl"), "turns": 2})
    chosen = ("--env.taskset.settings", settings, "--env.taskset.simulator", f"vllm/person@{server.url}", "-n", "1")
    (trace,) = evaluate(command, server, tmp_path, "--env.taskset.environment", "sage", *chosen)
    asked = {received.body["model"] for received in server.received}
    assert {"policy", "person"} <= asked
    if trace["ok"]:
        assert trace["rewards"]["social"]["score"] == trace["metrics"]["emotion"] / 100
    else:
        assert "unreadable" in json.dumps(trace["errors"])


def _source(name):
    from sociometer.engine.plan import make_plan
    from sociometer.run_options import make_config

    return make_plan(make_config(name, "baseline/random"), load(name), bindings={}).source()


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
    assert found["reward_last"] > found["reward_first"] + 0.05
    assert found["held_out_after"] > found["held_out_before"] + 0.2
