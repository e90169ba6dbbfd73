"""The same practice talks through every door: are the rollouts equal, and how many talks does a CPU second give?

    python bench/environments.py --openenv ENV/bin/python --ors ENV/bin/python --verifiers ENV/bin/python

Each option names a Python that has Sociometer and the client's package (`openenv`, `openreward`, `verifiers`); a door
without one is left out. 200 talks of four turns, 64 at a time; the person and the policy are functions that go by
words. CPU time is that of the process that plays the talks: the server's, or for verifiers all of `vf-eval`. Then 256
talks at once with a simulator's server that answers 20 % of requests with 429 and drops 5 % of connections.
"""

import argparse
import asyncio
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from practice_people import NO, YES, answered  # noqa: E402

TALKS, TURNS, AT_ONCE, SIMULATOR = 200, 4, 64, "python/practice_people:person"
REPLIES = (YES, NO, "I am sorry, that must be hard.", "Good morning.")


def policy(heard: str) -> str:
    """A reply that follows from the words it answers."""
    return REPLIES[hashlib.sha256(heard.encode()).digest()[0] % len(REPLIES)]


def settings(talks: int) -> dict[str, int]:
    return {"turns": TURNS, "talks": talks}


async def in_process(_: str, number: int) -> dict:
    import msgspec

    playing = await GYM.reset(GYM.item(number))
    while playing.request is not None:
        await playing.step(policy(playing.messages[-1].content))
    return json.loads(msgspec.json.encode(playing.rollout))


async def by_openenv(url: str, number: int) -> dict:
    from openenv.core import GenericEnvClient

    async with GenericEnvClient(base_url=url, message_timeout_s=600) as env:
        result = await env.reset(seed=number)
        while not result.done:
            result = await env.step({"reply": policy(result.observation["messages"][-1]["content"])})
        return result.metadata["rollout"]


async def by_http(url: str, number: int) -> dict:
    """OpenEnv's plain requests, with one connection pool."""
    async with CLIENT.post(f"{url}/reset", json={"seed": number, "episode_id": str(number)}) as answer:
        result = await answer.json()
    while not result["done"]:
        said = {"reply": policy(result["observation"]["messages"][-1]["content"])}
        async with CLIENT.post(f"{url}/step", json={"episode_id": str(number), "action": said}) as answer:
            result = await answer.json()
    return result["metadata"]["rollout"]


async def by_ors(url: str, number: int) -> dict:
    async with ENVIRONMENT.session(split="train", index=number) as session:
        heard = (await session.get_messages())[-1].blocks[0].text
        while not (output := await session.call_tool("say", {"reply": policy(heard)})).finished:
            heard = output.blocks[0].text
        return output.metadata["rollout"]


async def play(door: str, url: str, talks: int, at_once: int) -> list[dict]:
    """All rollouts through a door, in the order of their numbers."""
    global GYM, CLIENT, ENVIRONMENT
    one = {"in-process": in_process, "openenv": by_openenv, "http": by_http, "ors": by_ors}[door]
    if door == "in-process":
        from sociometer.adapters.gym import Gym

        GYM = Gym("practice", simulator=SIMULATOR, settings=settings(talks))
    elif door == "http":
        import aiohttp

        CLIENT = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    elif door == "ors":
        from openreward.api.environments.client import AsyncEnvironmentsAPI

        api = AsyncEnvironmentsAPI(url, api_key="none")
        ENVIRONMENT = api.get("practice")
    gate = asyncio.Semaphore(at_once)

    async def gated(number: int) -> dict:
        async with gate:
            return await one(url, number)

    try:
        return await asyncio.gather(*(gated(number) for number in range(talks)))
    finally:
        if door == "http":
            await CLIENT.close()
        elif door == "ors":
            await api.aclose()


def cpu_of(process: int) -> float:
    """The CPU time of a process so far, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))}


def serve(simulator: str, talks: int) -> tuple[subprocess.Popen, str]:
    words = ("env", "serve", "practice", "--role", f"simulator={simulator}", "--unchecked", "--port", "0")
    made = [f"--{name}={value}" for name, value in settings(talks).items()]
    server = subprocess.Popen(
        [sys.executable, "-m", "sociometer", *words, *made], stdout=subprocess.PIPE, text=True, env=environment()
    )
    return server, re.search(r"http://\S+", server.stdout.readline())[0]


def through(python: str, door: str, url: str, talks: int, at_once: int) -> tuple[list[dict], float]:
    """The rollouts, and the CPU time of the client."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rollouts.json"
        words = ("--client", door, "--url", url, "--to", str(out), "--talks", str(talks), "--at-once", str(at_once))
        subprocess.run([python, __file__, *words], check=True, env=environment())
        found = json.loads(out.read_text())
        return found["rollouts"], found["cpu"]


def by_verifiers(python: str) -> tuple[list[dict], float]:
    """The rollouts of vf-eval, whose policy is a server of ours, and the CPU time of vf-eval."""
    from servers.openai import OpenAIServer

    with OpenAIServer() as server, tempfile.TemporaryDirectory() as folder:
        server.say = lambda body: policy(body["messages"][-1]["content"])
        chosen = {"environment": "practice", "simulator": SIMULATOR, "settings": json.dumps(settings(TALKS))}
        words = [word for name, value in chosen.items() for word in (f"--env.taskset.{name}", value)]
        client = ("-m", "policy", "--client.base-url", server.url, "--client.api-key-var", "LOOPBACK_KEY")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [str(Path(python).parent / "vf-eval"), "sociometer-training", *words, *client, "-n", str(TALKS),
             "--no-push", "--no-rich", "--output-dir", "out"],
            cwd=folder, check=True, env={**environment(), "LOOPBACK_KEY": "x"}, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        (path,) = (Path(folder) / "out").rglob("traces.jsonl")
        traces = [trace for line in path.read_text().splitlines() for trace in json.loads(line)["traces"]]
    found = sorted((trace["info"]["sociometer"] for trace in traces), key=lambda one: (one["seed"], one["item"]))
    return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def doors(pythons: dict[str, str]) -> None:
    """Each door on its own: rollouts and speed."""
    began = time.process_time()
    here = asyncio.run(play("in-process", "", TALKS, AT_ONCE))
    print(f"in process: {TALKS / (time.process_time() - began):.1f} talks a CPU second", flush=True)
    for door, python in pythons.items():
        if door == "verifiers":
            found, cpu = by_verifiers(python)
            print(f"verifiers: equal {found == here}, {TALKS / cpu:.1f} talks a CPU second of vf-eval, start included")
            continue
        server, url = serve(SIMULATOR, TALKS)
        try:
            before = cpu_of(server.pid)
            found, client = through(python, door, url, TALKS, AT_ONCE)
            used = cpu_of(server.pid) - before
        finally:
            server.kill()
        speed = f"{TALKS / used:.1f} talks a CPU second of the server, {TALKS / client:.1f} of the client"
        print(f"{door}: equal {found == here}, {speed}", flush=True)


def faults(python: str, door: str) -> None:
    """256 talks at once while the simulator's server fails."""
    from servers.faults import DROPPED, RATE_LIMIT
    from servers.openai import OpenAIServer

    with OpenAIServer() as simulator:
        simulator.say = lambda body: json.dumps(
            answered(body["response_format"]["json_schema"]["name"], body["messages"][-1]["content"])
        )
        simulator.fault_of = lambda number: RATE_LIMIT if number % 5 == 1 else DROPPED if number % 20 == 3 else None
        server, url = serve(f"vllm/person@{simulator.url}#1", 256)
        try:
            began = time.monotonic()
            found, _ = through(python, door, url, 256, 256)
        finally:
            server.kill()
    lost = sum(one["reward"] is None for one in found)
    said = f"{len(simulator.received)} requests to the simulator, {time.monotonic() - began:.0f} s"
    print(f"faults ({door}): {len(found)} talks at once, {lost} lost, {said}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for door in ("openenv", "ors", "verifiers"):
        options.add_argument(f"--{door}", default="", metavar="PYTHON")
    for hidden in ("--client", "--url", "--to"):
        options.add_argument(hidden, default="", help=argparse.SUPPRESS)
    options.add_argument("--talks", type=int, default=TALKS, help=argparse.SUPPRESS)
    options.add_argument("--at-once", type=int, default=AT_ONCE, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.client:
        began = time.process_time()
        found = asyncio.run(play(chosen.client, chosen.url, chosen.talks, chosen.at_once))
        Path(chosen.to).write_text(json.dumps({"rollouts": found, "cpu": time.process_time() - began}))
        return
    pythons = {"http": sys.executable}
    pythons |= {door: getattr(chosen, door) for door in ("openenv", "ors", "verifiers") if getattr(chosen, door)}
    doors(pythons)
    faults(pythons.get("openenv", sys.executable), "openenv" if "openenv" in pythons else "http")


if __name__ == "__main__":
    main()
