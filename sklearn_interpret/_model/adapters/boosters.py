"""Boosters of XGBoost, LightGBM and CatBoost as fitted scikit-learn estimators.

XGBoost and CatBoost have functions for it; LightGBM has none.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

_XGBOOST_OF_CLASSES = "binary:logistic", "multi:softprob", "multi:softmax"
_LIGHTGBM_OF_CLASSES = "binary", "multiclass", "multiclassova"
_CATBOOST_OF_CLASSES = "Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll"


def adapt_xgboost(booster: Any) -> Any:
    """An XGBClassifier if the objective is of classes, else an XGBRegressor."""
    if type(booster).__name__ != "Booster":
        return booster
    xgboost = sys.modules["xgboost"]
    objective = json.loads(booster.save_config())["learner"]["objective"]["name"]
    classifies = objective in _XGBOOST_OF_CLASSES
    model = xgboost.XGBClassifier() if classifies else xgboost.XGBRegressor()
    model.load_model(booster.save_raw("ubj"))
    # A Booster predicts by all trees, and its scikit-learn estimator by those up to the
    # best iteration, where it has one.
    model.get_booster().set_attr(best_iteration=None)
    return model


def adapt_catboost(model: Any) -> Any:
    """A CatBoostClassifier or CatBoostRegressor, by the loss; others as they are."""
    catboost = sys.modules["catboost"]
    if type(model) is not catboost.CatBoost or not model.is_fitted():
        return model
    loss = model.get_all_params().get("loss_function")
    if loss in _CATBOOST_OF_CLASSES:
        return catboost.to_classifier(model)
    return catboost.to_regressor(model)


def adapt_lightgbm(booster: Any) -> Any:
    """A classifier if the objective is of classes, else a regressor."""
    if type(booster).__name__ != "Booster":
        return booster
    objective = str(booster.params.get("objective", "")).partition(" ")[0]
    if objective in _LIGHTGBM_OF_CLASSES:
        return LightGBMBoosterClassifier(booster)
    return LightGBMBooster(booster)


class LightGBMBooster(RegressorMixin, BaseEstimator):
    """A Booster of LightGBM, which predicts numbers.

    Parameters
    ----------
    booster : lightgbm.Booster
        The Booster.
    """

    estimator_to_fit = "LGBMRegressor"

    def __init__(self, booster: Any) -> None:
        self.booster = self.booster_ = booster
        self.n_features_in_ = booster.num_feature()
        names = booster.feature_name()
        if names != [f"Column_{j}" for j in range(len(names))]:  # those of arrays
            self.feature_names_in_ = np.array(names, dtype=object)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing: the Booster is fitted."""
        return self

    def predict(self, X: Any, raw_score: bool = False) -> NDArray[Any]:
        """Predictions of the Booster, or the sums of its trees."""
        predictions: NDArray[Any] = self.booster_.predict(X, raw_score=raw_score)
        return predictions


class LightGBMBoosterClassifier(ClassifierMixin, LightGBMBooster):
    """A Booster of LightGBM, which predicts probabilities of classes 0, 1, ..."""

    estimator_to_fit = "LGBMClassifier"

    def __init__(self, booster: Any) -> None:
        super().__init__(booster)
        # A Booster knows positions of the classes.
        self.classes_ = np.arange(max(2, booster.num_model_per_iteration()))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, (n_samples, n_classes)."""
        probabilities = self.booster_.predict(X)
        if probabilities.ndim == 1:
            return np.column_stack([1 - probabilities, probabilities])
        return probabilities

    def predict(self, X: Any, raw_score: bool = False) -> NDArray[Any]:
        """The most probable classes, or the sums of the trees."""
        if raw_score:
            return super().predict(X, raw_score)
        return self.predict_proba(X).argmax(axis=1)
