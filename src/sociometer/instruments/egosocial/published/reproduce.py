"""Recomputes what the paper prints, as far as released data or printed tables allow."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import fmean

from msgspec import Struct

from sociometer.core.measure import PublishedFigure
from sociometer.core.paper import Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records
from sociometer.core.source import Source
from sociometer.core.words import grouped
from sociometer.instruments._paper import printed_tables, replication_plan
from sociometer.instruments.egosocial.games.numbers.rules import is_right
from sociometer.instruments.egosocial.tombench.release import read_folder
from sociometer.instruments.egosocial.tomi import read_archive
from sociometer.statistics.distributions import binomial_below
from sociometer.statistics.model_kinds import permutation_p, read_properties

HERE = Path(__file__).parent
published = printed_tables(HERE)


def replications() -> ReplicationPlan:
    """Return the models and one run for each; people's row has none."""
    runs = [
        Replication(row["model"], "blackjack", (printed_figure("Table 3", "accuracy", row["blackjack"], percent=True),))
        for row in published("table3")
    ]
    return replication_plan(HERE, runs)


PEOPLE = "Human"
RELEASED_ITEMS = 49
_SIGNIFICANT = 0.05
_PARTS = ("tombench_desire", "tombench_emotion", "tombench_intention")
"""Columns that are parts of another column."""
_PAIRS = (
    ("scale", "LLaMa-3-8B-Chat", "LLaMa-3-70B-Chat"),
    ("instruction tuning", "LLaMa-3-8B-Chat", "LLaMa-3-8B-Instruct"),
)


def printed_models() -> dict[str, dict[str, float]]:
    """The accuracies that Tables 2 and 3 print for each model, in percent, by column."""
    found: dict[str, dict[str, float]] = {}
    for name in ("table2", "table3"):
        for row in published(name):
            if row["model"] != PEOPLE:
                values = {column: float(cell) for column, cell in row.items() if column not in ("model", "kind")}
                found.setdefault(row["model"], {}).update(values)
    return found


def claims() -> Iterator[PublishedFigure]:
    """Scale, instruction tuning and open against API, then which items are behind the ToMBench column, our guess."""
    models = printed_models()
    for what, small, large in _PAIRS:
        yield _no_gain(what, small, large, models[small], models[large])
    yield from _open_against_api(models)
    cells = [values["tombench"] for values in models.values()]
    fit = fitting(cells, RELEASED_ITEMS)
    what = f"ToMBench, All: models whose accuracy is a multiple of 1/{RELEASED_ITEMS}"
    reason = (
        f"{len(cells) * RELEASED_ITEMS / 1000:.1f} of {len(cells)} would be expected by chance, so part of the column"
        f" is probably based on the {RELEASED_ITEMS} released items."
    )
    yield PublishedFigure("Table 3", what, None, f"{fit} of {len(cells)}", False, reason, finding=True)


def _no_gain(what: str, first: str, second: str, before: dict[str, float], after: dict[str, float]) -> PublishedFigure:
    """The claim that one model has no notable gain over the other, tested by a sign test over the ten columns."""
    changes = [after[column] - before[column] for column in before if column not in _PARTS]
    higher, lower = sum(change > 0 for change in changes), sum(change < 0 for change in changes)
    p_value = min(1.0, 2 * binomial_below(min(higher, lower), higher + lower))
    gained = higher > lower and p_value < _SIGNIFICANT
    found = f"{fmean(changes):+.1f} points; higher in {higher}, lower in {lower} of {len(changes)}"
    reason = f"Sign test over the columns that differ: p = {p_value:.2f}. One pair of models shows only large gains."
    return PublishedFigure(
        "section 5.3", f"{what}: {first} to {second}", "no notable gain", found, not gained, reason, claim=True
    )


def _open_against_api(models: dict[str, dict[str, float]]) -> Iterator[PublishedFigure]:
    about = read_properties(HERE / "kinds.csv")
    sides = [[name for name in models if about[name].kinds["access"] == access] for access in ("open", "api")]
    for column in ("newworld", "counterfactual"):
        groups = [[models[name][column] for name in side] for side in sides]
        p_value = permutation_p(groups) or 1.0
        gap = fmean(groups[1]) - fmean(groups[0])
        reason = (
            f"Open models {fmean(groups[0]):.1f}, API models {fmean(groups[1]):.1f}; permutation test over"
            f" {len(groups[0])} and {len(groups[1])} models: p = {p_value:.2f}."
        )
        yield PublishedFigure(
            "section 5.3",
            f"open against API models, {column}",
            "significant gap",
            f"{gap:+.1f} points",
            gap > 0 and p_value < _SIGNIFICANT,
            reason,
            claim=True,
        )


def fitting(cells: Sequence[float], size: int) -> int:
    """How many accuracies in percent are a whole number of so many questions, rounded to one decimal."""
    shares = (round(float(Fraction(round(value * size / 100), size) * 100), 1) for value in cells)
    return sum(abs(value - share) < 0.05 for value, share in zip(cells, shares, strict=True))


TRUE_NUMBERS = {1: [50.0] * 10, 2: [50.0 - 5 * index for index in range(10)]}
_TICKS_ONLY = {3: "counted from the authors' ticks: the opponent's numbers depend on choices that were not published"}
_NO_PREDICTIONS = "counted from the authors' ticks: this model's predictions were not published"


class Prediction(Struct, frozen=True):
    """What a model predicted in one round, and whether the authors ticked it as correct."""

    model: str
    level: int
    marked_correct: bool
    prediction: float | None = None


def predictions() -> dict[tuple[str, int], list[tuple[float | None, bool]]]:
    """Return, for each model and level, its predictions in order, each with the authors' tick."""
    every = read_records(HERE / "number_guessing.csv", Prediction)
    return grouped(((made.model, made.level), (made.prediction, made.marked_correct)) for made in every)


def printed() -> dict[tuple[str, int], float]:
    """Return Table 2's accuracies by model and level."""
    return {
        (row["model"], level): float(row[f"numbers_level_{level}"])
        for row in published("table2")
        for level in (1, 2, 3)
    }


def number_rows() -> Iterator[PublishedFigure]:
    """Every accuracy of Table 2 whose predictions, or at least ticks, were published."""
    table = printed()
    for (name, level), made in predictions().items():
        numbers = [number for number, _ in made]
        known = level in TRUE_NUMBERS and None not in numbers
        if known:
            hits = sum(is_right(number, true) for number, true in zip(numbers, TRUE_NUMBERS[level], strict=True))
        else:
            hits = sum(tick for _, tick in made)
        accuracy = 100 * hits / len(made)
        reason = "" if known else _TICKS_ONLY.get(level, _NO_PREDICTIONS)
        match = accuracy == table[name, level]
        yield PublishedFigure(
            "Table 2", f"number guessing level {level}, {name}", table[name, level], accuracy, match, reason
        )


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Every printed figure that can be recomputed."""
    yield from data_volumes(source)
    yield from granularity()
    yield from number_rows()
    yield from claims()


def data_volumes(source: Source) -> Iterator[PublishedFigure]:
    """Table 1's sizes of ToMi and ToMBench, counted in the official files."""
    archive = source.find("tomi/tomi_balanced_story_types.zip")
    if archive is not None:
        stories = len({question.story_number for question in read_archive(archive)})
        reason = "the size printed is that of the test file's stories; each has six questions"
        yield PublishedFigure("Table 1", "ToMi, data volume", 999, stories, stories == 999, reason)
    folder = source.find("tombench")
    if folder is not None:
        count = sum(1 for _ in read_folder(folder))
        yield PublishedFigure("Table 1", "ToMBench, data volume", 2860, count, count == 2860)


def granularity() -> Iterator[PublishedFigure]:
    """Whether every accuracy of a column is a share of one number of questions, rounded to one decimal."""
    models = printed_models().values()
    tomi = [values[column] for values in models for column in ("tomi_third", "tomi_first")]
    columns = {column: [float(row[column]) for row in published("table3")] for column in ("newworld", "counterfactual")}
    unknown = "The paper does not say which 231 questions of ToMi were asked; people's two cells do not fit."
    for where, name, cells, size, reason in (
        ("Table 2", "ToMi, models", tomi, 231, unknown),
        ("Table 3", "newworld", columns["newworld"], 30, ""),
        ("Table 3", "counterfactual", columns["counterfactual"], 100, ""),
    ):
        fit = fitting(cells, size)
        what = f"{name}: accuracies that are a whole number of {size} questions"
        yield PublishedFigure(where, what, None, f"{fit} of {len(cells)}", False, reason, finding=True)
