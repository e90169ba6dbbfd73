"""A sheet on which people grade blackjack beliefs, blind to the automatic grade, and their agreement with it."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from sociometer.analysis.agreement import cohen_kappa
from sociometer.core.errors import DataError
from sociometer.core.measure import Table
from sociometer.core.task import RunView
from sociometer.instruments.egosocial.games.blackjack.rules import total_of
from sociometer.instruments.egosocial.games.blackjack.scoring import graded
from sociometer.instruments.egosocial.games.blackjack.table import Hand, HandOutcome, spoken

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
_YES_NO = {"y": "y", "yes": "y", "1": "y", "right": "y", "n": "n", "no": "n", "0": "n", "wrong": "n"}


def write(run: RunView[Hand, HandOutcome]) -> str:
    """Return the sheet as CSV: one line a decision, the last two columns left for the grader."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(COLUMNS)
    for episode in run.episodes():
        for number, decision in enumerate(episode.outcome.decisions if episode.outcome else (), 1):
            lines.writerow(
                (
                    episode.item.id,
                    episode.repeat,
                    number,
                    f"{', '.join(spoken(card) for card in decision.player)} ({total_of(decision.player).points})",
                    spoken(decision.open_card),
                    _harmless(decision.statement.self_belief),
                    _harmless(decision.statement.external_belief),
                    "",
                    "",
                )
            )
    return out.getvalue()


def _harmless(text: str) -> str:
    """Return a model's words so that no spreadsheet takes them for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def agreement(path: Path, run: RunView[Hand, HandOutcome]) -> tuple[Table, ...]:
    """Return how a filled sheet agrees with the automatic grade of its run, and where it does not."""
    rule = _automatic(run)
    pairs: dict[str, list[tuple[str, str]]] = {belief: [] for belief in BELIEFS}
    apart: list[tuple[str, str, str, str, str]] = []
    for number, row in _rows(path):
        place = (row.get("item") or "", row.get("repeat") or "0", row.get("decision") or "")
        for belief in BELIEFS:
            person = (row.get(f"{belief}_right") or "").strip().lower()
            if not person:
                continue
            if person not in _YES_NO:
                raise DataError(f"'{person}' is no grade; write y or n in {belief}_right", path, number)
            if place not in rule:
                raise DataError(
                    f"decision {place[2]} of {place[0]} is not in this run; give the run it came from", path, number
                )
            pairs[belief].append((_YES_NO[person], rule[place][belief]))
            if _YES_NO[person] != rule[place][belief]:
                apart.append(
                    (place[0], belief, row.get(f"{belief}_belief") or "", _YES_NO[person], rule[place][belief])
                )
    if not any(pairs.values()):
        raise DataError("no grade is filled in; write y or n in the columns self_right and external_right", path)
    columns = ("item", "belief", "words", "person", "rule")
    return _agreement_table(pairs), Table(
        "disagreements", "Where the person and the rule differ", columns, tuple(apart)
    )


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            yield from enumerate(csv.DictReader(lines), 2)
    except OSError as error:
        raise DataError(f"the sheet cannot be read ({error.strerror})", path) from None


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
    rows = []
    for belief, graded_pairs in pairs.items():
        if not graded_pairs:
            continue
        found = cohen_kappa([person for person, _ in graded_pairs], [rule for _, rule in graded_pairs])
        varied = len({grade for pair in graded_pairs for grade in pair}) > 1
        bounds = found.interval if varied else None
        agreed = sum(person == rule for person, rule in graded_pairs) / len(graded_pairs)
        kappa = round(found.value, 3) if varied else None
        low, high = (bounds.low, bounds.high) if bounds else (None, None)
        rows.append((belief, len(graded_pairs), agreed, kappa, low, high))
    return Table(
        "agreement",
        "People and the automatic grade",
        ("belief", "graded", "agreement", "Cohen's kappa", "low", "high"),
        tuple(rows),
        note="kappa is empty where everybody gave the same grade throughout",
    )
