"""Lint, draw and build from the command line, on a store of their own."""

import json

import pytest

from sociometer.cli.main import run_command
from sociometer.instruments.socialeval.items import BUNDLED, read_tree_file
from sociometer.instruments.socialeval.lint import lint
from sociometer.instruments.socialeval.worldtree import solve

BRIEF = """
name = "last-ferry"
orientation = "cooperation"
setting = "two strangers have missed the last ferry"
goal = "both get home tonight"
abilities = ["teamwork skill"]
"""


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Runs a command line in a folder of its own; gives code, standard output and standard error."""
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = run_command(list(words))
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_lint_passes_our_trees_and_fails_a_broken_one(cli, tmp_path):
    assert cli("socialeval", "lint")[0] == 0
    broken = json.loads((BUNDLED / "[1,1]_en_night-market.json").read_text(encoding="utf-8"))
    broken["interactive_plot"][0]["choices"][0]["cid"] = 99
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    code, out, _ = cli("socialeval", "lint", "broken.json", "--json")
    assert code == 1
    tables = {table["name"]: table["rows"] for table in json.loads(out)["tables"]}
    assert ["missing-target", "broken.json", 0, "a choice leads to 99"] in tables["findings"]


def test_lint_refuses_what_is_not_there_and_kinds_it_does_not_know(cli):
    code, _, err = cli("socialeval", "lint", "nowhere.json")
    assert code == 2
    assert "nowhere.json" in err
    code, _, err = cli("socialeval", "lint", "--kind", "cycel")
    assert code == 2
    assert "did you mean 'cycle'" in err


def test_a_file_without_a_tree_is_refused_and_never_stands_for_our_own(cli, tmp_path):
    (tmp_path / "empty.json").write_text("[]")
    for verb in ("lint", "draw"):
        code, _, err = cli("socialeval", verb, "empty.json")
        assert code == 2
        assert "contains no world tree" in err


def test_draw_says_which_of_several_it_drew(cli, tmp_path):
    code, out, _ = cli("socialeval", "draw", "cooperation-night-market")
    assert code == 0
    assert "drew cooperation-night-market-zh, the first of 2 matching trees" in out
    code, out, _ = cli("socialeval", "draw", "cooperation-night-market", "--language", "en")
    assert "cooperation-night-market-en.html" in out
    assert "may mean" not in out
    halves = {
        f"{code}_data": json.loads((BUNDLED / f"[1,1]_{code}_night-market.json").read_text("utf-8"))
        for code in ("cn", "en")
    }
    (tmp_path / "merged.json").write_text(json.dumps([{"data_id": 3, **halves}]))
    code, out, _ = cli("socialeval", "draw", "merged.json")
    assert "drew cooperation-3-zh, the first of 2 matching trees" in out
    for name in ("merged.json#cooperation-3-en", "merged.json#3"):
        code, out, _ = cli("socialeval", "draw", name, "--language", "en")
        assert "cooperation-3-en.html" in out
    code, _, err = cli("socialeval", "draw", "merged.json#cooperation-4-en")
    assert code == 2
    assert "did you mean 'cooperation-3-en'" in err


def test_draw_writes_a_page_and_a_wrong_name_names_the_nearest(cli, tmp_path):
    code, out, _ = cli("socialeval", "draw", "induction-feather-parade-zh")
    assert code == 0
    assert "induction-feather-parade-zh.html" in out
    assert "<svg" in (tmp_path / "induction-feather-parade-zh.html").read_text(encoding="utf-8")
    code, _, err = cli("socialeval", "draw", "induction-feather-parad-zh")
    assert code == 2
    assert "did you mean 'induction-feather-parade-zh'" in err


def test_draw_shows_the_walks_of_a_stored_run(cli, tmp_path):
    run = ("run", "socialeval", "--task", "goals", "--model", "baseline/oracle", "--repeats", "2", "--quiet")
    assert cli(*run)[0] == 0
    code, _, _ = cli("socialeval", "draw", "altruism-three-nights-en", "--run", "last", "--to", "walked.html")
    assert code == 0
    assert "×2" in (tmp_path / "walked.html").read_text(encoding="utf-8")


def skeleton():
    """Five episodes in a row, each with a way on and a way out; only the last way on reaches the goal."""
    nodes = []
    for number in range(5):
        ways = [
            {
                "to": number + 1 if number < 4 else 15,
                "ability": "teamwork skill",
                "gist": "on",
                "self_interest": 1,
                "altruism": 1,
            },
            {"to": 10 + number, "ability": "capacity for trust", "gist": "out", "self_interest": 0, "altruism": 1},
        ]
        nodes.append({"id": number, "summary": f"episode {number}", "choices": ways, "goal": None})
    nodes += [
        {"id": 10 + i, "summary": f"end {i}", "choices": [], "goal": goal} for i, goal in enumerate((0, 1, 0, 0, 1, 2))
    ]
    return {"nodes": nodes}


def script(path):
    """A builder that answers every stage; regular expressions tell the stages apart."""
    people = [
        {"name": name, "public": "a traveller", "private": "has a key", "goal": "get home"} for name in ("Ida", "Tom")
    ]
    replies = {
        r"two to four people": {"people": people},
        r"Write the scene": {"scene": "A pier at night."},
        r"Plan it as a tree": skeleton(),
        r"Write the dialogue": {"lines": [{"speaker": "", "text": "Rain."}, {"speaker": "Tom", "text": "What now?"}]},
        r"Write what the protagonist says": {"texts": ["Let us row together.", "I trust you."]},
        r"Write a question": {"question": "Which?", "distractors": ["No.", "Maybe.", "Go away."]},
        r"\n12\. ": {"texts": [f"译文{i}" for i in range(12)]},
        r"\n9\. ": {"texts": [f"人物{i}" for i in range(9)]},
        r"Translate these": {"texts": ["下雨了。", "怎么办？"]},
    }
    lines = [json.dumps({"match": match, "reply": json.dumps(reply)}) for match, reply in replies.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    return f"builder=scripted/{path}"


@pytest.fixture
def brief(tmp_path):
    path = tmp_path / "brief.toml"
    path.write_text(BRIEF)
    return str(path)


def build(cli, brief, builder, *more):
    return cli("socialeval", "build", "--brief", brief, "--role", builder, "--to", "made", "--quiet", *more)


def test_a_brief_becomes_a_linted_tree_in_both_languages_with_the_authors_edits(cli, brief, tmp_path):
    builder = script(tmp_path / "builder.jsonl")
    code, out, _ = build(cli, brief, builder, "--until", "scene")
    assert code == 0
    assert "stopped after 'scene'" in out
    made = tmp_path / "made"
    (made / "2-scene.json").write_text('{"all": {"scene": "A pier at dawn."}}')
    code, out, err = build(cli, brief, builder)
    assert code == 0, err + out
    assert sorted(path.name for path in made.iterdir()) == sorted(
        [
            "1-characters.json",
            "2-scene.json",
            "3-skeleton.json",
            "4-dialogue.json",
            "5-choices.json",
            "6-distractors.json",
            "7-translation.json",
            "[1,1]_cn_last-ferry.json",
            "[1,1]_en_last-ferry.json",
        ]
    )
    trees = [tree for name in ("cn", "en") for tree in read_tree_file(made / f"[1,1]_{name}_last-ferry.json")]
    assert lint(trees) == []
    assert [tree.language for tree in trees] == ["zh", "en"]
    assert trees[1].protagonist.name == "Ida"
    assert trees[1].scene == "A pier at dawn."
    assert trees[0].protagonist.name == "人物0"
    assert solve(trees[0]).random == 1 / 32
    assert trees[0].nodes[0].choices[0].distractors == ("译文5", "译文6", "译文7")


def test_an_edit_that_breaks_the_tree_is_refused_before_anything_is_asked(cli, brief, tmp_path):
    builder = script(tmp_path / "builder.jsonl")
    build(cli, brief, builder, "--until", "skeleton")
    path = tmp_path / "made" / "3-skeleton.json"
    edited = json.loads(path.read_text())
    edited["all"]["nodes"][0]["choices"][0]["to"] = 77
    path.write_text(json.dumps(edited))
    code, out, _ = build(cli, brief, builder)
    assert code == 1
    assert "node 0 leads to 77, which is not there" in out


def test_a_builder_that_cannot_write_json_is_told_what_was_missing(cli, brief, tmp_path):
    (tmp_path / "b.jsonl").write_text(json.dumps({"match": ".", "reply": "Once upon a time"}))
    code, out, _ = build(cli, brief, f"builder=scripted/{tmp_path / 'b.jsonl'}")
    assert code == 1
    assert "the reply does not fit the schema" in out
    assert "the builder gave no readable reply: write made/1-characters.json" in out
    assert not list((tmp_path / "made").glob("1-*"))


def edit(path, change):
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def test_what_was_refused_is_kept_to_be_mended(cli, brief, tmp_path):
    builder = script(tmp_path / "builder.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "builder.jsonl").read_text(encoding="utf-8").splitlines()]
    wrong = skeleton()
    wrong["nodes"][0]["choices"][0]["to"] = 77
    lines[2]["reply"] = json.dumps(wrong)
    (tmp_path / "builder.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    code, out, _ = build(cli, brief, builder, "--attempts", "1")
    assert code == 1
    made = tmp_path / "made"
    assert "node 0 leads to 77" in out
    assert "fix made/3-skeleton.refused.json, save it as made/3-skeleton.json" in out
    assert not (made / "3-skeleton.json").exists()
    edit(made / "3-skeleton.refused.json", lambda parts: parts["all"]["nodes"][0]["choices"][0].update(to=1))
    (made / "3-skeleton.refused.json").rename(made / "3-skeleton.json")
    code, out, err = build(cli, brief, builder)
    assert code == 0, out + err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('orientation = "kindness"', "orientation 'kindness' is not one of cooperation"),
        ('abilities = ["charm"]', "ability 'charm' is not one of the 32"),
        ('name = "Last Ferry"', "only lower-case letters"),
        ("colour = 1", "not a brief"),
    ],
)
def test_a_wrong_brief_is_refused(cli, tmp_path, line, message):
    key = line.split(" = ")[0]
    kept = [known for known in BRIEF.strip().splitlines() if not known.startswith(key)]
    (tmp_path / "brief.toml").write_text("\n".join([*kept, line]))
    code, _, err = build(cli, str(tmp_path / "brief.toml"), "builder=baseline/random")
    assert code == 2
    assert message in err
