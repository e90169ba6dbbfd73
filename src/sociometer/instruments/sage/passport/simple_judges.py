"""Simple rules in the simulator's place: what they reach by the same examination, beside every simulator."""

import math
from collections.abc import Callable, Iterable, Sequence

from sociometer.core.measure import Cell, Table
from sociometer.instruments.sage.passport.against_people import (
    AgainstPeople,
    JudgedTurn,
    Value,
    examine_people,
    two_decimals,
)
from sociometer.instruments.sage.passport.people import PersonProbe
from sociometer.instruments.sage.person.emotion import RULES
from sociometer.instruments.sage.person.rehearsal import felt_by_rule
from sociometer.reading import read_rules
from sociometer.statistics.formatting import estimate

Judge = Callable[[PersonProbe], float]
_MIDDLE = 0.5
_REHEARSAL_RANGE = 5
"""The rehearsal's changes go from -3 to 2."""


def previous_report(probe: PersonProbe) -> float:
    """The person's previous report; on a first turn the middle of the scale."""
    low, high = probe.scale
    earlier = probe.state.earlier
    return float(earlier[-1]) if earlier else low + _MIDDLE * (high - low)


def length(probe: PersonProbe) -> float:
    """The logarithm of the number of characters of the reply."""
    return math.log1p(len(probe.reply))


def sentiment(probe: PersonProbe) -> float:
    """Pleased less displeased words, by a word list, in what the person wrote last before the reply."""
    rules = read_rules("chat", probe.language, RULES)
    words = next((text for who, text in reversed(probe.talk) if who == "person"), "")
    pleased = len(rules.find("pleased").findall(words))
    return float(pleased - len(rules.find("displeased").findall(words)))


def rehearsal(probe: PersonProbe) -> float:
    """The change by the rules of the rehearsal, on the scale of the report."""
    low, high = probe.scale
    words = next((text for who, text in reversed(probe.talk) if who == "person"), "")
    earlier = [text for who, text in probe.talk[:-1] if who == "subject"]
    change, _ = felt_by_rule(probe.reply, earlier, words)
    return low + (change + 3) / _REHEARSAL_RANGE * (high - low)


SIMPLE_JUDGES: dict[str, Judge] = {
    "previous report": previous_report,
    "length of the reply": length,
    "sentiment of the person's last words": sentiment,
    "rehearsal": rehearsal,
}


def turns_by_rule(probes: Iterable[PersonProbe], judge: Judge) -> list[JudgedTurn]:
    """The turns as a rule judges them, each with its reply and with another."""
    probes = list(probes)
    others = {probe.turn_id: probe for probe in probes if probe.asks == "other"}
    turns: list[JudgedTurn] = []
    for probe in probes:
        if probe.asks != "report":
            continue
        other = others.get(probe.turn_id)
        turns.append(
            JudgedTurn(
                person=probe.cluster,
                talk=probe.of_talk,
                subject=probe.subject,
                state=probe.state,
                reported=float(probe.reported),
                judged=judge(probe),
                other=judge(other) if other else None,
                other_length=len(other.reply) if other else len(probe.reply),
                has_other=other is not None,
                preferred=probe.preferred,
            )
        )
    return turns


def examine_rules(probes: Sequence[PersonProbe]) -> dict[str, AgainstPeople]:
    """What each simple rule reaches on these turns."""
    findings: dict[str, AgainstPeople] = {}
    for name, judge in SIMPLE_JUDGES.items():
        against = examine_people(probes[0].study, probes[0].report, turns_by_rule(probes, judge))
        if against is not None:
            findings[name] = against
    return findings


def table(probes: Sequence[PersonProbe]) -> Table:
    """What the simple rules reach on the same turns."""

    def shown(value: Value) -> str:
        return estimate(value.value, "number", value.interval)

    rows: list[tuple[Cell, ...]] = [
        (name, shown(findings.added), shown(findings.another), shown(findings.talk_means))
        for name, findings in examine_rules(probes).items()
    ]
    columns = ("rule", "r given the state", "r of the difference to another reply", "r of talk means")
    note = "None of them reads the reply as a person would; a dash: nothing is left given the state."
    return Table("rules", "Simple rules on the same turns", columns, tuple(rows), note=note)


def floor_table(probes: Sequence[PersonProbe]) -> Table:
    """What predicts people's reports without the reply, and how far people agree with themselves."""
    findings = examine_people(probes[0].study, probes[0].report, turns_by_rule(probes, previous_report))
    if findings is None:
        raise ValueError("no turn has a report")
    rows: tuple[tuple[Cell, ...], ...] = (
        ("people", findings.people),
        ("talks", findings.talks),
        ("turns (first turns)", f"{findings.turns} ({findings.first_turns})"),
        ("standard deviation of the reports", two_decimals(findings.deviation)),
        ("r of the previous report alone", two_decimals(findings.previous)),
        ("floor: r of the state", two_decimals(findings.floor)),
        ("ceiling: r of odd and even turns", two_decimals(findings.halves)),
        ("the same for whole talks", two_decimals(findings.whole)),
    )
    note = "State: what the earlier reports, the turn and the length of the reply predict, fitted on other people."
    title = f"What the people of {findings.study} reported ({findings.report})"
    return Table("floor", title, ("what", "value"), rows, note=note)
