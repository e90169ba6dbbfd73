"""The modules of analysis and of report import each other in one direction only."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import sociometer

SOURCE = Path(sociometer.__file__).parent


def imported_modules(tree: ast.Module, known: set[str]) -> set[str]:
    """The known modules that a file imports anywhere: at the top, in a function, or under TYPE_CHECKING."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from package import module` names the module in the alias, `from module import name` before it
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names & known


def import_graph(package: str) -> dict[str, set[str]]:
    files = {
        ".".join(("sociometer", *path.relative_to(SOURCE).with_suffix("").parts)): path
        for path in (SOURCE / package).rglob("*.py")
        if path.name != "__init__.py"
    }
    return {name: imported_modules(ast.parse(path.read_text("utf-8")), set(files)) for name, path in files.items()}


@pytest.mark.parametrize("package", ["statistics", "results", "reporting"])
def test_modules_import_each_other_without_a_cycle(package: str):
    graph = import_graph(package)
    assert len(graph) > 5
    assert any(graph.values())
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' <- '.join(error.args[1])}")


def test_an_import_for_type_checking_counts():
    tree = ast.parse("if TYPE_CHECKING:\n    from sociometer.results.comparison import Comparison\n")
    assert imported_modules(tree, {"sociometer.results.comparison"}) == {"sociometer.results.comparison"}
