"""Influence of training rows: without a row, without fits, and what that costs.

Truth is what refits say: of the leave-one-out parameters of DeletionDiagnostics, and of
the changes of losses by InfluenceFunctions over all pairs of rows, where pyinfluence is
judged too. Regression diagnostics are those of statsmodels. It fails where one is off.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Pair, Result, duration, own_ratio, paired_seconds, run_pair
from scipy.special import xlogy
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import scale

from sklearn_interpret.influence import (
    DeletionDiagnostics,
    InfluenceFunctions,
    RegressionInfluence,
)

# To 1e-9, so that refits are the truth; Newton's steps are the quickest way there.
SHARP = {"solver": "newton-cholesky", "tol": 1e-9, "warm_start": True}
MODELS = {
    "linear": LinearRegression(),
    "ridge": Ridge(10.0),
    "logistic": LogisticRegression(**SHARP),
    "poisson": PoissonRegressor(alpha=1e-3, **SHARP),
    "softmax": LogisticRegression(**SHARP),
}
# Those whose losses are exact, not only close.
SQUARED = {"linear", "ridge"}
# Those that pyinfluence takes without a warning.
SHARED = {"ridge", "logistic"}
# The attributes of RegressionInfluence, and those of statsmodels' OLSInfluence.
MEASURES = {
    "leverages_": "hat_matrix_diag",
    "cooks_distances_": "cooks_distance",
    "dfbetas_": "dfbetas",
    "dffits_": "dffits",
    "covratio_": "cov_ratio",
    "residuals_standardized_": "resid_studentized_internal",
    "residuals_studentized_": "resid_studentized_external",
}

Timing = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """Rows and columns, also of regression diagnostics; whether times are judged.

    `large` has the training rows and columns where few rows are explained.
    """

    n_rows: int
    n_columns: int
    n_diagnosed: int
    large: tuple[int, int]
    judged: bool


FULL = Sizes(1000, 20, 10_000, (20_000, 50), judged=True)
QUICK = Sizes(80, 4, 300, (500, 5), judged=False)
# Numbers of rows explained there.
FEW = 1, 100, 1000


@dataclass(frozen=True, eq=False)
class Problem:
    """A fitted model, the rows that it was fitted on, and others."""

    name: str
    model: Any
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def parameters(self) -> np.ndarray:
        """Coefficients, inputs by outputs, and then intercepts."""
        return parameters_of(self.model)

    def losses(self, model: Any) -> np.ndarray:
        """Return the losses of the other rows, as metrics of the kind of model."""
        y = self.y_test
        if self.name in ("logistic", "softmax"):
            return -model.predict_log_proba(self.X_test)[np.arange(len(y)), y]
        predictions = model.predict(self.X_test)
        if self.name == "poisson":
            return 2 * (xlogy(y, y / predictions) - y + predictions)
        return (y - predictions) ** 2


@cache
def problem(name: str, n_rows: int, n_columns: int) -> Problem:
    """Return one with as many rows to fit as to explain."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n_rows, n_columns))
    slopes = rng.normal(size=(n_columns, 3)) / np.sqrt(n_columns)
    scores = X @ slopes + rng.gumbel(size=(2 * n_rows, 3))
    y = {
        "logistic": (scores[:, 0] > scores[:, 1]).astype(int),
        "softmax": scores.argmax(axis=1),
        "poisson": rng.poisson(np.exp(X @ slopes[:, 0] / 2)).astype(float),
    }.get(name, scores[:, 0])
    model = clone(MODELS[name]).fit(X[:n_rows], y[:n_rows])
    return Problem(name, model, X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def parameters_of(model: Any) -> np.ndarray:
    """Return coefficients, inputs by outputs, and then intercepts."""
    return np.append(np.atleast_2d(model.coef_).T, model.intercept_)


def refits(on: Problem, what: Callable[[Any], np.ndarray]) -> np.ndarray:
    """Return changes of a quantity of the model when it is fitted without each row."""
    model, kept = clone(on.model).fit(on.X, on.y), np.ones(len(on.X), dtype=bool)
    changes, before = [], what(model)
    for row in range(len(on.X)):
        kept[row] = False
        # A warm start, where the model has any, from the fit before.
        changes.append(what(model.fit(on.X[kept], on.y[kept])) - before)
        kept[row] = True
    return np.array(changes)


@cache
def true_influence(name: str, n_rows: int, n_columns: int) -> np.ndarray:
    """Return the changes of losses (m, n) by refits."""
    on = problem(name, n_rows, n_columns)
    return refits(on, on.losses).T


def largest(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest absolute difference."""
    return float(np.abs(ours - theirs).max())


def deletion(name: str, *, model: str, sizes: Sizes, timing: Timing) -> Result:
    """Leave each row out: parameters and time against warm-started refits."""
    on = problem(model, sizes.n_rows, sizes.n_columns)

    def ours():
        inspector = DeletionDiagnostics(FrozenEstimator(on.model), what="parameters")
        return inspector.fit(on.X, on.y).parameter_changes_

    pair = Pair(
        name,
        ours,
        partial(refits, on, parameters_of),
        "scikit-learn",
        largest,
        1e-6,
        10 if sizes.judged else None,
    )
    return run_pair(pair, **timing)


def estimated(on: Problem) -> np.ndarray:
    """Return our influence of all training rows on all others, (m, n)."""
    inspector = InfluenceFunctions(FrozenEstimator(on.model)).fit(on.X, on.y)
    return inspector.explain(on.X_test, on.y_test).values


def by_pyinfluence(on: Problem) -> np.ndarray:
    """Return pyinfluence's, to first order."""
    from pyinfluence import InfluenceFunctions as Peer

    peer = Peer().fit(on.model, on.X, on.y)
    return peer.explain(on.X_test, on.y_test)


def quality(values: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Return the correlation over all pairs, and the worst in parts of the largest."""
    correlation = np.corrcoef(values.ravel(), truth.ravel())[0, 1]
    return float(correlation), largest(values, truth) / float(np.abs(truth).max())


def functions(
    name: str, *, model: str, n_rows: int, n_columns: int, timing: Timing
) -> Result:
    """Compare the influence of all pairs of rows with refits."""
    on = problem(model, n_rows, n_columns)
    truth = true_influence(model, n_rows, n_columns)
    correlation, worst = quality(estimated(on), truth)
    note = ""
    if model in SHARED:
        try:
            theirs = quality(by_pyinfluence(on), truth)
            note = "pyinfluence: r {:.5f}, worst pair {:.1%}".format(*theirs)
        except ImportError as error:
            note = f"pyinfluence: {error}"
    # Written so that NaN is no agreement.
    agrees = correlation >= 0.999 and worst <= (1e-8 if model in SQUARED else 0.05)
    seconds = paired_seconds(partial(estimated, on), lambda: None, **timing)[:, 0]
    return Result(
        name,
        "refits",
        duration(np.median(seconds)),
        "-",
        f"r {correlation:.6f}",
        "r >= .999",
        f"{worst:.1e}",
        "ok" if agrees else "DISAGREES",
        note,
    )


def network(name: str, *, timing: Timing) -> Result:
    """Compare the influence of rows on a small network with fits from where it is."""
    X, y = load_iris(return_X_y=True)
    X, y = scale(X[::2]), y[::2]
    # Trained to the end, with a penalty: elsewhere fits end in other valleys.
    model = MLPClassifier(
        hidden_layer_sizes=(4,),
        activation="tanh",
        alpha=1.0,
        solver="lbfgs",
        max_iter=100_000,
        tol=1e-10,
        random_state=0,
    ).fit(X, y)
    inspector = InfluenceFunctions(FrozenEstimator(model))

    def estimated():
        return inspector.fit(X, y).explain(X, y)

    seconds = paired_seconds(estimated, lambda: None, **timing)[:, 0]
    correlation = inspector.check(k=len(X))
    return Result(
        name,
        "refits",
        duration(np.median(seconds)),
        "-",
        f"r {correlation:.4f}",
        "r >= .9",
        "-",
        "ok" if correlation >= 0.9 else "DISAGREES",
    )


def pairs(
    name: str,
    *,
    model: str,
    shape: tuple[int, int],
    n_explained: int | None = None,
    judged: bool,
    timing: Timing,
) -> Result:
    """All pairs of influence: our time against that of pyinfluence's first order."""
    on = problem(model, *shape)
    on = replace(on, X_test=on.X_test[:n_explained], y_test=on.y_test[:n_explained])

    def agreement(ours, theirs):
        return 1 - quality(ours, theirs)[0]

    pair = Pair(
        name,
        partial(estimated, on),
        partial(by_pyinfluence, on),
        "pyinfluence",
        agreement,
        0.1,
        (1 if n_explained else 1 / 3) if judged else None,
    )
    return run_pair(pair, **timing)


def diagnosed(on: Problem) -> np.ndarray:
    """Return all measures of our regression diagnostics, side by side."""
    inspector = RegressionInfluence(FrozenEstimator(on.model)).fit(on.X, on.y)
    return np.column_stack([getattr(inspector, name) for name in MEASURES])


def diagnostics_fit(name: str, *, sizes: Sizes, timing: Timing) -> Result:
    """All regression diagnostics, in fits of the model."""
    on = problem("linear", sizes.n_diagnosed, sizes.n_columns)
    return own_ratio(
        name,
        "LinearRegression.fit",
        partial(diagnosed, on),
        lambda: LinearRegression().fit(on.X, on.y),
        at_most=12 if sizes.judged else None,
        **timing,
    )


def by_statsmodels(on: Problem) -> np.ndarray:
    """Return the same measures; statsmodels fits again for some."""
    from statsmodels.api import OLS
    from statsmodels.stats.outliers_influence import OLSInfluence

    fitted = OLS(on.y, np.column_stack([on.X, np.ones(len(on.X))])).fit()
    known = OLSInfluence(fitted)
    columns = []
    for name in MEASURES.values():
        values = getattr(known, name)
        # Some come with a threshold, or p-values.
        columns.append(values[0] if isinstance(values, tuple) else values)
    return np.column_stack(columns)


def diagnostics_peer(name: str, *, sizes: Sizes, timing: Timing) -> Result:
    """All regression diagnostics: numbers and time against statsmodels'."""
    on = problem("linear", sizes.n_rows, sizes.n_columns)
    pair = Pair(
        name,
        partial(diagnosed, on),
        partial(by_statsmodels, on),
        "statsmodels",
        largest,
        1e-8,
        100 if sizes.judged else None,
    )
    return run_pair(pair, **timing)


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name."""
    common = {"sizes": sizes, "timing": timing}
    judged: dict[str, Any] = {"judged": sizes.judged, "timing": timing}
    # Of few rows each weighs more, and first order is far off.
    tables = {"": (sizes.n_rows, sizes.n_columns), "-few": (100, 5)}
    deletions: dict[str, Case] = {
        f"deletion-{model}": partial(deletion, model=model, **common)
        for model in MODELS
    }
    estimates: dict[str, Case] = {
        f"functions-{model}{size}": partial(
            functions, model=model, n_rows=n_rows, n_columns=n_columns, timing=timing
        )
        for model in MODELS
        for size, (n_rows, n_columns) in tables.items()
    }
    return {
        **deletions,
        **estimates,
        "functions-network": partial(network, timing=timing),
        **{
            f"pairs-{model}": partial(pairs, model=model, shape=tables[""], **judged)
            for model in ("ridge", "logistic")
        },
        **{
            f"explained-{n}": partial(
                pairs, model="logistic", shape=sizes.large, n_explained=n, **judged
            )
            for n in FEW
        },
        "diagnostics-fit": partial(diagnostics_fit, **common),
        "diagnostics-statsmodels": partial(diagnostics_peer, **common),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options = parser(__doc__).parse_args(arguments)
    sizes = QUICK if options.quick else FULL
    return run_chosen(partial(cases, sizes), options)


if __name__ == "__main__":
    sys.exit(main())
