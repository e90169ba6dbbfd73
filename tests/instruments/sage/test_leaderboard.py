"""Ranks rest on the scenarios that all runs share."""

from sociometer.instruments.sage.leaderboard import rank_on_shared


def test_one_short_run_does_not_turn_a_board_round():
    long = {
        name: dict.fromkeys((f"s{number}" for number in range(10)), value) for name, value in (("a", 5.0), ("b", 4.0))
    }
    ranked = rank_on_shared({**long, "short": {"s0": 9.0}})
    assert set(ranked) == {"a", "b"}


def test_places_rest_on_the_scenarios_that_all_met():
    ranked = rank_on_shared(
        {
            "easy one more": {"x": 20.0, "y": 30.0, "easy": 100.0},
            "plain": {"x": 30.0, "y": 40.0},
            "plain too": {"y": 50.0, "x": 20.0},
            "elsewhere": {"z": 90.0},
            "nowhere": {},
        }
    )
    places = {name: (place.rank, place.mean) for name, place in ranked.items()}
    assert places == {"easy one more": (3, 25.0), "plain": (1, 35.0), "plain too": (1, 35.0)}
    assert all(place.interval.too_few for place in ranked.values())
