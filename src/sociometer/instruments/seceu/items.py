"""Bundled scenarios and official items -> typed items, one for each prompting method."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError, UsageError
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.seceu import official
from sociometer.instruments.seceu.norm import Norm, read_norm
from sociometer.reading import read_items

BUNDLED = Path(__file__).parent / "data" / "scenarios.jsonl"
TOTAL = 10
METHODS = ("direct", "zero-shot", "zero-shot-steps", "two-shot", "two-shot-steps")
SEVERAL = ("all", "best")
PARAPHRASES = 4


class Scenario(Item, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A story, four feelings, and the standard strength of each."""

    scenario: str
    language: str
    prompting: str
    story: str
    options: tuple[str, str, str, str]
    standard: tuple[float, float, float, float]
    context: str = ""
    direction: str = ""


class Bundled(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of our own file: one scenario in both languages, with its authors' judgement as key."""

    id: str
    context: str
    direction: str
    story: dict[str, str]
    options: dict[str, tuple[str, str, str, str]]
    key: tuple[float, float, float, float]

    def __post_init__(self) -> None:
        if not math.isclose(sum(self.key), TOTAL) or min(self.key) < 0:
            raise ValueError(f"key {self.key} does not add up to {TOTAL} points")


def scenarios(source: Source) -> Iterable[Scenario]:
    """Return the items of the settings: every scenario with every prompting method."""
    methods = asked_methods(source.settings)
    norm = norm_for(source)
    language = source.settings.text("language")
    plain = official_scenarios(source, language) if source.official else bundled_scenarios(language)
    for scenario in plain:
        known = with_norm(scenario, norm)
        for method in methods:
            yield msgspec.structs.replace(known, id=item_id(known.scenario, method), prompting=method)


def asked_methods(settings: Settings) -> tuple[str, ...]:
    """Return the requested prompting methods; `--paraphrases` without the direct prompt raises an error."""
    prompting, paraphrases = settings.text("prompting"), settings.whole("paraphrases")
    if paraphrases > 1 and prompting not in ("direct", *SEVERAL):
        raise UsageError(
            f"--paraphrases {paraphrases} needs the direct prompt, which --prompting {prompting} does not "
            f"use; leave it out, or give --prompting direct, {' or '.join(SEVERAL)}."
        )
    return prompting_methods(prompting, paraphrases)


def prompting_methods(prompting: str, paraphrases: int) -> tuple[str, ...]:
    """Return the prompting methods of a setting, including further wordings of the direct one."""
    if not 1 <= paraphrases <= PARAPHRASES:
        raise DataError(f"--paraphrases {paraphrases} is not available; allowed: 1 to {PARAPHRASES}")
    named = METHODS if prompting in SEVERAL else (prompting,)
    wordings = tuple(f"direct-{number}" for number in range(2, paraphrases + 1))
    return tuple(method for name in named for method in ((name, *wordings) if name == "direct" else (name,)))


def item_id(scenario: str, method: str) -> str:
    """Return the item's id: the scenario's own for the direct prompt, else followed by the prompting method."""
    return scenario if method == "direct" else f"{scenario}@{method}"


def norm_for(source: Source) -> Norm | None:
    """Return the human norm to use: the user's file, else the official one for official items, else none."""
    given = source.settings.text("norm")
    if given:
        return read_norm(Path(given))
    return official.read_official_norm(source) if source.official else None


def with_norm(scenario: Scenario, norm: Norm | None) -> Scenario:
    """Return the scenario with the norm's standard scores instead of its own."""
    if norm is None:
        return scenario
    if scenario.scenario not in norm.standards:
        known = ", ".join(list(norm.standards)[:3])
        raise DataError(f"norm '{norm.name}' has no story '{scenario.scenario}'; it has others ({known}, …)")
    standard = norm.standards[scenario.scenario]
    if len(standard) != len(scenario.options):
        raise DataError(f"norm '{norm.name}' has {len(standard)} standard scores for '{scenario.scenario}', not 4")
    return msgspec.structs.replace(scenario, standard=standard)


def official_scenarios(source: Source, language: str) -> Iterator[Scenario]:
    """Yield the authors' forty items in a language, with their standard scores."""
    standards = official.read_official_norm(source).standards
    for story, name in zip(official.read_stories(source, language), official.IDS, strict=True):
        yield Scenario(
            id=name,
            cluster=name,
            scenario=name,
            language=language,
            prompting="direct",
            story=story.text,
            options=msgspec.convert(story.options, tuple[str, str, str, str]),
            standard=msgspec.convert(standards[name], tuple[float, float, float, float]),
        )


def bundled_scenarios(language: str, path: Path = BUNDLED) -> Iterator[Scenario]:
    """Yield our forty scenarios, or those of another file, in a language, with their authors' judgement as standard."""
    for line in read_items(path, Bundled):
        yield Scenario(
            id=line.id,
            cluster=line.id,
            scenario=line.id,
            language=language,
            prompting="direct",
            story=line.story[language],
            options=line.options[language],
            standard=line.key,
            context=line.context,
            direction=line.direction,
        )
