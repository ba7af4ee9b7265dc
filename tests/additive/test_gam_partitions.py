"""Additive models of rows in partitions are those of the rows in memory."""

import pickle
import warnings
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.base import clone

from sklearn_interpret._core.statistics.weighted import weighted_quantile
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.validation import Sample
from sklearn_interpret.partitions import RowBatches
from tests.partitions import in_batches
from sklearn_interpret.additive import GAMClassifier, GAMRegressor
from sklearn_interpret.exceptions import OverdispersionWarning, SeparationWarning

N_ROWS = 3000


class Counted(RowBatches):
    def map_reduce(self, function, merge, columns=None):
        self.n_passes = getattr(self, "n_passes", 0) + 1
        function = pickle.loads(pickle.dumps(function))
        return super().map_reduce(function, merge, columns)


def in_parts(model, X, y, weights, n_parts):
    parts = Counted(in_batches(X, y, weights, n_parts, n_parts).source)
    return clone(model).fit(parts), parts.n_passes


def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((N_ROWS, 4)), columns=list("abcd"))
    X["few"] = rng.integers(0, 20, N_ROWS) / 10
    X["town"] = rng.choice(["u", "v", "w"], N_ROWS)
    score = np.sin(6 * X["a"]) + X["b"] + (X["town"] == "u") + X["few"] / 3
    return X, score.to_numpy(), rng


X, SCORE, RNG = table()
NORMAL = SCORE + RNG.normal(size=N_ROWS) / 2
COUNTS = RNG.poisson(np.exp(SCORE)).astype(float)
WEIGHTS = RNG.uniform(0.5, 2, N_ROWS)
CLASSES = RNG.random(N_ROWS) < expit(SCORE - 1)
THREE = np.array(["p", "q", "r"])[np.digitize(NORMAL, [0.5, 1.5])]
MIXED = {"a": "spline", "b": "linear", "few": "spline", "town": "category"}
CASES = {
    "normal": (GAMRegressor(), NORMAL),
    "weights": (GAMRegressor(), NORMAL),
    "poisson": (GAMRegressor(family="poisson"), COUNTS),
    "gamma": (GAMRegressor(family="gamma"), np.exp(NORMAL)),
    "log": (GAMRegressor(link="log"), np.exp(SCORE) + NORMAL - SCORE),
    "quasi": (GAMRegressor(family="quasipoisson", terms=["a"]), COUNTS),
    "nb": (GAMRegressor(family="negative_binomial", terms=["a", "town"]), COUNTS),
    "mixed": (GAMRegressor(terms=MIXED, offset="c"), NORMAL),
    "poisson offset": (GAMRegressor(terms=MIXED, offset="c", family="poisson"), COUNTS),
    "tensor": (GAMRegressor(terms=["a", ("a", "few"), ("b", "town")]), NORMAL),
    "by": (GAMRegressor(terms=["a", "b", "town"], by={"a": "town", "b": "c"}), NORMAL),
    "monotonic": (GAMRegressor(terms=["a", "b"], monotonic_cst={"b": 1}), NORMAL),
    "quantile": (GAMRegressor(terms=["a", "b"], knots="quantile"), NORMAL),
    "cyclic": (GAMRegressor(terms={"a": "cyclic"}, periods={"a": 1}), NORMAL),
    "gcv": (GAMRegressor(terms=["a", "b"], smoothing="gcv"), NORMAL),
    "fixed": (GAMRegressor(smoothing=2.0), NORMAL),
    "classes": (GAMClassifier(), CLASSES),
    "three": (GAMClassifier(terms=["a", "b"]), THREE),
    "trials": (GAMRegressor(family="binomial"), expit(NORMAL)),
}
ATTRS = ["coef_", "intercept_", "covariance_", "scale_", "dispersion_", "smoothing_", "effective_dof_", "residual_dof_", "statistics_", "pvalues_", "deviance_explained_", "reml_"]

if __name__ == "__main__":
    for name, (model, y) in CASES.items():
        w = WEIGHTS if name in ("weights", "trials") else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = clone(model).fit(X, y, w)
            for n in (1, 2, 7, 64):
                many, passes = in_parts(model, X, y, w, n)
                gaps = {}
                for attr in ATTRS:
                    a, b = map(np.asarray, (getattr(one, attr), getattr(many, attr)))
                    gaps[attr] = np.abs(a - b).max() / np.abs(a).max()
                p = np.abs(one.transform(X) - many.transform(X)).max()
                worst = sorted(gaps, key=gaps.get)[-3:]
                print(f"{name:15s} {n:3d} passes {passes} n_iter {one.n_iter_} effects {p:.1e}", {k: f"{gaps[k]:.1e}" for k in worst})
