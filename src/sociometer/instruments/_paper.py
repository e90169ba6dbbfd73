"""The tables and figures of a paper: what they are called, how they are filled and what they need (`parts.toml`).

A part has a `title`; `how` says how it is computed, with places for facts in braces; `needs` says what is missing if
it is empty. A part without both explains the method and shows no result.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from sociometer.core.language import read_texts
from sociometer.core.measure import Figure, PublishedFigure
from sociometer.core.paper import PaperPart, PaperTable, PublishedModel, Replication, ReplicationPlan, illustration
from sociometer.core.sheets import read_records, read_table


def printed_tables(folder: Path) -> Callable[[str], list[dict[str, str]]]:
    """What gives the rows of a printed table of a folder by its name."""
    return lambda name: read_table(folder / f"{name}.csv")


def with_reasons(figures: Iterable[PublishedFigure], folder: Path) -> Iterator[PublishedFigure]:
    """The figures; one that does not match has the reason in `reasons.csv`, which is for one cell with these values."""
    known = {
        (row["what"], row["printed"], row["recomputed"]): row["reason"] for row in read_table(folder / "reasons.csv")
    }
    for figure in figures:
        reason = figure.reason or known.get((figure.what, str(figure.printed), str(figure.recomputed)), "")
        yield structs.replace(figure, reason="" if figure.match else reason)


def replication_plan(folder: Path, runs: Iterable[Replication]) -> ReplicationPlan:
    """The plan of `models.csv` and `remarks.txt`, with the runs of its rows; people's rows have none."""
    models = tuple(read_records(folder / "models.csv", PublishedModel))
    remarks = (folder / "remarks.txt").read_text(encoding="utf-8").splitlines()
    known = {one.row for one in models}
    return ReplicationPlan(models, tuple(run for run in runs if run.row in known), tuple(remarks))


class Described(Struct, frozen=True, forbid_unknown_fields=True):
    """A part in the file."""

    title: str
    how: str = ""
    needs: str = ""
    note: str = ""
    """A note on figures that show the part's numbers beside those of runs."""


class PaperParts:
    """The parts of an instrument's paper by label, in the order of the file."""

    def __init__(self, folder: Path) -> None:
        self.described = msgspec.convert(read_texts(folder / "published" / "parts.toml"), dict[str, Described])

    def part(
        self,
        label: str,
        *,
        table: PaperTable | None = None,
        figures: tuple[Figure, ...] = (),
        how: str = "",
        missing: str | None = None,
        tasks: tuple[str, ...] = (),
        **facts: str,
    ) -> PaperPart:
        """A part with what fills it; `how` replaces that of the file, and `missing` what it needs if it is empty."""
        known = self.described[label]
        text = how or known.how.format(**facts)
        shown = tuple(one for one in figures if one.filled)
        made = PaperPart(label=label, title=known.title, how=text, table=table, figures=shown, tasks=tasks)
        needs = "" if made.filled else "No label could be read. " * bool(figures) + known.needs
        return structs.replace(made, missing=needs if missing is None else missing)

    def all(self, *made: PaperPart) -> list[PaperPart]:
        """Every part of the paper: those that were made, and the illustrations."""
        found = {part.label: part for part in made}
        return [found.get(label) or illustration(label, one.title) for label, one in self.described.items()]
