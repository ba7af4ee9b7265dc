"""Small tables to fit trees on."""

import numpy as np


def table(n_rows=200, n_columns=5, *, missing=False, seed=0):
    """Columns with few and with many values, zero among them; a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 0] = rng.integers(-3, 4, size=n_rows)
    X[:, 1] = np.round(X[:, 1], 1)
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + 0.1 * rng.normal(size=n_rows)
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def labels(y, n_classes, *, names=False):
    """A target cut into classes of about equal size."""
    edges = np.quantile(y, np.arange(1, n_classes) / n_classes)
    classes = np.searchsorted(edges, y)
    return np.array(["late", "early", "middle"])[classes] if names else classes


def several(y):
    """Two targets out of one."""
    return np.column_stack([y, np.cos(y)])
