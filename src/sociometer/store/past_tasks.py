"""Tasks that the installed version of an instrument does not have: their runs can be read, not played or scored."""

from collections.abc import Collection
from copy import copy
from typing import Any, NoReturn

from msgspec import structs

from sociometer.core.card import MeasureCard, TaskCard
from sociometer.core.errors import StoreError, UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.core.task import Item, Task
from sociometer.store.records import RunRecord
from sociometer.store.store import Store


def with_past_tasks(instrument: Instrument, store: Store, record: RunRecord) -> Instrument:
    """The instrument with what can be known of the run's tasks that it does not have: numbers without a scale."""
    past = [name for name in record.manifest.config.tasks if name not in instrument.tasks]
    if not past:
        return instrument
    made, card = copy(instrument), instrument.card
    made.tasks = instrument.tasks | {name: _past_task(name) for name in past}
    measures = [measure for name in past for measure in _measures(store, record.id, name)]
    tasks = (TaskCard(name, name, default=False) for name in past)
    made.card = structs.replace(card, task=(*card.task, *tasks), measure=(*card.measure, *measures))
    return made


def past_measures(task: str, summary: Summary, scored: Collection[str] = ()) -> tuple[MeasureCard, ...]:
    """The overall measures of a stored summary; the first is the primary one, those that are `scored` are means."""
    names = list(dict.fromkeys(measure.name for measure in summary.measures if not measure.group))
    return tuple(
        MeasureCard(
            task,
            name,
            name.replace("_", " ").capitalize(),
            unit="number",
            low=None,
            high=None,
            better="neither",
            primary=name == names[0],
            value=name if name in scored else "",
        )
        for name in names
    )


def _measures(store: Store, run: str, task: str) -> tuple[MeasureCard, ...]:
    try:
        summary = store.runs.summary(run, task) or Summary(())
        scored = next((one.score.values for one in store.episodes.scored(run, task) if one.score), {})
    except StoreError:  # 'check store' names the damage
        return ()
    return past_measures(task, summary, scored)


def _past_task(name: str) -> Task[Any, Any]:
    def refuse(*_: object) -> NoReturn:
        raise UsageError(f"the task '{name}' can be played and scored only with a version that has it.")

    outcome: Any = dict
    return Task(name, Item, outcome, play=refuse, score=refuse, summarise=lambda run: Summary(()), past=True)
