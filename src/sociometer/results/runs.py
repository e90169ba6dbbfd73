"""Stored runs as comparisons and reports need them: labels, origin of the items, caveats, corrections."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import UsageError
from sociometer.core.measure import Corrected
from sociometer.core.settings import SettingValue
from sociometer.core.task import AnyRun
from sociometer.results.candidates import contamination_note
from sociometer.results.comparison import Comparison, Terms, compare, comparison_table, not_compared
from sociometer.results.corrected import corrected_measures, correction_note, corrections
from sociometer.store.stored_run import StoredRun

LONGEST_REMARK = 48
"""If the differing settings of a run are longer than this, its id replaces them in the label."""


def run_labels(runs: Sequence[StoredRun]) -> dict[str, str]:
    """The label of each run: its subject, with what differs between runs if the subject took a task more than once."""
    groups: dict[tuple[str, str], list[StoredRun]] = {}
    for run in runs:
        groups.setdefault((run.instrument, who(run)), []).append(run)
    remarks: dict[str, str] = {}
    for same in groups.values():
        often = Counter(task for run in same for task in run.tasks)
        facts = {run.id: _facts(run) for run in same if any(often[task] > 1 for task in run.tasks)}
        told = {run: _what_differs(mine, facts.values()) for run, mine in facts.items()}
        counts = Counter(told.values())
        remarks |= {
            run: run if len(remark) > LONGEST_REMARK or counts[remark] > 1 else remark for run, remark in told.items()
        }
    return {run.id: who(run) + (f" ({remarks[run.id]})" if remarks.get(run.id) else "") for run in runs}


def who(run: StoredRun) -> str:
    """The subject of a run in tables; one person is never all of them."""
    alone = run.subject == "human" and not run.people
    return f"one person ({printable(run.revision) or run.id})" if alone else printable(run.subject)


def _what_differs(mine: Mapping[str, SettingValue], others: Collection[Mapping[str, SettingValue]]) -> str:
    """What differs between a run and the others of its subject, in words: “condition anxiety, simulator gpt-4o”."""
    names = [name for name in mine if any(other.get(name) != mine[name] for other in others)]
    words = (name if mine[name] is True else f"{name} {setting_words(mine[name])}" for name in names if mine[name])
    return printable(", ".join(words))


def _facts(run: StoredRun) -> dict[str, SettingValue]:
    """What can differ between runs of a subject: settings, models in other roles, official items."""
    view = run.view(run.tasks[0])
    others = {role: name for role, name in view.roles.items() if role != SUBJECT}
    return {**view.settings, **others, "official items": run.official}


def printable(name: str) -> str:
    """A name as one line of text: unprintable characters (line separators, controls) become spaces."""
    return "".join(character if character.isprintable() else " " for character in name)


def setting_words(value: SettingValue) -> str:
    """The value of a setting as text."""
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def candidates(runs: Sequence[StoredRun], task: str = "") -> list[AnyRun]:
    """The part of every measured task of every run that can be compared."""
    names = run_labels(runs)
    found: list[AnyRun] = []
    for stored in runs:
        for name in stored.tasks:
            if (not task or name == task) and stored.definition.card.measures_of(name):
                made = stored.task(name).headline(stored.view(name))
                stopping, part = stored.stopping(name), stored.part(name)
                counted = str(stopping) if stopping else f"the first {part[0]} of {part[1]} items" if part else ""
                notes = (made.note, counted, contamination_note(stored, name).removesuffix("."))
                found.append(
                    structs.replace(
                        made,
                        subject=names[stored.id],
                        note="; ".join(note for note in notes if note),
                        corrected=corrected_measures(stored, name),
                    )
                )
    if task and not found:
        raise UsageError(
            f"none of the runs has a task '{task}' with measures; 'sociometer list INSTRUMENT' lists the tasks."
        )
    return found


class CorrectedTask(Struct, frozen=True):
    """The measures of a task that people's labels correct, and a sentence about each."""

    measures: dict[str, Corrected]
    notes: list[str]


def corrected_tasks(stored: StoredRun) -> dict[str, CorrectedTask]:
    """What people's labels correct, by task."""
    found: dict[str, CorrectedTask] = {}
    for one in corrections(stored):
        if one.corrected is not None:
            task = found.setdefault(one.task, CorrectedTask({}, []))
            task.measures[one.measure.name] = one.corrected
            task.notes.append(correction_note(one))
    return found


class Comparisons(Struct, frozen=True):
    """Comparisons with the first run, task by task; `lacking` has the runs that lack a task."""

    comparisons: tuple[Comparison, ...]
    lacking: tuple[Comparison, ...] = ()

    @property
    def verdict(self) -> str:
        """The result in words: one sentence for each comparison."""
        return "\n".join(comparison.sentence for comparison in self.comparisons)

    def __str__(self) -> str:
        return self.verdict

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def _repr_html_(self) -> str:
        """How a notebook shows the comparisons: the verdicts and the numbers behind them."""
        tables = [structs.replace(comparison_table(one), note=one.sentence) for one in self.comparisons]
        return "".join(table._repr_html_() for table in tables)


def compare_runs(runs: Sequence[StoredRun], task: str = "", terms: Terms | None = None) -> Comparisons:
    """Every run compared with the first, item by item; of one task, or of all that they share."""
    if len(runs) < 2:
        raise UsageError(
            "compare needs at least two runs: sociometer compare RUN RUN. 'sociometer runs' lists the stored runs."
        )
    known = candidates(runs, task)
    return Comparisons(compare(known, terms), not_compared(known))
