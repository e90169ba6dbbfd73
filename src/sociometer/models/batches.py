"""One batch through a causal language model of transformers: generates replies, or scores continuations.

Rows are padded on the left and masked, so a row gives the same numbers whatever shares its batch, up to the rounding
of floating-point sums. Each row has its own sampling parameters and its own random numbers.
"""

import copy
import inspect
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from msgspec import Struct

from sociometer.core.conversation import Sampling, TokenLogprob
from sociometer.core.errors import MachineryError
from sociometer.models.finish import LENGTH, STOP
from sociometer.models.open_weights import LoadedWeights

_MOST_LOGITS = 1 << 27
"""The most logits held at once while continuations are scored: 512 MiB."""


class Prompt(Struct, frozen=True):
    """One row of a batch to generate: token ids, how to sample, and the ids that end the reply."""

    ids: tuple[int, ...]
    sampling: Sampling
    most_tokens: int
    ends: frozenset[int]


class Written(Struct):
    """What a row has generated so far; `finish` is empty until it ends."""

    ids: list[int]
    text: str = ""
    finish: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()


class Continued(Struct, frozen=True):
    """One row of a batch to score: a prompt and its continuations, all as token ids."""

    ids: tuple[int, ...]
    continuations: tuple[tuple[int, ...], ...]


def generate(
    loaded: LoadedWeights, prompts: Sequence[Prompt], ended: Callable[[int, Written], None] | None = None
) -> list[Written]:
    """What each prompt is continued with; a row leaves the batch when it ends, and `ended` is told its place then."""
    import torch

    with torch.inference_mode():
        return _Generation(loaded, prompts, ended).run()


def score(loaded: LoadedWeights, rows: Sequence[Continued]) -> list[list[float]]:
    """The log-probability of each continuation of each row: each prompt is read once."""
    import torch

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
        import torch

        width = max(map(len, rows))
        padded = [[0] * (width - len(row)) + list(row) for row in rows]
        mask = [[0] * (width - len(row)) + [1] * len(row) for row in rows]
        device = self._loaded.device
        return self._forward(torch.tensor(padded, device=device), torch.tensor(mask, device=device), **self._last_only)

    def step(self, ids: Any) -> Any:
        """Read one more token of each row; the logits after it."""
        import torch

        column = torch.ones((ids.shape[0], 1), dtype=self._mask.dtype, device=self._mask.device)
        return self._forward(ids[:, None], column)

    def keep(self, rows: Sequence[int]) -> None:
        """Keep only these rows."""
        import torch

        places = torch.tensor(list(rows), device=self._mask.device)
        self._cache.batch_select_indices(places)
        self._mask = self._mask[places]

    def branch(self, rows: Sequence[int]) -> "_Forward":
        """A copy with these rows, each as often as it is named."""
        other = copy.copy(self)
        other._cache = copy.deepcopy(self._cache)
        other.keep(rows)
        return other

    def rest(self, continuations: Sequence[Sequence[int]]) -> list[float]:
        """The log-probability of each continuation after its first token."""
        import torch

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
        import torch

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
                "local model",
                fatal=True,
            )
        self._cache, self._mask = cache, whole
        return made.logits if every else made.logits[:, -1]


class _Generation:
    """The loop of one batch."""

    def __init__(
        self, loaded: LoadedWeights, prompts: Sequence[Prompt], ended: Callable[[int, Written], None] | None
    ) -> None:
        self._ended = ended
        self._tokenizer = loaded.tokenizer
        self._state = _Forward(loaded)
        self._prompts = prompts
        self._random = [Random(prompt.sampling.seed) for prompt in prompts]
        self.written = [Written([]) for _ in prompts]

    def run(self) -> list[Written]:
        import torch

        running = list(range(len(self._prompts)))
        logits = self._state.read([prompt.ids for prompt in self._prompts])
        while True:
            taken = self._choose(logits.float(), running)
            for row, token in zip(running, taken, strict=True):
                self._add(row, token)
            going = [place for place, row in enumerate(running) if not self.written[row].finish]
            if not going:
                return self.written
            if len(going) < len(running):
                self._state.keep(going)
            running = [running[place] for place in going]
            logits = self._state.step(torch.tensor([taken[place] for place in going], device=logits.device))

    def _choose(self, logits: Any, running: list[int]) -> list[int]:
        taken: list[int] = logits.argmax(dim=-1).tolist()
        for place, row in enumerate(running):
            sampling = self._prompts[row].sampling
            if sampling.temperature:
                taken[place] = sampled(logits[place], sampling.temperature, sampling.top_p, self._random[row].random())
            if sampling.logprobs is not None:
                self.written[row].logprobs += (self._logprob(logits[place], taken[place], sampling.logprobs),)
        return taken

    def _add(self, row: int, token: int) -> None:
        prompt, written = self._prompts[row], self.written[row]
        if token in prompt.ends:
            written.finish = STOP
        else:
            written.ids.append(token)
            if self._stopped(written.ids, prompt.sampling.stop):
                written.finish = STOP
            elif len(written.ids) >= prompt.most_tokens:
                written.finish = LENGTH
        if written.finish:
            text = self._decoded(written.ids)
            ends = [place for stop in prompt.sampling.stop if (place := text.find(stop)) >= 0]
            written.text = text[: min(ends)] if ends else text
            if self._ended is not None:
                self._ended(row, written)

    def _stopped(self, ids: list[int], stops: tuple[str, ...]) -> bool:
        """Whether the newest tokens complete a stop sequence."""
        if not stops:
            return False
        tail = self._decoded(ids[-(max(map(len, stops)) * 4 + 8) :])
        return any(stop in tail for stop in stops)

    def _decoded(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=True))

    def _logprob(self, logits: Any, token: int, rivals: int) -> TokenLogprob:
        import torch

        told = torch.log_softmax(logits, dim=-1)
        best = told.topk(min(rivals, told.shape[-1]))
        top = tuple(
            (str(self._tokenizer.decode([one])), float(value))
            for one, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        )
        return TokenLogprob(str(self._tokenizer.decode([token])), float(told[token]), top)


def sampled(logits: Any, temperature: float, top_p: float | None, draw: float) -> int:
    """The token at the share `draw` of the probability, tokens ordered from the likeliest to the least likely."""
    import torch

    shares, tokens = torch.softmax(logits.double().cpu() / temperature, dim=-1).sort(descending=True, stable=True)
    upto = shares.cumsum(dim=-1)
    kept = int((upto - shares < top_p).sum()) if top_p is not None and top_p < 1 else len(shares)
    kept = max(1, kept)
    place = int(torch.searchsorted(upto[:kept], draw * float(upto[kept - 1]), right=True))
    return int(tokens[min(place, kept - 1)])
