"""Many people take a study at once while its server is killed; counts what is lost and times the pages.

Run: python bench/people.py [--people 200] [--scenarios 10] [--kills 2] [--think 0.5 1.5]
"""

import argparse
import asyncio
import json
import random
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from sociometer.cli.main import run_command
from sociometer.store.store import Store

POINTS = ("4", "3", "2", "1")
_HIDDEN = re.compile(r'name="(csrf|number|ticket)" value="([^"]+)"')


class Server:
    """`sociometer study open` in a process of its own."""

    def __init__(self, store: Path) -> None:
        self.store = store
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]

    def start(self) -> str:
        command = ["study", "open", "bench", "--store", str(self.store), "--port", str(self.port), "--json"]
        command += ["--per-address", "100000"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sociometer.cli.main", *command], stdout=subprocess.PIPE, text=True
        )
        return urlsplit(json.loads(self.process.stdout.readline())["link"]).path

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Person:
    """Somebody who thinks for a random time between two bounds before each answer."""

    def __init__(self, url: str, times: list[float], think: tuple[float, float]) -> None:
        self.url, self.times, self.think = url, times, think
        self.accepted: set[int] = set()
        self.repeated = 0

    async def take(self, join: str) -> None:
        headers = {"Origin": self.url}
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(self.url, headers=headers, cookie_jar=jar) as self.client:
            await self.pause()
            ticket = dict(_HIDDEN.findall(await self.send("GET", join)))["ticket"]
            await self.send("POST", join, {"agree": "yes", "ticket": ticket})
            while True:
                hidden = dict(_HIDDEN.findall(await self.send("GET", "/take")))
                if "number" not in hidden:
                    return
                await self.pause()
                number = int(hidden["number"])
                self.repeated += number in self.accepted
                await self.send("POST", "/take", {**hidden, **{f"points-{n}": p for n, p in enumerate(POINTS)}})
                self.accepted.add(number)

    async def pause(self) -> None:
        await asyncio.sleep(random.uniform(*self.think))

    async def send(self, method: str, path: str, data: dict[str, str] | None = None) -> str:
        while True:
            began = time.perf_counter()
            try:
                async with self.client.request(method, path, data=data) as answer:
                    text = await answer.text()
                    if answer.status >= 400:
                        raise RuntimeError(f"{answer.status} {path} {text[-300:]}")
                    self.times.append(time.perf_counter() - began)
                    return text
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.1)


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--scenarios", type=int, default=10)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--think", type=float, nargs=2, default=(0.0, 0.0), metavar="SECONDS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "bench.db"
        create = ["study", "create", "seceu", "--name", "bench", "--limit", str(options.scenarios)]
        create += ["--quota", str(options.people)]
        if code := await asyncio.to_thread(run_command, [*create, "--store", str(store)]):
            return code
        server = Server(store)
        join = server.start()
        times: list[float] = []
        people = [Person(f"http://127.0.0.1:{server.port}", times, options.think) for _ in range(options.people)]
        began, before = time.perf_counter(), {"this client": sum(resource.getrusage(resource.RUSAGE_SELF)[:2])}
        taking = asyncio.gather(*(person.take(join) for person in people))
        total = options.people * options.scenarios
        for kill in range(options.kills):
            goal = total * (kill + 1) / (options.kills + 1)
            while sum(len(person.accepted) for person in people) < goal:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            server.kill()
            await asyncio.to_thread(server.start)
        await taking
        wall = time.perf_counter() - began
        server.process.terminate()
        server.process.wait()
        with Store(store) as opened:
            finished = sum(record.status == "finished" for record in opened.runs.all())
            answers = sum(opened.episodes.counts(record.id)[0] for record in opened.runs.all())
        times.sort()
        print(f"{options.people} people, {options.scenarios} scenarios, {options.kills} kills: {wall:.1f} s")
        print(f"finished {finished}, answers {answers} of {total}, asked again {sum(p.repeated for p in people)}")
        shares = {f"p{part}": times[int(len(times) * part / 100)] for part in (50, 95, 99)}
        said = ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in shares.items())
        print(f"{len(times)} pages: {said}, longest {times[-1] * 1000:.0f} ms")
        used = {"server": resource.RUSAGE_CHILDREN, "this client": resource.RUSAGE_SELF}
        spent = {name: sum(resource.getrusage(who)[:2]) - before.get(name, 0.0) for name, who in used.items()}
        print("CPU: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in spent.items()))
        return int(finished != options.people or answers != total or any(person.repeated for person in people))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
