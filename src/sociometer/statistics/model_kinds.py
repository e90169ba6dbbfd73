"""Kinds of models: what a models file says about them, and a test of two kinds."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import numpy as np
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.lazy import lazy
from sociometer.core.sheets import read_rows

stats = lazy("scipy.stats")

KINDS = ("sft", "rlhf", "architecture", "access", "tuning", "family")


class Properties(Struct, frozen=True):
    """The properties of one model in a models file; unknown ones are empty."""

    size_billion: float | None = None
    launched: float | None = None
    """Date as a year with its fraction."""
    kinds: dict[str, str] = {}


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


def _year(text: str) -> float:
    """The date as a year with its fraction; a month without a day counts from its first."""
    day = date.fromisoformat(text if len(text) > 7 else f"{text}-01")
    return day.year + (day.timetuple().tm_yday - 1) / 365.25


def family_from_name(model: str) -> str:
    """The letters at the start of a model's name ("llama-2-70b-chat": llama); a server's address is no part of it."""
    name = re.split(r"@?[a-z]+://", model.rstrip("/"), maxsplit=1)[0].rstrip("/") or model
    match = re.match(r"[A-Za-z]+", name.rpartition("/")[2])
    return match[0].lower() if match else name
