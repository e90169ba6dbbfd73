"""Lettered choices: how the options are shown, and how a reply is read back to one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from sociometer.core.conversation import Choice

__all__ = ["ChoiceReading", "read_choice", "render_options"]

_ONE_LINE = 40
_ONLY_MARKED = re.compile(
    r"[*_#\s]*(?:(?:my |the )?(?:final )?answer|(?:最终)?答案)[*_\s]*[:：][*_\s]*[(\[]?([A-Z])[)\]]?[*_.。\s]*",
    re.IGNORECASE,
)


class ChoiceReading(msgspec.Struct, frozen=True):
    """The option a reply chose, or None; and the rule that read it, or the reason that none could."""

    index: int | None
    rule: str


def render_options(choice: Choice) -> str:
    """Return the options of a choice, one per line, each after its label."""
    _check(choice.options, choice.labels)
    return "\n".join(f"{label}. {option}" for label, option in zip(choice.labels, choice.options, strict=True))


def read_choice(text: str, options: Sequence[str], labels: Sequence[str], *, finish: str = "stop") -> ChoiceReading:
    """Return which option the reply chose; two answers, a refusal or no answer at all give None.

    `finish` is the reply's finish reason: a reply cut off at its length limit counts only where it had already
    stated an answer.
    """
    _check(options, labels)
    if (bare := text.strip()) in labels:
        return ChoiceReading(labels.index(bare), "bare")
    if len(bare) < _ONE_LINE and (only := _ONLY_MARKED.fullmatch(bare)) and only[1] in labels:
        return ChoiceReading(labels.index(only[1]), "marked")  # nothing else to weigh: the same as below, at once
    # The rules are loaded here: their patterns take long to compile, and commands that only show runs read nothing.
    from sociometer.reading.choice_rules import ChoiceRules
    from sociometer.reading.spoken import spoken

    reading = ChoiceRules(spoken(text, options, labels), tuple(options), tuple(labels), finish == "length").read()
    if reading.index is None and finish == "length" and reading.rule in ("empty", "no answer"):
        return ChoiceReading(None, "cut off")
    return reading


def _check(options: Sequence[str], labels: Sequence[str]) -> None:
    if len(options) != len(labels) or not 2 <= len(options) <= 26:
        raise ValueError(
            f"{len(options)} options with {len(labels)} labels; a choice needs 2 to 26 options and a label for each"
        )
    if len({label.casefold() for label in labels}) != len(labels):
        raise ValueError(f"labels {list(labels)} repeat; give every option its own")
