"""A GGUF file run in process by llama.cpp (xllamacpp): no server, no key, no network."""

import http.client
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Identity, Reply, Request, Schema
from sociometer.core.errors import FailureKind, MachineryError, UsageError
from sociometer.core.lazy import require
from sociometer.core.player import Abilities
from sociometer.models.files import is_embedded, readable_checksum, remembered_checksum
from sociometer.models.in_process import InProcessModel, InProcessPlayer
from sociometer.models.openai import present, read_completion, read_text, talk_body
from sociometer.models.presets import ModelOptions


class Reuse(Struct, frozen=True):
    """Where to send a prompt, and how many of its first tokens this slot has already computed."""

    slot: int
    tokens: int
    exact: bool
    """Whether the slot's prompt differs right after these tokens; else it must be shortened first."""


class PrefixSlots:
    """The prompts of all slots, least recently used first."""

    def __init__(self, count: int, chunk_tokens: int) -> None:
        self.chunk_tokens = chunk_tokens
        self._prompts: dict[int, tuple[int, ...]] = dict.fromkeys(range(count), ())

    def find(self, prompt: Sequence[int]) -> Reuse:
        """The slot that shares the most whole chunks with the prompt; if none shares any, the least recently used."""
        best = Reuse(next(iter(self._prompts)), 0, exact=True)
        for slot, kept in self._prompts.items():
            shared = common_start(kept, prompt)
            # The last token is always computed: its result is what the reply begins with.
            whole = min(shared, len(prompt) - 1) // self.chunk_tokens * self.chunk_tokens
            if whole > best.tokens:
                best = Reuse(slot, whole, exact=shared == whole and len(kept) > whole)
        return best

    def keep(self, slot: int, prompt: Sequence[int]) -> None:
        """Record the prompt that the slot has computed; an empty one if that is not known."""
        del self._prompts[slot]
        self._prompts[slot] = tuple(prompt)


def common_start(*rows: Sequence[int]) -> int:
    """How many tokens all rows share at their start."""
    return next((at for at, tokens in enumerate(zip(*rows, strict=False)) if len(set(tokens)) > 1), min(map(len, rows)))


CONTEXT_TOKENS = 8192
_SLOTS = 2
"""Two prompts are kept: a dialogue has two parties, and one file may play both."""
_CHUNK_TOKENS = 64
"""On a CPU, reading 64 tokens at once is about as fast as reading 512; shorter chunks are slower."""
_GPU_CHUNK_TOKENS = 256
_BATCH_TOKENS = 2048
_QUIET = -1
_LOCAL_SECONDS = 60.0


class LlamaContext:
    """A loaded model with its prompts in slots; not safe for several threads at once."""

    def __init__(self, path: Path, threads: int = 0, *, reuse: bool = True) -> None:
        self._key = secrets.token_hex(16)
        self._slots = new_slots()
        params = _chat_params(path, threads, self._slots.chunk_tokens, self._key)
        self._server: Any = require("local").Server(params)
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

    def chat_prompt(self, body: dict[str, Any]) -> tuple[int, ...]:
        """The tokens that llama.cpp reads for a chat request; empty if it does not say."""
        asked: dict[str, Any] = {name: body[name] for name in _PROMPT if name in body}
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


def new_slots() -> PrefixSlots:
    """Empty slots, with the number of slots and the chunk length of a context on this machine."""
    return PrefixSlots(_SLOTS, _GPU_CHUNK_TOKENS if gpu_memory() else _CHUNK_TOKENS)


def gpu_memory() -> int:
    """The free memory of the GPUs that llama.cpp can use, in bytes; 0 without one."""
    if whole_number("SOCIOMETER_GPU_LAYERS", least=0) == 0:
        return 0
    llama = require("local")
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


def _chat_params(path: Path, threads: int, chunk_tokens: int, key: str) -> Any:
    params = require("local").CommonParams()
    params.model.path = str(path)
    params.verbosity = _QUIET
    params.warmup = False
    params.fit_params = False
    layers = whole_number("SOCIOMETER_GPU_LAYERS", least=0)
    if layers is not None:
        params.n_gpu_layers = layers
    if threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
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
        params.flash_attn_type = require("local").llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    return params


_PROMPT = ("messages", "tools", "chat_template_kwargs")
"""The parts of a chat request that a template puts into the prompt."""
_TEMPLATE, _MOST_METADATA = b"tokenizer.chat_template", 32 << 20
_MOST_TOKENS = 1024
"""The default reply limit, because small models seldom stop by themselves."""
_COMPACT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class LoadedModel(InProcessModel):
    """The weights of one file; it writes one reply at a time.

    Several requests in one llama.cpp context would share its batches, and then a reply could depend on what else is
    asked at the same moment.
    """

    def __init__(self, path: Path, sha256: str) -> None:
        super().__init__("llama.cpp")
        self.path = path
        self.sha256 = sha256
        self._threads = threads_of()
        self._context: LlamaContext | None = None

    def context(self) -> LlamaContext:
        if self._context is None:
            self._context = LlamaContext(self._checked(), self._threads)
        return self._context

    def unload(self) -> None:
        self._context = None

    def _checked(self) -> Path:
        """The file, if it is still the one that was named."""
        if remembered_checksum(self.path) != self.sha256:
            raise MachineryError(
                f"'{self.path.name}' changed after this run started, so it was not loaded; start a new run.",
                FailureKind.LOCAL_MODEL,
                fatal=True,
            )
        return self.path


class LocalPlayer(InProcessPlayer[LoadedModel]):
    """A model in a GGUF file, used with the chat template in the file."""

    most_in_flight = 1
    abilities = Abilities(continues_text=True)

    def __init__(self, name: str, path: Path, options: ModelOptions) -> None:
        require("local")
        sha256 = readable_checksum(path)
        self.abilities = msgspec.structs.replace(self.abilities, calls_tools="tools" in chat_template(path))
        revision = f"{options.revision} sha256:{sha256}" if options.revision else sha256
        self.identity = Identity("local", Path(name).name, revision=revision, stand_in=is_embedded(name))
        super().__init__((path.resolve(), sha256), lambda: LoadedModel(path, sha256))

    async def answer(self, request: Request) -> Reply:
        """One generation; the same seed gives the same reply."""
        plain, model = request.plain_text is not None, self.model
        body = text_body(request) if plain else chat_body(request)
        received = await self._run(lambda: (model.context().complete if plain else model.context().chat)(body))
        try:
            reply = read_text(received) if plain else read_completion(received, tools=bool(request.tools))
        except msgspec.DecodeError:
            raise self._refused(received) from None
        return msgspec.structs.replace(reply, served_model=self.identity.name)

    async def _run(self, call: Callable[[], Any]) -> bytes:
        """The answer, as an OpenAI-compatible server would send it."""
        try:
            return msgspec.json.encode(await self.model.thread.run(call))
        except (RuntimeError, ValueError, MemoryError, OSError) as error:
            name, said = self.model.path.name, str(error)
            message = f"llama.cpp failed on '{name}': {said}"
            if "init" in said:
                why = "the file is damaged or incomplete, or its model is not supported; fetch the file again."
                message = f"llama.cpp cannot load '{name}': {why}"
            raise MachineryError(message, FailureKind.LOCAL_MODEL, fatal=True) from None

    def _refused(self, received: bytes) -> MachineryError:
        answer = msgspec.json.decode(received)
        error = answer.get("error") if isinstance(answer, dict) else None
        said = (
            str(error.get("message", error)) if isinstance(error, dict) else received[:200].decode("utf-8", "replace")
        )
        kind = FailureKind.CONTEXT_TOO_LONG if "context" in said else FailureKind.REFUSED_REQUEST
        return MachineryError(f"'{self.identity.name}' rejected the request: {said}", kind)


def chat_template(path: Path) -> str:
    """The template in a GGUF file; llama.cpp does not tell the model of tools that a template does not mention."""
    with path.open("rb") as file:
        facts = file.read(_MOST_METADATA)
    start = facts.find(_TEMPLATE) + len(_TEMPLATE) + 12  # after the kind and the length of the value
    size = int.from_bytes(facts[start - 8 : start], "little") if _TEMPLATE in facts else 0
    return facts[start : start + size].decode("utf-8", "replace")


def chat_body(request: Request) -> dict[str, Any]:
    """The request in the format of llama.cpp."""
    body = _common_body(request)
    body |= msgspec.to_builtins(talk_body(request))
    if request.sampling.reasoning_effort is not None:
        body["chat_template_kwargs"] = {"reasoning_effort": request.sampling.reasoning_effort}
    if isinstance(request.answer_format, Schema):
        body["grammar"] = _grammar(request.answer_format)
    return body


def text_body(request: Request) -> dict[str, Any]:
    """A text to be continued, in the format of llama.cpp."""
    return {**_common_body(request), "prompt": request.plain_text}


def _common_body(request: Request) -> dict[str, Any]:
    sampling = request.sampling
    body = {
        "max_tokens": sampling.max_tokens or _MOST_TOKENS,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "stop": list(sampling.stop) or None,
    }
    return present(body)


def _grammar(answer_format: Schema) -> str:
    """The schema as a grammar without free white space, because small models may indent endlessly."""
    try:
        grammar: str = require("local").json_schema_to_grammar({**answer_format.schema, "x-guidance": _COMPACT})
    except (RuntimeError, ValueError) as error:
        said = f"the schema '{answer_format.name}' cannot be converted to a grammar: {error}"
        raise MachineryError(said, FailureKind.REFUSED_OPTION, fatal=True) from None
    return grammar


def threads_of() -> int:
    """The number of threads, from SOCIOMETER_THREADS; 0 means what llama.cpp or torch chooses.

    On a busy machine threads wait for each other in a loop; half as many are then faster and use a third of the CPU
    time. The replies are the same.
    """
    chosen, cores = whole_number("SOCIOMETER_THREADS"), os.cpu_count() or 1
    busy = hasattr(os, "getloadavg") and os.getloadavg()[0] > cores
    return chosen or (max(1, cores // 2) if busy else 0)
