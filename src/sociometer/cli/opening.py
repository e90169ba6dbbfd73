"""Opens the store and the engine for a command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sociometer.core.task import Instrument
from sociometer.engine.engine import Engine, Listener
from sociometer.instruments import folder_of, load
from sociometer.store.store import Store


def instrument_and_folder(name: str) -> tuple[Instrument, Path]:
    """An instrument with the folder its prompts and data lie in."""
    return load(name), folder_of(name)


@contextmanager
def open_engine(path: Path, listener: Listener | None = None) -> Iterator[Engine]:
    """An engine on the store at `path`, closed whatever happens."""
    with Store(path) as store:
        yield Engine(store, instrument_and_folder, listener)
