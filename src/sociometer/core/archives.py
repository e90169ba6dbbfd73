"""Reads zip archives from outside, which may be oversized, damaged or hostile.

Members are read into memory by their exact names, each up to a limit. Nothing is unpacked to the disk and no archive
inside an archive is opened, so that absolute names, `..` and links have no effect.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sociometer.core.errors import DataError

# For other methods `zipfile` unpacks all that it has read in one step, whatever the size that the member claims.
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_MOST_NAMES = 8


def read_member(path: Path, name: str, most_bytes: int, *, next_step: str = "") -> bytes:
    """Return the content of one member.

    A DataError names the archive if it is damaged, lacks the member or has more than `most_bytes` in it. `next_step`
    ends the message about a damaged archive or a missing member.
    """
    with _opened(path, next_step) as archive:
        try:
            member = archive.getinfo(name)
        except KeyError:
            held = ", ".join(archive.namelist()[:_MOST_NAMES]) or "nothing"
            raise DataError(f"the archive has no member '{name}'; it holds: {held}{_after(next_step)}", path) from None
        return _content(archive, member, path, most_bytes, most_bytes)


def read_members(path: Path, most_bytes: int) -> dict[str, bytes]:
    """Return the content of every member, together at most `most_bytes`."""
    contents: dict[str, bytes] = {}
    left = most_bytes
    with _opened(path, "") as archive:
        for member in archive.infolist():
            contents[member.filename] = _content(archive, member, path, left, most_bytes)
            left -= len(contents[member.filename])
    return contents


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, left: int, most_bytes: int) -> bytes:
    too_large = f"member '{member.filename}' is too large; the limit is {most_bytes:,} bytes"
    if member.compress_type not in _METHODS:
        raise DataError(f"member '{member.filename}' uses an unsupported compression; use 'deflate'", path)
    if member.file_size > left:
        raise DataError(too_large, path)
    with archive.open(member) as stream:
        content = stream.read(left + 1)
    if len(content) > left:
        raise DataError(too_large, path)
    return content


@contextmanager
def _opened(path: Path, next_step: str) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path) from None
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError) as error:
        raise DataError(f"not a readable zip archive ({error}){_after(next_step)}", path) from None


def _after(next_step: str) -> str:
    return f"; {next_step}" if next_step else ""
