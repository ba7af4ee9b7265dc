"""Fixtures of the tests of importance."""

import numpy as np
import pytest


@pytest.fixture
def X():
    """Columns that depend on each other."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[:, 0] += X[:, 2]
    X[:, 1] = X[:, 0] + 0.5 * rng.normal(size=400)
    return X
