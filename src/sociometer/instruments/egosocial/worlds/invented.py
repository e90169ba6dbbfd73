"""Invented worlds, whose customs are told: one fundamental custom of each differs from ours."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from sociometer.instruments.egosocial.scene import Scene, Telling
from sociometer.reading import read_items

WORLDS = Path(__file__).parents[1] / "data" / "worlds.jsonl"


class World(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the file: `answer` follows the society's custom, `home` is the real world's answer."""

    id: str
    theme: str
    custom: str
    story: str
    question: str
    options: tuple[str, str, str, str]
    answer: int
    home: int


def world_scenes() -> Iterator[Scene]:
    """The stories as scenes."""
    for world in read_items(WORLDS, World):
        telling = Telling("worlds", world.story, world.question, world.options, world.answer, home=world.home)
        yield Scene(id=world.id, cluster=world.id, tellings=(telling,), facets={"theme": world.theme})
