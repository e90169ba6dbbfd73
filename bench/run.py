"""Runs the same work through a bare script, Sociometer, Inspect and lm-eval, and prints ratios.

Run: python bench/run.py [--only floor,ours,inspect,lm_eval] [--work questions,dialogues,command] [--rounds 3]
Peers are installed into environments of their own under bench/.environments at the first run. Each program runs in a
process of its own against a fresh mock server in another; the best of the rounds counts, since noise only ever adds.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path
from typing import NamedTuple

import work

HERE = Path(__file__).parent
ENVIRONMENTS = HERE / ".environments"
TITLES = {"floor": "bare aiohttp", "ours": "Sociometer", "inspect": "Inspect", "lm_eval": "lm-eval"}
DRIVERS = {"floor": "floor.py", "ours": "ours.py", "inspect": "inspect_ai_.py", "lm_eval": "lm_eval_.py"}
PEERS = {"inspect": ["inspect-ai==0.3.285", "openai"], "lm_eval": ["lm-eval[api]==0.4.13"]}
LACKING = {
    ("lm_eval", "dialogues"): "has no dialogues",
    ("lm_eval", "command"): "has no SESI",
    ("inspect", "command"): "has no SESI",
}


class Measured(NamedTuple):
    """One program on one work: seconds inside the work, CPU a request, peak memory, the server's share."""

    wall: float
    cpu_ms: float
    memory_mb: float
    whole: float
    server_cpu_ms: float
    right: int


def main() -> int:
    options = _options()
    names = options.only.split(",")
    load = f"load {os.getloadavg()[0]:.1f}"
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {load}")
    pythons = {name: _python_of(name) for name in names}
    results: dict[str, dict[str, dict[str, float]]] = {}
    for which in options.work.split(","):
        if which == "command" and not work.official_questions():
            print("\nthe official SESI items are not here ('sociometer get data sesi'): the whole command is left out")
            continue
        tried: dict[str, list[Measured]] = {}
        # Round by round, so that a busy minute falls on all alike; peers take minutes and run once.
        for number in range(options.rounds):
            for name in names:
                if (name, which) not in LACKING and (number == 0 or name not in PEERS):
                    tried.setdefault(name, []).append(_run(pythons[name], DRIVERS[name], which))
        rows = {name: min(of_it, key=lambda one: one.wall) for name, of_it in tried.items()}
        _print(which, rows, [f"{TITLES[name]} {LACKING[name, which]}" for name in names if (name, which) in LACKING])
        results[which] = {name: row._asdict() for name, row in rows.items()}
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"{time.strftime('%Y-%m-%d-%H%M%S')}.json"
    path.write_text(json.dumps(results, indent=2))
    print(f"\nkept in {path}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(TITLES), help="programs, separated by commas")
    parser.add_argument("--work", default="questions,dialogues,command", help="kinds of work, separated by commas")
    parser.add_argument("--rounds", type=int, default=3, help="rounds for the floor and for Sociometer")
    return parser.parse_args()


def _python_of(name: str) -> str:
    if name not in PEERS:
        return sys.executable
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    mark = folder / "installed"
    wanted = " ".join(PEERS[name])
    if not mark.exists() or mark.read_text() != wanted:
        print(f"installing {wanted} into {folder}", flush=True)
        if not python.exists():
            venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[name]], check=True)
        mark.write_text(wanted)
    return str(python)


def _run(python: str, driver: str, which: str) -> Measured:
    server = subprocess.Popen(
        [sys.executable, HERE / "server.py", "0", str(work.DELAY_SECONDS)], stdout=subprocess.PIPE, text=True
    )
    try:
        port = int(server.stdout.readline())
        with tempfile.TemporaryFile("w+") as said:
            began = time.perf_counter()
            command = [python, str(HERE / "drivers" / driver), f"http://127.0.0.1:{port}/v1", which]
            program = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(program.pid, 0)
            program.returncode = os.waitstatus_to_exitcode(status)
            whole = time.perf_counter() - began
            said.seek(0)
            told = _told(said.read(), program.returncode)
        stats = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/stats"))
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    if stats["served"] != told["requests"]:
        print(f"  note: {driver} sent {stats['served']} requests for {told['requests']}")
    return Measured(
        whole if which == "command" else told["wall"],
        told["cpu"] / told["requests"] * 1000,
        _megabytes(usage),
        whole,
        stats["cpu"] / max(1, stats["served"]) * 1000,
        told["right"],
    )


def _told(said: str, code: int) -> dict[str, float]:
    for line in reversed(said.splitlines()):
        if line.startswith('{"requests"') and code == 0:
            return json.loads(line)
    raise SystemExit(f"a driver failed with exit code {code}:\n{said[-4000:]}")


def _megabytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)


def _print(which: str, rows: dict[str, Measured], missing: list[str]) -> None:
    talks = f"{work.DIALOGUES} dialogues × {work.TURNS} turns × {work.CALLS} calls"
    sizes = {
        "questions": f"{work.QUESTIONS} four-option questions, {work.QUESTIONS_IN_FLIGHT} in flight",
        "dialogues": f"{talks}, {work.DIALOGUES_IN_FLIGHT} in flight",
        "command": "the whole command, from start to end: the official SESI items, 32 in flight",
    }
    print(f"\n{sizes[which]}, {work.DELAY_SECONDS * 1000:.0f} ms a reply")
    heads = ("wall s", "× floor", "CPU ms", "× floor", "peak MB", "process s", "server CPU ms", "right")
    print(" " * 14 + "".join(f"{head:>{width}}" for head, width in zip(heads, (9, 9, 9, 9, 9, 11, 15, 8), strict=True)))
    floor = rows.get("floor")
    for name, row in rows.items():
        times = (f"{row.wall / floor.wall:9.2f}", f"{row.cpu_ms / floor.cpu_ms:9.2f}") if floor else (" " * 9,) * 2
        print(
            f"{TITLES[name]:14}{row.wall:9.2f}{times[0]}{row.cpu_ms:9.3f}{times[1]}{row.memory_mb:9.0f}"
            f"{row.whole:11.2f}{row.server_cpu_ms:15.3f}{row.right:8d}"
        )
    for note in missing:
        print(f"({note})")


if __name__ == "__main__":
    sys.exit(main())
