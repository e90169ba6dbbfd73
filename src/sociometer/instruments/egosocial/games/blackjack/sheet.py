"""A sheet for people to grade blackjack beliefs without seeing the automatic grade, and their agreement with it."""

from pathlib import Path

from sociometer.analysis.agreement import cohen_kappa
from sociometer.core.errors import DataError, UsageError
from sociometer.core.measure import Cell, Table
from sociometer.core.task import RunView
from sociometer.instruments.egosocial.games.blackjack.hand import Hand, HandOutcome, spoken
from sociometer.instruments.egosocial.games.blackjack.rules import total_of
from sociometer.instruments.egosocial.games.blackjack.scoring import graded
from sociometer.sheets import read_rows, write_sheet

BELIEFS = ("self", "external")
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


def agreement(path: Path, run: RunView[Hand, HandOutcome]) -> tuple[Table, ...]:
    """Return the agreement of a filled-in sheet with the automatic grade of its run, and the differences."""
    rule = _automatic(run)
    pairs: dict[str, list[tuple[str, str]]] = {belief: [] for belief in BELIEFS}
    apart: list[tuple[str, str, str, str, str]] = []
    for number, row in read_rows(path, COLUMNS, next_step=_NEXT_STEP, guarded=True):
        place = (row["item"], row["repeat"] or "0", row["decision"])
        for belief in BELIEFS:
            person = row[f"{belief}_right"].strip().lower()
            if not person:
                continue
            if person not in _YES_NO:
                raise DataError(f"'{person}' is not a grade; write y or n in {belief}_right", path, number)
            if place not in rule:
                raise DataError(
                    f"decision {place[2]} of {place[0]} is not in this run; give the run it came from", path, number
                )
            pairs[belief].append((_YES_NO[person], rule[place][belief]))
            if _YES_NO[person] != rule[place][belief]:
                apart.append((place[0], belief, row[f"{belief}_belief"], _YES_NO[person], rule[place][belief]))
    if not any(pairs.values()):
        raise DataError("no grade is filled in; write y or n in the columns self_right and external_right", path)
    columns = ("item", "belief", "words", "person", "rule")
    return _agreement_table(pairs), Table(
        "disagreements", "Differences between the person and the automatic grade", columns, tuple(apart)
    )


def _automatic(run: RunView[Hand, HandOutcome]) -> dict[tuple[str, str, str], dict[str, str]]:
    """Return the automatic grade of every decision, by item, repeat and number."""
    found = {}
    for episode in run.episodes():
        for number, decision in enumerate(episode.outcome.decisions if episode.outcome else (), 1):
            grade = graded(decision)
            verdicts = {"self": grade.self_right, "external": grade.external_right}
            words = {belief: "y" if right else "n" for belief, right in verdicts.items()}
            found[episode.item.id, str(episode.repeat), str(number)] = words
    return found


def _agreement_table(pairs: dict[str, list[tuple[str, str]]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for belief, graded_pairs in pairs.items():
        if not graded_pairs:
            continue
        people, rule = [person for person, _ in graded_pairs], [grade for _, grade in graded_pairs]
        agreed = sum(person == grade for person, grade in graded_pairs) / len(graded_pairs)
        constant = [who for who, grades in (("the person", people), ("the rule", rule)) if len(set(grades)) == 1]
        if constant:
            # kappa is then 0 or undefined whatever the agreement
            why = f"{' and '.join(constant)} gave the same grade every time: no kappa"
            rows.append((belief, len(graded_pairs), agreed, None, None, None, why))
            continue
        found = cohen_kappa(people, rule)
        low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
        rows.append((belief, len(graded_pairs), agreed, round(found.value, 3), low, high, ""))
    return Table(
        "agreement",
        "Agreement between people and the automatic grade",
        ("belief", "graded", "agreement", "Cohen's kappa", "low", "high", "note"),
        tuple(rows),
    )
