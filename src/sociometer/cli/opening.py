"""Opens the store and the engine for a command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sociometer.core.errors import UsageError
from sociometer.core.task import Instrument
from sociometer.engine.engine import Engine, Listener
from sociometer.instruments import folder_of, load
from sociometer.store.store import Store


def instrument_and_folder(name: str) -> tuple[Instrument, Path]:
    """An instrument with the folder its prompts and data lie in."""
    return load(name), folder_of(name)


@contextmanager
def open_stored(path: Path, listener: Listener | None = None) -> Iterator[Engine]:
    """An engine for commands that need what is stored already; a mistyped path makes no new store."""
    if not path.exists():
        raise UsageError(
            f"{path}: there is no store here. Start one with: sociometer run INSTRUMENT --model MODEL; or give --store"
            " another file."
        )
    with open_engine(path, listener) as engine:
        yield engine


@contextmanager
def open_engine(path: Path, listener: Listener | None = None) -> Iterator[Engine]:
    """An engine on the store at `path`, closed whatever happens."""
    with Store(path) as store:
        yield Engine(store, instrument_and_folder, listener)
