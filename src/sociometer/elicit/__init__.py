"""How to ask and how to read the answer, side by side: choices, allocations, JSON, in English and Chinese."""

from sociometer.elicit.allocation import AllocationReading, Repaired, read_allocation, repair
from sociometer.elicit.choice import ChoiceReading, read_choice, render_options
from sociometer.elicit.order import arrange, balanced, majority, original_index, shuffled, undo
from sociometer.elicit.structured import StructuredReading, find_json, read_json

__all__ = [
    "AllocationReading",
    "ChoiceReading",
    "Repaired",
    "StructuredReading",
    "arrange",
    "balanced",
    "find_json",
    "majority",
    "original_index",
    "read_allocation",
    "read_choice",
    "read_json",
    "render_options",
    "repair",
    "shuffled",
    "undo",
]
