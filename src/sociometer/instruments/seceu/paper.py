"""The paper's tables and figures, filled from runs for `sociometer paper`."""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from sociometer.core.paper import (
    Estimate,
    PaperCell,
    PaperColumn,
    PaperInput,
    PaperPart,
    PaperRow,
    PaperTable,
    printed,
    remarks_on,
)
from sociometer.core.task import AnyRun
from sociometer.core.words import grouped
from sociometer.instruments._paper import PaperParts
from sociometer.instruments.seceu.family_tree import Subject, published_subjects, tree_figures
from sociometer.instruments.seceu.figures import figures, spread_figure
from sociometer.instruments.seceu.method_result import MethodResult
from sociometer.instruments.seceu.norm import PUBLISHED, PUBLISHED_NORM, Norm, norm_of, published_rows, through_curve
from sociometer.instruments.seceu.prompting import DIRECT, compare_methods
from sociometer.instruments.seceu.scoring import order_caveat
from sociometer.statistics.model_kinds import properties_of

TASK = "feelings"
_PROMPTS = {
    "zero-shot": "Zero-Shot",
    "zero-shot-steps": "Zero-Shot + Step-by-step",
    "two-shot": "Two shot COT",
    "two-shot-steps": "Two shot COT + Step-by-step",
}
_SCORES = (
    PaperColumn("SECEU score", digits=2),
    PaperColumn("EQ", "EQ", 0),
    PaperColumn("%", "EQ", 0),
    PaperColumn("r", "Pattern Similarity", 2),
    PaperColumn("%", "Pattern Similarity", 0),
)
_PROPERTIES = tuple(PaperColumn(name, "Properties") for name in ("Size", "Time", "SFT", "RLHF"))
_LEGEND = (
    "%: percent of people whose performance was below. Pattern Similarity: Pearson's r with people's pattern;"
    " * p < .05, ** p < .01."
)
PARTS = PaperParts(PUBLISHED.parent)
Tried = dict[str, dict[str, "Way"]]


class Way(Struct, frozen=True):
    """One subject's result with one prompting method."""

    run: AnyRun
    result: MethodResult
    norm: Norm | None

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks on the row."""
        order = order_caveat(self.run, self.norm) if self.norm is not None else ""
        by_method = any(one.group.get("prompting") == self.result.method for one in self.run.summary.measures)
        remarks = remarks_on(self.run, **({"prompting": self.result.method} if by_method else {}))
        return (*remarks, *([f"feelings in random order: the EQ is {order}"] if order else []))

    def cells(self) -> tuple[PaperCell, ...]:
        """Score, EQ, percentile, similarity and its percentile, as the paper's tables have them."""
        result, norm = self.result, self.norm
        if result.failed:
            return ("FAILED", None, None, None, None)
        score = Estimate(result.score, result.interval)
        if norm is None or result.eq is None:
            return (score, None, None, None, None)
        around = norm.share_interval(result.eq, result.score, result.interval).scaled(100)
        placed = (Estimate(result.eq, result.eq_interval), Estimate(norm.percent_of_eq(result.eq), around))
        similarity, p_value, less = result.similarity, result.similarity_p, norm.percent_less_similar
        if similarity is None:
            return (score, *placed, None, None)
        mark = "" if p_value is None else "**" if p_value < 0.01 else "*" if p_value < 0.05 else ""
        pattern = Estimate(similarity, result.similarity_interval, mark)
        return (score, *placed, pattern, Estimate(less(similarity), through_curve(result.similarity_interval, less)))


def paper(given: PaperInput) -> Sequence[PaperPart]:
    """Every table and figure of the paper."""
    runs = given.of_task(TASK)
    norms = [(run, norm_of(run.norm)) for run in runs]
    tried = _tried([Way(run, each, norm) for run, norm in norms for each in compare_methods(run, norm).results])
    normed = [run for run in runs if "norm" in run.summary.series]
    drawn = {figure.name: figure for figure in figures(normed)} if normed else {}
    among = {"Fig. 2": "eq-among-people", "Fig. 3": "similarity-among-people"}
    return PARTS.all(
        _table_1(given, tried),
        *(PARTS.part(label, figures=(drawn[name],) if name in drawn else ()) for label, name in among.items()),
        _family_tree(given, tried),
        _table_s1(tried),
        _table_s2(tried),
        _spread(normed),
    )


def _tried(ways: Sequence[Way]) -> Tried:
    """By name of row and method; runs that differ in methods only are one row: of each method, that on most stories."""
    groups: dict[tuple[object, ...], list[Way]] = {}
    before: Counter[tuple[object, ...]] = Counter()
    runs = grouped((way.run.run, way) for way in ways)
    for mine in runs.values():
        run, norm = mine[0].run, mine[0].norm
        place = (run.name, norm.name if norm else "", frozenset({**run.settings, "prompting": ""}.items()))
        asked = (*place, run.settings.get("prompting"))
        groups.setdefault((*place, before[asked]), []).extend(mine)
        before[asked] += 1
    often, found = Counter(name for name, *_ in groups), Tried()
    for (name, *_), several in groups.items():
        several.sort(key=lambda way: (way.result.items, len(runs[way.run.run])))  # of a method, the last one stays
        methods = {way.result.method: way for way in several}
        found[_best(methods).run.subject if often[name] > 1 else str(name)] = methods
    return found


def _best(ways: Mapping[str, Way]) -> Way:
    """The best way; a failed test comes last, and before it one on at most half of the stories of another way."""
    most = max(way.result.items for way in ways.values())
    return min(ways.values(), key=lambda way: (way.result.failed, 2 * way.result.items <= most, way.result.score))


def _lacks_norm(rows: Tried) -> str:
    return "" if any(way.norm for row in rows.values() for way in row.values()) else PARTS.described["Table S1"].needs


def _table_1(given: PaperInput, tried: Tried) -> PaperPart:
    """Table 1: the best performance of every model, with its properties."""
    rows = []
    for name, mine in tried.items():
        best, facts = _best(mine), given.facts(_best(mine).run)
        rows.append(
            PaperRow(
                (f"{name}{_needs_prompts(mine, best)}", *best.cells(), *_properties(facts)),
                facts.get("family", ""),
                (*best.remarks, *([f"best of {len(mine)} prompting methods"] if len(mine) > 1 else [])),
                model=best.run.model,
            )
        )
    rows.sort(key=lambda row: row.section)
    rows += [
        printed(
            row["model"] + {"required": " #", "helpful": " ##"}.get(row["prompts"], ""),
            *_printed_scores(row),
            *_properties(row),
            section=row["family"],
        )
        for row in published_rows("table_1")
    ]
    lacking = (_lacks_norm(tried), "" if given.models else PARTS.described["Table 1"].needs)
    legend = f"{_LEGEND} #: fails without worked prompts. ##: better with them."
    table = PaperTable((PaperColumn("Models"), *_SCORES, *_PROPERTIES), tuple(rows), legend)
    return PARTS.part("Table 1", table=table, missing=" ".join(filter(None, lacking)))


def _needs_prompts(ways: Mapping[str, Way], best: Way) -> str:
    """The paper's sign for a model that needs prompts to finish the test, or does better with them."""
    direct = ways.get(DIRECT)
    if direct is None or best is direct or best.result.failed:
        return ""
    return " #" if direct.result.failed else " ##"


def _properties(facts: dict[str, str]) -> tuple[PaperCell, ...]:
    size = facts.get("size_billion", "")
    return (f"{size}B" if size else "", *(facts.get(name, "") for name in ("launched", "sft", "rlhf")))


def _printed_scores(row: dict[str, str]) -> tuple[PaperCell, ...]:
    if not row["score"]:
        return ("FAILED", None, None, None, None)
    return (
        Estimate(float(row["score"])),
        Estimate(float(row["eq"])),
        Estimate(float(row["percent"])),
        Estimate(float(row["similarity"]), mark=row["stars"]),
        Estimate(float(row["similarity_percent"])),
    )


def _family_tree(given: PaperInput, tried: Tried) -> PaperPart:
    """Fig. 4: EQ against launch, size and family."""
    subjects = [
        Subject(
            way.run.subject,
            way.result.eq,
            way.result.score,
            properties=properties_of(given.facts(way.run)),
            norm=way.norm.name if way.norm is not None else "",
        )
        for way in map(_best, tried.values())
        if not way.result.failed
    ]
    on_norm = len({one.norm for one in subjects}) == 1 and all(one.eq is not None for one in subjects)
    on_published = on_norm and all(one.norm == PUBLISHED_NORM for one in subjects)
    dated = [one for one in subjects if one.properties is not None and one.properties.launched is not None]
    drawn = tree_figures([*subjects, *(published_subjects() if on_published else [])], on_norm) if dated else ()
    return PARTS.part("Fig. 4", figures=drawn)


def _table_s1(tried: Tried) -> PaperPart:
    """Table S1: every model with the direct prompt."""
    direct = {name: mine[DIRECT] for name, mine in tried.items() if DIRECT in mine}
    rows = [PaperRow((name, *way.cells()), remarks=way.remarks) for name, way in direct.items()]
    rows += [printed(row["model"], *_printed_scores(row)) for row in published_rows("table_s1")]
    table = PaperTable((PaperColumn("Models"), *_SCORES), tuple(rows), _LEGEND)
    return PARTS.part("Table S1", table=table, missing=_lacks_norm(tried))


def _table_s2(tried: Tried) -> PaperPart:
    """Table S2: every model with every other prompting method."""
    rows = [
        PaperRow((_PROMPTS[how], *mine[how].cells()), name, mine[how].remarks)
        for name, mine in tried.items()
        for how in filter(mine.get, _PROMPTS)
    ]
    rows += [
        printed(_PROMPTS[row["prompting"]], *_printed_scores(row), section=row["model"])
        for row in published_rows("table_s2")
    ]
    table = PaperTable((PaperColumn("Prompts"), *_SCORES), tuple(rows), _LEGEND)
    return PARTS.part("Table S2", table=table, missing=None if rows[0].published else _lacks_norm(tried))


def _spread(runs: Sequence[AnyRun]) -> PaperPart:
    """Fig. S1: people's distances on each item."""
    norms = {norm.name: norm for run in runs if (norm := norm_of(run.norm)) is not None and norm.deviations}
    return PARTS.part("Fig. S1", figures=tuple(spread_figure(norm) for norm in norms.values()))
