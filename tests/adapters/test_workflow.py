"""A build fails when a model got socially worse: the test and the workflow of the page on CI."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

import sociometer as sm

PAGES = Path(__file__).parents[2] / "docs" / "adapters"


def test_a_gate_fails_where_a_run_is_worse_or_nothing_can_be_said(tmp_path):
    path = tmp_path / "store.db"
    sm.run("sesi", "baseline/oracle", limit=60, store=path, name="good", label="good")
    sm.run("sesi", "baseline/random", limit=60, store=path, name="bad", label="bad")
    sm.run("sesi", "baseline/random", limit=3, store=path, name="few", label="few")
    sm.run("seceu", "baseline/random", limit=10, store=path, name="other")
    worse = sm.gate("good", "bad", store=path)
    assert not worse.holds and str(worse).startswith("bad is worse than good: ")
    assert sm.gate("bad", "good", store=path).holds
    few = sm.gate("good", "few", store=path)
    assert not few.holds and "too few" in str(few)
    assert sm.gate("bad", "good", margin=3, store=path).holds
    with pytest.raises(sm.SociometerError, match="nothing to compare"):
        sm.gate("good", "other", store=path)
    with pytest.raises(sm.SociometerError, match="unknown run 'absent'"):
        sm.gate("good", "absent", store=path)


def test_the_example_test_of_the_page_fails_only_if_the_model_is_worse(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", (PAGES / "ci.md").read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    names = {}
    exec(code, names)
    for main in ("random", "oracle"):
        sm.run("sesi", f"baseline/{main}", limit=60, name="main")
        if main == "random":
            names["test_the_model_did_not_get_socially_worse"]()
            monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "other.db"))
    with pytest.raises(AssertionError, match="is worse than baseline/oracle"):
        names["test_the_model_did_not_get_socially_worse"]()


def test_the_example_workflow_runs_on_every_push_and_when_a_job_is_repeated(tmp_path, monkeypatch, cli):
    workflow = yaml.safe_load((PAGES / "social-gate.yml").read_text(encoding="utf-8"))
    (tmp_path / "my_app.py").write_text("def reply(messages):\n    return 'A'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    steps = workflow["jobs"]["gate"]["steps"]
    for event, commit in [("push", "base"), *(("pull_request", commit) for commit in ("one", "two", "two"))]:
        known = {"github.sha": commit, "github.event.pull_request.base.sha": "base"}
        lines = [step["run"] for step in steps if event in step.get("if", "")]
        assert lines
        for line in lines:
            words = shlex.split(re.sub(r"\$\{\{ (.*?) \}\}", lambda found: known[found[1]], line))[1:]  # noqa: B023
            cli(*words, *(["--limit", "40", "--quiet"] if words[0] == "run" else []))
