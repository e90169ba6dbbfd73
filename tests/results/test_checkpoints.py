"""The curve of a training in words and as a table."""

import pytest

from sociometer.core.stopping import Look
from sociometer.instruments import load
from sociometer.results.checkpoints import CheckpointCurve, CurveStep

ACCURACY = load("sesi").card.measures_of("questions")[0]


def curve(*looks):
    steps = tuple(CurveStep(1000 * nth, f"sesi-{nth}", look, look.items) for nth, look in enumerate(looks, 1))
    return CheckpointCurve("qwen", "base", "questions", ACCURACY, 20, steps)


OPEN, NOT_PLAYED = Look(60, -0.02, -0.15, 0.1, "cannot be decided"), Look(0)
SAME = Look(60, 0.0, -0.02, 0.02, "equivalent")
WORSE, BETTER = Look(60, -0.3, -0.5, -0.1, "worse"), Look(60, 0.25, 0.05, 0.4, "better")
NEAR_ZERO = Look(106, 0.0943, 0.0015, 0.1837, "better")


@pytest.mark.parametrize(
    ("looks", "sentence"),
    [
        ((OPEN, WORSE, OPEN, WORSE), "Step 2000 is the first that is worse than base, by 30 points [10, 50]."),
        (
            (OPEN, OPEN, NOT_PLAYED),
            "No verdict yet: the items could not decide any of 2 checkpoints up to step 2000 against base.",
        ),
        ((OPEN,), "No verdict yet: the items could not decide step 1000 against base."),
        ((SAME, OPEN), "No checkpoint up to step 2000 was found to be worse than base."),
        (
            (BETTER, OPEN),
            "Step 1000 is the first that is better than base, by 25 points [5, 40]. No checkpoint up to step 2000 was"
            " found to be worse than base.",
        ),
        (
            (NEAR_ZERO,),
            "Step 1000 is the first that is better than base, by 9.4 points [0.2, 18.4]. No checkpoint up to"
            " step 1000 was found to be worse than base.",
        ),
        ((NOT_PLAYED,), "No checkpoint has been evaluated to its end."),
    ],
)
def test_the_sentence_names_the_first_step_that_is_worse(looks, sentence):
    assert curve(*looks).sentence == sentence


def test_the_table_has_every_step_and_says_what_the_intervals_promise():
    table = curve(OPEN, WORSE, NOT_PLAYED).table()
    assert [(row[0], row[4]) for row in table.rows] == [
        (1000, "cannot be decided"), (2000, "worse"), (3000, "not ended")
    ]  # fmt: skip
    assert table.note.startswith("3 of 20 announced checkpoints. The intervals of all announced checkpoints")
    assert "95 % (Bonferroni)" in table.note


def test_a_verdict_shows_in_the_digits_of_the_table():
    assert "9.4 0.2 to 18.4 better" in " ".join(str(curve(NEAR_ZERO).table()).split())
