"""Reader of linear models, and of pipelines that end in one, as coefficients.

A model is linear if its class is known to compute a linear function, with coefficients
and an intercept that reproduce its responses to given rows.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import (
    GammaRegressor,
    PassiveAggressiveRegressor,
    PoissonRegressor,
    SGDRegressor,
    TweedieRegressor,
)
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model._sklearn_compat import (
    BaseLinearModel,
    LinearClassifierMixin,
)
from sklearn_interpret._model.formulas.door import Formula, errors_in
from sklearn_interpret._model.formulas.formula_class import formula_class
from sklearn_interpret._model.formulas.last_step import LastStep, after_steps
from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret._model.responses.predictors import (
    check_predictor_is_fitted,
    is_classifier,
    unfrozen,
)
from sklearn_interpret._model.responses.response import (
    Response,
    check_finite,
    make_response,
)
from sklearn_interpret.exceptions import UnreadableModelError

READABLE = (
    "regressors that predict, and classifiers whose decision_function is, a linear "
    "function of the columns with coef_ and intercept_ (scikit-learn's "
    "LinearRegression, Ridge*, Lasso*, ElasticNet*, Lars*, HuberRegressor, "
    "QuantileRegressor, SGD*, LinearSVR, LinearSVC, LogisticRegression*, Perceptron, "
    "LinearDiscriminantAnalysis, ...); PoissonRegressor, GammaRegressor and "
    "TweedieRegressor; a Pipeline that ends in one of them, if the steps before work "
    "column by column"
)

# Classes whose `predict` of numbers, or `decision_function`, is a linear function, or
# the exponential of one: the bases of scikit-learn's, and our own.
_LINEAR = (
    BaseLinearModel,
    LinearClassifierMixin,
    SGDRegressor,
    PassiveAggressiveRegressor,
    PoissonRegressor,
    GammaRegressor,
    TweedieRegressor,
    ("sklearn_interpret", "SparseLinearModel"),
)
_SUPPORT_VECTORS = (SVC, NuSVC, SVR, NuSVR)

# Rows in one block of the comparison: larger blocks are not faster.
_ROWS_PER_BLOCK = 1024

# Relative differences between model and formula that count as rounding: of models that
# predict in half precision, and of others, which may compute in single precision.
_HALF_TOLERANCE, _TOLERANCE = 1e-2, 1e-5


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearModel(LastStep):
    """A fitted model as a linear function of the last step's columns."""

    coefficients: np.ndarray  # of the last step's columns, (n_derived, k)
    intercept: np.ndarray  # (k,)
    method: str  # returns the linear function, or its exponential
    exponential: bool = False

    def derived(self, X):
        """Columns of the last step for a native container: float64 array or csr."""
        X = check_array(
            self.inputs(X), accept_sparse="csr", dtype=np.float64, ensure_min_features=0
        )
        if X.shape[1] != len(self.columns):
            raise ValueError(
                f"X has {X.shape[1]} columns, and the model was fitted on "
                f"{len(self.columns)}."
            )
        return X

    def margin(self, derived):
        """The linear function of the last step's columns: (n_rows, k)."""
        return derived @ self.coefficients + self.intercept


@dataclass(frozen=True, eq=False)
class ExplainedLinear(Formula):
    """Outputs of a linear model that are explained."""

    model: LinearModel  # with these outputs only
    response: Response  # selects these outputs, and has their names

    @property
    def method(self):
        """Method of the model that returns the linear function, or "margin"."""
        return "margin" if self.model.exponential else self.response.method

    @property
    def name(self):
        """Name of the explained response."""
        return "log" if self.model.exponential else self.response.name

    def output_names(self, n_outputs):
        """Names of the explained outputs."""
        return self.response.output_names(n_outputs)

    def predictions(self, X):
        """The model's own predictions, (n_rows, k), in their precision.

        With a log link, the margin: no method of the model returns it.
        """
        if self.model.exponential:
            return self.model.margin(self.model.derived(X))
        return self._answers(X)

    def _answers(self, X):
        raw = np.asarray(self.response.raw(X))
        rough = raw.dtype in (np.float16, np.float32)
        return self.response.read(raw).astype(raw.dtype if rough else np.float64)

    def _comparisons(self, rows):
        """Blocks of responses, of linear functions of the rows, and of tolerances."""
        entries = rows.n_columns + len(self.model.columns)
        step = min(batch_rows(rows.row_bytes + 3 * 8 * entries), _ROWS_PER_BLOCK)
        for part in slices(rows.n_rows, step):
            X = rows.part(part).native
            derived = self.model.derived(X)
            expected = self.model.margin(derived)
            size = abs(derived) @ np.abs(self.model.coefficients)
            size += np.abs(self.model.intercept)
            answers = self._answers(X)
            is_half = answers.dtype == np.float16
            rounding = _HALF_TOLERANCE if is_half else _TOLERANCE
            tolerance = rounding * (size + np.finfo(answers.dtype).tiny)
            responses = answers.astype(np.float64)
            check_finite(responses)
            if self.model.exponential and responses.shape == expected.shape:
                smallest = np.finfo(float).tiny
                responses = np.log(np.maximum(responses, smallest))
                expected = np.maximum(expected, np.log(smallest))
            yield responses, expected, tolerance

    @property
    def _mismatch(self):
        name = type(unfrozen(self.response.estimator)).__name__
        return (
            f"{self.response.method} of {name} is not the linear function that its "
            f"coef_ and intercept_ make. What can be read: {READABLE}."
        )


def explained_linear(estimator, response_method="auto", target=None):
    """Select outputs of a linear model, as `ExplainedLinear`.

    Parameters
    ----------
    estimator : fitted estimator
        The model; an UnreadableModelError says why it can't be read.
    response_method : str or list of str, default="auto"
        "auto" explains the linear function; a method of the model must return it.
    target : class label or int, default=None
        Output to keep.
    """
    model = read_linear(estimator)
    if isinstance(response_method, str) and response_method == "auto":
        response = make_response(estimator, model.method, target)
    else:
        response = make_response(estimator, response_method, target)
        if response.method != model.method:
            _refuse(estimator, response.method, "the link of a linear function at best")
        if model.exponential:
            _refuse(estimator, response.method, "the exponential of a linear function")
    picked = response.read(np.eye(len(model.intercept)))
    chosen = replace(
        model,
        coefficients=np.ascontiguousarray(model.coefficients @ picked),
        intercept=model.intercept @ picked,
    )
    return ExplainedLinear(chosen, response)


def map_to_players(coefficients, player, n_players):
    """Coefficients as a sparse map from columns to players: (n_columns, n_players)."""
    places = np.arange(len(player) + 1)
    return csr_array((coefficients, player, places), shape=(len(player), n_players))


def _refuse(estimator, method, what):
    name = type(unfrozen(estimator)).__name__
    method = "a callable" if callable(method) else f'"{method}"'
    raise UnreadableModelError(
        f"response_method={method} of {name} is {what}, which coefficients can't "
        'explain: response_method="auto" explains the linear function itself.'
    )


def read_linear(estimator):
    """Read a fitted model, or a pipeline that ends in one, as a `LinearModel`.

    Otherwise an UnreadableModelError says why, and what can be read.
    """
    model = unfrozen(estimator)
    with errors_in(f"{type(model).__name__} can't be read as a linear model", READABLE):
        return _read(model)


def _read(model):
    check_predictor_is_fitted(model)
    if formula_class(model, (Pipeline,)) is not None:
        return _read_pipeline(model)
    check_is_linear(model)
    coefficients = coefficient_table(model)
    intercept = np.asarray(getattr(model, "intercept_", 0.0), dtype=np.float64).ravel()
    method = "decision_function" if is_classifier(model) else "predict"
    if coefficients.ndim != 2 or len(intercept) not in (1, len(coefficients)):
        raise UnreadableModelError(
            f"its coef_ has the shape {coefficients.shape}, its intercept_ "
            f"{intercept.shape}."
        )
    if not hasattr(model, method):
        raise UnreadableModelError(f"it has no {method}.")
    n_outputs, n_columns = coefficients.shape
    if getattr(model, "n_features_in_", n_columns) != n_columns:
        raise UnreadableModelError(
            f"it has {n_columns} coefficients for {model.n_features_in_} features."
        )
    return LinearModel(
        model,
        np.arange(n_columns),
        n_columns,
        coefficients=coefficients.T,
        intercept=np.broadcast_to(intercept, n_outputs),
        method=method,
        exponential=has_log_link(model),
    )


def check_is_linear(model: Any) -> None:
    """Raise unless the class of a model is known to compute a linear function."""
    if isinstance(model, TransformedTargetRegressor):
        raise UnreadableModelError("it transforms its target.")
    known_class = formula_class(model, (*_LINEAR, *_SUPPORT_VECTORS))
    if known_class is None:
        raise UnreadableModelError("it is not a known linear model.")
    if known_class in _SUPPORT_VECTORS:
        if model.kernel != "linear":
            raise UnreadableModelError(f"its kernel {model.kernel!r} is not linear.")
        if is_classifier(model) and len(model.classes_) > 2:
            raise UnreadableModelError("its pairs of classes vote.")


def set_weights(model: Any, weights: np.ndarray) -> None:
    """Give a fitted model of one score other weights (p + 1,), the intercept last."""
    model.coef_ = weights[:-1].reshape(np.shape(model.coef_))
    if model.fit_intercept:
        model.intercept_ = np.reshape(weights[-1], np.shape(model.intercept_))[()]


def coefficient_table(model):
    """Coefficients of a linear model, (n_outputs, n_columns), float64."""
    coef = model.coef_.toarray() if issparse(model.coef_) else model.coef_
    return np.atleast_2d(np.asarray(coef, dtype=np.float64))


def has_log_link(model):
    if isinstance(model, TweedieRegressor):
        automatic = model.link == "auto" and model.power > 0
        return model.link == "log" or automatic
    return isinstance(model, PoissonRegressor | GammaRegressor)


def _read_pipeline(pipeline):
    check_is_fitted(pipeline)
    last = unfrozen(pipeline.steps[-1][1])
    with errors_in(f"its last step {type(last).__name__} can't be read"):
        model = _read(last)
    return after_steps(pipeline, model)
