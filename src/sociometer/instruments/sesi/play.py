"""The conversation: the condition's words, then one question, in one or several option orders."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import structs

from sociometer.core.conversation import Choice, Message, Sampling, text, user
from sociometer.core.errors import UsageError
from sociometer.core.session import Session
from sociometer.core.settings import PAPER, Settings
from sociometer.core.source import AuthorsPrompt
from sociometer.instruments._authors import from_format, python_text
from sociometer.instruments.sesi import conditions
from sociometer.instruments.sesi.items import Question
from sociometer.reading import ChoiceAnswer, answer_line, ask_votes, balanced, render_options, unshuffled, with_room

FILE = "sesi/dataset.py"
QUESTION = f"{PAPER}/question"
OPTIONS = ("o1", "o2", "o3", "o4")


def _read_prompt(path: Path) -> str:
    return from_format(python_text(path, "SESI.__init__.prompt"))


def authors_prompts(settings: Settings, tasks: Sequence[str]) -> Iterator[AuthorsPrompt]:
    """Yield the prompt of a question."""
    yield AuthorsPrompt(QUESTION, frozenset(("situation", "question", *OPTIONS)), FILE, _read_prompt)


SAMPLING = Sampling(temperature=0, top_p=1, max_tokens=200, seed=42)
"""The authors' sampling (from their release)."""
CONTINUING = structs.replace(SAMPLING, max_tokens=16, stop=("\n",))
"""The sampling of a base model, which writes the letter after the text with examples."""


async def ask_question(item: Question, session: Session) -> ChoiceAnswer:
    """Asks the question in as many orders as the setting `orders` says; the majority counts, and a tie is no answer."""
    count, size = session.settings.whole("orders"), len(item.options)
    orders = balanced(size, count, session.rng) if count > 1 else (unshuffled(size),)
    before = condition_words(session)
    if session.base and (before or item.language != "en"):
        raise UsageError("-o base cannot be combined with a condition or --language; play the control in English.")

    def messages(choice: Choice) -> list[Message]:
        prompt = _prompt(item, choice, session)
        if session.base:
            return [text(prompt)]
        return [user(f"{before}\n\n{prompt}" if before else prompt)]

    sampling = CONTINUING if session.base else with_room(session, SAMPLING)
    return await ask_votes(
        session, messages, item.options, orders, key=item.answer, sampling=sampling, language=item.language
    )


def _prompt(item: Question, choice: Choice, session: Session) -> str:
    """The question with its options, in the wording of the settings."""
    about = {"situation": item.situation, "question": item.question}
    if session.base:
        return session.prompts.render("base", options=render_options(choice), **about)
    name = _instruction(session)
    if name == QUESTION:
        return session.prompts.render(name, **about, **dict(zip(OPTIONS, choice.options, strict=True)))
    how = answer_line(session, item.language)
    return session.prompts.render(name, item.language, options=render_options(choice), how=how, **about)


def _instruction(session: Session) -> str:
    """The prompt with the instruction: that of the setting `wording`, or a condition's own paraphrase of it."""
    condition = conditions.condition(session.settings.text("condition"))
    if condition.wording:
        return f"wording/{condition.wording}"
    wording = session.settings.text("wording")
    if wording == PAPER:
        return QUESTION
    return f"wording/{wording}" if wording != conditions.COMMENT else "question"


def condition_words(session: Session) -> str:
    """The text about itself that the subject reads before the item; none under the control."""
    condition = conditions.condition(session.settings.text("condition"))
    if not condition.prompt:
        return ""
    article = "an" if condition.role[:1] in "aeiou" and condition.role else "a"
    return session.prompts.render(condition.prompt, role=condition.role, a_role=f"{article} {condition.role}")
