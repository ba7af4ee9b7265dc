"""Types of the influence of training rows, as users see them."""

from typing import Literal, assert_type

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.container import BarContainer
from matplotlib.text import Text
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from sklearn_interpret.explanations import TrainingExplanation, WeightExplanation
from sklearn_interpret.influence import (
    DataValues,
    DeletionDiagnostics,
    InfluenceDisplay,
    InfluenceFunctions,
    InfluenceTreeDisplay,
    PredictionWeights,
    RegressionInfluence,
    RegressionInfluenceDisplay,
)

Floats = NDArray[np.float64]


def deletion(X: Floats, y: Floats) -> None:
    diagnostics = DeletionDiagnostics(LinearRegression(), what="loss").fit(X, y)
    assert_type(diagnostics, DeletionDiagnostics)
    assert_type(diagnostics.influence_, Floats)
    assert_type(diagnostics.prediction_changes_, Floats)
    assert_type(diagnostics.loss_changes_, Floats)
    assert_type(diagnostics.parameter_changes_, Floats)
    assert_type(
        diagnostics.method_,
        Literal["refit", "newton", "neighbors", "sufficient_statistics"],
    )
    assert_type(diagnostics.row_indices_, NDArray[np.intp])
    explanation = diagnostics.explain(X, y)
    assert_type(explanation, TrainingExplanation)
    assert_type(explanation.values, Floats)
    assert_type(explanation.largest(3), NDArray[np.intp])
    assert_type(explanation.to_frame(k=3), DataFrame)
    display = InfluenceDisplay.from_estimator(diagnostics, max_entries=5)
    assert_type(display, InfluenceDisplay)
    assert_type(display.plot(max_entries=None), InfluenceDisplay)
    assert_type(display.bars_, BarContainer)
    assert_type(display.to_frame(), DataFrame)
    assert_type(InfluenceDisplay.from_explanation(explanation), InfluenceDisplay)
    removal = InfluenceDisplay.from_removal(
        LinearRegression(), X, y, diagnostics.influence_, n_draws=2
    )
    assert_type(removal, InfluenceDisplay)


def functions(X: Floats, y: Floats) -> None:
    functions = InfluenceFunctions(LinearRegression(), damping=0.1).fit(X, y)
    assert_type(functions, InfluenceFunctions)
    assert_type(functions.parameter_changes_, Floats)
    assert_type(functions.self_influence_, Floats)
    assert_type(functions.check(k=3), float)
    explanation = functions.explain(X, y)
    assert_type(explanation, TrainingExplanation)
    display = InfluenceTreeDisplay.from_estimator(functions, X, y, max_depth=2)
    assert_type(display, InfluenceTreeDisplay)
    assert_type(display.explanation, TrainingExplanation)
    assert_type(display.plot(kind="rules"), InfluenceTreeDisplay)
    assert_type(display.texts_, list[Text])
    assert_type(display.to_frame(), DataFrame)
    made = InfluenceTreeDisplay.from_explanation(explanation, max_depth=2)
    assert_type(made, InfluenceTreeDisplay)


def regression(X: Floats, y: Floats) -> None:
    inspector = RegressionInfluence(LinearRegression()).fit(X, y)
    assert_type(inspector, RegressionInfluence)
    assert_type(inspector.leverages_, Floats)
    assert_type(inspector.cooks_distances_, Floats)
    assert_type(inspector.dfbetas_, Floats)
    assert_type(inspector.influential_, NDArray[np.bool_])
    assert_type(inspector.effective_dof_, float)
    assert_type(inspector.parameter_names_, list[str])
    assert_type(inspector.to_frame(), DataFrame)
    display = RegressionInfluenceDisplay.from_estimator(inspector, max_names=2)
    assert_type(display, RegressionInfluenceDisplay)
    assert_type(display.plot(levels=[0.5]), RegressionInfluenceDisplay)
    assert_type(display.points_, PathCollection)
    assert_type(display.to_frame(), DataFrame)


def data_values(X: Floats, y: Floats) -> None:
    values = DataValues(KNeighborsRegressor()).fit(X, y)
    assert_type(values, DataValues)
    assert_type(values.values_, Floats)
    assert_type(values.standard_errors_, Floats)
    assert_type(values.method_, str)
    assert_type(values.to_frame(), DataFrame)


def weights(X: Floats, y: Floats) -> None:
    inspector = PredictionWeights(KNeighborsRegressor(), n_kept=9).fit(X, y)
    assert_type(inspector, PredictionWeights)
    assert_type(inspector.leverages_, Floats)
    assert_type(inspector.effective_neighbors_, Floats)
    assert_type(inspector.effective_dof_, float)
    assert_type(inspector.predict_quantiles(X, [0.1, 0.9]), Floats)
    explanation = inspector.explain(X)
    assert_type(explanation, WeightExplanation)
    assert_type(explanation.contributions, Floats)
    assert_type(explanation.effective_neighbors, Floats)
    assert_type(InfluenceDisplay.from_explanation(explanation), InfluenceDisplay)
