"""`sociometer import`, format csv: scores of any test from the columns item, subject, score and cluster."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from sociometer.adapters.scored_log import Benchmark, LoggedItem, Measured, Ranges, keep_scores, read_scale, widen
from sociometer.core.errors import DataError
from sociometer.core.sheets import stream_rows
from sociometer.engine.engine import Engine
from sociometer.store.stored_run import StoredRun

REQUIRED, OPTIONAL = ("item", "subject", "score"), ("cluster",)
MEASURE = "score"


def import_csv(
    engine: Engine,
    path: Path,
    *,
    benchmark: str = "",
    lower_is_better: bool = False,
    name: str = "",
    scale: str = "",
    origin: str = "a CSV file",
) -> list[StoredRun]:
    """One run for each subject of a table; several rows of a subject for one item count as repeats.

    `origin` says where the scores come from. Every row is checked before anything is stored.
    """
    found, clusters = Ranges(), dict[str, str]()
    rows: dict[str, list[LoggedItem]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for line, subject, row in _rows(path):
        widen(found, row.values)
        if clusters.setdefault(row.id, row.cluster) != row.cluster:
            raise DataError(
                f"item '{row.id}' is in cluster '{row.cluster}' here and in '{clusters[row.id]}' above", path, line
            )
        rows.setdefault(subject, []).append(structs.replace(row, repeat=seen[subject, row.id]))
        seen[subject, row.id] += 1
    if not rows:
        raise DataError("the file has no rows", path)
    lower = frozenset([MEASURE]) if lower_is_better else frozenset()
    test = Benchmark(benchmark or path.stem, origin, Measured(found, lower, scale=read_scale(scale)))
    names = [f"{name}-{place}" if name and len(rows) > 1 else name for place in range(len(rows))]
    return [
        keep_scores(engine, test, subject, rows[subject], file=path, name=own)
        for subject, own in zip(rows, names, strict=True)
    ]


def _rows(path: Path) -> Iterator[tuple[int, str, LoggedItem]]:
    for line, cells in stream_rows(path, REQUIRED, OPTIONAL):
        item, subject, written = (cells[column].strip() for column in REQUIRED)
        for column, cell in (("item", item), ("subject", subject)):
            if not cell:
                raise DataError(f"the {column} is empty", path, line)
        try:
            score = float(written)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise DataError(f"score '{written}' is not a number", path, line)
        yield line, subject, LoggedItem(item, {MEASURE: score}, cells.get("cluster", "").strip())
