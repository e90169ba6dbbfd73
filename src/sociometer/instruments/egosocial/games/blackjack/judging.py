"""Blackjack beliefs in sentences: graded by people in a sheet, and by a judge."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from sociometer.core.command import CommandContext
from sociometer.core.errors import DataError, UsageError
from sociometer.core.instrument import Result
from sociometer.core.measure import Cell, Summary, Table
from sociometer.core.session import Session
from sociometer.core.settings import Settings
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


Grades = Mapping[str, bool]
"""Whether each belief, by its place, is right."""


def table(people: Grades, judge: Mapping[str, float], right_above: float) -> Table:
    """Return how many beliefs each side calls right, and the agreement of people and judge, for both beliefs."""
    judged = {place: grade > right_above for place, grade in judge.items()}
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
    note = f"The judge's grades above {right_above:g} count as right." if judge else ""
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
    known = {
        place_of(episode.item.id, episode.repeat, number, belief)
        for episode in run.episodes()
        for number in range(1, len(episode.outcome.decisions if episode.outcome else ()) + 1)
        for belief in BELIEFS
    }
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


def grade(context: CommandContext, options: Settings) -> Result:
    """Writes a sheet of a run's blackjack decisions for people to grade, or compares people and a judge."""
    if not options.text("run"):
        raise UsageError("grade needs --run RUN, and --to FILE to write a sheet or --graded FILE to evaluate one.")
    run = context.run(options.text("run"))
    if "blackjack" not in run.tasks:
        raise UsageError(
            f"run {run.id} played {', '.join(run.tasks)} but not blackjack, so there is nothing to grade. "
            "Play it with: sociometer run egosocial --task blackjack --model MODEL"
        )
    view = run.view("blackjack")
    people = read_people(Path(options.text("graded")), view) if options.text("graded") else {}
    judge: dict[str, float] = {}
    scale = 10
    if options.flag("judge"):
        judged = context.play("beliefs", items=list(beliefs_of(view))).view("beliefs")
        judge = {item.id: outcome.grade for item, outcome, _ in judged.scored() if outcome.grade is not None}
        scale = next((outcome.scale for _, outcome, _ in judged.scored()), scale)
    if people or judge:
        return Result(tables=(table(people, judge, RIGHT_ABOVE[scale]),))
    out = Path(options.text("to") or "blackjack-grading.csv")
    note = f"Fill in the last two columns with y or n, then: sociometer egosocial grade --run {run.id} --graded {out}"
    return Result(notes=(note,), wrote=(context.write(out, write(view)),))
