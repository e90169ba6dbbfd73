"""The instrument's own commands (convert, grade) and its sheet of blackjack beliefs for people."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from sociometer.core.command import CommandContext, Run
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.core.task import PeopleLabel, RunView, SheetRow
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


def graded(labels: Iterable[PeopleLabel]) -> dict[str, bool]:
    """Return the grades of the majority, by the place of each belief in its run; a tie is no grade."""
    labels = list(labels)
    return {
        ".".join((*key, belief)): grade == "y"
        for belief in BELIEFS
        for key, grade in majorities(labels, f"{belief}_right").items()
    }


def beliefs(runs: Sequence[Run], count: int | None, seed: int) -> list[SheetRow]:
    """Return the rows of the sheet of beliefs: every played decision of blackjack, or some drawn by the seed."""
    rows = [
        SheetRow(
            run.id,
            (episode.item.id, str(episode.repeat), str(number)),
            (
                f"{', '.join(spoken(card) for card in decision.player)} ({total_of(decision.player).points})",
                spoken(decision.open_card),
                decision.statement.self_belief,
                decision.statement.external_belief,
            ),
        )
        for run in runs
        for episode in _blackjack(run).episodes()
        for number, decision in enumerate(episode.outcome.decisions if episode.outcome else (), 1)
    ]
    if not rows:
        raise UsageError("the run has no played blackjack hand, so there is nothing to grade.")
    if count is None or count >= len(rows):
        return rows
    return Random(f"egosocial/beliefs/{seed}").sample(rows, count)


def _blackjack(run: Run) -> RunView[Hand, HandOutcome]:
    if "blackjack" not in run.tasks:
        played = ", ".join(run.tasks) or "only tasks of an earlier version"
        raise UsageError(
            f"run {run.reference} played {played}, but not blackjack, so there is nothing to grade. "
            f"Play it with: {hint('run egosocial --task blackjack --model MODEL')}"
        )
    return run.view("blackjack")


def grade(context: CommandContext, options: Settings) -> Result:
    """Compares the grades that people gave beliefs in a run with those of its judge."""
    run = context.run(options.text("run"))
    view = _blackjack(run)
    labels = context.labels(run.id, "beliefs")
    if not labels:
        write = hint("sheet write", run.reference, "--of", "beliefs", "--to", "FILE.csv")
        raise UsageError(f"nobody has graded beliefs of {run.reference}. Write a sheet for people: {write}")
    people = len({label.rater for label in labels})
    note = f"{counted(people, 'person', 'people')} graded."
    return Result(tables=(table(graded(labels), judged(view)),), notes=(note,))
