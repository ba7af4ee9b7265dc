"""Base of the importance estimators: players, averages, selection of features."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.refitting import RefittingMixin
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.rows.features import resolve_groups, resolve_players
from sklearn_interpret._model.sklearn_bases import SelectorMixin
from sklearn_interpret._model.validation import empty_for_no_rows
from sklearn_interpret.base import BaseInspector


class BaseImportance(SelectorMixin, BaseInspector):
    """Base of the estimators that rank features and select the important ones.

    A subclass measures the importance of each player (a feature or a feature group), in
    one or several repeats (`_measure`).
    """

    importances_: NDArray[np.float64]
    importances_mean_: NDArray[np.float64]
    importances_std_: NDArray[np.float64]
    feature_importances_: NDArray[np.float64]
    features_: list[tuple[int, ...]]
    player_names_: list[str]

    _why_targets = "importance is an effect on a score, also of a FrozenEstimator."

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "threshold": [Interval(Real, None, None, closed="neither")],
    }

    def _inspect(self, sample, response, on_block):
        rows = sample.rows
        groups = resolve_groups(self.feature_groups, rows.names, named=rows.named)
        self.features_, self.player_names_ = resolve_players(rows.names, groups)
        results = summary(self._measure(sample, response, on_block))
        for name, values in results.items():
            setattr(self, f"{name}_", values)
        wrong = np.flatnonzero(~np.isfinite(self.importances_).all(axis=1))
        if len(wrong):
            raise ValueError(
                f"The importance of {self.player_names_[wrong[0]]!r} is not finite: "
                "targets, responses or scores are too large, or infinite."
            )
        self.feature_importances_ = self._by_feature(self.importances_mean_)

    @abstractmethod
    def _measure(self, sample, response, on_block):
        """Set the method's fitted attributes; return importances (n_players, r)."""

    def _by_feature(self, by_player):
        """Values of players as (n_features,): each member of a group gets its value."""
        by_feature = np.zeros(self.n_features_in_, dtype=by_player.dtype)
        for columns, value in zip(self.features_, by_player, strict=True):
            by_feature[list(columns)] = value
        return by_feature

    def _targets(self, sample):
        """Targets of the sample; an error if there are none."""
        if sample.y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y "
                f"is None: {self._why_targets}"
            )
        return sample.y

    # scikit-learn's method converts frames to arrays, which loses dtypes.
    @empty_for_no_rows
    def transform(self, X: Any) -> Any:
        """Keep the columns of important features.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        {ndarray, sparse matrix, DataFrame} of shape (n_samples, n_selected_features)
            A table of the same kind, but an array if no feature is important;
            :meth:`set_output` selects another kind.
        """
        rows = self._check_rows(X, reset=False)
        if not self.__sklearn_tags__().input_tags.allow_nan:
            rows.check_finite(type(self).__name__)
        kept = self.get_support(indices=True)
        if not len(kept):
            # scikit-learn warns. Frames without columns may lose their rows.
            return self._transform(np.empty(rows.native.shape))
        return rows.keep_columns(kept).native

    def _check_rows(self, X, *, reset):
        rows = super()._check_rows(X, reset=reset)
        if reset:
            self._takes_missing = not rows.is_finite
        return rows

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # `transform` accepts missing values if `fit` did, whatever the model's tags.
        tags.input_tags.allow_nan |= getattr(self, "_takes_missing", False)
        return tags

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.feature_importances_ > self.threshold


class RefittingImportance(RefittingMixin, BaseImportance):
    """Base of importances that fit clones of the estimator, even if it is frozen."""

    _why_targets = "clones of the model are fitted, also where it is a FrozenEstimator."

    def _inspect(self, sample, response, on_block):
        try:
            super()._inspect(sample, response, on_block)
        finally:
            del self._given


def summary(importances, **others):
    """Importances (n_players, r), their mean and deviation, and other results."""
    return Bunch(
        importances=importances,
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        **others,
    )
