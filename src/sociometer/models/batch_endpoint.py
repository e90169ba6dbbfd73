"""Batches: many requests in one file, answered within a day at a lower price; the same steps for every provider."""

from collections.abc import Callable, Sequence
from typing import Protocol
from urllib.parse import quote

from sociometer.core.conversation import Reply, Request
from sociometer.core.errors import UNREACHABLE, MachineryError

Result = bytes | MachineryError
"""The body of a reply, or why there is none."""
Take = Callable[[str, Result], None]
"""Receives the name of a request and its result."""
ENDED_EARLY = "batch ended"


class BatchEndpoint(Protocol):
    """The batches of one model at its provider."""

    most_requests: int
    """The maximum number of requests in one batch."""
    most_bytes: int
    hours: int
    """The time after which the provider ends a batch, even if it is not finished."""

    def line(self, name: str, request: Request) -> bytes:
        """A request as it is written into the batch, under a name of at most 64 letters and digits."""
        ...

    async def create(self, label: str, lines: Sequence[bytes]) -> str:
        """Create a batch and return its id. `certainly_not_created` tells which errors leave no batch behind."""
        ...

    async def find(self, label: str, names: frozenset[str], since: float, taken: frozenset[str]) -> str:
        """The id of the batch that was created under this label; empty if there is none.

        `names` are those of its requests, `since` is the time before which it cannot have been created, and `taken`
        are the ids of other batches.
        """
        ...

    async def ended(self, batch: str) -> bool:
        """Whether the batch has ended."""
        ...

    async def results(self, batch: str, take: Take) -> MachineryError | None:
        """Give all results of a batch that ended; return the reason if the whole batch failed."""
        ...

    def read(self, body: bytes, request: Request) -> Reply:
        """The reply in the body of a result."""
        ...

    async def cancel(self, batch: str) -> None:
        """Ask the provider to answer no more of a batch."""
        ...


def certainly_not_created(error: MachineryError) -> bool:
    """Whether an error of `create` means that there is no batch: the server was not reached, or it refused."""
    return error.kind == UNREACHABLE or error.tokens == (0, 0)


def ended_early(why: str) -> MachineryError:
    """The error for a request that a batch left unanswered; such requests cost nothing."""
    return MachineryError(f"the batch ended without an answer: {why}.", ENDED_EARLY, retryable=True, tokens=(0, 0))


def path_part(name: str) -> str:
    """A server's id, quoted as one part of a path."""
    return quote(name, safe="")
