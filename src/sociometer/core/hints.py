"""What messages tell the user to type: a command of the shell or a call of Python, with the store that they use."""

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

_WITHOUT_STORE = (("get",), ("help",), ("list",), ("paper", "reproduce"), ("store", "copy"))
"""The commands that work on no store, or name theirs."""
_FUNCTIONS = {
    "runs": "runs", "list": "list_instruments", "list models": "list_models", "run": "run", "resume": "resume",
    "show": "get_run", "compare": "compare",
}  # fmt: skip
"""What does the same in Python, after `import sociometer as sm`."""
_LISTS = {"code": "code", "task": "tasks"}
IN_SCRIPT = re.compile("python/(__main__:|.*<)")  # a function of a script or notebook, a lambda, one inside another
_OF_A_STUDY = {"show": "people", "export": "export('FOLDER')", "norms": "norm('FILE')"}


class _Caller(Struct, frozen=True):
    """How the user calls: from Python or a shell, and what finds the store that they named."""

    python: bool = False
    store: str = ""
    options: tuple[str, ...] = ()


_caller: ContextVar[_Caller | None] = ContextVar("caller", default=None)


@contextmanager
def called(*, python: bool = False) -> Iterator[None]:
    """While this is open, hints are for a shell or for Python; the outermost of several decides."""
    before = _caller.get()
    _caller.set(before or _Caller(python))
    try:
        yield
    finally:
        if before is None:  # the store that an inner call uses stays in the hints of the outer one
            _caller.set(None)


def use_store(store: str, *options: str) -> None:
    """Add to the hints that follow what the user gave to find the store: `--store`."""
    if (known := _caller.get()) is not None:
        _caller.set(_Caller(known.python, store or known.store, (*known.options, *options)))


def in_python() -> bool:
    """Whether the user calls from Python."""
    return (_caller.get() or _Caller()).python


def hint(first: str, *more: object) -> str:
    """The command of `first`, split at spaces, and `more`, quoted for a shell; in Python, the call that does the same.

    Words in capitals are placeholders (`MODEL`). A run of a function that only Python can give is resumed in Python.
    """
    words, caller = (*first.split(), *map(str, more)), _caller.get() or _Caller()
    function = _FUNCTIONS.get(" ".join(words if words[0] == "list" else words[:1]))
    own = ", ".join(word for word in words if words[0] == "resume" and IN_SCRIPT.match(word))
    if (caller.python or own) and function:
        store = [f"store={caller.store!r}"] if caller.store and words[0] != "list" else []
        script = f"  # in the script or notebook that has {own!r}" * bool(own)
        return f"sm.{function}({', '.join([*_arguments(words), *store]).replace('], code=[', ', ')}){script}"
    if caller.python and words[0] == "study" and len(words) > 2 and words[1] in _OF_A_STUDY:
        place = f", store={caller.store!r}" if caller.store else ""
        return f"sm.study({words[2]!r}{place}).{_OF_A_STUDY[words[1]]}"
    storeless = any(words[: len(one)] == one for one in _WITHOUT_STORE)
    storeless |= words[0] == "check" and words[1:2] not in ((), ("store",))  # an instrument, or a file of a run
    options = caller.options or (("--store", caller.store) if caller.store else ())  # Python gives a store without one
    return shlex.join(("sociometer", *words, *(() if storeless else options)))


def install(extra: str) -> str:
    """The command that installs an extra: from the checkout that this is, or of the installed package."""
    with suppress(PackageNotFoundError):
        origin = json.loads(distribution("sociometer").read_text("direct_url.json") or "{}")
        if origin.get("dir_info", {}).get("editable"):
            checkout = Path(unquote(urlsplit(origin["url"]).path))
            return shlex.join(("pip", "install", "-e", f"{'.' if checkout == Path.cwd() else checkout}[{extra}]"))
    return f"pip install 'sociometer[{extra}]'"


def _arguments(words: tuple[str, ...]) -> Iterator[str]:
    """The words of a command as arguments in Python; a placeholder stays as it is."""
    rest = iter(() if words[0] == "list" else words[1:2] if words[0] == "show" else words[1:])
    for word in rest:
        if word == "-o":  # a header, whose value only the user has
            next(rest)
            continue
        name = word.removeprefix("--").replace("-", "_") if word.startswith("--") else ""
        value = word if name in ("", "official") else next(rest)
        if IN_SCRIPT.match(value) and "#" not in value:  # a lambda has no name, and some objects have none
            value = "FUNCTION"
        open_place = len(value) > 1 and value.isupper() and value.isalpha()
        shown = "True" if name == "official" else value if open_place else repr(value)
        yield f"{_LISTS[name]}=[{shown}]" if name in _LISTS else f"{name}={shown}" if name else shown
