"""Base models: every task that declares a text form plays in it, and no other does."""

import asyncio

import pytest

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Exchange, transcript_lines
from sociometer.core.errors import UsageError
from sociometer.engine.engine import Engine
from sociometer.engine.plan import make_plan
from sociometer.engine.runner import play_episode
from sociometer.instruments import cards, load
from sociometer.results.comparison import compare
from sociometer.results.leaderboard import leaderboard
from sociometer.results.runs import candidates
from sociometer.store.store import Store

TEXTS = [(card.name, task.name) for card in cards().values() for task in card.task if task.base]


FEW = {"egosocial": {"stories": 3}}
"""It writes its stories anew, which takes long."""


def played(instrument, task, count=3, **options):
    found = load(instrument)
    few = FEW.get(instrument, {})
    config = RunConfig(
        instrument=instrument, subject="baseline/oracle", tasks=(task,), settings=few, limit=count, **options
    )
    plan = make_plan(config, found)

    async def play():
        items = list(plan.items(found.task(task)))[:count]
        return [await play_episode(plan, found.task(task), item) for item in items]

    return asyncio.run(play())


def asked(episode):
    return [event for event in episode.events if isinstance(event, Exchange) and event.role == "subject"]


@pytest.mark.parametrize(("instrument", "task"), TEXTS)
def test_a_base_model_gets_one_text_with_examples_and_a_stop_sequence(instrument, task):
    for episode in played(instrument, task, base=True):
        assert episode.error is None
        (exchange,) = asked(episode)
        (message,) = exchange.messages
        assert message.role == "text"
        assert message.content.rstrip()[-1] in ":："
        assert message.content == message.content.rstrip()


def test_a_base_model_is_never_asked_again():
    config = RunConfig(instrument="sesi", subject="baseline/refuse", base=True, limit=2)
    found = load("sesi")
    plan = make_plan(config, found)
    item = next(iter(plan.items(found.task("questions"))))
    episode = asyncio.run(play_episode(plan, found.task("questions"), item))
    assert len(asked(episode)) == 1
    assert episode.episode.score.unreadable == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"base": True, "tasks": ("generated",)}, "egosocial/generated has no text form for base models"),
        ({"base": True, "second_question": True}, "-o base and --second-question"),
    ],
)
def test_what_a_task_cannot_do_is_refused_before_anything_is_sent(options, said):
    with pytest.raises(UsageError, match=said):
        make_plan(RunConfig(instrument="egosocial", subject="baseline/oracle", **options), load("egosocial"))


@pytest.mark.parametrize("model", ["anthropic/m", "groq/m"])
def test_a_server_that_cannot_is_refused_before_anything_is_sent(model):
    with pytest.raises(UsageError, match="cannot continue a plain text") as caught:
        make_plan(RunConfig(instrument="sesi", subject=model, base=True), load("sesi"), sends=False)
    assert "vllm" in str(caught.value)


def test_boards_mark_runs_that_were_answered_in_different_ways(openai_server, tmp_path):
    with Store(tmp_path / "s.db") as store:
        options = {"instrument": "sesi", "subject": "vllm/m", "base_url": openai_server.url, "revision": "w1"}
        runs = [Engine(store, load).run(RunConfig(**options, limit=12, base=base)).run for base in (False, True)]
        assert [run.subject for run in runs] == ["vllm/m", "vllm/m (base)"]
        known = candidates(runs)
        (comparison,) = compare(known)
        assert comparison.notes == ("settings differ in base: False and True",)
        assert "differ in base: False and True" in " ".join(leaderboard(known).notes)


def test_a_base_run_of_a_server_uses_text_completions(openai_server, tmp_path):
    openai_server.say = lambda body: " B"
    with Store(tmp_path / "s.db") as store:
        options = {"base_url": openai_server.url, "revision": "w1", "base": True, "limit": 2}
        config = RunConfig(instrument="sesi", subject="vllm/m", **options)
        played = Engine(store, load).run(config)
        assert played.ending.status == "finished"
        assert played.run.subject == "vllm/m (base)"
        assert played.run.manifest.config.base
        assert {received.path for received in openai_server.received} == {"/v1/completions"}
        (exchange,) = [
            one for one in played.run.transcript(next(played.run.episodes()).item.id) if isinstance(one, Exchange)
        ]
        assert exchange.messages[0].role == "text"
        assert "".join(transcript_lines([exchange])).count("Answer: B") == 1
