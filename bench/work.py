"""The work that every program in the benchmark does: the same questions, the same dialogues, the same server."""

import csv
import os
from pathlib import Path
from typing import Any

QUESTIONS = 5_000
QUESTIONS_IN_FLIGHT = 256
DIALOGUES = 100
TURNS = 10
CALLS = 3
DIALOGUES_IN_FLIGHT = 64
DELAY_SECONDS = 0.05
MODEL = "bench-model"
REPLY = "ANSWER: B"
LETTERS = "ABCD"

_PEOPLE = ("Amara", "Jun", "Lucía", "Tomasz", "Noor", "Kwame", "Mei", "Astrid")
_DOINGS = (
    "hides a bad mark from a parent",
    "thanks a rival after losing the match",
    "keeps silent while a friend is mocked",
    "gives back more change than was asked for",
    "repeats a joke nobody laughed at",
)


def question(number: int) -> dict[str, Any]:
    """Question `number`: its text, four options and the place of the right one."""
    who, doing = _PEOPLE[number % len(_PEOPLE)], _DOINGS[number % len(_DOINGS)]
    text = f"(case {number}) {who} {doing} on day {number // 40} of the school year. What does {who} most likely feel?"
    feelings = ("shame", "relief", "pride", "anger", "envy", "calm")
    options = tuple(feelings[(number + step) % len(feelings)] for step in range(4))
    return {"id": f"q{number}", "question": text, "options": options, "answer": number % 4}


def prompt(item: dict[str, Any]) -> str:
    """A question as it is put to the model."""
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, item["options"], strict=True))
    return f"{item['question']}\n\n{listed}\n\nAnswer with one letter."


def official_questions() -> list[dict[str, Any]]:
    """The official SESI items where they are at hand, read as plainly as a script would."""
    folder = os.environ.get("SOCIOMETER_DATA", "")
    path = Path(folder) / "sesi" / "sesi.csv"
    if not folder or not path.exists():
        return []
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def opening(dialogue: int) -> str:
    """The first words of a dialogue."""
    who = _PEOPLE[dialogue % len(_PEOPLE)]
    return f"(dialogue {dialogue}) I am {who}. My friend has not spoken to me for {dialogue % 9 + 2} days."
