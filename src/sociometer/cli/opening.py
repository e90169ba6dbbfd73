"""Opens the store and the engine for a command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sociometer.core.errors import UsageError

if TYPE_CHECKING:
    from sociometer.engine.engine import Engine, Listener


@contextmanager
def open_stored(path: Path, listener: "Listener | None" = None) -> "Iterator[Engine]":
    """An engine for commands that need what is stored already; a mistyped path makes no new store."""
    if not path.exists():
        raise UsageError(
            f"{path}: there is no store here. Start one with: sociometer run INSTRUMENT --model MODEL; or give --store"
            " another file."
        )
    with open_engine(path, listener) as engine:
        yield engine


@contextmanager
def open_engine(path: Path, listener: "Listener | None" = None) -> "Iterator[Engine]":
    """An engine on the store at `path`, closed whatever happens."""
    # here, since the help and the completion of a command need no engine
    from sociometer.engine.engine import Engine
    from sociometer.instruments import load
    from sociometer.store.store import Store

    with Store(path) as store:
        yield Engine(store, load, listener)
