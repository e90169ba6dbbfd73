"""The simulated person: two hops per turn, requested as structured output and read strictly."""

from collections.abc import Callable
from typing import Any

from sociometer.core.conversation import Message, Sampling, Schema, system, user
from sociometer.core.prompts import Prompts
from sociometer.core.session import Session
from sociometer.core.settings import is_paper
from sociometer.instruments.sage import authors_person
from sociometer.instruments.sage.appraisal import PersonView
from sociometer.instruments.sage.dialogue import Judgement, Plan
from sociometer.instruments.sage.emotion import Protocol, band
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.json_answer import ReplyT, ask_json
from sociometer.instruments.sage.quoting import Talk, quote, quote_mark
from sociometer.instruments.sage.spoken import EmotionReply, SpokenReply
from sociometer.reading import read_each

SAMPLING = Sampling(max_tokens=2000)
AUTHORS_SAMPLING = Sampling()
"""The release does not set the simulator's sampling."""


EMOTION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "said": {"type": "string"},
        "serves": {"type": "string"},
        "activity": {"type": "string"},
        "feeling": {"type": "string"},
        "change": {"type": "integer", "minimum": -10, "maximum": 10},
    },
    "required": ["said", "serves", "activity", "feeling", "change"],
    "additionalProperties": False,
}
UNBOUNDED_SCHEMA = EMOTION_SCHEMA | {"properties": EMOTION_SCHEMA["properties"] | {"change": {"type": "integer"}}}
REPLY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("attitude", "aim", "tone", "content", "words")},
    "required": ["attitude", "aim", "tone", "content", "words"],
    "additionalProperties": False,
}


async def feel(
    scenario: Scenario,
    talk: Talk,
    before: int,
    session: Session,
    protocol: Protocol,
    *,
    sampling: Sampling = SAMPLING,
) -> tuple[Judgement, int]:
    """The first hop: how the last reply changes the person's feeling; and how often it had to be asked again."""
    view = _view("emotion", scenario, talk, before)
    answer_format = Schema(EMOTION_SCHEMA, "emotion")
    if is_paper(session.settings):
        read, again = await authors_person.ask_feeling(
            scenario, talk, before, session, answer_format, view, AUTHORS_SAMPLING
        )
    else:
        prompt = _prompt("emotion", scenario, talk, before, session)
        # The authors clamp a change that is out of range; elsewhere it is asked for again.
        read_as = UNBOUNDED_SCHEMA if session.official else None
        read, again = await _ask(
            session, scenario, prompt, answer_format, EmotionReply, view, lambda reply: "", sampling, read_as
        )
    if read.change != protocol.clamp(read.change):
        session.note("clamped", change=read.change)
    after = protocol.update(before, read.change)
    judged = Judgement(read.said, read.serves, read.activity, read.feeling, read.change, before, after)
    return judged, again


async def answer(
    scenario: Scenario, talk: Talk, judgement: Judgement, session: Session, *, sampling: Sampling = SAMPLING
) -> tuple[Plan, str, int]:
    """The second hop: what the person means to say and says; and how often it had to be asked again."""
    view = _view("reply", scenario, talk, judgement.after, judgement.moved)
    answer_format = Schema(REPLY_SCHEMA, "reply")
    if is_paper(session.settings):
        read, again = await authors_person.ask_words(
            scenario, talk, judgement, session, answer_format, view, AUTHORS_SAMPLING
        )
    else:
        facts = {"activity": judgement.activity, "feeling": judgement.feeling}
        prompt = _prompt("reply", scenario, talk, judgement.after, session, **facts)
        read, again = await _ask(session, scenario, prompt, answer_format, SpokenReply, view, _lacks, sampling)
    return Plan(read.attitude, read.aim, read.tone, read.content), read.words.strip(), again


def _lacks(reply: SpokenReply) -> str:
    return "" if reply.words.strip() else "no words"


def transcript(talk: Talk, mark: str, prompts: Prompts, language: str) -> str:
    """A dialogue as the simulator reads it: its own words, and the other's as a quotation."""
    own, other = prompts.render("own", language), prompts.render("other", language)
    return "\n\n".join(
        f"{own}\n{quote(words, 'own-' + mark)}" if who == "person" else f"{other}\n{quote(words, mark)}"
        for who, words in talk
    )


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
    talked = transcript(talk, mark, session.prompts, language)
    asked = session.prompts.render(
        hop, language, mark=mark, talk=talked, emotion=emotion, band=level, mood=mood or "-", **facts
    )
    return [system(who), user(asked)]


def _listed(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "-"


def _view(hop: str, scenario: Scenario, talk: Talk, emotion: int, change: int = 0) -> PersonView:
    replies = [words for who, words in talk if who == "subject"]
    own = [words for who, words in talk if who == "person"]
    last = replies[-1] if replies else ""
    return PersonView(hop, scenario, emotion, own[-1], last, tuple(replies[:-1]), change, tuple(own[:-1]))


async def _ask(
    session: Session,
    scenario: Scenario,
    messages: list[Message],
    answer_format: Schema,
    kind: type[ReplyT],
    view: PersonView,
    lacks: Callable[[ReplyT], str],
    sampling: Sampling,
    read_as: dict[str, Any] | None = None,
) -> tuple[ReplyT, int]:
    """The simulator's answer, asked again a limited number of times if it is unreadable."""

    def problem(reply: ReplyT) -> str:
        return "echo of the other's words" if _echoes(reply, view.reply, kind) else lacks(reply)

    return await ask_json(
        session,
        "simulator",
        messages,
        answer_format,
        kind,
        scenario.language,
        sampling=sampling,
        view=view,
        problem=problem,
        read_as=read_as,
        hop=view.hop,
    )


def _echoes(value: ReplyT, reply: str, kind: type[ReplyT]) -> bool:
    """Whether the simulator only repeated an answer that the subject had suggested."""
    return value in read_each(reply, kind)
