"""The state of a talk: what it predicts, and the agreement that it does not explain."""

import random

from sociometer.instruments.sage.passport.floor import beyond_state, expected_changes


def talks(seed, effect, turns=6):
    """Changes of two judges who share the momentum of the feeling, and a reply's quality times `effect`."""
    rng = random.Random(seed)
    rows = []
    for place in range(60):
        for turn in range(1, turns + 1):
            before = 40 if turn == 1 else rng.randint(10, 95)
            length, quality = rng.randint(50, 900), rng.gauss(0, 2)
            there = (before - 45) / 10 + quality + rng.gauss(0, 2)
            here = (before - 50) / 8 + effect * quality + rng.gauss(0, 2)
            rows.append((f"s{place % 30}", (turn, before, length), here, there))
    return rows


def agreement(rows):
    scenarios, states, here, there = zip(*rows, strict=True)
    expected = expected_changes(scenarios, states, there)
    return beyond_state(here, there, expected, states, [("V3", scenario) for scenario in scenarios])


def test_momentum_alone_is_no_agreement_beyond_the_state():
    found = [agreement(talks(seed, effect=0.0)) for seed in range(20)]
    assert sum(each.interval.low > 0 for each in found) <= 2
    assert all(each.state > 0.4 for each in found)


def test_a_judge_who_reads_the_reply_agrees_beyond_the_state():
    for seed in range(5):
        found = agreement(talks(seed, effect=1.0))
        assert found.interval.low > 0.3 and found.first > 0.2 and found.first_turns == 60


def test_one_judge_who_never_changes_has_no_correlation():
    rows = [(scenario, state, 1.0, there) for scenario, state, _, there in talks(0, effect=1.0)]
    found = agreement(rows)
    assert found.r is None and found.first is None and found.interval.low is None
