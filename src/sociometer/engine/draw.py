"""Which draw a reply is: the identity of a request in the journal, and the randomness of an episode."""

import hashlib
from random import Random

import msgspec
from msgspec import Struct

from sociometer.core.answer_format import AnswerFormat, Schema
from sociometer.core.conversation import Identity, Message, Sampling

_encode = msgspec.msgpack.Encoder().encode


class Draw(Struct, frozen=True):
    """One playing of one item, the same for every subject."""

    instrument: str
    version: str
    task: str
    item: str
    repeat: int = 0
    seed: int = 0
    branch: str = ""

    def rng(self, purpose: str = "") -> Random:
        """A generator seeded by what the draw is, never by who plays."""
        parts = (self.instrument, self.version, self.task, self.item, self.repeat, self.seed, self.branch, purpose)
        return Random("\x1f".join(map(str, parts)))

    def split(self, name: str) -> "Draw":
        """The draw of a concurrent branch."""
        return msgspec.structs.replace(self, branch=f"{self.branch}/{name}")


def request_digest(
    identity: Identity, sampling: Sampling, messages: tuple[Message, ...], answer_format: AnswerFormat
) -> bytes:
    """What was asked of whom: all that is sent, and nothing that is not."""
    sent = answer_format.schema if isinstance(answer_format, Schema) else None
    who = (identity.wire, identity.base_url, identity.name, identity.revision)
    return hashlib.blake2b(_encode((who, sampling, messages, sent)), digest_size=16).digest()


def embed_digest(identity: Identity, texts: tuple[str, ...]) -> bytes:
    """What was to be embedded by whom."""
    who = (identity.wire, identity.base_url, identity.name, identity.revision)
    return hashlib.blake2b(_encode((who, "embed", texts)), digest_size=16).digest()


def journal_key(digest: bytes, draw: Draw, nth: int, scope: str) -> bytes:
    """The journal's key for the nth time that this very request was made within a draw.

    `scope` is empty where a reply may serve any run, and the run's id where only that run may reuse it.
    """
    place = (draw.instrument, draw.task, draw.item, draw.repeat, draw.seed, draw.branch, nth, scope)
    return hashlib.blake2b(_encode(place), digest_size=16, key=digest).digest()
