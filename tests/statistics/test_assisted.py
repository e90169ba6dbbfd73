"""Means over all items from a part of them and from earlier runs; bench/stopping.py has their coverage."""

import numpy as np
import pytest

from sociometer.statistics.assisted import assisted_interval, prediction


def subjects(rng, count, items=200, shared=1.0):
    ease = rng.random(items) if shared else np.full(items, 0.5)
    return [{f"i{place}": float(rng.random() < one) for place, one in enumerate(ease)} for _ in range(count)]


def test_the_score_on_these_items_is_known_when_all_are_played():
    values = {f"i{place}": float(place % 3 == 0) for place in range(100)}
    whole, part, kind = (
        assisted_interval(values, list(values), items, these=these)
        for items, these in ((100, True), (400, True), (400, False))
    )
    assert whole[1].low == whole[1].high == pytest.approx(whole[0])
    assert part[1].high - part[1].low == pytest.approx((kind[1].high - kind[1].low) * 0.75**0.5)


def test_earlier_runs_that_agree_on_hard_items_help_and_others_do_not():
    rng = np.random.default_rng(1)
    *past, new = subjects(rng, 7)
    found = prediction(past)
    assert "which leaves 0." in found.told
    played = dict(list(new.items())[:100])
    plain = assisted_interval(played, list(played), 200, these=True)[1]
    helped = assisted_interval(played, list(played), 200, these=True, predicted=found)[1]
    assert helped.high - helped.low < 0.95 * (plain.high - plain.low)
    assert prediction(subjects(rng, 6, shared=0.0)).told == "no gain from 6 earlier runs"
    assert prediction(past[:2]) is None
