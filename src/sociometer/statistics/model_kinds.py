"""Kinds of models: what a models file says about them, and a score contrasted by kind, size and launch date."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import numpy as np
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.lazy import lazy
from sociometer.core.measure import Cell, Table
from sociometer.core.sheets import read_rows
from sociometer.core.words import grouped
from sociometer.statistics.agreement import spearman
from sociometer.statistics.correlation import EXACT_UP_TO

stats = lazy("scipy.stats")

KINDS = ("sft", "rlhf", "architecture", "access", "tuning", "family")
FEWEST_MODELS = 4
FEW = "There are few models, and models of one family are not independent: the contrasts are only descriptive."
TRENDS = ("property", "models", "Spearman's rho", "p", "smallest possible p")
EXACT = f"p: exact permutation test for up to {EXACT_UP_TO} models, otherwise by the t distribution."


class Properties(Struct, frozen=True):
    """The properties of one model in a models file; unknown ones are empty."""

    size_billion: float | None = None
    launched: float | None = None
    """Date as a year with its fraction."""
    kinds: dict[str, str] = {}


class Described(Struct, frozen=True):
    """A model's score and its properties."""

    value: float
    properties: Properties


def read_properties(path: Path) -> dict[str, Properties]:
    """Return the properties in a models file, by model."""
    rows = read_rows(path, ("model",), ("size_billion", "launched", *KINDS))
    return {row["model"]: properties_of(row, path, line) for line, row in rows}


def properties_of(row: Mapping[str, str], path: Path | None = None, line: int | None = None) -> Properties:
    """Return the properties in a row of a models file."""
    size, launched = row.get("size_billion", "").strip(), row.get("launched", "").strip()
    try:
        return Properties(
            float(size) if size else None,
            _year(launched) if launched else None,
            {kind: text for kind in KINDS if (text := row.get(kind, "").strip())},
        )
    except ValueError:
        raise DataError(
            f"size_billion '{size}' must be a number and launched '{launched}' a date such as 2023-03-14",
            path or "",
            line,
        ) from None


def kind_rows(models: Sequence[Described], digits: int) -> list[tuple[Cell, ...]]:
    """The mean score of each kind of model: property, level, models, mean, and p of two levels."""
    found: list[tuple[Cell, ...]] = []
    for kind in KINDS:
        known = ((model.properties.kinds.get(kind, ""), model.value) for model in models)
        levels = grouped((level, value) for level, value in known if level)
        p_value = permutation_p(list(levels.values()))
        found += [
            (kind, level, len(values), round(float(np.mean(values)), digits), p_value)
            for level, values in sorted(levels.items())
        ]
    return found


def trend_rows(models: Sequence[Described]) -> list[tuple[Cell, ...]]:
    """The rank correlation of the score with size and launch date: property, models, rho, p, smallest possible p."""
    sizes = [(math.log10(size), model.value) for model in models if (size := model.properties.size_billion) is not None]
    dates = [(day, model.value) for model in models if (day := model.properties.launched) is not None]
    found = (_trend("log size", sizes), _trend("launch date", dates))
    return [trend for trend in found if trend is not None]


def contrast_tables(models: Sequence[Described], unit: str, digits: int) -> list[Table]:
    """Means by kind of model, and rank correlations with size and date."""
    note = "p: permutation test over two groups; needs at least two models per group."
    columns = ("property", "level", "models", f"mean {unit}", "p")
    return [
        Table("kinds", f"Mean {unit} by kind of model", columns, tuple(kind_rows(models, digits)), note),
        Table("trends", f"{unit} by size and date", TRENDS, tuple(trend_rows(models)), EXACT),
    ]


def permutation_p(levels: Sequence[Sequence[float]]) -> float | None:
    """The p of a permutation test between two groups; None unless each has two models."""
    if len(levels) != 2 or min(len(level) for level in levels) < 2:
        return None

    test = stats.permutation_test(
        levels,
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    return round(float(test.pvalue), 3)


def _trend(name: str, points: Sequence[tuple[float, float]]) -> tuple[Cell, ...] | None:
    if len(points) < FEWEST_MODELS or len({x for x, _ in points}) < 2 or len({y for _, y in points}) < 2:
        return None
    rho, p_value, smallest = spearman([x for x, _ in points], [y for _, y in points])
    return (name, len(points), round(rho, 2), round(p_value, 3), None if smallest is None else round(smallest, 3))


def _year(text: str) -> float:
    """The date as a year with its fraction; a month without a day counts from its first."""
    day = date.fromisoformat(text if len(text) > 7 else f"{text}-01")
    return day.year + (day.timetuple().tm_yday - 1) / 365.25


def family_from_name(model: str) -> str:
    """The letters at the start of a model's name ("llama-2-70b-chat": llama); a server's address is no part of it."""
    name = re.split(r"@?[a-z]+://", model.rstrip("/"), maxsplit=1)[0].rstrip("/") or model
    match = re.match(r"[A-Za-z]+", name.rpartition("/")[2])
    return match[0].lower() if match else name
