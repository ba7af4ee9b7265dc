"""From what the user passes in to an explanation of the rows to be shown."""

from sklearn.frozen import FrozenEstimator

from sklearn_interpret._choosing import row_position
from sklearn_interpret._model.response import check_is_predictor
from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.tags import check_predictor_is_fitted
from sklearn_interpret._plotting.parameters import refuse_settings
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley._values import ShapleyValues


def default_inspector():
    """The inspector that explains a predictor: the one place where it is chosen."""
    return ShapleyValues


def is_inspector(estimator):
    """Whether it explains rows itself, and is no predictor to be explained."""
    return isinstance(estimator, BaseInspector) or hasattr(estimator, "explain")


def fitted_inspector(estimator, X, kind, *, row, sample_weight, parameters, display):
    """A fitted predictor's inspector with `X` as background, or the one given.

    `kind` is the inspector's class for a predictor, and None for an inspector.

    Raises
    ------
    NotFittedError
        Predictor or inspector not fitted.
    TypeError
        An inspector that explains no rows.
    ValueError
        Parameters beside a fitted inspector; a row that is its own background.
    """
    if kind is not None:
        check_is_predictor(estimator)
        check_predictor_is_fitted(estimator)
        _refuse_own_background(X, row, parameters)
        inspector = kind(FrozenEstimator(estimator), **parameters)
        return inspector.fit(X, sample_weight=sample_weight)
    if not hasattr(estimator, "explain"):
        raise TypeError(
            f"{display} shows attributions of rows; {type(estimator).__name__} has no "
            "explain. Pass its estimator_, or another display."
        )
    check_predictor_is_fitted(estimator)
    refuse_settings(estimator, parameters, sample_weight, use="explains")
    return estimator


def _refuse_own_background(X, row, parameters):
    if as_rows(X).n_rows == 1 and parameters.get("background") is None:
        hint = "all rows in X, and row=" if row is None else "more rows in X"
        raise ValueError(
            "X has one row, which would be compared with itself: pass background=, or "
            f"{hint}."
        )


def explained(inspector, X):
    """The inspector's explanation of the rows `X`.

    Raises
    ------
    TypeError
        It returned something else.
    """
    explanation = inspector.explain(X)
    if not isinstance(explanation, Explanation):
        raise TypeError(
            f"{type(inspector).__name__}.explain returned "
            f"{type(explanation).__name__}; an Explanation is needed."
        )
    return explanation


def one_row(X, row):
    """One row of a container, as a container."""
    rows = as_rows(X)
    return rows.take([row_position(row, rows.n_rows)]).native
