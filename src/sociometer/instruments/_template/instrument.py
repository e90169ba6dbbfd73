"""The instrument's table of contents."""

from collections.abc import Iterable
from pathlib import Path

from sociometer.core.card import read_card
from sociometer.core.measure import Summary
from sociometer.core.source import Source
from sociometer.core.task import Instrument, RunView, Score, Session, Task
from sociometer.instruments._template import figures, items, play, scoring
from sociometer.instruments._template.items import Question
from sociometer.instruments._template.play import Answer
from sociometer.instruments._template.published import reproduce


class Questions(Task[Question, Answer]):
    """The only task: a question with four options."""

    name = "questions"
    item_type = Question
    outcome_type = Answer

    def items(self, source: Source) -> Iterable[Question]:
        return items.questions(source)

    async def play(self, item: Question, session: Session) -> Answer:
        return await play.ask_question(item, session)

    def score(self, item: Question, outcome: Answer) -> Score:
        return scoring.score(item, outcome)

    def summarise(self, run: RunView[Question, Answer]) -> Summary:
        return scoring.summarise(run)


INSTRUMENT = Instrument(
    read_card(Path(__file__).with_name("card.toml")),
    [Questions()],
    figures=figures.figures,
    beside=figures.beside,
    reproduce=reproduce.rows,
)
