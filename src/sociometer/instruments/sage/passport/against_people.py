"""The simulator against people: does it feel what people themselves reported after the same reply?

The criterion was fixed before any simulator was examined against people.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.language import texts_in
from sociometer.core.measure import Interval, Table
from sociometer.core.task import RunView
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.passport.floor import BeyondState
from sociometer.instruments.sage.passport.probes import Felt, Probe
from sociometer.instruments.sage.passport.released import Agreement, agreement_with, with_expected
from sociometer.instruments.sage.passport.talks import PersonTalk
from sociometer.instruments.sage.person.emotion import WORDS
from sociometer.statistics.formatting import estimate
from sociometer.statistics.intervals import clustered_mean_interval

OTHER = "other"
"""The second of two replies that a person saw."""

# Not a person: the interval over people of the partial correlation, given the state, reaches down to zero.
CARE_PEOPLE = 0.3
"""The partial correlation with people's own changes, given the state, below which a simulator is used with care."""
FEWEST_PEOPLE, FEWEST_TURNS = 20, 60
"""With fewer people, or fewer turns of them, the agreement decides nothing."""
FEWEST_PAIRS = 20
"""With so many pairs of replies, a simulator is used with care if it orders them no better than by chance."""
_CHANCE = 0.5


class PeopleAgreement(Struct, frozen=True):
    """How far a simulator's changes follow those that people reported, and its order of two replies theirs."""

    changes: Agreement
    people: int
    talks: int
    pairs: int = 0
    order: float | None = None
    """The share of pairs of replies that the simulator orders as the person did; a tie is a half."""
    order_interval: Interval = Interval(None, None)

    @property
    def beyond(self) -> BeyondState:
        """The agreement given the state of the talk."""
        return self.changes.beyond or BeyondState(0, None, None, Interval(None, None), 0, None, Interval(None, None))

    @property
    def line(self) -> str:
        """The agreement in words."""
        if self.beyond.r is None:
            return f"agreement with people unknown: its changes do not vary ({self.talks} talks)"
        return f"agrees with people {estimate(self.beyond.r, 'number', self.beyond.interval)} ({self.talks} talks)"


def right_order(preferred: float, other: float) -> float:
    """1 if the change is higher after the reply that the person preferred; a tie is a half."""
    return _CHANCE if preferred == other else float(preferred > other)


def verdict(found: PeopleAgreement) -> tuple[list[str], list[str]]:
    """Why the simulator is not a person, and why it is used with care, by the criterion at the top of this file."""
    beyond = found.beyond
    if found.people < FEWEST_PEOPLE or beyond.turns < FEWEST_TURNS:
        return [], [f"compared with too few people ({found.people}; {beyond.turns} turns)"]
    if beyond.r is None or beyond.interval.low is None or beyond.interval.low <= 0:
        return ["its changes follow people's own no better than a judge who ignores the reply"], []
    care = []
    if beyond.r < CARE_PEOPLE:
        care.append(f"given the state of the talk, its changes follow people's own only with r = {beyond.r:.2f}")
    low = found.order_interval.low
    if found.pairs >= FEWEST_PAIRS and (low is None or low <= _CHANCE):
        care.append("of two replies it does not reliably prefer the one that people prefer")
    return [], care


def table(found: PeopleAgreement) -> Table:
    """The agreement as a table of the passport."""
    changes, beyond = found.changes, found.beyond
    rows = (
        ("people", found.people),
        ("talks", found.talks),
        ("turns", beyond.turns),
        ("r of the state (floor)", beyond.state),
        ("r given the state", estimate(beyond.r, "number", beyond.interval)),
        ("r of the simulator asked twice (ceiling)", changes.again),
        ("bias, points a turn", estimate(changes.bias, "points", changes.bias_interval)),
        ("mean difference, points", changes.error),
        ("mean difference of a constant, points", changes.constant),
        ("pairs of replies", found.pairs),
        ("pairs in the person's order", estimate(found.order, "share", found.order_interval)),
        ("rank agreement of models", changes.order),
    )
    note = (
        "Change of the feeling after a reply, as the person reported it and as the simulator judged it. State: what the"
        " feeling before, the turn and the length of the reply predict, fitted on other people. A tie of two replies"
        " is half right."
    )
    return Table(
        "people", f"Agreement with the people of study {changes.released_by}", ("what", "value"), rows, note=note
    )


def people_probes(study: str, people: Mapping[str, str], views: Iterable[RunView[Any, PersonTalk]]) -> list[Probe]:
    """Every turn with a person's own feeling, asked twice, and the second replies; `people` are their ids, by run."""
    made = [
        probe
        for view in views
        for place, (_, talk, _) in enumerate(view.scored())
        for probe in _probes_of(talk, people[view.run], f"{view.run}/{place}", study, view.name)
    ]
    second = [probe for probe in made if probe.arm == OTHER]
    return with_expected([probe for probe in made if probe.arm != OTHER]) + second


def _scenario(talk: PersonTalk, name: str) -> Scenario:
    words = texts_in(WORDS, talk.language)["people"]
    return Scenario(
        id=name,
        cluster=name,
        language=talk.language,
        intention="",
        source="people",
        background=talk.matter,
        first_words=talk.opening,
        **words,
    )


def _probes_of(talk: PersonTalk, who: str, where: str, study: str, model: str) -> Iterator[Probe]:
    before = talk.start or 0
    for place, turn in enumerate(talk.turns):
        if turn.reported is not None:
            said, chosen = talk.said(place), turn.preferred == "reply" if turn.preferred else None
            probe = Probe(
                id=f"people/{where}/{place + 1}", cluster=who, kind="people", scenario=_scenario(talk, who),
                talk=(*said, ("subject", turn.reply)), before=before, times=2, change=turn.reported - before,
                released_by=study, subject=model, of_talk=where, preferred=chosen,
            )  # fmt: skip
            yield probe
            if chosen is not None:
                other = (*said, ("subject", turn.other))
                facts = {"id": f"{probe.id}/other", "talk": other, "times": 1, "change": 0, "arm": OTHER}
                yield msgspec.structs.replace(probe, preferred=not chosen, **facts)
            before = turn.reported


def examined(rows: Sequence[tuple[Probe, Felt]]) -> PeopleAgreement | None:
    """The agreement with people in these answers; None without any of theirs."""
    found = {item.id: (item, fmean(out.changes)) for item, out in rows if item.kind == "people" and out.changes}
    first = [item for item, _ in found.values() if item.arm != OTHER]
    chosen = [row for row in rows if row[0].arm != OTHER]
    whole = agreement_with(first[0].released_by, chosen, "people") if first else None
    if whole is None:
        return None
    pairs = [(one, found[one.id][1], found[f"{one.id}/{OTHER}"][1]) for one in first if f"{one.id}/{OTHER}" in found]
    rights = [right_order(here, there) if one.preferred else right_order(there, here) for one, here, there in pairs]
    people = [one.cluster for one, _, _ in pairs]
    return PeopleAgreement(
        whole,
        len({one.cluster for one in first}),
        len({one.of_talk for one in first}),
        len(pairs),
        fmean(rights) if rights else None,
        clustered_mean_interval(rights, people, scale=(0.0, 1.0)) if rights else Interval(None, None),
    )
