"""Every distribution equals that of scipy.stats, which is too slow to import to be used."""

import math

import pytest
from scipy import stats

from sociometer.statistics.distributions import (
    binomial_below,
    chi_square_above,
    f_quantile,
    noncentral_t_below,
    normal_below,
    normal_quantile,
    t_below,
    t_quantile,
)

SHARES = [1e-6, 0.00125, 0.025, 0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.975, 0.9975, 1 - 1e-6]
FREEDOMS = [1, 2, 3, 5, 9, 10, 49, 120, 499, 4_999, 99_999]


def same(value: float) -> object:
    return pytest.approx(value, rel=1e-12, abs=1e-300)


def test_the_normal_distribution():
    for share in SHARES:
        assert normal_quantile(share) == pytest.approx(stats.norm.ppf(share), rel=1e-12, abs=1e-15)
    for step in range(-120, 121):
        assert normal_below(step / 8) == same(stats.norm.cdf(step / 8))


@pytest.mark.parametrize("freedom", [*FREEDOMS, 2.5, 17.3])
def test_the_t_distribution(freedom):
    for share in SHARES:
        assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-12, abs=1e-15)
    for step in range(-40, 41):
        assert t_below(step / 4, freedom) == same(stats.t.cdf(step / 4, freedom))
        assert t_below(-step / 4, freedom) == same(stats.t.sf(step / 4, freedom))


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_the_noncentral_t_distribution(freedom):
    for shift in (1e-9, 0.1, 0.5, 1.0, 2.0, 2.8, 4.0, 6.0, 10.0, 20.0):
        for share in (0.95, 0.975, 0.995, 0.9998):
            value = t_quantile(share, freedom)
            below, above = stats.nct.cdf(value, freedom, shift), stats.nct.sf(value, freedom, shift)
            assert noncentral_t_below(value, freedom, shift) == pytest.approx(below, rel=1e-12, abs=1e-15)
            assert 1 - noncentral_t_below(value, freedom, shift) == pytest.approx(above, rel=1e-12, abs=1e-15)


def test_the_f_distribution():
    for above in (1, 2, 9, 39, 499):
        for below in (1, 5, 60, 4_999):
            for share in SHARES:
                assert f_quantile(share, above, below) == same(stats.f.ppf(share, above, below))


@pytest.mark.parametrize("freedom", range(1, 41))
def test_the_chi_square_distribution(freedom):
    for value in (0.0, 1e-9, 0.01, 0.5, 1.0, 2.5, 3.84, 7.81, 10.0, 33.3, 100.0, 500.0, 1400.0):
        assert chi_square_above(value, freedom) == same(stats.chi2.sf(value, freedom))


def test_the_chi_square_distribution_needs_degrees_of_freedom():
    assert math.isnan(chi_square_above(0.0, 0))


@pytest.mark.parametrize("chance", [0.5, 0.25, 0.01])
def test_the_binomial_distribution(chance):
    for trials in (1, 2, 7, 20, 61, 500, 3_000):
        for count in sorted({0, 1, 2, trials // 20, trials // 4, trials // 3, trials // 2, trials - 1, trials}):
            assert binomial_below(count, trials, chance) == same(stats.binom.cdf(count, trials, chance))
    assert binomial_below(-1, 5, chance) == 0.0
