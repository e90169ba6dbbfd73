"""From posts to a played set; the same bytes on a second run."""

import json

from sociometer.cli.main import run_command
from sociometer.instruments.sesi import items


def built(tmp_path, monkeypatch, script, *words):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    path, out = tmp_path / "builder.jsonl", tmp_path / "set"
    path.write_text("".join(json.dumps(line) + "\n" for line in script))
    role = ("--role", f"builder=scripted/{path}", "--to", str(out))
    assert run_command(["sesi", "build", "--posts", "demo", *role, "--quiet", "--json", *words]) == 0
    return out


def test_limit_bounds_the_posts_that_are_drafted(tmp_path, monkeypatch, capsys):
    out = built(tmp_path, monkeypatch, SCRIPT, "--limit", "3")
    assert len(list(items.read_official(out / "sesi.csv"))) == 3
    assert "9 more posts pass the filters; --limit 3 leaves them out" in capsys.readouterr().out


def test_first_person_situations_are_converted_or_rejected(tmp_path, monkeypatch, capsys):
    mine = json.dumps({"situation": "I wait. My friend is late. We quarrel.", "question": "Why is my friend late?"})
    retold = {"match": "Rewrite both in the third person", "reply": json.dumps(TOLD)}
    out = built(tmp_path, monkeypatch, [retold, {**SCRIPT[0], "reply": mine}, *SCRIPT[1:]], "--limit", "2")
    assert {item.situation for item in items.read_official(out / "sesi.csv")} == {TOLD["situation"]}
    stubborn = [{**retold, "reply": mine}, {**SCRIPT[0], "reply": mine}, *SCRIPT[1:]]
    (tmp_path / "again").mkdir()
    out = built(tmp_path / "again", monkeypatch, stubborn, "--limit", "2")
    assert (out / "rejected.csv").read_text().count("told in the first person") == 2


def test_entailment_is_asked_with_situation_and_question(tmp_path, monkeypatch, capsys):
    """Only a prompt that has both gets a probability, and without one there is no item."""
    seen = [
        {"match": "(?s)A friend is late.*Why is the friend late.*how likely is it", "reply": '{"probability": 0.2}'}
    ]
    out = built(tmp_path, monkeypatch, [*seen, *SCRIPT[:-2]], "--limit", "1")
    assert len(list(items.read_official(out / "sesi.csv"))) == 1


def test_the_format_of_posts_is_in_the_help(capsys):
    assert run_command(["sesi", "build", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "link_id" in said and "selftext" in said


TOLD = {"situation": "A person waits. A friend is late. They quarrel.", "question": "Why is the friend late?"}
OTHERS = ["The friend was held up by traffic.", "The friend forgot the time."]
SCRIPT = [
    {"match": "Retell it for a test", "reply": json.dumps(TOLD)},
    {"match": "Which ability", "reply": "A"},
    {"match": "agreed with most", "reply": "The friend feels unwelcome and stays away as long as possible."},
    {"match": "usual and acceptable", "reply": "Being late is common among friends."},
    {"match": "put across", "reply": "The person could say how long the wait was."},
    {"match": "bring about", "reply": "The person could propose an earlier hour."},
    {"match": "in need of help", "reply": "The friend needs a lift."},
    {"match": "different standpoint", "reply": json.dumps({"answers": OTHERS})},
    {"match": "lift", "reply": '{"probability": 0.9}'},
    {"match": "how likely is it", "reply": '{"probability": 0.2}'},
]  # fmt: skip


def test_from_posts_to_a_played_set_and_the_same_bytes_again_without_a_new_request(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    script = tmp_path / "builder.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in SCRIPT))
    out = tmp_path / "set"
    words = [
        "sesi",
        "build",
        "--posts",
        "demo",
        "--role",
        f"builder=scripted/{script}",
        "--to",
        str(out),
        "--quiet",
        "--json",
    ]

    def requests():
        capsys.readouterr()
        assert run_command(["runs", "--json"]) == 0
        return [entry["spent"]["requests"] for entry in json.loads(capsys.readouterr().out)]

    assert run_command(words) == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    figures = {f"{name}.svg" for name in ("abilities", "answers", "characters", "relations", "situations")}
    assert set(first) == {"sesi.csv", "provenance.jsonl", "rejected.csv", "checks.csv", "review.csv"} | figures
    spent = requests()
    assert sum(spent) == 12 * 14
    assert run_command(words) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    assert sum(requests()[1:]) == 0

    found = list(items.read_official(out / "sesi.csv"))
    assert len(found) == 12
    assert all("lift" not in option for item in found for option in item.options)
    provenance = [json.loads(line) for line in first["provenance.jsonl"].splitlines()]
    assert provenance[0]["options"][found[0].answer]["kind"] == "right"
    assert len(provenance[0]["comments"]) == 5

    capsys.readouterr()
    assert run_command(["run", "sesi", "--data", str(out), "--model", "baseline/oracle", "--quiet", "--json"]) == 0


def test_a_changed_review_sheet_is_never_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    script = tmp_path / "builder.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in SCRIPT))
    out = tmp_path / "set"
    words = ["sesi", "build", "--posts", "demo", "--role", f"builder=scripted/{script}", "--to", str(out), "--quiet"]
    assert run_command(words) == 0
    sheet = out / "review.csv"
    lines = sheet.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].removesuffix(",") + "several right answers,"
    sheet.write_text("\n".join(lines) + "\n", encoding="utf-8")
    changed = sheet.read_bytes()
    capsys.readouterr()
    assert run_command(words) == 0
    assert sheet.read_bytes() == changed
    assert f"was edited and not overwritten; apply its decisions with --review {sheet}" in capsys.readouterr().out
    assert run_command([*words, "--review", str(sheet)]) == 0
    assert len(list(items.read_official(out / "sesi.csv"))) == 11
    assert "several right answers" in (out / "rejected.csv").read_text(encoding="utf-8")
