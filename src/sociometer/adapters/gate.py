"""The comparison behind the pytest plug-in: two stored runs, by name or as they are."""

from pathlib import Path
from typing import Any

from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.results.comparison import Terms
from sociometer.results.runs import Comparisons, compare_runs
from sociometer.store.place import chosen_place
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun


def compare_stored(
    run: StoredRun | str, than: StoredRun | str, store: str | Path | None, task: str = "", **terms: Any
) -> Comparisons:
    """Compare `run` with the run `than`; `store` is where names are looked up."""
    with Store(chosen_place(store)) as opened:
        engine = Engine(opened, load)
        found = [engine.stored(one) if isinstance(one, str) else one for one in (than, run)]
        return compare_runs(found, task, Terms(**terms))
