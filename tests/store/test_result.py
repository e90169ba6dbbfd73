"""What was played in several commands is one result, in which everything counts once."""

import json

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.instruments import load
from sociometer.store.resolver import Resolver, SeveralResults
from sociometer.store.store import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.db"


def results(path, word):
    with Store(path) as store:
        return Resolver(store, load).results(word)


def accuracy(run):
    return run.summary().measure("accuracy")


def test_a_pilot_and_a_longer_run_have_the_score_of_one_run_of_all_items(path, tmp_path):
    for limit in (12, 40, 20):
        sm.run("sesi", "baseline/longest", limit=limit, store=path)
    (joined,) = results(path, "baseline/longest")
    alone = sm.run("sesi", "baseline/longest", limit=40, store=tmp_path / "other.db")
    assert accuracy(joined) == accuracy(alone)
    assert len(list(joined.episodes())) == 40
    assert joined.status == "finished" and joined.part("questions") is None


def test_a_run_that_was_stopped_adds_its_items_and_a_later_one_completes_the_result(path, openai_server):
    openai_server.say = lambda body: "A"
    model = f"vllm/m@{openai_server.url}#1"
    sm.run("sesi", model, limit=12, max_requests=5, in_flight=1, store=path)
    (part,) = results(path, "vllm/m")
    assert part.part("questions") == (5, 12) and part.status == "stopped"
    before = openai_server.served
    sm.run("sesi", model, limit=20, store=path)
    assert openai_server.served - before == 15, "the first five are in the journal"
    (joined,) = results(path, "vllm/m")
    assert joined.part("questions") is None and len(list(joined.episodes())) == 20
    assert joined.spent().requests == openai_server.served


def test_of_two_plays_of_an_item_the_one_with_an_outcome_counts(path, openai_server):
    openai_server.say = lambda body: "A"
    model = f"vllm/m@{openai_server.url}#1"
    run = sm.run("sesi", model, limit=6, store=path)
    with Store(path) as store:
        store.writer.queue(
            lambda batch: batch.execute(
                "UPDATE episode SET outcome = NULL, failure_kind = 'timeout', failure = 'late' WHERE run = ?"
                " AND item = (SELECT min(item) FROM episode WHERE run = ?)",
                (run.id, run.id),
            )
        )
        store.flush()
    sm.run("sesi", model, limit=8, store=path)
    (joined,) = results(path, "vllm/m")
    assert joined.failures() == {}
    assert len(joined.counted_items("questions")) == 8


def test_tasks_that_were_played_apart_are_shown_as_one_command_would_have_played_them(path):
    for task in ("goals", "abilities"):
        sm.run("socialeval", "baseline/first", tasks=(task,), limit=1, store=path)
    (joined,) = results(path, "baseline/first")
    assert joined.tasks == ("goals", "abilities")


def test_a_role_that_a_task_does_not_use_does_not_keep_its_results_apart(path):
    sm.run("egosocial", "baseline/first", tasks=("counterfactual", "numbers"), limit=2, store=path)
    sm.run("egosocial", "baseline/first", tasks=("counterfactual",), limit=4, store=path)
    (joined,) = results(path, "baseline/first")
    assert joined.tasks == ("counterfactual", "numbers")
    assert len(joined.counted_items("counterfactual")) == 4


@pytest.mark.parametrize(
    "other", [{"language": "zh"}, {"prompting": "zero-shot"}, {"shuffle": True}], ids=lambda one: next(iter(one))
)
def test_what_was_asked_otherwise_is_a_result_of_its_own(path, other):
    for settings in ({}, other):
        sm.run("seceu", "baseline/even", limit=4, settings=settings, store=path)
    assert len(results(path, "baseline/even")) == 2
    with Store(path) as store, pytest.raises(SeveralResults, match="'baseline/even' has several results"):
        Resolver(store, load).one("baseline/even")


def test_items_picked_by_hand_and_another_seed_are_results_of_their_own(path):
    for options in ({"limit": 4}, {"limit": 4, "seed": 1}, {"items": ("twin-001a",)}):
        sm.run("sesi", "baseline/first", store=path, **options)
    assert len(results(path, "baseline/first")) == 3


def test_one_part_is_meant_by_its_id_and_the_result_by_all_of_them(path):
    runs = [sm.run("sesi", "baseline/first", limit=limit, store=path).id for limit in (2, 4)]
    assert [result.id for result in results(path, runs[0])] == [runs[0]]
    (joined,) = results(path, "baseline/first")
    assert joined.id == "+".join(runs)
    assert [result.id for result in results(path, joined.id)] == [joined.id]
    assert [result.id for result in results(path, "last")] == [joined.id]


def test_a_word_that_fits_two_subjects_lists_them(path):
    for temperature in (0.2, 0.7):
        sm.run("sesi", lambda messages: "A", limit=2, temperature=temperature, name=f"t{temperature}", store=path)
    with pytest.raises(UsageError, match=r"fits 2 subjects: 't0\.2', 't0\.7'"):
        results(path, next(run for run in sm.runs(store=path)).manifest.config.subject)


def test_every_number_of_a_result_is_shown_by_every_command(path, capsys):
    for limit in (12, 24):
        sm.run("sesi", "baseline/first", limit=limit, store=path)
    sm.run("sesi", "baseline/longest", limit=24, store=path)
    shown = {}
    for words in (["show", "baseline/first"], ["compare", "baseline/first", "baseline/longest"], ["compare", "sesi"]):
        assert run_command([*words, "--store", str(path), "--json"]) == 0
        shown[words[0] + str(len(words))] = json.loads(capsys.readouterr().out)
    value = next(
        one["value"] for one in shown["show2"]["summaries"]["questions"]["measures"] if one["name"] == "accuracy"
    )
    pair = shown["compare3"]["comparisons"][0]["measures"][0]["paired"]
    assert pair["first"] == pytest.approx(value) and pair["items"] == 24
    (ranking,) = shown["compare2"]["rankings"]
    assert {one["subject"]: one["items"] for one in ranking["standings"]} == {
        "baseline/first": 24,
        "baseline/longest": 24,
    }
