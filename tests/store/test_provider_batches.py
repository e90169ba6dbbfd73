"""Batches that wait at a provider survive in the store until everything in them is stored."""

import asyncio

import pytest

import sociometer as sm
from sociometer.store.journal import HeldRequest, ProviderBatch
from sociometer.store.store import Store


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "s.db") as opened:
        yield opened


def test_a_batch_is_kept_with_its_requests_and_its_id_until_it_is_removed(store):
    run = sm.run("sesi", "baseline/first", limit=2, store=store.path).id
    held = (HeldRequest(b"1" * 16, 120, 0.5), HeldRequest(b"2" * 16))

    async def send():
        await store.batches.add(ProviderBatch("first", run, "openai/m", held, created=1.0))
        await store.batches.add(ProviderBatch("second", run, "openai/m", held[:1], created=2.0))
        await store.batches.identify("second", "batch_2")

    asyncio.run(send())
    first, second = store.batches.of_run(run)
    assert (first.label, first.id, first.requests) == ("first", "", held)
    assert (second.label, second.id, second.created) == ("second", "batch_2", 2.0)
    assert store.batches.of_run("another") == []
    store.batches.remove("first")
    store.flush()
    assert [one.label for one in store.batches.of_run(run)] == ["second"]
    store.runs.delete(run)
    store.flush()
    assert store.batches.of_run(run) == []
