"""The authors' released files: lines with a story, a question and options."""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.scene import Scene, Telling
from sociometer.reading import read_lines

COUNTERFACT = "egosocialarena/counterfact.jsonl"
SOCIALFIRST = "egosocialarena/socialfirst.jsonl"
EXPECTED = "Story, Question, Option and Answer"
_ABILITIES = {"non-li": "non-literal communication"}


class ReleasedLine(Struct, frozen=True):
    """One line of `counterfact.jsonl` or `socialfirst.jsonl`."""

    Story: str
    Question: str
    Option: tuple[str, ...]
    Answer: str | int
    Ability: str = ""


def answer_position(row: ReleasedLine, path: Path, number: int) -> int:
    """The answer's position, given as a letter, a number from 0, or the option itself."""
    if isinstance(row.Answer, int):
        position = row.Answer
    else:
        text = row.Answer.strip()
        letters = re.fullmatch(r"\(?([A-Za-z])[).:]?", text)
        same = [place for place, option in enumerate(row.Option) if option.strip() == text]
        opened = re.match(r"\(?([A-Z])[).:]", text)
        found = letters or (None if same else opened)
        position = same[0] if same else ord(found[1].upper()) - ord("A") if found else -1
    if len(row.Option) < 2 or not 0 <= position < len(row.Option):
        raise DataError(f"answer {row.Answer!r} is not among the options {row.Option}", path, number)
    return position


def first_person_scenes(path: Path) -> Iterator[Scene]:
    """The authors' first-person ToMBench items: told in the first person only, with the ability that each measures."""
    for number, row in read_lines(path, ReleasedLine, f"{EXPECTED}, and Ability"):
        ability = row.Ability.strip().lower()
        telling = Telling("first", row.Story, row.Question, row.Option, answer_position(row, path, number))
        yield Scene(
            id=f"socialfirst-{number:03d}",
            cluster=f"story-{row.Story.strip()[:80]}",
            tellings=(telling,),
            facets={"ability": _ABILITIES.get(ability, ability) or "none given", "options": str(len(row.Option))},
        )
