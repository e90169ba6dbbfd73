"""`sociometer compare --profile`: one subject over all instruments."""

from collections.abc import Sequence

from sociometer.cli.chosen import chosen_runs
from sociometer.cli.output import Display
from sociometer.core.errors import unknown
from sociometer.core.measure import Table
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.results.groups import study_run
from sociometer.results.profile import ProfileLine, profile_lines
from sociometer.statistics.formatting import interval_text, number, other_stand_ins
from sociometer.store.stored_run import StoredRun

_COLUMNS = ("instrument", "task", "measure", "value", "95 % interval", "chance", "people", "items", "unreadable")


def show_profile(engine: Engine, subject: str, display: Display) -> None:
    """Print one subject's results on every instrument."""
    subjects = {record.subject for record in engine.store.runs.all() if record.subject}
    people = study_run(engine.store, subject, load)
    if people is None and subject not in subjects:
        raise unknown("subject", subject, subjects, "Run 'sociometer runs' to see the subjects.")
    runs = [people] if people else chosen_runs(engine, (), subject=subject)
    subject = people.subject if people else subject
    lines, whose = lines_over(runs), {stored.id: stored.manifest.whose_items for stored in runs}
    if display.as_json:
        display.json({"subject": subject, "profile": lines})
        return
    rows = tuple(
        (
            line.instrument,
            line.task,
            line.measure_title,
            number(line.value, line.unit, interval=line.interval),
            interval_text(line.interval, line.unit),
            number(line.chance, line.unit),
            number(line.human, line.unit),
            line.items,
            line.unreadable,
            line.errors,
            "; ".join(
                (
                    *([f"{whose[line.run]} items"] if whose[line.run] != "bundled" else []),
                    *(f"stand-in: {name}" for name in other_stand_ins(line.stand_ins)),
                    *([line.note] if line.note else []),
                )
            ),
        )
        for line in lines
    )
    table = Table("profile", f"Profile of {subject}", (*_COLUMNS, "errors", "note"), rows, details=("task",))
    display.show([table], finding=above_chance(subject, lines))


def above_chance(subject: str, lines: Sequence[ProfileLine]) -> str:
    """The number of measures on which the subject is clearly above chance."""
    known = [line for line in lines if line.chance is not None and line.interval is not None and line.value is not None]
    able = [line for line in known if line.interval is not None and not line.interval.too_few]
    above = [line for line in able if line.interval is not None and _above(line)]
    if not able:
        return f"{subject}: {len(lines)} measures, none with enough items to compare with chance."
    return f"{subject} is better than chance on {len(above)} of {len(able)} measures that have enough items."


def _above(line: ProfileLine) -> bool:
    """Whether the whole interval is on the better side of chance."""
    if line.interval is None or line.chance is None or line.interval.low is None or line.interval.high is None:
        return False
    return line.interval.high < line.chance if line.better == "lower" else line.interval.low > line.chance


def lines_over(runs: Sequence[StoredRun]) -> tuple[ProfileLine, ...]:
    """The primary measures of runs."""
    summaries = [stored.summarised(task) for stored in runs for task in stored.tasks]
    elsewhere = {stored.id for stored in runs if stored.manifest.whose_items != "bundled"}
    return profile_lines(summaries, {stored.id: stored.definition.card for stored in runs}, elsewhere)
