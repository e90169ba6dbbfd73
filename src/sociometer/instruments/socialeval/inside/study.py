"""`inside`: what the layers of open weights represent, and which neurons respond."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError
from sociometer.core.inner_model import InnerModel, Passage, Traces
from sociometer.core.instrument import FinishedEpisode, Result
from sociometer.core.settings import Settings
from sociometer.instruments.socialeval.abilities import ABILITIES, DIMENSIONS, dimension_of
from sociometer.instruments.socialeval.inside.figures import inside_figures
from sociometer.instruments.socialeval.inside.statistics import (
    Neurons,
    cosine_distances,
    p_of_best,
    p_value,
    plane,
    set_statistics,
    shuffled_within,
    silhouettes,
    top_sets,
)
from sociometer.instruments.socialeval.inside.tables import caveats, finding_of, inside_tables
from sociometer.instruments.socialeval.inside.view import (
    LEVELS,
    InsideView,
    LayerResult,
    LookedAt,
    NeuronResult,
    Representation,
    Spot,
)
from sociometer.instruments.socialeval.items import UNMAPPED, AbilityQuestion
from sociometer.statistics.intervals import Floats, Integers, cluster_codes

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
