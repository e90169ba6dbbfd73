"""A summary may walk through a run as often as it likes."""

import pytest
from msgspec import structs

from fake_runs import Question, Said, fake_run
from sociometer.core.measure import Measure, Summary
from sociometer.core.reply_summary import _SHORT, summarised
from sociometer.core.task import Task


def thrice(view):
    """The number of episodes that each of three walks finds; the first is left before its end."""
    next(view.walk())
    return Summary(tuple(Measure(f"walk {number}", float(len(list(view.walk())))) for number in range(3)))


@pytest.mark.parametrize(("items", "read"), [(3, 2), (_SHORT, 2), (_SHORT + 1, 4)])
def test_a_short_run_is_read_once_and_every_walk_finds_all_of_it(items, read):
    run, walks = fake_run("A", [1.0] * items), []
    view = structs.replace(run, walk=lambda: walks.append(1) or run.walk())
    found = summarised(Task("questions", Question, Said, None, None, thrice), view)
    assert [measure.value for measure in found.measures] == [items] * 3
    assert len(walks) == read, "the one that was left, and one for each time that the store was read"
