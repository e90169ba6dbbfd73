"""Comparisons of simulators, on simulated dialogues and on the released ones."""

import warnings

import numpy as np
import pytest

from sociometer.instruments.sage import simulators
from sociometer.instruments.sage.dialogue import simulator_of, subject_of
from sociometer.instruments.sage.simulators import Played, cube


def dialogues(rng, subjects, scenarios, simulators, interaction=4.0, noise=10.0, missing=0.0):
    """Final emotions of made-up talks: subjects, scenarios and simulators add up, and subjects meet simulators."""
    effects = {name: rng.normal(0, 12, len(subjects)) for name in ("subject",)}
    scenes, leniencies = rng.normal(0, 9, scenarios), rng.normal(0, 8, len(simulators))
    meet = rng.normal(0, interaction, (len(subjects), len(simulators)))
    return [
        Played(subject, f"scene {k}", simulator,
               50 + effects["subject"][i] + scenes[k] + leniencies[j] + meet[i, j] + rng.normal(0, noise))
        for i, subject in enumerate(subjects)
        for j, simulator in enumerate(simulators)
        for k in range(scenarios)
        if rng.random() >= missing
    ]  # fmt: skip


def test_rank_agreement_needs_three_subjects_and_has_an_interval_over_scenarios():
    rng = np.random.default_rng(2)
    [found] = simulators.rank_agreements(cube(dialogues(rng, ["a", "b", "c", "d"], 40, ["s", "t"])))
    assert found.subjects == 4 and found.interval.low <= found.rho <= found.interval.high
    [few] = simulators.rank_agreements(cube(dialogues(rng, ["a", "b"], 40, ["s", "t"])))
    assert few.rho is None and few.interval.too_few


def test_the_released_dialogues_under_two_simulators(released_talks):
    rows = [
        Played(subject_of(path), scenario.id, simulator_of(path), float(dialogue.final))
        for path, scenario, dialogue in released_talks
    ]
    table = cube(rows)
    found = simulators.leniency(table, table.simulators.index("gpt-4o"), table.simulators.index("deepseek-v3"))
    assert min(found.gaps.values()) == pytest.approx(11.68) and max(found.gaps.values()) == pytest.approx(28.05)
    assert found.difference.difference == pytest.approx(16.8, abs=0.1)
    [rho] = simulators.rank_agreements(table)
    assert rho.rho == 1 and rho.interval.low < 0.5, "four subjects agree, and could have disagreed"


@pytest.mark.parametrize("kept", [0.15, 0.4, 0.8])
def test_unbalanced_designs_are_handled_without_a_warning(kept):
    rng = np.random.default_rng(3)
    every = dialogues(rng, "abcd", 12, ("gpt-4o", "kind", "stern"))
    rows = [row for row in every if rng.random() < kept and (row.simulator != "stern" or row.subject == "a")]
    table = cube(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulators.rank_agreements(table)


def test_leniency_by_hand():
    felt = {("a", "x"): 10.0, ("a", "y"): 30.0, ("b", "x"): 20.0, ("b", "y"): 40.0}
    rows = [Played(*place, "stern", value) for place, value in felt.items()]
    found = simulators.leniency(cube([*rows, *(Played(*place, "kind", 20 + 2 * felt[place]) for place in felt)]), 1)
    assert found.simulator == "kind" and found.dialogues == 4 and found.difference.difference == pytest.approx(20 + 25)
    assert found.gaps == {"a": pytest.approx(40), "b": pytest.approx(50)}
    assert simulators.leniency(cube([*rows, Played("z", "x", "kind", 1.0)]), 1) is None
