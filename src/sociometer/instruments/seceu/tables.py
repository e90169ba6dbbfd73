"""The tables of a summary: results, best and worst stories, readings."""

from collections import Counter
from pathlib import Path

from msgspec import structs

from sociometer.core.measure import Cell, Table
from sociometer.instruments._tables import Tables
from sociometer.instruments.seceu.method_result import SILENT, UNREAD, Answered, MethodResult, unread_result
from sociometer.instruments.seceu.norm import Norm
from sociometer.instruments.seceu.prompting import DIFFERENT, PromptingMethods
from sociometer.statistics.formatting import interval_text, number

TABLES = Tables(Path(__file__).with_name("tables.toml"))


def results_table(methods: PromptingMethods, even: MethodResult, norm: Norm | None) -> Table:
    """Return a row for each prompting method, then the scores of the baselines on the same items."""
    lines = [*methods.results, even, *(unread_result(name, even, norm) for name in (UNREAD, SILENT))]
    if norm is None:
        return TABLES("plain/results", map(_plain_row, lines), note="" if methods.comparable else DIFFERENT)
    return TABLES(
        "normed/results",
        (_normed_row(result, norm) for result in lines),
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


def _plain_row(result: MethodResult) -> tuple[Cell, ...]:
    around = interval_text(result.interval, "number", "too few items", 2) if result.readings else ""
    return result.method, result.score, around, result.evenness, _nulls(result)


def _normed_row(result: MethodResult, norm: Norm) -> tuple[Cell, ...]:
    if result.failed and result.readings:
        return (result.method, result.score, "FAILED", "", "", "", "", "", "", "", "", _nulls(result))
    eq, similarity = result.eq, result.similarity
    percent = None if eq is None else norm.percent_of_eq(eq)
    different = similarity is not None and similarity < norm.different_below
    return (
        result.method,
        result.score,
        _rounded(eq, 1),
        interval_text(result.eq_interval, "points", "too few items", 1) if result.readings else "",
        result.band,
        norm.percent_text(percent) if percent is not None else "",
        _rounded(similarity, 3),
        _rounded(result.similarity_p, 3),
        f"{norm.percent_less_similar(similarity):.0f} %" if similarity is not None else "",
        "different" if different else "not different" if similarity is not None else "",
        result.evenness,
        _nulls(result),
    )


def _item_row(answer: Answered, norm: Norm | None) -> tuple[Cell, ...]:
    people = None if norm is None else norm.template[answer.scenario]
    profile = ", ".join(
        f"{option} {given:.1f} ({standard:.1f})"
        for option, given, standard in zip(answer.options, answer.points, answer.standard, strict=True)
    )
    return (answer.scenario, round(answer.distance, 2), people, answer.story, profile)


def _nulls(result: MethodResult) -> str:
    return f"{result.nulls} of {result.replies}"


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
