"""Base models and answers from probabilities: every task that declares them plays in them, and no other does."""

import asyncio

import pytest

from sociometer.core.config import Caps, RunConfig
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

FORECASTS = [
    (card.name, task.name) for card in cards().values() for task in card.task if task.probability and not task.official
]
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


@pytest.mark.parametrize(("instrument", "task"), FORECASTS)
def test_a_task_is_played_from_probabilities_alone(instrument, task):
    for episode in played(instrument, task, answer="probability"):
        assert episode.error is None
        assert episode.episode.score.unreadable == 0
        assert asked(episode)
        for exchange in asked(episode):
            assert exchange.reply.likelihoods
            assert exchange.reply.text == ""
            assert "Answer: X" not in exchange.messages[-1].content


@pytest.mark.parametrize(("instrument", "task"), [one for one in FORECASTS if one[1] != "goals"])
def test_the_oracle_is_right_and_calibrated_in_probabilities(instrument, task):
    for episode in played(instrument, task, answer="probability"):
        forecasts = episode.episode.score.forecasts
        assert forecasts
        assert all(one.right and one.text_right and one.brier < 0.01 for one in forecasts)


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
        ({"answer": "probability", "tasks": ("blackjack",)}, "egosocial/blackjack has no choices to read"),
        ({"answer": "certainty"}, "value for -o answer"),
        ({"base": True, "second_question": True}, "-o base and --second-question"),
    ],
)
def test_what_a_task_cannot_do_is_refused_before_anything_is_sent(options, said):
    with pytest.raises(UsageError, match=said):
        make_plan(RunConfig(instrument="egosocial", subject="baseline/oracle", **options), load("egosocial"))


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        ("anthropic/m", {"answer": "probability"}, "gives no probabilities"),
        ("groq/m", {"answer": "probability"}, "gives no probabilities"),
        ("lmstudio/m", {"answer": "probability"}, "gives no probabilities"),
        ("anthropic/m", {"base": True}, "cannot continue a plain text"),
        ("together/m", {"base": True, "answer": "probability"}, "gives no probabilities of a plain text"),
    ],
)
def test_a_server_that_cannot_is_refused_before_anything_is_sent(model, options, said):
    with pytest.raises(UsageError, match=said) as caught:
        make_plan(RunConfig(instrument="sesi", subject=model, **options), load("sesi"), sends=False)
    assert "vllm" in str(caught.value)


def test_without_a_choice_only_tasks_that_can_are_played():
    plan = make_plan(
        RunConfig(instrument="egosocial", subject="baseline/oracle", answer="probability"), load("egosocial")
    )
    assert plan.config.tasks == ("generated", "counterfactual", "worlds")


def test_probabilities_are_capped_journaled_and_reused(openai_server, tmp_path):
    options = {"instrument": "sesi", "subject": "vllm/m", "base_url": openai_server.url, "revision": "w1"}
    options["answer"] = "probability"
    with Store(tmp_path / "s.db") as store:
        stopped = Engine(store, load).run(RunConfig(**options, limit=3, caps=Caps(max_requests=5), in_flight=1))
        assert stopped.ending.status == "stopped"
        assert len(openai_server.received) == 5
        whole = Engine(store, load).resume(stopped.run.id, Caps(max_requests=12))
        assert whole.ending.status == "finished"
        assert len(openai_server.received) == 3 * 4
        again = Engine(store, load).run(RunConfig(**options, limit=2))
        assert again.progress.sent == 0
        assert len(openai_server.received) == 12


def test_a_reply_limit_is_not_needed_for_a_cap_on_tokens(openai_server, tmp_path):
    with Store(tmp_path / "s.db") as store:
        config = RunConfig(
            instrument="sesi", subject="vllm/m", base_url=openai_server.url, answer="probability", limit=1,
            caps=Caps(max_tokens=100_000),
        )  # fmt: skip
        assert Engine(store, load).run(config).ending.status == "finished"


def test_boards_mark_runs_that_were_answered_in_different_ways(openai_server, tmp_path):
    with Store(tmp_path / "s.db") as store:
        options = {"instrument": "sesi", "subject": "vllm/m", "base_url": openai_server.url, "revision": "w1"}
        runs = [
            Engine(store, load).run(RunConfig(**options, limit=12, answer=answer)).run
            for answer in ("reply", "probability")
        ]
        assert [run.subject for run in runs] == ["vllm/m", "vllm/m (probability)"]
        known = candidates(runs)
        (comparison,) = compare(known)
        note = "settings differ in answer: reply and probability"
        assert note in " ".join(comparison.notes)
        board = leaderboard(known)
        assert "differ in answer: reply and probability" in " ".join(board.notes)
        assert any("read from probabilities" in note for note in runs[1].summary().notes)


def test_a_base_run_of_a_server_uses_text_completions(openai_server, tmp_path):
    openai_server.say = lambda body: " B"
    with Store(tmp_path / "s.db") as store:
        config = RunConfig(instrument="sesi", subject="vllm/m", base_url=openai_server.url, base=True, limit=2)
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


def test_a_transcript_shows_the_probabilities(openai_server, tmp_path):
    with Store(tmp_path / "s.db") as store:
        config = RunConfig(
            instrument="sesi", subject="vllm/m", base_url=openai_server.url, answer="probability", limit=1
        )
        run = Engine(store, load).run(config).run
        shown = "\n".join(transcript_lines(run.transcript(next(run.episodes()).item.id)))
        assert "log-probabilities\nA: -2.500\nB: -0.100\nC: below -2.500" in shown
        assert "rule: probability" in shown or "rule: equal probabilities" in shown
