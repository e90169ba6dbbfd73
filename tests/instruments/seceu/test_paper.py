"""Every model has one row in the paper's tables, with the best of its prompting methods over all its runs."""

import pytest
from msgspec import structs

import sociometer as sm
from sociometer.core.paper import PaperInput
from sociometer.instruments import load
from sociometer.instruments.seceu.paper import paper
from sociometer.reporting.paper import claims_part, paper_runs


@pytest.fixture(scope="module")
def played(tmp_path_factory, official_data):
    """Two runs of one model, of which the first has the direct method alone, and one run of another."""
    store, source = tmp_path_factory.mktemp("store") / "s.db", {"official": True, "data": str(official_data)}
    settings = ({}, {"prompting": "all"})
    runs = [sm.run("seceu", model="baseline/random", settings=each, store=store, **source) for each in settings]
    return [*runs, sm.run("seceu", model="baseline/even", store=store, **source)]


def tables(runs):
    views = [structs.replace(run, baseline=False) for run in paper_runs(runs)]
    parts = paper(PaperInput(tuple(views)))
    return {part.label: part for part in parts}


def own(part):
    return [row for row in part.table.rows if not row.published]


def test_a_model_with_two_runs_has_one_row_with_its_best_method(played):
    direct, every, other = played
    first = own(tables(played)["Table 1"])
    assert [str(row.cells[0]).rstrip(" #") for row in first] == ["baseline/random", "baseline/even"]
    scores = [every.summary().measure("distance", prompting=way).value for way in ("direct", "zero-shot", "two-shot")]
    assert first[0].cells[1].value <= min(scores) and "best of 5 prompting methods" in first[0].remarks
    alone = own(tables([every, other])["Table 1"])[0]
    assert alone.cells == first[0].cells, "a second run with the direct method changes nothing"
    assert [row.cells[0] for row in own(tables(played)["Table S1"])] == ["baseline/random", "baseline/even"]
    assert {row.section for row in own(tables(played)["Table S2"])} == {"baseline/random"}
    assert own(tables([direct])["Table 1"])[0].cells[0] == "baseline/random"


def test_one_model_never_makes_a_claim_about_most_models_hold(played):
    def most(runs):
        (part,) = claims_part(load("seceu"), list(tables(runs).values()))
        return next(row.cells[3:] for row in own(part) if row.cells[1].startswith("most models"))

    assert most(played[:2]) == ("0 of 1; not baseline/random", "too few rows: 1")
    assert most([played[2]]) == ("1 of 1", "too few rows: 1")
    assert most(played) == ("1 of 2; not baseline/random", "does not hold")


def test_a_method_on_a_few_stories_is_not_the_best_of_a_model_that_has_more(played, tmp_path, official_data):
    source = {"official": True, "data": str(official_data), "settings": {"prompting": "all"}}
    trial = sm.run("seceu", model="baseline/random", limit=2, store=tmp_path / "s.db", **source)
    (row,) = own(tables([played[0], trial])["Table 1"])
    assert row.cells[1].value == pytest.approx(played[0].summary().measure("distance").value)
    assert row.cells[0] == "baseline/random"


def test_another_wording_and_a_repeated_run_have_a_row_of_their_own(played):
    direct = played[0]
    (view,) = paper_runs([direct])
    again = structs.replace(view, run="again", subject="baseline/random (again)")
    parts = {part.label: part for part in paper(PaperInput((view, again)))}
    assert [row.cells[0] for row in own(parts["Table 1"])] == ["baseline/random", "baseline/random (again)"]
    assert {row.model for row in own(parts["Table 1"])} == {"baseline/random"}, "claims count them once"
