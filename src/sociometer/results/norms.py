"""A norm from the people of a study: scores, percentiles, strata and items, in which nobody can be recognised."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import structs

from sociometer.core.card import MeasureCard
from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Measure, Table
from sociometer.core.sheets import whole_file
from sociometer.core.task import AnyRun
from sociometer.core.words import counted
from sociometer.results.groups import PeopleRun, study_run
from sociometer.statistics.formatting import amount, bracketed_interval, estimate, number
from sociometer.statistics.item_values import item_values
from sociometer.statistics.norms import ItemNorm, NormFile, Stratum, TaskNorm, decisive_settings
from sociometer.statistics.people import FEWEST_PEOPLE, curve_of, groups_of, sample_text, told_groups
from sociometer.statistics.reliability import cronbach_alpha, error_of_measurement
from sociometer.store.store import Store
from sociometer.store.studies import find_study

_OTHERS = "the key is the mean answer of the other people"
PERCENTS, FEW_SCORES = (5, 10, 25, 50, 75, 90, 95), 20
_FEWEST_ANSWERS = 2


def norm_of_study(run: PeopleRun, about: Sequence[Mapping[str, str]], language: str) -> NormFile:
    """The norm of the people of a study who count; `about` is what each of them said about themselves."""
    card = run.definition.card
    _refuse_few(run.people, f"in study {run.id}")
    known, groups = {task: card.primary_of(task) for task in run.tasks}, [groups_of(one) for one in about]
    tasks = {task: _task_norm(run, task, primary, groups) for task, primary in known.items() if primary is not None}
    if not tasks:
        raise UsageError(f"{', '.join(run.tasks)} of {card.name} has no score that is a mean over items, so no norm.")
    return NormFile(1, card.name, run.version, language, decisive_settings(card, run.settings), tasks)


def _refuse_few(people: int, where: str) -> None:
    if people < FEWEST_PEOPLE:
        counting = counted(people, "person counts", "people count")
        raise UsageError(f"{counting} {where}; a norm needs at least {FEWEST_PEOPLE}.")


def study_norm(store: Store, name: str, load: Callable[[str], Instrument]) -> tuple[NormFile, PeopleRun, RunConfig]:
    """The norm of a study, or of its part with this name; the people whom it comes from, and what they took."""
    study, participants = find_study(store.path, name)
    about = {run: one.about for one in participants for run in one.runs}
    if study.talks:
        raise UsageError(f"people in study {study.name} talk with models, so it has scores of models and no norm.")
    people = study_run(store, name, load)
    assert people is not None
    return norm_of_study(people, [about[run] for run in people.members], study.language), people, study.parts[name]


def write_norm(norm: NormFile, taken: RunConfig, to: Path, checked: Callable[[RunConfig], object]) -> None:
    """Write the file of a norm if `checked` can plan a run with it on the items that people have taken."""
    with whole_file(to) as draft:
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(norm), indent=1) + b"\n")
        settings = {**taken.settings, "norm": str(draft)}
        checked(structs.replace(taken, subject="baseline/random", tasks=tuple(norm.tasks), settings=settings))


def _task_norm(run: PeopleRun, task: str, card: MeasureCard, groups: Sequence[Mapping[str, str]]) -> TaskNorm:
    definition, lower = run.definition.task(task), card.better == "lower"
    view = definition.headline(run.view(task))
    if definition.of_people is not None:
        values, own = definition.of_people(view, run.id)
    else:
        found = item_values(view, card.value)
        values, own = {name: dict(zip(one.of, one.repeats, strict=True)) for name, one in found.items()}, None
    names = [name for name, answers in values.items() if len(answers) >= _FEWEST_ANSWERS]
    people = sorted({person for name in names for person in values[name]})
    members, flagged = [groups[person] for person in people], sum(run.flags[person] for person in people)
    sample = sample_text(members, flagged, run.excluded) + (own or {}).get("sample", "")
    _refuse_few(len(people), f"with a score on {task}")
    table = np.array([[values[name].get(person, math.nan) for name in names] for person in people])
    means, spreads, known = np.nanmean(table, axis=0), np.nanstd(table, axis=0, ddof=1), ~np.isnan(table)
    # people may have taken different items: what counts is how far they are from the others on each
    scores = means.mean() + np.nanmean(table - means, axis=1)
    if np.ptp(scores) == 0:
        raise UsageError(f"all people have the same score on {task}, so that it has no percentiles.")
    asked = _asked(view)
    strata = []
    for (column, group), count in told_groups(members).items():
        mine = scores[[one.get(column) == group for one in members]]
        curve = curve_of(mine, lower_is_better=lower)
        strata.append(Stratum(column, group, count, float(mine.mean()), float(mine.std(ddof=1)), curve))
    items = {
        name: ItemNorm(asked[name][0], int(count), float(mean), float(spread), asked[name][1])
        for name, count, mean, spread in zip(names, known.sum(axis=0), means, spreads, strict=True)
    }
    stories = {item.id: item.cluster or item.id for item, *_ in view.scored()}
    whole = table[known.all(axis=1)]
    alpha = cronbach_alpha(whole, [stories[name] for name in names]) if len(names) > 1 else None
    return TaskNorm(
        run.id, sample, card.name, len(people), float(scores.mean()), float(scores.std(ddof=1)),
        curve_of(scores, lower_is_better=lower), items, round(float(known.sum(axis=1).mean()), 1),
        alpha.value if alpha else None, tuple(strata),
        run.manifest.other_roles, own=own and {**own, "sample": sample},
        alpha_interval=alpha.interval if alpha else None, flagged=flagged,
    )  # fmt: skip


class NormTable(Table, frozen=True):
    """The percentiles of the people of a norm, and how reliable their scores are."""

    people: int = 0  # The number of people who count.
    alpha: Measure = Measure("alpha", None)  # Cronbach's alpha; no value if too few people answered all items.
    sem: Measure = Measure("sem", None)  # The standard error of measurement; no value if alpha is not above 0.


def _reliability_note(alpha: Measure, sem: Measure, unit: str, *, own: bool) -> str:
    """How reliable the scores of the people are, and what that means for one of them; `own`: on a key of their own."""
    if alpha.value is None or alpha.interval is None:
        return "Reliability is not known: too few people answered all of the items."
    other = f" Here {_OTHERS}; distances to the key of the items have another alpha ('compare --reliability')."
    said = f"Cronbach's alpha {estimate(alpha.value, 'number', alpha.interval)}"
    return f"{said}: {use_of_scores(alpha.value, sem, unit)}{other * own}"


def use_of_scores(alpha: float, sem: Measure, unit: str) -> str:
    """What scores with this alpha and standard error of measurement are good for.

    Limits: Nunnally, J. C., and Bernstein, I. H. (1994). Psychometric theory, 3rd ed.
    """
    if sem.value is None:
        why = "the items do not order the people in the same way, so there is no standard error of measurement"
        return f"no basis to say anything about a single person: {why}."
    what = "enough for single people" if alpha >= 0.9 else "enough for means of groups, not for single people"
    what = "too low to say anything about a single person; more items raise it" if alpha < 0.7 else what
    known = f"one person's score is known to ± {amount(1.96 * sem.value, unit)} (95 %)"
    around = f" {bracketed_interval(sem.interval, unit)}" if sem.interval else ""
    return f"{what}. Standard error of measurement {amount(sem.value, unit, interval=sem.interval)}{around}: {known}."


def _asked(view: AnyRun) -> dict[str, tuple[str, dict[str, float]]]:
    """For each item a digest of what was asked, and the share of people, or of their points, for each option."""
    digests: dict[str, str] = {}
    chosen: dict[str, Counter[str]] = {}
    for item, outcome, _ in view.scored():
        digest = item.asked_digest().hex()
        if digests.setdefault(item.id, digest) != digest:
            raise UsageError(f"item '{item.id}' changed while the study was open; its people are no norm of one test.")
        if isinstance(picked := getattr(outcome, "picked", None), int):
            chosen.setdefault(item.id, Counter())[str(picked + 1)] += 1
        for place, points in enumerate(getattr(outcome, "points", ()), 1):
            chosen.setdefault(item.id, Counter())[str(place)] += points
    shares = {
        name: {option: round(count / of.total(), 4) for option, count in sorted(of.items())}
        for name, of in chosen.items()
    }
    return {name: (digest, shares.get(name, {})) for name, digest in digests.items()}


def norm_tables(norm: TaskNorm, task: str, people: PeopleRun) -> tuple[NormTable, Table]:
    """The scores that occur, of many those at some percentiles, with standard errors; the items, hardest first."""
    card = next(one for one in people.definition.card.measures_of(task) if one.name == norm.measure)
    scores, worse, errors = np.array(sorted(norm.curve, key=lambda one: one[1])).T
    within = [percent / 100 for percent in PERCENTS if worse[0] <= percent / 100 <= worse[-1]]
    shares = worse if worse.size <= FEW_SCORES else np.array(within)
    at, around = (np.interp(shares, worse, one) for one in (scores, 100 * errors))
    title = f"Percentiles of {norm.people} people: {card.title}" + f"; {_OTHERS}" * (norm.own is not None)
    columns = ("people with a worse score (%)", "score", "SE (%)")
    alpha = Measure("alpha", norm.alpha, interval=norm.alpha_interval, items=len(norm.items))
    sem = error_of_measurement(norm.deviation, alpha)
    reliable = _reliability_note(alpha, sem, card.unit, own=norm.own is not None)
    own_items = "Scores allow for how hard each person's own items are." * (norm.answered < len(norm.items))
    note = " ".join(filter(None, (own_items, reliable, people.flagged_note(norm.flagged, norm.people))))
    rows = tuple(zip((100 * shares).round(1).tolist(), at.tolist(), around.round(1).tolist(), strict=True))
    facts = (norm.people, alpha, sem)
    percentiles = NormTable("percentiles", title, columns, rows, note, {"score": card.unit}, (), *facts)
    hardest = sorted(norm.items.items(), key=lambda one: one[1].mean, reverse=card.better == "lower")
    items = tuple(
        (name, one.people, one.mean, one.deviation,
         ", ".join(f"{option}: {number(share, 'share', 0)}" for option, share in one.options.items()))
        for name, one in hardest
    )  # fmt: skip
    units: dict[str, str] = {"mean": card.unit, "SD": card.unit}
    return percentiles, Table("items", "Items", ("item", "people", "mean", "SD", "options"), items, units=units)
