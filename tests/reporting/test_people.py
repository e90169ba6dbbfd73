"""The people of a study on the page: the verdict first, how their scores are distributed, who they are."""

import re
import zlib
from contextlib import closing
from html import unescape
from statistics import fmean, stdev

import pytest
from msgspec import structs

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.reporting.content import gather
from sociometer.store.studies import Study, StudyBook, Timing, book_path

PEOPLE, ITEMS = 12, 15
SAME = {"limit": ITEMS, "settings": {"orders": 1}}


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """A store with a study of twelve people who answer at random, one who fails the check, and three baselines."""
    path = tmp_path_factory.mktemp("people") / "s.db"
    book = StudyBook(book_path(path))
    study = Study("spring", RunConfig(instrument="sesi", subject="human", limit=ITEMS), asks=("age",), attention=1)
    book.create(study)
    for number in range(PEOPLE + 1):

        def answer(messages, number=number):
            return "ABCD"[zlib.crc32(f"{number} {messages}".encode()) % 4]

        person, _ = book.join(study, {"age": "40"})
        made = sm.run("sesi", model=answer, fresh=True, store=path, name=f"spring.{person.id}", **SAME)
        book.set_run(person, made.id)
        book.add_check(person.id, 0, number < PEOPLE)
        book.add_timing(Timing(person.id, 0, 60.0 * (number + 2)))
    book.close()
    for model in ("oracle", "random", "refuse"):
        sm.run("sesi", model=f"baseline/{model}", name=model, store=path, **SAME)
    return path


def words_of(studied, *names):
    """The text of the page about a study and other runs, and its HTML."""
    runs = [sm.get_run(name, store=studied) for name in names]
    html = sm.report(runs, studied.parent / "page.html", evidence=0).read_text("utf-8")
    main = re.sub(r"<script.*?</script>", "", html[html.index("<main") :], flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", main)).split()), html


def test_the_first_sentence_about_people_and_a_baseline_is_the_verdict(studied):
    said, html = words_of(studied, "spring", "oracle")
    finding = re.search(r'<p class="finding">(.*?)</p>', html)[1]
    verdict = r"oracle \(stand-in\) is better than people \(spring, n\u00a0=\u00a012\): \d+ points higher \[\d+, \d+\]"
    assert re.match(rf"On {ITEMS} items, {verdict}", finding)
    assert "<h1>People (spring, n\u00a0=\u00a012) and oracle on SESI</h1>" in html, "no line ends within n = 12"
    assert said.count("is better than people (spring, n = 12)") == 1, "the comparison below does not repeat it"


def test_people_are_the_reference_whatever_the_order(studied):
    _, html = words_of(studied, "oracle", "spring")
    assert f'<p class="finding">On {ITEMS} items, oracle (stand-in) is better than people' in html


def test_the_figure_has_the_score_of_each_person_and_the_place_of_the_others_among_them(studied):
    said, html = words_of(studied, "spring", "oracle")
    assert sum(map(int, re.findall(r'class="column"[^>]*title="(\d+) (?:person|people)"', html))) == PEOPLE
    assert re.search(
        r"better than 12 of 12 people, 100 % \[\d+, 100\], and \d\.\d+ SD better than the mean of their scores", said
    )
    assert len(re.findall(r'<i class="other"', html)) == 1
    panel = html.partition('<article class="panel">')[2].partition("</article>")[0]
    assert re.findall(r'<span class="at[^>]*>(\d+ %)</span>', panel) == ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]


def test_the_columns_have_an_axis_and_a_model_without_answers_has_no_mark(studied):
    _, html = words_of(studied, "spring", "oracle", "refuse")
    panel = html.partition('<article class="panel">')[2].partition("</article>")[0]
    people, oracle, refuse = (
        next(lane for lane in panel.split('<div class="lane"') if f'<p class="name">{name}' in lane)
        for name in ("people", "oracle", "refuse")
    )
    most = max(map(int, re.findall(r'class="column"[^>]*title="(\d+) ', people)))
    axis = {int(count): int(height) for height, count in re.findall(r'<b style="--h: (\d+)">(\d+)</b>', people)}
    assert axis[0] == 0 and 2 <= len(axis) <= 4
    scores = sm.get_run("spring", store=studied).scores("questions", "accuracy")
    places = [
        (float(left), float(wide)) for left, wide in re.findall(r'"column" style="left: (.*?)%; width: (.*?)%', people)
    ]
    inner = sorted({100 * score for score in scores if 0.1 < score < 0.9})
    assert all(any(abs(left + wide / 2 - score) < 0.02 for left, wide in places) for score in inner) and inner
    assert all(height == round(100 * count / most) <= 100 for count, height in axis.items())
    assert len(re.findall(r'<i class="other"', people)) == 1, "no line of the one without answers"
    assert re.search(r'<i class="(whisker|dot )', oracle) and not re.search(r'<i class="(whisker|dot )', refuse)
    assert "<em>stand-in</em>" in oracle and "<em>no mark: unreadable answers on most items</em>" in refuse
    assert not re.search(r'"at end (first|last)"', panel), "each number is below its value"


def test_the_line_of_a_run_with_more_items_is_at_its_score_on_the_items_of_the_people(studied):
    longer = sm.run("sesi", "baseline/longest", name="longer", store=studied, **SAME | {"limit": 60})
    (shared,) = sm.compare("spring", "longer", store=studied).comparisons[0].primary_rows
    score = shared.paired.second
    assert shared.paired.items == ITEMS and score != longer.summary().measure("accuracy").value
    panel = words_of(studied, "spring", "longer")[1].partition('<article class="panel">')[2].partition("</article>")[0]
    line = re.search(r'<i class="other" style="[^"]*left: ([\d.]+)%" title="longer: (\d+) %"', panel)
    assert (float(line[1]), int(line[2])) == (pytest.approx(100 * score, abs=0.01), round(100 * score))


def test_the_items_are_a_folded_table_with_the_numbers_of_reliability(studied):
    _, html = words_of(studied, "spring", "oracle")
    table = html.partition("The 15 items answered by people: mean and discrimination</summary>")[2].partition(
        "</table>"
    )[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", table)]
    (found,) = sm.reliability("spring", store=studied).tasks
    assert [row[0] for row in rows] == [one.item for one in found.items]
    assert [float(row[1]) for row in rows] == pytest.approx([one.mean for one in found.items], abs=0.005)
    assert "share right (p)" in table and "discrimination" in table


def test_a_line_says_who_counts_who_does_not_and_why_how_long_and_how_reliably(studied):
    said, _ = words_of(studied, "spring")
    rules = "the same answer in at least 95 % of 10 or more questions of a task, or a failed or skipped attention check"
    sample = f"Study spring: 12 people; excluded: 1 flagged ({rules})."
    assert f"{sample} They took 7.5 minutes in the median, from 2.0 to 13.0." in said
    assert re.search(
        r"People Study .*?Accuracy: mean of the scores [\d.]+ %, standard deviation [\d.]+ points,"
        r" from [\d.]+ % to [\d.]+ %\."
        r" How .*?: Cronbach's alpha −?[\d.]+ \[",
        said,
    )
    use = r"too low to say anything about a single person(; more items raise it)?\. Standard error of measurement \d"
    assert re.search(rf" over 12 people and 15 items\. That is {use}", said)


def test_the_rules_follow_those_who_are_flagged_whatever_else_excludes(studied):
    mine = sm.get_run("spring", store=studied).members[-1]
    with closing(StudyBook(book_path(studied))) as book:
        study = book.study("spring")
        (one,) = (one.id for one in book.participants("spring") if one.run == mine)
        book.exclude(one, "trial of a flagged colleague")
        book.change(structs.replace(study, fastest_seconds=150.0))
        said, _ = words_of(studied, "spring")
        book.exclude(one, "")
        book.change(study)
    assert "excluded: 2 flagged (the same answer in at least 95 %" in said
    assert "a median response time under 150 seconds), 1 by hand: trial of a flagged colleague." in said


def test_of_two_studies_each_line_and_each_table_says_whose_it_is(tmp_path):
    for name in ("autumn", "winter"):
        take_feelings(tmp_path / "s.db", name, limit=12)
    said, html = words_of(tmp_path / "s.db", "autumn", "winter")
    for name in ("autumn", "winter"):
        assert f"{name}: Distance to the key (SECEU score): mean" in said
        assert f"The 12 items answered by people of {name}: mean and discrimination</summary>" in html
    alone, html = words_of(tmp_path / "s.db", "autumn")
    assert "autumn: Distance" not in alone and "answered by people: mean" in html


def take_feelings(path, name="autumn", **same):
    """A study of SECEU in which eleven women and a man answer."""
    book, ways = StudyBook(book_path(path)), ["4 3 2 1", "1 2 3 4", "2 2 3 3", "7 1 1 1", "1 7 1 1"]
    study = Study(name, RunConfig(instrument="seceu", subject="human", limit=12), asks=("sex",))
    book.create(study)
    for number in range(12):

        def answer(messages, number=number):
            return ways[zlib.crc32(f"{number} {messages}".encode()) % (2 + number % 4)]

        person, _ = book.join(study, {"sex": "f" if number else "m"})
        made = sm.run("seceu", model=answer, fresh=True, name=f"{name}.{person.id}", store=path, **same)
        book.set_run(person, made.id)
    book.close()


def test_people_on_a_norm_have_columns_a_mean_and_a_deviation_of_their_eq(tmp_path, official_data):
    same, path = {"limit": 12, "official": True, "data": official_data}, tmp_path / "s.db"
    take_feelings(path, **same)
    values = sm.get_run("autumn", store=path).scores("feelings", "eq")
    even = sm.run("seceu", "baseline/even", store=path, **same)
    said, html = words_of(path, "autumn", even.id)
    assert (
        f"EQ: mean of the scores {fmean(values):.1f}, standard deviation {stdev(values):.3g} points,"
        f" from {min(values):.3g} to" in said
    )
    panel = html.partition("EQ, 12 official items; higher is better")[2].partition("</article>")[0]
    assert sum(map(int, re.findall(r'class="column"[^>]*title="(\d+) ', panel))) == len(values) == 12


def test_what_has_another_key_has_a_panel_of_its_own_and_small_groups_are_not_named(tmp_path):
    path, same = tmp_path / "s.db", {"limit": 12, "store": tmp_path / "s.db"}
    take_feelings(path, limit=12)
    sm.study("autumn", store=path).norm(tmp_path / "norm.json")
    normed = sm.run("seceu", "baseline/even", settings={"norm": tmp_path / "norm.json"}, **same)
    people = sm.get_run("autumn", store=path)
    assert len(people.scores("feelings", "distance")) == 12 and not people.scores("feelings", "eq")
    said, _ = words_of(path, "autumn", normed.id)
    assert "groups of fewer than ten are not named" in said
    assert re.search(r"\(SECEU score\), 12 items; lower is better people \(autumn, n = 12\)", said)
    assert "Distance to the key (SECEU score), key: the answers in norm.json, 12 items; lower is better" in said
    assert "solid lines are people of the norm autumn, n = 12." in said and "items of the paper" not in said
    assert "the people of the norm (100)" in words_of(path, normed.id)[0]


def finding_of(studied, *names):
    """The finding on the page about a study and other runs."""
    return unescape(re.search(r'<p class="finding">(.*?)</p>', words_of(studied, *names)[1])[1])


def test_beside_others_each_has_a_verdict_and_its_place_among_the_people(studied):
    finding = finding_of(studied, "spring", "oracle", "random")
    assert "oracle (stand-in) is better than" in finding and "random (stand-in) is 7 points lower than" in finding
    adjusted = "(intervals of differences are adjusted for 2 comparisons)"
    assert "; better than 12 of 12. 15 items show" in finding and finding.endswith(
        f"; better than 4.5 of 12 {adjusted}."
    )
    whole = finding_of(studied, "spring", "oracle", "random", "refuse")
    assert whole.endswith(f"for 3 comparisons); {ITEMS} of {ITEMS} answers of refuse (stand-in) cannot be read.")
    assert " is better than people" in whole and "worse than oracle" not in whole


def test_a_model_without_answers_is_a_clause_and_people_are_no_finding_of_their_own(studied):
    sm.run("sesi", model="baseline/refuse", name="smol", store=studied, fresh=True, **SAME)
    finding = finding_of(studied, "spring", "oracle", "smol")
    assert re.match(
        rf"On {ITEMS} items, oracle \(stand-in\) is better than people \(spring, n\u00a0=\u00a012\)", finding
    )
    assert finding.endswith(f"for 2 comparisons); {ITEMS} of {ITEMS} answers of smol (stand-in) cannot be read.")
    alone = finding_of(studied, "spring", "smol")
    assert re.match(
        rf"{ITEMS} of {ITEMS} answers of smol \(stand-in\) cannot be read\."
        r" The accuracy of people \(spring, n\u00a0=\u00a012\) is",
        alone,
    )


def test_of_more_than_three_models_the_others_are_named_with_their_verdicts(studied):
    names = [f"m{place}" for place in range(5)]
    for name in names:
        sm.run("sesi", model="baseline/oracle", name=name, store=studied, fresh=True, **SAME)
    finding = finding_of(studied, "spring", *names)
    assert finding.count("is better than people") == 3 and "m2 (stand-in) is" in finding
    assert finding.endswith(
        "(intervals of differences are adjusted for 5 comparisons); better: m3 (stand-in) and m4 (stand-in)."
    )


def test_beside_people_the_headline_names_models_before_baselines_and_its_numbers_are_those_of_compare(studied, capsys):
    def first(messages):
        return "A"

    sm.run("sesi", model=first, name="reader", store=studied, **SAME)
    finding, names = finding_of(studied, "spring", "random", "reader"), ["random", "spring", "reader"]
    assert 0 < finding.index("reader") < finding.index("random (stand-in)"), "each of them is named"
    assert run_command(["compare", *names, "--store", str(studied), "--format", "wide"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    intervals = re.findall(r"than people \(spring, n\u00a0=\u00a012\) (\[[^]]+\])", finding)
    assert len(intervals) == 2 and all(interval in printed for interval in intervals)
    assert (
        "Intervals of differences are adjusted for 2 comparisons." in printed
        and "rank" not in printed.partition("seceu")[0]
    )


def test_beside_people_on_several_tasks_the_headline_counts_the_tasks_of_each_of_the_others(tmp_path):
    path, same = tmp_path / "s.db", {"limit": 12, "tasks": ["worlds", "counterfactual"], "store": tmp_path / "s.db"}
    book = StudyBook(book_path(path))
    study = Study(
        "both", RunConfig(instrument="egosocial", subject="human", limit=12, tasks=("worlds", "counterfactual"))
    )
    book.create(study)
    for number in range(10):
        person, _ = book.join(study, {})
        made = sm.run(
            "egosocial",
            model=lambda messages, letter="AB"[number % 2]: letter,
            fresh=True,
            name=f"both.{person.id}",
            **same,
        )
        book.set_run(person, made.id)
    book.close()
    for model in ("oracle", "refuse"):
        sm.run("egosocial", model=f"baseline/{model}", name=model, **same)
    oracle, refuse = finding_of(path, "both", "oracle", "refuse").replace("\u00a0", " ").split("; ")
    assert oracle == "Compared with people (both, n = 10), oracle (stand-in) is better on 2 of 2 tasks"
    assert "refuse (stand-in)" in refuse and "people (both, n = 10)" in refuse


def test_with_two_studies_the_people_of_each_are_the_reference_on_their_test(studied):
    take_feelings(studied, limit=12)
    sm.run("seceu", "baseline/even", limit=12, name="even", store=studied)
    said, html = words_of(studied, "spring", "autumn", "random", "even")
    finding = finding_of(studied, "spring", "autumn", "random", "even")
    one = r"SESI: 15 items show .*: random \(stand-in\) is .* than people \(spring, .*; better than 4\.5 of 12\. "
    two = r"SECEU: on 12 items, even \(stand-in\) is better than people \(autumn, .*; better than [\d.]+ of 12\."
    assert re.fullmatch(one + two, finding)
    assert 'id="compare"' in html and 'id="ranking"' not in html
    assert "even is better than people (autumn, n = 12)" in said.partition("Comparison")[2]


def test_models_are_ranked_without_the_people_of_two_studies_and_alone_on_a_test_without_people(studied, tmp_path):
    store = tmp_path / "s.db"
    assert run_command(["store", "copy", str(studied), str(store)]) == 0
    for model in ("oracle", "even"):
        sm.run("seceu", f"baseline/{model}", limit=12, name=model, store=store)
    named = (("oracle", "sesi"), ("random", "sesi"), ("oracle", "seceu"), ("even", "seceu"))
    runs = [sm.get_run("spring", store=store), *(sm.get_run(*one, store=store) for one in named)]
    content = gather(runs, evidence=0)
    assert {(one.instrument, one.first) for one in content.comparisons} == {
        ("sesi", "people (spring, n\u00a0=\u00a012)")
    }
    ranked = {one.instrument: {each.subject for each in one.standings} for one in content.rankings}
    assert ranked == {"sesi": {"oracle", "random"}, "seceu": {"oracle", "even"}}


def test_people_who_are_the_reference_have_no_rank_and_a_place_in_the_menu(studied):
    _, html = words_of(studied, "spring", "oracle", "random")
    menu = html.partition("<nav")[2].partition("</nav>")[0]
    assert '<a href="#people">People</a>' in menu and html.count('id="people"') == 1
    ranking = html.partition('<section id="ranking">')[2].partition("</section>")[0]
    assert "oracle" in ranking and "people (spring" not in ranking
    assert '"#people"' not in words_of(studied, "oracle", "random")[1]


def test_the_method_names_the_intervals_that_the_page_shows(studied):
    said, _ = words_of(studied, "spring", "oracle")
    method = said.partition("Method: runs, settings and intervals")[2]
    assert re.search(r"SESI\s+Accuracy of people.*?Wilson over people and items", method)
    assert "Differences from people have t intervals" in method and "bootstrap" not in method


def test_what_single_people_answered_is_on_the_page_only_if_asked_for(studied):
    runs = [sm.get_run(name, store=studied) for name in ("spring", "oracle")]
    shown = {each: gather(runs, evidence=each).evidence for each in (None, 1)}
    assert {one.run for one in shown[None]} == {runs[1].id}
    assert {one.run for one in shown[1]} == {run.id for run in runs}
    for each, left_out in ((None, True), (1, False)):
        html = sm.report(runs, studied.parent / "shown.html", evidence=each).read_text("utf-8")
        filters = html.partition('id="by-subject"')[2].partition("</select>")[0]
        assert ('"people (spring' in filters) is not left_out and '"oracle"' in filters
        assert ("What people answered is not on this page" in html) is left_out


def test_where_neither_has_any_no_difference_is_drawn(tmp_path):
    take_feelings(tmp_path / "s.db", limit=12)
    even = sm.run("seceu", "baseline/even", store=tmp_path / "s.db", limit=12)
    _, html = words_of(tmp_path / "s.db", "autumn", even.id)
    drawn = html.partition('<article class="verdict"')[2].partition("<details>")[0]
    assert "Evenness of the allocations" in drawn and "Answers without an allocation" not in drawn
    assert "Answers without an allocation" in html
