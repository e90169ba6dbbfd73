"""Stored runs as comparisons and reports need them: labels, origin of the items, caveats, corrections."""

from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from sociometer.core.errors import UsageError
from sociometer.core.measure import Corrected
from sociometer.core.task import AnyRun
from sociometer.results.candidates import contamination_note
from sociometer.results.comparison import Comparison, Terms, compare, comparison_table, not_compared
from sociometer.results.corrected import corrected_measures, correction_note, corrections
from sociometer.results.labels import run_labels
from sociometer.store.stored_run import StoredRun


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
