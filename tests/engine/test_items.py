import pytest

from sociometer.core.errors import DataError
from sociometer.core.task import Item, order_of_play, sample
from sociometer.engine import plan
from sociometer.engine.plan import ItemList

ITEMS = [Item(id=f"i{number}", cluster=f"c{number // 2}") for number in range(100)]


def test_a_sample_is_the_same_for_every_subject_and_keeps_the_order():
    first = list(sample(lambda: iter(ITEMS), 20, seed=1))
    assert first == list(sample(lambda: iter(ITEMS), 20, seed=1))
    assert len(first) == 20
    assert [int(item.id[1:]) for item in first] == sorted(int(item.id[1:]) for item in first)


def test_another_seed_draws_another_sample():
    assert list(sample(lambda: ITEMS, 20, seed=1)) != list(sample(lambda: ITEMS, 20, seed=2))


def test_a_sample_has_the_items_of_any_smaller_one_and_is_no_beginning_of_the_order_of_play():
    sixty = {item.id for item in sample(lambda: ITEMS, 60, seed=1)}
    assert {item.id for item in sample(lambda: ITEMS, 40, seed=1)} < sixty
    assert 20 <= len(sixty & {f"i{place}" for place in order_of_play(100, 1)[:60]}) < 60


def test_a_limit_beyond_the_items_gives_all():
    assert list(sample(lambda: ITEMS, 1000, seed=0)) == ITEMS


def test_whole_clusters_are_drawn_where_these_are_counted():
    drawn = list(sample(lambda: iter(ITEMS), 7, seed=1, whole_clusters=True))
    assert len(drawn) == 14
    assert len({item.cluster for item in drawn}) == 7
    assert drawn == [item for item in ITEMS if item in drawn]
    alone = [Item(id=f"c{number}") for number in range(50)]
    assert {item.id for item in sample(lambda: alone, 7, seed=1)} == {item.cluster for item in drawn}


def test_an_id_that_stands_twice_is_refused():
    with pytest.raises(DataError, match="'i1' appears twice"):
        ItemList("questions", lambda: [Item(id="i1"), Item(id="i1")])


def test_every_beginning_of_the_order_is_spread_over_the_file():
    order = order_of_play(500, seed=3)
    assert sorted(order) == list(range(500))
    assert order == order_of_play(500, seed=3) != order_of_play(500, seed=4)
    for count in (20, 45, 100, 333):
        quarters = [sum(place // 125 == quarter for place in order[:count]) for quarter in range(4)]
        assert max(quarters) - min(quarters) <= 2


@pytest.mark.parametrize("count", [3, 7, 10])
def test_every_item_has_the_same_chance_of_every_place_in_the_order(count):
    draws = 6000
    first = [order_of_play(count, seed)[:2] for seed in range(draws)]
    seen = [sum(item in two for two in first) / draws for item in range(count)]
    assert all(abs(share - 2 / count) < 0.03 for share in seen)


def test_a_long_list_has_the_same_order_as_one_that_stays_in_memory(monkeypatch):
    short = [item.id for _, item in ItemList("questions", lambda: iter(ITEMS)).shuffled(1)]
    monkeypatch.setattr(plan, "_HELD", 10)
    assert [item.id for _, item in ItemList("questions", lambda: iter(ITEMS)).shuffled(1)] == short
