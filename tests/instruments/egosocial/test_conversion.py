"""Conversion to the first person: the rules, on labelled conversions, and the command with a model on loopback.

`conversions.jsonl` holds edits to the released files (see `first_person`), a label, the kind of fault and the source:
`author` (faults put into shipped conversions), `readers` (conversions that ship), and `blind` (written by readers who
had not seen the rules).
"""

import csv
import json
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from raters import fill
from servers.faults import WRONG_KEY
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.core.sheets import read_rows
from sociometer.instruments.egosocial.conversion import edits_between, problems, read_third_person
from sociometer.instruments.egosocial.tombench.first_person import Edit, FirstPerson, applied, digest
from sociometer.instruments.egosocial.tombench.release import Wording, read_folder
from sociometer.reading import read_items

ARNO = Wording(
    "Arno has lost his kite. Ida sees it, and she gives Arno 2 coins: “Don't cry, Arno, you can buy one.”",
    "What does Arno feel?",
    ("Arno feels that Ida pities him", "Joy"),
)
YOU = Wording(
    "You have lost your kite. Ida sees it, and she gives you 2 coins: “Don't cry, you can buy one.”",
    "What do you feel?",
    ("I feel that Ida pities me", "Joy"),
)
XIAOMING = Wording("小明的风筝断了线，他对表妹笑了笑。", "小明心里是什么感受？", ("高兴", "小明觉得很难过"))
YOU_ZH = Wording("你的风筝断了线，你对表妹笑了笑。", "你心里是什么感受？", ("高兴", "我觉得很难过"))
PEOPLE = "somebody else became 'you', or the person did not"
WORDS = "words were added, dropped or changed"


def changed(old, new, wording=YOU):
    return msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(wording)).replace(old, new)), Wording)


@pytest.mark.parametrize(("person", "third", "first"), [("Arno", ARNO, YOU), ("小明", XIAOMING, YOU_ZH)])
def test_a_sound_conversion_has_no_problem_and_its_edits_give_it_back(person, third, first):
    assert problems(third, first, person) == []
    edits = edits_between(third, first)
    assert applied(FirstPerson("x", "en", person, 1, 0, digest(third), edits), third) == first
    assert max(len(edit.words) for edit in edits) < 12


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (changed("sees it, and she", "sees it, and you"), "'he' and 'she' both became 'you'"),
        (changed("gives you", "gives her"), f"story: {PEOPLE}"),
        (changed("Ida pities", "Eva pities"), f"option: {WORDS}"),
        (changed("2 coins", "3 coins"), f"story: {WORDS}"),
        (changed(", you can buy one", ""), f"story: {WORDS}"),
        (changed("What do you feel?", "What does Arno feel?"), "the person is still named"),
        (changed("What do you feel?", "What do they feel?"), f"question: {PEOPLE}"),
        (changed("I feel that", "You feel that"), f"option: {PEOPLE}"),
        (Wording(YOU.story, YOU.question, YOU.options[::-1]), f"option: {WORDS}"),
        (Wording(YOU.story, YOU.question, YOU.options[:1]), "1 options instead of 2"),
        (Wording(YOU.story * 9, YOU.question, YOU.options), f"story: {WORDS}"),
        (ARNO, "the person is still named"),
    ],
)
def test_an_unsound_conversion_is_rejected_with_the_reason(first, said):
    assert said in problems(ARNO, first, "Arno")


def test_one_person_became_you_and_the_question_asks_them():
    story = "Bob sees Eva. He waves, and she smiles."
    third = Wording(story, "What does he want?", ("Fun", "Sun"))
    both = Wording("You see Eva. You wave, and you smile.", "What do you want?", third.options)
    assert problems(third, both, "Bob") == ["'he' and 'she' both became 'you'"]
    fact = Wording(story, "Is it day?", ("Yes", "No"))
    you = Wording("You see Eva. You wave, and she smiles.", fact.question, fact.options)
    assert problems(fact, you, "Bob") == ["the question does not ask 'you'"]
    assert problems(third, both, "he") == ["nobody in the item is called 'he'"]
    part = Wording("You see Eva. He waves, and she smiles.", "What do you want?", third.options)
    assert problems(third, part, "Bob") == ["a pronoun became 'you' in one place and stayed in another"]


def test_a_name_that_is_also_a_word_and_a_name_in_two_spellings():
    third = Wording("Will will wait for Xiao Ming.", "What does Will think?", ("Xiaoming comes", "Will is late"))
    will = Wording("You will wait for Xiao Ming.", "What do you think?", ("Xiaoming comes", "I am late"))
    assert problems(third, will, "Will") == []
    asked = Wording(third.story, "What does Xiao Ming think?", third.options)
    ming = Wording("Will will wait for you.", "What do you think?", ("Xiaoming comes", "Will is late"))
    assert "the person is still named" in problems(asked, ming, "Xiao Ming")


def test_the_rules_accept_the_conversions_of_the_trial_and_reviewers_agree_as_stated(official):
    folder = Path(__file__).parent / "conversion_trial"
    released = {question.id: question for question in read_folder(official / "tombench")}
    kept = [json.loads(line) for line in (folder / "conversions.jsonl").read_text().splitlines()]
    for row in kept:
        edits = msgspec.convert(row, FirstPerson)
        third = released[edits.id].wording("en")
        assert problems(third, applied(edits, third), edits.ego) == []
    verdicts = [row for _, row in read_rows(folder / "verdicts.csv", ("id", "first", "second"))]
    alike = Counter(row["first"] for row in verdicts if row["first"] == row["second"])
    assert (len(verdicts), alike) == (36, {"ok": 26, "meaning": 5, "wording": 2})
    reasons = [row["reason"] for _, row in read_rows(folder / "left-out.csv", ("id", "reason"))]
    assert (len(reasons), sum(reason.startswith("the model: ") for reason in reasons)) == (64, 50)


def test_labelled_conversions(official):
    """All 95 bad conversions are rejected, and at most a third of the 96 good ones."""
    released = {question.id: question for question in read_folder(official / "tombench")}
    rejected = {"good": [], "bad": []}
    for line in Path(__file__).with_name("conversions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        third = released[row["id"]].wording(row["language"])
        edits = tuple(msgspec.convert(edit, Edit) for edit in row["edits"])
        first = applied(FirstPerson(row["id"], row["language"], row["ego"], 1, 0, row["digest"], edits), third)
        rejected[row["label"]].append(bool(problems(third, first, row["ego"])))
    assert (len(rejected["bad"]), sum(rejected["bad"])) == (95, 95)
    assert (len(rejected["good"]), sum(rejected["good"])) == (96, 32)


def row(name, wording=ARNO, **changes):
    return {"id": name, **msgspec.to_builtins(wording), "answer": 0, **changes}


def written(path, *rows):
    path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"id": "b", "story": "s"}, "missing required field `question`"),
        (row("b", options=["one"]), "at least two options"),
        (row("b", options=["one", "one"]), "all different"),
        (row("b", answer=2), "answer 2 is not the place of an option, 0 to 1"),
        (row("b", answer="A"), "Expected `int`"),
        (row("b", story=" "), "must not be empty"),
        (row("a"), "the id 'a' appears twice"),
        ("no object", "Expected `object`"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(bad, said, tmp_path):
    path = written(tmp_path / "items.jsonl", row("a"), bad)
    with pytest.raises(DataError, match=said) as refused:
        read_third_person(path)
    assert refused.value.line == 2


def test_a_file_without_items_is_refused(tmp_path):
    with pytest.raises(DataError, match="has no item"):
        read_third_person(written(tmp_path / "items.jsonl"))


REPLIES = {
    "sound": {"person": "Arno", "order": 1, **msgspec.to_builtins(YOU)},
    "zh": {"person": "小明", "order": 1, **msgspec.to_builtins(YOU_ZH)},
    "dropped": {"person": "Arno", "order": 1, **msgspec.to_builtins(changed(", you can buy one", ""))},
    "fact": {"person": "", "reason": "asks for a fact"},
}
ITEMS = [
    row("sound"),
    row("zh", XIAOMING, answer=1),
    row("dropped", story=f"{ARNO.story} "),
    row("fact", question="How many coins?", options=["2", "3"]),
    row("odd", question="What does Arno want?"),
]


def reply(body):
    """Answers by what the item is; the last one gets no object."""
    text = body["messages"][-1]["content"]
    if "小明" in text:
        name = "zh"
    elif "How many coins?" in text:
        name = "fact"
    else:
        name = "dropped" if "buy one.” " in text else "odd" if "want?" in text else "sound"
    return json.dumps(REPLIES[name], ensure_ascii=False) if name in REPLIES else "I would rather not."


@pytest.fixture
def server():
    with OpenAIServer() as server:
        server.say = reply
        yield server


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "items.jsonl", *ITEMS)

    def call(*words):
        code = run_command([*words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_a_model_converts_a_file_and_rejected_items_have_their_reasons(cli, server, tmp_path):
    command = ("egosocial", "convert", "items.jsonl", "--model", f"vllm/owl@{server.url}#1", "--to", "out", "--json")
    code, out, err = cli(*command)
    assert code == 0, err
    assert json.loads(out)["finding"] == "2 of 5 conversions are sound."
    found = {line.id: line for line in read_items(tmp_path / "out" / "conversions.jsonl", FirstPerson)}
    assert applied(found["sound"], ARNO) == YOU and applied(found["zh"], XIAOMING) == YOU_ZH
    assert (found["sound"].ego, found["sound"].language, found["sound"].order, found["sound"].kept) == (
        "Arno",
        "en",
        1,
        1,
    )
    assert found["zh"].language == "zh"
    stored = (tmp_path / "out" / "conversions.jsonl").read_text(encoding="utf-8")
    assert "kite" not in stored and "风筝" not in stored
    reasons = {one["id"]: one["reason"] for one in rows_of(tmp_path / "out" / "left-out.csv")}
    assert reasons.keys() == {"dropped", "fact", "odd"}
    assert reasons["dropped"] == f"story: {WORDS}" and reasons["fact"] == "the model: asks for a fact"
    assert reasons["odd"].startswith("the reply could not be read")
    sheet = {one["id"]: one for one in rows_of(tmp_path / "out" / "sheet.csv")}
    assert sheet["sound"]["first-person story"] == YOU.story and sheet["zh"]["right option"] == "小明觉得很难过"
    prompts = {one.body["messages"][-1]["content"] for one in server.received}
    assert len(prompts) == len(server.received) == 5
    assert any("第三人称" in prompt for prompt in prompts)
    assert cli(*command)[0] == 0 and len(server.received) == 5  # nothing is asked again


def test_an_interrupted_conversion_continues_without_paying_twice(cli, server, tmp_path):
    command = ("egosocial", "convert", "items.jsonl", "--model", f"vllm/owl@{server.url}#1", "--to", "out")
    server.fault_of = lambda number: None if number < 2 else WRONG_KEY
    code, _, err = cli(*command)
    assert code != 0 and not (tmp_path / "out" / "conversions.jsonl").exists(), err
    served = server.served
    assert 0 < served < 5
    server.fault_of = None
    code, out, err = cli(*command)
    assert code == 0, err
    assert "2 of 5 conversions are sound." in out and server.served == 5


def test_a_cap_stops_a_conversion_and_the_next_command_continues_it(cli, server):
    command = ("egosocial", "convert", "items.jsonl", "--model", f"vllm/owl@{server.url}#1", "--to", "out")
    code, _, err = cli(*command, "--max-requests", "2")
    assert code != 0 and "repeat the command to continue" in err and server.served == 2
    assert cli(*command)[0] == 0 and server.served == 5


def test_a_sheet_that_reviewers_filled_in_is_not_overwritten(cli, server, tmp_path):
    command = ("egosocial", "convert", "items.jsonl", "--model", f"vllm/owl@{server.url}#1", "--to", "out")
    assert cli(*command)[0] == 0
    sheet = tmp_path / "out" / "sheet.csv"
    sheet.write_text(filled := sheet.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    code, out, _ = cli(*command)
    assert code == 0 and "was not overwritten" in out and sheet.read_text(encoding="utf-8") == filled


def test_the_agreement_of_reviewers_comes_from_filled_in_sheets(cli, server, tmp_path):
    written(tmp_path / "items.jsonl", *(row(f"kite-{number}") for number in range(10)))
    assert cli("egosocial", "convert", "items.jsonl", "--model", f"vllm/owl@{server.url}#1", "--to", "out")[0] == 0
    for rater, odd in (("ann", 2), ("bob", 3)):
        fill(
            tmp_path / "out" / "sheet.csv",
            f"{rater}.csv",
            verdict=lambda n, row, odd=odd: "meaning" if n < odd else "ok",
        )
    shown = json.loads(cli("sheet", "read", "ann.csv", "bob.csv", "--json")[1])
    assert [[one["answer"], one["rows"], one["share"]] for one in shown["answers"]] == [
        ["ok", 10, 0.7], ["wording", 10, 0.0], ["meaning", 10, 0.2], ["all raters agree", 10, 0.9],
    ]  # fmt: skip
    (agreement,) = shown["agreement"]
    alpha = 1 - 0.1 / (2 * 5 * 15 / (20 * 19))  # five of twenty labels are "meaning"
    assert agreement["coefficient"] == "Krippendorff's alpha (nominal)"
    assert agreement["value"] == pytest.approx(alpha, abs=1e-3)
    assert not (tmp_path / "s.db.labels").exists(), "a review of items belongs to no run"


def test_convert_needs_one_model_and_refuses_a_bad_row_before_it_sends_anything(cli, server, tmp_path):
    assert "convert needs one model" in cli("egosocial", "convert", "items.jsonl", "--to", "out")[2]
    written(tmp_path / "items.jsonl", ITEMS[0], row("b", answer=7))
    code, _, err = cli("egosocial", "convert", "items.jsonl", "--model", f"vllm/owl@{server.url}#1", "--to", "out")
    assert code == 2 and "items.jsonl" in err and "2" in err and server.received == []
