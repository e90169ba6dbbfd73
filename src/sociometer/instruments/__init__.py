"""The instruments, found by scanning this folder: a sixth one is one folder, with no list to edit."""

from functools import cache
from importlib import import_module
from pathlib import Path

from sociometer.core.card import Card, read_card
from sociometer.core.errors import unknown
from sociometer.core.task import Instrument

FOLDER = Path(__file__).parent


@cache
def cards() -> dict[str, Card]:
    """The cards of all instruments by name; folders that begin with `_` are left out."""
    found = {path.parent.name: read_card(path) for path in sorted(FOLDER.glob("[!_]*/card.toml"))}
    return {card.name: card for card in found.values()}


def card_of(name: str) -> Card:
    """The card of one instrument, without importing its code."""
    if name not in cards():
        raise unknown("instrument", name, cards(), f"Run 'sociometer list' to see all {len(cards())}.")
    return cards()[name]


def folder_of(name: str) -> Path:
    """Where an instrument's files lie."""
    return FOLDER / name


def load(name: str) -> Instrument:
    """The instrument itself."""
    card_of(name)
    return load_folder(name)


def load_folder(folder: str) -> Instrument:
    """The instrument in a folder of that name, the template included."""
    instrument = import_module(f"sociometer.instruments.{folder}.instrument").INSTRUMENT
    if not isinstance(instrument, Instrument):
        raise TypeError(f"{folder}/instrument.py must define INSTRUMENT, an Instrument")
    return instrument
