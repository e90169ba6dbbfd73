"""The participants of a study: their scores, and the mean, SD and alpha of those who count."""

import csv
import io
import random
import sys
import zipfile
from pathlib import Path
from statistics import fmean, stdev

import pytest
from msgspec import structs

sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

from open_study import OpenStudy
from person import plain

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.instruments import cards, load
from sociometer.results.groups import study_run
from sociometer.results.participants import PeopleResult, Scores, participants_table
from sociometer.results.reliability import task_reliability

TITLE = "Distance to the key (SECEU score)"


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """Twelve people who share points at random, one of whom the owner left out, and one who did not begin."""
    lots = random.Random(5)
    with OpenStudy(
        tmp_path_factory.mktemp("p") / "s.db", "seceu", "--limit", "5", "--fastest", "0", "--ask", "status"
    ) as made:
        for _ in range(12):
            person = made.person().join(**{"about-0": "student"})
            while True:
                cuts = sorted(lots.randrange(11) for _ in range(3))
                person.points = [high - low for low, high in zip([0, *cuts], [*cuts, 10], strict=True)]
                if not person.answer():
                    break
        made.person().join()
        out = made.book.participants("spring")[0].id
        assert (
            run_command(
                ["study", "change", "spring", "--exclude", out, "--because", "trial", "--store", str(made.path)]
            )
            == 0
        )
        yield made


def test_each_person_has_the_score_of_their_run(studied):
    table = participants_table(studied.study, studied.book, studied.store, Scores(studied.store, load))
    place, people = table.columns.index(TITLE), studied.book.participants("spring")
    mine = [
        sm.get_run(one.run, store=studied.path).summary().measure("distance").value if one.run else None
        for one in people
    ]
    assert [row[place] for row in table.rows] == mine and mine[-1] is None and table.units == {TITLE: "number"}


def test_numbers_beside_each_other_have_the_same_decimals():
    known = cards()["sesi"].primary_of("questions")
    different = str(PeopleResult("Accuracy", known, 3, 0.19, 0.125, None, 0.189))
    assert "mean 19.0 %, SD 12.5 %; because" in different and "mean over items is 18.9 %" in different
    assert str(PeopleResult("Accuracy", known, 1, 0.5, None, None, 0.5)) == "Accuracy (n = 1): mean 50 %, SD –"


def test_a_line_says_how_many_are_flagged(studied):
    fast = structs.replace(studied.study, fastest_seconds=100.0)
    for study, many in ((studied.study, 0), (fast, 12)):
        table = participants_table(study, studied.book, studied.store, Scores(studied.store, load))
        assert f" Flagged ({many} of 13), and not left out: participants with the same answer" in table.note


def test_only_who_took_part_can_be_flagged_and_who_withdrew_is_told(tmp_path, capsys):
    asks = ("--ask", "Age; number 1..99; only 18..65", "--fastest", "0")
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2", *asks) as made:
        for age in ("30", "40"):
            (person := made.person().join(**{"about-0": age})).answer_all()
        person.withdraw()
        made.person().join(**{"about-0": "17"})  # is screened out
        capsys.readouterr()
        assert run_command(["study", "show", "spring", "--store", str(made.path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 participant withdrew (1 had started, 1 had finished). Results and norms leave out" in said
    assert " of 1), and not left out:" in said


def test_the_people_who_count_have_a_mean_an_sd_and_the_alpha_of_a_comparison(studied):
    (found,) = Scores(studied.store, load).of_people("spring")
    runs = [one.run for one in studied.book.participants("spring")[1:-1]]
    values = [sm.get_run(run, store=studied.path).summary().measure("distance").value for run in runs]
    assert (found.title, found.people) == (TITLE, 11)
    assert (found.mean, found.deviation) == pytest.approx((fmean(values), stdev(values)))
    alpha = task_reliability([study_run(studied.store, "spring", load).view()]).alpha
    assert found.alpha.value == pytest.approx(alpha.value) and found.alpha.interval == alpha.interval


@pytest.mark.parametrize(("drawn", "differ"), [(("--sample", "5"), True), ((), False)])
def test_people_who_answered_different_items_have_two_means_and_each_place_says_which(tmp_path, capsys, drawn, differ):
    at, lots = ["--store", str(tmp_path / "s.db")], random.Random(3)
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "9", "--fastest", "0", *drawn) as made:
        for _ in range(3):
            made.person(points=lots.sample((1, 2, 3, 4), 4)).join().answer_all()
        (found,) = Scores(made.store, load).of_people("spring")
        page = plain(made.owner().get("/owner").text)
    whole = sm.get_run("spring", store=tmp_path / "s.db").summary().measure("distance").value
    assert (whole == pytest.approx(found.mean)) == (not differ) and found.over_items == pytest.approx(whole)
    capsys.readouterr()
    assert run_command(["study", "show", "spring", *at]) == 0 == run_command(["show", "spring", *at])
    said, over = capsys.readouterr().out, f"because people answered different items, the mean over items is {whole:.2f}"
    apart = f"{whole:.2f}" != f"{found.mean:.2f}"  # what people draw can round to the same
    assert (over in said) == (over in page) == apart
    which = "the mean over items, and not of people's scores ('study show')" if differ else "over them. "
    assert which in said


def test_the_settings_are_shown_as_the_owner_has_them_now(studied, capsys):
    at = ["--store", str(studied.path)]
    assert run_command(["study", "change", "spring", "--quota", "77", *at]) == 0
    capsys.readouterr()
    assert run_command(["study", "show", "spring", *at]) == 0
    shown = capsys.readouterr().out
    rows = dict(line.split("\t") for line in shown.partition("# Settings\n")[2].partition("\n\n")[0].splitlines())
    assert rows["test"] == "seceu --limit 5" and rows["--ask"] == "status (text)" and rows["--order"] == "apart"
    assert (rows["--quota"], rows["--fastest"], rows["--exclude-flagged"]) == ("77", "0", "no")


@pytest.mark.parametrize(("quota", "full"), [(12, True), (11, True), (13, False)])
def test_a_quota_that_is_reached_says_that_nobody_else_can_start(studied, capsys, quota, full):
    assert run_command(["study", "change", "spring", "--quota", str(quota), "--store", str(studied.path)]) == 0
    said = f"its quota is {quota}{' and 12 have started, so nobody else can' if full else ''}."
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(("how", "shown"), [((), False), (("--format", "wide"), True)])
def test_the_columns_that_the_table_of_participants_leaves_out_are_shown_wide(studied, capsys, how, shown):
    capsys.readouterr()
    assert run_command(["study", "show", "spring", *how, "--store", str(studied.path)]) == 0
    said = capsys.readouterr().out
    heads, first, *_ = (line.split("\t") for line in said.splitlines()[1:])
    run = studied.book.participants("spring")[0].run
    assert ("run" in heads and run in first) == ("answers" in heads) == shown
    assert ("add --format wide" in said) == (not shown)


def test_the_table_of_participants_is_also_a_csv_file(studied, tmp_path):
    to = tmp_path / "people.csv"
    assert run_command(["study", "show", "spring", "--to", str(to), "--store", str(studied.path)]) == 0
    assert [row["counts"] for row in csv.DictReader(to.read_text().splitlines())].count("True") == 11
    assert "--quota" in (tmp_path / "people-settings.csv").read_text()


def test_the_owner_sees_scores_checks_and_reasons_and_downloads_what_the_export_writes(studied, tmp_path):
    owner = studied.owner()
    page = plain(owner.get("/owner").text)
    assert f"{TITLE} (n = 11): mean" in page and "Cronbach's alpha" in page
    assert "counted 11" in page and "excluded 1" in page and "by hand: trial" in page and "status: student" in page
    assert "checks failed" in page
    assert run_command(["study", "export", "spring", "--to", str(tmp_path), "--store", str(studied.path)]) == 0
    sent = owner.get("/owner/data.zip")
    with zipfile.ZipFile(io.BytesIO(sent.body)) as archive:
        packed = {Path(name).name: archive.read(name) for name in archive.namelist()}
    assert packed == {path.name: path.read_bytes() for path in tmp_path.iterdir()} and "wide.csv" in packed
    assert 'filename="spring.zip"' in sent.headers["Content-Disposition"]
    assert studied.person().join().get("/owner/data.zip").status == 403
