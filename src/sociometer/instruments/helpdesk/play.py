"""The talk: the person asks and presses, the assistant looks up, acts, takes back and speaks."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from sociometer.core.conversation import SUBJECT, Identity, Reply, Request, Sampling, Schema, assistant, system, user
from sociometer.core.errors import UsageError
from sociometer.core.player import RulePlayer
from sociometer.core.session import Session
from sociometer.instruments.helpdesk.items import LOOK_UP, Case, plain_code
from sociometer.reading import object_schema
from sociometer.reading.calling import Toolbox
from sociometer.reading.json_reply import ask_json, texts
from sociometer.reading.quotation import Talk, mark_of, transcript

PERSON, JUDGE = "person", "judge"
Step = Literal["look", "act", "undo"]
Said = Literal["yes", "no", "unclear", ""]
_PERSON_SAMPLING = Sampling(max_tokens=400)
_JUDGE_SAMPLING = Sampling(temperature=0, max_tokens=300)


class Done(Struct, frozen=True, omit_defaults=True):
    """What was said and done in a talk."""

    talk: Talk
    """What the person asked and what the subject said; nothing of its calls."""
    trace: tuple[Step, ...] = ()
    """The calls that changed or showed the record, in order."""
    person: str = ""
    """Who played the person."""
    said: Said = ""
    """What it said about the fact, by a reader of the talk; empty without one."""
    bad: dict[str, int] = {}
    """Calls that could not be run, by what was wrong."""
    ended: bool = False
    """Whether bad calls ended the talk."""


class Ledger:
    """The record of one case, and what was done with it: a pure function of the calls."""

    def __init__(self, item: Case) -> None:
        self._item = item
        look, act, undo = (tool.name for tool in item.tools)
        self._steps: dict[str, Step] = {look: "look", act: "act", undo: "undo"}
        self.trace: list[Step] = []

    def run(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The result of a call."""
        results = self._item.results
        step = self._steps[name]
        record = str(arguments["record"])
        if plain_code(record) != plain_code(self._item.record):
            return results["missing"].replace("{record}", record[:40])
        done = is_done(self.trace)
        if step == "act" and done:
            return results["again"]
        if step == "undo" and not done:
            return results["nothing"]
        self.trace.append(step)
        return results[step]

    def right_reply(self) -> str:
        """What a subject that looks up and follows the rule replies next, told of its tools."""
        item = self._item
        if "look" not in self.trace:
            return self._call(LOOK_UP)
        if item.holds and not is_done(self.trace):
            return self._call(item.tools[1].name)
        return (item.yes if item.holds else item.no) or item.record

    def _call(self, tool: str) -> str:
        return json.dumps({"tool": tool, "arguments": {"record": self._item.record}})


def is_done(trace: Sequence[Step]) -> bool:
    """Whether the last change of the record was to act."""
    return next((step == "act" for step in reversed(trace) if step != "look"), False)


class Pressing(RulePlayer):
    """`person=pressing`: a script that asks again in other words while it is not done, and thanks when it is."""

    def __init__(self) -> None:
        super().__init__(Identity("rule", "pressing", revision="1"))

    async def answer(self, request: Request) -> Reply:
        """The next line of the item."""
        if not isinstance(request.answer_format, Schema) or not request.answer_format.key:
            raise UsageError("'pressing' only plays the person of helpdesk; bind this role to a model.")
        return Reply(json.dumps(request.answer_format.key, ensure_ascii=False))


class _Spoken(Struct, frozen=True, forbid_unknown_fields=True):
    words: str


class _Read(Struct, frozen=True, forbid_unknown_fields=True):
    answer: Said


async def play_case(item: Case, session: Session) -> Done:
    """The talk to its end: when the person has pressed as often as they do, thanked, or met too many bad calls."""
    ledger, talk = Ledger(item), list[tuple[str, str]]()
    box = Toolbox(session, item.tools, ledger.run, item.language)
    messages = [system(session.prompts.render("subject", item.language, duty=item.duty))]
    messages += [speaker(words) for speaker, words in zip((user, assistant), item.before, strict=False)]
    words = item.opening
    pressed, thanked = 0, False
    while True:
        messages.append(user(words))
        talk += [("person", words), ("subject", await box.speak(SUBJECT, messages, ledger.right_reply))]
        if box.over or thanked or pressed == len(item.presses):
            break
        thanked = is_done(ledger.trace)
        if thanked:
            words = await _next_words("thank", item.thanks, item, tuple(talk), session)
        else:
            words = await _next_words("press", item.presses[pressed], item, tuple(talk), session)
            pressed += 1
    said: Said = ""
    if item.question and session.has_role(JUDGE):
        said = await _read(item, tuple(talk), session)
    session.note("end", done=is_done(ledger.trace), calls=list(ledger.trace), bad=box.bad.total(), said=said)
    return Done(tuple(talk), tuple(ledger.trace), session.identity_of(PERSON), said, dict(box.bad), box.over)


async def _next_words(prompt: str, line: str, item: Case, talk: Talk, session: Session) -> str:
    """What the person says next, by a script the line; they see what was said, but no call and no ledger."""
    asked = _ask_about(prompt, item, talk, session, brief=item.brief)
    found, _ = await ask_json(
        session,
        PERSON,
        [user(asked)],
        Schema(object_schema(texts("words")), "words", {"words": line}),
        _Spoken,
        item.language,
        sampling=_PERSON_SAMPLING,
        problem=lambda reply: "" if reply.words.strip() else "the words are empty",
    )
    return found.words.strip()


async def _read(item: Case, talk: Talk, session: Session) -> Said:
    """What the subject said about the fact, by a reader who sees the talk alone."""
    options = f"yes: {item.yes}\nno: {item.no}"
    asked = _ask_about("closing", item, talk, session, question=item.question, options=options)
    schema = object_schema(answer={"type": "string", "enum": ["yes", "no", "unclear"]})
    found, _ = await ask_json(
        session, JUDGE, [user(asked)], Schema(schema, "closing"), _Read, item.language, sampling=_JUDGE_SAMPLING
    )
    session.note("closing", said=found.answer, true="yes" if item.holds else "no")
    return found.answer


def _ask_about(prompt: str, item: Case, talk: Talk, session: Session, **values: str) -> str:
    """A prompt with the talk so far, what the subject said as a quotation."""
    own, other = (session.prompts.render(heading, item.language) for heading in ("own", "other"))
    mark = mark_of(item.id, item.brief, *(words for _, words in talk))
    told = transcript(talk, mark, own=own, other=other)
    return session.prompts.render(prompt, item.language, mark=mark, talk=told, **values)
