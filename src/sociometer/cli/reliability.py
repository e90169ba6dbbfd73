"""`sociometer compare --reliability`: computes the reliability of an instrument's scores from stored runs."""

from collections.abc import Iterator

from sociometer.cli.output import Display
from sociometer.core.measure import Table
from sociometer.core.words import first_of
from sociometer.reporting.progress import working
from sociometer.results.reliability import TaskReliability, task_reliability
from sociometer.results.runs import candidates
from sociometer.statistics.formatting import estimate, interval_text, number
from sociometer.store.stored_run import StoredRun

_TASKS_IN_FULL = 3


def show_reliability(
    chosen: dict[str, list[StoredRun]], *, task: str, measure: str, include_short: bool, display: Display
) -> None:
    """Print alpha, split halves and repeatability of the scores of runs."""
    found = []
    for test, mine in chosen.items():
        known = candidates(mine, task)
        tasks = [
            name
            for name in dict.fromkeys(candidate.task for candidate in known)
            if any(entry.value for entry in mine[0].definition.card.measures_of(name))
        ]
        with working(f"reliability of {test}"):
            found += [task_reliability([c for c in known if c.task == name], measure, include_short) for name in tasks]
    if display.as_json:
        display.json(found)
        return
    tables = [table for entry in found for table in _tables(entry)]
    several = len(found) > _TASKS_IN_FULL
    display.show(
        [] if several else tables,
        finding="\n".join(_sentence(entry) for entry in found),
        more=tables if several else (),
        files=[_raw_items(found), *(_coefficients(entry) for entry in found)],
    )


def _sentence(found: TaskReliability) -> str:
    """The coefficients of a test in a sentence."""
    where = f"{found.instrument}/{found.task}, {found.measure}"
    alpha = next((c for c in found.coefficients if c.coefficient == "alpha"), None)
    if alpha is None or alpha.value is None:
        why = alpha.note if alpha else "the runs share fewer than two scored items"
        return f"{where}: reliability cannot be computed: {why}."
    shown = estimate(alpha.value, "number", alpha.interval)
    return f"{where}: Cronbach's alpha {shown} over {alpha.subjects} subjects and {alpha.items} items."


def _coefficients(found: TaskReliability) -> Table:
    where = f"{found.instrument}/{found.task}, {found.measure}"
    rows = tuple(
        (
            c.coefficient,
            number(c.value, "number", interval=c.interval),
            interval_text(c.interval, "number"),
            c.subjects,
            c.items,
            c.note,
        )
        for c in found.coefficients
    )
    columns = ("coefficient", "value", "95 % interval", "subjects", "items", "note")
    return Table(f"reliability-{found.task}", f"Reliability of {where}", columns, rows, "; ".join(found.notes))


def _raw_items(found: list[TaskReliability]) -> Table:
    columns = ("instrument", "task", "measure", "item", "difficulty", "discrimination", "concerns")
    rows = tuple(
        (one.instrument, one.task, one.measure, i.item, i.difficulty, i.discrimination, "; ".join(i.concerns))
        for one in found
        for i in one.items
    )
    return Table("items", "Items", columns, rows)


def _tables(found: TaskReliability) -> Iterator[Table]:
    yield _coefficients(found)
    where = f"{found.instrument}/{found.task}, {found.measure}"
    if found.repeats:
        again = tuple(
            (who, estimate(r.all_right, "share", r.all_right_interval) if r.all_right is not None else None,
             len(r.unstable), r.icc, r.equal_pairs, r.within_deviation, r.items, r.repeats)
            for who, r in found.repeats.items()
        )  # fmt: skip
        heads = (
            "subject", "right in all", "unstable items", "ICC", "equal pairs", "spread within an item", "items",
            "repeats",
        )  # fmt: skip
        same = [who for who, r in found.repeats.items() if r.icc is None]
        said = [f"No ICC, because every repeat of every item gave the same value: {', '.join(same)}."] if same else []
        said += [f"Unstable for {who}: {first_of(r.unstable, 12)}." for who, r in found.repeats.items() if r.unstable]
        note = " ".join(said)
        yield Table("repeatability", f"Repeatability of {where}", heads, again, note, units={"equal pairs": "share"})
    if found.look_at:
        flagged = tuple((i.item, i.difficulty, i.discrimination, "; ".join(i.concerns)) for i in found.look_at)
        names = ("item", "difficulty", "discrimination", "why")
        note = (
            f"{len(found.look_at)} items to look at, of {len(found.items)} in all; "
            "--to FILE.csv gives the difficulty and discrimination of every item."
        )
        yield Table("items", f"Items to look at in {where}", names, flagged, note)
