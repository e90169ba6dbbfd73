"""The look inside finds what is planted in a tiny model and nothing in one without; it is kept, drawn and resumed."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout

import msgspec
import pytest

from planted_model import ABILITIES, make_model, planted_neurons, write_trees
from sociometer.cli.main import run_command
from sociometer.core.inner_model import Passage
from sociometer.instruments.socialeval.inside import task
from sociometer.instruments.socialeval.inside.figures import inside_figures
from sociometer.instruments.socialeval.inside.view import InsideView
from sociometer.models import inside
from sociometer.reporting.plot import drawn

# Torch on a busy machine is slow, and loading a GGUF file takes a minute on a free one.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
OPTIONS = ("--top-share", "0.0139")


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """A folder with the two models and their trees."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install 'sociometer[inside]'")
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'sociometer[inside]'")
    pytest.importorskip("transformers", reason="transformers is not installed: pip install 'sociometer[inside]'")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("inside")
    make_model(folder / "planted", planted=True)
    make_model(folder / "random", planted=False)
    write_trees(folder / "trees" / "socialeval")
    return folder


def look(room, *words, code=0):
    """Runs the command on one of the models and gives its JSON value, or what it says if it is refused."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(room)
        patch.setenv("SOCIOMETER_CACHE", str(room / "cache"))
        patch.setenv("SOCIOMETER_STORE", str(room / "store.db"))
        patch.setenv("SOCIOMETER_DEVICE", "cpu")
        patch.setattr(task, "SHUFFLES", 99)
        patch.setenv("SOCIOMETER_DATA", "trees")
        assert run_command(["socialeval", "inside", "--official", *OPTIONS, *words, "--json"]) == code
    return json.loads(out.getvalue()) if code == 0 else err.getvalue()


@pytest.fixture(scope="module")
def planted(room):
    """What is found in the model with planted abilities."""
    return look(room, "--model", "hf/planted")


@pytest.fixture(scope="module")
def random(room):
    """What is found in the model with random weights."""
    return look(room, "--model", "hf/random")


def table(result, name):
    """The rows of a table as dictionaries."""
    found = next(each for each in result["tables"] if each["name"] == name)
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


def test_planted_clusters_and_neurons_are_found(planted):
    result = planted
    for row in table(result, "representations"):
        assert row["silhouette"] > 0.2 and row["p"] <= 0.01, row
    assert {row["language"] for row in table(result, "representations")} == {"en", "zh"}
    assert "the dimensions form clusters in English" in result["finding"]
    for row in table(result, "neurons"):
        assert row["overlap within"] == pytest.approx(1 / 3)
        assert row["overlap between"] == 0
        assert row["p"] <= 0.05
        assert row["density"] == pytest.approx(1)


def test_nothing_is_found_where_nothing_is_planted(random):
    result = random
    for row in table(result, "representations"):
        assert row["p"] > 0.05, row
    assert all(row["p"] > 0.05 for row in table(result, "neurons"))
    assert "no nearer to each other" in result["finding"]


def test_two_views_are_drawn_side_by_side_in_both_themes(planted, random):
    views = msgspec.convert([result["data"]["views"][0] for result in (planted, random)], list[InsideView])
    figures = inside_figures(views)
    names = [figure.name for figure in figures]
    assert len(set(names)) == len(names)
    for number, figure in enumerate(figure for figure in figures if figure.table is None):
        assert b"<svg" in drawn(figure, "svg", mode="dark" if number % 2 else "light")[:400]


def test_views_are_kept_as_runs_that_plot_and_report_show(planted, random, room, capfd):
    stored = ["--store", str(room / "store.db")]
    one, runs = planted["data"]["runs"], [*planted["data"]["runs"], *random["data"]["runs"], *stored]
    assert run_command(["report", "--figure", "inside-plane", *one, *stored, "--to", str(room / "plane.svg")]) == 0
    assert run_command(["report", *runs, "--to", str(room / "page.html")]) == 0
    assert "Utterances in layer" in (room / "page.html").read_text(encoding="utf-8")


def test_a_repeated_look_computes_nothing(planted, room):
    again = look(room, "--model", "hf/planted", "--language", "en")
    assert planted["data"]["views"][0]["computed"] > 200
    assert again["data"]["views"][0]["computed"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "openai/gpt-4o"), "give open weights: --model hf/NAME"),
        (("--model", "hf/planted", "--top-share", "0.9"), "must be at most 0.25"),
        (("--model", "hf/planted", "--limit", "3"), "too few to look inside"),
        (("--model", "hf/missing-folder/x/y"), "neither a folder, a GGUF file nor a name"),
    ],
)
def test_what_cannot_be_looked_at_is_refused_with_the_next_step(room, words, said):
    assert said in look(room, *words, code=2)


def test_the_neurons_of_an_ability_are_the_planted_ones(room, monkeypatch):
    import numpy as np

    from sociometer.instruments.socialeval.inside.neurons import top_sets
    from sociometer.models.inside import OpenModel

    monkeypatch.setenv("SOCIOMETER_DEVICE", "cpu")
    model = OpenModel(str(room / "planted"), folder=room / "vectors")
    said = [Passage("", f"en{number}t{tree}w0 en{number}t{tree}w1") for number in range(10) for tree in range(6)]
    traces = model.traces(said, "test")
    every = np.arange(len(said))
    (sets,) = top_sets(traces, traces, every, (every // 6)[None], 10, 4)
    for number, ability in enumerate(ABILITIES):
        assert set(sets[number]) == planted_neurons(ability)


def test_a_real_model_is_looked_at_from_its_gguf_file(room, embedded_model):
    """SmolLM2 on a few bundled utterances; loading it takes most of the time."""
    words = ["--model", f"hf/{embedded_model}", "--language", "en", "--limit", "16"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOCIOMETER_STORE", str(room / "real.db"))
        patch.setenv("SOCIOMETER_DEVICE", "cpu")
        patch.setattr(inside, "vectors_folder", lambda: room / "real")
        patch.setattr(task, "SHUFFLES", 19)
        patch.setattr(task, "LEAST", 2)
        out = io.StringIO()
        with redirect_stdout(out):
            assert run_command(["socialeval", "inside", *words, "--json"]) == 0
    (view,) = json.loads(out.getvalue())["data"]["views"]
    assert (view["layers"], view["width"], view["computed"]) == (30, 1536, 32)
    assert view["parameters"] == 134_515_008
    assert {each["language"] for each in view["representations"]} == {"en"}
    assert all(len(each["layers"]) == 31 for each in view["representations"])
