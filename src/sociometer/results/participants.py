"""The participants of a study: progress, scores, flags and who counts; mean, SD and alpha of those who do."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from statistics import fmean, median, stdev

from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.config import model_label
from sociometer.core.errors import SociometerError, hint
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Cell, Table
from sociometer.core.words import counted, grouped
from sociometer.results.groups import Taking, takings
from sociometer.statistics.formatting import column_decimals, estimate, number
from sociometer.statistics.item_values import ItemValue, item_values
from sociometer.statistics.reliability import Reliability, cronbach_alpha
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.store.studies import Participant, Rule, Study, StudyBook, flag_rules, missing_rule

BEFORE = ("participant", "run", "status", "counts", "items", "failed", "answers")
FLAGGED = Rule("flagged", {})
AFTER = ("median seconds", "checks failed", "flagged", "excluded")  # the scores are between them


class Result(Struct, frozen=True):
    """A score of one person, with the value of each item if it is a mean over items."""

    card: MeasureCard
    value: float | None
    items: dict[str, ItemValue] = {}


class PeopleResult(Struct, frozen=True):
    """A score over the people who count; `alpha` is its reliability, if it is a mean over items."""

    title: str
    card: MeasureCard
    people: int
    mean: float
    deviation: float | None
    alpha: Reliability | None
    over_items: float
    """The mean over items, which is another if people answered different ones."""

    def __str__(self) -> str:
        values = self.mean, self.deviation, self.over_items
        digits = column_decimals([{"": value} for value in values], "", self.card.unit)
        mean, spread, over = (number(value, self.card.unit, digits) for value in values)
        said = f"{self.title} (n = {self.people}): mean {mean}, SD {spread}"
        if over != mean:
            said += f"; because people answered different items, the mean over items is {over} ('show' and 'compare')"
        if (found := self.alpha) is None:
            return said
        alpha = f"unknown ({found.note})" if found.value is None else estimate(found.value, "number", found.interval)
        return f"{said}; Cronbach's alpha {alpha}"


def results_of(run: StoredRun, task: str) -> dict[str, Result]:
    """The primary score of a person, and their score on a norm, such as an EQ, by measure."""
    if task in run.past:
        kept = {one.name: one.value for one in run.kept_summary(task).measures if not one.group}
        return {
            card.name: Result(card, kept[card.name], {})
            for card in run.definition.card.measures_of(task)
            if card.primary and card.name in kept
        }
    found = {one.name: one.value for one in run.made_summary(task).measures if not one.group}
    view = run.definition.task(task).headline(run.view(task))
    return {
        card.name: Result(card, found[card.name], item_values(view, card.value) if card.primary and card.value else {})
        for card in run.definition.card.measures_of(task)
        if (card.primary or card.on_norm) and card.name in found
    }


class Scores:
    """The scores of participants by title; those of a finished run are computed once."""

    def __init__(self, store: Store, load: Callable[[str], Instrument]) -> None:
        self._store, self.load = store, load
        self._known: dict[str, dict[str, Result]] = {}

    def of(self, study: Study, record: RunRecord) -> dict[str, Result]:
        """The scores of one run."""
        if record.id in self._known:
            return self._known[record.id]
        run = StoredRun(self._store, record, self.load(record.instrument))
        part = model_label(record.manifest.config.subject) if study.talks else record.instrument
        made: dict[str, Result] = {}
        with suppress(SociometerError):  # a damaged run has no scores
            for task in run.tasks:
                for one in results_of(run, task).values():
                    title = [part] * bool(study.further) + [task] * (len(run.tasks) > 1) + [one.card.title]
                    made[" · ".join(title)] = one
        if record.status is RunStatus.FINISHED:
            self._known[record.id] = made
        return made

    def of_people(self, study: str) -> Iterator[PeopleResult]:
        """Each score over the people who count."""
        for taking in takings(self._store, study).values():
            counted = (one for one in taking.participants if taking.decision(one)[1].counts)
            each = [self.of(taking.study, record) for one in counted if (record := taking.record(one))]
            for title in dict.fromkeys(title for one in each for title in one):
                mine = [one[title] for one in each if title in one]
                if values := [one.value for one in mine if one.value is not None]:
                    spread = stdev(values) if len(values) > 1 else None
                    items = grouped((name, item.value) for one in mine for name, item in one.items.items())
                    over = fmean(map(fmean, items.values() if items and not taking.study.talks else [values]))
                    yield PeopleResult(title, mine[0].card, len(values), fmean(values), spread, _alpha(mine), over)


def _alpha(people: list[Result]) -> Reliability | None:
    """The reliability of a mean over items, from those who answered every item."""
    stories = {name: item.cluster for one in people for name, item in one.items.items()}
    whole = [[one.items[name].value for name in stories] for one in people if len(one.items) == len(stories)]
    return cronbach_alpha(whole, list(stories.values())) if len(stories) > 1 and whole else None


def participants_table(
    study: Study, book: StudyBook, store: Store, scores: Scores, say: Callable[[Rule], str] = str
) -> Table:
    """Every participant of a study; the last columns are what the study asks about the person."""
    taking = Taking(study, book, store)
    found: dict[str, dict[str, Result]] = {}
    for one in taking.participants:
        found[one.id] = {at: each for run in taking.records(one) for at, each in scores.of(study, run).items()}
    cards = {title: result.card for one in found.values() for title, result in one.items()}
    rows = tuple(row_of(taking, one, [found[one.id].get(title) for title in cards], say) for one in taking.participants)
    columns, units = (*BEFORE, *cards, *AFTER, *study.questions), {title: str(one.unit) for title, one in cards.items()}
    note = "" if rows or study.withdrawn else "Nobody has taken part. "
    gone = book.gone(study.name)
    if gone.withdrew:
        note += f"{counted(gone.withdrew, 'participant')} withdrew ({gone.started} had started, {gone.finished}"
        note += " had finished). "
    note += f"Results and norms leave out participants with {missing_rule()}."
    took = [row for one, row in zip(taking.participants, rows, strict=True) if not one.screened_out]
    many = f" ({sum(bool(row[columns.index('flagged')]) for row in took)} of {len(took)})" * bool(took)
    note += f" Flagged{many}, and {'left out too' if study.excludes_flagged else 'not left out'}: participants with "
    note += "; ".join(map(str, flag_rules(study))) + "."
    note += " Each instrument counts who answered its own items." if study.further else ""
    if leaving := [one.id for one in book.withdrawing() if one.study == study.name]:
        withdraw = hint("study withdraw", study.name, "PARTICIPANT")
        note += f" Withdrawals that are not finished ('{withdraw}'): {', '.join(leaving)}."
    said = {name: {row[columns.index(name)] for row in rows} for name in ("failed", "excluded")}
    less = ("run", "answers", *(name for name, cells in said.items() if cells <= {0, "", say(FLAGGED)}))
    return Table("participants", f"Study {study.name}", columns, rows, note, units, less)


def row_of(
    taking: Taking, one: Participant, results: list[Result | None], say: Callable[[Rule], str]
) -> tuple[Cell, ...]:
    """A participant as the table shows them; `say` puts a reason for an exclusion into words."""
    facts, decision = taking.decision(one)
    failed = sum(taking.store.episodes.counts(run)[1] for run in one.runs)
    flags = decision.flags.values()
    flagged, reasons = "; ".join(map(say, flags)), (FLAGGED if rule in flags else rule for rule in decision.excluded)
    why = "; ".join(dict.fromkeys(map(say, reasons)))
    took = round(median(facts.seconds), 1) if facts.seconds else None
    return (
        one.id, " ".join(one.runs), facts.status, decision.counts, facts.done, failed, len(facts.seconds),
        *(result.value if result else None for result in results), took, facts.failed_checks, flagged, why,
        *(one.about.get(question, "") for question in taking.study.questions),
    )  # fmt: skip
