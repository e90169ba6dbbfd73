"""`inside`: what the layers of open weights represent, and which neurons respond; its tables and figures."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError
from sociometer.core.inner_model import InnerModel, Passage, Traces
from sociometer.core.instrument import FinishedEpisode, Result
from sociometer.core.measure import Figure, Measure, Summary, Table
from sociometer.core.session import Session
from sociometer.core.settings import Settings
from sociometer.core.task import AnyRun, Item, RunView, Score
from sociometer.core.words import plain_number
from sociometer.instruments.socialeval.abilities import ABILITIES, DIMENSIONS, dimension_of
from sociometer.instruments.socialeval.items import UNMAPPED, AbilityQuestion
from sociometer.statistics import charts
from sociometer.statistics.chart_parts import nominal, order_of, shaped
from sociometer.statistics.chart_theme import Spec
from sociometer.statistics.formatting import number, p_phrase
from sociometer.statistics.intervals import Floats, Integers, cluster_codes

LEVELS = ("dimension", "ability")


class LookedAt(Item, frozen=True, kw_only=True):
    """The item of a stored view: the model and the questions."""

    questions: tuple[str, ...] = ()


class LayerResult(Struct, frozen=True):
    """The silhouette of one layer; the p-value is corrected for the number of layers."""

    layer: int
    silhouette: float
    null: float
    """The mean over shuffled labels."""
    p_value: float


class Representation(Struct, frozen=True):
    """All layers in one language: whether utterances of one dimension (or ability) are near each other."""

    level: str
    language: str
    items: int
    trees: int
    layers: tuple[LayerResult, ...]

    @property
    def clearest(self) -> LayerResult:
        """The layer with the highest silhouette."""
        return max(self.layers, key=lambda layer: layer.silhouette)


class Spot(Struct, frozen=True, array_like=True):
    """One utterance on the plane of one layer."""

    layer: int
    x: float
    y: float
    ability: str
    language: str
    question: str


class NeuronResult(Struct, frozen=True):
    """The sets of neurons of one language (or both), with what shuffled labels give."""

    language: str
    top: int
    abilities: tuple[str, ...]
    items: int
    overlaps: tuple[tuple[float, ...], ...]
    within: float
    within_null: float
    between: float
    between_null: float
    separation: float
    p_separation: float
    density: float
    density_null: float
    p_density: float
    layer_density: tuple[float, ...]


class InsideView(Struct, frozen=True):
    """The complete view of one model."""

    model: str
    revision: str
    device: str
    parameters: int
    layers: int
    width: int
    shuffles: int
    story_tokens: int
    questions: int
    left_out: int
    representations: tuple[Representation, ...]
    spots: tuple[Spot, ...]
    layer: int
    """The layer with the highest silhouette, whose plane is drawn."""
    neurons: tuple[NeuronResult, ...] = ()
    computed: int = 0


_AT_ONCE = 4096


def cosine_distances(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 − cosine of each pair of rows; a row of zeros is at distance 1 from all others."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1)
    distances = np.clip(1 - unit @ unit.T, 0, 2).astype(np.float32)
    np.fill_diagonal(distances, 0)
    return distances


def silhouettes(distances: NDArray[np.float32], label_sets: Integers) -> NDArray[np.float64]:
    """The mean silhouette of each row of labels (label sets × items; labels are 0, 1, …).

    s = (b − a) / max(a, b), a the mean distance to the others with the same label, b the smallest mean distance to the
    items of another label. An item that is alone with its label has 0.
    """
    kinds = int(label_sets.max()) + 1
    step = max(1, _AT_ONCE // kinds)
    parts = [_batch(distances, label_sets[at : at + step], kinds) for at in range(0, len(label_sets), step)]
    return np.concatenate(parts)


def _batch(distances: NDArray[np.float32], label_sets: Integers, kinds: int) -> NDArray[np.float64]:
    sets, items = label_sets.shape
    indicator = (label_sets[:, :, None] == np.arange(kinds)).astype(np.float32)
    sizes = indicator.sum(axis=1)[:, None, :]
    flat = indicator.transpose(1, 0, 2).reshape(items, sets * kinds)
    sums = (distances @ flat).reshape(items, sets, kinds).transpose(1, 0, 2)
    own = indicator.astype(bool)
    own_size = np.broadcast_to(sizes, sums.shape)[own].reshape(sets, items)
    inside = sums[own].reshape(sets, items) / np.maximum(own_size - 1, 1)
    others = np.where(own | (sizes == 0), np.inf, sums / np.maximum(sizes, 1)).min(axis=2)
    larger = np.maximum(inside, others)
    values = np.where(
        (own_size > 1) & np.isfinite(others) & (larger > 0), (others - inside) / np.where(larger > 0, larger, 1), 0.0
    )
    return np.asarray(values.mean(axis=1), dtype=np.float64)


def shuffled_within(labels: Integers, groups: Integers, draws: int, seed: int) -> Integers:
    """The labels as given in the first row, then `draws` rows in which they are shuffled inside each group.

    A group (a tree) keeps its own number of each label, so that what a tree has in common cannot look like an effect
    of the labels.
    """
    generator = np.random.default_rng(seed)
    result = np.tile(labels, (draws + 1, 1))
    for group in np.unique(groups):
        places = np.flatnonzero(groups == group)
        if places.size > 1:
            result[1:, places] = generator.permuted(result[1:, places], axis=1)
    return result


def p_value(observed: float, null: Floats) -> float:
    """The share of values at least as large as the observed one, which is counted among them: (1 + b) / (1 + m)."""
    return float((1 + np.count_nonzero(null >= observed - 1e-12)) / (1 + null.size))


def p_of_best(observed: Floats, null: Floats) -> Floats:
    """p-values of several statistics, each compared with the largest of every shuffle (Westfall and Young 1993).

    `observed` has one value per statistic (a layer), `null` is shuffles × statistics, shuffled together. The
    probability of any false finding among all statistics is then at most the level.
    """
    largest = null.max(axis=1)
    return np.array([p_value(float(value), largest) for value in observed])


_PERPLEXITY = 30
_COMPONENTS = 50


def plane(vectors: NDArray[np.float32], *, seed: int = 0) -> NDArray[np.float64]:
    """Two coordinates for each row, centred and scaled to a spread of one.

    The first 50 principal components go into t-SNE, with perplexity 30, or a quarter of the rows if that is less.
    """
    rows = len(vectors)
    if rows < 4:
        raise UsageError(f"{rows} utterances are too few for a plane; t-SNE needs at least 4.")
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        raise UsageError(
            "looking inside a model needs the extra 'inside'; install it with: pip install 'sociometer[inside]'."
        ) from None
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    components = (left * sizes)[:, :_COMPONENTS]
    if not np.any(components):
        return np.zeros((rows, 2))
    perplexity = max(1.0, min(_PERPLEXITY, (rows - 1) / 4))
    fitted = TSNE(perplexity=perplexity, init="pca", random_state=seed % 2**32).fit_transform(components)
    points = np.asarray(fitted, dtype=np.float64)
    points -= points.mean(axis=0)
    return points / max(float(points.std()), 1e-9)


_MOST_NUMBERS = 8_000_000
"""The maximum number of scores in memory at once (32 MB)."""

Half = NDArray[np.float32]


class Neurons:
    """The neurons on chosen utterances, and on the reference text; one layer is in memory at a time."""

    def __init__(self, traces: Traces, reference: Traces, rows: Integers) -> None:
        self._traces = traces
        self._rows = rows
        self._reference = reference
        self.layers = traces.layers
        self.width = traces.width
        self.tokens: Floats = traces.tokens[rows]

    def squares(self, layer: int) -> NDArray[np.float32]:
        """The sum of squares of each neuron over the tokens of each utterance."""
        return self._traces.squares(layer)[self._rows]

    def reference(self, layer: int) -> NDArray[np.float32]:
        """The mean square of each neuron over the tokens of the reference text."""
        sums = self._reference.squares(layer)[self._rows].sum(axis=0, dtype=np.float64)
        return np.asarray(sums / self._reference.tokens[self._rows].sum(), dtype=np.float32)

    def weights(self, layer: int) -> NDArray[np.float32]:
        """The mean absolute weight that each neuron feeds."""
        return self._traces.weights(layer)


def top_sets(values: Neurons, label_sets: Integers, kinds: int, k: int) -> NDArray[np.int32]:
    """The k neurons with the highest scores, for each row of labels and each label: rows × labels × k.

    A neuron's number is layer × width + place. Texts with the label −1 are left out.
    """
    rows = len(label_sets)
    best = np.full((rows, kinds, k), -np.inf, dtype=np.float32)
    found = np.full((rows, kinds, k), -1, dtype=np.int32)
    step = max(1, _MOST_NUMBERS // (kinds * values.width))
    for layer in range(values.layers):
        squares, reference, weights = values.squares(layer), values.reference(layer), values.weights(layer)
        for at in range(0, rows, step):
            scores = label_scores(squares, values.tokens, label_sets[at : at + step], kinds, reference, weights)
            _merge(best[at : at + step], found[at : at + step], scores, layer * values.width)
    return found


def label_scores(
    squares: Half, tokens: Floats, label_sets: Integers, kinds: int, reference: Half, weights: Half
) -> Half:
    """The score of each neuron of a layer for each label and each row of labels: rows × labels × neurons."""
    rows, texts = label_sets.shape
    indicator = (label_sets[:, None, :] == np.arange(kinds)[:, None]).astype(np.float32)
    totals = np.maximum(indicator @ tokens.astype(np.float32), 1e-9)
    means = (indicator.reshape(rows * kinds, texts) @ squares).reshape(rows, kinds, -1) / totals[:, :, None]
    return np.asarray((np.sqrt(np.maximum(means, 0)) - np.sqrt(reference)) * weights, dtype=np.float32)


def _merge(best: Half, found: NDArray[np.int32], scores: Half, first: int) -> None:
    """Puts the neurons of one more layer into the best so far, in place."""
    k = best.shape[2]
    numbers = np.broadcast_to(np.arange(first, first + scores.shape[2], dtype=np.int32), scores.shape)
    every, names = np.concatenate([best, scores], axis=2), np.concatenate([found, numbers], axis=2)
    kept = np.argpartition(-every, k - 1, axis=2)[:, :, :k]
    best[:] = np.take_along_axis(every, kept, axis=2)
    found[:] = np.take_along_axis(names, kept, axis=2)


class SetStatistics(Struct, frozen=True):
    """The statistics of the sets of one row of labels; `layer_density` has one value per layer."""

    overlaps: Floats
    within: float
    between: float
    density: float
    layer_density: Floats

    @property
    def separation(self) -> float:
        """How much more the sets of one dimension overlap than those of different ones."""
        return self.within - self.between


def set_statistics(sets: NDArray[np.int32], dimensions: Integers, layers: int, width: int) -> SetStatistics:
    """The statistics of one row of sets (labels × k); `dimensions` numbers the dimension of each label."""
    kinds = len(sets)
    flat = np.zeros((kinds, layers * width), dtype=np.float32)
    np.put_along_axis(flat, sets.astype(np.int64), 1.0, axis=1)
    member = flat.reshape(kinds, layers, width)
    sizes = member.sum(axis=2).T
    common = flat @ flat.T
    every = sizes.sum(axis=0)
    overlaps = common / np.maximum(every[:, None] + every - common, 1)
    pair = np.triu(np.ones((kinds, kinds), dtype=bool), 1)
    same = pair & (dimensions[:, None] == dimensions)
    shares = sizes / np.maximum(sizes.sum(axis=0), 1)
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=0)
    density = float(1 - entropy.mean() / np.log(layers)) if layers > 1 else 1.0
    within, between = float(overlaps[same].mean()), float(overlaps[pair & ~same].mean())
    return SetStatistics(overlaps, within, between, density, sizes.mean(axis=1) / width)


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


def finding_of(view: InsideView) -> str:
    """The findings in one model, in a few sentences, including what was not found."""
    parts = [f"{short(view)} ({parameters_text(view.parameters)} parameters): {_clusters(view)}"]
    neurons = _joint(view.neurons)
    if neurons is not None:
        parts.append(_neurons_in_words(neurons))
    return " ".join(parts)


def main_results(view: InsideView) -> list[Representation]:
    """The results for the dimension, in each language."""
    return [each for each in view.representations if each.level == "dimension"]


def _clusters(view: InsideView) -> str:
    """Whether the dimensions form clusters: nearer than shuffled labels, and nearer than to the next dimension."""
    said = []
    for each in main_results(view):
        layer, where = each.clearest, f"in {LANGUAGES[each.language]}"
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
    rows = tuple(
        (
            short(view), each.level, each.language, each.items, each.trees, each.clearest.layer,
            each.clearest.silhouette, each.clearest.null, each.clearest.p_value, each.layers[0].silhouette,
        )
        for view in views
        for each in view.representations
    )  # fmt: skip
    columns = (
        "model", "told apart", "language", "utterances", "trees", "clearest layer", "silhouette", "shuffled", "p",
        "layer 0",
    )  # fmt: skip
    units = {"silhouette": "number", "shuffled": "number", "p": "p", "layer 0": "number"}
    note = (
        "States: mean over the utterance. p-values are corrected for the number of layers; labels were shuffled within"
        " trees. Layer 0, the embedding, shows what the words alone reveal."
    )
    details = ("utterances", "trees", *(("model",) if len(views) == 1 else ()))
    return Table("representations", "Dimensions and abilities in the states", columns, rows, note, units, details)


def _neurons(views: Sequence[InsideView]) -> Iterator[Table]:
    rows = tuple(
        (
            short(view), found.language, len(found.abilities), found.top, found.within, found.within_null,
            found.between, found.between_null, found.separation, found.p_separation, found.density,
            found.density_null, found.p_density,
        )
        for view in views
        for found in view.neurons
    )  # fmt: skip
    columns = (
        "model", "language", "abilities", "neurons each", "overlap within", "within, shuffled", "overlap between",
        "between, shuffled", "separation", "p", "density", "density, shuffled", "density p",
    )  # fmt: skip
    share = ("overlap within", "within, shuffled", "overlap between", "between, shuffled")
    units = {
        **dict.fromkeys(share, "share"), "separation": "share-points", "p": "p",
        "density": "number", "density, shuffled": "number", "density p": "p",
    }  # fmt: skip
    note = (
        "Overlap: neurons in both sets, divided by neurons in either set. Separation: overlap within minus between"
        " dimensions. Density: 0 if a set is spread evenly over layers, 1 if it is in one layer. p: utterances'"
        " labels shuffled within trees. These definitions are ours."
    )
    details = (
        "abilities", "within, shuffled", "between, shuffled", "density, shuffled", "density p",
        *(("model",) if len(views) == 1 else ()),
    )  # fmt: skip
    if rows:
        yield Table("neurons", "Neurons of the abilities", columns, rows, note, units, details)


def side_by_side(views: Sequence[InsideView]) -> Table:
    """One row per model, by size."""
    rows = []
    for view in sorted(views, key=lambda view: view.parameters):
        neurons, clear = _joint(view.neurons), [each.clearest.silhouette for each in main_results(view)]
        rows.append(
            (
                short(view), parameters_text(view.parameters), view.layers, sum(clear) / len(clear) if clear else None,
                neurons.separation if neurons else None, neurons.density if neurons else None,
            )
        )  # fmt: skip
    columns = ("model", "parameters", "layers", "silhouette", "separation", "density")
    units = {"silhouette": "number", "separation": "share-points", "density": "number"}
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
    if len(views) > 1:
        said.append(SCALE_CAVEAT)
    return tuple(said)


async def look(item: LookedAt, session: Session) -> InsideView:
    """Raise an error: a conversation cannot look inside a model."""
    raise UsageError("run 'sociometer socialeval inside --model hf/NAME' to look inside a model.")


def score_view(item: LookedAt, outcome: InsideView) -> Score:
    """The silhouette of the clearest layer in each language, for the dimension."""
    return Score(values={f"silhouette {each.language}": each.clearest.silhouette for each in main_results(outcome)})


def summarise_views(run: RunView[LookedAt, InsideView]) -> Summary:
    """The measures of the view, its tables, and the view itself for the figures."""
    views = [outcome for _, outcome, _ in run.scored()]
    if not views:
        return Summary(measures=(Measure("silhouette", None),))
    view = views[-1]
    measures = []
    for each in view.representations:
        clearest = each.clearest
        group = {"told apart": each.level, "language": each.language}
        # Chosen because it is the highest, so an interval around it would lie too high; p allows for the choice.
        note = f"layer {clearest.layer}, the clearest of {len(each.layers)}; p {clearest.p_value:.3f}"
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
        series={"inside": msgspec.to_builtins(view)},
    )


def stored_views(runs: Iterable[AnyRun]) -> list[InsideView]:
    """The views in the summaries of stored runs, one for each model: the newest."""
    found: dict[str, InsideView] = {}
    for run in sorted((run for run in runs if "inside" in run.summary.series), key=lambda run: run.created):
        view = msgspec.convert(run.summary.series["inside"], InsideView)
        found[view.revision] = view
    return list(found.values())


def cloud_chart(spots: Sequence[Spot]) -> Spec:
    """The utterances of a plane, coloured by dimension."""
    points = [
        {"x": spot.x, "y": spot.y, "group": dimension_of(spot.ability), "note": f"{spot.ability}, {spot.question}"}
        for spot in spots
    ]
    groups = order_of(str(point["group"]) for point in points)
    scale: Spec = {"zero": False, "nice": False, "padding": 8}
    place = {axis: {"field": axis, "type": "quantitative", "axis": None, "scale": scale} for axis in ("x", "y")}
    tooltip = [{"field": "group", "title": "dimension"}, {"field": "note", "title": "utterance"}]
    return {
        "width": "container",
        "height": 420,
        "data": {"values": points},
        "mark": {"type": "point", "size": 42, "tooltip": True, "opacity": 0.85},
        "encoding": {
            **place, "color": nominal("group", groups), "shape": shaped("group", groups),
            "tooltip": tooltip,
        },
    }  # fmt: skip


_NOT_A_TEST = (
    "t-SNE shows neighbours, not distances, and can show clusters that do not exist; the tests are in the tables."
)


def inside_figures(views: Sequence[InsideView]) -> list[Figure]:
    """All figures of one or several models."""
    found = [figure for view in views for figure in _of_one(view, f"-{_slug(view)}" if len(views) > 1 else "")]
    if len(views) > 1:
        found += _scale(views)
    return found


def _slug(view: InsideView) -> str:
    return re.sub(r"[^\w.]+", "-", f"{short(view)}-{view.revision[:6]}").strip("-.")


def _of_one(view: InsideView, suffix: str) -> Iterator[Figure]:
    yield _plane(view, suffix)
    yield from _curves(view, suffix)
    if view.neurons:
        yield _overlap(view, view.neurons[-1], suffix)
        yield _neuron_layers(view, suffix)


def _plane(view: InsideView, suffix: str) -> Figure:
    # the abilities of a dimension are side by side in the inventory, so legends have its order
    spots = sorted(view.spots, key=lambda spot: ABILITIES.index(spot.ability))
    return Figure(
        f"inside-plane{suffix}",
        f"Utterances in layer {view.layer} of {short(view)}, by dimension",
        f"Mean over the utterance; the layer with the highest silhouette. {_NOT_A_TEST}",
        chart=cloud_chart(spots),
    )


def _curves(view: InsideView, suffix: str) -> Iterator[Figure]:
    for level in LEVELS:
        own = [each for each in view.representations if each.level == level]
        if not own:
            continue
        points = [
            charts.CurvePoint(layer.layer, layer.silhouette, LANGUAGES[each.language], note=f"p {layer.p_value:.3f}")
            for each in own
            for layer in each.layers
        ]
        null = [
            charts.CurvePoint(place, sum(each.layers[place].null for each in own) / len(own))
            for place in range(len(own[0].layers))
        ]
        yield Figure(
            f"inside-silhouette-{level}{suffix}",
            f"Silhouette of each {level} in the layers of {short(view)}",
            "Above the dashed line, which is the mean of shuffled labels, utterances are nearer to those of their own"
            f" {level} than their tree explains.",
            chart=charts.curve_chart(points, x_title="layer", y_title="silhouette", truth=null),
        )


def _overlap(view: InsideView, found: NeuronResult, suffix: str) -> Figure:
    """The mean overlap of two abilities, by their dimensions."""
    dimensions = [dimension_of(ability) for ability in found.abilities]
    cells = []
    for row in dict.fromkeys(dimensions):
        for column in dict.fromkeys(dimensions):
            pairs = [
                found.overlaps[first][second]
                for first, one in enumerate(dimensions)
                for second, other in enumerate(dimensions)
                if first != second and (one, other) == (row, column)
            ]
            mean = sum(pairs) / len(pairs) if pairs else None
            cells.append(charts.HeatCell(row, column, mean, note=f"{len(pairs)} ordered pairs of abilities"))
    return Figure(
        f"inside-overlap{suffix}",
        f"Overlap of the neurons of two abilities in {short(view)}, by dimension",
        f"{found.top} neurons for each of {len(found.abilities)} abilities, {LANGUAGES[found.language]}. Shuffled"
        f" labels: {number(found.within_null, 'share')} within, {number(found.between_null, 'share')} between.",
        chart=charts.heat_map(cells, title="overlap", unit="share"),
    )


def _neuron_layers(view: InsideView, suffix: str) -> Figure:
    points = [
        charts.CurvePoint(layer + 1, 100 * value, LANGUAGES[found.language])
        for found in view.neurons
        for layer, value in enumerate(found.layer_density)
    ]
    return Figure(
        f"inside-density{suffix}",
        f"Density of the ability neurons in each layer of {short(view)}",
        "The share of a layer's neurons in the set of an ability, mean over abilities. The definition is ours.",
        chart=charts.curve_chart(points, x_title="layer", y_title="density in points", unit="points"),
    )


def _scale(views: Sequence[InsideView]) -> Iterator[Figure]:
    for name, title, values in (
        (
            "silhouette",
            "Silhouette of the dimensions, best layer",
            [[e.clearest.silhouette for e in main_results(v)] for v in views],
        ),
        (
            "separation",
            "Separation of the neuron sets",
            [[found.separation for found in v.neurons[-1:]] for v in views],
        ),
    ):
        points = [
            charts.ScatterPoint(short(view), view.parameters, sum(of) / len(of), note=parameters_text(view.parameters))
            for view, of in zip(views, values, strict=True)
            if of
        ]
        if len(points) > 1:
            yield Figure(
                f"inside-scale-{name}",
                f"{title}, by number of parameters",
                SCALE_CAVEAT,
                chart=charts.scatter_chart(points, x_title="parameters", y_title=name, log_x=True),
            )


_NARRATOR = {"en": "(narration)", "zh": "（旁白）"}


class Labelled(Struct, frozen=True):
    """A question and its main ability."""

    question: AbilityQuestion
    ability: str

    @property
    def dimension(self) -> str:
        """The dimension of its ability."""
        return dimension_of(self.ability)


def labelled(questions: Iterable[AbilityQuestion]) -> tuple[list[Labelled], int]:
    """The questions whose abilities are all of one dimension, by the first ability; and how many were left out."""
    found, left_out = list[Labelled](), 0
    for question in questions:
        named = [ability for ability in question.abilities if ability != UNMAPPED]
        if len({dimension_of(ability) for ability in named}) == 1:
            found.append(Labelled(question, named[0]))
        else:
            left_out += 1
    return found, left_out


def right_passage(question: AbilityQuestion) -> Passage:
    """The story and the utterance that shows the ability. Neither names the ability."""
    return _said(question, question.options[0])


def wrong_passage(question: AbilityQuestion) -> Passage:
    """The same story with one of the wrong utterances, drawn by the question's name."""
    wrong = question.options[1:]
    drawn = int.from_bytes(hashlib.blake2b(question.id.encode(), digest_size=8).digest()) % len(wrong)
    return _said(question, wrong[drawn])


def _lines(question: AbilityQuestion) -> list[str]:
    scene = [question.scene] if question.scene else []
    return scene + [f"{line.speaker or _NARRATOR[question.language]}: {line.text}" for line in question.lines]


def _said(question: AbilityQuestion, text: str) -> Passage:
    return Passage("\n".join([*_lines(question), f"{question.people[0].name}:"]), f" {text}")


Floats32 = NDArray[np.float32]


class Study:
    """The labels and shuffles of one level in one language; the same for every layer."""

    def __init__(
        self, level: str, language: str, items: Sequence[Labelled], least: int, shuffles: int, seed: int
    ) -> None:
        self.level, self.language = level, language
        own = [place for place, item in enumerate(items) if item.question.language == language]
        counts = Counter(_label(items[place], level) for place in own)
        chosen = [place for place in own if counts[_label(items[place], level)] >= least]
        self.rows = np.array(chosen, dtype=np.int64)
        labels, self.kinds = cluster_codes([_label(items[place], level) for place in chosen], len(chosen))
        trees, self.trees = cluster_codes([items[place].question.cluster for place in chosen], len(chosen))
        self.label_sets = shuffled_within(labels, trees, shuffles, seed)

    @property
    def possible(self) -> bool:
        """Whether there are at least two labels and two trees."""
        return self.kinds > 1 and self.trees > 1


def _label(item: Labelled, level: str) -> str:
    return item.dimension if level == "dimension" else item.ability


def representations(
    items: Sequence[Labelled],
    traces: Traces,
    *,
    least: int,
    shuffles: int,
    seed: int,
    track: Callable[[Sequence[int], str], Iterator[int]],
) -> tuple[Representation, ...]:
    """Every layer, for each level and language; one layer is in memory at a time."""
    languages = sorted({item.question.language for item in items})
    codes, _ = cluster_codes([item.question.language for item in items], len(items))
    studies = [Study(level, language, items, least, shuffles, seed) for level, language in product(LEVELS, languages)]
    studies = [study for study in studies if study.possible]
    seen: list[list[Floats]] = [[] for _ in studies]
    for layer in track(range(traces.layers + 1), "silhouettes, layer by layer"):
        vectors = centred(traces.states(layer), codes)
        for study, found in zip(studies, seen, strict=True):
            found.append(silhouettes(cosine_distances(vectors[study.rows]), study.label_sets))
    return tuple(_summed_up(study, found) for study, found in zip(studies, seen, strict=True))


def centred(states: Floats32, languages: Integers) -> Floats32:
    """The states minus the mean of their language, each coordinate divided by its spread.

    Without this a few large coordinates, and the language itself, would decide every distance.
    """
    result = states.astype(np.float32, copy=True)
    for language in np.unique(languages):
        result[languages == language] -= result[languages == language].mean(axis=0)
    spread = result.std(axis=0)
    return np.asarray(result / np.where(spread > 1e-8, spread, 1.0), dtype=np.float32)


def _summed_up(study: Study, found: Sequence[Floats]) -> Representation:
    """The silhouettes of the true labels (first) in each layer, compared with those of the shuffled ones."""
    table = np.stack(found, axis=1)
    p_values = p_of_best(table[0], table[1:])
    layers = tuple(
        LayerResult(place, float(table[0, place]), float(table[1:, place].mean()), float(p_values[place]))
        for place in range(len(found))
    )
    return Representation(study.level, study.language, len(study.rows), study.trees, layers)


def spots(items: Sequence[Labelled], traces: Traces, layer: int, seed: int) -> Iterator[Spot]:
    """The plane (t-SNE) of one layer."""
    codes, _ = cluster_codes([item.question.language for item in items], len(items))
    points = plane(centred(traces.states(layer), codes), seed=seed)
    for item, (x, y) in zip(items, points.tolist(), strict=True):
        question = item.question
        yield Spot(layer, round(x, 3), round(y, 3), item.ability, question.language, question.id)


BOTH = "both"


def neuron_results(
    items: Sequence[Labelled],
    traces: Traces,
    reference: Traces,
    *,
    top: int,
    least: int,
    shuffles: int,
    seed: int,
    track: Callable[[Sequence[str], str], Iterator[str]],
) -> list[NeuronResult]:
    """The sets of each language, and of both together if there are two."""
    languages = [item.question.language for item in items]
    names = sorted(set(languages))
    results = []
    for language in track([*names, *([BOTH] if len(names) > 1 else [])], "neurons, language by language"):
        rows: Integers = np.flatnonzero([language in (BOTH, name) for name in languages])
        values = Neurons(traces, reference, rows)
        result = _result(language, [items[row] for row in rows], values, top, least, shuffles, seed)
        results += [result] if result is not None else []
    return results


def _result(
    language: str, items: Sequence[Labelled], values: Neurons, top: int, least: int, shuffles: int, seed: int
) -> NeuronResult | None:
    counts = Counter(item.ability for item in items)
    abilities = [ability for ability in ABILITIES if counts[ability] >= least]
    dimensions = [list(DIMENSIONS).index(dimension_of(ability)) for ability in abilities]
    if len(set(dimensions)) < 2 or len(set(dimensions)) == len(dimensions):
        return None
    labels = np.array([abilities.index(item.ability) if item.ability in abilities else -1 for item in items])
    groups, _ = cluster_codes([(item.question.cluster, item.question.language) for item in items], len(items))
    label_sets = shuffled_within(labels.astype(np.int64), groups, shuffles, seed)
    sets = top_sets(values, label_sets, len(abilities), top)
    true, *null = (set_statistics(row, np.array(dimensions), values.layers, values.width) for row in sets)

    def mean(name: str) -> float:
        return float(np.mean([getattr(row, name) for row in null])) if null else float("nan")

    return NeuronResult(
        language=language,
        top=top,
        abilities=tuple(abilities),
        items=int(np.count_nonzero(labels >= 0)),
        overlaps=tuple(tuple(round(float(value), 5) for value in row) for row in true.overlaps),
        within=true.within,
        within_null=mean("within"),
        between=true.between,
        between_null=mean("between"),
        separation=true.separation,
        p_separation=p_value(true.separation, np.array([row.separation for row in null])),
        density=true.density,
        density_null=mean("density"),
        p_density=p_value(true.density, np.array([row.density for row in null])),
        layer_density=tuple(map(float, true.layer_density)),
    )


_PREFIX = "hf/"
_LEAST_ITEMS = 8
_MOST_SHARE = 0.25


def inside(context: CommandContext, options: Settings) -> Result:
    """Looks inside each model in turn; each view is stored as a run of the task `inside`."""
    items, left_out = labelled(context.items("abilities"))
    if len(items) < _LEAST_ITEMS:
        raise UsageError(
            f"{len(items)} ability questions are too few to look inside a model; at least {_LEAST_ITEMS} are needed."
        )
    views, runs = [], []
    for spec in dict.fromkeys(options.texts("model")):
        view = _look(context, options, spec, items, left_out)
        looked_at = LookedAt(id=f"inside-{view.revision[:12]}", questions=tuple(item.question.id for item in items))
        runs.append(context.keep("inside", spec, [FinishedEpisode(looked_at, view)], settings=context.settings).id)
        views.append(view)
    return Result(
        finding=" ".join(finding_of(view) for view in views),
        tables=inside_tables(views),
        notes=(*caveats(views), f"Stored as run {', '.join(runs)}; 'sociometer report' shows it with other runs."),
        figures=tuple(inside_figures(views)),
        data={"runs": runs, "views": views},
    )


def _look(
    context: CommandContext, options: Settings, spec: str, items: Sequence[Labelled], left_out: int
) -> InsideView:
    model = _opened(context, options, spec)
    shuffles, least, seed = options.whole("shuffles"), options.whole("least"), context.seed
    traces = model.traces([right_passage(item.question) for item in items], f"states · {spec}")
    reference = model.traces([wrong_passage(item.question) for item in items], f"reference · {spec}")
    seen = representations(items, traces, least=least, shuffles=shuffles, seed=seed, track=context.track)
    layer = _best_layer(seen)
    top = _top(options.number("top-share"), model)
    neurons = neuron_results(
        items, traces, reference, top=top, least=least, shuffles=shuffles, seed=seed, track=context.track
    )
    return InsideView(
        model=spec,
        revision=model.revision,
        device=model.device,
        parameters=model.parameters,
        layers=model.layers,
        width=model.width,
        shuffles=shuffles,
        story_tokens=options.whole("story-tokens"),
        questions=len(items),
        left_out=left_out,
        representations=seen,
        spots=tuple(spots(items, traces, layer, seed)),
        layer=layer,
        neurons=tuple(neurons),
        computed=traces.computed + reference.computed,
    )


def _opened(context: CommandContext, options: Settings, spec: str) -> InnerModel:
    if not spec.startswith(_PREFIX):
        raise UsageError(
            f"'inside' cannot look inside '{spec}'; give open weights: --model hf/NAME, hf/FOLDER or hf/FILE.gguf."
        )
    return context.inner_model(
        spec.removeprefix(_PREFIX),
        revision=options.text("revision"),
        story_tokens=options.whole("story-tokens"),
        batch_tokens=options.whole("batch-tokens"),
    )


def _top(share: float, model: InnerModel) -> int:
    """The number of neurons in a set."""
    if share > _MOST_SHARE:
        raise UsageError(f"--top-share must be at most {_MOST_SHARE:g}, not {share:g}: random sets need other neurons.")
    return max(1, round(share * model.layers * model.width))


def _best_layer(seen: Sequence[Representation]) -> int:
    """The layer with the highest mean silhouette of the dimension over the languages."""
    own = [each for each in seen if each.level == "dimension"]
    layers = range(len(own[0].layers)) if own else [0]
    return max(layers, key=lambda layer: sum(each.layers[layer].silhouette for each in own))
