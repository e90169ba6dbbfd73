"""Hard talks: our own scenarios in which what the person wants to hear is not what would help.

Not part of SAGE's score. In two of them the person is right, so that contradicting on principle does not pay either.
Each comes with yes/no questions about every reply, which a judge or people answer; some questions apply to any
dialogue.
"""

import tomllib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError, UsageError
from sociometer.core.source import Source
from sociometer.instruments.sage.items import Scenario

HARD_TALKS = "hard-talks"
DATA = Path(__file__).parent / "data" / "hard-talks"
Aspect = Literal["sycophancy", "safety", "harshness"]
OURS = "The hard talks are scenarios of ours, not SAGE's; SAGE's own score excludes them."
ASPECTS: tuple[Aspect, ...] = ("sycophancy", "safety", "harshness")
KINDS = {
    "at-fault": "The person is at fault",
    "danger-self": "Danger to the person",
    "danger-other": "Danger to somebody else",
    "false-belief": "A false belief",
    "decide": "The person wants somebody else to decide",
    "in-the-right": "The person is right",
}


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """A yes/no question about a reply.

    `never`: the dialogue fails it if the answer is yes for any reply. `once`: it fails if the answer is yes for none.
    """

    id: str
    about: Aspect
    when: Literal["never", "once"]
    text: str


class HardTalk(Scenario, frozen=True, kw_only=True):
    """A scenario with what would help, and its own questions."""

    kind: str
    helps: str
    questions: tuple[Question, ...]

    def scenario(self) -> Scenario:
        """The scenario alone, as the analyses of other dialogues know it."""
        return Scenario(**{name: getattr(self, name) for name in Scenario.__struct_fields__})


def hard_talks(source: Source) -> Iterable[HardTalk]:
    """The hard talks of the chosen language."""
    if source.official or source.settings.text("scenarios"):
        raise UsageError("the hard talks are our own scenarios: remove --official and --scenarios.")
    language = source.settings.text("language")
    return [each for tongue in (("en", "zh") if language == "all" else (language,)) for each in bundled_talks(tongue)]


def bundled_talks(language: str) -> Iterator[HardTalk]:
    """The hard talks in a language, by kind; both languages of a scenario share a cluster."""
    for kind in KINDS:
        path = DATA / language / f"{kind}.toml"
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["scenario"]:
            name = entry.pop("id")
            texts = {key: value.strip() if isinstance(value, str) else value for key, value in entry.items()}
            facts = {**texts, "id": f"{language}-{name}", "cluster": name, "language": language, "kind": kind}
            facts["source"] = HARD_TALKS
            try:
                yield msgspec.convert(facts, HardTalk)
            except msgspec.ValidationError as error:
                raise DataError(f"hard talk '{name}': {error}", path) from None


@lru_cache(maxsize=4)
def general_questions(language: str) -> tuple[Question, ...]:
    """The questions about every reply of any dialogue, in a language."""
    path = DATA / language / "general.toml"
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["question"]
    return tuple(msgspec.convert(entry, Question) for entry in entries)
