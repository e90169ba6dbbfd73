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
from sociometer.statistics.agreement import settled
from sociometer.statistics.formatting import estimate, number
from sociometer.statistics.prediction_powered import Judged, corrected_mean, random_sample
from sociometer.store.labels import OWNER, Label, LabelBook, LabelQuestion, Queue, Unit, book_path
from sociometer.store.stored_run import StoredRun

PART = "question"
"""The key of a unit that is one of the yes/no questions of an episode."""
COUNTS = "yes counts"
"""The key for the value of the answer yes in the mean over the questions."""
_NUMBERS = {"yes": 1.0, "no": 0.0, "y": 1.0, "n": 0.0}


class Disagreement(Struct, frozen=True):
    """An episode on which the judge and people disagree."""

    episode: str
    judge: float
    people: float


class JudgeAndPeople(Struct, frozen=True):
    """A measure of a run with its correction, and the episodes on which judge and people are furthest apart."""

    queue: str
    task: str
    measure: MeasureCard
    labels: int
    corrected: Corrected | None
    apart: tuple[Disagreement, ...]


def episode_name(item: str, repeat: int) -> str:
    """The name of an episode among labels."""
    return f"{item}#{repeat}"


def settled_answers(asked: LabelQuestion, labels: Iterable[Label]) -> dict[str, str]:
    """People's label of each unit: the owner's if there is one, the median of numbers, or what most raters say."""
    known = list(labels)
    said = _answers(asked, [label for label in known if label.rater != OWNER])
    decided = {
        unit: answers[0] for unit, answers in _answers(asked, [one for one in known if one.rater == OWNER]).items()
    }
    if asked.values:
        return {unit: found for unit, answers in said.items() if (found := settled(answers)) is not None} | decided
    return {unit: f"{statistics.median(map(float, answers)):g}" for unit, answers in said.items()} | decided


def _mean_answers(asked: LabelQuestion, labels: Iterable[Label]) -> dict[str, float]:
    """The mean of the raters' labels of each unit (yes is 1, no is 0).

    Units on which they disagree count too: without them, the labelled units would be the easy ones.
    """
    return {unit: statistics.fmean(map(_number, said)) for unit, said in _answers(asked, labels).items()}


def _answers(asked: LabelQuestion, labels: Iterable[Label]) -> dict[str, list[str]]:
    """What the raters say of each unit."""
    return grouped((one.unit, one.answers[asked.column]) for one in labels if asked.column in one.answers)


def _by_episode(units: Mapping[str, Unit], answers: Mapping[str, float]) -> dict[str, float]:
    """People's label of each episode; with several questions, the mean, if all of them have an answer."""
    parts: dict[str, list[float | None]] = {}
    for name, unit in units.items():
        said = answers.get(name)
        if said is not None and PART in unit.key:
            said = said if float(unit.key[COUNTS]) else 1 - said
        parts.setdefault(unit.key["episode"], []).append(said)
    known = {episode: [said for said in given if said is not None] for episode, given in parts.items()}
    return {episode: statistics.fmean(said) for episode, said in known.items() if len(said) == len(parts[episode])}


def judge_and_people(run: StoredRun, queue: Queue, book: LabelBook) -> JudgeAndPeople:
    """The measure that a queue labels, corrected.

    Labels that settle a disagreement do not count: only disputed units have them, so they would bias the mean.
    """
    units, settling = book.units(queue.name), book.settling(queue.name)
    labels = [label for label in book.labels(queue.name) if (label.rater, label.unit) not in settling]
    measured = queue.measured
    assert measured is not None
    card = measure_of(run, measured.task, measured.measure)
    answers = _mean_answers(queue.asked[0], labels)
    episodes = judged_episodes(run, queue, _by_episode(units, answers))
    apart = [Disagreement(one.id, one.judge, one.label) for one in episodes if one.label is not None]
    apart.sort(key=lambda one: -abs(one.judge - one.people))
    corrected = corrected_mean(episodes)
    if corrected is not None:
        corrected = structs.replace(corrected, label_set=queue.label_set, question=queue.asked[0].question)
    return JudgeAndPeople(
        queue.name,
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


def judged_episodes(run: StoredRun, queue: Queue, people: Mapping[str, float]) -> list[Judged]:
    """Every scored episode of the run, with people's label where there is one."""
    measured = queue.measured
    assert measured is not None
    found = []
    for episode in run.episodes(measured.task):
        if episode.score is not None and measured.value in episode.score.values:
            name = episode_name(episode.item.id, episode.repeat)
            score = episode.score.values[measured.value]
            found.append(Judged(name, score, people.get(name), episode.item.cluster or episode.item.id))
    return found


def random_episodes(run: StoredRun, queue: Queue, count: int) -> list[str]:
    """The episodes to label."""
    return random_sample([one.id for one in judged_episodes(run, queue, {})], count, queue.seed)


def corrections(run: StoredRun) -> list[JudgeAndPeople]:
    """The corrected measures of a run: one for each measure that people labelled, from the queue with most labels."""
    # Labels are next to a store that is a file.
    if not isinstance(run.store_path, Path) or not book_path(run.store_path).exists():
        return []
    book = LabelBook(book_path(run.store_path))
    try:
        found: dict[tuple[str, str], JudgeAndPeople] = {}
        for queue in book.queues():
            if queue.measured is None or queue.measured.run != run.id:
                continue
            one = judge_and_people(run, queue, book)
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
