"""The first formula that can be read, or the reasons why none can."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.formulas.formula import Comparison, read_formula
from sklearn_interpret._model.formulas.linear import (
    LinearModel,
    explained_linear,
    read_linear,
)
from sklearn_interpret._model.formulas.trees.tree_model import TreeModel
from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.exceptions import UnreadableModelError

X = np.arange(12.0).reshape(6, 2)
READERS = [read_linear, read_trees]


class Clipped(LinearRegression):
    """Linear on no row: what it predicts is cut off."""

    def predict(self, X):
        return np.minimum(super().predict(X), 1.0)


@pytest.mark.parametrize(
    ("model", "kind"),
    [(LinearRegression(), LinearModel), (DecisionTreeRegressor(), TreeModel)],
)
def test_the_first_reader_that_can_read_the_model(model, kind):
    model.fit(X, X[:, 0])
    assert isinstance(read_formula(READERS, model), kind)
    assert isinstance(read_formula(READERS, model, required=True), kind)


def test_no_formula_or_the_reasons():
    model = Clipped().fit(X, X[:, 0])
    assert read_formula(READERS, model) is None
    with pytest.raises(
        UnreadableModelError, match=r"linear model: .* trees of Clipped"
    ):
        read_formula(READERS, model, required=True)
    with pytest.raises(UnreadableModelError, match=r"^Clipped can't be read"):
        read_formula([read_linear], model, required=True)


def test_a_formula_must_give_the_responses_to_rows():
    model = LinearRegression().fit(X, X[:, 0])
    model.predict = lambda X: np.zeros(len(X))  # not a method of the class
    assert read_formula([explained_linear], model) is None
    del model.predict
    model.coef_ = model.coef_.astype(np.float64)
    assert read_formula([explained_linear], model, rows=as_rows(X)) is not None


def test_responses_agree_up_to_rounding():
    assert Comparison(np.ones(2), np.array([1.0, 1.1]), np.full(2, 0.2)).agrees()
    assert not Comparison(np.ones(2), np.array([1.0, 1.1]), np.full(2, 0.05)).agrees()
    assert not Comparison(np.ones(2), np.ones((2, 1)), np.ones(2)).agrees()
