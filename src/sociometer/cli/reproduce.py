"""`sociometer reproduce`: the published figures, recomputed, with every mismatch shown."""

import click

from sociometer.analysis.reproduction import reproduced, reproduction_table
from sociometer.cli.opening import instrument_and_folder
from sociometer.cli.options import json_option
from sociometer.cli.output import print_json, print_table
from sociometer.core.errors import ExitCode
from sociometer.core.measure import PublishedFigure
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.engine.data import data_folders
from sociometer.instruments import card_of, cards


def _reproduce(instruments: tuple[str, ...], data: str, mismatches: bool, as_json: bool) -> int:
    names = [card_of(name).name for name in instruments] or list(cards())
    found: dict[str, tuple[PublishedFigure, ...]] = {}
    for name in names:
        instrument, folder = instrument_and_folder(name)
        if instrument.reproduce is None:
            continue
        settings = Settings.chosen(instrument.card.setting, {})
        source = Source(
            settings, Prompts(folder / "prompts"), instrument=name, official=True, folders=data_folders(data)
        )
        found[name] = tuple(instrument.reproduce(source))
    good = reproduced(found)
    if as_json:
        print_json({"reproduced": good, "figures": found})
    else:
        for name, figures in found.items():
            print_table(reproduction_table(name, figures, mismatches))
    return int(ExitCode.OK if good else ExitCode.GATE_FAILED)


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
