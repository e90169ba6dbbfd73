"""Recomputes what the paper prints, as far as released data or printed tables allow."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

from sociometer.core.measure import PublishedFigure
from sociometer.core.sheets import read_table
from sociometer.core.source import Source
from sociometer.instruments.egosocial.games.numbers import published as number_guessing
from sociometer.instruments.egosocial.published.claims import claims
from sociometer.instruments.egosocial.stories.tomi import read_archive
from sociometer.instruments.egosocial.tombench.release import read_folder

FOLDER = Path(__file__).parent


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Every printed figure that can be recomputed."""
    yield from data_volumes(source)
    yield from granularity()
    yield from number_guessing.rows()
    yield from claims()


def published(table: str) -> list[dict[str, str]]:
    """The rows of one printed table."""
    return read_table(FOLDER / f"{table}.csv")


def data_volumes(source: Source) -> Iterator[PublishedFigure]:
    """Table 1's sizes of ToMi and ToMBench, counted in the official files."""
    archive = source.find("tomi/tomi_balanced_story_types.zip")
    if archive is not None:
        stories = len({question.story_number for question in read_archive(archive, "test")})
        reason = "the size printed is that of the test file's stories; each has six questions"
        yield PublishedFigure("Table 1", "ToMi, data volume", 999, stories, stories == 999, reason)
    folder = source.find("tombench")
    if folder is not None:
        count = sum(1 for _ in read_folder(folder))
        yield PublishedFigure("Table 1", "ToMBench, data volume", 2860, count, count == 2860)


def granularity() -> Iterator[PublishedFigure]:
    """Whether every accuracy of a column is a share of one number of questions, rounded to one decimal."""
    sizes = {"newworld": 30, "counterfactual": 100}
    for column, size in sizes.items():
        printed = [float(row[column]) for row in published("table3")]
        nearest = [round(float(Fraction(round(value * size / 100), size) * 100), 1) for value in printed]
        fit = sum(abs(a - b) < 0.05 for a, b in zip(printed, nearest, strict=True))
        what = f"{column}: accuracies that are a whole number of {size} questions"
        yield PublishedFigure("Table 3", what, len(printed), fit, fit == len(printed))
