"""Prototypes and criticisms by the maximum mean discrepancy, MMD (Kim et al., 2016).

All rows, or those of each class, are a group. Prototypes of a group are chosen greedily
so that the MMD between them and the group is small; criticisms where the witness
function is large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from sklearn_interpret._core.kernels.mmd import (
    select_criticisms,
    select_prototypes,
    strip_of_means,
)
from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import (
    BaseEstimator,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    fit_context,
    plain_state,
    set_plain_state,
)
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.parallel import run_in_threads, slices
from sklearn_interpret._model.progress import shows_progress, with_progress
from sklearn_interpret._model.rows import validation
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_categorical, shortened
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.sample import Sample, draw_rows
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.prototypes._kernels import (
    CallableKernel,
    gaussian_kernel,
    gower_kernel,
    precomputed_kernel,
)
from sklearn_interpret.prototypes._tables import add_row_values

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret.prototypes._kernels import Kernel

# Rows whose pairs give the median distance. Chosen by hand: with more rows the median
# varies little.
_MEDIAN_ROWS = 500
# Rows and columns of a block of the kernel, which fits the cache of a core.
_BLOCK_ROWS = 256
# Discrepancies below this share of the kernel's diagonal are zero.
_RELATIVE_ROUNDING = 1e-15


@lazy_transformer
@dataclass(kw_only=True, eq=False, repr=False)
class MMDCritic(
    ResultsMixin,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Prototypes, rows that represent all, and criticisms, rows poorly represented.

    Prototypes S are rows whose mean in the feature space of a kernel k is near to that
    of all rows; they are chosen one by one, so that each makes the squared maximum mean
    discrepancy as small as it can:

    .. math:: MMD^2 = \\sum_{i, j} w_i w_j k(x_i, x_j)
        - \\frac{2}{|S|} \\sum_{i, j \\in S} w_i k(x_i, x_j)
        + \\frac{1}{|S|^2} \\sum_{i, j \\in S} k(x_i, x_j)

    with weights w that sum to one. Criticisms C are other rows, also chosen one by one,
    at which the witness function, the difference of the two means, is large, and which
    are far from each other:

    .. math:: L(C) = \\sum_{l \\in C} \\Big| \\sum_i w_i k(x_i, x_l)
        - \\frac{1}{|S|} \\sum_{j \\in S} k(x_j, x_l) \\Big| + \\log\\det K_{CC}

    Parameters
    ----------
    n_prototypes : int, default=10
        Number of prototypes; with `by_class`, of each class. Fewer where there are
        fewer distinct rows.
    n_criticisms : int, default=10
        Number of criticisms; with `by_class`, of each class. Fewer where no distinct
        rows are left.
    kernel : {"auto", "rbf", "gower", "precomputed"} or callable, default="auto"
        "rbf" is ``exp(-gamma * squared Euclidean distance)``. "gower" is
        ``exp(-gamma * Gower's distance)``, which is the mean over the columns of
        differences: of numbers in units of their range, of categories 0 or 1; what is
        missing differs by 1 from all that is not. "auto" is "gower" where columns are
        categorical, and else "rbf". With "precomputed", X is the symmetric kernel
        between all rows, and for `transform` that between new rows and those. A
        callable ``f(A, B)`` takes two containers of rows, and returns the array of all
        values between them; it has to be symmetric and positive semi-definite.
    gamma : "median" or float, default="median"
        Of "rbf" and "gower". "median" is ``1 / (2 * median)`` of the positive distances
        (those in the kernel) of all pairs of rows, or of 500 rows drawn from more.
    standardize : bool, default=True
        Whether "rbf" divides columns by their standard deviation. Without it, columns
        have to be in one unit, as pixels are.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    criticism_regularizer : {"logdet", None}, default="logdet"
        Whether the log-determinant, which keeps criticisms apart, is added.
    by_class : bool, default=False
        Whether the rows of each class get prototypes and criticisms of their own, as
        if there were no others, with one gamma.
    embedding : callable or None, default=None
        ``f(X)``, representations of rows that replace their columns: outputs or a
        hidden layer of a model, or the leaves of a forest (its `apply`, with
        ``categorical_features=slice(None)``).
    random_state : int, RandomState or None, default=None
        Draws the rows of the median, where there are more than 500.
    n_jobs : int or None, default=None
        Workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    prototype_indices_ : ndarray of int of shape (n_prototypes,)
        Positions of the prototypes in X, in the order in which they were chosen; with
        `by_class`, class after class in sorted order.
    prototypes_ : array or DataFrame of n_prototypes rows
        The prototypes, in the container given to `fit`; rows of a DataFrame keep their
        labels.
    criticism_indices_ : ndarray of int of shape (n_criticisms,)
        Positions of the criticisms, in the same order.
    criticisms_ : array or DataFrame of n_criticisms rows
        The criticisms.
    mmd_ : ndarray of shape (n_prototypes,)
        The squared maximum mean discrepancy after each prototype, from its class.
    gamma_ : float or None
        The gamma in use; None for other kernels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where the input has string column names.

    Raises
    ------
    ValueError
        In `fit`: missing or infinite numbers with "rbf", categories with "rbf", a
        precomputed kernel that is not square and symmetric, values of a callable that
        are no such matrix, `by_class` without y.

    Notes
    -----
    Among rows with the same score, to rounding (1e-12 of the kernel's diagonal), the
    first is chosen. A copy of a prototype or of a criticism is never chosen.

    The kernel of all pairs of rows is computed in blocks of 256 rows and columns; each
    further step takes one column of it. Memory is a few numbers for each row,
    and one more for each criticism.

    References
    ----------
    Kim, Khanna & Koyejo (2016), Examples are not enough, learn to criticize! Criticism
    for interpretability, Advances in Neural Information Processing Systems 29.

    Gower (1971), A general coefficient of similarity and some of its properties,
    Biometrics 27 (4), https://doi.org/10.2307/2528823

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.prototypes import MMDCritic
    >>> X, y = load_iris(return_X_y=True)
    >>> critic = MMDCritic(n_prototypes=4, n_criticisms=2).fit(X)
    >>> y[critic.prototype_indices_]
    array([1, 1, 0, 2])
    >>> critic.criticisms_
    array([[6.4, 2.8, 5.6, 2.1],
           [5.7, 4.4, 1.5, 0.4]])
    """

    n_prototypes: int = field(default=10, kw_only=False)
    n_criticisms: int = 10
    kernel: str | Callable[..., Any] = "auto"
    gamma: str | float = "median"
    standardize: bool = True
    categorical_features: str | Sequence[Any] | None = "auto"
    criticism_regularizer: str | None = "logdet"
    by_class: bool = False
    embedding: Callable[[Any], ArrayLike] | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    prototype_indices_: NDArray[np.intp] = field(init=False)
    prototypes_: Any = field(init=False)
    criticism_indices_: NDArray[np.intp] = field(init=False)
    criticisms_: Any = field(init=False)
    mmd_: NDArray[np.float64] = field(init=False)
    gamma_: float | None = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[np.object_] = field(init=False)

    __getstate__, __setstate__ = plain_state, set_plain_state

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseInspector._parameter_constraints,
        "n_prototypes": [Interval(Integral, 1, None, closed="left")],
        "n_criticisms": [Interval(Integral, 0, None, closed="left")],
        "kernel": [StrOptions({"auto", "rbf", "gower", "precomputed"}), callable],
        "gamma": [StrOptions({"median"}), Interval(Real, 0, None, closed="neither")],
        "standardize": ["boolean"],
        "categorical_features": "no_validation",
        "criticism_regularizer": [StrOptions({"logdet"}), None],
        "by_class": ["boolean"],
        "embedding": [callable, None],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.by_class
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.allow_nan = self.kernel == "gower"
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    @shows_progress
    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Choose prototypes and criticisms among the rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows, or the kernel between them.
        y : array-like of shape (n_samples,), default=None
            Class labels, for `by_class`; otherwise ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights: a row of weight two counts as if it stood twice, and
            one of weight zero is not chosen.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rows = validation.check_rows(self, X, reset=True)
        labels = self._check_labels(rows, y) if self.by_class else None
        sample = Sample.of_positive_weight(
            rows, labels, validation.check_weights(sample_weight, rows)
        )
        kernel = self._make_kernel(sample, rows.n_rows)
        self.gamma_ = getattr(kernel, "gamma", None)
        self._groups = list(self._make_groups(kernel, sample))
        selections = [self._select_rows(group) for group in with_progress(self._groups)]
        prototypes, criticisms, mmd = map(np.concatenate, zip(*selections, strict=True))
        self.mmd_ = mmd
        self.prototype_indices_ = sample.index[prototypes]
        self.prototypes_ = rows.native_at(self.prototype_indices_)
        self.criticism_indices_ = sample.index[criticisms]
        self.criticisms_ = rows.native_at(self.criticism_indices_)
        self._prototypes = kernel.take(prototypes)
        return self

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each: columns "kind", "row" (its position) and its values, by the
        names of the features.
        """
        kinds = {
            "prototype": (self.prototype_indices_, self.prototypes_),
            "criticism": (self.criticism_indices_, self.criticisms_),
        }
        return [
            add_row_values({"kind": np.repeat(kind, len(index)), "row": index}, rows)
            for kind, (index, rows) in kinds.items()
            if len(index)
        ]

    @property
    def _n_features_out(self) -> int:
        return len(self.prototype_indices_)

    @validation.empty_for_no_rows
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Kernel between rows and the prototypes.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows; with a precomputed kernel, that between them and the rows of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_prototypes)
            The larger, the more alike; 1 at the prototype itself with "rbf" and
            "gower".
        """
        rows = self._embed(validation.check_rows(self, X, reset=False))
        return self._prototypes.cross(rows)(slice(None))

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Which prototype is nearest to each row.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows; with a precomputed kernel, that between them and the rows of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,), int
            Positions in `prototypes_`, by the distance that the kernel stands for.
        """
        rows = self._embed(validation.check_rows(self, X, reset=False))
        return self._prototypes.nearest(rows)

    def witness(self, X: Any, y: ArrayLike | None = None) -> NDArray[np.float64]:
        """Mean of the kernel over the rows of `fit`, less that over the prototypes.

        Where it is positive, prototypes are too few, and where negative, too many.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows; with a precomputed kernel, that between them and the rows of `fit`.
        y : array-like of shape (n_samples,), default=None
            With `by_class`, the class whose rows and prototypes each row is compared
            with; otherwise ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            The witness function.
        """
        rows = validation.check_rows(self, X, reset=False)
        indices = [np.arange(rows.n_rows)]
        if self.by_class:
            indices = self._rows_of_groups(self._check_labels(rows, y))
        rows, values = self._embed(rows), np.empty(rows.n_rows)
        for group, index in zip(self._groups, indices, strict=True):
            for block in slices(len(index), _BLOCK_ROWS):
                values[index[block]] = group.witness(rows.take(index[block]))
        return values

    def _rows_of_groups(self, labels: NDArray[Any]) -> list[NDArray[np.intp]]:
        """Positions of the rows of each class; unknown classes are refused."""
        group_labels = [group.label for group in with_progress(self._groups)]
        unknown = labels[~np.isin(labels, group_labels)]
        if len(unknown):
            raise ValueError(
                f"y has the class {unknown[0]}, which fit has not seen; it has seen "
                f"{shortened(np.array(group_labels).tolist())}."
            )
        return [np.flatnonzero(labels == label) for label in group_labels]

    def _check_labels(self, rows: Rows, y: ArrayLike | None) -> NDArray[Any]:
        """Class labels of rows."""
        if y is None:
            raise ValueError(
                "by_class=True requires y to be passed, the class of each row, but the "
                "target y is None."
            )
        validation.check_not_missing(y)
        check_consistent_length(rows.native, y)
        labels = column_or_1d(y)
        check_classification_targets(labels)
        return labels

    def _make_kernel(self, sample: Sample, n_rows: int) -> Kernel:
        """The kernel of the rows of the sample, among the `n_rows` of `fit`."""
        if self.kernel == "precomputed":
            if self.embedding is not None:
                raise ValueError(
                    f"embedding={self.embedding!r} has no rows to embed with "
                    'kernel="precomputed": pass None, or another kernel.'
                )
            return precomputed_kernel(sample, n_rows)
        rows = self._embed(sample.rows)
        if callable(self.kernel):
            return CallableKernel(self.kernel, rows)
        categorical = resolve_categorical(self.categorical_features, rows)
        if self.kernel == "gower" or (self.kernel == "auto" and categorical.any()):
            kernel = gower_kernel(rows, sample.weights, categorical)
        elif categorical.any():
            names = shortened(np.array(rows.names)[categorical].tolist())
            raise ValueError(
                f'kernel="rbf" takes numbers, and these columns hold categories: '
                f'{names}; take "gower" or "auto", or encode them.'
            )
        else:
            kernel = gaussian_kernel(rows, sample.weights, standardize=self.standardize)
        if self.gamma != "median":
            return replace(kernel, gamma=float(self.gamma))
        index = draw_rows(rows.n_rows, _MEDIAN_ROWS, random_state=self.random_state)
        return replace(
            kernel, gamma=kernel.take(index).median_gamma(sample.weights[index])
        )

    def _embed(self, rows: Rows) -> Rows:
        """Representations of rows by `embedding`, as `Rows`."""
        if self.embedding is None:
            return rows
        embed = partial(_call_embedding, self.embedding)
        embedded = validation.call_parameter(
            f"embedding={self.embedding!r}", embed, rows.native
        )
        if embedded.n_rows != rows.n_rows or embedded.n_columns == 0:
            raise ValueError(
                f"embedding={self.embedding!r} must give numbers for each of "
                f"{rows.n_rows} rows; got shape {embedded.native.shape}."
            )
        return embedded

    def _make_groups(self, kernel: Kernel, sample: Sample) -> Iterator[_Group]:
        """All rows, or those of each class."""
        if not self.by_class:
            index = np.arange(sample.rows.n_rows)
            yield _Group(None, index, kernel, shares_of(sample.weights))
            return
        for label in np.unique(sample.y):
            index = np.flatnonzero(sample.y == label)
            shares = shares_of(sample.weights[index])
            yield _Group(label, index, kernel.take(index), shares)

    def _select_rows(
        self, group: _Group
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """Positions of prototypes and criticisms of a group; MMD^2 after each.

        Sets the prototypes of the group.
        """
        kernel, shares = group.kernel, group.shares
        diagonal, means = kernel.diagonal(), self._kernel_means(kernel, shares)

        def kernel_column(row: int) -> NDArray[np.float64]:
            return kernel.block(slice(None), slice(row, row + 1))[:, 0]

        prototypes, objectives, similarity_sums, is_free = select_prototypes(
            kernel_column, means, diagonal, self.n_prototypes
        )
        criticisms = select_criticisms(
            kernel_column,
            means - similarity_sums / len(prototypes),  # the witness function
            diagonal,
            is_free,
            self.n_criticisms,
            spread=self.criticism_regularizer is not None,
        )
        group.prototypes = kernel.take(prototypes)
        mmd = shares @ means - objectives
        mmd[np.abs(mmd) < _RELATIVE_ROUNDING * np.abs(diagonal).max()] = 0
        return group.index[prototypes], group.index[criticisms], mmd

    def _kernel_means(
        self, kernel: Kernel, shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Mean of the kernel over all rows, for each row."""
        kernel_block, block_size, n_rows = kernel.block, _BLOCK_ROWS, len(shares)
        tasks = [
            (kernel_block, shares, rows, block_size)
            for rows in slices(n_rows, block_size)
        ]
        strips = run_in_threads(strip_of_means, tasks, n_jobs=self.n_jobs)
        means = np.zeros(n_rows)
        for strip in strips:  # a strip has the means from some row to the last
            means[n_rows - len(strip) :] += strip
        return means


def _call_embedding(embedding: Callable[..., Any], native: Any) -> Rows:
    """The representations that a user's function gives for rows, as `Rows`."""
    values = embedding(native)
    return as_rows(np.reshape(values, (-1, 1)) if np.ndim(values) < 2 else values)


@dataclass
class _Group:
    """Rows that get prototypes of their own: the rows of a class, or all rows.

    Parameters
    ----------
    label : object
        The class.
    index : ndarray of int of shape (n,)
        Positions of the rows.
    kernel : kernel of n rows
        Their kernel.
    shares : ndarray of shape (n,)
        Their shares of the weight.
    prototypes : kernel of m rows, default=None
        That of their prototypes.
    """

    label: Any
    index: NDArray[np.intp]
    kernel: Kernel
    shares: NDArray[np.float64]
    prototypes: Any = None

    def witness(self, rows: Rows) -> NDArray[np.float64]:
        """The witness function at some rows: (n_rows,)."""
        kernel_block = self.kernel.cross(rows)
        mean = sum(
            kernel_block(block) @ self.shares[block]
            for block in slices(len(self.shares), _BLOCK_ROWS)
        )
        return mean - self.prototypes.cross(rows)(slice(None)).mean(axis=1)
