"""What the paper's text says about kinds of models, computed from Tables 2 and 3."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import fmean

from sociometer.core.measure import PublishedFigure
from sociometer.core.sheets import read_table
from sociometer.statistics.distributions import binomial_below
from sociometer.statistics.model_kinds import Properties, permutation_p, read_properties

FOLDER = Path(__file__).parent
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
        for row in read_table(FOLDER / f"{name}.csv"):
            if row["model"] != PEOPLE:
                values = {column: float(cell) for column, cell in row.items() if column not in ("model", "kind")}
                found.setdefault(row["model"], {}).update(values)
    return found


def printed_properties() -> dict[str, Properties]:
    """The properties of the paper's models."""
    return read_properties(FOLDER / "kinds.csv")


def claims() -> Iterator[PublishedFigure]:
    """Scale, instruction tuning, open against API, and the items behind Table 3's ToMBench column."""
    models = printed_models()
    for what, small, large in _PAIRS:
        yield _no_gain(what, small, large, models[small], models[large])
    yield from _open_against_api(models)
    yield _multiples([values["tombench"] for values in models.values()])


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
    about = printed_properties()
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
            "section 5.3", f"open against API models, {column}", "significant gap", f"{gap:+.1f} points",
            gap > 0 and p_value < _SIGNIFICANT, reason, claim=True,
        )  # fmt: skip
    best = max(models[name]["tomi_first"] for name in sides[0])
    rest = [name for name in sides[1] if name != "GPT-3.5-Turbo"]
    above = sum(models[name]["tomi_first"] > best for name in rest)
    what = "API models except GPT-3.5-Turbo above every open one, ToMi first person"
    yield PublishedFigure("section 5.3", what, len(rest), above, above == len(rest), claim=True)


def _multiples(cells: Sequence[float]) -> PublishedFigure:
    """How many accuracies are a whole number of the 49 released first-person items, rounded to one decimal."""
    size = RELEASED_ITEMS
    fit = sum(abs(value - round(float(Fraction(round(value * size / 100), size) * 100), 1)) < 0.05 for value in cells)
    reason = (
        f"{len(cells) * size / 1000:.1f} of {len(cells)} would be expected by chance, so part of the column is probably"
        f" based on the {size} released items."
    )
    what = f"ToMBench, All: models whose accuracy is a multiple of 1/{size}"
    return PublishedFigure("Table 3", what, len(cells), fit, fit == len(cells), reason, claim=True)
