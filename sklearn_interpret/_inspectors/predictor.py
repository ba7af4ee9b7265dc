"""Base of the predictors that wrap no model: rules, additive and sparse models."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier

from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import (
    BaseEstimator,
    CallbackSupportMixin,
    fit_context,
    plain_state,
    set_plain_state,
)
from sklearn_interpret._model.parallel import limit_blas
from sklearn_interpret._model.progress import shows_progress
from sklearn_interpret._model.rows import validation
from sklearn_interpret._model.rows.partitioned import PartitionedSample, read_head
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.partitions import Partitions

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

# Largest size of targets whose weighted squares can be summed.
_LARGEST = 1e75


class BasePredictor(ResultsMixin, CallbackSupportMixin, BaseEstimator):
    """Base of predictors of our own: a template `fit`, with one hook per method.

    A subclass is a dataclass of its parameters and fills `_fit(sample)` and
    `_result_blocks()`.
    """

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    # Whether `fit` takes rows in partitions.
    _takes_partitions = False
    # Whether standard errors take the sum of the weights for the number of rows.
    _errors_count_rows = False

    __getstate__, __setstate__ = plain_state, set_plain_state

    @fit_context(prefer_skip_nested_validation=True)
    @shows_progress
    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows. Additive and sparse linear models take no sparse matrix.
        y : array-like of shape (n_samples,), default=None
            Their targets, which are needed.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a row of weight two counts as two rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        partitions = Partitions.from_input(X, y, sample_weight)
        if partitions is not None:
            rows = self._check_rows(read_head(self, partitions), reset=True)
            check = partial(_check_partition, clone(self))
            with limit_blas(1):
                self._fit(PartitionedSample(partitions, rows, check))
            return self
        rows = self._check_rows(X, reset=True)
        y = self._check_targets(rows, y)
        weights = validation.check_weights(
            sample_weight, rows, count_rows=self._errors_count_rows
        )
        with limit_blas(1):
            self._fit(Sample.of_positive_weight(rows, y, weights))
        return self

    @abstractmethod
    def _fit(self, sample: Any) -> None:
        """Set the fitted attributes, from the rows of positive weight."""

    def _check_rows(self, X: Any, *, reset: bool) -> Rows:
        """Checked rows."""
        return validation.check_rows(self, X, reset=reset)

    def _check_targets(self, rows: Rows, y: ArrayLike | None) -> NDArray[Any]:
        """Checked targets: numbers, or labels of a classifier."""
        if is_classifier(self):
            return validation.check_targets(self, rows, y)
        numbers = validation.check_targets(self, rows, y, dtype=np.float64)
        if (largest := np.abs(numbers).max(initial=0)) > _LARGEST:
            raise ValueError(
                f"y has a value of the size {largest:g}; accepted are sizes up to "
                f"{_LARGEST:g}: rescale it."
            )
        return numbers


def _check_partition(
    estimator: BasePredictor, rows: Rows, y: ArrayLike | None
) -> NDArray[Any]:
    """Checked targets of a partition, whose rows are checked too."""
    estimator._check_rows(rows.native, reset=True)
    return estimator._check_targets(rows, y)


def most_probable_class(self: Any, X: Any) -> NDArray[Any]:
    """Most probable class of each row; of equally probable ones the first.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    ndarray of shape (n_samples,)
        Class labels.
    """
    most_probable = self.predict_proba(X).argmax(axis=1)
    return self.classes_[most_probable]
