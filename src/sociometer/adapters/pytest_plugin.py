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

    Both are stored runs, ids or names; `terms` are those of `sociometer.compare` (task, margin, level, power). With a
    `margin`, it fails unless the data rule out a loss that large.
    """

    def check(run: "StoredRun | str", than: "StoredRun | str", **terms: Any) -> "Comparisons":
        from sociometer.adapters.gate import gate_stored  # here, since pytest loads this file everywhere
        from sociometer.core.errors import SociometerError

        __tracebackhide__ = True
        try:
            found = gate_stored(run, than, request.config.getoption(_STORE), **terms)
        except SociometerError as error:
            pytest.fail(str(error), pytrace=False)
        if not found.holds:
            pytest.fail("\n".join((*found.failures, found.could_see)), pytrace=False)
        return found.compared

    return check
