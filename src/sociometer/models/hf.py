"""Open weights run in process by transformers, on the CPU, CUDA or MPS; requests in flight share one batch."""

import asyncio
import copy
import hashlib
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from logging import CRITICAL, getLogger
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from msgspec import Struct, structs

from sociometer.core.conversation import Identity, Likelihood, Reply, Request, Sampling, TokenLogprob, Usage
from sociometer.core.errors import FailureKind, MachineryError, SociometerError, UsageError
from sociometer.core.lazy import lazy
from sociometer.core.player import EVERY_ABILITY, Player
from sociometer.models.files import LOCAL_MODELS, is_embedded, remembered_checksum, verified_file
from sociometer.models.finish import LENGTH, STOP, split_reasoning
from sociometer.models.local import common_start, threads_of
from sociometer.models.presets import ModelOptions
from sociometer.models.serial_thread import SerialThread

torch = lazy("torch")

DEVICES = ("cpu", "cuda", "mps")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_INSTALL = "models in process by transformers need the extra 'hf'; install it with: pip install 'sociometer[hf]'."
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
        torch, transformers = _imports()
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
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise UsageError(_INSTALL)
    path = Path(name).expanduser()
    if name in LOCAL_MODELS and not path.exists():
        found = verified_file(name)
        if found is None:
            raise UsageError(f"the model '{name}' is not on this machine; run 'sociometer get model {name}' once.")
        path = found
    if path.suffix.lower() == ".gguf":
        if not path.is_file():
            raise UsageError(f"the file '{path}' does not exist; give the path of a GGUF file.")
        return Weights(name, str(path.resolve().parent), _digest_of_file(path), path.name)
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
    torch, _ = _imports()
    chosen = os.environ.get("SOCIOMETER_DEVICE", "")
    if chosen:
        if chosen.partition(":")[0] not in DEVICES:
            raise UsageError(f"SOCIOMETER_DEVICE is '{chosen}'; it must be one of: {', '.join(DEVICES)}.")
        return chosen
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _imports() -> tuple[Any, Any]:
    """Torch and transformers; both take seconds to import, so they are imported on first use."""
    try:
        import transformers

        torch.float32  # noqa: B018  (an installed transformers may lack torch)
    except ImportError:
        raise UsageError(_INSTALL) from None
    return torch, transformers


def _digest_of_file(path: Path) -> str:
    try:
        return remembered_checksum(path)
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror or error}.") from None


def _digest_of_folder(folder: Path) -> str:
    """One digest of the names and contents of all files that transformers reads."""
    files = sorted(path for path in folder.iterdir() if path.suffix in _READ and path.is_file())
    if not (folder / "config.json").is_file() or not any(path.suffix == ".safetensors" for path in files):
        raise UsageError(
            f"the folder '{folder}' contains no model: it needs config.json and weights in *.safetensors."
            " For a GGUF file, give the path of the file."
        )
    together = hashlib.sha256()
    for path in files:
        together.update(f"{path.name}\0{_digest_of_file(path)}\n".encode())
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
            f"'{name}' cannot be found on the Hugging Face hub: {_first_line(error)} Check the name and the network, or"
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
        if name.lower().endswith(".gguf"):
            raise UsageError(
                f"transformers cannot load '{name}': the file is damaged or incomplete, or its model is not supported"
                f" ({_first_line(error)})"
            ) from None
        raise UsageError(
            f"transformers cannot load '{name}': {_first_line(error)} Check the name, the network (or HF_HUB_OFFLINE)"
            " and the free memory."
        ) from None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0][:300] if lines else type(error).__name__).rstrip(".") + "."


@contextmanager
def _quiet() -> Iterator[None]:
    """Hides the progress bars and advice of transformers while a model is loaded."""
    _, transformers = _imports()
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


_MOST_LOGITS = 1 << 27
"""The most logits held at once while continuations are scored: 512 MiB."""


class Prompt(Struct, frozen=True):
    """One row of a batch to generate: token ids, how to sample, and the ids that end the reply."""

    ids: tuple[int, ...]
    sampling: Sampling
    most_tokens: int
    ends: frozenset[int]


class Written(Struct):
    """A row of the batch: its prompt, and what was generated so far; `finish` is empty until it ends."""

    prompt: Prompt
    random: Random
    ids: list[int] = []
    text: str = ""
    finish: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()


class Continued(Struct, frozen=True):
    """One row of a batch to score: a prompt and its continuations, all as token ids."""

    ids: tuple[int, ...]
    continuations: tuple[tuple[int, ...], ...]


def generate(loaded: LoadedWeights, prompts: Sequence[Prompt]) -> list[Written]:
    """What each prompt is continued with."""
    writer = Writer(loaded)
    written = writer.add(prompts)
    while writer.running:
        writer.step()
    return written


def score(loaded: LoadedWeights, rows: Sequence[Continued]) -> list[list[float]]:
    """The log-probability of each continuation of each row: each prompt is read once."""
    with torch.inference_mode():
        state = _Forward(loaded)
        first = torch.log_softmax(state.read([row.ids for row in rows]).float(), dim=-1)
        found = [[float(first[at, ids[0]]) for ids in row.continuations] for at, row in enumerate(rows)]
        longer = [
            (at, nth, ids) for at, row in enumerate(rows) for nth, ids in enumerate(row.continuations) if len(ids) > 1
        ]
        longer.sort(key=lambda one: len(one[2]))
        while longer:
            size = max(1, _MOST_LOGITS // (first.shape[-1] * len(longer[-1][2])))
            part, longer = longer[-size:], longer[:-size]
            branch = state.branch([at for at, _, _ in part])
            for (at, nth, _), rest in zip(part, branch.rest([ids for _, _, ids in part]), strict=True):
                found[at][nth] += rest
    return found


class _Forward:
    """The attention cache of a batch: which rows it has, and how to read more tokens."""

    def __init__(self, loaded: LoadedWeights) -> None:
        self._loaded = loaded
        accepted = inspect.signature(loaded.model.forward).parameters
        self._positions = "position_ids" in accepted
        self._last_only: dict[str, Any] = {"logits_to_keep": 1} if "logits_to_keep" in accepted else {}
        self._cache: Any = None
        self._mask: Any = None

    def read(self, rows: Sequence[Sequence[int]]) -> Any:
        """Read prompts, padded on the left; the logits after each."""
        width = max(map(len, rows))
        padded = [[0] * (width - len(row)) + list(row) for row in rows]
        mask = [[0] * (width - len(row)) + [1] * len(row) for row in rows]
        device = self._loaded.device
        return self._forward(torch.tensor(padded, device=device), torch.tensor(mask, device=device), **self._last_only)

    def step(self, ids: Any) -> Any:
        """Read one more token of each row; the logits after it."""
        column = torch.ones((ids.shape[0], 1), dtype=self._mask.dtype, device=self._mask.device)
        return self._forward(ids[:, None], column)

    def keep(self, rows: Sequence[int]) -> None:
        places = torch.tensor(list(rows), device=self._mask.device)
        self._cache.batch_select_indices(places)
        self._mask = self._mask[places]
        unused = int(self._mask.any(dim=0).int().argmax())
        if unused and self.can_join():
            for layer in self._cache.layers:
                layer.keys, layer.values = layer.keys[..., unused:, :], layer.values[..., unused:, :]
            self._mask = self._mask[:, unused:]

    def can_join(self) -> bool:
        """Whether other rows can join: all layers keep the keys and values of all tokens, and nothing else."""
        return all(type(layer).__name__ == "DynamicLayer" for layer in getattr(self._cache, "layers", [None]))

    def join(self, other: "_Forward") -> None:
        """Add the rows of another batch; the shorter ones are padded on the left."""
        width = max(self._mask.shape[1], other._mask.shape[1])

        def widened(tensor: Any) -> Any:
            return torch.nn.functional.pad(tensor, (0, 0, width - tensor.shape[-2], 0))

        for mine, theirs in zip(self._cache.layers, other._cache.layers, strict=True):
            mine.keys = torch.cat([widened(mine.keys), widened(theirs.keys)])
            mine.values = torch.cat([widened(mine.values), widened(theirs.values)])
        self._mask = torch.cat([widened(one._mask[..., None])[..., 0] for one in (self, other)])

    def branch(self, rows: Sequence[int]) -> "_Forward":
        """A copy with these rows, each as often as it is named."""
        other = copy.copy(self)
        other._cache = copy.deepcopy(self._cache)
        other.keep(rows)
        return other

    def rest(self, continuations: Sequence[Sequence[int]]) -> list[float]:
        """The log-probability of each continuation after its first token."""
        width = max(map(len, continuations)) - 1
        device = self._loaded.device
        # Padding on the right comes after all that counts: no earlier token looks at it.
        fed = torch.tensor([[*ids[:-1], *[0] * (width - len(ids) + 1)] for ids in continuations], device=device)
        logits = self._forward(fed, torch.ones_like(fed), every=True)
        found = []
        for row, ids in enumerate(continuations):
            told = torch.log_softmax(logits[row, : len(ids) - 1].float(), dim=-1)
            wanted = torch.tensor(ids[1:], device=device)
            found.append(float(told.gather(1, wanted[:, None]).sum()))
        return found

    def _forward(self, ids: Any, mask: Any, *, every: bool = False, **options: Any) -> Any:
        whole = mask if self._mask is None else torch.cat([self._mask, mask], dim=1)
        if self._positions:
            options["position_ids"] = (whole.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        made = self._loaded.model(
            input_ids=ids, attention_mask=whole, past_key_values=self._cache, use_cache=True, **options
        )
        cache = getattr(made, "past_key_values", None)
        if not hasattr(cache, "batch_select_indices"):
            raise MachineryError(
                f"{type(self._loaded.model).__name__} keeps no attention cache, which hf/ needs; serve the model with"
                " vLLM and use vllm/NAME.",
                FailureKind.LOCAL_MODEL,
                fatal=True,
            )
        self._cache, self._mask = cache, whole
        return made.logits if every else made.logits[:, -1]


class Writer:
    """Writes replies: a prompt joins the batch between two tokens, and leaves it when its reply ends."""

    def __init__(self, loaded: LoadedWeights) -> None:
        self._loaded = loaded
        self._tokenizer = loaded.tokenizer
        self._state = _Forward(loaded)
        self.running: list[Written] = []

    def can_join(self) -> bool:
        return not self.running or self._state.can_join()

    def add(self, prompts: Sequence[Prompt]) -> list[Written]:
        """Read prompts and write the first token of each reply."""
        rows = [Written(prompt, Random(prompt.sampling.seed)) for prompt in prompts]
        with torch.inference_mode():
            state = _Forward(self._loaded)
            going = self._take(rows, state.read([prompt.ids for prompt in prompts]))
            if going:
                state.keep(going)
                if self.running:
                    self._state.join(state)
                else:
                    self._state = state
                self.running += [rows[place] for place in going]
        return rows

    def step(self) -> None:
        """Write one more token of each reply."""
        with torch.inference_mode():
            last = torch.tensor([row.ids[-1] for row in self.running], device=self._loaded.device)
            going = self._take(self.running, self._state.step(last))
            if going and len(going) < len(self.running):
                self._state.keep(going)
            self.running = [self.running[place] for place in going]

    def _take(self, rows: Sequence[Written], logits: Any) -> list[int]:
        """Choose the next token of each row; return the places of those that go on."""
        logits = logits.float()
        taken: list[int] = logits.argmax(dim=-1).tolist()
        drawn = [place for place, row in enumerate(rows) if row.prompt.sampling.temperature]
        chosen = sampled(logits[drawn], [(rows[one].prompt.sampling, rows[one].random.random()) for one in drawn])
        for place, token in zip(drawn, chosen, strict=True):
            taken[place] = token
        for place, row in enumerate(rows):
            if row.prompt.sampling.logprobs is not None:
                row.logprobs += (self._logprob(logits[place], taken[place], row.prompt.sampling.logprobs),)
            self._add(row, taken[place])
        return [place for place, row in enumerate(rows) if not row.finish]

    def _add(self, row: Written, token: int) -> None:
        prompt = row.prompt
        if token in prompt.ends:
            row.finish = STOP
        else:
            row.ids.append(token)
            if self._stopped(row.ids, prompt.sampling.stop):
                row.finish = STOP
            elif len(row.ids) >= prompt.most_tokens:
                row.finish = LENGTH
        if row.finish:
            text = self._decoded(row.ids)
            ends = [place for stop in prompt.sampling.stop if (place := text.find(stop)) >= 0]
            row.text = text[: min(ends)] if ends else text

    def _stopped(self, ids: list[int], stops: tuple[str, ...]) -> bool:
        """Whether the newest tokens complete a stop sequence."""
        if not stops:
            return False
        tail = self._decoded(ids[-(max(map(len, stops)) * 4 + 8) :])
        return any(stop in tail for stop in stops)

    def _decoded(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=True))

    def _logprob(self, logits: Any, token: int, rivals: int) -> TokenLogprob:
        told = torch.log_softmax(logits, dim=-1)
        best = told.topk(min(rivals, told.shape[-1]))
        top = tuple(
            (str(self._tokenizer.decode([one])), float(value))
            for one, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        )
        return TokenLogprob(str(self._tokenizer.decode([token])), float(told[token]), top)


def sampled(logits: Any, rows: Sequence[tuple[Sampling, float]]) -> list[int]:
    """For each row the token at its share of the probability, ordered from the likeliest to the least likely."""
    if not rows:
        return []
    place = "cpu" if logits.device.type == "mps" else logits.device  # MPS has no double precision

    def column(values: Iterable[float]) -> Any:
        return torch.tensor(list(values), dtype=torch.float64, device=place)[:, None]

    scaled = logits.to(place).double() / column(sampling.temperature or 1.0 for sampling, _ in rows)
    shares, tokens = torch.softmax(scaled, dim=-1).sort(descending=True, stable=True)
    upto = shares.cumsum(dim=-1)
    limits = column(2.0 if one.top_p is None or one.top_p >= 1 else one.top_p for one, _ in rows)
    last = ((upto - shares < limits).sum(dim=-1, keepdim=True) - 1).clamp(min=0)
    found = torch.searchsorted(upto, column(draw for _, draw in rows) * upto.gather(1, last), right=True)
    chosen: list[int] = tokens.gather(1, torch.minimum(found, last))[:, 0].tolist()
    return chosen


_MOST_TOKENS = 1024
"""The default reply limit, because small models seldom stop by themselves."""
_MOST_ROWS = 256
_GATHERING_SECONDS = 0.01
_FEW = 8
"""Requests wait for others while they are fewer than one for so many that are written."""
_MOST_WAITED_STEPS = 8
_ENDS_OF_TURNS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|eom_id|>")
"""Special tokens that end a turn; a GGUF file often names only one of them as its end."""

_RowT = TypeVar("_RowT", Prompt, Continued)
_Waiting = tuple[Request, "asyncio.Future[Reply]"]
_Settled = tuple[_Waiting, Reply | Exception]
_Answered = Callable[[int, Reply | Exception], None]
"""Called with the place of a request in its batch and its result."""


class SharedModel:
    """The weights of one model, loaded on first use and shared by its players; all their requests share one batch."""

    def __init__(self, weights: Weights, device: str) -> None:
        self.weights = weights
        self.device = device
        self.users = 0
        self.thread = SerialThread("transformers")
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
                _settle(future, result)
            # The sessions that were answered ask again at once: their requests are to join together.
            await asyncio.sleep(0)

    def _next(self) -> list[_Waiting]:
        """The requests to read now, all of one kind; a few wait some steps for others, since reading delays all."""
        self._waiting = [one for one in self._waiting if not one[1].done()]
        if not self._waiting:
            return []
        scores = bool(self._waiting[0][0].continuations)
        self._waited_steps += 1
        running = 0 if scores else len(self._running)
        few = len(self._waiting) <= running // _FEW and self._waited_steps < _MOST_WAITED_STEPS
        if running and (few or self._writer is None or not self._writer.can_join()):
            return []
        self._waited_steps = 0
        new = [one for one in self._waiting if bool(one[0].continuations) is scores]
        new = new[: max(0, self._most_rows - running)]
        taken = {id(future) for _, future in new}
        self._waiting = [one for one in self._waiting if id(one[1]) not in taken]
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
        loaded, settled = self.loaded(), list[_Settled]()
        requests = [request for request, _ in new]

        def answered(place: int, result: Reply | Exception) -> None:
            settled.append((new[place], result))

        self._writer = self._writer or Writer(loaded)
        if new:
            self.batches.append(len(new))
        if new and requests[0].continuations:
            _score_all(loaded, requests, answered)
        elif new:
            good = _rows(requests, partial(_prompt, loaded), answered)
            written = self._writer.add([prompt for _, prompt in good]) if good else []
            self._running += [(new[place], row) for (place, _), row in zip(good, written, strict=True)]
        elif self._running:
            self._writer.step()
        settled += [(one, _reply(row)) for one, row in self._running if row.finish]
        self._running = [(one, row) for one, row in self._running if not row.finish]
        return settled


def _settle(future: "asyncio.Future[Reply]", result: Reply | Exception) -> None:
    """Give a future its result; one that has a result, or that nobody waits for, stays as it is."""
    if future.done():
        return
    if isinstance(result, Reply):
        future.set_result(result)
    else:
        future.set_exception(result)


_SHARED: dict[tuple[str, str, str], SharedModel] = {}


class HfPlayer(Player):
    """A model of transformers, used with its own chat template; base models continue plain texts."""

    parallel = True
    abilities = EVERY_ABILITY

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
        self.model = _SHARED.setdefault(place, SharedModel(weights, device))
        self.model.users += 1
        self._place = place
        self._closed = False

    async def answer(self, request: Request) -> Reply:
        """One row of the batch; the same seed gives the same reply."""
        return structs.replace(await self.model.answer(request), served_model=self.identity.name)

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


def _reply(row: Written) -> Reply:
    text, reasoning = split_reasoning(row.text)
    usage = Usage(len(row.prompt.ids), len(row.ids))
    return Reply(text, reasoning, usage, row.finish, logprobs=row.logprobs)


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
    shared = common_start(_ids(loaded, before), *whole)
    rest = tuple(ids[shared:] for ids in whole)
    if not shared or not all(rest):
        raise MachineryError("an empty prompt or continuation cannot be scored.", FailureKind.REFUSED_REQUEST)
    _room(loaded, request, max(map(len, whole)))
    return Continued(whole[0][:shared], rest)


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


def _room(loaded: LoadedWeights, request: Request, read: int) -> int:
    most = getattr(loaded.model.config, "max_position_embeddings", None) or 1 << 30
    if read >= most:
        said = f"the request has {read:,} tokens; the model reads at most {most:,}."
        raise MachineryError(said, FailureKind.CONTEXT_TOO_LONG)
    return int(most - read)


def _ends(loaded: LoadedWeights, request: Request) -> frozenset[int]:
    tokenizer = loaded.tokenizer
    named = loaded.model.generation_config.eos_token_id
    ends = {tokenizer.eos_token_id, *(named if isinstance(named, list) else [named])}
    if request.plain_text is None:
        special = tokenizer.get_added_vocab()
        ends |= {special.get(token) for token in _ENDS_OF_TURNS}
    return frozenset(one for one in ends if one is not None)
