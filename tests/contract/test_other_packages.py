"""An instrument and a provider that come from another package, and a store that an earlier version wrote."""

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from installed_package import install_quiz
from sociometer.instruments import load
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun

FIXTURE = Path(__file__).parent.parent / "fixtures" / "store_v2"
EXPECTED = json.loads((FIXTURE / "expected.json").read_text(encoding="utf-8"))
OURS = [run for run, facts in EXPECTED["runs"].items() if facts["instrument"] != "oldquiz"]
KILLED = [run for run, facts in EXPECTED["runs"].items() if facts["instrument"] == "oldquiz"]
PORT = 47613


class Quoted(BaseHTTPRequestHandler):
    """The model of the old store: its replies follow from the last message."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body["messages"])
        text = hashlib.sha256(body["messages"][-1]["content"].encode()).hexdigest()[:12]
        reply = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
        sent = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    """The model at the address that the old store names."""
    served = ThreadingHTTPServer(("127.0.0.1", PORT), Quoted)
    served.asked = []
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return install_quiz(tmp_path_factory.mktemp("package"))


@pytest.fixture
def sociometer(package, tmp_path):
    """Runs a command in a process of its own that has the package."""

    def call(*words, code=0):
        environment = {**os.environ, "PYTHONPATH": str(package)}
        done = subprocess.run(
            [sys.executable, "-m", "sociometer.cli.main", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    return call


@pytest.fixture
def old_store(tmp_path):
    return Path(shutil.copy(FIXTURE / "store.db", tmp_path / "store.db"))


def same(found, expected):
    """Equal, with numbers compared as closely as libraries allow."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)
    return found == expected


def test_an_instrument_of_another_package_is_found_played_and_reported(sociometer, tmp_path):
    assert "oldquiz" in [card["name"] for card in json.loads(sociometer("list", "--json"))]
    assert "oldecho/NAME" in sociometer("models")
    (played,) = json.loads(sociometer("run", "oldquiz", "--model", "oldecho/amy", "--store", "s.db", "--json"))
    assert (played["done"], played["errors"]) == (6, {})
    assert played["summaries"]["talks"]["measures"][0]["name"] == "ascent"
    sociometer("run", "oldquiz", "--model", "baseline/random", "--store", "s.db", "--quiet")
    sociometer("report", "all", "--out", "page.html", "--store", "s.db")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Old quiz" in page
    assert "oldecho/amy" in page
    assert "oldquiz" in sociometer("compare", "all", "--store", "s.db")


def test_an_entry_point_that_names_no_instrument_is_said_by_name(package, sociometer):
    points = package / "oldquiz-1.0.dist-info" / "entry_points.txt"
    before = points.read_text()
    points.write_text("[sociometer.instruments]\nbroken = nowhere.at_all\n")
    try:
        assert "'broken' names 'nowhere.at_all'" in json.loads(sociometer("list", "--json", code=2))["error"]
    finally:
        points.write_text(before)


RETRAINED = ("ceiling", "evidence", "as_ideal", "as_ideal_observer", "naive", "naive_observer", "no_information")
"""What observers of hold'em could know: new, or from the weights of the opponents, which are others now."""


def _steady(task, name):
    return task != "holdem" or name not in RETRAINED


def _kept(task, values):
    return {name: value for name, value in values.items() if _steady(task, name)}


@pytest.mark.parametrize("run", OURS)
def test_a_run_of_the_first_version_opens_and_rescores_to_the_same_numbers(old_store, run):
    expected = EXPECTED["runs"][run]
    name = expected["instrument"]
    with Store(old_store) as store:
        stored = StoredRun(store, store.runs.get(run), load(name))
        assert (stored.subject, stored.status) == (expected["subject"], expected["status"])
        for task in stored.tasks:
            for summary in (stored.summary(task), stored.rescore(task)):
                found = json.loads(json.dumps([[m.name, m.group, m.value] for m in summary.measures]))
                known = [[m["name"], m["group"], m["value"]] for m in expected["measures"][task]]
                assert same(*([row for row in rows if _steady(task, row[0])] for rows in (found, known)))
            scores, events = {}, {}
            for episode in stored.episodes(task):
                item, repeat = episode.item.id, str(episode.repeat)
                scores.setdefault(item, {})[repeat] = _kept(task, episode.score.values)
                events.setdefault(item, {})[repeat] = len(stored.transcript(item, task, episode.repeat))
            before = expected["scores"][task]
            assert same(
                scores, {item: {at: _kept(task, one) for at, one in each.items()} for item, each in before.items()}
            )
            assert events == expected["events"][task]


def test_runs_that_the_first_version_was_killed_in_are_resumed_without_asking_twice(sociometer, old_store, server):
    for run in KILLED:
        expected = EXPECTED["runs"][run]
        server.asked.clear()
        resumed = json.loads(sociometer("resume", run, "--store", str(old_store), "--json"))
        assert server.asked == expected["missing"]
        assert not [asked for asked in server.asked if asked in expected["answered"]]
        assert (resumed["ending"]["status"], resumed["done"]) == ("finished", 12)
        for task, whole in expected["whole"]["measures"].items():
            found = [[m["name"], m.get("group", {}), m["value"]] for m in resumed["summaries"][task]["measures"]]
            assert same(found, [[row["name"], row["group"], row["value"]] for row in whole])
        sociometer("resume", run, "--store", str(old_store), "--json")
        assert len(server.asked) == expected["requests_missing"]
