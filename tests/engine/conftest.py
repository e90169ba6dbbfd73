"""A store of its own for each test: a file, and for tests that ask for `any_store` also a database."""

import pytest

from sociometer.store.store import Store


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "s.db") as opened:
        yield opened


@pytest.fixture
def any_store(place):
    with Store(place) as opened:
        yield opened
