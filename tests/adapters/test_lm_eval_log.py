"""Samples of lm-evaluation-harness as runs: filters, directions, NaN, and files that are no samples."""

import json
from itertools import islice
from pathlib import Path

import msgspec
import pytest
import yaml

import sociometer.adapters.one_turn
from sociometer.adapters.one_turn import one_turns, plan_of
from sociometer.engine.engine import Engine
from sociometer.instruments import card_of, load
from sociometer.store.store import Store

DATE = "2026-11-15T13-00-00.000000"


def write(folder, name, samples, results=None):
    path = folder / f"samples_{name}_{DATE}.jsonl"
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    if results is not None:
        (folder / f"results_{DATE}.json").write_text(json.dumps(results), encoding="utf-8")
    return path


def sample(place, **scores):
    filter_ = scores.pop("filter", "none")
    asked = {"gen_args_0": {"arg_0": f"Question {place}?", "arg_1": {"until": []}}}
    return {
        "doc_id": place, "doc": {"question": f"Question {place}?", "story": f"s{place // 2}"}, "target": "x",
        "arguments": asked, "resps": [["An answer"]], "filtered_resps": ["An answer"], "filter": filter_,
        "metrics": list(scores), **scores,
    }  # fmt: skip


def measures(run):
    return {one["name"]: one["value"] for one in run["summaries"]["items"]["measures"]}


def test_a_score_under_several_filters_is_several_measures(cli, tmp_path):
    lines = [sample(n, exact_match=n % 2, filter="strict") for n in range(12)]
    lines += [sample(n, exact_match=1, filter="flexible") for n in range(12)]
    (run,) = cli("import", "lm-eval", write(tmp_path, "gsm8k", lines), "--json")
    assert (run["instrument"], measures(run)) == ("gsm8k", {"exact_match,strict": 0.5, "exact_match,flexible": 1.0})


def test_model_version_shots_and_direction_come_from_the_results_beside_the_samples(cli, tmp_path):
    results = {
        "model_name": "org/model", "versions": {"wiki": 2}, "n-shot": {"wiki": 5},
        "higher_is_better": {"wiki": {"perplexity": False, "acc": True}},
    }  # fmt: skip
    file = write(tmp_path, "wiki", [sample(n, perplexity=5.0 + n, acc=1.0) for n in range(12)], results)
    (run,) = cli("import", "lm-eval", file, "--json")
    better = {one["name"]: one["better"] for one in run["manifest"]["card"]["measure"]}
    assert better == {"perplexity": "lower", "acc": "higher"}
    assert (run["subject"], run["manifest"]["instrument_version"]) == ("org/model", "2")
    assert run["manifest"]["config"]["settings"] == {"shots": 5}


def test_clusters_come_from_a_field_of_the_documents(cli, tmp_path):
    file = write(tmp_path, "t", [sample(n, acc=n % 2) for n in range(12)])
    (run,) = cli("import", "lm-eval", file, "--cluster", "story", "--json")
    assert run["summaries"]["items"]["measures"][0]["clusters"] == 6
    assert "no field 'town' to cluster by" in cli("import", "lm-eval", file, "--cluster", "town", code=2)
    assert [found["run"] for found in cli("runs", "--json")] == [run["run"]]


def test_a_score_that_is_no_number_is_left_out(cli, tmp_path):
    lines = [sample(n, acc=1.0, pair=[1, 2], broken=float("nan") if n else 0.5) for n in range(12)]
    (run,) = cli("import", "lm-eval", write(tmp_path, "t", lines), "--json")
    assert measures(run) == {"acc": 1.0, "broken": 0.5}


def test_the_same_ids_with_other_documents_are_not_compared(cli, tmp_path):
    lines = [sample(n, acc=1.0) for n in range(12)]
    (one,) = cli("import", "lm-eval", write(tmp_path, "t", lines), "--subject", "one", "--json")
    for line in lines:
        line["doc"] = {"question": "Something else?"}
    (two,) = cli("import", "lm-eval", write(tmp_path, "t", lines), "--subject", "two", "--json")
    assert "items differ in content under the same id" in cli("compare", one["run"], two["run"], code=2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file has no samples"),
        ("{}\n", "samples_t.jsonl:1: not a sample of lm-evaluation-harness"),
        ('{"doc_id": 1, "metrics": ["acc"], "acc": 1}\nnonsense\n', "samples_t.jsonl:2: not a sample"),
        ("[" * 100_000 + "\n", "samples_t.jsonl:1: not a sample"),
        ('{"doc_id": 1, "metrics": ["acc"], "acc": 1}\n' * 2, "two scores 'acc'"),
        ('{"doc_id": 1, "metrics": ["acc"], "acc": "much"}\n', "no numeric scores"),
    ],
)
def test_a_file_that_is_no_log_is_named_and_nothing_is_stored(cli, tmp_path, text, said):
    (tmp_path / "samples_t.jsonl").write_text(text, encoding="utf-8")
    assert said in cli("import", "lm-eval", tmp_path / "samples_t.jsonl", code=2)
    assert cli("runs", "--json") == []


def test_a_folder_stands_for_the_logs_in_it(cli, tmp_path):
    (tmp_path / "logs").mkdir()
    for name in ("one", "two"):
        write(tmp_path / "logs", name, [sample(n, acc=1.0) for n in range(3)])
    assert {run["instrument"] for run in cli("import", "lm-eval", "logs", "--json")} == {"one", "two"}
    (tmp_path / "empty").mkdir()
    assert "has no samples_*.jsonl" in cli("import", "lm-eval", "empty", code=2)
    assert "work with a single file" in cli("import", "lm-eval", "logs", "--subject", "me", code=2)


def our_samples(count, **changed):
    """What lm-evaluation-harness logs for our task of SESI, in which every reply is A."""
    settings = '{"orders": 1}'
    place = {"instrument": "sesi", "task": "questions", "settings": settings, "seed": 0, "official": False}
    place |= {"version": card_of("sesi").version, "data": "", "system": "", **changed}
    turns = islice(one_turns(plan_of("sesi", "questions", settings.encode())), count)
    documents = [{"id": one.item.id, "item": msgspec.json.encode(one.item).decode(), **place} for one in turns]
    return [sample(n, correct=0.5) | {"doc": one, "resps": [["A"]]} for n, one in enumerate(documents)]


def test_samples_of_our_own_task_are_a_run_of_the_instrument_scored_from_the_replies(cli, tmp_path):
    file = write(tmp_path, "sociometer_sesi", our_samples(20), {"model_name": "theirs"})
    (theirs,) = cli("import", "lm-eval", file, "--json")
    assert (theirs["instrument"], theirs["subject"]) == ("sesi", "theirs")
    (tmp_path / "always-a.jsonl").write_text('{"match": ".", "reply": "A"}\n')
    played = ("--model", f"scripted/{tmp_path}/always-a.jsonl", "--no-second-question", "--quiet")
    cli("run", "sesi", *played, "--name", "ours")
    assert not cli("compare", theirs["run"], "ours", "--json")["comparisons"][0]["refused"]
    with Store(tmp_path / "store.db") as store:
        found = [Engine(store, load).stored(run).episodes() for run in (theirs["run"], "ours")]
        them, us = ({one.item.id: one.score.values["correct"] for one in episodes} for episodes in found)
    assert len(them) == 20
    assert them == {item: us[item] for item in them}


@pytest.mark.parametrize("wrong", ["another version", "one item twice", "a damaged item"])
def test_samples_of_our_own_task_that_do_not_fit_are_refused(cli, tmp_path, wrong):
    lines = our_samples(3, **({"version": "0"} if wrong == "another version" else {}))
    if wrong == "one item twice":
        lines.append(lines[0] | {"doc_id": 9})
    if wrong == "a damaged item":
        lines[1]["doc"]["item"] = "{}"
    cli("import", "lm-eval", write(tmp_path, "sociometer_sesi", lines), code=2)
    assert cli("runs", "--json") == []


def test_a_sample_without_a_reply_is_a_failure_and_not_left_out(cli, tmp_path):
    lines = our_samples(12)
    lines[3]["resps"] = []
    (run,) = cli("import", "lm-eval", write(tmp_path, "sociometer_sesi", lines), "--json")
    accuracy = next(one for one in run["summaries"]["questions"]["measures"] if one["name"] == "accuracy")
    assert (accuracy["items"], accuracy["errors"]) == (11, 1)


class Loader(yaml.SafeLoader):
    """Reads the tag that lm-evaluation-harness has for functions as text."""


Loader.add_constructor("!function", lambda loader, node: node.value)
FILES = Path(sociometer.adapters.one_turn.__file__).parent / "lm_eval"


@pytest.mark.parametrize("path", [path for path in FILES.glob("*.yaml") if "official" not in path.name])
def test_a_task_file_agrees_with_the_instrument(path):
    found = yaml.load(path.read_text(), Loader)
    place, generation = found["dataset_kwargs"], found["generation_kwargs"]
    card = card_of(place["instrument"])
    assert found["metadata"]["version"] == f"tasks.{card.name.upper()}"
    turn = next(one_turns(plan_of(card.name, place["task"], json.dumps(place["settings"]).encode())))
    assert generation["temperature"] == turn.sampling.temperature
    assert generation["max_gen_toks"] == turn.sampling.max_tokens
    directions = {"higher": True, "lower": False}
    better = {measure.value: directions.get(measure.better) for measure in card.measures_of(place["task"])}
    assert all(metric["higher_is_better"] is better[metric["metric"]] for metric in found["metric_list"])
