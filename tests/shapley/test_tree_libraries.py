"""TreeSHAP of XGBoost, LightGBM and CatBoost against enumerated games."""

from importlib.util import find_spec

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.shapley import ShapleyValues
from tests.model.formulas.trees.data import table
from tests.shapley.truth import (
    assert_interactions,
    assert_values,
    inspected,
    interventional_truth,
    path_dependent_truth,
)

N_FEATURES = 4
SMALL = {
    "xgboost": {"n_estimators": 6, "max_depth": 4, "n_jobs": 1},
    "lightgbm": {"n_estimators": 6, "num_leaves": 12, "n_jobs": 1, "verbose": -1},
    "catboost": {
        "iterations": 6,
        "depth": 4,
        "thread_count": 1,
        "verbose": 0,
        "allow_writing_files": False,
    },
}
CLASSES = {
    "xgboost": ("XGBRegressor", "XGBClassifier"),
    "lightgbm": ("LGBMRegressor", "LGBMClassifier"),
    "catboost": ("CatBoostRegressor", "CatBoostClassifier"),
}
PRECISION = {"xgboost": 1e-6, "lightgbm": 1e-11, "catboost": 1e-11}

every_library = pytest.mark.parametrize(
    "library",
    [
        pytest.param(
            name, marks=pytest.mark.skipif(find_spec(name) is None, reason=f"no {name}")
        )
        for name in SMALL
    ],
)


def made(library, kind, **parameters):
    module = pytest.importorskip(library)
    cls = getattr(module, CLASSES[library][kind == "classifier"])
    return cls(**{**SMALL[library], **parameters})


def assert_all(library, model, ask, rows, background):
    """Values and interactions for both perturbations."""
    tolerance = {"rtol": PRECISION[library]}
    inspector = inspected(model, background)
    for order, check in ((1, assert_values), (2, assert_interactions)):
        expected = interventional_truth(ask, rows, background, order=order)
        check(inspector, rows, expected, **tolerance)
    inspector = inspected(model, background, perturbation="path_dependent")
    for order, check in ((1, assert_values), (2, assert_interactions)):
        check(
            inspector,
            rows,
            path_dependent_truth(inspector, rows, order=order),
            **tolerance,
        )


@every_library
@pytest.mark.parametrize("missing", [False, True])
def test_regressors(library, missing):
    X, y = table(200, N_FEATURES, missing=missing)
    model = made(library, "regressor").fit(X, np.nan_to_num(y))
    assert_all(library, model, model.predict, X[:4], X[20:28])


@every_library
def test_a_prediction_that_takes_rows_alone_is_asked(library):
    """The library's own takes arguments, for the sum of the trees."""
    X, y = table(40, N_FEATURES)
    model = made(library, "regressor")

    class OfRows(type(model)):
        def predict(self, X):
            return super().predict(X)

    model = OfRows(**model.get_params()).fit(X, y)
    with pytest.raises(UnreadableModelError, match="of OfRows can't be read"):
        inspected(model, X)
    found = PartialDependence(FrozenEstimator(model), features=[0]).fit(X)
    moved = np.hstack([np.full((40, 1), found.grid_values_[0][3]), X[:, 1:]])
    assert_allclose(found.average_[0][3], model.predict(moved).mean(), rtol=1e-6)
    explained = ShapleyValues(FrozenEstimator(model)).fit(X).explain(X[:2])
    assert explained.additivity_error().max() < 1e-5


@every_library
def test_frames_of_other_columns(library):
    pandas = pytest.importorskip("pandas")
    X, y = table(200, N_FEATURES)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = made(library, "regressor").fit(frame, y)
    inspector = inspected(model, frame)
    assert inspector.player_names_ == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        inspected(model, frame[list("badc")])
    with pytest.raises(ValueError, match="feature names"):
        inspector.explain(frame[list("badc")])
