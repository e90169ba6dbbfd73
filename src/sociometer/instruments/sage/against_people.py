"""The simulator against people: does it feel what people themselves reported after the same reply?

The criterion was fixed before any simulator was examined against people.
"""

from msgspec import Struct

from sociometer.core.measure import Interval, Table
from sociometer.instruments.sage.state import Agreement, BeyondState
from sociometer.statistics.formatting import estimate

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
