"""`sociometer leaderboard`: subjects on shared items, with intervals for scores and ranks."""

from pathlib import Path

import click

from sociometer.analysis.leaderboard import leaderboard, leaderboard_table
from sociometer.cli.chosen import chosen_runs, named_card, runs_argument
from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_json, print_table
from sociometer.comparable import candidates


def _leaderboard(
    instrument: str, runs: tuple[str, ...], task: str, measure: str, store: Path | None, as_json: bool
) -> None:
    with open_stored(store_path(store)) as engine:
        card = named_card(engine, instrument)
        known = candidates(chosen_runs(engine, runs, instrument=instrument, one_kind=True), task)
        tasks = dict.fromkeys(candidate.task for candidate in known)
        ranked = [name for name in tasks if any(measured.value for measured in card.measures_of(name))]
        boards = [leaderboard([c for c in known if c.task == name], measure) for name in ranked]
    if as_json:
        print_json(boards)
        return
    for board in boards:
        print_table(leaderboard_table(board))


command = click.Command(
    "leaderboard",
    callback=_leaderboard,
    params=[
        click.Argument(["instrument"]),
        runs_argument(),
        click.Option(["--task"], default="", help="Only this task."),
        click.Option(["--measure"], default="", help="Rank by this measure instead of the primary one."),
        store_option(),
        json_option(),
    ],
    help="Subjects of INSTRUMENT with rank intervals: the fullest run of each, or the runs given.",
)
