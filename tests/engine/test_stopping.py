"""Runs that stop when a comparison is decided: what is sent, kept, resumed and refused."""

import asyncio
import re
from random import Random

import pytest
from msgspec import structs

from servers.paid import Server
from sociometer.core.config import Caps, RunConfig
from sociometer.core.errors import FailureKind, MachineryError, StopCause, Stopped, UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.stopping import Until
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.instruments._template.items import Question
from sociometer.results.runs import compare_runs
from sociometer.results.stopping import DecidedRule, stopping_rule

ITEMS = 150


def engine(store, server, items=ITEMS):
    template = load("_template")

    def questions(source):
        for number in range(items):
            yield Question(
                id=f"q{number:03d}", topic="keys", moment=f"Moment {number}", options=("a", "b", "c", "d"),
                question="Which?", answer=number % 2,
            )  # fmt: skip

    tasks = [structs.replace(task, items=questions) for task in template.tasks.values()]
    made = Instrument(template.folder, tasks, players={"server": lambda: server})
    return Engine(store, lambda name: made, rules=stopping_rule)


def config(subject="server", **options):
    return RunConfig(instrument="_template", subject=subject, in_flight=8, **options)


@pytest.fixture
def reference(store):
    return engine(store, Server()).run(config("baseline/oracle", name="main")).run


def test_a_decided_run_sends_nothing_beyond_what_is_in_flight(store, reference):
    server = Server("A")
    played = engine(store, server).run(config(until=Until(against="main")))
    stopping = played.run.stopping("questions")
    assert (played.ending.status, stopping.verdict, stopping.against) == ("finished", "worse", reference.id)
    assert stopping.used < ITEMS
    assert server.total <= stopping.used + 8
    assert played.run.part("questions") == (stopping.used, ITEMS)
    slow = Slow("A")
    played = engine(store, slow).run(config(until=Until(against="main"), name="slow", fresh=True))
    stopping = played.run.stopping("questions")
    assert slow.total <= stopping.used + 8, "the first item is slow, and the others do not run ahead"
    assert sum(1 for _ in played.run.view().episodes()) == stopping.used
    assert str(stopping) in played.run.summary().notes[0].replace("Accuracy", "accuracy").removesuffix(".")


def test_compare_uses_the_interval_of_the_look_and_gives_the_verdict_of_the_rule(store, reference):
    run = engine(store, Server("A")).run(config(until=Until(against="main"))).run
    look = run.stopping("questions").looks[-1]
    (compared,) = compare_runs([reference, run])
    row = compared.primary_rows[0]
    assert row.verdict == look.verdict
    assert (row.paired.interval.low, row.paired.interval.high) == pytest.approx((look.low, look.high))
    assert any("worse after" in note for note in compared.notes)


def test_a_run_with_a_smaller_limit_is_decided_on_its_own_items(store, reference):
    server = Server("A")
    run = engine(store, server).run(config(until=Until(against="main"), limit=100)).run
    stopping = run.stopping("questions")
    assert (stopping.verdict, stopping.items, run.manifest.episodes) == ("worse", 100, 100)
    assert stopping.used < 100 and server.total <= stopping.used + 8
    again = engine(store, server).run(config(until=Until(against="main"), limit=60, name="again", fresh=True)).run
    (compared,) = compare_runs([reference, again])
    look, row = again.stopping("questions").looks[-1], compared.primary_rows[0]
    assert (row.verdict, row.paired.items) == (look.verdict, look.items)
    assert (row.paired.interval.low, row.paired.interval.high) == pytest.approx((look.low, look.high))


def test_no_run_is_given_up_for_items_that_may_be_in_flight(store):
    def mostly_right(name, wrong):
        def answers(request):
            place = int(re.search(r"Moment (\d+)", request.messages[-1].content)[1])
            return "AB"[place % 2 ^ (Random(f"{name}/{place}").random() < wrong)]

        return Answering(answers, name)

    engine(store, mostly_right("old", 0.35)).run(config(name="old"))
    until, looked = Until(against="old"), []
    for in_flight in (8, 32):
        chosen = structs.replace(config(until=until, name=f"n{in_flight}", fresh=True), in_flight=in_flight)
        run = engine(store, mostly_right("new38", 0.45)).run(chosen).run
        looked.append((run.stopping("questions").verdict, run.stopping("questions").used))
    assert looked == [("cannot be decided", 135), ("cannot be decided", ITEMS)]
    assert len(run.finished("questions")) == ITEMS and run.part("questions") is None


def test_a_run_that_was_stopped_by_a_cap_goes_on_with_its_rule(store, reference):
    until = Until(against="main")
    first = engine(store, Server("A")).run(config(until=until, caps=Caps(max_requests=20)))
    assert first.ending.status == "stopped"
    server = Server("A")
    whole = engine(store, server).resume(first.run.id, Caps(max_requests=1000)).run
    alone = engine(store, Server("A")).run(config(until=until, name="alone", fresh=True)).run
    assert whole.stopping("questions") == alone.stopping("questions")
    assert server.total <= whole.stopping("questions").used - 20 + 8
    again = engine(store, Server("A")).stored(whole.id)
    assert again.rescore().stopping == whole.stopping("questions")


def test_a_decided_run_stays_decided_if_its_failed_items_fail_again(store, reference):
    """After a failed retry too, the intervals of its own measures allow for the looks."""

    def fail(number, request):
        place = int(re.search(r"Moment (\d+)", request.messages[-1].content)[1])
        return MachineryError("down", FailureKind.SERVER_ERROR) if place % 10 == 3 else None

    until = Until(against="main")
    run = engine(store, Server("A", fail=fail)).run(config(until=until, retries=0)).run
    shown, seen = run.summary(), run.stopping("questions")
    assert seen.widen > 1 and seen.verdict == "worse" and run.failures()
    gone = Server("A", fail=lambda *_: Stopped("no request was answered", StopCause.UNREACHABLE))
    again = engine(store, gone).resume(run.id)
    assert again.ending.status == "stopped" and again.ending.reason == "no request was answered"
    assert (again.run.stopping("questions"), again.run.status) == (seen, "finished")
    assert again.run.summary() == shown and again.run.failures() == run.failures()
    healed = engine(store, Server("A")).resume(run.id)
    assert healed.ending.status == "finished" and not healed.run.failures()


def test_what_cannot_be_compared_is_refused_before_anything_is_sent(store, reference):
    server = Server()
    for change, told in (
        ({"seed": 3}, "the seed: 0 and 3; add --seed 0"),
        ({"repeats": 2}, "repeats; leave out --repeats"),
        ({"seed": 3, "limit": 20}, "the seed: 0 and 3; add --seed 0.$"),
    ):
        with pytest.raises(UsageError, match=f"they differ in {told}"):
            engine(store, server).run(config(until=Until(against="main"), **change))
    short = engine(store, server, items=30).run(config("baseline/random", caps=Caps(max_requests=0), name="few")).run
    assert short.status == "finished"  # a baseline costs nothing
    with pytest.raises(UsageError, match="differ in items"):
        engine(store, server).run(config(until=Until(against="few")))
    engine(store, server).run(config("baseline/even", limit=40, name="limited"))
    with pytest.raises(UsageError, match="differ in items; add --limit 40"):
        engine(store, server).run(config(until=Until(against="limited"), limit=60))
    stopped = engine(store, Server()).run(config(name="half", caps=Caps(max_requests=20))).run
    assert stopped.status == "stopped"
    with pytest.raises(UsageError, match="has not played all items"):
        engine(store, server).run(config("baseline/first", until=Until(against="half")))
    for margin in (0.0, -3.0, float("inf")):
        with pytest.raises(UsageError, match="must be above 0"):
            Until(against="main", margin=margin)
    assert server.total == 0


class Slow(Server):
    """Answers the first request last."""

    async def answer(self, request):
        first = not self.total
        reply = await super().answer(request)
        for _ in range(3000 * first):
            await asyncio.sleep(0)
        return reply


class Answering(Server):
    """Answers by a function of the request."""

    async def answer(self, request):
        self._text = ""
        reply = await super().answer(request)
        return structs.replace(reply, text=self._answers(request))

    def __init__(self, answers, revision="1"):
        super().__init__(revision=revision)
        self._answers = answers


def test_an_error_in_a_look_ends_the_run(store, reference, monkeypatch):
    monkeypatch.setattr(DecidedRule, "look", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        engine(store, Slow("A")).run(config(until=Until(against="main")))


def test_a_verdict_with_a_drift_along_the_order_of_play_says_so(store, reference):
    asked = []

    def wrong_at_first(request):
        asked.append(request)
        place = int(re.search(r"Moment (\d+)", request.messages[-1].content)[1])
        return "AB"[(place % 2) ^ (len(asked) <= 20)]

    until = Until(against="main")
    stopping = engine(store, Answering(wrong_at_first)).run(config(until=until)).run.stopping("questions")
    assert stopping.verdict == "worse" and stopping.looks[-1].drift < 0.001
    assert "; warning: the difference changes along the order of play (p = " in str(stopping)
    steady = engine(store, Server("A", revision="2")).run(config(until=until, name="steady")).run
    steady = steady.stopping("questions")
    assert steady.verdict == "worse" and steady.looks[-1].drift > 0.1 and "warning" not in str(steady)
    assert all(look.drift is None for look in stopping.looks[:-1])
