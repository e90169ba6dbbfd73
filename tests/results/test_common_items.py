"""Which runs are compared together."""

from sociometer.results.candidates import common_items, short_run_note

ALL = [f"i{place}" for place in range(60)]


def test_a_short_run_does_not_shrink_the_others():
    found = common_items([ALL, ALL, ALL[:12]])
    assert found.kept == (0, 1)
    assert found.short == {2: 12}
    assert found.items == 60


def test_several_short_runs_on_the_same_items_do_not_either():
    found = common_items([ALL, ALL[:12], ALL, ALL[:12], ALL])
    assert found.kept == (0, 2, 4)
    assert found.items == 60


def test_a_run_that_lacks_fewer_than_half_stays():
    found = common_items([ALL, ALL, ALL[:31]])
    assert found.kept == (0, 1, 2)


def test_a_short_run_never_has_more_than_there_are():
    each_without_a_quarter = [ALL[:start] + ALL[start + 15 :] for start in (0, 15, 30, 45)]
    found = common_items([*each_without_a_quarter, ALL[:8]])
    assert found.short == {4: 8} and found.items == 60


def test_two_runs_are_always_compared():
    assert common_items([ALL, ALL[:5]]).kept == (0, 1)
    assert common_items([ALL]).kept == (0,)
    assert common_items([]).kept == ()


def test_items_that_most_runs_lack_are_not_held_against_anybody():
    more = [*ALL, *(f"x{place}" for place in range(500))]
    assert common_items([more, ALL, ALL]).kept == (0, 1, 2)


def test_the_note_says_how_many_items_are_missing():
    assert short_run_note("m", 12, 60) == "m has 12 of the 60 items that most runs have"
