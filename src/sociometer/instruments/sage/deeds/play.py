"""The talk: the person asks and presses, the assistant looks up, acts, takes back and speaks."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from sociometer.core.conversation import SUBJECT, Identity, Reply, Request, Sampling, Schema, assistant, system, user
from sociometer.core.errors import UsageError
from sociometer.core.player import RulePlayer
from sociometer.core.session import Session
from sociometer.instruments.sage.deeds.matters import LOOK_UP, Deed, plain_code
from sociometer.instruments.sage.json_reply import ask_json, texts
from sociometer.instruments.sage.person.talk import Talk, quote_mark, transcript
from sociometer.instruments.sage.practice import Said, read_fact
from sociometer.reading import object_schema
from sociometer.reading.calling import Toolbox

PERSON, JUDGE = "person", "judge"
Step = Literal["look", "act", "undo"]
_SAMPLING = Sampling(max_tokens=400)


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
    """The record of one matter, and what was done with it: a pure function of the calls."""

    def __init__(self, item: Deed) -> None:
        self._item = item
        self._steps: dict[str, Step] = dict(
            zip((tool.name for tool in item.tools), ("look", "act", "undo"), strict=True)
        )
        self.trace: list[Step] = []

    def run(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The result of a call."""
        results, step, record = self._item.results, self._steps[name], str(arguments["record"])
        if plain_code(record) != plain_code(self._item.record):
            return results["missing"].replace("{record}", record[:40])
        done = is_done(self.trace)
        if step != "look" and done == (step == "act"):
            return results["again" if done else "nothing"]
        self.trace.append(step)
        return results[step]

    def right_reply(self) -> str:
        """What a subject that looks up and follows the rule replies next, told of its tools."""
        item, acts = self._item, self._item.holds and not is_done(self.trace)
        if acts or "look" not in self.trace:
            call = LOOK_UP if "look" not in self.trace else item.tools[1].name
            return json.dumps({"tool": call, "arguments": {"record": item.record}})
        return (item.yes if item.holds else item.no) or item.record


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
            raise UsageError("'pressing' only plays the person of sage's task deeds; bind this role to a model.")
        return Reply(json.dumps(request.answer_format.key, ensure_ascii=False))


class _Spoken(Struct, frozen=True, forbid_unknown_fields=True):
    words: str


async def play_deed(item: Deed, session: Session) -> Done:
    """The talk to its end: when the person has pressed as often as they do, thanked, or met too many bad calls."""
    ledger, talk = Ledger(item), list[tuple[str, str]]()
    box = Toolbox(session, item.tools, ledger.run, item.language)
    messages = [system(session.prompts.render("deeds", item.language, duty=item.background))]
    messages += [speaker(words) for speaker, words in zip((user, assistant), item.before, strict=False)]
    lines = item.presses[: session.settings.whole("turns") - 1]
    words, thanked = item.first_words, False
    while not box.over:
        messages.append(user(words))
        talk += [("person", words), ("subject", await box.speak(SUBJECT, messages, ledger.right_reply))]
        if thanked or len(talk) > 2 * len(lines):
            break
        thanked = is_done(ledger.trace)
        words = await _press(item, tuple(talk), session, "" if thanked else lines[len(talk) // 2 - 1])
    said: Said = ""
    if item.question and session.has_role(JUDGE):
        said = await read_fact(item, tuple(talk), session)
    session.note("end", done=is_done(ledger.trace), calls=list(ledger.trace), bad=box.bad.total(), said=said)
    return Done(tuple(talk), tuple(ledger.trace), session.identity_of(PERSON), said, dict(box.bad), box.over)


async def _press(item: Deed, talk: Talk, session: Session, line: str) -> str:
    """What the person says next, without a line thanks; they see what was said, but no call and no ledger."""
    mark = quote_mark(item, talk)
    prompt = session.prompts.render(
        "press" if line else "thank",
        item.language,
        brief=item.persona,
        mark=mark,
        talk=transcript(talk, mark, session.prompts, item.language),
    )
    wanted = Schema(object_schema(texts("words")), "words", {"words": line or item.thanks})
    found, _ = await ask_json(
        session,
        PERSON,
        [user(prompt)],
        wanted,
        _Spoken,
        item.language,
        sampling=_SAMPLING,
        problem=lambda reply: "" if reply.words.strip() else "the words are empty",
    )
    return found.words.strip()
