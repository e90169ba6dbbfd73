"""Whether runs of one task can be compared, which items they share, and the label of a run, the same everywhere."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import UsageError, hint
from sociometer.core.form import differs, setting_words, why_apart
from sociometer.core.settings import SettingValue
from sociometer.core.task import SERIES, TASK, AnyRun
from sociometer.core.words import grouped, in_one_line
from sociometer.statistics.formatting import common_decimals, estimate
from sociometer.statistics.item_values import ItemValue
from sociometer.store.stored_run import StoredRun

LONGEST_REMARK = 48
"""If the differing settings of a run are longer than this, its name or id replaces them in the label."""


def require_computable(runs: Sequence[StoredRun]) -> None:
    """Raise a UsageError if this version can only show all numbers of one of these runs."""
    for run in runs:
        if run.past and not run.tasks:
            why = next(iter(run.past.values()))
            raise UsageError(
                f"the numbers of run {run.reference} are stored and cannot be compared or reported: it was {why}."
                f" To see them: {hint('show', run.reference)}"
            )


def run_labels(runs: Sequence[StoredRun]) -> dict[str, str]:
    """The label of each run: its subject, with what differs if it took a task twice."""
    remarks: dict[str, str] = {}
    for same in grouped(((run.instrument, who(run)), run) for run in runs).values():
        often = Counter(task for run in same for task in run.tasks)
        facts = {run.id: _facts(run) for run in same if any(often[task] > 1 for task in run.tasks)}
        told = {run: _what_differs(mine, facts.values()) for run, mine in facts.items()}
        counts = Counter(told.values())
        named = {run.id: run.reference for run in same}
        remarks |= {
            run: named[run] if len(what) > LONGEST_REMARK or counts[what] > 1 else what for run, what in told.items()
        }
    return {run.id: who(run) + (f" ({remarks[run.id]})" if remarks.get(run.id) else "") for run in runs}


def who(run: StoredRun) -> str:
    """The subject of a run in tables; one person is never all of them."""
    alone = run.subject == "human" and not run.people
    return f"one person ({in_one_line(run.revision) or run.id})" if alone else in_one_line(run.subject)


def _what_differs(mine: Mapping[str, SettingValue], others: Collection[Mapping[str, SettingValue]]) -> str:
    """What differs between a run and the others of its subject, in words: “condition anxiety, simulator gpt-4o”."""
    names = [name for name in mine if any(other.get(name) != mine[name] for other in others)]
    words = (name if mine[name] is True else f"{name} {setting_words(mine[name])}" for name in names if mine[name])
    return in_one_line(", ".join(words))


def _facts(run: StoredRun) -> dict[str, SettingValue]:
    """What can differ between runs of a subject: settings, models in other roles, official items."""
    view = run.view(run.tasks[0])
    others = {role: name for role, name in view.roles.items() if role != SUBJECT}
    return {**run.manifest.config.settings, **view.settings, **others, "official items": run.official}


def item_sets(runs: Sequence[AnyRun]) -> dict[tuple[str, str], str]:
    """The name of the item set of each run and task: “official items”; empty where all have the bundled ones."""
    apart = {(run.card.name, run.task) for run in runs if run.whose_items in ("official", "own")}
    sets = {(one.run, one.task): (one.item_set.partition(":")[0], (one.card.name, one.task)) for one in runs}
    return {key: words * (task in apart) for key, (words, task) in sets.items()}


def on_items(runs: Sequence[AnyRun], said: str) -> list[str]:
    """Which items runs have that are not bundled ones, or which part of the paper's; of each run, if they differ."""
    told = grouped((run.part or run.item_set, run.subject) for run in runs if run.whose_items in ("official", "own"))
    return [f"{said} {items}" if len(told) == 1 else f"{', '.join(who)}: {items}" for items, who in told.items()]


def norm_scores(runs: Sequence[AnyRun]) -> dict[str, tuple[str, ...]]:
    """The scores of runs on a norm of people with their intervals, by title: those that each of the runs has."""
    found = {}
    for card in runs[0].card.measures_of(runs[0].task):
        measures = [run.summary.find(card.name) for run in runs] if card.on_norm else []
        known = [one for one in measures if one and one.value is not None]
        digits = common_decimals(card.unit, (one.interval for one in known))
        if known and len(known) == len(runs):
            found[card.title] = tuple(estimate(one.value, card.unit, one.interval, digits) for one in known)
    return found


def why_not_comparable(
    one: AnyRun, two: AnyRun, items: tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]] | None = None
) -> str:
    """Why two runs cannot be compared; empty if they can.

    `items` are the items of both for one score value; without them, only the runs as a whole are checked.
    """
    for candidate in (one, two):
        if candidate.failed:
            return f"{candidate.subject} has no number to compare: {candidate.failed}"
    differences = differs(one.form, two.form, "pair")
    if differences and differences[0].field == "norm" and bool(one.people) != bool(two.people):
        model = two if one.people else one
        if model.settings.get("norm"):
            return f"the norm of {model.subject} has another key than the study; play the model without --norm"
    if differences:
        return why_apart(differences, one.card.name)
    if items is None:
        return ""
    shared = [name for name in items[0] if name in items[1]]
    if not shared:
        return "they share no scored item"
    changed = [name for name in shared if items[0][name].content != items[1][name].content]
    if changed:
        return f"{len(changed)} items differ in content under the same id, such as {changed[0]!r}"
    return ""


def differing_settings(one: AnyRun, two: AnyRun) -> tuple[str, ...]:
    """The settings in which two runs that can be compared differ, as text.

    People are always asked in words of their own.
    """
    told_fields = ("setting ",) if one.people or two.people else ("setting ", "prompts")
    differences = [each for each in differs(one.form, two.form, "table") if each.field.startswith(told_fields)]
    told = [f"{each.field.removeprefix('setting ')}: {each.first} and {each.second}" for each in differences]
    bases = [setting_words(run.settings.get("base", False)) for run in (one, two)]
    if bases[0] != bases[1]:
        told.insert(0, f"base: {bases[0]} and {bases[1]}")
    return tuple(told)


MANY_UNREADABLE = 0.05
"""More replies than this share of the items must be named where a score is said."""
NO_SCORED_ITEM = "no scored item"
"""Why a run is left out whose episodes all failed or were not played."""


class CommonItems(Struct, frozen=True):
    """The runs to compare, by their place in the given order, and how many of the usual items the others have."""

    kept: tuple[int, ...]
    short: dict[int, int]
    items: int
    """The number of usual items: those that more than half of the runs have."""


def common_items(scored: Sequence[Collection[str]]) -> CommonItems:
    """The runs whose items are compared together; `scored` are the scored items of each run.

    An item is usual if more than half of the runs have it. A run with at most half of these items would halve
    the comparison, so it is short and left out. Two runs are always compared with each other.
    """
    everyone = tuple(range(len(scored)))
    found = [set(items) for items in scored]
    counts = Counter(item for items in found for item in items)
    usual = {item for item, count in counts.items() if 2 * count > len(found)}
    short = {place: len(found[place] & usual) for place in everyone if 2 * len(found[place] & usual) <= len(usual)}
    kept = tuple(place for place in everyone if place not in short)
    return CommonItems(kept, short, len(usual)) if len(kept) > 1 else CommonItems(everyone, {}, len(usual))


def short_run_note(label: str, has: int, items: int) -> str:
    """Why a run is left out."""
    return f"{label} has {has} of the {items} items that most runs have"


def contamination_note(run: StoredRun, task: str = "", *, where: bool = True) -> str:
    """What the newest check of this subject on these items found, and in which run; empty if there was none.

    `task` is the task whose numbers are shown (default: any of the run's).
    """
    defaults = run.definition.card.default_tasks(official=run.manifest.config.official)
    if TASK not in run.definition.tasks or not set((task,) if task else run.tasks) & set(defaults):
        return ""
    checks = [other for other in run.of_same_subject(TASK) if _same_items(run, other)]
    for check in checks:
        if found := check.summary(TASK).series.get(SERIES):
            return f"{found['note']} {run.subject} was checked in run {check.id}." if where else str(found["note"])
    return ""


def _same_items(run: StoredRun, check: StoredRun) -> bool:
    """Whether the public items of a check are those of a run."""
    here, there = run.manifest.config, check.manifest.config
    return here.official == there.official and here.settings.get("language") == there.settings.get("language")
