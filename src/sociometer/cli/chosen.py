"""Which stored runs a command is about, and how analysis and report see them."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import click

from sociometer.analysis.candidates import Candidate
from sociometer.analysis.compare import Terms
from sociometer.core.errors import UsageError
from sociometer.core.task import Instrument
from sociometer.engine.engine import Engine
from sociometer.engine.stored import Stored
from sociometer.instruments import card_of, load
from sociometer.report.material import GivenRun
from sociometer.store.records import RunRecord

EVERY = "all"


def runs_argument(required: bool = False) -> click.Argument:
    """RUN…, ids or beginnings of ids, `last`, or `all`."""
    return click.Argument(["runs"], nargs=-1, required=required, metavar="RUN…")


def chosen_runs(engine: Engine, references: Sequence[str], *, instrument: str = "", subject: str = "") -> list[Stored]:
    """The runs that were named; with none or `all`, the latest of every subject on every instrument."""
    if references and EVERY not in references:
        chosen = list({stored.id: stored for stored in map(engine.stored, references)}.values())
        wrong = [stored for stored in chosen if instrument and stored.instrument != instrument]
        if wrong:
            raise UsageError(f"run '{wrong[0].id}' is of {wrong[0].instrument}, not of {instrument}.")
        return chosen
    latest: dict[tuple[str, str], str] = {}
    for record in engine.store.runs.all():
        wanted = (not instrument or record.instrument == instrument) and (not subject or record.subject == subject)
        if wanted and _stands_for_its_subject(record):
            latest[record.instrument, record.subject] = record.id
    if not latest:
        what = f" of {instrument}" if instrument else ""
        who = f" with subject '{subject}'" if subject else ""
        raise UsageError(f"the store has no run{what}{who}. Start one with: sociometer run INSTRUMENT --model MODEL")
    return [engine.stored(reference) for reference in latest.values()]


def _stands_for_its_subject(record: RunRecord) -> bool:
    """Whether a run is of the instrument's own test, and not a step of a probe, an analysis or a construction."""
    manifest, card = record.manifest, card_of(record.instrument)
    if not set(manifest.tasks) & set(card.default_tasks()):
        return False
    by_instrument = manifest.command[1:2] and manifest.command[1] in {command.verb for command in card.command}
    return manifest.imported or not (manifest.given_items or by_instrument)


def labels(runs: Iterable[Stored]) -> dict[str, str]:
    """What each run is called: its subject, with its id where a subject stands twice on one instrument."""
    known = list(runs)
    pairs = [(stored.instrument, stored.subject) for stored in known]
    return {
        stored.id: stored.subject
        if pairs.count((stored.instrument, stored.subject)) == 1
        else f"{stored.subject} ({stored.id})"
        for stored in known
    }


def candidates(runs: Sequence[Stored], task: str = "") -> list[Candidate]:
    """Every measured task of every run, as comparisons see it."""
    names = labels(runs)
    found = []
    for stored in runs:
        card = load(stored.instrument).card
        for name in stored.tasks:
            if (not task or name == task) and card.measures_of(name):
                version = stored.record.manifest.instrument_version
                found.append(Candidate(names[stored.id], card, name, stored.view(name), version))
    if task and not found:
        raise UsageError(f"none of the runs has a task '{task}' with measures.")
    return found


def given_runs(runs: Sequence[Stored]) -> tuple[list[GivenRun], dict[str, Instrument]]:
    """The runs and their instruments, as a report takes them."""
    given = [
        GivenRun(
            stored,
            datetime.fromtimestamp(stored.record.created, UTC).strftime("%Y-%m-%d %H:%M UTC"),
            stored.record.manifest.instrument_version,
            "finished" if stored.record.manifest.imported else stored.record.status,
            stored.record.manifest.official or stored.record.manifest.imported,
        )
        for stored in runs
    ]
    return given, {stored.instrument: load(stored.instrument) for stored in runs}


def terms_options() -> list[click.Parameter]:
    """What a comparison may be told: margin, power, level."""
    margin = "The difference that would matter, in the measure's own scale (0.03 is three points of a share)."
    return [
        click.Option(["--margin"], type=float, default=None, help=margin),
        click.Option(
            ["--power"], type=float, default=0.8, show_default=True, help="Power of the stated detectability."
        ),
        click.Option(["--level"], type=float, default=0.95, show_default=True, help="Level of intervals and verdicts."),
    ]


def terms(margin: float | None, power: float, level: float) -> Terms:
    """The terms of a comparison from the options."""
    return Terms(level, power, margin)
