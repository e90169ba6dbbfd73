"""A batch with several results for one request, or results of requests that it does not have."""

import copy

import pytest

import sociometer as sm
from servers import batches
from servers.batches import SERVERS
from sociometer.engine.batches import lane

ITEMS = 8


def _failed(row):
    """The row of a request that failed."""
    if "result" in row:
        error = {"type": "error", "error": {"type": "api_error", "message": "no"}}
        return row | {"result": {"type": "errored", "error": error}}
    return row | {"response": {"status_code": 500, "request_id": "x", "body": {"error": {"message": "no"}}}}


def _other(row):
    """The row with another answer and a large usage."""
    made = copy.deepcopy(row)
    if "result" in made:
        made["result"]["message"] |= {"content": [{"type": "text", "text": "D"}]}
        made["result"]["message"]["usage"] = {"input_tokens": 10**6, "output_tokens": 10**6}
        return made
    body = made["response"]["body"]
    body["choices"][0]["message"]["content"] = "D"
    body["usage"] = {"prompt_tokens": 10**6, "completion_tokens": 10**6, "total_tokens": 2 * 10**6}
    return made


LIES = {
    "twice": lambda row: [row, row],
    "another answer after it": lambda row: [row, _other(row)],
    "an error after it": lambda row: [row, _failed(row)],
    "an error before it": lambda row: [_failed(row), row],
    "answers to strangers": lambda row: [row, *(_other(row) | {"custom_id": f"{n:032x}"} for n in range(50))],
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("provider", SERVERS)
def test_a_request_in_a_batch_counts_once_with_its_first_answer(tmp_path, monkeypatch, key, provider, lie):
    monkeypatch.setattr(lane, "_QUIET_SECONDS", 0.05)
    monkeypatch.setattr(lane, "_FIRST_POLL_SECONDS", 0.02)
    written, found = batches.lines, {}
    for name, told in (("honest", lambda row: [row]), ("lying", LIES[lie])):
        monkeypatch.setattr(
            batches, "lines", lambda rows, told=told: written([one for row in rows for one in told(row)])
        )
        with SERVERS[provider]() as server:
            server.say = lambda body: "B"
            how = {"base_url": server.url, "limit": ITEMS, "batch": True, "revision": "1"}
            run = sm.run("sesi", f"{provider}/m", store=tmp_path / f"{name}.db", **how)
            assert (run.status, run.failures(), len(server.batches)) == ("finished", {}, 1)
            found[name] = (run.spent(), [dict(one.score.values) for one in run.episodes()])
    assert found["honest"] == found["lying"]
