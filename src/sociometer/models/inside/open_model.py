"""Batches of token sequences, bounded by the number of tokens in them."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sociometer.core.inner_model import OptionQuestion, Passage, Pooling
from sociometer.core.lazy import lazy
from sociometer.models.hf import LoadedWeights, Weights, chosen_device, find_weights
from sociometer.models.inside.hooks import Anatomy, anatomy_of, only_at, recording, switched_off
from sociometer.models.inside.vector_files import ScoreBook, VectorFiles, digest_of, vectors_folder, write_whole

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
        # The same questions are asked again for every set of neurons.
        self._questions: dict[tuple[OptionQuestion, int], list[tuple[list[int], list[int]]]] = {}
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

    def question(self, question: OptionQuestion, longest: int) -> list[tuple[list[int], list[int]]]:
        """The tokens of the prompt and of each option; the beginning of a prompt that is too long is left out."""
        if (question, longest) not in self._questions:
            self._questions[question, longest] = self._question(question, longest)
        return self._questions[question, longest]

    def _question(self, question: OptionQuestion, longest: int) -> list[tuple[list[int], list[int]]]:
        answers = [self.plain(text) or self.plain(" ") for text in question.continuations]
        template = question.chat and getattr(self._tokenizer, "chat_template", None)
        if template:
            messages = [{"role": "user", "content": question.prompt}]
            text = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            prompt = self.plain(text)
        else:
            prompt = [*self._start, *self.plain(question.prompt)]
        room = max(1, longest - max(map(len, answers)))
        return [(prompt[-room:] or self.plain(" "), answer) for answer in answers]


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
        """How many numbers are kept of a passage: its tokens, two states of each layer, all neurons."""
        return 1 + 2 * (self.layers + 1) * self.hidden + self.layers * self.width


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

    @cached_property
    def _scores(self) -> ScoreBook:
        return ScoreBook(self._folder / "scores.jsonl")

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
        with torch.inference_mode(), recording(self.anatomy, mask, lengths - 1) as recorder:
            self.loaded.model.base_model(input_ids=ids, attention_mask=attention, use_cache=False)
        return recorder.vectors()

    def _padded(self, sequences: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """Token numbers and attention mask, padded on the right, which a causal model never sees."""
        longest = max(map(len, sequences))
        rows = [[*ids, *[0] * (longest - len(ids))] for ids in sequences]
        seen = [[1] * len(ids) + [0] * (longest - len(ids)) for ids in sequences]
        return torch.tensor(rows, device=self.device), torch.tensor(seen, device=self.device)

    def option_scores(self, questions: Sequence[OptionQuestion], off: Sequence[int], label: str) -> NDArray[np.float64]:
        """The mean log-probability per token of each option, from the file where it is known."""
        silent = sorted(map(int, off))
        keys = [digest_of("options", self.revision, self._facts.dtype, question, silent) for question in questions]
        missing = [place for place, key in enumerate(keys) if self._scores.get(key) is None]
        rows = [self._tokens.question(questions[place], LONGEST) for place in missing]
        flat = [(row, option) for row, options in enumerate(rows) for option in range(len(options))]
        # The options of a question stay together, so that a question is kept once its batch is done.
        lengths = [max(len(prompt) + len(answer) for prompt, answer in options) for options in rows]
        counts = max((len(options) for options in rows), default=1)
        parts = list(batches(lengths, max(1, self._batch_tokens // counts)))
        if not parts:
            return self._known_scores(keys)
        with switched_off(self.anatomy, silent):
            for part in self._track(parts, label):
                own = set(part)
                chosen = [entry for entry in flat if entry[0] in own]
                values = self._log_probabilities([rows[row][option] for row, option in chosen])
                kept: dict[str, list[float]] = {}
                for (row, _), value in zip(chosen, values, strict=True):
                    kept.setdefault(keys[missing[row]], []).append(value)
                self._scores.add({key: tuple(scores) for key, scores in kept.items()})
        return self._known_scores(keys)

    def _known_scores(self, keys: Sequence[str]) -> NDArray[np.float64]:
        """The kept scores; a question with fewer options than others has −∞ in their place."""
        rows = [self._scores.get(key) or () for key in keys]
        most = max(map(len, rows), default=0)
        filled = [[*row, *[-np.inf] * (most - len(row))] for row in rows]
        return np.array(filled, dtype=np.float64).reshape(len(rows), most)

    def _log_probabilities(self, sequences: Sequence[tuple[list[int], list[int]]]) -> list[float]:
        """The mean log-probability per token of each answer after its prompt.

        Answers of one token after one prompt (letters) are read off one forward pass.
        """
        wholes = list(dict.fromkeys((tuple(prompt), tuple(answer[:-1])) for prompt, answer in sequences))
        ids, attention = self._padded([[*prompt, *begun] for prompt, begun in wholes])
        wanted = [
            (row, place)
            for row, (prompt, begun) in enumerate(wholes)
            for place in range(len(prompt) - 1, len(prompt) + len(begun))
        ]
        with torch.inference_mode(), only_at(self.loaded.model, wanted):
            logits = self.loaded.model(input_ids=ids, attention_mask=attention, use_cache=False).logits
        found = torch.log_softmax(logits.reshape(len(wanted), -1).float(), dim=-1)
        start_of = {wholes[row]: number for number, (row, _) in reversed(list(enumerate(wanted)))}
        values = []
        for prompt, answer in sequences:
            start = start_of[tuple(prompt), tuple(answer[:-1])]
            picked = found[list(range(start, start + len(answer))), answer]
            values.append(float(picked.mean()))
        return values


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

    def states(self, layer: int, pooling: Pooling) -> NDArray[np.float32]:
        start = 1 + (2 * layer + (pooling == "mean")) * self._hidden
        return np.stack([self._files.read(digest, start, self._hidden) for digest in self._digests])

    def squares(self, layer: int) -> NDArray[np.float32]:
        start = 1 + 2 * (self.layers + 1) * self._hidden + layer * self.width
        return np.stack([self._files.read(digest, start, self.width) for digest in self._digests])

    def weights(self, layer: int) -> NDArray[np.float32]:
        return np.asarray(self._weights[layer], dtype=np.float32)


_MOST_TOKENS = 256
