"""Simulated people who answer our stories in whole points."""

import numpy as np

from sociometer.instruments.seceu.items import bundled_scenarios
from sociometer.instruments.seceu.norming import Person

SCENARIOS = tuple(scenario.scenario for scenario in bundled_scenarios("en"))


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
        answers = {name: whole(10 * rng.dirichlet(key * steady + 0.05)) for name, key in keys.items()}
        found.append(Person(f"p{number}", answers))
    return found
