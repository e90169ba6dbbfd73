"""Official data: its folder, the files that a run used, and the downloads of `get data`.

Each file comes from a pinned commit and is checked; downloads can be resumed, and no partial file is kept as complete.
"""

import json
import os
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import Struct
from platformdirs import user_data_path

from sociometer.core.card import Card, FileCard
from sociometer.core.checksums import checksum, checksum_like
from sociometer.core.errors import DataError, FailureKind, MachineryError
from sociometer.core.instrument import Instrument
from sociometer.core.language import later_languages
from sociometer.core.lazy import lazy
from sociometer.core.settings import Settings, is_paper
from sociometer.core.source import Source

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = lazy("aiohttp")

_HOME = "https://raw.githubusercontent.com"
_RECORDED = "checksums.json"
_BLOCK = 1 << 16
_MOST_BYTES = 2 << 30  # a server that never stops sending does not fill the disk
_LONGEST_NAME = 255
_STALL_SECONDS = 60.0


def data_root() -> Path:
    """The folder that `get data` fills; SOCIOMETER_DATA overrides it."""
    given = os.environ.get("SOCIOMETER_DATA")
    return Path(given) if given else user_data_path("sociometer", appauthor=False) / "data"


def data_folders(given: str) -> tuple[Path, ...]:
    """The folder to search: only the one the user gives, or else the one that `get data` fills."""
    if not given:
        return (data_root(),)
    if not Path(given).is_dir():
        why = "not a folder" if Path(given).exists() else "the folder does not exist"
        raise DataError(f"{why}; --data needs the folder that holds the official files", given)
    return (Path(given),)


def data_files(instrument: Instrument, source: Source) -> dict[str, str]:
    """The checksums of the files that a run uses: bundled items, files named by settings, official files."""
    bundled, later = instrument.folder / "data", later_languages(source.settings.get("language"))
    skipped = re.compile(rf"(?:^|[/._])(?:{'|'.join(later)})(?:[/._]|$)" if later else "(?!)")
    found = {"bundled": checksum(bundled, lambda name: bool(skipped.search(name))) if bundled.is_dir() else ""}
    for name in _path_settings(instrument.card, source.settings):
        named = {f"--{name} {text}": Path(text) for text in source.settings.texts(name)}
        found.update({option: checksum(path) for option, path in named.items() if path.exists()})
    for file in instrument.card.files():
        used = is_paper(source.settings) if file.prompts else source.official
        if used and (place := source.find(file.name)) is not None and place.is_file():
            found[file.name] = checksum(place)
    return found


def with_whole_paths(card: Card, settings: Settings) -> Settings:
    """The settings with every path made absolute, so that a run can be resumed from another folder."""
    absolute = {
        name: tuple(str(Path(text).absolute()) for text in settings.texts(name))
        if isinstance(settings[name], tuple)
        else str(Path(settings.text(name)).absolute())
        for name in _path_settings(card, settings)
    }
    return Settings({**settings, **absolute})


def _path_settings(card: Card, settings: Settings) -> list[str]:
    return [setting.name for setting in card.setting if setting.kind == "path" and settings[setting.name]]


class CheckedAgainst(StrEnum):
    """What a file was checked against; a checksum that is recorded at a download is checked from the next fetch on."""

    PINNED = "pinned checksum"
    FIRST_FETCH = "checksum of the first fetch"
    NOTHING = "nothing: checksum recorded now"
    UNKNOWN = "nothing: no checksum is known"


class Fetched(Struct, frozen=True):
    """The result for one file: fetched, resumed or present, and what it was checked against."""

    name: str
    path: str
    status: str
    bytes: int
    verified: CheckedAgainst


Told = Callable[[str, int, int | None], None]
"""Called with the file, the bytes so far and the total bytes (None if unknown)."""


async def fetch_files(files: Iterable[FileCard], root: Path, told: Told) -> list[Fetched]:
    """Download every file into `root`; files with the right checksum are kept."""
    stall = float(os.environ.get("SOCIOMETER_DATA_STALL_SECONDS", _STALL_SECONDS))
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=stall, sock_read=stall)
    async with aiohttp.ClientSession(timeout=timeout) as http:
        return [await _fetch(http, file, root, told) for file in files]


async def _fetch(http: "aiohttp.ClientSession", file: FileCard, root: Path, told: Told) -> Fetched:
    target = _inside(root, file.name)
    recorded = _read_recorded(root)
    expected = file.sha256 or file.git_blob or recorded.get(file.name, "")
    against = _checked_against(file, expected)
    if target.exists() and (not expected or checksum_like(target, expected) == expected):
        known = against if expected else CheckedAgainst.UNKNOWN
        return Fetched(file.name, str(target), "present", target.stat().st_size, known)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".part")
    resumed = partial.exists()
    home = os.environ.get("SOCIOMETER_DATA_HOME", _HOME).rstrip("/")
    url = f"{home}/{file.repository}/{file.commit}/{quote(file.path)}"
    have = partial.stat().st_size if resumed else 0
    await _download(http, url, partial, have, lambda done, total: told(file.name, done, total))
    found = checksum_like(partial, expected)
    if expected and found != expected:
        partial.unlink()
        raise DataError(
            f"the file at {url} has the wrong checksum ({found[:12]}…, expected {expected[:12]}…) and was"
            " deleted. Try again; if this repeats, the file has changed at its source.",
            file.name,
        )
    partial.replace(target)
    if not file.sha256 and not file.git_blob:
        _record(root, recorded | {file.name: found})
    size = target.stat().st_size
    return Fetched(file.name, str(target), "resumed" if resumed else "fetched", size, against)


def _checked_against(file: FileCard, expected: str) -> CheckedAgainst:
    if file.sha256 or file.git_blob:
        return CheckedAgainst.PINNED
    return CheckedAgainst.FIRST_FETCH if expected else CheckedAgainst.NOTHING


def _record(root: Path, checksums: dict[str, str]) -> None:
    beside = root / f".{_RECORDED}"
    beside.write_text(json.dumps(checksums, indent=1, sort_keys=True), encoding="utf-8")
    beside.replace(root / _RECORDED)


async def _download(
    http: "aiohttp.ClientSession", url: str, partial: Path, have: int, told: Callable[[int, int | None], None]
) -> None:
    # Unencoded, so that the bytes on disk are the ones a later Range counts.
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    try:
        async with http.get(url, headers=headers) as response:
            if response.status == 416 and have:
                return
            if response.status >= 400:
                said = f"{url} returned status {response.status}; nothing was saved."
                raise MachineryError(said, FailureKind.DOWNLOAD)
            continues = response.status == 206
            done = have if continues else 0
            total = None if response.content_length is None else response.content_length + done
            with partial.open("ab" if continues else "wb") as stream:
                async for block in response.content.iter_chunked(_BLOCK):
                    done += len(block)
                    if done > _MOST_BYTES:
                        stream.truncate(0)
                        said = f"{url} is larger than {_MOST_BYTES:,} bytes; nothing of it was kept."
                        raise MachineryError(said, FailureKind.DOWNLOAD)
                    stream.write(block)
                    told(done, total)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise MachineryError(
            f"cannot fetch {url} ({type(error).__name__}: {error}). Repeat the command to continue the download."
            " Without a network, copy the files by hand and set SOCIOMETER_DATA to their folder.",
            FailureKind.DOWNLOAD,
        ) from None


def _inside(root: Path, name: str) -> Path:
    parts = Path(name).parts
    if not parts or "\0" in name or max(map(len, parts)) > _LONGEST_NAME:
        raise DataError(f"{name[:80]!r} is not a valid file name for the data folder", root)
    target = (root / name).resolve()
    if target == root.resolve() or not target.is_relative_to(root.resolve()):
        raise DataError(f"'{name}' is outside the data folder", root)
    return target


def _read_recorded(root: Path) -> dict[str, str]:
    path = root / _RECORDED
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (ValueError, RecursionError):
        raise DataError("is not JSON; delete it to record the checksums again", path) from None
    return {str(name): str(value) for name, value in found.items()}
