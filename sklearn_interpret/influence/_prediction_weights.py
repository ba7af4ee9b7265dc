"""Predictions as weighted sums of the training targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn_interpret._model._sklearn_compat import Interval, warn
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.leave_out.training import transform_by_steps
from sklearn_interpret._model.parallel import rows_in_memory, run, slices
from sklearn_interpret._model.progress import progress_of, shows_progress
from sklearn_interpret._model.responses.predictors import (
    is_classifier,
    weight_parameter,
)
from sklearn_interpret._model.responses.response import (
    drop_single_output,
    make_response,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import copy_of
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.validation import empty_for_no_rows, target_numbers
from sklearn_interpret._model.training_weights.agreement import (
    are_missed,
    refuse_other_rows,
    rows_to_check,
)
from sklearn_interpret._model.training_weights.base import TrainingData
from sklearn_interpret._model.training_weights.readers import read_weights
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import AdditivityWarning, UnreadableModelError
from sklearn_interpret.explanations import TrainingExplanation, WeightExplanation
from sklearn_interpret.influence._groups import influence_blocks

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.training_weights.base import TrainingWeights

# Rounding errors of sums of weights.
_ROUNDING = 1e-9
# Bytes for each weight in the choice of the largest: sizes, two copies, counts, masks.
_BYTES_OF_LARGEST = 4 * 8 + 4


@lazy_transformer
@estimator_dataclass
class PredictionWeights(
    ResultsMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseInspector
):
    r"""Predictions as weighted sums of the training targets.

    A prediction is traced to the rows that it comes from: the weight of a training row
    times its target is its contribution, and contributions sum to the prediction, or to
    what it is above the base value where training starts from one. With the structure
    of the model held fixed (the splits of its trees, say), the weight is also by how
    much the prediction rises if the target rises by one.

    Parameters
    ----------
    estimator : estimator
        A tree, a forest, bagged trees, boosting of squared errors (also of XGBoost and
        LightGBM), nearest neighbours, least squares, ridge or kernel ridge regression,
        a Gaussian process, or a :class:`~sklearn_interpret.additive.GAMRegressor` of
        normal targets, alone or at the end of a pipeline; a clone of it is fitted. Pass
        a fitted one as ``FrozenEstimator(model)``, and to `fit` the rows that it was
        fitted on.
    n_kept : int, default=None
        Number of training rows that keep their weights, for each explained row: those
        of largest size, of equal ones the first; the others get zero. `transform`, and
        `values` of explanations, are then sparse, and memory does not grow with the
        product of both numbers of rows. None keeps all, in dense arrays.
    response_method : str, list of str or callable, default="auto"
        The model's response: "predict" of regressors, "predict_proba" of classifiers.
    target : class label, int or dict, default=None
        The output, or the contrast {output: weight}, whose contributions are computed;
        None means all. Outputs have the same weights.
    n_jobs : int or None, default=None
        Workers that compute weights.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    leverages_ : ndarray of shape (n_training,)
        Weight of each training row in its own prediction. This attribute and the next
        two are computed on first access.
    effective_neighbors_ : ndarray of shape (n_training,)
        One by the sum of the squared weights in the prediction for each training row:
        as many rows of equal weights have the same sum. Weights that are negative, or
        do not sum to one, have no number of rows.
    effective_dof_ : float
        Effective degrees of freedom: the sum of the leverages. The choice of splits
        by the targets adds to it, and is not in it.
    output_names_ : list
        Class labels, or positions, of the outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: the weights of the model are not known, or do not give its
        predictions, because a frozen model was fitted on other rows.
    ValueError
        In `fit`: `y` missing, also for a frozen model.

    Warns
    -----
    AdditivityWarning
        In :meth:`explain`: contributions do not sum to the predictions.

    See Also
    --------
    sklearn_interpret.explanations.WeightExplanation : What `explain` returns.
    sklearn_interpret.influence.DeletionDiagnostics : Any model, fitted again without
        each row.

    Notes
    -----
    With targets :math:`y_i` (or indicators of a class) and a prediction :math:`b` from
    which training starts, which is zero but for some models of boosting,

    .. math:: \hat f(x) = b + \sum_i w_i(x) \, (y_i - b) .

    A tree has :math:`w_i(x) = c_i / \sum_j c_j`, the sum over the rows in the leaf of
    :math:`x`, for :math:`i` in this leaf, and zero for others; :math:`c_i` is the
    number of times that the tree's sample has the row, times its weight and that of its
    class. A forest has the mean over its trees, and nearest neighbours the shares of
    the votes. These weights are not negative and sum to one: a distribution of the
    target given the features, whose quantiles are those of a quantile regression forest
    that counts the rows of a leaf as often as its tree has drawn them (Meinshausen,
    2006, counts each row once, also those that were not drawn). The leaves of trees
    with the criterion "absolute_error" have medians, and monotonic constraints move
    means: neither can be read. Nor can trees of scikit-learn < 1.8 that saw missing
    values, some of whose leaves have other means.

    Weights of rows are passed to `fit` as `sample_weight`, where the model takes them.
    They are in the weights of training rows, and nowhere else.

    Weights of m rows are m times n numbers, unless `n_kept` is less; the measures of
    all training rows take the time of the weights of as many rows.

    References
    ----------
    Meinshausen, N. (2006). Quantile regression forests. Journal of Machine Learning
    Research 7. https://www.jmlr.org/papers/v7/meinshausen06a.html

    Lin, Y. & Jeon, Y. (2006). Random forests and adaptive nearest neighbors. Journal of
    the American Statistical Association 101(474).
    https://doi.org/10.1198/016214505000001230

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn_interpret.influence import PredictionWeights
    >>> X, y = [[0.0], [1.0], [2.0], [9.0]], [0.0, 1.0, 2.0, 5.0]
    >>> inspector = PredictionWeights(KNeighborsRegressor(2)).fit(X, y)
    >>> explanation = inspector.explain([[1.8]])
    >>> explanation.values, explanation.contributions
    (array([[0. , 0.5, 0.5, 0. ]]), array([[0. , 0.5, 1. , 0. ]]))
    >>> inspector.predict_quantiles([[1.8]], [0.5, 0.9])
    array([[1., 2.]])
    """

    n_kept: int | None = None
    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    target: Any = None
    n_jobs: int | None = None
    verbose: int | None = None
    output_names_: list[Any] = field(init=False)

    _for_any_model = "DeletionDiagnostics takes any model."
    _why_targets = (
        "predictions are sums of targets, also where the model is a FrozenEstimator."
    )
    _caches = ("_own_weights",)
    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "n_kept": [Interval(Integral, 1, None, closed="left"), None],
    }

    def fit(  # type: ignore[override]  # weights are those of the model's fit
        self, X: Any, y: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Fit a clone of `estimator`, and read the weights of its training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets, which are needed, also with a frozen model.
        **params : dict
            Further parameters of the estimator's `fit`, such as `sample_weight`; of a
            frozen model those that it was fitted with.

        Returns
        -------
        self : object
            The fitted inspector.

        Raises
        ------
        UnreadableModelError
            Weights that are not known, or rows that a frozen model was not fitted on.
        ValueError
            Bad input.
        """
        name = weight_parameter(self._get_estimator())
        if name in params and "sample_weight" not in params:  # of a pipeline's step
            params["sample_weight"] = params.pop(name)
        return super().fit(X, y, **params)

    def _choose_sample(
        self, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        # Rows of weight zero, too, are among those that samples are drawn from.
        return Sample(rows, self._checked_targets(y), weights)

    def _make_response(self) -> Response:
        response = make_response(self.estimator_, self.response_method, self.target)
        needed = "predict_proba" if is_classifier(self.estimator_) else "predict"
        if response.method != needed:
            raise UnreadableModelError(
                f"response_method={self.response_method!r}: weighted sums of targets "
                f"are what {needed} returns."
            )
        return response

    def _inspect(self, sample: Sample, response: Response) -> None:
        rows, y = sample.rows, sample.y.reshape(sample.rows.n_rows, -1)
        steps, model = steps_and_model(self.estimator_)
        targets = _raw_targets(y, response.classes)
        data = TrainingData(
            as_rows(transform_by_steps(steps, rows.native)),
            np.hstack(targets) if isinstance(targets, list) else targets,
            sample.weights,
        )
        self._weights, self._response = read_weights(model, data), response
        self._target_values = response.read(targets)
        self._base_values = np.zeros(self._target_values.shape[1])
        if self._weights.offset:
            offsets = np.full(targets[:1].shape, self._weights.offset)
            self._base_values = response.read(offsets)[0]
            self._target_values -= self._base_values
        self._check_sums(rows)
        self.output_names_ = response.output_names(len(self._base_values))
        # Copies: they are used later, when the caller's may have changed.
        self._training_data, self._targets = copy_of(rows.native), np.copy(sample.y)
        self._own_weights: Any = None

    def _check_sums(self, rows: Rows) -> None:
        """Refuse weights that do not give predictions of the training rows."""
        checked = rows_to_check(rows)
        (weights,) = self._in_blocks(checked, checked.n_rows)
        if self._is_missed(weights, self._response(checked.native)).any():
            _, model = steps_and_model(self.estimator_)
            refuse_other_rows(model, "the weights of the rows")

    def _is_missed(
        self, weights: NDArray[np.float64], predictions: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Whether predictions (m, k) are not the weighted sums."""
        targets, base = self._target_values, self._base_values
        size = np.abs(base) + np.abs(weights) @ np.abs(targets)
        sums, (_, model) = base + weights @ targets, steps_and_model(self.estimator_)
        return are_missed(model, sums, predictions, size, targets.std(axis=0))

    def _in_blocks(
        self,
        rows: Rows,
        block_rows: int | None = None,
        function: Callable[..., Any] | None = None,
        row_bytes: int = 0,
    ) -> Iterator[Any]:
        """Weights of all training rows, (m, n), or a function of them, for blocks.

        The function needs `row_bytes` more for each row.
        """
        row_bytes += self._weights.row_bytes + rows.row_bytes
        size = block_rows or rows_in_memory(row_bytes)
        steps, _ = steps_and_model(self.estimator_)
        blocks = slices(rows.n_rows, size)
        tasks = [
            (steps, self._weights, function, rows.sliced(block)) for block in blocks
        ]
        return run(_weights_of_rows, tasks, n_jobs=self.n_jobs)

    def _weights_for(self, rows: Rows) -> Any:
        """The weights, (m, n); a csr_array of those that are kept."""
        if self.n_kept is not None:
            largest = partial(_largest_of_rows, self.n_kept)
            row_bytes = _BYTES_OF_LARGEST * self._n_features_out
            blocks = self._in_blocks(rows, function=largest, row_bytes=row_bytes)
            return sparse.vstack(list(blocks), format="csr")
        values, start = np.empty((rows.n_rows, self._n_features_out)), 0
        for weights in self._in_blocks(rows):
            values[start : start + len(weights)] = weights
            start += len(weights)
        return values

    @property
    def _n_features_out(self) -> int:
        return len(self._target_values)

    @empty_for_no_rows
    @shows_progress
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Weights of the training rows in the predictions for rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        {ndarray, csr_array} of shape (n_samples, n_training)
            Weights, sparse with `n_kept`.
        """
        check_is_fitted(self)
        return self._weights_for(self._check_rows(X, reset=False))

    @empty_for_no_rows
    @shows_progress
    def explain(self, X: Any) -> WeightExplanation:
        """Trace the predictions for rows to training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        WeightExplanation
            Weights of shape (n_samples, n_training), and contributions, which sum to
            the predictions unless `n_kept` leaves some out: weights are then sparse.

        Warns
        -----
        AdditivityWarning
            If all weights are kept, and contributions do not sum to the predictions.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        predictions, values = self._response(rows.native), self._weights_for(rows)
        is_missed = np.zeros(len(predictions), dtype=bool)
        if self.n_kept is None:
            is_missed = self._is_missed(values, predictions)
        if is_missed.any():
            warn(
                "Fit again, to a model that stays the same: contributions do not sum "
                f"to the predictions of {is_missed.sum()} of {len(is_missed)} rows, "
                f"first of row {is_missed.argmax()}.",
                AdditivityWarning,
            )
        base_values = np.broadcast_to(self._base_values, predictions.shape)
        arrays = predictions, base_values, self._target_values
        predictions, base_values, targets = (drop_single_output(a.T).T for a in arrays)
        return WeightExplanation(
            values,
            base_values=base_values,
            target_values=targets,
            predictions=predictions,
            data=rows.native,
            output_names=self.output_names_,
            response_name=self._response_name,
            value_name="weight",
            **self._training_fields(),
        )

    @shows_progress
    def predict_quantiles(self, X: Any, q: ArrayLike) -> NDArray[np.float64]:
        """Quantiles of the target, given the features (Meinshausen, 2006).

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        q : float or array-like of shape (n_quantiles,)
            Shares, from 0 to 1.

        Returns
        -------
        ndarray of shape (n_samples[, n_quantiles][, n_outputs])
            The smallest target up to which the weights sum to the share.

        Raises
        ------
        ValueError
            A classifier; weights that are negative, or do not sum to one.
        """
        check_is_fitted(self)
        shares = np.asarray(q, dtype=np.float64)
        if shares.ndim > 1 or not ((shares >= 0) & (shares <= 1)).all():
            raise ValueError(f"q={q!r} must be shares from 0 to 1.")
        if is_classifier(self.estimator_):
            raise ValueError("Quantiles are of numbers: predict_proba has the classes.")
        # A sum of weights that is rounding error is zero.
        levels = np.maximum(np.ravel(shares) - _ROUNDING, _ROUNDING)
        blocks = self._in_blocks(self._check_rows(X, reset=False))
        quantiles = np.concatenate(
            [_quantiles(weights, self._target_values, levels) for weights in blocks]
        )
        quantiles += self._base_values
        quantiles = quantiles if quantiles.shape[2] > 1 else quantiles[:, :, 0]
        return quantiles if shares.ndim else quantiles[:, 0]

    @property
    def leverages_(self) -> NDArray[np.float64]:
        """Weight of each training row in its own prediction: (n_training,)."""
        return self._measures()[0]

    @property
    def effective_neighbors_(self) -> NDArray[np.float64]:
        """One by the sum of squared weights in each row's prediction: (n_training,)."""
        return self._measures()[1]

    @property
    def effective_dof_(self) -> float:
        """Effective degrees of freedom: the sum of the leverages."""
        return float(self.leverages_.sum())

    def _measures(self) -> NDArray[np.float64]:
        """Leverages and effective neighbours of the training rows, (2, n)."""
        check_is_fitted(self)
        if self._own_weights is None:
            measures: list[Any] = []
            with progress_of(self, "leverages_"):
                for weights in self._in_blocks(as_rows(self._training_data)):
                    own = np.diagonal(weights, sum(map(len, measures)))
                    squares = (weights**2).sum(axis=1)
                    measures.append(np.column_stack([own, 1 / squares]))
            self._own_weights = np.concatenate(measures).T
        return self._own_weights

    def _training_fields(self) -> dict[str, Any]:
        """The fields of explanations that describe the training rows."""
        return {
            "training_data": self._training_data,
            "training_targets": self._targets,
            "feature_names": as_rows(self._training_data).names,
            "target_name": self._target_name,
        }

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each training row, that of the largest leverage first: columns
        "training_row" (its name) and "value", its weight in its own prediction.
        """
        return influence_blocks(self._overall_explanation())

    def _result_facts(self) -> dict[str, Any]:
        return {"effective degrees of freedom": self.effective_dof_}

    def _overall_explanation(self) -> TrainingExplanation:
        """`leverages_` as an explanation, for displays."""
        fields = self._training_fields()
        return TrainingExplanation(
            self.leverages_[None], value_name="leverage", **fields
        )


def _raw_targets(y: NDArray[Any], classes: Any) -> Any:
    """Targets (n, k) as predictions: indicators of classes, a list for some outputs."""
    if classes is None:
        return target_numbers(y)
    outputs = classes if isinstance(classes, list) else [classes]
    indicators = [
        (labels[:, None] == of_output).astype(np.float64)
        for labels, of_output in zip(y.T, outputs, strict=True)
    ]
    return indicators if isinstance(classes, list) else indicators[0]


def _weights_of_rows(
    steps: Any,
    weights: TrainingWeights,
    function: Callable[..., Any] | None,
    rows: Rows,
) -> Any:
    values = weights.weights(as_rows(transform_by_steps(steps, rows.native)))
    return values if function is None else function(values)


def _largest_of_rows(n_kept: int, weights: NDArray[np.float64]) -> sparse.csr_array:
    """The weights (m, n) of largest size in each row; of equal sizes the first."""
    n_dropped = weights.shape[1] - n_kept
    if n_dropped > 0:
        sizes = np.abs(weights)
        least = np.partition(sizes, n_dropped, axis=1)[:, n_dropped, None]
        is_larger, is_tied = sizes > least, sizes == least
        n_tied = n_kept - is_larger.sum(axis=1, keepdims=True)
        is_tied &= is_tied.cumsum(axis=1) <= n_tied
        weights = np.where(is_larger | is_tied, weights, 0)
    return sparse.csr_array(weights)


def _quantiles(
    weights: NDArray[np.float64],
    targets: NDArray[np.float64],
    levels: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Quantiles (m, n_levels, k) of targets (n, k) that have weights (m, n)."""
    is_negative = weights.min() < -_ROUNDING
    if is_negative or (np.abs(weights.sum(axis=1) - 1) > _ROUNDING).any():
        raise ValueError(
            "The weights of the model are no distribution: "
            f"{'some are negative' if is_negative else 'they do not sum to one'}."
        )
    outputs = []
    for values in targets.T:
        order = np.argsort(values, kind="stable")
        sums = weights[:, order].cumsum(axis=1)
        positions = np.array([np.searchsorted(row, levels) for row in sums])
        outputs.append(values[order][np.minimum(positions, len(order) - 1)])
    return np.stack(outputs, axis=2)
