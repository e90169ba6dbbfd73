"""Views -> sentences and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from sociometer.core.errors import UsageError
from sociometer.core.measure import Measure, Summary, Table
from sociometer.core.session import Session
from sociometer.core.task import AnyRun, RunView, Score
from sociometer.core.words import plain_number
from sociometer.instruments.socialeval.inside.view import InsideView, LookedAt, NeuronResult, Representation
from sociometer.statistics.formatting import number, p_phrase

LEVEL = 0.05
LANGUAGES = {"en": "English", "zh": "Chinese", "both": "both languages"}


def short(view: InsideView) -> str:
    """The model's name without its folders."""
    return view.model.rstrip("/").rsplit("/", 1)[-1]


def parameters_text(count: int) -> str:
    """A number of parameters as papers write it: 135 M, 8.03 B."""
    return (
        f"{count / 1e9:.2f} B" if count >= 1e9 else f"{count / 1e6:.3g} M" if count >= 1e6 else f"{count / 1e3:.3g} k"
    )


def in_words(condition_title: str) -> str:
    """`en` as English, `en → zh` as from English to Chinese."""
    first, _, second = condition_title.partition(" → ")
    if second:
        return f"from {LANGUAGES.get(first, first)} to {LANGUAGES.get(second, second)}"
    return f"in {LANGUAGES.get(first, first)}"


def finding_of(view: InsideView) -> str:
    """The findings in one model, in a few sentences, including what was not found."""
    parts = [f"{short(view)} ({parameters_text(view.parameters)} parameters): {_told_apart(view)}"]
    neurons = _joint(view.neurons)
    if neurons is not None:
        parts.append(_neurons_in_words(neurons))
    return " ".join(parts)


def main_results(view: InsideView, *, across: bool = False) -> list[Representation]:
    """The results for the dimension, within each language or across languages."""
    return [
        each for each in view.representations if each.condition.level == "dimension" and each.condition.across == across
    ]


def _told_apart(view: InsideView) -> str:
    said = []
    for each in [*main_results(view), *main_results(view, across=True)]:
        best = each.best
        told = f"{number(best.accuracy, 'share')} {in_words(each.condition.title)}"
        words = number(each.layers[0].accuracy, "share", 0)
        said.append(f"{told} (layer {best.layer}, {p_phrase(best.p_accuracy)}; layer 0: {words})")
    if not said:
        return "too few questions for a probe."
    clusters = " ".join(map(_clusters_in_words, main_results(view)))
    chance = number(1 / max(each.labels for each in main_results(view)), "share", 0)
    return (
        f"a linear probe recognises the dimension of an utterance from an unseen tree in {', '.join(said)}; chance is"
        f" {chance}, and layer 0 knows only words. {clusters}"
    )


def _clusters_in_words(each: Representation) -> str:
    """Whether the dimensions form clusters: nearer than shuffled labels, and nearer than to the next dimension."""
    layer, where = each.clearest, in_words(each.condition.title)
    facts = f"(silhouette {plain_number(layer.silhouette or 0.0, 3)}, {p_phrase(layer.p_silhouette or 1.0)})"
    if (layer.p_silhouette or 1.0) > LEVEL:
        return f"Utterances of one dimension are no nearer to each other {where} than with shuffled labels {facts}."
    if (layer.silhouette or 0.0) <= 0:
        return (
            f"Utterances of one dimension are nearer to each other {where} than with shuffled labels, but form no"
            f" clusters {facts}."
        )
    return f"The dimensions form clusters {where} {facts}."


def _joint(neurons: Sequence[NeuronResult]) -> NeuronResult | None:
    """The result of both languages, or of the only one."""
    return neurons[-1] if neurons else None


def _neurons_in_words(found: NeuronResult) -> str:
    clear = found.p_separation <= LEVEL and found.separation > 0
    verdict = "more separate than with shuffled labels" if clear else "which shuffled labels also give"
    return (
        f"The {found.top} neurons of two abilities overlap by {number(found.within, 'share')} within a dimension and by"
        f" {number(found.between, 'share')} between dimensions, {verdict} ({p_phrase(found.p_separation)})."
    )


def inside_tables(views: Sequence[InsideView]) -> tuple[Table, ...]:
    """The tables that a person needs."""
    found = [_representations(views), *_neurons(views)]
    return tuple(found if len(views) < 2 else [*found, side_by_side(views)])


def _representations(views: Sequence[InsideView]) -> Table:
    rows = []
    for view in views:
        for each in view.representations:
            best, clearest = each.best, each.clearest
            apart = (
                (None, None, None)
                if each.condition.across
                else (clearest.silhouette, clearest.layer, clearest.p_silhouette)
            )
            rows.append(
                (
                    short(view), each.condition.level, each.condition.title, each.items, each.trees, best.layer,
                    best.accuracy, best.accuracy_null, best.p_accuracy,
                    each.layers[0].accuracy, *apart,
                )
            )  # fmt: skip
    columns = (
        "model", "told apart", "language", "utterances", "trees", "best layer", "balanced accuracy",
        "shuffled", "p", "layer 0", "silhouette", "silhouette layer", "silhouette p",
    )  # fmt: skip
    units = {
        "balanced accuracy": "share", "shuffled": "share", "p": "p", "layer 0": "share",
        "silhouette": "number", "silhouette p": "p",
    }  # fmt: skip
    note = (
        "States: mean over the utterance. The probe is tested on trees that it was not fitted on. p-values"
        " are corrected for the number of layers; labels were shuffled within trees. Layer 0, the embedding,"
        " shows what the words alone reveal."
    )
    details = ("utterances", "trees", "silhouette layer", *(("model",) if len(views) == 1 else ()))
    return Table(
        "representations", "Dimensions and abilities in the states", columns, tuple(rows), note, units, details
    )


def _neurons(views: Sequence[InsideView]) -> Iterator[Table]:
    rows = tuple(
        (
            short(view), found.language, len(found.abilities), found.top, found.within, found.within_null,
            found.between, found.between_null, found.separation, found.p_separation, found.p_dimensions, found.density,
            found.density_null, found.p_density,
        )
        for view in views
        for found in view.neurons
    )  # fmt: skip
    columns = (
        "model", "language", "abilities", "neurons each", "overlap within", "within, shuffled", "overlap between",
        "between, shuffled", "separation", "p", "p (dimensions)", "density", "density, shuffled", "density p",
    )  # fmt: skip
    share = ("overlap within", "within, shuffled", "overlap between", "between, shuffled")
    units = {
        **dict.fromkeys(share, "share"), "separation": "share-points", "p": "p", "p (dimensions)": "p",
        "density": "number", "density, shuffled": "number", "density p": "p",
    }  # fmt: skip
    note = (
        "Overlap: neurons in both sets, divided by neurons in either set. Separation: overlap within minus between"
        " dimensions. Density: 0 if a set is spread evenly over layers, 1 if it is in one layer. p: utterances'"
        " labels shuffled within trees; p (dimensions): the abilities assigned to dimensions at random. These"
        " definitions are ours."
    )
    details = (
        "abilities", "within, shuffled", "between, shuffled", "density, shuffled", "p (dimensions)", "density p",
        *(("model",) if len(views) == 1 else ()),
    )  # fmt: skip
    if rows:
        yield Table("neurons", "Neurons of the abilities", columns, rows, note, units, details)


def side_by_side(views: Sequence[InsideView]) -> Table:
    """One row per model, by size."""
    rows = []
    for view in sorted(views, key=lambda view: view.parameters):
        own, neurons = main_results(view), _joint(view.neurons)
        best = [each.best.accuracy for each in own]
        clear = [each.clearest.silhouette or 0.0 for each in own]
        rows.append(
            (
                short(view), parameters_text(view.parameters), view.layers, sum(best) / len(best) if best else None,
                sum(clear) / len(clear) if clear else None, neurons.separation if neurons else None,
                neurons.density if neurons else None,
            )
        )  # fmt: skip
    columns = ("model", "parameters", "layers", "balanced accuracy", "silhouette", "separation", "density")
    units = {"balanced accuracy": "share", "silhouette": "number", "separation": "share-points", "density": "number"}
    return Table("models", "Models side by side", columns, tuple(rows), SCALE_CAVEAT, units)


SCALE_CAVEAT = (
    "Models of different size differ in data, training, tokenizer, depth and width as well; a few of them cannot show"
    " that size causes a difference. The best of more layers is higher by chance; a silhouette in more dimensions has"
    " another range. Compare models of one family, and each with its own shuffled labels."
)


def caveats(views: Sequence[InsideView]) -> tuple[str, ...]:
    """The caveats of the numbers."""
    left_out = sum(view.left_out for view in views)
    said = [f"{left_out} questions without one certain dimension were left out."] if left_out else []
    trees = min((each.trees for view in views for each in view.representations), default=0)
    if 0 < trees < 10:
        said.append(f"Only {trees} trees: no interval is given, and a probe has little to learn from (ten are needed).")
    said.append(
        "The best layer is chosen by its accuracy, so it has no interval; p allows for the choice. 'Shuffled' is that"
        " layer alone."
    )
    said.append("A probe finds what is there, not what the model uses.")
    if len(views) > 1:
        said.append(SCALE_CAVEAT)
    return tuple(said)


async def look(item: LookedAt, session: Session) -> InsideView:
    """Raise an error: a conversation cannot look inside a model."""
    raise UsageError("run 'sociometer socialeval inside --model hf/NAME' to look inside a model.")


def score_view(item: LookedAt, outcome: InsideView) -> Score:
    """The balanced accuracy of the best layer in each language, for the dimension."""
    found = [each for each in outcome.representations if each.condition.level == "dimension"]
    return Score(values={f"probe {each.condition.title}": each.best.accuracy for each in found})


def summarise_views(run: RunView[LookedAt, InsideView]) -> Summary:
    """The measures of the view, its tables, and the view itself for the figures."""
    views = [outcome for _, outcome, _ in run.scored()]
    if not views:
        return Summary(measures=(Measure("probe", None),))
    view = views[-1]
    measures = []
    for each in view.representations:
        condition = each.condition
        group = {"told apart": condition.level, "language": condition.title}
        best, clearest = each.best, each.clearest
        # Chosen because it is the best, so an interval around it would lie too high; p allows for the choice.
        note = f"layer {best.layer}, the best of {len(each.layers)}, so without interval; p {best.p_accuracy:.3f}"
        measures.append(Measure("probe", best.accuracy, group, None, each.items, each.trees, note=note))
        if not condition.across:
            note = f"layer {clearest.layer}, p {clearest.p_silhouette or 1:.3f}"
            measures.append(Measure("silhouette", clearest.silhouette, group, None, each.items, each.trees, note=note))
    for found in view.neurons:
        note = f"p {found.p_separation:.3f}"
        measures.append(
            Measure("separation", found.separation, {"language": found.language}, items=found.items, note=note)
        )
    return Summary(
        measures=tuple(measures),
        tables=inside_tables(views),
        notes=caveats(views),
        series={"view": msgspec.to_builtins(view)},
    )


def stored_views(runs: Iterable[AnyRun]) -> list[InsideView]:
    """The views in the summaries of stored runs, one for each model: the newest."""
    found: dict[str, InsideView] = {}
    for run in sorted((run for run in runs if "view" in run.summary.series), key=lambda run: run.created):
        view = msgspec.convert(run.summary.series["view"], InsideView)
        shown = tuple(each for each in view.representations if each.condition.pooling == "mean")
        spots = tuple(spot for spot in view.spots if spot.layer == view.layer)
        found[view.revision] = msgspec.structs.replace(view, representations=shown, spots=spots)
    return list(found.values())
