"""Checks of estimators that transform rows, or select columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_interpret.estimator_checks._tables import (
    NAMES,
    SOME,
    fitted,
    named_table,
    numeric_table,
    optional,
)


def check_feature_names_out(estimator: Any) -> None:
    """`transform` is a float array with one distinct name for each column."""
    X, of_array = numeric_table()[SOME], fitted(estimator)
    out, names = of_array.transform(X), of_array.get_feature_names_out()
    assert isinstance(out, np.ndarray)
    assert out.dtype.kind == "f"
    assert out.shape == (len(X), len(names))
    assert names.dtype == object
    assert len(set(names)) == len(names), f"names that are not distinct: {names}"
    renamed = of_array.get_feature_names_out(list(NAMES))
    of_frame = fitted(estimator, named_table())
    assert renamed.tolist() == of_frame.get_feature_names_out().tolist()


def check_output_frames(estimator: Any) -> None:
    """`set_output` gives a pandas or polars frame with those names."""
    X, of_frame = named_table()[SOME], fitted(estimator, named_table())
    plain = np.asarray(of_frame.transform(X))
    names = of_frame.get_feature_names_out().tolist()
    for library in ("pandas", "polars"):
        kind = optional(library).DataFrame
        frame = of_frame.set_output(transform=library).transform(X)
        assert isinstance(frame, kind)
        assert list(frame.columns) == names
        # Column by column: old polars makes no array of a frame without columns.
        for column, name in zip(plain.T, names, strict=True):
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
