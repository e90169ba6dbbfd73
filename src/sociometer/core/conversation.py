"""What passes between a session and whoever answers: messages, requests, replies, and the transcript of them."""

from collections.abc import Sequence
from random import Random
from typing import Any, Literal, Protocol

from msgspec import Struct, field, structs

from sociometer.core.answer_format import AnswerFormat, Free

Speaker = Literal["system", "user", "assistant"]


class Message(Struct, frozen=True):
    """One utterance as a chat model sees it."""

    role: Speaker
    content: str


def system(content: str) -> Message:
    """A system message."""
    return Message("system", content)


def user(content: str) -> Message:
    """A user message."""
    return Message("user", content)


def assistant(content: str) -> Message:
    """A message the model itself is held to have said."""
    return Message("assistant", content)


class Sampling(Struct, frozen=True, omit_defaults=True):
    """How a reply is drawn; None leaves the server's default in place."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    logprobs: int | None = None
    server_default: bool = False
    """As an override: leave temperature, top-p and seed to the server, for models that refuse any."""

    def overridden_by(self, other: "Sampling") -> "Sampling":
        """These parameters, with each one that `other` sets put in its place."""
        base = structs.replace(self, temperature=None, top_p=None, seed=None) if other.server_default else self
        chosen = {name: value for name, value in structs.asdict(other).items() if value is not None and value != ()}
        return structs.replace(base, **{**chosen, "server_default": False})

    def without(self, names: frozenset[str]) -> "Sampling":
        """These parameters less those of these names."""
        return structs.replace(self, **dict.fromkeys(names)) if names else self


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens read and written; None where the server did not report them."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class TokenLogprob(Struct, frozen=True):
    """The log-probability of one written token, with its likeliest rivals."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


class Reply(Struct, frozen=True, omit_defaults=True):
    """A reply: the answer as `text`, and the reasoning apart from it."""

    text: str
    reasoning: str = ""
    usage: Usage = Usage()
    finish: str = "stop"
    served_model: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()


class Identity(Struct, frozen=True, omit_defaults=True):
    """Who answers, as the journal knows it.

    `certain` is false where new weights may stand behind an old name (a user's own server without a revision);
    then only `resume` reuses an answer. `stand_in` marks who must never be mistaken for the real thing.
    """

    wire: str
    name: str
    base_url: str = ""
    revision: str = ""
    certain: bool = True
    stand_in: bool = False

    @property
    def endpoint(self) -> str:
        """What shares one bound on requests in flight."""
        return self.base_url or f"{self.wire}/{self.name}"


class Request(Struct, frozen=True):
    """One thing asked of a player.

    `answer_format` and `view` serve players that are programs: what kind of answer is wanted, and the instrument's own
    record of the situation. Neither the format's key nor the view is ever sent to a model.
    """

    role: str
    messages: tuple[Message, ...]
    answer_format: AnswerFormat = field(default_factory=Free)
    sampling: Sampling = Sampling()
    view: Struct | None = None
    rng: Random = field(default_factory=lambda: Random(0))


class Player(Protocol):
    """Anything that can answer: a model, a rule, a person."""

    @property
    def identity(self) -> Identity: ...

    @property
    def journaled(self) -> bool:
        """Whether its replies cost something and are kept; false for those that follow from the request alone."""
        ...

    async def answer(self, request: Request) -> Reply: ...

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]: ...

    async def close(self) -> None: ...


class Exchange(Struct, frozen=True, omit_defaults=True, tag="exchange"):
    """One request and its reply."""

    role: str
    model: str
    messages: tuple[Message, ...]
    reply: Reply
    branch: str = ""
    key: bytes = b""
    """Where the journal keeps the reply; empty for players whose replies follow from the request."""
    limit: int = 0
    """The limit (tokens) that the reply reached; 0 where it reached none."""


class Noted(Struct, frozen=True, omit_defaults=True, tag="noted"):
    """A fact the instrument added."""

    kind: str
    facts: dict[str, Any]
    branch: str = ""


Event = Exchange | Noted
