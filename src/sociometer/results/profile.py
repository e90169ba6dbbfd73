"""The profile of a subject over all instruments."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from sociometer.core.measure import Case, Interval, Measure
from sociometer.core.task import AnyRun
from sociometer.core.words import first_of, grouped, sentence
from sociometer.results.candidates import item_sets
from sociometer.results.ceiling import End, end_of
from sociometer.results.measured import room_sentences
from sociometer.statistics.distributions import normal_quantile
from sociometer.statistics.formatting import chance_of, failed_range


class ProfileLine(Struct, frozen=True):
    """One primary measure of one run, with its reference values: chance, people and the top."""

    instrument: str
    title: str
    task: str
    run: str
    subject: str
    measure: str
    measure_title: str
    unit: str
    better: str
    value: float | None
    interval: Interval | None
    chance: float | None
    human: float | None
    top: float | None
    items: int
    unreadable: int
    errors: int
    stand_ins: tuple[str, ...]
    note: str = ""
    cases: tuple[Case, ...] = ()
    """The value with the failed episodes at the low and at the high end of the scale."""
    item_set: str = ""
    """Whose items it has, in words; empty if all runs of its task have the bundled ones."""
    end: End | None = None
    """The end of its test that it reaches: the top or chance."""
    baseline: bool = False
    """Whether its subject is a baseline."""
    cluster: str = "independent item"
    unread_items: int = 0
    """How many of its items have an unreadable reply; counted only where replies are as many as half of the items."""

    @property
    def unread(self) -> bool:
        """Whether most of its items have an unreadable reply."""
        return 2 * self.unread_items > self.items

    @property
    def on_norm(self) -> bool:
        """Whether it is a score on a norm of people, such as an EQ."""
        return self.unit == "points" and self.human is not None

    @property
    def position(self) -> float | None:
        """The value on a scale from chance (0) to people (1), or to the top (1) if the value of people is unknown."""
        return None if self.value is None else self.placed(self.value)

    def placed(self, value: float) -> float | None:
        """Any value of this measure on the scale of `position`."""
        goal = self.human if self.human is not None else self.top
        if self.chance is None or goal is None or goal == self.chance:
            return None
        return (value - self.chance) / (goal - self.chance)

    def against(self, reference: float | None, among: int = 1) -> int:
        """1 if it is surely better than a reference value, -1 if worse, 0 if neither is sure; failures included.

        The error rate of 5 % is that of `among` measures together (Bonferroni): each interval is as much wider.
        """
        if reference is None:
            return 0
        own = Measure(self.measure, self.value, interval=self.interval, errors=self.errors, cases=self.cases)
        own = own.widened(normal_quantile(1 - 0.025 / among) / normal_quantile(0.975)) if among > 1 else own
        return -own.side(reference) if self.better == "lower" else own.side(reference)

    @property
    def bounds(self) -> Interval | None:
        """Its interval; a verdict against chance or people shows in the digits too."""
        marks = (at for at in (self.chance, self.human) if at is not None and self.against(at))
        return self.interval and structs.replace(self.interval, apart=tuple(marks))

    @property
    def with_failed(self) -> str:
        """What the failed episodes could change, as the end of a sentence; empty without any."""
        return failed_range(self.errors, self.cases, self.unit)


def profile_lines(runs: Sequence[AnyRun]) -> tuple[ProfileLine, ...]:
    """The primary measures of all runs, and their scores on a norm of people if they have one, in the order of runs."""
    found, sets = [], item_sets(runs)
    for run in runs:
        card = run.card
        for known in card.measures_of(run.task):
            measure = run.summary.find(known.name)
            if measure is None or not (known.primary or (known.on_norm and measure.value is not None)):
                continue
            chance = chance_of(known, card, run.summary, on_official=run.whose_items != "bundled")
            able = run.episodes() if 2 * measure.unreadable > measure.items else ()
            unread = len({one.item.id for one in able if one.score and one.score.unreadable})
            found.append(ProfileLine(
                card.name, card.title, run.task, run.run, run.subject, known.name, known.title, known.unit,
                known.better, measure.value, measure.interval, chance, known.human, known.top,
                measure.items, measure.unreadable, measure.errors, run.stand_ins, measure.note, measure.cases,
                sets[run.run, run.task], end_of(known, run.summary, chance), run.baseline,
                card.cluster_of(run.task), unread,
            ))  # fmt: skip
    return tuple(found)


def ends_sentences(lines: Sequence[ProfileLine], titles: Mapping[tuple[str, str], str] | None = None) -> list[str]:
    """The tests that do not show that models are equal: all are at the top, or the intervals of all include chance."""
    known, scored = titles or {}, [line for line in lines if line.value is not None]
    tests = grouped(((one.instrument, one.task), one.end) for one in scored)
    # an interval that includes chance may also reach far above it
    told = {test: [end for end in ends if end and (end.sure or end.at == "chance")] for test, ends in tests.items()}
    alike = (
        test for test, ends in told.items() if len(ends) == len(tests[test]) and len({end.at for end in ends}) == 1
    )
    whole = {test: told[test][0] for test in alike}
    names = grouped((end.words, known.get(test, "/".join(test))) for test, end in whole.items())
    said = [
        sentence(f"{words}: {first_of(of, 4)}, which cannot show whether such models are equal")
        for words, of in sorted(names.items())
    ]
    return [*said, *room_sentences((end.at, "/".join(test)) for test, end in whole.items())]
