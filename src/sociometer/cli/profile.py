"""`sociometer compare --profile`: one subject over all instruments; one overall number only when asked for."""

from collections.abc import Sequence

from sociometer.cli.chosen import chosen_runs
from sociometer.cli.output import Display, print_text
from sociometer.core.errors import unknown
from sociometer.core.measure import Table
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.results.groups import study_run
from sociometer.results.profile import Overall, ProfileLine, overall, profile_lines
from sociometer.statistics.formatting import interval_text, number, other_stand_ins
from sociometer.store.stored_run import StoredRun

_COLUMNS = ("instrument", "task", "measure", "value", "95 % interval", "chance", "people", "items", "unreadable")


def show_profile(engine: Engine, subject: str, as_one: bool, display: Display) -> None:
    """Print one subject's results on every instrument; with `as_one`, an overall score and whether it is justified."""
    subjects = {record.subject for record in engine.store.runs.all() if record.subject}
    people = study_run(engine.store, subject, load)
    if people is None and subject not in subjects:
        raise unknown("subject", subject, subjects, "Run 'sociometer runs' to see the subjects.")
    runs = [people] if people else chosen_runs(engine, (), subject=subject)
    subject = people.subject if people else subject
    lines, whose = _lines(runs), {stored.id: stored.manifest.whose_items for stored in runs}
    one = overall(_everyone(engine), subject) if as_one else None
    if display.as_json:
        display.json({"subject": subject, "profile": lines, "overall": one})
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
    display.show([table], finding=_finding(subject, lines))
    if one is not None:
        _print_overall(one, subject)


def _finding(subject: str, lines: Sequence[ProfileLine]) -> str:
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


def _lines(runs: Sequence[StoredRun]) -> tuple[ProfileLine, ...]:
    summaries = [stored.summarised(task) for stored in runs for task in stored.tasks]
    elsewhere = {stored.id for stored in runs if stored.manifest.whose_items != "bundled"}
    return profile_lines(summaries, {stored.id: stored.definition.card for stored in runs}, elsewhere)


def _everyone(engine: Engine) -> dict[str, dict[str, float]]:
    """The positions of every subject, on runs of one kind of items for each instrument."""
    by_subject: dict[str, list[StoredRun]] = {}
    for stored in chosen_runs(engine, (), one_kind=True, told=False):
        by_subject.setdefault(stored.subject, []).append(stored)
    return {name: _positions(_lines(by_subject[name])) for name in sorted(by_subject)}


def _positions(lines: tuple[ProfileLine, ...]) -> dict[str, float]:
    return {
        f"{line.instrument}/{line.task}/{line.measure}": line.position for line in lines if line.position is not None
    }


def _print_overall(found: Overall, subject: str) -> None:
    if found.scores and subject in found.subjects:
        score = found.scores[found.subjects.index(subject)]
        count = len(found.measures)
        print_text(
            f"Overall score: {100 * score:.0f} % over {count} measure{'s' if count != 1 else ''} (mean position from"
            " chance to people, or to the best possible score)."
        )
    if found.left_out:
        print_text(f"Not compared, because some of these measures are missing: {', '.join(found.left_out)}.")
    print_text(
        ("An overall score is justified: " if found.justified else "An overall score is NOT justified: ")
        + found.reason
        + "."
    )
