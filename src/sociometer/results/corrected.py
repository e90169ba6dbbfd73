"""Judged measures of a run, corrected by people's labels of a random part of its episodes."""

import math
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.errors import unknown
from sociometer.core.measure import Corrected
from sociometer.core.words import grouped
from sociometer.statistics.formatting import estimate, number
from sociometer.statistics.prediction_powered import Judged, corrected_mean
from sociometer.store.labels import Label, LabelBook, LabelQuestion, LabelSheet, Measured, book_path
from sociometer.store.stored_run import StoredRun

_NUMBERS = {"yes": 1.0, "no": 0.0, "y": 1.0, "n": 0.0}


class Disagreement(Struct, frozen=True):
    """An episode on which the judge and people disagree."""

    episode: str
    judge: float
    people: float


class JudgeAndPeople(Struct, frozen=True):
    """A measure of a run with its correction, and the episodes on which judge and people are furthest apart."""

    task: str
    measure: MeasureCard
    labels: int
    corrected: Corrected | None
    apart: tuple[Disagreement, ...]


def episode_name(item: str, repeat: int) -> str:
    """The name of an episode among labels."""
    return f"{item}#{repeat}"


def _mean_answers(asked: LabelQuestion, labels: Iterable[Label]) -> dict[str, float]:
    """The mean of the raters' labels of each unit (yes is 1, no is 0).

    Units on which they disagree count too: without them, the labelled units would be the easy ones.
    """
    return {unit: statistics.fmean(map(_number, said)) for unit, said in _answers(asked, labels).items()}


def _answers(asked: LabelQuestion, labels: Iterable[Label]) -> dict[str, list[str]]:
    """What the raters say of each unit."""
    return grouped((one.unit, one.answers[asked.column]) for one in labels if asked.column in one.answers)


def judge_and_people(run: StoredRun, sheet: LabelSheet, book: LabelBook) -> JudgeAndPeople:
    """The measure that a sheet labels, corrected.

    Labels that settle a disagreement do not count: only disputed units have them, so they would bias the mean.
    """
    units = book.units(sheet.name)
    labels = [label for label in book.labels(sheet.name) if not label.settles]
    measured = sheet.measured
    assert measured is not None
    card = measure_of(run, measured.task, measured.measure)
    answers = _mean_answers(sheet.asked[0], labels)
    people = {units[unit].key["episode"]: said for unit, said in answers.items() if unit in units}
    episodes = judged_episodes(run, measured, people)
    apart = [Disagreement(one.id, one.judge, one.label) for one in episodes if one.label is not None]
    apart.sort(key=lambda one: -abs(one.judge - one.people))
    corrected = corrected_mean(episodes)
    if corrected is not None:
        corrected = structs.replace(corrected, label_set=sheet.label_set, question=sheet.asked[0].question)
    return JudgeAndPeople(
        measured.task,
        card,
        len(apart),
        corrected,
        tuple(one for one in apart if not math.isclose(one.judge, one.people, abs_tol=1e-9)),
    )


def measure_of(run: StoredRun, task: str, name: str) -> MeasureCard:
    """The measure of that name; the name of a score value, such as a cause of errors, counts as a separate measure."""
    cards = {one.name: one for one in run.definition.card.measures_of(task) if one.value}
    if name in cards:
        return cards[name]
    values = [one.score.values[name] for one in run.episodes(task) if one.score and name in one.score.values]
    if not values:
        known = {value: None for one in run.episodes(task) if one.score for value in one.score.values}
        raise unknown("measure of this run", name, {**cards, **known})
    if set(values) <= {0.0, 1.0}:
        return MeasureCard(task=task, name=name, title=name, value=name)
    return MeasureCard(task=task, name=name, title=name, unit="number", value=name, low=min(values), high=max(values))


def judged_episodes(run: StoredRun, measured: Measured, people: Mapping[str, float]) -> list[Judged]:
    """Every scored episode of the run, with people's label where there is one."""
    found = []
    for episode in run.episodes(measured.task):
        if episode.score is not None and measured.value in episode.score.values:
            name = episode_name(episode.item.id, episode.repeat)
            score = episode.score.values[measured.value]
            found.append(Judged(name, score, people.get(name), episode.item.cluster or episode.item.id))
    return found


def corrections(run: StoredRun) -> list[JudgeAndPeople]:
    """The corrected measures of a run: one for each measure that people labelled, from the sheet with most labels."""
    # Labels are next to a store that is a file.
    if not isinstance(run.store_path, Path) or not book_path(run.store_path).exists():
        return []
    book = LabelBook(book_path(run.store_path))
    try:
        found: dict[tuple[str, str], JudgeAndPeople] = {}
        for sheet in book.sheets():
            if sheet.measured is None or sheet.measured.run != run.id:
                continue
            if any(unit.key.keys() != {"episode"} for unit in book.units(sheet.name).values()):
                continue  # version 0.3 asked some questions about parts of an episode
            one = judge_and_people(run, sheet, book)
            place = (one.task, one.measure.name)
            if one.corrected is not None and (place not in found or one.labels > found[place].labels):
                found[place] = one
    finally:
        book.close()
    return list(found.values())


def corrected_measures(run: StoredRun, task: str) -> dict[str, Corrected]:
    """The corrected measures of a task, by name."""
    return {one.measure.name: one.corrected for one in corrections(run) if one.task == task and one.corrected}


def correction_note(found: JudgeAndPeople) -> str:
    """The corrected value in a sentence."""
    corrected, unit = found.corrected, found.measure.unit
    assert corrected is not None
    return (
        f"{found.measure.title}, corrected by people's labels of {corrected.labels} of {corrected.episodes} episodes: "
        f"{estimate(corrected.value, unit, corrected.interval)}; the judge alone: "
        f"{number(corrected.judge, unit, interval=corrected.interval)}. "
        f"People were asked: “{corrected.question}”"
    )


def _number(answer: str) -> float:
    return _NUMBERS[answer] if answer in _NUMBERS else float(answer)
