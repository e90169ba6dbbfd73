"""`make demo`: runs all instruments on the embedded model and a baseline, prints a table and writes the page."""

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
    """Play a small sample of every instrument on an embedded model and write a report; takes minutes on two cores."""
    parser = argparse.ArgumentParser(prog="make demo", description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=Path("demo"), help="Folder for the store and the page.")
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
    print_line(f"\nPlayed a few items of each instrument in {time.monotonic() - begun:.0f} s. This is an example,")
    print_line("not a measurement: SmolLM2-135M is a very small model and scores near chance.")
    print_line(f"Open the page: {page.resolve()}")
    return code


if __name__ == "__main__":
    sys.exit(main())
