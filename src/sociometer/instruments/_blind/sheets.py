"""Sheets for readers who do not see the situation: questions and options in random order, and their answers."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from sociometer.core.errors import DataError, UsageError
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.instruments._blind.control import Asked

_Kind = TypeVar("_Kind")
_LETTERS = "ABCDEFGHIJ"
MOST_RIGHT = 1
"""An item survives if at most so many readers chose its key."""


class SheetQuestion(msgspec.Struct, frozen=True):
    """One question without its situation: what is asked (or the goal), and the options by letter."""

    number: int
    asked: str
    choices: dict[str, str]


class Sheet(msgspec.Struct, frozen=True):
    """Questions of one language in random order, with the instruction for the reader."""

    language: str
    instruction: str
    questions: tuple[SheetQuestion, ...]

    def text(self) -> str:
        """The sheet as the text of a JSON file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2).decode() + "\n"


def make_sheet(entries: Iterable[tuple[str, Sequence[str]]], language: str, instruction: str, seed: int) -> Sheet:
    """A sheet of questions with their options; the same entries and seed give the same sheet."""
    rng, mixed = random.Random(seed), list(entries)
    rng.shuffle(mixed)
    questions = []
    for number, (asked, options) in enumerate(mixed, start=1):
        texts = list(options)
        rng.shuffle(texts)
        questions.append(SheetQuestion(number, asked, dict(zip(_LETTERS, texts, strict=False))))
    return Sheet(language, instruction, tuple(questions))


def read_sheet(path: Path) -> Sheet:
    """A sheet from its file."""
    return _read(path, Sheet, "not a blind sheet; make one with the command 'blind' and --to FOLDER")


def read_answers(path: Path) -> dict[str, str]:
    """A reader's answers: an object from question number to letter."""
    return _read(path, dict[str, str], 'not a list of answers; needed: an object such as {"1": "B", "2": "A"}')


def _read(path: Path, kind: type[_Kind], advice: str) -> _Kind:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        raise DataError(f"no such file; {advice}", path) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{advice} ({error})", path) from None


def picked(sheet: Sheet, answers: Mapping[str, str]) -> Iterator[tuple[SheetQuestion, str | None]]:
    """Each question of a sheet with the option that the reader chose; None without an answer."""
    for question in sheet.questions:
        yield question, question.choices.get(str(answers.get(str(question.number), "")).strip().upper())


def answered(options: Settings) -> tuple[Sheet, dict[str, dict[str, str]]] | None:
    """The sheet and every reader's answers that the user gave; None if the user gave neither."""
    if not options.texts("answers") and not options.text("sheet"):
        return None
    if not options.texts("answers") or not options.text("sheet"):
        raise UsageError(
            "--answers needs --sheet and --sheet needs --answers: the sheet, and one file for each reader."
        )
    given = {Path(name).stem: read_answers(Path(name)) for name in options.texts("answers")}
    return read_sheet(Path(options.text("sheet"))), given


def score_questions(
    sheet: Sheet, answers: Mapping[str, Mapping[str, str]], hidden: Iterable[Asked]
) -> tuple[list[Table], list[str]]:
    """What each reader earned, and how many readers chose the key of each item."""
    known = {(item.question, frozenset(item.options)): item for item in hidden}
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    lines: list[tuple[Cell, ...]] = []
    notes = []
    for reader, given in answers.items():
        earned, chance, unanswered, changed = [], [], 0, 0
        for question, text in picked(sheet, given):
            item = known.get((question.asked, frozenset(question.choices.values())))
            if item is None:
                changed += 1
                continue
            unanswered += text is None
            for name, key in item.blind.items():
                earned.append(item.options[key] == text)
                chance.append(1 / len(item.options))
                right[name] += earned[-1]
                asked[name] += 1
        count = len(earned) or 1
        lines.append((reader, len(earned), sum(earned) / count, sum(chance) / count))
        notes += [f"{reader}: {unanswered} questions have no answer and count as wrong."] if unanswered else []
        notes += [f"{reader}: {changed} questions of the sheet are in no item; they were left out."] if changed else []
    columns = ("reader", "items", "right", "by chance")
    units = {"right": "share", "by chance": "share"}
    tables = [Table("readers", "Readers who saw question and options only", columns, tuple(lines), units=units)]
    rows = tuple((name, right[name], asked[name]) for name in sorted(asked, key=lambda name: (right[name], name)))
    tables.append(Table("items", "Readers who chose the key", ("item", "chose the key", "readers"), rows))
    if len(answers) > 1:
        survived = sum(right[name] <= MOST_RIGHT for name in asked)
        notes.append(
            f"At most {MOST_RIGHT} of {len(answers)} readers chose the key of {survived} of {len(asked)} items."
        )
    return tables, notes
