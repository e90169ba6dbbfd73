"""Looking at a run, rescoring, exporting and killing it while it is played changes none of its numbers."""

import hashlib
import json
import random
import time

import pytest

import forked
from servers.faults import slow
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.instruments import load
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun

ITEMS, REPEATS = 20, 2
LOOKS = (
    ["show", "last"],
    ["runs"],
    ["report", "all", "--to", "{folder}/page.html"],
    ["export", "last", "--to", "{folder}/run.csv"],
    ["export", "last", "--to", "{folder}/run.jsonl"],
    ["compare", "sesi"],
    ["store", "rescore", "last"],
    ["check", "store"],
    ["store", "copy", "{store}", "{folder}/copy-{number}.db"],
)


def say(body):
    """An answer that follows from the question."""
    return "ABCD"[hashlib.sha256(body["messages"][-1]["content"].encode()).digest()[0] % 4]


def start(store, server):
    return forked.start(
        ["-m", "sociometer.cli.main", "run", "sesi", "--model", f"vllm/m@{server.url}#1",
         "--limit", ITEMS, "--repeats", REPEATS, "-o", "in-flight=8", "--quiet", "--store", store]
    )  # fmt: skip


def numbers(path):
    """Every score and every measure of the only run."""
    with Store(path) as store:
        (record,) = store.runs.all()
        run = StoredRun(store, record, load("sesi"))
        scores = [(e.item.id, e.repeat, e.outcome, e.score, e.failure) for e in run.episodes()]
        assert run.status == "finished"
        return scores, run.summary()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "s.db"
    with OpenAIServer() as server:
        server.say = say
        assert start(path, server).wait(60) == 0
    scores, summary = numbers(path)
    assert len(scores) == ITEMS * REPEATS
    assert all(score for _, _, _, score, _ in scores)
    return scores, summary


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_random_looks_and_kills_leave_the_numbers_as_they_are(seed, undisturbed, tmp_path, capsys):
    rng = random.Random(seed)
    path = tmp_path / "s.db"
    with OpenAIServer() as server:
        server.say = say
        server.fault_of = lambda number: slow(0.03)
        process = start(path, server)
        for number in range(14):
            while not path.exists() and process.poll() is None:
                time.sleep(0.01)
            if rng.random() < 0.25:
                process.kill()
                process.wait()
                process = start(path, server)
                continue
            time.sleep(rng.random() * 0.2)
            words = [word.format(folder=tmp_path, number=number, store=path) for word in rng.choice(LOOKS)]
            code = run_command([*words, *([] if words[:2] == ["store", "copy"] else ["--store", str(path)])])
            said = capsys.readouterr().err
            assert code in (0, 2, 5), (words, said)
            assert code != 5 or "is in progress in process" in said, (words, said)
            nothing_yet = ("no run", "no store", "no scored item", "needs two subjects")
            assert code != 2 or any(word in said for word in nothing_yet), (words, said)
        server.fault_of = None
        if process.wait(60) == 5:
            # It began while a look that writes held the run ("is in progress in process …").
            process = start(path, server)
        assert process.wait(60) == 0
    found = numbers(path)
    assert found == undisturbed
    assert run_command(["check", "store", "--store", str(path)]) == 0


def test_a_run_that_is_played_says_how_far_it_got(tmp_path, capsys):
    with OpenAIServer() as server:
        server.say = say
        server.fault_of = lambda number: slow(60) if number >= 25 else None
        process = start(tmp_path / "s.db", server)
        rows = []
        while not any(row["done"] == 25 for row in rows):
            assert process.poll() is None, rows
            assert run_command(["runs", "--json", "--store", str(tmp_path / "s.db")]) == 0
            rows = json.loads(capsys.readouterr().out)
        assert run_command(["show", "last", "--store", str(tmp_path / "s.db")]) == 0
        process.kill()
        process.wait()
    assert rows[0]["state"].startswith("playing, ")
    assert " is playing, " in " ".join(capsys.readouterr().out.split())
