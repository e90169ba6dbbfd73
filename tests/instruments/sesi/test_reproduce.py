"""The paper's tables are recomputed; what does not follow from them is shown as a mismatch with its reason."""

from pathlib import Path

import pytest

from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.instruments import FOLDER, load
from sociometer.instruments.sesi.published import reproduce
from sociometer.instruments.sesi.published.reproduce import rows, table
from sociometer.results.published import unexplained


def found(*folders: Path):
    card = load("sesi").card
    source = Source(Settings.chosen(card.setting, {}), Prompts(FOLDER / "sesi" / "prompts"), folders=folders)
    return list(rows(source))


def test_39_of_45_correlations_recompute_and_every_mismatch_has_a_reason():
    cells = [row for row in found() if row.what.startswith("r of")]
    assert len(cells) == 45
    assert sum(row.match for row in cells) == 39
    assert {row.what.split()[2] for row in cells if not row.match} == {"MATH", "SI"}
    assert unexplained(found()) == ()


def test_the_academic_cells_of_drop_are_those_of_the_gpt_models_and_their_stars_those_of_six():
    drop = [row for row in found() if "over the GPT models" in row.what or row.what.endswith("n = 6")]
    assert len(drop) == 12 and all(row.match for row in drop)


def test_the_si_row_recomputes_but_for_math_and_its_stars_are_those_of_ten_models():
    si = [row for row in found() if row.what.startswith(("r of SI", "stars of SI"))]
    wrong = [(row.what, row.printed, row.recomputed) for row in si if not row.match]
    assert wrong == [("r of SI with MATH", 0.53, 0.58)]


def test_the_only_stars_that_differ_are_those_of_one_cell():
    differ = [row.what for row in found() if row.what.startswith("stars") and not row.match]
    assert differ == ["stars of GSM8K with WinoGrande, n = 13"]


@pytest.mark.parametrize(("column", "least"), [("BBH", 7), ("MATH", 7), ("SI", 5)])
def test_a_changed_value_is_not_excused_in_advance(monkeypatch, column, least):
    """A reason belongs to one cell with two known values; a mistake in Table 1 has none."""

    def changed(name):
        rows = table(name)
        if name == "table1":
            rows[0][column] = "20"
        return rows

    monkeypatch.setattr(reproduce, "table", changed)
    assert len(unexplained(found())) >= least


def test_the_two_controls_of_mixtral_are_a_mismatch():
    wrong = [row for row in found() if row.where == "Extended Data Table 2" and not row.match]
    assert [(row.printed, row.recomputed) for row in wrong] == [(46.4, 50.8)]


def test_the_text_names_another_davinci_than_the_table():
    claims = {row.what: row for row in found() if row.claim}
    best = claims["models that are best with low agreeableness"]
    assert "text-davinci-002" in best.printed and "text-davinci-003" in best.recomputed and not best.match
    boss = claims["the protagonist's role helps more than a role given directly"]
    assert boss.recomputed is None and boss.reason


def test_tables_are_whole():
    assert len(table("table1")) == 13
    assert len(table("extended1")) == 45
    assert len(table("extended2")) == 6


def test_the_release_is_counted_where_it_is_at_hand(official_data):
    facts = {row.what: row for row in found(official_data)}
    assert facts["items"].recomputed == 500
    assert unexplained(facts.values()) == ()
    assert "d = 0.23, p < .001" in facts["lengths of right and wrong answers"].recomputed
    assert not [what for what in facts if "longest" in what or "twice" in what], "the paper prints no such number"
