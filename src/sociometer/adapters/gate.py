"""The gate behind the pytest plug-in: two stored runs, by name or as they are."""

from pathlib import Path
from typing import Any

from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.results.comparison import Terms
from sociometer.results.gate import Gate, gate
from sociometer.store.place import chosen_place
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun


def gate_stored(
    run: StoredRun | str, than: StoredRun | str, store: str | Path | None, task: str = "", **terms: Any
) -> Gate:
    """The gate for `run` against the run `than`; with a margin it must be shown that the loss is smaller.

    `store` is where names are looked up.
    """
    with Store(chosen_place(store)) as opened:
        engine = Engine(opened, load)
        found = [engine.stored(one) if isinstance(one, str) else one for one in (than, run)]
        return gate(found, task, Terms(**terms), no_worse=terms.get("margin") is not None)
