"""Downloads one large file from a model hub: continues after an interruption, and never mixes two versions."""

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from yarl import URL

from sociometer.core.errors import MachineryError, UsageError
from sociometer.models.http import proxy_for
from sociometer.models.keys import is_loopback

try:
    import fcntl
except ImportError:  # Windows has no flock: there, two processes that fetch one file are not told apart.
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import aiohttp

_MOST_BYTES = 16 << 30
_SPARE_BYTES = 256 << 20
_STALL_SECONDS = 60.0
_MOST_REDIRECTS = 5
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")
_REPEAT = "Repeat the command to continue the download."

Told = Callable[[int, int | None], None]
"""Called with the bytes so far and the total bytes (None if unknown)."""


class Remote(Struct, frozen=True, omit_defaults=True):
    """What the server says about a file: its version, and on a hub its commit and checksum."""

    url: str
    version: str = ""
    commit: str = ""
    sha256: str = ""


class _Answer(Struct, frozen=True):
    """A response that can be read, with what the hub and the server of the bytes said."""

    response: "aiohttp.ClientResponse"
    remote: Remote
    start: int
    total: int | None


async def download(url: str, part: Path, note: Path, told: Told) -> Remote:
    """Download the file to `part`, from where an earlier download of the version in `note` stopped."""
    import aiohttp

    require_safe(URL(url), URL(url))
    stall = float(os.environ.get("SOCIOMETER_DATA_STALL_SECONDS", _STALL_SECONDS))
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=stall, sock_read=stall)
    try:
        with _locked(part):
            async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as http:
                return await _continued(http, url, part, note, told)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise MachineryError(
            f"the download of {url} was interrupted ({type(error).__name__}: {error}). {_REPEAT}", "download"
        ) from None
    except OSError as error:
        raise UsageError(
            f"cannot write to {part.parent}: {error.strerror or error}; free some space, or set SOCIOMETER_CACHE to"
            " another folder."
        ) from None


def require_safe(url: URL, first: URL) -> None:
    """Raise a UsageError unless the address uses HTTPS; plain HTTP is allowed only on this machine."""
    local = is_loopback(url.host or "") and is_loopback(first.host or "")
    if url.scheme != "https" and not (url.scheme == "http" and local):
        raise UsageError(
            f"models are fetched over HTTPS only, not from {url.origin() if url.host else url}; set HF_ENDPOINT to an"
            " https:// address, or unset it."
        )


@contextlib.contextmanager
def _locked(part: Path) -> Iterator[None]:
    """Holds the partial file, so that two processes do not write to it at once."""
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"another process is fetching {part.name}; wait for it.") from None
        yield


async def _continued(http: "aiohttp.ClientSession", url: str, part: Path, note: Path, told: Told) -> Remote:
    noted = _noted(note)
    have = _size(part) if noted is not None and noted.url == url and noted.version else 0
    async with _asked(http, url, have) as answer:
        if not have or (noted is not None and answer.remote.version == noted.version and answer.start in (0, have)):
            return await _received(answer, part, note, told)
    # The file has changed, or the server sent another part of it: start over.
    async with _asked(http, url, 0) as answer:
        return await _received(answer, part, note, told)


async def _received(answer: _Answer, part: Path, note: Path, told: Told) -> Remote:
    if answer.response.status == 416:
        return answer.remote
    if answer.total is not None:
        _require_room(answer.remote.url, part, answer.total, answer.total - answer.start)
    _write_note(note, answer.remote)
    done = answer.start
    with part.open("r+b") as file:
        file.truncate(done)
        file.seek(done)
        async for block in answer.response.content.iter_any():
            done += len(block)
            if done > _MOST_BYTES:
                raise _too_large(answer.remote.url)
            await asyncio.to_thread(file.write, block)
            told(done, answer.total)
    if answer.total is not None and done != answer.total:
        raise MachineryError(f"{answer.remote.url} sent {done:,} of {answer.total:,} bytes. {_REPEAT}", "download")
    return answer.remote


@contextlib.asynccontextmanager
async def _asked(http: "aiohttp.ClientSession", url: str, have: int) -> AsyncIterator[_Answer]:
    """The response after all redirects, for the bytes from `have` on."""
    # Unencoded, so that the bytes on disk are the ones that a later Range counts.
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    first = here = URL(url)
    remote = Remote(url)
    for _ in range(_MOST_REDIRECTS + 1):
        async with http.get(here, headers=headers, proxy=proxy_for(here), allow_redirects=False) as response:
            remote = _with(remote, response, hub=here.host == first.host)
            if response.status in (301, 302, 303, 307, 308) and "Location" in response.headers:
                here = here.join(URL(response.headers["Location"]))
                require_safe(here, first)
                continue
            if response.status == 416 and have:
                # Everything is there already, or the file has become shorter.
                complete = _range(response)[1] == have
                yield _Answer(response, remote, have if complete else -1, have if complete else None)
                return
            _require_file(response, url)
            start, total = (_range(response)) if response.status == 206 else (0, response.content_length)
            yield _Answer(response, remote, start, total)
            return
    raise MachineryError(f"{url} was redirected more than {_MOST_REDIRECTS} times.", "download")


def _with(remote: Remote, response: "aiohttp.ClientResponse", *, hub: bool) -> Remote:
    """What is known about the file after one more response; the hub takes precedence over other hosts."""
    if not hub:
        return remote if remote.version else Remote(remote.url, response.headers.get("ETag", ""), remote.commit)
    linked = response.headers.get("X-Linked-Etag", "").strip('"')
    version = linked or response.headers.get("ETag", "").strip('"')
    commit = response.headers.get("X-Repo-Commit", "")
    return Remote(
        remote.url,
        version or remote.version,
        commit if _COMMIT.fullmatch(commit) else remote.commit,
        linked if _SHA256.fullmatch(linked) else remote.sha256,
    )


def _range(response: "aiohttp.ClientResponse") -> tuple[int, int | None]:
    """The first byte and the size in Content-Range; -1 if it cannot be read."""
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if found is None:
        return -1, None
    return int(found[1] or -1), None if found[2] == "*" else int(found[2])


def _require_file(response: "aiohttp.ClientResponse", url: str) -> None:
    if response.status in (401, 403):
        raise UsageError(f"{url} is not public (status {response.status}); nothing was saved.")
    if response.status == 404:
        raise UsageError(f"{url} does not exist (status 404); nothing was saved. Is HF_ENDPOINT the right server?")
    if response.status not in (200, 206):
        raise MachineryError(f"{url} returned status {response.status}. {_REPEAT}", "download")


def _require_room(url: str, part: Path, total: int, missing: int) -> None:
    if total > _MOST_BYTES:
        raise _too_large(url)
    free = shutil.disk_usage(part.parent).free
    if missing + _SPARE_BYTES > free:
        raise UsageError(
            f"{url} needs {missing / 1e9:.1f} GB more, and {part.parent} has {free / 1e9:.1f} GB free; free some space,"
            " or set SOCIOMETER_CACHE to another folder."
        )


def _too_large(url: str) -> UsageError:
    return UsageError(f"{url} is larger than {_MOST_BYTES >> 30} GiB; the download was stopped.")


def _size(part: Path) -> int:
    return part.stat().st_size


def _write_note(note: Path, remote: Remote) -> None:
    note.write_bytes(msgspec.json.encode(remote))


def _noted(note: Path) -> Remote | None:
    try:
        return msgspec.json.decode(note.read_bytes(), type=Remote)
    except (OSError, msgspec.DecodeError, ValueError):
        return None
