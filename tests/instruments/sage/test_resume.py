"""A run killed in the middle of a dialogue plays on without asking anything twice."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import forked

from .people import emotion_json, reply_json

STALLS_AT = 8


class Simulator(ThreadingHTTPServer):
    """An OpenAI-compatible person who falls silent at the eighth request until let go."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.heard = []
        self.stalled = threading.Event()
        self.let_go = threading.Event()
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """Answers both hops; knows them by the keys the prompt asks for."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.heard.append(body)
            stalls = len(self.server.heard) == STALLS_AT
        if stalls:
            self.server.stalled.set()
            self.server.let_go.wait(60)
            return
        prompt = json.loads(body)["messages"][-1]["content"]
        said = reply_json("And the slippers?") if "words (all texts)" in prompt else emotion_json(1)
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "person",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        sent = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *args):
        return None


@pytest.fixture
def person():
    server = Simulator()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.let_go.set()
    server.shutdown()
    server.server_close()
    thread.join()


def sociometer(*words, store):
    command = ["-m", "sociometer.cli.main", *words, "--store", store, "--quiet"]
    return forked.start(command, stdout=forked.PIPE, stderr=forked.PIPE)


def test_a_dialogue_killed_in_its_middle_is_continued_without_a_repeated_request(person, tmp_path):
    store = tmp_path / "store.db"
    url = f"http://127.0.0.1:{person.server_address[1]}/v1"
    run = ("run", "sage", "--model", "baseline/random", "--role", f"simulator=vllm/person@{url}", "--limit", "1")
    first = sociometer(*run, store=store)
    assert person.stalled.wait(60), first.stderr.read()
    first.kill()
    first.wait()
    first.stdout.close()
    first.stderr.close()
    person.let_go.set()
    before = Counter(person.heard)
    assert sum(before.values()) == STALLS_AT

    second = sociometer("resume", "last", "--json", store=store)
    out, errors = second.communicate(timeout=120)
    assert second.returncode == 0, errors
    after = Counter(person.heard[STALLS_AT:])
    assert sum(after.values()) == 2 * 9 - (STALLS_AT - 1)
    answered = before - Counter(person.heard[STALLS_AT - 1 : STALLS_AT])
    assert not answered & after, "a request that was answered before the kill was sent again"
    assert "49" in out, "nine changes of +1"
