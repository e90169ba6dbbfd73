"""Tables of numbers that people exchange: one small JSON file with numbers and conditions, without items or replies.

A file that is read comes from somebody else: its size, types, characters and numbers are checked, and nothing in it
is recomputed.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from sociometer.core.card import Card, MeasureCard
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import DataError, UsageError
from sociometer.core.measure import Interval
from sociometer.core.task import items_digest
from sociometer.engine.export import whole_file
from sociometer.results.candidates import Candidate
from sociometer.results.leaderboard import Leaderboard, OthersRow, mean_interval
from sociometer.results.runs import candidates
from sociometer.statistics.formatting import other_stand_ins
from sociometer.statistics.item_values import item_values
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun

Value = str | int | float | bool | tuple[str, ...] | None


class Conditions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a number was made; items, prompts and norms are given by their digests."""

    instrument: str
    task: str
    version: str
    whose_items: str
    """Whose items they are: bundled, official, own or imported."""
    items: str
    """Digest of the contents of all items, failed ones included."""
    prompts: str
    settings: dict[str, Value]
    repeats: int
    roles: dict[str, str] = {}
    """The models in the roles other than the subject's."""
    norm: str = ""
    stand_ins: tuple[str, ...] = ()
    second_question: bool = True
    sociometer: str = ""
    """The version of Sociometer that made the run."""


def why_apart(mine: Conditions, other: Conditions, card: Card) -> str:
    """Why a number made under `other` cannot be shown next to one made under `mine`; empty if it can."""
    used = other_stand_ins(other.stand_ins)
    if used:
        return f"played with a stand-in ({', '.join(used)})"
    if mine.version != other.version:
        return f"version {other.version} of {mine.instrument}, here {mine.version}"
    if mine.whose_items != other.whose_items:
        return f"{other.whose_items} items, here {mine.whose_items} ones"
    if mine.prompts != other.prompts:
        return "another wording of the prompts"
    for role in sorted({*mine.roles, *other.roles}):
        first, second = mine.roles.get(role, "no model"), other.roles.get(role, "no model")
        if first != second:
            return f"{role} is {second}, here {first}"
    strict = {setting.name for setting in card.setting if setting.apart or setting.alters}
    for name in sorted(strict):
        if mine.settings.get(name) != other.settings.get(name):
            return f"{name} {_shown(other.settings.get(name))}, here {_shown(mine.settings.get(name))}"
    if mine.norm != other.norm:
        return "scored on another norm"
    return "" if mine.items == other.items else "played on other items"


def differences(mine: Conditions, other: Conditions) -> tuple[str, ...]:
    """Differences that do not prevent showing both: settings, repeats, second question, version of Sociometer."""
    names = sorted({*mine.settings, *other.settings})
    pairs = [(name, mine.settings.get(name), other.settings.get(name)) for name in names]
    pairs += [
        ("repeats", mine.repeats, other.repeats),
        ("second question", mine.second_question, other.second_question),
        ("version", mine.version, other.version),
        ("Sociometer", mine.sociometer, other.sociometer),
    ]
    return tuple(f"{name} {_shown(theirs)}, here {_shown(ours)}" for name, ours, theirs in pairs if ours != theirs)


def value_digest(value: object) -> str:
    """The digest of a JSON value; empty for None."""
    if value is None:
        return ""
    return sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()[:32]


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return "none" if value in (None, "") else str(value)


FORMAT = "sociometer-table"
SCHEMA = 1
_MOST_BYTES = 1 << 20
_LONGEST_TEXT = 300
_SLACK = 1e-9

Finite = Annotated[float, Meta(ge=-1e9, le=1e9)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]


class BoardNumber(Struct, frozen=True, forbid_unknown_fields=True):
    """The number that a leaderboard shows: the mean over all items of the run."""

    measure: str
    value: Finite
    low: Finite | None
    high: Finite | None
    items: Count
    clusters: Count = 0


class ShownNumber(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One number of a run's summary."""

    measure: str
    value: Finite | None
    low: Finite | None = None
    high: Finite | None = None
    group: dict[str, str] = {}
    items: Count = 0
    clusters: Count = 0
    unreadable: Count = 0
    errors: Count = 0


class ScoreRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task of one run: the subject, how its numbers were made, and the numbers."""

    subject: str
    made: str
    """The day the run ended, as 2026-11-15."""
    conditions: Conditions
    board: Annotated[tuple[BoardNumber, ...], Meta(max_length=100)]
    numbers: Annotated[tuple[ShownNumber, ...], Meta(max_length=2000)]
    failed: str = ""
    """Why the run has no number to compare; empty if it has one."""
    note: str = ""


class ScoreTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a file."""

    format: str = FORMAT
    schema: int = SCHEMA
    rows: Annotated[tuple[ScoreRow, ...], Meta(min_length=1, max_length=1000)]


class NamedTable(Struct, frozen=True):
    """A table that was read, with the name of its file."""

    source: str
    rows: tuple[ScoreRow, ...]


class _Head(Struct, frozen=True):
    format: str
    schema: int


def write_table(runs: Sequence[StoredRun], path: Path) -> ScoreTable:
    """Writes the numbers of finished runs to a file and returns them."""
    for run in runs:
        if run.status is not RunStatus.FINISHED:
            raise UsageError(f"run {run.id} is {run.state}; finish it first: sociometer resume {run.id}.")
    table = ScoreTable(rows=tuple(row for run in runs for row in _rows(run)))
    if not table.rows:
        raise UsageError(f"the runs have no measures: {', '.join(run.id for run in runs)}.")
    body = msgspec.json.format(msgspec.json.encode(table), indent=1)
    if len(body) > _MOST_BYTES:
        raise UsageError(
            f"the table would have {len(body):,} bytes; at most {_MOST_BYTES:,} are read. Give fewer runs."
        )
    with whole_file(path) as partial:
        partial.write_bytes(body + b"\n")
    return table


def read_table(path: Path) -> NamedTable:
    """The table in somebody's file; a DataError says in one sentence what is wrong with it."""
    body = _read(path)
    try:
        head = msgspec.json.decode(body, type=_Head)
        if head.format != FORMAT:
            raise DataError(f"is not a table of numbers: its format is not '{FORMAT}'", path)
        if head.schema != SCHEMA:
            raise DataError(f"has schema {head.schema}; this version of Sociometer reads {SCHEMA}", path)
        rows = msgspec.json.decode(body, type=ScoreTable).rows
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"is not a table that 'sociometer export RUN --to FILE.json' writes ({error})", path) from None
    for text in _texts(msgspec.to_builtins(rows)):
        if len(text) > _LONGEST_TEXT or not text.isprintable():
            raise DataError(f"has a text that is too long or not printable: {text[:40]!a}", path)
    return NamedTable(path.name, rows)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            body = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path) from None
    if len(body) > _MOST_BYTES:
        raise DataError(f"is larger than {_MOST_BYTES:,} bytes, so it is not a table of numbers", path)
    return body


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, held in value.items():
            yield name
            yield from _texts(held)
    elif isinstance(value, list | tuple):
        for held in value:
            yield from _texts(held)


def _rows(run: StoredRun) -> Iterator[ScoreRow]:
    made = datetime.fromtimestamp(run.record.finished or run.record.created, UTC).strftime("%Y-%m-%d")
    for candidate in candidates([run]):
        yield ScoreRow(
            subject=_printable(run.subject),
            made=made,
            conditions=conditions_of(run, candidate),
            board=tuple(_board_numbers(candidate)),
            numbers=tuple(_numbers(run, candidate.task)),
            failed=_printable(candidate.failed),
            note=_printable(candidate.note),
        )


def conditions_of(run: StoredRun, candidate: Candidate) -> Conditions:
    """How the numbers of one task of a run were made."""
    manifest, task = run.manifest, candidate.task
    return Conditions(
        instrument=run.instrument,
        task=task,
        version=manifest.instrument_version,
        whose_items=run.manifest.whose_items,
        items=items_digest({one.item.id: one.item.content_digest() for one in candidate.view.episodes()}),
        prompts=manifest.prompts_digest,
        settings=_settings(run),
        repeats=manifest.repeats.get(task, 1),
        roles={role: _printable(who.label) for role, who in manifest.roles.items() if role != SUBJECT},
        norm=value_digest(manifest.norms.get(task)),
        stand_ins=tuple(map(_printable, run.stand_ins)),
        second_question=_asks_again(run),
        sociometer=manifest.sociometer_version,
    )


def _settings(run: StoredRun) -> dict[str, Value]:
    """The settings; a setting that takes a file is given as `own file`."""
    paths = {setting.name for setting in run.definition.card.setting if setting.kind == "path"}
    return {
        name: "own file" if name in paths and value else tuple(map(_printable, value)) if isinstance(value, tuple) else
        _printable(value) if isinstance(value, str) else value
        for name, value in run.settings.items()
    }  # fmt: skip


def _asks_again(run: StoredRun) -> bool:
    config = run.manifest.config
    return not config.official if config.second_question is None else config.second_question


def _printable(text: str) -> str:
    """The text as a file may hold it: short, in one line, without control characters."""
    kept = "".join(letter if letter.isprintable() else " " for letter in text)
    return kept if len(kept) <= _LONGEST_TEXT else kept[: _LONGEST_TEXT - 1] + "…"


def _board_numbers(candidate: Candidate) -> Iterator[BoardNumber]:
    for card in candidate.card.measures_of(candidate.task):
        table = item_values(candidate.view, card.value) if card.value else {}
        if table:
            interval = mean_interval(table, table, card)
            mean = sum(one.value for one in table.values()) / len(table)
            yield BoardNumber(card.name, mean, interval.low, interval.high, len(table), interval.clusters)


def _numbers(run: StoredRun, task: str) -> Iterator[ShownNumber]:
    for one in run.summary(task).measures:
        if one.value is None or math.isfinite(one.value):
            low, high = (one.interval.low, one.interval.high) if one.interval else (None, None)
            group = {_printable(facet): _printable(level) for facet, level in one.group.items()}
            yield ShownNumber(
                one.name, one.value, low, high, group, one.items, one.clusters, one.unreadable, one.errors
            )


def with_others(
    board: Leaderboard, card: Card, mine: Sequence[Conditions], tables: Sequence[NamedTable]
) -> Leaderboard:
    """The board with those rows of the tables that can be shown on it; the others are named among those left out.

    `mine` are the conditions of the runs on the board.
    """
    measure = next(one for one in card.measures_of(board.task) if one.name == board.measure)
    others: list[OthersRow] = []
    left_out: list[str] = []
    notes: list[str] = []
    for table in tables:
        for row in table.rows:
            if (row.conditions.instrument, row.conditions.task) != (board.instrument, board.task):
                continue
            name = f"{row.subject} ({table.source})"
            found = next((one for one in row.board if one.measure == board.measure), None)
            reason = _why_not_shown(row, found, measure, card, mine, board.standings[0].items)
            if found is None or reason:
                left_out.append(f"{name}: {reason}")
                continue
            interval = Interval(found.low, found.high, clusters=found.clusters)
            others.append(OthersRow(table.source, row.subject, found.value, interval, found.items))
            notes += [f"{name}: {said}" for said in (row.note, *differences(mine[0], row.conditions)) if said]
            if found.items != board.standings[0].items:
                notes.append(f"{name}: {found.items} items have a score, here {board.standings[0].items}")
    return structs.replace(
        board,
        others=tuple(others),
        left_out=(*board.left_out, *left_out),
        notes=(*board.notes, *notes),
    )


def _why_not_shown(
    row: ScoreRow,
    found: BoardNumber | None,
    measure: MeasureCard,
    card: Card,
    mine: Sequence[Conditions],
    items: int,
) -> str:
    """Why a row cannot be shown on a board with runs under the conditions `mine`; empty if it can."""
    if row.failed:
        return row.failed
    if found is None:
        return f"the table has no {measure.name}"
    reason = next((said for one in mine if (said := why_apart(one, row.conditions, card))), "")
    if reason:
        return reason
    if 2 * found.items <= items:
        return f"only {found.items} items have a score, here {items}"
    return _absurd(found, measure)


def _absurd(found: BoardNumber, measure: MeasureCard) -> str:
    """What is wrong with a number; empty if it can be true."""
    least = -math.inf if measure.low is None else measure.low
    most = math.inf if measure.high is None else measure.high
    low, high = (found.value if bound is None else bound for bound in (found.low, found.high))
    on_scale = least - _SLACK <= found.value <= most + _SLACK
    ordered = low - _SLACK <= found.value <= high + _SLACK and (found.low is None) == (found.high is None)
    return "" if on_scale and ordered else f"impossible value {found.value:g} with interval {low:g} to {high:g}"


def unused_tables(boards: Sequence[Leaderboard], tables: Sequence[NamedTable]) -> list[str]:
    """A sentence for each table without a row of the boards' tasks."""
    shown = {(board.instrument, board.task) for board in boards}
    said = []
    for table in tables:
        has = dict.fromkeys((row.conditions.instrument, row.conditions.task) for row in table.rows)
        if shown.isdisjoint(has):
            names = ", ".join("/".join(one) for one in list(has)[:5])
            names += " …" if len(has) > 5 else ""
            said.append(f"{table.source} has no row for the tasks of these leaderboards; it has {names}.")
    return said
