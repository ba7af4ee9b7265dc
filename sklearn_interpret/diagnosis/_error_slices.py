"""Slices of the rows in which a model's loss is larger, or smaller, than elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t
from sklearn.utils import Tags, check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.rules.bins import quantile_bins
from sklearn_interpret._core.rules.coded_conditions import Condition as RankInterval
from sklearn_interpret._core.rules.coded_conditions import all_hold
from sklearn_interpret._core.rules.subgroups import MOST_SHARED, BinnedRows
from sklearn_interpret._core.statistics.covariance_tests import adjusted_pvalues
from sklearn_interpret._core.statistics.mean_differences import (
    MeanDifference,
    mean_difference,
)
from sklearn_interpret._inspectors.condition_space import ConditionSpace
from sklearn_interpret._inspectors.ordered_table import OrderedTable
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.refitting import RefittingMixin
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import TransformerMixin
from sklearn_interpret._model._sklearn_compat import (
    Interval,
    StrOptions,
    check_feature_names_in,
)
from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.responses.row_losses import ROW_LOSS_NAMES, RowLoss
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.diagnosis._losses import losses_of_sample
from sklearn_interpret.explanations import Condition

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret._model.rows.validation import FitArguments

# Fewest rows of a slice in the half that finds it: the mean of fewer rows is noise.
_FEWEST_ROWS = 10
# Bins by the number of conditions. With twenty, a planted slice of two conditions is
# found in 97 % of tables of 2000 rows, and with ten in 83 % (benchmarks/
# bench_error_slices.py). Three conditions have the third power of 210 boxes.
_N_BINS = {1: 20, 2: 20, 3: 10}
# Most bins of levels. Frequent levels, of a thirtieth of the rows, have one each.
_MOST_LEVELS = 30


@dataclass(frozen=True)
class ErrorSlice:
    """Conditions, and the loss of the rows for which all of them hold.

    The losses, their difference and the p-value come from one half of the rows, the
    conditions from the other half.

    Parameters
    ----------
    conditions : tuple of Condition
        The conditions, at most one for each feature.
    n_rows : float
        Number of rows of `fit` in the slice, as the sum of their weights.
    share : float
        Share of the rows of `fit`, by weight.
    n_tested : float
        Number of rows in the slice, in the half that tests it.
    mean_loss, mean_loss_elsewhere : float
        In this half, mean loss of the rows in the slice, and of all other rows.
    difference : float
        `mean_loss` less `mean_loss_elsewhere`.
    standard_error : float
        Standard error of the difference.
    low, high : float
        Confidence interval of the difference, of the level 1 - `alpha`.
    pvalue : float
        P-value of the hypothesis that the loss is not larger in the slice (not smaller
        with ``direction="better"``).
    adjusted_pvalue : float
        P-value adjusted for the number of slices that were tested.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret.diagnosis import ErrorSlice
    >>> from sklearn_interpret.explanations import Condition
    >>> old = Condition(0, "age", low=60.0)
    >>> numbers = dict(n_rows=40.0, share=0.2, n_tested=20.0, mean_loss=3.0)
    >>> tested = dict(mean_loss_elsewhere=1.0, difference=2.0, standard_error=0.5)
    >>> limits = dict(low=1.0, high=3.0, pvalue=0.001, adjusted_pvalue=0.005)
    >>> part = ErrorSlice((old,), **numbers, **tested, **limits)
    >>> print(part)
    age > 60
    >>> part.holds(np.array([[70], [50]]))
    array([ True, False])
    """

    conditions: tuple[Condition, ...]
    n_rows: float
    share: float
    n_tested: float
    mean_loss: float
    mean_loss_elsewhere: float
    difference: float
    standard_error: float
    low: float
    high: float
    pvalue: float
    adjusted_pvalue: float

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))

    def holds(self, X: Any) -> NDArray[np.bool_]:
        """Whether all conditions hold for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), bool
            True where all conditions hold.
        """
        rows = as_rows(X)
        return all_hold([self.conditions], rows, rows.n_rows)[0]


@lazy_transformer
@estimator_dataclass
class ErrorSlices(ResultsMixin, TransformerMixin, RefittingMixin):
    """Slices of the rows in which the model is worse, or better, than elsewhere.

    A slice is the set of rows that meet one to three conditions on features. Numbers
    are binned at their quantiles, levels are ordered by their mean loss, and missing
    values have a bin of their own. Slices of neighbouring bins are compared by (mean
    loss in the slice - mean loss) / standard deviation of the losses, times the square
    root of the number of rows in the slice.

    The best of many thousand slices has a large loss by chance. Therefore, the rows are
    divided into two random halves. Slices that are found in one half are tested on the
    other half, and vice versa. The p-values are adjusted for the number of tests.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect. A ``FrozenEstimator(model)`` predicts the rows given
        to `fit`, which should not be its training rows. Of any other estimator, clones
        are fitted in the folds of `cv` and predict the held-out rows, and one clone is
        fitted on all rows.
    loss : {"auto", "squared_error", "absolute_error", "log_loss", "brier", \
            "zero_one"} or callable, default="auto"
        Loss of each row. "auto" is the squared error of regressors and the log loss of
        classifiers. A callable ``loss(y, prediction)`` returns one number for each row;
        predictions of classifiers are probabilities, if the classifier has them.
    direction : {"worse", "better"}, default="worse"
        Whether to find slices of larger or of smaller loss.
    max_conditions : int, default=2
        Largest number of conditions of a slice, at most 3. With 3, the time grows with
        the third power of the number of features.
    n_slices : int, default=5
        Largest number of slices that each half finds, and largest number in `slices_`.
    min_samples : int or float, default=0.02
        Smallest number of rows of a slice in the half that searches, or its share of
        this half. Never fewer than 10 rows.
    n_bins : int, default=None
        Largest number of bins of a feature's numbers. None is 20, and 10 for three
        conditions. Features of up to 30 levels have a bin for each level.
    cv : int, cross-validation splitter, iterable of splits, or None, default=None
        Folds, as in :func:`~sklearn.model_selection.cross_val_predict`. Each group of
        the `groups` given to `fit` is in one half only.
    correction : {"holm", "bh"} or None, default="holm"
        Adjustment of the p-values. "holm" bounds the probability of one or more false
        slices, "bh" the expected share of false slices among those of small p-values.
    alpha : float, default=0.05
        Intervals have the level 1 - `alpha`.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the dtypes of DataFrames.
    random_state : int, RandomState or None, default=None
        Divides the rows into halves.
    n_jobs : int or None, default=None
        Number of workers that fit models and search halves.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The model that was fitted on all rows.
    slices_ : list of ErrorSlice
        The slices, smallest p-values first. A slice is left out if it shares more than
        half of its rows and of those of an earlier slice, both together.
    losses_ : ndarray of shape (n_samples,)
        Loss of each row; NaN for rows of weight zero, and for rows in no fold.
    mean_loss_ : float
        Mean loss of the rows.
    loss_ : str or callable
        The loss.
    n_tests_ : int
        Number of slices that were tested.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: no targets, a loss that does not fit the model, or folds that overlap.

    See Also
    --------
    ChangeAttribution : What moved the mean prediction or loss between two tables.
    sklearn_interpret.rules.SkopeRulesClassifier : Rules that are precise for a class.

    Notes
    -----
    The costs are those of the model, and a table of sums for each pair of features
    (each set of three with ``max_conditions=3``).

    A larger loss in a slice may come from noise in the targets, too few training rows,
    or a feature that the model lacks.

    References
    ----------
    Chung, Y., Kraska, T., Polyzotis, N., Tae, K. H. & Whang, S. E. (2020). Automated
    data slicing for model validation: a big data - AI integration approach. IEEE
    Transactions on Knowledge and Data Engineering 32(12).
    https://doi.org/10.1109/TKDE.2019.2916074

    Sagadeeva, S. & Boehm, M. (2021). SliceLine: fast, linear-algebra-based slice
    finding for ML model debugging. SIGMOD. https://doi.org/10.1145/3448016.3457323

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.diagnosis import ErrorSlices
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(1000, 3))
    >>> noise = np.where((X[:, 0] > 0.7) & (X[:, 1] < 0.5), 3, 1)
    >>> y = X[:, 0] + noise * rng.normal(size=1000)
    >>> slices = ErrorSlices(LinearRegression(), random_state=0).fit(X, y)
    >>> print(slices.slices_[0])
    x0 > 0.7214 and x1 <= 0.511
    """

    loss: str | Callable[..., Any] = "auto"
    direction: str = "worse"
    max_conditions: int = 2
    n_slices: int = 5
    min_samples: float = 0.02
    n_bins: int | None = None
    cv: Any = None
    correction: str | None = "holm"
    alpha: float = 0.05
    categorical_features: Any = "auto"
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    slices_: list[ErrorSlice] = field(init=False)
    losses_: NDArray[np.float64] = field(init=False)
    mean_loss_: float = field(init=False)
    loss_: str | Callable[..., Any] = field(init=False)
    n_tests_: int = field(init=False)

    _parameter_constraints = {
        **RefittingMixin._parameter_constraints,
        "loss": [StrOptions({"auto", *ROW_LOSS_NAMES}), callable],
        "direction": [StrOptions({"worse", "better"})],
        "max_conditions": [Interval(Integral, 1, 3, closed="both")],
        "n_slices": [Interval(Integral, 1, None, closed="left")],
        "min_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
        ],
        "n_bins": [Interval(Integral, 2, None, closed="left"), None],
        "correction": [StrOptions({"holm", "bh"}), None],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "categorical_features": "no_validation",
    }

    _why_targets = "a loss compares predictions with targets."

    # P-values take the sum of the weights for the number of rows.
    _errors_count_rows = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None:  # losses of classes take one target
            tags.target_tags = replace(tags.target_tags, multi_output=False)
            tags.classifier_tags = replace(tags.classifier_tags, multi_label=False)
        return tags

    def _fit_estimator(self, arguments: FitArguments, context: Any) -> None:
        y = arguments.y
        if is_classifier(self._get_estimator()) and np.asarray(y).shape[1:] == (1,):
            y = column_or_1d(y, warn=True)
        super()._fit_estimator(arguments._replace(y=y), context)

    def _make_response(self) -> RowLoss:
        return RowLoss.of_model(self.loss, self.estimator_)

    def _inspect(self, sample: Sample, row_loss: RowLoss) -> None:
        self._checked_targets(sample.y)
        self.loss_ = row_loss.loss
        self.losses_ = np.full(self._fit_input.X.shape[0], np.nan)
        self.losses_[sample.index] = losses_of_sample(self, sample, row_loss)
        has_loss = ~np.isnan(self.losses_[sample.index])
        index, weights = sample.index[has_loss], sample.weights[has_loss]
        rows = sample.rows.take(np.flatnonzero(has_loss))
        losses = self.losses_[index]
        self.mean_loss_ = float(np.average(losses, weights=weights))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        rng = np.random.default_rng(seed)
        is_first_half = self._first_half(index, rng)
        del self._fit_input  # the rows are not needed any more
        self._find_slices(rows, losses, weights, is_first_half, rng)

    def _find_slices(
        self,
        rows: Rows,
        losses: NDArray[np.float64],
        weights: NDArray[np.float64],
        is_first_half: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> None:
        """Set the slices: each half of the rows tests those of the other half."""
        sign = 1.0 if self.direction == "worse" else -1.0
        space = ConditionSpace.of_rows(rows, self.categorical_features)
        search = _Search(space, sign * losses, weights, self._limits)
        tasks = [(search, half) for half in (is_first_half, ~is_first_half)]
        candidates, test_masks = [], []
        for (_, half), found_in_half in zip(
            tasks, run(_Search.candidates, tasks, n_jobs=self.n_jobs), strict=True
        ):
            candidates += found_in_half
            test_masks += [~half] * len(found_in_half)
        conditions = [candidate.conditions for candidate in candidates]
        holds = all_hold(conditions, rows, rows.n_rows)
        results = [
            mean_difference(
                sign * losses[test_mask], weights[test_mask], mask[test_mask], rng
            )
            for mask, test_mask in zip(holds, test_masks, strict=True)
        ]
        self.n_tests_ = len(candidates)
        pvalues = np.array([result.pvalue for result in results])
        adjusted = adjusted_pvalues(pvalues, self.correction)
        differences = np.array([result.difference for result in results])
        order = np.lexsort([-differences, pvalues])
        self.slices_, self._loss_tables = [], []
        for i in self._drop_overlapping(order, holds, weights):
            n_rows = weights[holds[i]].sum()
            n_tested = weights[holds[i] & test_masks[i]].sum()
            self.slices_.append(
                ErrorSlice(
                    conditions[i],
                    n_rows=float(n_rows),
                    share=float(n_rows / weights.sum()),
                    n_tested=float(n_tested),
                    **_tested_losses(results[i], sign, self.alpha),
                    adjusted_pvalue=float(adjusted[i]),
                )
            )
            self._loss_tables.append(candidates[i].loss_table(rows, losses, weights))

    @property
    def _limits(self) -> _Limits:
        """The limits of the search."""
        n_bins = self.n_bins or _N_BINS[self.max_conditions]
        return _Limits(self.n_slices, self.max_conditions, self.min_samples, n_bins)

    def _first_half(
        self, index: NDArray[np.intp], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Flags of a random half of the rows, or of their groups."""
        groups = self._fit_input.groups
        labels = np.arange(len(index)) if groups is None else groups[index]
        _, codes = np.unique(labels, return_inverse=True)
        return (rng.permutation(codes.max() + 1) % 2 == 0)[codes]

    def _drop_overlapping(
        self,
        order: NDArray[np.intp],
        holds: NDArray[np.bool_],
        weights: NDArray[np.float64],
    ) -> list[int]:
        """The first slices of an order that share at most half of their rows."""
        selected: list[int] = []
        for i in order.tolist():
            shares = [
                weights @ (holds[i] & holds[j]) / (weights @ (holds[i] | holds[j]))
                for j in selected
            ]
            if all(share <= MOST_SHARED for share in shares):
                selected.append(i)
        return selected[: self.n_slices]

    @empty_for_no_rows
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Whether each row is in each slice.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_slices)
            1 where a row is in a slice, else 0.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        rules = [error_slice.conditions for error_slice in self.slices_]
        return all_hold(rules, rows, rows.n_rows).T.astype(np.float64)

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_]:
        """Names of the columns that `transform` returns: the conditions.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the input features where `fit` saw none.

        Returns
        -------
        ndarray of str objects
            The conditions of each slice.
        """
        check_is_fitted(self)
        names = check_feature_names_in(self, input_features)
        return np.array(
            [
                " and ".join(
                    replace(condition, name=names[condition.feature]).to_text()
                    for condition in error_slice.conditions
                )
                for error_slice in self.slices_
            ],
            dtype=object,
        )

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each slice: "slice" has the conditions, the other columns are
        the attributes of :class:`ErrorSlice`.
        """
        names = [attribute.name for attribute in fields(ErrorSlice)[1:]]
        columns = {
            name: [getattr(error_slice, name) for error_slice in self.slices_]
            for name in names
        }
        return [{"slice": list(map(str, self.slices_)), **columns}]

    def _result_facts(self) -> dict[str, Any]:
        return {
            "loss": getattr(self.loss_, "__name__", self.loss_),
            "mean loss": self.mean_loss_,
            "direction": self.direction,
            "correction": self.correction or "none",
            "tests": self.n_tests_,
        }


class _Limits(NamedTuple):
    """Limits of a search: see the parameters of `ErrorSlices`."""

    n_slices: int
    max_conditions: int
    min_samples: float
    n_bins: int


class LossTable(NamedTuple):
    """Mean losses by the bins of the first two features of a slice.

    Of a slice with a third condition, the rows are those for which it holds.
    """

    bins: list[list[Condition]]  # of one or two features
    means: NDArray[np.float64]  # (n_bins, n_bins or 1), NaN without rows
    bin_ranges: list[tuple[int, int]]  # first and last bin of the slice, by feature


class _Candidate(NamedTuple):
    """A slice that was found in one half of the rows."""

    conditions: tuple[Condition, ...]
    bins: list[list[Condition]]  # of each of its features
    bin_ranges: list[tuple[int, int]]  # its first and last bin

    def loss_table(
        self, rows: Rows, losses: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> LossTable:
        """Mean losses of rows by bins."""
        if further_conditions := [self.conditions[2:]] * (len(self.conditions) > 2):
            weights = weights * all_hold(further_conditions, rows, rows.n_rows)[0]
        first_flags, *second_flags = (
            all_hold([(condition,) for condition in bins], rows, rows.n_rows)
            for bins in self.bins[:2]
        )
        columns = second_flags[0] if second_flags else np.ones((1, rows.n_rows))
        sums = (first_flags * (weights * losses)) @ columns.T
        totals = (first_flags * weights) @ columns.T
        means = np.divide(
            sums, totals, out=np.full(sums.shape, np.nan), where=totals > 0
        )
        return LossTable(self.bins[:2], means, self.bin_ranges[:2])


@dataclass(frozen=True, eq=False)
class _Search:
    """A search for boxes with a large mean of `values`, in some of the rows."""

    space: ConditionSpace
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    limits: _Limits

    def candidates(self, half: NDArray[np.bool_]) -> list[_Candidate]:
        """The best boxes of the rows of a mask."""
        values, weights = self.values[half], self.weights[half]
        codes = self.space.table.codes[:, half]
        table = OrderedTable.of_codes(self.space, codes, values, weights)
        last_ranks = [self._last_ranks(table, j, weights) for j in range(len(codes))]
        # A missing value has a larger rank than all others, and so the next bin.
        bins = np.stack(
            [
                np.searchsorted(last, ranks)
                for last, ranks in zip(last_ranks, table.ranks, strict=True)
            ]
        )
        n_value_bins = np.array([len(last) for last in last_ranks])
        limits, total_weight = self.limits, weights.sum()
        min_weight = limits.min_samples * (
            1 if isinstance(limits.min_samples, Integral) else total_weight
        )
        boxes = BinnedRows(bins, n_value_bins, values, weights).best_boxes(
            limits.n_slices,
            limits.max_conditions,
            max(min_weight, _FEWEST_ROWS * min(total_weight / len(weights), 1)),
        )

        def condition(j: int, first: int, last: int) -> Condition:
            ranks = _ranks_of_bins(last_ranks[j], first, last)
            return table.conditions((RankInterval(j, *ranks),))[0]

        return [
            _Candidate(
                tuple(condition(*interval) for interval in box.conditions),
                [
                    [condition(j, i, i) for i in range(bins[j].max() + 1)]
                    for j, _, _ in box.conditions
                ],
                [(first, last) for _, first, last in box.conditions],
            )
            for box in boxes
        ]

    def _last_ranks(
        self, table: OrderedTable, j: int, weights: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        """The largest rank of each bin of a column's known values."""
        n_values, ranks = int(table.n_known[j]), table.ranks[j].astype(np.intp)
        n_bins = self.limits.n_bins
        if self.space.nominal[j]:
            n_bins = max(n_bins, _MOST_LEVELS)
        if n_values <= n_bins:
            return np.arange(n_values)
        has_value = ranks < n_values
        sums: NDArray[Any] = np.bincount(ranks[has_value], weights[has_value], n_values)
        return np.array([last for _, last in quantile_bins(sums, n_bins)])


def _ranks_of_bins(
    last_ranks: NDArray[np.intp], first: int, last: int
) -> tuple[int, int]:
    """First and last rank of an interval of bins; the one after all is missing."""
    if first == len(last_ranks):
        missing = int(last_ranks[-1]) + 1 if len(last_ranks) else 0
        return missing, missing
    return int(last_ranks[first - 1]) + 1 if first else 0, int(last_ranks[last])


def _tested_losses(result: MeanDifference, sign: float, alpha: float) -> dict[str, Any]:
    """Numbers of a slice from its test on values of a sign."""
    difference = sign * result.difference
    half_width = t.isf(alpha / 2, result.dof) * result.standard_error
    return {
        "mean_loss": sign * result.inside,
        "mean_loss_elsewhere": sign * result.outside,
        "difference": difference,
        "standard_error": result.standard_error,
        "low": float(difference - half_width),
        "high": float(difference + half_width),
        "pvalue": result.pvalue,
    }
