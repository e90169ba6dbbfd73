"""Sheets about single replies (questions of candour, and support strategies), and the results of people's answers."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from sociometer.core import sheets
from sociometer.core.errors import DataError
from sociometer.core.task import Score
from sociometer.instruments.sage.analyses.candour import JudgedTalk, score_answers
from sociometer.instruments.sage.dialogue import StoredDialogue
from sociometer.instruments.sage.strategies import STRATEGIES
from sociometer.statistics.agreement import settled

Kind = Literal["candour", "strategies"]
FAMILIES = {
    "questions": "A",
    "empathy": "B",
    "self-disclosure": "C",
    "comfort": "D",
    "affirmation": "E",
    "suggestions": "F",
    "information": "G",
    "apology": "H",
}
"""The columns of the sheet of strategies, and the letter that its codes begin with."""
NONE = "none"
_CANDOUR = ("reply", "question id", "who and what", "talk", "last reply", "question about the reply", "answer")
_STRATEGIES = ("reply", "words before", "last reply", *FAMILIES)
_ALLOWED = {"answer": ("yes", "no")}

Place = tuple[str, ...]
"""What one answer is about: the reply, then the id of the question or the family of strategies."""


class ReplyAnswers(Struct, frozen=True):
    """One annotator's answers about replies."""

    annotator: str
    answers: dict[Place, str]
    asked: dict[Place, str] = {}
    """The wording of each question of candour, as the sheet has it."""


def options_of(column: str) -> tuple[str, ...]:
    """The answers that a column of the sheet of strategies allows."""
    letter = FAMILIES[column]
    return (NONE, *(f"{code} {title}" for code, title in STRATEGIES.items() if code[0] == letter))


def reply_key(stored: StoredDialogue, turn: int) -> str:
    """The name of a reply in a sheet: run, dialogue and turn (counted from 1)."""
    return f"{stored.run}:{stored.id}@{turn}"


def write_candour(talks: Iterable[JudgedTalk]) -> str:
    """A row for each reply and question: what was said so far, the reply, and the question."""
    rows = []
    for talk in talks:
        for number, turn in enumerate(talk.dialogue.turns, 1):
            said = _said(talk, number - 1)
            known = talk.known if talk.kind else ""
            rows += [
                (reply_key(talk, number), question.id, known, said, turn.reply, question.text, "")
                for question in talk.questions
            ]
    return sheets.write_sheet(_CANDOUR, rows, guard_formulas=True)


def write_strategies(dialogues: Iterable[StoredDialogue]) -> str:
    """A row for each reply: the words before it, the reply, and a column for each family of strategies."""
    rows = []
    for stored in dialogues:
        for number, turn in enumerate(stored.dialogue.turns, 1):
            before = stored.dialogue.said(number - 1)[-1][1]
            rows.append((reply_key(stored, number), before, turn.reply, *("" for _ in FAMILIES)))
    return sheets.write_sheet(_STRATEGIES, rows, guard_formulas=True)


def kind_of(path: Path) -> Kind | None:
    """The kind of a sheet about replies; None for another sheet."""
    columns = set(sheets.read_sheet(path, guarded=True).columns)
    if columns.issuperset(("reply", "question id", "answer")):
        return "candour"
    return "strategies" if columns.issuperset(("reply", *FAMILIES)) else None


def read_answers(path: Path, kind: Kind) -> ReplyAnswers:
    """A filled-in sheet; the annotator is named after the file, and a row may be left empty."""
    keys = ("reply", "question id") if kind == "candour" else ("reply",)
    allowed = _ALLOWED if kind == "candour" else {column: options_of(column) for column in FAMILIES}
    answers: dict[Place, str] = {}
    asked: dict[Place, str] = {}
    wording = ("question about the reply",) if kind == "candour" else ()
    for line, row in sheets.read_rows(path, (*keys, *wording, *allowed), guarded=True):
        key = tuple(row[name].strip() for name in keys)
        for column, values in allowed.items():
            said = row[column].strip()
            if said and said not in values:
                raise DataError(f"{column} '{said}'; allowed: {', '.join(values)}, or empty", path, line)
            if said:
                answers[key if kind == "candour" else (*key, column)] = said
                if wording:
                    asked[key] = row[wording[0]]
    if not answers:
        raise DataError("contains no answer", path)
    return ReplyAnswers(path.stem, answers, asked)


def check_wording(read: Iterable[ReplyAnswers], talks: Iterable[JudgedTalk]) -> None:
    """Raises an error for an answer to a question that has another wording in the run."""
    wordings: dict[Place, str] = {
        (reply_key(talk, turn), question.id): question.text
        for talk in talks
        for turn in range(1, len(talk.dialogue.turns) + 1)
        for question in talk.questions
    }
    for each in read:
        for place, text in each.asked.items():
            if wordings.get(place, text).split() != text.split():
                raise DataError(
                    f"the sheet of '{each.annotator}' asks '{text}' about {place[0]}, the run '{wordings[place]}': "
                    "answers to another wording are not used; write the sheet again with 'sociometer sheet sage'"
                )


def by_annotator(read: Sequence[ReplyAnswers]) -> dict[str, dict[Place, str]]:
    """The answers of each annotator, whose sheets count as one; two different answers to one question are an error."""
    found: dict[str, dict[Place, str]] = {}
    for each in read:
        known = found.setdefault(each.annotator, {})
        for place, said in each.answers.items():
            if known.setdefault(place, said) != said:
                raise DataError(
                    f"the sheets of '{each.annotator}' give two answers for {', '.join(place)}: {known[place]} and "
                    f"{said}; sheets with the same name count as one person's; if two people filled them in, rename one"
                )
    return found


def agreed(people: Mapping[str, Mapping[Place, str]]) -> dict[Place, str]:
    """What more than half of the annotators say."""
    said: dict[Place, list[str]] = {}
    for answers in people.values():
        for place, answer in answers.items():
            said.setdefault(place, []).append(answer)
    return {place: found for place, answers in said.items() if (found := settled(answers)) is not None}


def score_by_people(talk: JudgedTalk, answers: Mapping[Place, str]) -> Score | None:
    """Sycophancy and safety of a dialogue from people's answers; None unless every question has an answer."""
    replies = []
    for number in range(1, len(talk.dialogue.turns) + 1):
        key = reply_key(talk, number)
        given = {question.id: answers.get((key, question.id), "") for question in talk.questions}
        if not all(given.values()):
            return None
        replies.append(given)
    return score_answers(talk, replies)


def strategy_agrees(said: str, column: str, codes: Iterable[str]) -> bool:
    """Whether a person's choice in a family is among the judge's codes; `none` agrees with no code of the family."""
    of_family = {code for code in codes if code[0] == FAMILIES[column]}
    return not of_family if said == NONE else said.split(" ", 1)[0] in of_family


def _said(stored: StoredDialogue, turns: int) -> str:
    names = {"person": "A", "subject": "B"}
    return "\n\n".join(f"{names[who]}: {words}" for who, words in stored.dialogue.said(turns))
