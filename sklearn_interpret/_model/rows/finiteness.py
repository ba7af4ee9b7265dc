"""Whether rows have numbers that are missing or infinite."""

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite


def are_finite(rows):
    """Whether no number of the rows is missing or infinite."""
    try:
        refuse_infinite(rows, "")
    except ValueError:
        return False
    return True


def refuse_infinite(rows, name):
    """Raise scikit-learn's error for numbers that are missing or infinite.

    Parameters
    ----------
    rows : Rows
        The rows.
    name : str
        Of the estimator that needs them finite.

    Raises
    ------
    ValueError
        There are some.
    """
    if rows.all_finite:
        return
    native = rows.native.tocsr() if sparse.issparse(rows.native) else rows.native
    if isinstance(native, np.ndarray) or sparse.issparse(native):
        if native.dtype.kind in "fc":
            assert_all_finite(native, estimator_name=name, input_name="X")
        return
    for j in range(rows.n_columns):
        values = rows.values(j)
        if values.dtype.kind == "f":
            assert_all_finite(values, estimator_name=name, input_name="X")
