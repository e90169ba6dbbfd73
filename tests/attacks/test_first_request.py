"""A server where everything would fail gets one request; names and full disks are said plainly."""

import os
import resource
import subprocess
import sys

import pytest

import sociometer as sm
from servers.faults import HTML, UNKNOWN_MODEL, WRONG_KEY, Fault
from sociometer.cli.main import run_command
from sociometer.core.errors import NeverAnswered


@pytest.mark.parametrize("name", ["redirect", "page", "key", "model"])
@pytest.mark.parametrize("instrument", ["sesi", "seceu"])
def test_a_fatal_answer_to_the_first_request_ends_the_run(openai_server, key, tmp_path, name, instrument):
    faults = {"page": HTML, "key": WRONG_KEY, "model": UNKNOWN_MODEL}
    redirect = Fault(307, "moved", headers={"Location": "http://127.0.0.1:9/v1/chat/completions"})
    openai_server.fault_of = lambda number: faults.get(name, redirect)
    with pytest.raises(NeverAnswered):
        sm.run(instrument, "openai/m", base_url=openai_server.url, store=tmp_path / "s.db", in_flight=32)
    asked = [request.path for request in openai_server.received]
    assert asked == ["/v1/chat/completions", *(["/v1/models"] if name == "model" else [])]


def test_a_failure_that_may_pass_does_not_hold_the_others_back(openai_server, key, tmp_path):
    openai_server.fault_of = lambda number: Fault(400, "not this one") if number == 0 else None
    run = sm.run("sesi", "openai/m", base_url=openai_server.url, store=tmp_path / "s.db", limit=20)
    assert (run.status, sum(run.failures().values())) == ("finished", 1)


@pytest.mark.parametrize("name", ["last", "all", "mine", "another"])
def test_an_imported_benchmark_takes_no_name_that_means_something_else(tmp_path, capsys, name):
    other = sm.run("seceu", "baseline/random", store=tmp_path / "t.db", limit=2, name="mine")
    given = other.id if name == "another" else name
    (tmp_path / "scores.csv").write_text("item,subject,score\nq1,small,1\nq2,small,0\n")
    words = ["import", "csv", str(tmp_path / "scores.csv"), "--store", str(tmp_path / "t.db")]
    assert run_command([*words, "--benchmark", given]) == 2
    assert f"the name '{given}'" in capsys.readouterr().err
    assert len(sm.runs(store=tmp_path / "t.db")) == 1
    assert run_command([*words, "--benchmark", "fine"]) == 0


@pytest.mark.parametrize("name", ["last", "all", "sesi", "mine", "another"])
def test_an_imported_subject_takes_no_name_that_means_something_else(tmp_path, name):
    other = sm.run("seceu", "baseline/random", store=tmp_path / "t.db", limit=2, name="mine")
    given = other.id if name == "another" else name
    (tmp_path / "scores.csv").write_text(f"item,subject,score\nq1,{given},1\nq2,{given},0\n")
    assert run_command(["import", "csv", str(tmp_path / "scores.csv"), "--store", str(tmp_path / "t.db")]) == 0
    assert [run.subject for run in sm.runs(store=tmp_path / "t.db")] == ["mine", f"{given} (2)"]


def test_a_limit_on_the_size_of_files_is_named(tmp_path):
    words = [sys.executable, "-m", "sociometer", "run", "sesi", "--model", "baseline/random", "--quiet"]

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    done = subprocess.run(
        [*words, "--store", str(tmp_path / "s.db"), "--repeats", "20"], preexec_fn=limited, env=dict(os.environ),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 5
    assert "free space on the disk" in done.stderr
    assert "ulimit -f" in done.stderr
