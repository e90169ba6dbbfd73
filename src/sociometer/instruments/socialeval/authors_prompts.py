"""The authors' prompts from their module, and the story written as their runner writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from sociometer.core.conversation import Choice
from sociometer.core.settings import PAPER, Settings
from sociometer.core.source import AuthorsPrompt
from sociometer.instruments._authors import from_format, python_text
from sociometer.instruments.socialeval.worldtree import Line, Person

FILE = "socialeval/evalprompt.py"
GOALS, ABILITIES, REPLY = f"{PAPER}/goals", f"{PAPER}/abilities", f"{PAPER}/reply"
_CONSTANTS = {
    GOALS: "Ending_Evaluation_Prompt_zhou",
    ABILITIES: "Skill_Evaluation_Prompt_zhou",
    REPLY: "Response_Prompt",
}
_TASKS = {"goals": (GOALS,), "abilities": (ABILITIES,), "utterances": (REPLY, GOALS)}
_SUFFIX = {"zh": "", "en": "_en"}
_STORY = frozenset(("character_name", "user_profile", "dialogue_context"))
_PLACEHOLDERS = {
    GOALS: _STORY | {"main_profile", "choices"},
    ABILITIES: _STORY | {"public", "private", "goal", "question", "choices"},
    REPLY: _STORY | {"main_profile", "len", "social_skill"},
}
_NARRATOR = "旁白"
"""The speaker of lines without one; the authors' runner writes it in both languages."""


def authors_prompts(settings: Settings, tasks: Sequence[str]) -> Iterator[AuthorsPrompt]:
    """Yield the prompts that the tasks need, in the languages of the settings."""
    language = settings.text("language")
    for one in ("en", "zh") if language == "both" else (language,):
        for name in dict.fromkeys(name for task in tasks for name in _TASKS.get(task, ())):
            read = partial(read_constant, name=_CONSTANTS[name] + _SUFFIX[one])
            yield AuthorsPrompt(name, _PLACEHOLDERS[name], FILE, read, language=one)


def read_constant(path: Path, *, name: str) -> str:
    """Return a constant of the authors' module with our placeholders."""
    return from_format(python_text(path, name)).strip()


def goal_values(people: Sequence[Person], lines: Iterable[Line]) -> dict[str, str]:
    """The values for the prompts of goals and replies: profiles as JSON, the others in one text."""
    me = people[0]
    others = "\n".join(f"{other.name}: {other.public}" for other in people[1:])
    profile = {"name": me.name, "public": me.public, "private": me.private, "goal": me.goal}
    return {
        "character_name": me.name,
        "main_profile": _json(profile),
        "user_profile": _json(others),
        "dialogue_context": "".join(f"{line.speaker or _NARRATOR}: {line.text}\n" for line in lines),
    }


def ability_values(people: Sequence[Person], lines: Iterable[Line], question: str) -> dict[str, str]:
    """The values for the prompt of an ability question."""
    me = people[0]
    return {
        "character_name": me.name,
        "public": me.public,
        "private": me.private,
        "goal": me.goal,
        "user_profile": str([{"name": other.name, "info": other.public} for other in people[1:]]),
        "dialogue_context": "\n".join(f"{line.speaker or 'system'}: {line.text}" for line in lines),
        "question": question,
    }


def goal_options(choice: Choice, speaker: str) -> str:
    """The options of a choice, each said by the protagonist."""
    return "\n".join(
        f"{label}: {speaker}: {option}" for label, option in zip(choice.labels, choice.options, strict=True)
    )


def ability_options(choice: Choice) -> str:
    """The options of an ability question."""
    return "\n".join(f"{label}. {option}" for label, option in zip(choice.labels, choice.options, strict=True))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
