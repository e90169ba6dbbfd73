"""Times the commands that read a store of 10, 100, 400 and 1,000 runs of 200 items each.

Run: python bench/many_runs.py [--runs 10,100,400,1000] [--items 200] [--folder FOLDER]
The runs are right-or-wrong answers of simulated subjects, imported from one table; a store that exists in the folder is
used as it is. Each command runs once, in a process of its own.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COMMANDS = {
    "runs": ["runs"],
    "rank": ["compare", "all"],
    "one against all": ["compare", "all", "--margin", "3"],
    "report": ["report", "all", "--to", "{page}"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", default="10,100,400,1000")
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "sociometer_many_runs")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"load {os.getloadavg()[0]:.1f}\n{'runs':>6}  {'command':18}{'wall s':>9}{'CPU s':>9}{'MB':>7}")
    for runs in map(int, options.runs.split(",")):
        store = options.folder / f"{runs}x{options.items}.db"
        if not store.exists():
            build(store, runs, options.items)
        for name, words in COMMANDS.items():
            command = [word.format(page=options.folder / "report.html") for word in words]
            wall, cpu, memory = timed([*command, "--store", str(store)])
            print(f"{runs:6}  {name:18}{wall:9.2f}{cpu:9.2f}{memory:7.0f}", flush=True)
    return 0


def build(store: Path, runs: int, items: int) -> None:
    """Imports the answers of subjects and items with normal abilities and difficulties."""
    generator = np.random.default_rng(1)
    chances = 1 / (1 + np.exp(generator.normal(size=items) - generator.normal(size=(runs, 1))))
    answers = (generator.random((runs, items)) < chances).astype(int)
    table = store.with_suffix(".csv")
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["subject", "item", "score"])
        writer.writerows(
            (f"m{subject:04}", f"q{item:03}", answers[subject, item])
            for subject in range(runs)
            for item in range(items)
        )
    timed(["import", "csv", str(table), "--benchmark", "many", "--store", str(store)])


def timed(command: list[str]) -> tuple[float, float, float]:
    """Wall time, CPU time and peak memory of one command."""
    began = time.perf_counter()
    program = subprocess.Popen(
        [sys.executable, "-m", "sociometer.cli.main", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    said = program.stderr.read()
    _, status, usage = os.wait4(program.pid, 0)
    program.stderr.close()
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        raise SystemExit(f"{' '.join(command)} failed with exit code {program.returncode}:\n{said.decode()[-2000:]}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
