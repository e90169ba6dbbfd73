"""The entry for the register of inspect_evals names every instrument, and Inspect runs the tasks from their file."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from sociometer.instruments import cards
from untidy import left_open

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LATER = "FILL IN AT RELEASE"


@pytest.fixture(scope="module")
def entry():
    return yaml.safe_load((ROOT / "docs/adapters/inspect-evals-register.yaml").read_text(encoding="utf-8"))


def test_the_entry_names_every_instrument_and_the_file_of_the_tasks(entry):
    assert {task["name"] for task in entry["tasks"]} == set(cards())
    for task in entry["tasks"]:
        assert f"@task\ndef {task['name']}(" in (ROOT / task["task_path"]).read_text(encoding="utf-8")
    assert entry["title"]
    assert entry["description"]
    assert re.fullmatch(r"https://arxiv\.org/abs/[0-9.]+", entry["arxiv"])


def test_what_depends_on_the_release_is_marked_or_well_formed(entry):
    source = entry["source"]
    assert source["repository_url"] == LATER or re.fullmatch(
        r"https://github\.com/[\w.-]+/[\w.-]+", source["repository_url"]
    )
    assert source["repository_commit"] == LATER or re.fullmatch(r"[0-9a-f]{40}", source["repository_commit"])
    assert (source["repository_url"] == LATER) == (source["repository_commit"] == LATER)
    assert source["maintainers"]
    assert entry["contributors"]


def test_a_clone_with_the_default_group_of_uv_has_inspect():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["dependency-groups"]["dev"] == project["project"]["optional-dependencies"]["inspect"]


@pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")
@pytest.mark.parametrize(("name", "arguments"), [("sesi", {}), ("sage", {"turns": 2})])
def test_inspect_runs_a_task_by_the_name_of_its_file(entry, name, arguments, script, tmp_path):
    inspect_ai = pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")
    from inspect_ai._eval.score import resolve_scorers

    import inspect_models as inspect_models  # registers the provider `replies`

    (path,) = (ROOT / task["task_path"] for task in entry["tasks"] if task["name"] == name)
    model = f"replies/{script(tmp_path / 'replies.jsonl', {}, 'B')}"
    logs = {"log_dir": str(tmp_path), "display": "none"}
    with left_open():
        (log,) = inspect_ai.eval(f"{path}@{name}", model=model, limit=1, task_args=arguments, **logs)
        assert log.status == "success", log.error
        again = inspect_ai.score(log, resolve_scorers(log), action="overwrite", display="none")
    values, before = ([score.value for score in one.samples[0].scores.values()] for one in (again, log))
    assert str(values) == str(before)  # some are NaN
