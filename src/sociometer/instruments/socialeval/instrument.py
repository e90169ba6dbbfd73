"""The instrument's table of contents."""

from collections.abc import Iterable
from pathlib import Path

from sociometer.core.card import read_card
from sociometer.core.measure import Summary
from sociometer.core.source import Source
from sociometer.core.task import Instrument, RunView, Score, Session, Task
from sociometer.instruments.socialeval import build, figures, items, play, scoring
from sociometer.instruments.socialeval.build import BuildPart, Built
from sociometer.instruments.socialeval.items import AbilityQuestion, Crossroads, TreeItem
from sociometer.instruments.socialeval.play import Answer, Utterance, Walk
from sociometer.instruments.socialeval.published import reproduce


class Goals(Task[TreeItem, Walk]):
    """Goal achievement: the subject plays the protagonist of a world tree to its end."""

    name = "goals"
    item_type = TreeItem
    outcome_type = Walk

    def items(self, source: Source) -> Iterable[TreeItem]:
        return items.tree_items(source)

    async def play(self, item: TreeItem, session: Session) -> Walk:
        return await play.walk(item, session)

    def score(self, item: TreeItem, outcome: Walk) -> Score:
        return scoring.score_walk(item, outcome)

    def summarise(self, run: RunView[TreeItem, Walk]) -> Summary:
        return scoring.summarise_walks(run)


class Abilities(Task[AbilityQuestion, Answer]):
    """Interpersonal ability: which utterance shows it here?"""

    name = "abilities"
    item_type = AbilityQuestion
    outcome_type = Answer

    def items(self, source: Source) -> Iterable[AbilityQuestion]:
        return items.ability_questions(source)

    async def play(self, item: AbilityQuestion, session: Session) -> Answer:
        return await play.answer(item, session)

    def score(self, item: AbilityQuestion, outcome: Answer) -> Score:
        return scoring.score_answer(item, outcome)

    def summarise(self, run: RunView[AbilityQuestion, Answer]) -> Summary:
        return scoring.summarise_answers(run)


class Utterances(Task[Crossroads, Utterance]):
    """Whether multiple choice reflects generation: the subject speaks first, then chooses."""

    name = "utterances"
    item_type = Crossroads
    outcome_type = Utterance

    def items(self, source: Source) -> Iterable[Crossroads]:
        return items.crossroads(source)

    async def play(self, item: Crossroads, session: Session) -> Utterance:
        return await play.speak(item, session)

    def score(self, item: Crossroads, outcome: Utterance) -> Score:
        return scoring.score_utterance(item, outcome)

    def summarise(self, run: RunView[Crossroads, Utterance]) -> Summary:
        return scoring.summarise_utterances(run)


class Building(Task[BuildPart, Built]):
    """One part of a new tree; the command `build` gives the items."""

    name = "build"
    item_type = BuildPart
    outcome_type = Built

    def items(self, source: Source) -> Iterable[BuildPart]:
        return ()

    async def play(self, item: BuildPart, session: Session) -> Built:
        return await build.write_part(item, session)

    def score(self, item: BuildPart, outcome: Built) -> Score:
        return build.score_part(item, outcome)

    def summarise(self, run: RunView[BuildPart, Built]) -> Summary:
        return build.summarise_parts(run)


INSTRUMENT = Instrument(
    read_card(Path(__file__).with_name("card.toml")),
    [Goals(), Abilities(), Utterances(), Building()],
    figures=figures.figures,
    beside=figures.beside,
    reproduce=reproduce.rows,
)
