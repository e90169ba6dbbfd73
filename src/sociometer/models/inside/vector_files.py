"""Vectors on disk: one file for each passage, named by the digest of everything its numbers depend on."""

import hashlib
import os
import tempfile
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from sociometer.core.errors import StoreError
from sociometer.models.files import cache_folder

_CHECKSUM_BYTES = 32
FORMAT = 2
"""Raise it if the numbers in a file change their meaning."""


def digest_of(*parts: object) -> str:
    """The digest of JSON values."""
    return hashlib.sha256(msgspec.json.encode((FORMAT, *parts))).hexdigest()


def vectors_folder() -> Path:
    """The folder of all vectors, beside the models in the user's cache."""
    return cache_folder().parent / "inside"


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=".draft-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(draft).replace(path)
    except OSError as error:
        raise StoreError(
            f"cannot write vectors to {path.parent}: {error.strerror or error}; free some space, or set"
            " SOCIOMETER_CACHE to another folder."
        ) from None


class VectorFiles:
    """The vectors of one model; a file is written whole or not at all, and read only if its checksum is right."""

    def __init__(self, folder: Path, length: int) -> None:
        """`length` is the number of values in each file."""
        self.folder = folder
        self._length = length

    def has(self, digest: str) -> bool:
        """Whether there is a sound file; a damaged one counts as missing."""
        try:
            content = self._path(digest).read_bytes()
        except OSError:
            return False
        whole = len(content) == _CHECKSUM_BYTES + 4 * self._length
        return whole and hashlib.sha256(content[_CHECKSUM_BYTES:]).digest() == content[:_CHECKSUM_BYTES]

    def write(self, digest: str, values: NDArray[np.float32]) -> None:
        content = np.ascontiguousarray(values, dtype="<f4").tobytes()
        write_whole(self._path(digest), hashlib.sha256(content).digest() + content)

    def read(self, digest: str, start: int, count: int) -> NDArray[np.float32]:
        try:
            values = np.fromfile(self._path(digest), dtype="<f4", count=count, offset=_CHECKSUM_BYTES + 4 * start)
        except OSError as error:
            raise StoreError(f"cannot read vectors in {self.folder}: {error.strerror or error}.") from None
        if values.size != count:
            raise StoreError(f"a file in {self.folder} was changed while it was used; repeat the command.")
        return values

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.f32"
