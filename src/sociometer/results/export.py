"""The episodes of a run as rows, as a frame and as a file: JSON lines with everything, CSV and Parquet with scores."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.card import column
from sociometer.core.language import read_texts
from sociometer.core.lazy import require
from sociometer.core.sheets import guard, whole_file
from sociometer.core.task import without_message
from sociometer.results.groups import PeopleRun
from sociometer.store.stored_run import StoredRun

COLUMNS = read_texts(Path(__file__).with_name("codebook.toml"))["export"]
"""The columns of CSV, Parquet and `frame`, and what they hold."""


def rows(run: StoredRun, task: str = "") -> Iterator[dict[str, Any]]:
    """One flat row per episode of a task (default: all): item, repeat, failure, facets and scores.

    Of a study, `person` is the participant; of a run with a stopping rule, or one that stopped early, `counted` says if
    the numbers come from the item.
    """
    for name in (task,) if task else run.all_tasks:
        early = run.manifest.config.until is not None or run.part(name) is not None
        seen = _items_that_count(run, name) if early else set()
        for episode in run.episodes(name):
            item, score, failure = episode.item, episode.score, episode.failure
            row: dict[str, Any] = {
                "run": run.id,
                "instrument": run.instrument,
                "version": run.version,
                "subject": run.subject,
                "task": name,
                "item": item.id,
                "cluster": item.cluster or item.id,
                "repeat": episode.repeat,
                "failure": failure.kind if failure else None,
                "unreadable": score.unreadable if score else None,
            }
            if isinstance(run, PeopleRun):
                row["person"] = run.person_of(episode)
            if early:
                row["counted"] = item.id in seen
            if score:
                row.update({column("facet", name): value for name, value in score.facets.items()})
                row.update({column("score", name): value for name, value in score.values.items()})
            yield row


def _items_that_count(run: StoredRun, task: str) -> set[str]:
    if task in run.past:
        return run.counted_items(task)
    return {episode.item.id for episode in run.view(task).episodes()}


def frame_of(runs: Sequence[StoredRun], task: str = "") -> Any:
    """One row for each episode of the runs, as a pandas frame."""
    require("frame", "pandas")
    return arrow_table(row for run in runs for row in rows(run, task)).to_pandas()


def arrow_table(records: Iterable[dict[str, Any]]) -> Any:
    """Rows as an Arrow table, with the columns of all of them."""
    found = list(records)
    columns = dict.fromkeys(name for row in found for name in row)
    return require("frame").table({name: [row.get(name) for row in found] for name in columns})


def export_runs(runs: Sequence[StoredRun], to: Path) -> int:
    """Write the file completely or not at all, and return the number of rows.

    If episodes of a run cannot be read, the file has the others, and a StoreError says so.
    """
    writers = {".jsonl": _write_jsonl, ".csv": _write_csv, ".parquet": _write_parquet}
    # Before the rows: a run that is played stores more of them meanwhile.
    stored = [run.stored_episodes() for run in runs]
    with whole_file(to, private=any(of_people(run) for run in runs)) as partial:
        written = writers[to.suffix](runs, partial)
    for run, expected in zip(runs, stored, strict=True):
        run.require_whole(written[run.id], expected)
    return written.total()


def of_people(run: StoredRun) -> bool:
    """Whether a run has people's own answers, so that only its owner may read a file of it."""
    return any(one.identity.wire == "human" for one in run.manifest.roles.values())


def _write_jsonl(runs: Sequence[StoredRun], path: Path) -> Counter[str]:
    encode = msgspec.json.Encoder().encode
    written: Counter[str] = Counter()
    with path.open("wb") as stream:
        for run in runs:
            for task in run.all_tasks:
                for episode in run.episodes(task):
                    events = run.transcript(episode, task)
                    shown = without_message(episode)
                    line = {"run": run.id, "version": run.version, "task": task, "episode": shown, "events": events}
                    stream.write(encode(line) + b"\n")
                    written[run.id] += 1
    return written


def _write_csv(runs: Sequence[StoredRun], path: Path) -> Counter[str]:
    columns = dict.fromkeys(name for run in runs for row in rows(run) for name in row)
    written: Counter[str] = Counter()
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(map(guard, columns))
        for row in (row for run in runs for row in rows(run)):
            writer.writerow([guard(row.get(name)) for name in columns])
            written[row["run"]] += 1
    return written


def _write_parquet(runs: Sequence[StoredRun], path: Path) -> Counter[str]:
    found = [row for run in runs for row in rows(run)]
    require("frame", "pyarrow.parquet").write_table(arrow_table(found), path)
    return Counter(row["run"] for row in found)
