"""A person that a model plays: two hops per turn, in our wording or the authors', read strictly."""

from functools import partial

from msgspec import Struct, structs

from sociometer.core.conversation import Message, Sampling, Schema, system, user
from sociometer.core.session import Session
from sociometer.core.settings import is_paper
from sociometer.instruments.sage.dialogue import Judgement
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.person.authors import ask_feeling, ask_words
from sociometer.instruments.sage.person.emotion import Protocol, band, is_refusal
from sociometer.instruments.sage.person.talk import (
    SIMULATOR,
    EmotionReply,
    PersonView,
    Plan,
    SpokenReply,
    quote_mark,
    talk_so_far,
)
from sociometer.reading import object_schema, read_each
from sociometer.reading.json_reply import ask_json, texts
from sociometer.reading.quotation import Talk

SAMPLING = Sampling(max_tokens=2000)
_FELT = texts("said", "serves", "activity", "feeling")
EMOTION_SCHEMA = object_schema(_FELT, change={"type": "integer", "minimum": -10, "maximum": 10})
UNBOUNDED_SCHEMA = object_schema(_FELT, change={"type": "integer"})
REPLY_SCHEMA = object_schema(texts("attitude", "aim", "tone", "content", "words"))


async def feel(
    scenario: Scenario, talk: Talk, before: int, session: Session, protocol: Protocol, *, sampling: Sampling = SAMPLING
) -> tuple[Judgement, int]:
    """The first hop: how the last reply changes the person's feeling; and how often it had to be asked again."""
    view = _view("emotion", scenario, talk, before)
    answer_format = Schema(EMOTION_SCHEMA, "emotion")
    if is_paper(session.settings):
        read, again = await ask_feeling(session, talk, answer_format, view)
    else:
        # A change out of range is clamped, as the authors do, not asked for again.
        read, again = await ask_json(
            session, SIMULATOR, _prompt("emotion", scenario, talk, before, session), answer_format, EmotionReply,
            scenario.language, sampling=sampling, view=view, problem=partial(_echo, view.reply),
            read_as=UNBOUNDED_SCHEMA, hop=view.hop,
        )  # fmt: skip
    if read.change != protocol.clamp(read.change):
        session.note("clamped", change=read.change)
    return Judgement(**structs.asdict(read), before=before, after=protocol.update(before, read.change)), again


async def answer(
    scenario: Scenario, talk: Talk, judgement: Judgement, session: Session, *, refusals: bool = False
) -> tuple[Plan, str, int]:
    """The second hop: what the person means to say and says; and how often it had to be asked again.

    A refusal ("I can't assist with that") is not the person's words and is asked for again, unless `refusals` are kept.
    """
    view = _view("reply", scenario, talk, judgement.after)
    answer_format = Schema(REPLY_SCHEMA, "reply")
    if is_paper(session.settings):
        read, again = await ask_words(session, talk, judgement, answer_format, view)
    else:
        facts = {"activity": judgement.activity, "feeling": judgement.feeling}
        messages = _prompt("reply", scenario, talk, judgement.after, session, **facts)
        read, again = await ask_json(
            session, SIMULATOR, messages, answer_format, SpokenReply, scenario.language, sampling=SAMPLING, view=view,
            problem=partial(_lacks, view.reply, refusals, scenario.language), hop=view.hop,
        )  # fmt: skip
    return Plan(read.attitude, read.aim, read.tone, read.content), read.words.strip(), again


def _echo(heard: str, value: Struct) -> str:
    """The fault of an answer that only repeats one that the subject had suggested."""
    return "echo of the other's words" if value in read_each(heard, type(value)) else ""


def _lacks(heard: str, refusals: bool, language: str, value: SpokenReply) -> str:
    if fault := _echo(heard, value):
        return fault
    if not refusals and is_refusal(value.words, language):
        return "a refusal in place of the person's words"
    return "" if value.words.strip() else "no words"


def _prompt(hop: str, scenario: Scenario, talk: Talk, emotion: int, session: Session, **facts: str) -> list[Message]:
    language = scenario.language
    mark = quote_mark(scenario, talk)
    level = band(emotion)
    mood = scenario.calm if level in "SA" else scenario.uneasy if level == "B" else scenario.raw
    who = session.prompts.render(
        "person",
        language,
        persona=scenario.persona,
        background=scenario.background,
        goal=scenario.goal,
        hidden=scenario.hidden,
        rises=_listed(scenario.rises),
        falls=_listed(scenario.falls),
    )
    talked = talk_so_far(talk, mark, session.prompts, language)
    asked = session.prompts.render(
        hop, language, mark=mark, talk=talked, emotion=emotion, band=level, mood=mood or "-", **facts
    )
    return [system(who), user(asked)]


def _listed(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "-"


def _view(hop: str, scenario: Scenario, talk: Talk, emotion: int) -> PersonView:
    replies = [words for who, words in talk if who == "subject"]
    own = [words for who, words in talk if who == "person"]
    last = replies[-1] if replies else ""
    return PersonView(hop, scenario, emotion, own[-1], last, tuple(replies[:-1]), tuple(own[:-1]))
