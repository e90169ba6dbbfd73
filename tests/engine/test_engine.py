import asyncio

import msgspec
import pytest

from servers.paid import Server, change_task, config, engine_with
from sociometer.core.card import RoleCard
from sociometer.core.config import Caps, RunConfig
from sociometer.core.conversation import Exchange, user
from sociometer.core.errors import DataError, FailureKind, MachineryError, Stopped, StoreError, Unreachable, UsageError
from sociometer.core.instrument import FinishedEpisode, Instrument
from sociometer.engine.command_context import EngineContext
from sociometer.engine.engine import Engine
from sociometer.engine.estimate import estimate
from sociometer.instruments import load
from sociometer.reading import ChoiceAnswer
from sociometer.store.sqlite import RunLock
from sociometer.store.store import Store


def test_the_same_command_again_sends_nothing_and_gives_the_same_run(store):
    server = Server()
    engine = engine_with(store, server)
    first = engine.run(config(repeats=3))
    assert server.total == 12
    again = engine.run(config(repeats=3))
    assert server.total == 12
    assert again.run.id == first.run.id
    assert again.run.summary() == first.run.summary()


def test_a_new_run_pays_only_for_draws_that_were_never_made(store):
    server = Server()
    engine = engine_with(store, server)
    engine.run(config(repeats=2))
    more = engine.run(config(repeats=5))
    assert server.total == 20
    assert more.progress.from_journal == 8


def test_fresh_draws_anew_and_another_seed_is_another_draw(store):
    server = Server()
    engine = engine_with(store, server)
    engine.run(config())
    engine.run(config(fresh=True))
    assert server.total == 8
    engine.run(config(seed=1))
    assert server.total == 12


def test_repeats_of_one_item_are_independent_draws(store):
    server = Server()
    engine_with(store, server).run(config(repeats=4))
    assert set(server.asked.values()) == {4}


def test_where_weights_may_have_changed_only_resume_reuses(store):
    server = Server(certain=False)
    engine = engine_with(store, server)
    first = engine.run(config(caps=Caps(max_requests=3)))
    assert first.ending.status == "stopped"
    with pytest.raises(UsageError, match=f"was not finished: {first.run.id} .*resume {first.run.id}.* add --fresh"):
        engine_with(store, server).run(config())
    second = engine_with(store, server).run(config(fresh=True))
    assert server.total == 3 + 4
    assert second.run.id != first.run.id and second.run.subject != first.run.subject
    resumed = engine_with(store, server).resume(first.run.id, Caps(max_requests=100))
    assert resumed.ending.status == "finished"
    assert server.total == 3 + 4 + 1


def test_a_reply_that_another_process_stored_first_is_the_one_that_counts(store):
    class Slow(Server):
        def __init__(self, text, other=None):
            super().__init__(text)
            self.other = other

        async def answer(self, request):
            if self.other:
                other, self.other = self.other, None
                await asyncio.to_thread(other)
            return await super().answer(request)

    def second_process():
        with Store(store.path) as other:
            engine_with(other, Server("B")).run(config(limit=1, repeats=2))

    played = engine_with(store, Slow("A", second_process)).run(config(limit=1))
    episode = next(played.run.view().episodes())
    assert played.run.transcript(episode.item.id)[0].reply.text == "B"
    assert episode.outcome.picked == 1


def test_a_commands_run_on_ones_own_server_is_continued_by_the_same_command(store):
    server = Server(certain=False)
    template = load("_template")

    def context(**changes):
        engine = engine_with(store, server)
        return EngineContext(engine, template, config(subject="", **changes), ("server",))

    with pytest.raises(Stopped, match=r"repeat the command to continue\. It asks again what is finished, unless"):
        context(caps=Caps(max_requests=3)).play("questions")
    context().play("questions")
    assert server.total == 4


def test_a_killed_run_is_told_as_stopped(store):
    played = engine_with(store, Server()).run(config())
    store.runs.set_status(played.run.id, "playing")
    store.flush()
    stored = engine_with(store, Server()).stored(played.run.id)
    assert stored.status == "stopped"
    with RunLock(store.path, played.run.id):
        assert stored.status == "playing"


def test_a_player_who_stops_leaves_a_run_that_can_be_resumed(store):
    left = [2]

    def fail(number, request):
        return Stopped("the person left") if number > left[0] else None

    server = Server(fail=fail)
    engine = engine_with(store, server)
    played = engine.run(config(in_flight=1))
    assert (played.ending.status, played.ending.reason) == ("stopped", "the person left")
    left[0] = 100
    assert engine.resume(played.run.id).ending.status == "finished"
    assert not engine.stored(played.run.id).failures()


def test_embeddings_are_journaled_like_replies(store, monkeypatch):
    seen = []

    async def play(item, session):
        seen.append(await session.embed("subject", [item.question, item.moment]))
        return ChoiceAnswer((), None)

    class Counting(Server):
        embedded = 0

        async def embed(self, texts):
            Counting.embedded += 1
            return await super().embed(texts)

    change_task(monkeypatch, play=play)
    engine = engine_with(store, Counting())
    engine.run(config(repeats=1))
    first = list(seen)
    engine.run(config(repeats=2))
    assert Counting.embedded == 8
    assert len(seen) == 12
    assert set(seen) == set(first)


def test_concurrent_branches_have_randomness_and_draws_of_their_own(store, monkeypatch):
    drawn = []

    async def play(item, session):
        async def branch(name):
            part = session.branch(name)
            await part.ask("subject", [user("the same words")])
            return part.rng.random()

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(branch(str(number))) for number in range(5)]
        drawn.append((item.id, tuple(one.result() for one in tasks)))
        return ChoiceAnswer((), None)

    change_task(monkeypatch, play=play)
    server = Server()
    engine = engine_with(store, server)
    engine.run(config())
    assert server.total == 20
    assert all(len(set(values)) == 5 for _, values in drawn)
    before = sorted(drawn)
    drawn.clear()
    engine_with(store, Server()).run(config(fresh=True))
    assert sorted(drawn) == before


def test_rescoring_needs_no_model_and_gives_the_same_numbers(store):
    server = Server()
    played = engine_with(store, server).run(config(repeats=3))
    before = played.run.summary()
    assert played.run.rescore() == before
    assert server.total == 12


def test_a_run_that_another_process_plays_is_refused(store):
    engine = engine_with(store, Server())
    played = engine.run(config())
    with RunLock(store.path, played.run.id), pytest.raises(StoreError, match="in progress in process"):
        engine.resume(played.run.id)


def test_a_run_is_not_continued_with_another_model_behind_the_name(store):
    played = engine_with(store, Server(revision="1")).run(config())
    with pytest.raises(UsageError, match="model in the role 'subject' changed"):
        engine_with(store, Server(revision="2")).resume(played.run.id)


def test_a_role_that_nobody_plays_is_an_error_before_anything_is_sent(store):
    with pytest.raises(UsageError, match=r"no model for the role 'subject'.*--model"):
        engine_with(store, Server()).run(config(subject=""))
    assert list(store.runs.all()) == []


def test_a_run_with_an_instruments_own_player_by_default_can_be_resumed(store):
    template = load("_template")
    role = RoleCard("judge", "looks on", default="server")
    card = msgspec.structs.replace(template.card, role=(*template.card.role, role))
    instrument = Instrument(template.folder, list(template.tasks.values()), card=card, players={"server": Server})
    engine = Engine(store, lambda name: instrument)
    played = engine.run(config(repeats=2, caps=Caps(max_requests=3)))
    assert played.ending.status == "stopped"
    engine = Engine(store, lambda name: instrument)
    assert engine.resume(played.run.id, Caps(max_requests=100)).ending.status == "finished"


def test_an_unknown_role_names_the_known_ones(store):
    with pytest.raises(UsageError, match="unknown _template role 'judge'"):
        engine_with(store, Server()).run(config(roles={"judge": "server"}))


def test_an_unknown_setting_names_the_nearest(store):
    with pytest.raises(UsageError, match="did you mean '--orders'"):
        engine_with(store, Server()).run(config(settings={"order": 3}))


def test_the_transcript_holds_what_was_asked_and_answered(store):
    played = engine_with(store, Server("B")).run(config())
    events = played.run.transcript("template-01")
    asked = [event for event in events if isinstance(event, Exchange)]
    assert asked[0].reply.text == "B"
    assert "Nadia" in asked[0].messages[0].content


def test_given_items_are_played_and_only_their_own_command_continues_them(store):
    server = Server()
    engine = engine_with(store, server)
    template = load("_template")
    context = EngineContext(engine, template, config(subject="", command=("sociometer", "lint")), ("server",))
    items = list(template.task("questions").items(context.source()))[:2]
    run = context.play("questions", items=items)
    assert run.summary().measure("accuracy").items == 2
    assert context.play("questions", items=items).id == run.id
    assert server.total == 2
    with pytest.raises(UsageError, match="repeat the command: sociometer lint"):
        engine.resume(run.id)


def test_imported_episodes_are_a_run_like_any_other(store):
    engine = engine_with(store, Server())
    played = engine.run(config())
    template = load("_template")
    context = EngineContext(engine, template, config(subject=""))
    episodes = [
        FinishedEpisode(episode.item, episode.outcome, played.run.transcript(episode.item.id))
        for episode in played.run.view().episodes()
    ]
    kept = context.keep("questions", "someone-else", episodes)
    assert kept.summary().measures == played.run.summary().measures
    assert kept.transcript("template-01")[0].reply.text == "A"
    with pytest.raises(UsageError, match="was imported"):
        engine.resume(kept.id)


def test_the_estimate_counts_calls_without_sending_any(store):
    server = Server()
    plan = engine_with(store, server).plan(config(repeats=5, settings={"orders": 3}))
    row = estimate(plan)[0]
    assert (row.items, row.repeats, row.requests) == (4, 5, 60)
    assert row.input_tokens > 60 * 50
    assert row.cost is None
    assert server.total == 0


def test_the_estimate_uses_the_reply_lengths_of_stored_runs_and_gives_the_worst_case(store):
    engine = engine_with(store, Server())
    before = estimate(engine.plan(config()), engine.store)[0]
    assert "no stored run" in before.replies_from
    assert before.output_tokens == before.requests * 120
    engine.run(config())  # it writes one token a reply
    after = estimate(engine.plan(config(repeats=5)), engine.store)[0]
    assert after.output_tokens == after.requests == 20
    assert "1 stored run" in after.replies_from
    assert after.most_requests == 40
    assert after.most_output_tokens > 100 * after.output_tokens


@pytest.mark.parametrize(
    "failure",
    [Unreachable("not there", retryable=True), MachineryError("busy", FailureKind.OVERLOADED, retryable=True)],
)
@pytest.mark.parametrize("free", [True, False])
def test_failed_requests_do_not_shorten_the_replies_of_an_estimate(store, tmp_path, monkeypatch, failure, free):
    prices = tmp_path / "prices.toml"
    prices.write_text(f'["server"]\ninput = {int(not free)}\noutput = {int(not free)}\nas_of = 2026-01-01\n')
    monkeypatch.setenv("SOCIOMETER_PRICES", str(prices))
    engine = engine_with(store, Server(fail=lambda number, request: failure if number % 2 else None))
    assert engine.run(config(in_flight=1)).progress.retries >= 4
    row = estimate(engine.plan(config(repeats=5)), engine.store)[0]
    assert "1 token, the mean of 1 stored run" in row.replies_from
    assert row.output_tokens == row.requests == 20


def test_a_walk_is_planned_for_a_subject_that_succeeds(store):
    engine = Engine(store, load)
    goals = RunConfig(
        subject="openai/gpt-4o-mini", instrument="socialeval", tasks=("goals",), settings={"language": "en"}
    )
    row = estimate(engine.plan(goals, sends=False), store)[0]
    assert row.requests / row.items > 4
    assert row.fewest_requests < row.requests <= row.most_requests


def test_an_empty_list_of_items_is_said_not_scored(store, monkeypatch):
    change_task(monkeypatch, items=lambda source: [])
    with pytest.raises(DataError, match="no items"):
        engine_with(store, Server()).run(config())
    assert list(store.runs.all()) == []
