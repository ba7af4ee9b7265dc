"""Checks of every estimator: its parameters, its input, and what results depend on."""

from __future__ import annotations

import io
import pickle
import warnings
from copy import deepcopy
from difflib import get_close_matches
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sklearn_interpret.estimator_checks._results import (
    all_results,
    assert_same,
    expect_error,
    nearest_rows,
    rename_training_rows,
    responses,
)
from sklearn_interpret.estimator_checks._tables import (
    FEW_ROWS,
    N_ROWS,
    NAMES,
    fitted,
    named_table,
    numeric_table,
    optional,
    prepared,
    target_for,
)
from sklearn_interpret.exceptions import LowFidelityWarning, UndefinedFidelityWarning
from sklearn_interpret.explanations import RowExplanation

# Values that no estimator accepts, of parameters that many share.
_BAD_VALUES: dict[str, list[Any]] = {
    "features": [[], [99], [-1], [0, 0], [(0, 1, 2, 3)], [True, False], 1.5, ["x"]],
    "categorical_features": ["all", [99], 1.5, [True]],
    "feature_groups": [{"g": [99]}, {"g": []}, {"g": [0], "h": [0]}, {"g": 1.5}],
    "response_method": ["predcit", ["no_such_method"], 1],
    "target": ["no such class", 99],
    "subsample": [0, -1, 1.5, 0.0, "all", True],
    "random_state": ["seed"],
    "n_jobs": ["two", 0],
    "n_permutations": [True, 10**20],
    "n_repeats": [True, 10**20],
    "n_samples": [True, 10**20],
    "verbose": ["loud"],
}

_NEED_FIT = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "black_box_predict",
    "transform",
    "explain",
    "interaction_values",
)


def check_parameters_are_kept(estimator: Any) -> None:
    """`__init__` stores its arguments, and `fit` changes none of them."""
    estimator = prepared(estimator)
    before = estimator.get_params(deep=False)
    rebuilt = type(estimator)(**before).get_params(deep=False)
    estimator.fit(numeric_table(), target_for(estimator))
    after = estimator.get_params(deep=False)
    for name, value in before.items():
        assert rebuilt[name] is value, f"__init__ changes {name}"
        assert after[name] is value, f"fit changes {name}"


def check_bad_parameters(estimator: Any) -> None:
    """A bad value gives a ValueError or TypeError that names its parameter.

    Every parameter but `estimator` is set to a plain object; parameters that estimators
    share also to bad values of a right type.
    """
    names = set(estimator.get_params(deep=False)) - {"estimator"}
    for name in sorted(names):
        for value in [object(), *_BAD_VALUES.get(name, [])]:
            bad = clone(estimator).set_params(**{name: value})
            with expect_error((ValueError, TypeError), name, doing=f"{name}={value!r}"):
                bad.fit(numeric_table(), target_for(estimator))


def check_unknown_feature_lists_near_matches(estimator: Any) -> None:
    """An unknown name in `features` lists the known ones that it may have meant."""
    if "features" not in estimator.get_params(deep=False):
        return
    X, y = named_table(), target_for(estimator)
    for typed in ("lenght", "heigth", "conut"):
        bad = clone(estimator).set_params(features=[typed])
        matches = get_close_matches(typed, NAMES)
        with expect_error(ValueError, "features", typed, *matches, doing=f"{typed!r}"):
            bad.fit(X, y)


def check_not_fitted(estimator: Any) -> None:
    """Before `fit`, every method that needs it says so."""
    estimator, X = prepared(estimator), numeric_table()
    for name in _NEED_FIT:
        if hasattr(estimator, name):
            with expect_error(NotFittedError, doing=f"{name} before fit"):
                getattr(estimator, name)(X)


def check_array_not_changed(estimator: Any) -> None:
    """Arrays are not changed, and may be read-only."""
    inputs = {"X": numeric_table(), "y": target_for(estimator)}
    if has_fit_parameter(estimator, "sample_weight"):
        inputs["sample_weight"] = np.ones(N_ROWS)
    before = {name: array.copy() for name, array in inputs.items()}
    for array in inputs.values():
        array.setflags(write=False)
    all_results(prepared(estimator).fit(**inputs), inputs["X"][FEW_ROWS])
    for name, array in inputs.items():
        assert array.dtype == before[name].dtype
        np.testing.assert_array_equal(array, before[name], name)


def check_sparse_not_changed(estimator: Any) -> None:
    """Sparse matrices keep their duplicate entries and the order of their indices."""
    if not get_tags(estimator).input_tags.sparse:
        return
    table = numeric_table()
    for kind in (sparse.csr_array, sparse.coo_array):
        X, explained = (_halve_each(kind, table), _halve_each(kind, table[FEW_ROWS]))
        before = {"fit": X.copy(), "explain": explained.copy()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowFidelityWarning)
            all_results(fitted(estimator, X), explained)
        for when, matrix in {"fit": X, "explain": explained}.items():
            for name in {"data", "indices", "indptr", "row", "col"} & set(dir(matrix)):
                after, expected = getattr(matrix, name), getattr(before[when], name)
                message = f"{kind.__name__}.{name} after {when}"
                np.testing.assert_array_equal(after, expected, message)


def _halve_each(kind: type, table: NDArray[np.float64]) -> Any:
    """A sparse array that stores each entry as two, the last column first."""
    shape = table.shape
    data = np.concatenate([table[:, ::-1].ravel() / 2] * 2)
    # Trees of scikit-learn take 32-bit indices only.
    row, column = (
        np.concatenate([axis.ravel()] * 2).astype(np.int32)
        for axis in np.indices(shape)[:, :, ::-1]
    )
    if kind is sparse.coo_array:
        return kind((data, (row, column)), shape=shape)
    order = np.argsort(row, kind="stable")
    ends = np.cumsum([0, *np.bincount(row, minlength=shape[0])], dtype=np.int32)
    return kind((data[order], column[order], ends), shape=shape)


def check_frame_equals_array(estimator: Any) -> None:
    """A pandas frame of numbers has the results of its array, and is not changed.

    Training rows have the names of its index.
    """
    testing = optional("pandas.testing")
    names = [f"x{j}" for j in range(len(NAMES))]
    frame = named_table(names)
    before = frame.copy(deep=True)
    of_frame = fitted(estimator, frame)
    assert of_frame.feature_names_in_.tolist() == names
    results = all_results(of_frame, frame[FEW_ROWS])
    testing.assert_frame_equal(frame, before)
    of_array = all_results(fitted(estimator), numeric_table()[FEW_ROWS])
    assert_same(results, rename_training_rows(of_array, frame.index))


def check_rows_are_independent(estimator: Any) -> None:
    """A row has the same result alone, among others and in any order.

    The result of a table without rows is empty; predictions and methods of scikit-learn
    refuse such a table.
    """
    X = numeric_table()[FEW_ROWS]
    model = fitted(estimator)
    order = np.random.default_rng(5).permutation(len(X))
    together, reordered = responses(model, X), responses(model, X[order])
    single_rows = [responses(model, X[[i]]) for i in range(len(X))]
    for name, response in together.items():
        expected = _row_numbers(response)
        results = {
            "one row at a time": [_row_numbers(row[name])[0] for row in single_rows],
            "another order": _row_numbers(reordered[name])[np.argsort(order)],
        }
        atol = max(1e-12, 1e-10 * np.nanmax(np.abs(expected), initial=0))
        for situation, values in results.items():
            assert_same(values, expected, f"{name}, {situation}", rtol=0, atol=atol)
        method = getattr(model, name)
        if name != "predict" and not method.__module__.startswith("sklearn."):
            assert_same(_row_numbers(method(X[:0])), expected[:0], f"{name}, no rows")


def _row_numbers(response: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers by row of an array, a frame or an explanation."""
    if isinstance(response, RowExplanation):
        return np.column_stack(nearest_rows(response))
    if hasattr(response, "to_frame") and not hasattr(response, "values"):
        response = response.to_frame().select_dtypes("number")
    values: Any = getattr(response, "values", response)
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def check_jobs_are_independent(estimator: Any) -> None:
    """Two workers have the results of one."""
    X = numeric_table()[FEW_ROWS]
    of_one_job = all_results(fitted(estimator, n_jobs=1), X)
    with config_context(working_memory=0.1):  # several tasks
        assert_same(all_results(fitted(estimator, n_jobs=2), X), of_one_job)


def check_batches_are_independent(estimator: Any) -> None:
    """Little working memory, hence many small batches, changes no result."""
    X = numeric_table()[FEW_ROWS]
    in_one_batch = all_results(fitted(estimator), X)
    with config_context(working_memory=0.005):
        in_batches = all_results(fitted(estimator), X)
    assert_same(in_batches, in_one_batch)


def check_same_seed_same_result(estimator: Any) -> None:
    """The same seed gives the same result; numpy's global state is left alone."""
    X = numeric_table()[FEW_ROWS]
    before = joblib.hash(np.random.get_state())  # noqa: NPY002
    once, again = (all_results(fitted(estimator), X) for _ in range(2))
    assert_same(once, again, rtol=0, atol=0)
    assert joblib.hash(np.random.get_state()) == before  # noqa: NPY002


def check_looking_changes_nothing(estimator: Any) -> None:
    """Methods and properties leave the state of a fitted estimator as it is.

    The state is what copies take over; caches are no part of it. Importances and
    standard errors may be computed on first access: they are read first.
    """
    model = fitted(estimator)
    for name in ("classes_", "feature_importances_", "standard_errors_"):
        getattr(model, name, None)
    before = joblib.hash(model)
    all_results(model, numeric_table()[FEW_ROWS])
    if hasattr(model, "transform"):
        model.get_feature_names_out()
    repr(model)
    assert joblib.hash(model) == before


def check_copies(estimator: Any) -> None:
    """Clones, pickles and joblib's dumps give the same results."""
    X, original = numeric_table(), fitted(estimator)
    expected = all_results(original, X[FEW_ROWS])
    file = io.BytesIO()
    joblib.dump(original, file)
    file.seek(0)
    copies = {
        "clone": clone(original).fit(X, target_for(estimator)),
        "pickle": pickle.loads(pickle.dumps(original)),
        "joblib": joblib.load(file),
    }
    for kind, copy in copies.items():
        assert_same(all_results(copy, X[FEW_ROWS]), expected, kind, rtol=0, atol=0)


def check_refit_forgets(estimator: Any) -> None:
    """A second `fit` has the results of a new estimator, and keeps nothing old.

    It is fitted to two tables, which differ in names and number of columns: to one with
    the estimator's parameters, to the other with the defaults.
    """
    table, wider = numeric_table(), named_table()
    wider["more"] = np.arange(N_ROWS) % 7
    own_params = prepared(estimator).get_params(deep=False)
    # The defaults of these would take long, or not suit the model.
    prefixes = (
        *("estimator", "nuisance", "n_", "max_", "cv", "sections", "checks"),
        *("importance_getter", "subsample", "substitute", "desired", "attack"),
    )
    unchanged = {
        name: value for name, value in own_params.items() if name.startswith(prefixes)
    }
    of_defaults = prepared(type(estimator)(**unchanged)).get_params(deep=False)
    defaults = of_defaults | unchanged
    with_own, y = fitted(estimator, table), target_for(estimator)
    again = deepcopy(with_own)
    with_defaults = prepared(estimator).set_params(**defaults).fit(wider, y)
    for X, params, fresh in (
        (wider, defaults, with_defaults),
        (table, own_params, with_own),
    ):
        again.set_params(**params).fit(X, y)
        assert set(vars(again)) == set(vars(fresh)), (
            "left over or missing after another fit: "
            f"{sorted(set(vars(again)) ^ set(vars(fresh)))}"
        )
        with warnings.catch_warnings():
            # The new column is noise: a small model may have a low fidelity.
            warnings.simplefilter("ignore", LowFidelityWarning)
            warnings.simplefilter("ignore", UndefinedFidelityWarning)
            assert_same(all_results(again, X[:2]), all_results(fresh, X[:2]))
