"""The tables of a summary: every way of prompting beside the hedger, the items at both ends, the repairs."""

from collections import Counter

from sociometer.core.measure import Cell, Interval, Table
from sociometer.instruments.seceu.norm import Norm, band
from sociometer.instruments.seceu.standing import Answered, Standing, by_place, silent
from sociometer.instruments.seceu.ways import DIFFERENT, Ways

_PLAIN = ("prompting", "distance", "95 % interval", "evenness", "null answers")
_NORMED = ("prompting", "SECEU score", "EQ", "95 % interval", "band", "people below", "similarity", "p", "less similar")


def results_table(ways: Ways, even: Standing, norm: Norm | None) -> Table:
    """Return a row for each way of prompting, then what hedging, going by place and silence earn on the same items."""
    lines = [*ways.standings, even, by_place(even, norm), silent(even, norm)]
    if norm is None:
        rows = tuple(_plain_row(standing) for standing in lines)
        note = "" if ways.comparable else DIFFERENT
        return Table("results", "Distance to the key, beside answers that read nothing", _PLAIN, rows, note)
    rows = tuple(_normed_row(standing, norm) for standing in lines)
    columns = (*_NORMED, "mechanism", "evenness", "null answers")
    note = (
        f"Evenness is entropy as a share of the most even allocation's; people's standard scores have "
        f"{even.standard_evenness:.2f}, which averaging makes more even than single people are."
    )
    if norm.evenness is not None:
        note += f" Single people have {norm.evenness:.2f}."
    if not ways.comparable:
        note = f"{DIFFERENT} {note}"
    return Table("results", "EQ on the human norm, beside answers that read nothing", columns, rows, note)


def items_table(standing: Standing, norm: Norm | None, shown: int) -> Table:
    """Return the items nearest to the standard and farthest from it, with both profiles of feeling."""
    ranked = sorted(standing.answers, key=lambda answer: answer.distance)
    ends = ranked if len(ranked) <= 2 * shown else ranked[:shown] + ranked[-shown:]
    rows = tuple(_item_row(answer, norm) for answer in ends)
    whose = "people" if norm is not None else "key"
    columns = ("scenario", "story", "distance", "people's distance", f"feelings: given ({whose})")
    return Table("items", f"Best and worst scenarios ({standing.method})", columns, rows)


def repairs_table(readings: Counter[str]) -> Table:
    """Return how often each rule read a reply, and which repair followed."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (*reading.split(" / ", 1), count) for reading, count in readings.most_common()
    )
    return Table("readings", "How replies were read, and repaired", ("rule", "repair", "replies"), rows)


def _plain_row(standing: Standing) -> tuple[Cell, ...]:
    return (
        standing.method,
        round(standing.score, 3),
        _range(standing.interval, 2) if standing.readings else "",
        _rounded(standing.evenness, 2),
        _nulls(standing),
    )


def _normed_row(standing: Standing, norm: Norm) -> tuple[Cell, ...]:
    if standing.failed and standing.readings:
        return (standing.method, round(standing.score, 3), "FAILED", "", "", "", "", "", "", "", "", _nulls(standing))
    eq, similarity = standing.eq, standing.similarity
    percent = None if eq is None else norm.percent_below(norm.score_of(eq))
    different = similarity is not None and similarity < norm.different_below
    return (
        standing.method,
        round(standing.score, 3),
        _rounded(eq, 1),
        _range(standing.eq_interval, 1) if standing.readings else "",
        band(eq) if eq is not None else "",
        f"{percent:.0f} %" if percent is not None else "",
        _rounded(similarity, 3),
        _rounded(standing.similarity_p, 3),
        f"{norm.percent_less_similar(similarity):.0f} %" if similarity is not None else "",
        "different" if different else "not different" if similarity is not None else "",
        _rounded(standing.evenness, 2),
        _nulls(standing),
    )


def _item_row(answer: Answered, norm: Norm | None) -> tuple[Cell, ...]:
    people = None if norm is None else norm.template[answer.scenario]
    profile = ", ".join(
        f"{option} {given:.1f} ({standard:.1f})"
        for option, given, standard in zip(answer.options, answer.points, answer.standard, strict=True)
    )
    return (answer.scenario, answer.story, round(answer.distance, 2), people, profile)


def _nulls(standing: Standing) -> str:
    return f"{standing.nulls:g} of {standing.items}"


def _range(interval: Interval | None, digits: int) -> str:
    if interval is None:
        return ""
    if interval.low is None or interval.high is None:
        return "too few items"
    return f"{interval.low:.{digits}f} to {interval.high:.{digits}f}"


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
