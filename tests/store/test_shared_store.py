"""A store on PostgreSQL: one process plays a run, many play different ones; batches wait there too."""

import subprocess
import sys

import pytest

import sociometer as sm
from servers.batches import OpenAIBatchServer
from sociometer.core.errors import StoreError
from sociometer.engine.batches import lane
from sociometer.store.store import Store

HOLD = """
import sys
from sociometer.store.store import Store
with Store(sys.argv[1]) as store, store.hold("sesi-abc"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_run_that_another_process_plays_is_refused_until_that_process_ends(postgres):
    with Store(postgres) as store:
        other = subprocess.Popen(
            [sys.executable, "-c", HOLD, postgres], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert other.stdout.readline() == "held\n"
        assert store.is_played("sesi-abc")
        assert not store.is_played("sesi-xyz")
        with pytest.raises(StoreError, match="sesi-abc is in progress in another process"), store.hold("sesi-abc"):
            pass
        with store.hold("sesi-xyz"):
            pass
        other.kill()
        other.wait()
        other.stdin.close()
        other.stdout.close()
        while store.is_played("sesi-abc"):  # the database notices that the connection is gone
            pass
        with store.hold("sesi-abc"):
            assert store.is_played("sesi-abc")


def test_batches_wait_in_a_shared_store_too(postgres, key, tmp_path, monkeypatch):
    monkeypatch.setattr(lane, "_QUIET_SECONDS", 0.2)
    monkeypatch.setattr(lane, "_FIRST_POLL_SECONDS", 0.02)
    with OpenAIBatchServer() as server:
        options = {"base_url": server.url, "limit": 6, "revision": "1", "batch": True}
        shared = sm.run("sesi", "openai/m", store=postgres, **options)
        own = sm.run("sesi", "openai/m", store=tmp_path / "own.db", **options)
    assert shared.status == own.status == "finished"
    assert shared.summary().measures == own.summary().measures
