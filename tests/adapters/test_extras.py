"""An extra that is missing is named in one message, wherever it is needed; what needs none works without."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

from sociometer.core.errors import UsageError
from sociometer.core.lazy import PACKAGES, require

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def without(monkeypatch):
    """Makes a package look as if it were not installed."""

    def hide(module):
        for name in [name for name in sys.modules if name == module or name.startswith(f"{module}.")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, module, None)

    return hide


@pytest.mark.parametrize("extra", PACKAGES)
def test_a_missing_extra_is_named_with_what_to_install(without, extra, monkeypatch, tmp_path):
    without(PACKAGES[extra])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=rf"pip install -e '{re.escape(str(ROOT))}\[{extra}\]'$"):
        require(extra)


@pytest.mark.parametrize("extra", PACKAGES)
def test_every_extra_is_declared(extra):
    assert extra in PROJECT["optional-dependencies"]


@pytest.mark.parametrize("extra", ["inspect", "lm-eval", "verifiers"])
def test_the_versions_of_another_tool_have_both_ends(extra):
    (line,) = PROJECT["optional-dependencies"][extra]
    assert ">=" in line
    assert ",<" in line


def test_a_model_of_inspect_needs_inspect(without, cli, monkeypatch):
    without("inspect_ai")
    monkeypatch.delitem(sys.modules, "sociometer.adapters.inspect_player", raising=False)
    assert "[inspect]'" in cli("run", "sesi", "--model", "inspect/openai/m", "--limit", "1", code=2)


def test_training_environments_need_verifiers(without):
    without("verifiers")
    without("sociometer_training")
    del sys.modules["sociometer_training"]
    with pytest.raises(UsageError, match=r"\[verifiers\]"):
        importlib.import_module("sociometer_training")


def test_the_folder_for_lm_eval_is_printed_alone(cli):
    folder = Path(cli("list", "adapters", "lm-eval").strip())
    assert folder.parts[-2:] == ("adapters", "lm_eval")
    assert folder.is_dir()


@pytest.mark.parametrize(
    ("page", "package"), [("inspect.md", "inspect-ai"), ("lm-eval.md", "lm-eval"), ("verifiers.md", "verifiers")]
)
def test_a_page_names_the_version_that_the_tests_run_on(page, package):
    text = " ".join((ROOT / "docs/adapters" / page).read_text(encoding="utf-8").split())
    locked = re.search(rf"^{package}==(\S+)", (ROOT / "requirements/adapters.lock").read_text(), re.MULTILINE)
    assert f"the tests run on {locked[1]})" in text


def test_parquet_without_arrow_says_so(without, cli):
    without("pyarrow")
    cli("run", "sesi", "--model", "baseline/random", "--limit", "3", "--quiet", "--name", "r")
    assert "[frame]'" in cli("export", "r", "--to", "r.parquet", code=2)


def test_adapters_lists_the_other_tools(cli):
    found = {one["name"]: one for one in cli("list", "adapters", "--json")["adapters"]}
    assert set(found) == {"inspect", "lm-eval", "verifiers"}
    assert "[NAME]'" in cli("list", "adapters")
