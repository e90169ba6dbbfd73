"""Official files, bundled rules and seeds -> the scenes of each static scenario."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sociometer.core.errors import DataError
from sociometer.core.source import Source
from sociometer.instruments.egosocial.scene import Scene, Telling
from sociometer.instruments.egosocial.stories.pairs import generated_scenes, tomi_scenes
from sociometer.instruments.egosocial.stories.tomi import read_archive
from sociometer.instruments.egosocial.tombench.convert import Converted, read_conversions
from sociometer.instruments.egosocial.tombench.first_person import first_person, shipped
from sociometer.instruments.egosocial.tombench.release import TomBenchQuestion, read_file, read_folder, role_of
from sociometer.instruments.egosocial.worlds.counterfactual import (
    COUNTERFACT,
    SOCIALFIRST,
    first_person_scenes,
    official_scenes,
    twin_scenes,
)
from sociometer.instruments.egosocial.worlds.customs import custom_scenes, world_scenes

TOMI = "tomi/tomi_balanced_story_types.zip"
TOMBENCH = "tombench"
NEW_WORLD = "tombench/Knowledge-Pretend Play Links.jsonl"
GARBLED = ("tombench-knowledge-pretend-play-links-027",)
"""Converted for New World only: the release takes the robot's name for that of its home."""


def tomi(source: Source) -> Iterator[Scene]:
    """ToMi's official questions of one split, in both persons."""
    settings = source.settings
    split = settings.text("split")
    questions = read_archive(source.path(TOMI), split)
    return tomi_scenes(questions, split, settings.text("selection"), settings.text("you"))


def generated(source: Source) -> Iterator[Scene]:
    """Generated stories from the run's seed."""
    settings = source.settings
    return generated_scenes(source.seed, settings.whole("stories"), settings.texts("tier"), settings.text("language"))


def counterfactual(source: Source) -> Iterator[Scene]:
    """Our counterfactual rules with their factual versions."""
    return twin_scenes(source.seed)


def counterfactual_official(source: Source) -> Iterator[Scene]:
    """The authors' counterfactual file."""
    return official_scenes(source.path(COUNTERFACT))


def socialfirst(source: Source) -> Iterator[Scene]:
    """The authors' first-person ToMBench file."""
    return first_person_scenes(source.path(SOCIALFIRST))


def customs(source: Source) -> Iterator[Scene]:
    """Customs to be inferred from scenes, from the run's seed."""
    return custom_scenes(source.seed, source.settings.whole("societies"), source.settings.text("language"))


def worlds(source: Source) -> Iterator[Scene]:
    """Our stories of invented worlds."""
    return world_scenes()


def newworld(source: Source) -> Iterator[Scene]:
    """The paper's New World: one file of ToMBench, all of it in the first person."""
    questions = list(read_file(source.path(NEW_WORLD)))
    converted = _shipped(questions, "en")
    for question in questions:
        first = converted[question.id]
        yield Scene(
            id=question.id.replace("tombench-knowledge-pretend-play-links", "newworld"),
            cluster=question.cluster,
            tellings=(
                Telling("newworld", first.story, first.question, first.options, question.answer, system="system_first"),
            ),
            facets={"release": "garbled" if question.id in GARBLED else "sound"},
            ego=first.ego,
        )


def tombench(source: Source) -> Iterator[Scene]:
    """ToMBench in one language: what is converted, in both persons; with `--perspective third` all of it in the third.

    Without `--converted FILE` the conversions that come with Sociometer are used.
    """
    language = source.settings.text("language")
    everything = source.settings.text("perspective") == "third"
    questions = list(read_folder(source.path(TOMBENCH)))
    given = source.settings.text("converted")
    converted = _conversions(given, language) if given else _shipped(questions, language)
    converted = {name: line for name, line in converted.items() if name not in GARBLED}
    unknown = set(converted) - {question.id for question in questions}
    if unknown:
        raise DataError(
            f"{len(unknown)} conversions do not match a released question, such as '{min(unknown)}'; give the "
            "file that 'build' wrote for this release",
            source.settings.text("converted"),
        )
    for question in questions:
        if everything or question.id in converted:
            yield _tombench_scene(question, language, converted.get(question.id))


def _shipped(questions: Sequence[TomBenchQuestion], language: str) -> dict[str, Converted]:
    """Our readers' conversions of the available questions, by the question's id."""
    here = {question.id for question in questions}
    lines = [line for line in shipped(language) if line.id in here]
    return {name: line for (name, _), line in first_person(lines, questions).items()}


def _conversions(given: str, language: str) -> dict[str, Converted]:
    """The conversions of a file in one language, by the question's id; a file without any raises an error."""
    if not Path(given).is_file():
        raise DataError("no such file of conversions; make one with 'sociometer egosocial build'", given)
    lines = read_conversions(Path(given))
    found = {name: line for (name, spoken), line in lines.items() if spoken == language}
    if not found:
        others = ", ".join(sorted({spoken for _, spoken in lines})) or "no language: it is empty"
        raise DataError(
            f"no conversion in '{language}'; the file is in {others}. Give --language or another file", given
        )
    return found


def _tombench_scene(question: TomBenchQuestion, language: str, converted: Converted | None) -> Scene:
    words = question.wording(language)
    role = converted or role_of(question, language)
    tellings = [Telling("third", words.story, words.question, words.options, question.answer)]
    if converted is not None:
        if len(converted.options) != len(words.options):
            raise DataError(f"{question.id}: {len(converted.options)} options converted, {len(words.options)} released")
        tellings.append(Telling("first", converted.story, converted.question, converted.options, question.answer))
    facets = {
        "ability": question.ability,
        "test": question.test,
        "options": str(len(words.options)),
        "measures": role.measures or "nobody named",
    }
    return Scene(
        id=f"{question.id}-{language}",
        cluster=question.cluster,
        tellings=tuple(tellings),
        facets=facets,
        language=language,
        ego=role.ego,
    )
