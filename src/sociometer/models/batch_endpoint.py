"""Batches: many requests in one file, answered within a day at a lower price; the same steps for every provider."""

from urllib.parse import quote

from sociometer.core.errors import UNREACHABLE, MachineryError

ENDED_EARLY = "batch ended"


def certainly_not_created(error: MachineryError) -> bool:
    """Whether an error of `create` means that there is no batch: the server was not reached, or it refused."""
    return error.kind == UNREACHABLE or error.tokens == (0, 0)


def ended_early(why: str) -> MachineryError:
    """The error for a request that a batch left unanswered; such requests cost nothing."""
    return MachineryError(f"the batch ended without an answer: {why}.", ENDED_EARLY, retryable=True, tokens=(0, 0))


def path_part(name: str) -> str:
    """A server's id, quoted as one part of a path."""
    return quote(name, safe="")
