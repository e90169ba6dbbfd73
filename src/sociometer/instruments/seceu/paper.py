"""The paper's tables and figures, filled from runs for `sociometer paper`."""

from collections import Counter
from collections.abc import Sequence

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
    ways = [Way(run, result, norm) for run, norm in norms for result in compare_methods(run, norm).results]
    normed = [run for run in runs if "norm" in run.summary.series]
    drawn = {figure.name: figure for figure in figures(normed)} if normed else {}
    among = {"Fig. 2": "eq-among-people", "Fig. 3": "similarity-among-people"}
    return PARTS.all(
        _table_1(given, ways),
        *(PARTS.part(label, figures=(drawn[name],) if name in drawn else ()) for label, name in among.items()),
        _family_tree(given, ways),
        _table_s1(ways),
        _table_s2(ways),
        _spread(normed),
    )


def _tried(ways: Sequence[Way]) -> list[list[Way]]:
    """The ways of each subject on each norm, every method once: a run that repeats a method is a separate row."""
    groups: dict[tuple[str, str, int], list[Way]] = {}
    before: Counter[tuple[str, str, str]] = Counter()
    for way in ways:
        place = (way.run.name, way.norm.name if way.norm else "")
        groups.setdefault((*place, before[*place, way.result.method]), []).append(way)
        before[*place, way.result.method] += 1
    return list(groups.values())


def _lacks_norm(ways: Sequence[Way]) -> str:
    return "" if any(way.norm is not None for way in ways) else PARTS.described["Table S1"].needs


def _table_1(given: PaperInput, ways: Sequence[Way]) -> PaperPart:
    """Table 1: the best performance of every model, with its properties."""
    rows = []
    tried = _tried(ways)
    often = Counter(mine[0].run.name for mine in tried)
    for mine in tried:
        best = min(mine, key=_rank)
        facts, subject = given.facts(best.run), best.run.name
        name = best.run.subject if often[subject] > 1 else subject
        rows.append(
            PaperRow(
                (f"{name}{_needs_prompts(mine, best)}", *best.cells(), *_properties(facts)),
                facts.get("family", ""),
                (*best.remarks, *([f"best of {len(mine)} prompting methods"] if len(mine) > 1 else [])),
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
    lacking = (_lacks_norm(ways), "" if given.models else PARTS.described["Table 1"].needs)
    legend = f"{_LEGEND} #: fails without worked prompts. ##: better with them."
    table = PaperTable((PaperColumn("Models"), *_SCORES, *_PROPERTIES), tuple(rows), legend)
    return PARTS.part("Table 1", table=table, missing=" ".join(filter(None, lacking)))


def _rank(way: Way) -> tuple[bool, float]:
    """The best first; a failed test comes last."""
    return way.result.failed, way.result.score


def _needs_prompts(ways: Sequence[Way], best: Way) -> str:
    """The paper's sign for a model that needs prompts to finish the test, or does better with them."""
    direct = next((way for way in ways if way.result.method == DIRECT), None)
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


def _family_tree(given: PaperInput, ways: Sequence[Way]) -> PaperPart:
    """Fig. 4: EQ against launch, size and family."""
    best = [min(mine, key=_rank) for mine in _tried(ways)]
    subjects = [
        Subject(
            way.run.subject,
            way.result.eq,
            way.result.score,
            properties=properties_of(given.facts(way.run)),
            norm=way.norm.name if way.norm is not None else "",
        )
        for way in best
        if not way.result.failed
    ]
    on_norm = len({one.norm for one in subjects}) == 1 and all(one.eq is not None for one in subjects)
    on_published = on_norm and all(one.norm == PUBLISHED_NORM for one in subjects)
    dated = [one for one in subjects if one.properties is not None and one.properties.launched is not None]
    drawn = tree_figures([*subjects, *(published_subjects() if on_published else [])], on_norm) if dated else ()
    return PARTS.part("Fig. 4", figures=drawn)


def _table_s1(ways: Sequence[Way]) -> PaperPart:
    """Table S1: every model with the direct prompt."""
    direct = (way for way in ways if way.result.method == DIRECT)
    rows = [PaperRow((way.run.subject, *way.cells()), remarks=way.remarks) for way in direct]
    rows += [printed(row["model"], *_printed_scores(row)) for row in published_rows("table_s1")]
    table = PaperTable((PaperColumn("Models"), *_SCORES), tuple(rows), _LEGEND)
    return PARTS.part("Table S1", table=table, missing=_lacks_norm(ways))


def _table_s2(ways: Sequence[Way]) -> PaperPart:
    """Table S2: every model with every other prompting method."""
    prompted = [way for way in ways if way.result.method in _PROMPTS]
    order = list(_PROMPTS)
    rows = [
        PaperRow((_PROMPTS[way.result.method], *way.cells()), subject, way.remarks)
        for subject, mine in grouped((way.run.name, way) for way in prompted).items()
        for way in sorted(mine, key=lambda way: order.index(way.result.method))
    ]
    rows += [
        printed(_PROMPTS[row["prompting"]], *_printed_scores(row), section=row["model"])
        for row in published_rows("table_s2")
    ]
    table = PaperTable((PaperColumn("Prompts"), *_SCORES), tuple(rows), _LEGEND)
    return PARTS.part("Table S2", table=table, missing=_lacks_norm(prompted) if prompted else None)


def _spread(runs: Sequence[AnyRun]) -> PaperPart:
    """Fig. S1: people's distances on each item."""
    norms = {norm.name: norm for run in runs if (norm := norm_of(run.norm)) is not None and norm.deviations}
    return PARTS.part("Fig. S1", figures=tuple(spread_figure(norm) for norm in norms.values()))
