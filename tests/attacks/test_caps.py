"""A cap holds against servers that write more than they are asked to."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import date

import pytest

import sociometer as sm
from servers.faults import Fault
from sociometer.cli.main import run_command
from sociometer.core.config import Caps
from sociometer.core.conversation import Request, Sampling, Usage, user
from sociometer.core.errors import StoreError
from sociometer.engine.budget import Budget
from sociometer.engine.prices import Price

PRICE = Price(input=0.1, output=10.0, as_of=date(2026, 1, 1))
ASKED = Request("subject", (user("x" * 2_000),), sampling=Sampling(max_tokens=20))


def reserve(budget, price=None):
    return asyncio.run(asyncio.wait_for(budget.reserve("m", ASKED, price), 0.2))


def test_after_a_reply_above_its_limit_requests_reserve_what_was_seen():
    budget = Budget(Caps(max_cost=0.05))
    first = reserve(budget, PRICE)
    budget.settle(first, Usage(100, 1_900), PRICE)
    assert budget.exceeded is None, "the sum is below what was reserved"
    assert reserve(budget, PRICE).cost >= PRICE.of(Usage(100, 1_900)) > first.cost


def test_a_server_that_writes_more_than_its_limit_does_not_break_the_cap(openai_server, key, tmp_path, monkeypatch):
    openai_server.usage = {"prompt_tokens": 10, "completion_tokens": 400}
    prices = tmp_path / "prices.toml"
    prices.write_text('["openai/m"]\ninput = 0.1\noutput = 10.0\nas_of = 2026-01-01\n', encoding="utf-8")
    monkeypatch.setenv("SOCIOMETER_PRICES", str(prices))
    options = {"base_url": openai_server.url, "store": tmp_path / "s.db", "reply_tokens": 20}
    run = sm.run("sesi", "openai/m", limit=60, max_cost=0.02, **options)
    assert run.status == "stopped"
    assert 0 < run._store.journal.spent(run.id).cost <= 0.02


def test_one_short_reply_does_not_open_the_gate():
    async def play():
        budget = Budget(Caps(max_tokens=10_000_000))

        async def ask():
            return await asyncio.wait_for(budget.reserve("m", ASKED, None), 0.1)

        sent = [await ask()]
        for in_flight in (2, 4, 8):
            for one in sent:
                budget.settle(one, Usage(100, 5), None)
            sent = [await ask() for _ in range(in_flight)]
            with pytest.raises(TimeoutError):
                await ask()
        budget.settle(sent[0], Usage(100, 21), None)
        for one in sent[1:-1]:
            budget.settle(one, None, None)
        with pytest.raises(TimeoutError):
            await ask()

    asyncio.run(play())


def test_a_limit_covers_all_runs_of_a_command_and_their_restarts(openai_server, key, tmp_path):
    models = [word for name in "abc" for word in ("--model", f"openai/{name}@{openai_server.url}#1")]
    where = ["--store", str(tmp_path / "s.db"), "--quiet"]
    words = ["run", "sesi", *models, *where, "--limit", "8", "--max-requests", "20"]
    for _ in range(3):
        assert run_command(words) == 3
        assert len(openai_server.received) == 20
    words[words.index("20")] = "22"
    assert run_command(words) == 3
    assert len(openai_server.received) == 22


def test_a_limit_also_counts_what_later_runs_of_the_command_have_spent(openai_server, key, tmp_path):
    """The first run has failures, which a repeated command retries: the second run has spent the rest meanwhile."""
    openai_server.fault_of = lambda number: Fault(status=400, message="no") if number <= 3 else Fault()
    models = [word for name in "ab" for word in ("--model", f"openai/{name}@{openai_server.url}#1")]
    where = ["--store", str(tmp_path / "s.db"), "--quiet"]
    words = ["run", "sesi", *models, *where, "--limit", "8", "--max-requests", "14"]
    for _ in range(2):
        assert run_command(words) == 3
        assert len(openai_server.received) == 14


@pytest.mark.parametrize(("cap", "ahead"), [(20, 0), (10_000, 8)])
def test_a_kill_near_the_limit_charges_no_request_that_was_not_sent(cap, ahead):
    written = []

    async def allow(*amounts):
        written.append(amounts)

    async def play():
        budget = Budget(Caps(max_requests=cap), allow=allow)
        for _ in range(3):
            budget.settle(await budget.reserve("m", ASKED, None), Usage(1, 1), None)

    asyncio.run(play())
    assert written[0][0] == 1 + ahead


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_model_of_another_package_is_not_taken_for_free(tmp_path, monkeypatch, capsys):
    pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")
    words = ["run", "sesi", "--limit", "2", "--store", str(tmp_path / "s.db"), "-o", "reply-tokens=9"]
    words += ["--model", "inspect/mockllm/model", "--max-cost", "0.0000001"]
    assert run_command(words) == 2
    assert "the price of 'inspect/mockllm/model' is unknown" in capsys.readouterr().err
    (tmp_path / "prices.toml").write_text('["mockllm/model"]\ninput = 1.0\noutput = 1.0\nas_of = 2026-01-01\n')
    monkeypatch.setenv("SOCIOMETER_PRICES", str(tmp_path / "prices.toml"))
    assert run_command(words) == 2
    assert "--max-cost 1e-07 is less than one request" in capsys.readouterr().err


@pytest.mark.parametrize("price", ["nan", "inf", "-1.0"])
def test_a_price_that_cannot_be_is_refused(tmp_path, monkeypatch, capsys, price):
    (tmp_path / "prices.toml").write_text(f'["openai/m"]\ninput = 1.0\noutput = {price}\nas_of = 2026-01-01\n')
    monkeypatch.setenv("SOCIOMETER_PRICES", str(tmp_path / "prices.toml"))
    assert run_command(["run", "sesi", "--model", "baseline/random", "--limit", "1"]) == 2
    assert "at least 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    "forged",
    [
        "UPDATE journal SET cost = -1000.0, input_tokens = -1000000, output_tokens = -1000000",
        "INSERT INTO attempt SELECT id, -1000000, -1000000, -1000.0, -1000000, -1000.0, 1.0 FROM run",
    ],
)
def test_forged_spending_of_a_stored_run_does_not_raise_a_limit(openai_server, key, tmp_path, forged):
    options = {"base_url": openai_server.url, "revision": "1", "store": tmp_path / "s.db", "reply_tokens": 20}
    openai_server.usage = {"prompt_tokens": 500, "completion_tokens": 10}
    run = sm.run("sesi", "openai/m", limit=100, max_tokens=20_000, in_flight=1, **options)
    assert run.status == "stopped"
    with closing(sqlite3.connect(tmp_path / "s.db")) as store:
        store.execute(forged)
        store.commit()
    openai_server.received.clear()
    sm.resume(run.id, store=tmp_path / "s.db", max_tokens=20_000, key_variable="OPENAI_API_KEY")
    assert len(openai_server.received) < 50, "at most what the limit allows to a run that has spent nothing"


@pytest.mark.parametrize("requests", [10**15, -5, "many"])
def test_a_forged_reservation_of_a_stored_run_cannot_fill_the_memory(openai_server, key, tmp_path, requests):
    options = {"base_url": openai_server.url, "revision": "1", "store": tmp_path / "s.db", "reply_tokens": 20}
    run = sm.run("sesi", "openai/m", limit=3, max_requests=1, in_flight=1, **options)
    with closing(sqlite3.connect(tmp_path / "s.db")) as store:
        store.execute("INSERT INTO allowance VALUES (?, ?, 0, 0.0)", (run.id, requests))
        store.commit()
    with pytest.raises(StoreError, match="reserved"):
        sm.resume(run.id, store=tmp_path / "s.db", max_requests=9, key_variable="OPENAI_API_KEY")
