"""Open weights run in process by transformers, on the CPU, CUDA or MPS; requests in flight share one batch."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs

from sociometer.core.conversation import Identity, Reply, Request, Usage
from sociometer.core.errors import FailureKind, MachineryError, SociometerError, UsageError
from sociometer.core.lazy import lazy
from sociometer.core.player import Abilities
from sociometer.models.files import is_embedded
from sociometer.models.finish import split_reasoning
from sociometer.models.hf.weights import LoadedWeights, Weights, chosen_device, find_weights
from sociometer.models.hf.writing import Prompt, Writer, Written
from sociometer.models.in_process import InProcessModel, InProcessPlayer
from sociometer.models.presets import ModelOptions

torch = lazy("torch")

_MOST_TOKENS = 1024
"""The default reply limit, because small models seldom stop by themselves."""
_MOST_ROWS = 256
_GATHERING_SECONDS = 0.01
_FEW = 8
"""Requests wait for others while they are fewer than one for so many that are written."""
_MOST_WAITED_STEPS = 8
_ENDS_OF_TURNS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|eom_id|>")
"""Special tokens that end a turn; a GGUF file often names only one of them as its end."""

_Waiting = tuple[Request, "asyncio.Future[Reply]"]
_Settled = tuple[_Waiting, Reply | Exception]


class SharedModel(InProcessModel):
    """The weights of one model; the requests of all its players share one batch."""

    def __init__(self, weights: Weights, device: str) -> None:
        super().__init__("transformers")
        self.weights = weights
        self.device = device
        self.batches: list[int] = []
        """How many requests were read at once, each time."""
        self._loaded: LoadedWeights | None = None
        self._writer: Writer | None = None
        self._most_rows = _MOST_ROWS
        self._waiting: list[_Waiting] = []
        self._waited_steps = 0
        self._running: list[tuple[_Waiting, Written]] = []
        self._working: asyncio.Task[None] | None = None

    async def answer(self, request: Request) -> Reply:
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        return await future

    def loaded(self) -> LoadedWeights:
        if self._loaded is None:
            self._loaded = self.weights.load(self.device)
        return self._loaded

    def unload(self) -> None:
        self._loaded = self._writer = None

    def free(self) -> None:
        super().free()
        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()

    async def _work(self) -> None:
        await asyncio.sleep(_GATHERING_SECONDS)
        while self._waiting or self._running:
            new = self._next()
            try:
                settled = await self.thread.run(partial(self._step, new))
            except Exception as error:
                settled = [(one, error) for one in (*new, *(one for one, _ in self._running))]
                self._running, self._writer = [], None
            for (_, future), result in settled:
                if future.done():  # nobody waits for it any more
                    continue
                if isinstance(result, Reply):
                    future.set_result(result)
                else:
                    future.set_exception(result)
            # The sessions that were answered ask again at once: their requests are to join together.
            await asyncio.sleep(0)

    def _next(self) -> list[_Waiting]:
        """The requests to read now; a few wait some steps for others, since reading delays all."""
        self._waiting = [one for one in self._waiting if not one[1].done()]
        if not self._waiting:
            return []
        self._waited_steps += 1
        running = len(self._running)
        few = len(self._waiting) <= running // _FEW and self._waited_steps < _MOST_WAITED_STEPS
        if running and (few or self._writer is None or not self._writer.can_join()):
            return []
        self._waited_steps = 0
        room = max(0, self._most_rows - running)
        new = self._waiting[:room]
        self._waiting = self._waiting[room:]
        return new

    def _step(self, new: list[_Waiting]) -> list[_Settled]:
        """Read new requests, or write one more token of each reply; return the requests that have their result.

        If the batch does not fit into memory, it starts again with half as many requests.
        """
        try:
            return self._advance(new)
        except SociometerError:
            raise
        except (RuntimeError, MemoryError) as error:
            if not isinstance(error, MemoryError) and type(error).__name__ != "OutOfMemoryError":
                raise MachineryError(
                    f"transformers failed on '{self.weights.name}': {error}", FailureKind.LOCAL_MODEL, fatal=True
                ) from None
        # Outside the handler above: while an error is handled, its frames still hold the memory of the batch.
        batch = [*(one for one, _ in self._running), *new]
        self._running, self._writer = [], None
        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()
        if len(batch) == 1:
            said = f"'{self.weights.name}' does not fit into the memory of '{self.device}' with one request"
            return [(batch[0], MachineryError(f"{said}; use a smaller model.", FailureKind.LOCAL_MODEL, fatal=True))]
        self._most_rows = len(batch) // 2
        self._waiting = [*batch, *self._waiting]
        return []

    def _advance(self, new: list[_Waiting]) -> list[_Settled]:
        loaded, settled, good = self.loaded(), list[_Settled](), list[_Waiting]()
        rows: list[Prompt] = []
        for one in new:
            try:
                rows.append(_prompt(loaded, one[0]))
                good.append(one)
            except MachineryError as error:  # it concerns this request alone
                settled.append((one, error))
        self._writer = self._writer or Writer(loaded)
        if new:
            self.batches.append(len(new))
        elif self._running:
            self._writer.step()
        if good:
            self._running += zip(good, self._writer.add(rows), strict=True)
        settled += [(one, _reply(row)) for one, row in self._running if row.finish]
        self._running = [(one, row) for one, row in self._running if not row.finish]
        return settled


class HfPlayer(InProcessPlayer[SharedModel]):
    """A model of transformers, used with its own chat template; base models continue plain texts."""

    abilities = Abilities(continues_text=True)

    def __init__(self, name: str, options: ModelOptions) -> None:
        weights = find_weights(name, options.revision, fetch=options.sends)
        device = chosen_device()
        # The precision is part of the identity: on the CPU it is always float32, elsewhere that of the files.
        precision = " float32" if device == "cpu" else ""
        named = f"{options.revision} sha256:" if options.revision and not weights.commit else ""
        own = Path(name).name if Path(name).expanduser().exists() else name
        self.identity = Identity(
            "hf",
            own,
            revision=named + weights.revision + precision,
            certain=bool(weights.revision),
            stand_in=is_embedded(name),
        )
        place = (weights.folder + "/" + weights.gguf_file, weights.revision, device)
        super().__init__(place, lambda: SharedModel(weights, device))

    async def answer(self, request: Request) -> Reply:
        """One row of the batch; the same seed gives the same reply."""
        return structs.replace(await self.model.answer(request), served_model=self.identity.name)


def _reply(row: Written) -> Reply:
    text, reasoning = split_reasoning(row.text)
    usage = Usage(len(row.prompt.ids), len(row.ids))
    return Reply(text, reasoning, usage, row.finish)


def _prompt(loaded: LoadedWeights, request: Request) -> Prompt:
    ids = _ids(loaded, rendered(loaded.tokenizer, request))
    defaults = loaded.model.generation_config
    sampling = request.sampling
    if sampling.temperature is None and getattr(defaults, "do_sample", False):
        sampling = structs.replace(
            sampling, temperature=defaults.temperature, top_p=sampling.top_p or getattr(defaults, "top_p", None)
        )
    room = _room(loaded, len(ids))
    return Prompt(ids, sampling, min(room, sampling.max_tokens or _MOST_TOKENS), _ends(loaded, request))


def rendered(tokenizer: Any, request: Request) -> str:
    """The request as the text that the model reads: a plain text as it is, a conversation in its chat template."""
    plain = request.plain_text
    if plain is not None:
        return _with_start(tokenizer, plain)
    if not tokenizer.chat_template:
        raise UsageError(
            "this model has no chat template, so it is a base model: give -o base to play instruments that have a text"
            " form."
        )
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    effort = request.sampling.reasoning_effort
    extra = {"reasoning_effort": effort} if effort is not None else {}
    try:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **extra)
    except Exception as error:  # a template is a program of its own and raises what it likes
        if messages[0]["role"] != "system" or len(messages) == 1:
            raise MachineryError(f"the chat template failed: {error}", FailureKind.REFUSED_REQUEST) from None
        # Some templates know no system message: its words then come before the first message.
        told = {**messages[1], "content": f"{messages[0]['content']}\n\n{messages[1]['content']}"}
        text = tokenizer.apply_chat_template([told, *messages[2:]], tokenize=False, add_generation_prompt=True, **extra)
    return str(text)


def _with_start(tokenizer: Any, text: str) -> str:
    """The text after the start token, where the tokenizer puts one before every text."""
    start = tokenizer.bos_token
    bare = tokenizer("a").input_ids
    return start + text if start and bare and bare[0] == tokenizer.bos_token_id else text


def _ids(loaded: LoadedWeights, text: str) -> tuple[int, ...]:
    return tuple(loaded.tokenizer(text, add_special_tokens=False).input_ids)


def _room(loaded: LoadedWeights, read: int) -> int:
    most = getattr(loaded.model.config, "max_position_embeddings", None) or 1 << 30
    if read >= most:
        raise MachineryError(
            f"the request has {read:,} tokens; the model reads at most {most:,}.", FailureKind.CONTEXT_TOO_LONG
        )
    return int(most - read)


def _ends(loaded: LoadedWeights, request: Request) -> frozenset[int]:
    tokenizer = loaded.tokenizer
    named = loaded.model.generation_config.eos_token_id
    ends = {tokenizer.eos_token_id, *(named if isinstance(named, list) else [named])}
    if request.plain_text is None:
        special = tokenizer.get_added_vocab()
        ends |= {special.get(token) for token in _ENDS_OF_TURNS}
    return frozenset(one for one in ends if one is not None)
