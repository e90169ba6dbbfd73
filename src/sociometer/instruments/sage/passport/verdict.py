"""The verdict on a simulator: what was found about it, by all witnesses, and what follows by the criterion."""

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean, stdev

import msgspec
from msgspec import Struct

from sociometer.core.measure import Measure, Summary
from sociometer.core.task import RunView
from sociometer.core.words import grouped
from sociometer.instruments.sage.passport import against_people
from sociometer.instruments.sage.passport.against_people import AgainstPeople
from sociometer.instruments.sage.passport.criterion import (
    CARE_BEYOND,
    CARE_BIAS,
    CARE_FIRST,
    CARE_ORDERED,
    CARE_SPREAD,
    CARE_UNREADABLE,
    FEWEST_FIRST,
    FEWEST_TURNS,
    NOT_APART,
    NOT_ORDERED,
    NOT_SPREAD,
    NOT_UNREADABLE,
    Verdict,
)
from sociometer.instruments.sage.passport.floor import BeyondState
from sociometer.instruments.sage.passport.people import PersonAnswer, PersonProbe
from sociometer.instruments.sage.passport.people import answers as people_answers
from sociometer.instruments.sage.passport.probes import ARMS, SETS, Felt, Probe, answers
from sociometer.instruments.sage.passport.released import Agreement, agreement_with, beyond
from sociometer.instruments.sage.person.emotion import find_leak, is_refusal, sign_changes
from sociometer.statistics.formatting import number

_OLD_RULE = " Its agreement is by the rule before version 9, which a judge who ignores the reply can pass."


class Passport(Struct, frozen=True, kw_only=True):
    """Everything that was found about a simulator, and the verdict."""

    simulator: str
    version: str = ""
    verdict: Verdict
    reasons: tuple[str, ...]
    agreement: tuple[Agreement, ...]
    beyond: BeyondState | None = None
    """The agreement with all released simulators given the state of the talk: the one that the verdict uses."""
    against: tuple[AgainstPeople, ...] = ()
    """What was found against the people of each study; empty if it was not checked against people."""
    unreadable: float
    spread: float | None
    """The standard deviation of five judgements of the same turn."""
    fragile: float | None = None
    """How often two judgements of the same turn have opposite signs, over the turns that were asked about again."""
    ordered: float | None
    """The share of pairs of replies that are in the right order; a tie is not."""
    means: dict[str, float]
    """The mean change after good, stock, cold and cruel replies, and after each adversary."""
    refused: float
    leaked: float
    requests: int
    tokens: int
    left_out: int = 0
    """Judgements that were not asked for, because none of the first could be read."""

    @property
    def line(self) -> str:
        """The verdict in one line."""
        why = f" ({'; '.join(self.reasons)})" if self.reasons else ""
        old = _OLD_RULE if self.agreement and self.beyond is None else ""
        people = "; ".join(found.line for found in self.against) or "not checked against people"
        return f"Passport of {self.simulator}: {self.verdict}{why}; {people}.{old}"


def examine(rows: Sequence[tuple[Probe, Felt]], simulator: str, version: str = "", left_out: int = 0) -> Passport:
    """The passport from the judgements of our own and of released turns; without any, it says so."""
    asked_for, unread = sum(item.times for item, _ in rows), sum(outcome.unreadable for _, outcome in rows)
    judged = [(item, fmean(outcome.changes)) for item, outcome in rows if outcome.changes]
    felt = grouped((item.arm, change) for item, change in judged if item.kind in ("order", "adversary"))
    turns = grouped((item.cluster, (item.arm, change)) for item, change in judged if item.kind == "order")
    pairs = [
        turn[better] > turn[worse]
        for turn in map(dict, turns.values())
        for better, worse in combinations(ARMS, 2)
        if better in turn and worse in turn
    ]
    spreads = [stdev(outcome.changes) for item, outcome in rows if item.kind == "repeat" and len(outcome.changes) > 1]
    again = [outcome.changes for _, outcome in rows if len(outcome.changes) > 1]
    spoken = [(item.scenario, outcome.words) for item, outcome in rows if item.kind == "spoken" and outcome.words]
    leaks = [find_leak(words, person.hidden, person.intention, person.language) for person, words in spoken]
    released = sorted({item.released_by for item, _ in rows if item.kind == "published"})
    made = Passport(
        simulator=simulator,
        version=version,
        verdict="may be used",
        reasons=(),
        agreement=tuple(found for name in released if (found := agreement_with(name, rows)) is not None),
        beyond=beyond([row for row in rows if row[0].kind == "published"]),
        unreadable=unread / asked_for if asked_for else 0.0,
        spread=_mean(spreads),
        fragile=_mean([sign_changes(changes) for changes in again]),
        ordered=_mean(pairs),
        means={arm: fmean(found) for arm, found in felt.items()},
        refused=_mean([is_refusal(words, person.language) for person, words in spoken]) or 0.0,
        leaked=_mean([leak in ("wording", "machinery") for leak in leaks]) or 0.0,
        requests=asked_for,
        tokens=sum(outcome.tokens for _, outcome in rows),
        left_out=left_out,
    )
    return _judged(made)


def with_people(passport: Passport, found: AgainstPeople) -> Passport:
    """The passport with what was found against a study, in place of what it had about that study."""
    others = [each for each in passport.against if each.study != found.study]
    return _judged(msgspec.structs.replace(passport, against=(*others, found)))


def _judged(passport: Passport) -> Passport:
    verdict, reasons = judge(passport)
    return msgspec.structs.replace(passport, verdict=verdict, reasons=reasons)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def judge(found: Passport) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict by the criterion, and the reasons for it."""
    if found.left_out:
        said = f"none of its first {found.requests} answers can be read; the other {found.left_out} were not asked for"
        return "not a person", (said,)
    fatal: list[str] = []
    care: list[str] = []
    if found.requests:
        _judge_own_turns(found, fatal, care)
        _judge_released(found, fatal, care)
    else:
        care.append("not asked about our own replies and released judgements")
    for study in found.against:
        not_a_person, with_care = against_people.verdict(study)
        fatal += [f"people of {study.study}: {reason}" for reason in not_a_person]
        care += [f"people of {study.study}: {reason}" for reason in with_care]
    if found.requests:
        _judge_conduct(found, fatal, care)
    if fatal:
        return "not a person", tuple(fatal)
    return ("use with care", tuple(care)) if care else ("may be used", ())


def _judge_own_turns(found: Passport, fatal: list[str], care: list[str]) -> None:
    means, good = found.means, found.means.get("good")
    _rule(fatal, care, found.unreadable, NOT_UNREADABLE, CARE_UNREADABLE, "{} of its answers are unreadable")
    if found.ordered is None or good is None or "cruel" not in means:
        fatal.append("it judged none of our replies")
        return
    wrong = "{} of the pairs of good, stock, cold and cruel replies are in the wrong order or tied"
    _rule(fatal, care, 1 - found.ordered, 1 - NOT_ORDERED, 1 - CARE_ORDERED, wrong)
    if good - means["cruel"] < NOT_APART:
        fatal.append(f"good replies are only {number(good - means['cruel'], 'points')} points above cruel ones")
    for which in SETS:
        felt = {arm.removeprefix(f"{which} "): means[arm] for arm in means if arm.startswith(f"{which} ")}
        if felt and good - fmean(felt.values()) < NOT_APART:
            gap = number(good - fmean(felt.values()), "points")
            fatal.append(f"good replies are only {gap} points above the adversaries ({which})")
        pleased = [kind for kind, value in felt.items() if value > 0]
        if pleased:
            care.append(f"it feels better after {', '.join(pleased)} ({which})")


def _judge_released(found: Passport, fatal: list[str], care: list[str]) -> None:
    given = found.beyond
    if given is None or given.turns < FEWEST_TURNS:
        care.append(f"not compared with released judgements (fewer than {FEWEST_TURNS} turns)")
    elif given.r is None or given.interval.low is None or given.interval.low <= 0:
        fatal.append("its changes follow released ones no better than a judge who ignores the reply")
    else:
        if given.r < CARE_BEYOND:
            care.append(f"given the state of the talk, its changes follow released ones only with r = {given.r:.2f}")
        if given.first_turns >= FEWEST_FIRST and (given.first is None or given.first <= CARE_FIRST):
            care.append("on first turns its changes do not follow released ones")
    apart = [each for each in found.agreement if each.turns >= FEWEST_TURNS and abs(each.bias) > CARE_BIAS]
    care += [f"{number(each.bias, 'points')} points a turn apart from {each.released_by}" for each in apart]


def _judge_conduct(found: Passport, fatal: list[str], care: list[str]) -> None:
    if found.spread is not None and found.spread > CARE_SPREAD:
        said = f"judgements of the same turn vary by {number(found.spread, 'points')} points"
        (fatal if found.spread > NOT_SPREAD else care).append(said)
    for share, what in ((found.refused, "refuses to speak as the person"), (found.leaked, "gives its script away")):
        if share > 0:
            care.append(f"{what} in {number(share, 'share')} of answers")


def _rule(fatal: list[str], care: list[str], value: float, most: float, wanted: float, text: str) -> None:
    if value > wanted:
        (fatal if value > most else care).append(text.format(number(value, "share")))


def summarise(run: RunView[Probe, Felt]) -> Summary:
    """The numbers of the passport, with the verdict as a note."""
    rows = answers(run)
    found = examine(rows, run.roles.get("simulator", ""))
    measures = [Measure("ordered", found.ordered, items=len(rows))]
    measures += [
        Measure("agreement", each.r, {"released": each.released_by}, each.interval, items=each.turns)
        for each in found.agreement
    ]
    if found.beyond is not None:
        measures.append(
            Measure("beyond-state", found.beyond.r, interval=found.beyond.interval, items=found.beyond.turns)
        )
    return Summary(tuple(measures), notes=(found.line,))


def summarise_people(run: RunView[PersonProbe, PersonAnswer]) -> Summary:
    """What the answers of a run add to the floor."""
    rows = people_answers(run)
    if not rows:
        return Summary(())
    turns, ends = against_people.turns_of(rows)
    unreadable = sum(answer.unreadable for _, answer in rows)
    item, _ = rows[0]
    found = against_people.examine_people(item.study, item.report, turns, ends, unreadable / len(rows))
    if found is None:
        return Summary((Measure("added", None, unreadable=unreadable),))
    added = Measure("added", found.added.value, interval=found.added.interval, items=found.turns, unreadable=unreadable)
    return Summary((added,), notes=(found.line,))
