"""Looks inside open weights: states and neurons, and their vectors on disk. Needs the extra `inside`."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.errors import StoreError, UsageError
from sociometer.core.inner_model import Passage
from sociometer.core.lazy import lazy
from sociometer.core.sheets import whole_file
from sociometer.models.files import cache_folder
from sociometer.models.hf.weights import LoadedWeights, Weights, chosen_device, find_weights

_CHECKSUM_BYTES = 32
FORMAT = 2
"""Raise it if the numbers in a file change their meaning."""


def digest_of(*parts: object) -> str:
    """The digest of JSON values."""
    return hashlib.sha256(msgspec.json.encode((FORMAT, *parts))).hexdigest()


def vectors_folder() -> Path:
    """The folder of all vectors, beside the models in the user's cache."""
    return cache_folder().parent / "inside"


class VectorFiles:
    """The vectors of one model; a file is written whole or not at all, and read only if its checksum is right."""

    def __init__(self, folder: Path, length: int) -> None:
        """`length` is the number of values in each file."""
        self.folder = folder
        self._length = length

    def has(self, digest: str) -> bool:
        """Whether there is a sound file; a damaged one counts as missing."""
        try:
            content = self._path(digest).read_bytes()
        except OSError:
            return False
        whole = len(content) == _CHECKSUM_BYTES + 4 * self._length
        return whole and hashlib.sha256(content[_CHECKSUM_BYTES:]).digest() == content[:_CHECKSUM_BYTES]

    def write(self, digest: str, values: NDArray[np.float32]) -> None:
        content, path = np.ascontiguousarray(values, dtype="<f4").tobytes(), self._path(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as partial:
            partial.write_bytes(hashlib.sha256(content).digest() + content)

    def read(self, digest: str, start: int, count: int) -> NDArray[np.float32]:
        try:
            values = np.fromfile(self._path(digest), dtype="<f4", count=count, offset=_CHECKSUM_BYTES + 4 * start)
        except OSError as error:
            raise StoreError(f"cannot read vectors in {self.folder}: {error.strerror or error}.") from None
        if values.size != count:
            raise StoreError(f"a file in {self.folder} was changed while it was used; repeat the command.")
        return values

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.f32"


torch = lazy("torch")

_LAST_MATRIX = ("down_proj", "dense_4h_to_h", "fc2", "c_proj", "fc_out", "w2", "wo")
_ATTENTION = ("attn", "attention")


class Anatomy(Struct, frozen=True):
    """The layers in order, and in each the module whose inputs are its neurons."""

    blocks: tuple[Any, ...]
    readouts: tuple[Any, ...]
    width: int
    """The number of neurons in a layer."""
    hidden: int
    """The length of a state."""

    @property
    def layers(self) -> int:
        return len(self.blocks)

    def weights(self, layer: int) -> Any:
        """The mean absolute weight that each neuron of a layer feeds, as a tensor."""
        matrix = self.readouts[layer].weight.detach().float().abs()
        # Conv1D of GPT-2 holds inputs × outputs, every other module outputs × inputs.
        return matrix.mean(dim=1 if _is_transposed(self.readouts[layer]) else 0)


def anatomy_of(model: Any, name: str) -> Anatomy:
    """The parts of a causal language model; a UsageError if they are not of a known kind."""
    lists = [module for module in model.modules() if isinstance(module, torch.nn.ModuleList) and len(module)]
    blocks: tuple[Any, ...] = ()
    for module in lists:
        if len(module) > len(blocks) and len({type(part) for part in module}) == 1:
            blocks = tuple(module)
    hidden = int(model.get_input_embeddings().weight.shape[1])
    readouts = tuple(_readout(block) for block in blocks)
    widths = {int(module.weight.shape[0 if _is_transposed(module) else 1]) for module in readouts if module is not None}
    if not blocks or None in readouts or len(widths) != 1:
        raise UsageError(
            f"'{name}' has no feed-forward blocks of a known kind (one matrix named {', '.join(_LAST_MATRIX[:4])}, … in"
            " each layer; mixtures of experts have several); choose a dense model."
        )
    return Anatomy(blocks, readouts, widths.pop(), hidden)


def _readout(block: Any) -> Any:
    """The last matrix of the feed-forward block of a layer; None if there is not exactly one."""
    found = [
        module
        for path, module in block.named_modules()
        if path.rsplit(".", 1)[-1] in _LAST_MATRIX
        and not any(word in path.lower() for word in _ATTENTION)
        and getattr(module, "weight", None) is not None
    ]
    return found[0] if len(found) == 1 else None


def _is_transposed(module: Any) -> bool:
    return type(module).__name__ == "Conv1D"


class Recorder:
    """States and neurons of one batch, pooled as each layer runs, so that no full state is kept."""

    def __init__(self, anatomy: Anatomy, mask: Any) -> None:
        """`mask` marks the tokens to look at (texts × tokens)."""
        self._mask = mask
        self._rows = mask.shape[0]
        self.states: list[Any] = [None] * (anatomy.layers + 1)
        self.squares: list[Any] = [None] * anatomy.layers

    def see_state(self, layer: int, output: Any) -> None:
        """Keeps the mean state."""
        state = (output[0] if isinstance(output, tuple) else output).float()
        weights = self._mask.to(state.dtype).unsqueeze(-1)
        self.states[layer] = ((state * weights).sum(1) / weights.sum(1)).cpu()

    def see_neurons(self, layer: int, values: Any) -> None:
        """Keeps the sum of squares of each neuron."""
        values = values.reshape(self._rows, -1, values.shape[-1]).float()
        self.squares[layer] = (values.square() * self._mask.to(values.dtype).unsqueeze(-1)).sum(1).cpu()

    def vectors(self) -> NDArray[np.float32]:
        """One row for each text: its number of tokens, the states layer by layer, the squares."""
        tokens = self._mask.sum(1).float().cpu().numpy()[:, None]
        states = np.concatenate([part.numpy() for part in self.states], axis=1)
        squares = np.concatenate([part.numpy() for part in self.squares], axis=1)
        return np.concatenate([tokens, states, squares], axis=1).astype(np.float32)


@contextmanager
def recording(anatomy: Anatomy, mask: Any) -> Iterator[Recorder]:
    """Hooks that keep what each layer does."""
    recorder = Recorder(anatomy, mask)
    hooks = [
        anatomy.blocks[0].register_forward_pre_hook(
            lambda module, args, kwargs: recorder.see_state(0, args[0] if args else kwargs["hidden_states"]),
            with_kwargs=True,
        )
    ]
    for layer, (block, readout) in enumerate(zip(anatomy.blocks, anatomy.readouts, strict=True)):
        hooks.append(
            block.register_forward_hook(lambda module, args, output, layer=layer: recorder.see_state(layer + 1, output))
        )
        hooks.append(
            readout.register_forward_pre_hook(lambda module, args, layer=layer: recorder.see_neurons(layer, args[0]))
        )
    try:
        yield recorder
    finally:
        for hook in hooks:
            hook.remove()


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


Track = Callable[[Sequence[Any], str], Iterator[Any]]
STORY_TOKENS = 256
LONGEST = 2048
"""The maximum number of tokens of one sequence; earlier tokens are left out."""


class ModelSizes(msgspec.Struct, frozen=True):
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


class OpenModel:
    """A causal language model of transformers; loaded on first use, so that kept numbers need no weights."""

    def __init__(
        self,
        spec: str,
        *,
        revision: str = "",
        story_tokens: int = STORY_TOKENS,
        batch_tokens: int = BATCH_TOKENS,
        track: Track = lambda items, label: iter(items),
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
    def _facts(self) -> ModelSizes:
        """The sizes of the model, from its folder if they are known, so that kept numbers need no weights."""
        path = self._folder / f"facts-{self.device.partition(':')[0]}.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=ModelSizes)
        except (OSError, msgspec.DecodeError):
            pass
        model, anatomy = self.loaded.model, self.anatomy
        facts = ModelSizes(
            str(model.dtype).removeprefix("torch."),
            anatomy.layers,
            anatomy.width,
            anatomy.hidden,
            sum(parameter.numel() for parameter in model.parameters()),
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as partial:
            partial.write_bytes(msgspec.json.encode(facts))
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
        sequences = [self._tokens(passages[place]) for place in missing]
        parts = list(batches([len(ids) for ids, _ in sequences], self._batch_tokens))
        for part in self._track(parts, label):
            vectors = self._record([sequences[place] for place in part])
            for place, vector in zip(part, vectors, strict=True):
                files.write(digests[missing[place]], vector)
        return StoredTraces(files, digests, facts, self._weights(), len(missing))

    def _tokens(self, passage: Passage) -> tuple[list[int], int]:
        """The tokens of a passage, and how many of them, at the end, are the utterance; the story's last are kept."""
        tokenizer = self.loaded.tokenizer
        first = list(tokenizer("").input_ids[:1])
        start = first if first == [tokenizer.bos_token_id] else []
        before, said, space = (
            list(tokenizer(text, add_special_tokens=False).input_ids) for text in (passage.before, passage.said, " ")
        )
        said = said[: LONGEST - 1] or space
        room = min(self._story_tokens, LONGEST - len(said) - len(start))
        return [*start, *(before[-room:] if room > 0 else []), *said], len(said)

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
        # Padded on the right, which a causal model never sees.
        rows = [torch.tensor(ids, device=self.device) for ids, _ in sequences]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        lengths, spans = torch.tensor([(len(ids), span) for ids, span in sequences], device=self.device).T[..., None]
        places = torch.arange(ids.shape[1], device=self.device)[None]
        read = places < lengths
        with torch.inference_mode(), recording(self.anatomy, read & (places >= lengths - spans)) as recorder:
            self.loaded.model.base_model(input_ids=ids, attention_mask=read.long(), use_cache=False)
        return recorder.vectors()


class StoredTraces:
    """Traces in files; one layer is read at a time."""

    def __init__(
        self, files: VectorFiles, digests: Sequence[str], facts: ModelSizes, weights: NDArray[np.float32], computed: int
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
