"""`sociometer reliability`: how far an instrument's numbers can be trusted, from the runs made with it."""

from pathlib import Path

import click

from sociometer.analysis.formatting import interval_text
from sociometer.analysis.task_reliability import TaskReliability, task_reliability
from sociometer.cli.chosen import chosen_runs, named_card, runs_argument
from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_json, print_line, print_table
from sociometer.comparable import candidates
from sociometer.core.measure import Table

SHOWN = 20


def _reliability(
    instrument: str, runs: tuple[str, ...], task: str, measure: str, store: Path | None, as_json: bool
) -> None:
    with open_stored(store_path(store)) as engine:
        card = named_card(engine, instrument)
        known = candidates(chosen_runs(engine, runs, instrument=instrument, one_kind=True), task)
        tasks = [
            name
            for name in dict.fromkeys(candidate.task for candidate in known)
            if any(entry.value for entry in card.measures_of(name))
        ]
        found = [task_reliability([c for c in known if c.task == name], measure) for name in tasks]
    if as_json:
        print_json(found)
        return
    for entry in found:
        _print(entry)


def _print(found: TaskReliability) -> None:
    where = f"{found.instrument}/{found.task}, {found.measure}"
    rows = tuple(
        (c.coefficient, c.value, interval_text(c.interval, "number"), c.subjects, c.items, c.note)
        for c in found.coefficients
    )
    columns = ("coefficient", "value", "95 % interval", "subjects", "items", "note")
    print_table(Table("reliability", f"Reliability of {where}", columns, rows, "; ".join(found.notes)))
    if found.repeats:
        again = tuple(
            (who, r.icc, r.equal_pairs, r.within_deviation, r.items, r.repeats) for who, r in found.repeats.items()
        )
        heads = ("subject", "ICC", "equal pairs", "spread within an item", "items", "repeats")
        same = [who for who, r in found.repeats.items() if r.icc is None]
        note = f"Every play of every item gave the same value, so there is no ICC: {', '.join(same)}." if same else ""
        print_table(Table("repeatability", f"Repeatability of {where}", heads, again, note))
    if found.look_at:
        shown = found.look_at[:SHOWN]
        flagged = tuple((i.item, i.difficulty, i.discrimination, "; ".join(i.concerns)) for i in shown)
        names = ("item", "difficulty", "discrimination", "why")
        note = (
            f"{len(shown)} of {len(found.look_at)} items to look at, of {len(found.items)} in all; "
            "--json has difficulty and discrimination of every one."
        )
        print_table(Table("items", f"Items to look at in {where}", names, flagged, note))
    print_line()


command = click.Command(
    "reliability",
    callback=_reliability,
    params=[
        click.Argument(["instrument"]),
        runs_argument(),
        click.Option(["--task"], default="", help="Only this task."),
        click.Option(["--measure"], default="", help="Of this measure instead of the primary one."),
        store_option(),
        json_option(),
    ],
    help="Alpha, omega, split halves and repeatability of INSTRUMENT over the fullest run of each subject, or RUN….",
)
