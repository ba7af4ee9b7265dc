"""Checks of parameters, their errors, and the columns that come out."""

from difflib import get_close_matches

import numpy as np
from sklearn.base import clone

from sklearn_interpret.estimator_checks._expect import expect_error
from sklearn_interpret.estimator_checks._tables import (
    NAMES,
    named_table,
    numeric_table,
    optional,
    prepared,
    target_for,
)

# Values that no inspector can take, for the parameters that all share.
_BAD_VALUES = {
    "features": [[], [99], [-1], [0, 0], [(0, 1, 2, 3)], [True, False], 1.5, ["x"]],
    "categorical_features": ["all", [99], 1.5, [True]],
    "feature_groups": [{"g": [99]}, {"g": []}, {"g": [0], "h": [0]}, {"g": 1.5}],
    "response_method": ["predcit", ["no_such_method"], 1],
    "target": ["no such class", 99],
    "subsample": [0, -1, 1.5, 0.0, "all"],
    "random_state": ["seed"],
    "n_jobs": ["two"],
    "verbose": ["loud"],
}


def check_parameters_are_kept(inspector):
    """`__init__` stores what it is given, and `fit` changes none of it.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    inspector = prepared(inspector)
    before = inspector.get_params(deep=False)
    rebuilt = type(inspector)(**before).get_params(deep=False)
    inspector.fit(numeric_table(), target_for(inspector))
    after = inspector.get_params(deep=False)
    for name, value in before.items():
        assert rebuilt[name] is value, f"__init__ changes {name}"
        assert after[name] is value, f"fit changes {name}"


def check_bad_parameters(inspector):
    """A bad value gives a ValueError or TypeError that names its parameter.

    Every parameter but `estimator` is given an object of no use, and the parameters
    that inspectors share are given some values of the right type too.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    names = set(inspector.get_params(deep=False)) - {"estimator"}
    for name in sorted(names):
        for value in [object(), *_BAD_VALUES.get(name, [])]:
            bad = clone(inspector).set_params(**{name: value})
            with expect_error((ValueError, TypeError), name, doing=f"{name}={value!r}"):
                bad.fit(numeric_table(), target_for(inspector))


def check_no_predictor(inspector):
    """What is no predictor is refused by name.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    for useless in (object(), None):
        bad = clone(inspector).set_params(estimator=useless)
        kind = type(useless).__name__
        with expect_error((ValueError, TypeError), kind, doing=f"estimator={kind}"):
            bad.fit(numeric_table(), target_for(inspector))


def check_unknown_feature_lists_near_matches(inspector):
    """An unknown feature name lists the known ones that it may have meant.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    if "features" not in inspector.get_params(deep=False):
        return
    X, y = named_table(), target_for(inspector)
    for typed in ("lenght", "heigth", "conut"):
        bad = clone(inspector).set_params(features=[typed])
        near = get_close_matches(typed, NAMES)
        with expect_error(ValueError, "features", typed, *near, doing=f"{typed!r}"):
            bad.fit(X, y)


def check_feature_names_out(inspector):
    """`transform` is a float array with one distinct name for each column.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    if not hasattr(inspector, "transform"):
        return
    X, y = numeric_table(), target_for(inspector)
    fitted = prepared(inspector).fit(X, y)
    out, names = fitted.transform(X), fitted.get_feature_names_out()
    assert isinstance(out, np.ndarray)
    assert out.dtype.kind == "f"
    assert out.shape == (len(X), len(names))
    assert names.dtype == object
    assert len(set(names)) == len(names), f"names that are not distinct: {names}"
    renamed = fitted.get_feature_names_out(list(NAMES))
    fitted_on_names = prepared(inspector).fit(named_table(), y)
    assert renamed.tolist() == fitted_on_names.get_feature_names_out().tolist()


def check_pandas_output(inspector):
    """`set_output(transform="pandas")` gives a frame with those names.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    optional("pandas")
    _check_output(inspector, "pandas")


def check_polars_output(inspector):
    """`set_output(transform="polars")` gives a frame with those names.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    optional("polars")
    _check_output(inspector, "polars")


def _check_output(inspector, library):
    if not hasattr(inspector, "transform"):
        return
    X = named_table()
    fitted = prepared(inspector).fit(X, target_for(inspector))
    plain = fitted.transform(X)
    frame = fitted.set_output(transform=library).transform(X)
    assert isinstance(frame, optional(library).DataFrame)
    assert list(frame.columns) == fitted.get_feature_names_out().tolist()
    # Column by column: old versions of polars make no array of a frame without columns.
    for column, name in zip(plain.T, frame.columns, strict=True):
        np.testing.assert_array_equal(frame[name].to_numpy(), column)
    if library == "pandas":
        assert frame.index.equals(X.index)
