"""`sociometer reproduce`: the published figures, recomputed, with every mismatch shown."""

from collections.abc import Sequence

import click

from sociometer.api import reproduce
from sociometer.cli.options import json_option
from sociometer.cli.output import print_json, print_line, print_table
from sociometer.core.errors import ExitCode
from sociometer.instruments import card_of, cards, load


def _reproduce(instruments: tuple[str, ...], data: str, mismatches: bool, as_json: bool) -> int:
    names = [card_of(name).name for name in instruments] or list(cards())
    found = [reproduce(name, data=data) for name in names if load(name).reproduce is not None]
    good = all(one.good for one in found)
    if as_json:
        figures, missing = (
            {one.instrument: one.figures for one in found},
            {one.instrument: one.missing for one in found},
        )
        print_json({"reproduced": good, "figures": figures, "not_found": missing})
    else:
        for one in found:
            print_table(one.table(mismatches))
            if one.missing:
                print_line(_what_is_missing(one.instrument, one.missing))
                print_line()
    return int(ExitCode.OK if good else ExitCode.GATE_FAILED)


def _what_is_missing(name: str, files: Sequence[str]) -> str:
    """Which official files are not here, and how each kind is had."""
    fetched = {file.name for file in card_of(name).file}
    said = [f"Official files not found: {', '.join(files)}. The figures that need them are left out."]
    if fetched & set(files):
        said.append(f"Get them with: sociometer data fetch {name} (or give --data DIR).")
    if set(files) - fetched:
        said.append("Those that 'data fetch' does not bring: the instrument's README says where they lie.")
    return " ".join(said)


command = click.Command(
    "reproduce",
    callback=_reproduce,
    params=[
        click.Argument(["instruments"], nargs=-1, metavar="[INSTRUMENT…]"),
        click.Option(["--data"], default="", help="Folder with the official files."),
        click.Option(["--mismatches"], is_flag=True, help="Show only figures that do not match."),
        json_option(),
    ],
    help="Recompute the published figures; exit code 1 when one differs without a known reason.",
)
