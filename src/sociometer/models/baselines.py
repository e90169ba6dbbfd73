"""Baselines, which show the score without understanding, and the oracle, which shows the best score."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from sociometer.core.conversation import Allocation, Choice, Free, Identity, Reply, Request, Schema, Usage
from sociometer.core.errors import FailureKind, MachineryError, hint, unknown
from sociometer.core.language import texts_in, written_in
from sociometer.core.player import Abilities, RulePlayer

_DEEPEST = 12
_LONGEST_ARRAY = 1000

Pick = Callable[[Sequence[Any]], Any]
"""Picks one of several values (those of an enum, or the ends and the middle of a number's range)."""
Write = Callable[[], str]
"""Returns the text for a string without an enum."""


def sample(schema: dict[str, Any], pick: Pick, write: Write) -> Any:
    """An instance that satisfies the schema, each open decision made by `pick`."""

    def value(part: Any, depth: int) -> Any:
        if not isinstance(part, dict) or depth > _DEEPEST:
            return None
        if "const" in part:
            return part["const"]
        if part.get("enum"):
            return pick(part["enum"])
        if "$ref" in part:
            return value(_resolved(schema, str(part["$ref"])), depth + 1)
        if part.get("anyOf"):
            return value(pick(part["anyOf"]), depth + 1)
        match part.get("type", "string"):
            case "object":
                return {name: value(inner, depth + 1) for name, inner in part.get("properties", {}).items()}
            case "array":
                count = min(int(part.get("minItems", 1)), _LONGEST_ARRAY)
                return [value(part.get("items", {"type": "string"}), depth + 1) for _ in range(count)]
            case "integer" | "number" as kind:
                low = part.get("minimum", 0)
                high = part.get("maximum", low + 10)
                if kind == "integer":
                    return int(pick(range(int(low), int(high) + 1)))
                return float(pick([low + (high - low) * step / 10 for step in range(11)]))
            case "boolean":
                return pick([True, False])
            case "null":
                return None
        return _fitting(write(), int(part.get("minLength", 0)), part.get("maxLength"))

    return value(schema, 0)


def _fitting(text: str, shortest: int, longest: int | None) -> str:
    while len(text) < shortest:
        text = f"{text} {text}" if text else "…"
    return text if longest is None else text[: int(longest)]


def _resolved(schema: Any, reference: str) -> Any:
    for part in reference.removeprefix("#").strip("/").split("/"):
        schema = schema.get(part, {}) if isinstance(schema, dict) and part else schema
    return schema


_WORDS = Path(__file__).parent / "words"
_NO_TOKENS = Usage(0, 0)


class Baseline(RulePlayer):
    """Answers every request by one rule, which picks one of several values by its index."""

    abilities = Abilities(continues_text=True)

    def __init__(self, name: str, place: Callable[[Sequence[Any], Random], int]) -> None:
        super().__init__(Identity("baseline", name, stand_in=True))
        self._place = place

    async def answer(self, request: Request) -> Reply:
        """The rule's answer in the given format."""
        return Reply(self.write(request), usage=_NO_TOKENS)

    def write(self, request: Request) -> str:
        match request.answer_format:
            case Choice() as answer_format:
                return answer_format.labels[self.pick(answer_format.options, request.rng)]
            case Allocation() as answer_format:
                return allocation_text(answer_format.options, self.share(answer_format, request.rng))
            case Schema() as answer_format:
                return msgspec.json.encode(self.fill(answer_format, request)).decode()
            case _:
                return str(self._take(self.words(request), request))

    def share(self, answer_format: Allocation, rng: Random) -> tuple[float, ...]:
        """The whole total on the option that the rule picks."""
        taken = self.pick(answer_format.options, rng)
        return tuple(answer_format.total if index == taken else 0.0 for index in range(len(answer_format.options)))

    def fill(self, answer_format: Schema, request: Request) -> Any:
        """An instance of the schema with values picked by the rule."""
        words = self.words(request)
        return sample(
            answer_format.schema, lambda values: self._take(values, request), lambda: self._take(words, request)
        )

    def words(self, request: Request) -> tuple[str, ...]:
        """A sentence that fits any message, in the language of the last message."""
        return tuple(words_for(request)["replies"])

    def pick(self, options: Sequence[str], rng: Random) -> int:
        return self._place(options, rng)

    def _take(self, values: Sequence[Any], request: Request) -> Any:
        return values[self._place(values, request.rng)]


class Guesser(Baseline):
    """Picks every answer with the same probability."""

    def __init__(self) -> None:
        super().__init__("random", lambda values, rng: rng.randrange(len(values)))

    def share(self, answer_format: Allocation, rng: Random) -> tuple[float, ...]:
        """A random allocation of whole points; all are equally likely."""
        points, parts = round(answer_format.total), len(answer_format.options)
        bars = sorted(rng.sample(range(points + parts - 1), parts - 1))
        edges = [-1, *bars, points + parts - 1]
        return tuple(float(edges[at + 1] - edges[at] - 1) for at in range(parts))


class Even(Baseline):
    """Shares a total evenly, takes the middle of a range, and chooses options at random."""

    def __init__(self) -> None:
        super().__init__("even", lambda values, rng: len(values) // 2)

    def share(self, answer_format: Allocation, rng: Random) -> tuple[float, ...]:
        return (answer_format.total / len(answer_format.options),) * len(answer_format.options)

    def pick(self, options: Sequence[str], rng: Random) -> int:
        return rng.randrange(len(options))


class Refuser(Baseline):
    """Refuses every request; shows the score of a subject that never answers."""

    def __init__(self) -> None:
        super().__init__("refuse", _first)

    def write(self, request: Request) -> str:
        return str(words_for(request)["refusal"])


class Oracle(Baseline):
    """Gives the key of the answer format, to show that a task can be solved."""

    def __init__(self) -> None:
        super().__init__("oracle", _first)

    def write(self, request: Request) -> str:
        match request.answer_format:
            case Choice(key=int() as key) as answer_format:
                return answer_format.labels[key]
            case Allocation(key=tuple() as shares) as answer_format:
                return allocation_text(answer_format.options, shares)
            case Schema(key=dict() as fields):
                return msgspec.json.encode(fields).decode()
            case Free(key=str() as text):
                return text
        kind = type(request.answer_format).__name__.lower()
        raise MachineryError(
            f"the oracle has no ideal answer to this {kind} (role '{request.role}'): the item gives no key; "
            "use another model for this role.",
            FailureKind.NO_KEY,
        )


def allocation_text(options: Sequence[str], shares: Sequence[float]) -> str:
    """An allocation as lines of `option: points`."""
    return "\n".join(f"{option}: {share:.10g}" for option, share in zip(options, shares, strict=True))


def words_for(request: Request) -> dict[str, Any]:
    """What baselines say in the language of the last message, which is known by its letters; else in English."""
    return texts_in(_WORDS, written_in(request.messages[-1].content if request.messages else ""))


def _first(values: Sequence[Any], rng: Random) -> int:
    return 0


def _longest(values: Sequence[Any], rng: Random) -> int:
    return max(range(len(values)), key=lambda place: _length(values[place]))


def _length(value: Any) -> float:
    return len(value) if isinstance(value, str) else float(value) if isinstance(value, int | float) else 0.0


_MAKERS: dict[str, tuple[str, Callable[[], Baseline]]] = {
    "random": ("a random answer; all have the same probability", Guesser),
    "first": ("the first option", lambda: Baseline("first", _first)),
    "last": ("the last option", lambda: Baseline("last", lambda values, rng: len(values) - 1)),
    "longest": ("the longest option", lambda: Baseline("longest", _longest)),
    "even": ("equal shares of points; the middle of a range", Even),
    "refuse": ("a refusal to answer", Refuser),
    "oracle": ("the item's own ideal answer", Oracle),
}


def baseline(name: str) -> Baseline:
    """The baseline with this name."""
    if name not in _MAKERS:
        raise unknown("baseline", name, _MAKERS, f"Run '{hint('list models')}' to see all.")
    return _MAKERS[name][1]()


def baselines() -> dict[str, str]:
    """The name of each baseline with a description of its answers."""
    return {name: help_ for name, (help_, _) in _MAKERS.items()}
