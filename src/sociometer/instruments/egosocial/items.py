"""Official files and seeds -> the scenes of stories; those of rules and invented worlds are in `worlds`."""

from collections.abc import Iterator

from sociometer.core.source import Source
from sociometer.instruments.egosocial.scene import Scene, Telling
from sociometer.instruments.egosocial.stories.scenes import generated_scenes
from sociometer.instruments.egosocial.tombench.first_person import Converted, first_person, shipped
from sociometer.instruments.egosocial.tombench.release import TomBenchQuestion, read_file, read_folder
from sociometer.instruments.egosocial.tomi import read_archive, tomi_scenes

TOMI = "tomi/tomi_balanced_story_types.zip"
TOMBENCH = "tombench"
NEW_WORLD = "tombench/Knowledge-Pretend Play Links.jsonl"
GARBLED = ("tombench-knowledge-pretend-play-links-027",)
"""Converted for New World only: the release takes the robot's name for that of its home."""


def tomi(source: Source) -> Iterator[Scene]:
    """ToMi's official questions, in both persons."""
    return tomi_scenes(read_archive(source.path(TOMI)), source.settings.text("selection"))


def generated(source: Source) -> Iterator[Scene]:
    """Generated stories from the run's seed."""
    settings = source.settings
    return generated_scenes(source.seed, settings.whole("stories"), settings.text("language"))


def newworld(source: Source) -> Iterator[Scene]:
    """The paper's New World: one file of ToMBench, all of it in the first person."""
    questions = list(read_file(source.path(NEW_WORLD)))
    converted = first_person(shipped("en"), questions)
    for question in questions:
        first = converted[question.id].texts
        yield Scene(
            id=question.id.replace("tombench-knowledge-pretend-play-links", "newworld"),
            cluster=question.cluster,
            tellings=(
                Telling("newworld", first.story, first.question, first.options, question.answer, system="system_first"),
            ),
            facets={"release": "garbled" if question.id in GARBLED else "sound"},
            ego=converted[question.id].ego,
        )


def tombench(source: Source) -> Iterator[Scene]:
    """ToMBench in one language: what is converted, in both persons; with `--perspective third` all in the third."""
    language = source.settings.text("language")
    everything = source.settings.text("perspective") == "third"
    questions = list(read_folder(source.path(TOMBENCH)))
    found = first_person(shipped(language), questions)
    converted = {name: first for name, first in found.items() if name not in GARBLED}
    for question in questions:
        if everything or question.id in converted:
            yield _tombench_scene(question, language, converted.get(question.id))


def _tombench_scene(question: TomBenchQuestion, language: str, converted: Converted | None) -> Scene:
    words = question.wording(language)
    tellings = [Telling("third", words.story, words.question, words.options, question.answer)]
    if converted is not None:
        first = converted.texts
        tellings.append(Telling("first", first.story, first.question, first.options, question.answer))
    facets = {
        "ability": question.ability,
        "test": question.test,
        "options": str(len(words.options)),
        "measures": converted.measures if converted else "not converted",
    }
    return Scene(
        id=f"{question.id}-{language}",
        cluster=question.cluster,
        tellings=tuple(tellings),
        facets=facets,
        language=language,
        ego=converted.ego if converted else "",
    )
