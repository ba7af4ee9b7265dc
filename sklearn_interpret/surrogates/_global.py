"""Global surrogate: a simple model fitted to the responses of the inspected one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.losses import agreement
from sklearn_interpret._inspectors.params import SampleInspector, estimator_dataclass
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import available_if
from sklearn_interpret._model._sklearn_compat import Interval, warn
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._model.progress import phases
from sklearn_interpret._model.responses.predictors import (
    check_has_classes,
    is_classifier,
    tags_of,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.validation import check_weights
from sklearn_interpret._model.surrogates.inner_predictors import importances
from sklearn_interpret._model.surrogates.surrogate_predictions import (
    SurrogatePredictions,
    check_surrogate,
    default_surrogate,
    fit_surrogate,
    squeeze_outputs,
    with_exact_sums,
)
from sklearn_interpret.exceptions import LowFidelityWarning, UndefinedFidelityWarning
from sklearn_interpret.surrogates._fidelity import Fidelity
from sklearn_interpret.surrogates._leaves_and_coefficients import (
    QUANTILES,
    surrogate_blocks,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


def _offers(name: str) -> Callable[..., bool]:
    """Check for `available_if`: the surrogate can provide a method."""

    def check(self: Any) -> bool:
        return name in self._provided_methods()

    return check


@estimator_dataclass
class GlobalSurrogate(ResultsMixin, SampleInspector):
    r"""A simple model in place of a complex one, with its fidelity.

    The surrogate g is fitted to the responses of the model f, not to the targets. Rules
    or coefficients of g describe f as far as g approximates it, which the fidelity
    measures:

    .. math:: R^2 = 1 - \frac{\sum_i w_i (f(x_i) - g(x_i))^2}
        {\sum_i w_i (f(x_i) - \bar f)^2}

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    surrogate : estimator or None, default=None
        The simple model; a clone of it is fitted. A regressor learns the responses (a
        regressor of a single output is fitted once for each), a classifier the labels
        that the model predicts. None takes a regression tree of depth 3. Categorical
        columns are encoded unless the surrogate's tags or first step show that it takes
        them: ordered ones become positions, others one column per level.
    scoring : str or callable, default="r2"
        Measure of fidelity. "r2" compares responses, the mean over outputs that vary;
        "accuracy" is the share of rows with the same label. Other scorers of
        scikit-learn take the model's predictions as targets. A callable ``f(of_model,
        of_surrogate[, sample_weight])`` compares responses, or labels if these were
        learnt; (n,) or (n, k).
    subset : callable or None, default=None
        ``f(X)`` returns a boolean for each row: the surrogate is fitted, and its
        fidelity measured, on rows for which it is true. The model is fitted on all
        rows.
    min_fidelity : float or None, default=0.2
        Fidelity below which a warning is raised, if `scoring` is "r2" or "accuracy".
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        "auto" takes `predict` of regressors, and of classifiers `predict_proba` or else
        `decision_function`. Or names of methods, of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=None
        Number or share of the rows of `fit` that the surrogate is fitted to; None takes
        all.
    random_state : int, RandomState or None, default=None
        Seed of the subsample, and of the default surrogate.
    n_jobs : int or None, default=None
        Number of workers that predict, if the rows fill several batches.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    surrogate_ : estimator
        The fitted surrogate.
    fidelity_ : float
        Fidelity on the rows that the surrogate was fitted to; see `fidelity_score` for
        others. R² is undefined, NaN, if the model's response to them is constant.
    agreement_ : float
        Share of these rows to which both give the same label; only for classifiers, if
        labels follow from the response that the surrogate was fitted to.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Importances of the surrogate: its own, or its absolute coefficients times the
        standard deviations of their columns, mean over outputs. Columns made from one
        feature are summed. Only available if the surrogate has either, and its steps,
        if any, are known to work column by column.
    output_names_ : list
        Class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, if the columns have any; class labels.

    Raises
    ------
    ValueError
        In `fit`: no rows in the subset, a classifier as surrogate of a regressor or of
        several outputs, a fidelity that does not suit the surrogate, unequal weights
        that the surrogate does not take.

    Warns
    -----
    LowFidelityWarning
        In `fit`, if the fidelity is below `min_fidelity`.
    UndefinedFidelityWarning
        In `fit`, if R² is undefined and `min_fidelity` is not None.

    See Also
    --------
    GlobalSurrogateDisplay : Draws the surrogate.

    Notes
    -----
    `predict`, `predict_proba` and `score` are those of the surrogate, in the terms of
    the model: labels if the model is a classifier, even if the surrogate learnt
    probabilities (the class of the largest, or of one above 1/2) or decision functions
    (of the largest, or of one above 0). `black_box_predict` is the model's `predict`.

    The fidelity is one number for all rows: the surrogate may be close in one region
    and far off in another. On training rows it is optimistic, the more the larger the
    surrogate is. It does not measure the quality of the model.

    Weights are used in the surrogate's `fit` and in the fidelity. A pipeline that
    begins with an encoder gets the rows in the same container as the model. The targets
    of the default tree are rounded in their last digits, so that `random_state`, not
    rounding, chooses between equal splits: a row of weight two is then equivalent to
    two rows.

    References
    ----------
    Craven, M. W. & Shavlik, J. W. (1995). Extracting tree-structured representations
    of trained networks. Advances in Neural Information Processing Systems 8.
    https://dl.acm.org/doi/10.5555/2998828.2998832

    Bastani, O., Kim, C. & Bastani, H. (2017). Interpreting blackbox models via model
    extraction. https://doi.org/10.48550/arXiv.1705.08504

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> from sklearn_interpret.surrogates import GlobalSurrogate
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), SVC())
    >>> surrogate = GlobalSurrogate(model, random_state=0).fit(X[:400], y[:400])
    >>> round(surrogate.fidelity_, 2), round(surrogate.agreement_, 2)
    (0.92, 0.97)
    >>> round(surrogate.fidelity_score(X[400:]), 2)
    0.76
    """

    surrogate: Any = None
    scoring: str | Callable[..., float] = "r2"
    subset: Callable[[Any], ArrayLike] | None = None
    min_fidelity: float | None = 0.2

    surrogate_: Any = field(init=False)
    fidelity_: float = field(init=False)
    agreement_: float = field(init=False)

    _result_own_units = frozenset({"coef", "std"})

    _parameter_constraints = {
        **SampleInspector._parameter_constraints,
        "scoring": [str, callable],
        "subset": [callable, None],
        "min_fidelity": [Interval(Real, None, None, closed="neither"), None],
    }

    def _choose_sample(
        self, rows: Any, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Any:
        return super()._choose_sample(rows, y, _weights_inside(self, rows, weights))

    def _inspect(self, sample: Sample, response: Response) -> None:
        if self.surrogate is not None:
            check_surrogate(self.surrogate)
        check_has_classes(self.estimator_)
        rows, weights = sample.rows, sample.weights
        progress = phases(3)
        next(progress)
        responses = self._call_in_batches(response, rows)
        self.output_names_ = response.output_names(responses.shape[1])
        next(progress)
        labels = self._predict_labels(rows)
        next(progress)
        allows_nan = tags_of(self.estimator_).input_tags.allow_nan
        self._takes_missing = allows_nan or not rows.is_finite
        self.surrogate_ = self._fit_surrogate(rows, weights, responses, labels)
        self._importances = importances(self.surrogate_, rows, weights)
        self.fidelity_ = self._measure_fidelity(rows, weights, responses, labels)
        predictions = self._surrogate_predictions()
        if labels is not None and predictions.why_no_labels() is None:
            surrogate_labels = predictions.predictions(rows.native)
            self.agreement_ = agreement(labels, surrogate_labels, weights)
        surrogate_responses = predictions.responses(rows.native)
        self._table = surrogate_blocks(
            self, rows, weights, responses, surrogate_responses
        )
        self._warn_of_low_fidelity()

    def _result_blocks(self) -> list[dict[str, Any]]:
        """Of trees a line for each leaf, with columns "leaf", "rule", "n_rows" and
        "share" of the rows of `fit`, "mean" and quantiles "q05" to "q95" of the model's
        responses to these, and "surrogate", the mean of its own. Of linear surrogates a
        line for each column, the largest effect first: "column", "coef", "std" of the
        column and "effect", their product. Of others the "importance" of each
        "feature", if there is any. "output" names the output, where there are several.
        """
        return self._table

    def _result_facts(self) -> dict[str, Any]:
        facts = {"fidelity": self.fidelity_}
        agrees = hasattr(self, "agreement_")
        return facts | ({"agreement": self.agreement_} if agrees else {})

    def _result_units(self) -> dict[str, str]:
        if "leaf" not in self._table[0]:
            return {}
        quantiles = [f"q{100 * q:02.0f}" for q in QUANTILES]
        return dict.fromkeys(["mean", *quantiles, "surrogate"], self._response_name)

    def _fit_surrogate(
        self, rows: Rows, weights: NDArray[np.float64], responses: Any, labels: Any
    ) -> Any:
        """The surrogate, fitted to responses, or to labels if it is a classifier."""
        surrogate, targets = self.surrogate, squeeze_outputs(responses)
        if surrogate is None:
            surrogate = default_surrogate(self.random_state)
            targets, weights = with_exact_sums(targets, weights)
        elif is_classifier(surrogate):
            targets = self._labels_to_learn(surrogate, labels)
        return fit_surrogate(surrogate, rows, targets, weights)

    def _call_in_batches(self, function: Any, rows: Rows) -> NDArray[Any]:
        """Concatenated results of a function of the model for batches of rows."""
        batches = slices(rows.n_rows, batch_rows(rows.row_bytes))
        tasks = [(function, rows.sliced(batch)) for batch in batches]
        return np.concatenate(list(run(_call_with_rows, tasks, n_jobs=self.n_jobs)))

    def _predict_labels(self, rows: Rows) -> NDArray[Any] | None:
        """Labels that the model predicts; None if it predicts none."""
        if is_classifier(self.estimator_) and hasattr(self.estimator_, "predict"):
            response = make_response(self.estimator_, "predict")
            return self._call_in_batches(response.labels, rows)
        return None

    def _labels_to_learn(self, surrogate: BaseEstimator, labels: Any) -> Any:
        name = type(surrogate).__name__
        if labels is None:
            raise ValueError(
                f"surrogate: {name} is a classifier and learns predicted labels, but "
                f"{type(self.estimator).__name__} predicts none: pass a regressor."
            )
        if labels.ndim > 1:
            raise ValueError(
                f"surrogate: {name} is a classifier and learns one label of each row, "
                f"but the model predicts {labels.shape[1]}: pass a regressor."
            )
        return labels

    def _measure_fidelity(
        self,
        rows: Rows,
        weights: NDArray[np.float64],
        responses: NDArray[np.float64],
        labels: NDArray[Any] | None,
    ) -> float:
        """Fidelity on rows, by the model's responses and labels."""
        fidelity = Fidelity(self.scoring, self._surrogate_predictions(), self)
        return fidelity.measure(rows, weights, responses, labels)

    def _warn_of_low_fidelity(self) -> None:
        if self.scoring not in ("r2", "accuracy") or self.min_fidelity is None:
            return
        if np.isnan(self.fidelity_):
            warn(
                "Pass other rows: the model's response is constant on the rows that "
                "the surrogate was fitted to, so that R² is undefined.",
                UndefinedFidelityWarning,
            )
        elif self.fidelity_ < self.min_fidelity:
            warn(
                "Take another surrogate, or a region by subset: the explanation's "
                "surrogate follows the model poorly, with a fidelity "
                f"({self.scoring}) of {self.fidelity_:.3g}, below "
                f"min_fidelity={self.min_fidelity:g}.",
                LowFidelityWarning,
            )

    def _surrogate_predictions(self) -> SurrogatePredictions:
        return SurrogatePredictions(self.surrogate_, self._make_response())

    def _provided_methods(self) -> Any:
        """Names of a classifier's methods that the surrogate can provide."""
        model = getattr(self, "estimator_", self._get_estimator())
        if not is_classifier(model):
            return set()
        surrogate = getattr(self, "surrogate_", self.surrogate)
        target = self.target if hasattr(self, "estimator_") else None
        try:
            response = make_response(model, self.response_method, target)
            return SurrogatePredictions(surrogate, response).methods
        except (TypeError, ValueError):  # to be raised by `fit`
            return set()

    def _check_fitted_rows(self, X: Any) -> Rows:
        """Validated rows, which must be finite if the model takes finite rows only."""
        check_is_fitted(self, "surrogate_")
        rows = self._check_rows(X, reset=False)
        if not self._takes_missing:
            rows.check_finite(type(self).__name__)
        return rows

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the surrogate, in the terms of the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Labels if the model is a classifier, else numbers.

        Raises
        ------
        ValueError
            If the model is a classifier, but no labels follow from the response that
            the surrogate was fitted to.
        """
        rows, surrogate = self._check_fitted_rows(X), self._surrogate_predictions()
        reason = surrogate.why_no_labels()
        if is_classifier(self.estimator_) and reason is not None:
            raise ValueError(
                f"The surrogate cannot predict labels, as {reason}. "
                "surrogate_.predict(X) returns its own predictions."
            )
        return surrogate.predictions(rows.native)

    @available_if(_offers("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Class probabilities of the surrogate.

        Those of a classifier, or the predictions of a regressor, clipped at zero and
        divided by their sum, or for two classes clipped to [0, 1].

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        rows = self._check_fitted_rows(X)
        return self._surrogate_predictions().probabilities(rows.native)

    @available_if(_offers("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of the class probabilities of the surrogate.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms, in the order of `classes_`; minus infinity for zero.
        """
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            if isinstance(probabilities, list):  # an array for each output
                return list(map(np.log, probabilities))
            return np.log(probabilities)

    @available_if(_offers("decision_function"))
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Decision function of a surrogate that was fitted to the model's.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        rows = self._check_fitted_rows(X)
        return squeeze_outputs(self._surrogate_predictions().responses(rows.native))

    def score(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Score of the surrogate's predictions: R squared, or accuracy of a classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        float
            The score.
        """
        predicted = self.predict(X)
        if y is None:
            raise ValueError("score needs y: see fidelity_score for none.")
        measure = accuracy_score if is_classifier(self.estimator_) else r2_score
        return float(measure(y, predicted, sample_weight=sample_weight))

    def black_box_predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the model, `estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions of the model.
        """
        check_is_fitted(self, "surrogate_")
        return self.estimator_.predict(X)

    def fidelity_score(self, X: Any, sample_weight: ArrayLike | None = None) -> float:
        """Fidelity of the surrogate on any rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows, of which those in `subset` are used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        float
            Fidelity, as defined by `scoring`; equal to `fidelity_` for the rows that
            the surrogate was fitted to.

        Raises
        ------
        ValueError
            If no row is in `subset`.
        """
        rows = self._check_fitted_rows(X)
        weights = check_weights(sample_weight, rows)
        rows, weights = rows_inside(self, rows, weights)
        responses = self._call_in_batches(self._make_response(), rows)
        labels = self._predict_labels(rows)
        return self._measure_fidelity(rows, weights, responses, labels)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each feature to the surrogate."""
        values = getattr(self, "_importances", None)
        if values is None:
            raise AttributeError(
                f"This {type(self).__name__} has no feature_importances_: it is not "
                "fitted, or its surrogate has no importance for each feature."
            )
        return values


def _call_with_rows(function: Any, rows: Rows) -> NDArray[Any]:
    return np.asarray(function(rows.native))


def _weights_inside(
    inspector: GlobalSurrogate, rows: Rows, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights, set to zero for rows outside of the inspector's subset."""
    if inspector.subset is not None:
        in_subset = np.asarray(inspector.subset(rows.native))
        if in_subset.dtype.kind != "b" or in_subset.shape != (rows.n_rows,):
            raise ValueError(
                f"subset must return a boolean for each of the {rows.n_rows} rows; got "
                f"an array of {in_subset.dtype} of shape {in_subset.shape}."
            )
        weights = np.where(in_subset, weights, 0.0)
    if not weights.any():
        raise ValueError("subset holds for no row of positive weight.")
    return weights


def rows_inside(
    inspector: GlobalSurrogate, rows: Rows, weights: NDArray[np.float64]
) -> tuple[Rows, NDArray[np.float64]]:
    """Rows of positive weight in a global surrogate's subset, and their weights."""
    weights = _weights_inside(inspector, rows, weights)
    positive = np.flatnonzero(weights)
    if len(positive) < rows.n_rows:
        rows, weights = rows.take(positive), weights[positive]
    return rows, weights
