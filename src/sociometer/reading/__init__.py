"""How to ask and how to read the answer, side by side: choices, allocations, JSON, in the words of `rules/`."""

from sociometer.reading.allocation import AllocationReading, Repaired, read_allocation, repair
from sociometer.reading.asking import Answer, Reading, ask, shared_prompt, with_room
from sociometer.reading.choice import ChoiceReading, read_choice, render_options
from sociometer.reading.item_files import read_items, read_lines
from sociometer.reading.order import arrange, balanced, shuffled, undo, unshuffled
from sociometer.reading.rule_files import Rules, read_rules
from sociometer.reading.structured import StructuredReading, object_schema, read_each, read_json, read_schema
from sociometer.reading.vote import (
    ChoiceAnswer,
    Vote,
    answer_line,
    ask_choice,
    ask_votes,
    check_key,
    choice_reading,
    majority,
    most_votes,
    score_choice,
    vote_counts,
)

__all__ = [
    "AllocationReading", "Answer", "ChoiceAnswer", "ChoiceReading", "Reading", "Repaired",
    "Rules", "StructuredReading", "Vote", "answer_line", "arrange", "ask", "ask_choice", "ask_votes", "balanced",
    "check_key", "choice_reading", "majority", "most_votes", "object_schema",
    "read_allocation", "read_choice", "read_each", "read_items", "read_json", "read_lines",
    "read_rules", "read_schema", "render_options", "repair", "score_choice", "shared_prompt", "shuffled", "undo",
    "unshuffled", "vote_counts", "with_room",
]  # fmt: skip
