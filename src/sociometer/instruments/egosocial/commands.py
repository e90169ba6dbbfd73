"""The instrument's own commands: convert, and grade: blackjack beliefs graded by people, beside the run's judge."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sociometer.core.command import CommandContext
from sociometer.core.errors import DataError, UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.core.sheets import read_rows, write_sheet
from sociometer.core.task import PeopleLabel, RunView
from sociometer.core.words import counted
from sociometer.instruments.egosocial.conversion import convert as convert
from sociometer.instruments.egosocial.games.blackjack.match import RIGHT_ABOVE, Hand, HandOutcome
from sociometer.instruments.egosocial.games.blackjack.rules import total_of
from sociometer.instruments.egosocial.games.cards import spoken
from sociometer.statistics.agreement import cohen_kappa, majorities
from sociometer.statistics.formatting import estimate
from sociometer.statistics.intervals import clustered_mean_interval

BELIEFS = ("self", "external")


Grades = Mapping[str, bool]
"""Whether each belief is right, by its place: item, repeat, decision and which of the two."""


def judged(run: RunView[Hand, HandOutcome]) -> dict[str, bool]:
    """Return the verdicts of the judge that graded beliefs during the run; none if it had no judge."""
    return {
        f"{episode.item.id}.{episode.repeat}.{number}.{belief}": grade > RIGHT_ABOVE
        for episode in run.episodes()
        for number, decision in enumerate(episode.outcome.decisions if episode.outcome else (), 1)
        for belief, grade in zip(BELIEFS, decision.grades or (), strict=False)
        if grade is not None
    }


def table(people: Grades, judged: Grades) -> Table:
    """Return how many beliefs each side calls right, and the agreement of people and judge, for both beliefs."""
    rows: list[tuple[Cell, ...]] = []
    for belief in BELIEFS:
        for side, grades in (("people", people), ("judge", judged)):
            mine = [place for place in grades if place.rpartition(".")[2] == belief]
            if mine:
                right, hands = [grades[place] for place in mine], [place.rsplit(".", 3)[0] for place in mine]
                shown = estimate(sum(right) / len(mine), "share", clustered_mean_interval(right, hands, binary=True))
                rows.append((side, belief, len(mine), shown, None, None, None, None, ""))
        shared = [place for place in people if place in judged and place.rpartition(".")[2] == belief]
        if shared:
            rows.append(("people and judge", belief, len(shared), None, *_agreement(people, judged, shared)))
    columns = ("graded by", "belief", "graded", "right", "agreement", "Cohen's kappa", "from", "to", "note")
    return Table("agreement", "Beliefs graded by people and by a judge", columns, tuple(rows))


def _agreement(people: Grades, judged: Grades, places: Sequence[str]) -> tuple[Cell, ...]:
    sides = {"people": [str(people[place]) for place in places], "judge": [str(judged[place]) for place in places]}
    found = cohen_kappa(*sides.values())
    if constant := [who for who, grades in sides.items() if len(set(grades)) == 1]:
        # kappa is then 0 or undefined whatever the agreement
        return found.observed, None, None, None, f"{' and '.join(constant)}: the same grade every time, no kappa"
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    return found.observed, round(found.value, 3), low, high, ""


COLUMNS = (
    "run", "item", "repeat", "decision", "cards", "dealer_shows", "self_belief", "external_belief", "self_right",
    "external_right",
)  # fmt: skip
_NEXT_STEP = "Fill in the sheet that 'egosocial grade' wrote."
_YES_NO = {"y": "y", "yes": "y", "1": "y", "right": "y", "n": "n", "no": "n", "0": "n", "wrong": "n"}


def write(run: RunView[Hand, HandOutcome]) -> str:
    """Return the sheet as CSV: one line per decision; the grader fills in the last two columns."""
    if not any(episode.outcome for episode in run.episodes()):
        raise UsageError("the run has no played blackjack hand, so there is nothing to grade.")
    rows = [
        (
            run.run,
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


def read_people(path: Path, run: RunView[Hand, HandOutcome]) -> dict[tuple[str, ...], dict[str, str]]:
    """Return a person's grades in a filled-in sheet, by item, repeat and decision."""
    known = {
        (episode.item.id, str(episode.repeat), str(number))
        for episode in run.episodes()
        for number in range(1, len(episode.outcome.decisions if episode.outcome else ()) + 1)
    }
    people: dict[tuple[str, ...], dict[str, str]] = {}
    for number, row in read_rows(path, COLUMNS[1:], COLUMNS[:1], next_step=_NEXT_STEP, guarded=True):
        place = (row["item"], row["repeat"] or "0", row["decision"])
        for column in (f"{belief}_right" for belief in BELIEFS):
            person = row[column].strip().lower()
            if not person:
                continue
            if person not in _YES_NO:
                raise DataError(f"'{person}' is not a grade; write y or n in {column}", path, number)
            if place not in known or row.get("run", "") not in ("", run.run):
                raise DataError(
                    f"decision {row['decision']} of {row['item']} is not in this run; give the run it came from",
                    path,
                    number,
                )
            people.setdefault(place, {})[column] = _YES_NO[person]
    if not people:
        raise DataError("no grade is filled in; write y or n in the columns self_right and external_right", path)
    return people


def graded(labels: Iterable[PeopleLabel]) -> dict[str, bool]:
    """Return the grades of the majority, by the place of each belief in its run; a tie is no grade."""
    labels = list(labels)
    return {
        ".".join((*key, belief)): grade == "y"
        for belief in BELIEFS
        for key, grade in majorities(labels, f"{belief}_right").items()
    }


def grade(context: CommandContext, options: Settings) -> Result:
    """Writes a sheet of a run's blackjack decisions for people to grade, or evaluates a filled-in one."""
    run = context.run(options.text("run"))
    if "blackjack" not in run.tasks:
        raise UsageError(
            f"run {run.reference} played {', '.join(run.tasks)} but not blackjack, so there is nothing to grade. "
            f"Play it with: {hint('run egosocial --task blackjack --model MODEL')}"
        )
    view = run.view("blackjack")
    if options.text("sheet"):
        sheet = Path(options.text("sheet"))
        labels = context.keep_labels(run.id, "beliefs", sheet.stem, read_people(sheet, view))
        people = len({label.rater for label in labels})
        note = (
            f"The grades of {sheet.stem} are stored with the run, which {counted(people, 'person', 'people')} graded."
        )
        return Result(tables=(table(graded(labels), judged(view)),), notes=(note,))
    out = Path(options.text("to"))
    note = f"Fill in the last two columns with y or n, then: {hint('egosocial grade', run.reference, '--sheet', out)}"
    return Result(notes=(note,), wrote=(context.write(out, write(view)),))
