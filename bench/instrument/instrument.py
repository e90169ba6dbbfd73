"""The two tasks: questions that are read and scored, and dialogues of three calls a turn."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

import work
from sociometer.analysis.measures import grouped_measures
from sociometer.core.answer_format import Choice
from sociometer.core.card import read_card
from sociometer.core.conversation import Message, Sampling, assistant, user
from sociometer.core.measure import Summary
from sociometer.core.task import Instrument, Item, RunView, Score, Session, Source, Task
from sociometer.elicit import read_choice, render_options

_DRAWN = Sampling(temperature=0, max_tokens=200)


class Question(Item, frozen=True, kw_only=True):
    """A four-option question."""

    question: str
    options: tuple[str, ...]
    answer: int


class Answer(Struct, frozen=True):
    """The option that was read, and by which rule."""

    picked: int | None
    rule: str


class Questions(Task[Question, Answer]):
    """One call an item."""

    name = "questions"
    item_type = Question
    outcome_type = Answer

    def items(self, source: Source) -> Iterable[Question]:
        return (Question(**work.question(number)) for number in range(work.QUESTIONS))

    async def play(self, item: Question, session: Session) -> Answer:
        answer_format = Choice(item.options, key=item.answer)
        options = render_options(answer_format)
        prompt = session.prompts.render("question", question=item.question, options=options)
        reply = await session.ask("subject", [user(prompt)], answer_format, sampling=_DRAWN)
        reading = read_choice(reply.text, answer_format.options, answer_format.labels)
        return Answer(reading.index, reading.rule)

    def score(self, item: Question, outcome: Answer) -> Score:
        return Score(values={"correct": float(outcome.picked == item.answer)}, unreadable=int(outcome.picked is None))

    def summarise(self, run: RunView[Question, Answer]) -> Summary:
        return Summary(grouped_measures(run, "correct", "accuracy"))


class Dialogue(Item, frozen=True, kw_only=True):
    """How a dialogue opens."""

    opening: str


class Spoken(Struct, frozen=True):
    """What was said."""

    lines: tuple[str, ...]


class Dialogues(Task[Dialogue, Spoken]):
    """Ten turns: the subject speaks, a judge is asked, the person answers."""

    name = "dialogues"
    item_type = Dialogue
    outcome_type = Spoken

    def items(self, source: Source) -> Iterable[Dialogue]:
        return (Dialogue(id=f"d{number}", opening=work.opening(number)) for number in range(work.DIALOGUES))

    async def play(self, item: Dialogue, session: Session) -> Spoken:
        spoken: tuple[Message, ...] = (user(item.opening),)
        for _ in range(work.TURNS):
            said = await session.ask("subject", spoken, sampling=_DRAWN)
            spoken = (*spoken, assistant(said.text))
            await session.ask("judge", spoken, sampling=_DRAWN)
            answered = await session.ask("simulator", spoken, sampling=_DRAWN)
            spoken = (*spoken, user(answered.text))
        return Spoken(tuple(message.content for message in spoken))

    def score(self, item: Dialogue, outcome: Spoken) -> Score:
        return Score(values={"length": float(len(outcome.lines))})

    def summarise(self, run: RunView[Dialogue, Spoken]) -> Summary:
        return Summary(grouped_measures(run, "length", "length"))


INSTRUMENT = Instrument(read_card(Path(__file__).with_name("card.toml")), [Questions(), Dialogues()])
