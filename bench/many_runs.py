"""Times the commands that read a store of 200 runs: five instruments, forty subjects each.

Run: python bench/many_runs.py [--store many_runs.db] [--subjects 40] [--limit 20] [--rounds 3]
A store that exists is used as it is. Each command runs in a process of its own; the best of the rounds counts. The
hash beside `report` tells whether two versions of the source wrote the same page from the same store.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sociometer.core.conversation import Request
from sociometer.core.errors import MachineryError
from sociometer.engine.engine import Engine
from sociometer.engine.run_options import make_config
from sociometer.instruments import card_of, cards, load
from sociometer.models.baselines import Baseline, Guesser, Oracle
from sociometer.store.store import Store

COMMANDS = {
    "list": ["list"],
    "runs": ["runs"],
    "show": ["show", "last"],
    "leaderboard": ["leaderboard", "sesi"],
    "compare": ["compare", "all"],
    "report": ["report", "all", "--to", "{page}"],
}


class Skilled(Baseline):
    """Knows the answer to a share of the questions and guesses the others."""

    def __init__(self, name: str, skill: float) -> None:
        super().__init__(name, lambda values, rng: rng.randrange(len(values)))
        self._skill = skill
        self._oracle, self._guesser = Oracle(), Guesser()

    def write(self, request: Request) -> str:
        if request.rng.random() < self._skill:
            try:
                return self._oracle.write(request)
            except MachineryError:
                pass
        return self._guesser.write(request)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path(tempfile.gettempdir()) / "sociometer_many_runs.db")
    parser.add_argument("--subjects", type=int, default=40)
    parser.add_argument("--limit", type=int, default=20, help="items of each task")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if not options.store.exists():
        build(options.store, options.subjects, options.limit)
    print(f"load {os.getloadavg()[0]:.1f}\n{'command':14}{'wall s':>9}{'CPU s':>9}")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        for name, words in COMMANDS.items():
            command = [word.format(page=page) for word in words]
            rounds = [timed(command, options.store) for _ in range(options.rounds)]
            wall, cpu = (min(column) for column in zip(*rounds, strict=True))
            digest = hashlib.sha256(page.read_bytes()).hexdigest()[:12] if name == "report" else ""
            print(f"{name:14}{wall:9.2f}{cpu:9.2f}  {digest}", flush=True)
    return 0


def build(path: Path, subjects: int, limit: int) -> None:
    """Plays every instrument on every subject."""
    with Store(path) as store:
        engine = Engine(store, load)
        for name in cards():
            for number in range(subjects):
                subject = f"baseline/skilled-{number:02}"
                player = Skilled(subject.partition("/")[2], number / subjects)
                config = make_config(card_of(name), subject, limit=limit, repeats=1)
                played = engine.run(config, players={subject: player})
                assert played.ending.status == "finished", played.ending
            print(f"{name}: {subjects} runs", flush=True)


def timed(command: list[str], store: Path) -> tuple[float, float]:
    """Wall time and CPU time of one command."""
    words = [sys.executable, "-m", "sociometer.cli.main", *command]
    environment = {**os.environ, "SOCIOMETER_STORE": str(store.absolute())}
    began = time.perf_counter()
    program = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = program.stderr.read()
    _, status, usage = os.wait4(program.pid, 0)
    program.stderr.close()
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        raise SystemExit(f"{' '.join(command)} failed with exit code {program.returncode}:\n{said.decode()[-2000:]}")
    wall = time.perf_counter() - began
    return wall, usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
