"""`store copy` while a run plays, from and to a file or PostgreSQL: each copy is sound, and the run plays on."""

import threading

import pytest

import sociometer as sm
from servers.faults import Fault
from sociometer.cli.main import run_command
from sociometer.store.place import parse_place
from sociometer.store.store import Store

ITEMS = 40


@pytest.mark.parametrize("way", ["from", "to"])
def test_a_copy_of_a_run_that_plays_is_sound_and_disturbs_nothing(place, tmp_path, openai_server, key, capsys, way):
    openai_server.fault_of = lambda number: Fault(delay_seconds=0.03)
    file = str(tmp_path / "file.db")
    source, target = (place, file) if way == "from" else (file, place)
    ended = []
    how = {"base_url": openai_server.url, "store": source, "limit": ITEMS, "in_flight": 4, "max_requests": ITEMS}
    playing = threading.Thread(target=lambda: ended.append(sm.run("sesi", "openai/m", **how).status))
    playing.start()
    copies = 0
    while playing.is_alive() or not copies:
        if not sm.runs(store=source):
            continue
        assert run_command(["store", "copy", source, target]) == 0, capsys.readouterr().err
        copies += 1
        with Store(parse_place(target)) as store:
            (run,) = store.runs.all()
            done, failed = store.episodes.counts(run.id)
            assert failed == 0
            assert done <= store.journal.spent(run.id).requests <= ITEMS
    playing.join()
    assert (ended, len(openai_server.received)) == (["finished"], ITEMS)
    assert run_command(["store", "copy", source, target]) == 0
    assert run_command(["check", "store", "--store", target]) == 0, capsys.readouterr().out
    with Store(parse_place(target)) as store:
        (run,) = store.runs.all()
        assert (store.episodes.counts(run.id), store.journal.spent(run.id).requests) == ((ITEMS, 0), ITEMS)
