"""What fails: one item alone, everybody, the store, the instrument; and what is said and kept then."""

import pytest

from servers.paid import Server, change_task, config, engine_with
from sociometer.core.errors import FailureKind, MachineryError, SociometerError, Unauthorised, Unreachable, UsageError
from sociometer.engine.command_context import EngineContext
from sociometer.instruments import load


def test_one_failing_item_does_not_stop_the_rest_and_is_no_score(store):
    def fail(number, request):
        return MachineryError("gone", FailureKind.CONNECTION) if "Nadia" in request.messages[0].content else None

    played = engine_with(store, Server(fail=fail)).run(config())
    assert played.ending.status == "finished"
    assert played.progress.done == 3
    assert dict(played.progress.failed) == {"connection": 1}
    measure = played.run.summary().measure("accuracy")
    assert (measure.items, measure.errors) == (3, 1)


def test_resume_tries_only_what_failed(store):
    broken = [True]

    def fail(number, request):
        return (
            MachineryError("gone", FailureKind.CONNECTION)
            if broken and "Nadia" in request.messages[0].content
            else None
        )

    server = Server(fail=fail)
    engine = engine_with(store, server)
    played = engine.run(config())
    broken.clear()
    before = server.total
    mended = engine.resume(played.run.id)
    assert server.total == before + 1
    assert not mended.progress.failed
    assert mended.run.summary().measure("accuracy").items == 4


def test_a_passing_fault_is_retried_and_leaves_no_trace_in_the_score(store):
    def fail(number, request):
        return MachineryError("busy", FailureKind.OVERLOADED, retryable=True, slow_down=True) if number % 2 else None

    played = engine_with(store, Server(fail=fail)).run(config(in_flight=1))
    assert not played.progress.failed
    assert played.progress.retries >= 4
    assert played.run.summary().measure("accuracy").errors == 0


def test_a_fault_that_stays_is_given_up_after_the_retries_allowed(store):
    def fail(number, request):
        return MachineryError("busy", FailureKind.OVERLOADED, retryable=True)

    server = Server(fail=fail)
    played = engine_with(store, server).run(config(limit=1, retries=1))
    assert server.total == 2
    assert dict(played.progress.failed) == {"overloaded": 1}


def test_an_error_that_would_meet_everybody_ends_the_run(store):
    def fail(number, request):
        return Unauthorised("the key is wrong", fatal=True)

    server = Server(fail=fail)
    with pytest.raises(UsageError, match="key is wrong"):
        engine_with(store, server).run(config(repeats=50, in_flight=2))
    assert server.total <= 4
    assert list(store.runs.all()) == []


def test_an_error_that_would_meet_everybody_keeps_what_was_answered_before(store):
    def fail(number, request):
        return Unauthorised("the key is wrong", fatal=True) if number > 2 else None

    played = engine_with(store, Server(fail=fail)).run(config(repeats=50, in_flight=1))
    assert (played.ending.status, played.progress.done) == ("failed", 2)
    assert "key is wrong" in played.ending.reason


def test_a_server_that_was_never_reached_ends_the_run_at_once(store):
    def fail(number, request):
        return Unreachable("cannot reach it", retryable=True)

    server = Server(fail=fail)
    with pytest.raises(UsageError, match="cannot reach it"):
        engine_with(store, server).run(config(repeats=50, in_flight=1))
    assert server.total == 3


def test_a_server_that_is_gone_stops_the_run_and_no_item_has_failed(store):
    def fail(number, request):
        return Unreachable("cannot reach it", retryable=True) if gone and number > 5 else None

    gone, server = True, Server(fail=fail)
    engine = engine_with(store, server)
    played = engine.run(config(repeats=50, in_flight=1, retries=1))
    assert (played.ending.status, played.ending.cause) == ("stopped", "unreachable")
    assert (played.progress.done, dict(played.progress.failed), server.total) == (5, {}, 7)
    again = engine.resume(played.run.id)
    assert (again.ending.status, dict(again.progress.failed), again.run.failures()) == ("stopped", {}, {})
    gone = False
    assert engine.resume(played.run.id).progress.done == 200


def test_a_server_that_cannot_be_reached_now_and_then_does_not_stop_the_run(store):
    def fail(number, request):
        return Unreachable("cannot reach it", retryable=True) if number % 3 == 2 else None

    played = engine_with(store, Server(fail=fail)).run(config(repeats=5, in_flight=4))
    assert (played.ending.status, played.progress.done, dict(played.progress.failed)) == ("finished", 20, {})


def test_what_cannot_be_stored_fails_alone_and_nothing_hangs(store, monkeypatch):
    plain = load("_template").task("questions").play

    async def play(item, session):
        if item.id == "template-01":
            session.note("odd", thing=object())
        return await plain(item, session)

    change_task(monkeypatch, play=play)
    played = engine_with(store, Server()).run(config())
    assert dict(played.progress.failed) == {"instrument error": 1}
    assert played.progress.done == 3


def test_a_stop_reaches_those_who_wait_at_a_closed_gate(store):
    def fail(number, request):
        if number == 1:
            return None  # it goes alone
        if number == 2:
            return MachineryError(
                "busy", FailureKind.RATE_LIMIT, retryable=True, slow_down=True, retry_after_seconds=600
            )
        return Unauthorised("the key is wrong", fatal=True)

    played = engine_with(store, Server(fail=fail)).run(config(repeats=5, in_flight=2))
    assert "key is wrong" in played.ending.reason


def test_a_commands_failures_are_told(store):
    server = Server(fail=lambda number, request: MachineryError("gone", FailureKind.CONNECTION))
    engine = engine_with(store, server)
    context = EngineContext(engine, load("_template"), config(subject=""), ("server",))
    context.play("questions")
    assert dict(context.failures) == {"connection": 4}


def test_a_scoring_error_is_mended_by_rescoring(store, monkeypatch):
    plain = load("_template").task("questions").score

    def broken(item, outcome):
        if item.id == "template-03":
            raise ZeroDivisionError("oops")
        return plain(item, outcome)

    change_task(monkeypatch, score=broken)
    engine = engine_with(store, Server())
    played = engine.run(config())
    assert dict(played.progress.failed) == {"scoring error": 1}
    assert played.run.rescore().measure("accuracy").items == 3
    change_task(monkeypatch, score=plain)
    mended = engine_with(store, Server()).stored(played.run.id).rescore().measure("accuracy")
    assert (mended.items, mended.errors) == (4, 0)


def test_a_summary_that_breaks_names_the_run_and_the_next_step(store, monkeypatch):
    change_task(monkeypatch, summarise=lambda run: 1 / 0)
    with pytest.raises(SociometerError, match="sociometer store rescore _template-"):
        engine_with(store, Server()).run(config())


def test_a_bug_in_an_instrument_is_an_error_of_its_own_kind(store, monkeypatch):
    async def broken(item, session):
        raise KeyError("oops")

    change_task(monkeypatch, play=broken)
    played = engine_with(store, Server()).run(config())
    assert dict(played.progress.failed) == {"instrument error": 4}
