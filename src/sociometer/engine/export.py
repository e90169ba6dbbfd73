"""A run as a table or a file: JSON lines with everything; Arrow, CSV and Parquet with the scores."""

import csv
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.errors import UsageError
from sociometer.store.stored_run import StoredRun

_FIXED = ("run", "instrument", "subject", "task", "item", "cluster", "repeat", "failure", "unreadable")


def export_run(run: StoredRun, to: Path) -> int:
    """Writes the file whole or not at all; gives the number of rows."""
    writers = {".jsonl": _write_jsonl, ".csv": _write_csv, ".parquet": _write_parquet}
    if to.suffix not in writers:
        raise UsageError(f"cannot write '{to.name}'; the file must end in {', '.join(writers)}.")
    if not to.parent.is_dir():
        raise UsageError(f"there is no folder '{to.parent}'; make it first.")
    with whole_file(to) as partial:
        return writers[to.suffix](run, partial)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write in place of `path`, which it replaces once all of it is written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        partial = Path(name)
        try:
            yield partial
            partial.chmod(0o644)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from None


def arrow_table(run: StoredRun, task: str = "") -> Any:
    """One row an episode, as an Arrow table: item, repeat, failure, facets and scores."""
    try:
        import pyarrow
    except ImportError:
        raise UsageError("this needs the extra 'frame': pip install 'sociometer[frame]'.") from None
    rows = list(_rows(run, task))
    columns = dict.fromkeys([*_FIXED, *(name for row in rows for name in row)])
    return pyarrow.Table.from_pydict({name: [row.get(name) for row in rows] for name in columns})


def _rows(run: StoredRun, only: str = "") -> Iterator[dict[str, Any]]:
    for task in (only,) if only else run.tasks:
        for episode in run.episodes(task):
            item, score = episode.item, episode.score
            failure = episode.failure.kind if episode.failure else None
            fixed = (run.id, run.instrument, run.subject, task, item.id, item.cluster or item.id, episode.repeat,
                     failure, score.unreadable if score else None)  # fmt: skip
            row: dict[str, Any] = dict(zip(_FIXED, fixed, strict=True))
            if score:
                row.update({f"facet.{name}": value for name, value in score.facets.items()})
                row.update({f"score.{name}": value for name, value in score.values.items()})
            yield row


def _write_jsonl(run: StoredRun, path: Path) -> int:
    encode = msgspec.json.Encoder().encode
    count = 0
    with path.open("wb") as stream:
        for task in run.tasks:
            for episode in run.episodes(task):
                events = run.transcript(episode.item.id, task, episode.repeat)
                stream.write(encode({"run": run.id, "task": task, "episode": episode, "events": events}) + b"\n")
                count += 1
    return count


def _write_csv(run: StoredRun, path: Path) -> int:
    columns = dict.fromkeys([*_FIXED, *(name for row in _rows(run) for name in row)])
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(columns), restval="")
        writer.writeheader()
        for row in _rows(run):
            writer.writerow(row)
            count += 1
    return count


def _write_parquet(run: StoredRun, path: Path) -> int:
    table = arrow_table(run)
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, path)
    return len(table)
