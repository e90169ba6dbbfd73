"""`sociometer reproduce`: the published figures, recomputed, with every mismatch shown."""

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import field

from sociometer.analysis.reproduction import reproduced, reproduction_table
from sociometer.cli.options import json_option
from sociometer.cli.output import print_json, print_line, print_table
from sociometer.core.errors import ExitCode
from sociometer.core.measure import PublishedFigure
from sociometer.core.settings import Settings
from sociometer.core.task import Source
from sociometer.engine.data import data_folders
from sociometer.instruments import card_of, cards, load


class _Searched(Source, frozen=True):
    """A source that remembers which official files it was asked for and did not have."""

    asked: dict[str, bool] = field(default_factory=dict)

    def find(self, name: str) -> Path | None:
        """The official file or folder of that name, or None, which is remembered."""
        found = super().find(name)
        self.asked[name] = found is not None
        return found

    @property
    def missing(self) -> tuple[str, ...]:
        """What was asked for and found nowhere, once each: a file may have been looked for in several places."""
        had = {Path(name).name for name, found in self.asked.items() if found}
        places: dict[str, str] = {}
        for name in self.asked:
            places.setdefault(Path(name).name, name)
        return tuple(place for bare, place in places.items() if bare not in had)


def _reproduce(instruments: tuple[str, ...], data: str, mismatches: bool, as_json: bool) -> int:
    names = [card_of(name).name for name in instruments] or list(cards())
    found: dict[str, tuple[PublishedFigure, ...]] = {}
    missing: dict[str, tuple[str, ...]] = {}
    for name in names:
        instrument = load(name)
        if instrument.reproduce is None:
            continue
        settings = Settings.chosen(instrument.card.setting, {})
        source = _Searched(settings, instrument.prompts(), name, True, data_folders(data))
        found[name] = tuple(instrument.reproduce(source))
        missing[name] = source.missing
    good = reproduced(found)
    if as_json:
        print_json({"reproduced": good, "figures": found, "not_found": missing})
    else:
        for name, figures in found.items():
            print_table(reproduction_table(name, figures, mismatches))
            if missing[name]:
                print_line(_what_is_missing(name, missing[name]))
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
