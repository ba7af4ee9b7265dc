"""The `Rows` of each kind of container."""

import sys

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from sklearn_interpret._model.rows.arrays import ArrayRows
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.frames import PandasRows, PolarsRows
from sklearn_interpret._model.rows.sparse import SparseRows


def as_rows(X):
    """Wrap `X` in the `Rows` of its kind; array-likes become arrays.

    Other kinds of data frames are refused by a TypeError, and not converted silently.
    """
    if isinstance(X, Rows):
        return X
    if sparse.issparse(X):
        return SparseRows(_canonical(X))
    for library, kind in (("pandas", PandasRows), ("polars", PolarsRows)):
        module = sys.modules.get(library)  # not imported: then X is none of it
        if module is not None and isinstance(X, module.DataFrame):
            return kind(X)
    # Look at the type: a lazy frame would resolve its columns.
    if hasattr(type(X), "__dataframe__") or hasattr(type(X), "columns"):
        raise TypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}; supported containers are "
            "numpy arrays, scipy sparse matrices, and pandas and polars DataFrames."
        )
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError("X is a masked array: fill it, for instance by NaN.")
    plain = isinstance(X, np.ndarray) and not isinstance(X, np.matrix)
    if not plain or X.ndim != 2:
        X = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_features=0)
    return ArrayRows(X)


def _canonical(X):
    """A sparse matrix without duplicate entries, in which indices are sorted.

    Many of scipy's functions would make it so in place, in the user's own matrix.
    """
    if X.format == "coo":
        X = X.copy()
    elif X.format in ("csr", "csc", "bsr"):
        if X.has_canonical_format:
            return X
        X = X.copy()
    else:
        return X
    X.sum_duplicates()
    return X
