"""The local models by name: the embedded one and those of the hub, and their files on this machine."""

from pathlib import Path

from sociometer.core.errors import UsageError, unknown
from sociometer.models import hub
from sociometer.models.hub import HUB_MODELS
from sociometer.models.pull import PULLABLE, checksum
from sociometer.models.pull import place_of as embedded_place


def local_models() -> dict[str, str]:
    """Each name that can follow `local/` and `models pull`, with what it is."""
    embedded = {name: model.help for name, model in PULLABLE.items()}
    return embedded | {name: model.help for name, model in HUB_MODELS.items()}


def licence_of(name: str) -> str:
    """The licence of a model's weights."""
    return PULLABLE[name].licence if name in PULLABLE else HUB_MODELS[require_known(name)].licence


def file_of(name: str) -> Path | None:
    """The model's file if it is on this machine, else None; an unfinished download does not count."""
    path = _place(name)
    return path if path.is_file() else None


def verified_file(name: str) -> Path | None:
    """The model's file if it is on this machine; raise a UsageError if it is not the one that was fetched."""
    path = file_of(name)
    if path is None:
        return None
    expected = PULLABLE[name].sha256 if name in PULLABLE else hub.expected(name)
    found = checksum(path)
    if found != expected:
        wanted = f"not {expected[:12]}…" if expected else "and none is recorded for it"
        raise UsageError(
            f"{path} is not the file of '{name}': its checksum is {found[:12]}…, {wanted}."
            f" Run 'sociometer models pull {name}' to fetch it again."
        )
    return path


def remove_file(name: str) -> int:
    """Delete the model's file and return the freed bytes; raise a UsageError if there is none."""
    path = _place(name)
    try:
        if name in HUB_MODELS:
            freed = hub.remove(name)
        else:
            freed = path.stat().st_size if path.is_file() else 0
            path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot remove {path}: {error.strerror or error}.") from None
    if not freed:
        raise UsageError(f"the model '{name}' is not on this machine; 'sociometer models list' shows those that are.")
    return freed


def _place(name: str) -> Path:
    return embedded_place(name) if name in PULLABLE else hub.place_of(require_known(name))


def require_known(name: str) -> str:
    """The name; raise a UsageError if no local model has it."""
    if name not in HUB_MODELS and name not in PULLABLE:
        raise unknown("local model", name, local_models(), "'run' also accepts a file, as in local/PATH.gguf.")
    return name
