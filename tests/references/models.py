"""Predictors whose response is known: formulas of their columns, and spies."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import validate_data


class Formula(RegressorMixin, BaseEstimator):
    """Predicts a formula of the columns, given one vector each.

    Every call is written down: `sizes` has the number of rows that each one got.
    """

    def __init__(self, formula):
        self.formula = formula

    def fit(self, X, y=None):
        """Learn nothing."""
        if X is not None:
            validate_data(self, X, skip_check_array=True)
        self.sizes_ = []
        return self

    def predict(self, X):
        """The formula's values, one per row."""
        self.sizes_.append(len(X))
        if isinstance(X, pd.DataFrame):
            columns = [X.iloc[:, j].to_numpy() for j in range(X.shape[1])]
        elif hasattr(X, "get_columns"):  # polars
            columns = [column.to_numpy() for column in X.get_columns()]
        else:
            columns = list(np.asarray(X).T)
        return self.formula(*columns)


def frozen(formula, X=None):
    """A formula, fitted on the names and columns of X, to be taken as it is."""
    return FrozenEstimator(Formula(formula).fit(X))


def asker(model, X, method="predict", output=None):
    """The model as a function of a single row, in the container that it knows.

    Parameters
    ----------
    model : fitted predictor
        The model.
    X : ndarray or DataFrame
        Where to copy columns and dtypes from.
    method : str, default="predict"
        What to call.
    output : int, optional
        Column of the answer.

    Returns
    -------
    callable
        A list of values to a number; each distinct row is sent once.
    """
    answers = {}

    def ask(row):
        key = tuple(row)
        if key not in answers:
            if isinstance(X, pd.DataFrame):
                one = pd.DataFrame(
                    {
                        name: pd.Series([value], dtype=dtype)
                        for name, dtype, value in zip(
                            X.columns, X.dtypes, row, strict=True
                        )
                    }
                )
            else:
                one = np.array([row], dtype=X.dtype)
            answer = np.asarray(getattr(model, method)(one))[0]
            answers[key] = float(answer if output is None else answer[output])
        return answers[key]

    return ask


def rows_of(X):
    """The rows of a table as lists of values."""
    return X.to_numpy(dtype=object).tolist() if hasattr(X, "iloc") else X.tolist()
