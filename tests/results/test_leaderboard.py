"""Leaderboards, profiles, task_reliability of a task, and reproduced figures."""

import numpy as np
import pytest
from msgspec import structs

from fake_runs import card, fake_run, summarised_run
from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError
from sociometer.core.measure import Interval, Measure, PublishedFigure, Summary
from sociometer.reporting.rankings import rankings
from sociometer.results.comparison import compare
from sociometer.results.leaderboard import (
    leaderboard,
    leaderboard_sentence,
    leaderboard_table,
    overview_table,
    raw_ranks,
)
from sociometer.results.profile import profile_lines
from sociometer.results.published import reproduction_table, unexplained
from sociometer.results.reliability import task_reliability
from sociometer.results.runs import Rankings


def test_a_leaderboard_ranks_on_shared_items_with_ranges():
    values = {"low": [0] * 30 + [1] * 10, "high": [0] * 5 + [1] * 35, "same": [0] * 6 + [1] * 34}
    board = leaderboard([fake_run(name, row) for name, row in values.items()])
    assert [entry.subject for entry in board.standings] == ["high", "same", "low"]
    assert board.standings[0].ranks.high == 2, "the first two might change places on other items"
    assert board.standings[2].ranks.low == 3
    table = leaderboard_table(board)
    assert table.rows[0][3] == "88 %"
    assert table.rows[2][1] == "3 to 3"


def test_too_few_items_have_no_rank_in_any_table_or_sentence():
    few = leaderboard([fake_run(name, row) for name, row in {"A": [1] * 5, "B": [0] * 5}.items()])
    table = leaderboard_table(few)
    assert [row[:3] for row in table.rows] == [(None, "too few", "A"), (None, "too few", "B")]
    assert table.note.startswith("Too few independent items to rank: at least 10 are needed.")
    assert leaderboard_sentence(few).endswith("5 independent items cannot rank the 2 subjects; at least 10 are needed.")
    assert overview_table([few]).rows[0][1:5] == ("too few", None, "too few", None)
    assert [row[4] for row in raw_ranks([few]).rows] == [None, None]
    assert Rankings((few,) * 4).sentence == "No task has two subjects and enough items to rank them."


def test_over_several_tasks_only_a_subject_that_the_items_separate_is_first():
    def board(**rows):
        return leaderboard([fake_run(name, values) for name, values in rows.items()])

    ahead = board(low=[0] * 40, high=[1] * 40)
    level, behind = board(low=[0, 1] * 20, high=[1, 0] * 20), board(a=[1] * 40, b=[1] * 39 + [0], low=[0] * 40)
    assert Rankings((ahead,) * 4).sentence == "Clearly first: high on 4 of 4 tasks."
    assert Rankings((ahead, level, level, behind)).sentence == (
        "Clearly first: high on 1 of 4 tasks."
        " On 3 of 4 tasks no subject is clearly first; on 2 of these the items separate no two subjects."
    )
    assert Rankings((behind,) * 4).sentence == "On 4 of 4 tasks no subject is clearly first."


def test_a_score_without_variation_has_no_bounds_on_a_leaderboard():
    board = leaderboard(
        [fake_run("A", [2.0] * 12, of=card("number")), fake_run("B", [1.0, 3.0] * 6, of=card("number"))]
    )
    spans = {row[2]: row[4] for row in leaderboard_table(board).rows}
    assert spans["A"] == "the same on every item"
    assert " to " in spans["B"]


def test_runs_that_cannot_be_compared_do_not_make_one_table_of_a_test():
    def judged(label, simulator, **more):
        return fake_run(label, [0, 1] * 10, roles={"subject": label, "simulator": simulator}, **more)

    free, steps = {"prompting": "free"}, {"prompting": "steps"}
    runs = [judged("A", "x", settings=free), judged("B", "y", settings=free), judged("C", "x", settings=steps)]
    found = task_reliability([structs.replace(judged("F", "y", settings=free), failed="FAILED (5 of 20)"), *runs])
    assert found.subjects == ("A", "C")
    assert found.notes == (
        "F: FAILED (5 of 20)",
        "B: not comparable with A, they have different models in the role simulator: y and x",
        "settings of A and C differ in prompting: free and steps",
    )
    known = Summary((Measure("accuracy", 0.5, items=20),))
    (ranked,) = rankings([structs.replace(run, summary=known) for run in runs])
    assert ranked.unranked["B"] == (
        "cannot be compared with A: they have different models in the role simulator: y and x"
    )
    with pytest.raises(UsageError, match=r"no run can be used for reliability: F: FAILED"):
        task_reliability([structs.replace(judged("F", "y"), failed="FAILED")])


def test_runs_without_a_scored_item_do_not_hide_the_others():
    """As after an hour in which a provider was down: most runs have failures only."""
    empty = [fake_run(name, [None] * 12) for name in ("E", "F", "G")]
    whole = [fake_run("A", [0, 1] * 6), fake_run("B", [1] * 12)]
    board = leaderboard([empty[0], *whole, *empty[1:]])
    assert [entry.subject for entry in board.standings] == ["B", "A"]
    assert board.left_out == tuple(f"{name}: no scored item" for name in "EFG")
    assert task_reliability([*empty, *whole]).subjects == ("A", "B")
    for judged in (leaderboard, task_reliability):
        with pytest.raises(UsageError, match="E: no scored item"):
            judged(empty)


def test_the_note_names_the_first_few_of_many_runs_that_are_left_out():
    empty = [fake_run(f"E{number}", [None] * 12) for number in range(20)]
    board = leaderboard([fake_run("A", [0, 1] * 6), fake_run("B", [1] * 12), *empty])
    assert len(board.left_out) == 20
    assert "Left out: E0, E1, E2, E3 and 16 more (--json names all): no scored item." in leaderboard_table(board).note


def test_a_short_run_is_left_out_without_a_stray_colon():
    runs = [fake_run(name, [0, 1] * 20) for name in "ABC"]
    note = leaderboard_table(leaderboard([*runs, fake_run("S", [1] * 6)])).note
    assert note.endswith("Left out: S has 6 of the 40 items that most runs have.")


def test_the_runs_that_limit_the_shared_items_are_named_with_the_runs_that_share_more():
    runs = [structs.replace(fake_run(name, [0, 1] * 20), run=f"run-{name}") for name in "ABC"]
    short = structs.replace(fake_run("S", [1, 0] * 15), run="run-S")
    board = leaderboard([*runs, short])
    told = "10 items without a score of every subject left out: S has 30 of 40"
    assert board.limit == f"{told}; for 40 items, give only the runs run-A run-B run-C"
    assert board.limit in leaderboard_table(board).note
    assert leaderboard([runs[0], short]).limit == told
    assert leaderboard(runs).limit == ""


def test_failed_items_that_could_change_the_first_are_told():
    lucky, other = [1] * 24 + [None] * 16, [1] * 14 + [0] * 10 + [1] * 16
    board = leaderboard([fake_run("A", lucky), fake_run("B", other), fake_run("C", [0] * 40)])
    assert "16 episodes of A failed" in board.notes
    said = leaderboard_sentence(board)
    assert said.endswith("cannot separate it from B; with the 16 failed items at their worst for A, B could be first.")
    clear = leaderboard_sentence(leaderboard([fake_run("A", [1] * 40), fake_run("C", [0] * 39 + [None])]))
    assert clear.endswith("is first of 2 on 39 shared items; it is better than every other.")


def test_the_same_score_is_a_tie_and_no_first_place():
    half, other, none = [1, 0] * 20, [0, 1] * 20, [0] * 40
    said = leaderboard_sentence(leaderboard([fake_run("A", half), fake_run("B", other), fake_run("C", none)]))
    assert said.endswith(": A and B are tied first of 3 on 40 shared items; they are better than every other.")
    alone = leaderboard_sentence(leaderboard([fake_run("A", half), fake_run("B", other)]))
    assert alone.endswith(": A and B are tied first of 2 on 40 shared items.")
    near = leaderboard_sentence(
        leaderboard([fake_run("A", half), fake_run("B", half), fake_run("C", [0, 0, *half[2:]])])
    )
    assert near.endswith(": A and B are tied first of 3 on 40 shared items; the items cannot separate them from C.")


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ((0.9, 0.4, 0.35), "; it is better than every other; the items cannot separate B from C."),
        ((0.5, 0.45, 0.4), "; the items cannot separate it from B, nor B from C."),
        ((0.5, 0.49, 0.48), "; the items cannot separate it from B and C, nor B from C."),
        ((0.9, 0.85, 0.3), "; the items cannot separate it from B."),
        ((0.9, 0.5, 0.1), "; it is better than every other."),
    ],
)
def test_of_three_subjects_it_says_which_cannot_be_separated(rates, said):
    place = np.random.default_rng(3).permutation(100) / 100
    board = leaderboard([fake_run(name, place < rate) for name, rate in zip("ABC", rates, strict=True)])
    assert leaderboard_sentence(board).endswith(said), leaderboard_sentence(board)


def test_everyone_whom_the_first_is_not_better_than_is_named_also_when_another_is_better_than_them():
    rng = np.random.default_rng(3)
    alike, other = rng.permutation(100) / 100, rng.permutation(100) / 100
    runs = [fake_run(name, alike < rate) for name, rate in zip("BCDEF", (0.6, 0.49, 0.48, 0.47, 0.1), strict=True)]
    board = leaderboard([fake_run("A", other < 0.62), *runs])
    assert board.standings[0].beats == ("F",) and "C" in board.standings[1].beats
    assert leaderboard_sentence(board).endswith("; the items cannot separate it from B, C, D and E.")


def test_ranks_and_verdicts_of_the_same_two_runs_agree():
    """The rank of two subjects is certain exactly where their comparison excludes zero."""
    rng = np.random.default_rng(21)
    seen = set()
    for _ in range(60):
        base = rng.random(50)
        runs = [fake_run("A", base < 0.5), fake_run("B", (base < 0.55) ^ (rng.random(50) < 0.25))]
        sure = compare(runs)[0].measures[0].verdict in ("better", "worse")
        assert sure == all(one.ranks.low == one.ranks.high for one in leaderboard(runs).standings)
        seen.add(sure)
    assert seen == {True, False}


def test_a_ranking_and_the_comparisons_of_the_same_runs_do_not_contradict_each_other():
    rng = np.random.default_rng(22)
    for _ in range(20):
        base = rng.random(60)
        runs = [
            fake_run(name, base + rng.normal(0, 0.3, 60) < rate)
            for name, rate in zip("ABCD", (0.4, 0.55, 0.6, 0.7), strict=True)
        ]
        standings = {one.subject: one for one in leaderboard(runs).standings}
        for found in compare(runs):
            verdict = found.measures[0].verdict
            assert found.measures[0].family == 6
            assert (verdict == "better") == ("A" in standings[found.second].beats)
            assert (verdict == "worse") == (found.second in standings["A"].beats)


def test_a_stand_in_has_no_place_on_a_leaderboard():
    board = leaderboard([fake_run("A", [1] * 12), fake_run("B", [1] * 12, stand_ins=["appraisal"])])
    assert [entry.subject for entry in board.standings] == ["A"]
    assert board.left_out == ("B: played with a stand-in (appraisal)",)
    with pytest.raises(UsageError, match="stand-in"):
        leaderboard([fake_run("B", [1] * 12, stand_ins=["appraisal"])])


def test_an_unknown_measure_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match=r"no measure 'speed' to rank by; it has: accuracy"):
        leaderboard([fake_run("A", [1] * 12)], "speed")


def test_a_profile_places_a_value_between_chance_and_people():
    run = summarised_run("r1", "questions", "A", {}, Summary((Measure("accuracy", 0.55),)))
    (line,) = profile_lines([structs.replace(run, card=card(human=0.85))])
    assert line.position == pytest.approx(0.5)
    (without,) = profile_lines([structs.replace(run, card=card())])
    assert without.position == pytest.approx(0.4), "people unknown: the way to the top"


def test_chance_measured_on_the_bundled_items_is_not_shown_for_official_ones():
    run = summarised_run("r1", "questions", "A", {}, Summary((Measure("accuracy", 0.55),)))
    by_options = card()
    measured = structs.replace(by_options, measure=(structs.replace(by_options.measure[0], chance=0.0527),))
    bundled = structs.replace(run, card=measured)
    official = structs.replace(bundled, whose_items="official")
    assert profile_lines([bundled])[0].chance == 0.0527
    assert profile_lines([official])[0].chance is None
    assert profile_lines([structs.replace(official, card=by_options)])[0].chance == 0.25, "four options are four"


def test_a_place_on_a_norm_of_people_stands_in_the_profile_where_there_is_one():
    known = card()
    eq = MeasureCard("questions", "eq", "EQ", "points", None, None, human=100.0)
    both = structs.replace(known, measure=(*known.measure, eq))
    for value, shown in ((104.0, ["accuracy", "eq"]), (None, ["accuracy"])):
        summary = Summary((Measure("accuracy", 0.55), Measure("eq", value)))
        lines = profile_lines([summarised_run("r1", "questions", "A", {}, summary, card=both)])
        assert [line.measure for line in lines] == shown


def test_a_second_run_of_a_subject_is_no_second_subject():
    rng = np.random.default_rng(2)
    runs = [fake_run(f"m{number}", rng.integers(0, 2, 20)) for number in range(11)]
    found = task_reliability([*runs, runs[0]])
    assert len(found.subjects) == 11
    assert found.notes[0] == "m0: another run of m0; only one run per subject counts"
    assert found.alpha.subjects == 11


def test_repeatability_is_given_for_subjects_with_repeats():
    steady = np.repeat([0, 1, 1, 0, 1], 3)
    found = task_reliability([fake_run("A", steady, repeats=3), fake_run("B", [0, 1, 1, 0, 1])])
    assert found.repeats["A"].icc == 1.0
    assert "B" not in found.repeats


def test_only_a_mismatch_without_a_reason_fails():
    figures = [
        PublishedFigure("Table 1", "EQ of GPT-4", 117.0, 116.4, False, "the printed score was rounded"),
        PublishedFigure("Table 1", "EQ of Koala", 83.0, 83.0, True),
    ]
    assert not unexplained(figures)
    wrong = PublishedFigure("Table 1", "EQ of x", 1.0, 2.0, False)
    assert unexplained([*figures, wrong]) == (wrong,)
    assert unexplained([*figures, wrong]) == (wrong,)
    table = reproduction_table("seceu", [*figures, wrong])
    assert [row[4] for row in table.rows] == ["does not hold", "does not hold", "holds"]
    assert [row[5] for row in table.rows] == ["the printed score was rounded", "no reason is known", ""]
    assert "3 numbers of the paper: 1 holds, 2 do not hold, 0 cannot be checked." in table.note


def test_a_ranking_shows_the_interval_of_the_runs_own_summary():
    own = Interval(0.3, 0.71, 0.95, "its own")
    runs = [fake_run("A", [1, 0] * 20), fake_run("B", [0, 1] * 20)]
    runs[0] = structs.replace(runs[0], summary=Summary((Measure("accuracy", 0.5, interval=own, items=40),)))
    shown = {one.subject: one.interval for one in leaderboard(runs).standings}
    assert shown["A"] == own and shown["B"].method != "its own"
