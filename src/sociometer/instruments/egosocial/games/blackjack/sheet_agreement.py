"""How far people, the automatic reader and a judge agree on blackjack beliefs."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sociometer.core.measure import Cell, Table
from sociometer.instruments.egosocial.games.blackjack.judging import UNCALIBRATED, calibrated, threshold
from sociometer.statistics.agreement import cohen_kappa

Grades = Mapping[str, bool]
"""Whether each belief, by its place, is right."""


class Graders(Struct, frozen=True):
    """The grades of one run: by the reader, by people (empty without a sheet) and by a judge (empty without one)."""

    reader: Grades
    people: Grades
    judge: Mapping[str, float]

    def judged(self) -> Grades:
        """Return the judge's verdicts: by a threshold that the other beliefs' grades by people set, or the middle."""
        both = [place for place in self.judge if place in self.people]
        verdicts = {place: grade > UNCALIBRATED for place, grade in self.judge.items()}
        if both:
            pairs = [(self.judge[place], self.people[place]) for place in both]
            cut = threshold(pairs)
            verdicts = {place: grade > cut for place, grade in self.judge.items()}
            verdicts |= dict(zip(both, calibrated(pairs), strict=True))
        return verdicts

    def threshold(self) -> float | None:
        """Return the threshold that people's grades set; None without a judge."""
        if not self.judge:
            return None
        return threshold([(self.judge[place], self.people[place]) for place in self.judge if place in self.people])


def table(graders: Graders) -> Table:
    """Return the agreement of each two of reader, judge and people, for both beliefs."""
    sides = {"people": graders.people, "reader": graders.reader, "judge": graders.judged()}
    rows: list[tuple[Cell, ...]] = []
    for first, second in (("people", "reader"), ("people", "judge"), ("judge", "reader")):
        for belief in ("self", "external"):
            shared = [place for place in sides[first] if place in sides[second] and place.rpartition(".")[2] == belief]
            if shared:
                rows.append((first, second, belief, *_agreement(sides[first], sides[second], shared, first, second)))
    cut = graders.threshold()
    note = "" if cut is None else f"The judge's grades above {cut:g} count as right; "
    if cut is not None:
        note += (
            "the threshold for each belief is set by people's grades of the others."
            if set(graders.judge) & set(graders.people)
            else "people's grades in a filled-in sheet would calibrate it."
        )
    columns = ("grader", "and", "belief", "graded", "agreement", "Cohen's kappa", "low", "high", "note")
    return Table("agreement", "Agreement of people, reader and judge", columns, tuple(rows), note)


def _agreement(one: Grades, two: Grades, places: Sequence[str], first: str, second: str) -> tuple[Cell, ...]:
    pairs = [(one[place], two[place]) for place in places]
    agreed = sum(left == right for left, right in pairs) / len(pairs)
    constant = [who for who, side in ((first, 0), (second, 1)) if len({pair[side] for pair in pairs}) == 1]
    if constant:
        # kappa is then 0 or undefined whatever the agreement
        return len(pairs), agreed, None, None, None, f"{' and '.join(constant)}: the same grade every time, no kappa"
    words = [("y" if left else "n", "y" if right else "n") for left, right in pairs]
    found = cohen_kappa([left for left, _ in words], [right for _, right in words])
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    return len(pairs), agreed, round(found.value, 3), low, high, ""
