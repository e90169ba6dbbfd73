"""The figures of `list` and of the READMEs have a source that gives them, and say what the rule of ends says."""

from pathlib import Path

import pytest

import sociometer
import sociometer as sm
from sociometer.instruments import card_of
from sociometer.models.recorded import load_recording
from sociometer.results.ceiling import end_of
from sociometer.results.measured import measured, reached, room_sentences
from sociometer.results.summaries import lines_of

SOURCE = Path(sociometer.__file__).parent
ROWS = measured().records()
ENDS = {("top", True): "at the top", ("chance", True): "at chance", None: "has room"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['instrument']}-{row['subject']}")
def test_every_figure_has_its_source_and_is_in_the_readme(row):
    assert (SOURCE / row["source"]).is_file()
    assert row["task"] in [task.name for task in card_of(row["instrument"]).task]
    readme = (SOURCE / "instruments" / row["instrument"] / "README.md").read_text(encoding="utf-8")
    cells = [f"`{row[name]}`" if name in ("task", "source") else row[name] for name in measured().columns[1:]]
    assert f"| {' | '.join(cells)} |" in readme
    if row["source"].endswith(".md"):
        assert row["score"] in readme.split("## Measured so far")[0]


def played(row, tmp_path):
    """The run of a recording that a figure comes from."""
    name = Path(row["source"]).name.removesuffix(".jsonl.gz")
    items = load_recording(name).of(row["instrument"])
    settings = dict(items[0].settings)
    return sm.run(
        row["instrument"], model=f"recorded/{name}", tasks=[row["task"]], items=[one.item for one in items],
        settings=settings, repeats=1, store=tmp_path / "s.db",
    )  # fmt: skip


RECORDED = [row for row in ROWS if "recordings/" in row["source"]]


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row['instrument']}-{row['subject']}")
def test_a_recording_gives_its_figure(row, tmp_path):
    run = played(row, tmp_path)
    line = lines_of(run)[0]
    assert (line.estimate, str(line.measure.items)) == (row["score"], row["items"])
    if line.measure.interval.too_few:
        assert row["reached"] == "too few items"
        return
    end = end_of(line.card, run.summary(row["task"]), line.chance)
    assert row["reached"] == ENDS.get(end and (end.at, end.sure), "too few items")


def test_the_tests_with_room_are_those_where_no_model_of_the_kind_was_at_an_end():
    assert reached("capable", "sesi") == {"sesi/questions": "at the top"}
    assert room_sentences([("top", "sesi/questions")]) == [
        "Tests with room for capable models: sage/dialogue, seceu/feelings (see 'sociometer list')."
    ]
    assert room_sentences([("chance", "sesi/questions")]) == []


def test_a_test_at_whose_end_a_model_is_is_not_recommended_to_it():
    other = "Tests with room for capable models: sage/dialogue (see 'sociometer list')."
    assert room_sentences([("top", "seceu/feelings"), ("top", "sesi/questions")]) == [other]
    assert room_sentences([("top", "seceu/feelings"), ("top", "sage/dialogue")]) == []
