"""Corrections for many comparisons equal R's p.adjust."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.statistics.paired import benjamini_hochberg, holm


def test_holm_equals_r():
    # R: p.adjust(c(.01, .04, .03, .005), "holm")
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])


def test_benjamini_hochberg_equals_r():
    # R: p.adjust(c(.01, .04, .03, .005), "BH")
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])


def test_a_value_that_is_no_chance_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.2, 1.2])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_order_is_kept_and_holm_is_the_stricter(p):
    strict, lenient = holm(p), benjamini_hochberg(p)
    assert (strict >= lenient - 1e-12).all()
    assert (lenient >= np.array(p) - 1e-12).all()
    assert (np.diff(strict[np.argsort(p, kind="stable")]) >= 0).all()
