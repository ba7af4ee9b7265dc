"""Mistakes of users, each of which mypy and pyright find.

A checker that no longer finds one complains of the comment that it then does not need.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

from sklearn_interpret.additive import GAMRegressor, SmoothTermDisplay
from sklearn_interpret.counterfactuals import ExactCounterfactual
from sklearn_interpret.effects import PartialDependence, PartialDependenceDisplay
from sklearn_interpret.shapley import ShapleyWaterfallDisplay, TreeSHAP

Floats = NDArray[np.float64]
MODEL = LinearRegression()


def mistakes(X: Floats, y: Floats) -> None:
    # Parameters that do not exist, of constructors and displays.
    PartialDependence(MODEL, grid=20)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    GAMRegressor(MODEL)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    PartialDependenceDisplay.from_estimator(MODEL, X, fetures=[0])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    SmoothTermDisplay.from_estimator(MODEL, bands=True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    ShapleyWaterfallDisplay.from_cv_results({}, X)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    # A value of another type.
    ExactCounterfactual(MODEL, max_changes="two")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    # Attributes and methods that do not exist.
    effect = PartialDependence(MODEL).fit(X, y)
    print(effect.averages_)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    effect.explain(X)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    # Results taken for something else.
    values: Floats = TreeSHAP(MODEL).fit(X, y).explain(X)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    first: float = effect.average_[0]  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    print(values, first)
