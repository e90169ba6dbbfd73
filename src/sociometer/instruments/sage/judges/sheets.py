"""The human check: sheets for annotators, read back and compared with the simulator."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from msgspec import Struct

from sociometer.core import sheets
from sociometer.core.errors import DataError
from sociometer.core.measure import Measure
from sociometer.core.task import PeopleLabel
from sociometer.core.words import grouped
from sociometer.instruments.sage.analyses.stability import Context
from sociometer.instruments.sage.dialogue import as_text
from sociometer.instruments.sage.person.emotion import direction
from sociometer.statistics.agreement import Agreement, alpha_of, settled
from sociometer.statistics.measures import Observation, mean_measure

DIRECTIONS = ("down", "same", "up")
_SHEET = ("run", "context", "persona", "background", "goal", "hidden intention", "talk", "last reply", "direction")
_REASONING = ("run", "context", "last reply", "inner activity", "feeling", "change", "reasonable")
_ALLOWED = {"direction": DIRECTIONS, "reasonable": ("yes", "no")}
SHEETS = {"direction": "feelings", "reasonable": "reasoning"}
"""The sheet of the card that has each column."""


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


def write_sheet(contexts: Sequence[Context]) -> str:
    """The sheet of directions: everything the simulator knew, and an empty column for the annotator."""
    rows = []
    for context in contexts:
        scenario = context.scenario
        talk = as_text(context.talk[:-1])
        rows.append(
            (context.run, context_key(context), scenario.persona, scenario.background, scenario.goal, scenario.hidden,
             talk, context.talk[-1][1], "")
        )  # fmt: skip
    return sheets.write_sheet(_SHEET, rows, guard_formulas=True)


def write_reasoning(contexts: Sequence[Context]) -> str:
    """The sheet of reasonableness, to fill in after the other one: it shows what the simulator thought."""
    rows = [
        (
            each.run,
            context_key(each),
            each.talk[-1][1],
            each.judgement.activity,
            each.judgement.feeling,
            each.judgement.change,
            "",
        )
        for each in contexts
    ]
    return sheets.write_sheet(_REASONING, rows, guard_formulas=True)


def read_sheet(path: Path) -> list[PeopleLabel]:
    """A filled-in sheet of either kind; the annotator is named after the file, and a row may be left empty."""
    found = []
    for line, row in sheets.read_rows(path, ("context",), tuple(_ALLOWED), guarded=True):
        key = row["context"].strip()
        answers = {column: said for column in _ALLOWED if (said := row.get(column, "").strip().lower())}
        for column, said in answers.items():
            if said not in _ALLOWED[column]:
                raise DataError(f"{column} '{said}'; allowed: {', '.join(_ALLOWED[column])}, or empty", path, line)
        if key and answers:
            found.append(PeopleLabel(path.stem.removesuffix("-reasoning"), (key,), answers))
    if not found:
        raise DataError("contains no answer", path)
    return found


def by_column(read: Iterable[PeopleLabel]) -> dict[str, dict[str, dict[str, str]]]:
    """The answers in each column by annotator and context; two different answers to one question are an error."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for rater, key, column, said in ((one.rater, one.key[0], *pair) for one in read for pair in one.answers.items()):
        known = found.setdefault(column, {}).setdefault(rater, {})
        if known.setdefault(key, said) != said:
            raise DataError(
                f"the sheets of '{rater}' give two answers for {key}, {column}: {known[key]} and "
                f"{said}; sheets with the same name count as one person's; if two people filled them in, rename one"
            )
    return found


def check(read: Iterable[PeopleLabel], contexts: Mapping[str, Context]) -> HumanCheck:
    """The simulator compared with people: each annotator, their majority, their agreement, and the reasonableness."""
    columns = by_column(read)
    given = [(name, key) for people in columns.values() for name, answers in people.items() for key in answers]
    for name, key in given:
        if key not in contexts:
            raise DataError(f"context '{key}' in the sheet of '{name}' is in none of the runs given")
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
