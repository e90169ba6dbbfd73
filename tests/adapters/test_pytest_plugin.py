"""A build fails when a model got socially worse: the plugin in a pytest of its own, and the example workflow."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import sociometer as sm

PAGES = Path(__file__).parents[2] / "docs" / "adapters"
PLUGIN = ("-p", "no:cacheprovider", "-p", "no:sociometer", "-p", "sociometer.adapters.pytest_plugin")
"""The plugin by its module, so that an installation without the entry point is tested too."""


@pytest.fixture
def store(tmp_path):
    """A store with a good run and a bad one of the same items."""
    path = tmp_path / "store.db"
    sm.run("sesi", "baseline/oracle", limit=60, store=path, name="good", label="good")
    sm.run("sesi", "baseline/random", limit=60, store=path, name="bad", label="bad")
    return path


def run_pytest(folder, code, *words):
    (folder / "test_gate.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", *PLUGIN, *words]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


GATES = """
def test_worse(socially_no_worse):
    socially_no_worse("bad", than="good")

def test_better(socially_no_worse):
    socially_no_worse("good", than="bad")

def test_same(socially_no_worse):
    assert socially_no_worse("good", than="good").comparisons

def test_absent(socially_no_worse):
    socially_no_worse("absent", than="good")

def test_other_instrument(socially_no_worse):
    socially_no_worse("other", than="good")

def test_too_few(socially_no_worse):
    socially_no_worse("few", than="good")
"""


def test_a_build_fails_where_a_run_is_worse_or_nothing_can_be_said(store, tmp_path):
    sm.run("seceu", "baseline/random", limit=10, store=store, name="other")
    sm.run("sesi", "baseline/random", limit=3, store=store, name="few", label="few")
    code, out = run_pytest(tmp_path, GATES, "-rA", "--sociometer-store", str(store))
    assert code == 1
    told = dict(re.findall(r"^(?:FAILED|PASSED) test_gate.py::test_(\w+)(.*)$", out, re.MULTILINE))
    assert {name for name, said in told.items() if not said} == {"better", "same"}
    for name, said in (
        ("worse", "bad is worse than good: "),
        ("absent", "unknown run 'absent'"),
        ("other_instrument", "nothing to compare"),
        ("too_few", "too few"),
    ):
        assert said in out, (name, out)


def test_the_example_of_the_page_runs(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", (PAGES / "ci.md").read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    sm.run("sesi", "baseline/random", limit=60, store=tmp_path / "store.db", name="main")
    got, out = run_pytest(tmp_path, code)
    assert got == 0, out


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


def test_the_plugin_loads_nothing_until_it_is_used():
    loaded = "[name for name in sys.modules if name in ('msgspec', 'numpy', 'scipy')]"
    code = f"import sys, sociometer.adapters.pytest_plugin; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"
