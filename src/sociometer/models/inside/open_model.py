"""Batches of token sequences, bounded by the number of tokens in them."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sociometer.core.inner_model import Passage
from sociometer.core.lazy import lazy
from sociometer.models.hf import LoadedWeights, Weights, chosen_device, find_weights
from sociometer.models.inside.hooks import Anatomy, anatomy_of, recording
from sociometer.models.inside.vector_files import VectorFiles, digest_of, vectors_folder, write_whole

torch = lazy("torch")

BATCH_TOKENS = 4096
"""The default: the peak memory of a batch grows with it, not with the number of passages."""


def batches(lengths: Sequence[int], most_tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """The places of sequences, those of similar length together; each padded batch has at most so many tokens.

    A longer sequence is a batch by itself.
    """
    waiting: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if waiting and lengths[waiting[0]] * (len(waiting) + 1) > most_tokens:
            yield waiting
            waiting = []
        waiting.append(place)
    if waiting:
        yield waiting


class Tokens:
    """A tokenizer of transformers."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        first = tokenizer("")["input_ids"][:1]
        self._start = list(first) if first and first[0] == tokenizer.bos_token_id else []

    def plain(self, text: str) -> list[int]:
        """The tokens of a text, without any that mark its start or end."""
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def passage(self, passage: Passage, most_before: int, longest: int) -> tuple[list[int], int]:
        """The tokens of a passage, and how many of them, at the end, are the utterance.

        Of the story only the last `most_before` tokens are kept.
        """
        said = self.plain(passage.said)[: longest - 1] or self.plain(" ")
        room = min(most_before, longest - len(said) - len(self._start))
        before = self.plain(passage.before)[-room:] if room > 0 else []
        return [*self._start, *before, *said], len(said)


ItemT = TypeVar("ItemT")
Track = Callable[[Sequence[Any], str], Iterator[Any]]
STORY_TOKENS = 256
LONGEST = 2048
"""The maximum number of tokens of one sequence; earlier tokens are left out."""


class Facts(msgspec.Struct, frozen=True):
    """The sizes of a model, and the type of its numbers, which depends on the device."""

    dtype: str
    layers: int
    width: int
    hidden: int
    parameters: int

    @property
    def numbers(self) -> int:
        """How many numbers are kept of a passage: its tokens, a state of each layer, all neurons."""
        return 1 + (self.layers + 1) * self.hidden + self.layers * self.width


def untracked(items: Sequence[ItemT], label: str) -> Iterator[ItemT]:
    """The items, without a progress bar."""
    yield from items


class OpenModel:
    """A causal language model of transformers; loaded on first use, so that kept numbers need no weights."""

    def __init__(
        self,
        spec: str,
        *,
        revision: str = "",
        story_tokens: int = STORY_TOKENS,
        batch_tokens: int = BATCH_TOKENS,
        track: Track = untracked,
        folder: Path | None = None,
    ) -> None:
        self.name = spec
        self._found: Weights = find_weights(spec, revision)
        self.revision = self._found.revision
        self.device = chosen_device()
        self._story_tokens = story_tokens
        self._batch_tokens = batch_tokens
        self._track = track
        self._folder = (folder or vectors_folder()) / self.revision[:16]

    @cached_property
    def loaded(self) -> LoadedWeights:
        return self._found.load(self.device)

    @cached_property
    def anatomy(self) -> Anatomy:
        return anatomy_of(self.loaded.model, self.name)

    @cached_property
    def _tokens(self) -> Tokens:
        return Tokens(self.loaded.tokenizer)

    @cached_property
    def _facts(self) -> Facts:
        """The sizes of the model, from its folder if they are known, so that kept numbers need no weights."""
        path = self._folder / f"facts-{self.device.partition(':')[0]}.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=Facts)
        except (OSError, msgspec.DecodeError):
            pass
        model, anatomy = self.loaded.model, self.anatomy
        facts = Facts(
            str(model.dtype).removeprefix("torch."),
            anatomy.layers,
            anatomy.width,
            anatomy.hidden,
            sum(parameter.numel() for parameter in model.parameters()),
        )
        write_whole(path, msgspec.json.encode(facts))
        return facts

    @property
    def layers(self) -> int:
        return self._facts.layers

    @property
    def width(self) -> int:
        return self._facts.width

    @property
    def parameters(self) -> int:
        """The number of parameters; those that two layers share count once."""
        return self._facts.parameters

    def traces(self, passages: Sequence[Passage], label: str) -> "StoredTraces":
        """The traces of the passages, from the files where they are known."""
        facts = self._facts
        files = VectorFiles(self._folder, facts.numbers)
        digests = [digest_of("trace", self.revision, facts.dtype, self._story_tokens, passage) for passage in passages]
        missing = list({digest: place for place, digest in enumerate(digests) if not files.has(digest)}.values())
        sequences = [self._tokens.passage(passages[place], self._story_tokens, LONGEST) for place in missing]
        parts = list(batches([len(ids) for ids, _ in sequences], self._batch_tokens))
        for part in self._track(parts, label):
            vectors = self._record([sequences[place] for place in part])
            for place, vector in zip(part, vectors, strict=True):
                files.write(digests[missing[place]], vector)
        return StoredTraces(files, digests, facts, self._weights(), len(missing))

    def _weights(self) -> NDArray[np.float32]:
        """The mean absolute weight that each neuron feeds, layers × neurons."""
        facts = self._facts
        files = VectorFiles(self._folder, facts.layers * facts.width)
        digest = digest_of("weights", self.revision, facts.dtype)
        if not files.has(digest):
            rows = [self.anatomy.weights(layer).cpu().numpy() for layer in range(facts.layers)]
            files.write(digest, np.stack(rows))
        return files.read(digest, 0, facts.layers * facts.width).reshape(facts.layers, facts.width)

    def _record(self, sequences: Sequence[tuple[list[int], int]]) -> NDArray[np.float32]:
        """The vectors of one batch; each sequence has the number of its last tokens that are looked at."""
        ids, attention = self._padded([ids for ids, _ in sequences])
        lengths = torch.tensor([len(ids) for ids, _ in sequences], device=self.device)
        spans = torch.tensor([span for _, span in sequences], device=self.device)
        places = torch.arange(ids.shape[1], device=self.device)[None]
        mask = (places < lengths[:, None]) & (places >= (lengths - spans)[:, None])
        with torch.inference_mode(), recording(self.anatomy, mask) as recorder:
            self.loaded.model.base_model(input_ids=ids, attention_mask=attention, use_cache=False)
        return recorder.vectors()

    def _padded(self, sequences: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """Token numbers and attention mask, padded on the right, which a causal model never sees."""
        longest = max(map(len, sequences))
        rows = [[*ids, *[0] * (longest - len(ids))] for ids in sequences]
        seen = [[1] * len(ids) + [0] * (longest - len(ids)) for ids in sequences]
        return torch.tensor(rows, device=self.device), torch.tensor(seen, device=self.device)


class StoredTraces:
    """Traces in files; one layer is read at a time."""

    def __init__(
        self, files: VectorFiles, digests: Sequence[str], facts: Facts, weights: NDArray[np.float32], computed: int
    ) -> None:
        self._files = files
        self._digests = digests
        self._hidden = facts.hidden
        self._weights = weights
        self.computed = computed
        self.layers = facts.layers
        self.width = facts.width
        self.tokens = np.array([files.read(digest, 0, 1)[0] for digest in digests], dtype=np.float64)

    def states(self, layer: int) -> NDArray[np.float32]:
        start = 1 + layer * self._hidden
        return np.stack([self._files.read(digest, start, self._hidden) for digest in self._digests])

    def squares(self, layer: int) -> NDArray[np.float32]:
        start = 1 + (self.layers + 1) * self._hidden + layer * self.width
        return np.stack([self._files.read(digest, start, self.width) for digest in self._digests])

    def weights(self, layer: int) -> NDArray[np.float32]:
        return np.asarray(self._weights[layer], dtype=np.float32)
