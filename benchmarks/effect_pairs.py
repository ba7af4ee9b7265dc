"""Feature effects, ours and a peer's, on the same model, rows and grid.

Shared by `bench_effects.py` (any model) and `bench_trees.py` (trees, read exactly).
"""

from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from pair import Pair
from scipy.stats.mstats import mquantiles
from sklearn.datasets import make_friedman1
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence

from sklearn_interpret.effects import AccumulatedLocalEffects, PartialDependence

TOLERANCE = 1e-10
N_INTERVALS = 40
N_GRID = 50


@cache
def table(n_rows: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return Friedman's first regression problem: five features act."""
    return make_friedman1(n_rows, n_features=n_features, noise=1.0, random_state=seed)


def frame(X: np.ndarray) -> pd.DataFrame:
    """Return the same table as PyALE and woodelf want it."""
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def quantile_edges(column: np.ndarray, n_intervals: int) -> np.ndarray:
    """Return the minimum and the inverted-CDF quantiles at k / n_intervals."""
    # In whole numbers, so that no k / n_intervals is rounded across a rank.
    ranks = -(-np.arange(1, n_intervals + 1) * len(column) // n_intervals) - 1
    values = np.sort(column)
    return np.unique(np.concatenate([values[:1], values[ranks]]))


def even_grids(X: np.ndarray, n_values: int = N_GRID) -> list[np.ndarray]:
    """Return, for each column, even steps between its 5 % and 95 % quantiles."""
    # scikit-learn's and woodelf's quantiles, so that all can be given one grid.
    low, high = mquantiles(X, prob=(0.05, 0.95), axis=0)
    return [np.linspace(*ends, n_values) for ends in zip(low, high, strict=True)]


def largest_difference(ours: list, theirs: list) -> float:
    """Return the largest absolute difference over all curves."""
    pairs = zip(ours, theirs, strict=True)
    return max(float(np.abs(a - b).max()) for a, b in pairs)


def our_ale(model: Any, X: Any, **params: Any) -> AccumulatedLocalEffects:
    """Inspect a fitted model with our class."""
    frozen = FrozenEstimator(model)
    return AccumulatedLocalEffects(frozen, n_intervals=N_INTERVALS, **params).fit(X)


def our_pd(
    model: Any, X: np.ndarray, grids: list[np.ndarray], **params: Any
) -> PartialDependence:
    """Inspect a fitted model with our class, every feature on the grid given."""
    values = dict(enumerate(grids))
    return PartialDependence(
        FrozenEstimator(model), features=list(values), custom_values=values, **params
    ).fit(X)


def ale_against_alibi(
    name: str, model: Any, X: np.ndarray, *, target: float | None
) -> Pair:
    """Both on the same edges: alibi's own search for edges is long, and not ours."""
    edges = {j: quantile_edges(column, N_INTERVALS) for j, column in enumerate(X.T)}

    def alibi():
        from alibi.explainers.ale import ALE

        return ALE(model.predict).explain(X, grid_points=edges)

    def agreement(ours, theirs):
        curves = [values[:, 0] for values in theirs.ale_values]
        return largest_difference(ours.effects_, curves)

    ours = partial(our_ale, model, X, custom_values=edges)
    return Pair(name, ours, alibi, "alibi", agreement, TOLERANCE, target)


def ale_against_pyale(
    name: str, model: Any, X: pd.DataFrame, *, target: float | None
) -> Pair:
    """Both on a data frame (PyALE takes no array), each with its own edges."""

    def pyale():
        from PyALE import ale

        return [
            ale(
                X,
                model,
                [column],
                feature_type="continuous",
                grid_size=N_INTERVALS,
                include_CI=False,
                plot=False,
            )
            for column in X.columns
        ]

    def agreement(ours, theirs):
        edges = [np.asarray(curve.index) for curve in theirs]
        if not all(map(np.array_equal, ours.edges_, edges)):
            print("    PyALE's edges differ from ours: compared on PyALE's")
            ours = our_ale(model, X, custom_values=dict(enumerate(edges)))
        return largest_difference(ours.effects_, [c["eff"].to_numpy() for c in theirs])

    ours = partial(our_ale, model, X)
    return Pair(name, ours, pyale, "PyALE", agreement, TOLERANCE, target)


def pd_against_sklearn(
    name: str, model: Any, X: np.ndarray, *, method: str, target: float | None
) -> Pair:
    """Both on the same grids; scikit-learn takes one feature at a time."""
    grids = even_grids(X)

    def brute_force():
        return [
            partial_dependence(
                model,
                X,
                [feature],
                method="brute",
                kind="average",
                custom_values={feature: grid},
            )
            for feature, grid in enumerate(grids)
        ]

    def agreement(ours, theirs):
        return largest_difference(ours.average_, [r["average"][0] for r in theirs])

    ours = partial(our_pd, model, X, grids, method=method)
    return Pair(name, ours, brute_force, "scikit-learn", agreement, TOLERANCE, target)
