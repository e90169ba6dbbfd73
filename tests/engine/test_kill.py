"""A run killed at any moment plays on from the journal: nothing is paid for twice, and the scores are the same."""

import hashlib
import json
import random
import signal
import threading
import time
from pathlib import Path

import pytest

import forked
from servers.faults import slow
from servers.openai import OpenAIServer
from sociometer.core.errors import ExitCode

DRIVER = Path(__file__).with_name("driver.py")
REPEATS, TURNS, IN_FLIGHT = 6, 4, 6
REQUESTS = 4 * REPEATS * TURNS


def say(body):
    """An answer that follows from the whole talk so far, so that two undisturbed runs agree and no two turns do."""
    return hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()[:12]


def start(store, server):
    arguments = [str(store), server.url, str(REPEATS), str(TURNS), str(IN_FLIGHT)]
    return forked.start([DRIVER, *arguments], stdout=forked.PIPE, stderr=forked.PIPE)


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


def start_and(act, server, number, store, seconds=0.004):
    """Starts a run, and calls `act` with its process while the request of this number waits for its answer."""
    started, box = threading.Event(), []

    def answer(place):
        if place == number:
            started.wait()
            act(box[0])
        return slow(seconds)

    server.say, server.fault_of = say, answer
    box.append(start(store, server))
    started.set()
    return box[0]


def kill(process):
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    with OpenAIServer() as server:
        server.say = say
        told = finish(start(tmp_path_factory.mktemp("whole") / "s.db", server))
        assert len(server.received) == REQUESTS
    return told


@pytest.mark.parametrize("moment", [*range(2), *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 10))])
def test_killed_at_a_random_moment_it_plays_on_without_paying_twice(moment, undisturbed, tmp_path, openai_server):
    start_and(kill, openai_server, random.Random(moment).randrange(1, REQUESTS), tmp_path / "s.db").communicate()
    again = finish(start(tmp_path / "s.db", openai_server))
    assert again["values"] == undisturbed["values"]
    assert not again["errors"]
    assert REQUESTS <= len(openai_server.received) <= REQUESTS + IN_FLIGHT


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_finishes_what_is_in_flight_and_loses_nothing(first, undisturbed, tmp_path, openai_server):
    stopped = finish(start_and(lambda process: process.send_signal(first), openai_server, 40, tmp_path / "s.db", 0.02))
    assert stopped["status"] == "stopped"
    assert len(openai_server.received) < REQUESTS
    again = finish(start(tmp_path / "s.db", openai_server))
    assert again["values"] == undisturbed["values"]
    assert len(openai_server.received) == REQUESTS


def test_interrupted_when_its_last_requests_are_in_flight_it_is_finished(undisturbed, tmp_path, openai_server):
    interrupt, last = (lambda process: process.send_signal(signal.SIGINT)), REQUESTS - 1
    ended = finish(start_and(interrupt, openai_server, last, tmp_path / "s.db", 0.05))
    assert (ended["status"], ended["values"]) == ("finished", undisturbed["values"])


def test_a_second_interrupt_stops_at_once_and_still_loses_nothing_that_was_answered(
    undisturbed, tmp_path, openai_server
):
    openai_server.say = say
    openai_server.fault_of = lambda number: slow(30) if number >= 40 else slow(0.004)
    process = start(tmp_path / "s.db", openai_server)
    while len(openai_server.received) < 40 + IN_FLIGHT:  # all that wait now are slow, so the first 40 were stored
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == "stops\n"  # before it the two would be one
    process.send_signal(signal.SIGINT)
    assert finish(process)["status"] == "stopped"
    openai_server.fault_of = lambda number: None
    answered = openai_server.served
    again = finish(start(tmp_path / "s.db", openai_server))
    assert again["values"] == undisturbed["values"]
    assert again["sent"] == REQUESTS - answered


def test_an_analysis_that_is_interrupted_exits_like_a_run_and_goes_on_where_it_was(tmp_path, openai_server):
    pipes = dict.fromkeys(("stdout", "stderr"), forked.PIPE)

    def probe(store):
        model = ["--model", f"vllm/m@{openai_server.url}#1", "--limit", "6", "--factor", "gender", "--skip-noise"]
        return forked.start(["-m", "sociometer", "sesi", "probe", *model, "--store", tmp_path / store], **pipes)

    openai_server.say = lambda body: "Answer: A"
    numbers, _ = probe("whole.db").communicate()
    sent = len(openai_server.received)
    openai_server.fault_of = lambda number: slow(0.5 if number >= sent + 10 else 0)
    process = probe("s.db")
    while len(openai_server.received) <= sent + 10:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    openai_server.fault_of = lambda number: None
    assert process.returncode == ExitCode.INTERRUPTED, said
    assert "repeat the command to continue" in said, said
    assert len(openai_server.received) < 2 * sent
    assert probe("s.db").communicate()[0] == numbers
    assert len(openai_server.received) == 2 * sent
