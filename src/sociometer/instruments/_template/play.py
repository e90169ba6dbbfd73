"""The conversation: one question, or the same question in several option orders."""

from sociometer.core.conversation import Choice, Message, Sampling, user
from sociometer.core.session import Session
from sociometer.instruments._template.items import Question
from sociometer.reading import ChoiceAnswer, answer_line, ask_votes, render_options, shuffled, unshuffled

SAMPLING = Sampling(temperature=0, max_tokens=1000)


async def ask_question(item: Question, session: Session) -> ChoiceAnswer:
    """Asks the question in as many option orders as the setting `orders` says; the majority counts."""
    count, size = session.settings.whole("orders"), len(item.options)
    orders = [shuffled(size, session.rng) for _ in range(count)] if count > 1 else [unshuffled(size)]

    def messages(choice: Choice) -> list[Message]:
        texts = {"moment": item.moment, "question": item.question, "options": render_options(choice)}
        return [user(session.prompts.render("question", **texts, how=answer_line(session)))]

    return await ask_votes(session, messages, item.options, orders, key=item.answer, sampling=SAMPLING)
