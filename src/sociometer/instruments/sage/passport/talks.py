"""Talks of people with models: how the person felt before the first reply and after each, and files of such talks."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from sociometer.core.errors import DataError, UsageError, hint
from sociometer.core.language import ENGLISH, texts_in, written_in
from sociometer.core.measure import Measure, Summary
from sociometer.core.session import Session
from sociometer.core.sheets import read_rows
from sociometer.core.task import Item, RunView, Score
from sociometer.core.words import grouped
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.person.emotion import WORDS
from sociometer.reading import read_lines
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.measures import grouped_measures

ROLE = "participant"
"""The role of the participant."""
Preferred = Literal["", "reply", "other"]
_COLUMNS = ("person", "talk", "model", "matter", "turn", "role", "text", "feeling", "other_reply", "preferred")


class Matter(Item, frozen=True, kw_only=True):
    """What a person talked about with a model."""

    language: str = ENGLISH

    def compared(self) -> Any:
        """Who talks: models are compared within people."""
        return self.id


class PersonTurn(Struct, frozen=True, omit_defaults=True):
    """A reply, how the person felt after it, and what they wrote next."""

    reply: str
    felt: int | None = None
    words: str = ""
    other: str = ""
    """A second reply that the person saw after they had said how they felt."""
    preferred: Preferred = ""
    """Which of the two they would rather have had."""


class PersonTalk(Struct, frozen=True, omit_defaults=True):
    """A person's talk with a model: the matter, the first words, the feeling before the first reply, and the turns."""

    matter: str
    opening: str
    start: int
    turns: tuple[PersonTurn, ...]
    language: str = ENGLISH

    @property
    def final(self) -> int:
        """The feeling at the end."""
        return next((turn.felt for turn in reversed(self.turns) if turn.felt is not None), self.start)

    def said(self, turns: int) -> tuple[tuple[str, str], ...]:
        """The talk before the reply of turn `turns + 1`: (person or subject, words), oldest first."""
        talk = [("person", self.opening)]
        for turn in self.turns[:turns]:
            talk += [("subject", turn.reply), *([("person", turn.words)] if turn.words else [])]
        return tuple(talk)

    def scenario(self, name: str) -> Scenario:
        """What a simulator knows about the person: the matter, and nothing else."""
        words = texts_in(WORDS, self.language)["people"]
        return Scenario(
            id=name,
            cluster=name,
            language=self.language,
            intention="",
            source="people",
            background=self.matter,
            first_words=self.opening,
            **words,
        )


def score(item: Matter, outcome: PersonTalk) -> Score:
    """The feeling at the end and its change, the replies, and the preference."""
    values = {
        "feeling": float(outcome.final),
        "moved": float(outcome.final - outcome.start),
        "replies": float(len(outcome.turns)),
    }
    chosen = [turn.preferred == "reply" for turn in outcome.turns if turn.preferred]
    if chosen:
        values["kept"] = fmean(chosen)
    silent = sum(not turn.reply for turn in outcome.turns)
    return Score(values=values, facets={"language": outcome.language}, unreadable=silent)


def summarise(run: RunView[Matter, PersonTalk]) -> Summary:
    """The feeling at the end and by turn, over people."""
    names = ("feeling", "moved", "replies", "kept")
    known = {name for _, _, found in run.scored() for name in found.values}
    measures = [one for name in names if name in known for one in grouped_measures(run, name, binary=name == "kept")]
    felt = grouped(
        (number, (item.cluster or item.id, float(value)))
        for item, outcome, _ in run.scored()
        for number, value in enumerate((outcome.start, *(turn.felt for turn in outcome.turns)))
        if value is not None
    )
    measures += [
        Measure(
            "felt",
            fmean(value for _, value in found),
            {"turn": str(number)},
            clustered_mean_interval([value for _, value in found], [who for who, _ in found], binary=False),
            items=len(found),
        )
        for number, found in sorted(felt.items())
    ]
    return Summary(tuple(measures))


class PeopleRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One utterance of a file of talks: by the person, or by the model."""

    person: str
    talk: str
    model: str
    turn: Annotated[int, Meta(ge=1)]
    role: Literal["person", "model"]
    text: str
    matter: str = ""
    feeling: Annotated[int, Meta(ge=0, le=100)] | None = None
    """Of the person before the first reply, and after each reply of the model."""
    other_reply: str = ""
    preferred: Preferred = ""


class FoundTalk(Struct, frozen=True):
    """A talk of a file."""

    person: str
    model: str
    talk: PersonTalk


def read_people(path: Path) -> list[FoundTalk]:
    """The talks of a CSV or JSONL file; a bad row raises a DataError with its line."""
    by_talk: dict[str, list[tuple[int, PeopleRow]]] = {}
    for line, row in _rows(path):
        rows = by_talk.setdefault(row.talk, [])
        try:
            _check(row, [earlier for _, earlier in rows])
        except ValueError as error:
            raise DataError(str(error), path, line) from None
        rows.append((line, row))
    found = []
    for name, rows in by_talk.items():
        if len(rows) < 2:
            raise DataError(f"talk '{name}' has no reply of the model", path, rows[-1][0])
        found.append(_talk([row for _, row in rows]))
    if not found:
        raise DataError(f"has no talk; expected rows with {', '.join(_COLUMNS)}", path)
    return found


def _rows(path: Path) -> Iterator[tuple[int, PeopleRow]]:
    expected = f"one utterance with {', '.join(_COLUMNS)}"
    if path.suffix != ".csv":
        yield from read_lines(path, PeopleRow, expected)
        return
    for line, row in read_rows(path, _COLUMNS[:2]):
        given = {key: cell for key, cell in row.items() if cell}
        try:
            yield line, msgspec.convert(given, PeopleRow, strict=False)
        except msgspec.ValidationError as error:
            raise DataError(f"{error}; expected {expected}", path, line) from None


def _check(row: PeopleRow, before: list[PeopleRow]) -> None:
    """Raises a ValueError if a row cannot follow those before it."""
    if not row.person.strip() or not row.text.strip():
        raise ValueError(f"{'person' if row.text.strip() else 'text'} is empty")
    replied = sum(one.role == "model" for one in before)
    role = "model" if len(before) % 2 else "person"
    if (row.role, row.turn) != (role, replied + 1):
        raise ValueError(
            f"talk '{row.talk}' goes on with turn {row.turn} of the {row.role}; expected turn {replied + 1} of the"
            f" {role}: the person begins, and the model replies once a turn"
        )
    if before and (row.person, row.model) != (before[0].person, before[0].model):
        raise ValueError(f"talk '{row.talk}' is of {before[0].person} with {before[0].model}; a talk has one of each")
    if not before and row.feeling is None:
        raise ValueError(f"talk '{row.talk}' begins without a feeling (0 to 100) before the first reply")
    if before and row.role == "person" and row.feeling is not None:
        raise ValueError("a feeling belongs to the first row of a talk and to the model's rows, not to this one")
    if bool(row.preferred) != bool(row.other_reply) or (row.other_reply and row.role == "person"):
        raise ValueError("other_reply and preferred ('reply' or 'other') belong together, in a row of the model")


def _talk(rows: list[PeopleRow]) -> FoundTalk:
    first, replies = rows[0], rows[1::2]
    words = [row.text for row in rows[2::2]]
    turns = tuple(
        PersonTurn(row.text, row.feeling, said, row.other_reply, row.preferred)
        for row, said in zip(replies, [*words, ""][: len(replies)], strict=True)
    )
    matter = next((row.matter for row in rows if row.matter), first.text)
    language = written_in("".join(row.text for row in rows if row.role == "person"))
    made = PersonTalk(matter, first.text, first.feeling or 0, turns, language=language)
    return FoundTalk(first.person, first.model, made)


async def play_talk(item: Matter, session: Session) -> PersonTalk:
    """Refuses to play: no person sits at this end, and talks that people had elsewhere are imported."""
    raise UsageError(f"talks of people are imported: {hint('sage import --people FILE')}.")
