"""The tables of a summary: results, best and worst stories, readings."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from msgspec import structs

from sociometer.core.measure import Cell, Measure, Table
from sociometer.instruments._tables import Tables
from sociometer.instruments.seceu.method_result import SILENT, UNREAD, Answered, MethodResult, unread_result
from sociometer.instruments.seceu.norm import Norm
from sociometer.instruments.seceu.prompting import DIFFERENT, PromptingMethods
from sociometer.statistics.formatting import estimate, number

TABLES = Tables(Path(__file__).with_name("tables.toml"))
_UNITS = ("number", "share", "points", "share", "number", "share")
_MEASURES = ("distance", "evenness", "eq", "percentile", "similarity", "similarity-percentile")
Measures = Mapping[str, Measure]


def results_table(
    methods: PromptingMethods, even: MethodResult, norm: Norm | None, of: Mapping[str, Measures]
) -> Table:
    """Return a row for each prompting method, then the scores of the baselines, which have no interval."""
    lines = [*methods.results, even, *(unread_result(name, even, norm) for name in (UNREAD, SILENT))]
    rows = [_row(result, norm, of.get(result.method, {})) for result in lines]
    if norm is None:
        return TABLES("plain/results", rows, note="" if methods.comparable else DIFFERENT)
    return TABLES(
        "normed/results",
        rows,
        before="" if methods.comparable else f"{DIFFERENT} ",
        evenness=number(even.standard_evenness, "share"),
        people="" if norm.evenness is None else f" Individual people have {number(norm.evenness, 'share')}.",
    )


def items_table(result: MethodResult, norm: Norm | None, shown: int, *, official: bool) -> Table:
    """Return the items nearest to the standard and farthest from it; of official ones neither text nor key."""
    ranked = sorted(result.answers, key=lambda answer: answer.distance)
    ends = ranked if len(ranked) <= 2 * shown else ranked[:shown] + ranked[-shown:]
    rows = tuple(_item_row(answer, norm) for answer in ends)
    whose = "people" if norm is not None else "key"
    columns = ("scenario", "distance", "people's distance", "story", f"feelings: given ({whose})")
    table = Table("items", f"Best and worst stories ({result.method})", columns, rows)
    note = "The official texts are left out; show RUN SCENARIO prints one."
    return structs.replace(table.only(range(3)), note=note) if official else table


def repairs_table(readings: Counter[str]) -> Table:
    """Return how often each rule read a reply, and which repair followed."""
    return TABLES("readings", ((*reading.split(" / ", 1), count) for reading, count in readings.most_common()))


def _row(result: MethodResult, norm: Norm | None, measures: Measures) -> tuple[Cell, ...]:
    """Measures with their intervals, as the summary shows them; for a baseline its numbers."""
    eq, near = result.eq, result.similarity
    percent = None if norm is None or eq is None else norm.percent_of_eq(eq) / 100
    less = None if norm is None or near is None else norm.percent_less_similar(near) / 100
    score, evenness, eq_text, percent_text, near_text, less_text = (
        estimate(measure.value, unit, measure.interval) if (measure := measures.get(name)) else value
        for name, unit, value in zip(
            _MEASURES, _UNITS, (result.score, result.evenness, eq, percent, near, less), strict=True
        )
    )
    if norm is None:
        return result.method, score, evenness, _nulls(result)
    if result.failed and result.readings:
        return (result.method, score, "FAILED", "", "", "", "", "", "", evenness, _nulls(result))
    same = "different" if near is not None and near < norm.different_below else "not different"
    tested = (near_text, result.similarity_p, less_text, "" if near is None else same)
    return (result.method, score, eq_text, result.band, percent_text, *tested, evenness, _nulls(result))


def _item_row(answer: Answered, norm: Norm | None) -> tuple[Cell, ...]:
    people = None if norm is None else norm.template[answer.scenario]
    profile = ", ".join(
        f"{option} {given:.1f} ({standard:.1f})"
        for option, given, standard in zip(answer.options, answer.points, answer.standard, strict=True)
    )
    return (answer.scenario, round(answer.distance, 2), people, answer.story, profile)


def _nulls(result: MethodResult) -> str:
    return f"{result.nulls} of {result.replies}"
