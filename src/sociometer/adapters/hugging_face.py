"""`export --as hugging-face`: a run as a dataset folder for Hugging Face.

Only items of this project are published. For official, imported or own items, the folder contains only ids and scores.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct

from sociometer.core.card import Card
from sociometer.core.errors import UsageError
from sociometer.core.lazy import require
from sociometer.core.sheets import whole_file, whole_folder
from sociometer.results import export
from sociometer.results.summaries import measure_rows
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun

_OURS = ("run", "instrument", "version", "subject", "task", "item", "cluster", "repeat", "failure")
"""The columns that do not reveal a right answer."""


class Published(Struct, frozen=True):
    """What was written, and what was left out and why."""

    files: tuple[Path, ...]
    left_out: str = ""


def publish(run: StoredRun, folder: Path, *, without_keys: bool = False) -> Published:
    """Writes Parquet files and a dataset card.

    `without_keys` leaves out everything that reveals the right answers: items, outcomes and scores of single items.
    """
    require("frame")
    if run.status is not RunStatus.FINISHED:
        raise UsageError(
            f"run {run.reference} is {run.state}; finish it first: {run.manifest.config.resume_command(run.reference)}"
        )
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"the folder '{folder}' is not empty; give a new one.")
    whose = run.manifest.whose_items
    bare = whose != "bundled"
    if bare and without_keys:
        raise UsageError(
            f"run {run.reference} is on {whose} items, which are never published; leave out --without-keys."
        )
    left_out = ""
    if bare:
        left_out = (
            f"The run is on {whose} items, which are not ours to publish: items, replies and outcomes are left out."
        )
    elif without_keys:
        left_out = "Items, outcomes and the scores of single items are left out: the items are held out."
    tables = {f"data/{task}.parquet": task for task in run.tasks}
    with whole_folder(folder) as made:
        for name, task in tables.items():
            with whole_file(made / name, within=made) as path:
                export.write_table(export.arrow_table(_rows(run, task, bare, without_keys)), path)
        with whole_file(made / "README.md", within=made) as path:
            path.write_text(_card_text(run, left_out), encoding="utf-8")
    return Published(tuple(folder / name for name in (*tables, "README.md")), left_out)


def _rows(run: StoredRun, task: str, bare: bool, without_keys: bool) -> Iterator[dict[str, Any]]:
    """One row for each episode; items, transcripts and outcomes are JSON texts."""
    encode = msgspec.json.Encoder().encode
    for row, episode in zip(export.rows(run, task), run.episodes(task), strict=True):
        kept = {name: value for name, value in row.items() if not without_keys or name in _OURS}
        if not bare:
            events = run.transcript(episode.item.id, task, episode.repeat)
            said = [event for event in events if not without_keys or hasattr(event, "reply")]
            plain = [msgspec.to_builtins(event) for event in said]
            kept["transcript"] = encode([{name: one[name] for name in one if name != "key"} for one in plain]).decode()
        if not bare and not without_keys:
            kept["item_content"] = encode(episode.item).decode()
            kept["outcome"] = None if episode.outcome is None else encode(episode.outcome).decode()
        yield kept


def _quoted(value: object) -> str:
    """A value as YAML reads it: JSON is a part of YAML."""
    return msgspec.json.encode(value).decode()


def _card_text(run: StoredRun, left_out: str) -> str:
    card = run.definition.card
    loader = PackageLoader("sociometer.adapters", "templates")
    made = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)  # noqa: S701
    made.filters["quoted"] = _quoted
    language = str(run.settings.get("language") or "")
    return made.get_template("dataset_card.md").render(
        run=run,
        card=card,
        manifest=run.manifest,
        languages=[language] if language in card.languages else card.languages,
        settings=", ".join(f"{name} {value}" for name, value in run.settings.items() if value not in (None, "", ())),
        left_out=left_out,
        tasks=[_task_text(run, task, card) for task in run.tasks],
        paper=f"Paper: {card.paper.authors} ({card.paper.year}). {card.paper.title}. {card.paper.link}".rstrip(),
    )


def _task_text(run: StoredRun, task: str, card: Card) -> str:
    summary = run.summary(task)
    table = "| measure | of | value | 95 % interval | items | errors |\n| --- | --- | --- | --- | --- | --- |"
    for row in measure_rows(summary, card, task):
        of = ", ".join(f"{name} {value}" for name, value in row.measure.group.items()) or "all"
        cells = (row.measure.name, of, row.value, row.interval)
        shown = " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
        table += f"\n| {shown} | {row.measure.items} | {row.measure.errors} |"
    return "\n\n".join([f"## {task}", table, *summary.notes])
