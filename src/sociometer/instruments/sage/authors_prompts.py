"""The authors' prompts: the two hops of the simulator and the instruction of the subject, from their two modules."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from sociometer.core.settings import PAPER, Settings
from sociometer.core.source import AuthorsPrompt
from sociometer.instruments._authors import from_double_braces, python_text

SIMULATOR_FILE, SUBJECT_FILE = "sage/simulator_response.py", "sage/npc_response.py"
EMOTION, REPLY, TARGET, PLANNING = (f"{PAPER}/{name}" for name in ("emotion", "reply", "target", "planning"))
OWN, OTHER, SUBJECT = (f"{PAPER}/{name}" for name in ("own", "other", "subject"))
_TEXTS: tuple[tuple[str, str, str, frozenset[str]], ...] = (
    (
        EMOTION, SIMULATOR_FILE, "planning_reply.template",
        frozenset(("target", "simulator_role", "simulator_scene", "emotion", "dialog_history")),
    ),
    (
        REPLY, SIMULATOR_FILE, "player_reply.template",
        frozenset(("target", "player_type", "player_topic", "dialog_history", "new_history", "planning", "emotion")),
    ),
    (PLANNING, SIMULATOR_FILE, "player_reply.planning", frozenset(("targetcompletion", "activity", "analyse"))),
    (TARGET, SIMULATOR_FILE, "target_prompt", frozenset()),
    (OWN, SIMULATOR_FILE, "player_reply.mapping.user", frozenset()),
    (OTHER, SIMULATOR_FILE, "player_reply.mapping.assistant", frozenset()),
    (SUBJECT, SUBJECT_FILE, "call_npc.role_system", frozenset()),
)  # fmt: skip
"""Each prompt with the file that has it, its name there, and its placeholders."""


def authors_prompts(settings: Settings, tasks: Sequence[str]) -> Iterator[AuthorsPrompt]:
    """Yield all prompts of a dialogue; they are in Chinese, as the official scenarios are."""
    for name, file, in_file, placeholders in _TEXTS:
        yield AuthorsPrompt(name, placeholders, file, _reader(in_file), language="zh")


def read_text(path: Path, *, name: str) -> str:
    """Return a text of the authors' module with our placeholders."""
    return from_double_braces(python_text(path, name))


def _reader(name: str) -> Callable[[Path], str]:
    return partial(read_text, name=name)
