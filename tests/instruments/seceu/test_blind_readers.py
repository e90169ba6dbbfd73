"""What readers without keys answered to the seventeen new stories, and the figures that docs/items.md gives for it."""

import re
from pathlib import Path

import numpy as np
import pytest

from sociometer.instruments.seceu.items import bundled_scenarios

HERE = Path(__file__).parent / "blind"
KEYS = {scenario.scenario: scenario.standard for scenario in bundled_scenarios("en")}
BEFORE = {
    "ours-41": (3, 1.5, 1, 4.5), "ours-43": (1, 2.5, 6, 0.5), "ours-44": (0.5, 2.5, 5, 2),
    "ours-46": (2.5, 5, 1.5, 1), "ours-55": (2, 6.5, 1, 0.5),
}  # fmt: skip
"""Keys that were moved after the readers had answered."""


def answers(reader):
    text = (HERE / f"{reader}.txt").read_text(encoding="utf-8")
    found = re.findall(r"^(ours-\d+): ([\d., ]+)$", text, re.MULTILINE)
    return {name: np.array([float(cell) for cell in cells.split(",")]) for name, cells in found}


@pytest.mark.parametrize(
    ("reader", "mean", "largest", "r", "same"),
    [("english-1", 1.07, 2.40, 0.93, 17), ("chinese-1", 1.30, 2.35, 0.91, 16)],
)
def test_the_figures_of_the_page_are_those_of_the_raw_answers(reader, mean, largest, r, same):
    given = answers(reader)
    assert len(given) == 17
    keys = {name: np.array({**KEYS, **BEFORE}[name], float) for name in given}
    apart = [np.linalg.norm(given[name] - keys[name]) for name in given]
    assert np.mean(apart) == pytest.approx(mean, abs=0.006)
    assert max(apart) == pytest.approx(largest, abs=0.006)
    every = [np.concatenate([table[name] for name in given]) for table in (given, keys)]
    assert np.corrcoef(*every)[0, 1] == pytest.approx(r, abs=0.006)
    assert sum(int(np.argmax(given[name]) == np.argmax(keys[name])) for name in given) == same


def test_every_answer_shares_out_ten_points():
    for reader in ("english-1", "chinese-1"):
        assert all(points.sum() == pytest.approx(10) for points in answers(reader).values())


def test_todays_keys_name_the_readers_strongest_feeling():
    given = answers("english-1")
    assert all(np.argmax(given[name]) == np.argmax(KEYS[name]) for name in given)
