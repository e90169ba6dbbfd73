"""`run --log-to`: the scores in TensorBoard's, W&B's and MLflow's own files, where these are installed."""

import json
import struct
import sys
from importlib.util import find_spec

import pytest

import sociometer as sm
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command

NAME = "sesi/questions/accuracy"


@pytest.fixture
def log_to(tmp_path, monkeypatch):
    """Plays two checkpoints with `--log-to`; gives the value, the interval and the failures of each by its step."""
    monkeypatch.chdir(tmp_path)

    def play(tracker):
        found = {}
        with OpenAIServer() as server:
            for step, answer in ((1000, "A"), (4000, "B")):
                server.say = lambda body, answer=answer: answer
                model = f"vllm/m@{server.url}#step-{step}"
                words = ["run", "sesi", "--model", model, "--limit", "20", "--store", "s.db", "--quiet"]
                assert run_command([*words, "--log-to", tracker]) == 0
                measure = sm.get_run(store=tmp_path / "s.db").summary("questions").measures[0]
                found[step] = (measure.value, measure.interval.low, measure.interval.high, 0)
        return found

    return play


@pytest.mark.parametrize("tracker", ["tensorboard", "wandb", "mlflow"])
def test_a_tracker_that_is_missing_is_named_before_anything_is_sent(tracker, tmp_path, capsys):
    if find_spec(tracker) is not None:
        pytest.skip(f"{tracker} is installed")
    with OpenAIServer() as server:
        words = ["run", "sesi", "--model", f"vllm/m@{server.url}", "--store", str(tmp_path / "s.db")]
        assert run_command([*words, "--log-to", tracker]) == 2
        assert not server.received
    assert f"pip install {tracker}" in capsys.readouterr().err


def test_tensorboard_has_value_interval_and_failures_by_step(log_to):
    pytest.importorskip("tensorboard", reason="tensorboard is not installed: pip install tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    expected = log_to("tensorboard")
    events = EventAccumulator("runs/sesi/vllm/m").Reload()

    def read(name):
        return {one.step: pytest.approx(one.tensor_proto.float_val[0], abs=1e-6) for one in events.Tensors(name)}

    columns = [read(name) for name in (NAME, f"{NAME}.low", f"{NAME}.high", f"{NAME}.failed")]
    assert {step: tuple(column[step] for column in columns) for step in columns[0]} == expected


def test_weights_and_biases_has_an_offline_run_for_each_checkpoint(log_to, tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="wandb is not installed: pip install wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    expected = log_to("wandb")
    logs = tmp_path.glob("wandb/offline-run-*/*.wandb")
    found = {
        row["step"]: tuple(row[name] for name in (NAME, f"{NAME}.low", f"{NAME}.high", f"{NAME}.failed"))
        for row in map(logged, logs)
    }
    assert found == expected


def logged(path):
    """The row of metrics in the file of an offline run: after 7 bytes, a LevelDB log of records in blocks of 32 kB."""
    from wandb.proto import wandb_internal_pb2

    data, place, whole, rows = path.read_bytes(), 7, b"", []
    while place + 7 <= len(data):
        length, kind = struct.unpack_from("<HB", data, place + 4)
        if kind == 0 or 32_768 - place % 32_768 < 7:  # the rest of a block is empty
            place += 32_768 - place % 32_768
            continue
        whole += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # a whole record, or the last part of one
            record = wandb_internal_pb2.Record.FromString(whole)
            items = record.history.item if record.HasField("history") else ()
            rows += (
                [{".".join(one.nested_key) or one.key: json.loads(one.value_json) for one in items}] if items else []
            )
            whole = b""
    (row,) = rows
    return row


def test_mlflow_has_value_interval_and_failures_by_step(log_to, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed: pip install mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    expected = log_to("mlflow")
    client = mlflow.MlflowClient()
    found = {}
    for run in client.search_runs(["0"]):
        (metric,) = client.get_metric_history(run.info.run_id, NAME)
        values = run.data.metrics
        found[metric.step] = tuple(values[name] for name in (NAME, f"{NAME}.low", f"{NAME}.high", f"{NAME}.failed"))
    assert found == expected


def test_a_tracker_that_fails_does_not_fail_the_run(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    (tmp_path / "wandb.py").write_text("def init(**_):\n    raise OSError('no network')\n")
    words = ["run", "sesi", "--model", "baseline/random", "--limit", "4", "--store", str(tmp_path / "s.db"), "--quiet"]
    assert run_command([*words, "--log-to", "wandb"]) == 0
    assert "--log-to wandb failed: OSError: no network" in capsys.readouterr().err
