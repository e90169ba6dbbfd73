"""`make demo`: all instruments on the embedded model and on chance, then the table and the page."""

import argparse
import sys
import time
from pathlib import Path

from sociometer.cli.main import run_command
from sociometer.cli.opening import open_engine
from sociometer.cli.output import Display, print_line
from sociometer.cli.summaries import joint_table
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
    with open_engine(Path(store)) as engine:
        Display().show([joint_table([engine.stored(record.id) for record in engine.store.runs.all()])])
    print_line(
        f"\nAll instruments in {time.monotonic() - begun:.0f} s, on samples of a few items each: an example, not a"
    )
    print_line("measurement. SmolLM2-135M is a very small model and scores near chance.")
    print_line(f"The page: {page.resolve()}")
    return code


if __name__ == "__main__":
    sys.exit(main())
