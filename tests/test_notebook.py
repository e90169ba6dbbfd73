"""The notebook in the documentation runs to its end, inside a running event loop, and shows what it says."""

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: make test-all")
nbformat = pytest.importorskip("nbformat")

pytestmark = pytest.mark.slow
NOTEBOOK = Path(__file__).parent.parent / "docs" / "python.ipynb"


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook, folder


def shown(notebook, words):
    """What the code cell with these words shows: output type or MIME type -> text."""
    (cell,) = [cell for cell in notebook.cells if cell.cell_type == "code" and words in cell.source]
    found = {}
    for output in cell.outputs:
        if output.output_type == "stream":  # what a cell prints may arrive in several pieces
            found["stream"] = found.get("stream", "") + output.text
        else:
            found.update(output.data)
    return found


def test_a_run_shows_its_measures_as_html(executed):
    notebook, _ = executed
    assert "<b>first option</b> on sesi" in shown(notebook, "def first_option")["text/html"]
    assert "accuracy" in shown(notebook, "guessing.summary()")["text/html"]


def test_a_figure_shows_itself_as_vega_lite(executed):
    notebook, _ = executed
    chart = shown(notebook, "sm.figures(mine)")["application/vnd.vegalite.v5+json"]
    assert chart["layer"]


def test_a_comparison_shows_its_verdict_and_its_numbers(executed):
    notebook, folder = executed
    found = shown(notebook, "sm.compare")
    assert "first option" in found["stream"]
    assert "<table>" in found["text/html"]
    assert (folder / "notebook.html").stat().st_size > 100_000


def test_nothing_is_printed_that_was_not_asked_for(executed):
    notebook, _ = executed
    assert "stream" not in shown(notebook, "def first_option")
    assert "stream" not in shown(notebook, "await sm.arun")
