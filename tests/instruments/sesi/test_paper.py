"""Which runs fill the tables of the paper."""

from msgspec import structs

from fake_runs import summarised_run
from sociometer.core.measure import Measure, Summary
from sociometer.core.paper import PaperInput
from sociometer.core.task import Episode
from sociometer.instruments.sesi import scoring
from sociometer.instruments.sesi.items import Question
from sociometer.instruments.sesi.paper import paper
from sociometer.reading import ChoiceAnswer


def run(accuracy, items=500, **settings):
    summary = Summary((Measure("accuracy", accuracy, items=items),))
    return summarised_run("r1", "questions", "owl", settings, summary, whose_items="official")


def first_table(*runs):
    (row,) = (row for row in next(part for part in paper(PaperInput(runs)) if part.label == "Table 1").table.rows
              if not row.published)  # fmt: skip
    return row.cells[-1].value, row.remarks


def test_a_run_with_the_authors_prompts_fills_the_table_and_is_remarked_on():
    assert first_table(run(0.5, wording="paper")) == (50, ("the authors' own prompts",))


def test_of_two_equal_runs_the_one_with_the_authors_prompts_counts():
    assert first_table(run(0.4), run(0.5, wording="paper"))[0] == 50
    assert first_table(run(0.4), run(0.5, items=20, wording="paper"))[0] == 40


def test_a_run_that_asks_for_something_else_does_not_count():
    assert first_table(run(0.4, items=20), run(0.5, wording="answer"))[0] == 40


def test_a_score_under_a_personality_has_the_remarks_of_its_own_run():
    high = structs.replace(run(0.6, condition="extraversion-high"), part="12 of the paper's 500 items")
    given = PaperInput((run(0.5), high, structs.replace(run(0.4, condition="extraversion-low"), status="stopped")))
    part = next(part for part in paper(given) if part.label == "Extended Data Table 2")
    (row,) = (row for row in part.table.rows if not row.published)
    few, ended = "extraversion-high: 12 of the paper's 500 items", "extraversion-low: the run is not finished"
    assert row.remarks == (few, ended) and row.remarks_on(["Extraversion: Low"]) == (ended,)
    assert row.remarks_on(["Control"]) == ()


def answered(subject, right, official=True, item="q", stand_ins=()):
    """A control run of thirty items, the first `right` of them right."""

    def walk():
        for number in range(30):
            asked = Question(
                id=f"{item}{number}", ability="empathy", situation="S", question="Q?", options=tuple("abcd"), answer=0
            )
            outcome = ChoiceAnswer((), 0 if number < right else 1)
            yield Episode(asked, 0, outcome, scoring.score(asked, outcome), None)

    summary = Summary((Measure("accuracy", right / 30, items=30),))
    whose, settings = "official" if official else "bundled", {"condition": "control"}
    run = summarised_run(f"run-{subject}", "questions", subject, settings, summary, stand_ins, whose_items=whose)
    return structs.replace(run, walk=walk)


FACTS = {name: {"MMLU": str(value)} for name, value in (("a", 30), ("b", 50), ("c", 60), ("d", 90))}


def correlated(*runs):
    return {
        part.label: part for part in paper(PaperInput(runs, FACTS)) if part.label in ("Fig. 2", "Extended Data Table 1")
    }


def test_runs_on_other_items_are_not_correlated_with_the_papers():
    same = [answered("a", 10), answered("b", 14), answered("c", 20, stand_ins=("subject: local/tiny",))]
    found = correlated(*same)["Extended Data Table 1"]
    assert found.table.rows[1].cells[1].value > 0.9
    assert found.table.rows[1].remarks[0] == "3 models, SESI on the 30 items that all have"
    assert "c: stand-in for a real model: subject: local/tiny" in found.table.rows[1].remarks
    for part in correlated(*same, answered("d", 1, official=False, item="ours")).values():
        assert not part.filled
        assert "the runs share no item" in part.missing and "give runs on the same items" in part.missing
    figure = correlated(*same)["Fig. 2"].figures[0]
    assert "3 models" in figure.chart["title"]["text"][0]
    said = " ".join(figure.chart["title"]["text"])
    assert "Whether SESI is distinct needs at least four models that differ" in said
    assert max(map(len, figure.chart["title"]["text"])) < 100


def test_of_a_models_runs_on_both_kinds_of_items_the_one_on_the_papers_items_counts():
    both = [answered("c", 30, official=False, item="ours"), answered("a", 10), answered("b", 14), answered("c", 20)]
    assert correlated(*both)["Extended Data Table 1"].filled
