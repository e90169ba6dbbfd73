"""The stopping rule of `run --against`: a run ends when its comparison with a stored run is decided."""

from collections.abc import Callable, Mapping

from msgspec import structs

from sociometer.core.card import Card, MeasureCard
from sociometer.core.errors import UsageError
from sociometer.core.form import differs, why_apart
from sociometer.core.instrument import Instrument
from sociometer.core.stopping import UNDECIDED, Look, StoppingRecord, Until
from sociometer.core.task import AnyRun, StoppingRule, items_digest, sample
from sociometer.core.words import lowered
from sociometer.results.comparison import failed_extremes, shared_differences
from sociometer.statistics.formatting import margin_text, scale_and_digits
from sociometer.statistics.item_values import RunItems, read_items, shared_items
from sociometer.statistics.sequential import blocks, drift, look, widening
from sociometer.store.records import Manifest, RunStatus
from sociometer.store.stored_run import StoredRun

LEVEL = 0.95


def stopping_rule(manifest: Manifest, instrument: Instrument, stored: Callable[[str], StoredRun]) -> StoppingRule:
    """The rule of a run; a UsageError if it cannot be followed, before anything is sent."""
    until = manifest.config.until
    if until is None:
        raise ValueError("the run has no stopping rule")
    measures = {task: _rule_measure(instrument, task) for task in manifest.config.tasks}
    reference = stored(until.against)
    _refuse_others(manifest, reference, instrument)
    return DecidedRule(instrument, until, measures, reference, stored)


def _rule_measure(instrument: Instrument, task: str) -> MeasureCard:
    """The measure that decides: the primary one, which must be a mean over items."""
    for card in instrument.card.measures_of(task):
        if card.primary and card.value and not card.of_items:
            return card
    raise UsageError(
        f"{instrument.card.name}/{task} has no primary measure that is a mean over items; choose another task with"
        " --task."
    )


def _refuse_others(new: Manifest, reference: StoredRun, instrument: Instrument) -> None:
    """Raise a UsageError if a new run cannot be compared with the reference item by item, to the end."""
    old = reference.manifest
    test = new.config.instrument
    if test != reference.instrument:
        raise UsageError(f"--against {reference.reference} is a run of {reference.instrument}; give a run of {test}.")
    for task in new.config.tasks:
        why = _why_not_item_by_item(new, reference, instrument, task)
        if why:
            raise UsageError(
                f"the run and --against {reference.reference} cannot be compared item by item: {why}"
                f"{_option_to_add(old, new, instrument.card, why)}."
            )
    if reference.status is RunStatus.PLAYING:
        raise UsageError(f"--against {reference.reference} is still being played; wait for it to end.")
    lacking = [task for task in new.config.tasks if reference.part(task) is not None]
    if lacking:
        step = f"To play the rest: {old.config.resume_command(reference.reference)}"
        if old.config.until is not None:
            step = "Its rule ended it early. Run its model again without --against; stored replies are reused."
        raise UsageError(f"--against {reference.reference} has not played all items of {', '.join(lacking)}. {step}")


def _why_not_item_by_item(new: Manifest, reference: StoredRun, instrument: Instrument, task: str) -> str:
    """Why the items of a task cannot be compared one by one to the end; empty if they can."""
    old = reference.manifest
    if task not in old.config.tasks:
        return f"it has no task '{task}'"
    differences = differs(reference.form(task), new.form(task, instrument.card, ""), "table")
    if differences and differences[0].field != "picked items":
        return why_apart(differences, instrument.card.name)
    if old.repeats.get(task) != new.repeats.get(task):
        return "they differ in repeats"
    if _drawn(reference, task, new) != new.items_digests.get(task):
        return "they differ in items"
    return ""


def _drawn(reference: StoredRun, task: str, new: Manifest) -> str | None:
    """The digest of those items of the reference that a new run chooses and draws; a smaller limit draws a part."""
    known, same_version = reference.manifest.items_digests.get(task), reference.version == new.instrument_version
    if known in (None, new.items_digests.get(task)) or not same_version:
        return known
    chosen, config = set(new.config.items), new.config
    items = {one.item.id: one.item for one in reference.episodes(task, scored=False)}
    read = [item for name, item in items.items() if not chosen or name in chosen]
    whole = reference.definition.card.task_card(task).limit == "cluster"
    drawn = sample(lambda: read, config.limit, config.seed, whole_clusters=whole)
    return items_digest({item.id: item.content_digest() for item in drawn})


def _option_to_add(old: Manifest, new: Manifest, card: Card, why: str) -> str:
    """The options that make a new run one like the old, as the end of a sentence; empty if no option does."""
    before = _options_of(old, card, why)
    now = _options_of(new, card, why)
    steps = []
    for option, value in before.items():
        if value == now.get(option):
            continue
        if value is None or value is False:
            steps.append(f"; leave out {option.strip(' =')}")
        elif value is True:
            steps.append(f"; add {option.strip(' =')}")
        else:
            steps.append(f"; add {option}{value}")
    return "".join(steps)


def _options_of(manifest: Manifest, card: Card, why: str) -> dict[str, object]:
    """The options on which the items and the questions of a run depend, as they are typed."""
    config = manifest.config
    options: dict[str, object] = {
        "--limit ": config.limit if "items" in why else None,
        "--seed ": config.seed,
        "--repeats ": config.repeats,
    }
    for setting in card.setting:
        value = config.settings.get(setting.name, setting.default)
        options[f"--{setting.name} "] = setting.default if value is None else value
    for name, value in config.ways.items():
        options[f"-o {name}="] = value
    return options


def _items(instrument: Instrument, task: str, view: AnyRun, measure: MeasureCard) -> RunItems:
    return read_items(instrument.task(task).headline(view), (measure.value,))


class DecidedRule:
    """Stops when a new run is better, worse or the same as a stored one, or when its items cannot decide it."""

    def __init__(
        self,
        instrument: Instrument,
        until: Until,
        measures: Mapping[str, MeasureCard],
        reference: StoredRun,
        stored: Callable[[str], StoredRun],
    ) -> None:
        self._instrument = instrument
        self._until = until
        self._measures = measures
        self._reference = reference
        self._stored = stored
        self._items = {
            task: _items(instrument, task, reference.view(task), measure) for task, measure in measures.items()
        }

    def start(self, task: str, items: int) -> StoppingRecord:
        """The rule before the first look."""
        title = lowered(self._measures[task].title)
        margin = self._margin(task)
        within = f", equivalent within {margin_text(margin, self._measures[task].unit)}" if margin else ""
        return StoppingRecord(
            f"{title} against {self._reference.subject} until decided{within}",
            self._measures[task].name,
            items,
            blocks(items),
            against=self._reference.id,
            comparisons=self._until.models,
        )

    def look(self, so_far: StoppingRecord, task: str, view: AnyRun) -> StoppingRecord:
        """The rule after its next look."""
        measure = self._measures[task]
        sides = self._items[task], _items(self._instrument, task, view, measure)
        tables = sides[0].tables[measure.value], sides[1].tables[measure.value]
        shared = shared_items(tables)
        count = so_far.blocks[len(so_far.looks)]
        if not shared.items:
            return _looked(so_far, Look(count, verdict=UNDECIDED if count == so_far.items else ""))
        places = range(len(shared.items))
        differences = shared_differences(measure, tables, shared, places)
        failed, extremes = failed_extremes(measure, sides, shared, places)
        seen = look(
            differences,
            _looked(so_far, Look(count)).times,
            better=measure.better,
            margin=self._margin(task),
            level=1 - (1 - LEVEL) / so_far.comparisons,
            extremes=extremes,
            left_open=bool(failed and not extremes),
        )
        made = Look(count, seen.difference, seen.interval.low, seen.interval.high, seen.verdict)
        if made.verdict not in ("", UNDECIDED) and count < so_far.items:
            order = {name: nth for nth, (name, _) in enumerate(self._stored(view.run).in_order(task))}
            played = sorted(places, key=lambda place: order.get(shared.items[place], 0))
            made = structs.replace(made, drift=drift(differences.values[played], made.verdict))
        return _looked(so_far, made)

    def _margin(self, task: str) -> float | None:
        if self._until.margin is None:
            return None
        return self._until.margin / scale_and_digits(self._measures[task].unit)[0]


def _looked(so_far: StoppingRecord, made: Look) -> StoppingRecord:
    """The rule after a look, and how much wider it makes the intervals."""
    now = structs.replace(so_far, looks=(*so_far.looks, made))
    return structs.replace(now, widen=widening(now.times))
