"""The exchange between a session and a player: messages, requests, replies, and their transcript."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from random import Random
from string import ascii_uppercase
from typing import Any, Literal

from msgspec import DecodeError, Struct, field, json, structs
from msgspec.structs import force_setattr

from sociometer.core.tools import CallText, Tool, ToolCall, read_content, shown_calls

SUBJECT = "subject"
"""The role that is measured."""


class Choice(Struct, frozen=True, tag="choice"):
    """One of several options, answered by its label."""

    options: tuple[str, ...]
    labels: tuple[str, ...] = ()
    key: int | None = None

    def __post_init__(self) -> None:
        if not self.labels:
            force_setattr(self, "labels", tuple(ascii_uppercase[: len(self.options)]))
        if len(self.labels) != len(self.options):
            raise ValueError(f"{len(self.options)} options but {len(self.labels)} labels")


class Allocation(Struct, frozen=True, tag="allocation"):
    """A total that is shared among several options."""

    options: tuple[str, ...]
    total: float = 10
    key: tuple[float, ...] | None = None


class Schema(Struct, frozen=True, tag="schema"):
    """A JSON object that satisfies a JSON schema."""

    schema: dict[str, Any]
    name: str = "reply"
    key: dict[str, Any] | None = None


class Free(Struct, frozen=True, tag="free"):
    """Free text."""

    key: str | None = None


AnswerFormat = Choice | Allocation | Schema | Free


Speaker = Literal["system", "user", "assistant", "text", "calls", "result"]
"""`text` is a text to be continued as it is, without a chat template; it is then the only message of its request.
`calls` is a reply with calls of tools, and `result` the answer to one of them (`core/tools.py`)."""


class Message(Struct, frozen=True):
    """One utterance as a chat model sees it, or the text that a base model continues."""

    role: Speaker
    content: str

    @property
    def shown(self) -> str:
        """The message as a transcript shows it."""
        with suppress(DecodeError):
            if self.role in ("calls", "result"):
                said = read_content(self.content)
                return shown_calls(said.text, said.calls if self.role == "calls" else ())
        return self.content


system, user, assistant = partial(Message, "system"), partial(Message, "user"), partial(Message, "assistant")
"""A message of this speaker, from its content; an `assistant` is the model itself."""
text = partial(Message, "text")
"""A text for a base model to continue."""


class Sampling(Struct, frozen=True, omit_defaults=True):
    """Sampling parameters of a reply; None means the server's default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    server_default: bool = False
    """As an override: send no temperature, top-p or seed, for models that reject them."""

    def overridden_by(self, other: "Sampling") -> "Sampling":
        """These parameters, replaced by those that `other` sets."""
        base = structs.replace(self, temperature=None, top_p=None, seed=None) if other.server_default else self
        chosen = {name: value for name, value in structs.asdict(other).items() if value is not None and value != ()}
        return structs.replace(base, **{**chosen, "server_default": False})

    def without(self, names: frozenset[str]) -> "Sampling":
        """These parameters without the named ones."""
        return structs.replace(self, **dict.fromkeys(names)) if names else self


_MOST_TOKENS = 10**9


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens read and written; None if the server did not report them."""

    input_tokens: int | None = None
    output_tokens: int | None = None


def token_count(value: object) -> int | None:
    """The number of tokens that was reported; None if it cannot be one: negative, not whole, above 10^9, no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None


OTHER_FINISH = "other: "
"""How the finish of a reply begins whose server gave a reason that we do not know; its name follows."""


class Reply(Struct, frozen=True, omit_defaults=True):
    """A reply: the answer as `text`, and the reasoning apart from it."""

    text: str  # The answer.
    reasoning: str = ""  # What the model thought before it, if the server tells.
    usage: Usage = Usage()  # The tokens read and written; None where they are unknown.
    finish: str = "stop"  # Why it ended: `stop`, `length`, …
    served_model: str = ""  # The name of the model as the server reports it.
    sampling: Sampling | None = None  # The sampling parameters that were sent; None if the player is a program.
    seconds: float | None = None  # The time from sending the request to the reply; None if it was not measured.
    served_version: str = ""  # The version of the model or the server as the server reports it.
    calls: tuple[ToolCall, ...] = ()  # The tools that it calls, of those that the request offered.
    echo: str = ""  # What the server wants back with the next request, as JSON in its own format.

    @property
    def shown(self) -> str:
        """The reply as a transcript shows it: its text and calls."""
        return shown_calls(self.text, self.calls)


def spoken(reply: Reply, before: Iterable[Message]) -> Message:
    """The reply as a message of the model itself, after the messages before; its calls are numbered in the talk."""
    if not (reply.calls or reply.echo):
        return assistant(reply.text)
    first = sum(message.role == "result" for message in before)
    # Nine letters and digits: Mistral accepts no other ids.
    calls = tuple(structs.replace(call, id=f"call{number:05d}") for number, call in enumerate(reply.calls, first))
    return Message("calls", str(CallText(reply.text.encode("utf-8", "replace").decode(), calls, reply.echo)))


def result(call: ToolCall, text: str) -> Message:
    """The answer to a call of a message of `spoken`."""
    return Message("result", str(CallText(text, (structs.replace(call, arguments=""),))))


class Identity(Struct, frozen=True, omit_defaults=True):
    """The identity of a player in the journal.

    `certain` is false if the weights behind a name may change (a user's own server without a revision); then only
    `resume` reuses replies. `stand_in` marks players that must not be mistaken for a real model.
    """

    wire: str
    name: str
    base_url: str = ""
    revision: str = ""
    certain: bool = True
    stand_in: bool = False
    fields: str = ""
    """The digest of the fields that the user adds to requests."""

    @property
    def endpoint(self) -> str:
        """The key of players that share one limit on requests in flight."""
        return self.base_url or f"{self.wire}/{self.name}"


class Request(Struct, frozen=True):
    """One request to a player.

    `answer_format` and `view` are for players that are programs: the format of the expected answer, and the
    instrument's own record of the situation. Neither the format's key nor the view is ever sent to a model.
    """

    role: str
    messages: tuple[Message, ...]
    answer_format: AnswerFormat = field(default_factory=Free)
    sampling: Sampling = Sampling()
    view: Struct | None = None
    rng: Random = field(default_factory=lambda: Random(0))
    task: str = ""
    item: str = ""
    turn: int = 0
    """How often this role was asked before in this play of the item."""
    tools: tuple[Tool, ...] = ()
    """The tools that the reply may call."""

    @property
    def plain_text(self) -> str | None:
        """The text to be continued as it is; None for a conversation."""
        return self.messages[0].content if self.messages and self.messages[0].role == "text" else None


class Exchange(Struct, frozen=True, omit_defaults=True, tag="exchange"):
    """One request and its reply."""

    role: str
    model: str
    messages: tuple[Message, ...]
    reply: Reply
    branch: str = ""
    key: bytes = b""
    """The journal key of the reply; empty for players whose replies follow from the request."""
    limit: int = 0
    """The token limit that the reply reached; 0 if it reached none."""

    def __repr__(self) -> str:
        return f"[to {self.role}] {self.messages[-1].shown if self.messages else ''}\n[{self.model}] {self.reply.shown}"


class Noted(Struct, frozen=True, omit_defaults=True, tag="noted"):
    """A fact that the instrument added to the transcript."""

    kind: str
    facts: dict[str, Any]
    branch: str = ""


Event = Exchange | Noted


class Transcript(tuple[Event, ...]):
    """The requests, replies and notes of one item, in order; it prints as a conversation."""

    def __repr__(self) -> str:
        return "\n".join(transcript_lines(self)).strip()


def with_new_messages(events: Iterable[Event]) -> Iterator[tuple[Event, tuple[Message, ...]]]:
    """Each event with those of its messages that its role has not received before in the same branch."""
    known: dict[tuple[str, str], tuple[Message, ...]] = {}
    for event in events:
        if isinstance(event, Exchange):
            before = known.get((event.role, event.branch), ())
            yield event, event.messages[len(before) if event.messages[: len(before)] == before else 0 :]
            known[event.role, event.branch] = (*event.messages, spoken(event.reply, event.messages))
        else:
            yield event, ()


def transcript_lines(events: Iterable[Event]) -> Iterator[str]:
    """The transcript as text; messages that a role already received are not repeated."""
    for event, messages in with_new_messages(events):
        place = f" ({event.branch.strip('/')})" if event.branch else ""
        if not isinstance(event, Exchange):
            texts = {k: v if isinstance(v, str) else json.encode(v).decode() for k, v in event.facts.items()}
            facts = "  ".join(f"{key}: {text}" for key, text in texts.items())
            yield f"  · {event.kind}{place}  {facts}"
            continue
        for message in messages:
            yield ""
            yield f"[{message.role} to {event.role}{place}]"
            yield message.shown
        yield ""
        if event.reply.reasoning:
            yield f"[{event.role}{place} thinks]"
            yield event.reply.reasoning
        yield f"[{event.role}{place}: {event.model}]"
        yield event.reply.shown
