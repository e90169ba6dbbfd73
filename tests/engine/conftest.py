"""A store of its own for each test."""

import pytest

from sociometer.store.store import Store


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "s.db") as opened:
        yield opened
