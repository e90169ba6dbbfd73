"""Recomputes what the paper prints: Extended Data Tables 1 and 2 from its own tables, item facts from the release."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from sociometer.core.measure import PublishedFigure
from sociometer.core.paper import Replication, ReplicationPlan, printed_figure
from sociometer.core.source import Source
from sociometer.instruments._paper import printed_tables, replication_plan, with_reasons
from sociometer.instruments.sesi.build.checks import SMALL, answer_lengths, length_difference
from sociometer.instruments.sesi.items import ABILITIES, OFFICIAL, read_official
from sociometer.statistics.correlation import pearson
from sociometer.statistics.distributions import t_below
from sociometer.statistics.formatting import p_phrase

HERE = Path(__file__).parent
table = printed_tables(HERE)
_SIX = "Equals r over the six GPT models, not over the paper's 13."
_HALF = 0.005


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Every printed number that can be recomputed, with its recomputation."""
    return with_reasons((*_correlations(), *_personality(), *_items(source)), HERE)


def _correlations() -> Iterable[PublishedFigure]:
    """Each r over the 13 models of Table 1, and its stars from the printed r with n = 13, as the paper says."""
    where, everyone = "Extended Data Table 1", table("table1")
    for cell in table("extended1"):
        gpt = cell["row"] == "DROP" or (cell["row"], cell["column"]) == ("GSM8K", "DROP")
        printed, recomputed = float(cell["r"]), _r(everyone, cell)
        six = _r([model for model in everyone if model["family"] == "GPT"], cell)
        pair = f"{cell['row']} with {cell['column']}"
        reason = _SIX if gpt and abs(printed - six) < _HALF else ""
        yield PublishedFigure(where, f"r of {pair}", printed, recomputed, abs(printed - recomputed) < _HALF, reason)
        stars = _stars(printed, len(everyone))
        fits = 10 if cell["row"] == "SI" else 6 if gpt else 0
        reason = (
            f"The stars fit n = {fits}, not the paper's 13." if fits and _stars(printed, fits) == cell["stars"] else ""
        )
        what = f"stars of {pair}, n = {len(everyone)}"
        yield PublishedFigure(where, what, cell["stars"] or "none", stars or "none", stars == cell["stars"], reason)


def _r(models: list[dict[str, str]], cell: dict[str, str]) -> float:
    first, second = ([float(model[cell[side]]) for model in models] for side in ("row", "column"))
    return round(pearson(first, second).r, 2)


def _stars(r: float, count: int) -> str:
    p_value = 2 * t_below(-abs(r) * ((count - 2) / (1 - r**2)) ** 0.5, count - 2)
    return "**" if p_value < 0.005 else "*" if p_value < 0.05 else ""


def _personality() -> Iterable[PublishedFigure]:
    accuracy = {model["model"]: float(model["SI"]) for model in table("table1")}
    where = "Extended Data Table 2"
    for model in table("extended2"):
        name, printed = model["model"], float(model["control"])
        about = f"control of {name} = its SI in Table 1"
        yield PublishedFigure(where, about, printed, accuracy[name], printed == accuracy[name])
        levels = {level: float(value) for level, value in model.items() if level not in ("model", "best")}
        best = [level for level, value in levels.items() if value == max(levels.values())]
        yield PublishedFigure(where, f"best level of {name}", model["best"], " and ".join(best), model["best"] in best)


def _items(source: Source) -> Iterable[PublishedFigure]:
    path = source.find(OFFICIAL)
    if path is None:
        return
    items = list(read_official(path))
    where = "section 3 and the release"
    yield PublishedFigure(where, "items", 500, len(items), len(items) == 500)
    counts = Counter(str(item.ability) for item in items)
    for ability in ABILITIES:
        yield PublishedFigure(where, f"items of {ability}", 100, counts[ability], counts[ability] == 100)
    for label, what, printed, texts in (
        ("Fig. 5a", "mean words of a situation", 44.2, [item.situation for item in items]),
        ("Fig. 5b", "mean words of an answer", 25.8, [text for item in items for text in item.options]),
    ):
        spaces, marks = (fmean(len(re.findall(word, text)) for text in texts) for word in (r"\S+", r"\w+"))
        ours = f"split at spaces, the mean is {spaces:.1f}; also at hyphens and apostrophes, {marks:.1f}"
        yield PublishedFigure(
            label, what, printed, None, False, f"The paper does not say what it counts as a word: {ours}."
        )
    right, wrong = answer_lengths(items)
    d, p_value = length_difference(right, wrong)
    yield PublishedFigure(
        "Fig. 5b",
        "lengths of right and wrong answers",
        "nearly the same",
        f"{fmean(right):.1f} and {fmean(wrong):.1f} words, d = {d:.2f}, {p_phrase(p_value)}",
        p_value >= 0.05 or abs(d or 0.0) < SMALL,
        f"Right answers are longer by more than the paper's own bound for a small difference (|d| < {SMALL}).",
        claim=True,
    )


def replications() -> ReplicationPlan:
    """Return the models and one run for each."""
    runs = [
        Replication(row["model"], "questions", (printed_figure("Table 1", "accuracy", row["SI"], percent=True),))
        for row in table("table1")
    ]
    return replication_plan(HERE, runs)
