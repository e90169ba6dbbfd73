"""The reason why a reply ended, with the same names for every wire format; a reason that means an error is one."""

import re
from pathlib import Path

from sociometer.core.conversation import OTHER_FINISH, Reply, Usage
from sociometer.core.errors import FailureKind, Filtered, MachineryError
from sociometer.core.language import read_texts

STOP, LENGTH, FILTERED = "stop", "length", "content_filter"
REFUSAL, TOOL_CALLS, ERROR = "refusal", "tool_calls", "error"

_NAME = re.compile("[A-Za-z][A-Za-z_ -]{0,39}")
"""What may be a reason's name; a cut-off one could be part of a key."""
_MEANT = read_texts(Path(__file__).with_name("finish_reasons.toml"))
_WORDS = {word: meant for meant, words in _MEANT.items() for word in words}


def filtered_reply(error: Filtered) -> Reply:
    """The reply for a request that the provider's content filter rejected."""
    return Reply("", usage=Usage(*(error.tokens or (None, None))), finish=FILTERED)


def finish_of(reason: str | None, text: str, *, called: bool = False) -> str:
    """One of the reasons above for a server's finish reason; `called` says that the reply has a tool call.

    An unknown reason of a reply with a text is `other` with its name. Raises a MachineryError if the reason means an
    error, or if it is unknown and there is no text.
    """
    meant = _WORDS.get(reason.lower()) if reason else STOP
    if meant == ERROR:
        said = f"the server ended the reply with the finish reason '{reason}'."
        raise MachineryError(said, FailureKind.SERVER_ERROR, retryable=True)
    if called or meant is not None:
        return TOOL_CALLS if called else meant or STOP
    name = reason if reason and _NAME.fullmatch(reason) else "not a name"
    if not text.strip():
        said = f"the server sent no text and an unknown finish reason ({name})."
        raise MachineryError(said, FailureKind.EMPTY_REPLY, retryable=True)
    return f"{OTHER_FINISH}{name}"


_CLOSINGS = {"<think>": "</think>", "<thinking>": "</thinking>", "<reasoning>": "</reasoning>", "[THINK]": "[/THINK]"}


def split_reasoning(text: str) -> tuple[str, str]:
    """The answer and the reasoning of a text that may begin with marked reasoning.

    Some chat templates write the opening mark into the prompt, so a closing mark alone ends reasoning as well; an
    opening mark that is never closed means that the reply was cut off while thinking.
    """
    if "<" not in text and "[" not in text:
        return text, ""
    begun = text.lstrip()
    for opening, closing in _CLOSINGS.items():
        if begun.startswith(opening):
            thought, closed, answer = begun[len(opening) :].partition(closing)
            return (answer.strip() if closed else ""), thought.strip()
    if "</think>" in text:
        thought, _, answer = text.partition("</think>")
        return answer.strip(), thought.strip()
    return text, ""
