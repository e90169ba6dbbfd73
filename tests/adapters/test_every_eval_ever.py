"""A run as a record of Every Eval Ever, checked by their own package where it is installed."""

import json

import pytest

import sociometer as sm
from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.adapters.every_eval_ever import Publisher, export_record
from sociometer.core.errors import UsageError

US = Publisher("Example Lab", "third_party", "example/model-1")
PERSON = dict.fromkeys(("said", "activity", "feeling", "attitude", "aim", "tone", "content", "words"), "x")
ANSWERS = {
    "seceu": "2.5, 2.5, 2.5, 2.5",
    "person": json.dumps({**PERSON, "serves": "partly", "change": 3}),
}
INSTRUMENTS = {
    "sesi": {"limit": 3},
    "seceu": {"limit": 3},
    "egosocial": {"limit": 2, "tasks": ["numbers", "counterfactual"], "settings": {"rounds": 2}},
    "socialeval": {"limit": 1},
    "sage": {"limit": 1, "settings": {"turns": 2}},
}


@pytest.fixture(scope="module")
def played(tmp_path_factory, official_data):
    """A function that plays an instrument on a server of our own, once."""
    store, done = tmp_path_factory.mktemp("eee") / "store.db", {}
    with OpenAIServer() as server:
        server.say = lambda body: ANSWERS.get(body["model"], "B")

        def play(name, **more):
            key = name, *more
            if key not in done:
                options = {**INSTRUMENTS[name], **more}
                if name == "sage":
                    options["roles"] = {"simulator": f"vllm/person@{server.url}"}
                done[key] = sm.run(name, f"vllm/{name}@{server.url}", store=store, temperature=0.3, **options)
            return done[key]

        yield play


def written(run, folder):
    record, *rows = export_record(run, folder, US)
    return json.loads(record.read_text()), [json.loads(line) for path in rows for line in path.read_text().splitlines()]


def test_a_record_has_the_numbers_their_intervals_and_what_was_sent(played, tmp_path):
    run = played("sesi")
    record, rows = written(run, tmp_path)
    found = {one["evaluation_result_id"]: one for one in record["evaluation_results"]}
    accuracy = found["questions/accuracy"]
    assert accuracy["score_details"]["score"] == run.summary().measure("accuracy").value
    assert accuracy["generation_config"]["generation_args"]["temperature"] == 0.3
    assert record["model_info"]["additional_details"]["served_as"] == "sesi-served"
    assert record["source_metadata"]["evaluator_relationship"] == "third_party"
    mine = [row for row in rows if row["evaluation_result_id"] == "questions/accuracy"]
    assert [row["sample_id"] for row in mine] == [one.item.id for one in run.episodes()]
    assert [row["evaluation"]["score"] for row in mine] == [one.score.values["correct"] for one in run.episodes()]
    assert all(row["performance"]["latency_ms"] > 0 and row["token_usage"]["total_tokens"] for row in rows)
    for row, one in zip(mine, run.episodes(), strict=True):
        assert row["input"]["choices"] == list(one.item.options)
        assert row["input"]["reference"] == [one.item.options[one.item.answer]]


def test_a_mean_has_the_standard_error_of_its_clusters(played, tmp_path):
    run = played("sesi", limit=24)
    found = written(run, tmp_path)[0]["evaluation_results"][0]["score_details"]
    values, clusters = {}, {}
    for one in run.episodes():
        clusters.setdefault(one.item.cluster or one.item.id, []).append(one.score.values["correct"])
        values[one.item.id] = one.score.values["correct"]
    mean, count = found["score"], len(clusters)
    squares = sum(sum(one - mean for one in members) ** 2 for members in clusters.values())
    expected = (count / (count - 1) * squares) ** 0.5 / len(values)
    assert found["uncertainty"]["standard_error"]["value"] == pytest.approx(expected)


def test_a_role_that_scores_is_named_as_a_judge_and_an_opponent_is_not(played, tmp_path):
    scoring = written(played("sage"), tmp_path)[0]["evaluation_results"][0]["metric_config"]["llm_scoring"]
    (judge,) = scoring["judges"]
    assert judge["model_info"]["name"] == "vllm/person"
    prompts = played("sage").definition.folder / "prompts" / "en"
    assert (prompts / "person.md").read_text().strip() in scoring["input_prompt"]
    games = written(played("egosocial"), tmp_path)[0]["evaluation_results"]
    assert not any("llm_scoring" in one["metric_config"] for one in games)


def test_official_items_have_no_rows(played, official_data, tmp_path):
    run = played("sesi", data=official_data)
    record, rows = written(run, tmp_path)
    assert rows == [] and "detailed_evaluation_results" not in record
    text = json.dumps(record)
    assert not any(one.item.situation[:40] in text for one in run.episodes())


def test_a_failed_item_has_no_row(tmp_path):
    with OpenAIServer() as server:
        server.faults.append(Fault(status=400))
        run = sm.run("sesi", f"vllm/m@{server.url}", limit=2, store=tmp_path / "s.db", in_flight=1)
    (failed,) = [one.item.id for one in run.episodes() if one.failure]
    samples = {row["sample_id"] for row in written(run, tmp_path / "d")[1]}
    assert samples == {one.item.id for one in run.episodes()} - {failed}


@pytest.mark.parametrize("publisher", [Publisher("", "third_party"), Publisher("Lab", ""), Publisher("Lab", "other")])
def test_what_is_required_and_unknown_is_asked_for(publisher, played, tmp_path):
    with pytest.raises(UsageError, match=r"--organization|--relationship|--model-id"):
        export_record(played("sesi"), tmp_path, publisher)


def test_a_run_with_a_stand_in_is_refused(tmp_path):
    run = sm.run("sesi", "baseline/random", limit=2, store=tmp_path / "s.db")
    with pytest.raises(UsageError, match="stand-in"):
        export_record(run, tmp_path, US)


@pytest.mark.parametrize("instrument", INSTRUMENTS)
def test_their_own_validator_accepts_the_record(instrument, played, tmp_path):
    theirs = pytest.importorskip("every_eval_ever.validator.validate", reason="every_eval_ever is not installed")
    files = export_record(played(instrument), tmp_path, US)
    for path in files:
        place, there = theirs._local_path_context(path)
        report = theirs.validate_file(
            path, repo_path=place, available_files=there, read_repo_file=there.read_text, run_semantic_checks=True
        )
        assert (report.errors, report.warnings) == ([], [])
    from every_eval_ever.eval_types import EvaluationLog

    read = EvaluationLog.model_validate_json(files[0].read_text())
    assert read.evaluation_results and read.model_info.id == US.model_id


def test_a_record_is_written_with_its_rows_or_not_at_all(played, tmp_path):
    run = played("sesi")
    files = export_record(run, tmp_path, US)
    before = [path.read_bytes() for path in files]
    files[0].unlink()
    files[0].mkdir()
    files[1].write_bytes(b"earlier rows")
    with pytest.raises(UsageError, match="is a folder"):
        export_record(run, tmp_path, US)
    assert files[1].read_bytes() == b"earlier rows" and not list(tmp_path.rglob(".*"))
    files[0].rmdir()
    assert [path.read_bytes() for path in export_record(run, tmp_path, US)] == before
