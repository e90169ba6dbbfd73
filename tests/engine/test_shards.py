"""Shards of one command are parts of one run: `copy` unites them, and `resume` of the whole summarises."""

import pytest

from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.store.copying import copy_store
from sociometer.store.place import parse_place
from sociometer.store.store import Store


def play(path, server, shard="", **changes):
    config = RunConfig(
        **{
            "instrument": "_template",
            "subject": f"vllm/m@{server.url}#weights-1",
            "repeats": 3,
            "shard": shard,
            "command": ("sociometer", "run", "--shard", shard),
            **changes,
        }
    )
    with Store(path) as store:
        played = Engine(store, load).run(config)
        return played.run.id, played.progress, store.runs.get(played.run.id).status


def scores(path, run):
    with Store(path) as store:
        episodes = Engine(store, load).stored(run).view().episodes()
        return {(one.item.id, one.repeat): one.score.values for one in episodes if one.score}


@pytest.fixture
def server(openai_server):
    openai_server.say = lambda body: "ABCD"[len(body["messages"][-1]["content"]) % 4]
    return openai_server


@pytest.mark.parametrize("target", ["file", "database"])
def test_united_shards_are_the_whole_run(tmp_path, server, target, request):
    whole, _, _ = play(tmp_path / "whole.db", server)
    asked = len(server.received)
    places = [tmp_path / f"{nth}.db" for nth in (1, 2, 3)]
    ended = [play(path, server, f"{nth}/3") for nth, path in enumerate(places, 1)]
    assert len({run for run, _, _ in ended}) == 1
    assert [progress.done for _, progress, _ in ended] == [6, 3, 3]
    assert {status for _, _, status in ended} == {"stopped"}
    assert len(server.received) == 2 * asked

    run = ended[0][0]
    united = tmp_path / "united.db"
    if target == "database":
        united = parse_place(request.getfixturevalue("postgres"))
    for path in [*places, places[0]]:
        copy_store(path, united, trust=True)
    with Store(united) as store:
        played = Engine(store, load).resume(run)
        assert played.ending.status == "finished"
        assert store.runs.get(run).status == "finished"
        assert played.run.record.totals.spent.requests == asked
        order = list(dict.fromkeys(one.item.id for one in played.run.view().episodes()))
        assert order == [f"template-0{nth}" for nth in (1, 2, 3, 4)]
    assert scores(united, run) == scores(tmp_path / "whole.db", whole)
    assert len(server.received) == 2 * asked


def test_a_shard_is_continued_by_the_same_command(tmp_path, server):
    first, progress, _ = play(tmp_path / "s.db", server, "1/2")
    again, progress_again, _ = play(tmp_path / "s.db", server, "1/2")
    assert again == first
    assert (progress.done, progress_again.done, progress_again.sent) == (6, 6, 0)


def test_all_shards_in_one_store_make_a_finished_run(tmp_path, server):
    assert play(tmp_path / "s.db", server, "1/2")[2] == "stopped"
    assert play(tmp_path / "s.db", server, "2/2")[2] == "finished"


def test_a_shard_does_not_claim_to_be_the_first_items(tmp_path, server):
    run, _, _ = play(tmp_path / "s.db", server, "2/2")
    with Store(tmp_path / "s.db") as store:
        (note,) = (one for one in Engine(store, load).stored(run).summary().notes if "Computed on" in one)
    assert note.startswith("Computed on 2 of 4 items (other shards are not in this store)")


def test_a_shard_without_items_sends_nothing(tmp_path, server):
    assert play(tmp_path / "s.db", server, "8/8")[1].total == 0
    assert not server.received


@pytest.mark.parametrize("shard", ["9/8", "0/8", "8", "a/b", "1/0", "-1/2", "1/2/3"])
def test_an_impossible_shard_is_refused(shard):
    with pytest.raises(UsageError, match="--shard must be K/N"):
        RunConfig(instrument="sesi", subject="baseline/first", shard=shard)


@pytest.mark.parametrize("changes", [{"subject": "vllm/m@{url}"}, {"fresh": True}])
def test_weights_that_may_differ_between_shards_are_refused(tmp_path, server, changes):
    changes = {name: value.format(url=server.url) if name == "subject" else value for name, value in changes.items()}
    with pytest.raises(UsageError, match="--shard needs a model"):
        play(tmp_path / "s.db", server, "1/2", **changes)
