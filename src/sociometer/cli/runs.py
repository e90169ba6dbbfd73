"""`sociometer runs`: the runs in the store."""

from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_json, print_table
from sociometer.cli.progress import cost_in_words
from sociometer.core.measure import Table
from sociometer.instruments import card_of, cards
from sociometer.item_origin import BUNDLED, whose_items
from sociometer.store.lock import is_played
from sociometer.store.records import RunRecord, RunStatus, Spent
from sociometer.store.store import Store
from sociometer.store.stored_run import without_folders


def _show(store: Path | None, as_json: bool) -> None:
    path = store_path(store)
    rows = _rows(path) if path.exists() else []
    if as_json:
        print_json(
            [
                {"run": record.id, "instrument": record.instrument, "subject": record.subject, "status": record.status,
                 "created": record.created, "done": done, "errors": failed, "spent": spent}
                for record, done, failed, spent in rows
            ]
        )  # fmt: skip
        return
    print_table(
        Table(
            "runs",
            f"Runs in {path}",
            (
                "run",
                "instrument",
                "what",
                "subject",
                "status",
                "begun",
                "episodes",
                "errors",
                "requests",
                "tokens",
                "cost",
            ),
            tuple(
                (
                    record.id,
                    record.instrument,
                    _what(record),
                    record.subject,
                    "imported" if record.manifest.imported else record.status,
                    datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%d %H:%M"),
                    done,
                    failed,
                    spent.requests,
                    spent.input_tokens + spent.output_tokens,
                    cost_in_words(spent.cost, spent.priced, spent.unpriced),
                )
                for record, done, failed, spent in rows
            ),
            note="" if rows else "No run yet. Start one with: sociometer run INSTRUMENT --model MODEL",
        )
    )


def _what(record: RunRecord) -> str:
    """What sets a run apart from the instrument's own test: other tasks, other settings, a sample, other items."""
    config = record.manifest.config
    if record.instrument not in cards():
        return "of an instrument that is not here"
    card = card_of(record.instrument)
    said = [] if set(config.tasks) == set(card.default_tasks()) else list(config.tasks)
    shown = without_folders(card, config.settings)
    for setting in card.setting:
        if not setting.is_default(config.settings.get(setting.name)):
            said.append(f"{setting.name} {', '.join(shown.texts(setting.name))}")
    said += [f"limit {config.limit}"] if config.limit else []
    whose = whose_items(record)
    return ", ".join([*said, *([f"{whose} items"] if whose != BUNDLED else [])])


def _rows(path: Path) -> list[tuple[RunRecord, int, int, Spent]]:
    rows = []
    with Store(path) as opened:
        for record in opened.runs.all():
            done, failed = opened.episodes.counts(record.id)
            if record.status is RunStatus.PLAYING and not is_played(path, record.id):
                record = msgspec.structs.replace(record, status=RunStatus.STOPPED)
            rows.append((record, done, failed, opened.journal.spent(record.id)))
    return rows


command = click.Command(
    "runs", callback=_show, params=[store_option(), json_option()], help="The runs in the store, oldest first."
)
