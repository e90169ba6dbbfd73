"""`sociometer runs`: the runs in the store."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import click
from msgspec import Struct

from sociometer.cli.options import store_option, store_path
from sociometer.cli.output import SCREEN, Display, display_options, print_json
from sociometer.core.measure import Table
from sociometer.instruments import card_of, cards
from sociometer.reporting.progress import cost_in_words
from sociometer.store.place import StorePlace
from sociometer.store.records import RunRecord, RunStatus, Spent
from sociometer.store.store import Store
from sociometer.store.stored_run import state_of, status_of, without_folders


def _show(
    watch: bool, every: float, store: StorePlace | None, everything: bool, csv: Path | None, as_json: bool
) -> None:
    path = store_path(store)
    if watch:
        from sociometer.cli.watching import watch_runs

        watch_runs(path, every, as_json)
        return
    rows = _rows(path) if path.exists() else []
    if as_json:
        print_json(
            [
                {"run": row.record.id, "name": row.record.name, "instrument": row.record.instrument,
                 "subject": row.record.subject, "status": row.status, "state": row.state,
                 "created": row.record.created, "done": row.done, "errors": row.failed, "spent": row.spent}
                for row in rows
            ]
        )  # fmt: skip
        return
    table = Table(
        "runs",
        f"Runs in {path}",
        (
            "run", "instrument", "subject", "status", "started", "episodes", "errors", "what", "cost", "requests",
            "tokens",
        ),
        tuple(
            (
                row.record.id,
                row.record.instrument,
                row.record.subject,
                row.state,
                datetime.fromtimestamp(row.record.created, UTC).strftime("%Y-%m-%d %H:%M"),
                row.done,
                row.failed,
                _what(row.record),
                cost_in_words(row.spent.cost, row.spent.priced, row.spent.unpriced) if row.spent.requests else None,
                row.spent.requests,
                row.spent.input_tokens + row.spent.output_tokens,
            )
            for row in (rows if everything or not sys.stdout.isatty() else rows[-SCREEN:])
        ),
        note="" if rows else "There are no runs yet. Start one with: sociometer run INSTRUMENT --model MODEL",
        details=("requests", "tokens"),
    )  # fmt: skip
    left = len(rows) - len(table.rows)
    notes = [f"Showing the newest {SCREEN} of {len(rows)} runs; add --all to see the rest."] if left else []
    Display(everything, csv).show([table], notes=notes, limits=[len(rows)])


def _what(record: RunRecord) -> str:
    """How a run differs from the instrument's default test: other tasks, other settings, a sample, other items."""
    config = record.manifest.config
    if record.instrument not in cards() and record.manifest.card is None:
        return "instrument not installed"
    card = card_of(record.instrument, record.manifest.card)
    said = [] if set(config.tasks) == set(card.default_tasks(official=config.official)) else list(config.tasks)
    shown = without_folders(card, config.settings)
    for setting in card.setting:
        if not setting.is_default(config.settings.get(setting.name)):
            said.append(f"{setting.name} {', '.join(shown.texts(setting.name))}")
    said += [f"limit {config.limit}"] if config.limit else []
    whose = record.manifest.whose_items
    return ", ".join([*said, *([f"{whose} items"] if whose != "bundled" else [])])


class _Row(Struct, frozen=True):
    """A run with its counts."""

    record: RunRecord
    status: RunStatus
    state: str
    done: int
    failed: int
    spent: Spent


def _rows(path: StorePlace) -> list[_Row]:
    with Store(path) as opened:
        found = []
        for record in opened.runs.all():
            totals = opened.totals(record)
            status, state = status_of(opened, record), state_of(opened, record)
            found.append(_Row(record, status, state, totals.done, totals.failed, totals.spent))
        return found


command = click.Command(
    "runs",
    callback=_show,
    params=[
        click.Option(["--watch"], is_flag=True, help="Show the runs in progress until Ctrl-C."),
        click.Option(
            ["--every"],
            type=click.FloatRange(0.2),
            default=2.0,
            show_default=True,
            help="Seconds between updates with --watch.",
        ),
        store_option(),
        *display_options(),
    ],
    help="List the runs in the store, oldest first. --watch shows rate, spending and errors of the runs in progress.",
)
