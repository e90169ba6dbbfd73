"""Which runs fill the tables of the paper."""

from sociometer.core.measure import Measure, Summary
from sociometer.core.paper import PaperInput, PaperRun
from sociometer.core.settings import Settings
from sociometer.core.task import RunView, SummarisedRun
from sociometer.instruments.sesi.paper import paper


def run(accuracy, items=500, **settings):
    summary = Summary((Measure("accuracy", accuracy, items=items),))
    summarised = SummarisedRun("r1", "questions", "owl", settings, summary)
    return PaperRun(summarised, RunView(lambda: iter(()), Settings({}), subject="owl"), official=True)


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
