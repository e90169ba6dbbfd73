"""One llama.cpp context in this process (xllamacpp): loads a GGUF file, and answers one request after another."""

import http.client
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from sociometer.core.errors import UsageError
from sociometer.models.prefix_slots import PrefixSlots
from sociometer.models.speed import Speed

CONTEXT_TOKENS = 8192
_SLOTS = 2
"""Two prompts are kept: a dialogue has two parties, and one file may play both."""
_CHUNK_TOKENS = 64
"""On a CPU, reading 64 tokens at once is about as fast as reading 512; shorter chunks are slower."""
_GPU_CHUNK_TOKENS = 256
_BATCH_TOKENS = 2048
_QUIET = -1
_LOCAL_SECONDS = 60.0
_MEASURED_READ = 64
_MEASURED_WRITTEN = 5
_SLOWEST = 1e-3


class LlamaContext:
    """A loaded model with its prompts in slots; not safe for several threads at once."""

    def __init__(self, path: Path, threads: int = 0, *, reuse: bool = True) -> None:
        self._key = secrets.token_hex(16)
        self._slots = new_slots()
        params = _chat_params(path, threads, self._slots.chunk_tokens, self._key)
        self._server: Any = import_llama().Server(params)
        self._reuse = reuse
        self.read_tokens = 0
        """Prompt tokens that were computed."""
        self.reused_tokens = 0
        """Prompt tokens that were taken from an earlier prompt."""

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """The chat completion as an OpenAI-compatible server sends it, or its error."""
        prompt = self.chat_prompt(body) if self._reuse else ()
        return self._answer(self._server.handle_chat_completions, body, prompt)

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """The completion of `prompt`, a text or a list of tokens, or its error."""
        given = body["prompt"]
        prompt = (self.tokens(given) if isinstance(given, str) else given) if self._reuse else ()
        return self._answer(self._server.handle_completions, body, prompt)

    def tokens(self, text: str) -> tuple[int, ...]:
        """The tokens of a prompt, as llama.cpp reads it; empty if it gives none."""
        found = self._post("/tokenize", {"content": text, "add_special": True, "parse_special": True})
        return tuple(found.get("tokens", ()))

    def measure(self) -> Speed:
        """The speed now: reads one chunk and writes a few tokens."""
        body = {"prompt": list(range(_MEASURED_READ)), "max_tokens": _MEASURED_WRITTEN, "ignore_eos": True}
        timings = self._answer(self._server.handle_completions, body, ()).get("timings", {})
        return Speed(*(max(timings.get(name, 0.0), _SLOWEST) for name in ("prompt_per_second", "predicted_per_second")))

    def chat_prompt(self, body: dict[str, Any]) -> tuple[int, ...]:
        """The tokens that llama.cpp reads for a chat request; empty if it does not say."""
        asked: dict[str, Any] = {name: body[name] for name in ("messages", "chat_template_kwargs") if name in body}
        text = self._post("/apply-template", asked).get("prompt")
        return self.tokens(text) if isinstance(text, str) else ()

    def _answer(self, handle: Any, body: dict[str, Any], prompt: Sequence[int]) -> dict[str, Any]:
        """The answer, with the prefix of an earlier prompt where that changes nothing."""
        found = self._slots.find(prompt)
        self._slots.keep(found.slot, ())
        body = {**body, "id_slot": found.slot}
        reused = found.tokens
        if reused and not found.exact and not self._shorten(found.slot, prompt, reused):
            reused = 0
        answer: dict[str, Any] = handle({**body, "cache_prompt": bool(reused)})
        if reused and "timings" in answer and answer["timings"]["cache_n"] != reused:
            # This model's memory cannot be cut there (a sliding window, a recurrent state): do without from now on.
            self._reuse = False
            answer = handle({**body, "cache_prompt": False})
        if "timings" in answer:
            self._slots.keep(found.slot, prompt)
            self.read_tokens += answer["timings"]["prompt_n"]
            self.reused_tokens += answer["timings"]["cache_n"]
        return answer

    def _shorten(self, slot: int, prompt: Sequence[int], length: int) -> bool:
        """Cut the slot's prompt to this length, by a prompt that differs right after it; whether that worked."""
        other = 0 if prompt[length] else 1
        body = {"prompt": [*prompt[:length], other], "max_tokens": 1, "id_slot": slot, "cache_prompt": True}
        answer = self._server.handle_completions(body)
        if "timings" in answer and answer["timings"]["cache_n"] == length:
            return True
        self._reuse = False
        return False

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """llama.cpp's answer on its own loopback port, the only place where it renders and tokenizes a prompt."""
        address = urlsplit(self._server.listening_address)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_LOCAL_SECONDS)
        try:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
            connection.request("POST", path, msgspec.json.encode(body), headers)
            received = msgspec.json.decode(connection.getresponse().read())
        except (OSError, http.client.HTTPException, msgspec.DecodeError):
            return {}
        finally:
            connection.close()
        return received if isinstance(received, dict) else {}


def load_embedder(path: Path, threads: int = 0) -> Any:
    """A server that gives the mean vector of a text."""
    llama = import_llama()
    params = _params(path, threads)
    params.embedding = True
    params.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.n_batch = params.n_ubatch = params.n_ctx = _BATCH_TOKENS
    params.api_keys = [secrets.token_hex(16)]
    return llama.Server(params)


def import_llama() -> Any:
    """The module xllamacpp; raise a UsageError that names the extra if it is not installed."""
    try:
        import xllamacpp
    except ImportError:
        raise UsageError(
            "local models need the extra 'local'; install it with: pip install 'sociometer[local]'."
        ) from None
    return xllamacpp


def new_slots() -> PrefixSlots:
    """Empty slots, with the number of slots and the chunk length of a context on this machine."""
    return PrefixSlots(_SLOTS, _GPU_CHUNK_TOKENS if gpu_memory() else _CHUNK_TOKENS)


def gpu_memory() -> int:
    """The free memory of the GPUs that llama.cpp can use, in bytes; 0 without one."""
    if whole_number("SOCIOMETER_GPU_LAYERS", least=0) == 0:
        return 0
    llama = import_llama()
    kinds = llama.ggml_backend_dev_type
    on_cpu = (kinds.GGML_BACKEND_DEVICE_TYPE_CPU, kinds.GGML_BACKEND_DEVICE_TYPE_ACCEL)
    return sum(device["memory_free"] for device in llama.get_device_info() if device["type"] not in on_cpu)


def whole_number(variable: str, least: int = 1) -> int | None:
    """The value of an environment variable; None if it is not set."""
    chosen = os.environ.get(variable, "")
    if not chosen:
        return None
    if not (chosen.isascii() and chosen.isdigit()) or int(chosen) < least:
        raise UsageError(f"{variable} is '{chosen}'; it must be a whole number of {least} or more.")
    return int(chosen)


def _params(path: Path, threads: int) -> Any:
    params = import_llama().CommonParams()
    params.model.path = str(path)
    params.verbosity = _QUIET
    params.warmup = False
    params.fit_params = False
    params.n_parallel = 1
    layers = whole_number("SOCIOMETER_GPU_LAYERS", least=0)
    if layers is not None:
        params.n_gpu_layers = layers
    if threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    return params


def _chat_params(path: Path, threads: int, chunk_tokens: int, key: str) -> Any:
    params = _params(path, threads)
    params.api_keys = [key]
    params.n_parallel = _SLOTS
    params.n_ctx = _SLOTS * CONTEXT_TOKENS
    params.n_batch = _BATCH_TOKENS
    params.n_ubatch = chunk_tokens
    # Prompts are kept in slots alone, chosen here, so that it is always known what a reply was computed from.
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    params.n_ctx_checkpoints = 0
    if not gpu_memory():
        # On a CPU, flash attention splits long prompts among the threads: its rounding depends on their number.
        params.flash_attn_type = import_llama().llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    return params
