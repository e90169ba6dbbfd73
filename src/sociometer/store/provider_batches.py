"""Batches that wait at a provider: written down before they are created, so that a kill at any moment loses none."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.store.database import Connection, Table
from sociometer.store.writer import Writer


class HeldRequest(Struct, frozen=True, array_like=True):
    """A request in a batch: its journal key, and the worst case that was reserved for it."""

    key: bytes
    tokens: int = 0
    cost: float = 0.0


class ProviderBatch(Struct, frozen=True):
    """A batch; without an `id` it is unknown whether the provider has created it."""

    label: str
    """Our name for the batch, which the provider stores with it."""
    run: str
    model: str
    requests: tuple[HeldRequest, ...]
    id: str = ""
    created: float = 0.0


PROVIDER_BATCH = Table("provider_batch", ("label", "run", "served", "id", "held", "created"), 1)
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[HeldRequest, ...]).decode


class ProviderBatches:
    """The batches of all runs whose replies are not all in the journal."""

    def __init__(self, writer: Writer, reader: Connection, errors: Callable[[], AbstractContextManager[None]]) -> None:
        """`errors` turns the errors of reading into StoreError."""
        self._writer = writer
        self._reader = reader
        self._errors = errors

    def add(self, batch: ProviderBatch) -> "asyncio.Future[Any]":
        """Queue a batch that is about to be created; the future is done when it is on disk."""
        row = (batch.label, batch.run, batch.model, batch.id, _encode(batch.requests), batch.created or time.time())
        return self._writer.committed(
            lambda store: store.execute(
                "INSERT INTO provider_batch (label, run, served, id, held, created) VALUES (?, ?, ?, ?, ?, ?)", row
            )
        )

    def identify(self, label: str, number: str) -> "asyncio.Future[Any]":
        """Queue the provider's id of a batch; the future is done when it is on disk."""
        return self._writer.committed(
            lambda store: store.execute("UPDATE provider_batch SET id = ? WHERE label = ?", (number, label))
        )

    def remove(self, label: str) -> None:
        """Queue the deletion of a batch that was never created, or whose replies are all stored."""
        self._writer.execute("DELETE FROM provider_batch WHERE label = ?", (label,))

    def of_run(self, run: str) -> list[ProviderBatch]:
        """The batches of a run, the oldest first."""
        with self._errors():
            rows = self._reader.execute(
                "SELECT label, run, served, held, id, created FROM provider_batch WHERE run = ? ORDER BY created",
                (run,),
            ).fetchall()
        return [ProviderBatch(label, of, model, _decode(held), id_, at) for label, of, model, held, id_, at in rows]
