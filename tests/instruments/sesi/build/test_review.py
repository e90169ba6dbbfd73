"""Experts' decisions remove items."""

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.build.review import agreement, apply_decisions, read_decisions, review_sheet
from sociometer.reading import read_items

BUNDLED = list(read_items(items.BUNDLED, items.Question))


def test_experts_decisions_remove_items_with_their_reason(tmp_path):
    path = tmp_path / "review.csv"
    sheet = review_sheet(BUNDLED[:3], []).splitlines()
    assert "right" not in sheet[0], "reviewers do not see the key"
    sheet[2] = sheet[2].removesuffix(",") + "no right answer,"
    path.write_text("\n".join(sheet) + "\n", encoding="utf-8")
    kept, removed = apply_decisions(BUNDLED[:3], read_decisions(path), path)
    assert [item.id for item in kept] == [BUNDLED[0].id, BUNDLED[2].id]
    assert removed[0].reason == "expert review: no right answer"
    with pytest.raises(DataError, match="not built"):
        apply_decisions(BUNDLED[:1], read_decisions(path), path)


def test_an_item_that_a_reviewer_answers_otherwise_is_removed(tmp_path):
    path = tmp_path / "review.csv"
    right, wrong = "ABCD"[BUNDLED[0].answer], "ABCD"[(BUNDLED[1].answer + 1) % 4]
    path.write_text(f"id,choice,decision\n{BUNDLED[0].id},{right},\n{BUNDLED[1].id},{wrong.lower()},keep\n")
    decisions = read_decisions(path)
    kept, removed = apply_decisions(BUNDLED[:3], decisions, path)
    assert [item.id for item in kept] == [BUNDLED[0].id, BUNDLED[2].id]
    assert [entry.reason for entry in removed] == ["expert review: the reviewer chose another option"]
    assert agreement(BUNDLED[:3], decisions) == (2, 1)
    path.write_text(f"id,choice,decision\n{BUNDLED[0].id},E,\n")
    with pytest.raises(DataError, match="unknown choice 'E'"):
        read_decisions(path)
