"""An agent's tools, called with the SDK's own client over standard input and output."""

import asyncio
import os
import re
import sys
import time
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import sociometer as sm
from servers.faults import slow
from sociometer.store.records import RunStatus

KEY = "a-key-that-nobody-may-see"


@asynccontextmanager
async def agent(tmp_path, *options):
    """A client of `sociometer mcp`, with a store and a folder for reports."""
    reports = tmp_path / "reports"
    reports.mkdir(exist_ok=True)
    words = ["-P", "-m", "sociometer", "mcp", "--to", str(reports), "--store", str(tmp_path / "store.db")]
    words += options or ["--max-cost", "5"]
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    server = StdioServerParameters(command=sys.executable, args=words, env=environment, cwd=tmp_path)
    async with Client(stdio_client(server, errlog=sys.__stderr__)) as client:

        async def call(tool, *, fails=False, progress=None, **arguments):
            got = await client.call_tool(tool, arguments, progress_callback=progress)
            text = "\n".join(part.text for part in got.content)
            assert bool(got.is_error) is fails, text
            assert KEY not in text
            return text

        yield client, call


def test_an_agent_gets_a_verdict_and_a_page(tmp_path):
    async def play():
        async with agent(tmp_path) as (client, call):
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"list", "plan", "run", "runs", "show", "compare", "report"}
            assert "seceu" in await call("list")
            assert "requests" in await call("plan", instrument="seceu", model="openai/gpt-4o-mini", limit=20)
            ids = []
            for model in ("baseline/random", "baseline/first"):
                said = await call("run", instrument="seceu", model=model, max_cost=1, limit=20, wait_seconds=120)
                ids += re.findall(r"\((seceu-\w+)\)", said)
            listed = await call("runs")
            assert all(run in listed for run in ids)
            assert "distance to the key" in await call("show", run=ids[0])
            verdict = (await call("compare", runs=ids)).splitlines()[0]
            assert verdict.startswith("baseline/first is worse than baseline/random: ")
            await call("report", runs=ids, name="verdict")
            assert "baseline/first" in (tmp_path / "reports" / "verdict.html").read_text()

    asyncio.run(play())


def test_a_run_goes_on_in_the_background_and_tells_its_progress(tmp_path, openai_server):
    seen = []
    model = f"vllm/m@{openai_server.url}"
    openai_server.fault_of = lambda number: None if seen else slow(2)

    async def heard(progress, total, message):
        seen.append((progress, total, message))

    async def play():
        async with agent(tmp_path, "--model", model, "--max-requests", "5000") as (_, call):
            said = await call("run", instrument="sesi", model=model, limit=20, max_requests=1_000, wait_seconds=0)
            assert "is playing" in said
            for _ in range(20):
                said = await call("runs", wait_seconds=30, progress=heard)
                if "is playing" not in said:
                    break
            assert f"sesi on {model}" in said
            assert "finished" in said

    asyncio.run(play())
    assert [progress for progress, _, _ in seen] == sorted(progress for progress, _, _ in seen)
    assert all(message.startswith("sesi-") for _, _, message in seen)
    assert seen


REFUSED = [
    ("run", {"instrument": "sesi", "model": "baseline/random"}, "max_cost"),
    ("run", {"instrument": "sesi", "model": "openai/unpriced", "max_cost": 1, "wait_seconds": 250}, "price"),
    ("run", {"instrument": "sesi", "model": "python/os:system", "max_requests": 1}, "not allowed"),
    ("run", {"instrument": "sesi", "model": "scripted//etc/passwd", "max_requests": 1}, "not allowed"),
    ("run", {"instrument": "sesi", "model": "openai/m@http://127.0.0.1:9/v1", "max_requests": 1}, "not allowed"),
    ("run", {"instrument": "sesi", "model": "local/./m.gguf", "max_requests": 1}, "not allowed"),
    ("plan", {"instrument": "sage", "model": "baseline/random", "roles": {"judge": "python/a:b"}}, "not allowed"),
    ("report", {"runs": ["last"], "name": "../page"}, "file name"),
    ("show", {"run": "--store=/etc/passwd"}, "there is no store"),
    ("compare", {"runs": ["--with=/etc/passwd", "last"]}, "there is no store"),
]


def test_what_an_agent_may_not_do(tmp_path):
    async def play():
        async with agent(tmp_path) as (_, call):
            for tool, arguments, says in REFUSED:
                assert says in await call(tool, fails=True, **arguments)
            assert "openai/[OPENAI_API_KEY]" in await call("plan", instrument="sesi", model=f"openai/{KEY}", limit=2)

    asyncio.run(play())
    assert not (tmp_path / "store.db").exists()


def test_models_that_the_user_names_are_the_only_ones_that_cost(tmp_path):
    own = "vllm/m@http://127.0.0.1:9/v1"

    async def play():
        async with agent(tmp_path, "--model", own) as (client, call):
            assert "vllm/m" in await call("plan", instrument="sesi", model=own, limit=2)
            assert "baseline" in await call("plan", instrument="sesi", model="baseline/random", limit=2)
            assert "not allowed" in await call("plan", fails=True, instrument="sesi", model="openai/gpt-4o-mini")
            assert "run" not in {tool.name for tool in (await client.list_tools()).tools}, "there is no ceiling"

    asyncio.run(play())


def test_a_run_is_stopped_when_the_agent_leaves(tmp_path, openai_server):
    own = f"vllm/m@{openai_server.url}"
    openai_server.say = lambda body: time.sleep(0.2) or "B"

    async def play():
        async with agent(tmp_path, "--model", own, "--max-requests", "5000") as (_, call):
            await call("run", instrument="sesi", model=own, max_requests=1000, wait_seconds=0)
            while not openai_server.served:
                await call("runs", wait_seconds=0.5)

    asyncio.run(play())
    run = sm.get_run("last", store=tmp_path / "store.db")
    until = time.monotonic() + 60
    while run.status is RunStatus.PLAYING and time.monotonic() < until:
        time.sleep(0.2)
        run = sm.get_run("last", store=tmp_path / "store.db")
    assert run.status is RunStatus.STOPPED
    assert len(openai_server.received) < 150
