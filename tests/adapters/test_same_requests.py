"""A model is asked the same through every door: the bodies that reach a server are compared."""

import json
from importlib.metadata import PackageNotFoundError, version

import pytest

pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")

import inspect_ai

import sociometer as sm
from servers.faults import Fault
from untidy import left_open

# Inspect itself calls tenacity with a parameter that tenacity deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")


def need_openai():
    """Skip a test of Inspect's own client for servers; that of verifiers, in the same environment, is older."""
    try:
        if tuple(map(int, version("openai").split(".")[:2])) >= (3, 4):
            return
    except PackageNotFoundError:
        pass
    pytest.skip("openai 3.4, which Inspect needs for such servers, is not installed")


@pytest.fixture
def bodies(openai_server):
    """The bodies that a call sends, in an order that does not depend on the time."""
    openai_server.say = lambda body: '{"prediction": 33, "choice": 20}'

    def sent(call):
        openai_server.received.clear()
        call()
        assert openai_server.received
        return sorted((one.body for one in openai_server.received), key=lambda body: json.dumps(body["messages"]))

    return sent


@pytest.fixture
def ours(bodies, openai_server, tmp_path):
    """The bodies of `run`."""
    return bodies(lambda: play(f"vllm/m@{openai_server.url}", tmp_path))


def play(model, folder, **more):
    more = {"tasks": ("numbers",), "settings": {"rounds": 2}, **more}
    return sm.run("egosocial", model, store=folder / "store.db", **more)


def test_inspect_sends_what_run_sends(bodies, ours, openai_server, tmp_path, monkeypatch):
    need_openai()
    monkeypatch.setenv("OWN_API_KEY", "x")
    options = {
        "model": "openai-api/own/m",
        "model_base_url": openai_server.url,
        "log_dir": str(tmp_path),
        "display": "none",
    }
    options |= {"task_args": {"task": "numbers", "rounds": 2}}
    with left_open():
        sent = bodies(lambda: inspect_ai.eval("sociometer/egosocial", **options))
    assert sent == ours


def test_a_model_of_inspect_in_our_engine_is_sent_what_run_sends(bodies, ours, openai_server, tmp_path, monkeypatch):
    need_openai()
    monkeypatch.setenv("OWN_API_KEY", "x")
    assert bodies(lambda: play(f"inspect/openai-api/own/m@{openai_server.url}", tmp_path)) == ours


def test_the_sdk_below_inspect_sends_nothing_again_by_itself(openai_server, tmp_path, monkeypatch):
    need_openai()
    monkeypatch.setenv("OWN_API_KEY", "x")
    openai_server.fault_of = lambda number: Fault(status=500, message="busy")
    with pytest.warns(UserWarning, match="every item"):
        play(f"inspect/openai-api/own/m@{openai_server.url}", tmp_path, limit=1, retries=0, max_requests=20)
    assert len(openai_server.received) == 1
