"""What an instrument's own commands give back, and what they may import."""

from typing import Any

from msgspec import Struct

from sociometer.core.measure import Figure, Table
from sociometer.core.task import Item
from sociometer.core.transcript import Event


class Result(Struct, frozen=True, omit_defaults=True):
    """What a command shows: tables on the terminal, everything with `--json`.

    `failed` makes the exit code 1 (a gate that did not hold, a lint that found something).
    """

    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    wrote: tuple[str, ...] = ()
    data: dict[str, Any] = {}
    failed: bool = False


class FinishedEpisode(Struct, frozen=True):
    """An episode that was played elsewhere and is now imported."""

    item: Item
    outcome: Struct
    events: tuple[Event, ...] = ()
    repeat: int = 0
