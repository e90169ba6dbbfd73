"""The open models that `models pull` fetches from the Hugging Face hub, and the record of what was fetched.

Only verified checksums are pinned here: the first fetch records the commit and the SHA-256 of a file, and
every later fetch and use is checked against them.
"""

import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

import msgspec
from msgspec import Struct

from sociometer.core.errors import UsageError
from sociometer.models.pull import cache_folder, checksum

_HUB = "https://huggingface.co"
_MAGIC = b"GGUF"


class HubModel(Struct, frozen=True):
    """A GGUF file on the hub."""

    help: str
    repository: str
    file: str
    licence: str
    revision: str = "main"
    sha256: str = ""
    """The pinned checksum; empty if the first fetch records it."""


HUB_MODELS: dict[str, HubModel] = {
    "qwen2.5-0.5b": HubModel(
        "Qwen2.5-0.5B-Instruct, 4-bit, about 0.5 GB",
        "Qwen/Qwen2.5-0.5B-Instruct-GGUF",
        "qwen2.5-0.5b-instruct-q4_k_m.gguf",
        "Apache-2.0",
    ),
    "qwen2.5-1.5b": HubModel(
        "Qwen2.5-1.5B-Instruct, 4-bit, about 1.1 GB",
        "Qwen/Qwen2.5-1.5B-Instruct-GGUF",
        "qwen2.5-1.5b-instruct-q4_k_m.gguf",
        "Apache-2.0",
    ),
    "smollm2-1.7b": HubModel(
        "SmolLM2-1.7B-Instruct, 4-bit, about 1.1 GB",
        "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
        "smollm2-1.7b-instruct-q4_k_m.gguf",
        "Apache-2.0",
    ),
    "phi-3.5-mini": HubModel(
        "Phi-3.5-mini-instruct (3.8 B), 4-bit, about 2.4 GB",
        "bartowski/Phi-3.5-mini-instruct-GGUF",
        "Phi-3.5-mini-instruct-Q4_K_M.gguf",
        "MIT",
    ),
    "qwen2.5-7b": HubModel(
        "Qwen2.5-7B-Instruct, 4-bit, about 4.7 GB",
        "bartowski/Qwen2.5-7B-Instruct-GGUF",
        "Qwen2.5-7B-Instruct-Q4_K_M.gguf",
        "Apache-2.0",
    ),
}


class CheckedAgainst(StrEnum):
    """What a fetched file was checked against."""

    PINNED = "pinned checksum"
    FIRST_FETCH = "checksum of the first fetch"
    HUB = "checksum that the hub gave; recorded now"
    NOTHING = "nothing: checksum recorded now"


class Recorded(Struct, frozen=True, omit_defaults=True):
    """What the first fetch of a file found."""

    sha256: str
    commit: str = ""


class Pulled(Struct, frozen=True):
    """A model on this machine, and what its file was checked against."""

    path: Path
    sha256: str
    commit: str
    verified: CheckedAgainst


def place_of(name: str) -> Path:
    """The path of a hub model's file, whether or not it is there."""
    return cache_folder() / HUB_MODELS[name].file


def expected(name: str) -> str:
    """The checksum that a hub model's file must have; empty before the first fetch."""
    recorded = _record().get(_key(name))
    return HUB_MODELS[name].sha256 or (recorded.sha256 if recorded else "")


async def fetch(name: str, told: Callable[[str, int, int | None], None]) -> Pulled:
    """The model's file, downloaded if it is missing or damaged."""
    from sociometer.models.hub_download import download

    model, path, sha256 = HUB_MODELS[name], place_of(name), expected(name)
    recorded = _record().get(_key(name), Recorded(""))
    against = CheckedAgainst.PINNED if model.sha256 else CheckedAgainst.FIRST_FETCH
    if sha256 and path.is_file() and checksum(path) == sha256:
        return Pulled(path, sha256, recorded.commit, against)
    part, note = _partial(path)
    revision = recorded.commit or model.revision
    url = f"{_endpoint()}/{model.repository}/resolve/{revision}/{quote(model.file)}"
    remote = await download(url, part, note, lambda done, total: told(name, done, total))
    found = checksum(part)
    if not sha256:
        against = CheckedAgainst.HUB if remote.sha256 else CheckedAgainst.NOTHING
    _require_weights(url, part, found, sha256 or remote.sha256)
    note.unlink(missing_ok=True)
    part.replace(path)
    _write_record(_record() | {_key(name): Recorded(found, recorded.commit or remote.commit)})
    return Pulled(path, found, recorded.commit or remote.commit, against)


def remove(name: str) -> int:
    """Delete a hub model's file and what was fetched of it, and return the freed bytes; its record stays."""
    path = place_of(name)
    freed = 0
    for file in (path, *_partial(path)):
        if file.is_file():
            freed += file.stat().st_size
            file.unlink()
    return freed


def _require_weights(url: str, part: Path, found: str, sha256: str) -> None:
    """Delete the download and raise a UsageError unless it is a GGUF file with this checksum."""
    if sha256 and found != sha256:
        wrong = (
            f"the file at {url} has the wrong checksum (SHA-256 {found[:12]}…, expected {sha256[:12]}…) and was"
            " deleted. Try again. If this repeats, the file has changed at its source; to accept the new one, delete"
            f" {_record_file()}."
        )
    elif not _begins_like_weights(part):
        wrong = f"{url} is not a GGUF file and was deleted. Is HF_ENDPOINT the right server?"
    else:
        return
    part.unlink()
    raise UsageError(wrong)


def _partial(path: Path) -> tuple[Path, Path]:
    """The partial download of a file, and the note next to it that says which version it is a part of."""
    return path.with_name(path.name + ".part"), path.with_name(path.name + ".part.json")


def _begins_like_weights(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _endpoint() -> str:
    return (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")


def _key(name: str) -> str:
    return f"{HUB_MODELS[name].repository}/{HUB_MODELS[name].file}"


def _record_file() -> Path:
    return cache_folder() / "hub.json"


def _record() -> dict[str, Recorded]:
    path = _record_file()
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Recorded])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise UsageError(f"cannot read {path} ({error}); delete it to record the checksums again.") from None


def _write_record(record: dict[str, Recorded]) -> None:
    path = _record_file()
    draft = path.with_name(f".hub-{os.getpid()}")
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1))
    draft.replace(path)
