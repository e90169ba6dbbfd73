"""A server that asks to wait: at most ten minutes are waited, and the progress says for whom."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

import sociometer as sm
from servers.faults import RATE_LIMIT, SERVER_ERROR
from sociometer.cli.main import run_command
from sociometer.core.config import Caps
from sociometer.engine.budget import Budget
from sociometer.engine.progress import Progress
from sociometer.models import failures
from sociometer.reporting.progress import line


def day(hours):
    return format_datetime(datetime.now(UTC) + timedelta(hours=hours), usegmt=True)


TOO_LONG = {
    "an hour": {"Retry-After": "3600"},
    "just over": {"Retry-After": "600.5"},
    "milliseconds": {"retry-after-ms": "7200000"},
    "1e300": {"Retry-After": "1e300"},
    "400 digits": {"Retry-After": "9" * 400},
    "infinite": {"Retry-After": "inf"},
    "a date": {"Retry-After": day(2)},
    "a far date": {"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"},
}


@pytest.mark.parametrize("after", [0, 5])
@pytest.mark.parametrize("headers", TOO_LONG.values(), ids=TOO_LONG)
def test_a_longer_wait_stops_the_run_and_resume_continues_it(openai_server, key, tmp_path, capsys, headers, after):
    openai_server.fault_of = lambda number: RATE_LIMIT._replace(headers=headers) if number >= after else None
    store = ["--store", str(tmp_path / "s.db")]
    words = ["run", "sesi", "--model", f"openai/m@{openai_server.url}", "--limit", "40", "--name", "slow", *store]
    assert run_command([*words, "-o", "in-flight=8"]) == 3
    said = capsys.readouterr().err
    assert f"{openai_server.url} asks to wait" in said
    assert "a run waits at most 10 min" in said
    assert "Nothing is lost; continue with: sociometer resume" in said
    assert len(openai_server.received) <= after + 8
    openai_server.fault_of = lambda number: None
    asked = len(openai_server.received)
    assert run_command(["resume", "slow", *store]) == 0
    assert len(openai_server.received) - asked == 40 - after


@pytest.mark.parametrize("fault", [SERVER_ERROR, SERVER_ERROR._replace(status=408)], ids=["500", "408"])
def test_an_error_that_is_no_rate_limit_may_not_ask_for_longer_either(openai_server, key, tmp_path, fault):
    openai_server.fault_of = lambda number: fault._replace(headers={"Retry-After": "86400"}) if number else None
    run = sm.run("sesi", "openai/m", base_url=openai_server.url, store=tmp_path / "s.db", limit=9)
    assert run.status == "stopped"


IGNORED = ["-5", "-1e300", "nan", "NaN", "soon", "", "0x10", "Wed, 99 Foo 2026 07:28:00 GMT", "7 seconds", "\t"]


@pytest.mark.parametrize("given", IGNORED)
def test_a_wait_that_says_nothing_is_no_wait(openai_server, key, tmp_path, given):
    assert failures.retry_after({"Retry-After": given}) is None
    openai_server.fault_of = lambda number: RATE_LIMIT._replace(headers={"Retry-After": given}) if number == 1 else None
    run = sm.run("sesi", "openai/m", base_url=openai_server.url, store=tmp_path / "s.db", limit=4)
    assert (run.status, run.failures()) == ("finished", {})


@pytest.mark.parametrize("skew", [-5, 5], ids=["the clock here is ahead", "the clock here is behind"])
def test_a_date_counts_from_the_servers_own_date(skew):
    here, there = timedelta(seconds=30), datetime.now(UTC) + timedelta(hours=skew)
    headers = {"Date": format_datetime(there, usegmt=True), "Retry-After": format_datetime(there + here, usegmt=True)}
    assert failures.retry_after(headers) == 30


def test_the_progress_says_how_long_and_for_whom():
    progress = Progress("sesi", Budget(Caps()), 4)
    progress.wait(300.4, "https://slow.example/v1")
    progress.wait(3, "https://quick.example/v1")
    assert "waiting 5 min 00 s as https://slow.example/v1 asked" in line(progress)
