"""Runs in, page out: the one function that `sociometer report` and `make demo` call."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sociometer.analysis.compare import Terms
from sociometer.core.task import Instrument
from sociometer.report.material import GivenRun, gather
from sociometer.report.page import render


def write_report(
    given: Sequence[GivenRun],
    instruments: Mapping[str, Instrument],
    path: Path,
    *,
    made: str,
    version: str,
    terms: Terms | None = None,
    evidence: int = 4,
) -> Path:
    """Write the page about these runs, whole or not at all; gives its path."""
    page = render(gather(given, instruments, terms=terms, evidence=evidence), made=made, version=version)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(page, encoding="utf-8")
    unfinished.replace(path)
    return path
