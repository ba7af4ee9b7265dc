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


def watched(monkeypatch, kind, *names):
    """Pairs of method and table that models of a library's class get from now on.

    A subclass with methods of its own would not be read by a formula.
    """
    asked = []
    for name in names:
        method = getattr(kind, name)

        def ask(self, X, name=name, method=method):
            asked.append((name, X.copy()))
            return method(self, X)

        monkeypatch.setattr(kind, name, ask)
    return asked


def frozen(formula, X=None):
    """A formula, fitted on the names and columns of X, to be taken as it is."""
    return FrozenEstimator(Formula(formula).fit(X))


def asker(model, X, method="predict", output=None):
    """The model as a function of rows, in the container that it knows.

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
        A row, a list of values, to a number. Its `of_all` takes a list of rows, and
        sends those that are new together; no row is sent twice.
    """
    answers = {}

    def table(rows):
        if not isinstance(X, pd.DataFrame):
            return np.array(rows, dtype=X.dtype)
        columns = zip(X.columns, X.dtypes, zip(*rows, strict=True), strict=True)
        return pd.DataFrame({name: pd.Series(c, dtype=d) for name, d, c in columns})

    def of_all(rows):
        keys = list(map(tuple, rows))
        new = list(dict.fromkeys(key for key in keys if key not in answers))
        if new:
            found = np.asarray(getattr(model, method)(table(new)))
            found = found if output is None else found[:, output]
            answers.update(zip(new, found.tolist(), strict=True))
        return [answers[key] for key in keys]

    def ask(row):
        return of_all([row])[0]

    ask.of_all = of_all
    return ask


def rows_of(X):
    """The rows of a table as lists of values."""
    return X.to_numpy(dtype=object).tolist() if hasattr(X, "iloc") else X.tolist()
