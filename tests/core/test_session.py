"""Which draw a reply is: the journal's key of a request, and the randomness of an episode."""

import asyncio

import pytest
from msgspec import structs

from sociometer.core.conversation import Choice, Free, Identity, Reply, Sampling, Schema, system, user
from sociometer.core.player import Player
from sociometer.core.session import Draw, RoleBinding, Session
from sociometer.core.settings import Settings
from sociometer.core.tools import Tool

DRAW = Draw("sesi", "1", "questions", "item-1")
LOOK = Tool("look_up", "Shows a record.", {"type": "object"})
MODEL = Identity("openai", "m", "http://x/v1", revision="r")


class Model(Player):
    """A player of that identity."""

    def __init__(self, identity):
        self.identity = identity

    async def answer(self, request):
        raise NotImplementedError


class Keys:
    """A reply source that answers nothing and keeps the key of every request."""

    def __init__(self, scope):
        self.scope, self.found = scope, []

    async def obtain(self, drawn, attempt, kind):
        self.found.append(drawn.key(self.scope))
        return Reply(""), b""


def keys(
    identity=MODEL,
    sampling=Sampling(),  # noqa: B008
    messages=(user("hi"),),  # noqa: B008
    answer_format=Free(),  # noqa: B008
    draw=DRAW,
    branch="",
    scope="",
    times=1,
    tools=(),
):
    """The journal's keys of a request made so many times within one draw."""
    source = Keys(scope)
    binding = RoleBinding(Model(identity), "openai/m", "m")
    session = Session(source, {"subject": binding}, draw, Settings(), None)

    async def ask():
        asked = session.branch(branch) if branch else session
        for _ in range(times):
            await asked.ask("subject", messages, answer_format, sampling=sampling, tools=tools)

    asyncio.run(ask())
    return source.found


@pytest.mark.parametrize(
    "change",
    [
        {"identity": structs.replace(MODEL, base_url="http://y/v1")},
        {"identity": structs.replace(MODEL, name="n")},
        {"identity": structs.replace(MODEL, revision="s")},
        {"identity": structs.replace(MODEL, wire="anthropic")},
        {"sampling": Sampling(temperature=0.5)},
        {"messages": (user("ho"),)},
        {"messages": (system("hi"),)},
        {"answer_format": Schema({"type": "object"})},
        {"tools": (LOOK,)},
    ],
)
def test_whatever_is_sent_is_part_of_the_requests_identity(change):
    assert keys(**change) != keys()


def test_what_no_model_sees_is_not():
    first, second = (keys(answer_format=Choice(("a", "b"), key=key)) for key in (1, 0))
    assert first == second == keys()


@pytest.mark.parametrize(
    "change",
    [
        {"draw": structs.replace(DRAW, item="item-2")},
        {"draw": structs.replace(DRAW, repeat=1)},
        {"draw": structs.replace(DRAW, seed=1)},
        {"branch": "a"},
    ],
)
def test_items_repeats_seeds_and_branches_are_independent_draws(change):
    assert keys(**change) != keys()
    other = change.get("draw", structs.replace(DRAW, branch="/a"))
    assert other.rng().random() != DRAW.rng().random()


def test_the_same_request_again_is_another_draw():
    assert len(set(keys(times=5))) == 5


def test_a_run_of_its_own_scope_shares_nothing():
    assert keys(scope="run-1") != keys()


def test_keys_are_those_of_the_first_version():
    """Replies that were paid for once are found by every later version."""
    assert [key.hex() for key in keys(times=2)] == [
        "61e8b0ea396b9b667e19645db5d9f9d6",
        "d4ec7ac2023833eda296bb1b2bf289e9",
    ]


def test_the_definition_of_a_tool_is_part_of_the_key():
    other = structs.replace(LOOK, description="Shows any record.")
    assert keys(tools=(LOOK,)) != keys(tools=(other,)) != keys(tools=(LOOK, other))


def test_randomness_is_stable_across_processes_and_versions_of_the_item_only():
    assert DRAW.rng().random() == Draw("sesi", "1", "questions", "item-1").rng().random()
    assert DRAW.rng().random() != Draw("sesi", "2", "questions", "item-1").rng().random()
    assert DRAW.rng("a").random() != DRAW.rng("b").random()
