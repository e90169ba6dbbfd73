"""What messages tell the user to type: a command of the shell or a call of Python, with the store that they use."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

_WITHOUT_STORE = (("get",), ("help",), ("init",), ("list",), ("paper", "reproduce"), ("store", "copy"))
"""The commands that work on no store, or name theirs."""


class _Caller(Struct, frozen=True):
    """How the user calls: from Python or a shell, and what finds the store that they named."""

    python: bool = False
    store: str = ""
    no_project: bool = False


_caller: ContextVar[_Caller | None] = ContextVar("caller", default=None)


@contextmanager
def called(*, python: bool = False) -> Iterator[None]:
    """While this is open, hints are for a shell or for Python; the outermost of several decides."""
    token = _caller.set(_caller.get() or _Caller(python))
    try:
        yield
    finally:
        _caller.reset(token)


def use_store(store: str = "", no_project: bool = False) -> None:
    """Add to the hints that follow what the user gave to find the store: `--store`, `--no-project`."""
    if (known := _caller.get()) is not None:
        _caller.set(_Caller(known.python, store or known.store, no_project or known.no_project))


def in_python() -> bool:
    """Whether the user calls from Python."""
    return (_caller.get() or _Caller()).python


def command_line(first: str, *more: object) -> str:
    """The command of `first`, split at spaces, and `more`, quoted for a shell; in Python, the call that does the same.

    Words in capitals are placeholders (`MODEL`).
    """
    words = (*first.split(), *map(str, more))
    caller = _caller.get() or _Caller()
    if caller.python and (call := _call(words)):
        function, *given = call
        given += [f"store={caller.store!r}"] if caller.store and words[0] != "list" else []
        return f"sm.{function}({', '.join(given)})"
    where: tuple[str, ...] = ()
    if not any(words[: len(one)] == one for one in _WITHOUT_STORE):
        where = (
            *(("--store", caller.store) if caller.store else ()),
            *(("--no-project",) if caller.no_project else ()),
        )
    return shlex.join(("sociometer", *words, *where))


def _call(words: tuple[str, ...]) -> list[str]:
    """The function of `import sociometer as sm` that does what a command does, and its arguments; empty for none."""
    match words:
        case ("runs",):
            return ["runs"]
        case ("list",):
            return ["list_instruments"]
        case ("list", "models"):
            return ["list_models"]
        case ("run", instrument, "--model", model):
            return ["run", _value(instrument), _value(model)]
        case ("resume", run, *options):
            given = list(zip(options[::2], options[1::2], strict=True))
            code = [spec for flag, spec in given if flag == "--code"]
            headers = dict(text.split("=", 1) for flag, text in given if flag == "-o" and "=" in text)
            more = [f"code={code}"] * bool(code) + [f"headers={headers}"] * bool(headers)
            more += ["insecure_http=True"] * (("-o", "insecure-http") in given)
            named = [pair for pair in given if pair[0] not in ("--code", "-o")]
            return [
                "resume",
                _value(run),
                *more,
                *(f"{flag[2:].replace('-', '_')}={_value(one)}" for flag, one in named),
            ]
        case ("show", run):
            return ["get_run", _value(run)]
        case ("compare", *runs):
            return ["compare", *map(_value, runs)]
    return []


def _value(word: str) -> str:
    """A word as an argument; a placeholder stays as it is."""
    return word if word.isupper() and word.isalpha() else repr(word)
