"""A build fails when a model got socially worse: the test and the workflow of the page on CI."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

import forked
import sociometer as sm

PAGES = Path(__file__).parents[2] / "docs" / "adapters"


def test_a_gate_fails_where_a_run_is_worse_or_nothing_can_be_said(tmp_path):
    path = tmp_path / "store.db"
    sm.run("sesi", "baseline/oracle", limit=60, store=path, name="good")
    sm.run("sesi", "baseline/random", limit=60, store=path, name="bad")
    sm.run("sesi", "baseline/first", limit=3, store=path, name="few")
    sm.run("seceu", "baseline/even", limit=10, store=path, name="other")
    worse = sm.gate("good", "bad", store=path)
    assert not worse.holds and str(worse).startswith(
        "Gate failed: bad against good on sesi/questions: worse, accuracy is "
    )
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
    with pytest.raises(AssertionError, match="against main on sesi/questions: worse"):
        names["test_the_model_did_not_get_socially_worse"]()


def git(repository, *words):
    named = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(repository))
    return subprocess.run(["git", *named, *words], capture_output=True, text=True, check=True).stdout.strip()


def bash(line):
    """What a line of one command prints; our own need not load."""
    program, *words = shlex.split(line)
    if program == "sociometer":
        process = forked.start(["-m", "sociometer", *words], stdout=forked.PIPE, stderr=forked.PIPE)
    else:
        process = subprocess.Popen(
            ["bash", "-e", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    said, told = process.communicate()
    assert process.returncode == 0, told
    return said + told


def test_the_example_workflow_runs_from_the_first_pull_request_on(tmp_path, monkeypatch):
    workflow = yaml.safe_load((PAGES / "social-gate.yml").read_text(encoding="utf-8"))
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "sociometer.db"))
    git(tmp_path, "init", "-q")
    commits = []
    for file, text in (("notes.txt", ""), ("my_app.py", "def reply(messages):\n    return 'A'\n"), ("more.txt", "")):
        (tmp_path / file).write_text(text)
        git(tmp_path, "add", file)
        git(tmp_path, "commit", "-qm", file)
        commits.append(git(tmp_path, "rev-parse", "HEAD"))

    def run(event, base, commit):
        """What the steps of a job print."""
        known, said = {"github.sha": commit, "github.event.pull_request.base.sha": base}, ""
        for step in (one for one in workflow["jobs"]["gate"]["steps"] if f"== '{event}'" in one.get("if", "")):
            needed = re.search(r"hashFiles\('(.*?)'\)", step["if"])
            if needed is None or (tmp_path / needed[1]).exists():
                line = re.sub(r"\$\{\{ (.*?) \}\}", lambda found: known[found[1]], step["run"])
                line = line.replace("run sesi", "run sesi --limit 40 --quiet")
                monkeypatch.chdir(tmp_path / step.get("working-directory", "."))
                said += bash(line)
        if (tmp_path / "base").exists():
            git(tmp_path, "worktree", "remove", "--force", "base")
        return said

    assert "compare" not in run("pull_request", *commits[:2]) and len(sm.runs()) == 1, "it adds the model"
    for _ in range(2):
        assert "Gate passed: not worse on 1 task." in run("pull_request", *commits[1:])
        assert [run.subject for run in sm.runs()] == [f"python/my_app:reply#{commit}" for commit in commits[1:]], (
            "the base was measured when it was the change"
        )
    run("push", "", commits[1])
    assert len(sm.runs()) == 2, "a base that was measured is not measured again"
