"""From a builder's drafts to conversions that can be played: checks, people's verdicts, files."""

import csv
import io
import json

import msgspec
import pytest

from rehearsal import Rehearsal
from sociometer.core.conversation import Identity, Reply
from sociometer.core.errors import DataError
from sociometer.core.player import RulePlayer
from sociometer.core.settings import Settings
from sociometer.instruments import load
from sociometer.instruments.egosocial import commands
from sociometer.instruments.egosocial.tombench import convert as build
from sociometer.instruments.egosocial.tombench.convert import read_conversions

ROWS = [
    ("Oto hides a ball from Meifen.", "Where does Meifen look for the ball?"),
    ("Meifen tells Oto a joke. Oto yawns.", "Why does Oto yawn?"),
    ("A dog sleeps in the sun.", "What does the dog do?"),
]


class Builder(RulePlayer):
    """Replaces the name by the plainest of rules; good enough for these sentences, wrong on purpose for the second."""

    def __init__(self):
        super().__init__(Identity("test", "builder"))

    async def answer(self, request):
        prompt = request.messages[0].content
        if "Oto hides" in prompt:
            made = {
                "story": "Oto hides a ball from you.",
                "question": "Where do you look for the ball?",
                "options": ["here", "there"],
            }
        else:
            made = {
                "story": "Meifen tells Oto a joke. You yawn.",
                "question": "Why do you yawn?",
                "options": ["here", "there"],
            }
        return Reply(json.dumps(made))


class Solver(RulePlayer):
    """Finds the ball "there" in the third person and "here" as soon as the story says "you"."""

    def __init__(self):
        super().__init__(Identity("test", "solver"))

    async def answer(self, request):
        return Reply("A" if "from you" in request.messages[-1].content else "B")


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data" / "tombench"
    folder.mkdir(parents=True)
    rows = [
        {
            "能力\nABILITY": "Belief: Location false beliefs",
            "序号\nINDEX": 1,
            "故事": "略",
            "问题": "略",
            "选项A": "甲",
            "选项B": "乙",
            "选项C": None,
            "选项D": None,
            "STORY": story,
            "QUESTION": asked,
            "OPTION-A": "here",
            "OPTION-B": "there",
            "OPTION-C": None,
            "OPTION-D": None,
            "答案\nANSWER": "B",
        }
        for story, asked in ROWS
    ]
    (folder / "Made Up.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return tmp_path / "data"


class FakeContext:
    """A workbench that rehearses."""

    seed = 0

    def __init__(self, data):
        self.instrument = load("egosocial")
        self.show = Rehearsal(self.instrument, {"builder": Builder(), "solver": Solver()}, data=data)
        self._views = {}

    def source(self, **settings):
        return self.show.source()

    def play(self, task, items=None, **options):
        self._views[task] = self.show.play_all(task, items)
        return self

    def view(self, task):
        return self._views[task]

    def summary(self, task):
        return self.instrument.task(task).summarise(self._views[task])

    def write(self, path, text):
        path.write_text(text, encoding="utf-8")
        return str(path)


def options(**values):
    return Settings({"to": None, "sheet": None, "reviewed": None, "check-answers": False, **values})


def test_only_what_passes_is_written_and_the_rest_stands_in_the_review_sheet(data, tmp_path):
    result = commands.build(FakeContext(data), options(to=str(tmp_path / "c.jsonl")))
    assert dict(result.tables[0].rows) == {"converted": 2, "passed every check": 1, "judged by people": 0, "written": 1}
    ((key, line),) = read_conversions(tmp_path / "c.jsonl").items()
    assert key == ("tombench-made-up-001", "en")
    assert (line.ego, line.story) == ("Meifen", "Oto hides a ball from you.")
    sheet = list(csv.DictReader(io.StringIO((tmp_path / "c.review.csv").read_text(encoding="utf-8"))))
    assert [row["checks failed"] for row in sheet] == ["", "name still there; story: people changed"]
    assert sheet[0]["right option"] == "2"


def test_a_conversion_that_changes_the_solvers_answer_is_a_finding(data, tmp_path):
    out = tmp_path / "c.jsonl"
    result = commands.build(FakeContext(data), options(**{"to": str(out), "check-answers": True}))
    assert dict(result.tables[0].rows)["answered by the solver"] == 1
    assert out.read_text(encoding="utf-8") == ""
    (row, _) = csv.DictReader(io.StringIO((tmp_path / "c.review.csv").read_text(encoding="utf-8")))
    assert row["checks failed"] == build.ANSWER_CHANGED


def test_people_overrule_the_checks_and_mend_the_words(data, tmp_path):
    commands.build(FakeContext(data), options(to=str(tmp_path / "c.jsonl")))
    path = tmp_path / "c.review.csv"
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    rows[0]["verdict"] = "no"
    rows[1]["verdict"] = "yes"
    rows[1]["first-person story"] = "Meifen tells you a joke. You yawn."
    with path.open("w", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, rows[0].keys())
        table.writeheader()
        table.writerows(rows)
    commands.build(FakeContext(data), options(to=str(tmp_path / "d.jsonl"), reviewed=str(path)))
    ((_, line),) = read_conversions(tmp_path / "d.jsonl").items()
    assert line.story == "Meifen tells you a joke. You yawn."


def test_converted_questions_become_pairs(data, tmp_path):
    commands.build(FakeContext(data), options(to=str(tmp_path / "c.jsonl")))
    show = Rehearsal(load("egosocial"), {}, {"converted": str(tmp_path / "c.jsonl")}, data=data)
    scenes = list(load("egosocial").task("tombench").items(show.source()))
    assert [len(scene.tellings) for scene in scenes] == [2]
    third, first = scenes[0].tellings
    assert (third.answer, first.answer, first.name) == (1, 1, "first")
    assert scenes[0].facets["measures"] == "socialization"


@pytest.mark.parametrize(("text", "message"), [("id,verdict\n", "columns missing"), (None, "verdict 'perhaps'")])
def test_a_sheet_that_cannot_be_read_is_refused(tmp_path, text, message):
    path = tmp_path / "s.csv"
    text = text or ",".join(build.COLUMNS) + "\nx,,,,perhaps" + "," * 7 + "\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        build.read_sheet(path)


def test_text_of_a_model_never_becomes_a_formula(data):
    (draft, *_) = build.drafts_of(FakeContext(data).play("convert").view("convert"))
    first = msgspec.structs.replace(draft.conversion.first, story="=1+1", question="plain")
    conversion = msgspec.structs.replace(draft.conversion, first=first)
    (row,) = csv.DictReader(io.StringIO(build.review_sheet([msgspec.structs.replace(draft, conversion=conversion)])))
    assert (row["first-person story"], row["first-person question"]) == ("'=1+1", "plain")


@pytest.mark.slow
def test_lint_checks_the_bundled_scenes(data):
    result = commands.lint(FakeContext(data), Settings({"to": None}))
    assert not result.failed
    assert {table.name for table in result.tables} >= {
        "positions-generated",
        "positions-counterfactual",
        "positions-worlds",
    }
