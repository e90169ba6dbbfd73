"""An instrument and a provider that come from another package, and a store that an earlier version wrote."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from installed_package import install_quiz

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
        call.warned = done.stderr
        return done.stdout

    return call


def test_an_instrument_of_another_package_is_found_played_and_reported(sociometer, tmp_path):
    assert "oldquiz" in [card["name"] for card in json.loads(sociometer("list", "--json"))]
    assert "oldecho/NAME" in sociometer("list", "models")
    (played,) = json.loads(sociometer("run", "oldquiz", "--model", "oldecho/amy", "--store", "s.db", "--json"))
    assert (played["done"], played["errors"]) == (6, {})
    assert played["summaries"]["talks"]["measures"][0]["name"] == "ascent"
    sociometer("run", "oldquiz", "--model", "baseline/random", "--store", "s.db", "--quiet")
    sociometer("report", "all", "--to", "page.html", "--store", "s.db")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Old quiz" in page
    assert "oldecho/amy" in page
    assert "oldquiz" in sociometer("compare", "all", "--store", "s.db")


def test_an_entry_point_that_names_no_instrument_is_said_by_name_and_all_else_works(package, sociometer):
    points = package / "oldquiz-1.0.dist-info" / "entry_points.txt"
    before = points.read_text()
    points.write_text("[sociometer.instruments]\nbroken = nowhere.at_all\n")
    try:
        assert "sesi" in [card["name"] for card in json.loads(sociometer("list", "--json"))]
        assert "'broken' names 'nowhere.at_all'" in sociometer.warned
    finally:
        points.write_text(before)
