"""A prompt taken from the cache gives the same reply as one that is read anew: the embedded model, really run."""

import asyncio
from functools import partial

import msgspec
import pytest

from sociometer.core.config import Caps, RunConfig
from sociometer.core.conversation import Exchange, Request, Sampling
from sociometer.engine.engine import Engine
from sociometer.engine.estimate import rehearse
from sociometer.engine.plan import ItemList
from sociometer.instruments import load
from sociometer.models import local
from sociometer.models.local import LlamaContext, chat_body
from sociometer.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
GREEDY = Sampling(temperature=0, max_tokens=3)
MODEL = "local/smollm2-135m"


def requests_of(instrument, task, store, **options):
    """What the roles are asked in the longest of a few items of a task, in order, when random replies are given."""
    with Store(store) as opened:
        plan = Engine(opened, load).plan(RunConfig(instrument=instrument, subject=MODEL, tasks=(task,), **options))
        items = list(ItemList(task, partial(plan.items, plan.tasks[0])))[:5]
        longest = max(asyncio.run(rehearse(plan, plan.tasks[0], items)), key=len)
        return [exchange.messages for exchange in longest]


def said(context, messages):
    """The reply with its log-probabilities, to the last bit."""
    listed = {"logprobs": True, "top_logprobs": 3}
    answer = context.chat(chat_body(Request("subject", messages, sampling=GREEDY)) | listed)
    return answer["choices"][0]["message"]["content"], str(answer["choices"][0]["logprobs"])


@pytest.fixture(scope="module")
def contexts(embedded_model):
    return LlamaContext(embedded_model, 1), LlamaContext(embedded_model, 1, reuse=False)


@pytest.mark.parametrize(
    ("instrument", "task", "options"),
    [("sage", "dialogue", {"roles": {"simulator": MODEL}}), ("socialeval", "goals", {"settings": {"language": "en"}})],
    ids=["both parties of a dialogue", "a tree"],
)
def test_replies_are_the_same_with_and_without_the_cache(contexts, tmp_path, instrument, task, options):
    cached, plain = contexts
    asked = requests_of(instrument, task, tmp_path / "store", **options)[:3]
    before = cached.reused_tokens
    expected = [said(plain, messages) for messages in asked]
    assert [said(cached, messages) for messages in asked] == expected
    assert cached.reused_tokens > before
    again = [said(cached, messages) for messages in reversed(asked)]
    assert again == expected[::-1], "whatever was asked before"
    assert plain.reused_tokens == 0


def test_a_resumed_run_gets_the_replies_of_an_uninterrupted_one(embedded_model, tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_THREADS", "1")
    config = RunConfig(instrument="sesi", subject=MODEL, limit=2, sampling=Sampling(temperature=0, max_tokens=3))

    def texts(played):
        run = played.run
        return [
            event.reply.text
            for episode in run.episodes()
            for event in run.transcript(episode.item.id)
            if isinstance(event, Exchange)
        ]

    with Store(tmp_path / "whole") as store:
        whole = texts(Engine(store, load).run(config))
    with Store(tmp_path / "parts") as store:
        stopped = Engine(store, load).run(msgspec.structs.replace(config, caps=Caps(max_requests=1)))
        assert len(texts(stopped)) < len(whole)
        assert texts(Engine(store, load).resume(stopped.run.id, Caps(max_requests=9))) == whole


def test_the_number_of_threads_cannot_change_a_reply(embedded_model, monkeypatch):
    monkeypatch.setattr(local, "gpu_memory", lambda: 0)
    params = local._chat_params(embedded_model, 1, 64, "key")
    assert params.flash_attn_type.name.endswith("DISABLED"), "with it, 1 and 2 threads gave different replies"
