"""The conversation: the condition's words, then one question, in one or several option orders."""

from msgspec import Struct

from sociometer.core.answer_format import Choice
from sociometer.core.conversation import Sampling, user
from sociometer.core.task import Session
from sociometer.elicit import balanced, majority, read_choice, render_options
from sociometer.instruments.sesi import conditions
from sociometer.instruments.sesi.items import Question

SAMPLING = Sampling(temperature=0, top_p=1, max_tokens=200, seed=42)
"""As the authors ran it (read off their release)."""


class Vote(Struct, frozen=True):
    """One asking: the order the options stood in, and the option that was read (None: unreadable)."""

    order: tuple[int, ...]
    picked: int | None
    rule: str

    @property
    def position(self) -> int | None:
        """Where the picked option stood."""
        return None if self.picked is None else self.order.index(self.picked)


class Answer(Struct, frozen=True):
    """The outcome of a question."""

    votes: tuple[Vote, ...]
    picked: int | None

    @property
    def tied(self) -> bool:
        """Whether the votes that could be read name no one option."""
        return self.picked is None and any(vote.picked is not None for vote in self.votes)

    @property
    def unreadable(self) -> int:
        """How many replies could not be read."""
        return sum(vote.picked is None for vote in self.votes)


async def ask_question(item: Question, session: Session) -> Answer:
    """Asks the question as often as the setting `orders` says, and takes the majority."""
    count = session.settings.whole("orders")
    orders = balanced(len(item.options), count, session.rng) if count > 1 else (tuple(range(len(item.options))),)
    votes = [await _vote(item, session, order) for order in orders]
    return Answer(tuple(votes), majority([vote.picked for vote in votes]))


async def _vote(item: Question, session: Session, order: tuple[int, ...]) -> Vote:
    choice = Choice(tuple(item.options[index] for index in order), key=order.index(item.answer))
    prompt = session.prompts.render(
        "question",
        situation=item.situation,
        question=item.question,
        options=render_options(choice.options, choice.labels),
    )
    before = condition_words(session)
    reply = await session.ask(
        "subject", [user(f"{before}\n\n{prompt}" if before else prompt)], choice, sampling=SAMPLING
    )
    reading = read_choice(reply.text, choice.options, choice.labels)
    session.note("read", rule=reading.rule)
    return Vote(order, None if reading.index is None else order[reading.index], reading.rule)


def condition_words(session: Session) -> str:
    """What the subject is told about itself before the item; nothing under the control."""
    condition = conditions.condition(session.settings.text("condition"))
    if not condition.prompt:
        return ""
    article = "an" if condition.role[:1] in "aeiou" and condition.role else "a"
    return session.prompts.render(condition.prompt, role=condition.role, a_role=f"{article} {condition.role}")
