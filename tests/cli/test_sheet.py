"""Sheets for raters: written blind, filled in anywhere, read back as labels; those of another draw are refused."""

import lzma
import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest

import sociometer as sm
from raters import fill, rows_of, units_of
from sociometer.cli.main import run_command
from sociometer.results.corrected import corrections
from sociometer.store.labels import LabelBook, book_path

PAST = Path(__file__).parent.parent / "fixtures" / "version_0_3"
SIMULATOR = {"simulator": "baseline/random"}


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOCIOMETER_STORE", "s.db")

    def call(*words):
        code = run_command([*map(str, words)])
        shown = capsys.readouterr()
        return code, " ".join((shown.out + shown.err).split())

    return call


@pytest.fixture
def talks(tmp_path):
    return sm.run("sage", model="baseline/random", limit=12, roles=SIMULATOR, store=tmp_path / "s.db")


def test_a_sheet_shows_neither_names_nor_scores_and_the_same_draw_is_written_again(cli, talks):
    code, said = cli("sheet", "write", talks.id, "--to", "q.csv")
    assert code == 0 and "wrote q.csv: 12 rows, and q.md" in said
    rows = rows_of("q.csv")
    assert list(rows[0]) == ["unit", "talk", "value"] and not any(row["value"] for row in rows)
    text = Path("q.csv").read_text(encoding="utf-8")
    assert not any(word in text for word in (talks.id, "baseline", "en-"))
    episodes = [unit.key["episode"] for unit in units_of("s.db", "q.csv").values()]
    assert len(set(episodes)) == 12 and episodes != sorted(episodes), "a beginning of the sheet is a random sample"
    assert cli("sheet", "write", talks.id, "--to", "q.csv")[0] == 0
    assert cli("sheet", "write", talks.id, "--to", "again.csv")[0] == 0
    assert Path("again.csv").read_text(encoding="utf-8") == text
    fill("q.csv", "q.csv", value="50")
    code, said = cli("sheet", "write", talks.id, "--to", "q.csv")
    assert code == 2 and "q.csv already exists, perhaps filled in; give another --to." in said


@pytest.mark.parametrize(("language", "question"), [("en", "how does A feel, from 0"), ("zh", "A 的感受如何")])
def test_the_guide_beside_a_sheet_says_how_to_fill_it_in(cli, talks, language, question):
    assert cli("sheet", "write", talks.id, "--language", language, "--to", "q.csv")[0] == 0
    guide = Path("q.md").read_text(encoding="utf-8")
    assert "`value`: " in guide and question in guide and "`unit`" in guide
    assert cli("sheet", "write", talks.id, "--of", "feelings", "--sample", "9", "--language", language, "--to", "f.csv")
    guide = Path("f.md").read_text(encoding="utf-8")
    assert ("`up` (变好), `same` (不变)" if language == "zh" else "`up`, `same`, `down`") in guide
    assert ("最后这条回复" if language == "zh" else "Judge only the last reply") in guide, "the instrument's guide"


def test_a_share_within_an_episode_is_asked_for_as_a_number(cli, tmp_path):
    def guess(messages):
        return '{"prediction": 50, "choice": 33}'

    rounds = sm.run("egosocial", guess, tasks=["numbers"], limit=3, store=tmp_path / "s.db")
    answers = sm.run("sesi", "baseline/random", limit=3, store=tmp_path / "s.db")
    for run, said in ((rounds, "Write a number from 0 to 1."), (answers, "Write one of: `yes`, `no`.")):
        assert cli("sheet", "write", run.id, "--of", "accuracy", "--to", f"{run.instrument}.csv")[0] == 0
        assert said in Path(f"{run.instrument}.md").read_text(encoding="utf-8")


def test_labels_are_stored_once_and_the_agreement_of_raters_is_shown(cli, talks):
    assert cli("sheet", "write", talks.id, "--of", "feelings", "--sample", "9", "--to", "q.csv")[0] == 0
    fill("q.csv", "ann.csv", direction=lambda number, row: " Up" if number else "")
    fill("q.csv", "bob.csv", direction=lambda number, row: "up" if number > 3 else "down")
    code, said = cli("sheet", "read", "ann.csv", "bob.csv")
    assert code == 0 and "8 labels of ann are new" in said and "9 labels of bob are new" in said
    assert "direction all raters agree 8 62.5 %" in said, said
    assert "Krippendorff's alpha (nominal)" in said
    assert "direction ann: up, bob: down" in said
    assert "0 labels of bob are new, 9 were there already" in cli("sheet", "read", "bob.csv")[1]
    fill("bob.csv", "bob.csv", direction="same")
    said = cli("sheet", "read", "bob.csv")[1]
    assert "9 replaced another label of the same rater" in said and "direction ann: up, bob: same" in said


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("value", "seventy", r"q\.csv:\d+: value 'seventy'; not a number"),
        ("value", "170", r"q\.csv:\d+: value '170'; allowed: 0.0 to 100.0"),
        ("unit", "k7-001", r"q\.csv:\d+: row 'k7-001' is not of the same sheet as the first row"),
    ],
)
def test_an_answer_that_is_not_allowed_or_a_strange_row_is_refused_by_line(cli, talks, column, value, said):
    assert cli("sheet", "write", talks.id, "--to", "new.csv")[0] == 0
    wrong = {"value": "5", column: lambda number, row: value if number == 1 else row[column] or "5"}
    fill("new.csv", "q.csv", **wrong)
    code, told = cli("sheet", "read", "q.csv")
    assert code == 2 and re.search(said, told), told


def test_a_sheet_of_another_draw_is_refused(cli, talks, tmp_path):
    assert cli("sheet", "write", talks.id, "--seed", "1", "--sample", "5", "--to", "one.csv")[0] == 0
    assert cli("sheet", "write", talks.id, "--seed", "2", "--sample", "5", "--to", "two.csv")[0] == 0
    one, two = rows_of("one.csv"), rows_of("two.csv")
    assert {row["unit"] for row in one}.isdisjoint(row["unit"] for row in two)
    for name in ("one", "two"):
        fill(f"{name}.csv", f"{name}.csv", value="5")
    code, said = cli("sheet", "read", "one.csv", "two.csv")
    assert code == 2 and "two.csv is of another sheet than one.csv" in said
    code, said = cli("sheet", "read", "one.csv", "--store", "other.db")
    assert code == 2 and "is of no sheet that 'sociometer sheet write" in said
    assert not Path("other.db.labels").exists()


def test_what_cannot_be_drawn_says_why(cli, talks, tmp_path):
    other = sm.run("sesi", model="baseline/random", limit=2, store=tmp_path / "s.db")
    for words, said in (
        ((talks.id, "--of", "moods"), "unknown measure of this run 'moods'"),
        ((talks.id, other.id), "a sheet is of runs of one instrument, not of sage and sesi."),
        ((talks.id, talks.id), "a sheet of several runs needs --of: feelings, reasoning."),
        ((other.id, "--of", "beliefs"), "unknown measure of this run 'beliefs'"),
    ):
        code, told = cli("sheet", "write", *words, "--to", "q.csv")
        assert (code, said in told) == (2, True), told
    assert not Path("q.csv").exists()


def test_queues_of_version_0_3_are_sheets_and_correct_as_before(tmp_path):
    for name in ("store.db", "store.db.labels", "store.db.studies"):
        with lzma.open(PAST / f"{name}.xz") as packed, (tmp_path / name).open("wb") as file:
            shutil.copyfileobj(packed, file)
    with closing(LabelBook(book_path(tmp_path / "store.db"))) as book:
        (sheet,) = book.sheets()
        assert sheet.name == "labels" and len(book.units("labels")) == 3 and book.labels("labels")
        run = sm.get_run(sheet.measured.run, store=tmp_path / "store.db")
    assert corrections(run) == [], "three labels correct nothing"
