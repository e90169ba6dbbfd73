"""The conversation: one question, or the same question in several option orders."""

from msgspec import Struct

from sociometer.core.answer_format import Choice
from sociometer.core.conversation import Sampling, user
from sociometer.core.task import Session
from sociometer.elicit import majority, read_choice, render_options, shuffled
from sociometer.instruments._template.items import Question


class Vote(Struct, frozen=True):
    """One asking: the order the options stood in, and the option that was read (None: unreadable)."""

    order: tuple[int, ...]
    picked: int | None
    rule: str


class Answer(Struct, frozen=True):
    """The outcome of a question."""

    votes: tuple[Vote, ...]
    picked: int | None


async def ask_question(item: Question, session: Session) -> Answer:
    """Asks the question as often as the setting `orders` says, and takes the majority."""
    count = session.settings.whole("orders")
    votes = [await _vote(item, session, shuffle=count > 1) for _ in range(count)]
    return Answer(tuple(votes), majority([vote.picked for vote in votes]))


async def _vote(item: Question, session: Session, *, shuffle: bool) -> Vote:
    order = shuffled(len(item.options), session.rng) if shuffle else tuple(range(len(item.options)))
    choice = Choice(tuple(item.options[index] for index in order), key=order.index(item.answer))
    prompt = session.prompts.render(
        "question",
        moment=item.moment,
        question=item.question,
        options=render_options(choice.options, choice.labels),
    )
    reply = await session.ask("subject", [user(prompt)], choice, sampling=Sampling(temperature=0, max_tokens=200))
    reading = read_choice(reply.text, choice.options, choice.labels)
    session.note("read", rule=reading.rule)
    return Vote(order, None if reading.index is None else order[reading.index], reading.rule)
