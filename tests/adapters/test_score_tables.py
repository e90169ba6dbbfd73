"""Tables of numbers: written without items, replies, keys and paths; read from strangers without trust."""

import json
import shutil
from pathlib import Path

import pytest

from sociometer.cli.main import run_command
from sociometer.instruments import load


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a store of two runs, and a table of two runs of another store on the same items."""
    folder = tmp_path_factory.mktemp("tables")
    for store, subjects in (("mine", ("first", "random")), ("other", ("oracle", "last"))):
        for subject in subjects:
            words = ["--limit", "20", "--quiet", "--name", subject, "--store", str(folder / f"{store}.db")]
            assert run_command(["run", "sesi", "--model", f"baseline/{subject}", *words]) == 0
    words = ["--to", str(folder / "mate.json"), "--store", str(folder / "other.db")]
    assert run_command(["export", "oracle", "last", *words]) == 0
    return folder


@pytest.fixture
def mate(made, tmp_path):
    """The table of two other subjects; gives its path."""
    return Path(shutil.copy(made / "mate.json", tmp_path))


@pytest.fixture
def mine(made, cli, tmp_path):
    """Two runs of our own."""
    shutil.copy(made / "mine.db", tmp_path / "store.db")


def changed(path, change):
    table = json.loads(path.read_text())
    change(table["rows"][0])
    path.write_text(json.dumps(table))


def board(cli, *tables):
    return cli("compare", "sesi", *(word for table in tables for word in ("--with", table)), "--json")[0]


def test_others_numbers_are_shown_next_to_ones_own_without_a_rank(cli, mine, mate):
    found = board(cli, mate)
    assert {one["subject"] for one in found["standings"]} == {"baseline/first", "baseline/random"}
    assert {(one["subject"], one["source"]) for one in found["others"]} == {
        ("baseline/oracle", "mate.json"),
        ("baseline/last", "mate.json"),
    }
    text = cli("compare", "sesi", "--with", mate)
    assert "–\t–\tbaseline/oracle\t100 %\t78 to 100 %\t20\tmate.json" in text
    assert "not recomputed here" in text


def test_a_table_holds_what_ones_own_board_shows(cli, mine, mate):
    cli("export", "first", "--to", "own.json")
    found = board(cli, "own.json")
    standing = next(one for one in found["standings"] if one["subject"] == "baseline/first")
    (row,) = found["others"]
    assert row["value"] == standing["value"]
    assert (row["interval"]["low"], row["interval"]["high"]) == (
        standing["interval"]["low"],
        standing["interval"]["high"],
    )


def wording(folder):
    """A folder with the bundled prompts of SESI, one of them with a word more."""
    target = folder / "my-wording"
    shutil.copytree(load("sesi").folder / "prompts", target)
    prompt = next(target.glob("en/*.md"))
    prompt.write_text(prompt.read_text(encoding="utf-8") + " Please.", encoding="utf-8")
    return target


def test_a_table_holds_no_item_no_reply_no_address_and_no_folder(cli, openai_server, key, tmp_path):
    openai_server.say = lambda body: "ZEBRA\nAnswer: A"
    words = ("--limit", 2, "--quiet", "--name", "served", "--prompts", wording(tmp_path))
    cli("run", "sesi", "--model", f"vllm/gpt-x@{openai_server.url}", *words)
    cli("export", "served", "--to", "t.json")
    text = (tmp_path / "t.json").read_text()
    source = (load("sesi").folder / "data" / "items.jsonl").read_text(encoding="utf-8")
    pieces = [item["situation"][:30] for item in map(json.loads, source.splitlines())]
    for word in (*pieces, "ZEBRA", "127.0.0.1", key, str(tmp_path), "my-wording"):
        assert word not in text
    assert "vllm/gpt-x" in text


def test_rows_of_another_kind_are_named_and_left_out(cli, mine, mate):
    for subject, words in {
        "even": ("--orders", 3),
        "longest": ("--wording", "answer"),
        "shortest": ("--seed", 7),
    }.items():
        cli("run", "sesi", "--model", f"baseline/{subject}", "--limit", 20, "--quiet", "--name", subject, *words)
    cli("export", "even", "longest", "shortest", "--to", "else.json")
    found = cli("compare", "first", "random", "--with", "else.json", "--json")[0]
    assert found["others"] == []
    assert found["left_out"] == [
        "baseline/even (else.json): orders 3, here 1",
        "baseline/longest (else.json): wording answer, here comment",
        "baseline/shortest (else.json): played on other items",
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": "0"}, f"version 0 of sesi, here {load('sesi').card.version}"),
        ({"whose_items": "official"}, "official items, here bundled ones"),
        ({"prompts": "0" * 16}, "another wording of the prompts"),
        ({"norm": "abc"}, "scored on another norm"),
        ({"roles": {"judge": "gpt-x"}}, "judge is gpt-x, here no model"),
        ({"stand_ins": ["judge: scripted/x"]}, "played with a stand-in (judge: scripted/x)"),
    ],
)
def test_conditions_that_differ_are_named(cli, mine, mate, change, reason):
    changed(mate, lambda row: row["conditions"].update(change))
    found = board(cli, mate)
    assert found["left_out"] == [f"baseline/oracle (mate.json): {reason}"]
    assert [one["subject"] for one in found["others"]] == ["baseline/last"]


def test_conditions_that_may_differ_are_noted(cli, mine, mate):
    changed(mate, lambda row: row["conditions"].update(sociometer="9.9", second_question=False))
    notes = board(cli, mate)["notes"]
    assert "baseline/oracle (mate.json): second question off, here on" in notes
    assert any("Sociometer 9.9, here" in note for note in notes)


@pytest.mark.parametrize(
    "numbers",
    [
        {"value": 7.3},
        {"value": -0.1, "low": -0.2},
        {"low": 0.9, "high": 0.8},
        {"value": 0.5, "low": 0.6},
        {"low": None},
    ],
)
def test_impossible_numbers_are_left_out(cli, mine, mate, numbers):
    changed(mate, lambda row: row["board"][0].update(numbers))
    (said,) = board(cli, mate)["left_out"]
    assert said.startswith("baseline/oracle (mate.json): impossible value")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": "sociometer-table", "schema": 1, "rows": []}',
        b'{"format": "sociometer-table", "schema": 2, "rows": []}',
        b'{"format": "other", "schema": 1}',
        b'{"format": "sociometer-table", "schema": 1, "rows": ' + b"9" * (1 << 20) + b"}",
        b'{"format": "sociometer-table", "schema": NaN, "rows": []}',
    ],
    ids=["empty", "list", "bytes", "deep", "no rows", "later", "other format", "huge", "nan"],
)
def test_a_file_that_is_no_table_gives_one_sentence(cli, mine, tmp_path, content):
    (tmp_path / "bad.json").write_bytes(content)
    said = cli("compare", "sesi", "--with", "bad.json", code=2)
    assert said.startswith("error: bad.json: ")
    assert len(said.strip().splitlines()) == 1
    assert len(said) < 300


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.update(subject="a\x1b]0;owned\x07"),
        lambda row: row.update(subject="a\u202egnp.exe"),
        lambda row: row.update(subject="x" * 301),
        lambda row: row.update(subject=7),
        lambda row: row.update(surprise=1),
        lambda row: row["conditions"]["settings"].update({"a\nb": 1}),
        lambda row: row["conditions"]["settings"].update(orders={"deep": {}}),
        lambda row: row["board"][0].update(value=1e300),
        lambda row: row["board"][0].update(items=-3),
        lambda row: row["board"][0].update(items=2.5),
        lambda row: row.update(board=row["board"] * 101),
        lambda row: row.update(numbers=row["numbers"][:1] * 2001),
    ],
)
def test_a_hostile_row_gives_one_sentence(cli, mine, mate, change):
    changed(mate, change)
    said = cli("compare", "sesi", "--with", mate, code=2)
    assert said.startswith(f"error: {mate}: ")
    assert len(said.strip().splitlines()) == 1
    assert "\x1b" not in said


def test_a_name_that_is_a_formula_or_a_tag_stays_text(cli, mine, mate, tmp_path):
    changed(mate, lambda row: row.update(subject="=HYPERLINK('x')<script>"))
    text = cli("compare", "sesi", "--with", mate, "--to", "out.csv")
    assert "=HYPERLINK('x')<script>" in text
    assert "'=HYPERLINK" in (tmp_path / "out.csv").read_text()


def test_a_table_of_other_tasks_is_named(cli, mine, tmp_path):
    cli("run", "seceu", "--model", "baseline/first", "--limit", 4, "--quiet", "--name", "feelings")
    cli("export", "feelings", "--to", "feelings.json")
    said = cli("compare", "sesi", "--with", "feelings.json")
    assert "feelings.json has no row for the tasks of these leaderboards; it has seceu/feelings." in said


def test_what_a_table_cannot_be_made_of_is_said(cli, mine, tmp_path):
    assert "give one RUN" in cli("export", "first", "random", "--as", "hugging-face", "--to", "d", code=2)
    assert "only with --as hugging-face" in cli("export", "first", "--without-keys", "--to", "d.json", code=2)
    assert "is a folder" in cli("export", "first", "--as", "numbers", "--to", tmp_path, code=2)
