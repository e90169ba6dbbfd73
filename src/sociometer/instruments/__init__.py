"""The instruments: the folders here, and packages that register under the entry point `sociometer.instruments`.

Another one is one folder, with no list to edit. An entry point names the instrument's package:
`myscale = "my_package.myscale"`, a package with the same files as the folders here.
"""

import sys
from collections.abc import Callable, Sequence
from copy import copy
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from sociometer.core.card import Card, read_card
from sociometer.core.command import CommandContext, Run
from sociometer.core.errors import DataError, hint, unknown
from sociometer.core.instrument import Instrument, Result
from sociometer.core.language import texts_in
from sociometer.core.settings import Settings
from sociometer.core.task import SheetRow

FOLDER = Path(__file__).parent
GROUP = "sociometer.instruments"


@cache
def packages() -> dict[str, str]:
    """The Python package of every instrument, by the instrument's name; folders that begin with `_` are left out."""
    ours = {path.parent.name: f"{__name__}.{path.parent.name}" for path in sorted(FOLDER.glob("[!_]*/card.toml"))}
    others = {point.name: point.value for point in sorted(entry_points(group=GROUP)) if point.name not in ours}
    return {**ours, **others}


@cache
def cards() -> dict[str, Card]:
    """The cards of all instruments by name, read without importing their code.

    An instrument of another package whose card cannot be read is left out with one warning.
    """
    found: dict[str, Card] = {}
    for name, package in packages().items():
        try:
            found[name] = read_card(_folder(name, package) / "card.toml")
        except DataError as error:
            if package.startswith(f"{__name__}."):
                raise
            sys.stderr.write(f"warning: {error}; the instrument is left out\n")
    return found


@cache
def card_texts(language: str) -> dict[str, str]:
    """The titles in the cards of all instruments in a language, by the English ones, as far as it has them."""
    folders = (_folder(name, packages()[name]) / "texts" for name in cards())
    found = (item for folder in folders for item in texts_in(folder, language).items())
    return {english: text for english, text in found if isinstance(text, str)}


def card_of(name: str) -> Card:
    """The card of one instrument, without importing its code."""
    if name not in cards():
        raise unknown("instrument", name, cards(), f"Run '{hint('list')}' to see all {len(cards())}.")
    return cards()[name]


def load(name: str, stored: Card | None = None) -> Instrument:
    """The instrument itself, including the template; for an imported benchmark, the one of its stored card."""
    if stored is not None:
        from sociometer.instruments._scored_items import scored_items

        return scored_items(stored)
    return _loaded(name)


@cache
def _loaded(name: str) -> Instrument:
    """The instrument, with a norm of people for each of its tasks."""
    from sociometer.statistics.norms import with_norms

    instrument = import_module(f"{_package(name)}.instrument").INSTRUMENT
    if not isinstance(instrument, Instrument):
        raise TypeError(f"{name}/instrument.py must define INSTRUMENT, an Instrument")
    found = copy(instrument)
    found.tasks = {name: with_norms(task, instrument.card) for name, task in instrument.tasks.items()}
    return found


def load_command(name: str, entry: str) -> Callable[[CommandContext, Settings], Result]:
    """The function behind a command that an instrument's card names."""
    command: Callable[[CommandContext, Settings], Result] = getattr(import_module(f"{_package(name)}.commands"), entry)
    return command


def load_sheet(name: str, entry: str) -> Callable[[Sequence[Run], int | None, int], list[SheetRow]]:
    """The function that draws the rows of a sheet from runs, from how many are wanted and the seed."""
    rows: Callable[[Sequence[Run], int | None, int], list[SheetRow]]
    rows = getattr(import_module(f"{_package(name)}.commands"), entry)
    return rows


def _package(name: str) -> str:
    if name in packages():
        return packages()[name]
    if (FOLDER / name / "card.toml").exists():
        return f"{__name__}.{name}"
    raise unknown("instrument", name, cards(), f"Run '{hint('list')}' to see all {len(cards())}.")


def _folder(name: str, package: str) -> Path:
    try:
        spec = find_spec(package)
    except ImportError:
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / "card.toml").exists():
            return Path(folder)
    raise DataError(
        f"the entry point of instrument '{name}' names '{package}', which is not a package with a card.toml"
    )
