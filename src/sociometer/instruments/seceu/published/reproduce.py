"""Recomputes what the paper prints, as far as released data or printed tables allow."""

from collections.abc import Iterable, Iterator

from sociometer.core.measure import PublishedFigure
from sociometer.core.paper import PrintedFigure, Replication, ReplicationPlan, printed_figure
from sociometer.core.settings import SETTING
from sociometer.core.source import Source
from sociometer.instruments._paper import replication_plan, with_reasons
from sociometer.instruments.seceu import items
from sociometer.instruments.seceu.norm import PUBLISHED, Norm, published_norm, published_people, published_rows
from sociometer.statistics.distributions import t_below

ITEMS = 40
_HALF = 0.005
"""Scores and similarities are printed with two decimals."""
TABLES = {"Table 1": "table_1", "Table S1": "table_s1", "Table S2": "table_s2"}


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Every EQ from its score, every star from its r, and the sample's figures."""
    norm = published_norm([], [], [])
    found = [figure for where, table in TABLES.items() for figure in (*_eqs(where, table, norm), *_stars(where, table))]
    found += [*_same_cells(), *_sample()]
    if source.find(items.NORM_FILE) is not None:
        found += _released(items.read_official_norm(source))
    return with_reasons(found, PUBLISHED)


def _eqs(where: str, table: str, norm: Norm) -> Iterator[PublishedFigure]:
    for row in published_rows(table):
        if row["score"]:
            eq = norm.eq(float(row["score"]))
            what = f"EQ of {_who(row)} from its score {row['score']}"
            low, high = (norm.eq(float(row["score"]) + half) for half in (_HALF, -_HALF))
            match = low - 0.5 <= int(row["eq"]) <= high + 0.5  # the printed score is rounded
            yield PublishedFigure(where, what, int(row["eq"]), round(eq, 1), match)


def _stars(where: str, table: str) -> Iterator[PublishedFigure]:
    for row in published_rows(table):
        if row["similarity"]:
            r = float(row["similarity"])
            rounded = {_star(r + half) for half in (-_HALF, 0, _HALF)}
            what = f"stars of {_who(row)} from its similarity {r:g}"
            match = row["stars"] in rounded
            yield PublishedFigure(where, what, row["stars"] or "none", _star(r) or "none", match)


def _star(r: float) -> str:
    p_value = 2 * t_below(-abs(r) * ((ITEMS - 2) / (1 - r * r)) ** 0.5, ITEMS - 2)
    return "**" if p_value < 0.01 else "*" if p_value < 0.05 else ""


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
        yield PublishedFigure("Table 1", what, float(row["score"]), best, match)


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


def _released(norm: Norm) -> Iterator[PublishedFigure]:
    """The figures that the authors' norm file repeats."""
    people = published_people()
    template = list(norm.template.values())
    lowest, highest = people["item_mean_lowest"], people["item_mean_highest"]
    yield PublishedFigure("norm file", "lowest item of the template", lowest, min(template), min(template) == lowest)
    yield PublishedFigure("norm file", "highest item of the template", highest, max(template), max(template) == highest)
    yield _rounded("norm file", "mean of the template", people["score_mean"], sum(template) / len(template))


def _who(row: dict[str, str]) -> str:
    return f"{row['model']} ({row['prompting']})" if row.get("prompting") else row["model"]


def _cell(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


TASK = "feelings"


def replications() -> ReplicationPlan:
    """Return the models and the runs; rows without a printed score have none."""
    runs = [
        Replication(
            row["model"],
            TASK,
            _figures(row, where),
            {"prompting": method},
            about=method,
            otherwise={SETTING: "reworded"} if method == "direct" else {},
        )
        for where in ("Table S1", "Table S2")
        for row in published_rows(TABLES[where])
        if row["score"] and (method := row.get("prompting", "direct"))
    ]
    return replication_plan(PUBLISHED, runs)


def _figures(row: dict[str, str], where: str) -> tuple[PrintedFigure, ...]:
    shown = {"distance": f"{float(row['score']):.2f}", "eq": row["eq"], "similarity": f"{float(row['similarity']):.2f}"}
    return tuple(printed_figure(where, name, text) for name, text in shown.items())
