"""The findings in words and tables, with their caveats."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path

from sociometer.core.language import language_of
from sociometer.core.measure import Table
from sociometer.core.words import plain_number
from sociometer.instruments._tables import Tables
from sociometer.instruments.socialeval.inside.view import InsideView, NeuronResult, Representation
from sociometer.instruments.socialeval.items import BOTH
from sociometer.statistics.formatting import number, p_phrase

LEVEL = 0.05
_OF_LAYER = ("layer", "silhouette", "null", "p_value")
_OVERLAPS = ("within", "within_null", "between", "between_null", "separation", "p_separation")
_OF_NEURONS = (*_OVERLAPS, "density", "density_null", "p_density")
_TABLES = Tables(Path(__file__).with_name("tables.toml"))


def language_name(code: str) -> str:
    """A language, or both of the paper, as sentences and figures name them."""
    return "both languages" if code == BOTH else language_of(code).english


def short(view: InsideView) -> str:
    """The model's name without its folders."""
    return view.model.rstrip("/").rsplit("/", 1)[-1]


def parameters_text(count: int) -> str:
    """A number of parameters as papers write it: 135 M, 8.03 B."""
    return (
        f"{count / 1e9:.2f} B" if count >= 1e9 else f"{count / 1e6:.3g} M" if count >= 1e6 else f"{count / 1e3:.3g} k"
    )


def finding_of(view: InsideView) -> str:
    """The findings in one model, in a few sentences, including what was not found."""
    parts = [f"{short(view)} ({parameters_text(view.parameters)} parameters): {_clusters(view)}"]
    if view.neurons:  # the last result is of both languages, or of the only one
        parts.append(_neurons_in_words(view.neurons[-1]))
    return " ".join(parts)


def main_results(view: InsideView) -> list[Representation]:
    """The results for the dimension, in each language."""
    return [each for each in view.representations if each.level == "dimension"]


def _clusters(view: InsideView) -> str:
    """Whether the dimensions form clusters: nearer than shuffled labels, and nearer than to the next dimension."""
    said = []
    for each in main_results(view):
        layer, where = each.clearest, f"in {language_name(each.language)}"
        facts = f"(layer {layer.layer}, silhouette {plain_number(layer.silhouette, 3)}, {p_phrase(layer.p_value)})"
        if layer.p_value > LEVEL:
            said.append(f"utterances of one dimension are no nearer to each other {where} than with shuffled labels")
        elif layer.silhouette <= 0:
            said.append(
                f"utterances of one dimension are nearer to each other {where} than with shuffled labels, but form no"
                " clusters"
            )
        else:
            said.append(f"the dimensions form clusters {where}")
        said[-1] += f" {facts}"
    return f"{'; '.join(said)}." if said else "too few questions to compare dimensions."


def _neurons_in_words(found: NeuronResult) -> str:
    clear = found.p_separation <= LEVEL and found.separation > 0
    verdict = "more separate than with shuffled labels" if clear else "which shuffled labels also give"
    return (
        f"The {found.top} neurons of two abilities overlap by {number(found.within, 'share')} within a dimension and by"
        f" {number(found.between, 'share')} between dimensions, {verdict} ({p_phrase(found.p_separation)})."
    )


def inside_tables(views: Sequence[InsideView]) -> tuple[Table, ...]:
    """The tables that a person needs."""
    return (_representations(views), *_neurons(views))


def _representations(views: Sequence[InsideView]) -> Table:
    cells = attrgetter("level", "language", "items", "trees", *(f"clearest.{name}" for name in _OF_LAYER))
    rows = [(short(view), *cells(each), each.layers[0].silhouette) for view in views for each in view.representations]
    return _TABLES("representations", rows, details=_alone(views))


def _neurons(views: Sequence[InsideView]) -> Iterator[Table]:
    cells = attrgetter("top", *_OF_NEURONS)
    rows = [
        (short(view), found.language, len(found.abilities), *cells(found)) for view in views for found in view.neurons
    ]
    if rows:
        yield _TABLES("neurons", rows, details=_alone(views))


def _alone(views: Sequence[InsideView]) -> list[str]:
    """The columns that say nothing of a single model."""
    return ["model"] if len(views) == 1 else []


def caveats(views: Sequence[InsideView]) -> tuple[str, ...]:
    """The caveats of the numbers."""
    left_out = sum(view.left_out for view in views)
    return (f"{left_out} questions without one certain dimension were left out.",) if left_out else ()
