"""Jumps of an effect are found at their cut; smooth curves and noise have none."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from sklearn_interpret._core.additive.bases import SplineBasis
from sklearn_interpret._core.additive.jumps import clearest_jump


def test_the_jump_is_found_beside_a_curve():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    values = np.sin(x) + (x > 0.4) + 0.2 * rng.normal(size=200)
    cut, pvalue = clearest_jump(x, values, np.ones(200))
    assert pvalue < 1e-6
    assert ((x > cut) == (x > 0.4)).mean() > 0.98


@pytest.mark.thorough
@pytest.mark.parametrize("curve", [np.sin, np.square, np.zeros_like])
@pytest.mark.parametrize("noise", ["equal", "larger at the ends", "heavy"])
def test_curves_and_noise_have_few_jumps(curve, noise):
    rng, n_found = np.random.default_rng(0), 0
    for _ in range(200):
        x = rng.normal(size=100)
        e = rng.standard_t(3, size=100) if noise == "heavy" else rng.normal(size=100)
        size = 0.2 + np.abs(x) if noise == "larger at the ends" else 0.3
        values = curve(x) + size * e
        n_found += clearest_jump(x, values, np.ones(100))[1] < 0.1
    assert n_found <= 31  # 20 are expected at most; more in less than 1 % of the cases


def test_the_pvalue_by_two_least_squares_fits_for_each_cut():
    rng = np.random.default_rng(0)
    x, values = np.round(rng.normal(size=60), 1), rng.normal(size=60)
    weights = rng.integers(1, 4, 60).astype(float)
    cut, pvalue = clearest_jump(x, values, weights)
    splines = SplineBasis(np.linspace(x.min(), x.max(), 8)).evaluate(x)
    roots, cuts, left = np.sqrt(weights), np.unique(x), []
    for low, high in pairwise(cuts):
        design = np.column_stack([splines, x > (low + high) / 2]) * roots[:, None]
        fit = design @ np.linalg.lstsq(design, values * roots)[0]
        left.append(((values * roots - fit) ** 2).sum())
    design = splines * roots[:, None]
    smooth = design @ np.linalg.lstsq(design, values * roots)[0]
    squares = ((values * roots - smooth) ** 2).sum()
    best, dof = int(np.argmin(left)), weights.sum() - splines.shape[1] - 1
    assert_allclose(cut, (cuts[best] + cuts[best + 1]) / 2)
    ratio = (squares - left[best]) / left[best] * dof
    step = np.sqrt(weights) * (x <= cut)
    full = np.column_stack([design, step])
    rest = values * roots - full @ np.linalg.lstsq(full, values * roots)[0]
    inverse = np.linalg.pinv(full)
    leverages = np.einsum("ij,ji->i", full, inverse)
    rest /= roots * (1 - leverages / weights)  # HC3 of repeated rows
    robust = (inverse[-1] @ (values * roots)) ** 2 / ((inverse[-1] * rest) ** 2).sum()
    expected = len(left) * stats.f.sf(min(ratio, robust), 1, dof)
    assert_allclose(pvalue, min(1, expected))


def test_weights_are_repeated_rows_and_missing_values_have_no_side():
    rng = np.random.default_rng(0)
    x, values = rng.normal(size=60), rng.normal(size=60)
    weights = rng.integers(1, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    expected = clearest_jump(x[rows], values[rows], np.ones(len(rows)))
    x, values = np.append(x, np.nan), np.append(values, 9.0)
    assert_allclose(clearest_jump(x, values, np.append(weights, 1.0)), expected)


@pytest.mark.parametrize(
    "column", [np.full(30, 2.0), np.full(30, np.nan), np.arange(30) % 2, np.arange(2.0)]
)
def test_nothing_to_tell(column):
    values = np.random.default_rng(0).normal(size=len(column))
    cut, pvalue = clearest_jump(column.astype(float), values, np.ones(len(column)))
    assert np.isnan(cut)
    assert pvalue == 1
