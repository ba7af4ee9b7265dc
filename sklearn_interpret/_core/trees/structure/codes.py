"""Integer codes of feature values, in which every split of an ensemble is exact."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from sklearn_interpret._core.statistics.grids import AT_ONCE, search_among


@dataclass(frozen=True, eq=False)
class SplitCodes:
    """Feature values as small integers that every split compares alike.

    All that an ensemble can tell of a feature's value is between which of its own
    thresholds the value lies. So each value gets a code:

    - *a number*: how many of the feature's distinct thresholds lie below it, from 0 to
      ``len(thresholds[j])``. With ``rank`` the position of the split's threshold among
      them, ``x <= threshold`` is ``code <= rank``. Where the ensemble is strict, those
      equal to x count as below, and ``x < threshold`` is ``code <= rank`` likewise;
    - *a category*: its position;
    - *a missing value*: ``missing[j]``, the last code. So are NaN, and categories
      that are negative or beyond all that any split knows.

    The casts and comparisons are made here, once per value, as the ensemble's library
    makes them: in its precision, -0.0 equal to 0.0. All else works on codes: left at a
    numeric split are the codes ``0..rank``, right are ``rank + 1..len(thresholds[j])``,
    and ``missing[j]`` goes where the node says.

    Parameters
    ----------
    thresholds : tuple of ndarray
        Sorted distinct thresholds of each feature, float64; empty for categories.
    n_codes : ndarray of shape (n_features,), intp
        Number of codes of each feature, missing included.
    categorical : ndarray of shape (n_features,), bool
        Which features are split as categories.
    rank : ndarray of shape (n_nodes,), intp
        Position of the node's threshold among its feature's; -1 for leaves and
        categorical splits.
    missing_at : ndarray of shape (n_nodes,), intp
        Code of missing values of the feature that the node splits on; -1 at leaves.
    precision : numpy.dtype
        What numbers are cast to before they are compared.
    strict : bool
        Whether a number equal to a threshold goes to the right.
    """

    thresholds: tuple
    n_codes: np.ndarray
    categorical: np.ndarray
    rank: np.ndarray
    missing_at: np.ndarray
    precision: np.dtype
    strict: bool

    @classmethod
    def of_splits(
        cls,
        feature,
        threshold,
        category_set,
        categories_known,
        *,
        n_features,
        precision,
        strict,
    ):
        """Codes for the splits of an ensemble, its arrays given.

        Parameters
        ----------
        feature, threshold, category_set : ndarray of shape (n_nodes,)
            As in `TreeEnsemble`.
        categories_known : ndarray of shape (n_sets, n_categories), bool
            As there.
        n_features : int
            Number of features.
        precision : numpy.dtype
            What numbers are cast to.
        strict : bool
            Whether a number equal to a threshold goes to the right.

        Returns
        -------
        SplitCodes
        """
        rank = np.full(len(feature), -1, dtype=np.intp)
        thresholds = [np.empty(0) for _ in range(n_features)]
        for j, nodes in _by_group(feature, category_set < 0):
            thresholds[j], rank[nodes] = np.unique(
                threshold[nodes], return_inverse=True
            )
        n_values = np.array([len(known) + 1 for known in thresholds], dtype=np.intp)
        categorical = np.zeros(n_features, dtype=bool)
        for j, nodes in _by_group(feature, category_set >= 0):
            known = categories_known[np.unique(category_set[nodes])].any(axis=0)
            categorical[j] = True
            n_values[j] = np.flatnonzero(known).max(initial=-1) + 1
        missing_at = np.where(feature < 0, -1, np.append(n_values, -1)[feature])
        return cls(
            thresholds=tuple(thresholds),
            n_codes=n_values + 1,
            categorical=categorical,
            rank=rank,
            missing_at=missing_at,
            precision=np.dtype(precision),
            strict=strict,
        )

    @property
    def missing(self):
        """Code of missing values of each feature: intp of shape (n_features,)."""
        return self.n_codes - 1

    def encode(self, X):
        """Codes of rows: (n_rows, n_features), int32, column after column in memory."""
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != len(self.thresholds):
            raise ValueError(
                f"X has shape {X.shape}, and the trees have "
                f"{len(self.thresholds)} features."
            )
        codes = np.empty(X.shape, dtype=np.int32, order="F")
        coders = [self.coder(j, len(X)) for j in range(X.shape[1])]
        for start in range(0, len(X), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            # Rows turned into columns while they are in the processor's cache.
            columns = np.ascontiguousarray(X[rows].T)
            for j, (coder, column) in enumerate(zip(coders, columns, strict=True)):
                codes[rows, j] = coder(column)
        return codes

    def coder(self, j, n_values):
        """Function from values (n,) of one feature to codes (n,), intp.

        There will be `n_values` values in all, best some thousands at a time.
        """
        missing = self.n_codes[j] - 1
        if self.categorical[j]:
            return partial(_codes_of_categories, missing)
        side = "right" if self.strict else "left"
        search = search_among(self.thresholds[j], n_values, side)
        return partial(_codes_of_numbers, search, self.precision, missing)


def _codes_of_categories(missing, values):
    usable = (values >= 0) & (values < missing)
    return np.where(usable, values, missing).astype(np.intp)


def _codes_of_numbers(search, precision, missing, values):
    with np.errstate(over="ignore"):  # beyond float32 is infinite, as it should
        numbers = values.astype(precision, copy=False)
    numbers = numbers.astype(np.float64, copy=False)
    codes = search(numbers)
    codes[np.isnan(numbers)] = missing
    return codes


def _by_group(feature, wanted):
    """The wanted inner nodes, feature by feature."""
    nodes = np.flatnonzero(wanted & (feature >= 0))
    if len(nodes) == 0:
        return
    owner = feature[nodes]
    # Short integers are sorted fast.
    owner = owner.astype(np.min_scalar_type(owner.max()))
    nodes = nodes[np.argsort(owner, kind="stable")]
    starts = np.flatnonzero(np.diff(feature[nodes])) + 1
    for group in np.split(nodes, starts):
        yield feature[group[0]], group
