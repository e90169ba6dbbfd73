"""Writes replies with transformers: prompts in one batch, which they join and leave."""

import inspect
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from msgspec import Struct

from sociometer.core.conversation import Sampling
from sociometer.core.errors import FailureKind, MachineryError
from sociometer.core.lazy import lazy
from sociometer.models.finish import LENGTH, STOP
from sociometer.models.hf.weights import LoadedWeights

torch = lazy("torch")


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

    def _forward(self, ids: Any, mask: Any, **options: Any) -> Any:
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
        return made.logits[:, -1]


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
