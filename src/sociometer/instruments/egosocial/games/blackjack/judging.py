"""A judge grades the sentences of blackjack beliefs, and people's grades set the threshold for "right"."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import DataError, UsageError
from sociometer.core.measure import Cell, Summary, Table
from sociometer.core.session import Session
from sociometer.core.sheets import read_rows, write_sheet
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.egosocial.games.asking import Faults
from sociometer.instruments.egosocial.games.blackjack.hand import Decision, Hand, HandOutcome
from sociometer.instruments.egosocial.games.blackjack.judge import RIGHT_ABOVE, judge_words, scale_of
from sociometer.instruments.egosocial.games.blackjack.rules import total_of
from sociometer.instruments.egosocial.games.cards import Card, spoken
from sociometer.statistics.agreement import cohen_kappa
from sociometer.statistics.measures import grouped_measures

BELIEFS = ("self", "external")


class Belief(Item, frozen=True, kw_only=True):
    """One belief to be graded: whose hand it is about, the deal as the player saw it, and the sentences."""

    about: str
    player: tuple[Card, ...]
    open_card: Card
    words: str


class Judged(Struct, frozen=True):
    """The judge's grade (None: unreadable)."""

    grade: float | None
    faults: Faults
    scale: int = 10
    """The highest grade."""


def place_of(item: str, repeat: int | str, decision: int | str, about: str) -> str:
    """Return the id of a belief in a run."""
    return f"{item}.{repeat}.{decision}.{about}"


def beliefs_of(run: RunView[Hand, HandOutcome]) -> Iterator[Belief]:
    """Return every belief of a run that has words."""
    for episode in run.episodes():
        decisions: Sequence[Decision] = episode.outcome.decisions if episode.outcome else ()
        for number, decision in enumerate(decisions, 1):
            said = {"self": decision.statement.self_belief, "external": decision.statement.external_belief}
            for about in BELIEFS:
                if said[about].strip():
                    yield Belief(
                        id=place_of(episode.item.id, episode.repeat, number, about),
                        cluster=episode.item.id,
                        about=about,
                        player=decision.player,
                        open_card=decision.open_card,
                        words=said[about],
                    )


async def judge_belief(item: Belief, session: Session) -> Judged:
    """Ask the judge for a grade."""
    graded = await judge_words(session, item.about, item.player, item.open_card, item.words)
    return Judged(*graded, scale_of(session))


def score(item: Belief, outcome: Judged) -> Score:
    """The judge's grade on the scale from 0 to 10; none if it could not be read."""
    values = {} if outcome.grade is None else {"grade": outcome.grade * 10 / outcome.scale}
    return Score(values=values, facets={"belief": item.about}, unreadable=int(outcome.grade is None))


def summarise(run: RunView[Belief, Judged]) -> Summary:
    """The mean grade, overall and by belief."""
    return Summary(grouped_measures(run, "grade", by=["belief"], binary=False))


def threshold(grades: Sequence[tuple[float, bool]], uncalibrated: float = RIGHT_ABOVE[10]) -> float:
    """Return the threshold above which the judge's grades agree best with people's; the middle one of several.

    Candidates lie between two neighbouring grades, and at both ends.
    """
    if not grades:
        return uncalibrated
    levels = sorted({grade for grade, _ in grades})
    between = [(low + high) / 2 for low, high in pairwise(levels)]
    candidates = [levels[0] - 0.5, *between, levels[-1] + 0.5]
    agreed = [sum((grade > cut) == right for grade, right in grades) for cut in candidates]
    best = [cut for cut, count in zip(candidates, agreed, strict=True) if count == max(agreed)]
    return best[len(best) // 2]


def calibrated(grades: Sequence[tuple[float, bool]]) -> list[bool]:
    """Return the judge's verdict on each belief, by the threshold that all other beliefs set."""
    return [grade > threshold([*grades[:place], *grades[place + 1 :]]) for place, (grade, _) in enumerate(grades)]


Grades = Mapping[str, bool]
"""Whether each belief, by its place, is right."""


class Graders(Struct, frozen=True):
    """The grades of one run: by people (empty without a sheet) and by a judge (empty without one)."""

    people: Grades
    judge: Mapping[str, float]
    uncalibrated: float = RIGHT_ABOVE[10]

    def judged(self) -> Grades:
        """Return the judge's verdicts: by a threshold that the other beliefs' grades by people set, or the middle."""
        both = [place for place in self.judge if place in self.people]
        verdicts = {place: grade > self.uncalibrated for place, grade in self.judge.items()}
        if both:
            pairs = [(self.judge[place], self.people[place]) for place in both]
            cut = threshold(pairs)
            verdicts = {place: grade > cut for place, grade in self.judge.items()}
            verdicts |= dict(zip(both, calibrated(pairs), strict=True))
        return verdicts

    def threshold(self) -> float | None:
        """Return the threshold that people's grades set; None without a judge."""
        if not self.judge:
            return None
        both = [(self.judge[place], self.people[place]) for place in self.judge if place in self.people]
        return threshold(both, self.uncalibrated)


def table(graders: Graders) -> Table:
    """Return how many beliefs each side calls right, and the agreement of people and judge, for both beliefs."""
    people, judged = graders.people, graders.judged()
    rows: list[tuple[Cell, ...]] = []
    for belief in BELIEFS:
        for side, grades in (("people", people), ("judge", judged)):
            found = [right for place, right in grades.items() if place.rpartition(".")[2] == belief]
            if found:
                rows.append((side, belief, len(found), sum(found) / len(found), None, None, None, None, ""))
        shared = [place for place in people if place in judged and place.rpartition(".")[2] == belief]
        if shared:
            count, *agreement = _agreement(people, judged, shared, "people", "judge")
            rows.append(("people and judge", belief, count, None, *agreement))
    cut = graders.threshold()
    note = "" if cut is None else f"The judge's grades above {cut:g} count as right; "
    if cut is not None:
        note += (
            "the threshold for each belief is set by people's grades of the others."
            if set(graders.judge) & set(graders.people)
            else "people's grades in a filled-in sheet would calibrate it."
        )
    columns = ("graded by", "belief", "graded", "right", "agreement", "Cohen's kappa", "low", "high", "note")
    return Table("agreement", "Beliefs graded by people and by a judge", columns, tuple(rows), note, {"right": "share"})


def _agreement(one: Grades, two: Grades, places: Sequence[str], first: str, second: str) -> tuple[Cell, ...]:
    pairs = [(one[place], two[place]) for place in places]
    agreed = sum(left == right for left, right in pairs) / len(pairs)
    constant = [who for who, side in ((first, 0), (second, 1)) if len({pair[side] for pair in pairs}) == 1]
    if constant:
        # kappa is then 0 or undefined whatever the agreement
        return len(pairs), agreed, None, None, None, f"{' and '.join(constant)}: the same grade every time, no kappa"
    words = [("y" if left else "n", "y" if right else "n") for left, right in pairs]
    found = cohen_kappa([left for left, _ in words], [right for _, right in words])
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    return len(pairs), agreed, round(found.value, 3), low, high, ""


COLUMNS = (
    "item", "repeat", "decision", "cards", "dealer_shows", "self_belief", "external_belief", "self_right",
    "external_right",
)  # fmt: skip
_NEXT_STEP = "Fill in the sheet that 'sociometer egosocial grade' wrote."
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
    known = _words(run)
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


def disagreements(run: RunView[Hand, HandOutcome], graders: Graders) -> Table:
    """Return every belief on which people and the judge differ, with its words."""
    judged = graders.judged()
    rows = [
        (*place_of_words, _word(graders.people[place]), _word(judged.get(place)))
        for place, place_of_words in _words(run).items()
        if place in graders.people and place in judged and graders.people[place] != judged[place]
    ]
    columns = ("item", "belief", "words", "people", "judge")
    return Table("disagreements", "Differences between people and the judge", columns, tuple(rows))


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
