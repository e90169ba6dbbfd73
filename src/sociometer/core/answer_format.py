"""The format of the expected answer, for baselines, oracles, people and grammars.

The `key` of a format is the ideal answer. Only the oracle reads it; no model ever sees it.
"""

from string import ascii_uppercase
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr


class Choice(Struct, frozen=True, tag="choice"):
    """One of several options, answered by its label."""

    options: tuple[str, ...]
    labels: tuple[str, ...] = ()
    key: int | None = None

    def __post_init__(self) -> None:
        if not self.labels:
            force_setattr(self, "labels", tuple(ascii_uppercase[: len(self.options)]))
        if len(self.labels) != len(self.options):
            raise ValueError(f"{len(self.options)} options but {len(self.labels)} labels")


class Allocation(Struct, frozen=True, tag="allocation"):
    """A total that is shared among several options."""

    options: tuple[str, ...]
    total: float = 10
    key: tuple[float, ...] | None = None


class Schema(Struct, frozen=True, tag="schema"):
    """A JSON object that satisfies a JSON schema."""

    schema: dict[str, Any]
    name: str = "reply"
    key: dict[str, Any] | None = None


class Free(Struct, frozen=True, tag="free"):
    """Free text."""

    key: str | None = None
    hint: str = ""


AnswerFormat = Choice | Allocation | Schema | Free
