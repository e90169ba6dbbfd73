"""The instrument's table of contents."""

from collections.abc import Iterable
from pathlib import Path

from sociometer.core.card import read_card
from sociometer.core.measure import Summary
from sociometer.core.source import Source
from sociometer.core.task import Instrument, RunView, Score, Session, Task
from sociometer.instruments.sesi import errors, figures, items, play, scoring
from sociometer.instruments.sesi.construction import drafting, posts
from sociometer.instruments.sesi.construction.drafting import Draft
from sociometer.instruments.sesi.construction.posts import Post
from sociometer.instruments.sesi.errors import Verdict, WrongAnswer
from sociometer.instruments.sesi.items import Question
from sociometer.instruments.sesi.play import Answer
from sociometer.instruments.sesi.published import reproduce


class Questions(Task[Question, Answer]):
    """The test: a situation, a question and four options, under the control or a condition of a probe."""

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


class Errors(Task[WrongAnswer, Verdict]):
    """Why it errs: a judge names the cause of a wrong answer; the items come from stored runs."""

    name = "errors"
    item_type = WrongAnswer
    outcome_type = Verdict

    def items(self, source: Source) -> Iterable[WrongAnswer]:
        return ()

    async def play(self, item: WrongAnswer, session: Session) -> Verdict:
        return await errors.ask_judge(item, session)

    def score(self, item: WrongAnswer, outcome: Verdict) -> Score:
        return errors.score(item, outcome)

    def summarise(self, run: RunView[WrongAnswer, Verdict]) -> Summary:
        return errors.summarise(run)


class Construction(Task[Post, Draft]):
    """New items: a builder turns a post and its top comments into a question with candidates for its options."""

    name = "construction"
    item_type = Post
    outcome_type = Draft

    def items(self, source: Source) -> Iterable[Post]:
        return posts.demo()

    async def play(self, item: Post, session: Session) -> Draft:
        return await drafting.draft(item, session)

    def score(self, item: Post, outcome: Draft) -> Score:
        return drafting.score(item, outcome)

    def summarise(self, run: RunView[Post, Draft]) -> Summary:
        return drafting.summarise(run)


INSTRUMENT = Instrument(
    read_card(Path(__file__).with_name("card.toml")),
    [Questions(), Errors(), Construction()],
    figures=figures.figures,
    beside=figures.beside,
    reproduce=reproduce.rows,
)
