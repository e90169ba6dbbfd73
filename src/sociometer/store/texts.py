"""Texts, content-addressed and compressed; each is stored only once."""

import hashlib
import zlib
from collections.abc import Iterable

from sociometer.core.errors import StoreError
from sociometer.store.database import Connection
from sociometer.store.writer import TEXT, Transaction

_RAW, _DEFLATED, _SEALED = b"\x00", b"\x01", b"\x02"
_OBJECT = b"{"
"""The first byte of a score of schema 3, which was stored as plain JSON."""
_WORTH_COMPRESSING = 512
_CHECK_BYTES = 8
_SHORT = 4_096
_REMEMBERED = 20_000
HASH_BYTES = 16


def pack(body: bytes) -> bytes:
    """The body as stored: compressed if that makes it shorter."""
    if len(body) >= _WORTH_COMPRESSING:
        # A small window and table: setting up the usual ones takes longer than compressing a short text.
        window, table = (12, 4) if len(body) <= _SHORT else (15, 8)
        press = zlib.compressobj(1, zlib.DEFLATED, window, table)
        deflated = press.compress(body) + press.flush()
        if len(deflated) < len(body):
            return _DEFLATED + deflated
    return _RAW + body


def unpack(stored: bytes) -> bytes:
    """The original body."""
    return zlib.decompress(stored[1:]) if stored[:1] == _DEFLATED else bytes(stored[1:])


def seal(body: bytes, *place: object) -> bytes:
    """The body as stored, with a checksum over it and the place of its row, so that `unseal` notices any change."""
    packed = pack(body)
    return _SEALED + _check(packed, place) + packed


def unseal(stored: bytes, *place: object) -> bytes:
    """The body that was sealed; raise a StoreError if it was changed. Rows of earlier schemas have no checksum."""
    if stored[:1] != _SEALED:
        return bytes(stored) if stored[:1] == _OBJECT else unpack(stored)
    check, packed = stored[1 : 1 + _CHECK_BYTES], stored[1 + _CHECK_BYTES :]
    if check != _check(packed, place):
        raise StoreError(
            f"the record of {'/'.join(map(_shown, place))} is damaged: its checksum does not match."
            " Run 'sociometer check store' to check the whole store."
        )
    return unpack(packed)


def _check(packed: bytes, place: tuple[object, ...]) -> bytes:
    return hashlib.blake2b(packed + repr(place).encode("utf-8"), digest_size=_CHECK_BYTES).digest()


def _shown(part: object) -> str:
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


def get_texts(connection: Connection, hashes: Iterable[bytes]) -> list[bytes]:
    """The texts of those hashes, in order."""
    found: list[bytes] = []
    for digest in hashes:
        row = connection.execute("SELECT body FROM text WHERE hash = ?", (digest,)).fetchone()
        found.append(unpack(row[0]) if row else b"")
    return found


def split_hashes(joined: bytes) -> list[bytes]:
    """The single hashes in a blob of joined hashes."""
    return [joined[start : start + HASH_BYTES] for start in range(0, len(joined), HASH_BYTES)]
