"""How to ask and how to read the answer, side by side: choices, allocations, JSON, in English and Chinese."""

from sociometer.elicit.allocation import AllocationReading, Repaired, read_allocation, repair
from sociometer.elicit.choice import ChoiceReading, read_choice, render_options
from sociometer.elicit.item_files import read_items, read_lines
from sociometer.elicit.order import arrange, balanced, original_index, shuffled, undo, unshuffled
from sociometer.elicit.structured import StructuredReading, find_json, read_each, read_json, read_schema
from sociometer.elicit.vote import (
    ChoiceAnswer,
    Vote,
    ask_choice,
    ask_votes,
    check_key,
    majority,
    most_votes,
    score_choice,
)

__all__ = [
    "AllocationReading",
    "ChoiceAnswer",
    "ChoiceReading",
    "Repaired",
    "StructuredReading",
    "Vote",
    "arrange",
    "ask_choice",
    "ask_votes",
    "balanced",
    "check_key",
    "find_json",
    "majority",
    "most_votes",
    "original_index",
    "read_allocation",
    "read_choice",
    "read_each",
    "read_items",
    "read_json",
    "read_lines",
    "read_schema",
    "render_options",
    "repair",
    "score_choice",
    "shuffled",
    "undo",
    "unshuffled",
]
