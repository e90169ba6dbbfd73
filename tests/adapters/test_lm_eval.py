"""lm-evaluation-harness runs our one-turn tasks by its own command, on a loopback server; the real package."""

import hashlib
import json
from collections import Counter

import pytest

pytest.importorskip("lm_eval", reason="the extra 'lm-eval' is not installed")

import sociometer as sm
from servers.openai import OpenAIServer
from sociometer.adapters.one_turn import one_turns, plan_of
from sociometer.cli.main import run_command
from sociometer.instruments import cards
from untidy import left_open

TASKS = {
    "sesi": ("sesi", "questions", {"orders": 1}),
    "seceu": ("seceu", "feelings", {"prompting": "direct"}),
    "stories": ("egosocial", "generated", {"perspective": "first"}),
    "stories_third": ("egosocial", "generated", {"perspective": "third"}),
    "abilities": ("socialeval", "abilities", {"orders": 1}),
}
LIMIT = 24


def reply_to(body):
    """An answer that depends on the question alone, some of them unreadable."""
    asked = "".join(message["content"] for message in body["messages"] if message["role"] == "user").strip()
    place = hashlib.sha256(asked.encode()).digest()[0] % 10
    points = ["10", "0", "0", "0"]
    return (
        "(1) {}; (2) {}; (3) {}; (4) {}".format(*(points[-place:] + points[:-place]))
        if "10" in asked
        else "ABCDABCDA?"[place]
    )


@pytest.fixture(scope="module")
def server():
    with OpenAIServer() as started:
        started.say = reply_to
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lm-eval")


@pytest.fixture(scope="module")
def include_path():
    from pathlib import Path

    import sociometer.adapters

    return Path(sociometer.adapters.__file__).parent / "lm_eval"


@pytest.fixture(scope="module")
def evaluated(server, folder, include_path, command):
    """All our tasks in one evaluation by lm_eval's own command; gives its samples by task."""
    model = f"model=m,base_url={server.url}/chat/completions,num_concurrent=8,max_retries=1"
    names = ",".join(f"sociometer_{name}" for name in TASKS)
    asked = ("--model", "local-chat-completions", "--model_args", model, "--apply_chat_template", "--tasks", names)
    kept = ("--include_path", include_path, "--limit", LIMIT, "--log_samples", "--output_path", "out")
    said = command("lm_eval", *asked, *kept, folder=folder)
    files = {name: next((folder / "out").rglob(f"samples_sociometer_{name}_2*.jsonl")) for name in TASKS}
    return said, files


def samples(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def played(server, folder):
    """The same tasks in our engine: its runs by task."""
    runs = {}
    for name, (instrument, task, settings) in TASKS.items():
        runs[name] = sm.run(
            instrument,
            "vllm/m",
            base_url=server.url,
            tasks=(task,),
            settings=settings,
            store=folder / f"{name}.db",
            retries=0,
            second_question=False,
        )
    return runs


@pytest.mark.parametrize("name", TASKS)
def test_the_same_replies_give_the_same_scores_in_lm_eval_and_in_our_engine(evaluated, played, name):
    ours = {one.item.id: dict(one.score.values) for one in played[name].episodes()}
    theirs = samples(evaluated[1][name])
    assert len(theirs) == LIMIT
    for sample in theirs:
        found = {metric: sample[metric] for metric in sample["metrics"]}
        assert found == {metric: value for metric, value in ours[sample["doc"]["id"]].items() if metric in found}
        assert found


@pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")
def test_the_same_replies_give_the_same_numbers_in_inspect_lm_eval_and_our_engine(evaluated, server, folder):
    inspect_ai = pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")
    import inspect_models as inspect_models  # registers the provider
    from sociometer.adapters import inspect_tasks

    with left_open():
        (log,) = inspect_ai.eval(
            inspect_tasks.sesi(second_question=False),
            model="loopback/m",
            model_base_url=server.url,
            limit=LIMIT,
            log_dir=str(folder / "logs"),
            display="none",
        )
    run = sm.run(
        "sesi", "vllm/m", base_url=server.url, store=folder / "three.db", retries=0, second_question=False, fresh=True
    )
    inspect = {one.id: next(iter(one.scores.values())).value["correct"] for one in log.samples}
    harness = {one["doc"]["id"]: one["correct"] for one in samples(evaluated[1]["sesi"])}
    engine = {one.item.id: one.score.values["correct"] for one in run.episodes() if one.item.id in harness}
    assert len(harness) == LIMIT
    assert inspect == harness == engine
    assert len(set(engine.values())) == 2


def test_the_tasks_ask_what_our_engine_asks(evaluated, played, server):
    """Every request of the harness has a twin in wording and sampling."""

    def asked(body):
        said = tuple((message["role"], message["content"].strip()) for message in body["messages"])
        most = body.get("max_completion_tokens") or body.get("max_tokens") or body.get("max_gen_toks")
        return said, body["temperature"], most

    seen = Counter(asked(one.body) for one in server.received)
    assert min(seen.values()) >= 1
    twins = [count for (said, *_), count in seen.items() if count >= 2]
    assert len(twins) >= LIMIT * (len(TASKS) - 1)


def test_the_table_shows_the_scores(evaluated):
    assert all(f"sociometer_{name}" in evaluated[0] for name in TASKS)
    assert "correct" in evaluated[0]
    assert "distance" in evaluated[0]


def test_the_version_of_a_task_is_that_of_its_instrument(evaluated):
    results = json.loads(next(evaluated[1]["sesi"].parent.glob("results_*.json")).read_text())
    for name, (instrument, _, _) in TASKS.items():
        assert results["versions"][f"sociometer_{name}"] == cards()[instrument].version


def test_what_needs_several_turns_says_so():
    from sociometer.adapters.one_turn import score_reply
    from sociometer.core.errors import UsageError

    plan = plan_of("egosocial", "generated", b'{"perspective": "both"}')
    with pytest.raises(UsageError, match="asks more than once"):
        score_reply(plan, next(one_turns(plan)).item, "A")


def test_the_command_prints_the_folder(include_path, capsys):
    assert run_command(["list", "adapters", "lm-eval"]) == 0
    assert capsys.readouterr().out.strip() == str(include_path)


def test_letters_are_scored_by_their_likelihood_after_a_text_for_base_models(folder, include_path, command):
    name = "sociometer_sesi_likelihood"
    asked = ("--model", "dummy", "--tasks", name, "--include_path", include_path, "--limit", 5)
    said = command("lm_eval", *asked, "--log_samples", "--output_path", "likely", folder=folder)
    assert name in said and "acc" in said
    for sample in samples(next((folder / "likely").rglob(f"samples_{name}_2*.jsonl"))):
        scored = [(one["arg_0"][-7:], one["arg_1"]) for one in sample["arguments"].values()]
        assert scored == [("Answer:", f" {letter}") for letter in "ABCD"]
        assert int(sample["target"]) == json.loads(sample["doc"]["item"])["answer"]
