"""The words that shell completion offers: runs, items, instruments, tasks, models, roles.

Everything is read without loading an instrument or opening the store for writing. Values that a shell
could execute are left out, because a store or a project file may come from somebody else.

A context is that of an unfinished line: its parameters may be missing, so the words themselves are in `ctx.obj`.
"""

import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from sociometer.cli.project_file import ProjectFile
    from sociometer.core.card import Card

_HARMLESS = re.compile(r"([\w-]+=)?([\w.][\w./:@#+-]*)?")
_MOST = 200
_LOCK_SECONDS = 0.2
Offers = Iterable[tuple[str, str]]
"""Words, each with a short explanation."""


class Offered(click.types.StringParamType):
    """The type of a parameter whose words can be offered; it takes any text."""

    def __init__(self, find: Callable[[click.Context, str], Offers]) -> None:
        self._find = find

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The words that begin as the half-typed one does."""
        return matching(self._find(ctx, incomplete), incomplete)


def matching(offers: Offers, incomplete: str) -> list[CompletionItem]:
    """The harmless words that start with the half-typed one, each once."""
    known: dict[str, str] = {}
    for value, explanation in offers:
        if value.startswith(incomplete) and _HARMLESS.fullmatch(value):
            known.setdefault(value, " ".join(explanation.split()))
    return [CompletionItem(value, help=_printable(text) or None) for value, text in known.items()]


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def known_cards() -> "dict[str, Card]":
    """The cards of all instruments; loaded only if a word depends on them."""
    from sociometer.instruments import cards

    return cards()


def instruments(ctx: click.Context, incomplete: str) -> Offers:
    """All instruments; for `run` also `all`."""
    yield from ((name, card.title) for name, card in known_cards().items())
    if ctx.info_name == "run":
        yield "all", "every instrument"


def tasks(ctx: click.Context, incomplete: str) -> Offers:
    """The tasks of the instruments that the line names, or of all."""
    named = set(_instruments_named(ctx))
    for card in known_cards().values():
        if card.name in named or not named:
            yield from ((task.name, card.name) for task in card.task)


def models(ctx: click.Context, incomplete: str) -> Offers:
    """The models of the project file, and the beginnings that `sociometer models` lists."""
    from sociometer.models.registry import PRESETS

    if incomplete.startswith("replay/"):
        yield from ((f"replay/{run}", what) for run, what in runs(ctx, incomplete.removeprefix("replay/")))
    project = _project(ctx)
    yield from ((spec, "sociometer.toml") for spec in (project.project.models if project else ()))
    yield from ((f"{name}/", preset.title) for name, preset in PRESETS.items())
    yield from _other_models()


def _other_models() -> Offers:
    from sociometer.models.baselines import baselines
    from sociometer.models.local_files import local_models

    yield from ((f"local/{name}", what) for name, what in local_models().items())
    yield from ((f"baseline/{name}", what) for name, what in baselines().items())
    yield from (
        ("hf/", "open weights in this process, in batches"),
        ("scripted/", "replies from a file"),
        ("replay/", "replies of a stored run"),
        ("python/", "a Python function"),
    )
    yield "human", "a person at this terminal"


def roles(ctx: click.Context, incomplete: str) -> Offers:
    """ROLE= for the roles of the instruments that the line names; after it, the models."""
    role, equals, begun = incomplete.partition("=")
    if equals:
        yield from ((f"{role}={model}", what) for model, what in models(ctx, begun))
        return
    yield "reader=", "the model that reads replies the rules cannot read"
    named = set(_instruments_named(ctx))
    for card in known_cards().values():
        if card.name in named or not named:
            yield from ((f"{one.name}=", one.help) for one in card.role if one.name != "subject")


def pullable(ctx: click.Context, incomplete: str) -> Offers:
    """The models that `models pull` fetches."""
    from sociometer.models.local_files import local_models

    return local_models().items()


def runs(ctx: click.Context, incomplete: str) -> Offers:
    """The ids and names of stored runs that start with the half-typed word, newest first, and `last`."""
    wanted = set(_instruments_named(ctx))
    for run, name, instrument, subject, status in _runs(ctx, incomplete):
        if wanted and instrument not in wanted:
            continue
        yield run, f"{subject}, {status}"
        if name:
            yield name, f"{instrument}, {subject}, {status}"
    yield "last", "the newest run"


def _runs(ctx: click.Context, incomplete: str) -> list[Any]:
    size = len(incomplete)
    named = "SELECT id, name, instrument, subject, status FROM run WHERE substr(id, 1, ?) = ? OR substr(name, 1, ?) = ?"
    unnamed = "SELECT id, '', instrument, subject, status FROM run WHERE substr(id, 1, ?) = ?"
    try:
        return _rows(ctx, f"{named} ORDER BY created DESC", (size, incomplete, size, incomplete))
    except sqlite3.OperationalError:
        # Stores of 0.1.0 have no names of runs; completion changes no store, so they are read as they are.
        return _rows(ctx, f"{unnamed} ORDER BY created DESC", (size, incomplete))


def items(ctx: click.Context, incomplete: str) -> Offers:
    """The items of the run that the line names."""
    run, size = str(ctx.params.get("run") or ""), len(incomplete)
    if run == "last":
        run = next((row[0] for row in _rows(ctx, "SELECT id FROM run ORDER BY created DESC", ())), "")
    query = (
        "SELECT DISTINCT item.id, item.task FROM item JOIN run ON run.id = item.run"
        " WHERE (run.id = ? OR run.name = ? OR substr(run.id, 1, ?) = ?) AND substr(item.id, 1, ?) = ?"
        " ORDER BY item.position"
    )
    return _rows(ctx, query, (run, run, len(run), run, size, incomplete)) if run else ()


def subjects(ctx: click.Context, incomplete: str) -> Offers:
    """The subjects of stored runs."""
    return _rows(ctx, "SELECT subject, count(*) || ' runs' FROM run GROUP BY subject", ())


def _instruments_named(ctx: click.Context) -> Iterator[str]:
    yield from (word for word in (ctx.obj or ())[1:] if word in known_cards())


def _rows(ctx: click.Context, query: str, values: tuple[Any, ...]) -> list[Any]:
    """Rows of the store; empty if there is no store or it cannot be read."""
    path = _store(ctx)
    if not path.is_file():
        return []
    log = path.with_name(path.name + "-wal")
    # Without a write-ahead log the file is all there is, and it can be read without a trace beside it.
    how = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    place = f"{path.absolute().as_uri()}?{how}"
    with closing(sqlite3.connect(place, uri=True, timeout=_LOCK_SECONDS)) as connection:
        return connection.execute(query, values).fetchmany(_MOST)


def _store(ctx: click.Context) -> Path:
    words = ctx.obj or ()
    named = [second for first, second in pairwise(words) if first == "--store"]
    named += [word.removeprefix("--store=") for word in words if word.startswith("--store=")]
    if given := named[-1] if named else os.environ.get("SOCIOMETER_STORE"):
        return Path(given).expanduser()
    from sociometer.store.place import default_path

    project = _project(ctx)
    return (project.store if project else None) or default_path()


def _project(ctx: click.Context) -> "ProjectFile | None":
    from sociometer.cli.project_file import find_project

    return None if "--no-project" in (ctx.obj or ()) else find_project(Path())
