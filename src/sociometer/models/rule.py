"""The base class of players that are programs: an identity, no embeddings, nothing to close."""

from collections.abc import Sequence

from sociometer.core.conversation import Identity
from sociometer.core.errors import MachineryError


class RulePlayer:
    """A player without a server behind it; subclasses add `answer`."""

    journaled = False

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    @property
    def identity(self) -> Identity:
        return self._identity

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._identity.wire}/{self._identity.name})"

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Raise an error: a rule has no embeddings."""
        raise no_embeddings(self._identity)

    async def close(self) -> None:
        """There is nothing to close."""


def no_embeddings(identity: Identity) -> MachineryError:
    """The error of a player that cannot embed texts."""
    return MachineryError(
        f"'{identity.wire}/{identity.name}' gives no embeddings; use a sentence model for this role, such as "
        "--role ROLE=embed/minilm, or an OpenAI-compatible, Google or local model.",
        "no embeddings",
        fatal=True,
    )
