"""Simulated people with a known law, and judges of their talks, each with a fault of its own or none.

`python tests/instruments/sage/people_law.py [DRAWS]` prints the verdicts in the table of SAGE's page (500 draws: ten
minutes).
"""

import math
import random
import sys
from collections import Counter
from statistics import fmean

from sociometer.instruments.sage.passport.against_people import JudgedTurn, examine_people, verdict
from sociometer.instruments.sage.passport.floor import PersonState

LEVEL, BETWEEN = 3.4, 0.7
"""What people report on average, and how far they differ."""
WORTH = 0.7
"""How much a reply's quality (standard normal) moves the report."""
NOISE = 0.6
"""What only the person, or only the judge, feels."""
FAULTS = {
    "repeats the previous report": "it adds nothing",
    "gives the mean of the earlier reports": "it adds nothing",
    "gives a constant": "it adds nothing",
    "likes long replies": "it adds nothing",
    "mixes up the people": "it adds nothing",
    "reads the person and not the reply": "no better with their reply than with another one",
    "two points kinder": "points kinder than people",
    "people's own report and two points": "points kinder than people",
    "kinder with every turn": "points a turn kinder than people",
}
"""Each faulty judge, and the reason by which the passport tells it apart."""
NOT_PERSONS = tuple(name for name, reason in FAULTS.items() if "kinder" not in reason)


def whole(report):
    return max(1, min(5, round(report)))


class Talked:
    """A turn of a simulated person: the reply that they got, another one, and their report."""

    def __init__(self, lots, person, level, turn, earlier):
        self.person, self.level, self.turn, self.earlier = person, level, turn, tuple(earlier)
        self.length, self.other_length = lots.randint(50, 900), lots.randint(50, 900)
        self.quality, self.other_quality = lots.gauss(0, 1), lots.gauss(0, 1)
        liked_length = 0.3 * math.log(self.length / 300)
        self.report = whole(level + WORTH * self.quality + liked_length + lots.gauss(0, NOISE))


def simulated_people(seed, people=60):
    lots = random.Random(seed)
    turns = []
    for person in range(people):
        level, earlier = lots.gauss(LEVEL, BETWEEN), []
        for turn in range(1, lots.randint(3, 8)):
            turns.append(Talked(lots, person, level, turn, earlier))
            earlier.append(turns[-1].report)
    return turns, lots


def judgements(name, turns, lots):
    """The report of a judge for the reply of each turn, and for the other reply."""
    reports = [turn.report for turn in turns]
    lots.shuffle(reports)

    def felt(quality, more=0.0, level=LEVEL):
        return whole(level + WORTH * quality + lots.gauss(0, NOISE) + more)

    for place, turn in enumerate(turns):
        earlier = turn.earlier
        match name:
            case "feels as people do":
                yield felt(turn.quality), felt(turn.other_quality)
            case "feels a little as people do":
                yield tuple(
                    whole(LEVEL + 0.4 * each + lots.gauss(0, 0.8)) for each in (turn.quality, turn.other_quality)
                )
            case "repeats the previous report":
                yield (earlier[-1] if earlier else 3,) * 2
            case "gives the mean of the earlier reports":
                yield (sum(earlier) / len(earlier) if earlier else 3,) * 2
            case "gives a constant":
                yield 4, 4
            case "likes long replies":
                yield whole(1 + turn.length / 200), whole(1 + turn.other_length / 200)
            case "mixes up the people":
                yield reports[place], reports[place - 1]
            case "reads the person and not the reply":
                yield felt(0, level=turn.level), felt(0, level=turn.level)
            case "two points kinder":
                yield felt(turn.quality, 2), felt(turn.other_quality, 2)
            case "people's own report and two points":
                yield min(5, turn.report + 2), felt(turn.other_quality, 2, turn.level)
            case "kinder with every turn":
                more = 0.3 * turn.turn - 0.6
                yield felt(turn.quality, more), felt(turn.other_quality, more)


def judged_turns(name, seed, people=60):
    """The turns of simulated people as a judge of this kind judges them."""
    turns, lots = simulated_people(seed, people)
    return [
        JudgedTurn(
            person=str(turn.person),
            talk=str(turn.person),
            subject="model",
            state=PersonState(turn.earlier, turn.turn, turn.length),
            reported=float(turn.report),
            judged=report,
            other=other,
            other_length=turn.other_length,
        )
        for turn, (report, other) in zip(turns, judgements(name, turns, lots), strict=True)
    ]


def examined(name, seed, people=60):
    """What the passport finds about a judge of simulated people."""
    return examine_people("law", "satisfaction", judged_turns(name, seed, people))


def main(draws):
    """Prints how often each judge gets each verdict, and how often the reason is the right one."""
    for name in (*FAULTS, "feels as people do", "feels a little as people do"):
        verdicts, right, added = Counter(), 0, []
        for seed in range(draws):
            found = examined(name, seed)
            not_a_person, care = verdict(found)
            verdicts["not a person" if not_a_person else "with care" if care else "may be used"] += 1
            right += any(FAULTS.get(name, "-") in reason for reason in (*not_a_person, *care))
            added.append(found.added.value or 0.0)
        shares = {each: count / draws for each, count in sorted(verdicts.items())}
        print(f"{name}: {shares}, right reason {right / draws:.3f}, adds r = {fmean(added):.2f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
