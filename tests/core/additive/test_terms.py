"""Bases and terms: what they sum to, how they go on, what penalties leave free."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._core.additive.bases import LevelBasis, LineBasis, SplineBasis
from sklearn_interpret._core.additive.gram import (
    Bins,
    CodedTerm,
    RoundedDesign,
    RoundedRows,
)
from sklearn_interpret._core.additive.terms import (
    single_term,
    tensor_term,
    varying_term,
)

BREAKS = np.array([0.0, 1.0, 2.5, 3.0, 4.0])
RNG = np.random.default_rng(0)
X, Z = RNG.uniform(0, 4, 60).round(1), RNG.normal(size=60).round(1)
LEVELS = RNG.integers(0, 3, 60).astype(float)
SPLINES, LINE, COLOURS = SplineBasis(BREAKS), LineBasis(1.0, 2.0), LevelBasis(3)


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("extrapolation", ["linear", "constant"])
def test_splines_sum_to_one_everywhere(cyclic, extrapolation):
    basis = SplineBasis(BREAKS, cyclic, extrapolation, missing=True)
    values = basis.evaluate(np.array([-3.0, 0.0, 1.7, 4.0, 9.0, np.nan]))
    assert values.shape == (6, len(basis.coordinates[0]))
    assert_allclose(values.sum(axis=1), 1)
    assert_allclose(values[-1], np.eye(values.shape[1])[-1])
    assert not values[:-1, -1].any()


def test_how_splines_go_on():
    at = np.array([-0.4, -0.2, 0.0, 4.0, 4.2, 4.4])
    straight = SPLINES.evaluate(at)
    assert_allclose(straight[0] - straight[1], straight[1] - straight[2])
    assert_allclose(straight[5] - straight[4], straight[4] - straight[3])
    assert np.abs(straight[0] - straight[1]).max() > 0.1
    farther = SPLINES.evaluate(np.array([-9.0, 9.0]))
    assert_allclose(farther, straight[[0, 5]])
    flat = SplineBasis(BREAKS, extrapolation="constant").evaluate(at)
    assert_allclose(flat, straight[[2, 2, 2, 3, 3, 3]])
    around = SplineBasis(BREAKS, cyclic=True)
    assert_allclose(around.evaluate(at[:2]), around.evaluate(at[:2] + 4), atol=1e-15)
    assert_allclose(around.moved_to_first_period(np.array([-1.0, 4.5])), [3.0, 0.5])


def test_penalties_leave_constants_and_lines_free():
    vectors, sizes, free = SPLINES.coordinates
    assert_allclose(vectors.T @ vectors, np.eye(7), atol=1e-12)
    assert (sizes[:2] == 0).all()
    assert (sizes[2:] > 0).all()
    assert sizes.max() == 1
    assert free.tolist() == [[False, True] + [False] * 5]
    curves = SPLINES.evaluate(X) @ vectors[:, :2]
    assert np.ptp(curves[:, 0]) < 1e-12
    line = np.polyfit(X, curves[:, 1], 1)
    assert_allclose(np.polyval(line, X), curves[:, 1], atol=1e-12)
    _, sizes, free = SplineBasis(BREAKS, cyclic=True).coordinates
    assert ((sizes == 0).sum(), len(free)) == (1, 0)
    vectors, sizes, free = SplineBasis(BREAKS, missing=True).coordinates
    assert_allclose(vectors[:, 0], vectors[0, 0])
    assert (sizes[-1], free.sum(axis=1).tolist()) == (0, [1, 1])


def test_levels_and_lines():
    assert COLOURS.evaluate(np.array([0.0, 2.0, -1.0])).tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [0, 0, 0],
    ]
    vectors, sizes, free = COLOURS.coordinates
    assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
    assert_allclose(vectors[:, 0], 1 / np.sqrt(3))
    assert (sizes.tolist(), free.size) == ([0, 1, 1], 0)
    assert LINE.evaluate(np.array([5.0, np.nan])).tolist() == [[2], [0]]


TERMS = {
    "curve": (single_term(SPLINES, True), (X,)),
    "line": (single_term(LINE, True), (Z,)),
    "levels": (single_term(COLOURS, True), (LEVELS,)),
    "pair": (tensor_term((SPLINES, COLOURS), (True, True), True), (X, LEVELS)),
    "half a pair": (tensor_term((SPLINES, COLOURS), (False, True), True), (X, LEVELS)),
    "whole pair": (tensor_term((SPLINES, COLOURS), (False, False), False), (X, LEVELS)),
    "by levels": (varying_term(COLOURS, SPLINES, True, True), (LEVELS, X)),
    "by a line": (varying_term(LINE, SPLINES, False, True), (Z, X)),
    "by an own line": (varying_term(LINE, SPLINES, True, False), (Z, X)),
}
WIDTHS = [6, 1, 2, 12, 18, 20, 18, 7, 6]
N_PENALTIES = [2, 1, 1, 2, 3, 2, 6, 2, 1]


def test_sizes_of_terms():
    assert [term.coordinates.shape[1] for term, _ in TERMS.values()] == WIDTHS
    assert [len(term.penalties) for term, _ in TERMS.values()] == N_PENALTIES


@pytest.mark.parametrize("n_copies", [1, 20])
def test_products_and_sums_are_those_of_the_design(n_copies):
    """Of few rows, and of so many that histograms of pairs are counted."""
    terms, columns = zip(*TERMS.values(), strict=True)
    columns = [[np.tile(x, n_copies) for x in xs] for xs in columns]
    weights = RNG.random(60 * n_copies)
    bins = [
        [
            Bins(basis, np.unique(x))
            for basis, x in zip(term.bases, xs, strict=True)
            if basis is not LINE
        ]
        for term, xs in zip(terms, columns, strict=True)
    ]
    coded = list(map(CodedTerm, bins, columns))
    design = RoundedDesign(terms, bins, [one.histogram(weights) for one in coded])
    rows = RoundedRows(design, coded, len(weights))
    values = [t.evaluate(xs) for t, xs in zip(design.terms, columns, strict=True)]
    plain = np.column_stack([np.ones(len(weights)), *values])
    assert_allclose(rows.sums(weights), weights @ plain, atol=1e-9)
    products = (weights * plain.T) @ plain
    assert_allclose(rows.products(weights), products, rtol=1e-9, atol=1e-9)
    coefficients = RNG.normal(size=plain.shape[1])
    assert_allclose(rows.predictor(coefficients), plain @ coefficients)
    effects = rows.effects(coefficients)
    assert_allclose(effects.sum(axis=1) + coefficients[0], plain @ coefficients)
    # Over the rows, but for products with a line, effects sum to zero.
    centred = [not name.startswith(("by a", "line")) for name in TERMS]
    assert_allclose((weights @ effects)[centred], 0, atol=1e-9)
