"""Simulated people who answer our stories in whole points, with groups."""

import csv
import io

import numpy as np

from sociometer.instruments.seceu.items import bundled_scenarios
from sociometer.instruments.seceu.norming import Person

SCENARIOS = tuple(scenario.scenario for scenario in bundled_scenarios("en"))
LANGUAGES = ("en", "zh", "es")


def whole(points):
    """Ten whole points near these."""
    down = np.floor(points)
    places = np.argsort(down - points)[: round(10 - down.sum())]
    down[places] += 1
    return tuple(down.tolist())


def simulated_people(seed, *, people=300, mean_steadiness=2.6):
    """People around the keys of our stories."""
    rng = np.random.default_rng(seed)
    keys = {scenario.scenario: np.array(scenario.standard) / 10 for scenario in bundled_scenarios("en")}
    found = []
    for number in range(people):
        steady = np.exp(rng.normal(mean_steadiness, 0.4))
        language = LANGUAGES[number % 3]
        answers = {name: whole(10 * rng.dirichlet(key * steady + 0.05)) for name, key in keys.items()}
        sex = "female" if rng.random() < 0.6 else "male"
        about = {"sex": sex, "age": f"{rng.integers(18, 60)}", "language": language}
        found.append(Person(f"p{number}", answers, about))
    return found


def people_csv(scenarios, people):
    """A file of people's answers."""
    out = io.StringIO()
    about = list(dict.fromkeys(name for person in people for name in person.about))
    writer = csv.writer(out)
    columns = [f"{name}_{place}" for name in scenarios for place in range(1, 5)]
    writer.writerow(["person", *about, *columns])
    for person in people:
        points = [value for name in scenarios for value in person.answers.get(name, ("",) * 4)]
        writer.writerow([person.name, *(person.about.get(name, "") for name in about), *points])
    return out.getvalue()
