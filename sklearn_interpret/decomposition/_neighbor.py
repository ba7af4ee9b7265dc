"""Votes of training rows in a model of nearest neighbours (Cover & Hart, 1967)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import check_array

from sklearn_interpret._model.formulas.last_step import last_step
from sklearn_interpret._model.formulas.neighbors import distance_terms, vote_weights
from sklearn_interpret._model.parallel import rows_in_memory, slices
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.explanations import NeighborExplanation

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Rows of `fit` that are checked to be training rows of a frozen model: the model must
# find an equal row. Chosen by hand: other rows differ almost everywhere.
_CHECKED_ROWS = 20


class NeighborContributions(BaseInspector):
    """The training rows that vote for a prediction of k nearest neighbours.

    The prediction for a row is the mean of its neighbours' targets, or of the
    indicators of their classes, with weights that depend on the distances. Each
    training row's share of the vote is its weight over the sum of the weights:

    .. math:: \\hat f(x) = \\sum_i s_i(x)\\, y_i, \\qquad
        s_i(x) = \\frac{w(d(x, x_i))}{\\sum_{l \\in N_k(x)} w(d(x, x_l))}

    Parameters
    ----------
    estimator : estimator
        KNeighborsClassifier or KNeighborsRegressor, or a pipeline that ends in one and
        whose other steps work column by column; a clone of it is fitted. Pass a fitted
        one as ``FrozenEstimator(model)``, and its training rows to `fit`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    output_names_ : list
        Class labels, or positions, of the predictions of `explain`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    UnreadableModelError
        In `fit`: another model, distances that were precomputed, or a step before the
        model that mixes columns.
    ValueError
        In `fit`: rows that a frozen model was not trained on.

    Notes
    -----
    Distances along features are those of the columns that the model gets, behind the
    steps of a pipeline; where a feature becomes several columns, their sum. They are
    given for Euclidean, Manhattan and Minkowski distances.

    References
    ----------
    Cover, T. M., & Hart, P. E. (1967). Nearest neighbor pattern classification. IEEE
    Transactions on Information Theory 13(1). https://doi.org/10.1109/TIT.1967.1053964

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn_interpret.decomposition import NeighborContributions
    >>> X, y = np.array([[0.0], [1.0], [3.0], [9.0]]), np.array([1.0, 2.0, 3.0, 4.0])
    >>> model = KNeighborsRegressor(2, weights="distance")
    >>> explanation = NeighborContributions(model).fit(X, y).explain([[1.5]])
    >>> explanation.neighbors, explanation.values
    (array([[1, 0]]), array([[0.25, 0.75, 0.  , 0.  ]]))
    >>> bool(abs(explanation.values @ y - explanation.predictions)[0] < 1e-12)
    True
    """

    output_names_: list[Any]

    _for_any_model = "BreakDown and KernelSHAP take any model."

    def fit(  # type: ignore[override]  # there are no weights
        self, X: Any, y: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Fit a clone of `estimator`, and keep its training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets. Not needed where `estimator` is a
            :class:`~sklearn.frozen.FrozenEstimator`.
        **params : dict
            Further parameters of the `fit` of a pipeline. There are no weights: all
            training rows have the same vote.

        Returns
        -------
        self : object
            The fitted inspector.

        Raises
        ------
        ValueError
            Bad input; weights; rows that a frozen model was not trained on.
        """
        return super().fit(X, y, **params)

    def _choose_sample(
        self, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        if np.ptp(weights):
            raise ValueError(
                "sample_weight differs between rows, and models of nearest neighbours "
                "take no weights: pass None."
            )
        return super()._choose_sample(rows, y, weights)

    def _make_response(self) -> Response:
        return make_response(self.estimator_)

    def _inspect(self, sample: Sample, response: Response) -> None:
        rows = sample.rows
        self._step = last_step(
            self.estimator_, (KNeighborsClassifier, KNeighborsRegressor)
        )
        model = self._step.model
        if model.metric == "precomputed":
            raise UnreadableModelError(
                'metric="precomputed": the columns are distances, not features.'
            )
        self._check_training_rows(rows, model)
        self._training_data, self._targets = rows.native, sample.y
        self._feature_names = rows.names
        self._response = response
        _, n_outputs = response(rows.sliced(slice(1)).native).shape
        self.output_names_ = response.output_names(n_outputs)

    def _check_training_rows(self, rows: Rows, model: BaseEstimator) -> None:
        """Refuse rows that are not the training rows of the model."""
        agrees = model.n_samples_fit_ == rows.n_rows
        if agrees:
            n_checked = min(_CHECKED_ROWS, rows.n_rows)
            index = np.linspace(0, rows.n_rows - 1, n_checked).astype(np.intp)
            checked = rows.take(index).native
            _, neighbors = model.kneighbors(self._step.inputs(checked), 1)
            nearest = self._model_inputs(rows.take(neighbors[:, 0]).native)
            agrees = np.allclose(nearest, self._model_inputs(checked), rtol=1e-6)
        if not agrees:
            raise ValueError(
                f"The model was trained on other rows ({model.n_samples_fit_} of them) "
                f"than these {rows.n_rows}: pass its training rows to fit."
            )

    def _model_inputs(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows as the model gets them, an array of numbers."""
        inputs = check_array(self._step.inputs(X), accept_sparse="csr")
        inputs = inputs.toarray() if hasattr(inputs, "toarray") else inputs
        return inputs.astype(np.float64) if inputs.dtype.kind == "b" else inputs

    @empty_for_no_rows
    def explain(self, X: Any) -> NeighborExplanation:
        """Say which training rows vote for the predictions, and how much.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        NeighborExplanation
            Values of shape (n_samples, n_training), which sum to one over the training
            rows, with neighbours and their distances.
        """
        rows, model = self._check_rows(X, reset=False), self._step.model
        # Predictions come first: the model then refuses weights that sum to zero.
        predictions = self._response(rows.native)
        distances, neighbors = model.kneighbors(self._step.inputs(rows.native))
        weights = np.asarray(vote_weights(model, distances), dtype=np.float64)
        values = np.zeros((rows.n_rows, model.n_samples_fit_))
        shares = weights / weights.sum(axis=1, keepdims=True)
        np.put_along_axis(values, neighbors, shares, axis=1)
        has_one_output = predictions.shape[1] == 1
        return NeighborExplanation(
            values,
            self._training_data,
            training_targets=self._targets,
            value_name="share of the vote",
            predictions=predictions[:, 0] if has_one_output else predictions,
            data=rows.native,
            feature_names=self._feature_names,
            output_names=self.output_names_,
            response_name=self._response_name,
            target_name=self._target_name,
            neighbors=neighbors,
            distances=distances,
            feature_distances=self._feature_distances(rows, neighbors),
        )

    def _feature_distances(
        self, rows: Rows, neighbors: NDArray[np.intp]
    ) -> NDArray[np.float64] | None:
        """Distances along each feature, (m, k, n_features).

        None if the metric is no sum over the features.
        """
        step = self._step
        if distance_terms(step.model, np.empty((0, len(step.columns)))) is None:
            return None
        training, blocks = self._model_inputs(self._training_data), []
        # Of each neighbour: differences, distances, their sums by feature, as doubles.
        row_bytes = 8 * 3 * neighbors.shape[1] * len(step.columns)
        for batch in slices(rows.n_rows, rows_in_memory(row_bytes)):
            numbers = self._model_inputs(rows.sliced(batch).native)
            terms = distance_terms(
                step.model, numbers[:, None] - training[neighbors[batch]]
            )
            blocks.append(step.sum_by_input_column(np.asarray(terms), axis=2))
        return np.concatenate(blocks)
