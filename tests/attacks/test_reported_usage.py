"""A cap counts what a server reports, in whatever response and field it reports it."""

import json

import pytest

import sociometer as sm
from servers.faults import Fault
from sociometer.cli.main import run_command

pytestmark = pytest.mark.filterwarnings("ignore:every item:UserWarning")
CAP, REPLY_TOKENS, LARGEST_REQUEST = 20_000, 100, 4_000
USED = {"prompt_tokens": 900, "completion_tokens": 2_000, "total_tokens": 2_900}
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "B"}, "finish_reason": "stop"}
DETAILS = {"completion_tokens_details": {"reasoning_tokens": 2_500}}


def fault(status=200, **body):
    headers = {"Retry-After": "0.01"} if status == 429 else {}
    return Fault(status, raw=json.dumps(body).encode(), headers=headers)


ERROR = {"message": "no", "type": "server_error"}
TURNED = {
    "200 with an error": fault(error=ERROR, usage=USED),
    "200 with an error in a choice": fault(choices=[CHOICE | {"error": ERROR}], usage=USED),
    "200 with a usage in the error": fault(error=ERROR | {"metadata": {"usage": USED}}),
    "200 without choices": fault(choices=[], usage=USED),
    "200 that cannot be read": fault(choices="none", usage=USED),
    "429": fault(429, error=ERROR, usage=USED),
    "503": fault(503, error=ERROR, usage=USED),
    "500": fault(500, error=ERROR, usage=USED),
    "400": fault(400, error=ERROR, usage=USED),
    "201": fault(201, choices=[CHOICE], usage=USED),
    "only a total": fault(choices=[CHOICE], usage={"total_tokens": 2_900}),
    "reasoning above all": fault(choices=[CHOICE], usage={"prompt_tokens": 9, "completion_tokens": 3, **DETAILS}),
    "whole floats": fault(choices=[CHOICE], usage={"prompt_tokens": 900.0, "completion_tokens": 2e3}),
    "usage in a choice": fault(choices=[CHOICE | {"usage": USED}]),
    "a small usage and a large one": fault(
        choices=[CHOICE | {"usage": USED}], usage={"prompt_tokens": 9, "completion_tokens": 3}
    ),
    "negative": fault(choices=[CHOICE], usage={"prompt_tokens": -900, "completion_tokens": -2_000}),
    "above all": fault(choices=[CHOICE], usage={"prompt_tokens": 10**10, "completion_tokens": 10**19}),
    "no number": fault(choices=[CHOICE], usage={"prompt_tokens": True, "completion_tokens": "2000"}),
}


@pytest.mark.parametrize("name", TURNED)
def test_tokens_count_wherever_they_are_reported(openai_server, key, tmp_path, name):
    openai_server.fault_of = lambda number: TURNED[name]
    options = {"base_url": openai_server.url, "store": tmp_path / "s.db", "reply_tokens": REPLY_TOKENS}
    run = sm.run("sesi", "openai/m", max_tokens=CAP, retries=1, in_flight=8, **options)
    assert run.status == "stopped"
    used = len(openai_server.received) * 1_000  # the least of a request here, reported or as its worst case
    assert used <= CAP + LARGEST_REQUEST
    assert run.spent().against_caps[1] <= CAP + LARGEST_REQUEST


def test_a_completion_of_status_201_is_an_answer(openai_server, key, tmp_path):
    openai_server.fault_of = lambda number: fault(201, choices=[CHOICE], usage={"prompt_tokens": 9})
    run = sm.run("sesi", "openai/m", limit=3, base_url=openai_server.url, store=tmp_path / "s.db")
    assert (run.status, run.failures()) == ("finished", {})


def test_an_error_that_reports_tokens_is_paid_for(openai_server, key, tmp_path, monkeypatch):
    (tmp_path / "prices.toml").write_text('["openai/m"]\ninput = 1.0\noutput = 10.0\nas_of = 2026-01-01\n')
    monkeypatch.setenv("SOCIOMETER_PRICES", str(tmp_path / "prices.toml"))
    openai_server.fault_of = lambda number: fault(400, error=ERROR, usage=USED)
    run = sm.run("sesi", "openai/m", limit=3, base_url=openai_server.url, store=tmp_path / "s.db")
    assert run.spent().cost == pytest.approx(3 * (900 * 1.0 + 2_000 * 10.0) / 1e6)


NOTHING = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def read_by(server):
    """The least that a server has read: a token for every eight bytes of its prompts."""
    return sum(len(json.dumps(request.body["messages"])) for request in server.received) // 8


def test_no_usage_for_calls_of_tools_is_not_believed(openai_server, tmp_path):
    openai_server.calls = lambda body: [("1", body["tools"][0]["function"]["name"], "{}")]
    openai_server.say = lambda body: ""
    openai_server.usage = NOTHING
    cap = 60_000
    options = {"settings": {"talks": 40}, "reply_tokens": REPLY_TOKENS, "max_tokens": cap, "in_flight": 1}
    run = sm.run("helpdesk", f"vllm/m@{openai_server.url}#1", store=tmp_path / "s.db", **options)
    assert run.status == "stopped"
    assert 0 < read_by(openai_server) <= run.spent().against_caps[1] <= cap


def test_no_usage_for_empty_texts_is_not_believed(openai_server, key, tmp_path):
    openai_server.usage = NOTHING
    openai_server.say = lambda body: ""
    options = {"base_url": openai_server.url, "store": tmp_path / "s.db", "reply_tokens": REPLY_TOKENS}
    run = sm.run("sesi", "openai/m", max_tokens=CAP, in_flight=1, **options)
    assert run.status == "stopped"
    assert 0 < read_by(openai_server) <= run.spent().against_caps[1] <= CAP


def test_a_usage_that_is_not_believed_is_told(openai_server, key, tmp_path, capsys):
    openai_server.usage = NOTHING
    options = ["--model", f"vllm/m@{openai_server.url}", "--limit", "3", "--store", str(tmp_path / "s.db")]
    assert run_command(["run", "sesi", *options]) == 0
    told = capsys.readouterr()
    assert "0 tokens (3 replies without a token count)" in told.out + told.err
    assert "cost unknown" in told.out + told.err and "$0.0000" not in told.out + told.err
