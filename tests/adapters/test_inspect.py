"""Inspect runs our instruments, and its own commands score, dump and read what we write; no network, real package."""

import contextlib
import json
import math
import zipfile
from functools import cache
from itertools import count

import msgspec
import pytest

pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")

import inspect_ai
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log
from inspect_ai.model import ContentReasoning, ContentText, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.scorer import SampleScore, Score

import assistants
import sociometer as sm
from sociometer.adapters import inspect_tasks
from sociometer.cli.main import run_command
from sociometer.instruments import cards, load
from untidy import left_open

# Inspect itself calls tenacity with a parameter that tenacity deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")
EVAL = ("inspect", "eval", "--display", "plain", "--log-dir")
QUESTIONS = 40
"""Of SESI's: enough for clusters, and Inspect takes long for each."""


def newest(folder):
    return max(folder.glob("*.eval"), key=lambda path: path.stat().st_mtime_ns)


def evaluate(task, folder, **options):
    """The log of an evaluation by Inspect in this process."""
    with left_open():
        (log,) = inspect_ai.eval(task, log_dir=str(folder), display="none", **options)
    assert log.status == "success", log.error
    return newest(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inspect")


@pytest.fixture(scope="module")
def replies(folder, script):
    """A script that gives the questions of SESI different answers, some of them unreadable."""
    questions = list(load("sesi").tasks["questions"].items(_source("sesi")))
    return script(folder / "replies.jsonl", {one.situation: "ABCD?"[place % 5] for place, one in enumerate(questions)})


def _source(name):
    from sociometer.engine.plan import make_plan
    from sociometer.engine.run_options import make_config
    from sociometer.instruments import card_of

    return make_plan(make_config(card_of(name), "baseline/random"), load(name), bindings={}).source()


@pytest.fixture(scope="module")
def played(folder, replies):
    """Questions of SESI by our engine."""
    return sm.run("sesi", f"scripted/{replies}", limit=QUESTIONS, store=folder / "store.db")


@pytest.fixture(scope="module")
def evaluated(folder, replies, played):
    """The same by Inspect; that its command works too is seen by the slow tests."""
    chosen = {"model": f"sociometer/scripted/{replies}", "sample_id": [one.item.id for one in played.episodes()]}
    return evaluate("sociometer/sesi", folder / "sesi", **chosen)


def scores_of(log):
    return {
        (sample.id, sample.epoch): next(iter(sample.scores.values())).value for sample in read_eval_log(log).samples
    }


def score_named(log, name):
    """What Inspect computed of one score value."""
    (found,) = [score for score in read_eval_log(log, header_only=True).results.scores if score.name == name]
    return found


def given(scores):
    """Without the values that an item does not have."""
    return {
        place: {name: value for name, value in values.items() if not math.isnan(value)}
        for place, values in scores.items()
    }


def engine_scores(run, task=""):
    return {(one.item.id, one.repeat + 1): dict(one.score.values) for one in run.episodes(task)}


def test_the_same_replies_give_the_same_scores_in_inspect_and_in_our_engine(evaluated, played):
    # Inspect wants the same names for all samples: what only some items have is left out.
    ours = {place: {"correct": values["correct"]} for place, values in engine_scores(played).items()}
    assert scores_of(evaluated) == ours
    accuracy = score_named(evaluated, "correct")
    assert accuracy.metrics["mean"].value == pytest.approx(played.summary().measure("accuracy").value)


def test_standard_errors_are_clustered(evaluated):
    accuracy = score_named(evaluated, "correct")
    samples = read_eval_log(evaluated).samples
    by_cluster = {}
    for sample in samples:
        by_cluster.setdefault(sample.metadata["cluster"], []).append(
            sample.scores["sociometer/outcome"].value["correct"]
        )
    mean = accuracy.metrics["mean"].value
    count, of = len(by_cluster), len(samples)
    squares = sum(sum(value - mean for value in values) ** 2 for values in by_cluster.values())
    error = math.sqrt(squares * count / (count - 1)) / of
    assert accuracy.metrics["sociometer/stderr"].value == pytest.approx(error, rel=0.02)
    assert all(sample.metadata["cluster"] for sample in read_eval_log(evaluated).samples)


def test_too_few_clusters_have_no_standard_error_as_in_our_engine():
    def error(clusters):
        cells = [(float(place % 2), f"cluster {place % clusters}") for place in range(41)]
        return inspect_tasks.clustered_error()(
            [SampleScore(score=Score(value=value), sample_metadata={"cluster": cluster}) for value, cluster in cells]
        )

    assert math.isnan(error(7))
    assert error(20) > 0


def test_the_log_says_what_was_played_and_shows_the_conversation(evaluated):
    header, (sample, *_) = read_eval_log(evaluated, header_only=True), read_eval_log(evaluated).samples
    assert header.eval.task == "sociometer/sesi"
    assert header.eval.task_version == cards()["sesi"].version
    assert sample.messages[-1].role == "assistant"
    assert sample.metadata["item"]["situation"] in sample.messages[0].text
    assert sample.metadata["item"]["situation"] in sample.input


@pytest.mark.slow
def test_inspect_scores_a_log_again_without_asking_a_model(evaluated, folder, command):
    command("inspect", "score", evaluated, "--action", "overwrite", "--output-file", "again.eval", folder=folder)
    assert scores_of(folder / "again.eval") == scores_of(evaluated)


def test_an_own_log_is_imported_as_a_run_of_the_instrument(evaluated, played, cli):
    (run,) = cli("import", "inspect", evaluated, "--json")
    assert run["instrument"] == "sesi"
    imported = sm.get_run(run["run"])
    assert imported.summary().measures == played.summary().measures
    assert imported.transcript(next(imported.episodes()).item.id)[0].messages[0].content
    assert imported.subject == played.subject == "scripted/replies.jsonl"
    assert [one.undecided for one in sm.compare(imported, played)] == [""]


@pytest.fixture(scope="module")
def matches(folder):
    """Number guessing against four opponents, played twice."""
    (folder / "numbers.jsonl").write_text('{"match": ".", "reply": "{\\"prediction\\": 33, \\"choice\\": 20}"}\n')
    model = f"sociometer/scripted/{folder / 'numbers.jsonl'}"
    chosen = {"task_args": {"task": "numbers", "rounds": 3}, "epochs": 2, "limit": 4, "temperature": 0.7}
    return evaluate("sociometer/egosocial", folder / "numbers", model=model, **chosen)


@pytest.mark.slow
def test_settings_and_epochs_reach_the_instrument(matches, folder):
    log = read_eval_log(matches)
    run = sm.run(
        "egosocial",
        f"scripted/{folder / 'numbers.jsonl'}",
        tasks=("numbers",),
        settings={"rounds": 3},
        repeats=2,
        store=folder / "store.db",
    )
    ours = engine_scores(run)
    assert len(log.samples) == 8
    names = inspect_tasks.score_names(cards()["egosocial"], "numbers")
    for place, values in given(scores_of(matches)).items():
        assert values == {name: value for name, value in ours[place].items() if name in names}


def test_every_epoch_of_every_sample_has_the_same_score_names(matches):
    names = {tuple(values) for values in scores_of(matches).values()}
    assert names == {inspect_tasks.score_names(cards()["egosocial"], "numbers")}
    assert any(math.isnan(value) for values in scores_of(matches).values() for value in values.values())


def test_what_the_user_sets_in_inspect_replaces_what_the_instrument_asks_for(matches):
    (sample, *_) = read_eval_log(matches).samples
    (asked, *_) = [event for event in sample.events if event.event == "model"]
    assert asked.config.temperature == 0.7
    assert asked.config.max_tokens == 1000


@pytest.mark.slow
def test_a_role_is_played_by_its_own_model_and_never_by_the_subject(folder, script, command):
    (folder / "helper.jsonl").write_text('{"match": ".", "reply": "I am listening."}\n')
    feeling = '{"thinking": "kind", "change": 5, "analysis": "well"}'
    script(folder / "person.jsonl", {}, feeling)
    roles = ("--model-role", f"simulator=sociometer/scripted/{folder / 'person.jsonl'}")
    model = f"sociometer/scripted/{folder / 'helper.jsonl'}"
    chosen = ("-T", "turns=2", "--limit", "1", "--no-fail-on-error")
    command(*EVAL, "sage", "sociometer/sage", "--model", model, *roles, *chosen, folder=folder)
    (sample,) = read_eval_log(newest(folder / "sage")).samples
    asked = [(event.role, event.model) for event in sample.events if event.event == "model"]
    assert ("simulator", f"sociometer/scripted/{folder / 'person.jsonl'}") in asked
    assert all(model.endswith("person.jsonl") == (role == "simulator") for role, model in asked)


def test_a_role_that_nobody_plays_is_an_error(monkeypatch):
    """Inspect would put the evaluated model in its place."""
    instrument = load("sage")
    (role,) = [role for role in instrument.card.role if role.name == "judge"]
    with pytest.raises(PrerequisiteError, match="'judge' is required"):
        inspect_tasks._binding(instrument, role)


@pytest.mark.slow
def test_a_failure_of_the_machinery_is_an_error_and_no_score(folder, command):
    (folder / "dry.txt").write_text("A\n")
    model = f"sociometer/scripted/{folder / 'dry.txt'}"
    chosen = ("--limit", "2", "--no-fail-on-error", "--max-retries", "0")
    command(*EVAL, "dry", "sociometer/sesi", "--model", model, *chosen, folder=folder)
    log = read_eval_log(newest(folder / "dry"))
    assert sorted(sample.error is None for sample in log.samples) == [False, True]
    (failed,) = [sample for sample in log.samples if sample.error]
    assert "no reply left" in failed.error.message
    assert not failed.scores


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"orders": 0}, "--orders must be at least 1"),
        ({"mood": "good"}, "unknown setting '--mood'"),
        ({"task": "answers"}, "unknown sesi task 'answers'"),
    ],
)
def test_a_wrong_argument_is_named(arguments, said):
    with pytest.raises(PrerequisiteError, match=said):
        inspect_tasks.sesi(**arguments)


def test_a_task_without_items_says_what_run_says():
    with pytest.raises(PrerequisiteError, match="task strategies has no items with these settings"):
        inspect_tasks.sage(task="strategies")


def test_an_instrument_with_several_tasks_asks_which():
    with pytest.raises(PrerequisiteError, match=r"choose one with -T task=NAME"):
        inspect_tasks.egosocial()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "task"), [(card.name, task) for card in cards().values() for task in card.default_tasks()]
)
def test_every_default_task_of_every_instrument_is_offered(name, task):
    made = getattr(inspect_tasks, name)(task=task)
    assert len(made.dataset) > 0
    assert inspect_tasks.score_names(cards()[name], task)


FOREIGN = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def capitals():
    pairs = [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Norway", "Oslo")] * 10
    samples = [
        Sample(id=f"{place}", input=f"Capital of {land}?", target=town, metadata={"region": f"r{place // 2}"})
        for place, (land, town) in enumerate(pairs)
    ]
    return Task(dataset=samples, solver=generate(), scorer=includes())
"""


@pytest.fixture(scope="module")
def foreign(folder):
    """Gives the log of a task that is not ours, of a model that knows half of the towns or of one that knows all."""
    (folder / "capitals.py").write_text(FOREIGN)
    lands = {"Paris": "France", "Oslo": "Norway", "Rome": "Italy", "Madrid": "Spain"}
    for name, towns in (("half", ("Paris", "Oslo")), ("all", tuple(lands))):
        lines = [json.dumps({"match": lands[town], "reply": f"It is {town}."}) for town in towns]
        (folder / f"{name}.jsonl").write_text("\n".join([*lines, '{"match": ".", "reply": "I pass."}']))

    def log_of(name):
        with contextlib.chdir(folder):
            return evaluate("capitals.py", folder / name, model=f"sociometer/scripted/{folder / name}.jsonl")

    return cache(log_of)


@pytest.mark.slow
def test_any_log_of_inspect_becomes_runs_that_can_be_compared(foreign, cli):
    (half,), (whole,) = (
        cli("import", "inspect", foreign(name), "--cluster", "region", "--subject", name, "--json")
        for name in ("half", "all")
    )
    (measure,) = half["summaries"]["items"]["measures"]
    assert (half["instrument"], measure["name"], measure["value"], measure["clusters"]) == (
        "capitals",
        "includes",
        0.5,
        20,
    )
    assert "all is better than half: 50" in cli("compare", half["run"], whole["run"])
    events = cli("show", half["run"], "0", "--json")["events"]
    assert events[0]["reply"]["text"] == "It is Paris."


def test_a_wrong_score_cluster_or_file_is_named(foreign, cli, tmp_path):
    assert "unknown score 'f1'" in cli("import", "inspect", foreign("half"), "--primary", "f1", code=2)
    assert "no field 'town' to cluster by" in cli("import", "inspect", foreign("half"), "--cluster", "town", code=2)
    (tmp_path / "broken.eval").write_bytes(b"PK not a zip")
    assert "not a log of Inspect" in cli("import", "inspect", "broken.eval", code=2)
    assert "no such file" in cli("import", "inspect", "absent.eval", code=2)


ASKED = count(1)


@modelapi(name="letters")
class Letters(ModelAPI):
    """A provider of Inspect's: says A and thinks; fails at first where its name says so."""

    async def generate(self, input, tools, tool_choice, config):
        if self.model_name == "broken" or (self.model_name == "flaky" and next(ASKED) % 2):
            raise ConnectionError("the line is down")
        if self.model_name == "silent":
            return ModelOutput.from_content("letters", "")
        content = [ContentReasoning(reasoning="hm"), ContentText(text="A")]
        output = ModelOutput.from_content("letters-1", content)
        output.usage = ModelUsage(input_tokens=len(input[0].text), output_tokens=config.max_tokens or 0)
        return output

    def should_retry(self, ex):
        return isinstance(ex, ConnectionError)


def ask_letters(cli, name, *more, code=0):
    (run,) = cli(
        "run", "sesi", "--model", f"inspect/letters/{name}", "--limit", "4", "--quiet", "--json", *more, code=code
    )
    return run


def test_a_model_of_inspect_answers_in_our_engine(cli):
    run = ask_letters(cli, "good")
    (accuracy, *_) = run["summaries"]["questions"]["measures"]
    assert (accuracy["items"], accuracy.get("unreadable", 0), run["errors"]) == (4, 0, {})
    assert run["manifest"]["roles"]["subject"]["identity"]["wire"] == "inspect"
    assert (run["output_tokens"], run["input_tokens"] > 400) == (4 * 1000, True)
    item = next(sm.get_run(run["run"]).episodes()).item.id
    assert sm.get_run(run["run"]).transcript(item)[0].reply.reasoning == "hm"


def test_the_engine_tries_again_where_the_provider_says_so(cli):
    run = ask_letters(cli, "flaky", "-o", "retries=3")
    assert (run["errors"], run["done"]) == ({}, 4)
    assert run["retries"] > 0


def test_a_model_of_inspect_that_fails_gives_errors_and_no_scores(cli):
    run = ask_letters(cli, "broken", "-o", "retries=0", code=4)
    assert run["errors"] == {"inspect": 4}
    assert run["summaries"]["questions"]["measures"][0]["value"] is None


def test_silence_of_a_model_of_inspect_is_an_outcome(cli):
    run = ask_letters(cli, "silent")
    (accuracy, *_) = run["summaries"]["questions"]["measures"]
    assert (accuracy["value"], accuracy["unreadable"], run["errors"]) == (0.0, 4, {})


def test_a_model_that_inspect_does_not_know_is_named_before_anything_is_asked(cli):
    said = cli("run", "sesi", "--model", "inspect/nosuch/model", "--limit", "3", "--quiet", code=2)
    assert "Inspect cannot use the model 'nosuch/model'" in said


@modelapi(name="pressed")
class Pressed(ModelAPI):
    """A provider of Inspect's with tools: an assistant by rule, which also thinks."""

    async def generate(self, input, tools, tool_choice, config):
        names = [tool.name for tool in tools]
        said = [message.text for message in input if message.role == "user"]
        results = [(message.function, message.text) for message in input if message.role == "tool"]
        made = getattr(assistants, self.model_name)(seen := assistants.Seen(names, said, results))
        thought = [ContentReasoning(reasoning="hm", signature="s")]
        if isinstance(made, str):
            return ModelOutput.from_content("pressed", [*thought, ContentText(text=made)])
        assert config.parallel_tool_calls is False
        output = ModelOutput.for_tool_call("pressed", made.pop(), {"record": seen.record})
        output.choices[0].message.content = thought
        earlier = [message for message in input if message.role == "assistant" and message.tool_calls]
        assert all(message.content[0].signature == "s" for message in earlier)
        return output


@pytest.mark.parametrize(
    "name", ["discerning", "lost", *(pytest.param(name, marks=pytest.mark.slow) for name in ("two_faced", "leaking"))]
)
def test_tools_of_inspect_give_the_same_state_and_the_same_score(folder, openai_server, name):
    assistants.Called(openai_server, getattr(assistants, name))
    ours = sm.run(
        "helpdesk", f"vllm/m@{openai_server.url}#1", settings={"talks": 6}, seed=7,
        store=folder / f"{name}.db",
    )  # fmt: skip
    log = evaluate("sociometer/helpdesk", folder / name, model=f"pressed/{name}", task_args={"talks": 6, "seed": 7})
    theirs = {sample.id: sample for sample in read_eval_log(log).samples}
    for episode in ours.episodes("cases"):
        sample = theirs.pop(episode.item.id)
        assert sample.store["sociometer:outcome"] == json.loads(msgspec.json.encode(episode.outcome))
        scores = next(iter(sample.scores.values())).value
        assert {key: value for key, value in scores.items() if not math.isnan(value)} == {
            key: value for key, value in episode.score.values.items() if key in scores
        }
    assert not theirs
    assert read_eval_log(log).eval.metadata


def test_a_model_of_ours_is_told_of_tools_in_inspect_or_refused(folder, tmp_path):
    call = json.dumps({"tool": "look_up", "arguments": {"record": "B1"}})
    script = tmp_path / "script.jsonl"
    script.write_text(
        "".join(json.dumps({"match": match, "reply": said}) + "\n" for match, said in (("Result", "No."), (".", call)))
    )
    chosen = {"model": f"sociometer/scripted/{script}", "limit": 1}
    log = evaluate("sociometer/helpdesk", folder / "told", **chosen, task_args={"talks": 2, "tools": "told"})
    (sample,) = read_eval_log(log).samples
    assert sample.store["sociometer:outcome"]["talk"][1] == ["subject", "No."]
    with pytest.raises(AssertionError, match="-T tools=told"):
        evaluate("sociometer/helpdesk", folder / "refused", **chosen, task_args={"talks": 2})


@pytest.mark.parametrize("samples", [0, 12])
def test_a_log_that_was_killed_is_refused_without_samples_and_else_imported_as_a_stopped_run(
    evaluated, tmp_path, capsys, samples
):
    killed, store = tmp_path / "killed.eval", str(tmp_path / "s.db")
    with zipfile.ZipFile(evaluated) as whole, zipfile.ZipFile(killed, "w") as part:
        kept = [name for name in whole.namelist() if name.startswith("samples/")][:samples]
        for name in ("_journal/start.json", *kept):
            part.writestr(name, whole.read(name))
    code = run_command(["import", "inspect", str(killed), "--store", store])
    said = capsys.readouterr()
    if samples:
        (run,) = sm.runs(store=store)
        assert (code, run.status, len(list(run.episodes()))) == (0, "stopped", 12)
        assert "its scores cover only the items played so far" in said.out
    else:
        assert code == 2
        assert "the evaluation was killed before it wrote one" in said.err
        assert not sm.runs(store=store)
