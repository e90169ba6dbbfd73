import asyncio
import json
from datetime import date

import msgspec
import pytest

from sociometer.core.config import Caps
from sociometer.core.conversation import Reply, Request, Sampling, Schema, Usage, result, spoken, user
from sociometer.core.errors import Stopped, UsageError
from sociometer.core.tools import Tool, ToolCall
from sociometer.engine.budget import Budget, worst_case
from sociometer.engine.prices import Price

PRICE = Price(input=1.0, output=2.0, as_of=date(2026, 1, 1))
PROMPT = 200 + 2 * 32
"""The tokens of the prompt at most: its bytes, and what a chat template adds."""


def asked(limit=None, text="x" * 200, **more):
    return Request("subject", (user(text),), sampling=Sampling(max_tokens=limit), **more)


def reserve(budget, request, price=None, model="m", **more):
    return asyncio.run(asyncio.wait_for(budget.reserve(model, request, price, **more), 1))


def trusted(caps, **more):
    """A budget that has seen an honest, small reply of the model."""
    budget = Budget(caps, **more)
    budget.settle(reserve(budget, asked(1), PRICE), Usage(0, 0), PRICE)
    return budget


def test_requests_are_capped_exactly_even_while_all_are_in_flight():
    budget = Budget(Caps(max_requests=3))
    for _ in range(3):
        reserve(budget, asked())
    with pytest.raises(Stopped, match="--max-requests 3"):
        reserve(budget, asked())


def test_tokens_in_flight_count_before_they_are_spent():
    budget = trusted(Caps(max_tokens=2 * PROMPT + 300))
    held = reserve(budget, asked(200))
    with pytest.raises(TimeoutError):
        reserve(budget, asked(200))
    budget.settle(held, Usage(50, 10), None)
    again = reserve(budget, asked(200))
    budget.settle(again, Usage(PROMPT, 200), None)
    with pytest.raises(Stopped, match="--max-tokens"):
        reserve(budget, asked(200))


def test_cost_never_passes_the_cap():
    budget = Budget(Caps(max_cost=0.01))
    sent = 0
    with pytest.raises(Stopped, match="--max-cost"):
        while True:
            held = reserve(budget, asked(1000), PRICE)
            budget.settle(held, Usage(100, 1000), PRICE)
            sent += 1
    assert sent == 4
    assert budget.spent.cost <= 0.01


def test_an_unreported_reply_counts_at_its_most_and_is_said_to_be_unmetered():
    budget = Budget(Caps(max_tokens=1000))
    budget.settle(reserve(budget, asked(100), PRICE), Usage(), PRICE)
    assert budget.spent.unmetered == 1
    assert budget.spent.unpriced == 1
    assert budget.spent.against_caps[1] == PROMPT + 100


def test_a_request_that_may_have_been_worked_on_is_charged_at_its_worst_case():
    budget = Budget(Caps(max_tokens=1000))
    budget.settle(reserve(budget, asked(100), PRICE), None, PRICE)
    assert budget.spent.against_caps == (1, PROMPT + 100, pytest.approx((PROMPT + 200) / 1e6))
    assert (budget.spent.cost, budget.spent.unpriced, budget.spent.unmetered) == (0, 0, 0)


def test_a_request_that_was_refused_is_charged_nothing():
    budget = Budget(Caps(max_tokens=1000))
    budget.settle(reserve(budget, asked(100), PRICE), Usage(0, 0), PRICE)
    assert budget.spent.against_caps == (1, 0, 0)


def test_a_negative_cap_is_refused():
    with pytest.raises(UsageError, match="--max-cost"):
        Caps(max_cost=-1)


def test_a_prompt_is_reserved_by_its_bytes_and_its_schema():
    def tokens(**request):
        return reserve(Budget(Caps(max_tokens=10_000)), asked(1, **request)).tokens

    assert tokens(text="字" * 300) - tokens(text="a" * 300) == 600
    assert tokens(answer_format=Schema({"type": "object"})) - tokens() == len('{"type":"object"}')


def test_a_reply_without_a_limit_is_refused_where_a_cap_needs_one():
    with pytest.raises(UsageError, match=r"replies of m .* have no length limit.*-o reply-tokens=N"):
        reserve(Budget(Caps(max_cost=1)), asked(None), PRICE)
    known = Price(input=1.0, output=2.0, as_of=PRICE.as_of, max_output=500)
    assert reserve(Budget(Caps(max_cost=1)), asked(None), known).tokens == PROMPT + 500
    assert reserve(Budget(Caps(max_requests=1)), asked(None), PRICE).tokens == 0
    assert reserve(Budget(Caps(max_tokens=1000)), asked(None), writes=False).tokens == PROMPT


def test_a_cap_below_one_request_names_the_limit_that_fits():
    with pytest.raises(UsageError, match=rf"--max-tokens 500 is less than one request.*-o reply-tokens={500 - PROMPT}"):
        reserve(Budget(Caps(max_tokens=500)), asked(1000))
    fits = int((0.001 * 1e6 - PROMPT) / 2)
    with pytest.raises(UsageError, match=rf"--max-cost 0.001 is less than one request.*-o reply-tokens={fits} or less"):
        reserve(Budget(Caps(max_cost=0.001)), asked(1000), PRICE)
    with pytest.raises(UsageError, match="raise the cap"):
        reserve(Budget(Caps(max_tokens=10)), asked(1))


def test_the_first_request_of_each_model_is_sent_alone():
    async def play():
        budget = Budget(Caps(max_tokens=100_000))

        async def ask(model="m"):
            return await asyncio.wait_for(budget.reserve(model, asked(10), None), 0.1)

        held, other = await ask(), await ask("judge")
        with pytest.raises(TimeoutError):
            await ask()
        budget.settle(held, Usage(5, 5), None)
        for _ in range(2):
            await ask()
        budget.settle(other, None, None)
        await ask("judge")
        with pytest.raises(TimeoutError):
            await ask("judge")

    asyncio.run(play())


def test_a_reply_above_its_limit_is_said_and_ends_the_sending():
    budget = Budget(Caps(max_tokens=100_000))
    budget.settle(reserve(budget, asked(10)), Usage(50, 50_000), None)
    assert "m used 50,050 tokens for a request limited to 274" in str(budget.exceeded)


def test_what_a_run_may_come_to_is_on_disk_before_a_request_is_sent():
    written = []

    async def allow(requests, tokens, cost):
        written.append((requests, tokens, cost))

    budget = trusted(Caps(max_tokens=100_000), allow=allow)
    for number in range(40):
        held = reserve(budget, asked(100), PRICE)
        requests, tokens, cost = written[-1]
        assert requests >= 2 + number
        assert tokens >= (1 + number) * (PROMPT + 100)
        assert cost >= (1 + number) * (PROMPT + 200) / 1e6 - 1e-9
        budget.settle(held, Usage(PROMPT, 100), PRICE)
    assert len(written) < 10


def test_nothing_is_written_down_without_a_cap():
    async def allow(*_):
        raise AssertionError

    reserve(Budget(Caps(), allow=allow), asked(100), PRICE)


def test_the_definitions_of_tools_count_in_the_worst_case():
    tool = Tool("look_up", "Shows a record.", {"type": "object", "description": "x" * 500})
    plain, offered = (worst_case("m", asked(10, tools=tools), None, True, 0).tokens for tools in ((), (tool,)))
    assert offered >= plain + 1000 + len(msgspec.json.encode((tool,)))


def test_calls_and_results_count_as_what_they_hold():
    call = ToolCall("look_up", json.dumps({"record": "x" * 300}))
    said = spoken(Reply("", calls=(call,)), ())
    talk = (user("a"), said, result(call, "y" * 400))
    assert worst_case("m", Request("subject", talk), PRICE, False, 0).tokens > 300 + 400
