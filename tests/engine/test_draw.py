import pytest

from sociometer.core.answer_format import Choice, Free, Schema
from sociometer.core.conversation import Identity, Sampling, system, user
from sociometer.engine.draw import Draw, journal_key, request_digest

DRAW = Draw("sesi", "1", "questions", "item-1")
MODEL = Identity("openai", "m", "http://x/v1", revision="r")


def digest(identity=MODEL, sampling=Sampling(), messages=(user("hi"),), answer_format=Free()):  # noqa: B008
    return request_digest(identity, sampling, messages, answer_format)


@pytest.mark.parametrize(
    "change",
    [
        {"identity": Identity("openai", "m", "http://y/v1", revision="r")},
        {"identity": Identity("openai", "n", "http://x/v1", revision="r")},
        {"identity": Identity("openai", "m", "http://x/v1", revision="s")},
        {"identity": Identity("anthropic", "m", "http://x/v1", revision="r")},
        {"sampling": Sampling(temperature=0.5)},
        {"messages": (user("ho"),)},
        {"messages": (system("hi"),)},
        {"answer_format": Schema({"type": "object"})},
    ],
)
def test_whatever_is_sent_is_part_of_the_requests_identity(change):
    assert digest(**change) != digest()


def test_what_no_model_sees_is_not():
    assert (
        digest(answer_format=Choice(("a", "b"), key=1)) == digest(answer_format=Choice(("a", "b"), key=0)) == digest()
    )


@pytest.mark.parametrize(
    "other",
    [
        Draw("sesi", "1", "questions", "item-2"),
        Draw("sesi", "1", "questions", "item-1", repeat=1),
        Draw("sesi", "1", "questions", "item-1", seed=1),
        Draw("sesi", "1", "questions", "item-1").split("a"),
    ],
)
def test_items_repeats_seeds_and_branches_are_independent_draws(other):
    assert journal_key(digest(), other, 0, "") != journal_key(digest(), DRAW, 0, "")
    assert other.rng().random() != DRAW.rng().random()


def test_the_same_request_again_is_another_draw():
    assert len({journal_key(digest(), DRAW, nth, "") for nth in range(5)}) == 5


def test_a_run_of_its_own_scope_shares_nothing():
    assert journal_key(digest(), DRAW, 0, "run-1") != journal_key(digest(), DRAW, 0, "")


def test_randomness_is_stable_across_processes_and_versions_of_the_item_only():
    assert DRAW.rng().random() == Draw("sesi", "1", "questions", "item-1").rng().random()
    assert DRAW.rng().random() != Draw("sesi", "2", "questions", "item-1").rng().random()
    assert DRAW.rng("a").random() != DRAW.rng("b").random()
