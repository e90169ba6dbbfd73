"""Simulated people who answer our stories in whole points, with groups whose answers may differ on planted stories."""

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


def simulated_people(seed, *, people=300, planted=(), mean_steadiness=2.6):
    """People around the keys of our stories; those who read Chinese mix up the feelings of the planted stories."""
    rng = np.random.default_rng(seed)
    keys = {scenario.scenario: np.array(scenario.standard) / 10 for scenario in bundled_scenarios("en")}
    found = []
    for number in range(people):
        steady = np.exp(rng.normal(mean_steadiness, 0.4))
        language = LANGUAGES[number % 3]
        answers = {}
        for name, key in keys.items():
            centre = key[[1, 0, 3, 2]] if language == "zh" and name in planted else key
            answers[name] = whole(10 * rng.dirichlet(centre * steady + 0.05))
        sex = "female" if rng.random() < 0.6 else "male"
        found.append(Person(f"p{number}", answers, sex, float(rng.integers(18, 60)), groups={"language": language}))
    return found
