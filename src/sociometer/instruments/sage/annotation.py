"""The human check: sheets of contexts for annotators, read back and held against the simulator as in Table 1."""

import csv
import io
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from msgspec import Struct

from sociometer.analysis.agreement import krippendorff_alpha
from sociometer.core.errors import DataError
from sociometer.instruments.sage.analyses.stability import Context
from sociometer.instruments.sage.comparisons import majority
from sociometer.instruments.sage.emotion import direction

DIRECTIONS = ("up", "same", "down")
_SHEET = ("context", "persona", "background", "goal", "hidden intention", "talk", "last reply", "direction")
_REASONING = ("context", "last reply", "inner activity", "feeling", "change", "reasonable")
_CODES = {"up": 1.0, "same": 0.0, "down": -1.0, "yes": 1.0, "no": 0.0}


class Annotations(Struct, frozen=True):
    """What one annotator wrote: a direction, or a judgement of reasonableness, for each context."""

    annotator: str
    directions: dict[str, str]
    reasonable: dict[str, str]


class HumanCheck(Struct, frozen=True):
    """The figures of Table 1, each None where nothing bears on it."""

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
    """The sheet of directions: all that the simulator knew, and an empty column for the annotator."""
    rows = []
    for context in contexts:
        scenario = context.scenario
        talk = "\n".join(f"{who}: {words}" for who, words in context.talk[:-1])
        rows.append(
            (context_key(context), scenario.persona, scenario.background, scenario.goal, scenario.hidden, talk,
             context.talk[-1][1], "")
        )  # fmt: skip
    return _csv(_SHEET, rows)


def write_reasoning(contexts: Sequence[Context]) -> str:
    """The sheet of reasonableness, to be filled in after the other: it shows what the simulator thought."""
    rows = [
        (context_key(each), each.talk[-1][1], each.judgement.activity, each.judgement.feeling,
         str(each.judgement.change), "")
        for each in contexts
    ]  # fmt: skip
    return _csv(_REASONING, rows)


def read_sheet(path: Path) -> Annotations:
    """A filled-in sheet of either kind; the annotator is named after the file."""
    directions: dict[str, str] = {}
    reasonable: dict[str, str] = {}
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from None
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), 2):
        key = (row.get("context") or "").strip()
        for column, allowed, found in (
            ("direction", DIRECTIONS, directions),
            ("reasonable", ("yes", "no"), reasonable),
        ):
            value = (row.get(column) or "").strip().lower()
            if value and value not in allowed:
                raise DataError(f"{column} '{value}'; allowed: {', '.join(allowed)}, or empty", path, number)
            if value and key:
                found[key] = value
    if not directions and not reasonable:
        raise DataError("holds no answer; fill in the column 'direction' or 'reasonable'", path)
    return Annotations(path.stem.removesuffix("-reasoning"), directions, reasonable)


def check(annotations: Sequence[Annotations], contexts: Mapping[str, Context]) -> HumanCheck:
    """The simulator against people: each annotator, their majority, their agreement, and their view of its reasons."""
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
        annotators=len({each.annotator for each in annotations}),
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


def _csv(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[_safe(cell) for cell in row] for row in rows])
    return out.getvalue()


def _safe(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@") and not cell[1:].isdigit() else cell
