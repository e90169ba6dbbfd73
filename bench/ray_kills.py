"""Kills parts of a run on Ray at random moments, and checks that nothing is lost, asked again or scored differently.

    python bench/ray_kills.py [--times 10] [--kinds actor,actors,cluster,engine]

A run of SESI with a Python function as the model, on a local cluster with two replicas. After each kill the run is
continued with `resume` until it is finished. Needs the extra `ray` and psutil.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.store.store import Store

ITEMS, REPLICAS, IN_FLIGHT, CAP = 60, 2, 2, 200
PLAYER = """
import hashlib, os, time
def reply(messages):
    text = "".join(message["content"] for message in messages)
    digest = hashlib.sha256(text.encode()).hexdigest()
    with open(os.environ["CALLS"], "a") as file:
        file.write(digest + "\\n")
    time.sleep(0.25)
    return "ABCD"[int(digest, 16) % 4]
"""


def command(*words):
    return [sys.executable, "-m", "sociometer", *words]


def play(folder, *more):
    words = ("sesi", "--model", "python/player:reply#1", "--limit", str(ITEMS), "--store", "runs.db")
    limits = ("-o", f"in-flight={IN_FLIGHT}", "--max-requests", str(CAP))
    return subprocess.Popen(
        command("run", *words, *limits, *more, "--quiet"), cwd=folder, stdout=subprocess.DEVNULL,
        stderr=(folder / "errors.txt").open("a"), env={**os.environ, "CALLS": str(folder / "calls.txt")},
    )  # fmt: skip


def stored(folder):
    """The number of stored replies; 0 before there is a store."""
    if not (folder / "runs.db").exists():
        return 0
    with sqlite3.connect(folder / "runs.db") as connection:
        try:
            return connection.execute("SELECT count(*) FROM journal").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def calls(folder):
    return (folder / "calls.txt").read_text().split() if (folder / "calls.txt").exists() else []


def scores(folder):
    with Store(folder / "runs.db") as store:
        episodes = Engine(store, load).stored("last").view().episodes()
        return sorted((one.item.id, one.repeat, sorted(one.score.values.items())) for one in episodes if one.score)


def victims(process, kind):
    """The processes to kill, by their ids: all are children of the run that was started here."""
    children = psutil.Process(process.pid).children(recursive=True)
    actors = [child for child in children if "Actor" in child.name() and child.name().startswith("ray::")]
    match kind:
        case "actor":
            return random.sample(actors, 1) if actors else []
        case "actors":
            return actors
        case "cluster":
            return children
        case _:
            return [psutil.Process(process.pid)]


def once(kind, reference):
    folder = Path(tempfile.mkdtemp(prefix="ray-kills-"))
    (folder / "player.py").write_text(PLAYER)
    process = play(folder, "--on", "ray", "--replicas", str(REPLICAS))
    moment = random.randint(1, ITEMS - 5)
    while stored(folder) < moment and process.poll() is None:
        time.sleep(0.02)
    if process.poll() is not None:
        print(f"ended before the kill: {(folder / 'errors.txt').read_text()[-300:]}", flush=True)
        return once(kind, reference)
    time.sleep(random.random() * 0.3)
    for victim in victims(process, kind):
        with contextlib.suppress(psutil.Error):
            victim.send_signal(signal.SIGKILL)
    code = process.wait(180)
    after, asked = stored(folder), len(calls(folder))
    resumed = 0
    while code and resumed < 3:
        resumed += 1
        run = subprocess.run(
            command("resume", "last", "--store", "runs.db", "--code", "python/player:reply#1", "--quiet"), cwd=folder,
            env={**os.environ, "CALLS": str(folder / "calls.txt")}, capture_output=True, check=False,
        )  # fmt: skip
        code = run.returncode
        if code:
            (folder / "errors.txt").open("ab").write(run.stderr)
    total, kept = len(calls(folder)), stored(folder)
    with sqlite3.connect(folder / "runs.db") as connection:
        requests = kept + connection.execute("SELECT count(*) FROM attempt").fetchone()[0]
    told = {
        "kind": kind, "at": moment, "exit": process.returncode, "resumes": resumed, "finished": code == 0,
        "replies": kept, "calls": total, "calls again": total - kept,
        "asked again though stored": max(0, (total - asked) - (kept - after)) if resumed else 0,
        "same scores": scores(folder) == reference, "within the cap": requests <= CAP,
    }  # fmt: skip
    allowed = REPLICAS * IN_FLIGHT
    told["good"] = bool(
        told["finished"] and told["same scores"] and told["within the cap"] and told["calls again"] <= allowed
        and not told["asked again though stored"]
    )  # fmt: skip
    print(json.dumps(told), flush=True)
    if not told["good"]:
        print((folder / "errors.txt").read_text()[-2000:], flush=True)
    return told["good"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--kinds", default="actor,actors,cluster,engine")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ray-kills-"))
    (folder / "player.py").write_text(PLAYER)
    play(folder).wait()
    reference = scores(folder)
    good = [once(kind, reference) for kind in chosen.kinds.split(",") for _ in range(chosen.times)]
    print(f"{sum(good)} of {len(good)} good")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
