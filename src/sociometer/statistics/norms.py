"""A norm of people for every instrument: its file, a subject's place among the people, items on which they differ."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct, structs

from sociometer.core.card import PERCENTILE, Card, MeasureCard
from sociometer.core.errors import DataError, UsageError, hint
from sociometer.core.lazy import lazy
from sociometer.core.measure import Case, Interval, Measure, Summary, Table
from sociometer.core.source import Source
from sociometer.core.task import AnyRun, Item, Task
from sociometer.statistics.distributions import t_below
from sociometer.statistics.intervals import clustered_mean_interval, is_binary
from sociometer.statistics.item_values import ItemValue, item_values
from sociometer.statistics.paired import benjamini_hochberg
from sociometer.statistics.people import FEWEST_PEOPLE, Curve, Share, place_interval, share_worse

stats = lazy("scipy.stats")

FALSE_DISCOVERIES = 0.05
ONLY_SHUFFLED = "comparable only with other runs with --shuffle"
"""The note of a place among people who saw the options in another order: as a percentile it does not hold."""
MOST_BYTES = 50_000_000


class ItemNorm(Struct, frozen=True):
    """One item: a digest of what people were asked, how many answered, and the mean and spread of their values."""

    content: str
    people: Annotated[int, Meta(ge=1)]
    mean: float
    deviation: Annotated[float, Meta(ge=0)]
    options: dict[str, Share] = {}
    """The share of people who chose each option, or of the points that they gave it, by its number in the item."""


class Stratum(Struct, frozen=True):
    """The people of one group, such as those under 30."""

    column: str
    group: str
    people: Annotated[int, Meta(ge=FEWEST_PEOPLE)]
    mean: float
    deviation: float
    curve: Curve


class TaskNorm(Struct, frozen=True):
    """The people of one task."""

    name: str
    sample: str
    measure: str
    people: Annotated[int, Meta(ge=FEWEST_PEOPLE)]
    mean: float
    deviation: float
    curve: Annotated[Curve, Meta(min_length=2)]
    items: Annotated[dict[str, ItemNorm], Meta(min_length=1)]
    answered: float
    """The mean number of items that a person answered."""
    alpha: float | None = None
    strata: tuple[Stratum, ...] = ()
    roles: dict[str, str] = {}
    """The models in the other roles."""
    kind: Literal["people"] = "people"
    own: Any = None
    """What the instrument itself needs to score on this norm."""
    alpha_interval: Interval | None = None
    flagged: int = 0  # how many of the people may not have read the questions

    def __post_init__(self) -> None:
        if any(one[0] >= two[0] for one, two in zip(self.curve, self.curve[1:], strict=False)):
            raise ValueError("the scores of the percentile curve do not increase")


class NormFile(Struct, frozen=True, forbid_unknown_fields=True):
    """What `sociometer study norms` writes."""

    sociometer_norm: Literal[1]
    instrument: str
    version: str
    language: str
    settings: dict[str, Any]
    """The settings of the instrument that make another test."""
    tasks: dict[str, TaskNorm]

    def task(self, card: Card, task: str, settings: Mapping[str, Any]) -> TaskNorm:
        """The norm of a task, if runs of this version with these settings take the same test as the people."""
        people = {"instrument": self.instrument, "version": self.version, "language": self.language, **self.settings}
        mine = {**settings, "instrument": card.name, "version": card.version}
        for name, value in people.items():
            if mine.get(name, value) != value:
                raise UsageError(f"--norm: its people took {name} '{value}', this run has '{mine[name]}'.")
        if task not in self.tasks:
            raise UsageError(f"--norm: it has no task '{task}'; give --task {' or '.join(self.tasks)}.")
        return self.tasks[task]


def decisive_settings(card: Card, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings whose values make another test."""
    return {one.name: settings.get(one.name) for one in card.setting if one.apart is True or one.alters}


def read_norm_file(path: Path) -> NormFile | None:
    """The norm file; None if it is one of an instrument's own format."""
    try:
        with path.open("rb") as file:
            body = file.read(MOST_BYTES)
        whole = msgspec.json.decode(body)
        return msgspec.convert(whole, NormFile) if isinstance(whole, dict) and "sociometer_norm" in whole else None
    except OSError as error:
        raise DataError(f"norm file cannot be opened: {error.strerror or error}", path) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"not a norm file ({error}); make one: {hint('study norms STUDY --to FILE')}", path) from None


def misfit(norm: Any, items: Iterable[Item], roles: Mapping[str, str]) -> str:
    """Why a norm says nothing about these items, played with these models in the other roles; empty if it does."""
    if (known := _shared_norm(norm)) is None:
        return ""
    for role, label in known.roles.items():
        if roles.get(role) != label:
            return f"the people of norm '{known.name}' had {label} as {role}, this run has {roles.get(role)}."
    return unlike({name: one.content for name, one in known.items.items()}, items, known.name)


def _shared_norm(norm: Any) -> TaskNorm | None:
    """The norm that is stored with a run; None if it has none, or one that only its instrument understands."""
    return msgspec.convert(norm, TaskNorm) if isinstance(norm, dict) and norm.get("kind") == "people" else None


def unlike(
    contents: Mapping[str, str], items: Iterable[Item], name: str, name_of: Callable[[Any], str] = lambda item: item.id
) -> str:
    """Why these are not the items of a norm; empty if they are."""
    chosen = {name_of(item): item for item in items}
    if strange := [one for one in chosen if one not in contents]:
        return (
            f"norm '{name}' has {len(contents)} items; {len(strange)} of the {len(chosen)} chosen ones, such as"
            f" '{strange[0]}', are not among them. Play the items that its people took (--limit, --item)."
        )
    changed = [one for one, item in chosen.items() if contents[one] not in ("", item.asked_digest().hex())]
    return f"{len(changed)} items, such as '{changed[0]}', differ from those of norm '{name}'." if changed else ""


def placed(summary: Summary, view: AnyRun, card: MeasureCard, norm: TaskNorm) -> Summary:
    """The summary with the subject's place among the people, and the items on which they differ."""
    table = {name: one for name, one in item_values(view, card.value).items() if name in norm.items}
    told, primary = f"Norm: {norm.name}, {norm.sample}.", summary.find(card.name)
    if not table or primary is None:
        return structs.replace(summary, notes=(*summary.notes, f"{told} No scored item is among its items."))
    gaps = [one.value - norm.items[name].mean for name, one in table.items()]
    score = norm.mean + math.fsum(gaps) / len(gaps)
    around = clustered_mean_interval(gaps, [one.cluster for one in table.values()], binary=False).scaled(1, norm.mean)
    failed = [] if primary.value is None else [case.value - primary.value for case in primary.cases]
    counts = (len(table), around.clusters, primary.unreadable, primary.errors)

    def place(curve: Curve, people: int, note: str, group: dict[str, str]) -> Measure:
        worse = partial(share_worse, curve, lower_is_better=card.better == "lower")
        main, *cases = (
            Case(worse(score + by), place_interval(worse, people, score + by, around.scaled(1, by)))
            for by in (0.0, *failed)
        )
        cases.sort(key=lambda case: case.value)
        return Measure(PERCENTILE, main.value, group, main.interval, *counts, note, tuple(cases))

    part = f"; estimated on {len(table)} of {len(norm.items)} items" if len(table) < len(norm.items) else ""
    places = [place(norm.curve, norm.people, f"of {norm.people} people ({norm.name}); ties count half{part}", {})]
    places += [place(one.curve, one.people, f"of {one.people} people", {one.column: one.group}) for one in norm.strata]
    return structs.replace(
        summary,
        measures=(*summary.measures, *places),
        notes=(*summary.notes, told),
        tables=(*summary.tables, surprises(table, norm.items, card)),
    )


def surprises(table: Mapping[str, ItemValue], norms: Mapping[str, ItemNorm], card: MeasureCard) -> Table:
    """The items that are easier for people than for the subject, or harder, with at most 5 % false discoveries.

    Two-sided tests that the subject's answers are drawn like the people's: Fisher's exact test of right and wrong,
    Student's t with the people's variance for other values.
    """
    found = [_p_value(one.repeats, norms[name]) for name, one in table.items()]
    adjusted = sorted(zip(benjamini_hochberg(found).tolist(), table, strict=True))
    rows = tuple(
        (
            name,
            norms[name].mean,
            table[name].value,
            "the subject" if (table[name].value < norms[name].mean) == (card.better == "lower") else "people",
            p,
        )
        for p, name in adjusted
        if p <= FALSE_DISCOVERIES
    )
    note = (
        f"{len(rows)} of {len(table)} items, at a false discovery rate of {100 * FALSE_DISCOVERIES:g} % (Benjamini and"
        " Hochberg), tested as answers of single people."
    )
    least = min(2 / (norms[name].people + 1) for name in table)
    if least * len(table) > FALSE_DISCOVERIES and all(len(one.repeats) == 1 for one in table.values()):
        note += " One answer to an item can hardly stand out among so many items; play the run with --repeats."
    units = {"people": card.unit, "subject": card.unit, "p adjusted": "p"}
    columns = ("item", "people", "subject", "easier for", "p adjusted")
    return Table("surprises", "Items on which people and the subject differ", columns, rows, note, units)


def _p_value(answers: Sequence[float], norm: ItemNorm) -> float:
    """The two-sided p-value of a subject's answers to an item among those of people."""
    count, given = norm.people, len(answers)
    right = norm.mean * count
    # the variance of right and wrong follows from their mean
    if is_binary(np.asarray(answers)) and abs(norm.deviation**2 * (count - 1) - right * (1 - norm.mean)) < 1e-6 * count:
        mine, total = round(sum(answers)), round(right) + round(sum(answers))
        law, of = stats.hypergeom, (count + given, total, given)
        return min(1.0, 2 * min(float(law.cdf(mine, *of)), float(law.sf(mine - 1, *of))))
    gap = sum(answers) / given - norm.mean
    if norm.deviation == 0:
        return 1.0 if abs(gap) < 1e-9 else 2 / (count + 1)
    return 2 * t_below(-abs(gap) / (norm.deviation * math.sqrt(1 / given + 1 / count)), count - 1)


def with_norms(task: Task[Any, Any], card: Card) -> Task[Any, Any]:
    """The task with the norm that `--norm` names: read, checked against the items, and shown in the summary."""
    primary = card.primary_of(task.name)
    if primary is None:
        return task

    def norm(source: Source) -> Any:
        given = source.settings.get("norm")
        found = read_norm_file(Path(str(given))) if given else None
        mine = found.task(card, task.name, source.settings) if found else None
        if task.of_people is not None or not given:  # the task reads its own part of the file
            return task.norm(source)
        if mine is None:
            raise DataError(f"not a norm file; make one with '{hint('study norms STUDY --to FILE')}'", str(given))
        return mine

    def summarise(view: AnyRun) -> Summary:
        made, norm = task.summarise(view), _shared_norm(view.norm)
        return made if norm is None else placed(made, task.headline(view), primary, norm)

    fits = task.fits if task.of_people is not None else misfit
    return structs.replace(task, summarise=summarise, norm=norm, fits=fits)
