"""Permutation importance of features against scikit-learn's.

Exact importances of linear models and trees against its repeats, repeats of ours
against as many of its own, exact importances without pairs of rows against those over
all pairs, and several scores against one. Exact results and repeats agree where the
repeats' mean is within its own standard errors.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from effect_pairs import table
from pair import Case, Pair, Result, count_rows, own_ratio, run_pair
from sklearn.base import RegressorMixin
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression

from sklearn_interpret.importance import PermutationImportance

REPEATS = 10
PAIRED = 300  # rows of which all pairs are sent to the model
SEVERAL = ("r2", "neg_mean_squared_error", "neg_mean_absolute_error", "neg_max_error")

# In standard errors of the means of the repeats. Spreads of ten repeats vary, and the
# largest of ten features' differences is looked at.
MOST_ERRORS = 8.0

Timing = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """Rows and trees of a run, and whether targets are judged."""

    n_rows: int
    n_features: int
    n_trees: int
    judged: bool

    def target(self, value: float) -> float | None:
        """Return the target, or None where none is set."""
        return value if self.judged else None

    @cache  # noqa: B019 - there is one for each run
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows and their targets."""
        return table(self.n_rows, self.n_features)

    @cache  # noqa: B019
    def fitted(self, kind: str) -> RegressorMixin:
        """Return the model of one kind."""
        model = {
            "gb": GradientBoostingRegressor(n_estimators=self.n_trees, random_state=0),
            "gb6": GradientBoostingRegressor(
                n_estimators=self.n_trees, max_depth=6, random_state=0
            ),
            "hgb": HistGradientBoostingRegressor(max_iter=self.n_trees, random_state=0),
            "rf8": RandomForestRegressor(self.n_trees, max_depth=8, random_state=0),
            "deep": RandomForestRegressor(self.n_trees, random_state=0),
            "linear": LinearRegression(),
            "additive": HistGradientBoostingRegressor(
                max_iter=self.n_trees, interaction_cst="no_interactions", random_state=0
            ),
        }[kind]
        return model.fit(*self.data())


FULL = Sizes(10_000, 10, 100, judged=True)
QUICK = Sizes(400, 6, 10, judged=False)


def ours(sizes: Sizes, kind: str, **params: Any) -> PermutationImportance:
    """Inspect a fitted model with our class."""
    model = FrozenEstimator(sizes.fitted(kind))
    params = {"n_repeats": REPEATS, "random_state": 0, **params}
    return PermutationImportance(model, **params).fit(*sizes.data())


def theirs(sizes: Sizes, kind: str, **params: Any) -> Any:
    """Inspect it with scikit-learn's function."""
    params = {"n_repeats": REPEATS, "random_state": 1, **params}
    return permutation_importance(sizes.fitted(kind), *sizes.data(), **params)


def in_errors(sizes: Sizes, first: PermutationImportance, second: Any) -> float:
    """Return the largest difference of means in units of its standard error.

    A random permutation leaves a row its own value once in n times on average, which
    exact importances do not count.
    """
    means, errors = first.importances_mean_, first.importances_std_
    if first.method == "exact":
        means = means * (1 - 1 / sizes.n_rows)
    theirs = second.importances
    variance = (errors**2 + theirs.var(axis=1, ddof=1)) / theirs.shape[1]
    difference = np.abs(means - theirs.mean(axis=1))
    return float((difference / (np.sqrt(variance) + 1e-12)).max())


def against_repeats(
    name: str, sizes: Sizes, timing: Timing, *, kind: str, target: float, **params: Any
) -> Result:
    """Our importances of a model and the repeats of scikit-learn's."""
    pair = Pair(
        name,
        partial(ours, sizes, kind, **params),
        partial(theirs, sizes, kind),
        "scikit-learn",
        partial(in_errors, sizes),
        MOST_ERRORS,
        sizes.target(target),
    )
    return run_pair(pair, **timing)


def squared_error(y_true: np.ndarray, y_pred: np.ndarray) -> np.ndarray:
    """Return the squared error of each row, a function that is taken as it is."""
    return (y_true - y_pred) ** 2


def against_pairs(name: str, kind: str, sizes: Sizes, timing: Timing) -> Result:
    """Without pairs of rows against our own over all pairs, which must be the same."""

    def inspect(scoring):
        X, y = sizes.data()
        model = FrozenEstimator(sizes.fitted(kind))
        inspector = PermutationImportance(model, scoring=scoring, method="exact")
        return inspector.fit(X[:PAIRED], y[:PAIRED])

    def agreement(one, other):
        most = np.abs(other.importances_).max()
        return np.abs(one.importances_ - other.importances_).max() / most

    return own_ratio(
        name,
        "all pairs",
        partial(inspect, "neg_mean_squared_error"),
        partial(inspect, squared_error),
        agreement=agreement,
        tolerance=1e-10,
        at_most=sizes.target(1.0),
        **timing,
    )


def rows_asked(name: str, sizes: Sizes) -> Result:
    """The rows that reach the model: scikit-learn's function sends as many."""

    def inspect(model):
        params = {"n_repeats": REPEATS, "random_state": 0}
        PermutationImportance(FrozenEstimator(model), **params).fit(*sizes.data())

    expected = sizes.n_rows * (1 + REPEATS * sizes.n_features)
    return count_rows(name, inspect, sizes.fitted("linear"), expected=expected)


def several_scores(name: str, kind: str, sizes: Sizes, timing: Timing) -> Result:
    """Four scores against one of them, which must be the same."""

    def agreement(several, one):
        return np.abs(several.results_["r2"].importances - one.importances_).max()

    return own_ratio(
        name,
        "our r2 alone",
        partial(ours, sizes, kind, scoring=list(SEVERAL)),
        partial(ours, sizes, kind, scoring="r2"),
        agreement=agreement,
        at_most=sizes.target(1.1),
        **timing,
    )


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name; models are fitted when a case runs."""
    exact: dict[str, Callable[[str], Result]] = {
        f"exact-{kind}": partial(
            against_repeats,
            sizes=sizes,
            timing=timing,
            kind=kind,
            target=1.0,
            method="exact",
        )
        for kind in ("linear", "additive", "gb", "gb6", "hgb", "rf8", "deep")
    }
    repeats: dict[str, Callable[[str], Result]] = {
        f"repeats-{kind}": partial(
            against_repeats, sizes=sizes, timing=timing, kind=kind, target=1.0
        )
        for kind in ("linear", "hgb", "rf8")
    }
    pairs = {
        f"pairs-{kind}": partial(against_pairs, kind=kind, sizes=sizes, timing=timing)
        for kind in ("linear", "additive")
    }
    several = {
        f"several-{kind}": partial(
            several_scores, kind=kind, sizes=sizes, timing=timing
        )
        for kind in ("hgb", "rf8")
    }
    return {
        **exact,
        **repeats,
        **pairs,
        **several,
        "rows": partial(rows_asked, sizes=sizes),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options: argparse.Namespace = parser(__doc__).parse_args(arguments)
    return run_chosen(partial(cases, QUICK if options.quick else FULL), options)


if __name__ == "__main__":
    sys.exit(main())
