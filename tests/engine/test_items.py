import pytest

from sociometer.core.errors import DataError
from sociometer.core.task import Item
from sociometer.engine.plan import ItemList, sample

ITEMS = [Item(id=f"i{number}", cluster=f"c{number // 2}") for number in range(100)]


def test_a_sample_is_the_same_for_every_subject_and_keeps_the_order():
    first = list(sample(lambda: iter(ITEMS), 20, seed=1))
    assert first == list(sample(lambda: iter(ITEMS), 20, seed=1))
    assert len(first) == 20
    assert [int(item.id[1:]) for item in first] == sorted(int(item.id[1:]) for item in first)


def test_another_seed_draws_another_sample():
    assert list(sample(lambda: ITEMS, 20, seed=1)) != list(sample(lambda: ITEMS, 20, seed=2))


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
