"""The simulator against people: does it feel what people themselves reported after the same reply?

The criterion was fixed before any simulator was examined against people.
"""

from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from sociometer.core.measure import Interval, Table
from sociometer.core.words import grouped
from sociometer.instruments.sage.state import BeyondState, beyond_state
from sociometer.statistics.agreement import spearman
from sociometer.statistics.correlation import pearson
from sociometer.statistics.formatting import estimate
from sociometer.statistics.intervals import clustered_mean_interval

# Not a person: the interval over people of the partial correlation, given the state, reaches down to zero.
CARE_PEOPLE = 0.3
"""The partial correlation with people's own changes, given the state, below which a simulator is used with care."""
FEWEST_PEOPLE, FEWEST_TURNS = 20, 60
"""With fewer people, or fewer turns of them, the agreement decides nothing."""
FEWEST_PAIRS = 20
"""With so many pairs of replies, a simulator is used with care if it orders them no better than by chance."""
_CHANCE = 0.5
_FEWEST_MODELS = 3


class JudgedTurn(Struct, frozen=True):
    """A reply that a person and the simulator judged."""

    person: str
    talk: str
    model: str
    state: tuple[int, int, int]
    """The turn, the person's feeling before, and the characters of the reply."""
    expected: float
    """The change that the state predicts, fitted on other people."""
    reported: int
    """The change that the person reported."""
    judged: tuple[int, ...]
    """The change in each judgement of the simulator; there is at least one."""


class JudgedPair(Struct, frozen=True):
    """Two replies at one turn: the simulator's change after the one that the person preferred, and after the other."""

    person: str
    preferred: float
    other: float

    @property
    def right(self) -> float:
        """1 if the simulator's order is the person's; a tie is a half."""
        return _CHANCE if self.preferred == self.other else float(self.preferred > self.other)


class PeopleAgreement(Struct, frozen=True):
    """How far a simulator's changes follow those that people reported."""

    study: str
    people: int
    talks: int
    beyond: BeyondState
    again: float | None
    """The ceiling: the correlation of the simulator's two answers."""
    bias: float
    bias_interval: Interval
    error: float
    """The mean absolute difference."""
    constant: float
    """The same for a constant, the floor."""
    pairs: int = 0
    order: float | None = None
    """The share of pairs of replies that the simulator orders as the person did; a tie is a half."""
    order_interval: Interval = Interval(None, None)
    models: int = 0
    ranks: float | None = None
    """Spearman's rho of the models' mean changes, for the simulator and for people."""

    @property
    def line(self) -> str:
        """The agreement in words."""
        if self.beyond.r is None:
            return f"agreement with people unknown: its changes do not vary ({self.talks} talks)"
        return f"agrees with people {estimate(self.beyond.r, 'number', self.beyond.interval)} ({self.talks} talks)"


def agree(study: str, turns: Sequence[JudgedTurn], pairs: Sequence[JudgedPair]) -> PeopleAgreement | None:
    """The agreement with the people of a study; None with fewer than three turns."""
    if len(turns) < 3:
        return None
    here, there = [float(one.judged[0]) for one in turns], [float(one.reported) for one in turns]
    people = [one.person for one in turns]
    gaps = [one - two for one, two in zip(here, there, strict=True)]
    twice = [(float(one.judged[0]), float(one.judged[1])) for one in turns if len(one.judged) > 1]
    middle, rights = sorted(there)[len(there) // 2], [one.right for one in pairs]
    by_model = grouped((one.model, (float(one.judged[0]), float(one.reported))) for one in turns)
    means = [(fmean(one for one, _ in found), fmean(two for _, two in found)) for found in by_model.values()]
    return PeopleAgreement(
        study, len(set(people)), len({one.talk for one in turns}),
        beyond_state(here, there, [one.expected for one in turns], [one.state for one in turns],
                     [("people", name) for name in people], "people"),
        _correlation(twice), fmean(gaps), clustered_mean_interval(gaps, people, binary=False),
        fmean(map(abs, gaps)), fmean(abs(value - middle) for value in there),
        len(pairs), fmean(rights) if rights else None,
        clustered_mean_interval(rights, [one.person for one in pairs], scale=(0.0, 1.0)) if rights
        else Interval(None, None),
        len(means), _ranks(means),
    )  # fmt: skip


def _ranks(means: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's rho of two lists of means; None with few models, or if one list does not vary."""
    one, two = [each for each, _ in means], [each for _, each in means]
    return spearman(one, two)[0] if len(means) >= _FEWEST_MODELS and len(set(one)) > 1 < len(set(two)) else None


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    try:
        one, two = [each for each, _ in pairs], [each for _, each in pairs]
        return pearson(one, two, [f"{place}" for place in range(len(one))]).r
    except ValueError:
        return None


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
    rows = (
        ("people", found.people),
        ("talks", found.talks),
        ("turns", found.beyond.turns),
        ("r of the state (floor)", found.beyond.state),
        ("r given the state", estimate(found.beyond.r, "number", found.beyond.interval)),
        ("r of the simulator asked twice (ceiling)", found.again),
        ("bias, points a turn", estimate(found.bias, "points", found.bias_interval)),
        ("mean difference, points", found.error),
        ("mean difference of a constant, points", found.constant),
        ("pairs of replies", found.pairs),
        ("pairs in the person's order", estimate(found.order, "share", found.order_interval)),
        ("models", found.models),
        ("rank agreement of models", found.ranks),
    )
    note = (
        "Change of the feeling after a reply, as the person reported it and as the simulator judged it. State: what the"
        " feeling before, the turn and the length of the reply predict, fitted on other people. A tie of two replies"
        " is half right."
    )
    return Table("people", f"Agreement with the people of study {found.study}", ("what", "value"), rows, note=note)
