"""A subject that knows public items by heart is detected; one that does not is not, however well it writes."""

import json

import pytest

from instruments._recall.subjects import Subject
from servers.faults import Fault
from sociometer.cli.main import run_command
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.instruments import FOLDER, load
from sociometer.instruments.seceu.items import official_scenarios
from sociometer.instruments.sesi.items import OFFICIAL, bundled, read_official


def source(instrument, folder):
    card = load(instrument).card
    return Source(
        Settings.chosen(card.setting, {}), Prompts(FOLDER / instrument / "prompts"), instrument, True, (folder,)
    )


@pytest.fixture(scope="module")
def public(official_data):
    """The texts and options of the official items."""
    sesi = [(one.situation, one.options) for one in read_official(official_data / OFFICIAL)]
    return {
        "sesi": sesi,
        "seceu": [(one.story, one.options) for one in official_scenarios(source("seceu", official_data), "en")],
        "seceu-zh": [(one.story, one.options) for one in official_scenarios(source("seceu", official_data), "zh")],
    }


@pytest.fixture
def cli(tmp_path, capsys, openai_server):
    """Calls a command on a store of its own, with a served model unless told otherwise."""
    openai_server.store = str(tmp_path / "store.db")

    def call(*words, model=True):
        capsys.readouterr()
        who = ("--model", f"vllm/m@{openai_server.url}", "--quiet") if model else ()
        code = run_command([*words, *who, "--store", openai_server.store])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def examine(cli, *words, **options):
    instrument, *more = words
    code, out, err = cli(instrument, "contamination", *more, "--json", **options)
    assert code == 0, err
    found = json.loads(out)
    table = {row[0]: row for row in found["tables"][0]["rows"]}
    (memorised,) = found["data"]["found"].values()
    return memorised, table, found


@pytest.mark.parametrize("instrument, words", [("sesi", ()), ("seceu", ()), ("seceu-zh", ("--language", "zh"))])
def test_a_subject_that_has_memorised_the_official_items_is_detected(cli, openai_server, public, instrument, words):
    openai_server.say = Subject(public[instrument])
    found, table, said = examine(cli, instrument.partition("-")[0], "--official", "--limit", "16", *words)
    assert found
    assert table["second half, word for word"][2:4] == ["100 %", "0 %"]
    assert table["order of the options"][2] == "100 %"
    assert "may reflect memorisation" in said["finding"]


def test_a_fluent_subject_that_always_gives_the_same_order_is_not_detected(cli, openai_server, public):
    openai_server.say = Subject([])
    found, table, said = examine(cli, "sesi", "--official", "--limit", "40")
    assert not found
    assert table["second half, word for word"][2:4] == ["0 %", "0 %"]
    assert "no sign" in said["finding"] and "would have been found with 80 % power" in said["finding"]


def test_a_third_of_the_items_known_by_heart_is_enough(cli, openai_server, public):
    openai_server.say = Subject(public["sesi"], share=0.33)
    assert examine(cli, "sesi", "--official", "--limit", "36")[0]


def test_remembered_orders_alone_are_enough(cli, openai_server, public):
    openai_server.say = Subject(public["sesi"], completes=False)
    found, table, _ = examine(cli, "sesi", "--official", "--limit", "16")
    assert found and table["second half, word for word"][2] == "0 %"


def test_a_subject_that_knows_both_kinds_of_items_is_not_told_apart(cli, openai_server, public):
    ours = [(one.situation, one.options) for one in bundled()]
    openai_server.say = Subject([*public["sesi"], *ours])
    assert not examine(cli, "sesi", "--official", "--limit", "12")[0], "the docs name this limit"


def test_a_subject_that_says_nothing_leaves_the_question_open(cli, openai_server, public):
    openai_server.say = lambda body: ""
    found, _, said = examine(cli, "sesi", "--official", "--limit", "12")
    assert not found and "cannot tell" in said["finding"]


def test_a_subject_that_refuses_everything_leaves_the_question_open(cli, openai_server, public):
    openai_server.say = lambda body: "I would rather not say."
    found, _, said = examine(cli, "seceu", "--official", "--limit", "12")
    assert not found and "cannot tell" in said["finding"] and "no sign" not in said["finding"]
    assert any("Second half, word for word: 24 of 24 replies contain no answer" in note for note in said["notes"])
    assert not any("count in the score" in note for note in said["notes"]), "there is no score"


def test_failed_items_are_counted_beside_the_gain_that_lacks_them(cli, openai_server, public):
    openai_server.say = Subject(public["sesi"])
    openai_server.fault_of = lambda number: Fault(400, "not this text") if number % 5 == 4 else None
    code, _, err = cli("sesi", "contamination", "--official", "--limit", "12", "--json")
    assert code == 4, err
    _, out, _ = cli("show", "last", "--json", model=False)
    rows = [one for one in json.loads(out)["summaries"]["recall"]["measures"] if not one["group"]]
    gains = {one["name"]: one["errors"] for one in rows}
    assert all(count > 0 for count in gains.values()) and sum(gains.values()) >= 8, gains


def test_few_pairs_are_called_pairs_and_nothing_is_explained_that_is_not_shown(cli, openai_server, public):
    openai_server.say = Subject([])
    _, table, said = examine(cli, "seceu", "--official", "--limit", "8")
    assert table["order of the options"][5] == "too few pairs"
    assert not said["tables"][0].get("note")


def test_the_lengths_of_pairs_are_not_called_matched(cli, openai_server, public):
    openai_server.say = Subject([])
    said = examine(cli, "sesi", "--official", "--limit", "12")[2]
    note = next(note for note in said["notes"] if note.startswith("12 pairs"))
    assert "matched by" not in note and "nearest in length" in note and "shown whole" in note


def test_the_verdict_appears_next_to_the_scores_on_the_same_items_only(cli, openai_server, public, tmp_path):
    openai_server.say = Subject(public["sesi"])
    same_weights = ("--model", f"vllm/m@{openai_server.url}#1", "--limit", "12", "--quiet")
    official, bundled = (
        json.loads(cli("run", "sesi", *same_weights, *words, "--json", model=False)[1])[0]["run"]
        for words in (("--official",), ())
    )
    assert "Contamination" not in cli("show", official, model=False)[1]
    examine(cli, "sesi", *same_weights, "--official", model=False)
    assert "recalls public items better" in cli("show", official, model=False)[1]
    assert "recalls public items better" in json.loads(cli("show", official, "--json", model=False)[1])["contamination"]
    assert "Contamination" not in cli("show", bundled, model=False)[1], "these are other items"
    baseline = ("--official", "--limit", "12", "--model", "baseline/first", "--quiet", "--json")
    other = json.loads(cli("run", "sesi", *baseline, model=False)[1])[0]["run"]
    assert "recalls public items better" in cli("compare", official, other, model=False)[1]
    assert "vllm/m#1 was checked in run sesi-" in cli("show", official, model=False)[1]
    page = tmp_path / "page.html"
    assert cli("report", official, "--to", str(page), model=False)[0] == 0
    assert "recalls public items better" in page.read_text(encoding="utf-8")


def test_a_dry_run_sends_nothing_and_counts_four_calls_a_pair(cli, openai_server, public):
    code, out, err = cli("sesi", "contamination", "--official", "--limit", "20", "--dry-run", "--json")
    assert code == 0, err
    assert json.loads(out)["tables"][0]["rows"][0][3:5] == [80, 80]
    assert not openai_server.received


def test_a_capped_check_goes_on_when_it_is_repeated_and_pays_for_nothing_twice(cli, openai_server, public):
    openai_server.say = Subject([])
    words = ("sesi", "contamination", "--official", "--limit", "12")
    loud = ("--model", f"vllm/m@{openai_server.url}", "--max-requests", "30")
    code, _, err = cli(*words, *loud, model=False)
    assert code == 3 and "repeat the command" in err
    assert err.startswith("12 pairs: 48 requests to each model"), "before the first is sent"
    first = openai_server.served
    assert cli(*words)[0] == 0
    assert openai_server.served - first == 48 - 30


def test_bundled_items_need_others_to_compare_with(cli, openai_server, tmp_path):
    code, _, err = cli("sesi", "contamination")
    assert code == 2 and "--unseen FILE" in err
    others = tmp_path / "mine.jsonl"
    rows = [
        {
            "id": f"mine-{n}", "ability": "empathy", "situation": f"Number {n} is a story of our own about a lost key.",
            "question": "Why?", "options": ["because", "though", "since", "unless"], "answer": 0,
        }
        for n in range(12)
    ]  # fmt: skip
    others.write_text("".join(json.dumps(row) + "\n" for row in rows))
    openai_server.say = Subject([])
    found, table, _ = examine(cli, "sesi", "--unseen", str(others))
    assert not found and table["order of the options"][1] == 12


def test_a_subject_is_needed(cli, openai_server, official_data):
    code, _, err = cli("seceu", "contamination", "--official", model=False)
    assert code == 2 and "--model MODEL" in err
