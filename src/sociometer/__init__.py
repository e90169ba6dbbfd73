"""Sociometer measures the social intelligence of language models.

import sociometer as sm

run = sm.run("sesi", model="openai/gpt-4o-mini", limit=20)
run.summary()
"""

# ruff: noqa: F405
from importlib import import_module
from typing import TYPE_CHECKING

from sociometer.core.version import __version__ as __version__

if TYPE_CHECKING:
    from sociometer.api import *  # noqa: F403
    from sociometer.core.command import CommandContext
    from sociometer.core.conversation import Reply
    from sociometer.core.errors import SociometerError
    from sociometer.engine.progress import RunEvent
    from sociometer.engine.run_options import RunOptions
    from sociometer.results.choice import ChosenRuns
    from sociometer.results.runs import Comparisons, Gate, Rankings
    from sociometer.store.stored_run import StoredRun

__all__ = [
    "ChosenRuns", "CommandContext", "Comparisons", "Gate", "Rankings", "Reply", "Reproduction",
    "RunEvent", "RunOptions", "SociometerError", "StoredRun", "arun", "check", "choose", "compare", "export", "figures",
    "frame", "gate", "get_run", "list_instruments", "list_models", "paper", "reliability", "report",
    "reproduce", "resume", "run", "runs", "study",
]  # fmt: skip

_ELSEWHERE = {
    "ChosenRuns": "results.choice", "CommandContext": "core.command", "Comparisons": "results.runs",
    "Gate": "results.runs", "Rankings": "results.runs", "Reply": "core.conversation", "RunEvent": "engine.progress",
    "RunOptions": "engine.run_options", "SociometerError": "core.errors", "StoredRun": "store.stored_run",
}  # fmt: skip


def __getattr__(name: str) -> object:
    """Imports a name on first use, so that commands start fast."""
    if name not in __all__:
        if instead := import_module("sociometer.core.gone").taken_away("function", name):
            raise AttributeError(f"module 'sociometer' has no attribute '{name}': {instead}")
        raise AttributeError(f"module 'sociometer' has no attribute '{name}'; it has: {', '.join(__all__)}")
    return getattr(import_module(f"sociometer.{_ELSEWHERE.get(name, 'api')}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
