"""Withdrawing: nothing that a person gave stays in any file of the store."""

import random
import stat

from open_study import OpenStudy
from person import Form, plain

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.store.labels import LabelBook
from sociometer.store.labels import book_path as label_path
from sociometer.store.studies import Study, StudyBook, Timing

SECRET = "Zwiebelturm im Regen"


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def blobs_of(store, run):
    """Parts of every stored record of this run, as they are in the file."""
    own = [
        *store.reader.execute("SELECT reply, messages FROM journal WHERE run = ?", (run,)),
        *store.reader.execute("SELECT outcome, events FROM episode WHERE run = ?", (run,)),
        *store.reader.execute("SELECT manifest FROM run WHERE id = ?", (run,)),
    ]
    return {blob[9:33] for row in own for blob in row if blob and len(blob) > 40}


def test_withdrawing_leaves_nothing_in_any_file(tmp_path, capsys):
    with OpenStudy(
        tmp_path / "s.db", "sage", "--limit", "1", "--ask", "age", "--role", "simulator=baseline/random"
    ) as opened:
        person, other = opened.person(words=f"{SECRET}, tell me more."), opened.person(words="Go on, I am here.")
        person.join(**{"about-0": "Neunundneunzig"})
        other.join()
        person.answer_all()
        other.answer_all()
        run, kept = opened.run_of(person), opened.run_of(other)
        at = ["--store", str(opened.path)]
        assert run_command(["annotate", "create", "feelings", "--run", run, *at]) == 0
        assert run_command(["annotate", "create", "others", "--run", kept, *at]) == 0
        sheet = tmp_path.with_suffix(".csv")
        assert run_command(["sage", "sheet", run, kept, "--contexts", "4", "--to", str(sheet), *at]) == 0
        assert run_command(["annotate", "create", "sheet", "--sheet", str(sheet), *at]) == 0
        blobs = blobs_of(opened.store, run) - blobs_of(opened.store, kept)
        assert SECRET.encode() in b"".join(files_of(tmp_path).values()) and len(blobs) > 3
        said = person.withdraw()
        assert said.status == 200
        assert "label" in plain(said.text)
        assert person.get("/take").status == 403
        assert opened.person().come_back(person.code).status == 403
        assert opened.book.study("spring").withdrawn == 1
        for path, body in files_of(tmp_path).items():
            assert SECRET.encode() not in body and b"Neunundneunzig" not in body, path
            assert run.encode() not in body, path
            assert not [blob for blob in blobs if blob in body], path
        book = LabelBook(label_path(opened.path))
        assert not book.units("feelings") and book.units("others") and book.units("sheet")
        book.close()
        assert sm.get_run(kept, store=opened.path).summary().measures
    assert run_command(["check", "store", *at]) == 0


def test_withdrawing_asks_once_more_and_nothing_is_deleted_before(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2") as opened:
        person = opened.person().join()
        person.answer()
        assert "/stored#withdraw" in person.page().text
        asked = person.post("/withdraw", Form(person.get("/stored").text, "/withdraw").hidden)
        assert asked.status == 200 and Form(asked.text, "/withdraw").hidden["sure"] == "yes"
        assert Form(person.page().text, "/take").hidden["number"] == "1"
        assert "(0)" not in person.withdraw().text
        assert person.get("/take").status == 403


def test_no_row_survives_in_the_free_space_of_the_study_file(tmp_path):
    """Pages that were split keep old copies of their rows, which SQLite's secure_delete does not overwrite."""
    people, lots, book = 120, random.Random(3), StudyBook(tmp_path / "s.db.studies")
    study = Study("spring", RunConfig(instrument="sesi", subject="human"), questions=("age",))
    book.create(study)
    joined = [book.join(study, {"age": f"Zwiebelturm-{number}-"})[0] for number in range(people)]
    for one in lots.sample(joined, people):
        book.set_run(one, f"sesi-{one.id}")
    for question in range(20):
        for one in lots.sample(joined, people):
            book.add_timing(Timing(one.id, question, 1.5, "A"))
    gone = lots.sample(joined, 30)
    for one in gone:
        book.begin_withdrawal(one.id)
        book.end_withdrawal(one)
    left = b"".join(files_of(tmp_path).values())
    assert not [one.id for one in gone if one.id.encode() in left or one.about["age"].encode() in left]
    book.close()


def test_only_the_owner_can_read_the_files_of_a_store(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        opened.person().join().answer_all()
        open_to_others = {
            path.name: oct(path.stat().st_mode) for path in tmp_path.rglob("*")
            if stat.S_IMODE(path.stat().st_mode) & 0o077
        }  # fmt: skip
        assert not open_to_others
