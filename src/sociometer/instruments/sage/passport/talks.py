"""Talks of people: what they came with, each reply, and what they themselves reported after it."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any, Literal

import msgspec
from msgspec import Struct

from sociometer.core.errors import UsageError, hint
from sociometer.core.language import ENGLISH
from sociometer.core.measure import Measure, Summary
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.core.words import grouped
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.measures import grouped_measures

ROLE = "participant"
"""The role of the participant."""
Preferred = Literal["", "reply", "other"]
Report = Literal["feeling", "satisfaction", "stars"]
SCALES: dict[Report, tuple[int, int]] = {"feeling": (0, 100), "satisfaction": (1, 5), "stars": (1, 5)}
"""What people reported, with the ends of its scale: how they feel, how satisfied they are with a reply, how helpful
it is."""
TASKS: dict[Report, str] = {"feeling": "talk", "satisfaction": "satisfaction", "stars": "support"}
"""The task of the talks with each report."""
INTENSITY = (1, 5)
"""The ends of the scale of a feeling's intensity, before and after a talk."""


class Matter(Item, frozen=True, kw_only=True):
    """What a person talked about with a model."""

    language: str = ENGLISH

    def compared(self) -> Any:
        """Who talks: models are compared within people."""
        return self.id


class PersonTurn(Struct, frozen=True, omit_defaults=True):
    """A reply, what the person reported after it, and what they wrote next."""

    reply: str
    reported: int | None = msgspec.field(default=None, name="felt")
    words: str = ""
    other: str = ""
    """A second reply that the person saw after they had made their report."""
    preferred: Preferred = ""
    """Which of the two they would rather have had."""


class PersonTalk(Struct, frozen=True, omit_defaults=True):
    """A person's talk with a model or a helper: what they came with, the first words, and the turns."""

    matter: str
    opening: str
    """Empty if the other spoke first."""
    start: int | None
    """The report before the first reply, on the same scale as the others."""
    turns: tuple[PersonTurn, ...]
    language: str = ENGLISH
    report: Report = "feeling"
    profile: tuple[tuple[str, str], ...] = ()
    """What else is known about the person: (what, words)."""
    kind: str = ""
    """The task or the kind of problem, equal for talks about the same."""
    intensity_before: int | None = None
    intensity_after: int | None = None
    failed: bool = False
    """Whether the talk was rejected because the person felt no better."""

    @property
    def reports(self) -> tuple[int, ...]:
        """The reports after the replies, in order."""
        return tuple(turn.reported for turn in self.turns if turn.reported is not None)

    @property
    def relief(self) -> int | None:
        """By how much the feeling became less intense."""
        if self.intensity_before is None or self.intensity_after is None:
            return None
        return self.intensity_before - self.intensity_after

    def said(self, turns: int) -> tuple[tuple[str, str], ...]:
        """The talk before the reply of turn `turns + 1`: (person or subject, words), oldest first."""
        talk = [("person", self.opening)] if self.opening else []
        for turn in self.turns[:turns]:
            talk.append(("subject", turn.reply))
            if turn.words:
                talk.append(("person", turn.words))
        return tuple(talk)


def score(item: Matter, outcome: PersonTalk) -> Score:
    """The reports of a talk: the feeling at the end and its change, or the mean of the ratings; and the relief."""
    values = {"replies": float(len(outcome.turns))}
    if outcome.report != "feeling":
        values[outcome.report] = fmean(outcome.reports)
    elif outcome.start is not None:
        feeling = (outcome.start, *outcome.reports)[-1]
        values["feeling"] = float(feeling)
        values["moved"] = float(feeling - outcome.start)
    if outcome.relief is not None:
        values["relief"] = float(outcome.relief)
    preferences = [turn.preferred == "reply" for turn in outcome.turns if turn.preferred]
    if preferences:
        values["kept"] = fmean(preferences)
    silent = sum(not turn.reply for turn in outcome.turns)
    facets = {"language": outcome.language}
    if outcome.failed:
        facets["ended"] = "failed"
    return Score(values=values, facets=facets, unreadable=silent)


def summarise(run: RunView[Matter, PersonTalk]) -> Summary:
    """The measures of the talks, and the reports by turn, over people."""
    names = ("feeling", "satisfaction", "stars", "moved", "relief", "replies", "kept")
    reached = {name for _, _, score in run.scored() for name in score.values}
    measures: list[Measure] = []
    for name in names:
        if name in reached:
            measures += grouped_measures(run, name, binary=name == "kept")
    return Summary((*measures, *_by_turn(run)))


def _by_turn(run: RunView[Matter, PersonTalk]) -> Iterator[Measure]:
    """The mean report after each reply; the first is that before any reply."""
    rows: list[tuple[int, tuple[str, float]]] = []
    for item, outcome, _ in run.scored():
        reports = (outcome.start, *(turn.reported for turn in outcome.turns))
        for number, report in enumerate(reports):
            if report is not None:
                rows.append((number, (item.cluster or item.id, float(report))))
    for number, reports_of in sorted(grouped(rows).items()):
        values = [report for _, report in reports_of]
        people = [person for person, _ in reports_of]
        interval = clustered_mean_interval(values, people, binary=False)
        yield Measure("felt", fmean(values), {"turn": str(number)}, interval, items=len(values))


class FoundTalk(Struct, frozen=True):
    """A talk of a file."""

    person: str
    model: str
    talk: PersonTalk
    names_person: bool = True
    """Whether the file names the person; otherwise the name is that of the talk."""
    unused_reports: int = 0
    """Reports that are for no reply, or for one that has a report already."""


async def play_talk(item: Matter, session: Session) -> PersonTalk:
    """Refuses to play: no person sits at this end, and talks that people had elsewhere are imported."""
    raise UsageError(f"talks of people are imported: {hint('sage import --people FILE')}.")
