"""A pytest plugin: the fixture `socially_no_worse` fails a build if a model got socially worse.

pytest loads it wherever Sociometer is installed, so it imports nothing else until the fixture is used.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sociometer.results.runs import Comparisons
    from sociometer.store.stored_run import StoredRun

_STORE = "--sociometer-store"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option for the store."""
    help_ = "The store with the runs that socially_no_worse compares (default: SOCIOMETER_STORE, or the user's store)."
    parser.getgroup("sociometer").addoption(_STORE, metavar="FILE", default=None, help=help_)


@pytest.fixture
def socially_no_worse(request: pytest.FixtureRequest) -> "Callable[..., Comparisons]":
    """A function `(run, than, **terms)` that fails if `run` is worse than the run `than` or cannot be compared.

    Both are stored runs, ids or names; `terms` are those of `sociometer.compare` (task, margin, level). With a
    `margin`, it fails unless the data rule out a loss that large.
    """

    def check(run: "StoredRun | str", than: "StoredRun | str", task: str = "", **terms: Any) -> "Comparisons":
        # Here, since pytest loads this file everywhere.
        from sociometer.core.errors import SociometerError
        from sociometer.instruments import load
        from sociometer.results.choice import find_run
        from sociometer.results.runs import gate
        from sociometer.results.verdicts import Terms
        from sociometer.store.place import chosen_place
        from sociometer.store.store import Store

        __tracebackhide__ = True
        try:
            with Store(chosen_place(request.config.getoption(_STORE))) as store:
                runs = [find_run(store, load, one) if isinstance(one, str) else one for one in (than, run)]
                found = gate(runs, task, Terms(**terms), no_worse=terms.get("margin") is not None)
        except SociometerError as error:
            pytest.fail(str(error), pytrace=False)
        if not found.holds:
            pytest.fail("\n".join((*found.failures, found.could_see)), pytrace=False)
        return found.compared

    return check
