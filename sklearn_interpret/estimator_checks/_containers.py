"""Checks of what goes in: nothing is changed, and every container is served."""

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.estimator_checks._recorders import recorder_for
from sklearn_interpret.estimator_checks._results import assert_same, everything
from sklearn_interpret.estimator_checks._tables import (
    N_ROWS,
    NUMBERS,
    named_table,
    numeric_table,
    optional,
    pandas_mixed,
    polars_mixed,
    prepared,
    target_for,
)


def check_array_not_changed(inspector):
    """Arrays that must not be written to come out as they went in.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X, y, weights = numeric_table(), target_for(inspector), np.ones(N_ROWS)
    given = [X, y, weights]
    before = [array.copy() for array in given]
    for array in given:
        array.setflags(write=False)
    inspector = prepared(inspector).fit(X, y, sample_weight=weights)
    everything(inspector, X)
    for array, copy in zip(given, before, strict=True):
        assert array.dtype == copy.dtype
        np.testing.assert_array_equal(array, copy)


def check_frame_not_changed(inspector):
    """A pandas frame keeps its content, dtypes, columns and index.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    testing = optional("pandas.testing")
    X = named_table()
    before = X.copy(deep=True)
    everything(prepared(inspector).fit(X, target_for(inspector)), X)
    testing.assert_frame_equal(X, before)


def check_mixed_frame_not_changed(inspector):
    """A pandas frame of many dtypes keeps all of them, and its content.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    testing = optional("pandas.testing")
    X = _readable(inspector, pandas_mixed())
    before = X.copy(deep=True)
    _on_recorder(inspector, X)
    testing.assert_frame_equal(X, before)


def check_frame_equals_array(inspector):
    """A pandas frame of numbers gives what the array of these numbers gives.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    names = [f"x{j}" for j in range(numeric_table().shape[1])]
    X, frame, y = numeric_table(), named_table(names), target_for(inspector)
    from_array = everything(prepared(inspector).fit(X, y), X)
    fitted = prepared(inspector).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == names
    assert_same(everything(fitted, frame), from_array)


def check_polars_equals_pandas(inspector):
    """A polars frame gives what a pandas frame of the same content gives.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    from_pandas = _on_recorder(inspector, _readable(inspector, pandas_mixed()))
    from_polars = _on_recorder(inspector, _readable(inspector, polars_mixed()))
    assert_same(from_polars, from_pandas)


def check_model_sees_array(inspector):
    """A model fitted on an array is asked with arrays of the same dtype.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    _check_model_sees(inspector, numeric_table().astype(np.float32))


def check_model_sees_pandas(inspector):
    """A model fitted on a pandas frame is asked with the like of it.

    The same columns in the same order, with the same dtypes and categories.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    _check_model_sees(inspector, _readable(inspector, pandas_mixed()))


def check_model_sees_polars(inspector):
    """A model fitted on a polars frame is asked with the like of it.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    _check_model_sees(inspector, _readable(inspector, polars_mixed()))


def _readable(inspector, frame):
    """The columns of a mixed frame that an inspector can take.

    One that takes numbers alone, such as pixels, has a true attribute
    `_takes_numbers_only`.
    """
    if not getattr(inspector, "_takes_numbers_only", False):
        return frame
    return frame[[name for name in frame.columns if name in NUMBERS]]


def _on_recorder(inspector, X):
    """Everything that an inspection of a recording model finds in `X`."""
    model = recorder_for(inspector)
    fitted = prepared(inspector, estimator=model).fit(X, target_for(inspector))
    return everything(fitted, X)


def _check_model_sees(inspector, X):
    model = clone(recorder_for(inspector)).fit(X, target_for(inspector))
    inspector = prepared(inspector, estimator=FrozenEstimator(model))
    everything(inspector.fit(X, target_for(inspector)), X)
    trained_on, *asked_with = model.seen_
    assert asked_with, "the model was never asked"
    for seen in asked_with:
        assert seen == trained_on, f"trained on {trained_on}, asked with {seen}"
