"""Inspect runs our instruments, and its own commands score what we write again; no network, real package."""

import json
import math
import re
from itertools import count
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")

import inspect_ai
from inspect_ai._eval.score import resolve_scorers
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log
from inspect_ai.model import ContentReasoning, ContentText, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.scorer import SampleScore, Score

import assistants
import inspect_models as inspect_models  # registers the provider `replies`
import sociometer as sm
from sociometer.adapters import inspect_tasks
from sociometer.instruments import cards, load
from untidy import left_open

# Inspect itself calls tenacity with a parameter that tenacity deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")
QUESTIONS = 40
"""Of SESI's: enough for clusters, and Inspect takes long for each."""


def evaluate(task, folder, **options):
    """The log of an evaluation by Inspect in this process."""
    with left_open():
        (log,) = inspect_ai.eval(task, log_dir=str(folder), display="none", **options)
    assert log.status == "success", log.error
    return Path(log.location.removeprefix("file://"))


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
    """The same by Inspect."""
    chosen = {"model": f"replies/{replies}", "sample_id": [one.item.id for one in played.episodes()]}
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


def test_inspect_scores_a_log_again_by_the_scorers_that_it_names(evaluated):
    log = read_eval_log(evaluated)
    with left_open():
        again = inspect_ai.score(log, resolve_scorers(log), action="overwrite", display="none")
    values, before = (
        [value for sample in one.samples for score in sample.scores.values() for value in [score.value, score.metadata]]
        for one in (again, log)
    )
    assert values == before
    measured, before = (
        [(name, metric.value) for score in one.results.scores for name, metric in score.metrics.items()]
        for one in (again, log)
    )
    assert measured == before


@pytest.fixture(scope="module")
def matches(folder):
    """Number guessing against four opponents, played twice."""
    (folder / "numbers.jsonl").write_text('{"match": ".", "reply": "{\\"prediction\\": 33, \\"choice\\": 20}"}\n')
    model = f"replies/{folder / 'numbers.jsonl'}"
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


def test_a_value_that_an_item_does_not_have_is_no_number_in_inspect(folder):
    """Without a readable move no stake is lost to a worse one, nor kept."""
    (folder / "silent.jsonl").write_text('{"match": ".", "reply": "Hm."}\n')
    chosen = {"model": f"replies/{folder / 'silent.jsonl'}", "task_args": {"task": "blackjack"}, "limit": 1}
    (values,) = scores_of(evaluate("sociometer/egosocial", folder / "silent", **chosen)).values()
    assert math.isnan(values["lost_value"]) and values["best_action"] == 0


def test_what_the_user_sets_in_inspect_replaces_what_the_instrument_asks_for(matches):
    (sample, *_) = read_eval_log(matches).samples
    (asked, *_) = [event for event in sample.events if event.event == "model"]
    assert asked.config.temperature == 0.7
    assert asked.config.max_tokens == 1000


def test_a_role_is_played_by_its_own_model_and_never_by_the_subject(folder, script):
    (folder / "helper.jsonl").write_text('{"match": ".", "reply": "I am listening."}\n')
    feeling = '{"thinking": "kind", "change": 5, "analysis": "well"}'
    script(folder / "person.jsonl", {}, feeling)
    chosen = {"model": f"replies/{folder / 'helper.jsonl'}", "task_args": {"turns": 2}, "limit": 1}
    roles = {"simulator": f"replies/{folder / 'person.jsonl'}"}
    log = evaluate("sociometer/sage", folder / "sage", **chosen, model_roles=roles, fail_on_error=False)
    (sample,) = read_eval_log(log).samples
    asked = [(event.role, event.model) for event in sample.events if event.event == "model"]
    assert ("simulator", f"replies/{folder / 'person.jsonl'}") in asked
    assert all(model.endswith("person.jsonl") == (role == "simulator") for role, model in asked)


def test_a_role_that_nobody_plays_is_an_error(monkeypatch):
    """Inspect would put the evaluated model in its place."""
    instrument = load("sage")
    (role,) = [role for role in instrument.card.role if role.name == "judge"]
    with pytest.raises(PrerequisiteError, match="'judge' is required"):
        inspect_tasks._binding(instrument, role)


def test_a_failure_of_the_machinery_is_an_error_and_no_score(folder, script):
    first = next(iter(load("sesi").tasks["questions"].items(_source("sesi"))))
    (folder / "dry.jsonl").write_text(json.dumps({"match": re.escape(first.situation), "reply": "A"}) + "\n")
    chosen = {"model": f"replies/{folder / 'dry.jsonl'}", "limit": 2, "fail_on_error": False, "max_retries": 0}
    log = read_eval_log(evaluate("sociometer/sesi", folder / "dry", **chosen))
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


def test_a_model_is_told_of_tools_in_words_if_asked_to(folder, script):
    call = json.dumps({"tool": "look_up", "arguments": {"record": "B1"}})
    model = f"replies/{script(folder / 'told.jsonl', {'Result': 'No.'}, call)}"
    arguments = {"talks": 2, "tools": "told"}
    log = evaluate("sociometer/helpdesk", folder / "told", model=model, limit=1, task_args=arguments)
    (sample,) = read_eval_log(log).samples
    assert sample.store["sociometer:outcome"]["talk"][1] == ["subject", "No."]
