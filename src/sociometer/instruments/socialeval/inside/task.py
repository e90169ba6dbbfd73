"""The task and the command `inside`: looks inside open weights, stores the view and summarises it."""

from collections.abc import Sequence

import msgspec

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError, hint
from sociometer.core.inner_model import InnerModel
from sociometer.core.instrument import FinishedEpisode, Result
from sociometer.core.measure import Measure, Summary
from sociometer.core.session import Session
from sociometer.core.settings import Settings
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.socialeval.inside.figures import inside_figures
from sociometer.instruments.socialeval.inside.findings import caveats, finding_of, inside_tables, main_results
from sociometer.instruments.socialeval.inside.labels import Labelled, labelled, right_passage, wrong_passage
from sociometer.instruments.socialeval.inside.neurons import neuron_results
from sociometer.instruments.socialeval.inside.states import representations, spots
from sociometer.instruments.socialeval.inside.view import InsideView, Representation

SHUFFLES = 200
"""How often the labels are shuffled for each test."""
LEAST = 3
"""Abilities with fewer utterances in a language are left out."""
_PREFIX = "hf/"
_LEAST_ITEMS = 8
_MOST_SHARE = 0.25


class LookedAt(Item, frozen=True, kw_only=True):
    """The item of a stored view: the model and the questions."""

    questions: tuple[str, ...] = ()


async def look(item: LookedAt, session: Session) -> InsideView:
    """Raise an error: a conversation cannot look inside a model."""
    raise UsageError(f"run '{hint('socialeval inside --model hf/NAME')}' to look inside a model.")


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
        notes=(*caveats(views), f"Stored as run {', '.join(runs)}; '{hint('report')}' shows it with others."),
        figures=tuple(inside_figures(views)),
        data={"runs": runs, "views": views},
    )


def _look(
    context: CommandContext, options: Settings, spec: str, items: Sequence[Labelled], left_out: int
) -> InsideView:
    model = _opened(context, options, spec)
    seed = context.seed
    traces = model.traces([right_passage(item.question) for item in items], f"states · {spec}")
    reference = model.traces([wrong_passage(item.question) for item in items], f"reference · {spec}")
    seen = representations(items, traces, least=LEAST, shuffles=SHUFFLES, seed=seed, track=context.track)
    layer = _best_layer(seen)
    top = _top(options.number("top-share"), model)
    neurons = neuron_results(
        items, traces, reference, top=top, least=LEAST, shuffles=SHUFFLES, seed=seed, track=context.track
    )
    return InsideView(
        model=spec,
        revision=model.revision,
        device=model.device,
        parameters=model.parameters,
        layers=model.layers,
        width=model.width,
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
        spec.removeprefix(_PREFIX), revision=options.text("revision"), batch_tokens=options.whole("batch-tokens")
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
