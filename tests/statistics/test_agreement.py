"""Agreement coefficients against the examples of the papers that introduced them, and R."""

import math

import numpy as np
import pytest

from sociometer.statistics.agreement import cohen_kappa, intraclass, krippendorff_alpha, spearman

# Shrout and Fleiss (1979), Table 2: six targets, four judges.
TARGETS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])

# Krippendorff (2011), section E: four observers, twelve units, gaps as NaN.
GAP = math.nan
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, GAP, GAP, GAP],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, GAP, 3],
        [GAP, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, GAP],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, GAP],
    ]
)
RATER_1 = [1, 2, 3, 3, 2, 1, 4, 1, 2, 3, 3, 2, 1, 2, 4, 4, 1, 2, 3, 1]
RATER_2 = [1, 2, 3, 3, 2, 2, 4, 1, 2, 3, 2, 2, 1, 3, 4, 4, 1, 1, 3, 2]


def test_the_one_way_intraclass_correlation_of_shrout_and_fleiss():
    # printed as .17; more digits from R: psych::ICC
    assert intraclass(TARGETS) == pytest.approx(0.1657417684, abs=1e-9)


@pytest.mark.parametrize(("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorff_alpha_of_his_own_example(scale, expected):
    assert krippendorff_alpha(OBSERVERS, scale).value == pytest.approx(expected, abs=5e-4)


def test_cohen_kappa_equals_psych():
    # R: psych::cohen.kappa(cbind(r1, r2)): .6598639456
    assert cohen_kappa(RATER_1, RATER_2).value == pytest.approx(0.6598639456, abs=1e-9)


@pytest.mark.parametrize(("units", "rare"), [(15, 0.5), (15, 0.2), (30, 0.1)])
def test_the_interval_of_kappa_covers_it_with_few_units(units, rare):
    """The large-sample interval covers .72 with 15 units of which a fifth are rare."""
    rng = np.random.default_rng(3)

    def draw(count):
        truth = rng.random(count) < rare
        return [np.where(rng.random(count) < 0.9, truth, rng.random(count) < 0.5).tolist() for _ in range(2)]

    kappa = cohen_kappa(*draw(200_000)).value
    found = [cohen_kappa(*draw(units)).interval for _ in range(600)]
    kept = [one.low <= kappa <= one.high for one in found if one is not None]
    assert sum(kept) / len(kept) >= 0.9


def test_full_agreement_is_one_and_opposition_is_negative():
    assert cohen_kappa(["a", "b", "a"], ["a", "b", "a"]).value == pytest.approx(1.0)
    assert cohen_kappa(["a", "b"], ["b", "a"]).value == pytest.approx(-1.0)
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]).value == pytest.approx(1.0)


def test_one_category_only_leaves_kappa_undefined():
    found = cohen_kappa(["a", "a"], ["a", "a"])
    assert math.isnan(found.value)
    assert found.observed == 1.0


def test_spearman_with_ties_by_hand():
    # ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: r = 4.5 / √(4.5 × 5)
    assert spearman([1, 2, 2, 3], [10, 20, 30, 40])[0] == pytest.approx(4.5 / math.sqrt(22.5))
