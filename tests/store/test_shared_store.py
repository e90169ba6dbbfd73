"""A store on PostgreSQL: one process plays a run, many play different ones."""

import json
import subprocess
import sys
import time

import pytest

import forked
from databases import own_server
from servers import faults
from sociometer.core.errors import StoreError
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
        other = forked.start(["-c", HOLD, postgres], stdin=forked.PIPE, stdout=forked.PIPE)
        assert other.stdout.readline() == "held\n"
        assert store.database.is_played("sesi-abc")
        assert not store.database.is_played("sesi-xyz")
        with pytest.raises(StoreError, match=r"sesi-abc is in progress in process \d+ on"), store.hold("sesi-abc"):
            pass
        with store.hold("sesi-xyz"):
            pass
        other.kill()
        other.wait()
        other.stdin.close()
        other.stdout.close()
        while store.database.is_played("sesi-abc"):  # the database notices that the connection is gone
            pass
        with store.hold("sesi-abc"):
            assert store.database.is_played("sesi-abc")


PLAY = """
import json, sys
from sociometer.core.config import RunConfig
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.store.store import Store
store, url, revision = sys.argv[1:]
config = RunConfig(
    instrument="_template", subject="vllm/m", base_url=url, revision=revision, repeats=60, in_flight=4
)
with Store(store) as opened:
    played = Engine(opened, load).run(config)
    progress = played.progress
    told = [played.ending.status, progress.done, progress.sent, progress.retries, sum(progress.failed.values())]
    print(json.dumps(told))
"""


@pytest.mark.slow
def test_two_engines_play_different_runs_while_the_database_is_restarted(openai_server):
    openai_server.fault_of = lambda number: faults.slow(0.03)
    with own_server() as database:
        place = database.get_uri()
        Store(place).close()
        engines = [
            subprocess.Popen(
                [sys.executable, "-c", PLAY, place, openai_server.url, f"weights-{nth}"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for nth in (1, 2)
        ]  # fmt: skip
        while len(openai_server.received) < 100 and any(engine.poll() is None for engine in engines):
            time.sleep(0.01)
        database.stop()
        time.sleep(1.0)
        database.start()
        ended = [engine.communicate(timeout=120) for engine in engines]
        assert [json.loads(said) for said, _ in ended] == [["finished", 240, 240, 0, 0]] * 2, ended
        # Nothing was lost and nothing was asked twice.
        assert len(openai_server.received) == 480
        with Store(place) as store:
            runs = list(store.runs.all())
            assert {run.status for run in runs} == {"finished"}
            assert [run.totals.spent.requests for run in runs] == [240, 240]
