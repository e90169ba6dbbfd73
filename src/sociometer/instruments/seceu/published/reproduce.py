"""Recomputes what the paper prints, as far as released data or printed tables allow."""

from collections.abc import Iterable, Iterator

from sociometer.core.measure import PublishedFigure
from sociometer.core.paper import PrintedFigure, PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records
from sociometer.core.source import Source
from sociometer.instruments.seceu import items
from sociometer.instruments.seceu.norm import (
    PUBLISHED,
    Norm,
    published_norm,
    published_pairs,
    published_people,
    published_rows,
)
from sociometer.statistics.distributions import t_below
from sociometer.statistics.monotone_curve import MonotoneCurve

ITEMS = 40
CURVE_TOLERANCE = 3.5
TABLES = {"Table 1": "table_1", "Table S1": "table_s1", "Table S2": "table_s2"}
ROUNDED = {
    ("GPT-4", 1.89): "the printed score is rounded: 1.885 prints as 1.89 and gives 116.5, which rounds to 117",
    ("Curie", 2.82): "the printed score is rounded: 2.815 prints as 2.82 and gives 99.54, which rounds to 100",
}
STARS = {
    ("text-davinci-003", 0.33): "printed without a star, though .33 over 40 items gives p = .04",
    ("text-davinci-003", 0.31): "the printed r is rounded: from .312 on, p is below .05, and .312 prints as .31",
}


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Every EQ from its score, every star from its r, the sample's figures, the percentile curves by leave-one-out."""
    norm = published_norm([], [], [])
    for where, table in TABLES.items():
        yield from _eqs(where, table, norm)
        yield from _stars(where, table)
    yield from _same_cells()
    yield from _sample()
    people = published_people()
    ends = ((people["score_lowest"], 100.0), (people["score_highest"], 0.0))
    yield from _curve("percentile curve of scores", published_pairs("score", "percent") + ends, increasing=False)
    yield from _curve(
        "percentile curve of similarities", published_pairs("similarity", "similarity_percent"), increasing=True
    )
    if source.find(items.NORM_FILE) is not None:
        yield from _released(items.read_official_norm(source))


def _eqs(where: str, table: str, norm: Norm) -> Iterator[PublishedFigure]:
    for row in published_rows(table):
        if row["score"]:
            eq = norm.eq(float(row["score"]))
            match = round(eq) == int(row["eq"])
            reason = "" if match else ROUNDED.get((row["model"], float(row["score"])), "")
            what = f"EQ of {_who(row)} from its score {row['score']}"
            yield PublishedFigure(where, what, int(row["eq"]), round(eq, 1), match, reason)


def _stars(where: str, table: str) -> Iterator[PublishedFigure]:
    for row in published_rows(table):
        if row["similarity"]:
            r = float(row["similarity"])
            p_value = 2 * t_below(-abs(r) * ((ITEMS - 2) / (1 - r * r)) ** 0.5, ITEMS - 2)
            stars = "**" if p_value < 0.01 else "*" if p_value < 0.05 else ""
            match = stars == row["stars"]
            reason = "" if match else STARS.get((row["model"], r), "")
            what = f"stars of {_who(row)} from its similarity {r:g}"
            yield PublishedFigure(where, what, row["stars"] or "none", stars or "none", match, reason)


def _same_cells() -> Iterator[PublishedFigure]:
    """Table 1 shows each model at its best: its row must be in Table S1 or S2 too, and be the lowest score there."""
    others = [*published_rows("table_s1"), *published_rows("table_s2")]
    cells = ("score", "eq", "percent", "similarity", "stars", "similarity_percent")
    for row in published_rows("table_1"):
        scored = [other for other in others if other["model"] == row["model"] and other["score"]]
        what = f"{row['model']}: best of Tables S1 and S2"
        if not scored:
            yield PublishedFigure("Table 1", what, row["score"] or "FAILED", "FAILED", not row["score"])
            continue
        best = min(float(other["score"]) for other in scored)
        ties = [other for other in scored if float(other["score"]) == best]
        match = any([_cell(other[name]) for name in cells] == [_cell(row[name]) for name in cells] for other in ties)
        reason = ""
        if not match and row["model"] == "GPT-3.5-turbo":
            reason = "Table 1 takes its direct prompt (2.63); zero-shot step by step was better (2.53, EQ 105)"
        yield PublishedFigure("Table 1", what, float(row["score"]), best, match, reason)


def _sample() -> Iterator[PublishedFigure]:
    people = published_people()
    where = "Results"
    count = people["females"] + people["males"]
    yield PublishedFigure(where, "people: women and men together", people["people"], count, count == people["people"])
    p_value = 2 * t_below(-people["sex_t"], people["people"] - 2)
    yield _rounded(where, "p of the sex difference from t(539)", people["sex_p"], p_value)
    mean = (people["males"] * people["male_mean"] + people["females"] * people["female_mean"]) / count
    yield _rounded(where, "mean score from those of men and women", people["score_mean"], mean)
    bound = people["similarity_mean"] - people["similarity_deviation"]
    yield _rounded("norm file", "similarity one SD below the mean", people["similarity_threshold"], bound, digits=3)


def _rounded(where: str, what: str, printed: float, recomputed: float, digits: int = 2) -> PublishedFigure:
    """A printed number and its recomputation, which matches if it would be printed the same."""
    return PublishedFigure(where, what, printed, round(recomputed, 3), round(recomputed, digits) == printed)


def _curve(where: str, pairs: tuple[tuple[float, float], ...], *, increasing: bool) -> Iterator[PublishedFigure]:
    """Each inner percent by the curve through the other pairs; it matches if it would be printed the same."""
    whole = MonotoneCurve([x for x, _ in pairs], [y for _, y in pairs], increasing=increasing)
    errors = whole.leave_one_out_errors()
    mean = float(abs(errors).mean())
    for x, y, error in zip(whole.x[1:-1], whole.y[1:-1], errors, strict=True):
        match = abs(float(error)) < 0.5
        close = abs(float(error)) <= CURVE_TOLERANCE
        reason = (
            f"a curve through other pairs is off by {mean:.1f} points on average; {CURVE_TOLERANCE:g} points "
            "are allowed"
        )
        yield PublishedFigure(
            where,
            f"percent at {x:g}, from the other pairs",
            round(float(y), 1),
            round(float(y + error), 1),
            match,
            "" if match or not close else reason,
        )


def _released(norm: Norm) -> Iterator[PublishedFigure]:
    """The figures that the authors' norm file repeats."""
    people = published_people()
    template = list(norm.template.values())
    lowest, highest = people["item_mean_lowest"], people["item_mean_highest"]
    yield PublishedFigure("norm file", "lowest item of the template", lowest, min(template), min(template) == lowest)
    yield PublishedFigure("norm file", "highest item of the template", highest, max(template), max(template) == highest)
    mean = sum(template) / len(template)
    yield PublishedFigure(
        "norm file",
        "mean of the template",
        people["score_mean"],
        round(mean, 3),
        round(mean, 2) == people["score_mean"],
    )


def _who(row: dict[str, str]) -> str:
    return f"{row['model']} ({row['prompting']})" if row.get("prompting") else row["model"]


def _cell(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


TASK = "feelings"
REMARKS = (
    "The paper rephrased the direct prompt for some models to get the best result; these versions were not released.",
)


def replications() -> ReplicationPlan:
    """Return the models and the runs; rows without a printed score have none."""
    models = tuple(read_records(PUBLISHED / "models.csv", PublishedModel))
    return ReplicationPlan(models, tuple(_runs()), REMARKS)


def _runs() -> Iterator[Replication]:
    for row in published_rows("table_s1"):
        if row["score"]:
            yield _run(row, "direct", "Table S1")
    for row in published_rows("table_s2"):
        if row["score"]:
            yield _run(row, row["prompting"], "Table S2")


def _run(row: dict[str, str], method: str, where: str) -> Replication:
    return Replication(row["model"], TASK, tuple(_figures(row, where)), {"prompting": method}, about=method)


def _figures(row: dict[str, str], where: str) -> Iterator[PrintedFigure]:
    yield printed_figure(where, "distance", f"{float(row['score']):.2f}")
    yield printed_figure(where, "eq", row["eq"])
    yield printed_figure(where, "similarity", f"{float(row['similarity']):.2f}")
