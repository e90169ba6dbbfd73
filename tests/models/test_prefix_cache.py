"""A prompt taken from the cache gives the same reply as one that is read anew: the embedded model, really run."""

import asyncio
from functools import partial

import pytest

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Request, Sampling
from sociometer.engine.engine import Engine
from sociometer.engine.estimate import _rehearse
from sociometer.engine.items import ItemList
from sociometer.instruments import load
from sociometer.models.llama import LlamaContext
from sociometer.models.local import chat_body
from sociometer.store.store import Store

GREEDY = Sampling(temperature=0, max_tokens=3, logprobs=3)
MODEL = "local/smollm2-135m"


def requests_of(instrument, task, store, **options):
    """What the roles are asked in the first item of a task, in order, when random replies are given."""
    with Store(store) as opened:
        plan = Engine(opened, load).plan(RunConfig(instrument=instrument, subject=MODEL, tasks=(task,), **options))
        items = list(ItemList(task, partial(plan.items, plan.tasks[0])))[:1]
        return [exchange.messages for exchange in asyncio.run(_rehearse(plan, plan.tasks[0], items))]


def said(context, messages):
    """The reply with its log-probabilities, to the last bit."""
    answer = context.chat(chat_body(Request("subject", messages, sampling=GREEDY)))
    return answer["choices"][0]["message"]["content"], str(answer["choices"][0]["logprobs"])


@pytest.fixture(scope="module")
def contexts(embedded_model):
    return LlamaContext(embedded_model, 1), LlamaContext(embedded_model, 1, reuse=False)


@pytest.mark.parametrize(
    ("instrument", "task", "roles", "part"),
    [("sage", "dialogue", {"simulator": MODEL}, slice(2, 5)), ("socialeval", "goals", {}, slice(0, 2))],
    ids=["both parties of a dialogue", "a tree"],
)
def test_replies_are_the_same_with_and_without_the_cache(contexts, tmp_path, instrument, task, roles, part):
    cached, plain = contexts
    asked = requests_of(instrument, task, tmp_path / "store", roles=roles)[part]
    before = cached.reused_tokens
    expected = [said(plain, messages) for messages in asked]
    assert [said(cached, messages) for messages in asked] == expected
    assert cached.reused_tokens > before
    again = [said(cached, messages) for messages in reversed(asked)]
    assert again == expected[::-1], "whatever was asked before"
    assert plain.reused_tokens == 0
