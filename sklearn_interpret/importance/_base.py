"""Base of the importance estimators: players, averages, selection of features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.players import players_of
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import SelectorMixin
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.partitioned import PartitionedSample
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.tables import as_objects
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.base import BaseInspector

# Parameters of estimators that refer to columns, or have an entry for each.
_COLUMN_PARAMETERS = (
    "categorical_features",
    "monotonic_cst",
    "interaction_cst",
    "categories",  # of encoders
    "length_scale",  # of kernels
    # XGBoost, LightGBM, CatBoost
    "monotone_constraints",
    "interaction_constraints",
    "feature_types",
    "feature_weights",
    "feature_contri",
    "categorical_feature",
    "ignore_column",
    "cat_features",
    "text_features",
    "embedding_features",
    "ignored_features",
    # additive models of this package
    "terms",
    "by",
    "periods",
    "offset",
)
# Values of these parameters that refer to no column.
_DEFAULTS = ("warn", "from_dtype", "auto")
# Columns of the table of results, and their attributes, which not all methods have.
_ATTRIBUTES = {
    "standard_error": "standard_errors_",
    "statistic": "statistics_",
    "low": "intervals_low_",
    "high": "intervals_high_",
    "pvalue": "pvalues_",
    "adjusted_pvalue": "adjusted_pvalues_",
}
# Most copies of rows with whole-number weights, as a multiple of the rows: chosen by
# hand, to bound memory and time.
_MOST_COPIES = 10

AnySample = Sample | PartitionedSample


@lazy_transformer
class BaseImportance(ResultsMixin, SelectorMixin, BaseInspector):
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
    threshold: float

    _why_targets = "importance is an effect on a score, also of a FrozenEstimator."

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "threshold": [Interval(Real, None, None, closed="neither")],
    }

    def _inspect(self, sample: Sample, response: Any) -> None:
        self.features_, self.player_names_ = players_of(self, sample.rows)
        try:
            importances = self._measure(sample, response)
        finally:
            vars(self).pop("_fit_input", None)  # refits are done: free their memory
        results = Bunch(importances=importances)
        if importances.ndim == 2:
            results = summarise(importances)
        for name, values in results.items():
            setattr(self, f"{name}_", values)
        means = results.get("importances_mean", importances)
        if not np.isfinite(means).all():
            name = self.player_names_[np.isfinite(means).argmin()]
            raise ValueError(
                f"The importance of {name!r} is not finite: targets, "
                "responses or scores are too large, or infinite."
            )
        self.feature_importances_ = self._spread_to_features(means)

    @abstractmethod
    def _measure(self, sample: Sample, response: Any) -> NDArray[np.float64]:
        """Set fitted attributes; return importances (n_players,) or (n_players, r)."""

    def _spread_to_features(self, by_player: NDArray[Any]) -> NDArray[Any]:
        """Values of features, (n_features,): each member of a group has the group's."""
        by_feature = np.zeros(self.n_features_in_, dtype=by_player.dtype)
        for columns, value in zip(self.features_, by_player, strict=True):
            by_feature[list(columns)] = value
        return by_feature

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each feature or group, the most important first: columns
        "feature", "importance", and where there are several draws "std" (their standard
        deviation). "scoring" names the score, where there are several;
        "standard_error", "statistic", "low" and "high" (ends of the interval), "pvalue"
        and "adjusted_pvalue" are there where the method has them.
        """
        results = getattr(self, "results_", {})
        if len(results) < 2:
            return [self._result_block(self.importances_)]
        return [
            {"scoring": name} | self._result_block(result.importances)
            for name, result in results.items()
        ]

    def _result_block(
        self, importances: NDArray[np.float64]
    ) -> dict[str, NDArray[Any]]:
        """Columns of importances (n_players[, r]), the most important player first."""
        draws = importances.reshape(len(self.player_names_), -1)
        means = draws.mean(axis=1)
        columns = {"feature": as_objects(self.player_names_), "importance": means}
        if draws.shape[1] > 1:
            columns["std"] = draws.std(axis=1)
        columns |= self._more_columns()
        order = np.argsort(-means, kind="stable")
        return {name: column[order] for name, column in columns.items()}

    def _more_columns(self) -> dict[str, NDArray[Any]]:
        """Further columns by name, (n_players,) each."""
        return {
            column: getattr(self, name)
            for column, name in _ATTRIBUTES.items()
            if hasattr(self, name)
        }

    def _check_has_targets(self, sample: AnySample) -> Any:
        """The sample, if it has targets; partitions are checked later."""
        check = partial(_refuse_missing_targets, type(self).__name__, self._why_targets)
        if isinstance(sample, PartitionedSample):
            return replace(sample, check=check)
        check(sample.rows, sample.y)
        return sample

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
        selected = self.get_support(indices=True)
        if not len(selected):
            # scikit-learn warns. Frames without columns may lose their rows.
            return self._transform(np.empty(rows.native.shape))
        return rows.keep_columns(selected).native

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        rows = super()._check_rows(X, reset=reset)
        if reset:
            self._takes_missing = not rows.is_finite
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # `transform` accepts missing values if `fit` did, whatever the model's tags.
        tags.input_tags.allow_nan |= getattr(self, "_takes_missing", False)
        return tags

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.feature_importances_ > self.threshold


def _refuse_missing_targets(
    name: str, reason: str, rows: Rows, y: NDArray[Any] | None
) -> NDArray[Any]:
    """Targets of rows; an error if these have none."""
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None: {reason}"
        )
    return y


def summarise(importances: NDArray[np.float64], **results: Any) -> Bunch:
    """Importances (n_players, r), their mean and deviation, and other results."""
    return Bunch(
        importances=importances,
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        **results,
    )


def rows_by_weight(sample: Sample) -> Sample:
    """A row for each unit of weight, sorted, if weights are whole and not large.

    A weighted row and its copies, in any order, then get the same random draws.
    """
    distinct = sample.distinct()
    counts = np.rint(distinct.weights)
    are_few = counts.sum() <= _MOST_COPIES * sample.rows.n_rows
    if not (are_few and np.array_equal(counts, distinct.weights)):
        return sample
    index = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
    rows, y = distinct.rows.take(index), distinct.y[index]
    return Sample(rows, y, np.ones(len(index)), positions=distinct.index[index])


def random_folds(
    y: NDArray[Any], n_folds: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Random fold of each row, (n,), stratified by sorted targets."""
    order = rng.permutation(len(y))
    if y.ndim == 1:
        order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), dtype=np.intp)
    folds[order] = np.arange(len(y)) % n_folds
    return folds


def drop_columns(rows: Rows, columns: Sequence[int]) -> Rows:
    """Rows without the columns, or with constant ones if none would remain."""
    remaining = np.setdiff1d(np.arange(rows.n_columns), columns)
    if not len(remaining):
        return hold_constant(rows, columns)
    return rows.keep_columns(remaining)


def hold_constant(rows: Rows, columns: Sequence[int]) -> Rows:
    """Rows in which the columns have the first row's values."""
    first_row = np.zeros(rows.n_rows, dtype=np.intp)
    donors = dict.fromkeys(columns, first_row)
    return type(rows)(rows.mix(np.arange(rows.n_rows), donors))


def names_columns(estimator: Any, fit_params: Collection[str] = ()) -> bool:
    """Whether an estimator, or a part of it, refers to columns by name or position.

    With fewer columns such an estimator fails, or uses the wrong columns. So does an
    estimator whose `fit` is given one of `_COLUMN_PARAMETERS`.
    """
    if set(_COLUMN_PARAMETERS).intersection(fit_params):
        return True
    for name, value in estimator.get_params(deep=True).items():
        if isinstance(value, ColumnTransformer):
            return True
        is_one_length_scale = isinstance(value, float)
        is_default = value is None or (isinstance(value, str) and value in _DEFAULTS)
        if name.rpartition("__")[2] in _COLUMN_PARAMETERS and not (
            is_default or is_one_length_scale
        ):
            return True
    return isinstance(estimator, ColumnTransformer)


def without_columns(
    rows: Rows, columns: Sequence[int], estimator: Any, fit_params: Collection[str] = ()
) -> Rows:
    """Rows with the columns dropped, or constant where the estimator names columns."""
    remove = hold_constant if names_columns(estimator, fit_params) else drop_columns
    return remove(rows, columns)
