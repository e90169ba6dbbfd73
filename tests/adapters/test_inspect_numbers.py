"""`inspect eval` and `run` give the same numbers on the same replies, also those that need the whole run."""

import hashlib
import json

import pytest

pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")

import inspect_ai

import inspect_models as inspect_models  # registers the provider
import sociometer as sm
from untidy import left_open

# Inspect itself calls tenacity with a parameter that tenacity deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")


def drawn(body, count):
    """A number below `count` that follows from what was asked."""
    asked = json.dumps([message["content"] for message in body["messages"]])
    return hashlib.sha256(asked.encode()).digest()[0] % count


def points(body):
    """Ten points over four feelings; sometimes no answer at all."""
    shares = ("10, 0, 0, 0", "4, 3, 2, 1", "2, 5, 2, 1", "0, 1, 3, 6", "I cannot say.")
    return shares[drawn(body, len(shares))]


def letter(body):
    return ("A", "B", "C", "D", "?")[drawn(body, 5)]


def talk(body):
    return ("I am sorry to hear that.", "What happened then?", "You should not worry.")[drawn(body, 3)]


RUNS = {
    "seceu": ("seceu", points, 12, {}, {}),
    "seceu, official": ("seceu", points, None, {"official": True}, {}),
    "seceu, prompted in every way": ("seceu", points, 4, {}, {"prompting": "all"}),
    "socialeval/goals": ("socialeval", letter, 2, {"task": "goals"}, {}),
    "socialeval/abilities": ("socialeval", letter, 12, {"task": "abilities"}, {}),
    "sage": ("sage", talk, 2, {}, {"turns": 3}),
}
"""The instrument, the rule of the replies, the number of items, and what is chosen."""


def numbers(measures):
    """What the metric should have of a summary's measures."""
    for one in measures:
        if one.value is None:
            continue
        yield one.full_name, one.value
        if one.interval is not None and one.interval.low is not None and one.interval.high is not None:
            yield f"{one.full_name}.low", one.interval.low
            yield f"{one.full_name}.high", one.interval.high


def played(name, server, folder, *, limit, settings, repeats=None, task="", **options):
    """The run, and the log of the same items by Inspect."""
    options["second_question"] = False
    tasks = (task,) if task else ()
    chosen = {"settings": settings, "limit": limit, "repeats": repeats, **options}
    run = sm.run(name, f"vllm/m@{server.url}#1", tasks=tasks, store=folder / "store.db", **chosen)
    given = {**options, **settings}
    if task:
        given["task"] = task
    items = dict.fromkeys(episode.item.id for episode in run.episodes())
    with left_open():
        (log,) = inspect_ai.eval(
            f"sociometer/{name}",
            model="loopback/m",
            model_base_url=server.url,
            sample_id=list(items),
            task_args=given,
            epochs=repeats,
            log_dir=str(folder),
            display="none",
        )
    assert log.status == "success", log.error
    return run, log


def logged(log):
    """The numbers of the metric `summary` in a log."""
    return {
        name: metric.value
        for score in log.results.scores
        for name, metric in score.metrics.items()
        if metric.group == "summary"
    }


@pytest.mark.parametrize("what", RUNS)
def test_inspect_and_run_give_the_same_numbers_on_the_same_replies(what, openai_server, tmp_path, request):
    name, openai_server.say, limit, options, settings = RUNS[what]
    if options.get("official"):
        request.getfixturevalue("official_data")
    run, log = played(name, openai_server, tmp_path, limit=limit, settings=settings, **options)
    assert logged(log) == dict(numbers(run.summary().measures))


def test_inspect_shows_the_eq_and_leads_with_the_primary_measure(openai_server, tmp_path, official_data):
    openai_server.say = lambda body: "4, 3, 2, 1"
    run, log = played("seceu", openai_server, tmp_path, limit=None, settings={}, official=True)
    assert logged(log)["eq"] == run.summary().measure("eq").value == pytest.approx(122, abs=0.5)
    assert log.results.headline.metric == "distance"


def test_every_epoch_counts_as_a_repeat(openai_server, tmp_path):
    openai_server.say = points
    run, log = played("seceu", openai_server, tmp_path, limit=3, settings={}, repeats=2)
    assert logged(log) == dict(numbers(run.summary().measures))
