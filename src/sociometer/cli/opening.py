"""Opens the store and the engine for a command."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sociometer.core.errors import UsageError
from sociometer.store.place import StorePlace

if TYPE_CHECKING:
    from sociometer.engine.engine import Engine, Listener


@contextmanager
def open_stored(path: StorePlace, listener: "Listener | None" = None) -> "Iterator[Engine]":
    """An engine for commands that need an existing store; a mistyped path does not create one."""
    if not path.exists():
        raise UsageError(
            f"there is no store at {path}. Create one with: sociometer run INSTRUMENT --model MODEL; or give"
            " another file with --store."
        )
    with open_engine(path, listener) as engine:
        yield engine


@contextmanager
def open_engine(path: StorePlace, listener: "Listener | None" = None) -> "Iterator[Engine]":
    """An engine on the store at `path`, which is always closed at the end."""
    # here, since the help and the completion of a command need no engine
    from sociometer.engine.engine import Engine
    from sociometer.instruments import load
    from sociometer.store.store import Store

    with Store(path) as store:
        yield Engine(store, load, listener)
