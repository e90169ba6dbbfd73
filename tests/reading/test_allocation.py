"""Points are read from JSON, pairs and numbers in order; the paper's repairs follow its order."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.reading import read_allocation, repair

CORPUS = Path(__file__).parents[1] / "corpus"
OPTIONS = ("joy", "anger", "frustrated", "relief")
POINTS = (3.0, 2.0, 4.0, 1.0)

SURE = [
    "joy: 3\nanger: 2\nfrustrated: 4\nrelief: 1",
    "- **Joy**: 3 points\n- **Anger**: 2 points\n- **Frustration**: 4 points (since 8 am)\n- **Relief**: 1 point",
    "relief: 1, joy: 3, frustrated: 4, anger: 2",
    "3 joy, 2 anger, 4 frustrated, 1 relief",
    "| feeling | points | why |\n|---|---|---|\n| joy | 3 | at 5 |\n| anger | 2 | - |\n| frustrated | 4 | x |\n"
    "| relief | 1 | y |",
    '{"joy": 3, "anger": 2, "frustrated": 4, "relief": 1}',
    '{"scores": {"Joy": "3", "Anger": "2 points", "Frustrated": 4, "Relief": 1}}',
    '[{"feeling": "joy", "points": 3}, {"feeling": "anger", "points": 2}, {"feeling": "frustrated", "points": 4},'
    ' {"feeling": "relief", "points": 1}]',
    "1. Joy: 3\n2. Anger: 2\n3. Frustrated: 4\n4. Relief: 1\nTotal: 10",
    "Joy gets a 3, angry a 2, frustration a 4, and the remaining 1 goes to relief.",
    "| anger | joy | relief | frustrated |\n|---|---|---|---|\n| 2 | 3 | 1 | 4 |",
    "My allocation is 3, 2, 4 and 1.",
    "Joy: three\nAnger: two\nFrustrated: four\nRelief: one",
    "(3, 2, 4, 1)",
    "3 2 4 1",
    "joy: 3\nanger: 2\nfrustrated: 4\nrelief: 2\nThat is 11, too many.\njoy: 3\nanger: 2\nfrustrated: 4\nrelief: 1",
]
NOT_SURE = [
    "",
    "Mostly joy, some anger.",
    "joy: 5\nanger: 3\nrelief: 2",  # what the fourth gets is not said
    "joy: 3\nanger: 2\nfrustrated: 4",
    "joy: 3\nanger: 2\nfrustrated: 4\nrelief: 1\nActually, swap joy and anger.",
    "First view: joy 3, anger 2, frustrated 4, relief 1. Second view: joy 1, anger 4, frustrated 2, relief 3.",
    "joy: 2-4\nanger: 2\nfrustrated: 4\nrelief: 1",
    "3, 2, 4",
    "7 8 9 12",
    "Rank: joy 1, anger 2, frustrated 3, relief 4",
    "joy 3, anger 2, frustrated 4, relief 1. No, joy 4 and relief 0.",
    "3, 2, 4, 1 or 2, 3, 4, 1",
    "It was joy at 3, then anger at 5, and she was frustrated by 6 o'clock; relief came at 8.",
]


@pytest.mark.parametrize("reply", SURE)
def test_a_plain_allocation_is_read(reply):
    assert read_allocation(reply, OPTIONS).values == POINTS


@pytest.mark.parametrize("reply", NOT_SURE)
def test_what_is_not_sure_is_not_read(reply):
    assert read_allocation(reply, OPTIONS).values is None


def test_a_number_for_each_of_two_and_nothing_for_another_are_read():
    reply = "Joy and anger get 5 each. No points for frustration, and relief gets nothing."
    assert read_allocation(reply, OPTIONS).values == (5.0, 5.0, 0.0, 0.0)


def test_chinese_names_and_full_width_numbers_are_read():
    reply = "高兴：３分\n生气：２分\n委屈：４分\n轻松：１分"
    assert read_allocation(reply, ("高兴", "生气", "委屈", "轻松")).values == POINTS


@pytest.mark.parametrize(
    ("values", "repaired", "rule"),
    [
        (None, (0, 0, 0, 0), "null"),
        ((0, 0, 0, 0), (0, 0, 0, 0), "null"),
        ((3, 2, 4, 1), (3, 2, 4, 1), "none"),
        ((6, 4, 8, 2), (3, 2, 4, 1), "scaled"),
        ((-1, 1, 2, 0), (0, 10 * 2 / 6, 10 * 3 / 6, 10 * 1 / 6), "lifted, scaled"),
    ],
)
def test_the_papers_repairs(values, repaired, rule):
    found = repair(values, 4)
    assert found.values == pytest.approx(repaired)
    assert found.repair == rule


@given(st.lists(st.floats(-10, 10, allow_nan=False), min_size=4, max_size=4))
def test_a_repaired_allocation_adds_up_to_the_total_or_to_nothing(values):
    assert sum(repair(values, 4).values) == pytest.approx(10) or not any(repair(values, 4).values)


@pytest.mark.parametrize(("folder", "right", "wrong"), [("measured", 0.90, 0.002), ("", 0.80, 0.002)])
def test_the_corpus_is_read_as_well_as_measured(folder, right, wrong):
    good = bad = count = 0
    for path in sorted((CORPUS / folder).glob("allocation*[0-9].jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            read, label = read_allocation(one["reply"], one["options"], one["total"]).values, one["label"]
            same = read is None if isinstance(label, str) else read is not None and _alike(read, label)
            count, good, bad = count + 1, good + same, bad + (read is not None and not same)
    assert good >= right * count
    assert bad <= wrong * count


def _alike(read, label):
    return [value / sum(read) for value in read] == pytest.approx([value / sum(label) for value in label])
