"""A run in sentences, tables and JSON: its measures, what they come from, and the caveats next to them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs, to_builtins

from sociometer.core.card import Card, MeasureCard
from sociometer.core.errors import by_role, hint
from sociometer.core.language import EVERY
from sociometer.core.measure import POSITION_BIAS, Cell, Interval, Measure, Summary, Table
from sociometer.core.reply_kind import AGAIN
from sociometer.core.settings import is_paper
from sociometer.core.task import TASK
from sociometer.core.words import cell_text, counted, first_of, levels_of, listed, lowered
from sociometer.results.candidates import MANY_UNREADABLE, contamination_note, run_labels
from sociometer.results.ceiling import End, end_of
from sociometer.results.measured import room_sentences
from sociometer.statistics.formatting import (
    TINY,
    chance_of,
    common_decimals,
    difference_text,
    estimate,
    failed_range,
    group_text,
    interval_text,
    known_errors,
    number,
    other_stand_ins,
    scale_and_digits,
    stand_ins_sentence,
    subject_stand_in,
    sure_chance,
    told_chances,
    verdict_marks,
)
from sociometer.statistics.item_values import item_values
from sociometer.store.bundle import public_norms
from sociometer.store.records import RunRecord, RunStatus, changed_code
from sociometer.store.stored_run import StoredRun

_ADVICE = "Add --blind"
"""How a note of version 0.3 begins that names an option which is gone."""
_MOST_SUBJECTS_ABREAST = 4
_A_SCREENFUL = 24
_UNREAD = "unreadable replies"
_COLUMNS = ("task", "measure", "group", "value", "95 % interval", "chance", "items", _UNREAD, "errors", "note")


class MeasureRow(Struct, frozen=True):
    """One measure of a task with what its card says about it, and its texts."""

    task: str
    measure: Measure
    card: MeasureCard
    failed: int | None
    """The number of failures; None if it is unknown."""
    chance: float | None
    cluster: str
    """What the independent parts of the task are, such as stories."""

    @property
    def group(self) -> str:
        """The group that the measure is about; empty for a measure overall."""
        return group_text(self.measure.group)

    @property
    def value(self) -> str:
        return number(self.measure.value, self.card.unit, interval=self.measure.interval)

    @property
    def interval(self) -> str:
        return interval_text(self.measure.interval, self.card.unit, cluster=self.cluster)

    @property
    def estimate(self) -> str:
        """The value with its interval."""
        return estimate(self.measure.value, self.card.unit, self.measure.interval)

    @property
    def note(self) -> str:
        """Its note, and what failed episodes could change."""
        return "; ".join(text for text in (self.measure.note, self.could) if text)

    @property
    def could(self) -> str:
        """What failed episodes could change; empty without any."""
        return failed_range(self.measure.errors, self.measure.cases, self.card.unit)

    @property
    def chance_text(self) -> str | None:
        return None if self.chance is None else number(self.chance, self.card.unit)

    @property
    def errors(self) -> str:
        return cell_text(self.failed)


def measure_rows(summary: Summary, card: Card, task: str, *, elsewhere: bool = False) -> list[MeasureRow]:
    """The measures of a task; `elsewhere` says that the items are not the bundled ones."""
    cards = {known.name: known for known in card.measures_of(task)}
    found = []
    for measure, failed in zip(summary.measures, known_errors(summary.measures), strict=True):
        known = cards.get(measure.name) or MeasureCard(task, measure.name, measure.name, unit="number")
        chance = chance_of(known, card, summary, on_official=elsewhere)
        if measure.group:  # which may have other items
            chance = None if known.name in told_chances(summary) else sure_chance(known)
        found.append(MeasureRow(task, measure, known, failed, chance, card.cluster_of(task)))
    return found


def subject_of(run: StoredRun) -> str:
    """The subject of a run; an analysis has none, and is called by its tasks."""
    return run.subject or ", ".join(run.all_tasks)


def lines_of(run: StoredRun, only: str = "") -> list[MeasureRow]:
    """Every measure of a run in the order of importance: primary ones, others, then the groups of both."""
    elsewhere = run.manifest.whose_items != "bundled"
    lines = [
        line
        for task in ((only,) if only else run.all_tasks)
        for line in measure_rows(run.summary(task), run.definition.card, task, elsewhere=elsewhere)
    ]
    facets = list(dict.fromkeys(map(_facet, lines)))
    return sorted(lines, key=lambda line: (bool(_facet(line)), not line.card.primary, facets.index(_facet(line))))


def _facet(line: MeasureRow) -> tuple[str, ...]:
    """The facets that a measure is grouped by."""
    return tuple(line.measure.group)


def finding(run: StoredRun, label: str = "") -> str:
    """The primary measures of a run in a sentence; `label` tells it apart from others of its subject."""
    subject = label or subject_of(run)
    known = [line for line in lines_of(run) if line.measure.value is not None]
    overall = [line for line in known if not line.measure.group]
    primary = [line for line in overall if line.card.primary] or overall[:1]
    if not primary:
        why = next((f" ({line.note})" for line in lines_of(run) if line.note), "")
        said = f"no overall score; {_items(run, known)}" if known else f"no result{why}"
        return f"{subject} on {run.instrument}: {said}."
    told = [*primary[:3], *(line for line in overall if line.card.on_norm and not line.card.primary)]
    parts = [f"{lowered(one.card.title)} {one.estimate}" + f" ({one.could})" * bool(one.could) for one in told]
    more = f" and {len(primary) - 3} more" if len(primary) > 3 else ""
    chance = primary[0].chance_text
    notes = _unread(run, [one.measure for one in primary])
    beside = f", chance {chance}" if chance is not None and len(primary) == 1 else ""
    notes += "; played with a stand-in, so not a measurement" if other_stand_ins(run.stand_ins) else ""
    said = f"{subject} on {run.instrument}: {', '.join(parts)}{more}{beside}; {_items(run, primary)}{notes}."
    return "\n".join([said, *rule_sentences(run), *_ends(run)])


def _unread(run: StoredRun, primary: Sequence[Measure]) -> str:
    """How many of a model's answers in all tasks are unreadable, if many are; an item can have several questions."""
    few = all(one.unreadable <= MANY_UNREADABLE * one.items for one in primary)
    if few or run.manifest.config.subject.startswith("baseline/"):
        return ""
    scores = [episode.score for task in run.tasks for episode in run.view(task).episodes() if episode.score]
    if not scores:
        return ""
    unread, asked = sum(one.unreadable for one in scores), max(run.count_replies(), len(scores))
    if all(one.unreadable for one in scores):  # also replies that other runs paid for
        asked = run.count_heard() - sum(one.replies.get(AGAIN, 0) for one in scores)
        if unread >= asked:
            return "; no reply could be read, so this score says nothing about the model"
    return f", {counted(unread, 'unreadable reply', 'unreadable replies')}" * (unread > MANY_UNREADABLE * asked)


def _ends(run: StoredRun) -> list[str]:
    """What it means that scores are at the top or at chance, and which tests have room; nothing after a verdict."""
    ends = {} if run.manifest.config.subject.startswith("baseline/") else _ends_of(run)
    decided = [task for task in ends if (rule := run.stopping(task)) and rule.verdict in ("better", "worse")]
    found = {task: one for task, one in ends.items() if task not in decided}
    sure = [(end.at, f"{run.instrument}/{task}") for task, (_, end) in found.items() if end.sure and not run.people]
    return [*(said for said, _ in found.values()), *room_sentences(sure)]


def _ends_of(run: StoredRun) -> dict[str, tuple[str, End]]:
    """The tasks of a run whose primary measure is at an end of the test, each with a sentence about it."""
    lines = {line.task: line for line in lines_of(run)[::-1] if line.card.primary and not line.measure.group}
    ends = {task: end_of(line.card, run.summary(task), line.chance) for task, line in lines.items()}
    who = "people" if run.people else "models"
    return {
        task: (end.sentence(f"{run.instrument}/{task}", lines[task].card, lines[task].measure, who), end)
        for task, end in reversed(ends.items())
        if end is not None
    }


def _items(run: StoredRun, lines: Sequence[MeasureRow]) -> str:
    """The number of items of these measures, or of all their tasks if it differs."""
    tasks, counts = {line.task for line in lines}, {line.measure.items for line in lines}
    if len(tasks) == len(counts) == 1:
        (items,), (task,) = counts, tasks
        ahead = len({item for item, _ in run.finished(task)}) - items if run.part(task) else 0
        return counted(items, "item") + (f" (and {ahead} played ahead of the order, not counted)" if ahead > 0 else "")
    items = sum(len(run.counted_items(task)) for task in tasks)
    return counted(items, "item") + (f" of {len(tasks)} tasks" if len(tasks) > 1 else "")


def _decided_by(run: StoredRun, task: str) -> str:
    """The difference from another run that a rule saw last, with an interval that allows for its looks."""
    rule, until = run.stopping(task), run.manifest.config.until
    if rule is None or until is None or not rule.against or not rule.looks or (last := rule.looks[-1]).value is None:
        return ""
    unit = next((card.unit for card in run.definition.card.measures_of(task) if card.name == rule.measure), "number")
    margin = until.margin and until.margin / scale_and_digits(unit)[0]
    interval = Interval(last.low, last.high, apart=verdict_marks(margin))
    return f": {difference_text(last.value, unit, interval)}, allowing for the looks"


def rule_sentences(run: StoredRun) -> list[str]:
    """What ended the tasks of a run, in a sentence each; and on which of them nearly all picks are one letter."""
    until = run.manifest.config.until
    rules = [f"{rule}{_decided_by(run, task)}" for task in run.all_tasks if until and (rule := run.stopping(task))]
    bias = [note for task in run.all_tasks for note in run.summary(task).notes if note.startswith(POSITION_BIAS)]
    return [*(f"{rule[:1].upper()}{rule[1:]}." for rule in rules), *bias]


def first_rows(run: StoredRun) -> int:
    """How many rows of the summary are shown first: the measures overall, and one way of grouping the primary one."""
    lines = lines_of(run)
    overall = sum(not line.measure.group for line in lines)
    facet = next((_facet(line) for line in lines if line.measure.group), ())
    primary = any(line.card.primary for line in lines)
    first = sum(_facet(line) == facet and line.card.primary is primary for line in lines if line.measure.group)
    return min(overall + first, _A_SCREENFUL)


def summary_table(run: StoredRun, task: str = "", label: str = "") -> Table:
    """The measures of a run, or of one of its tasks, in the order of importance; `label` tells it apart from others."""
    lines = lines_of(run, task)
    notes = list(caveats(run))
    for name in (task,) if task else run.all_tasks:
        notes += notes_beside(run, name, run.summary(name))
    said = rule_sentences(run)
    # the finding has its rules, with the difference at their end
    kept = [note for note in dict.fromkeys(notes) if not any(one.startswith(note.rstrip(".")) for one in said)]
    table = Table(
        name=f"{run.id}/{task}" if task else run.id,
        title=f"{run.instrument} · {label or subject_of(run)}  ({run.reference})",
        columns=_COLUMNS,
        rows=tuple(_row(line) for line in lines),
        note=" ".join(kept),
    )
    several = len({line.task for line in lines}) > 1
    return table if several else table.only(range(1, len(_COLUMNS)))


def notes_beside(run: StoredRun, task: str, summary: Summary) -> list[str]:
    """The notes that belong to the numbers of a task wherever they are shown; the verdict of a check comes first."""
    kept = [note for note in summary.notes if not note.startswith(_ADVICE)]
    from sociometer.results.corrected import correction_note, corrections  # here, since it loads numpy

    if task in run.past:
        return kept
    by_people = (correction_note(one) for one in corrections(run) if one.task == task)
    first = [*filter(None, [contamination_note(run, task)]), *changed_code(run.manifest)]
    return [*first, *_repeats_notes(run, task), *kept, *by_people]


def _repeats_notes(run: StoredRun, task: str) -> list[str]:
    """For a run with repeats: the share of items that are right in all of them, and the items whose repeats differ."""
    primary, found = run.definition.card.primary_of(task), list[str]()
    if (run.manifest.config.repeats or 1) < 2 or primary is None:
        return []
    from sociometer.results.reliability import repeats_of  # here, since it takes longer than all else to load

    if (again := repeats_of(item_values(run.view(task), primary.value))) is None:
        return []
    where = f"{lowered(primary.title)} of {task}" if len(run.tasks) > 1 else lowered(primary.title)
    if again.all_right is not None:
        share = estimate(again.all_right, "share", again.all_right_interval)
        found = [f"Right in all {again.repeats} repeats (pass^{again.repeats}, {where}): {share}."]
    count = len(again.unstable)
    which = f": {first_of(again.unstable, 8)}" if count else ""
    return [*found, f"Unstable ({where}): {count} of {again.items} items change from repeat to repeat{which}."]


def _row(line: MeasureRow) -> tuple[Cell, ...]:
    measure = line.measure
    return (
        line.task,
        line.card.title,
        ", ".join(levels_of(measure.group)).replace("_", " ") or "all",
        line.value,
        line.interval or None,
        line.chance_text,
        measure.items,
        measure.unreadable,
        line.failed,
        measure.note if measure.group else line.note,
    )


def raw_measures(runs: Sequence[StoredRun]) -> Table:
    """Every measure of every task of the runs as plain numbers, for a file."""
    rows = [
        (
            run.id, run.instrument, run.version, run.subject, line.task, line.measure.name, line.card.unit,
            "; ".join(f"{facet}={level}" for facet, level in line.measure.group.items()), line.measure.value,
            *((one.low, one.high) if (one := line.measure.interval) and not one.without_bounds else (None, None)),
            line.measure.items, line.measure.unreadable, line.failed, line.note,
        )
        for run in runs
        for line in lines_of(run)
    ]  # fmt: skip
    columns = (
        "run", "instrument", "version", "subject", "task", "measure", "unit", "group", "value", "low", "high", "items",
        "unreadable", "errors", "note",
    )  # fmt: skip
    return Table("measures", "Measures", columns, tuple(rows))


def joint_table(runs: Sequence[StoredRun], most: int = _MOST_SUBJECTS_ABREAST) -> Table:
    """The main measures of several runs in one table: subjects next to each other, or below if there are more."""
    every = [(run, line) for run in runs for line in lines_of(run) if not line.measure.group]
    lines = [(run, line) for run, line in every if line.card.primary or line.card.on_norm]
    names = run_labels(runs)
    subjects = list(dict.fromkeys(names[run.id] for run in runs))
    failed = {
        (run.id, task): f"{run.subject} on {task}: {why}."
        for run in runs
        for task in run.tasks
        if (why := run.task(task).headline(run.view(task)).failed)
    }
    cells = {(run.instrument, line.task, line.card.name, names[run.id]): (run.id, line) for run, line in lines}
    goals = {(run.instrument, line.task, line.card.name): line for run, line in lines}
    if len(subjects) <= most:
        columns: tuple[str, ...] = ("instrument", "measure", "chance", *subjects, "items", _UNREAD, "errors")
        rows = [
            (goal[0], first.card.title, first.chance_text,
             *(_estimate(cells.get((*goal, who)), failed, digits) for who in subjects), *_counts(known))
            for goal, first in goals.items()
            for known in ({who: cells[*goal, who][1] for who in subjects if (*goal, who) in cells},)
            for digits in (common_decimals(first.card.unit, (one.measure.interval for one in known.values())),)
        ]  # fmt: skip
    else:
        columns = ("instrument", "measure", "subject", "value", "chance", "items", _UNREAD, "errors", "run")
        rows = [
            (goal[0], first.card.title, who, _estimate(found, failed), first.chance_text,
             *_counts({who: found[1]}), found[0])
            for goal, first in goals.items()
            for who in subjects
            if (found := cells.get((*goal, who))) is not None
        ]  # fmt: skip
    ids = ", ".join(run.reference for run in runs[:6]) + (" …" if len(runs) > 6 else "")
    items = [note for run in runs for task in run.tasks if (note := run.items_note(task))]
    said = dict.fromkeys([*(note for run in runs for note in caveats(run)), *items, *failed.values()])
    if any(line.measure.interval is not None and line.measure.interval.too_few for _, line in lines):
        said["(too few): not enough items, or people of a study, for an interval."] = None
    note = " ".join([*said, f"For the groups and notes of one run: {hint('show RUN')} ({ids})."])
    title = " · ".join(dict.fromkeys(run.instrument for run in runs))
    measured = list(dict.fromkeys(run.subject for run in runs))
    who = measured[0] if len(measured) == 1 else f"{len(measured)} subjects"
    table = Table("runs", f"{title}: {who}", columns, tuple(rows), note)
    return table if len({run.instrument for run in runs}) > 1 else table.only(range(1, len(columns)))


def _estimate(
    found: tuple[str, MeasureRow] | None, failed: Mapping[tuple[str, str], str], digits: int | None = None
) -> str | None:
    if found is None:
        return None
    run, line = found
    known = line.measure
    return "FAILED" if (run, line.task) in failed else estimate(known.value, line.card.unit, known.interval, digits)


def _counts(lines: Mapping[str, MeasureRow]) -> tuple[Cell, ...]:
    """The number of items; unreadable replies and errors, of several subjects with the name of each that has some."""
    items = {line.measure.items for line in lines.values()}
    count: Cell = items.pop() if len(items) == 1 else f"{min(items)} to {max(items)}"
    found = [(f"{who} " * (len(lines) > 1), line.measure.unreadable, line.failed or 0) for who, line in lines.items()]
    told = (", ".join(f"{one[0]}{one[place]}" for one in found if one[place]) or 0 for place in (1, 2))
    return count, *told


def other_options(record: RunRecord, card: Card, task_text: Callable[[str], str] = str) -> list[str]:
    """The tasks and settings of a run that are not the default, and its sample of the items, in words."""
    config = record.manifest.config
    usual = set(config.tasks) == set(card.default_tasks(official=config.official))
    shown = record.manifest.shown_settings(card)
    shown |= {"language": listed(card.languages)} if shown.get("language") == EVERY else {}
    other = [one.name for one in card.setting if not one.is_default(shown.get(one.name))]
    said = [
        *([] if usual else ("contamination check" if task == TASK else task_text(task) for task in config.tasks)),
        *(f"{one} {', '.join(shown.texts(one))}" for one in other),
    ]
    return [*said, f"limit {config.limit}"] if config.limit else said


def caveats(run: StoredRun) -> list[str]:
    """The caveats that must appear next to the scores of a run."""
    found = []
    if run.status is not RunStatus.FINISHED:
        why = f" ({run.why_ended})" if run.why_ended else ""
        part = (
            ""
            if run.state.endswith(("before its summary", " 100 %"))
            else ": its scores cover only the items played so far"
        )
        found.append(f"{run.reference} is {run.state}{why}{part}.")
    if is_paper(run.manifest.config.settings):
        found.append("Asked in the authors' own words (--wording paper).")
    beside = other_stand_ins(run.stand_ins)
    if beside:
        found.append(stand_ins_sentence(beside))
    if len(beside) < len(run.stand_ins):
        what = subject_stand_in(run.stand_ins)
        said = "very small demonstration model; expect scores near chance" if what == TINY else f"{what}, not a model"
        found.append(f"{run.subject} is a {said}.")
    found += changed_code(run.manifest)
    for role, count in by_role(run.failures(), run.manifest.roles).items():
        found.append(f"{counted(count, 'episode')} failed because of the {role}, not because of {run.subject}.")
    if checked := contamination_note(run):
        found.append(checked)
    return found


def run_json(run: StoredRun) -> dict[str, Any]:
    """A run with its summaries; without the settings that its items do not follow."""
    config = run.manifest.config
    followed = {name: value for name, value in config.settings.items() if name in run.settings}
    manifest = structs.replace(run.manifest, config=structs.replace(config, settings=followed))
    return {
        "run": run.id,
        "instrument": run.instrument,
        "version": run.version,
        "subject": run.subject,
        "status": run.status,
        "why_ended": run.why_ended,
        "stand_ins": run.stand_ins,
        "contamination": contamination_note(run),
        "failures": run.failures(),
        "sampling": {} if run.people else run.sent_sampling(),
        "items": "substitute" if _are_substitutes(run) else run.manifest.whose_items,
        "part_of_paper": {task: part for task in run.tasks if (part := run.part_of_paper(task))},
        "manifest": structs.replace(manifest, official_files=run.official, norms=public_norms(manifest)),
        "summaries": {task: _summary_json(run, task) for task in run.all_tasks},
    }


def _are_substitutes(run: StoredRun) -> bool:
    return bool(run.tasks) and all(":" in run.items_note(task) for task in run.tasks)


def _summary_json(run: StoredRun, task: str) -> dict[str, Any]:
    """The summary of a task with all its notes; its measures have their unit, their better end and their chance."""
    summary, elsewhere = run.summary(task), run.manifest.whose_items != "bundled"
    measures = [
        structs.asdict(one.measure)
        | {"errors": one.failed, "unit": one.card.unit, "better": one.card.better, "chance": one.chance}
        for one in measure_rows(summary, run.definition.card, task, elsewhere=elsewhere)
    ]
    return {**to_builtins(summary), "measures": measures, "notes": notes_beside(run, task, summary)}
