"""The human check: sheets for annotators, compared with the simulator."""

from collections.abc import Iterable, Mapping
from itertools import combinations

from msgspec import Struct

from sociometer.core.measure import Measure
from sociometer.core.task import PeopleLabel, SheetRow
from sociometer.core.words import grouped
from sociometer.instruments.sage.analyses.stability import Context
from sociometer.instruments.sage.dialogue import as_text
from sociometer.instruments.sage.person.emotion import direction
from sociometer.statistics.agreement import Agreement, alpha_of, settled
from sociometer.statistics.measures import Observation, mean_measure

DIRECTIONS = ("down", "same", "up")
SHEETS = ("feelings", "reasoning")
"""The sheets of the card for people: one about directions, one about what is reasonable."""


class HumanCheck(Struct, frozen=True):
    """The figures of Table 1, with intervals over contexts; a measure without data has no value."""

    contexts: int
    annotators: int
    shares: tuple[Measure, ...]
    """The rows of Table 1, in its order."""
    alpha: Agreement | None
    shared: int
    """How many contexts at least two annotators rated."""
    undecided: int
    """For how many of these no answer is that of more than half."""


def context_key(context: Context) -> str:
    """The name of a context in a sheet: run and place."""
    return f"{context.run}:{context.id}"


def feelings_row(context: Context) -> SheetRow:
    """Everything the simulator knew, for an annotator who says in which direction the feeling goes."""
    scenario, said = context.scenario, context.talk
    shown = (
        scenario.persona, scenario.background, scenario.goal, scenario.hidden, as_text(said[:-1]), said[-1][1],
    )  # fmt: skip
    return SheetRow(context.run, (context_key(context),), shown)


def reasoning_row(context: Context) -> SheetRow:
    """What the simulator thought and felt, for an annotator who says whether that is reasonable."""
    judged = context.judgement
    shown = (context.talk[-1][1], judged.activity, judged.feeling, str(judged.change))
    return SheetRow(context.run, (context_key(context),), shown)


def by_column(read: Iterable[PeopleLabel]) -> dict[str, dict[str, dict[str, str]]]:
    """The answers in each column by annotator and context."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for label in read:
        for column, said in label.answers.items():
            found.setdefault(column, {}).setdefault(label.rater, {})[label.key[0]] = said
    return found


def check(read: Iterable[PeopleLabel], contexts: Mapping[str, Context]) -> HumanCheck:
    """The simulator compared with people: each annotator, their majority, their agreement, and the reasonableness."""
    columns = by_column(read)
    given = [(name, key) for people in columns.values() for name, answers in people.items() for key in answers]
    model = {key: direction(context.judgement.change) for key, context in contexts.items()}
    directions, reasons = (columns.get(column, {}) for column in ("direction", "reasonable"))
    by_context = grouped(_every(directions))
    several = {key: labels for key, labels in by_context.items() if len(labels) > 1}
    decided = {key: found for key, labels in several.items() if (found := settled(labels)) is not None}
    return HumanCheck(
        contexts=len(by_context),
        annotators=len({name for name, _ in given}),
        shares=(
            _share((key, model[key] == value) for key, value in _every(directions)),
            _share((key, model[key] == chosen) for key, chosen in decided.items()),
            _share(_agreements(directions)),
            _share((key, value == "yes") for key, value in _every(reasons)),
            _share(_agreements(reasons)),
        ),
        alpha=_alpha(directions),
        shared=len(several),
        undecided=len(several) - len(decided),
    )


def _every(people: Mapping[str, Mapping[str, str]]) -> Iterable[tuple[str, str]]:
    return (pair for given in people.values() for pair in given.items())


def _agreements(people: Mapping[str, Mapping[str, str]]) -> Iterable[tuple[str, bool]]:
    """For every two annotators and every context of both: whether they agree."""
    pairs = combinations(people.values(), 2)
    return ((key, one[key] == two[key]) for one, two in pairs for key in one if key in two)


def _share(answers: Iterable[tuple[str, bool]]) -> Measure:
    """The share of answers that are true; the answers on one context are one cluster."""
    rows = [Observation(f"{place}", key, float(true), {}) for place, (key, true) in enumerate(answers)]
    return mean_measure("share", rows, binary=True)


def _alpha(directions: Mapping[str, Mapping[str, str]]) -> Agreement | None:
    """Krippendorff's alpha with its interval; None if no two people rated the same, or all labels are the same."""
    try:
        found = alpha_of(directions, DIRECTIONS, "ordinal")
    except ValueError:
        return None
    return None if found.value != found.value else found
