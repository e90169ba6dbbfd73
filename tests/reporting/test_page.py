"""The page's text: complete in itself, honest about failures, closed to injection."""

import base64
import gzip
import json
import re

import pytest
from fake_stored_runs import CARD, FOLDER, HOSTILE, INSTRUMENT, TASKS, VALUES, FakeStoredRun, changed, given
from msgspec import structs

import sociometer as sm
from fake_runs import fake_run, summarised_run
from sociometer.cli.main import run_command
from sociometer.core.card import MeasureCard, TaskCard
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Figure, Interval, Measure, Summary, Table
from sociometer.core.words import cell_text, counted, listed, lowered, sentence
from sociometer.reporting.content import chapter_notes, days_in_words, gather
from sociometer.reporting.evidence import choose, transcript_lines
from sociometer.reporting.figures import difference_strips, profile_figure, strips
from sociometer.reporting.headline import findings_of, headlines_of, title_of, troubles
from sociometer.reporting.page import (
    all_numbers,
    as_data_block,
    best_first,
    interval_methods,
    notes_in_view,
    packed,
    rank_text,
    render,
    rows_left_out,
    unranked_sentences,
    write_report,
)
from sociometer.reporting.plot import drawn, find_figure, plot_all, write_figure
from sociometer.reporting.tables import rows, without_empty_columns
from sociometer.results.leaderboard import leaderboard
from sociometer.results.profile import profile_lines
from sociometer.results.runs import Rankings
from sociometer.results.summaries import finding, measure_rows
from sociometer.results.verdicts import Terms
from sociometer.results.wording import comparison_table
from sociometer.statistics.charts import heat_map
from sociometer.statistics.formatting import interval_text, number
from sociometer.statistics.measures import grouped_measures


@pytest.fixture(scope="module")
def content():
    return gather(given())


def test_the_page_loads_nothing_and_allows_only_its_own_scripts(page):
    text = page.read_text(encoding="utf-8")
    outside = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", outside)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe-eval" not in policy[1]
    assert "unsafe-inline" not in policy[1].split("script-src")[1].split(";")[0]


def test_hostile_words_never_stand_in_the_page_as_markup(page):
    text = page.read_text(encoding="utf-8")
    assert "window.hacked = 1</script>" not in text
    assert "<img src=x" not in text
    assert "49" not in re.findall(r"<h1>.*?</h1>", text, flags=re.S)[0], "a template in a name is not evaluated"


def test_a_page_of_three_subjects_is_small(page):
    assert page.stat().st_size < 1_500_000


def test_a_data_block_cannot_end_its_script_element():
    block = as_data_block({"text": HOSTILE})
    assert "<" not in block and "\u2028" not in block
    assert json.loads(block) == {"text": HOSTILE}


def test_packed_evidence_unpacks_to_the_same_and_is_the_same_every_time():
    data = [{"text": HOSTILE}]
    assert json.loads(gzip.decompress(base64.b64decode(packed(data)))) == data
    assert packed(data) == packed(data)


def test_failures_unreadable_replies_and_unfinished_runs_are_told(content):
    told = " ".join(troubles(content))
    assert "better: 1 of 40 episodes failed and have no score (timeout: 1)." in told
    assert "plain: 1 reply could not be read; its score is that of an unreadable reply." in told
    assert "is stopped; the numbers are provisional." in told
    failed = structs.replace(content.chapters[0].results[0], status="failed", why_ended="no server", subject="a")
    chapter = structs.replace(content.chapters[0], results=(failed,))
    assert "the run of a failed (no server); the" in " ".join(troubles(structs.replace(content, chapters=(chapter,))))


def test_troubles_of_many_subjects_are_one_sentence():
    runs = [FakeStoredRun(f"r{place}", f"s{place}", [None] + [1.0] * 9) for place in range(5)]
    told = troubles(gather(runs, evidence=0))
    assert "5 subjects (s0, s1, s2 and 2 others): 5 of 50 episodes failed and have no score (timeout: 5)." in told


def test_failures_stand_beside_every_number_and_unknown_ones_as_a_dash(content):
    chapter = content.chapters[0]
    found = {one.subject: measure_rows(one.summary, chapter.card, one.task) for one in chapter.results}
    better = {row.group: row.errors for row in found["better"]}
    assert better == {"": "1", "ability: empathy": "–", "ability: influence": "–"}
    assert {row.errors for row in found["plain"]} == {"0"}


def test_a_page_of_very_many_rows_leaves_out_groups_of_items_and_says_so(content, tmp_path, monkeypatch):
    monkeypatch.setattr("sociometer.reporting.page._MOST_ROWS", 5)
    numbers = all_numbers(content.chapters[0])
    assert numbers and not any(row[3][0] for row in numbers)
    page = write_report(given(), tmp_path / "many.html", made="now", version="9.9").read_text(encoding="utf-8")
    assert f"Left out: {rows_left_out(content.chapters[0])} rows about groups of items." in page
    assert "ability: empathy</td>" not in page


def test_two_subjects_are_compared_with_a_verdict(tmp_path):
    two = gather(_two_given(), evidence=0)
    assert two.comparisons[0].second == "better" and two.rankings == ()
    out = write_report(_two_given(), tmp_path / "two.html", made="now", version="9.9")
    assert "better is better than plain: " in out.read_text(encoding="utf-8")


def _two_given():
    return [changed(run, stand_ins=()) for run in given()[:2]]


def _measured(subjects, **values):
    """Runs of subjects with real judges, by default all on 40 items."""
    runs = []
    for place, name in enumerate(subjects):
        run = FakeStoredRun(f"r{place}", name, values.get(name, VALUES["plain"]))
        run.stand_ins = ()
        runs.append(run)
    return runs


def _on(instrument, subjects, **values):
    """The same runs of another instrument."""
    card = structs.replace(CARD, name=instrument)
    definition = Instrument(FOLDER, TASKS, card=card)
    return [changed(run, definition=definition, id=f"{instrument}{run.id}") for run in _measured(subjects, **values)]


def test_three_subjects_or_more_are_ranked_together_and_not_in_pairs_with_the_first():
    runs = _measured("abcd", a=[0.0] * 40, b=[1.0] * 40, d=[1.0] * 4)
    found = gather(runs, evidence=0)
    assert found.comparisons == ()
    (ranking,) = found.rankings
    assert [standing.subject for standing in ranking.standings] == ["b", "c", "a"]
    assert ranking.sentence == "b is clearly first."
    few = "has 4 of the 40 items that most runs have"
    assert ranking.unranked == {"d": few}, "one that failed on most items does not cost the others"
    assert unranked_sentences(found.rankings, {"tact": "Tact"}) == (f"d: {few}, on Tact.",)
    assert gather(runs, terms=Terms(margin=0.1), evidence=0).comparisons != ()


def test_runs_with_a_name_have_it_in_the_title_the_legends_and_the_verdict_as_in_compare(tmp_path):
    values = {"gpt": [1.0] * 40, "baseline/random": [0.0] * 40, "c": [0.0] * 40}
    runs = _measured(values, **values)
    for run, name in zip(runs, ("tuned", "floor", "c"), strict=True):
        changed(run, subject=name)
    found = gather(runs, evidence=0)
    assert found.subjects == ("tuned", "floor", "c") and title_of(found) == "tuned, floor and c on Tact test"
    assert found.rankings[0].sentence == "tuned is clearly first of the models.", "a named baseline is still a baseline"
    page = write_report(runs, tmp_path / "named.html", made="now", version="9.9").read_text(encoding="utf-8")
    assert (
        '<p class="name">floor <em>stand-in</em></p>' in page
        and "<b>tuned</b>: gpt. <b>floor</b>: baseline/random, a random" in page
    )
    assert "tuned <span>gpt, Tact test, version 3" in page, "the method says which model it is"


def test_one_full_run_among_short_ones_is_ranked_with_them_as_by_compare():
    short = [0.0] * 12
    (ranking,) = gather(_measured("abcd", a=[1.0] * 40, b=short, c=short, d=short), evidence=0).rankings
    assert ranking.sentence == "a is clearly first."
    limit = "28 items without a score of every subject left out: b, c, d have 12 of 40."
    assert ranking.below == f"12 shared items cannot separate the other 3. {limit}"
    assert not ranking.unranked
    content = gather(_measured("abcd", a=[1.0] * 40, b=short, c=short, d=short), evidence=0)
    assert " on 12 shared items is " in findings_of(content)[1], "the chart has the score on all of its items"


def test_subjects_after_the_best_are_folded_in_panels_and_rankings(tmp_path):
    runs = _measured("abcd", a=[0.0] * 40, b=[1.0] * 40)
    page = write_report(runs, tmp_path / "few.html", made="now", version="9.9", top=2).read_text(encoding="utf-8")
    assert page.count("<summary>2 more</summary>") == 2
    panel, folded = page.partition("<summary>2 more</summary>")[::2]
    assert '<p class="name">b</p>' in panel and '<p class="name">a</p>' not in panel
    assert '<p class="name">a</p>' in folded
    whole = write_report(runs, tmp_path / "all.html", made="now", version="9.9").read_text(encoding="utf-8")
    assert "more</summary>" not in whole


def test_a_ranking_says_who_cannot_be_separated_and_when_items_are_too_few():
    near = gather(_measured("abc", a=[0.0] * 40), evidence=0).rankings[0]
    assert near.sentence == "b and c are clearly ahead of a; 40 shared items cannot separate the two leaders."
    behind = gather(_measured("abc", b=[1.0] * 40), evidence=0).rankings[0]
    assert (behind.sentence, behind.below) == ("b is clearly first.", "40 shared items cannot separate a from c.")
    values = {"a": [1.0] * 40, "b": [1.0] * 30 + [0.0] * 10, "c": [1.0] * 26 + [0.0] * 14}
    between = gather(_measured("abc", **values), evidence=0).rankings[0]
    assert between.sentence == "a is clearly first."
    assert between.below == "40 shared items cannot separate b from c."
    chain = {"a": [1.0] * 30 + [0.0] * 10, "b": [1.0] * 24 + [0.0] * 16, "c": [1.0] * 20 + [0.0] * 20}
    lead = gather(_measured("abc", **chain), evidence=0).rankings[0]
    assert lead.sentence == "a and b lead; 40 shared items cannot separate them, nor b from c."
    few = gather(_measured("abc", a=[1.0] * 4, b=[0.0] * 4, c=[1.0] * 4), evidence=0).rankings[0]
    assert few.contest.too_few and few.leaders == ()
    assert few.sentence == "4 independent items cannot rank the subjects; at least 10 are needed."
    assert [rank_text(standing) for standing in few.standings] == ["–"] * 3, "what cannot be ranked has no rank"


def test_the_headline_ends_with_the_leaders_and_the_ranking_says_which_of_the_others_cannot_be_separated(tmp_path):
    far = {name: [0.0] * (35 + place) + [1.0] * (5 - place) for place, name in enumerate("cde")}
    page = write_report(
        _measured("abcde", a=[1.0] * 40, b=[1.0] * 40, **far), tmp_path / "p.html", made="now", version="9.9"
    )
    html = page.read_text(encoding="utf-8")
    finding = re.search(r'<p class="finding">(.*?)</p>', html)[1]
    assert finding.startswith(
        "a and b are clearly ahead of c, d and e; 40 shared items cannot separate the two leaders."
    )
    ranking = html.partition('<section id="ranking">')[2].partition("</section>")[0]
    below = "40 shared items cannot separate the other 3."
    assert below in ranking and below not in finding


def test_a_model_at_chance_does_not_lead_and_the_baseline_that_it_cannot_be_told_from_is_named():
    def right(first, last):
        return [float(first <= place < last) for place in range(40)]

    values = {"a": right(0, 19), "b": right(5, 19), "c": right(39, 40), "baseline/guesser": right(8, 19)}
    (ranking,) = gather(_measured(values, **values), evidence=0).rankings
    ahead = "a and b are clearly ahead of c; 40 shared items cannot separate the two leaders"
    assert ranking.sentence == f"{ahead}; b is not clearly better than chance (25 %) or baseline/guesser."
    near = gather(_measured("abc", a=right(0, 19), b=right(5, 19), c=right(10, 19)), evidence=0).rankings[0]
    best = "a and b have the best scores; 40 shared items cannot separate them, nor b from c"
    assert near.sentence == f"{best}; b is not clearly better than chance (25 %).", "so they do not lead"
    none = gather(_measured("abc", a=right(5, 16), b=right(7, 18), c=right(6, 15)), evidence=0).rankings[0]
    same = "40 shared items cannot separate the 3 subjects"
    assert none.sentence == f"{same}; none of them is clearly better than chance (25 %)."
    top = {"a": right(0, 39), "b": right(0, 38), "baseline/oracle": right(0, 40)}
    full = gather(_measured(top, **top), evidence=0).rankings[0]
    assert full.sentence == "40 shared items cannot separate a from b.", "an oracle is at the top, as good models are"
    clear = gather(_measured("abc", a=[0.0] * 40), evidence=0).rankings[0]
    assert "chance" not in clear.sentence, "the leaders are clearly above it"
    low = {"a": right(0, 12), "b": right(39, 40), "baseline/longest": right(0, 30)}
    worse = gather(_measured(low, **low), evidence=0).rankings[0]
    ahead = "a is clearly ahead of the other models"
    assert worse.sentence == f"{ahead}; it is not clearly better than chance (25 %) or baseline/longest."
    below = gather(_measured("abc", a=[0.0] * 40, b=[0.0] * 40, c=[0.0] * 40), evidence=0).rankings[0]
    assert below.sentence.endswith("; none of them is clearly better than chance (25 %)."), "they are worse than chance"


def test_a_name_breaks_at_its_signs_only_and_one_too_long_for_two_charts_in_a_row_gets_the_whole_width(tmp_path):
    def page_of(*names):
        runs = _measured(names)
        runs[0].judge = "gpt"  # scores of another judge have a chart of their own
        page = write_report(runs, tmp_path / "p.html", made="now", version="9.9")
        return page.read_text(encoding="utf-8").partition("<main")[2]

    signs = page_of("python/mymodels:longest", "gpt-4o", "of one_word")
    for name in ("python/<wbr>mymodels:<wbr>longest", "gpt-<wbr>4o", "of <wbr>one_<wbr>word"):
        assert f'<p class="name">{name}' in signs
    assert '<div class="panels several">' in signs
    assert '<div class="panels">' in page_of("averylongnamewithoutsigns", "gpt-4o")
    assert "<wbr>" not in page_of("<b>").partition('class="name">')[2][:9]


_TESTS = ("tact", "manners", "wit")


def test_a_model_that_met_no_other_on_a_task_is_not_first_in_the_headline():
    values = {"a": [1.0] * 40, "b": [1.0] * 10 + [0.0] * 30, "baseline/guesser": [0.0] * 40}
    runs = [
        run for test, who in zip(_TESTS, "aab", strict=True) for run in _on(test, [who, "baseline/guesser"], **values)
    ]
    said = findings_of(gather(runs, evidence=0))
    first, *measures = said[0].split("; ")
    assert first == "No task has comparable scores of two models"
    assert measures[0].startswith("the accuracy of a on Tact test is 100.0 % [")
    assert measures[-1].endswith(
        "is 25 % [14, 40], not clearly different from chance (25 %) and worse than people (90 %)."
    )
    one = gather([*runs, *_measured("c", c=[0.0] * 40)], evidence=0)
    assert findings_of(one)[0] == "Tact test: a is clearly first of the models."


def test_the_headline_over_several_tasks_says_who_is_first_as_compare_does():
    """First is who is better than every other model, than baselines that guess, and than chance."""
    clear = {"a": [1.0] * 40, "b": [0.0] * 40, "baseline/guesser": [0.0] * 40}
    at_chance = {**clear, "a": [1.0] * 12 + [0.0] * 28}
    behind = {**clear, "a": [1.0] * 25 + [0.0] * 15, "baseline/guesser": [1.0] * 38 + [0.0] * 2}

    def runs(*values):
        tests = zip(_TESTS, values, strict=True)
        return [run for test, of in tests for run in _on(test, clear, **of)]

    cases = [
        ((clear, clear, clear), "Clearly first: a on 3 of 3 tasks."),
        ((clear, clear, at_chance), "Clearly first: a on 2 of 3 tasks. On 1 of 3 tasks no subject is clearly first."),
        ((clear, behind, behind), "Clearly first: baseline/guesser on 2 of 3 tasks, a on 1 of 3 tasks."),
    ]
    for values, told in cases:
        played = runs(*values)
        boards = [leaderboard([run.summarised() for run in played if run.instrument == test]) for test in _TESTS]
        assert findings_of(gather(played, evidence=0))[0] == told == sentence(Rankings(tuple(boards)).firsts)
    (oracle,) = _on("wit", ["baseline/oracle"], **{"baseline/oracle": [1.0] * 40})
    beside = [*runs(clear, clear, {**clear, "a": [1.0] * 30 + [0.0] * 10}), changed(oracle, id="o")]
    assert findings_of(gather(beside, evidence=0))[0] == "Without the oracle, clearly first: a on 3 of 3 tasks."


def test_people_are_better_and_a_model_is():
    values = {"baseline/oracle": [1.0] * 40, "baseline/guesser": [0.0] * 40}
    for name, verb in (("people (spring, n = 12)", "are"), ("a", "is")):
        runs = _measured([name, *values], **{name: [1.0] * 30 + [0.0] * 10}, **values)
        (ranking,) = gather(runs, evidence=0).rankings
        assert ranking.sentence == f"{name} {verb} better than baseline/guesser and worse than baseline/oracle."


def test_the_finding_is_about_models_and_not_about_the_baselines_next_to_them():
    oracle, guesser = "baseline/oracle", "baseline/guesser"
    values = {oracle: [1.0] * 40, guesser: [0.0] * 40, "a": [1.0] * 30 + [0.0] * 10, "b": [1.0] * 10 + [0.0] * 30}
    (ranking,) = gather(_measured(["a", "b", oracle, guesser], **values), evidence=0).rankings
    assert ranking.standings[0].subject == oracle and ranking.leaders == ("a",)
    assert ranking.sentence == "a is clearly first of the models."
    alone = gather(_measured(["a", oracle, guesser], **values), evidence=0)
    assert alone.rankings[0].sentence == "a is better than baseline/guesser and worse than baseline/oracle."
    assert (
        findings_of(alone)[0]
        == "The accuracy of a is 75 % [60, 86], better than chance (25 %) and worse than people (90 %)."
    )
    beside = _measured(["a", "tiny", oracle, guesser], tiny=[1.0] * 3, **values)
    beside[1].stand_ins = ("subject: tiny",)
    assert (
        findings_of(gather(beside, evidence=0))[0]
        == "The accuracy of a is 75 % [60, 86], better than chance (25 %) and worse than people (90 %)."
    )


def test_subjects_with_a_stand_in_are_not_ranked(content):
    (ranking,) = content.rankings
    assert (
        ranking.standings == ()
        and ranking.sentence == "no subject can be ranked (played with a stand-in, judge: tact/rules)."
    )
    assert set(ranking.unranked.values()) == {"played with a stand-in, judge: tact/rules"}


@pytest.mark.parametrize(
    ("subjects", "title"),
    [
        (["gpt"], "gpt on Tact test"),
        (["a", "b", "c"], "a, b and c on Tact test"),
        ([f"m{place}" for place in range(12)], "12 models on Tact test"),
        (["m1", "m2", "m3", "baseline/random"], "Four subjects on Tact test"),
    ],
)
def test_a_title_names_three_subjects_at_most(subjects, title):
    assert title_of(gather(_measured(subjects), evidence=0)) == title


def test_the_finding_of_one_subject_is_its_score_beside_chance_and_people():
    found = findings_of(gather(_measured(["gpt"]), evidence=0))
    assert found == ("The accuracy of gpt is 50 % [35, 65], better than chance (25 %) and worse than people (90 %).",)
    guess = findings_of(gather(_measured(["gpt"], gpt=[1.0, 0.0, 0.0, 0.0] * 10), evidence=0))
    assert ", not clearly different from chance (25 %)" in guess[0]
    few = findings_of(gather(_measured(["gpt"], gpt=[1.0, 0.0]), evidence=0))
    assert few == ("The accuracy of gpt is 50 % (too few) (chance 25 %, people 90 %).",)


def test_better_than_chance_is_said_only_if_it_holds_with_the_failed_items_at_their_worst():
    found = findings_of(gather(_measured(["gpt"], gpt=[1.0] * 18 + [0.0] * 2 + [None] * 20), evidence=0))
    assert found == (
        "The accuracy of gpt is 90 % [70, 97] without the 20 failed, in [31, 99] with them at their worst and at their"
        " best: better than chance (25 %) and not clearly different from people (90 %).",
    )
    lucky = findings_of(gather(_measured(["gpt"], gpt=[1.0] * 10 + [None] * 30), evidence=0))
    assert lucky[0].endswith(
        "with them at their worst and at their best: not clearly different from chance (25 %) and"
        " not clearly different from people (90 %)."
    )


def test_the_page_has_the_worst_and_the_best_case_of_each_measure(tmp_path):
    runs = _measured(["gpt"], gpt=[1.0] * 18 + [0.0] * 2 + [None] * 20)
    page = write_report(runs, tmp_path / "page.html", made="now", version="9.9").read_text(encoding="utf-8")
    assert "45 to 95 % with the 20 failed" in page


def test_the_finding_of_two_is_the_verdict_and_of_many_the_ranking():
    (finding,) = findings_of(gather(_measured("ab", b=[1.0] * 40), evidence=0))
    beyond = r"\(b is at the top of this test: the true difference may be larger\)"
    assert re.fullmatch(rf"b is better than a: 50 points higher \[\d+, \d+\] {beyond}\.", finding)
    near = findings_of(gather(_measured("ab", a=[1.0] * 40, b=[1.0] * 39 + [0.0]), evidence=0))
    assert "both at the top" in near[0] and "40 items detect" in near[0] and "80 % power" not in near[0], near
    top = findings_of(gather(_measured("ab", a=[1.0] * 40, b=[1.0] * 40), evidence=0))
    assert top[0].startswith("b and a are both at the top overall, where this test does not separate models: ")
    assert len(top) == 1, "the test is called full once"
    same = findings_of(gather(_measured("ab"), evidence=0))
    assert same[0] == "40 items show no clear difference in accuracy: b is as high as a [−7, 7]."
    assert same[1].startswith("These items could detect a difference of ")
    few = findings_of(gather(_measured("ab", a=[1.0, 0.0], b=[0.0, 1.0]), evidence=0))
    assert few == ("With 2 independent items, b and a cannot be compared; at least 10 are needed.",)
    many = findings_of(gather(_measured("abc", a=[0.0] * 40), evidence=0))
    assert many[0] == "b and c are clearly ahead of a; 40 shared items cannot separate the two leaders."
    assert many[1].startswith("The accuracy is 50 % [") and many[1].endswith(" with a.")
    beside = findings_of(gather(_measured(["b", "c", "baseline/oracle"]), evidence=0))
    assert " with b and " in beside[1] and beside[1].endswith(" with c."), "the values of models, not of baselines"


def test_the_finding_of_one_subject_on_several_measures_counts_them():
    runs = _measured("a")
    for name in ("manners", "grace"):
        (again,) = _measured("a", a=[1.0, 0.0, 0.0, 0.0] * 10)
        again.definition, again.id = Instrument(FOLDER, TASKS, card=structs.replace(CARD, name=name, title=name)), name
        runs.append(again)
    assert findings_of(gather(runs, evidence=0)) == (
        "a is better than chance on 1 of 3 measures.",
        "a is worse than people on 3 of 3 measures.",
    )
    assert findings_of(gather(runs[:2], evidence=0)) == (
        "The accuracy of a on Tact test is 50 % [35, 65], better than chance (25 %) and worse than people (90 %).",
        "The accuracy of a on manners is 25 % [14, 40], not clearly different from chance (25 %) and worse than people"
        " (90 %).",
    ), "two measures have a sentence each"


NORMED = structs.replace(
    INSTRUMENT.card,
    measure=(
        MeasureCard(
            "questions", "gap", "Distance", "number", low=0.0, high=14.0, better="lower", top=0.0, primary=True
        ),
        MeasureCard("questions", "eq", "EQ", "points", low=-110.0, high=151.0, human=100.0),
    ),
)


def _normed(subject, gap, eq):
    found = (
        Measure("gap", gap, interval=Interval(gap - 0.5, gap + 0.5)),
        Measure("eq", eq, interval=Interval(eq - 9, eq + 9)),
    )
    return summarised_run(subject, "questions", subject, {}, Summary(found), card=NORMED)


def test_the_finding_of_a_test_with_a_norm_is_the_score_on_the_norm(content):
    lines = profile_lines([_normed("gpt", 1.6, 122.0)])
    more = {"notes": ("Norm: 541 people.",), "caveat": "Writing 4, 3, 2, 1 without reading earns an EQ of 122"}
    chapter = structs.replace(content.chapters[0], card=NORMED, results=(_normed("gpt", 1.6, 122.0),), **more)
    of = structs.replace(content, subjects=("gpt",), chapters=(chapter,), profile=lines, rankings=(), comparisons=())
    assert findings_of(of) == (
        "The EQ of gpt is 122 [113, 131], better than the people of the norm (100).",
        "Writing 4, 3, 2, 1 without reading earns an EQ of 122.",
    )
    counts = {("gpt", "questions"): next(iter(content.counts.values()))}
    page = render(structs.replace(of, names={"gpt": "gpt"}, counts=counts), made="now", version="9.9")
    assert re.search('class="finding">(.*?)</p>', page)[1].endswith("without reading earns an EQ of 122.")


def test_the_strip_of_a_score_on_a_norm_names_the_norm_and_the_error_of_measurement_of_its_people():
    note = "'expert' in the paper's terms; people's standard error of measurement 3.7"
    lines = [structs.replace(line, note=note) for line in profile_lines([_normed("gpt", 1.6, 122.0)])]
    strip = next(one for one in strips(lines, ["gpt"], [NORMED]) if one.measure.startswith("EQ"))
    assert [(mark.name, mark.text) for mark in strip.marks] == [("norm", "100")]
    assert strip.note == "People's standard error of measurement 3.7."


def test_the_finding_on_two_tests_begins_with_what_is_clear_and_leaves_caveats_with_their_test():
    alike = {name: [float(nth % 2) for nth in range(40)] for name in "abc"}
    runs = [*_on("calm", "abc", **alike), *_on("wit", "abc", a=[0.0] * 40, b=[1.0] * 40)]
    found = gather(runs, evidence=0)
    chapters = tuple(
        structs.replace(one, caveat="guessing earns 9" * (one.card.name == "wit")) for one in found.chapters
    )
    found = structs.replace(found, chapters=chapters)
    said = findings_of(found)
    assert "b is clearly first." in said[0] and "cannot separate the 3 subjects" in said[1]
    assert not any("guessing" in text or "/questions" in text for text in said)
    assert headlines_of(found)["wit"].endswith(" Guessing earns 9.") and "9" not in headlines_of(found)["calm"]


def test_a_measure_with_two_methods_of_intervals_names_the_subjects_of_each(content):
    runs = [
        summarised_run(who, "questions", who, {}, Summary((Measure("gap", 1.0, interval=made),)), card=NORMED)
        for who, made in (("a", Interval(0, 2, method="Wilson")), ("b", Interval(0, 2, method="cluster bootstrap")))
    ]
    chapter = structs.replace(content.chapters[0], card=NORMED, results=tuple(runs))
    title = next(card.title for card in NORMED.measures_of("questions") if card.name == "gap")
    assert interval_methods(chapter) == [
        (NORMED.short_title, f"{title} (a)", "Wilson", None),
        (NORMED.short_title, f"{title} (b)", "cluster bootstrap", 10_000),
    ]
    alone = structs.replace(chapter, results=tuple(runs[:1]))
    assert interval_methods(alone) == [(NORMED.short_title, title, "Wilson", None)]


def test_the_axis_of_a_distance_ends_near_the_values_and_shows_chance():
    card = structs.replace(NORMED, measure=(structs.replace(NORMED.measure[0], chance=5.0),))
    ends = {}
    for gap in (1.6, 9.0):
        run = structs.replace(_normed("gpt", gap, 100.0), card=card)
        (strip,) = strips(profile_lines([run]), ["gpt"], [card])
        ends[gap] = strip.marks[0].at
    assert ends == {1.6: pytest.approx(100 / 1.08, abs=0.1), 9.0: pytest.approx(100 * 5 / 14, abs=0.1)}


def test_a_page_of_baselines_alone_names_no_winner():
    names = ["baseline/oracle", "baseline/even", "baseline/random"]
    found = findings_of(gather(_measured(names, **{names[0]: [1.0] * 40}), evidence=0))
    assert found[0] == "No model was measured: baseline/oracle, baseline/even and baseline/random are baselines."
    assert found[1].startswith("The accuracy is 100") and not any("first" in text for text in found)


def test_verdicts_on_contamination_are_in_view_and_notes_on_baselines_come_last(content):
    verdict = "Contamination: no sign that the subject knows the public items by heart."
    guesser = structs.replace(_normed("baseline/random", 4.6, 68.0), baseline=True)
    results = [guesser, _normed("gpt", 1.6, 122.0)]
    notes = (("Contamination: 8 pairs are too few.", "Norm."), ("Norm.", verdict + " Long." * 40))
    told = [structs.replace(one, summary=structs.replace(one.summary, notes=said))
            for one, said in zip(results, notes, strict=True)]  # fmt: skip
    found = list(chapter_notes(told))
    assert [note.partition(": ")[0] for note in found] == ["gpt", "Norm.", "baseline/random"]
    assert notes_in_view(found) == (tuple(found), ())


def test_better_than_chance_on_several_measures_has_one_error_rate():
    close = [1.0] * 17 + [0.0] * 23
    line = profile_lines([_measured("a", a=close)[0].summarised("questions")])[0]
    assert (line.against(0.25), line.against(0.25, among=12)) == (1, 0)


def test_a_sample_that_is_too_small_is_the_finding():
    manners = Instrument(FOLDER, TASKS, card=structs.replace(CARD, name="manners"))
    runs = _measured("ab", a=[1.0] * 4, b=[0.0] * 4)
    again = _measured("ab", a=[1.0] * 4, b=[0.0] * 4)
    for place, entry in enumerate(again):
        entry.definition, entry.id = manners, f"m{place}"
    found = findings_of(gather([*runs, *again], evidence=0))
    assert found == ("This sample is too small to compare b with a: every task has fewer than 10 independent items.",)


def test_samples_and_rehearsals_come_last_are_marked_once_and_give_no_finding(tmp_path):
    manners, talk = (Instrument(FOLDER, TASKS, card=structs.replace(CARD, name=name)) for name in ("manners", "talk"))
    sample, rehearsal = _measured("d")[0], FakeStoredRun("t0", "e", [1.0] * 40)
    sample.definition, sample.id, rehearsal.definition = manners, "m0", talk
    runs = [rehearsal, sample, *_measured("abc", a=[0.0] * 40)]
    content = gather(runs, evidence=0, samples={"m0"})
    assert [(chapter.card.name, chapter.sample) for chapter in content.chapters] == [
        ("tact", False), ("talk", True), ("manners", True),
    ]  # fmt: skip
    assert title_of(content) == "a, b and c on Tact test"
    assert findings_of(content)[0].startswith("b and c are clearly ahead of a;")
    assert headlines_of(content) == {
        "talk": "A rehearsal: a stand-in (tact/rules) plays the judge, so nothing is measured.",
        "manners": "The accuracy of d is 50 % [35, 65], better than chance (25 %) and worse than people (90 %).",
    }
    assert not any("stand-in" in trouble for trouble in troubles(content))
    page = write_report(runs, tmp_path / "p.html", made="now", version="9.9", samples={"m0"}).read_text("utf-8")
    places = [page.index(f'<section id="{name}"') for name in ("tact", "ranking", "samples", "talk", "manners")]
    assert places == sorted(places) and page.count("<h2>Samples and rehearsals</h2>") == 1
    alone = gather([rehearsal], evidence=0)
    assert not alone.chapters[0].sample, "a report of a rehearsal alone has a finding"


def test_the_day_of_an_import_is_not_the_day_of_the_measurement(content):
    (chapter,) = content.chapters
    imported = [structs.replace(result, whose_items="imported") for result in chapter.results]
    assert content.when
    assert structs.replace(content, chapters=(structs.replace(chapter, results=tuple(imported)),)).when == ""


def test_the_finding_says_that_a_stand_in_took_part_and_has_three_sentences_at_most(content):
    assert findings_of(content)[0] == "Tact test was played with a stand-in, so its scores are not a measurement."
    assert len(findings_of(content)) <= 3


def test_one_rehearsal_leaves_the_scores_of_the_other_runs(tmp_path):
    def with_rehearsal(subjects, **values):
        *runs, last = _measured(subjects, **values)
        return [*runs, changed(last, stand_ins=("judge: tact/rules",))]

    caveat = "No measurement, because a stand-in played a part on Tact test: z."
    alone = findings_of(gather(with_rehearsal("az")[:1], evidence=0))
    for runs in (with_rehearsal("az"), [*with_rehearsal("az"), *_measured(["baseline/random"])]):
        runs[-1].id = f"other-{runs[-1].id}"
        found = gather(runs, evidence=0)
        assert findings_of(found) == (*alone, caveat)
    three = findings_of(gather(with_rehearsal("abz", b=[1.0] * 40, a=[0.0] * 40), evidence=0))
    assert three[0].startswith("b is clearly first") and three[-1] == caveat, three
    several = gather([*with_rehearsal("az"), *_on("wit", "bc")], evidence=0)
    assert headlines_of(several)["tact"] == " ".join([*alone, caveat])
    (ranking,) = [one for one in several.rankings if one.instrument == "tact"]
    assert ranking.sentence == "only a can be ranked (z: played with a stand-in, judge: tact/rules)."
    page = write_report(with_rehearsal("az"), tmp_path / "p.html", made="now", version="9").read_text(encoding="utf-8")
    assert caveat in page


def test_a_name_at_the_start_of_a_sentence_keeps_its_small_letter():
    assert sentence("gpt-4 leads", ["gpt-4"]) == "gpt-4 leads."
    assert sentence("the rest follows.") == "The rest follows."
    assert (counted(1, "reply", "replies"), counted(2, "reply", "replies")) == ("1 reply", "2 replies")
    assert listed(["a", "b", "c", "d"], 2) == "a, b and 2 others"
    assert (lowered("Sentient score"), lowered("EQ")) == ("sentient score", "EQ")


def test_runs_with_another_judge_are_ranked_and_drawn_apart():
    runs = _measured("abcd", a=[0.0] * 40, c=[0.0] * 40)
    for entry in runs[2:]:
        entry.judge = "gpt-4o"
    found = gather(runs, evidence=0)
    assert [ranking.task_title for ranking in found.rankings] == [
        "Questions, judge tact/rules",
        "Questions, judge gpt-4o",
    ]
    assert [ranking.leaders for ranking in found.rankings] == [("b",), ("d",)]
    assert all(ranking.unranked == {} for ranking in found.rankings)
    company = {entry.id: f"judge {entry.judge}" for entry in runs}
    drawn_apart = strips(found.profile, found.subjects, [CARD], company)
    assert [(strip.measure, [dot.subject for dot in strip.dots]) for strip in drawn_apart] == [
        ("Accuracy, judge tact/rules, 40 items", ["b", "a"]),
        ("Accuracy, judge gpt-4o, 40 items", ["d", "c"]),
    ]


def test_the_finding_names_the_judge_of_each_number_if_there_are_several():
    caveat = {"caveat": lambda run: f"{run.roles['judge']} judges"}
    definition = Instrument(FOLDER, TASKS, card=CARD, **caveat)
    runs = [changed(run, definition=definition) for run in _measured("abc", a=[0.0] * 40)]
    assert findings_of(gather(runs[:2], evidence=0))[-1] == "Tact/rules judges."
    runs[2].judge = "gpt-4o"
    first, *_, last = findings_of(gather(runs, evidence=0))
    assert first == "Tact test, judge tact/rules: b is clearly first."
    assert last == "a and b: tact/rules judges; c: gpt-4o judges."


def test_official_and_bundled_items_of_a_task_are_named_and_never_on_one_axis(tmp_path):
    runs = _measured("abcde", a=[0.0] * 40, c=[1.0] * 90, d=[0.0] * 90, e=[1.0] * 90)
    for run in runs[2:]:
        run.official = True
    found = gather(runs, evidence=0)
    assert [(one.task_title, [each.subject for each in one.standings]) for one in found.rankings] == [
        ("Questions, bundled items", ["b", "a"]),
        ("Questions, official items", ["c", "e", "d"]),
    ]
    assert all(one.unranked == {} for one in found.rankings), "runs on fewer bundled items are not short ones"
    assert findings_of(found)[0] == "Questions, bundled items: b is clearly first."
    drawn_apart = strips(found.profile, found.subjects, [CARD])
    assert [(strip.measure, [dot.subject for dot in strip.dots]) for strip in drawn_apart] == [
        ("Accuracy, 40 bundled items", ["b", "a"]),
        ("Accuracy, 90 official items", ["c", "e", "d"]),
    ]
    figures = found.figures()
    assert [name for name, one in figures.items() if one.title.endswith(", official items")] == [
        "tact/abilities-official", "tact/heat-official", "tact/table-official",
    ]  # fmt: skip
    assert figures["tact/abilities"].title == "Accuracy by ability, bundled items"
    assert {row[0] for row in figures["tact/table-official"].table.rows} == {"c", "d", "e"}
    labels = {row["label"] for row in figures["profile"].chart["data"]["values"]}
    assert labels == {f"to people · tact: Accuracy, {whose} items" for whose in ("bundled", "official")}
    tasks = {(row[0][0], row[1][0]) for row in all_numbers(found.chapters[0])}
    assert {("a", "Questions, bundled items"), ("e", "Questions, official items")} <= tasks
    page = write_report(runs, tmp_path / "sets.html", made="now", version="9.9").read_text(encoding="utf-8")
    assert page.count("Tact test, version 3, official items") == 3


def test_the_items_of_a_report_are_named_where_all_are_official(tmp_path):
    runs = [changed(run, official=True) for run in _measured("abc", a=[0.0] * 40, b=[1.0] * 40)]
    found = gather(runs, evidence=0)
    assert findings_of(found)[0] == "On official items, b is clearly first."
    page = write_report(runs, tmp_path / "official.html", made="now", version="9.9").read_text(encoding="utf-8")
    assert "Accuracy, official items on 40 shared items" in page and "version 3, official items" in page
    assert gather(runs[:2], evidence=0).comparisons[0].task_title == "Questions, official items"
    assert findings_of(gather(runs[:1], evidence=0))[0].startswith("On official items, the accuracy of a is 0.0 %")
    assert findings_of(gather(runs[:2], evidence=0))[0].startswith("On official items, b is better than a: ")


def test_the_page_opens_with_the_finding_and_folds_the_rest(page):
    text = page.read_text(encoding="utf-8")
    assert text.index('class="finding"') < text.index('class="panel"') < text.index("<details")
    main = re.sub(r"<details.*</details>", "", text[text.index("<main>") : text.index("</main>")], flags=re.S)
    assert "<figure" not in re.sub(r"<details class=\"more\">.*?</section>", "", text, flags=re.S)
    assert "<table" not in main or 'class="matrix"' in main


def test_the_page_of_a_run_that_a_rule_decided_begins_with_the_verdict_and_its_curve(tmp_path):
    store = tmp_path / "s.db"
    old = sm.run("sesi", model="baseline/oracle", limit=60, name="old", store=store)
    new = sm.run("sesi", model=lambda messages: "A", limit=60, store=store, against="old")
    alone, both = (
        write_report(runs, tmp_path / "r.html", made="", version="").read_text() for runs in ([new], [old, new])
    )
    front, _, chapter = alone.partition('<p class="finding">')[2].partition('class="chapter')
    verdict = next(line for line in finding(new).split("\n") if line.startswith("Accuracy against old until decided"))
    assert front.startswith(verdict) and "allowing for the looks." in verdict
    assert chapter.index("Evidence over items") < chapter.index('class="panel')
    assert "<li>Accuracy against old" not in chapter, "the verdict is said once"
    assert verdict not in both, "two runs have their comparison"
    assert both.index('class="panel') < both.index("Evidence over items")


def test_an_empty_figure_is_not_shown():
    hollow = (
        Figure("a", "A", table=Table("a", "A", ("x",), ())),
        Figure("b", "B", chart=heat_map([])),
        Figure("c", "C", table=Table("c", "C", ("x", "y"), ((1, None), (2, "")))),
    )
    instrument = Instrument(FOLDER, TASKS, card=CARD, figures=lambda runs: hollow)
    shown = gather([changed(given()[0], definition=instrument)], evidence=0).chapters[0].figures
    assert [figure.name for figure in shown] == ["c"]
    assert without_empty_columns(shown[0].table).columns == ("x",)


def test_the_numbers_of_a_column_have_the_same_decimals():
    table = Table("t", "T", ("score", "share", "count"), ((67.812, 0.325, 1.0), (9.0, None, 2.0)))
    assert rows(table) == [[("67.8", True), ("0.325", True), ("1", True)], [("9.0", True), ("–", True), ("2", True)]]


def test_a_share_in_a_table_has_its_percent_sign():
    table = Table("t", "T", ("share", "points"), ((0.827, 0.5), (1.0, 1.25), (None, None)), units={"share": "share"})
    assert [row[0] for row in rows(table)] == [("82.7 %", True), ("100 %", True), ("–", True)]


def test_people_of_the_paper_are_said_to_have_met_other_items(content):
    assert content.whose_people == "on the items of the paper"
    official = gather([changed(given()[0], official=True)], evidence=0)
    assert not official.whose_people


def test_a_caveat_of_all_subjects_is_said_once(content):
    assert content.chapters[0].notes == ("The key is its authors' judgement.",)


def test_strips_place_values_on_the_card_scale(content):
    (strip,) = strips(content.profile, content.subjects, [content.chapters[0].card])
    assert [mark.name for mark in strip.marks] == ["chance", "people"]
    assert strip.marks[0].at == 25
    best, middle = strip.dots[:2]
    assert (
        best.beside == "1 unreadable, 1 failed, stand-in as judge (tact/rules)" and best.range_text[-9:] == " 39 items"
    )
    assert (middle.at, middle.text, middle.range_text) == (50, "50 %", "[35, 65] 40 items")
    assert middle.caveat == "" and middle.beside.endswith("stand-in as judge (tact/rules)")
    assert strip.ends == ((0.0, "0 %"),), "the name of people at 90 % needs the room"


def test_unreadable_replies_are_counted_in_items_where_an_item_has_several_questions():
    """49 of 370 replies in 15 of 50 matches are not most of its answers; 180 of 210 in 20 of 21 games are."""

    def line(items, questions):
        run = fake_run("a", [0, 1] * 20, unreadable=[questions] * items + [0] * (40 - items))
        return profile_lines(
            [structs.replace(run, summary=Summary(grouped_measures(run, "correct", name="accuracy")))]
        )[0]

    few_line, most_line = line(12, 4), line(39, 9)
    assert (few_line.unreadable, few_line.unread_items, few_line.unread) == (48, 12, False)
    assert (most_line.unreadable, most_line.unread_items, most_line.unread) == (351, 39, True)


def test_the_headline_names_the_test_and_the_tasks_whose_answers_cannot_be_read():
    found = gather([*_measured("a"), *_on("wit", "a")], evidence=0)
    (chapter, other), (line, its) = found.chapters, found.profile
    tasks = {"questions": 1, "numbers": 40, "cards": 39}
    results = [structs.replace(chapter.results[0], task=task) for task in tasks]
    lines = [structs.replace(line, task=task, unreadable=one, unread_items=one) for task, one in tasks.items()]
    chapters = (structs.replace(chapter, results=tuple(results)), other)
    several = structs.replace(found, chapters=chapters, profile=(*lines, its))
    assert findings_of(several)[-1] == "79 of 80 answers of a on Tact test (“numbers” and “cards”) cannot be read."
    cards = structs.replace(lines[2], unreadable=200)
    games = [*lines[:2], cards, structs.replace(cards, measure="other"), its]
    said = "79 of 80 items of a on Tact test (“numbers” and “cards”) have an answer that cannot be read."
    assert findings_of(structs.replace(several, profile=tuple(games)))[-1] == said
    line = structs.replace(line, unreadable=40, unread_items=40)
    whole = structs.replace(found, profile=(line, its))
    assert findings_of(whole)[0] == "40 of 40 answers of a on Tact test cannot be read."
    alone = structs.replace(whole, chapters=(chapter,))
    assert findings_of(alone) == ("40 of 40 answers of a cannot be read.",)


def test_a_reader_is_told_who_the_subjects_are_whose_the_items_and_what_chance_is(tmp_path):
    store, page = tmp_path / "s.db", tmp_path / "page.html"
    for model in ("baseline/random", "baseline/refuse", "recorded/by-hand-careful"):
        sm.run("sesi", model=model, limit=40, store=store)
    assert run_command(["report", "--store", str(store), "--to", str(page)]) == 0
    whole = page.read_text(encoding="utf-8").replace("<wbr>", "")
    text = " ".join(re.sub(r"<[^>]*>", " ", whole).split())
    assert "baseline/random : a random answer; all have the same probability." in text
    assert "recorded/by-hand-careful : replies of a capable, unnamed language model, careful, recorded" in text
    assert "dashed lines are chance, what random answers earn on average." in text
    assert "All items are bundled with Sociometer and are not those of the papers" in text
    assert "Bundled items of this project" not in text, "said once"
    assert "baseline/refuse no mark: unreadable answers on most items" in text
    assert re.search(r"Accuracy(, 40 items)?; higher is better", text)
    assert re.search(r"95 % interval chance items unreadable replies failed note .*? 25 % 40 0 0", text)


def test_a_strip_has_the_digits_of_the_sentence_and_names_what_is_too_few(content):
    card = structs.replace(content.chapters[0].card, task=(TaskCard("questions", "Questions", cluster="tree"),))
    few = structs.replace(content.profile[0], interval=Interval(None, None, clusters=7))
    (strip,) = strips([few], content.subjects, [card])
    assert strip.note == "No intervals: 7 trees at most, and 10 are needed."
    sure = structs.replace(few, value=0.367, interval=Interval(0.2508, 0.5012, clusters=60), errors=0, cases=())
    (strip,) = strips([sure], content.subjects, [card])
    assert (strip.dots[0].text, strip.dots[0].range_text) == ("36.7 %", "[25.1, 50.1]"), "better than chance, 25 %"


def test_two_runs_of_one_subject_are_told_apart():
    one, two, _ = given()
    two.subject = "plain"
    found = gather([one, two], evidence=0)
    assert found.subjects == ("plain (run-1)", "plain (run-2)")
    assert found.evidence == ()


def _twice(*runs, official=(False, False)):
    given_runs = [changed(run, official=of) for run, of in zip(runs, official, strict=True)]
    return gather(given_runs, evidence=0)


def test_two_runs_of_one_subject_are_named_by_what_sets_them_apart():
    plain = VALUES["plain"]
    by_setting = _twice(
        FakeStoredRun("r1", "a", plain, condition="control"), FakeStoredRun("r2", "a", plain, condition="anxiety")
    )
    assert by_setting.subjects == ("a (condition control)", "a (condition anxiety)")
    assert set(by_setting.names.values()) == {"a"}
    by_flag = _twice(FakeStoredRun("r1", "a", plain, shuffle=False), FakeStoredRun("r2", "a", plain, shuffle=True))
    assert by_flag.subjects == ("a", "a (shuffle)")
    other = FakeStoredRun("r2", "a", plain)
    other.judge = "gpt-4o"
    assert _twice(FakeStoredRun("r1", "a", plain), other).subjects == ("a (judge tact/rules)", "a (judge gpt-4o)")
    official = _twice(FakeStoredRun("r1", "a", plain), FakeStoredRun("r2", "a", plain), official=(True, False))
    assert official.subjects == ("a (official items)", "a")
    wordy = _twice(FakeStoredRun("r1", "a", plain, persona="x" * 80), FakeStoredRun("r2", "a", plain, persona="y" * 80))
    assert wordy.subjects == ("a (r1)", "a (r2)")


def test_an_analysis_of_a_subject_does_not_make_it_two():
    talk, analysis = FakeStoredRun("r1", "a", VALUES["plain"]), FakeStoredRun("r2", "a", VALUES["plain"], depth="full")
    analysis.tasks = ("others",)
    of = structs.replace(INSTRUMENT.card, task=(TaskCard("questions", "Q"), TaskCard("others", "O")))
    others = structs.replace(TASKS[0], name="others")
    instrument = Instrument(FOLDER, [*TASKS, others], card=of, figures=lambda runs: ())
    found = gather([changed(run, definition=instrument) for run in (talk, analysis)], evidence=0)
    assert found.subjects == ("a",)


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (["2026-01-02 03:04 UTC"], "on 2 January 2026"),
        (["2026-01-02", "2026-01-02 23:00 UTC", ""], "on 2 January 2026"),
        (["2026-01-05", "2026-01-02"], "between 2 January 2026 and 5 January 2026"),
        (["2026-01-30", "2026-02-05"], "between 30 January 2026 and 5 February 2026"),
        (["2025-12-30", "2026-01-05"], "between 30 December 2025 and 5 January 2026"),
        (["", ""], ""),
    ],
)
def test_the_days_of_the_runs_are_told_in_words(days, words):
    assert days_in_words(days) == words


def test_the_front_says_when_it_was_measured_and_the_foot_when_the_page_was_made(tmp_path):
    out = write_report(given()[:1], tmp_path / "page.html", made="9 March 2027", version="9.9")
    text = out.read_text(encoding="utf-8")
    assert "Measured on 2 January 2026. Marks are scores" in " ".join(text.split())
    assert text.count("9 March 2027") == 1
    undated = [changed(given()[0], created="")]
    out = write_report(undated, tmp_path / "page.html", made="9 March 2027", version="9.9")
    assert '<p class="lead">Marks are scores' in out.read_text(encoding="utf-8")


def test_the_numbers_behind_a_comparison_are_all_on_the_page(tmp_path):
    terms = Terms(margin=10)
    out = write_report(_two_given(), tmp_path / "page.html", made="now", version="9.9", terms=terms)
    text = out.read_text(encoding="utf-8")
    section = text[text.index(' id="compare">') : text.index('<section id="evidence"')]
    assert section.index("better minus plain") < section.index("<details>"), "the differences are not folded"
    for head in ("p adjusted", "same within", "independent items", "adjusted for"):
        assert f">{head}</th>" in section
    assert "ability: empathy" in section
    assert re.search(r">\d+ points<.*>\[\d+, \d+\]<", section), "points and brackets, as in the sentence"
    assert "A verdict follows from the interval next to it" in section
    (comparison,) = gather(_two_given(), terms=terms, evidence=0).comparisons
    table = comparison_table(comparison)
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert cells["same within"] == "10 points: not shown"


def test_two_runs_with_different_items_have_their_values_on_the_shared_ones():
    """The chart has 75 % of 40 items next to 60 % of 20; on the 20 that both have it is 50 % and 60 %."""
    found = findings_of(gather(_measured("ab", a=[0.0, 1.0] * 10 + [1.0] * 20, b=[1.0] * 12 + [0.0] * 8), evidence=0))
    assert found[0].startswith("20 items show no clear difference in accuracy: b is 10 points higher than a [")
    assert found[1] == "On the 20 items that both have, the accuracy is 50 % with a and 60 % with b."


def test_two_subjects_keep_their_order_and_their_differences_are_drawn_around_zero():
    content = gather(_measured("ab", b=[1.0] * 40), evidence=0)
    (strip,) = strips(content.profile, content.subjects, [chapter.card for chapter in content.chapters])
    assert [dot.subject for dot in strip.dots] == ["a", "b"], "the better one is not moved to the front"
    (strip,) = difference_strips(content.comparisons[0], content.subjects)
    assert strip.measure == "b minus a: to the right of 0, b is higher"
    assert strip.ends == ((0.0, "← a better"), (100.0, "b better →"))
    assert [mark.at for mark in strip.marks] == [50] and 50 < strip.dots[0].low < strip.dots[0].at < 100
    assert strip.dots[0].range_text.endswith("], better")
    row = structs.replace(content.comparisons[0].measures[0], better="lower")
    (other,) = difference_strips(structs.replace(content.comparisons[0], measures=(row,)), content.subjects)
    assert 50 < other.dots[0].low < other.dots[0].at, "right is positive"
    assert other.ends == ((0.0, "← b better"), (100.0, "a better →")), "and where lower is better, the side of a"


def test_the_ends_of_a_very_short_scale_have_decimals():
    lines = profile_lines([_normed("gpt", 0.002, 151.0)])
    near = structs.replace(lines[0], interval=Interval(0.0, 0.089), chance=None, human=None, top=None)
    (strip,) = strips([near], ["gpt"], [NORMED])
    assert strip.ends[-1][1].startswith("0.") and float(strip.ends[-1][1]) > 0.05


def test_each_measure_without_a_unit_has_a_strip_of_its_own():
    content = gather(_measured("ab", b=[1.0] * 40), evidence=0)
    share = content.comparisons[0].measures[0]
    far, near = (
        structs.replace(share.paired, difference=factor * 2.7, interval=Interval(factor * 2.1, factor * 3.3))
        for factor in (1, 0.1)
    )
    large, small = (structs.replace(share, name=str(one), unit="number", paired=one) for one in (far, near))
    both = structs.replace(content.comparisons[0], measures=(large, small, share, share))
    first, second, third = difference_strips(both, content.subjects)
    assert [len(strip.dots) for strip in (first, second, third)] == [1, 1, 2], "shares have one scale"
    assert second.dots[0].at == first.dots[0].at > 75 and second.dots[0].high == 99


def test_the_verdict_on_two_subjects_is_on_the_page_once(tmp_path):
    out = tmp_path / "two.html"
    runs = _measured("ab", b=[1.0] * 40)
    write_report(runs, out, made="now", version="9.9", evidence=0)
    assert out.read_text(encoding="utf-8").count("b is better than a: ") == 1
    write_report([*runs, *_on("calm", "ab")], out, made="now", version="9.9", evidence=0)
    text = out.read_text(encoding="utf-8")
    assert text.count("b is better than a: ") == 1 and text.count("could detect a difference") == 1


def test_a_ranking_of_two_tests_has_the_subjects_of_each_together(tmp_path):
    store = tmp_path / "s.db"
    runs = [
        sm.run(test, model=f"baseline/{model}", limit=12, name=f"{test} {model}", store=store)
        for test, models in (("sesi", ("first", "longest", "random")), ("seceu", ("even", "oracle", "refuse")))
        for model in models
    ]
    tests = [subject.partition(" ")[0] for subject in best_first(gather(runs))]
    assert tests == ["sesi"] * 3 + ["seceu"] * 3


def test_a_ranking_of_two_tests_is_sorted_by_the_ranks_of_the_first_and_says_so(tmp_path):
    half = [1.0, 0.0] * 20
    runs = _measured("abcd", a=[1.0] * 40, b=[1.0] * 38 + [0.0] * 2, c=[0.0] * 40, d=half)
    out, content = tmp_path / "page.html", gather([*runs, *_on("calm", "ce", c=[1.0] * 40, e=half)])
    first = content.rankings[0]
    assert [rank_text(first.of(subject)) for subject in "abdc"] == ["1 to 2", "1 to 2", "3", "4"]
    assert best_first(content) == ["a", "b", "d", "c", "e"], "a first place among two on the next test lifts nobody"
    standings = (
        structs.replace(one, ranks=structs.replace(one.ranks, low=1 + (one.subject == "a"))) for one in first.standings
    )
    noisy = structs.replace(first, standings=tuple(standings))
    assert best_first(structs.replace(content, rankings=(noisy,)))[:2] == ["b", "d"], (
        "the ranges that are shown go before the scores"
    )
    write_report([*runs, *_on("calm", "ce")], out, made="now", version="9.9", evidence=0)
    assert out.read_text(encoding="utf-8").count("Rows are sorted by the first column: by ranks, then by scores.") == 1


def test_two_subjects_with_a_stand_in_get_no_verdict_as_more_get_no_rank():
    content = gather([changed(run, stand_ins=("judge: tact/rules",)) for run in _measured("ab")], evidence=0)
    (one,) = content.comparisons
    assert {row.verdict_text for row in one.measures} == {"no verdict (stand-in)"}
    assert "judge: tact/rules is a stand-in, not a real model" in one.notes
    caveat, verdict = findings_of(content)[:2]
    assert caveat == "Tact test was played with a stand-in, so its scores are not a measurement."
    assert verdict.startswith("No verdict, because a stand-in played a role: b is ")
    (strip,) = strips(content.profile, content.subjects, [chapter.card for chapter in content.chapters])
    assert all(dot.beside.endswith("stand-in as judge (tact/rules)") for dot in strip.dots), (
        "scores are shown and marked"
    )
    assert {dot.caveat for dot in strip.dots} == {""}, "not as if the subject were one"
    assert not any("stand-in" in trouble for trouble in troubles(content)), "and told once"


def test_subjects_that_the_items_cannot_tell_apart_are_marked_alike_in_a_ranking(tmp_path):
    out, many = tmp_path / "page.html", [f"t{place}" for place in range(5)]
    every = [run for name in many for run in _on(name, ["a", "baseline/oracle", "b"], b=[0.0] * 40)]
    write_report(every, out, made="now", version="9.9", evidence=0)
    assert out.read_text(encoding="utf-8").count('<td class="leading">1 to 2</td>') == 2 * len(many)


def test_a_comparison_of_too_few_items_has_no_p():
    (comparison,) = gather(_measured("ab", a=[1.0] * 4, b=[0.0] * 4), evidence=0).comparisons
    table = comparison_table(comparison)
    cells = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert {(row["verdict"], row["p"], row["p adjusted"]) for row in cells} == {("too few", None, None)}


def test_the_page_says_which_runs_are_left_out(tmp_path):
    out = tmp_path / "left.html"
    write_report(_measured("ab"), out, made="now", version="9.9", left_out=["c on tact (r9) has 2 of the 40 items"])
    assert "<li>Left out: c on tact (r9) has 2 of the 40 items.</li>" in out.read_text(encoding="utf-8")


def test_a_page_has_no_advice_of_version_0_3_and_names_what_is_too_few(monkeypatch):
    (run,) = _measured("a", a=[1.0] * 4)
    summary = structs.replace(run.summary(), notes=("Add --blind to see more.", "A caveat."))
    monkeypatch.setattr(run, "summary", lambda task="": summary)
    card = structs.replace(CARD, task=(TaskCard("questions", "Questions", cluster="story"),))
    run.definition = Instrument(FOLDER, TASKS, card=card)
    (chapter,) = gather([run], evidence=0).chapters
    assert chapter.notes == ("A caveat.",)
    assert {row[5][0] for row in all_numbers(chapter)} == {"too few (4 stories)", "too few (2 stories)"}


def test_the_first_subject_given_is_the_reference_for_every_instrument():
    one, two, _ = given()
    manners = Instrument(FOLDER, TASKS, card=structs.replace(CARD, name="manners"))
    third, fourth, _ = given()
    for entry, run in ((third, "run-4"), (fourth, "run-5")):
        entry.definition, entry.id = manners, run
    found = gather([one, two, fourth, third], evidence=0)
    assert [(c.instrument, c.first, c.second) for c in found.comparisons] == [
        ("tact", "plain", "better"),
        ("manners", "plain", "better"),
    ]


def test_no_run_is_no_report():
    with pytest.raises(UsageError, match="at least one run"):
        gather([])


def test_best_worst_unreadable_and_failed_are_chosen():
    run = given()[1]
    episodes = list(run.view().episodes())
    chosen = choose(episodes, "correct", each=2)
    kinds = {
        kind: [place for place, of in chosen.items() if kind in of]
        for kind in ("best", "worst", "unreadable", "failed")
    }
    assert kinds["worst"] == [39] or 39 in kinds["worst"]
    assert kinds["failed"] == [38]
    assert kinds["unreadable"] == [5]
    assert all(episodes[place].score.values["correct"] == 1 for place in kinds["best"])


def test_where_all_are_alike_none_is_best_and_nobody_is_both():
    alike = list(FakeStoredRun("r", "a", [1.0] * 6).view().episodes())
    assert {kind for kinds in choose(alike, "correct", each=2).values() for kind in kinds} == {"random", "unreadable"}
    few = list(FakeStoredRun("r", "a", [0.0, 0.5, 1.0]).view().episodes())
    kinds = choose(few, "correct", each=4)
    assert [{"best", "worst"} & kinds[place] for place in range(3)] == [{"worst"}, set(), {"best"}]
    turned = choose(few, "correct", each=4, lower_is_better=True)
    assert "best" in turned[0] and "worst" in turned[2]


def test_a_missing_number_stands_where_numbers_stand():
    figure = Figure("t", "T", table=Table("t", "T", ("who", "how much"), (("a", 0.5), ("b", None), (None, 1))))
    assert rows(figure.table) == [
        [("a", False), ("0.500", True)],
        [("b", False), ("–", True)],
        [("–", False), ("1", True)],
    ]


def test_a_place_on_a_norm_is_shown_around_the_people_and_not_from_its_far_end():
    of = structs.replace(
        INSTRUMENT.card,
        measure=(MeasureCard("questions", "eq", "EQ", "points", low=-110.0, high=151.0, human=100.0, primary=True),),
    )
    summary = Summary((Measure("eq", 120.0, interval=Interval(110.0, 130.0)),))
    run = summarised_run("r", "questions", "a", {}, summary, card=of)
    (strip,) = strips(profile_lines([run]), ["a"], [of])
    assert strip.ends == ((0.0, "90"), (100.0, "140")) and strip.marks[0].at == pytest.approx(20)
    assert strip.marks[0].lower, "its name is not on that of an end"


def test_the_profile_names_the_measures_it_cannot_place_and_the_end_each_is_measured_to():
    def line(name, **more):
        of = structs.replace(
            INSTRUMENT.card, name=name, measure=(MeasureCard("questions", "m", "M", primary=True, **more),)
        )
        run = summarised_run("r", "questions", "a", {}, Summary((Measure("m", 0.5),)), card=of)
        return profile_lines([run])[0]

    lines = [line("tact", chance=0.2, human=0.9), line("wit", chance=0.2, top=1.0), line("sage", top=1.0)]
    figure = profile_figure(lines)
    assert [dot["label"] for dot in figure.chart["data"]["values"]] == ["to people · tact: M", "to the top · wit: M"]
    assert "Not shown, because the chance score is unknown: sage: M." in figure.caption
    assert "sage: M." in " ".join(figure.chart["title"]["text"])
    assert "people or the top" in str(figure.chart["layer"])
    alone = profile_figure(lines[:1])
    assert "title" not in alone.chart and "the top" not in str(alone.chart)


def test_a_growing_conversation_is_shown_without_repeating_it():
    lines = transcript_lines(given()[0].transcript("q00"))
    assert [line.speaker for line in lines] == ["system", "user", "reply", "note", "user", "reply"]
    assert lines[3].facts["price"] == "0.1235"


def test_numbers_are_shown_in_their_unit():
    assert number(0.4567, "share") == "45.7 %"
    assert number(97.25, "points") == "97.3"
    assert number(None, "share") == "–"
    assert interval_text(Interval(None, None, clusters=4), "share") == "too few (4 independent items)"
    assert interval_text(Interval(None, None, clusters=1), "share") == "too few (1 independent item)"
    assert interval_text(Interval(1.0, 1.0, method="no variation"), "share") == "the same on every item"
    assert [cell_text(value) for value in (None, True, 0.25, 3, "x")] == ["–", "yes", "0.25", "3", "x"]


def test_figures_become_pictures_for_a_paper(content, tmp_path):
    figures = content.figures()
    assert set(figures) == {"profile", "tact/abilities", "tact/heat", "tact/table"}
    starts = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}
    for kind, start in starts.items():
        out = write_figure(find_figure(figures, "abilities"), tmp_path / f"figure.{kind}")
        assert out.read_bytes().startswith(start)
    assert drawn(figures["profile"], "svg", mode="dark").startswith(b"<svg")


def test_a_table_becomes_a_file_of_rows(content, tmp_path):
    out = write_figure(find_figure(content.figures(), "tact/table"), tmp_path / "table.csv")
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["who,how much", "plain,0.25"]


def test_all_figures_of_a_result_go_into_one_folder_under_names_of_their_own(content, tmp_path):
    found = [figure for figure in content.figures().values() if figure.chart is None or figure.name == "abilities"]
    found.append(Figure("table", "T", table=Table("t", "T", ("a",), ((None,), (True,)))))
    found.append(Figure("../up / there", "U", chart=found[0].chart))
    paths = plot_all(found, tmp_path / "figures")
    names = ["abilities.svg", "table.csv", "table-2.csv", "up-there.svg"]
    assert [path.name for path in paths] == names
    assert {path.parent for path in paths} == {tmp_path / "figures"}
    assert paths[2].read_text(encoding="utf-8") == 'a\n""\nTrue\n'
    assert paths[3].read_bytes().startswith(b"<svg")


def table_figure(name):
    return Figure(name, "T", table=Table("t", "T", ("a",), (("x",),)))


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (("../../x", "/etc/passwd", "a/../../b", "..", ""), ("x", "etc-passwd", "a-..-..-b", "figure", "figure-2")),
        (("a", "a", "a-2", "a"), ("a", "a-2", "a-2-2", "a-3")),
        (("A", "a", "É", "é"), ("A", "a-2", "É", "é-2")),
        (("é", "e\N{COMBINING ACUTE ACCENT}"), ("é", "é-2")),
        (("CON", "nul.txt", "com1", "console"), ("figure-CON", "figure-nul.txt", "figure-com1", "console")),
        (('a<b>:"|?*\\c', "a\0b", "a\nb", "\ud800"), ("a-b-c", "a-b", "a-b-2", "figure")),
        (("x" * 400, "x" * 500, "情" * 200), ("x" * 120, "x" * 120 + "-2", "情" * 40)),
    ],
)
def test_a_figure_never_leads_out_of_its_folder_nor_over_another(tmp_path, given, names):
    paths = plot_all([table_figure(name) for name in given], tmp_path / "figures")
    assert [path.name for path in paths] == [f"{name}.csv" for name in names]
    assert {path.parent for path in paths} == {tmp_path / "figures"}
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(paths)


def test_a_link_in_the_way_of_a_figure_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/t.csv").symlink_to(tmp_path / "kept")
    plot_all([table_figure("t")], tmp_path / "figures")
    assert (tmp_path / "kept").read_text() == "kept"
    assert (tmp_path / "figures/t.csv").read_text() == "a\nx\n"


@pytest.mark.parametrize("out", ["x" * 300 + ".csv", "file/t.csv"])
def test_a_figure_that_cannot_be_written_is_said_by_its_path(tmp_path, out):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"\.csv: cannot be written \(|there is no folder '.*file'"):
        write_figure(table_figure("t"), tmp_path / out)


def test_a_table_holds_no_formula(tmp_path):
    rows = (("=1+1", -1), ("@x", None))
    out = write_figure(Figure("t", "T", table=Table("t", "T", ("a", "b"), rows)), tmp_path / "t.csv")
    assert out.read_text(encoding="utf-8") == "a,b\n'=1+1,-1\n'@x,\n"


def test_what_cannot_be_drawn_is_refused_with_the_next_step(content):
    figures = content.figures()
    with pytest.raises(UsageError, match=r"is a table; write it as \.csv, not as \.svg"):
        drawn(figures["tact/table"], "svg")
    with pytest.raises(UsageError, match=r"is a picture; write it as \.svg, \.pdf or \.png, not as \.csv"):
        drawn(figures["profile"], "csv")
    with pytest.raises(UsageError, match=r"unknown picture format '\.gif'; use one of"):
        drawn(figures["profile"], "gif")
    with pytest.raises(UsageError, match="did you mean 'tact/abilities'"):
        find_figure(figures, "tact/abilites")
    twice = {"a/x": Figure("x", "X", table=Table("x", "X", (), ())), "b/x": Figure("x", "X")}
    with pytest.raises(UsageError, match="several figures; give one of: a/x, b/x"):
        find_figure(twice, "x")


def test_the_method_has_revision_sampling_intervals_and_what_to_cite(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "picker.py").write_text("def reply(messages):\n    return 'A'\n", encoding="utf-8")
    store, page = ("--store", str(tmp_path / "s.db")), tmp_path / "page.html"
    for baseline in ("random", "refuse"):
        run_command(["run", "sesi", "--model", f"baseline/{baseline}", "--limit", "20", *store])
    words = ["run", "sesi", "--model", "python/picker:reply", "--limit", "20", "-o", "temperature=0.5"]
    assert run_command([*words, "--max-requests", "2", *store]) != 0
    run_command(["report", "all", "--to", str(page), *store])
    text = page.read_text("utf-8")
    assert "has 2 of the 20 items that most runs have" in text
    assert "is stopped (--max-requests 2 is reached); the numbers are provisional" in text
    assert run_command([*words, "--name", "whole", "--fresh", *store]) == 0
    run_command(["report", "whole", "baseline/random", "baseline/refuse", "--to", str(page), *store])
    text = page.read_text(encoding="utf-8").partition('id="method"')[2].partition("</section>")[0]
    assert text.count("Model revision: ") == 1, "a baseline has none"
    assert "Sampling as sent: temperature 0.5, top p 1.0, max tokens 1000, seed 42." in text
    run_command(["run", "sesi", "--model", "python/picker:reply", "--limit", "20", "--name", "usual", *store])
    run_command(["report", "usual", "--to", str(page), *store])
    assert "Sampling as sent: temperature 0.0, top p 1.0, max tokens 1000, seed 42." in page.read_text("utf-8")
    assert "Wilson on the effective sample size" in text and "docs/reference/numbers.md" in text
    assert "To cite: The Sociometer authors, Sociometer " in text and "arxiv.org/abs/2403.06591" in text
