"""A GGUF file run in process by llama.cpp (xllamacpp): no server, no key, no network."""

import asyncio
import atexit
import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.answer_format import Schema
from sociometer.core.conversation import Abilities, Identity, Reply, Request
from sociometer.core.errors import MachineryError, UsageError
from sociometer.models.completions import first_token_likelihoods, read_text
from sociometer.models.openai import read_completion, read_vectors
from sociometer.models.options import ModelOptions
from sociometer.models.pull import PULLABLE, checksum
from sociometer.models.serial_thread import SerialThread

_CONTEXT_TOKENS = 8192
_MOST_TOKENS = 1024
"""The default reply limit, because small models seldom stop by themselves."""
_PATIENCE_SECONDS = 5.0
_QUIET = -1
_LISTED = 100
"""How many of the likeliest first tokens are listed where continuations are scored."""
_COMPACT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class LoadedModel:
    """The weights of one file, loaded on first use and shared by its players; one generation at a time."""

    def __init__(self, path: Path, sha256: str) -> None:
        self.path = path
        self.sha256 = sha256
        self.users = 0
        self.turns = SerialThread("llama.cpp")
        self._chat: Any = None
        self._vectors: Any = None

    def chat(self, body: dict[str, Any]) -> bytes:
        """The chat completion, as an OpenAI-compatible server would send it."""
        if self._chat is None:
            self._chat = self._loaded(embedding=False)
        return msgspec.json.encode(self._chat.handle_chat_completions(body))

    def text(self, body: dict[str, Any]) -> bytes:
        """The continuation of a plain text, as an OpenAI-compatible server would send it."""
        if self._chat is None:
            self._chat = self._loaded(embedding=False)
        return msgspec.json.encode(self._chat.handle_completions(body))

    def vectors(self, body: dict[str, Any]) -> bytes:
        """The embeddings, as an OpenAI-compatible server would send them."""
        if self._vectors is None:
            self._vectors = self._loaded(embedding=True)
        return msgspec.json.encode(self._vectors.handle_embeddings(body))

    def _loaded(self, *, embedding: bool) -> Any:
        if checksum(self.path) != self.sha256:
            raise MachineryError(
                f"'{self.path.name}' changed after this run started, so it was not loaded; start a new run.",
                "local model",
                fatal=True,
            )
        return _load(self.path, embedding=embedding)

    def unload(self) -> None:
        """Frees the weights."""
        self._chat = self._vectors = None


_LOADED: dict[tuple[Path, str], LoadedModel] = {}


class LocalPlayer:
    """A model in a GGUF file, used with the chat template in the file."""

    journaled = True
    abilities = Abilities(continues_text=True, scores_chat="first token", scores_text="first token")

    def __init__(self, name: str, path: Path, options: ModelOptions) -> None:
        _import()
        try:
            sha256 = checksum(path)
        except OSError as error:
            raise UsageError(f"cannot read '{path}': {error.strerror or error}.") from None
        revision = f"{options.revision} sha256:{sha256}" if options.revision else sha256
        self._identity = Identity("local", Path(name).name, revision=revision, stand_in=name in PULLABLE)
        self._model = _LOADED.setdefault((path.resolve(), sha256), LoadedModel(path, sha256))
        self._model.users += 1
        self._closed = False

    @property
    def identity(self) -> Identity:
        return self._identity

    def __repr__(self) -> str:
        return f"LocalPlayer({self._identity.name})"

    async def answer(self, request: Request) -> Reply:
        """One generation; the same seed gives the same reply. Continuations are scored by their first token."""
        plain = request.plain_text is not None
        body, call = (text_body(request), self._model.text) if plain else (chat_body(request), self._model.chat)
        received = await self._run(lambda: call(body))
        try:
            reply = read_text(received) if plain else read_completion(received)
        except msgspec.DecodeError:
            raise self._refused(received) from None
        if request.continuations:
            likelihoods = first_token_likelihoods(reply.logprobs, request.continuations)
            return Reply("", usage=reply.usage, served_model=self._identity.name, likelihoods=likelihoods)
        return msgspec.structs.replace(reply, served_model=self._identity.name)

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """A vector for each text: the mean over its tokens."""
        if not texts:
            return ()
        body = {"input": list(texts)}
        received = await self._run(lambda: self._model.vectors(body))
        try:
            return tuple(read_vectors(received, len(texts)))
        except (msgspec.DecodeError, ValueError):
            raise self._refused(received) from None

    async def close(self) -> None:
        """Free the weights if no other player uses them."""
        if self._closed:
            return
        self._closed = True
        self._model.users -= 1
        if self._model.users == 0:
            # A generation cannot be broken off: rather than wait for its end, leave the rest to the end of the process.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    await self._model.turns.run(self._model.unload)
                    _LOADED.pop((self._model.path.resolve(), self._model.sha256), None)
            self._model.turns.end()

    async def _run(self, call: Callable[[], bytes]) -> bytes:
        try:
            return await self._model.turns.run(call)
        except (RuntimeError, ValueError, MemoryError, OSError) as error:
            raise MachineryError(
                f"llama.cpp failed on '{self._model.path.name}': {error}", "local model", fatal=True
            ) from None

    def _refused(self, received: bytes) -> MachineryError:
        answer = msgspec.json.decode(received)
        error = answer.get("error") if isinstance(answer, dict) else None
        said = (
            str(error.get("message", error)) if isinstance(error, dict) else received[:200].decode("utf-8", "replace")
        )
        kind = "context too long" if "context" in said else "refused request"
        return MachineryError(f"'{self._identity.name}' rejected the request: {said}", kind)


def chat_body(request: Request) -> dict[str, Any]:
    """The request in the format of llama.cpp.

    Its prompt cache stays off: with it, a reply can depend on earlier requests, even which option is chosen.
    """
    body = _common_body(request)
    body["messages"] = [{"role": message.role, "content": message.content} for message in request.messages]
    if "logprobs" in body:
        body["top_logprobs"] = body["logprobs"]
        body["logprobs"] = True
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
    body: dict[str, Any] = {"max_tokens": sampling.max_tokens or _MOST_TOKENS, "cache_prompt": False}
    for name in ("temperature", "top_p", "seed"):
        value = getattr(sampling, name)
        if value is not None:
            body[name] = value
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    listed = _LISTED if request.continuations else sampling.logprobs
    if listed is not None:
        body["logprobs"] = listed
    return body


def _grammar(answer_format: Schema) -> str:
    """The schema as a grammar without free white space, because small models may indent endlessly."""
    try:
        grammar: str = _import().json_schema_to_grammar({**answer_format.schema, "x-guidance": _COMPACT})
    except (RuntimeError, ValueError) as error:
        said = f"the schema '{answer_format.name}' cannot be converted to a grammar: {error}"
        raise MachineryError(said, "refused option", fatal=True) from None
    return grammar


def _import() -> Any:
    try:
        import xllamacpp
    except ImportError:
        raise UsageError(
            "local models need the extra 'local'; install it with: pip install 'sociometer[local]'."
        ) from None
    return xllamacpp


def _load(path: Path, *, embedding: bool) -> Any:
    llama = _import()
    params = llama.CommonParams()
    params.model.path = str(path)
    params.verbosity = _QUIET
    params.n_parallel = 1
    params.n_ctx = _CONTEXT_TOKENS
    params.warmup = False
    params.fit_params = False
    threads = _threads()
    if threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    if embedding:
        params.embedding = True
        params.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        params.n_batch = params.n_ubatch = 2048
        params.n_ctx = 2048
    return llama.Server(params)


def _threads() -> int:
    """The number of threads, from SOCIOMETER_THREADS; 0 means that llama.cpp uses every core.

    On a busy machine its threads wait for each other in a loop: half as many are then faster and use a third of the
    time. The replies are the same.
    """
    chosen = os.environ.get("SOCIOMETER_THREADS", "")
    if chosen:
        if not chosen.isdigit() or not int(chosen):
            raise UsageError(f"SOCIOMETER_THREADS is '{chosen}'; it must be a whole number of 1 or more.")
        return int(chosen)
    cores = os.cpu_count() or 1
    busy = hasattr(os, "getloadavg") and os.getloadavg()[0] > cores
    return max(1, cores // 2) if busy else 0


@atexit.register
def _unload_all() -> None:
    # llama.cpp's threads wait for the interpreter; left to the very end of the process they would wait for ever.
    for model in tuple(_LOADED.values()):
        model.unload()
    _LOADED.clear()
