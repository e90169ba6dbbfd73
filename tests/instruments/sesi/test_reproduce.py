"""The paper's tables are recomputed; what does not follow from them is shown as a mismatch with its reason."""

from pathlib import Path

from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.instruments import FOLDER, load
from sociometer.instruments.sesi.published.reproduce import rows, table


def found(*folders: Path):
    card = load("sesi").card
    source = Source(Settings.chosen(card.setting, {}), Prompts(FOLDER / "sesi" / "prompts"), folders=folders)
    return list(rows(source))


def test_33_of_45_correlations_recompute_and_every_mismatch_has_a_reason():
    cells = [row for row in found() if row.what.startswith("r of")]
    assert len(cells) == 45
    assert sum(row.match for row in cells) == 33
    assert all(row.reason for row in cells if not row.match)


def test_the_si_row_recomputes_but_for_math():
    wrong = [row for row in found() if row.what.startswith("r of SI") and not row.match]
    assert [(row.what, row.printed, row.recomputed) for row in wrong] == [("r of SI with MATH", 0.53, 0.58)]


def test_the_stars_that_differ_include_those_of_facts():
    differ = {row.what for row in found() if row.what.startswith("stars") and not row.match}
    for cell in ("SI with RACE-h", "SI with DROP", "SI with TruthfulQA", "GSM8K with WinoGrande"):
        assert f"stars of {cell}" in differ


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
    assert facts["accuracy of the longest option, %"].match
    assert facts["accuracy of the shortest option, %"].match
    assert not facts["items that appear twice with different keys"].match
