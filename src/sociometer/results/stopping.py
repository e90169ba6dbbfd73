"""The stopping rules of `run --until`: a comparison with a stored run, a width, and a race of several models."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import structs

from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError, unknown
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Case
from sociometer.core.stopping import PAUSED, RANKED, UNDECIDED, Look, StoppingRecord, Until
from sociometer.core.task import AnyRun, StoppingRule, items_digest, sample
from sociometer.core.words import counted, lowered
from sociometer.results.comparison import failed_extremes, shared_differences
from sociometer.statistics.formatting import amount, margin_text, number, scale_and_digits
from sociometer.statistics.item_values import RunItems, item_values, read_items, shared_items
from sociometer.statistics.measures import grouped_measures
from sociometer.statistics.people import interval_beside
from sociometer.statistics.sequential import WIDTH_SHARES, blocks, drift, look, widening
from sociometer.store.records import Manifest, RunStatus
from sociometer.store.stored_run import StoredRun

LEVEL = 0.95


def stopping_rule(manifest: Manifest, instrument: Instrument, stored: Callable[[str], StoredRun]) -> StoppingRule:
    """The rule of a run; a UsageError if it cannot be followed, before anything is sent."""
    until = manifest.config.until
    if until is None:
        raise ValueError("the run has no stopping rule")
    measures = {task: rule_measure(instrument, task, until) for task in manifest.config.tasks}
    if until.goal == RANKED:
        command = shlex.join(manifest.config.command) or "the call that started it"
        raise UsageError(f"a run of a ranking goes on with the others; to continue it, repeat: {command}")
    if until.half_width is not None:
        return WidthRule(instrument, until, measures)
    reference = stored(until.against)
    _refuse_others(manifest, reference)
    return DecidedRule(instrument, until, measures, reference, stored)


def rule_measure(instrument: Instrument, task: str, until: Until) -> MeasureCard:
    """The measure that decides: the named one, or the primary one; it must be a mean over items."""
    known = {card.name: card for card in instrument.card.measures_of(task) if card.value and not card.of_items}
    primary = [card for card in known.values() if card.primary]
    if until.measure and until.measure not in known:
        raise unknown("measure", until.measure, known)
    if not until.measure and not primary:
        raise UsageError(
            f"{instrument.card.name}/{task} has no primary measure that is a mean over items; give"
            " --measure, or choose another task with --task."
        )
    return known[until.measure] if until.measure else primary[0]


def _refuse_others(new: Manifest, reference: StoredRun) -> None:
    """Raise a UsageError if a new run cannot be compared with the reference item by item, to the end."""
    old = reference.manifest
    tasks = new.config.tasks
    if (name := new.config.instrument) != reference.instrument:
        raise UsageError(f"--against {reference.reference} is a run of {reference.instrument}; give a run of {name}.")
    for what, before, now in (
        ("version", old.instrument_version, new.instrument_version),
        ("repeats", [old.repeats.get(task) for task in tasks], [new.repeats.get(task) for task in tasks]),
        ("seed", old.config.seed, new.config.seed),
        ("items", [_drawn(reference, task, new) for task in tasks], [new.items_digests.get(task) for task in tasks]),
        ("settings", {**old.config.settings, **old.config.ways}, {**new.config.settings, **new.config.ways}),
        ("prompts", old.prompts_digest, new.prompts_digest),
        ("other roles", old.other_roles, new.other_roles),
    ):
        if before != now:
            raise UsageError(
                f"the run and --against {reference.reference} cannot be compared item by item: the two differ in {what}"
                f"{_mended(old, new, what)}."
            )
    if reference.status is RunStatus.PLAYING:
        raise UsageError(f"--against {reference.reference} is still being played; wait for it to end.")
    if lacking := [task for task in tasks if reference.part(task) is not None]:
        step = f"To play the rest: {old.config.resume_command(reference.reference)}"
        if old.config.until is not None:
            step = "Its rule ended it early. Run its model again without --until; stored replies are reused."
        raise UsageError(f"--against {reference.reference} has not played all items of {', '.join(lacking)}. {step}")


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


def _mended(old: Manifest, new: Manifest, what: str) -> str:
    """The options that make a new run one like the old; empty if no option does."""
    before, now = (
        {"--limit ": one.limit if what == "items" else None, "--seed ": one.seed, "--repeats ": one.repeats}
        | {f"--{name} ": value for name, value in one.settings.items()}
        | {f"-o {name}=": value for name, value in one.ways.items()}
        for one in (old.config, new.config)
    )
    were = {name: before.get(name) for name in before | now if before.get(name) != now.get(name)}
    return "".join(
        f"; leave out {name.strip(' =')}" if value is None else f"; add {name}{value}" for name, value in were.items()
    )


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
        self._instrument, self._until, self._measures = instrument, until, measures
        self._reference, self._stored = reference, stored
        self._items = {
            task: _items(instrument, task, reference.view(task), measure) for task, measure in measures.items()
        }

    def start(self, task: str, items: int) -> StoppingRecord:
        """The rule before the first look."""
        title = lowered(self._measures[task].title)
        margin = self._margin(task)
        within = f", equivalent within {margin_text(margin, self._measures[task].unit)}" if margin else ""
        words = f"{title} against {self._reference.record.called} until decided{within}"
        return StoppingRecord(
            words,
            self._measures[task].name,
            items,
            blocks(items),
            against=self._reference.id,
            comparisons=self._until.models,
        )

    def look(self, so_far: StoppingRecord, task: str, view: AnyRun) -> StoppingRecord:
        """The rule after its next look."""
        measure = self._measures[task]
        seen = _items(self._instrument, task, view, measure)
        order = [name for name, _ in self._stored(view.run).in_order(task)]
        return _compared(so_far, measure, (self._items[task], seen), order, self._margin(task))

    def _margin(self, task: str) -> float | None:
        margin = self._until.margin
        return None if margin is None else margin / scale_and_digits(self._measures[task].unit)[0]


def _compared(
    so_far: StoppingRecord,
    measure: MeasureCard,
    sides: tuple[RunItems, RunItems],
    order: Sequence[str],
    margin: float | None = None,
) -> StoppingRecord:
    """The rule after one more look at a comparison; `order` has the items in the order of play."""
    count = so_far.blocks[len(so_far.looks)]
    tables = sides[0].tables[measure.value], sides[1].tables[measure.value]
    shared = shared_items(tables)
    times = _looked(so_far, Look(count)).times
    level = 1 - (1 - LEVEL) / so_far.comparisons
    if not shared.items:
        return _looked(so_far, Look(count, verdict=UNDECIDED if count == so_far.items else ""))
    found = shared_differences(measure, tables, shared, range(len(shared.items)))
    failed, extremes = failed_extremes(measure, sides, shared, range(len(shared.items)))
    left_open = bool(failed and not extremes)
    seen = look(found, times, better=measure.better, margin=margin, level=level, extremes=extremes, left_open=left_open)
    made = Look(count, seen.difference, seen.interval.low, seen.interval.high, seen.verdict)
    if made.verdict not in ("", UNDECIDED) and count < so_far.items:
        place = {name: nth for nth, name in enumerate(order)}
        played = sorted(range(len(shared.items)), key=lambda nth: place.get(shared.items[nth], 0))
        made = structs.replace(made, drift=drift(found.values[played], made.verdict))
    return _looked(so_far, made)


def _looked(so_far: StoppingRecord, made: Look) -> StoppingRecord:
    """The rule after a look, and how much wider it makes the intervals."""
    now = structs.replace(so_far, looks=(*so_far.looks, made))
    return structs.replace(now, widen=widening(now.times))


class WidthRule:
    """Stops when the interval of a measure is narrow enough."""

    def __init__(self, instrument: Instrument, until: Until, measures: Mapping[str, MeasureCard]) -> None:
        self._instrument = instrument
        self._until = until
        self._measures = measures

    def start(self, task: str, items: int) -> StoppingRecord:
        """The rule before the first look."""
        measure = self._measures[task]
        target = "these items" if self._until.these_items else "items of this kind"
        words = f"{lowered(measure.title)} to ±{amount(self._target(measure), measure.unit)} for {target}"
        return StoppingRecord(words, measure.name, items, blocks(items, WIDTH_SHARES), spends=False)

    def look(self, so_far: StoppingRecord, task: str, view: AnyRun) -> StoppingRecord:
        """The rule after its next look."""
        measure, count = self._measures[task], so_far.blocks[len(so_far.looks)]
        made = Look(count, *self._estimate(measure, self._instrument.task(task).headline(view), count / so_far.items))
        if made.low is not None and made.high is not None:
            half = (made.high - made.low) / 2
            found = f"{number(made.value, measure.unit)} ±{amount(half, measure.unit)}"
            made = structs.replace(made, verdict=f"reached {found}" if half <= self._target(measure) else "")
        if not made.verdict and count == so_far.items:
            made = structs.replace(made, verdict="not reached with all items")
        return structs.replace(so_far, looks=(*so_far.looks, made))

    def _estimate(
        self, measure: MeasureCard, view: AnyRun, played: float
    ) -> tuple[float | None, float | None, float | None]:
        """The mean with the bounds that the summary shows: the lower one of its low case, the upper one of its high.

        Failed items leave the bounds open without both ends of the scale, and equal values do without the other items.
        """
        binary = None if measure.unit == "share" else False
        shown = grouped_measures(view, measure.value, measure.name, binary=binary)[0]
        around, usual = shown.interval, view.usual.get(measure.value)
        if shown.value is None or around is None or (shown.errors and not shown.cases):
            return shown.value, None, None
        if usual is not None:
            around = interval_beside(item_values(view, measure.value), usual)
        cases = shown.cases or (Case(shown.value, around),)
        # of exactly these items only those that are left are uncertain (Cochran 1977)
        left = 1 - played if self._until.these_items else 1.0
        ends = [one.interval.widened(one.value, left**0.5, *(measure.scale or ())) for one in cases]
        mean = (cases[0].value + cases[-1].value) / 2
        return (mean, None, None) if left and around.without_bounds else (mean, ends[0].low, ends[-1].high)

    def _target(self, measure: MeasureCard) -> float:
        return (self._until.half_width or 0.0) / scale_and_digits(measure.unit)[0]


class Race:
    """Several models on the same items: one that is worse than another leaves; ends with one, or if none can win.

    The error rate of the command is shared by all pairs of models (Bonferroni), over all looks.
    """

    def __init__(self, instrument: Instrument, task: str, until: Until) -> None:
        self._instrument = instrument
        self.task = task
        self._measure = rule_measure(instrument, task, until)
        self.pairs: dict[tuple[str, str], StoppingRecord] = {}
        self.left: dict[str, str] = {}
        """The run that each run which left is worse than."""
        self.pause_at = 0

    def start(self, task: str, items: int) -> StoppingRecord:
        """The rule of one of the runs: it waits after each block for the others."""
        words = f"{lowered(self._measure.title)} until the models are ranked"
        return StoppingRecord(words, self._measure.name, items, blocks(items))

    def look(self, so_far: StoppingRecord, task: str, view: AnyRun) -> StoppingRecord:
        """A run stops after the block of this round."""
        count = so_far.blocks[len(so_far.looks)]
        values = [
            one.value
            for one in _items(self._instrument, task, view, self._measure).tables[self._measure.value].values()
        ]
        made = Look(count, float(np.mean(values)) if values else None, verdict=PAUSED if count >= self.pause_at else "")
        return _looked(so_far, made)

    def compare(self, runs: Sequence[StoredRun]) -> None:
        """Look at all pairs of runs that are still in, after a round."""
        seen = {run.id: _items(self._instrument, self.task, run.view(self.task), self._measure) for run in runs}
        models = len(runs)
        order = [name for name, _ in max((run.in_order(self.task) for run in runs), key=len)]
        for one, two in combinations([run for run in runs if run.id not in self.left], 2):
            key = (one.id, two.id)
            kept = one.stopping(self.task)
            if kept is None:
                continue
            so_far = self.pairs.get(key) or structs.replace(
                kept, looks=(), against=one.id, comparisons=models * (models - 1) // 2
            )
            if not so_far.verdict:
                self.pairs[key] = _compared(so_far, self._measure, (seen[one.id], seen[two.id]), order)
        for (first, second), pair in self.pairs.items():
            if pair.verdict in ("better", "worse") and not {first, second} & set(self.left):
                winner, loser = (second, first) if pair.verdict == "better" else (first, second)
                self.left[loser] = winner

    def verdicts(self, runs: Sequence[StoredRun]) -> dict[str, str]:
        """Where each run ended: it left, it is first, or it could not be told from others."""
        names = {run.id: run.subject for run in runs}
        still = [run for run in names if run not in self.left]
        others = len(still) - 1
        last = f"not told from {counted(others, 'other')} that stayed" if others else "better than all others"
        drifts = {pair for pair, seen in self.pairs.items() if seen.warning}
        return {
            run: f"worse than {names[best]}"
            + " (the difference drifts along the order of play)" * bool(drifts & {(run, best), (best, run)})
            if (best := self.left.get(run))
            else last
            for run in names
        }

    @property
    def over(self) -> bool:
        """Whether nothing more can be decided among those still in."""
        open_pairs = [key for key, pair in self.pairs.items() if not set(key) & set(self.left) and not pair.verdict]
        return bool(self.pairs) and not open_pairs
