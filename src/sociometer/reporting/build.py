"""Writes the report page about runs; `sociometer report` and `make demo` call it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from sociometer.analysis.comparison import Terms
from sociometer.core.task import Instrument
from sociometer.reporting.content import GivenRun, gather
from sociometer.reporting.page import render


def write_report(
    given: Sequence[GivenRun],
    instruments: Mapping[str, Instrument],
    path: Path,
    *,
    made: str,
    version: str,
    terms: Terms | None = None,
    evidence: int | None = None,
) -> Path:
    """Write the page about these runs and return its path; a failure leaves no partial page."""
    page = render(gather(given, instruments, terms=terms, evidence=evidence), made=made, version=version)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A folder of its own: a link that someone put there beforehand is not followed.
    with TemporaryDirectory(prefix=".report-", dir=path.parent) as folder:
        unfinished = Path(folder) / path.name
        unfinished.write_text(page, encoding="utf-8")
        unfinished.replace(path)
    return path
