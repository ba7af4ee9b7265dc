"""Checks of estimators that transform rows, or select columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sklearn_interpret.estimator_checks._tables import (
    FEW_ROWS,
    NAMES,
    fitted,
    named_table,
    numeric_table,
    optional,
)


def check_feature_names_out(estimator: Any) -> None:
    """`transform` is a float array, perhaps sparse, with a name for each column."""
    X, of_array = numeric_table()[FEW_ROWS], fitted(estimator)
    transformed, names = of_array.transform(X), of_array.get_feature_names_out()
    assert isinstance(transformed, np.ndarray | sparse.csr_array)
    assert transformed.dtype.kind == "f"
    assert transformed.shape == (len(X), len(names))
    assert names.dtype == object
    assert len(set(names)) == len(names), f"names that are not distinct: {names}"
    renamed = of_array.get_feature_names_out(list(NAMES))
    of_frame = fitted(estimator, named_table())
    assert renamed.tolist() == of_frame.get_feature_names_out().tolist()


def check_output_frames(estimator: Any) -> None:
    """`set_output` gives a pandas or polars frame with those names."""
    X, of_frame = named_table()[FEW_ROWS], fitted(estimator, named_table())
    array = of_frame.transform(X)
    if sparse.issparse(array):  # scikit-learn makes no frames of these
        return
    array = np.asarray(array)
    names = of_frame.get_feature_names_out().tolist()
    for library in ("pandas", "polars"):
        frame = of_frame.set_output(transform=library).transform(X)
        assert isinstance(frame, optional(library).DataFrame)
        assert list(frame.columns) == names
        # Column by column: old polars makes no array of a frame without columns.
        for column, name in zip(array.T, names, strict=True):
            np.testing.assert_array_equal(frame[name].to_numpy(), column)
        if library == "pandas":
            assert frame.index.equals(X.index)


def check_selected_columns(estimator: Any) -> None:
    """A selector keeps the columns of `get_support`, with their names."""
    if not hasattr(estimator, "get_support"):
        return
    X, selector = numeric_table(), fitted(estimator)
    support = selector.get_support()
    assert support.dtype == bool
    assert support.shape == (X.shape[1],)
    np.testing.assert_array_equal(selector.transform(X), X[:, support])
    names = selector.get_feature_names_out(list(NAMES))
    assert names.tolist() == np.array(NAMES)[support].tolist()
