"""A Python function as a model: an agent, a pipeline, anything that turns a conversation into a reply."""

import asyncio
import inspect
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from itertools import repeat
from operator import is_
from pathlib import Path
from typing import Any

from sociometer.core.checksums import checksum
from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import FailureKind, MachineryError, SociometerError, UsageError, unknown
from sociometer.core.hints import in_python
from sociometer.core.player import Player

Function = Callable[[list[dict[str, str]]], Any]
"""Takes the messages as `{"role": …, "content": …}` and returns the reply's text or a `Reply`; may be async."""


class PythonPlayer(Player):
    """Calls a function; one that is not async runs in a thread, so that other requests continue meanwhile."""

    parallel = True

    def __init__(self, function: Function, revision: str = "") -> None:
        """Without a `revision` the function may have changed since, so only `resume` reuses its replies."""
        self._function = function
        self.identity = Identity("python", name_of(function), revision=revision, certain=bool(revision))
        file = Path(getattr(sys.modules.get(self.identity.name.partition(":")[0]), "__file__", None) or "")
        self.code_digest = checksum(file) if file.is_file() else ""  # a notebook is no file

    async def answer(self, request: Request) -> Reply:
        """The function's reply; an error it raises is a failure of the machinery, not an answer."""
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        try:
            said = await _called(self._function, messages)
        except SociometerError:
            raise
        except (Exception, SystemExit) as error:  # what an agent's argparse or sys.exit raises is a failed item too
            message = f"{self.identity.name} raised {type(error).__name__}: {error}{_where(error, self._function)}"
            raise MachineryError(message, FailureKind.PYTHON_ERROR) from error
        if isinstance(said, Reply):
            return said
        if not isinstance(said, str):
            message = f"{self.identity.name} returned a {type(said).__name__}; it must return a string or a Reply."
            raise MachineryError(message, FailureKind.PYTHON_ERROR)
        return Reply(said)


def _where(error: BaseException, function: Any) -> str:
    """The last line of the function's own file that an error came through, or of all; or what a function takes."""
    lines = traceback.extract_tb(error.__traceback__)
    made = function if hasattr(function, "__code__") else type(function).__call__
    code = getattr(inspect.unwrap(made), "__code__", None)
    if isinstance(error, TypeError) and lines[-1].filename == __file__:
        return ". A model is a function of one argument, the list of messages, and returns the text of the reply"
    own = [one for one in lines if code and one.filename == code.co_filename] or list(lines)
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


async def _called(function: Any, given: object) -> Any:
    """What a function returns, which may be async; any other runs in a thread."""
    raised: list[BaseException] = []

    def call() -> Any:
        try:
            return function(given)
        except (Exception, SystemExit) as error:  # a future would replace a TimeoutError by one without its line
            raised.append(error)

    said = function(given) if inspect.iscoroutinefunction(inspect.unwrap(function)) else await asyncio.to_thread(call)
    if raised:
        raise raised[0]
    return await said if inspect.isawaitable(said) else said


def name_of(function: Any) -> str:
    """`package.module:function`, which `--model python/…` accepts if the function can be imported.

    An object, a lambda and what a function makes have the name that a module gives them; one that no module names has
    that of its class or its own, in which `<>` shows it.
    """
    if inspect.ismethod(function):
        return f"{name_of(function.__self__)}.{function.__name__}"
    own = getattr(function, "__qualname__", "")
    if own and "<" not in own:
        return f"{function.__module__}:{own}"
    made = function if own else type(function)
    modules = sorted(sys.modules.items(), key=lambda one: (one[0] != made.__module__, one[0] == "__main__"))
    known = ((name, {**getattr(module, "__dict__", {})}) for name, module in modules)
    having = ((module, names) for module, names in known if any(map(is_, names.values(), repeat(function))))
    found = (f"{module}:{name}" for module, names in having for name, value in names.items() if value is function)
    return next(found, f"{made.__module__}:{own or f'<{made.__qualname__}>'}")


def load_function(name: str) -> Function:
    """The function that `package.module:function` names; the working folder is searched after installed packages."""
    module, colon, path = name.partition(":")
    file = module.removesuffix(".py").removeprefix("./").replace("/", ".")
    meant = f"python/{file}:{path}" if module.endswith(".py") and colon else "python/package.module:function"
    names = [*module.split("."), *path.split(".")] if colon else []
    elsewhere = module == "__main__" and not (in_python() or hasattr(sys.modules[module], path.partition(".")[0]))
    if elsewhere or "<" in path:
        meant = "sm.run(INSTRUMENT, FUNCTION) or sm.resume(RUN, code=[FUNCTION]) in the script or notebook that has it"
    if elsewhere or not names or not all(part.isidentifier() for part in names) or module.endswith(".py"):
        raise UsageError(f"'python/{name}' is not a function that can be imported; write {meant}.")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        found: Any = import_module(module)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            files = (one.stem for one in Path.cwd().glob("*.py"))
            raise unknown("module", module, files, "It must be in the working folder or installed.") from None
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = "" if isinstance(error, SyntaxError) else f" ({Path(frame.filename).name}, line {frame.lineno})"
        raise UsageError(f"cannot load 'python/{name}': {type(error).__name__}: {error}{where}.") from error
    for part in path.split("."):
        if not hasattr(found, part):
            offered = (one for one in dir(found) if not one.startswith("_") and callable(getattr(found, one)))
            raise unknown(f"function of {module}", part, offered)
        found = getattr(found, part)
    if not callable(found) or isinstance(found, type):
        kind = "class; name an object of it" if isinstance(found, type) else f"{type(found).__name__}, not a function"
        raise UsageError(f"'python/{name}' is a {kind}.")
    function: Function = found
    return function
