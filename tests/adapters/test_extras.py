"""An extra that is missing is named in one message, wherever it is needed; what needs none works without."""

import sys
import tomllib
from pathlib import Path

import pytest

from sociometer.adapters.extras import PACKAGES, require
from sociometer.core.errors import UsageError

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def without(monkeypatch):
    """Makes a package look as if it were not installed."""

    def hide(module):
        for name in [name for name in sys.modules if name == module or name.startswith(f"{module}.")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, module, None)

    return hide


@pytest.mark.parametrize("extra", PACKAGES)
def test_a_missing_extra_is_named_with_what_to_install(without, extra):
    without(PACKAGES[extra])
    with pytest.raises(UsageError, match=rf"pip install 'sociometer\[{extra}\]'"):
        require(extra)


@pytest.mark.parametrize("extra", PACKAGES)
def test_every_extra_is_declared(extra):
    assert extra in PROJECT["optional-dependencies"]


@pytest.mark.parametrize("extra", ["inspect", "lm-eval", "verifiers"])
def test_the_versions_of_another_tool_have_both_ends(extra):
    (line,) = PROJECT["optional-dependencies"][extra]
    assert ">=" in line
    assert ",<" in line


def test_commands_that_need_inspect_say_so(without, cli, tmp_path):
    without("inspect_ai")
    cli("run", "sesi", "--model", "baseline/random", "--limit", "3", "--quiet", "--name", "r")
    assert "sociometer[inspect]" in cli("export", "r", "--to", "r.eval", code=2)
    (tmp_path / "x.eval").write_bytes(b"")
    assert "sociometer[inspect]" in cli("import", "inspect", "x.eval", code=2)


def test_publishing_without_arrow_says_so(without, cli):
    without("pyarrow")
    cli("run", "sesi", "--model", "baseline/random", "--limit", "3", "--quiet", "--name", "r")
    assert "sociometer[frame]" in cli("publish", "r", "--to", "d", code=2)


def test_adapters_lists_the_other_tools(cli):
    found = {one["name"]: one for one in cli("adapters", "--json")}
    assert set(found) == {"inspect", "lm-eval", "verifiers"}
    assert "pip install 'sociometer[NAME]'" in cli("adapters")
