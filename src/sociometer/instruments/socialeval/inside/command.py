"""`sociometer socialeval inside`: looks inside open weights and stores the result as a run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError
from sociometer.core.inner_model import AnswerMode, InnerModel, Pooling, Traces
from sociometer.core.instrument import FinishedEpisode, Result
from sociometer.core.settings import Settings
from sociometer.instruments.socialeval.inside import study
from sociometer.instruments.socialeval.inside.figures import inside_figures
from sociometer.instruments.socialeval.inside.study import (
    Labelled,
    Plan,
    causation,
    drawn_layers,
    neuron_results,
    reply_scores,
    representations,
    right_scores,
    spots,
)
from sociometer.instruments.socialeval.inside.tables import caveats, finding_of, inside_tables, more_tables
from sociometer.instruments.socialeval.inside.view import (
    CausationResult,
    InsideView,
    LookedAt,
    NeuronResult,
    Representation,
)
from sociometer.statistics.intervals import Floats

_PREFIX = "hf/"
_LEAST_ITEMS = 8
_MOST_SHARE = 0.25
NOTHING = "none"


def inside(context: CommandContext, options: Settings) -> Result:
    """Looks inside each model in turn; each view is stored as a run of the task `inside`."""
    items, left_out = study.labelled(context.items("abilities"))
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
        more=more_tables(views),
        notes=(*caveats(views), f"Stored as run {', '.join(runs)}; 'sociometer report' shows it with other runs."),
        figures=tuple(inside_figures(views)),
        data={"runs": runs, "views": views},
    )


class _Clock:
    """The seconds that each part took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Measures the time of the code inside it."""
        start = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - start, 1)


def _look(
    context: CommandContext, options: Settings, spec: str, items: Sequence[Labelled], left_out: int
) -> InsideView:
    model, clock = _opened(context, options, spec), _Clock()
    shuffles, least = options.whole("shuffles"), options.whole("least")
    pooling = cast(Pooling, options.text("pooling"))
    with clock.part("states"):
        traces = model.traces([study.right_passage(item.question) for item in items], f"states · {spec}")
        reference, languages, of_item = _reference(model, options.text("reference"), items)
    with clock.part("statistics of states"):
        seen = representations(items, traces, least=least, shuffles=shuffles, seed=context.seed, track=context.track)
        chosen = options.whole("layer") if options["layer"] is not None else None
        layer = _best_layer(seen, pooling) if chosen is None else chosen
        if layer > traces.layers:
            raise UsageError(f"--layer {layer} is too high: {spec} has the layers 0 (embedding) to {traces.layers}.")
    with clock.part("planes"):
        drawn = drawn_layers(traces.layers, layer)
        planes = context.track(drawn, "planes, layer by layer")
        points = [spot for each in planes for spot in spots(items, traces, [each], pooling, context.seed)]
    top = _top(options.number("top-share"), model)
    neurons: list[NeuronResult] = []
    with clock.part("neurons"):
        neurons = neuron_results(
            items, traces, reference, languages, top=top, least=least, shuffles=shuffles, seed=context.seed,
            track=context.track,
        )  # fmt: skip
    caused = None
    if options.text("answers") != NOTHING:
        with clock.part("switching off"):
            caused = _caused(context, options, model, items, traces, reference, of_item, top)
    return InsideView(
        model=spec,
        revision=model.revision,
        device=model.device,
        parameters=model.parameters,
        layers=model.layers,
        width=model.width,
        reference=options.text("reference"),
        shuffles=shuffles,
        story_tokens=options.whole("story-tokens"),
        questions=len(items),
        left_out=left_out,
        representations=seen,
        spots=tuple(points),
        spot_pooling=pooling,
        layer=layer,
        layer_chosen=chosen is not None,
        neurons=tuple(neurons),
        causation=caused,
        seconds=clock.seconds,
        computed=traces.computed + reference.computed,
        memory=model.memory(),
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


def _reference(model: InnerModel, kind: str, items: Sequence[Labelled]) -> tuple[Traces, list[str], list[int]]:
    """The traces of the reference text, the language of each passage, and the half of the trees it belongs to."""
    half = study.halves([item.question.cluster for item in items])
    if kind in ("distractors", "story"):
        make = study.wrong_passage if kind == "distractors" else study.last_line
        traces = model.traces([make(item.question) for item in items], f"reference · {model.name}")
        return traces, [item.question.language for item in items], half
    found = study.file_passages(Path(kind))
    # A text that belongs to no tree may be used with both halves.
    return model.traces(found, f"reference · {model.name}"), [""] * len(found), [-1] * len(found)


def _best_layer(seen: Sequence[Representation], pooling: Pooling) -> int:
    """The layer with the best mean accuracy of the dimension over the languages."""
    own = [
        each
        for each in seen
        if each.condition.level == "dimension" and not each.condition.across and each.condition.pooling == pooling
    ]
    if not own:
        return 0
    layers = range(len(own[0].layers))
    return max(layers, key=lambda layer: sum(each.layers[layer].accuracy for each in own))


def _caused(
    context: CommandContext,
    options: Settings,
    model: InnerModel,
    items: Sequence[Labelled],
    traces: Traces,
    reference: Traces,
    reference_halves: Sequence[int],
    top: int,
) -> CausationResult | None:
    answers = options.text("answers")
    plan = Plan(
        level=options.text("switch-off"),
        answers=answers,
        top=top,
        controls=options.whole("controls"),
        most_items=options.whole("questions"),
        seed=context.seed,
    )
    source = context.source()

    def by_options(places: Sequence[int], off: Sequence[int], name: str) -> Floats:
        asked = [study.option_question(items[place].question, source, cast(AnswerMode, answers)) for place in places]
        return right_scores(model.option_scores(asked, off, name))

    def by_replies(places: Sequence[int], off: Sequence[int], name: str) -> Floats:
        return reply_scores(context, model, [items[place].question for place in places], off, name)

    score = by_replies if answers == "replies" else by_options
    return causation(items, traces, reference, reference_halves, plan, score)
