"""`sociometer sheet`: a sheet that people fill in anywhere, and what they filled in."""

from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import click

from sociometer.cli.options import open_stored, runs_argument, shown_command, store_path, stored_command
from sociometer.cli.output import Display, Group, option, tell
from sociometer.core.errors import SociometerError, UsageError, hint, unknown
from sociometer.core.sheets import whole_file
from sociometer.engine.engine import Engine
from sociometer.instruments import cards, load_sheet
from sociometer.reporting.raters import judge_tables, rater_tables
from sociometer.reporting.sheets import (
    Drawn,
    Filled,
    draw_measure,
    draw_rows,
    guide_text,
    rater_languages,
    read_filled,
    sheet_text,
)
from sociometer.results.corrected import JudgeAndPeople, judge_and_people
from sociometer.store.labels import LabelBook, LabelSheet, book_path
from sociometer.store.place import StorePlace, file_of
from sociometer.store.stored_run import StoredRun


def _file(store: StorePlace | None) -> Path:
    """The store whose labels are in a separate file next to it."""
    return file_of(store_path(store), "'sheet'")


def _write(
    runs: tuple[str, ...], to: Path, of: str, task: str, sample: int | None, seed: int, language: str,
    store: StorePlace | None, as_json: bool,
) -> None:  # fmt: skip
    path = _file(store)
    guide = to.with_suffix(".md")
    with open_stored(path) as engine:
        stored = [engine.stored(run) for run in runs]
        drawn = _draw(stored, of, task, sample, seed, language)
        text = sheet_text(drawn)
        if to.exists() and to.read_text(encoding="utf-8") != text:
            raise UsageError(f"{to} already exists, perhaps filled in; give another --to.")
        with closing(LabelBook(book_path(path))) as book, book.changing():
            _require(engine, stored)
            book.create(drawn.sheet, drawn.units)
    for file, content in ((to, text), (guide, guide_text(drawn))):
        with whole_file(file, private=True) as partial:
            partial.write_text(content, encoding="utf-8")
    about = {"wrote": [str(to), str(guide)], "rows": len(drawn.units), "label_set": drawn.sheet.label_set}
    tell(
        as_json,
        about,
        f"wrote {to}: {len(drawn.units)} rows, and {guide}, which says how to fill it in.",
        f"Give each rater a copy named after them. Then: {hint('sheet read FILE')}",
    )


def _draw(runs: Sequence[StoredRun], of: str, task: str, sample: int | None, seed: int, language: str) -> Drawn:
    """The sheet of an instrument for these runs, or episodes of one run to be rated on a measure."""
    instrument = runs[0].definition
    known = dict.fromkeys(run.instrument for run in runs)
    if len(known) > 1:
        raise UsageError(f"a sheet is of runs of one instrument, not of {' and '.join(known)}.")
    sheets = {sheet.name: sheet for sheet in instrument.card.sheet if sheet.entry}
    if of in sheets:
        rows = load_sheet(instrument.card.name, sheets[of].entry)(runs, sample, seed)
        return draw_rows(instrument, sheets[of], rows, seed, language)
    if len(runs) > 1:
        if of:
            raise unknown("sheet of several runs", of, sheets)
        raise UsageError(f"a sheet of several runs needs --of: {', '.join(sheets) or 'none'}.")
    first = (*runs[0].tasks, *runs[0].all_tasks)[0]  # of a run of 0.3 that is only shown, one of those: an error
    return draw_measure(runs[0], task or first, of, sample, seed, language)


def _require(engine: Engine, runs: Sequence[StoredRun]) -> None:
    """Raises an error if a run was deleted after it was read: its person has withdrawn."""
    for run in runs:
        for part in run.members:
            engine.store.runs.get(part)


def _read(files: tuple[Path, ...], rater: str, store: StorePlace | None, display: Display) -> None:
    if rater and len(files) > 1:
        raise UsageError("--rater names the person of one file; several files are named after their raters.")
    path = _file(store)
    with ExitStack() as opened:
        # Sheets of items need no store, so none is made for them.
        exists = book_path(path).exists()
        book = opened.enter_context(closing(LabelBook(book_path(path)))) if exists else None
        filled = [read_filled(file, rater or file.stem, book, cards()) for file in files]
        sheet = filled[0].sheet
        for file, one in zip(files, filled, strict=True):
            if (one.sheet.name, one.sheet.kind) != (sheet.name, sheet.kind):
                raise UsageError(f"{file} is of another sheet than {files[0]}; read the files of one sheet at a time.")
        units = {name: unit for one in filled for name, unit in one.units.items()}
        if book is None or not sheet.name:
            labels = [label for one in filled for label in one.labels]
            tables, notes = rater_tables(sheet, units, labels), []
        else:
            notes = [_stored(book, one) for one in filled]
            tables = rater_tables(sheet, units, book.labels(sheet.name))
            judged = _judged(path, book, sheet)
            tables += judge_tables(judged) if judged else []
    tables = [table for table in tables if table.rows]
    data = {"kind": sheet.kind, "label_set": sheet.label_set, **{table.name: table.records() for table in tables}}
    display.show(tables, limits=[len(table.rows) for table in tables], notes=notes, data=data)


def _stored(book: LabelBook, filled: Filled) -> str:
    """Stores the labels of a file, and says how many are new; the same rater in two files counts once."""
    counts = {"new": 0, "same": 0, "changed": 0}
    with book.changing():
        known = {(label.unit, label.rater): label.answers for label in book.labels(filled.sheet.name)}
        for label in filled.labels:
            before = known.get((label.unit, label.rater))
            if before == label.answers:
                counts["same"] += 1
                continue
            counts["changed" if before else "new"] += 1
            book.put(filled.sheet.name, label)
    return (
        f"{counts['new']} labels of {filled.labels[0].rater} are new, {counts['same']} were there already, "
        f"{counts['changed']} replaced another label of the same rater."
    )


def _judged(path: Path, book: LabelBook, sheet: LabelSheet) -> JudgeAndPeople | None:
    """The judge compared with people on the measure that a sheet labels; None if the run no longer exists."""
    if sheet.measured is None:
        return None
    with suppress(SociometerError), open_stored(path) as engine:
        return judge_and_people(engine.stored(sheet.measured.run), sheet, book)
    return None


_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)

_COMMANDS = [
    stored_command(
        "write",
        _write,
        "Write a sheet of RUN for people to fill in, and beside it what they read first. The rows come in an order and"
        " with ids that say nothing about them.",
        runs_argument(required=True),
        option("--to", "CSV file to write.", type=click.Path(path_type=Path, dir_okay=False), required=True),
        option(
            "--of",
            "Sheet of the instrument, such as 'feelings', or measure that people rate [default: the primary measure].",
            default="",
        ),
        option("--task", "Task of the run [default: its first].", default=""),
        option(
            "--sample",
            "Number of rows, drawn at random [default: 40 episodes, or what the sheet says].",
            type=click.IntRange(1),
        ),
        option("--seed", "Seed of the draw.", type=int, default=0, show_default=True),
        option("--language", "Language of the raters.", type=click.Choice([*rater_languages()]), default="en"),
    ),
    shown_command(
        "read",
        _read,
        "Read the sheets that people filled in, one file for each, named after them. Their labels are stored with the"
        " runs; shows their agreement, and how a judge compares with people.",
        click.Argument(["files"], type=_FILE, nargs=-1, required=True, metavar="FILE…"),
        option("--rater", "Name of the person who filled in the file [default: that of the file].", default=""),
    ),
]

command = Group("sheet", commands=_COMMANDS, help="Let people label the same replies, in files.")
