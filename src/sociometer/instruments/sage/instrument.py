"""The instrument's table of contents."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from sociometer.core.card import read_card
from sociometer.core.measure import Summary
from sociometer.core.source import Source
from sociometer.core.task import Instrument, Item, RunView, Score, Session, Task
from sociometer.instruments.sage import build, figures, items, play, scoring
from sociometer.instruments.sage.analyses import coordinate, rejudge, relationship, stability, strategies, whatif
from sociometer.instruments.sage.build import Brief, Built
from sociometer.instruments.sage.dialogue import Dialogue, StoredDialogue
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.players import AppraisalPerson, CueJudge
from sociometer.instruments.sage.published import reproduce

ItemT = TypeVar("ItemT", bound=Item)
OutcomeT = TypeVar("OutcomeT", bound=Struct)


class Talk(Task[Scenario, Dialogue]):
    """What `run` plays: a scenario talked through."""

    name = "dialogue"
    item_type = Scenario
    outcome_type = Dialogue

    def items(self, source: Source) -> Iterable[Scenario]:
        return items.scenarios(source)

    async def play(self, item: Scenario, session: Session) -> Dialogue:
        return await play.play_scenario(item, session)

    def score(self, item: Scenario, outcome: Dialogue) -> Score:
        return scoring.score(item, outcome)

    def summarise(self, run: RunView[Scenario, Dialogue]) -> Summary:
        return scoring.summarise(run)


class Given(Task[ItemT, OutcomeT]):
    """A task whose items a command hands over (stored dialogues, contexts, forks, briefs)."""

    def items(self, source: Source) -> Iterable[ItemT]:
        return ()


class Rejudge(Given[StoredDialogue, Dialogue]):
    """Stored dialogues before another simulator."""

    name = "rejudge"
    item_type = StoredDialogue
    outcome_type = Dialogue

    async def play(self, item: StoredDialogue, session: Session) -> Dialogue:
        return await rejudge.rejudge(item, session)

    def score(self, item: StoredDialogue, outcome: Dialogue) -> Score:
        return scoring.score(item.scenario, outcome)

    def summarise(self, run: RunView[StoredDialogue, Dialogue]) -> Summary:
        return scoring.summarise(run)


class RelationshipTask(Given[StoredDialogue, relationship.Relationship]):
    """Relationship and talk quality of stored dialogues."""

    name = "relationship"
    item_type = StoredDialogue
    outcome_type = relationship.Relationship

    async def play(self, item: StoredDialogue, session: Session) -> relationship.Relationship:
        return await relationship.judge_relationship(item, session)

    def score(self, item: StoredDialogue, outcome: relationship.Relationship) -> Score:
        return relationship.score(item, outcome)

    def summarise(self, run: RunView[StoredDialogue, relationship.Relationship]) -> Summary:
        return relationship.summarise(run)


class StrategiesTask(Given[StoredDialogue, strategies.LabelledDialogue]):
    """Support strategies of stored dialogues."""

    name = "strategies"
    item_type = StoredDialogue
    outcome_type = strategies.LabelledDialogue

    async def play(self, item: StoredDialogue, session: Session) -> strategies.LabelledDialogue:
        return await strategies.label(item, session)

    def score(self, item: StoredDialogue, outcome: strategies.LabelledDialogue) -> Score:
        return strategies.score(item, outcome)

    def summarise(self, run: RunView[StoredDialogue, strategies.LabelledDialogue]) -> Summary:
        return strategies.summarise(run)


class CoordinateTask(Given[StoredDialogue, coordinate.Coordinate]):
    """The manner of stored dialogues."""

    name = "coordinate"
    item_type = StoredDialogue
    outcome_type = coordinate.Coordinate

    async def play(self, item: StoredDialogue, session: Session) -> coordinate.Coordinate:
        return await coordinate.place(item, session)

    def score(self, item: StoredDialogue, outcome: coordinate.Coordinate) -> Score:
        return coordinate.score(item, outcome)

    def summarise(self, run: RunView[StoredDialogue, coordinate.Coordinate]) -> Summary:
        return coordinate.summarise(run)


class StabilityTask(Given[stability.Context, stability.Stability]):
    """The simulator's judgement of one context, many times."""

    name = "stability"
    item_type = stability.Context
    outcome_type = stability.Stability

    async def play(self, item: stability.Context, session: Session) -> stability.Stability:
        return await stability.judge_again(item, session)

    def score(self, item: stability.Context, outcome: stability.Stability) -> Score:
        return stability.score(item, outcome)

    def summarise(self, run: RunView[stability.Context, stability.Stability]) -> Summary:
        return stability.summarise(run)


class WhatIf(Given[whatif.Fork, whatif.Branch]):
    """Forks of stored dialogues, played on."""

    name = "what-if"
    item_type = whatif.Fork
    outcome_type = whatif.Branch

    async def play(self, item: whatif.Fork, session: Session) -> whatif.Branch:
        return await whatif.play_on(item, session)

    def score(self, item: whatif.Fork, outcome: whatif.Branch) -> Score:
        return whatif.score(item, outcome)

    def summarise(self, run: RunView[whatif.Fork, whatif.Branch]) -> Summary:
        return whatif.summarise(run)


class Build(Given[Brief, Built]):
    """Construction of scenarios."""

    name = "build"
    item_type = Brief
    outcome_type = Built

    async def play(self, item: Brief, session: Session) -> Built:
        return await build.build_scenario(item, session)

    def score(self, item: Brief, outcome: Built) -> Score:
        return build.score(item, outcome)

    def summarise(self, run: RunView[Brief, Built]) -> Summary:
        return build.summarise(run)


INSTRUMENT = Instrument(
    read_card(Path(__file__).with_name("card.toml")),
    [Talk(), Rejudge(), RelationshipTask(), StrategiesTask(), CoordinateTask(), StabilityTask(), WhatIf(), Build()],
    players={"appraisal": AppraisalPerson, "cues": CueJudge},
    figures=figures.figures,
    beside=figures.beside,
    reproduce=reproduce.rows,
)
