"""The human check: sheets of contexts for annotators, compared with the simulator as in Table 1."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from msgspec import Struct

from sociometer.core import sheets
from sociometer.core.errors import DataError
from sociometer.instruments.sage.analyses.stability import Context
from sociometer.instruments.sage.comparisons import majority
from sociometer.instruments.sage.emotion import direction
from sociometer.statistics.agreement import krippendorff_alpha

DIRECTIONS = ("up", "same", "down")
_SHEET = ("context", "persona", "background", "goal", "hidden intention", "talk", "last reply", "direction")
_REASONING = ("context", "last reply", "inner activity", "feeling", "change", "reasonable")
_CODES = {"up": 1.0, "same": 0.0, "down": -1.0, "yes": 1.0, "no": 0.0}


class Annotations(Struct, frozen=True):
    """One annotator's answers: a direction, or a judgement of reasonableness, for each context."""

    annotator: str
    directions: dict[str, str]
    reasonable: dict[str, str]


class HumanCheck(Struct, frozen=True):
    """The figures of Table 1; None without data."""

    contexts: int
    annotators: int
    consistency: float | None
    majority_consistency: float | None
    agreement: float | None
    alpha: float | None
    reasonableness: float | None
    reasonableness_agreement: float | None
    ties: int = 0


def context_key(context: Context) -> str:
    """The name of a context in a sheet: run and place."""
    return f"{context.run}:{context.id}"


def write_sheet(contexts: Sequence[Context]) -> str:
    """The sheet of directions: everything the simulator knew, and an empty column for the annotator."""
    rows = []
    for context in contexts:
        scenario = context.scenario
        talk = "\n".join(f"{who}: {words}" for who, words in context.talk[:-1])
        rows.append(
            (context_key(context), scenario.persona, scenario.background, scenario.goal, scenario.hidden, talk,
             context.talk[-1][1], "")
        )  # fmt: skip
    return sheets.write_sheet(_SHEET, rows, guard_formulas=True)


def write_reasoning(contexts: Sequence[Context]) -> str:
    """The sheet of reasonableness, to fill in after the other one: it shows what the simulator thought."""
    rows = [
        (context_key(each), each.talk[-1][1], each.judgement.activity, each.judgement.feeling,
         each.judgement.change, "")
        for each in contexts
    ]  # fmt: skip
    return sheets.write_sheet(_REASONING, rows, guard_formulas=True)


def read_sheet(path: Path) -> Annotations:
    """A filled-in sheet of either kind; the annotator is named after the file."""
    directions: dict[str, str] = {}
    reasonable: dict[str, str] = {}
    for line, row in sheets.read_rows(path, ("context",), ("direction", "reasonable"), guarded=True):
        key = row["context"].strip()
        for column, allowed, found in (
            ("direction", DIRECTIONS, directions),
            ("reasonable", ("yes", "no"), reasonable),
        ):
            value = row.get(column, "").strip().lower()
            if value and value not in allowed:
                raise DataError(f"{column} '{value}'; allowed: {', '.join(allowed)}, or empty", path, line)
            if value and key:
                found[key] = value
    if not directions and not reasonable:
        raise DataError("contains no answer; fill in the column 'direction' or 'reasonable'", path)
    return Annotations(path.stem.removesuffix("-reasoning"), directions, reasonable)


def by_annotator(sheets_read: Sequence[Annotations]) -> list[Annotations]:
    """The answers of each annotator, whose sheets count as one; two different answers to one context are an error."""
    found: dict[str, Annotations] = {}
    for each in sheets_read:
        known = found.setdefault(each.annotator, Annotations(each.annotator, {}, {}))
        for column, given, kept in (
            ("direction", each.directions, known.directions),
            ("reasonable", each.reasonable, known.reasonable),
        ):
            for key, value in given.items():
                if kept.setdefault(key, value) != value:
                    raise DataError(
                        f"the sheets of '{each.annotator}' give two answers for {column} of context '{key}': "
                        f"{kept[key]} and {value}; sheets with the same name count as one person's; if two people "
                        "filled them in, rename one"
                    )
    return list(found.values())


def check(sheets_read: Sequence[Annotations], contexts: Mapping[str, Context]) -> HumanCheck:
    """The simulator compared with people: each annotator, their majority, their agreement, and the reasonableness."""
    annotations = by_annotator(sheets_read)
    for each in annotations:
        for key in (*each.directions, *each.reasonable):
            if key not in contexts:
                raise DataError(f"context '{key}' in the sheet of '{each.annotator}' is in none of the runs given")
    model = {key: direction(context.judgement.change) for key, context in contexts.items()}
    people = [each.directions for each in annotations if each.directions]
    rates = [sum(model[key] == value for key, value in given.items()) / len(given) for given in people]
    by_context: dict[str, list[str]] = {}
    for given in people:
        for key, value in given.items():
            by_context.setdefault(key, []).append(value)
    decided = {key: chosen for key, labels in by_context.items() if (chosen := majority(labels)) is not None}
    reasons = [each.reasonable for each in annotations if each.reasonable]
    return HumanCheck(
        contexts=len(by_context),
        annotators=len(annotations),
        consistency=_mean(rates),
        majority_consistency=_mean([float(model[key] == chosen) for key, chosen in decided.items()]),
        agreement=pairwise_agreement(people),
        alpha=_alpha(people),
        reasonableness=_mean([float(value == "yes") for given in reasons for value in given.values()]),
        reasonableness_agreement=pairwise_agreement(reasons),
        ties=len(by_context) - len(decided),
    )


def pairwise_agreement(people: Sequence[Mapping[str, str]]) -> float | None:
    """The mean share of contexts on which two annotators agree, over all pairs that share any."""
    shares = []
    for one, two in combinations(people, 2):
        shared = set(one) & set(two)
        if shared:
            shares.append(sum(one[key] == two[key] for key in shared) / len(shared))
    return _mean(shares)


def _alpha(people: Sequence[Mapping[str, str]]) -> float | None:
    keys = sorted({key for given in people for key in given})
    table = [[_CODES[given[key]] if key in given else float("nan") for key in keys] for given in people]
    try:
        value = krippendorff_alpha(table, "ordinal").value if len(people) > 1 else float("nan")
    except ValueError:
        return None
    return None if value != value else value


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
