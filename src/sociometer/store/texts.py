"""Texts, content-addressed and compressed; each is stored only once."""

import hashlib
import threading
import zlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sociometer.core.errors import StoreError, hint
from sociometer.store.database import Connection, Database
from sociometer.store.writer import TEXT, Transaction, WriterThread


class OtherVersion(StoreError):
    """A record that is whole and does not have the form that this version expects."""


_RAW, _DEFLATED, _SEALED = b"\x00", b"\x01", b"\x02"
_WORTH_COMPRESSING = 512
_LARGEST = 1 << 27
"""The most bytes that a compressed body may have: a store from somebody else must not fill the memory."""
_CHECK_BYTES = 8
_SHORT = 4_096
_REMEMBERED = 20_000
HASH_BYTES = 16
Value = TypeVar("Value")


def pack(body: bytes) -> bytes:
    """The body as stored: compressed if that makes it shorter."""
    if _WORTH_COMPRESSING <= len(body) <= _LARGEST:
        # A small window and table: setting up the usual ones takes longer than compressing a short text.
        window, table = (12, 4) if len(body) <= _SHORT else (15, 8)
        press = zlib.compressobj(1, zlib.DEFLATED, window, table)
        deflated = press.compress(body) + press.flush()
        if len(deflated) < len(body):
            return _DEFLATED + deflated
    return _RAW + body


def unpack(stored: bytes) -> bytes:
    """The original body; raise a StoreError if it is cut off or too large."""
    if stored[:1] != _DEFLATED:
        return bytes(stored[1:])
    press = zlib.decompressobj()
    body = press.decompress(stored[1:], _LARGEST)
    if not press.eof:
        raise StoreError(f"a stored text is cut off, or has more than {_LARGEST >> 20} MB.")
    return body


def seal(body: bytes, *place: object) -> bytes:
    """The body as stored, with a checksum over it and the place of its row, so that `unseal` notices any change."""
    packed = pack(body)
    return _SEALED + _check(packed, place) + packed


def unseal(stored: bytes, *place: object) -> bytes:
    """The body that was sealed; raise a StoreError if it was changed."""
    sealed = stored if isinstance(stored, bytes) else b""
    check, packed = sealed[1 : 1 + _CHECK_BYTES], sealed[1 + _CHECK_BYTES :]
    if sealed[:1] != _SEALED or check != _check(packed, place):
        raise StoreError(
            f"the record of {'/'.join(map(shown, place))} is damaged: its checksum does not match."
            f" Run '{hint('check store')}'."
        )
    return unpack(packed)


def read_sealed(decode: Callable[[bytes], Value], stored: bytes, *place: object) -> Value:
    """What was encoded and sealed; raise a StoreError if it was changed or cannot be read."""
    body = unseal(stored, *place)
    try:
        return decode(body)
    except Exception as error:
        where, why = "/".join(map(shown, place)), f"{type(error).__name__}: {error}".partition("\n")[0][:200]
        raise OtherVersion(f"the record of {where} is damaged or from another version ({why}).") from error


def _check(packed: bytes, place: tuple[object, ...]) -> bytes:
    return hashlib.blake2b(packed + repr(place).encode("utf-8", "replace"), digest_size=_CHECK_BYTES).digest()


def shown(part: object) -> str:
    """A part of a record's place in a message."""
    return part.hex() if isinstance(part, bytes) else str(part)


class StoredTexts:
    """Writes texts to the store, and remembers recent ones."""

    def __init__(self) -> None:
        self._known: dict[bytes, None] = {}

    def put(self, batch: Transaction, body: bytes) -> bytes:
        """Store the text unless it exists, and return its hash."""
        digest = hashlib.blake2b(body, digest_size=HASH_BYTES).digest()
        if digest not in self._known:
            batch.put(TEXT, (digest, pack(body)))
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[digest] = None
        return digest

    def forget(self) -> None:
        """Forget recent texts, after their transaction was rolled back."""
        self._known.clear()


class Connections:
    """What the parts of a store share: the one writer, recent texts, and a reader, which is opened on first use."""

    def __init__(self, database: Database, writer: WriterThread) -> None:
        self.database, self.writer, self.texts = database, writer, StoredTexts()
        self._reader: Connection | None = None
        self._opening = threading.Lock()

    @property
    def reader(self) -> Connection:
        """The read-only connection; a store that does not exist yet is created."""
        with self._opening:
            if self._reader is None:
                if not self.database.is_current():
                    self.writer.start()
                self._reader = self.database.connect(writable=False)
            return self._reader

    def close(self) -> None:
        """Close the reader, if it is open, and write everything queued."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self.writer.close()


class StorePart:
    """The base of the parts of the store: what they write, and reading with errors as StoreError."""

    def __init__(self, shared: Connections) -> None:
        self._shared, self._database, self._writer, self._texts = shared, shared.database, shared.writer, shared.texts

    @property
    def _reader(self) -> Connection:
        return self._shared.reader

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._database.errors():
            return self._reader.execute(query, values).fetchall()

    def _row(self, query: str, *values: object) -> Any:
        with self._database.errors():
            return self._reader.execute(query, values).fetchone()


def text_of(digest: bytes, stored: Any) -> bytes | None:
    """The text of a hash, or None if it was changed."""
    try:
        body = unpack(stored)
    except Exception:
        return None
    return body if hashlib.blake2b(body, digest_size=HASH_BYTES).digest() == digest else None


def open_text(digest: bytes, stored: Any) -> bytes:
    """The text of a hash; raise a StoreError if it was changed."""
    body = text_of(digest, stored)
    if body is None:
        raise StoreError(
            f"the text {shown(digest)} is damaged: its contents do not match its hash. Run '{hint('check store')}' to"
            " check the whole store."
        )
    return body


def get_texts(connection: Connection, hashes: Iterable[bytes]) -> list[bytes]:
    """The texts of those hashes, in order; raise a StoreError if one is missing or was changed."""
    found: list[bytes] = []
    for digest in hashes:
        row = connection.execute("SELECT body FROM text WHERE hash = ?", (digest,)).fetchone()
        if row is None:
            raise StoreError(f"the text {digest.hex()} is missing. Run '{hint('check store')}'.")
        found.append(open_text(digest, row[0]))
    return found


def split_hashes(joined: bytes) -> list[bytes]:
    """The single hashes in a blob of joined hashes."""
    if not isinstance(joined, bytes):
        raise StoreError("a record is damaged: the hashes of its messages cannot be read.")
    return [joined[start : start + HASH_BYTES] for start in range(0, len(joined), HASH_BYTES)]
