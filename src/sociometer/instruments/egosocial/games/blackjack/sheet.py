"""A sheet for people to grade blackjack beliefs without seeing the automatic grade, and the grades read back."""

from pathlib import Path

from sociometer.core.errors import DataError, UsageError
from sociometer.core.measure import Table
from sociometer.core.sheets import read_rows, write_sheet
from sociometer.core.task import RunView
from sociometer.instruments.egosocial.games.blackjack.hand import Hand, HandOutcome, spoken
from sociometer.instruments.egosocial.games.blackjack.judging import BELIEFS, place_of
from sociometer.instruments.egosocial.games.blackjack.rules import total_of
from sociometer.instruments.egosocial.games.blackjack.scoring import graded
from sociometer.instruments.egosocial.games.blackjack.sheet_agreement import Graders

COLUMNS = (
    "item",
    "repeat",
    "decision",
    "cards",
    "dealer_shows",
    "self_belief",
    "external_belief",
    "self_right",
    "external_right",
)
_NEXT_STEP = "Fill in the sheet that 'sociometer grade egosocial' wrote."
_YES_NO = {"y": "y", "yes": "y", "1": "y", "right": "y", "n": "n", "no": "n", "0": "n", "wrong": "n"}


def write(run: RunView[Hand, HandOutcome]) -> str:
    """Return the sheet as CSV: one line per decision; the grader fills in the last two columns."""
    if not any(episode.outcome for episode in run.episodes()):
        raise UsageError("the run has no played blackjack hand, so there is nothing to grade.")
    rows = [
        (
            episode.item.id,
            episode.repeat,
            number,
            f"{', '.join(spoken(card) for card in decision.player)} ({total_of(decision.player).points})",
            spoken(decision.open_card),
            decision.statement.self_belief,
            decision.statement.external_belief,
            "",
            "",
        )
        for episode in run.episodes()
        for number, decision in enumerate(episode.outcome.decisions if episode.outcome else (), 1)
    ]
    return write_sheet(COLUMNS, rows, guard_formulas=True)


def read_people(path: Path, run: RunView[Hand, HandOutcome]) -> dict[str, bool]:
    """Return people's grades in a filled-in sheet, by the place of each belief in its run."""
    known = reader_grades(run)
    people: dict[str, bool] = {}
    for number, row in read_rows(path, COLUMNS, next_step=_NEXT_STEP, guarded=True):
        for belief in BELIEFS:
            person = row[f"{belief}_right"].strip().lower()
            if not person:
                continue
            if person not in _YES_NO:
                raise DataError(f"'{person}' is not a grade; write y or n in {belief}_right", path, number)
            place = place_of(row["item"], row["repeat"] or "0", row["decision"], belief)
            if place not in known:
                raise DataError(
                    f"decision {row['decision']} of {row['item']} is not in this run; give the run it came from",
                    path,
                    number,
                )
            people[place] = _YES_NO[person] == "y"
    if not people:
        raise DataError("no grade is filled in; write y or n in the columns self_right and external_right", path)
    return people


def reader_grades(run: RunView[Hand, HandOutcome]) -> dict[str, bool]:
    """Return the automatic grade of every belief, by its place in the run."""
    found: dict[str, bool] = {}
    for episode in run.episodes():
        for number, decision in enumerate(episode.outcome.decisions if episode.outcome else (), 1):
            grade = graded(decision)
            for belief, right in (("self", grade.self_right), ("external", grade.external_right)):
                found[place_of(episode.item.id, episode.repeat, number, belief)] = right
    return found


def disagreements(run: RunView[Hand, HandOutcome], graders: Graders) -> Table:
    """Return every belief on which people and the reader differ, with its words and the judge's verdict."""
    judged = graders.judged()
    rows = [
        (*place_of_words, _word(graders.people[place]), _word(graders.reader[place]), _word(judged.get(place)))
        for place, place_of_words in _words(run).items()
        if place in graders.people and graders.people[place] != graders.reader[place]
    ]
    columns = ("item", "belief", "words", "people", "reader", "judge")
    return Table("disagreements", "Differences between people and the reader", columns, tuple(rows))


def _word(right: bool | None) -> str:
    return "" if right is None else "y" if right else "n"


def _words(run: RunView[Hand, HandOutcome]) -> dict[str, tuple[str, str, str]]:
    found: dict[str, tuple[str, str, str]] = {}
    for episode in run.episodes():
        for number, decision in enumerate(episode.outcome.decisions if episode.outcome else (), 1):
            said = decision.statement
            for belief, text in (("self", said.self_belief), ("external", said.external_belief)):
                found[place_of(episode.item.id, episode.repeat, number, belief)] = (episode.item.id, belief, text)
    return found
