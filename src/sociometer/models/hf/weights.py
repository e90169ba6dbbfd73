"""Weights for transformers: found by a name, identified by a digest or commit, and loaded on a device."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from logging import CRITICAL, getLogger
from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.errors import FailureKind, MachineryError, UsageError
from sociometer.core.lazy import lazy, require
from sociometer.core.words import first_line
from sociometer.models.files import local_models, readable_checksum, verified_file
from sociometer.models.local import threads_of

torch, transformers = lazy("torch"), lazy("transformers")  # both take seconds to load

DEVICES = ("cpu", "cuda", "mps")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_READ = (".safetensors", ".json", ".model", ".txt", ".jinja")
"""The endings of the files that make up a model in a folder: weights, configuration, tokenizer, chat template."""


class Weights(Struct, frozen=True):
    """Weights that were found but not loaded; `revision` is the commit on the hub or the digest of the files."""

    name: str
    folder: str
    """The folder, or the name on the hub."""
    revision: str
    gguf_file: str = ""
    commit: str = ""
    """The commit to load from the hub; empty for files on this machine."""

    def load(self, device: str = "") -> "LoadedWeights":
        """The model and its tokenizer on a device; by default on CUDA or MPS where there is one, else on the CPU."""
        place = device or chosen_device()
        # cuDNN plans its attention anew for every length of the text: two to three times slower, one token at a time.
        torch.backends.cuda.enable_cudnn_sdp(False)
        # Half precision is slow on most CPUs, and makes replies depend more on what shares a batch.
        dtype = torch.float32 if place == "cpu" else "auto"
        source: dict[str, Any] = {"trust_remote_code": False}
        if self.gguf_file:
            source["gguf_file"] = self.gguf_file
        if self.commit:
            source["revision"] = self.commit
        with _quiet(), _explained(self.name):
            if not self.commit and find_weights(self.name).revision != self.revision:
                raise MachineryError(
                    f"the files of '{self.name}' changed after this run started, so they were not loaded;"
                    " start a new run.",
                    FailureKind.LOCAL_MODEL,
                    fatal=True,
                )
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, **source)
            # A GGUF file is read as it is; elsewhere only safetensors, because a pickle can execute code.
            safe = {} if self.gguf_file else {"use_safetensors": True}
            model = transformers.AutoModelForCausalLM.from_pretrained(self.folder, dtype=dtype, **source, **safe)
        if place == "cpu" and (threads := threads_of()):
            torch.set_num_threads(threads)
        return LoadedWeights(model.to(place).eval(), tokenizer, place)


class LoadedWeights(Struct, frozen=True):
    """A causal language model of transformers in evaluation mode, with its tokenizer, on one device."""

    model: Any
    tokenizer: Any
    device: str


def find_weights(name: str, revision: str = "", *, fetch: bool = True) -> Weights:
    """The weights that a name means: a GGUF file, a folder with safetensors, or a model on the hub.

    A name of `list models` means that model's GGUF file. Without `fetch` the hub is not asked, and the revision of
    a model that is not in the hub's cache stays empty.
    """
    for module in ("torch", "transformers"):
        if find_spec(module) is None:
            require("hf", module)  # says what to install
    path = Path(name).expanduser()
    if name in local_models() and not path.exists():
        path = verified_file(name)
    if path.suffix.lower() == ".gguf":
        if not path.is_file():
            raise UsageError(f"the file '{path}' does not exist; give the path of a GGUF file.")
        return Weights(name, str(path.resolve().parent), readable_checksum(path), path.name)
    if path.is_dir():
        return Weights(name, str(path.resolve()), _digest_of_folder(path))
    if _HUB_NAME.fullmatch(name):
        commit = _commit(name, revision or "main", fetch=fetch)
        return Weights(name, name, commit, commit=commit)
    raise UsageError(
        f"'{name}' is neither a folder, a GGUF file nor a name on the Hugging Face hub; write OWNER/NAME, or a path."
    )


def chosen_device() -> str:
    """The device from SOCIOMETER_DEVICE, or the best one that torch finds."""
    chosen = os.environ.get("SOCIOMETER_DEVICE", "")
    if chosen:
        if chosen.partition(":")[0] not in DEVICES:
            raise UsageError(f"SOCIOMETER_DEVICE is '{chosen}'; it must be one of: {', '.join(DEVICES)}.")
        return chosen
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _digest_of_folder(folder: Path) -> str:
    """One digest of the names and contents of all files that transformers reads."""
    files = sorted(path for path in folder.iterdir() if path.suffix in _READ and path.is_file())
    if not (folder / "config.json").is_file() or not any(path.suffix == ".safetensors" for path in files):
        raise UsageError(
            f"the folder '{folder}' contains no model: it needs config.json and weights in *.safetensors."
            " For a GGUF file, give the path of the file."
        )
    together = sha256()
    for path in files:
        together.update(f"{path.name}\0{readable_checksum(path)}\n".encode())
    return together.hexdigest()


def _commit(name: str, revision: str, *, fetch: bool) -> str:
    """The commit of a model on the hub, from the hub's cache or else from the hub."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url, try_to_load_from_cache

    kept: object = try_to_load_from_cache(name, "config.json", revision=revision)
    if isinstance(kept, str):
        return Path(kept).parent.name
    if not fetch:
        return ""
    hub = getLogger("huggingface_hub")
    level = hub.level
    try:
        # It tells each of its retries.
        hub.setLevel(CRITICAL)
        # Without a network, a download would try again for half a minute; this asks once.
        get_hf_file_metadata(hf_hub_url(name, "config.json", revision=revision))
        return Path(hf_hub_download(name, "config.json", revision=revision)).parent.name
    except Exception as error:
        raise UsageError(
            f"'{name}' cannot be found on the Hugging Face hub: {first_line(error)}. Check the name and the network, or"
            " give a folder."
        ) from None
    finally:
        hub.setLevel(level)


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Turns the errors of transformers and of the hub into one message."""
    try:
        yield
    except (OSError, ValueError, ImportError, RuntimeError, KeyError) as error:
        why = f"{first_line(error)}. Check the name, the network (or HF_HUB_OFFLINE) and the free memory."
        if name.lower().endswith(".gguf"):
            why = f"the file is damaged or incomplete, or its model is not supported ({first_line(error)})"
        raise UsageError(f"transformers cannot load '{name}': {why}") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Hides the progress bars and advice of transformers while a model is loaded."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    # The reader of GGUF files has a bar of its own, which no switch of transformers hides.
    with suppress(ImportError):
        reader: Any = import_module("transformers.modeling_gguf_pytorch_utils")
        reader.tqdm = logging.tqdm
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
