"""People who fill in sheets with a spreadsheet."""

import csv
from contextlib import closing
from pathlib import Path

from sociometer.store.labels import LabelBook, book_path


def rows_of(path):
    with Path(path).open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines))


def fill(source, target, **answers):
    """A copy of a sheet with answers in it: a text, or a function of the number of the row and the row."""
    rows = rows_of(source)
    for number, row in enumerate(rows):
        row.update({column: said(number, row) if callable(said) else said for column, said in answers.items()})
    with Path(target).open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def units_of(store, sheet):
    """The units of a sheet that was drawn from a store, by their ids."""
    with closing(LabelBook(book_path(Path(store)))) as book:
        return book.units(book.sheet_with(rows_of(sheet)[0]["unit"]).name)
