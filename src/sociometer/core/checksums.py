"""Checksums of files, which are read in blocks, so that any size fits into memory."""

import hashlib
from collections.abc import Callable
from pathlib import Path

_GIT_DIGITS = 40


def checksum(path: Path, skip: Callable[[str], bool] = lambda name: False) -> str:
    """The SHA-256 of a file, or of the names and contents of all files below a folder, but for names to skip."""
    total, folder = hashlib.sha256(), path.is_dir()
    for part in sorted(part for part in path.rglob("*") if part.is_file()) if folder else (path,):
        if skip(name := part.relative_to(path).as_posix() if folder else ""):
            continue
        total.update(name.encode())
        with part.open("rb") as stream:
            hashlib.file_digest(stream, lambda: total)
    return total.hexdigest()


def checksum_like(path: Path, expected: str) -> str:
    """The git blob id of a file if one is expected, else its SHA-256."""
    if len(expected) != _GIT_DIGITS:
        return checksum(path)
    total = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: total).hexdigest()
