"""`sociometer backup`: copies the store and its studies, even while runs are in progress."""

from pathlib import Path

import click

from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_result
from sociometer.core.task import Result


def _backup(file: Path, store: Path | None, as_json: bool) -> int:
    with open_stored(store_path(store)) as engine:
        engine.store.backup(file)
    return print_result(Result(wrote=(str(file), *_copy_studies(store_path(store), file))), as_json)


def _copy_studies(store: Path, file: Path) -> tuple[str, ...]:
    """Copies the file of studies that lies beside the store, where there is one."""
    if not store.with_name(store.name + ".studies").exists():
        return ()
    from sociometer.web.study.book import StudyBook, book_path  # here, since only studies need the web pages

    book, target = StudyBook(book_path(store)), book_path(file)
    try:
        book.backup(target)
    finally:
        book.close()
    return (str(target),)


command = click.Command(
    "backup",
    callback=_backup,
    params=[click.Argument(["file"], type=click.Path(path_type=Path, dir_okay=False)), store_option(), json_option()],
    help="Copy the store to FILE, and its studies to FILE.studies. Runs in progress continue.",
)
