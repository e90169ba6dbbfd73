"""Social and academic scores: correlating them, and testing whether the social one is distinct."""

from collections.abc import Sequence
from itertools import product
from textwrap import wrap

from msgspec import Struct

from sociometer.core.errors import UsageError
from sociometer.core.measure import Figure
from sociometer.instruments.sesi.items import FIGURES
from sociometer.statistics.charts import HeatCell, heat_map
from sociometer.statistics.correlation import Correlation, correlation_contrast, few_families, pearson
from sociometer.statistics.item_values import ItemValue, SharedItems, shared_items
from sociometer.statistics.paired import stars

SOCIAL = "SESI"
WIDEST_LINE = 95
"""The most letters of a line above the matrix."""


class Scores(Struct, frozen=True):
    """Scores by model and benchmark, with each model's family."""

    values: dict[str, dict[str, float]]
    families: dict[str, str]

    def benchmarks(self) -> list[str]:
        """The benchmarks in order of first appearance, the social score last."""
        names = list(dict.fromkeys(name for scores in self.values.values() for name in scores))
        return [name for name in names if name != SOCIAL] + ([SOCIAL] if SOCIAL in names else [])


class PairResult(Struct, frozen=True):
    """One cell of the matrix."""

    first: str
    second: str
    correlation: Correlation | None
    note: str = ""


def correlate(scores: Scores) -> list[PairResult]:
    """Every pair of benchmarks over the models that have both."""
    names = scores.benchmarks()
    results = []
    for at, second in enumerate(names):
        for first in names[:at]:
            models = [model for model, own in scores.values.items() if first in own and second in own]
            one, two = ([scores.values[model][name] for model in models] for name in (first, second))
            if len(models) < 3:
                results.append(PairResult(first, second, None, f"only {len(models)} models have both"))
            elif len(set(one)) == 1 or len(set(two)) == 1:
                results.append(PairResult(first, second, None, "one of the two does not vary"))
            else:
                found = pearson(one, two, models, [scores.families[model] for model in models])
                note = f"depends on {found.carried_by}" if found.carried_by else ""
                results.append(PairResult(first, second, found, note))
    return results


def matrix_figure(results: Sequence[PairResult], names: Sequence[str], remarks: Sequence[str] = ()) -> Figure:
    """The matrix as a heat map (Fig. 2); `remarks` are drawn into it."""
    cells = [HeatCell(name, name, 1.0) for name in names]
    for pair in results:
        if pair.correlation is not None:
            mark = stars(pair.correlation.p_value).replace("ns", "")
            cells += [
                HeatCell(row, column, pair.correlation.r, mark, pair.note)
                for row, column in ((pair.first, pair.second), (pair.second, pair.first))
            ]
    chart = heat_map(cells, title="r", diverging=True, domain=(-1, 1))
    if remarks:
        lines = [part for remark in remarks for part in wrap(remark, WIDEST_LINE)]
        chart = {"title": {"text": lines, "fontSize": 11, "fontWeight": "normal"}, **chart}
    return FIGURES("matrix", chart=chart, remarks=". ".join(remarks))


def apart(scores: Scores) -> str:
    """Whether the social score correlates less with the academic ones than they do with each other, as a sentence."""
    names = scores.benchmarks()
    models = [model for model, own in scores.values.items() if all(name in own for name in names)]
    table = {name: [scores.values[model][name] for model in models] for name in names}
    if len(names) < 3 or len(models) < 4 or any(len(set(values)) == 1 for values in table.values()):
        return f"Whether {SOCIAL} is distinct needs at least four models that differ and have two academic scores"
    own, among, around = correlation_contrast(table, SOCIAL, [scores.families[model] for model in models])
    bounds = few_families(around) or f"95 % interval of the difference {around.low:.2f} to {around.high:.2f}"
    said = f"{SOCIAL} correlates with academic scores by {own:.2f} on average, these with each other by {among:.2f}"
    return f"{said} ({bounds})"


class Member(Struct, frozen=True):
    """A run as one model's score."""

    model: str
    run: str
    items: dict[str, ItemValue]


def shared_accuracies(members: Sequence[Member]) -> tuple[dict[str, float], SharedItems]:
    """Each model's accuracy in percent on the items that all have; raises an error if they have different items."""
    shared = shared_items([member.items for member in members])
    if not shared.items:
        counts = ", ".join(f"{member.run} ({len(member.items)})" for member in members)
        raise UsageError(f"the runs share no item ({counts}): give runs on the same items, official or bundled.")
    first = members[0]
    for member, item in product(members[1:], shared.items):
        if member.items[item].content != first.items[item].content:
            raise UsageError(
                f"item '{item}' is not the same in runs {first.run} and {member.run}: give runs on the same items."
            )
    means = 100 * shared.values.mean(axis=0)
    return {member.model: float(mean) for member, mean in zip(members, means, strict=True)}, shared
