"""Caps hold whatever is in flight, whatever was paid before, and for all runs of one command."""

import pytest

from servers.paid import Server, config, engine_with
from sociometer.core.config import Caps
from sociometer.core.conversation import Reply, Usage
from sociometer.core.errors import FailureKind, MachineryError, UsageError
from sociometer.store.bundle import plan_text


def test_a_cap_stops_cleanly_and_the_run_can_be_resumed(any_store):
    server = Server()
    engine = engine_with(any_store, server)
    played = engine.run(config(repeats=3, caps=Caps(max_requests=5)))
    assert played.ending.status == "stopped"
    assert "--max-requests 5" in played.ending.reason
    assert server.total == 5
    assert not played.progress.failed
    assert engine_with(any_store, server).resume(played.run.id).ending.status == "stopped"
    whole = engine_with(any_store, server).resume(played.run.id, Caps(max_requests=100))
    assert whole.ending.status == "finished"
    assert server.total == 12


def test_a_cap_counts_what_the_run_paid_before_it_was_stopped(any_store):
    server = Server()
    engine = engine_with(any_store, server)
    played = engine.run(config(repeats=3, caps=Caps(max_requests=5)))
    again = engine_with(any_store, server).resume(played.run.id, Caps(max_requests=7))
    assert again.ending.status == "stopped"
    assert server.total == 7


def test_a_cap_holds_for_all_runs_of_one_command(any_store):
    server = Server()
    engine = engine_with(any_store, server)
    assert engine.run(config(caps=Caps(max_requests=6))).ending.status == "finished"
    assert engine.run(config(seed=1, caps=Caps(max_requests=6))).ending.status == "stopped"
    assert server.total == 6


def test_a_cap_waits_for_what_is_in_flight_before_it_stops_a_run(any_store):
    server = Server()
    played = engine_with(any_store, server).run(config(repeats=50, in_flight=16, caps=Caps(max_tokens=6000)))
    assert played.ending.status == "finished"
    assert server.total == 200


def test_a_paid_reply_without_an_answer_counts_against_the_cap(any_store):
    def fail(number, request):
        return MachineryError("only thinking", FailureKind.EMPTY_REPLY, tokens=(10, 500))

    server = Server(fail=fail)
    played = engine_with(any_store, server).run(config(repeats=50, in_flight=2, caps=Caps(max_tokens=3000)))
    assert played.ending.status == "stopped"
    assert server.total <= 6


def test_unmetered_replies_count_against_the_cap_after_a_stop_too(any_store):
    class Silent(Server):
        async def answer(self, request):
            await super().answer(request)
            return Reply("A")

    server = Silent()
    first = engine_with(any_store, server).run(config(repeats=50, in_flight=1, caps=Caps(max_tokens=5000)))
    assert first.ending.status == "stopped"
    before = server.total
    again = engine_with(any_store, server).resume(first.run.id)
    assert again.ending.status == "stopped"
    assert server.total == before


def test_a_fresh_run_that_was_stopped_is_not_filled_with_old_replies(any_store):
    server = Server()
    engine_with(any_store, server).run(config())
    stopped = engine_with(any_store, server).run(config(fresh=True, caps=Caps(max_requests=2)))
    assert stopped.ending.status == "stopped"
    plain = engine_with(any_store, server).run(config())
    assert plain.run.id != stopped.run.id
    assert server.total == 6
    fresh = engine_with(any_store, server).resume(stopped.run.id, Caps(max_requests=100))
    assert fresh.progress.from_journal == 0
    assert server.total == 8


@pytest.mark.parametrize("tokens", [10**19, -5])
def test_absurd_usage_is_taken_for_unreported(any_store, tokens):
    class Boasting(Server):
        async def answer(self, request):
            await super().answer(request)
            return Reply("A", usage=Usage(tokens, 1))

    played = engine_with(any_store, Boasting()).run(config())
    assert played.progress.done == 4
    assert played.progress.budget.spent.unmetered == 4


def test_max_cost_with_an_unknown_price_is_refused_not_taken_for_zero(any_store):
    with pytest.raises(UsageError, match="price of '_template/server' is unknown"):
        engine_with(any_store, Server()).run(config(caps=Caps(max_cost=1)))


def test_attempts_in_vain_count_against_the_caps_after_a_restart_too(any_store):
    def fail(number, request):
        return MachineryError("empty", FailureKind.EMPTY_REPLY, retryable=True, tokens=(12, 3))

    server = Server(fail=fail)
    engine = engine_with(any_store, server)
    played = engine.run(config(repeats=2, in_flight=1, retries=0, caps=Caps(max_requests=6)))
    assert (played.ending.status, server.total) == ("stopped", 6)
    again = engine_with(any_store, server).resume(played.run.id)
    assert (again.ending.status, server.total) == ("stopped", 6)
    spent = any_store.journal.spent(played.run.id)
    assert (spent.requests, spent.input_tokens, spent.output_tokens) == (6, 72, 18)
    assert (spent.priced, spent.unpriced) == (0, 6)
    more = engine_with(any_store, server).resume(played.run.id, Caps(max_requests=8))
    assert (more.ending.status, server.total) == ("stopped", 8)


def test_a_cap_that_a_resume_raised_holds_for_the_next_resume(any_store):
    played = engine_with(any_store, Server()).run(config(repeats=3, caps=Caps(max_requests=5)))
    engine_with(any_store, Server()).resume(played.run.id, Caps(max_requests=7))
    again = engine_with(any_store, Server()).resume(played.run.id)
    assert again.ending.reason == "--max-requests 7 is reached"
    manifest = any_store.runs.get(played.run.id).manifest
    assert plan_text(manifest) == plan_text(played.run.manifest), "the plan has the cap of its start"
