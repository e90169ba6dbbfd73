"""Batches at the providers: the same replies, each paid once, whatever is killed, lost, expired or interrupted."""

import hashlib
import json
import os
import signal
import threading
import time

import pytest
from aiohttp import web

import forked
import sociometer as sm
from servers.batches import ANSWERED, ERROR, EXPIRED, SERVERS, Batch
from sociometer.core.errors import UsageError
from sociometer.engine.batches import lane
from sociometer.models import anthropic
from sociometer.models import openai as openai_batches
from sociometer.models.http import path_part
from sociometer.store.store import Store

ITEMS = 12


def words_of(body):
    """What a request says, in any of the three formats."""
    return json.dumps(body.get("messages") or body.get("contents"), sort_keys=True)


def letter(body):
    """A reply that depends on what is asked."""
    return "ABCD"[hashlib.sha256(words_of(body).encode()).digest()[0] % 4]


@pytest.fixture(params=SERVERS)
def provider(request):
    return request.param


@pytest.fixture
def server(provider):
    with SERVERS[provider]() as started:
        started.say = letter
        yield started


@pytest.fixture
def openai():
    with SERVERS["openai"]() as started:
        started.say = letter
        yield started


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(lane, "_QUIET_SECONDS", 0.2)
    monkeypatch.setattr(lane, "_FIRST_POLL_SECONDS", 0.02)
    monkeypatch.setattr(lane, "_SETTLING_SECONDS", 0.5)
    monkeypatch.setattr(anthropic, "_POLL_SECONDS", 0.02)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "s.db"


def play(provider, server, store, instrument="sesi", **options):
    base = {"limit": ITEMS, "revision": "1", "base_url": server.url, "batch": True}
    return sm.run(instrument, f"{provider}/m", store=store, **(base | options))


def scores(run, task=""):
    return {(one.item.id, one.repeat): dict(one.score.values) for one in run.episodes(task) if one.score}


def spent(run):
    return run._store.journal.spent(run.id)


def asked_alone(server):
    return len(server.received)


def test_the_same_scores_in_one_batch_and_one_request_before_it(provider, server, store, tmp_path):
    alone = play(provider, server, tmp_path / "alone.db", batch=False)
    assert asked_alone(server) == ITEMS
    together = play(provider, server, store)
    assert scores(together) == scores(alone)
    assert asked_alone(server) == ITEMS + 1
    assert [len(one.requests) for one in server.batches] == [ITEMS - 1]
    assert set(server.paid.values()) == {1}
    assert spent(together).requests == ITEMS
    with Store(store) as opened:
        assert opened.batches.of_run(together.id) == []


def test_a_request_in_a_batch_is_the_one_that_is_sent_alone(provider, server, store, tmp_path):
    play(provider, server, tmp_path / "alone.db", batch=False, temperature=0.5, reply_tokens=50)
    play(provider, server, store, temperature=0.5, reply_tokens=50)
    alone = sorted(json.dumps(one.body, sort_keys=True) for one in server.received[:ITEMS])
    in_batch = sorted(json.dumps(one, sort_keys=True) for batch in server.batches for one in batch.requests.values())
    assert set(in_batch) <= set(alone)
    assert len(in_batch) == ITEMS - 1


def test_turns_of_dialogues_go_out_together(provider, server, store, tmp_path):
    server.say = lambda body: json.dumps({"prediction": 50, "choice": len(words_of(body)) % 90 + 1})
    options = {"tasks": ("numbers",), "settings": {"rounds": 4}, "limit": 4}
    alone = play(provider, server, tmp_path / "alone.db", "egosocial", batch=False, **options)
    together = play(provider, server, store, "egosocial", **options)
    assert scores(together, "numbers") == scores(alone, "numbers")
    assert len(server.batches) <= 8, "one for each of the four rounds; a busy machine may split some"
    assert set(server.paid.values()) == {1}


def test_what_a_batch_leaves_out_is_asked_again_and_paid_once(provider, server, store):
    fates = {0: ERROR, 1: EXPIRED}

    def fate(batch, name):
        place = list(batch.requests).index(name)
        return fates.get(place % 3, ANSWERED) if batch.number == 1 else ANSWERED

    server.fate = fate
    run = play(provider, server, store)
    assert len(scores(run)) == ITEMS
    assert run.failures() == {}
    assert set(server.paid.values()) == {1}
    assert len(server.paid) == ITEMS - 1
    assert len(server.batches) >= 2


def test_a_batch_that_expired_as_a_whole_is_sent_again(provider, server, store):
    server.fate = lambda batch, name: EXPIRED if batch.number == 1 else ANSWERED
    assert len(scores(play(provider, server, store))) == ITEMS
    assert [len(one.requests) for one in server.batches] == [ITEMS - 1, ITEMS - 1]


def test_a_provider_that_does_not_answer_for_a_while_is_asked_again(provider, server, store):
    server.faults_of_polls = [500, 503, 429]
    assert len(scores(play(provider, server, store))) == ITEMS
    assert len(server.batches) == 1


@pytest.mark.parametrize("hidden", [0, 1])
def test_a_lost_answer_to_the_creation_makes_no_second_batch(provider, server, store, hidden):
    server.after_create = lambda: len(server.batches) == 1
    server.hidden = hidden
    assert len(scores(play(provider, server, store))) == ITEMS
    assert len(server.batches) == 1
    assert set(server.paid.values()) == {1}


def test_a_lost_creation_is_made_good(provider, server, store):
    broken = iter([True])
    server.before_create = lambda: next(broken, False)
    assert len(scores(play(provider, server, store))) == ITEMS
    assert len(server.batches) == 1


def test_a_request_in_a_batch_costs_half_where_the_price_list_says_so(provider, server, store, tmp_path, monkeypatch):
    prices = tmp_path / "prices.toml"
    monkeypatch.setenv("SOCIOMETER_PRICES", str(prices))
    entry = f'["{provider}/m"]\ninput = 1000.0\noutput = 2000.0\nas_of = 2026-01-01\n'
    each = (12 * 1000 + 3 * 2000) / 1e6
    for number, (line, share) in enumerate((("batch = 0.5\n", 0.5), ("", 1.0))):
        prices.write_text(entry + line)
        run = play(provider, server, tmp_path / f"{number}.db")
        assert spent(run).cost == pytest.approx(each * (1 + share * (ITEMS - 1)))


def test_a_cap_holds_and_what_was_asked_is_still_collected(openai, store):
    run = play("openai", openai, store, max_requests=5)
    assert run.status == "stopped"
    assert len(scores(run)) == 5
    assert sum(openai.paid.values()) + asked_alone(openai) == 5
    more = sm.resume(run.id, store=store, max_requests=ITEMS)
    assert len(scores(more)) == ITEMS
    assert set(openai.paid.values()) == {1}


def test_a_cap_on_cost_reserves_the_price_of_a_batch(openai, store, tmp_path, monkeypatch):
    prices = tmp_path / "prices.toml"
    monkeypatch.setenv("SOCIOMETER_PRICES", str(prices))
    prices.write_text('["openai/m"]\ninput = 0.0\noutput = 1000.0\nas_of = 2026-01-01\nbatch = 0.5\n')
    # The first request may cost 0.1 $ at most, each one in a batch half of that.
    run = play("openai", openai, store, reply_tokens=100, max_cost=0.1 + 0.05 * 5)
    assert spent(run).cost <= 0.35
    assert len(openai.batches[0].requests) <= 6


def test_a_wrong_key_is_found_before_anything_waits(openai, store):
    from servers.faults import WRONG_KEY

    openai.fault_of = lambda number: WRONG_KEY
    with pytest.raises(UsageError, match="No key was sent: OPENAI_API_KEY is empty"):
        play("openai", openai, store)
    assert openai.batches == []


def test_a_batch_that_the_provider_does_not_accept_stops_the_run(openai, store):
    openai.whole_failure = {"code": "invalid_model", "message": "The model is not available for batches."}
    run = play("openai", openai, store)
    assert run.status == "failed"
    assert len(scores(run)) == 1


def test_a_model_without_batches_is_refused(store):
    with pytest.raises(UsageError, match="batch=True needs a model of openai or anthropic, not vllm/m"):
        sm.run("sesi", "vllm/m", store=store, limit=2, batch=True)
    assert sm.runs(store=store) == []


@pytest.mark.parametrize(
    ("options", "said"), [({"base": True}, "base=True"), ({"answer": "probability"}, "probability")]
)
def test_what_is_no_conversation_is_not_sent_in_batches(openai, store, options, said):
    with pytest.raises(UsageError, match=f"cannot be combined with .*{said}"):
        play("openai", openai, store, **options)


class Interrupted:
    """Sends this process an interrupt as soon as a batch waits."""

    def __init__(self, server):
        self._server = server
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self):
        while not (self._server.batches and self._server.batches[-1].polls):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._thread.join(10)


@pytest.mark.parametrize("cancel", [False, True])
def test_an_interrupted_run_leaves_its_batch_unless_told_to_cancel_it(provider, server, store, cancel):
    server.polls = 10**6
    with Interrupted(server), pytest.raises(KeyboardInterrupt):
        play(provider, server, store, cancel_batches=cancel)
    run = sm.get_run(store=store)
    assert run.status == "stopped"
    assert [one.cancelled for one in server.batches] == [cancel]
    assert len(scores(run)) == 1
    server.polls = 1
    done = sm.resume(run.id, store=store)
    assert len(scores(done)) == ITEMS
    assert len(server.batches) == 1 + cancel
    assert set(server.paid.values()) == {1}
    assert spent(done).requests == ITEMS + (ITEMS - 1) * cancel


def test_a_run_whose_requests_wait_is_not_continued_without_batches(openai, store):
    openai.polls = 10**6
    with Interrupted(openai), pytest.raises(KeyboardInterrupt):
        play("openai", openai, store)
    with pytest.raises(UsageError, match=r"11 requests of run .* wait in batches at the provider; add batch=True"):
        play("openai", openai, store, batch=False)
    openai.polls = 1
    assert len(scores(play("openai", openai, store))) == ITEMS


def command(provider, server, store, *more):
    words = ["run", "sesi", "--model", f"{provider}/m@{server.url}#1", "--limit", str(ITEMS)]
    program = (
        "import sociometer.engine.batches.lane as b, sociometer.cli.main as m;"
        " b._QUIET_SECONDS, b._FIRST_POLL_SECONDS = 0.2, 0.1; m.main()"
    )
    return forked.start(["-c", program, *words, "--batch", "--quiet", "--store", store, *more])


MOMENTS = ("before_create", "after_create", "waiting", "results")
KILLS = [(provider, moment) for provider in SERVERS for moment in MOMENTS]
QUICK = [("openai", "before_create"), ("openai", "results"), ("anthropic", "after_create"), ("anthropic", "waiting")]


@pytest.mark.parametrize(
    ("provider", "moment"), [*QUICK, *(pytest.param(*one, marks=pytest.mark.slow) for one in KILLS if one not in QUICK)]
)
def test_a_run_killed_at_any_moment_pays_nothing_twice(provider, server, store, moment):
    process = None

    def kill():
        process.kill()
        process.wait()
        return True

    if moment in ("before_create", "after_create"):
        killed = iter([True])
        setattr(server, moment, lambda: next(killed, False) and kill())
    elif moment == "results":
        server.fate = lambda batch, name: kill() and ANSWERED
    else:
        server.polls = 10**6
    process = command(provider, server, store, "--max-requests", str(ITEMS))
    if moment == "waiting":
        while not (server.batches and server.batches[-1].polls > 1):
            time.sleep(0.02)
        kill()
    process.wait(60)
    assert process.returncode == -signal.SIGKILL
    server.polls = 1
    run = sm.resume("last", store=store)
    assert len(scores(run)) == ITEMS
    assert spent(run).requests == ITEMS
    assert set(server.paid.values()) == {1}
    assert sum(len(one.requests) for one in server.batches) == ITEMS - 1


def test_the_longest_wait_is_stated_before_anything_is_sent(openai, store, capsys):
    from sociometer.cli.main import run_command

    words = ["run", "sesi", "--model", f"openai/m@{openai.url}", "--limit", "4", "--store", str(store), "--batch"]
    assert run_command([*words, "--dry-run"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Each batch takes up to 24 h. An item makes one request, so the run takes up to 24 h" in said
    assert openai.received == []
    assert run_command(words) == 0
    assert "so the run takes up to 24 h" in capsys.readouterr().err


def test_a_batch_above_the_limit_of_waiting_tokens_is_sent_again(openai, store, monkeypatch):
    monkeypatch.setattr(openai_batches, "_FULL_SECONDS", 0.1)
    openai.whole_failure = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}

    def make_room():
        openai.whole_failure = None if len(openai.batches) >= 2 else openai.whole_failure
        return False

    openai.after_create = make_room
    assert len(scores(play("openai", openai, store))) == ITEMS
    assert len(openai.batches) == 2


def test_a_batch_of_someone_else_is_not_taken_for_the_lost_one(provider, server, store):
    def others_come_first():
        if not server.batches:
            others = {f"theirs-{place}": {"model": "m", "messages": [], "contents": []} for place in range(ITEMS - 1)}
            server.batches.append(Batch(1, "theirs", others))
        return False

    lost = iter([True])
    server.before_create = others_come_first
    server.after_create = lambda: next(lost, False)
    assert len(scores(play(provider, server, store))) == ITEMS
    assert [len(one.requests) for one in server.batches] == [ITEMS - 1, ITEMS - 1]
    assert {count for name, count in server.paid.items() if not name.startswith("theirs")} == {1}


def test_results_under_unknown_names_change_nothing(openai, store):
    shown = openai._file

    def with_strangers(batch, good):
        answer = shown(batch, good)
        strange = {"custom_id": "../../etc", "response": {"status_code": 200, "body": {}}, "error": None}
        return web.Response(body=answer.body + json.dumps(strange).encode() + b"\n")

    openai._file = with_strangers
    assert len(scores(play("openai", openai, store))) == ITEMS


def test_results_that_cannot_be_read_stop_the_run_and_are_collected_when_it_is_resumed(openai, store):
    whole, openai._file = openai._file, lambda batch, good: web.Response(body=b"\x80\x81 no JSON\n")
    stopped = play("openai", openai, store)
    assert stopped.status == "stopped" and len(scores(stopped)) < ITEMS
    openai._file = whole
    assert len(scores(play("openai", openai, store))) == ITEMS
    assert len(openai.batches) == 1, "nothing was sent again"


def test_the_strange_name_of_a_batch_stays_one_part_of_the_path():
    assert path_part("../../secrets?x") == "..%2F..%2Fsecrets%3Fx"


def person_or_subject(body):
    """What a model says that plays both the simulated person of SAGE and the subject."""
    asked = json.dumps(body)
    if "attitude" in asked:
        return json.dumps(dict.fromkeys(("attitude", "aim", "tone", "content", "words"), "Well."))
    if "serves" in asked:
        return json.dumps(dict.fromkeys(("said", "serves", "activity", "feeling"), "x") | {"change": 2})
    return "I see."


def test_two_roles_of_one_model_share_its_batches(store):
    with SERVERS["openai"]() as server:
        server.say = person_or_subject
        roles = {"simulator": f"openai/m@{server.url}#1"}
        run = play("openai", server, store, "sage", tasks=("dialogue",), settings={"turns": 2}, limit=4, roles=roles)
        assert (run.status, len(scores(run))) == ("finished", 4)
        assert set(server.paid.values()) == {1}
        assert len(server.batches) <= 6
