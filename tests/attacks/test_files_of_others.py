"""A store, a name or a file from somebody else names no path and runs no code."""

import gzip
import json
import shutil
import sqlite3
import sys
from contextlib import closing

import msgspec
import pytest

from servers.paid import Server, config, engine_with
from sociometer.cli.main import run_command
from sociometer.core.errors import Stopped, StoreError, UsageError
from sociometer.models.python import load_function
from sociometer.store.copying import copy_store
from sociometer.store.labels import LabelBook, book_path
from sociometer.store.place import parse_place
from sociometer.store.sqlite import RunLock, lock_path
from sociometer.store.store import Store
from sociometer.store.texts import pack, seal, unseal


@pytest.mark.parametrize("run", ["../../victim", "/etc/victim", "a/b", "..", "x\0y"])
def test_a_run_id_is_never_a_path(tmp_path, run):
    victim = tmp_path / "victim.lock"
    victim.write_text("precious")
    with RunLock(tmp_path / "store" / "s.db", run):
        locks = list((tmp_path / "store" / "s.db.locks").iterdir())
        assert [lock.parent.name for lock in locks] == ["s.db.locks"]
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("name", ["", ":f", "..x:f", "m:", "m:f.", "a b:f", "m:f()", "os:system;x", "m"])
def test_a_name_that_is_no_function_is_told_in_one_sentence(name):
    with pytest.raises(
        UsageError, match=r"is not a function that can be imported; write python/package\.module:function"
    ):
        load_function(name)


def test_such_a_name_ends_a_command_without_a_traceback(capsys):
    assert run_command(["run", "sesi", "--model", "python/..x:f", "--limit", "1"]) == 2
    assert capsys.readouterr().err.startswith("error: 'python/..x:f' is not a function")


CODE = """
from pathlib import Path
Path("ran").touch()
def reply(messages):
    return "B"
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = {}['a']", "KeyError: 'a' (agent_of_somebody.py, line 1)."),
        ("import sys\nsys.exit('no key')", "SystemExit: no key (agent_of_somebody.py, line 2)."),
        (
            "import no_such_module",
            "ModuleNotFoundError: No module named 'no_such_module' (agent_of_somebody.py, line 1).",
        ),
        ("def f(:", "SyntaxError: invalid syntax (agent_of_somebody.py, line 1)."),
    ],
)
def test_a_module_that_cannot_be_loaded_is_told_with_its_line(tmp_path, monkeypatch, capsys, text, said):
    (tmp_path / "agent_of_somebody.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert run_command(["run", "sesi", "--model", "python/agent_of_somebody:f", "--store", str(tmp_path / "s.db")]) == 2
    assert f"error: cannot load 'python/agent_of_somebody:f': {said}" in capsys.readouterr().err


def test_code_that_a_stored_run_names_runs_only_if_it_is_named_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "of_others.py").write_text(CODE)
    words = ["--store", str(tmp_path / "s.db"), "--quiet"]
    model = ["--model", "python/of_others:reply", "--limit", "3", "--max-requests", "1", "--name", "theirs"]
    assert run_command(["run", "sesi", *model, *words]) == 3
    sys.modules.pop("of_others")
    (tmp_path / "ran").unlink()
    capsys.readouterr()
    assert run_command(["resume", "theirs", "--max-requests", "9", *words]) == 2
    assert "--code python/of_others:reply" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()
    assert run_command(["resume", "theirs", "--max-requests", "9", "--code", "python/of_others:reply", *words]) == 0
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "words", [["runs"], ["check", "store"], ["run", "sesi", "--model", "baseline/random", "--limit", "1"]]
)
def test_the_database_of_another_program_is_refused_and_left_as_it_is(tmp_path, capsys, words):
    path = tmp_path / "photos.sqlite"
    with closing(sqlite3.connect(path)) as photos:
        photos.execute("CREATE TABLE photo (name TEXT)")
        photos.commit()
    before = path.read_bytes()
    assert run_command([*words, "--store", str(path)]) == 5
    assert "belongs to another program" in capsys.readouterr().err
    assert path.read_bytes() == before


def theirs(path, revision="1", **changes):
    """A store of somebody else with replies that say B, and the id of its run."""
    with Store(path) as store:
        return engine_with(store, Server("B", revision=revision)).run(config(**changes)).run.id


@pytest.mark.parametrize("target", ["a new file", "a store"])
@pytest.mark.parametrize("same_command", [True, False], ids=["same command", "another run"])
def test_copied_replies_answer_only_the_runs_that_were_copied_with_them(place, tmp_path, target, same_command):
    run = theirs(tmp_path / "theirs.db", **({} if same_command else {"name": "theirs"}))
    if target == "a store":
        Store(parse_place(place)).flush()
    assert run_command(["store", "copy", str(tmp_path / "theirs.db"), place]) == 0
    with Store(parse_place(place)) as store:
        mine = Server("A")
        played = engine_with(store, mine).run(config()).run
        assert mine.total == 4, "every question is asked"
        assert played.id != run
        for one, said in ((played, "A"), (engine_with(store, mine).stored(run), "B")):
            transcripts = [one.transcript(episode.item.id) for episode in one.episodes()]
            assert {event.reply.text for events in transcripts for event in events if hasattr(event, "reply")} == {said}
        engine_with(store, mine).resume(run)
        assert mine.total == 4, "the copied run has its own replies"
        assert store.journal.spent(played.id).requests == store.journal.spent(run).requests == 4


@pytest.mark.parametrize("before", [False, True], ids=["at once", "later"])
def test_copied_replies_are_used_by_everyone_if_the_user_trusts_them(place, tmp_path, before):
    run = theirs(tmp_path / "theirs.db", name="theirs")
    if before:
        assert run_command(["store", "copy", str(tmp_path / "theirs.db"), place]) == 0
    assert run_command(["store", "copy", "--trust", str(tmp_path / "theirs.db"), place]) == 0
    with Store(parse_place(place)) as store:
        mine = Server("A")
        played = engine_with(store, mine).run(config(limit=3)).run
        assert mine.total == 0
        assert played.id != run


def test_a_reply_forged_for_a_stopped_run_of_mine_is_not_its_answer(place, tmp_path):
    """The key of a reply follows from public facts, so anybody can compute it."""
    stop = Server("A", certain=False, fail=lambda number, _: Stopped("enough") if number > 2 else None)
    with Store(parse_place(place)) as store:
        run = engine_with(store, stop).run(config(in_flight=1)).run.id
    copy_store(parse_place(place), tmp_path / "theirs.db", trust=True)
    with Store(tmp_path / "theirs.db") as store:
        engine_with(store, Server("B", certain=False)).resume(run)
    assert run_command(["store", "copy", str(tmp_path / "theirs.db"), place]) == 0
    with Store(parse_place(place)) as store:
        mine = Server("A", certain=False)
        assert engine_with(store, mine).stored(run).status == "stopped", "their episodes are not mine"
        engine_with(store, mine).resume(run)
        assert mine.total == 2


def test_spending_is_counted_if_a_trusted_copy_has_other_replies(place, tmp_path):
    theirs(tmp_path / "theirs.db")
    with Store(parse_place(place)) as store:
        mine = engine_with(store, Server("A")).run(config()).run.id
    for _ in range(2):
        copy_store(tmp_path / "theirs.db", parse_place(place), trust=True)
        with Store(parse_place(place)) as store:
            assert [store.journal.spent(run.id).requests for run in store.runs.all()] == [4, 4]
            assert store.journal.spent(mine).requests == 4


def test_a_small_recording_cannot_fill_the_memory(tmp_path, capsys):
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n' * (8 << 20), 9))
    words = ["run", "sesi", "--limit", "1", "--store", str(tmp_path / "s.db")]
    assert run_command([*words, "--model", f"recorded/{tmp_path}/r.jsonl.gz"]) == 2
    assert "more than 64 MB" in capsys.readouterr().err


def forge(path, **changes):
    """Rewrites the labels of the runs of a store, with valid checksums, as whoever hands it over could."""
    columns = ("id", "instrument", "subject", "config_hash", "name", "created")
    with closing(sqlite3.connect(path)) as store:
        for *place, packed in store.execute(f"SELECT {', '.join(columns)}, manifest FROM run").fetchall():
            forged = [changes.get(column, value) for column, value in zip(columns, place, strict=True)]
            store.execute(
                f"UPDATE run SET ({', '.join(columns)}, manifest) = (?, ?, ?, ?, ?, ?, ?) WHERE id = ?",
                (*forged, seal(unseal(packed, *place), *forged), place[0]),
            )
        store.commit()


@pytest.mark.parametrize(
    "forged",
    [
        *({"created": moment} for moment in (1e18, -1e18, float("inf"), "soon", b"x")),
        *({"instrument": name} for name in ("../instruments/sesi", "", ".", "sesi.play", 7)),
    ],
    ids=str,
)
def test_a_forged_time_or_instrument_is_damage_and_no_traceback(tmp_path, capsys, forged):
    run = theirs(tmp_path / "theirs.db")
    forge(tmp_path / "theirs.db", **forged)
    store = ["--store", str(tmp_path / "theirs.db")]
    assert run_command(["runs", *store]) == 0
    assert "damaged" in capsys.readouterr().out
    commands = (["show", run], ["resume", run], ["check", "store"])
    assert [run_command([*words, *store]) for words in commands] == [5, 5, 1]


def test_a_forged_label_cannot_clear_the_terminal(tmp_path, capsys):
    assert run_command(["run", "sesi", "--model", "baseline/random", "--limit", "2", "--quiet",
                        "--store", str(tmp_path / "theirs.db")]) == 0  # fmt: skip
    forge(tmp_path / "theirs.db", subject="\x1b[2J\u202e")
    capsys.readouterr()
    for words in (["resume", "last"], ["runs"], ["show", "last"]):
        assert run_command([*words, "--store", str(tmp_path / "theirs.db")]) == 0
    assert not any(override in "".join(capsys.readouterr()) for override in "\x1b\u202e")


@pytest.mark.parametrize("reference", ["last", "mine"])
def test_a_copied_run_does_not_take_the_name_of_my_own(place, tmp_path, reference):
    theirs(tmp_path / "theirs.db", revision="2", name="theirs")
    forge(tmp_path / "theirs.db", subject="mine", name="mine", created=2e9)
    with Store(parse_place(place)) as store:
        mine = engine_with(store, Server("A")).run(config(name="mine")).run.id
    run_command(["store", "copy", str(tmp_path / "theirs.db"), place])
    with Store(parse_place(place)) as store:
        assert engine_with(store, Server("A")).stored(reference).id == mine


@pytest.mark.parametrize("forget", [True, False], ids=["roles forgotten", "roles kept"])
def test_a_stored_run_cannot_send_another_file_to_its_server(openai_server, key, tmp_path, monkeypatch, forget, capsys):
    """The subject of a SAGE dialogue is heard by the judge, whose address is in the store too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.txt").write_text("hello there\n" * 50)
    (tmp_path / "diary.txt").write_text("dear diary\n" * 50)
    judge = ["--role", f"simulator=openai/m@{openai_server.url}"]
    words = ["--limit", "1", "--max-requests", "2", "--quiet", "--store", "s.db"]
    assert run_command(["run", "sage", "--model", "scripted/script.txt", *judge, *words]) == 3
    with closing(sqlite3.connect("s.db")) as store:
        columns = "id, instrument, subject, config_hash, name, created, manifest"
        *place, packed = store.execute(f"SELECT {columns} FROM run").fetchone()
        manifest = json.loads(unseal(packed, *place))
        manifest["config"]["subject"] = "scripted/diary.txt"
        manifest["roles"] = {} if forget else manifest["roles"]
        store.execute("UPDATE run SET manifest = ?", (seal(json.dumps(manifest).encode(), *place),))
        store.commit()
    openai_server.received.clear()
    assert run_command(["resume", "last", "--max-requests", "40", "--quiet", "--store", "s.db"]) == 2
    assert openai_server.received == []


@pytest.mark.parametrize("spec", [" python/of_others:reply", "python/of_others:reply ", "\tpython/of_others:reply"])
@pytest.mark.parametrize("role", ["subject", "judge"])
def test_code_is_recognised_also_with_spaces_around_it(tmp_path, monkeypatch, capsys, spec, role):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "of_others.py").write_text(CODE)
    (tmp_path / "script.txt").write_text("B\n" * 9)
    words = ["--max-requests", "1", "--quiet", "--store", "s.db"]
    assert run_command(["run", "helpdesk", "--limit", "1", "--model", "scripted/script.txt", *words]) in (0, 3)
    with closing(sqlite3.connect("s.db")) as store:
        columns = "id, instrument, subject, config_hash, name, created, manifest"
        *place, packed = store.execute(f"SELECT {columns} FROM run").fetchone()
        config = (manifest := json.loads(unseal(packed, *place)))["config"]
        config |= {"subject": spec} if role == "subject" else {"roles": {role: spec}}
        store.execute("UPDATE run SET manifest = ?", (seal(json.dumps(manifest).encode(), *place),))
        store.commit()
    assert run_command(["resume", "last", "--max-requests", "9", "--quiet", "--store", "s.db"]) == 2
    assert not (tmp_path / "ran").exists()
    assert "--code python/of_others:reply" in capsys.readouterr().err


@pytest.mark.parametrize("link", ["the lock", "the folder of locks"])
def test_a_link_beside_a_store_leads_nowhere(tmp_path, link, capsys):
    """A folder with a store can come with links: the name of a run's lock follows from its id."""
    run = theirs(tmp_path / "theirs.db")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "precious").write_text("precious")
    lock = lock_path(tmp_path / "theirs.db", run)
    shutil.rmtree(lock.parent, ignore_errors=True)
    if link == "the lock":
        lock.parent.mkdir()
        lock.symlink_to(tmp_path / "home" / "precious")
    else:
        (tmp_path / "home" / lock.name).write_text("precious")
        lock.parent.symlink_to(tmp_path / "home")
    with pytest.raises(StoreError, match="link"), RunLock(tmp_path / "theirs.db", run):
        pass
    assert {file.read_text() for file in (tmp_path / "home").iterdir()} == {"precious"}


def test_labels_beside_a_store_are_not_written_through_a_link(tmp_path):
    with closing(sqlite3.connect(tmp_path / "photos.sqlite")) as photos:
        photos.execute("CREATE TABLE photo (name TEXT)")
        photos.commit()
    before = (tmp_path / "photos.sqlite").read_bytes()
    book_path(tmp_path / "theirs.db").symlink_to(tmp_path / "photos.sqlite")
    with pytest.raises(StoreError, match="link"):
        LabelBook(book_path(tmp_path / "theirs.db"))
    assert (tmp_path / "photos.sqlite").read_bytes() == before


@pytest.mark.parametrize("words", [[], ["--trust"]], ids=["", "trusted"])
def test_rows_for_a_run_that_is_not_in_the_copied_store_are_not_added_to_mine(place, tmp_path, words):
    run = theirs(tmp_path / "theirs.db")
    stop = Server("A", certain=False, fail=lambda number, _: Stopped("enough") if number > 2 else None)
    with Store(parse_place(place)) as store:
        mine = engine_with(store, stop).run(config(in_flight=1, name="mine")).run.id
    with closing(sqlite3.connect(tmp_path / "theirs.db")) as store:
        for table in ("item", "episode", "score", "summary", "journal"):
            store.execute(f"UPDATE {table} SET run = ? WHERE run = ?", (mine, run))
        store.execute("INSERT INTO attempt VALUES (?, 1, 1, 1.0, 0, 0.0, 1.0)", (mine,))
        store.execute("DELETE FROM run")
        store.commit()
    assert run_command(["store", "copy", *words, str(tmp_path / "theirs.db"), place]) == 0
    with Store(parse_place(place)) as store:
        assert store.journal.spent(mine).requests == 2 + 1
        assert store.episodes.counts(mine)[0] == 2


def test_a_forged_text_of_a_copied_store_does_not_take_the_place_of_mine(place, tmp_path, capsys):
    """Texts are stored once under their hash: a question that I ask later may be there already."""
    run = theirs(tmp_path / "theirs.db")
    with closing(sqlite3.connect(tmp_path / "theirs.db")) as store:
        store.execute("UPDATE text SET body = ?", (pack(b"uforged"),))
        store.commit()
    Store(parse_place(place)).flush()
    assert run_command(["store", "copy", str(tmp_path / "theirs.db"), place]) == 0
    with Store(parse_place(place)) as store:
        played = engine_with(store, Server("A")).run(config()).run
        assert all(played.transcript(episode.item.id) for episode in played.episodes())
        assert run != played.id


def test_a_forged_outcome_that_does_not_fit_its_item_is_damage_and_no_traceback(tmp_path, capsys):
    store = ["--store", str(tmp_path / "theirs.db")]
    words = ["run", "seceu", "--model", "baseline/random", "--limit", "2", "--quiet", *store]
    assert run_command(words) == 0
    with closing(sqlite3.connect(tmp_path / "theirs.db")) as database:
        for *place, packed in database.execute("SELECT run, task, item, repeat, outcome FROM episode").fetchall():
            outcome = msgspec.json.decode(unseal(packed, *place, "outcome")) | {"points": [1.0]}
            forged = seal(msgspec.json.encode(outcome), *place, "outcome")
            database.execute("UPDATE episode SET outcome = ? WHERE item = ?", (forged, place[2]))
        database.commit()
    capsys.readouterr()
    assert run_command(["report", "last", "--to", str(tmp_path / "report.html"), *store]) == 5
    assert "damaged" in capsys.readouterr().err
