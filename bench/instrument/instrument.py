"""The two tasks: questions that are read and scored, and dialogues of three calls a turn."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

import work
from sociometer.core.conversation import Choice, Message, Sampling, assistant, user
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import Item, Score, Task
from sociometer.reading import read_choice, render_options
from sociometer.statistics.measures import grouped_measures

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


def questions(source: Source) -> Iterable[Question]:
    """The questions, made as they are needed."""
    return (Question(**work.question(number)) for number in range(work.QUESTIONS))


async def ask(item: Question, session: Session) -> Answer:
    """One call an item."""
    choice = Choice(item.options, key=item.answer)
    prompt = session.prompts.render("question", question=item.question, options=render_options(choice))
    reply = await session.ask("subject", [user(prompt)], choice, sampling=_DRAWN)
    reading = read_choice(reply.text, choice.options, choice.labels)
    return Answer(reading.index, reading.rule)


def score_answer(item: Question, outcome: Answer) -> Score:
    """Right or wrong."""
    return Score(values={"correct": float(outcome.picked == item.answer)}, unreadable=int(outcome.picked is None))


class Dialogue(Item, frozen=True, kw_only=True):
    """How a dialogue opens."""

    opening: str


class Spoken(Struct, frozen=True):
    """What was said."""

    lines: tuple[str, ...]


def dialogues(source: Source) -> Iterable[Dialogue]:
    """The dialogues, made as they are needed."""
    return (Dialogue(id=f"d{number}", opening=work.opening(number)) for number in range(work.DIALOGUES))


async def talk(item: Dialogue, session: Session) -> Spoken:
    """Ten turns: the subject speaks, a judge is asked, the person answers."""
    spoken: tuple[Message, ...] = (user(item.opening),)
    for _ in range(work.TURNS):
        said = await session.ask("subject", spoken, sampling=_DRAWN)
        spoken = (*spoken, assistant(said.text))
        await session.ask("judge", spoken, sampling=_DRAWN)
        answered = await session.ask("simulator", spoken, sampling=_DRAWN)
        spoken = (*spoken, user(answered.text))
    return Spoken(tuple(message.content for message in spoken))


INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        Task(
            "questions",
            Question,
            Answer,
            items=questions,
            play=ask,
            score=score_answer,
            summarise=lambda run: Summary(grouped_measures(run, "correct", "accuracy")),
        ),
        Task(
            "dialogues",
            Dialogue,
            Spoken,
            items=dialogues,
            play=talk,
            score=lambda item, outcome: Score(values={"length": float(len(outcome.lines))}),
            summarise=lambda run: Summary(grouped_measures(run, "length", "length")),
        ),
    ],
)
