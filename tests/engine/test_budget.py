import asyncio
from datetime import date

import pytest

from sociometer.core.config import Caps
from sociometer.core.conversation import Sampling, Usage, user
from sociometer.core.errors import Stopped, UsageError
from sociometer.engine.budget import Budget
from sociometer.engine.prices import Price

PRICE = Price(input=1.0, output=2.0, as_of=date(2026, 1, 1))


def reserve(budget, *words):
    return asyncio.run(asyncio.wait_for(budget.reserve(*words), 1))


ASKED = (user("x" * 200),)


def test_requests_are_capped_exactly_even_while_all_are_in_flight():
    budget = Budget(Caps(max_requests=3))
    for _ in range(3):
        reserve(budget, PRICE, ASKED, Sampling())
    with pytest.raises(Stopped, match="--max-requests 3"):
        reserve(budget, PRICE, ASKED, Sampling())


def test_tokens_in_flight_count_before_they_are_spent():
    budget = Budget(Caps(max_tokens=500))
    held = reserve(budget, None, ASKED, Sampling(max_tokens=200))
    with pytest.raises(TimeoutError):
        reserve(budget, None, ASKED, Sampling(max_tokens=200))
    budget.settle(held, Usage(50, 10), None)
    again = reserve(budget, None, ASKED, Sampling(max_tokens=200))
    budget.settle(again, Usage(200, 150), None)
    with pytest.raises(Stopped, match="--max-tokens 500"):
        reserve(budget, None, ASKED, Sampling(max_tokens=200))


def test_cost_never_passes_the_cap():
    budget = Budget(Caps(max_cost=0.01))
    sent = 0
    with pytest.raises(Stopped, match="--max-cost"):
        while True:
            held = reserve(budget, PRICE, ASKED, Sampling(max_tokens=1000))
            budget.settle(held, Usage(100, 1000), PRICE)
            sent += 1
    assert sent == 4
    assert budget.spent.cost <= 0.01


def test_an_unreported_reply_counts_at_its_most_and_is_said_to_be_unmetered():
    budget = Budget(Caps(max_tokens=1000))
    budget.settle(reserve(budget, PRICE, ASKED, Sampling(max_tokens=100)), Usage(), PRICE)
    assert budget.spent.unmetered == 1
    assert budget.spent.unpriced == 1
    assert budget.since_start()[1] >= 100


def test_a_request_without_a_reply_costs_nothing_but_is_counted():
    budget = Budget(Caps(max_tokens=1000))
    budget.settle(reserve(budget, PRICE, ASKED, Sampling(max_tokens=100)), None, PRICE)
    assert budget.spent.requests == 1
    assert budget.spent.output_tokens == 0
    assert budget.spent.cost == 0


def test_a_negative_cap_is_refused():
    with pytest.raises(UsageError, match="--max-cost"):
        Caps(max_cost=-1)


def test_a_message_is_reserved_by_its_bytes_since_chinese_takes_more_tokens_a_letter():
    tokens = {}
    for letter in "a字":
        budget = Budget(Caps(max_tokens=10_000))
        tokens[letter] = reserve(budget, None, (user(letter * 300),), Sampling(max_tokens=1)).tokens
    assert tokens["字"] > 300
    assert tokens["字"] > 2 * tokens["a"]
