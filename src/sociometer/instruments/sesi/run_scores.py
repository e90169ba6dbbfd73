"""One social score for each stored run, all on the same items: which runs are accepted, and the notes to show."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from sociometer.core.command import Run
from sociometer.core.errors import UsageError
from sociometer.core.task import RunView
from sociometer.instruments.sesi.caveats import stand_in_notes, view_of_test
from sociometer.instruments.sesi.conditions import CONTROL
from sociometer.statistics.item_values import ItemValue, SharedItems, item_values, shared_items
from sociometer.statistics.reliability import cronbach_alpha


class RunScores(Struct, frozen=True):
    """Accuracies in percent by model, all on the same items, with their reliability if it is known."""

    accuracies: dict[str, float]
    reliability: float | None = None
    notes: tuple[str, ...] = ()


class _Member(Struct, frozen=True):
    model: str
    run: Run
    view: RunView[Any, Any]
    items: dict[str, ItemValue]


def run_scores(runs: Sequence[Run], renamed: Mapping[str, str]) -> RunScores:
    """The accuracies of the runs on their shared items; a run that does not measure its model raises an error."""
    members = [_member(run, renamed) for run in runs]
    empty = [member for member in members if not member.items]
    members = [member for member in members if member.items]
    notes = [f"run {member.run.id} of {member.model} has no scored answer and is left out" for member in empty]
    if not members:
        return RunScores({}, notes=tuple(notes))
    _refuse_twins(members)
    shared = shared_items([member.items for member in members])
    _refuse_other_items(members, shared)
    means = 100 * shared.values.mean(axis=0)
    notes += [*_said_of_items(members, shared), *_caveats(members)]
    accuracies = {member.model: float(mean) for member, mean in zip(members, means, strict=True)}
    return RunScores(accuracies, _reliability(shared), tuple(notes))


def _member(run: Run, renamed: Mapping[str, str]) -> _Member:
    view = view_of_test(run)
    condition = view.settings.text("condition")
    if condition != CONTROL:
        raise UsageError(
            f"run {run.id} was played under the condition '{condition}' and does not measure {run.subject} "
            f"itself; give a run under '{CONTROL}'."
        )
    return _Member(renamed.get(run.subject, run.subject), run, view, item_values(view, "correct"))


def _refuse_twins(members: Sequence[_Member]) -> None:
    seen: dict[str, str] = {}
    for member in members:
        if member.model in seen:
            raise UsageError(
                f"runs {seen[member.model]} and {member.run.id} are both of '{member.model}', but a model has "
                "one score; give one of them."
            )
        seen[member.model] = member.run.id


def _refuse_other_items(members: Sequence[_Member], shared: SharedItems) -> None:
    counts = ", ".join(f"{member.run.id} ({len(member.items)})" for member in members)
    if not shared.items:
        raise UsageError(f"the runs share no item ({counts}): give runs on the same items, official or bundled.")
    first = members[0]
    for member in members[1:]:
        for item in shared.items:
            if member.items[item].content != first.items[item].content:
                raise UsageError(
                    f"item '{item}' is not the same in runs {first.run.id} and {member.run.id}: "
                    "give runs on the same items."
                )


def _said_of_items(members: Sequence[_Member], shared: SharedItems) -> list[str]:
    more = [f"{member.model} has {left} more" for member, left in zip(members, shared.left_out, strict=True) if left]
    said = f"SESI is the accuracy on the {len(shared.items)} items that all {len(members)} runs have"
    return [f"{said}; left out: {', '.join(more)}." if more else f"{said}."]


def _caveats(members: Sequence[_Member]) -> list[str]:
    """The runs' own notes, once each and with the model's name unless all have them, and the stand-ins."""
    whose: dict[str, list[str]] = {}
    for member in members:
        for note in member.run.summary("questions").notes:
            whose.setdefault(note, []).append(member.model)
    said = [note if len(models) == len(members) else f"{', '.join(models)}: {note}" for note, models in whose.items()]
    orders = {member.model: member.view.settings.whole("orders") for member in members}
    if len(set(orders.values())) > 1:
        asked = ", ".join(f"{model} in {count}" for model, count in orders.items())
        said.append(f"The runs asked each item in different numbers of option orders: {asked}.")
    return said + stand_in_notes(member.view for member in members)


def _reliability(shared: SharedItems) -> float | None:
    """Cronbach's alpha over the shared items, if there are enough models."""
    if len(shared.items) < 2:
        return None
    found = cronbach_alpha(shared.values.T)
    return found.value if found.value is not None and 0 < found.value <= 1 else None
