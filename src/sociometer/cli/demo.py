"""`make demo`: all instruments on the embedded model and on chance, then the table and the page."""

import argparse
import sys
import time
from pathlib import Path

from sociometer.cli.main import run_command
from sociometer.cli.opening import open_engine
from sociometer.cli.output import measure_rows, print_line, print_table
from sociometer.core.measure import Cell, Table
from sociometer.instruments import cards

_SUBJECTS = ("local/smollm2-135m", "baseline/random")


def main() -> int:
    """Plays a small sample of every instrument; small, so that two cores finish in minutes."""
    parser = argparse.ArgumentParser(prog="make demo", description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=Path("demo"), help="where the store and the page are written")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    store = str(folder / "demo.db")
    begun = time.monotonic()
    for name, card in cards().items():
        models = [word for subject in _SUBJECTS for word in ("--model", subject)]
        code = run_command(
            ["run", name, *models, *card.demo.split(), "--repeats", "1", "--store", store, "--no-project"]
        )
        if code:
            return code
    page = folder / "report.html"
    code = run_command(["report", "all", "--out", str(page), "--store", store, "--no-project"])
    print_table(_headlines(Path(store)))
    print_line(
        f"\nAll instruments in {time.monotonic() - begun:.0f} s, on samples of a few items each: an example, not a"
    )
    print_line("measurement. SmolLM2-135M is a very small model and scores near chance.")
    print_line(f"The page: {page.resolve()}")
    return code


def _headlines(store: Path) -> Table:
    """The primary measure of every task, for each subject."""
    rows: list[tuple[Cell, ...]] = []
    with open_engine(store) as engine:
        for record in engine.store.runs.all():
            run, card = engine.stored(record.id), cards()[record.instrument]
            for task in run.tasks:
                for goal in card.measures_of(task):
                    measure = run.summary(task).measure(goal.name) if goal.primary else None
                    if measure is not None:
                        row = next(iter(measure_rows([measure])))
                        rows.append((card.name, task, goal.title, run.subject, *row[2:5], goal.chance))
    columns = ("instrument", "task", "measure", "subject", "value", "95 % interval", "items", "chance")
    return Table("demo", "What was measured", columns, tuple(rows))


if __name__ == "__main__":
    sys.exit(main())
