"""Whose formula computes a model's responses."""

import numpy as np
import pytest
from sklearn.base import RegressorMixin, TransformerMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectorMixin
from sklearn.linear_model import LogisticRegression as Logistic
from sklearn.linear_model import LogisticRegressionCV, Ridge

from sklearn_interpret._model.formulas.formula_class import computes_as, formula_class
from sklearn_interpret.exceptions import UnreadableModelError

READERS = {Ridge, Logistic, RandomForestRegressor, ("tests", "Foreign"), SelectorMixin}


class Foreign:
    """A class of a library that is named, not imported."""

    def predict(self, X):
        """Zeros."""
        return np.zeros(len(X))


class Trained(Ridge):
    """Is trained in its own way, and answers as its parent."""

    def __init__(self, alpha=2.0, width=1):
        self.alpha, self.width = alpha, width

    def fit(self, X, y, sample_weight=None, extra=None):
        """Fit."""
        return super().fit(X, y, sample_weight)

    def score(self, X, y):
        """Nothing."""
        return 0.0

    def _fit_more(self):
        """Nothing."""

    predict = Ridge.predict


class WithMixin(TransformerMixin, Ridge):
    """A mixin of scikit-learn stands before the parent."""


class Clipped(Ridge):
    """Clips."""

    def predict(self, X):
        """Nothing below zero."""
        return np.maximum(super().predict(X), 0)


class Inside(Ridge):
    """Overrides what `predict` calls."""

    def _decision_function(self, X):
        return 0 * super()._decision_function(X)


class ClipMixin:
    """Overrides by a mixin."""

    def predict(self, X):
        """Nothing below zero."""
        return np.maximum(super().predict(X), 0)


class Mixed(ClipMixin, RandomForestRegressor):
    """Overrides by a mixin."""


class Watched(Ridge):
    """Intercepts all attributes."""

    def __getattribute__(self, name):
        return super().__getattribute__(name)


class Selector(SelectorMixin):
    """Fills in what is abstract."""

    def _get_support_mask(self):
        return np.ones(2, dtype=bool)


@pytest.mark.parametrize(
    ("model", "key"),
    [
        (Ridge(), Ridge),
        (Trained(), Ridge),
        (WithMixin(), Ridge),
        (LogisticRegressionCV(), Logistic),  # of the library itself
        (Foreign(), ("tests", "Foreign")),
        (Selector(), SelectorMixin),
        (RegressorMixin(), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_classes_that_compute_as_known(model, key):
    assert formula_class(model, READERS) == key


def with_method():
    """A model with a method of its own."""
    model = Ridge()
    model.predict = lambda X: np.zeros(len(X))
    return model


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (Clipped(), "predict"),
        (type("Twice", (Clipped,), {})(), "predict"),
        (Mixed(), "predict"),
        (Inside(), "_decision_function"),
        (Watched(), "__getattribute__"),
        (with_method(), "predict"),
    ],
    ids=["own", "inherited", "mixin", "inside", "watched", "instance"],
)
def test_overridden_methods(model, method):
    with pytest.raises(UnreadableModelError, match=f"with {method} of its own"):
        formula_class(model, READERS)
    kind = RandomForestRegressor if isinstance(model, Mixed) else Ridge
    assert not computes_as(model, kind)
