"""Reader of linear models, and of pipelines that end in one, as coefficients.

A model is linear if its class is known to compute a linear function, with coefficients
and an intercept that reproduce its responses to given rows. :func:`read_linear` reads
all outputs, :func:`explained_linear` selects those of a response.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
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
from sklearn_interpret._model.adapters.statistical_models import LinearResults
from sklearn_interpret._model.formulas.formula import Comparison, Formula, errors_in
from sklearn_interpret._model.formulas.formula_class import formula_class, keys_of
from sklearn_interpret._model.formulas.last_step import LastStep, with_steps_before
from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret._model.responses.model_difference import (
    ModelDifference,
    check_equal_outputs,
)
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

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.rows.base import Rows

READABLE = (
    "regressors that predict, and classifiers whose decision_function is, a linear "
    "function of the columns with coef_ and intercept_ (scikit-learn's "
    "LinearRegression, Ridge*, Lasso*, ElasticNet*, Lars*, HuberRegressor, "
    "QuantileRegressor, SGD*, LinearSVR, LinearSVC, LogisticRegression*, Perceptron, "
    "LinearDiscriminantAnalysis, ...); PoissonRegressor, GammaRegressor and "
    "TweedieRegressor; scikit-survival's Cox*, IPCRidge and Componentwise*; results of "
    "statsmodels' OLS, WLS, GLS, RLM and QuantReg; a Pipeline that ends in one of "
    "them, if the steps before work column by column; a ModelDifference of linear "
    "functions"
)

_COMPONENTWISE = "ComponentwiseGradientBoostingSurvivalAnalysis"
# Coefficients and intercept of scikit-survival's models; of a path of penalties the
# last is what `predict` takes.
_SURVIVAL: dict[Any, Callable[[Any], tuple[Any, Any]]] = {
    ("sksurv", "CoxPHSurvivalAnalysis"): lambda m: (m.coef_, 0.0),
    ("sksurv", "CoxnetSurvivalAnalysis"): lambda m: (m.coef_[:, -1], -m.offset_[-1]),
    ("sksurv", _COMPONENTWISE): lambda m: (m.coef_[1:], m.coef_[0]),
    ("sksurv", "IPCRidge"): lambda m: (m.coef_, m.intercept_),
}
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
    LinearResults,
    *_SURVIVAL,
)
_SUPPORT_VECTORS = (SVC, NuSVC, SVR, NuSVR)

# Rows in one block of the comparison: larger blocks are not faster.
_ROWS_PER_BLOCK = 1024

# Relative differences between model and formula that count as rounding: ten times the
# rounding error of a number in half precision (1e-3), and a hundred times that in
# single precision (1e-7), in which models may compute what they return in double.
_HALF_TOLERANCE = 1e-2
_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearModel(LastStep):
    """A fitted model as a linear function of the last step's columns."""

    coefficients: NDArray[np.float64]  # of the last step's columns, (n_derived, k)
    intercept: NDArray[np.float64]  # (k,)
    method: str  # returns the linear function, or its exponential
    exponential: bool = False

    def derived_columns(self, X: Any) -> Any:
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

    def margin(self, derived: Any) -> NDArray[np.float64]:
        """The linear function of the last step's columns: (n_rows, k)."""
        return derived @ self.coefficients + self.intercept


@dataclass(frozen=True, eq=False)
class ExplainedLinear(Formula):
    """Outputs of a linear model that are explained."""

    model: LinearModel  # with these outputs only
    response: Response  # selects these outputs, and has their names

    @property
    def method(self) -> str | Callable[..., Any]:
        """Method of the model that returns the linear function, or "margin"."""
        return "margin" if self.model.exponential else self.response.method

    @property
    def name(self) -> str:
        """Name of the explained response."""
        return "log" if self.model.exponential else self.response.name

    def output_names(self, n_outputs: int) -> list[Any]:
        """Names of the explained outputs."""
        return self.response.output_names(n_outputs)

    def predictions(self, X: Any) -> NDArray[Any]:
        """The model's own predictions, (n_rows, k), in their precision.

        With a log link, the margin: no method of the model returns it.
        """
        if self.model.exponential:
            return self.model.margin(self.model.derived_columns(X))
        return self._model_response(X)

    def _model_response(self, X: Any) -> NDArray[Any]:
        """The model's response, (n_rows, k), in its precision."""
        raw = np.asarray(self.response.raw(X))
        is_rough = raw.dtype in (np.float16, np.float32)
        return self.response.read(raw).astype(raw.dtype if is_rough else np.float64)

    def _comparisons(self, rows: Rows) -> Iterator[Comparison]:
        """Responses and linear functions of blocks of rows, on the scale of the sum."""
        # Three copies in double precision of the row and of the last step's columns.
        entries = rows.n_columns + len(self.model.columns)
        step = min(batch_rows(rows.row_bytes + 3 * 8 * entries), _ROWS_PER_BLOCK)
        for block in slices(rows.n_rows, step):
            X = rows.sliced(block).native
            derived = self.model.derived_columns(X)
            margins = self.model.margin(derived)
            # The sizes of all terms bound the rounding of their sum.
            term_sizes = abs(derived) @ np.abs(self.model.coefficients)
            term_sizes += np.abs(self.model.intercept)
            returned = self._model_response(X)
            is_half = returned.dtype == np.float16
            rounding = _HALF_TOLERANCE if is_half else _TOLERANCE
            tolerance = rounding * (term_sizes + np.finfo(returned.dtype).tiny)
            responses = returned.astype(np.float64)
            check_finite(responses)
            if self.model.exponential and responses.shape == margins.shape:
                smallest = np.finfo(float).tiny
                responses = np.log(np.maximum(responses, smallest))
                margins = np.maximum(margins, np.log(smallest))
            yield Comparison(responses, margins, tolerance)

    @property
    def _mismatch(self) -> str:
        name = type(unfrozen(self.response.estimator)).__name__
        return (
            f"{self.response.method} of {name} is not the linear function that its "
            f"coef_ and intercept_ make. What can be read: {READABLE}."
        )


def explained_linear(
    estimator: BaseEstimator,
    response_method: str | Sequence[str] | Callable[..., Any] = "auto",
    target: Any = None,
) -> ExplainedLinear:
    """Select outputs of a linear model, as `ExplainedLinear`.

    Parameters
    ----------
    estimator : fitted estimator
        The model; an UnreadableModelError says why it can't be read.
    response_method : str or list of str, default="auto"
        "auto" explains the linear function; a method of the model must return it.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}.
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
    # Outputs of the identity: (n_outputs, k), one column for each that is explained.
    selection = response.read(np.eye(len(model.intercept)))
    selected = replace(
        model,
        coefficients=np.ascontiguousarray(model.coefficients @ selection),
        intercept=model.intercept @ selection,
    )
    return ExplainedLinear(selected, response)


def _refuse(
    estimator: BaseEstimator, method: str | Callable[..., Any], description: str
) -> NoReturn:
    """Raise, since coefficients can't explain what a method returns."""
    name = type(unfrozen(estimator)).__name__
    method = "a callable" if callable(method) else f'"{method}"'
    raise UnreadableModelError(
        f"response_method={method} of {name} is {description}, which coefficients "
        'can\'t explain: response_method="auto" explains the linear function itself.'
    )


def read_linear(estimator: BaseEstimator) -> LinearModel:
    """Read a fitted model, or a pipeline that ends in one, as a `LinearModel`.

    Otherwise an UnreadableModelError says why, and what can be read.
    """
    model = unfrozen(estimator)
    with errors_in(f"{type(model).__name__} can't be read as a linear model", READABLE):
        return _read_model(model)


def _read_model(model: BaseEstimator) -> LinearModel:
    """As :func:`read_linear`; an error has the reason alone."""
    check_predictor_is_fitted(model)
    composite = formula_class(model, (Pipeline, ModelDifference))
    if composite is not None:
        read = _read_pipeline if composite is Pipeline else _read_difference
        return read(model)
    check_is_linear(model)
    coefficients = coefficient_table(model)
    _, intercept = _coefficients_and_intercept(model)
    intercept = np.asarray(intercept, dtype=np.float64).ravel()
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


def _read_pipeline(pipeline: BaseEstimator) -> LinearModel:
    check_is_fitted(pipeline)
    last = unfrozen(pipeline.steps[-1][1])
    with errors_in(f"its last step {type(last).__name__} can't be read"):
        model = _read_model(last)
    return with_steps_before(pipeline, model)


def _read_difference(difference: ModelDifference) -> LinearModel:
    """The weighted sum of responses, each of which is a linear function."""
    terms = [
        (weight, explained_linear(response.estimator, response.method).model)
        for weight, response in difference.terms()
    ]
    models = [model for _, model in terms]
    check_equal_outputs(len(model.intercept) for model in models)
    parts = [weight * model.coefficients for weight, model in terms]
    # Without steps, all models get the same columns.
    is_shared = not any(model.steps for model in models)
    coefficients = np.sum(parts, axis=0) if is_shared else np.concatenate(parts)
    columns = [model.columns for model in models]
    return LinearModel(
        difference,
        columns[0] if is_shared else np.concatenate(columns),
        models[0].n_columns,
        () if is_shared else (_SideBySide(models),),
        coefficients=coefficients,
        intercept=np.sum([weight * model.intercept for weight, model in terms], axis=0),
        method="predict",
    )


@dataclass(frozen=True, eq=False)
class _SideBySide:
    """Columns of the last steps of several models, as one step of a sum of them."""

    models: list[LinearModel]

    def transform(self, X: Any) -> Any:
        blocks = [model.derived_columns(X) for model in self.models]
        are_sparse = any(map(issparse, blocks))
        return hstack(blocks, format="csr") if are_sparse else np.hstack(blocks)


def check_is_linear(model: BaseEstimator) -> None:
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


def coefficient_table(model: BaseEstimator) -> NDArray[np.float64]:
    """Coefficients of a linear model, (n_outputs, n_columns), float64."""
    coef, _ = _coefficients_and_intercept(model)
    coef = coef.toarray() if issparse(coef) else coef
    return np.atleast_2d(np.asarray(coef, dtype=np.float64))


def _coefficients_and_intercept(model: BaseEstimator) -> tuple[Any, Any]:
    if keys_of(type(model))[1] in _SURVIVAL:
        return _SURVIVAL[keys_of(type(model))[1]](model)
    return model.coef_, getattr(model, "intercept_", 0.0)


def has_log_link(model: BaseEstimator) -> bool:
    """Whether a linear model predicts the exponential of the linear function."""
    if isinstance(model, TweedieRegressor):
        automatic = model.link == "auto" and model.power > 0
        return model.link == "log" or automatic
    # Models of scikit-survival predict risks or times.
    is_time = not getattr(model, "_predict_risk_score", True)
    return is_time or isinstance(model, PoissonRegressor | GammaRegressor)


def set_weights(model: BaseEstimator, weights: NDArray[np.float64]) -> None:
    """Give a fitted model of one score other weights (p + 1,), the intercept last."""
    model.coef_ = weights[:-1].reshape(np.shape(model.coef_))
    if model.fit_intercept:
        model.intercept_ = np.reshape(weights[-1], np.shape(model.intercept_))[()]


def map_to_players(
    coefficients: NDArray[np.float64], player: NDArray[np.intp], n_players: int
) -> csr_array:
    """Coefficients as a sparse map from columns to players: (n_columns, n_players)."""
    pointers = np.arange(len(player) + 1)
    return csr_array((coefficients, player, pointers), shape=(len(player), n_players))
