"""Values of rows in predictions of neighbours, against the enumeration of sets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._core.influence.neighbor_values import (
    agreement_values,
    squared_error_values,
)
from tests.references.shapley import enumerated


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [5, 6, 9, 11])
def test_definition(n, k):
    rng = np.random.default_rng(n + k)
    neighbors, targets = rng.normal(size=(3, n)), rng.normal(size=3)
    agrees = (neighbors > 0).astype(float)
    for row in range(3):

        def mean(coalition, row=row, of=neighbors):
            return sum(of[row, j] for j in sorted(coalition)[:k]) / k

        def share(coalition, row=row):
            return mean(coalition, row, agrees)

        def fit(coalition, row=row):
            return -((mean(coalition, row) - targets[row]) ** 2)

        assert_allclose(
            agreement_values(agrees, k)[row], enumerated(share, n), atol=1e-13
        )
        values = squared_error_values(neighbors, targets, k)[row]
        assert_allclose(values, enumerated(fit, n), atol=1e-13)


def test_one_row():
    one = np.array([[2.0]])
    assert_allclose(agreement_values(one, 1), [[2.0]])
    assert_allclose(squared_error_values(one, np.array([3.0]), 1), [[8.0]])
