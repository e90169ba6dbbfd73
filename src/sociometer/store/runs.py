"""Runs: their settings, items, status and summaries."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.core.config import RunConfig
from sociometer.core.errors import StoreError, UsageError
from sociometer.core.measure import Summary
from sociometer.core.stopping import StoppingRecord
from sociometer.core.task import Item, order_of_play
from sociometer.core.words import grouped
from sociometer.store.book import new_letters
from sociometer.store.database import Connection, marks
from sociometer.store.journal import spent_by
from sociometer.store.names import NameEntry, claim
from sociometer.store.records import Manifest, RunRecord, RunStatus, Totals, read_manifest
from sociometer.store.studies import unfinished_withdrawals
from sociometer.store.texts import StorePart, read_sealed, seal
from sociometer.store.writer import ITEM, SUMMARY, Transaction


class RunSearch(Struct, frozen=True):
    """A search among runs; an empty field matches everything."""

    words: str = ""
    """Each must occur in the id, the name, the subject or the instrument."""
    instrument: str = ""
    status: str = ""
    ids: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    """The runs that are not searched, by id."""
    limit: int = 50
    offset: int = 0

    def condition(self, meant: Sequence[str]) -> tuple[str, tuple[object, ...]]:
        """The search as SQL; `meant` are the runs with failed items, or those being played: others were killed."""
        texts = "lower(id || ' ' || name || ' ' || subject || ' ' || instrument)"
        parts: list[tuple[str, Sequence[object]]] = [
            (f"{texts} LIKE lower(?) ESCAPE '\\'", [f"%{_literally(word)}%"]) for word in self.words.split()
        ]
        if self.instrument:
            parts.append(("instrument = ?", [self.instrument]))
        if self.ids:
            parts.append((f"id IN {marks(self.ids)}", self.ids))
        if self.without:
            parts.append((f"id NOT IN {marks(self.without)}", self.without))
        if self.status == RunStatus.PLAYING:
            parts.append((f"id IN {marks(meant)}", meant))
        elif self.status == RunStatus.STOPPED:
            parts.append((f"(status = 'stopped' OR (status = 'playing' AND id NOT IN {marks(meant)}))", meant))
        elif self.status:
            parts.append((f"(status = ? OR id IN {marks(meant)})", [self.status, *meant]))
        return " AND ".join(["1 = 1", *(sql for sql, _ in parts)]), tuple(one for _, values in parts for one in values)


def _literally(text: str) -> str:
    """A text with the wildcards of LIKE escaped."""
    return re.sub(r"([\\%_])", r"\\\1", text)


_encode = msgspec.json.Encoder().encode
TABLES_OF_A_RUN = ("attempt", "allowance", "summary", "score", "episode", "item")
COUNT = "SELECT count(outcome), count(*) - count(outcome) FROM episode WHERE run = ?"
_MOST_NAMED = 8
"""The most runs that an error lists."""
_COLUMNS = "id, instrument, subject, config_hash, name, created, manifest, status, finished, totals, origin"
_YEAR_9999 = 253_370_764_800.0
_NO_MANIFEST = Manifest(RunConfig(instrument="", subject=""), "", {}, {}, "", {}, {}, "", "", "")
_decode_totals = msgspec.json.Decoder(Totals).decode
_decode_summary = msgspec.json.Decoder(Summary).decode


_OWN_FIRST = "CASE origin WHEN '' THEN 0 ELSE 1 END"
_SAME = "WHERE config_hash = ? AND origin = ''"


def summary_row(run: str, task: str, summary: Summary) -> tuple[str, str, bytes]:
    """The database row of a summary."""
    return run, task, seal(_encode(summary), run, task)


class Runs(StorePart):
    """The runs in the store with their items and summaries."""

    def create(
        self, manifest: Manifest, config_hash: str, *, only: bool = False, run: str = "", created: float | None = None
    ) -> RunRecord:
        """Create a run with a new id; with `only`, return the same run if another process has just created it.

        The name of its subject is taken in the same transaction; a UsageError if it means something else. `run` and
        `created` are the id and the time of a run that was made elsewhere.
        """
        run = run or f"{manifest.config.instrument}-{new_letters(5)}"
        created = time.time() if created is None else created
        subject = manifest.subject or manifest.config.model_name
        config = manifest.config
        entry = NameEntry(subject, "subject", manifest.key) if manifest.key else None
        refused: list[NameEntry] = []
        place = (run, config.instrument, subject, config_hash, config.name, created)
        row = (*place, seal(_encode(manifest), *place), RunStatus.PLAYING, "")

        def insert(batch: Transaction) -> None:
            if only:
                batch.lock_table("run")
                if batch.execute(f"SELECT 1 FROM run {_SAME}", (config_hash,)).fetchone():  # noqa: S608
                    return
            if entry is not None and not claim(batch, entry):
                refused.append(entry)
                return
            batch.execute(
                "INSERT INTO run (id, instrument, subject, config_hash, name, created, manifest, status, origin)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                row,
            )

        self._writer.queue(insert)
        self._writer.flush()
        if refused:
            raise UsageError(f"the name '{subject}' was just given to something else; choose another --name.")
        made = RunRecord(run, config.instrument, subject, RunStatus.PLAYING, manifest, created, None, config.name)
        return made if not only else self.with_config(config_hash) or made

    def of_subject(self, subject: str) -> list[RunRecord]:
        """The runs of the subject with this name, oldest first."""
        return [one for one in self._select("WHERE subject = ? ORDER BY created, id", (subject,)) if not one.damage]

    def rename_subject(self, old: str, new: str) -> None:
        """Give a subject another name, in all its runs and in the table of names."""
        records = self.of_subject(old)

        def rename(batch: Transaction) -> None:
            batch.execute("UPDATE names SET name = ? WHERE name = ?", (new, old))
            for record in records:
                config = record.manifest.config
                config = structs.replace(config, name=new if config.name == old else config.name)
                manifest = structs.replace(record.manifest, subject=new, config=config)
                given = new if record.name == old else record.name
                _write(batch, structs.replace(record, subject=new, name=given, manifest=manifest))

        self._writer.queue(rename)
        self._writer.flush()

    def update(self, record: RunRecord) -> None:
        """Store the manifest of a run anew."""
        self._writer.queue(lambda batch: _write(batch, record))
        self._writer.flush()

    def delete(self, run: str) -> None:
        """Delete a run with its items and episodes; its replies stay in the journal."""

        def delete(batch: Transaction) -> None:
            row = batch.execute("SELECT subject, instrument FROM run WHERE id = ?", (run,)).fetchone()
            for table in TABLES_OF_A_RUN:
                batch.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608
            batch.execute("DELETE FROM run WHERE id = ?", (run,))
            if row:
                free = "DELETE FROM names WHERE name = ? AND kind = ? AND NOT EXISTS (SELECT 1 FROM run WHERE {} = ?)"
                batch.execute(free.format("subject"), (row[0], "subject", row[0]))
                batch.execute(free.format("instrument"), (row[1], "benchmark", row[1]))

        self._writer.queue(delete)
        self._writer.flush()

    def set_status(self, run: str, status: RunStatus, *, why: str = "") -> None:
        """Store the status of a run, and if it ends its totals and `why`; a continued run loses its summaries."""
        finished = time.time() if status is RunStatus.FINISHED else None

        def update(batch: Transaction) -> None:
            ended = status is not RunStatus.PLAYING
            place = (run, "totals", str(status), finished)
            totals = seal(_encode(_totals(batch.connection, run, why)), *place) if ended else None
            query = "UPDATE run SET status = ?, finished = ?, totals = ? WHERE id = ?"
            batch.execute(query, (status, finished, totals, run))
            if not ended:
                batch.execute("DELETE FROM summary WHERE run = ?", (run,))

        self._writer.queue(update)

    def with_config(self, config_hash: str) -> RunRecord | None:
        """The newest run made here by the same command on the same models and data."""
        return self._first(f"{_SAME} ORDER BY created DESC LIMIT 1", (config_hash,))

    def named(self, name: str) -> RunRecord | None:
        """The run with this name that was made here."""
        return self._first("WHERE name = ? AND name <> '' AND origin = ''", (name,))

    def all(self) -> Iterator[RunRecord]:
        """All runs, oldest first; one that cannot be read has the status `damaged` and no instrument."""
        return self._select("ORDER BY created, id", ())

    def found(self, search: RunSearch) -> Iterator[RunRecord]:
        """The runs that a search finds, newest first."""
        where, values = search.condition(self._meant(search.status))
        return self._select(
            f"WHERE {where} ORDER BY created DESC, id LIMIT ? OFFSET ?", (*values, search.limit, search.offset)
        )

    def count(self, search: RunSearch) -> int:
        """How many runs a search finds in all."""
        where, values = search.condition(self._meant(search.status))
        runs, hidden = self._counting()
        return int(self._row(f"SELECT count(*) FROM {runs} WHERE {where}", *hidden, *values)[0])  # noqa: S608

    def _counting(self) -> tuple[str, tuple[str, ...]]:
        """The runs as SQL: all but those of people who have asked to withdraw, which count nowhere."""
        hidden = tuple(run for runs in unfinished_withdrawals(self._database.place).values() for run in runs)
        shown = f"(SELECT * FROM run WHERE id NOT IN {marks(hidden)}) AS run"  # noqa: S608
        return shown if hidden else "run", hidden

    def _meant(self, status: str) -> tuple[str, ...]:
        """The runs that a search for a status needs: those with failed items that count, or those being played."""
        if status != RunStatus.FAILED:
            return self._playing() if status in (RunStatus.PLAYING, RunStatus.STOPPED) else ()
        rows = self._rows("SELECT run, task, item FROM episode WHERE outcome IS NULL")
        failed = grouped((run, (task, item)) for run, task, item in rows)
        every = self.found(RunSearch(ids=tuple(failed), limit=len(failed)))
        return tuple(one.id for one in every if not self.uncounted(one).issuperset(failed[one.id]))

    def _playing(self) -> tuple[str, ...]:
        """The runs that some process is playing now."""
        marked = self._rows("SELECT id FROM run WHERE status = ?", RunStatus.PLAYING)
        return tuple(run for (run,) in marked if self._database.is_played(run))

    def newest(self) -> RunRecord | None:
        """The newest run; those that were made here come before copied ones, whose times are somebody else's."""
        return self._first(f"ORDER BY {_OWN_FIRST}, created DESC LIMIT 1", ())

    def get(self, run: str) -> RunRecord:
        """The run with this id."""
        found = self._first("WHERE id = ?", (run,))
        if found is None:
            raise UsageError(f"there is no run '{run}' in this store.")
        return found

    def beginning_with(self, word: str) -> list[RunRecord]:
        """The runs whose id begins with a word."""
        like = "LIKE lower(?) ESCAPE '\\' ORDER BY created"
        return list(self._select(f"WHERE lower(id) {like}", (f"{_literally(word)}%",))) if word else []

    def add_item(self, run: str, task: str, position: int, item: Item) -> None:
        """Store an item as it was played."""
        name, body = item.id, _encode(item)
        self._writer.queue(lambda batch: batch.put(ITEM, (run, task, name, position, self._texts.put(batch, body))))

    def set_summary(self, run: str, task: str, summary: Summary) -> None:
        """Store a summary; replaces an earlier one."""
        row = summary_row(run, task, summary)
        self._writer.queue(lambda batch: batch.put(SUMMARY, row))

    def summary(self, run: str, task: str) -> Summary | None:
        """The summary of a run's task, or None if there is none."""
        with self._database.errors():
            row = self._row("SELECT body FROM summary WHERE run = ? AND task = ?", run, task)
            return read_sealed(_decode_summary, row[0], run, task) if row else None

    def stopping(self, record: RunRecord) -> dict[str, StoppingRecord]:
        """What the rule that ended a run saw of each task; empty for another run, or if this is damaged."""
        config = record.manifest.config
        tasks = config.tasks if config.until and record.status is RunStatus.FINISHED else ()
        with suppress(StoreError):
            kept = ((task, self.summary(record.id, task)) for task in tasks)
            return {task: found.stopping for task, found in kept if found and found.stopping}
        return {}

    def uncounted(self, record: RunRecord) -> set[tuple[str, str]]:
        """The tasks and items of a run that are in no number, because its stopping rule decided without them."""
        kept = {task: one.used for task, one in self.stopping(record).items() if one.verdict}
        items, seed = record.manifest.shuffled, record.manifest.config.seed
        late = {(task, place) for task, used in kept.items() for place in order_of_play(items[task], seed)[used:]}
        rows = self._rows("SELECT task, position, id FROM item WHERE run = ?", record.id) if late else ()
        return {(task, item) for task, place, item in rows if (task, place) in late}

    def _first(self, where: str, values: tuple[object, ...]) -> RunRecord | None:
        found = next(self._select(where, values), None)
        return None if found is None else _whole(found)

    def _select(self, where: str, values: tuple[object, ...]) -> Iterator[RunRecord]:
        with self._database.errors():
            runs, hidden = self._counting()
            for row in self._reader.execute(f"SELECT {_COLUMNS} FROM {runs} {where}", (*hidden, *values)):  # noqa: S608
                try:
                    yield _read_run(row)
                except Exception as error:
                    yield RunRecord(str(row[0]), "", "", RunStatus.DAMAGED, _NO_MANIFEST, 0.0, None, damage=str(error))


def _write(batch: Transaction, record: RunRecord) -> None:
    """Write the row of a run anew, under the same id."""
    row = batch.execute("SELECT config_hash FROM run WHERE id = ?", (record.id,)).fetchone()
    labels = record.id, record.instrument, record.subject, row[0], record.name, record.created
    values = record.subject, record.name, seal(_encode(record.manifest), *labels), record.id
    batch.execute("UPDATE run SET subject = ?, name = ?, manifest = ? WHERE id = ?", values)


def _whole(record: RunRecord) -> RunRecord:
    if record.damage:
        raise StoreError(record.damage)
    return record


def _read_run(row: tuple[Any, ...]) -> RunRecord:
    run, instrument, subject, config_hash, name, created, packed, status, finished, sealed, origin = row
    manifest = read_sealed(read_manifest, packed, run, instrument, subject, config_hash, name, created)
    if manifest.subject != subject:  # of version 0.3, which had no names of subjects
        manifest = structs.replace(manifest, subject=subject)
    totals = read_sealed(_decode_totals, sealed, run, "totals", status, finished) if sealed is not None else None
    if status not in set(RunStatus):
        raise StoreError(f"the record of run {run} is damaged: its status is '{status}'.")
    if not all(0 <= moment < _YEAR_9999 for moment in (created, finished or 0.0)):
        raise StoreError(f"the record of run {run} is damaged: its time is impossible.")
    if manifest.card is None and not instrument.replace("-", "_").isidentifier():
        raise StoreError(f"the record of run {run} is damaged: its instrument is '{instrument}'.")
    return RunRecord(
        run, instrument, subject, RunStatus(status), manifest, created, finished, name, totals, is_copied=bool(origin)
    )


def _totals(connection: Connection, run: str, why: str) -> Totals:
    row = connection.execute(COUNT, (run,)).fetchone()
    return Totals(int(row[0]), int(row[1]), spent_by(connection, run), why)
