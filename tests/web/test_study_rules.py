"""Order, attention checks, exclusions, the owner's page and the place on the norm."""

import csv
import json
import random
import re
import sqlite3
import time
from contextlib import closing
from importlib.resources import files

import msgspec
import pytest
from open_study import OpenStudy
from person import Form, plain

import sociometer as sm
from simulated_people import SCENARIOS, simulated_people
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.core.measure import Interval, Measure, Summary
from sociometer.instruments.seceu.norming import build_norm
from sociometer.statistics.formatting import interval_text, number
from sociometer.store.episodes import Episodes
from sociometer.store.labels import LabelBook
from sociometer.store.labels import book_path as labels_path
from sociometer.store.studies import Decision, Facts, Study, StudyBook, book_path, decide
from sociometer.web.study import checks_of, place_of

OLD_PLACES = [[1, 3, 5], [1, 7, 7], [3, 5, 7], [5, 6, 7]]
"""Where version 0.2 asked the three checks of p-0 to p-3 among eight items."""


def study(**options):
    return Study("spring", RunConfig(instrument="seceu", subject="human"), secret="s", **options)


class Attentive:
    """Answers the items at random and the attention checks of a study; `right` says whether checks are read."""

    def __init__(self, opened, seed, right=True, **about):
        self.person, self.right, self.after = opened.person().join(**about), right, []
        self.lots = random.Random(seed)

    def take(self):
        answered = 0
        while True:
            text = self.person.page().text
            if 'action="/check"' in text:
                form = Form(text, "/check")
                named = re.search("choose “([^”]+)”", plain(text)).group(1)
                said = named if self.right else next(one for one in form.radios["answer"] if one != named)
                assert self.person.post("/check", {**form.hidden, "answer": said}).status == 303
                self.after.append(answered)
            else:
                form = Form(text, "/take")
                if not form.hidden:
                    return self
                cuts = sorted(self.lots.randrange(11) for _ in range(3))
                self.person.points = [b - a for a, b in zip([0, *cuts], [*cuts, 10], strict=True)]
                assert self.person.post("/take", self.person.filled(form)).status == 303
                answered += 1


def items_of(opened, person):
    return [episode.item.id for episode in sm.get_run(opened.run_of(person), store=opened.path).episodes()]


def test_with_a_random_order_everybody_has_another_and_keeps_it(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "8", "--order", "random") as opened:
        people = [opened.person().join() for _ in range(3)]
        asked = [[], [], []]
        for person, seen in zip(people, asked, strict=True):
            while True:
                text = plain(person.page().text)
                if not person.answer():
                    break
                seen.append(text.partition("Your answer")[2])
                # In another browser the same order goes on.
                person.cookie = ""
                person.come_back()
        assert len({tuple(one) for one in asked}) == 3
        assert {frozenset(items_of(opened, person)) for person in people} == {frozenset(items_of(opened, people[0]))}
        model = sm.run("sesi", model="baseline/random", limit=8, store=opened.path)
        assert not sm.compare(model, opened.run_of(people[0]), store=opened.path).comparisons[0].refused


@pytest.mark.parametrize(("language", "heading"), [("en", "Research study"), ("zh", "研究项目")])
def test_participants_do_not_see_the_name_of_a_study_without_a_title(tmp_path, language, heading):
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "1", "--language", language) as opened:
        person = opened.person()
        for page in (person.get(opened.link), person.join().page()):
            assert heading in page.text and "spring" not in page.text


def test_twins_are_far_apart_unless_the_owner_wants_the_order_of_the_files(tmp_path):
    twins = [f"twin-00{number}{letter}" for number in (1, 2, 3) for letter in "ab"]
    chosen = [word for one in twins for word in ("--item", one)]
    for name, order, expected in (
        ("a", (), sorted(twins, key=lambda one: one[-1])),
        ("b", ("--order", "fixed"), twins),
    ):
        with OpenStudy(tmp_path / f"{name}.db", "sesi", *chosen, *order) as opened:
            person = opened.person().join()
            person.answer_all()
            assert items_of(opened, person) == expected
    page = " ".join((files("sociometer.instruments.sesi") / "README.md").read_text("utf-8").split())
    assert "the twins of a pair are far apart (`--order apart`, the default)" in page


def test_in_the_fixed_order_everybody_has_that_of_the_files(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "5") as opened:
        people = [opened.person().join() for _ in range(2)]
        for person in people:
            person.answer_all()
        assert items_of(opened, people[0]) == items_of(opened, people[1])


def test_checks_come_at_places_of_each_participant_and_are_always_the_same():
    made = checks_of(study(attention=3), "p-1", 20)
    assert made == checks_of(study(attention=3), "p-1", 20) != checks_of(study(attention=3), "p-2", 20)
    assert all(0 < check.after < 20 and check.right in check.options for check in made)
    assert all(checks_of(study(attention=3), f"p-{who}", 4)[0].after for who in range(50)), "an item comes first"


def test_an_item_is_between_two_checks_and_each_part_of_the_items_has_one():
    for who in range(200):
        few, many = (
            [check.after for check in checks_of(study(attention=count, spaces_checks=True), f"p-{who}", planned)]
            for count, planned in ((4, 13), (6, 7))
        )
        assert [(after - 1) // 3 for after in few] == [0, 1, 2, 3]
        assert many == [1, 2, 3, 4, 5, 6]
    assert [len(checks_of(study(attention=count, spaces_checks=True), "p-1", 2)) for count in (0, 3)] == [0, 3]


def test_a_study_of_an_older_version_keeps_the_places_of_its_checks(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "8", "--attention", "3") as opened:
        body = json.loads(msgspec.json.encode(opened.study))
        assert body.pop("spaces_checks")
        body["secret"] = "s" * 22
        old = msgspec.json.decode(msgspec.json.encode(body), type=Study)
        opened.book.change(old)
        assert run_command(["study", "change", "spring", "--quota", "9", "--store", str(opened.path)]) == 0
        kept = opened.book.study("spring")
    assert [[check.after for check in checks_of(kept, f"p-{who}", 8)] for who in range(4)] == OLD_PLACES


def test_a_check_comes_before_the_question_that_it_is_due_at_although_the_store_is_slow(tmp_path, monkeypatch):
    insert = Episodes._insert

    def slowly(self, *rest):
        time.sleep(0.1)
        insert(self, *rest)

    monkeypatch.setattr(Episodes, "_insert", slowly)
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "4", "--attention", "2") as opened:
        reader = Attentive(opened, 1).take()
        participant = opened.book.with_code("spring", reader.person.code)
        assert reader.after == [check.after for check in checks_of(opened.study, participant.id, 4)]


def test_who_fails_the_checks_is_excluded_from_the_norm_which_knows_age_and_sex(tmp_path, capsys):
    options = (
        "--limit",
        "3",
        "--attention",
        "2",
        "--ask",
        "age",
        "--ask",
        "sex",
        "--fastest",
        "0",
        "--exclude-flagged",
    )
    with OpenStudy(tmp_path / "s.db", "seceu", *options) as opened:
        readers = [
            Attentive(
                opened,
                number,
                right=number > 0,
                **{"about-0": str(20 + number), "about-1": "m" if number % 2 else "woman"},
            ).take()
            for number in range(13)
        ]
        assert [len(reader.after) for reader in readers] == [2] * 13
        careless = opened.book.with_code("spring", readers[0].person.code).id
        capsys.readouterr()
        assert run_command(["study", "show", "spring", "--json", "--store", str(opened.path)]) == 0
        rows = {row["participant"]: row for row in json.loads(capsys.readouterr().out)}
        assert (rows[careless]["flagged"], rows[careless]["excluded"]) == ("2 of 2 checks failed", "flagged")
        assert [row["checks failed"] for row in rows.values()] == [2, *[0] * 12]
        page = plain(opened.owner().get("/owner").text)
        assert "2 of 2 checks failed" in page and "excluded 1" in page
        assert run_command(["study", "export", "spring", "--to", str(tmp_path), "--store", str(opened.path)]) == 0
        with (tmp_path / "checks.csv").open(encoding="utf-8", newline="") as file:
            checks = list(csv.DictReader(file))
        assert [row["passed"] for row in checks] == [*"00", *"1" * 24] and checks[1]["check"] == "2"
        assert [int(row["after_items"]) for row in checks] == [after for reader in readers for after in reader.after]
        norm = tmp_path / "norm.json"
        assert run_command(["study", "norms", "spring", "--to", str(norm), "--store", str(opened.path)]) == 0
        said = capsys.readouterr()
    assert "1 excluded\nExcluded: 1 flagged ('sociometer study show spring" in said.out
    found = json.loads(norm.read_text())["tasks"]["feelings"]
    assert found["people"] == 12 and found["sample"] == "12 people, 0 flagged, 1 excluded", "groups of six are not told"
    assert careless not in norm.read_text()


def test_a_study_that_everybody_left_says_so_and_a_required_question_is_named(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2", "--ask", "age; number; required") as opened:
        assert "sociometer study change spring --contact TEXT --consent TEXT" in capsys.readouterr().out
        person = opened.person()
        form = Form(person.get(person.join_path).text, person.join_path)
        got = person.post(person.join_path, {**form.hidden, "agree": "yes"})
        assert got.status == 400 and "Answer the question “age”." in plain(got.text)
        person.join(**{"about-0": "30"}).answer_all()
        assert "Withdraw and delete my answers" in plain(person.page().text)
        assert "With your code you can come back." in plain(person.get("/stored").text)
        capsys.readouterr()
        assert run_command(["study", "show", "spring", "--store", str(opened.path)]) == 0
        assert "(n = 1): mean" in capsys.readouterr().out
        person.withdraw()
        assert run_command(["study", "show", "spring", "--store", str(opened.path)]) == 0
        assert "1 participant withdrew (" in capsys.readouterr().out


def test_who_did_not_begin_is_excluded_nowhere(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "3", "--fastest", "0") as opened:
        finished, left, _ = (opened.person().join() for _ in range(3))
        finished.answer_all()
        left.answer()
    at, folder = ["--store", str(opened.path)], tmp_path / "x"
    capsys.readouterr()
    assert run_command(["study", "show", "spring", "--json", *at]) == 0
    shown = json.loads(capsys.readouterr().out)
    facts = [(row["status"], row["counts"], row["excluded"]) for row in shown]
    why = "answered 1 of 3 items"
    assert facts == [("finished", True, ""), ("stopped", False, why), ("did not begin", False, "")]
    assert run_command(["study", "export", "spring", "--to", str(folder), *at]) == 0
    with (folder / "people.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    assert [(row["status"], bool(int(row["counts"])), row["excluded"]) for row in people] == facts
    assert sm.get_run("spring", store=opened.path).subject == "people (spring, n = 1, 1 excluded)"


def test_a_check_that_is_skipped_counts_as_failed(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "3", "--attention", "1", "--exclude-flagged") as opened:
        person = opened.person().join()
        person.page()
        csrf = Form(person.get("/stored").text, "/withdraw").hidden["csrf"]
        for number in range(3):
            fields = {"csrf": csrf, "number": number, **{f"points-{at}": at + 1 for at in range(4)}}
            assert person.post("/take", fields).status == 303
        # The check is asked for instead of the end; whoever closes the page now has skipped it.
        assert 'action="/check"' in person.get("/take").text
        capsys.readouterr()
        run_command(["study", "show", "spring", "--json", "--store", str(opened.path)])
        (row,) = json.loads(capsys.readouterr().out)
        assert row["status"] == "finished" and row["checks failed"] == 1 and "1 of 1 checks" in row["flagged"]


@pytest.mark.parametrize("number", ["1", "-1", "x", ""])
def test_an_answer_to_a_check_that_is_not_due_changes_nothing(tmp_path, number):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", "--attention", "1") as opened:
        person = opened.person().join()
        assert person.answer()
        form = Form(person.page().text, "/check")
        assert person.post("/check", {**form.hidden, "number": number, "answer": "x"}).status == 303
        assert person.post("/check", {**form.hidden, "answer": "not an option"}).status == 400
        assert opened.book.checks(opened.book.participants("spring")[0].id) == {}


def told(*given, **options):
    return [str(reason) for reason in decide(*given, **options).excluded]


def test_the_rules_exclude_whom_they_say():
    full = Facts(40, 40, patterns={"feelings": ["4 3 2 1", "1 2 3 4"] * 20}, seconds=(5.0,) * 40)
    assert told(study(), full) == []
    assert told(study(), Facts(36, 40)) == []
    assert told(study(), Facts(35, 40)) == ["answered 35 of 40 items"]
    assert decide(study(), Facts(35, 40)).kind == "with items missing", "as in “1 with items missing”"
    assert decide(study(), Facts(0, 0)) == Decision(counts=False), "who has not begun is not excluded"
    assert decide(study(), Facts(9, 40, status="playing")) == Decision(counts=False), "nor who is still answering"
    assert told(study(), full, "my own trial") == ["by hand: my own trial"]
    assert told(study(), Facts(35, 40), count_missing=False) == []
    same = Facts(40, 40, patterns={"feelings": ["4 3 2 1"] * 38 + ["1 2 3 4"] * 2})
    assert told(study(), same) == ["38 of 40 answers the same"]
    assert told(study(), Facts(40, 40, patterns={"questions": ["A"] * 37 + ["B"] * 3})) == []
    assert told(study(), Facts(9, 9, patterns={"questions": ["A"] * 9})) == []
    assert told(study(attention=3, most_failed=1), Facts(9, 9, failed_checks=1)) == []
    assert told(study(attention=3, most_failed=1), Facts(9, 9, failed_checks=2))
    assert told(study(fastest_seconds=6), full) == ["median time 5.0 s"]


def test_where_people_are_too_few_they_are_named(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "12", "--fastest", "0") as opened:
        for points in ((4, 3, 2, 1), (1, 2, 3, 4)):
            opened.person(points=points).join().answer_all()
        owner = opened.owner().get("/owner").text
    at = ["--store", str(opened.path)]
    assert "SD" in owner and "alpha" not in owner
    assert run_command(["run", "seceu", "--limit", "12", "--model", "baseline/even", "--name", "even", *at]) == 0
    said = {}
    for words in (("show",), ("study", "show"), ("compare", "--reliability"), ("compare", "even")):
        capsys.readouterr()
        assert run_command([*words, "spring", *at]) == 0
        said[" ".join(words)] = " ".join(capsys.readouterr().out.split())
    assert "(too few people), chance 5" in said["show"] and "too few (2 people)" in said["show"]
    assert "Cronbach's alpha unknown (too few people: 2, at least 10 needed)" in said["study show"]
    assert "too few people: 2, at least 10 needed" in said["compare --reliability"]
    assert "2 people are too few to tell" in said["compare even"]


def test_the_same_points_everywhere_are_noticed(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "10", "--fastest", "0") as opened:
        opened.person().join().answer_all()
        capsys.readouterr()
        run_command(["study", "show", "spring", "--json", "--store", str(opened.path)])
        (row,) = json.loads(capsys.readouterr().out)
        assert (row["flagged"], row["excluded"]) == ("10 of 10 answers the same", "")


def test_the_same_answer_is_noticed_in_each_task_of_several(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "sesi", "seceu", "--limit", "10", "--fastest", "0") as opened:
        opened.person().join().answer_all()
        opened.person(choose=random.Random(1).choice).join().answer_all()
        capsys.readouterr()
        run_command(["study", "show", "spring", "--json", "--store", str(opened.path)])
        flagged = [row["flagged"] for row in json.loads(capsys.readouterr().out)]
    both = "20 of 20 answers the same (tasks: questions, feelings)"
    assert flagged == [both, "10 of 10 answers the same (tasks: feelings)"]


def test_people_who_answer_too_fast_are_flagged_in_every_result_and_one_switch_excludes_them(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "12") as opened:
        for seed in range(2):
            opened.person(choose=random.Random(seed).choice).join().answer_all()
        at = ["--store", str(opened.path)]
        people = sm.get_run("spring", store=opened.path)
        assert people.subject == "people (spring, n = 2, 2 flagged)"
        assert "a median response time under 2 seconds" in people.summary().notes[-1]
        page = plain(opened.owner().get("/owner").text)
        assert "flagged 2" in page and "excluded 0" in page and "results count them" in page
        assert run_command(["study", "change", "spring", "--exclude-flagged", *at]) == 0
        assert "Study spring is changed: results leave out flagged people." in capsys.readouterr().out
        with pytest.raises(UsageError, match=r"spring counts: 2 people took part and were excluded \(2 flagged\);"):
            sm.get_run("spring", store=opened.path)
        assert "excluded 2" in plain(opened.owner().get("/owner").text)
        assert run_command(["study", "change", "spring", "--count-flagged", "--quota", "9", "--title", "T", *at]) == 0
        said = "is changed: its title is new; its quota is 9; results count flagged people."
        assert said in capsys.readouterr().out
        assert sm.get_run("spring", store=opened.path).people == 2


def test_the_owner_leaves_out_one_person_with_a_reason_and_counts_them_again(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "3", "--fastest", "0", "--attention", "1") as opened:
        at, reason = ["--store", str(opened.path)], "my own {trial}"
        for _ in range(2):
            Attentive(opened, 1).take()
        mine = opened.book.participants("spring")[0].id
        change = ["study", "change", "spring", *at]
        assert run_command([*change, "--exclude", mine]) == run_command([*change, "--because", reason]) == 2
        assert run_command([*change, "--exclude", "p-nobody", "--because", reason]) == 2
        assert run_command([*change, "--include", mine]) == 2
        assert "was not excluded by hand" in capsys.readouterr().err
        assert run_command([*change, "--exclude", f"spring.{mine}", "--because", reason]) == 0
        assert f"results leave out {mine} ({reason})" in capsys.readouterr().out
        run_command(["study", "show", "spring", "--json", *at])
        assert [row["excluded"] for row in json.loads(capsys.readouterr().out)] == [f"by hand: {reason}", ""]
        assert f"by hand: {reason}" in plain(opened.owner().get("/owner").text)
        people = sm.get_run("spring", store=opened.path)
        assert people.subject == "people (spring, n = 1, 1 excluded)"
        assert people.why_excluded == f"1 by hand: {reason}"
        assert run_command([*change, "--include", mine]) == 0
        assert sm.get_run("spring", store=opened.path).people == 2
        both = ",".join(one.id for one in opened.book.participants("spring"))
        assert run_command([*change, "--exclude", both, "--because", reason]) == 0
        run_command(["study", "show", "spring", "--json", *at])
        assert capsys.readouterr().out.count(f"by hand: {reason}") >= 2
        assert run_command(["study", "create", "sesi", "--name", "x", "--exclude", both, *at]) == 2
        assert "--exclude is for people who took part: sociometer study change NAME" in capsys.readouterr().err


def test_the_thresholds_of_a_study_can_be_changed_later_if_the_rule_can_still_flag_somebody(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "4", "--fastest", "0", "--attention", "3") as opened:
        Attentive(opened, 1, right=False).take()
        change = ["study", "change", "spring", "--store", str(opened.path)]
        assert "1 flagged" in sm.get_run("spring", store=opened.path).subject
        assert run_command([*change, "--most-failed", "2"]) == 0
        assert "of 10 or more questions of a task; at least 3 of 3 attention checks failed or skipped." in (
            capsys.readouterr().out
        )
        assert run_command([*change, "--most-failed", "3"]) == 2
        assert "--most-failed 3 flags nobody: with 3 checks it is at most 2." in capsys.readouterr().err
        assert run_command([*change, "--fastest", "60", "--most-failed", "0"]) == 0
        assert "; at least 1 of 3 attention checks failed or skipped; a median response time under 60 seconds." in (
            capsys.readouterr().out
        )
        assert "1 flagged" in sm.get_run("spring", store=opened.path).subject


@pytest.mark.parametrize(("options", "said"), [
    (["--ask", "age; number 16..99; only 100..120"], "screens everybody out: no allowed answer is '100..120'."),
    (["--ask", "native; choice yes|no; only maybe"], "screens everybody out: no allowed answer is 'maybe'."),
    (["--ask", "hand; choice left|right; only 1..2"], "screens everybody out: no allowed answer is '1..2'."),
    (["--attention", "3", "--most-failed", "3"], "--most-failed 3 flags nobody: with 3 checks it is at most 2."),
    (["--most-failed", "1"], "--most-failed 1 flags nobody: the study has no checks."),
    (["--limit", "3", "--attention", "10"], "--attention is at most 2 for 3 items: each check is between two items."),
])  # fmt: skip
def test_rules_that_can_never_work_are_refused(options, said, tmp_path, capsys):
    create = ["study", "create", "seceu", "--name", "spring", "--store", str(tmp_path / "s.db")]
    assert run_command([*create, *options]) == 2
    assert said in capsys.readouterr().err


def test_who_wants_more_items_than_there_are_is_told_so(tmp_path, capsys):
    create = ["study", "create", "seceu", "--store", str(tmp_path / "s.db")]
    for name, options in {"a": ("--limit", "100"), "b": ("--sample", "50"), "c": ("--limit", "40")}.items():
        assert run_command([*create, "--name", name, *options]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Study")]
    assert ["40 items of feelings (there are only 40) for each" in line for line in told] == [True, True, False]


def test_a_study_whose_items_are_too_few_for_a_verdict_says_so_when_it_is_made(tmp_path, capsys):
    create = ["study", "create", "sesi", "seceu", "--language", "zh", "--store", str(tmp_path / "s.db")]
    assert run_command([*create, "--limit", "12", "--name", "a"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "Too few for a verdict of compare, at least 10: 9 scenes of questions" in said
    assert run_command([*create, "--limit", "20", "--name", "b"]) == 0
    assert "Too few" not in capsys.readouterr().out


def test_the_time_of_the_page_counts_if_it_can_be_true(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "4") as opened:
        person = opened.person().join()
        for said in ("0.001", "99999", "-1", "nan"):
            form = Form(person.page().text, "/take")
            assert person.post("/take", {**person.filled(form), "spent": said}).status == 303
        first, *others = opened.book.timings("spring")
    assert first.page_seconds == first.spent == 0.001 < first.seconds and first.item.startswith("twin")
    assert all(one.page_seconds is None and one.spent == one.seconds for one in others)


def test_the_place_on_the_norm_is_shown_to_the_participant_as_run_shows_it(tmp_path):
    norm = made_norm(tmp_path)
    with OpenStudy(tmp_path / "b.db", "seceu", "--shows", "place", "--set", f"norm={norm}") as opened:
        person = opened.person().join()
        person.answer_all()
        text = person.page().text
        summary = sm.get_run(opened.run_of(person), store=opened.path).summary()
    told = [
        f"{number(one.value, unit, interval=one.interval)} (95 % interval: {interval_text(one.interval, unit)})"
        for one, unit in ((summary.measure("eq"), "points"), (summary.measure("percentile"), "share"))
    ]
    assert told[1].startswith("0 % (95 % interval: 0 to "), "the norm has no worse one"
    assert f"Your EQ is {told[0]}. Of the 20 people in the norm, {told[1]} have a lower EQ." in plain(text)


@pytest.mark.parametrize(
    ("language", "value", "said"),
    [
        ("en", 0.9969, "Of the 541 people in the norm, more than 99 % (95 % interval: 80 to 100 %) have a lower EQ."),
        ("en", 0.004, "Of the 541 people in the norm, less than 1 % (95 % interval: 80 to 100 %) have a lower EQ."),
        ("zh", 0.9969, "常模人群（541 人）中，超过 99 % 的人（95% 区间：80 至 100 %）情商低于你。"),
        ("en", 1.0, "Of the 541 people in the norm, 100 % (95 % interval: 80 to 100 %) have a lower EQ."),
    ],
)
def test_the_place_is_all_or_none_of_the_people_only_if_it_is(tmp_path, monkeypatch, language, value, said):
    def placed(summary):
        eq = Measure("eq", 121.0, interval=Interval(110.0, 130.0))
        percentile = Measure("percentile", value, interval=Interval(0.8, 1.0))
        return place_of(Summary((eq, percentile), series={"norm": {"people": 541}}))

    monkeypatch.setattr("sociometer.web.study.place_of", placed)
    given = ("--limit", "10", "--language", language, "--shows", "place", "--set", f"norm={made_norm(tmp_path)}")
    with OpenStudy(tmp_path / "b.db", "seceu", *given) as opened:
        person = opened.person().join()
        person.answer_all()
        assert said in plain(person.page().text)


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--limit", "9"), "has fewer than 10 items"), (("--set", "shuffle=true"), "saw the options in another order")],
)
def test_no_place_is_shown_for_few_stories_or_another_order_than_the_people_of_the_norm_saw(
    tmp_path, capsys, options, said
):
    norm = made_norm(tmp_path)
    with OpenStudy(tmp_path / "s.db", "seceu", "--shows", "place", "--set", f"norm={norm}", *options) as opened:
        person = opened.person().join()
        person.answer_all()
        summary, text = sm.get_run(opened.run_of(person), store=opened.path).summary(), plain(person.page().text)
    assert summary.measure("eq").value and place_of(summary) == {}
    assert (
        "--shows place: participants see only their score, because " in (told := capsys.readouterr().out)
        and said in told
    )
    assert "Your result How far your points are" in text and "EQ" not in text and "people in the norm" not in text


def made_norm(folder):
    """A norm of 20 people who answer near the keys."""
    path = folder / "norm.json"
    made = build_norm(simulated_people(1, people=20), SCENARIOS, name="people", sample="")
    path.write_bytes(msgspec.json.encode(made.norm))
    return path


def test_a_copy_has_the_studies_too(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2") as opened:
        person = opened.person().join()
        person.answer()
        copy = tmp_path / "copy.db"
        assert run_command(["store", "copy", str(opened.path), str(copy)]) == 0
        kept = book_path(copy)
        assert kept.stat().st_mode & 0o077 == 0
        book = StudyBook(kept)
        assert book.with_code("spring", person.code).run == opened.run_of(person)
        assert len(list(book.timings("spring"))) == 1
        book.close()


def test_a_copy_has_the_labels_too(tmp_path):
    path = tmp_path / "s.db"
    run = sm.run("sage", model="baseline/random", limit=3, roles={"simulator": "baseline/random"}, store=path).id
    assert run_command(["sheet", "write", run, "--to", str(tmp_path / "q.csv"), "--store", str(path)]) == 0
    assert run_command(["store", "copy", str(path), str(tmp_path / "copy.db")]) == 0
    book = LabelBook(labels_path(tmp_path / "copy.db"))
    assert len(book.units(book.sheets()[0].name)) == 3
    book.close()
    assert labels_path(tmp_path / "copy.db").stat().st_mode & 0o077 == 0


def test_a_copy_that_failed_can_be_repeated(tmp_path):
    path, copy = tmp_path / "s.db", tmp_path / "copy.db"
    run = sm.run("sage", model="baseline/random", limit=3, roles={"simulator": "baseline/random"}, store=path).id
    assert run_command(["sheet", "write", run, "--to", str(tmp_path / "q.csv"), "--store", str(path)]) == 0
    whole = labels_path(path).read_bytes()
    labels_path(path).write_bytes(b"not a database" * 1_000)
    assert run_command(["store", "copy", str(path), str(copy)]) == 5
    assert not list(tmp_path.glob("*copy.db*"))
    labels_path(path).write_bytes(whole)
    assert run_command(["store", "copy", str(path), str(copy)]) == 0
    book = LabelBook(labels_path(copy))
    assert len(book.units(book.sheets()[0].name)) == 3
    book.close()


def test_a_copy_of_runs_that_is_refused_leaves_no_study_there(tmp_path):
    path, copy = tmp_path / "s.db", tmp_path / "copy.db"
    with OpenStudy(path, "sesi", "--limit", "1") as opened:
        opened.person().join().answer_all()
    assert run_command(["store", "copy", str(path), str(copy)]) == 0
    book_path(copy).unlink()
    with closing(sqlite3.connect(copy)) as changed, changed:
        changed.execute("UPDATE run SET config_hash = 'another run'")
    assert run_command(["store", "copy", str(path), str(copy)]) == 2
    assert not list(tmp_path.glob("*copy.db.studies*"))


def test_a_norm_is_replaced_only_by_a_command_that_succeeds(tmp_path, capsys):
    """One of two people is left: the owner has deleted the other one's run."""
    norm, path = tmp_path / "norm.json", tmp_path / "s.db"
    with OpenStudy(path, "seceu", "--limit", "10", "--exclude-flagged", "--fastest", "0") as opened:
        same, other = opened.person().join(), opened.person()
        same.answer_all()
        other.join()
        other.points = (1, 2, 3, 4)
        assert other.answer()
        other.points = (4, 3, 2, 1)
        other.answer_all()
        run = opened.run_of(same)
    assert run_command(["store", "delete", run, "--yes", "--store", str(path)]) == 0
    norm.write_text("the norm that was there")
    assert run_command(["study", "norms", "spring", "--to", str(norm), "--store", str(path)]) == 2
    assert norm.read_text() == "the norm that was there"
    assert "1 person counts in study spring; a norm needs at least 10" in capsys.readouterr().err


def test_a_copy_without_studies_is_one_file(tmp_path):
    sm.run("sesi", model="baseline/random", limit=1, store=tmp_path / "s.db")
    assert run_command(["store", "copy", str(tmp_path / "s.db"), str(tmp_path / "copy.db")]) == 0
    assert not book_path(tmp_path / "copy.db").exists()


def test_a_book_of_the_first_version_is_read(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        opened.person().join().answer_all()
    with sqlite3.connect(book_path(tmp_path / "s.db")) as old:
        old.execute("ALTER TABLE timing DROP COLUMN pattern")
        for column in ("task", "item", "page_seconds"):
            old.execute(f"ALTER TABLE timing DROP COLUMN {column}")
        old.execute("DROP TABLE attention")
        old.execute("DROP TABLE withdrawal")
        old.execute("DROP TABLE gone")
        old.execute("PRAGMA user_version = 1")
    old.close()
    book = StudyBook(book_path(tmp_path / "s.db"))
    (timing,) = book.timings("spring")
    assert timing.pattern == "" and not any(book.passed_checks("spring").values())
    book.close()
