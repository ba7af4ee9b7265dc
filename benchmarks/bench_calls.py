"""Calls and rows that inspectors send to a model that nobody can read.

A model has a price for each call and one for each row. `difference` is the time of
`fit` and `explain` beyond that of one call with all the rows: calls of few rows, and
work of ours. The model is a small network, which is quick: its price of a call shows.
"""

import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Result, duration
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from sklearn_interpret import (
    adversarial,
    counterfactuals,
    effects,
    importance,
    interactions,
    shapley,
    surrogates,
)

Clock = Callable[[], float]
DRAWN = {"random_state": 0}
# The inspectors, and the calls they may make for twenty rows: about half more than they
# make. Most know their rows beforehand, and send as many as a batch holds; of searches,
# the answers to a step decide the next.
INSPECTORS: dict[Any, tuple[dict[str, Any], int]] = {
    effects.PartialDependence: ({}, 60),
    effects.IndividualConditionalExpectation: ({}, 60),
    effects.AccumulatedLocalEffects: ({}, 20),
    effects.ConditionalDependence: ({}, 5),
    effects.RegionalEffects: ({"features": [0, 1]}, 10),
    importance.PermutationImportance: (DRAWN, 80),
    importance.SAGE: (DRAWN, 300),
    interactions.HStatistic: ({"subsample": 100}, 30),
    interactions.PartialDependenceInteraction: ({"subsample": 50}, 80),
    interactions.VariableInteractionNetwork: (DRAWN, 90),
    shapley.KernelSHAP: (DRAWN, 80),
    shapley.ShapleySampling: (DRAWN, 40),
    shapley.ShapleyValues: (DRAWN, 80),
    surrogates.GlobalSurrogate: ({"min_fidelity": None}, 5),
    surrogates.LimeTabular: ({"min_fidelity": None, **DRAWN}, 10),
    counterfactuals.GrowingSpheres: (DRAWN, 80),
    counterfactuals.WachterCounterfactual: ({}, 120),
    counterfactuals.Anchors: (DRAWN, 500),
    adversarial.ProjectedGradient: (DRAWN, 300),
    adversarial.MinimalPerturbation: ({}, 350),
    adversarial.HopSkipJump: (DRAWN, 200),
    adversarial.OnePixelAttack: (DRAWN, 20),
}


class CountingClassifier(ClassifierMixin, BaseEstimator):
    """A fitted classifier that hides what it is, counts calls and keeps their rows."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: np.ndarray, y: np.ndarray) -> "CountingClassifier":
        """Fit the model, and count from zero."""
        self.model_ = self.model.fit(X, y)
        self.classes_, self.n_features_in_ = self.model_.classes_, X.shape[1]
        self.sent_: list[np.ndarray] = []
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Keep the rows, and let the model predict."""
        self.sent_.append(np.array(X))
        return self.model_.predict_proba(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the classes of the largest probabilities."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@cache
def fitted(n_rows: int) -> tuple[CountingClassifier, np.ndarray, np.ndarray]:
    """Return a model of three classes, rows and targets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 10))
    y = (X[:, 0] + X[:, 1] * (X[:, 2] > 0) > 0).astype(int) + (X[:, 3] > 1)
    network = MLPClassifier((50,), max_iter=30, tol=0.01, random_state=0)
    return CountingClassifier(network).fit(X, y), X, y


def count_calls(
    name: str, *, kind: Any, n_rows: int, judged: bool, threads: int, clock: Clock
) -> Result:
    """Count the calls and rows of `fit` and of explaining twenty rows."""
    model, X, y = fitted(n_rows)
    parameters, most = INSPECTORS[kind]
    inspector = kind(FrozenEstimator(model), verbose=0, **parameters)
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.sent_ = []
        start = clock()
        inspector.fit(X, y)
        if hasattr(inspector, "explain"):
            inspector.explain(X[:20])
        passed, sent = clock() - start, model.sent_
        rows = np.concatenate(sent)
        start = clock()
        model.model_.predict_proba(rows)
        at_once = clock() - start
    return Result(
        name,
        "one call of all rows",
        duration(passed),
        duration(at_once),
        f"{len(sent)} calls, {len(rows)} rows",
        f"<= {most} calls" if judged else "-",
        f"{passed / at_once - 1:+.0%}",
        "ok" if len(sent) <= most or not judged else "above target",
    )


def cases(*, quick: bool, threads: int, clock: Clock, **_: Any) -> dict[str, Case]:
    """Return the cases by name."""
    return {
        kind.__name__: partial(
            count_calls,
            kind=kind,
            n_rows=200 if quick else 2000,
            judged=not quick,
            threads=threads,
            clock=clock,
        )
        for kind in INSPECTORS
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options = parser(__doc__).parse_args(arguments)
    return run_chosen(partial(cases, quick=options.quick), options)


if __name__ == "__main__":
    sys.exit(main())
