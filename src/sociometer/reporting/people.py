"""The people of a study on the page: the score of each, who they are, and where others would be among them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean, median, stdev

from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.measure import Table
from sociometer.core.task import AnyRun
from sociometer.core.words import counted
from sociometer.results.groups import PeopleRun
from sociometer.results.norms import use_of_scores
from sociometer.results.reliability import raw_items, reliability_sentence, task_reliability
from sociometer.statistics.formatting import amount, number
from sociometer.statistics.item_values import item_values
from sociometer.statistics.people import FEWEST_PEOPLE, groups_of, scores_of, told_groups
from sociometer.statistics.reliability import error_of_measurement
from sociometer.store.studies import flag_rules


class Crowd(Struct, frozen=True):
    """The people of a study on one measure of one task: the primary one, or a score on a norm."""

    instrument: str
    of: tuple[str, str, str]
    """The run, the task and the measure."""
    scores: tuple[float, ...]
    """The mean of each person over the items that they answered."""
    about: str
    """Who they are, who is left out and why, and how long they took."""
    told: str
    """Their mean and standard deviation, and how reliable the scores are."""
    items: Table | None = None
    """The mean of every item, the share right where there is one, and the correlation with the total of the others."""


def crowds_of(run: PeopleRun, people: AnyRun) -> Iterator[Crowd]:
    """The people of a study on the task of a view, and on its norm (an EQ); nobody if it has no mean over items."""
    card = people.card.primary_of(people.task)
    if card is None:
        return
    scores, about, named = scores_of(item_values(people, card.value)), _about(run), (people.run, people.task)
    told, items = scores_in_words(people, card, scores), raw_items([task_reliability([people], card.name)])
    items = items.only(range(items.columns.index("item"), len(items.columns)))  # without what is the same in all rows
    yield Crowd(people.card.name, (*named, card.name), scores, about, told, items)
    for other in (one for one in people.card.measures_of(people.task) if one.on_norm):
        if values := tuple(run.scores(people.task, other.name)):
            yield Crowd(people.card.name, (*named, other.name), values, about, _moments(values, other))


def _about(run: PeopleRun) -> str:
    """The sample in a few sentences."""
    taking = run.taking
    counting = [one for one in taking.participants if taking.run_of(one) in run.members]
    groups = [groups_of(one.about) for one in counting]
    parts = [" ".join(group) + f": {count}" for group, count in told_groups(groups).items()]
    if any(count < FEWEST_PEOPLE for count in Counter(group for one in groups for group in one.items()).values()):
        parts.append("groups of fewer than ten are not named")
    said = f"Study {taking.study.name}: {counted(len(counting), 'person', 'people')}"
    rules = f"flagged ({', or '.join(map(str, flag_rules(taking.study)))})"
    out = ", ".join(f"{count} {rules if kind == 'flagged' else kind}" for kind, count in run.why.most_common())
    said += f" ({', '.join(parts)})" * bool(parts) + f"; excluded: {out or 'nobody'}"
    said += f"; flagged, because they may not have read the questions: {run.flagged}" if run.flagged else ""
    took = [sum(timing.spent for timing in taking.timings.get(one.id, ())) / 60 for one in counting]
    time = f" They took {median(took):.1f} minutes in the median, from {min(took):.1f} to {max(took):.1f}."
    return f"{said}." + time * (max(took) > 0.1)


def _moments(scores: Sequence[float], card: MeasureCard) -> str:
    """The mean, the standard deviation and the range of people's scores."""
    spread = f", standard deviation {amount(stdev(scores), card.unit)}" if len(scores) > 1 else ""
    mean, low, high = (number(value, card.unit) for value in (fmean(scores), min(scores), max(scores)))
    return f"{card.title}: mean of the scores {mean}{spread}, from {low} to {high}."


def scores_in_words(people: AnyRun, card: MeasureCard, scores: Sequence[float]) -> str:
    """Mean, SD and Cronbach's alpha of the scores of people, and what they are good for; or why there is no alpha."""
    found = task_reliability([people], card.name)
    said = f"{_moments(scores, card)} {reliability_sentence(found, 'How consistently the items order the people')}"
    alpha = found.alpha
    if alpha.note or alpha.value is None:
        return said
    sem = error_of_measurement(stdev(scores), alpha)
    return f"{said} That is {use_of_scores(alpha.value, sem, card.unit)}"
