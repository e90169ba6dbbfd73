"""Writes a run as a file: JSON lines with everything, CSV and Parquet with the scores."""

import csv
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.errors import UsageError
from sociometer.engine.stored import Stored

_KINDS = (".jsonl", ".csv", ".parquet")


def export_run(run: Stored, to: Path) -> int:
    """Writes the file whole or not at all; gives the number of rows."""
    if to.suffix not in _KINDS:
        raise UsageError(f"cannot write '{to.name}'; the file must end in {', '.join(_KINDS)}.")
    if not to.parent.is_dir():
        raise UsageError(f"there is no folder '{to.parent}'; make it first.")
    writers = {".jsonl": _write_jsonl, ".csv": _write_csv, ".parquet": _write_parquet}
    handle, partial = tempfile.mkstemp(dir=to.parent, prefix=f".{to.name}.")
    os.close(handle)
    try:
        rows = writers[to.suffix](run, Path(partial))
        Path(partial).chmod(0o644)
        Path(partial).replace(to)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    return rows


def _write_jsonl(run: Stored, path: Path) -> int:
    encode = msgspec.json.Encoder().encode
    count = 0
    with path.open("wb") as stream:
        for task in run.tasks:
            for episode in run.view(task).episodes():
                events = run.transcript(task, episode.item.id, episode.repeat)
                stream.write(encode({"run": run.id, "task": task, "episode": episode, "events": events}) + b"\n")
                count += 1
    return count


def _flat_rows(run: Stored) -> Iterator[dict[str, Any]]:
    for task in run.tasks:
        for episode in run.view(task).episodes():
            row: dict[str, Any] = {
                "run": run.id, "instrument": run.instrument, "subject": run.subject, "task": task,
                "item": episode.item.id, "cluster": episode.item.cluster or episode.item.id, "repeat": episode.repeat,
                "failure": episode.failure.kind if episode.failure else None,
                "unreadable": episode.score.unreadable if episode.score else None,
            }  # fmt: skip
            if episode.score:
                row.update({f"facet.{name}": value for name, value in episode.score.facets.items()})
                row.update({f"score.{name}": value for name, value in episode.score.values.items()})
            yield row


def _columns(run: Stored) -> list[str]:
    columns: dict[str, None] = {}
    for row in _flat_rows(run):
        columns.update(dict.fromkeys(row))
    return list(columns)


def _write_csv(run: Stored, path: Path) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, _columns(run), restval="")
        writer.writeheader()
        for row in _flat_rows(run):
            writer.writerow(row)
            count += 1
    return count


def _write_parquet(run: Stored, path: Path) -> int:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet needs the extra 'parquet': pip install 'sociometer[parquet]'.") from None
    columns = _columns(run)
    rows = [{column: row.get(column) for column in columns} for row in _flat_rows(run)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return len(rows)
