"""Withdrawing: nothing that a person gave stays in any file of the store."""

import itertools
import random
import re
import sqlite3
import stat
from contextlib import closing, contextmanager

import pytest
from open_study import OpenStudy
from person import Form, plain

import forked
import sociometer as sm
from killed import kill_everywhere
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.errors import Busy, UsageError
from sociometer.store.labels import LabelBook
from sociometer.store.labels import book_path as label_path
from sociometer.store.store import Store
from sociometer.store.studies import Study, StudyBook, Timing, book_path
from sociometer.web.guard import csrf_token
from sociometer.web.study import SEATS

SECRET = "Zwiebelturm im Regen"
SEEDS = itertools.count(1)


IN_WORDS = ("egosocial", "--task", "blackjack", "--limit", "1")
"""A study in which people write sentences."""


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
    with OpenStudy(tmp_path / "s.db", *IN_WORDS, "--ask", "age") as opened:
        person, other = opened.person(words=f"{SECRET}, tell me more."), opened.person(words="Go on, I am here.")
        person.join(**{"about-0": "Neunundneunzig"})
        other.join()
        person.answer_all()
        other.answer_all()
        run, kept = opened.run_of(person), opened.run_of(other)
        at = ["--store", str(opened.path)]
        sheet = tmp_path.with_suffix(".csv")
        for runs in ((run,), (kept,), (run, kept)):
            sheet.unlink(missing_ok=True)
            assert run_command(["sheet", "write", *runs, "--of", "beliefs", "--to", str(sheet), *at]) == 0
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
        with closing(LabelBook(label_path(opened.path))) as book:
            units = [book.units(sheet.name).values() for sheet in book.sheets()]
        assert [{unit.row["run"] for unit in each} for each in units] == [set(), {kept}, {kept}]
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
    study = Study("spring", RunConfig(instrument="sesi", subject="human"), asks=("age",))
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


# When it cannot be finished at once

HOLD = """
import sys
from sociometer.store.store import Store
with Store(sys.argv[1]).hold(sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""
NOT_FOR_GUESTS = re.compile(r"process|进程|sociometer |\.db|/tmp|\d{4,}", re.IGNORECASE)


@contextmanager
def held(store, run):
    """Another process holds the run, as `store rescore` does."""
    with forked.start(["-c", HOLD, store, run], stdin=forked.PIPE, stdout=forked.PIPE) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.stdin.close()


def press(person):
    """Presses "Yes, delete everything", also where the page before it can no longer be had."""
    return person.post("/withdraw", {"sure": "yes", "csrf": csrf_token(person.cookie.partition("=")[2])})


def printed(capsys, *command):
    capsys.readouterr()
    code = run_command([*map(str, command)])
    told = capsys.readouterr()
    return code, told.out + told.err


def write_something(path):
    """Opens the store for writing, as any `sociometer run` does."""
    model = ("--model", "baseline/random", "--limit", "1", "--seed", str(next(SEEDS)))
    assert run_command(["run", "sesi", *model, "--store", str(path)]) == 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_while_another_process_holds_the_run_a_withdrawal_is_in_progress(tmp_path, capsys, caplog, language):
    asks = ("--limit", "3", "--ask", "age", "--language", language)
    with OpenStudy(tmp_path / "s.db", "seceu", *asks) as opened:
        person, other, at = opened.person(), opened.person(), ("--store", opened.path)
        person.join(**{"about-0": "Neunundneunzig"})
        person.answer_all()
        other.join().answer_all()
        run, kept, book = opened.run_of(person), opened.run_of(other), opened.book
        leaver, stays = (book.with_code("spring", one.code).id for one in (person, other))
        with held(opened.path, run) as holder:
            seen = [press(person), press(person), person.get("/take"), person.get("/stored")]
            for got in (*seen, opened.person().come_back(person.code)):
                assert (got.status, got.headers["Retry-After"]) == (503, "60")
                assert {"en": "Your withdrawal is in progress", "zh": "正在撤回"}[language] in plain(got.text)
                assert not NOT_FOR_GUESTS.search(plain(got.text))
            # The owner's terminal has the details.
            assert f"the withdrawal of {leaver} is not finished: run {run} is in progress" in caplog.text
            assert str(holder.pid) in caplog.text
            # The answers count nowhere.
            assert [one.id for one in sm.runs(store=opened.path)] == [kept]
            assert [one.id for one in book.participants("spring")] == [stays]
            assert book.started("spring") == 2 and book.study("spring").withdrawn == 0
            with pytest.raises(UsageError, match="unknown run"):
                sm.get_run(run, store=opened.path)
            rows, norm = tmp_path / "rows", tmp_path / "norm.json"
            for command in (
                ("runs",), ("study", "list"), ("study", "export", "spring", "--to", rows), ("compare", "all"),
                ("study", "norms", "spring", "--to", norm),
            ):  # fmt: skip
                assert run not in printed(capsys, *command, *at)[1]
            assert all(leaver not in one.read_text() for one in rows.iterdir())
            code, said = printed(capsys, "study", "show", "spring", *at)
            assert code == 0 and run not in said and "not finished" in said and leaver in said
            assert printed(capsys, "store", "copy", opened.path, tmp_path / "copy.db")[0] == 5
            # The owner's command finds them by id and by code; a store opened for writing opens.
            for reference in (leaver, person.code):
                code, said = printed(capsys, "study", "withdraw", "spring", reference, "--yes", *at)
                assert code == 5 and f"the withdrawal of {leaver} is not finished" in said
            write_something(opened.path)
            assert book.withdrawing(leaver)
        write_something(opened.path)
        assert book.participant(leaver) is None and book.study("spring").withdrawn == 1
        assert opened.person().come_back(person.code).status == 403 and person.get("/take").status == 403
        assert other.get("/end").status == 200
        for path, body in files_of(tmp_path).items():
            assert b"Neunundneunzig" not in body and run.encode() not in body and leaver.encode() not in body, path
    assert printed(capsys, "check", "store", *at)[0] == 0


def test_the_owner_finishes_a_withdrawal_and_it_counts_once(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "2") as opened:
        person = opened.person().join()
        person.answer_all()
        with held(opened.path, opened.run_of(person)):
            assert press(person).status == 503
        at, book = ("--store", opened.path), opened.book
        code, said = printed(capsys, "study", "withdraw", "spring", person.code, "--yes", *at)
        assert code == 0 and "2 answers" in said
        assert book.study("spring").withdrawn == 1 and list(sm.runs(store=opened.path)) == []
        assert printed(capsys, "study", "withdraw", "spring", person.code, "--yes", *at)[0] == 2
        gone = opened.person().join()
        participant = book.with_code("spring", gone.code)
        book.begin_withdrawal(participant.id)
        for _ in range(2):
            book.end_withdrawal(participant)
        assert book.study("spring").withdrawn == 2


def test_a_study_is_deleted_with_everything_that_people_answered_after_a_question(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", *IN_WORDS) as opened:
        people = [opened.person(words="Neunundneunzig Luftballons fliegen").join() for _ in range(2)]
        for person in people:
            person.answer_all()
        opened.person().join()
        names = [one.id for one in opened.book.participants("spring")]
    at = ("--store", opened.path)
    assert printed(capsys, "study", "create", "seceu", "--name", "summer", "--limit", "1", *at)[0] == 0
    model = sm.run("sesi", model="baseline/random", limit=1, store=opened.path)
    code, said = printed(capsys, "store", "delete", "spring", *at)
    assert code == 2 and "study spring with 3 participants and all they answered; add --yes" in said
    code, said = printed(capsys, "study", "withdraw", "spring", names[0], *at)
    assert code == 2 and f"everything that is stored about {names[0]} of study spring; add --yes" in said
    code, said = printed(capsys, "store", "delete", "spring", "--yes", *at)
    assert code == 0 and "Deleted study spring with 3 participants" in said
    assert [one.id for one in sm.runs(store=opened.path)] == [model.id]
    assert "spring" not in (listed := printed(capsys, "study", "list", *at)[1]) and "summer" in listed
    for path, body in files_of(tmp_path).items():
        assert not any(word in body for word in (b"Neunundneunzig", *map(str.encode, names))), path
    assert printed(capsys, "check", "store", *at)[0] == 0


def test_processes_that_finish_the_same_withdrawals_at_once_count_each_once(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        for _ in range(4):
            person = opened.person().join()
            person.answer_all()
            opened.book.begin_withdrawal(opened.book.with_code("spring", person.code).id)
    finish = "import sys; from sociometer.store.store import Store; Store(sys.argv[1]).writer.start()"
    processes = [forked.start(["-c", finish, opened.path]) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    write_something(opened.path)
    with closing(StudyBook(book_path(opened.path))) as book:
        assert book.study("spring").withdrawn == 4 and not book.withdrawing()
    assert [run.instrument for run in sm.runs(store=opened.path)] == ["sesi"]


def study_with_raters(tmp_path):
    """A closed study of two people, whose words raters have been given; returns its path, the leaver and both runs."""
    path = tmp_path / "s.db"
    with OpenStudy(path, *IN_WORDS, "--ask", "age") as opened:
        person, other = opened.person(words=f"{SECRET}, tell me more."), opened.person(words="Go on, I am here.")
        person.join(**{"about-0": "Neunundneunzig"})
        person.answer_all()
        other.join().answer_all()
        runs = opened.run_of(person), opened.run_of(other)
        leaver = opened.book.with_code("spring", person.code).id
    sheet, at = tmp_path.with_suffix(".csv"), ["--store", str(path)]
    for drawn in (runs[:1], runs):
        sheet.unlink(missing_ok=True)
        assert run_command(["sheet", "write", *drawn, "--of", "beliefs", "--to", str(sheet), *at]) == 0
    with Store(path) as store:
        assert [len(store.search.found(run, "blackjack", SECRET)) for run in runs] == [1, 0]
    return path, leaver, *runs


def is_whole(path, leaver, run, kept):
    """Nothing of the leaver is in any file, they count once, and everything of the other person is there."""
    for file, body in files_of(path.parent).items():
        for trace in (SECRET, "Neunundneunzig", leaver, run):
            assert trace.lower().encode() not in body.lower(), (file, trace)
    with closing(StudyBook(book_path(path))) as book, closing(LabelBook(label_path(path))) as labels:
        assert book.study("spring").withdrawn == 1 and len(book.participants("spring")) == 1
        assert [{unit.row["run"] for unit in labels.units(one.name).values()} for one in labels.sheets()] == [
            set(),
            {kept},
        ]
    assert sm.get_run(kept, store=path).summary().measures
    assert run_command(["check", "store", "--store", str(path)]) == 0


def test_a_withdrawal_that_is_killed_anywhere_is_finished_by_the_next_write(tmp_path):
    folder = tmp_path / "whole"
    folder.mkdir()
    path, leaver, run, kept = study_with_raters(folder)
    killed, ended = kill_everywhere(tmp_path, "study", "withdraw", "spring", leaver, "--yes", "--store", "s.db")
    is_whole(ended / "s.db", leaver, run, kept)
    begun = 0
    for folder in killed:
        path = folder / "s.db"
        with closing(StudyBook(book_path(path))) as book:
            counts = {run, kept} if leaver in {one.id for one in book.participants("spring")} else {kept}
        assert {one.id for one in sm.runs(store=path)} == counts, folder.name
        if counts == {kept}:
            begun += 1
            write_something(path)
            is_whole(path, leaver, run, kept)
    assert begun >= 20


@pytest.mark.parametrize("ending", [".labels", ".studies"])
def test_a_withdrawal_that_meets_a_locked_file_is_finished_later(tmp_path, monkeypatch, ending):
    path, leaver, run, kept = study_with_raters(tmp_path)
    plain_connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: plain_connect(*given, **{**named, "timeout": 0.1}))
    with closing(plain_connect(path.with_name(path.name + ending), isolation_level=None)) as locked:
        locked.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy):
            Store(path).withdraw(leaver)
        write_something(path)  # opens
    # While nothing was written about it, nothing may be gone.
    counts = [kept] if ending == ".labels" else [run, kept]
    assert sorted(one.id for one in sm.runs(store=path) if one.instrument == "egosocial") == sorted(counts)
    if ending == ".studies":
        Store(path).withdraw(leaver)
    write_something(path)
    is_whole(path, leaver, run, kept)


def test_a_reader_of_the_old_state_keeps_a_withdrawal_pending(tmp_path, monkeypatch):
    path, leaver, run, kept = study_with_raters(tmp_path)
    plain_connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: plain_connect(*given, **{**named, "timeout": 0.1}))
    with closing(plain_connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM journal").fetchone()
        with pytest.raises(Busy, match="old state"):
            Store(path).withdraw(leaver)
        assert [one.id for one in sm.runs(store=path)] == [kept]
    write_something(path)
    is_whole(path, leaver, run, kept)


def test_a_run_that_the_book_does_not_name_yet_is_erased_too(tmp_path):
    """A server that is killed between making a run and noting it, and people who have not begun."""
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2") as opened:
        person, early = opened.person().join(), opened.person().join()
        person.answer()
        one = opened.book.with_code("spring", person.code)
        opened.served.do(opened.served.app[SEATS].leave(one.id))
        opened.book.set_run(one, "")
        assert press(early).status == 200 and press(person).status == 200
        assert opened.book.study("spring").withdrawn == 2
        assert list(sm.runs(store=opened.path)) == []
        assert one.run.encode() not in b"".join(files_of(tmp_path).values())


def test_a_damaged_study_book_hides_no_run_and_stops_no_writing(tmp_path):
    path = tmp_path / "s.db"
    write_something(path)
    book_path(path).write_bytes(b"not a database" * 1_000)
    write_something(path)
    assert len(list(sm.runs(store=path))) == 2
