"""Claims of a ledger on the rows of a paper's tables."""

import pytest

from sociometer.core.paper import (
    BASELINE,
    STAND_IN,
    Claim,
    Estimate,
    PaperColumn,
    PaperPart,
    PaperRow,
    PaperTable,
    checked,
    printed,
    verdict_on,
)

COLUMNS = (PaperColumn("Model"), PaperColumn("First", "ToMi", 1), PaperColumn("Third", "ToMi", 1))


def part(*rows):
    return PaperPart(label="Table 2", title="t", table=PaperTable(COLUMNS, rows))


PRINTED = part(
    printed("A #", Estimate(60.0), Estimate(50.0)),
    printed("B", Estimate(40.0), Estimate(45.0)),
    printed("C", "FAILED", None),
    printed("Human Performance", Estimate(90.0), Estimate(90.0)),
)


def found(test, *, where=PRINTED, published=True):
    return verdict_on(Claim("Table 2", "c", test=f"Table 2 | {test}"), [where], published=published)


@pytest.mark.parametrize(
    ("test", "text", "holds"),
    [
        ("every | ToMi: First | > | ToMi: Third", "1 of 3; not B, C", False),
        ("A | ToMi: First | > | others", "1 of 1", True),
        ("B | ToMi: First | > | A", "0 of 1; not B", False),
        ("A; B | ToMi: First; ToMi: Third | < | Human Performance", "2 of 2", True),
        ("most | ToMi: First | >= | 40", "2 of 3; not C", True),
    ],
)
def test_a_claim_is_tested_on_every_row_that_it_is_about(test, text, holds):
    verdict = found(test)
    assert (verdict.text, verdict.holds) == (text, holds)


def test_printed_values_that_are_equal_once_rounded_do_not_contradict_a_claim():
    mine = part(PaperRow(("mine", Estimate(60.0), Estimate(50.0))), *PRINTED.table.rows)
    assert found("A | ToMi: First | > | 60", where=mine).holds, "the printed 60 may be 60.4"
    assert not found("every | ToMi: First | > | 60", where=mine, published=False).holds, "ours is not rounded"


def test_a_claim_is_tested_on_the_rows_of_runs_and_the_people_that_the_paper_prints():
    both = part(PaperRow(("mine", Estimate(70.0), Estimate(80.0))), *PRINTED.table.rows)
    assert found("every | ToMi: First | > | ToMi: Third", where=both, published=False).text == "0 of 1; not mine"
    assert found("every | ToMi: First | < | Human Performance", where=both, published=False).text == "1 of 1"
    assert found("A | ToMi: First | > | others", where=both, published=False) is None, "no run is of that model"


PAIRED = "most | ToMi: First | > | ToMi: Third"


@pytest.mark.parametrize("remark", [BASELINE, f"{STAND_IN}subject: local/tiny"])
def test_a_claim_about_models_is_not_tested_on_baselines_and_stand_ins(remark):
    rule = PaperRow(("rule", Estimate(70.0), Estimate(80.0)), remarks=(remark,))
    failed = PaperRow(("tiny", "FAILED", None), remarks=(remark,))
    mine = [PaperRow((name, Estimate(90.0), Estimate(80.0)), remarks=("unfinished",)) for name in ("mine", "other")]
    mixed = found(PAIRED, where=part(*mine, rule, failed, *PRINTED.table.rows), published=False)
    assert (mixed.text, mixed.result) == ("2 of 2", "holds")
    assert {remark for row in mixed.rows for remark in row.remarks} == {"unfinished"}, "only of the rows that count"
    alone = found(PAIRED, where=part(rule, *PRINTED.table.rows), published=False)
    assert alone.result == "no model, only baselines or stand-ins"


def test_a_claim_has_only_the_remarks_on_the_numbers_that_it_compares():
    about = {"first: few": ("ToMi: First",), "third: few": ("ToMi: Third",), "both": ("ToMi: First", "ToMi: Third")}
    one = part(PaperRow(("A", Estimate(90.0), Estimate(80.0)), remarks=(*about, "all"), about=about))
    (row,) = found("A | ToMi: First | > | 50", where=one, published=False).rows
    assert row.remarks == ("first: few", "both", "all")
    (row,) = found(PAIRED, where=one, published=False).rows
    assert row.remarks == (*about, "all")


def test_one_row_does_not_show_what_most_models_do():
    one = part(PaperRow(("A", Estimate(90.0), Estimate(80.0)), remarks=(f"{STAND_IN}simulator: tiny",)))
    assert found(PAIRED, where=one, published=False).result == "too few rows: 1", "its simulator is no model, it is"
    every = found("every | ToMi: First | < | ToMi: Third", where=one, published=False)
    assert (every.text, every.result) == ("0 of 1; not A", "does not hold"), "one row is enough against every"
    assert found("A | ToMi: First | > | ToMi: Third", where=one, published=False).result == "holds", "a claim about A"


def test_the_rows_of_one_model_count_once():
    def row(label, first, third, model="M"):
        return PaperRow((label, Estimate(first), Estimate(third)), model=model)

    twice = part(row("M (reworded)", 90.0, 80.0), row("M (paper)", 70.0, 60.0), *PRINTED.table.rows)
    most = found(PAIRED, where=twice, published=False)
    assert (most.text, most.result) == ("1 of 1", "too few rows: 1")
    mixed = found(PAIRED, where=part(*twice.table.rows, row("N", 90.0, 80.0, "N")), published=False)
    assert (mixed.text, mixed.result) == ("2 of 2", "holds")
    torn = part(row("M (reworded)", 90.0, 80.0), row("M (paper)", 50.0, 60.0), row("N", 90.0, 80.0, "N"))
    assert found(PAIRED, where=torn, published=False).text == "1 of 2; not M (paper)", "it agrees if all its rows do"
    best = "M (paper) | ToMi: First | > | others"
    assert found(best, where=twice, published=False) is None, "its other row is no other model"
    assert found(best, where=torn, published=False).text == "0 of 1; not M (paper)"


def test_each_line_of_a_ledger_has_one_result():
    lines = [
        Claim("s", "tested", test="Table 2 | A | ToMi: First | > | B"),
        Claim("s", "stated", printed="4 of 6", holds="no", found="3 of 6"),
        Claim("s", "open", "number", 4, why="The replies were not released."),
        Claim("s", "ours", "finding", found="twice"),
    ]
    figures = list(checked(lines, [PRINTED]))
    assert [(one.recomputed, one.match) for one in figures] == [
        ("1 of 1", True), ("3 of 6", False), (None, False), ("twice", False),
    ]  # fmt: skip
    assert [one.printed for one in figures] == [None, "4 of 6", None, None]
    assert [one.claim for one in figures] == [True, True, False, False]
    assert [one.finding for one in figures] == [False, False, False, True] and figures[2].count == 4
