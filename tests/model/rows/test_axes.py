"""The axis of an effect: what the user sees, and what the model sees."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_interpret._core.statistics.grids import conditioning_edges
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.axes import (
    grid_axis,
    interval_axis,
    label_text,
    labels_array,
    level_axis,
)
from sklearn_interpret._model.rows.base import is_missing, label_key
from sklearn_interpret._model.rows.sample import Sample
from tests.model.containers import CONTAINERS, cells

GRID = {"resolution": 100, "percentiles": (0.05, 0.95)}


def keys(labels):
    """Labels made comparable, missing ones too."""
    return list(map(label_key, labels))


def sample_of(rows, weights=None):
    """The rows as a sample."""
    return Sample(rows, None, np.ones(rows.n_rows) if weights is None else weights)


def column_of(rows, name):
    """Position of a column."""
    return rows.names.index(name) if isinstance(name, str) else name


@pytest.mark.parametrize("kind", CONTAINERS)
def test_levels_of_every_column_of_every_container(kind):
    """Values, native levels and codes of the same rows say the same."""
    container = CONTAINERS[kind]()
    rows, source = as_rows(container), cells(container)
    for j in range(rows.n_columns):
        axis = level_axis(sample_of(rows), (j,), rows.names[j])
        assert axis.categorical
        assert keys(axis.values) == keys(axis.levels[0])
        codes = axis.codes(rows)
        assert keys(axis.values[codes]) == keys([row[j] for row in source])
        assert_array_equal(axis.cells(rows), codes)


@pytest.mark.parametrize("kind", ["object_mixed", "pandas_categories", "polars"])
def test_levels_of_a_group_are_those_that_occur_together(kind):
    container = CONTAINERS[kind]()
    rows, source = as_rows(container), cells(container)
    axis = level_axis(sample_of(rows), (2, 0), "both")
    seen = [(row[2], row[0]) for row in source]
    assert set(keys(axis.values)) == set(keys(seen))
    assert keys(axis.values[axis.codes(rows)]) == keys(seen)
    assert keys(zip(*axis.levels, strict=True)) == keys(axis.values)


@pytest.mark.parametrize(
    "kind, column, custom",
    [
        ("pandas_categories", "nominal", ["c", "a"]),
        ("pandas_categories", "ordered", ["high", "mid"]),
        ("pandas_categories", "flag", [True, False]),
        ("pandas_categories", "text", ["new", "a"]),
        ("pandas_categories", "object", ["new", None]),
        ("polars", "enum", ["mid", "low"]),
        ("polars", "categorical", ["new", "a"]),
        ("polars", "maybe", [None, True]),
        ("object_mixed", 0, [3, "b"]),
        ("text", 1, ["longer than any", "x"]),
        ("int64", 0, [5, 3]),
    ],
)
def test_levels_of_ones_own_in_ones_own_order(kind, column, custom):
    rows = as_rows(CONTAINERS[kind]())
    j = column_of(rows, column)
    axis = level_axis(sample_of(rows), (j,), rows.names[j], custom=custom)
    assert keys(axis.values) == keys(axis.levels[0]) == keys(custom)
    expected = [
        keys(custom).index(label_key(row[j]))
        if label_key(row[j]) in keys(custom)
        else -1
        for row in cells(rows.native)
    ]
    assert_array_equal(axis.codes(rows), expected)


def test_rows_of_an_unknown_level_have_no_code():
    fitted = as_rows(np.array([["a"], ["b"]], dtype=object))
    axis = level_axis(sample_of(fitted), (0,), "x0")
    later = as_rows(np.array([["b"], ["c"], [None], ["a"]], dtype=object))
    assert_array_equal(axis.codes(later), [1, -1, -1, 0])


def test_missing_is_a_level_of_its_own():
    axis = level_axis(sample_of(as_rows(CONTAINERS["polars"]())), (2,), "text")
    assert keys(axis.values) == ["a", "b", label_key(None)]
    later = as_rows(np.array([[np.nan], [None], ["a"]], dtype=object))
    moved = type(axis)(axis.name, (0,), axis.values, axis.levels, True)
    assert_array_equal(moved.codes(later), [2, 2, 0])


@pytest.mark.parametrize(
    "columns, custom, message",
    [
        ((0,), [], "custom_values has no value for the feature 'f'"),
        ((0,), ["a", "b", "a"], "a level of 'f' twice"),
        ((0,), [None, np.nan, "a"], "a level of 'f' twice"),
        ((0,), ["a", "z"], "has no category 'z'"),
        ((0, 1), ["ab", "ba"], "'f' has 2 columns: .* got 'ab'"),
        ((0, 1), [("a", "low"), ("b",)], r"'f' has 2 columns: .* got \('b',\)"),
        ((0, 1), [("a", "low", 1)], r"got \('a', 'low', 1\)"),
        ((0, 1), [1, 2], "got 1"),
        ((0,), 3, "custom_values for the feature 'f' must be a sequence of levels"),
        ((0,), "ab", "must be a sequence of levels; got 'ab'"),
    ],
)
def test_bad_levels_of_ones_own(columns, custom, message):
    rows = as_rows(CONTAINERS["pandas_categories"]())
    with pytest.raises(ValueError, match=message):
        level_axis(sample_of(rows), columns, "f", custom=custom)


def test_groups_take_tuples_of_ones_own():
    rows = as_rows(CONTAINERS["pandas_categories"]())
    axis = level_axis(sample_of(rows), (0, 1), "f", custom=[("c", "mid"), ["b", "low"]])
    assert keys(axis.values) == [("c", "mid"), ("b", "low")]
    assert_array_equal(axis.codes(rows), [1, -1, -1, 1, -1, -1])


@pytest.mark.parametrize("kind", CONTAINERS)
def test_grids_of_every_numeric_column_are_its_few_values(kind):
    rows = as_rows(CONTAINERS[kind]())
    for j in np.flatnonzero(~rows.detected_categorical):
        axis = grid_axis(sample_of(rows), j, **GRID)
        numbers = rows.numbers(j)
        assert_array_equal(axis.values, np.unique(numbers[~np.isnan(numbers)]))
        assert not axis.categorical
        assert axis.values.dtype == np.float64
        assert np.asarray(axis.levels[0]).astype(float).tolist() == axis.values.tolist()


@pytest.mark.parametrize("kind", CONTAINERS)
def test_intervals_of_every_numeric_column_hold_its_rows(kind):
    rows = as_rows(CONTAINERS[kind]())
    for j in np.flatnonzero(~rows.detected_categorical):
        axis = interval_axis(sample_of(rows), j, n_intervals=3)
        numbers = rows.numbers(j)
        edges = axis.values
        for value, cell in zip(numbers, axis.cells(rows), strict=True):
            if np.isnan(value):
                assert cell == -1
            elif len(edges) > 1:
                assert edges[cell] < value or value == edges[0]
                assert value <= edges[cell + 1]


def test_whole_numbers_are_asked_at_whole_numbers():
    rows = as_rows(np.arange(1000)[:, None] * 3)
    axis = grid_axis(sample_of(rows), 0, resolution=7, percentiles=(0.1, 0.9))
    assert len(axis.values) == 7
    assert (axis.values % 3 == 0).all()
    assert axis.levels[0].dtype == rows.native.dtype


def test_single_precision_is_reported_as_the_model_sees_it():
    values = np.random.default_rng(0).normal(size=(500, 1)).astype(np.float32)
    axis = grid_axis(sample_of(as_rows(values)), 0, resolution=10, percentiles=(0, 1))
    assert axis.levels[0].dtype == np.float32
    assert_array_equal(axis.values, axis.levels[0].astype(np.float64))


def test_points_that_single_precision_cannot_tell_apart_are_one():
    """Ten points between two neighbouring float32 numbers would repeat themselves."""
    low = np.float32(1e8)
    high = np.nextafter(low, np.float32(np.inf))
    tails = np.linspace(0, 1e9, 30).astype(np.float32)
    values = np.concatenate([np.full(400, low), np.full(400, high), tails])[:, None]
    axis = grid_axis(
        sample_of(as_rows(values)), 0, resolution=10, percentiles=(0.2, 0.8)
    )
    assert_array_equal(axis.values, [low, high])
    assert_array_equal(axis.levels[0], [low, high])


def test_weights_count_as_repeated_rows():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 1))
    weights = rng.integers(1, 5, 300)
    again = as_rows(np.repeat(values, weights, axis=0))
    rows, weights = as_rows(values), weights.astype(float)
    for make in (
        lambda rows, weights: grid_axis(
            sample_of(rows, weights), 0, resolution=9, percentiles=(0.1, 0.7)
        ),
        lambda rows, weights: interval_axis(sample_of(rows, weights), 0, n_intervals=9),
        lambda rows, weights: interval_axis(
            sample_of(rows, weights), 0, n_intervals=9, make_edges=conditioning_edges
        ),
    ):
        assert_array_equal(make(rows, weights).values, make(again, None).values)


@pytest.mark.parametrize("kind", ["numpy", "pandas", "nullable", "polars"])
def test_without_any_observed_value_there_is_no_point(kind):
    container = np.full((4, 1), np.nan)
    if kind in ("pandas", "nullable"):
        pandas = pytest.importorskip("pandas")
        container = pandas.DataFrame(container, columns=["a"])
        if kind == "nullable":
            container = pandas.DataFrame({"a": pandas.array([None] * 4, dtype="Int64")})
    elif kind == "polars":
        polars = pytest.importorskip("polars")
        container = polars.DataFrame({"a": [None] * 4}, schema={"a": polars.Int64})
    rows = as_rows(container)
    for axis in (
        grid_axis(sample_of(rows), 0, **GRID),
        interval_axis(sample_of(rows), 0, n_intervals=5),
    ):
        assert len(axis.values) == len(axis.levels[0]) == 0


def test_a_constant_has_one_point():
    rows = as_rows(np.full((5, 1), 2.5))
    assert_array_equal(grid_axis(sample_of(rows), 0, **GRID).values, [2.5])
    axis = interval_axis(sample_of(rows), 0, n_intervals=5)
    assert_array_equal(axis.values, [2.5])


def test_points_and_edges_of_ones_own():
    rows = as_rows(np.arange(10.0)[:, None])
    custom = [2.5, -1, 40]
    assert_array_equal(
        grid_axis(sample_of(rows), 0, **GRID, custom=custom).values, custom
    )
    axis = interval_axis(sample_of(rows), 0, n_intervals=5, custom=[2, 4, 7])
    assert_array_equal(axis.values, [2.0, 4.0, 7.0])
    assert_array_equal(axis.cells(rows), [-1, -1, 0, 0, 0, 1, 1, 1, -1, -1])


@pytest.mark.parametrize(
    "custom, message",
    [
        ([], "at least 1 finite numbers"),
        ([[1.0]], "one-dimensional"),
        (3.0, "one-dimensional"),
        ([1.0, np.nan], "finite numbers"),
        ([1.0, np.inf], "finite numbers"),
        ([1.0, 2.0, 1.0], "has a number twice"),
        (["a"], r"must be numbers; got \['a'\]"),
        ([None], "must be"),
    ],
)
def test_bad_points_of_ones_own(custom, message):
    with pytest.raises(ValueError, match=message):
        grid_axis(sample_of(as_rows(np.zeros((2, 1)))), 0, **GRID, custom=custom)


def test_edges_of_ones_own_are_two_at_least():
    rows = as_rows(np.zeros((2, 1)))
    with pytest.raises(ValueError, match="at least 2 finite numbers"):
        interval_axis(sample_of(rows), 0, n_intervals=3, custom=[1.0])
    with pytest.raises(ValueError, match="must increase, as edges of intervals do"):
        interval_axis(sample_of(rows), 0, n_intervals=3, custom=[2.0, 1.0])


def test_points_of_ones_own_must_fit_the_dtype():
    with pytest.raises(ValueError, match="'x0' has dtype int64"):
        grid_axis(sample_of(as_rows(np.arange(4)[:, None])), 0, **GRID, custom=[0.5])


def test_text_has_no_grid():
    rows = as_rows(CONTAINERS["object_text"]())
    for make in (
        lambda: grid_axis(sample_of(rows), 0, **GRID),
        lambda: interval_axis(sample_of(rows), 0, n_intervals=3),
    ):
        with pytest.raises(ValueError, match="is not numeric"):
            make()


@pytest.mark.parametrize(
    "labels, kind",
    [
        ([1, 2], "i"),
        ([1.5, np.nan], "f"),
        ([True, False], "b"),
        (["a", "b"], "O"),
        ([True, 1], "O"),
        ([1, None], "O"),
        ([(1, "a"), (2, "b")], "O"),
        ([(1, 2)], "O"),
        ([], "f"),
    ],
)
def test_labels_as_an_array(labels, kind):
    array = labels_array(labels)
    assert array.dtype.kind == kind
    assert array.shape == (len(labels),)
    assert keys(array) == keys(labels)


@pytest.mark.parametrize(
    "label, text",
    [
        ("a", "a"),
        (2, "2"),
        (None, "missing"),
        (np.nan, "missing"),
        (("a", None, True), "a, missing, True"),
    ],
)
def test_labels_as_text(label, text):
    assert label_text(label) == text
    assert is_missing(label) == (text == "missing")
