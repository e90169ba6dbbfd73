"""Open weights run in process by transformers, on the CPU, CUDA or MPS; requests in flight share batches."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs

from sociometer.core.conversation import EVERY_ABILITY, Identity, Likelihood, Reply, Request, Usage
from sociometer.core.errors import MachineryError, SociometerError, UsageError
from sociometer.models.batches import Continued, Prompt, Written, generate, score
from sociometer.models.open_weights import LoadedWeights, Weights, chosen_device, find_weights
from sociometer.models.options import ModelOptions
from sociometer.models.pull import PULLABLE
from sociometer.models.reasoning import split_reasoning
from sociometer.models.serial_thread import SerialThread

_MOST_TOKENS = 1024
"""The default reply limit, because small models seldom stop by themselves."""
_MOST_ROWS = 256
_GATHERING_SECONDS = 0.01
_ENDS_OF_TURNS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|eom_id|>")
"""Special tokens that end a turn; a GGUF file often names only one of them as its end."""

_RowT = TypeVar("_RowT", Prompt, Continued)
_Waiting = tuple[Request, "asyncio.Future[Reply]"]
_Answered = Callable[[int, Reply | Exception], None]
"""Called with the place of a request in its batch and its result."""


class SharedModel:
    """The weights of one model, loaded on first use and shared by its players; one batch at a time."""

    def __init__(self, weights: Weights, device: str) -> None:
        self.weights = weights
        self.device = device
        self.users = 0
        self.thread = SerialThread("transformers")
        self.batches: list[int] = []
        """The sizes of the batches so far."""
        self._loaded: LoadedWeights | None = None
        self._waiting: list[_Waiting] = []
        self._working: asyncio.Task[None] | None = None

    async def answer(self, request: Request) -> Reply:
        """The reply to a request, from a batch of all requests that wait now."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        return await future

    def loaded(self) -> LoadedWeights:
        """The model, loaded if it is not yet."""
        if self._loaded is None:
            self._loaded = self.weights.load(self.device)
        return self._loaded

    def unload(self) -> None:
        """Free the weights."""
        self._loaded = None

    async def _work(self) -> None:
        while True:
            # The sessions that the last batch answered ask again at once: their requests join the next batch.
            await asyncio.sleep(_GATHERING_SECONDS)
            self._waiting = [one for one in self._waiting if not one[1].done()]
            if not self._waiting:
                return
            scores = bool(self._waiting[0][0].continuations)
            batch = [one for one in self._waiting if bool(one[0].continuations) is scores][:_MOST_ROWS]
            taken = {id(future) for _, future in batch}
            self._waiting = [one for one in self._waiting if id(one[1]) not in taken]
            try:
                await self.thread.run(partial(self._answer_all, batch, asyncio.get_running_loop()))
            except Exception as error:
                for _, future in batch:
                    _settle(future, error)

    def _answer_all(self, batch: list[_Waiting], loop: asyncio.AbstractEventLoop) -> None:
        """Answer a batch; each reply is handed over when it is complete, so that a stop loses as little as possible.

        A batch that does not fit into memory is halved.
        """
        loaded = self.loaded()
        requests = [request for request, _ in batch]

        def answered(place: int, result: Reply | Exception) -> None:
            loop.call_soon_threadsafe(_settle, batch[place][1], result)

        self.batches.append(len(batch))
        try:
            if requests[0].continuations:
                _score_all(loaded, requests, answered)
            else:
                _generate_all(loaded, requests, answered)
        except SociometerError:
            raise
        except (RuntimeError, MemoryError) as error:
            if not isinstance(error, MemoryError) and type(error).__name__ != "OutOfMemoryError":
                raise MachineryError(
                    f"transformers failed on '{self.weights.name}': {error}", "local model", fatal=True
                ) from None
        else:
            return
        self.batches.pop()
        # Outside the handler above: while an error is handled, its frames still hold the memory of the batch.
        if loaded.device.startswith("cuda"):
            import torch

            torch.cuda.empty_cache()
        if len(batch) == 1:
            said = f"'{self.weights.name}' does not fit into the memory of '{loaded.device}' with one request"
            raise MachineryError(f"{said}; use a smaller model.", "local model", fatal=True)
        half = len(batch) // 2
        self._answer_all(batch[:half], loop)
        self._answer_all(batch[half:], loop)


def _settle(future: "asyncio.Future[Reply]", result: Reply | Exception) -> None:
    """Give a future its result; one that has a result, or that nobody waits for, stays as it is."""
    if future.done():
        return
    if isinstance(result, Reply):
        future.set_result(result)
    else:
        future.set_exception(result)


_SHARED: dict[tuple[str, str, str], SharedModel] = {}


class HfPlayer:
    """A model of transformers, used with its own chat template; base models continue plain texts."""

    journaled = True
    parallel = True
    abilities = EVERY_ABILITY

    def __init__(self, name: str, options: ModelOptions) -> None:
        device = chosen_device()
        weights = find_weights(name, options.revision, fetch=options.sends)
        # The precision is part of the identity: on the CPU it is always float32, elsewhere that of the files.
        precision = " float32" if device == "cpu" else ""
        named = f"{options.revision} sha256:" if options.revision and not weights.commit else ""
        own = Path(name).name if Path(name).expanduser().exists() else name
        self._identity = Identity(
            "hf",
            own,
            revision=named + weights.revision + precision,
            certain=bool(weights.revision),
            stand_in=name in PULLABLE,
        )
        place = (weights.folder + "/" + weights.gguf_file, weights.revision, device)
        self.model = _SHARED.setdefault(place, SharedModel(weights, device))
        self.model.users += 1
        self._place = place
        self._closed = False

    @property
    def identity(self) -> Identity:
        return self._identity

    def __repr__(self) -> str:
        return f"HfPlayer({self._identity.name})"

    async def answer(self, request: Request) -> Reply:
        """One row of a batch; the same seed gives the same reply."""
        return structs.replace(await self.model.answer(request), served_model=self._identity.name)

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """A vector for each text: the mean of the last layer over its tokens."""
        return await self.model.thread.run(lambda: _vectors(self.model.loaded(), texts)) if texts else ()

    async def close(self) -> None:
        """Free the weights if no other player uses them."""
        if self._closed:
            return
        self._closed = True
        self.model.users -= 1
        if self.model.users == 0:
            _SHARED.pop(self._place, None)
            self.model.thread.end()
            self.model.unload()


def _generate_all(loaded: LoadedWeights, requests: Sequence[Request], answered: _Answered) -> None:
    """Write the replies; a request without a prompt gets its error."""
    good = _rows(requests, partial(_prompt, loaded), answered)

    def ended(row: int, written: Written) -> None:
        place, prompt = good[row]
        answered(place, _reply(prompt, written))

    if good:
        generate(loaded, [prompt for _, prompt in good], ended)


def _reply(prompt: Prompt, written: Written) -> Reply:
    text, reasoning = split_reasoning(written.text)
    usage = Usage(len(prompt.ids), len(written.ids))
    return Reply(text, reasoning, usage, written.finish, logprobs=written.logprobs)


def _score_all(loaded: LoadedWeights, requests: Sequence[Request], answered: _Answered) -> None:
    """Score the continuations; a request without a row gets its error."""
    good = _rows(requests, partial(_continued, loaded), answered)
    scores = score(loaded, [row for _, row in good]) if good else []
    for (place, row), values in zip(good, scores, strict=True):
        likelihoods = tuple(
            Likelihood(text, value, len(ids))
            for text, value, ids in zip(requests[place].continuations, values, row.continuations, strict=True)
        )
        read = len(row.ids) + sum(len(ids) for ids in row.continuations)
        answered(place, Reply("", usage=Usage(read, 0), likelihoods=likelihoods))


def _rows(
    requests: Sequence[Request], made: Callable[[Request], _RowT], answered: _Answered
) -> list[tuple[int, _RowT]]:
    """The row of each request with its place; an error that concerns one request alone is its answer."""
    found = []
    for place, request in enumerate(requests):
        try:
            found.append((place, made(request)))
        except MachineryError as error:
            answered(place, error)
    return found


def _prompt(loaded: LoadedWeights, request: Request) -> Prompt:
    ids = _ids(loaded, rendered(loaded.tokenizer, request))
    defaults = loaded.model.generation_config
    sampling = request.sampling
    if sampling.temperature is None and getattr(defaults, "do_sample", False):
        sampling = structs.replace(
            sampling, temperature=defaults.temperature, top_p=sampling.top_p or getattr(defaults, "top_p", None)
        )
    room = _room(loaded, request, len(ids))
    return Prompt(ids, sampling, min(room, sampling.max_tokens or _MOST_TOKENS), _ends(loaded, request))


def _continued(loaded: LoadedWeights, request: Request) -> Continued:
    before = rendered(loaded.tokenizer, request)
    whole = [_ids(loaded, before + text) for text in request.continuations]
    # A continuation may change how the end of the prompt is split into tokens: what differs belongs to it.
    shared = _common(_ids(loaded, before), *whole)
    rest = tuple(ids[shared:] for ids in whole)
    if not shared or not all(rest):
        raise MachineryError("an empty prompt or continuation cannot be scored.", "refused request")
    _room(loaded, request, max(map(len, whole)))
    return Continued(whole[0][:shared], rest)


def rendered(tokenizer: Any, request: Request) -> str:
    """The request as the text that the model reads: a plain text as it is, a conversation in its chat template."""
    plain = request.plain_text
    if plain is not None:
        return _with_start(tokenizer, plain)
    if not tokenizer.chat_template:
        raise UsageError(
            "this model has no chat template, so it is a base model: give --base to play instruments that have a text"
            " form."
        )
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    effort = request.sampling.reasoning_effort
    extra = {"reasoning_effort": effort} if effort is not None else {}
    try:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **extra)
    except Exception as error:  # a template is a program of its own and raises what it likes
        if messages[0]["role"] != "system" or len(messages) == 1:
            raise MachineryError(f"the chat template failed: {error}", "refused request") from None
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


def _common(*rows: tuple[int, ...]) -> int:
    """How many tokens all rows share at their start."""
    return next((at for at, tokens in enumerate(zip(*rows, strict=False)) if len(set(tokens)) > 1), min(map(len, rows)))


def _room(loaded: LoadedWeights, request: Request, read: int) -> int:
    most = getattr(loaded.model.config, "max_position_embeddings", None) or 1 << 30
    if read >= most:
        raise MachineryError(f"the request has {read:,} tokens; the model reads at most {most:,}.", "context too long")
    return int(most - read)


def _ends(loaded: LoadedWeights, request: Request) -> frozenset[int]:
    tokenizer = loaded.tokenizer
    named = loaded.model.generation_config.eos_token_id
    ends = {tokenizer.eos_token_id, *(named if isinstance(named, list) else [named])}
    if request.plain_text is None:
        special = tokenizer.get_added_vocab()
        ends |= {special.get(token) for token in _ENDS_OF_TURNS}
    return frozenset(one for one in ends if one is not None)


def _vectors(loaded: LoadedWeights, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
    import torch

    vectors = []
    with torch.inference_mode():
        for text in texts:
            ids = torch.tensor([_ids(loaded, text)], device=loaded.device)
            last = loaded.model(input_ids=ids, output_hidden_states=True).hidden_states[-1][0]
            vectors.append(tuple(last.float().mean(dim=0).tolist()))
    return tuple(vectors)
