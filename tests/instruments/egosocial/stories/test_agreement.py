from collections import Counter

import pytest

from sociometer.instruments.egosocial.stories import Enter, Exit, Move, Place, Question, Story
from sociometer.instruments.egosocial.tomi import TomiQuestion, check

ROOMS = {"tin": "loft", "jar": "loft"}
LEAVES = (
    Enter("Uma", "loft"),
    Enter("Ravi", "loft"),
    Place("key", "tin"),
    Exit("Uma", "loft"),
    Move("Ravi", "key", "jar"),
)
BACK = (*LEAVES, Exit("Ravi", "loft"), Enter("Uma", "loft"))


def asked(events, chain, key):
    return TomiQuestion(0, 0, Story(events, ROOMS), Question("belief", "key", chain), key, "second_order", "x")


@pytest.mark.parametrize(
    ("events", "chain", "key", "corrected", "cause"),
    [
        (LEAVES, ("Ravi", "Uma"), "tin", "tin", ""),
        (LEAVES, ("Ravi", "Uma"), "jar", "tin", "unaware-other"),
        (LEAVES, ("Uma", "Ravi"), "jar", "tin", "unaware-thinker"),
        (BACK, ("Ravi", "Uma"), "jar", "tin", "unseen-return"),
        (BACK, ("Uma", "Ravi"), "jar", "jar", "unsettled"),
        (LEAVES, ("Uma",), "jar", "tin", "other"),
    ],
)
def test_every_disagreement_has_its_cause(events, chain, key, corrected, cause):
    verdict = check(asked(events, chain, key))
    assert (verdict.corrected, verdict.cause) == (corrected, cause)


def test_the_oracle_agrees_with_every_official_memory_reality_and_first_order_answer(tomi_questions):
    causes = Counter((q.question.order, check(q).cause) for q in tomi_questions)
    assert causes == {
        (0, ""): 1998,
        (1, ""): 1998,
        (2, ""): 1534,
        (2, "unaware-thinker"): 129,
        (2, "unaware-other"): 129,
        (2, "unseen-return"): 103,
        (2, "unsettled"): 103,
    }
