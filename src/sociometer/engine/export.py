"""Writes a run as a file: JSON lines with everything, CSV and Parquet with the scores."""

import csv
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sociometer.core.errors import UsageError
from sociometer.core.sheets import guard
from sociometer.store.stored_run import StoredRun


def export_run(run: StoredRun, to: Path) -> int:
    """Write the file completely or not at all, and return the number of rows.

    If episodes of the run cannot be read, the file has the others, and a StoreError says so.
    """
    writers = {".jsonl": _write_jsonl, ".csv": _write_csv, ".parquet": _write_parquet}
    if to.suffix not in writers:
        raise UsageError(f"cannot write '{to.name}'; the file must end in {', '.join(writers)} or .eval.")
    with whole_file(to, private=of_people(run)) as partial:
        rows = writers[to.suffix](run, partial)
    run.require_whole(rows)
    return rows


def of_people(run: StoredRun) -> bool:
    """Whether a run has people's own answers, so that only its owner may read a file of it."""
    return run.manifest.config.subject == "human"


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary file that replaces `path` when it is complete; if it is `private`, only its owner may read it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        partial = Path(name)
        try:
            yield partial
            partial.chmod(0o600 if private else 0o644)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from None


def _write_jsonl(run: StoredRun, path: Path) -> int:
    encode = msgspec.json.Encoder().encode
    count = 0
    with path.open("wb") as stream:
        for task in run.tasks:
            for episode in run.episodes(task):
                events = run.transcript(episode.item.id, task, episode.repeat)
                stream.write(
                    encode({"run": run.id, "version": run.version, "task": task, "episode": episode, "events": events})
                    + b"\n"
                )
                count += 1
    return count


def _write_csv(run: StoredRun, path: Path) -> int:
    columns = dict.fromkeys(name for row in run.rows() for name in row)
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(map(guard, columns))
        for row in run.rows():
            writer.writerow([guard(row.get(name)) for name in columns])
            count += 1
    return count


def _write_parquet(run: StoredRun, path: Path) -> int:
    table = run.table()
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, path)
    return len(table)
