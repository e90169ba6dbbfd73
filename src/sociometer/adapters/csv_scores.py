"""`sociometer import`, format csv: scores of any test from the columns item, subject, score and cluster."""

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from sociometer.adapters.scored_log import Benchmark, LoggedItem, Measured, Range, ScoreImport, read_scale
from sociometer.core.errors import DataError
from sociometer.core.sheets import stream_rows
from sociometer.engine.engine import Engine
from sociometer.store.stored_run import StoredRun

REQUIRED, OPTIONAL = ("item", "subject", "score"), ("cluster",)
MEASURE = "score"


class _Row(Struct, frozen=True):
    item: str
    subject: str
    score: float
    cluster: str


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
    found, subjects = Range(), dict[str, None]()
    clusters: dict[str, str] = {}
    for line, row in _rows(path):
        found.add(row.score)
        subjects.setdefault(row.subject)
        if clusters.setdefault(row.item, row.cluster) != row.cluster:
            raise DataError(
                f"item '{row.item}' is in cluster '{row.cluster}' here and in '{clusters[row.item]}' above", path, line
            )
    if not subjects:
        raise DataError("the file has no rows", path)
    lower = frozenset([MEASURE]) if lower_is_better else frozenset()
    test = Benchmark(benchmark or path.stem, origin, Measured({MEASURE: found}, lower, scale=read_scale(scale)))
    names = {
        subject: f"{name}-{place}" if name and len(subjects) > 1 else name for place, subject in enumerate(subjects)
    }
    imports = {subject: ScoreImport(engine, test, subject, file=path, name=names[subject]) for subject in subjects}
    with ExitStack() as locks:
        for one in imports.values():
            if not one.kept.known:
                locks.enter_context(one.kept.adding())
        seen: Counter[tuple[str, str]] = Counter()
        for _, row in _rows(path):
            if not (subject := imports[row.subject]).kept.known:
                repeat = seen[row.subject, row.item]
                seen[row.subject, row.item] += 1
                subject.add(LoggedItem(row.item, {MEASURE: row.score}, row.cluster, repeat=repeat))
        return [engine.stored(one.kept.record.id) if one.kept.known else one.kept.finish() for one in imports.values()]


def _rows(path: Path) -> Iterator[tuple[int, _Row]]:
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
        yield line, _Row(item, subject, score, cells.get("cluster", "").strip())
