"""What a server can spend that is honest first and then ignores its reply limit: the formula of the guarantees page."""

import json

import pytest

import sociometer as sm
from servers.faults import Fault

pytestmark = pytest.mark.filterwarnings("ignore:every item:UserWarning")
INPUT, OUTPUT, REPLY_TOKENS, MARGIN = 0.1, 10.0, 200, 8
LEAST_WORST_CASE = REPLY_TOKENS * OUTPUT / 1e6
USED = 20_000
COST = (12 * INPUT + USED * OUTPUT) / 1e6
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "B"}, "finish_reason": "stop"}


def body(status=200, **parts):
    return Fault(status, raw=json.dumps(parts).encode())


WHOLE = {"prompt_tokens": 12, "completion_tokens": USED}
TURNED = {
    "writes more": body(choices=[CHOICE], usage=WHOLE),
    "thinks more": body(
        choices=[CHOICE],
        usage={"prompt_tokens": 12, "completion_tokens": 3, "completion_tokens_details": {"reasoning_tokens": USED}},
    ),
    "says only the total": body(choices=[CHOICE], usage={"total_tokens": USED + 12}),
    "fails with a usage": body(400, error={"message": "no"}, usage=WHOLE),
    "fails in a choice": body(choices=[CHOICE | {"finish_reason": "error"}], usage=WHOLE),
}


@pytest.fixture
def play(openai_server, key, tmp_path, monkeypatch):
    (tmp_path / "prices.toml").write_text(f'["openai/m"]\ninput = {INPUT}\noutput = {OUTPUT}\nas_of = 2026-01-01\n')
    monkeypatch.setenv("SOCIOMETER_PRICES", str(tmp_path / "prices.toml"))

    def played(turned, after, cap):
        """What was spent in dollars, and how many requests the server answered after it turned."""
        # Honest replies take a while, so that as many are in flight as may be.
        openai_server.fault_of = lambda number: Fault(delay_seconds=0.01) if number < after else TURNED[turned]
        options = {"base_url": openai_server.url, "store": tmp_path / "s.db", "reply_tokens": REPLY_TOKENS}
        run = sm.run("sesi", "openai/m", max_cost=cap, in_flight=32, retries=2, repeats=3, **options)
        assert run.status == "stopped"
        return run.spent().against_caps[2], len(openai_server.received) - after

    return played


@pytest.mark.parametrize("turned", TURNED)
def test_near_the_limit_a_server_that_turns_is_paid_for_one_reply(play, turned):
    cap = 0.02
    spent, in_flight = play(turned, 20, cap)
    assert in_flight == 1
    assert spent <= cap + COST - LEAST_WORST_CASE


@pytest.mark.parametrize("turned", TURNED)
def test_further_away_the_excess_is_what_the_page_says(play, turned):
    cap, after = 0.2, 60
    spent, in_flight = play(turned, after, cap)
    assert in_flight <= cap / (MARGIN * LEAST_WORST_CASE)
    assert spent <= cap + in_flight * (COST - MARGIN * LEAST_WORST_CASE)
