"""k-medoids: clusters around rows of the data (FasterPAM: Schubert & Rousseeuw, 2021).

The estimator computes distances, of all rows or of some on demand; the search for
medoids is in `_core`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.linalg import pinvh
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.kernels.distances import gower_distances
from sklearn_interpret._core.kernels.medoids import alternate, build, fasterpam
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    fit_context,
    plain_state,
    set_plain_state,
)
from sklearn_interpret._model._sklearn_compat import (
    PAIRWISE_METRICS,
    Interval,
    StrOptions,
    warn,
)
from sklearn_interpret._model.parallel import limit_blas, rows_in_memory, slices
from sklearn_interpret._model.rows import validation
from sklearn_interpret._model.rows.arrays import with_days
from sklearn_interpret._model.rows.features import shortened
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret.prototypes._kernels import GowerColumns
from sklearn_interpret.prototypes._tables import add_row_values

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Metrics of scikit-learn that take sparse matrices.
_SPARSE_METRICS = ("cityblock", "cosine", "euclidean", "l1", "l2", "manhattan")
# Sums of distances whose relative difference is smaller count as equal.
_RELATIVE_ROUNDING = 1e-12
# With more rows than this, the search takes Euclidean distances of single precision.
# Chosen by hand: with fewer rows, double precision costs little.
_DOUBLE_PRECISION_ROWS = 1000
# Rows whose distances of single precision are computed together: they fit the cache of
# a core.
_STRIP_ROWS = 64
# Where the mean distance from medoids is a smaller share of the largest distance, the
# search is repeated in double precision: rounding would decide it.
_SINGLE_PRECISION_SHARE = 1e-3


@lazy_transformer
@dataclass(kw_only=True, eq=False, repr=False)
class KMedoids(
    ResultsMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Clusters around medoids: rows that stand for those near them.

    The sum of the distances of all rows from their nearest medoid is made small. A
    medoid is a row of the data, which can be looked at, and any distance will do.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of medoids.
    metric : str or callable, default="euclidean"
        A metric of :func:`~sklearn.metrics.pairwise_distances`, by name, or a symmetric
        function of two rows. `"gower"` takes data frames with categories: the mean
        over the columns of differences, of numbers in units of their range, of
        categories 0 or 1; what is missing is one unit from all that is not. For
        `"precomputed"`, X is the symmetric matrix of distances between the rows.
    method : {"fasterpam", "alternate"}, default="fasterpam"
        `"fasterpam"` swaps medoids for other rows until no single swap lowers the sum.
        `"alternate"` takes turns in assigning rows and finding the best row of each
        cluster: it is faster, and stops at larger sums.
    init : {"build", "random"}, default="build"
        Where to start first: from rows chosen one after the other, each to lower the
        sum the most, or from rows at random.
    n_init : int, default=3
        Number of starts: the first as `init` says, the others from rows at random. The
        medoids with the smallest sum are kept.
    max_iter : int, default=100
        Largest number of passes over all rows, from each start.
    random_state : int, RandomState or None, default=None
        Source of the random starts.

    Attributes
    ----------
    prototype_indices_ : ndarray of shape (n_clusters,), int
        Positions of the medoids among the rows.
    cluster_centers_ : {ndarray, sparse matrix, DataFrame} or None
        The medoids; None where distances are precomputed.
    labels_ : ndarray of shape (n_samples,), int
        Which medoid is nearest to each row; of equally near ones the first.
    inertia_ : float
        Weighted sum of the distances of rows from their nearest medoid.
    n_iter_ : int
        Number of passes over all rows, from the start whose medoids are kept.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X has names that are all strings.

    Warns
    -----
    ConvergenceWarning
        Medoids still changed after `max_iter` times, or there are fewer distinct rows
        than clusters.

    See Also
    --------
    NearestPrototypeClassifier : Predicts the class of the nearest prototype.
    sklearn.cluster.KMeans : Clusters around means.

    Notes
    -----
    Columns are not scaled: put a :class:`~sklearn.preprocessing.StandardScaler` before,
    where their units differ. A row of weight two is as good as two rows; one of weight
    zero gets a label, and is no medoid.

    The matrix of distances is held where it takes less than an eighth of scikit-learn's
    `working_memory`. Else its rows are computed again each time that they are tried.
    The search takes Euclidean distances of more than 1000 dense rows in single
    precision, so that sums that differ by a millionth may be equal to it. It is done
    again in double precision where the mean distance from the medoids is below a
    thousandth of the largest.

    Of each block of candidates (some dozens, up to 64) the best ones are swapped in,
    where Schubert and Rousseeuw make each swap that helps as it is found. A search ends
    where no single swap lowers the sum, which may be at different sums from different
    starts: `n_init=1` takes less than half of the default's time.

    References
    ----------
    Schubert, E. & Rousseeuw, P. J. (2021). Fast and eager k-medoids clustering: O(k)
    runtime improvement of the PAM, CLARA, and CLARANS algorithms. Information Systems
    101. https://doi.org/10.1016/j.is.2021.101804

    Gower, J. C. (1971). A general coefficient of similarity and some of its properties.
    Biometrics 27(4). https://doi.org/10.2307/2528823

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.prototypes import KMedoids
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> k_medoids = KMedoids(n_clusters=3).fit(X)
    >>> k_medoids.prototype_indices_
    array([ 78,   7, 112])
    >>> k_medoids.cluster_centers_["petal length (cm)"].tolist()
    [4.5, 1.5, 5.5]
    """

    n_clusters: int = field(default=8, kw_only=False)
    metric: str | Callable[..., float] = "euclidean"
    method: str = "fasterpam"
    init: str = "build"
    n_init: int = 3
    max_iter: int = 100
    random_state: int | np.random.RandomState | None = None

    prototype_indices_: NDArray[np.intp] = field(init=False)
    cluster_centers_: Any = field(init=False)
    labels_: NDArray[np.intp] = field(init=False)
    inertia_: float = field(init=False)
    n_iter_: int = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[np.object_] = field(init=False)

    __getstate__, __setstate__ = plain_state, set_plain_state

    _parameter_constraints = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({*PAIRWISE_METRICS, "gower", "precomputed"}), callable],
        "method": [StrOptions({"fasterpam", "alternate"})],
        "init": [StrOptions({"build", "random"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    # The inertia is a sum over rows.
    _weights_count_rows = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric in _SPARSE_METRICS
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric in ("gower", "nan_euclidean")
        tags.input_tags.categorical = self.metric == "gower"
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    @limit_blas(1)
    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the medoids.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows; distances between them, (n_samples, n_samples), if these are
            precomputed.
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : KMedoids
            The fitted estimator.
        """
        rows = validation.check_rows(self, X, reset=True)
        weights = validation.check_weights(sample_weight, rows)
        index = np.flatnonzero(weights)
        if self.n_clusters > len(index):
            some_weigh_nothing = len(index) < rows.n_rows
            of_weight = " of positive weight" if some_weigh_nothing else ""
            raise ValueError(
                f"n_clusters={self.n_clusters} is too large: there must be as many "
                f"rows{of_weight}, and there are n_samples={len(index)}."
            )
        self._gower, categorical = None, rows.detected_categorical
        if self.metric == "gower":
            self._gower = GowerColumns(rows, weights, categorical)
        points = self._encode_rows(rows)
        self._metric_distances = _metric_distances(self.metric, points, categorical)
        medoids = self._search(points, index, weights[index])
        self.prototype_indices_ = index[medoids]
        self._centers = self.cluster_centers_ = None
        if self.metric != "precomputed":
            self._centers = points[self.prototype_indices_]
            self.cluster_centers_ = rows.native_at(self.prototype_indices_)
        distances = self._medoid_distances(points)
        self.labels_ = distances.argmin(axis=1)
        self.inertia_ = float(distances.min(axis=1) @ weights)
        n_distinct = len(np.unique(self.labels_))
        if n_distinct < self.n_clusters:
            warn(
                f"Use fewer than n_clusters={self.n_clusters} clusters: only "
                f"{n_distinct} have rows, for the other medoids are copies of theirs.",
                ConvergenceWarning,
            )
        return self

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each medoid: columns "row" (its position), "n_rows" (rows of its
        cluster), and its values by the names of the features, unless distances are
        precomputed.
        """
        n_rows = np.bincount(self.labels_, minlength=len(self.prototype_indices_))
        columns = {"row": self.prototype_indices_, "n_rows": n_rows}
        if self.cluster_centers_ is None:
            return [columns]
        return [add_row_values(columns, self.cluster_centers_)]

    def _result_facts(self) -> dict[str, Any]:
        return {"inertia": self.inertia_}

    def _encode_rows(self, rows: Rows) -> _Array:
        """Rows as numbers, as the metric takes them."""
        if self._gower is not None:
            return self._gower.encode(rows)
        try:
            return check_array(
                with_days(rows),
                accept_sparse="csr" if self.metric in _SPARSE_METRICS else False,
                dtype=[np.float64, np.bool_],
                ensure_all_finite=self.metric != "nan_euclidean" or "allow-nan",
                estimator=self,
                input_name="X",
            )
        except ValueError as error:
            categorical = rows.detected_categorical
            if not categorical.any():
                raise
            names = shortened(np.array(rows.names)[categorical].tolist())
            raise ValueError(
                f"metric={self.metric!r} takes numbers, and these columns hold "
                f'categories: {names}; take metric="gower", or encode them. {error}'
            ) from error

    def _search(
        self, points: _Array, index: NDArray[np.intp], weights: _Array
    ) -> NDArray[np.intp]:
        """Positions of the medoids among the rows of positive weight, at `index`."""
        if self.metric == "precomputed":
            _check_distances(points)
            points = points if len(index) == len(points) else points[index][:, index]
            return self._search_from_starts(points, weights)
        points = points[index]
        is_dense = not sparse.issparse(points)
        has_many_rows = len(index) > _DOUBLE_PRECISION_ROWS
        if self.metric == "euclidean" and is_dense and has_many_rows:
            medoids = self._search_from_starts(_EuclideanDistances(points), weights)
            distances = self._metric_distances(points[medoids], points)
            mean = np.average(distances.min(axis=0), weights=weights)
            if mean > _SINGLE_PRECISION_SHARE * distances.max():
                return medoids
        distances = _LazyDistances(points, self._metric_distances)
        return self._search_from_starts(distances, weights)

    def _search_from_starts(
        self, matrix: _Array | _LazyDistances | _EuclideanDistances, weights: _Array
    ) -> NDArray[np.intp]:
        """Positions of the medoids with the least sum of distances, of all starts."""
        distances: Any = matrix
        distance_bytes = 4 if isinstance(matrix, _EuclideanDistances) else 8
        if rows_in_memory(distance_bytes * len(weights)) >= len(weights):
            distances = matrix[:]
        rng, n_rows = check_random_state(self.random_state), len(weights)
        starts = [
            rng.permutation(n_rows)[: self.n_clusters] for _ in range(self.n_init)
        ]
        if self.init == "build":
            starts[0] = build(distances, weights, self.n_clusters)
        if self.method == "fasterpam":
            results = fasterpam(distances, weights, starts, self.max_iter)
        else:
            results = [
                alternate(distances, weights, start, self.max_iter) for start in starts
            ]
        sums = [
            distances[np.sort(medoids)].min(axis=0) @ weights for medoids, *_ in results
        ]
        # Of equal sums the first is taken.
        best = np.argmax(sums <= min(sums) * (1 + _RELATIVE_ROUNDING))
        medoids, self.n_iter_, has_converged = results[best]
        if not has_converged:
            warn(
                "Raise max_iter: medoids still changed after "
                f"max_iter={self.max_iter} times.",
                ConvergenceWarning,
            )
        return medoids

    def _medoid_distances(self, points: _Array) -> _Array:
        """Distances from the medoids, (n_rows, n_clusters)."""
        if self.metric == "precomputed":
            return points[:, self.prototype_indices_]
        is_dense = not (sparse.issparse(points) or sparse.issparse(self._centers))
        if self.metric == "euclidean" and is_dense:
            # Products of matrices suffice for the search, but err by 1e-8 for copies.
            return cdist(points, self._centers)
        return self._metric_distances(points, self._centers)

    @property
    def _n_features_out(self) -> int:
        return len(self.prototype_indices_)

    @validation.empty_for_no_rows
    def transform(self, X: Any) -> _Array:
        """Distances of rows from the medoids.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows; their distances from the rows of `fit`, if these are precomputed.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Distances.
        """
        check_is_fitted(self, "prototype_indices_")
        rows = validation.check_rows(self, X, reset=False)
        return self._medoid_distances(self._encode_rows(rows))

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Which medoid is nearest to each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows; their distances from the rows of `fit`, if these are precomputed.

        Returns
        -------
        ndarray of shape (n_samples,), int
            Positions among the medoids; of equally near ones the first.
        """
        return self.transform(X).argmin(axis=1)


class _LazyDistances:
    """Rows of the matrix of distances, computed on each access."""

    def __init__(self, points: _Array, metric_distances: Callable[..., Any]) -> None:
        self._points, self._metric_distances = points, metric_distances

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> _Array:
        return self._metric_distances(self._points[rows], self._points)


class _EuclideanDistances:
    """Rows of the matrix of distances in single precision, up to a factor."""

    def __init__(self, points: _Array) -> None:
        # Scaled and centred: no square overflows, and little is lost by cancellation.
        points = points / (np.abs(points).max() or 1.0)
        points -= points.mean(axis=0)
        # |x - y|^2 = -2 x'y + |x|^2 + |y|^2 as one product of matrices.
        squares, constant = np.einsum("ij,ij->i", points, points), np.ones(len(points))
        self._left_factor = np.column_stack([-2 * points, squares, constant])
        self._right_factor = np.column_stack([points, constant, squares]).T

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> NDArray[np.float32]:
        factor = self._left_factor[rows]
        distances = np.empty((len(factor), len(self._left_factor)), dtype=np.float32)
        for strip in slices(len(factor), _STRIP_ROWS):
            distances[strip] = factor[strip] @ self._right_factor
        return np.sqrt(np.maximum(distances, 0, out=distances), out=distances)


def _metric_distances(
    metric: str | Callable[..., float], points: _Array, categorical: NDArray[np.bool_]
) -> Callable[..., Any]:
    """The function of two tables that gives all distances between their rows."""
    metric_params = {}
    if metric == "gower":
        return partial(gower_distances, categorical=categorical)
    if metric == "seuclidean":
        variances = points.var(axis=0)
        metric_params["V"] = np.where(variances > 0, variances, 1.0)
    if metric == "mahalanobis":
        metric_params["VI"] = pinvh(np.atleast_2d(np.cov(points.T, bias=True)))
    return partial(_finite_distances, metric=metric, **metric_params)


def _finite_distances(
    A: _Array, B: _Array, metric: Any, **metric_params: Any
) -> _Array:
    """All distances between two tables' rows, which must be finite."""
    function = partial(pairwise_distances, metric=metric, **metric_params)
    if callable(metric):
        function = partial(validation.call_parameter, f"metric={metric!r}", function)
    distances = function(A, B)
    # Distances of scikit-learn's own metrics may be negative by rounding.
    has_negative = callable(metric) and (distances < 0).any()
    if has_negative or not np.isfinite(distances).all():
        raise ValueError(
            f"metric={metric!r} gives distances between some rows of X that are no "
            "finite numbers, or negative."
        )
    return distances


def _check_distances(matrix: _Array) -> None:
    """Refuse a matrix that does not hold distances between rows."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            "metric='precomputed' takes the square matrix of distances between all "
            f"rows; got X of shape {matrix.shape}."
        )
    if matrix.min() < 0 or not np.allclose(matrix, matrix.T):
        raise ValueError(
            "metric='precomputed' takes a symmetric matrix of distances, none of them "
            f"negative; the smallest is {matrix.min():g}."
        )
