"""Scenarios: bundled ones of ours, built ones, and the official profiles."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError, UsageError
from sociometer.core.language import EVERY, languages_in
from sociometer.core.settings import is_paper
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.sage.person.emotion import INTENTIONS, intention_of_task
from sociometer.reading import read_lines

BUNDLED = Path(__file__).parent / "data" / "scenarios"
RELEASED = "zh"
"""The language of the release."""
PROFILES = "sage/profiles/simulator_profile_withfirsttalk.jsonl"
_HIDDEN_THEME = re.compile(r"\n#+\s*隐藏主题.*\Z", re.DOTALL)
_AGE = re.compile(r"年龄\**\s*[:：]\**\s*(\d{1,9})")
_OFFICIAL_GOAL = "把这件事跟对方聊一聊。"


class Scenario(Item, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person with a problem; the subject sees only the first words."""

    language: str
    intention: str
    hidden: str
    persona: str
    background: str
    goal: str
    first_words: str
    rises: tuple[str, ...] = ()
    falls: tuple[str, ...] = ()
    calm: str = ""
    uneasy: str = ""
    raw: str = ""
    details: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    age: int | None = None
    topic: str = ""
    source: str = "bundled"
    number: int = 0
    """Unused; runs and files of version 0.3 have their place in the list here."""

    def compared(self) -> Any:
        """All but the place, which runs of version 0.3 have."""
        return msgspec.structs.replace(self, number=0)


class Profile(Struct, frozen=True):
    """A row of the official profile file."""

    id: str
    player: str
    scene: str
    task: str
    first_talk: str
    cha_group: tuple[str, ...] = ()
    topic: str = ""


def scenarios(source: Source) -> Iterable[Scenario]:
    """The scenarios of the settings: a user's file, the official profiles, or the bundled ones."""
    if source.settings.whole("turns") < 1:
        raise UsageError(f"--turns is {source.settings.whole('turns')}; it must be 1 or more.")
    own = source.settings.text("scenarios")
    if own:
        return read_built(Path(own))
    if source.official:
        return read_profiles(source.path(PROFILES), whole_scene=is_paper(source.settings))
    if is_paper(source.settings):
        raise UsageError("the authors' prompts fit their own scenarios; --wording paper needs --official.")
    language = source.settings.text("language")
    spoken = languages_in(BUNDLED) if language == EVERY else (language,)
    return [each for code in spoken for each in bundled(code)]


def known_scenarios(source: Source, language: str) -> Iterator[Scenario]:
    """The bundled scenarios in a language, and the official ones if they are in it and their file is there."""
    yield from bundled(language)
    if language == RELEASED and (path := source.find(PROFILES)) is not None:
        yield from read_profiles(path)


@lru_cache(maxsize=4)
def bundled(language: str) -> tuple[Scenario, ...]:
    """The bundled scenarios in a language, by intention; a scenario and its translations share a cluster."""
    return tuple(
        scenario
        for intention in INTENTIONS
        for scenario in _entries(BUNDLED / language / f"{intention}.toml", language, intention)
    )


def _entries(path: Path, language: str, intention: str) -> Iterator[Scenario]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8")).get("scenario", [])
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"not a file of scenarios: {error}", path) from None
    for number, entry in enumerate(found, 1):
        name = entry.pop("id", "")
        texts = {key: value.strip() if isinstance(value, str) else value for key, value in entry.items()}
        facts = {"id": f"{language}-{name}", "cluster": name, "language": language, "intention": intention}
        try:
            yield msgspec.convert({**texts, **facts}, Scenario)
        except msgspec.ValidationError as error:
            raise DataError(f"scenario {number} ('{name}'): {error}", path) from None


def read_built(path: Path) -> Iterator[Scenario]:
    """The scenarios of a JSON-lines file, as `sociometer sage build` writes it."""
    for number, scenario in read_lines(path, Scenario, "a scenario"):
        if not scenario.first_words.strip():
            raise DataError(
                f"scenario '{scenario.id}' has no first words; the person must open the dialogue", path, number
            )
        yield scenario


def read_profiles(path: Path, *, whole_scene: bool = False) -> Iterator[Scenario]:
    """The official scenarios (Chinese); with `whole_scene` the background keeps the hidden theme at its end."""
    for number, profile in read_lines(path, Profile):
        try:
            scenario = from_profile(profile)
            yield msgspec.structs.replace(scenario, background=profile.scene) if whole_scene else scenario
        except DataError as error:
            raise DataError(str(error), path, number) from None


def from_profile(profile: Profile) -> Scenario:
    """An official profile as a scenario; the hidden theme is removed from the end of the scene."""
    age = _AGE.search(profile.player)
    return Scenario(
        id=profile.id, language=RELEASED, intention=intention_of_task(profile.task), hidden=profile.task.strip(),
        persona=profile.player.strip(), background=_HIDDEN_THEME.sub("", profile.scene).strip(), goal=_OFFICIAL_GOAL,
        first_words=profile.first_talk.strip(), traits=profile.cha_group, age=int(age[1]) if age else None,
        topic=profile.topic, source="official",
    )  # fmt: skip
