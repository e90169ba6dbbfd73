"""A person that a model plays: two hops per turn, in our wording or the authors', read strictly."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from sociometer.core.conversation import Message, Reply, Sampling, Schema, system, user
from sociometer.core.errors import UnreadableRole
from sociometer.core.prompts import Prompts
from sociometer.core.session import Session
from sociometer.core.settings import PAPER, Settings, is_paper
from sociometer.core.source import AuthorsPrompt
from sociometer.instruments._authors import from_double_braces, python_text
from sociometer.instruments.sage.dialogue import Judgement, Plan
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.person.emotion import Protocol, band, is_refusal
from sociometer.reading import Reading, ask, read_each, read_json, shared_prompt

SIMULATOR_FILE, SUBJECT_FILE = "sage/simulator_response.py", "sage/npc_response.py"
LANGUAGE = "zh"
EMOTION, REPLY, TARGET, PLANNING = (f"{PAPER}/{name}" for name in ("emotion", "reply", "target", "planning"))
OWN, OTHER, SUBJECT = (f"{PAPER}/{name}" for name in ("own", "other", "subject"))
_TEXTS: tuple[tuple[str, str, str, frozenset[str]], ...] = (
    (
        EMOTION, SIMULATOR_FILE, "planning_reply.template",
        frozenset(("target", "simulator_role", "simulator_scene", "emotion", "dialog_history")),
    ),
    (
        REPLY, SIMULATOR_FILE, "player_reply.template",
        frozenset(("target", "player_type", "player_topic", "dialog_history", "new_history", "planning", "emotion")),
    ),
    (PLANNING, SIMULATOR_FILE, "player_reply.planning", frozenset(("targetcompletion", "activity", "analyse"))),
    (TARGET, SIMULATOR_FILE, "target_prompt", frozenset()),
    (OWN, SIMULATOR_FILE, "player_reply.mapping.user", frozenset()),
    (OTHER, SIMULATOR_FILE, "player_reply.mapping.assistant", frozenset()),
    (SUBJECT, SUBJECT_FILE, "call_npc.role_system", frozenset()),
)  # fmt: skip
"""Each prompt with the file that has it, its name there, and its placeholders."""


def authors_prompts(settings: Settings, tasks: Sequence[str]) -> Iterator[AuthorsPrompt]:
    """Yield all prompts of a dialogue; they are in Chinese, as the official scenarios are."""
    for name, file, in_file, placeholders in _TEXTS:
        yield AuthorsPrompt(name, placeholders, file, partial(read_text, name=in_file), language=LANGUAGE)


def read_text(path: Path, *, name: str) -> str:
    """Return a text of the authors' module with our placeholders."""
    return from_double_braces(python_text(path, name))


class EmotionReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The simulator's answer in the first hop."""

    said: str
    serves: str
    activity: str
    feeling: str
    change: int


class SpokenReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The simulator's answer in the second hop."""

    attitude: str
    aim: str
    tone: str
    content: str
    words: str


ReplyT = TypeVar("ReplyT", bound=Struct)


class PersonView(Struct, frozen=True):
    """The view of a program in the simulator's role; never sent to a model."""

    hop: str
    scenario: Scenario
    emotion: int
    words: str
    """The person's last words."""
    reply: str
    earlier: tuple[str, ...] = ()
    """The subject's earlier replies."""
    told: tuple[str, ...] = ()
    """The person's words before the last, oldest first."""


async def ask_json(
    session: Session,
    role: str,
    messages: Sequence[Message],
    schema: Schema,
    kind: type[ReplyT],
    language: str,
    *,
    sampling: Sampling,
    view: Struct | None = None,
    problem: Callable[[ReplyT], str] = lambda reply: "",
    partial: bool = False,
    read_as: Mapping[str, Any] | None = None,
    **noted: str,
) -> tuple[ReplyT, int]:
    """The role's reply, and how often it was asked again; a reply that stays unreadable is a failure, never a guess.

    `problem` says what is wrong with a reply that fits the schema. `noted` are facts for the transcript, beside the
    reason why a reply was not taken. With `partial`, labels that the schema does not allow are left out and noted.
    `read_as` is the schema that the reply is read by, where it is not the one that is sent.
    """
    dropped: list[int] = []

    def read(reply: Reply) -> Reading[ReplyT]:
        reading = read_json(reply.text, kind, read_as or schema.schema, partial=partial)
        dropped.append(reading.dropped)
        if reading.value is None:
            return Reading(None, reading.rule, reading.problem)
        wrong = problem(reading.value)
        if wrong:
            return Reading(None, wrong, f"{wrong[0].upper()}{wrong[1:]}.")
        return Reading(reading.value, reading.rule)

    def again(reading: Reading[ReplyT]) -> str:
        keys = ", ".join(schema.schema["required"])
        return shared_prompt(session, "again-json", language, problem=reading.problem, keys=keys)

    most = session.settings.whole("rereads")
    answer = await ask(
        session, role, messages, schema, read, again, times=most, sampling=sampling, view=view, quiet=True, facts=noted
    )
    if answer.value is None:
        raise UnreadableRole(
            f"the {role}'s {schema.name} was still unreadable after {most + 1} answers ({answer.rule})", role
        )
    if dropped[-1]:
        session.note("labels left out", **noted, count=dropped[-1])
    return answer.value, len(answer.faults)


SIMULATOR = "simulator"
Talk = tuple[tuple[str, str], ...]
"""The conversation, oldest first: (`person` or `subject`, words)."""

_CONTROL = re.compile(r"<(?=[|/!a-z_])|\[(?=/?INST)|(?<=\|)>|(?<=INST)\]", re.IGNORECASE)
_BROKEN = {"<": "‹", ">": "›", "[": "(", "]": ")"}


def quote_mark(scenario: Scenario, talk: Talk) -> str:
    """The mark of a quotation: a digest of what the subject cannot see, the same for the same context."""
    body = "\x1f".join((scenario.id, scenario.hidden, scenario.persona, *(words for _, words in talk)))
    return "q" + hashlib.blake2b(body.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def quote(words: str, mark: str) -> str:
    """Another speaker's words with control tokens broken up and a prefix on each line, between lines with the mark."""
    plain = _CONTROL.sub(lambda match: _BROKEN[match[0]], words).replace(mark, "")
    lines = plain.splitlines() or [""]
    return "\n".join([f"[{mark}]", *(f"| {line}" for line in lines), f"[/{mark}]"])


_FEELING = ("Content", "TargetCompletion", "Activity", "Analyse", "Change")
_SPEAKING = ("Thinking", "Origin", "Change", "Response")
_NUMBER = re.compile(r"[+-]?\d{1,6}")
_EDGES = "\n []“”"
T = TypeVar("T")


def read_feeling(text: str) -> EmotionReply | None:
    """The labelled parts of a first hop, or its JSON from a stand-in; None without a number for the change."""
    if text.lstrip().startswith("{"):
        return read_json(text, EmotionReply).value
    parts = _parts(text, _FEELING)
    change = _NUMBER.search(parts["Change"])
    if change is None:
        return None
    said, serves, activity, feeling = (parts[label] for label in _FEELING[:-1])
    return EmotionReply(said, serves, activity, feeling, int(change[0]))


def read_words(text: str) -> SpokenReply | None:
    """The reply after its label, with the reasoning before it, or the JSON of a stand-in; None without words."""
    if text.lstrip().startswith("{"):
        found = read_json(text, SpokenReply).value
        return found if found is not None and found.words.strip() else None
    parts = _parts(text, _SPEAKING)
    return SpokenReply("", "", "", parts["Thinking"], parts["Response"]) if parts["Response"] else None


def _parts(text: str, labels: tuple[str, ...]) -> dict[str, str]:
    """The text after the last of each label, up to the next label."""
    plain = text.replace("：", ":").replace("*", "")
    marks = list(re.finditer(rf"(?:^|(?<=\n))[ \t#>•·(（\d.)）、-]*({'|'.join(labels)})[ \t]*:", plain))
    bounds = [*(mark.start() for mark in marks), len(plain)]
    found = {mark[1]: plain[mark.end() : end].strip(_EDGES) for mark, end in zip(marks, bounds[1:], strict=True)}
    return {label: found.get(label, "") for label in labels}


async def _ask_in_authors_words(
    session: Session, prompt: str, answer_format: Schema, view: PersonView, role: str, read: Callable[[str], T | None]
) -> tuple[T, int]:
    """The first readable reply to the prompt; it repeats the same request, a limited number of times.

    The release does not set the simulator's sampling.
    """
    most = session.settings.whole("rereads")
    for again in range(most + 1):
        reply = await session.ask(role, [user(prompt)], answer_format, sampling=Sampling(), view=view)
        if (found := read(reply.text)) is not None:
            return found, again
        session.note("read", hop=view.hop, rule="no labels", reply="unreadable")
    raise UnreadableRole(
        f"the simulator's {answer_format.name} was still unreadable after {most + 1} answers", SIMULATOR
    )


def _history(session: Session, talk: Talk) -> str:
    """The conversation as JSON, with the authors' names for the speakers."""
    names = {"person": session.prompts.render(OWN, LANGUAGE), "subject": session.prompts.render(OTHER, LANGUAGE)}
    said = [{"role": names[who], "content": words} for who, words in talk]
    return json.dumps(said, ensure_ascii=False, indent=2)


SAMPLING = Sampling(max_tokens=2000)


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object that has all of these properties and no others."""
    return {
        "type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def texts(*names: str) -> dict[str, Any]:
    """Properties that are texts."""
    return {name: {"type": "string"} for name in names}


_FELT = texts("said", "serves", "activity", "feeling")
EMOTION_SCHEMA = object_schema({**_FELT, "change": {"type": "integer", "minimum": -10, "maximum": 10}})
UNBOUNDED_SCHEMA = object_schema({**_FELT, "change": {"type": "integer"}})
REPLY_SCHEMA = object_schema(texts("attitude", "aim", "tone", "content", "words"))


async def feel(
    scenario: Scenario,
    talk: Talk,
    before: int,
    session: Session,
    protocol: Protocol,
    *,
    sampling: Sampling = SAMPLING,
    role: str = SIMULATOR,
) -> tuple[Judgement, int]:
    """The first hop: how the last reply changes the person's feeling; and how often it had to be asked again."""
    view = _view("emotion", scenario, talk, before)
    answer_format = Schema(EMOTION_SCHEMA, "emotion")
    if is_paper(session.settings):
        prompt = session.prompts.render(
            EMOTION, LANGUAGE, target=session.prompts.render(TARGET, LANGUAGE), simulator_role=scenario.persona,
            simulator_scene=scenario.background, emotion=before, dialog_history=_history(session, talk),
        )  # fmt: skip
        read, again = await _ask_in_authors_words(session, prompt, answer_format, view, role, read_feeling)
    else:
        # The authors clamp a change that is out of range; elsewhere it is asked for again.
        read, again = await ask_json(
            session, role, _prompt("emotion", scenario, talk, before, session), answer_format, EmotionReply,
            scenario.language, sampling=sampling, view=view, problem=partial(_echo, view.reply),
            read_as=UNBOUNDED_SCHEMA if session.official else None, hop=view.hop,
        )  # fmt: skip
    if read.change != protocol.clamp(read.change):
        session.note("clamped", change=read.change)
    after = protocol.update(before, read.change)
    judged = Judgement(read.said, read.serves, read.activity, read.feeling, read.change, before, after)
    return judged, again


async def answer(
    scenario: Scenario,
    talk: Talk,
    judgement: Judgement,
    session: Session,
    *,
    role: str = SIMULATOR,
    refusals: bool = False,
) -> tuple[Plan, str, int]:
    """The second hop: what the person means to say and says; and how often it had to be asked again.

    A refusal ("I can't assist with that") is not the person's words and is asked for again, unless `refusals` are kept.
    """
    view = _view("reply", scenario, talk, judgement.after)
    answer_format = Schema(REPLY_SCHEMA, "reply")
    if is_paper(session.settings):
        planning = session.prompts.render(
            PLANNING, LANGUAGE, targetcompletion=judgement.serves, activity=judgement.activity,
            analyse=judgement.feeling,
        )  # fmt: skip
        prompt = session.prompts.render(
            REPLY, LANGUAGE, target=session.prompts.render(TARGET, LANGUAGE), player_type=scenario.persona,
            player_topic=scenario.background, dialog_history=_history(session, talk[:-2]),
            new_history=_history(session, talk[-2:]), planning=planning, emotion=f"Emotion-{band(judgement.after)}",
        )  # fmt: skip
        read, again = await _ask_in_authors_words(session, prompt, answer_format, view, role, read_words)
    else:
        facts = {"activity": judgement.activity, "feeling": judgement.feeling}
        messages = _prompt("reply", scenario, talk, judgement.after, session, **facts)
        read, again = await ask_json(
            session, role, messages, answer_format, SpokenReply, scenario.language, sampling=SAMPLING, view=view,
            problem=partial(_lacks, view.reply, refusals), hop=view.hop,
        )  # fmt: skip
    return Plan(read.attitude, read.aim, read.tone, read.content), read.words.strip(), again


def _echo(heard: str, value: Struct) -> str:
    """The fault of an answer that only repeats one that the subject had suggested."""
    return "echo of the other's words" if value in read_each(heard, type(value)) else ""


def _lacks(heard: str, refusals: bool, value: SpokenReply) -> str:
    if fault := _echo(heard, value):
        return fault
    if not refusals and is_refusal(value.words):
        return "a refusal in place of the person's words"
    return "" if value.words.strip() else "no words"


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
        "person", language, persona=scenario.persona, background=scenario.background, goal=scenario.goal,
        hidden=scenario.hidden, rises=_listed(scenario.rises), falls=_listed(scenario.falls),
    )  # fmt: skip
    talked = transcript(talk, mark, session.prompts, language)
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
