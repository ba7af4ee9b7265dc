"""What rows may become, how far that is, and the way back to the container."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import median_abs_deviation
from sklearn.linear_model import LinearRegression

from sklearn_interpret._model.actions.actionability import Actionability
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.actions.target import TargetOutcome
from sklearn_interpret._model.rows.arrays import as_rows
from tests.model import containers

LEVELS = ["low", "mid", "high"]


def feasible_of(X, weights=None, categorical=None, **limits):
    """Rows that may change anywhere, but for what is given."""
    rows = as_rows(X)
    categorical = rows.detected_categorical if categorical is None else categorical
    defaults = {
        "vary": np.ones(rows.n_columns, dtype=bool),
        "ranges": {},
        "directions": {},
        "distance": "mad",
    }
    weights = np.ones(rows.n_rows) if weights is None else weights
    return Actionability(
        rows, weights, categorical=categorical, **{**defaults, **limits}
    )


def frame(library):
    """Columns of many dtypes, in a frame of a library."""
    module = pytest.importorskip(library)
    columns = {
        "real": [0.5, 1.5, 2.5, 9.0],
        "whole": [1, 2, 3, 4],
        "single": [0.1, 0.2, 0.3, 0.4],
        "small": [1, 2, 3, 100],
        "size": ["low", "high", "low", "high"],
        "text": ["a", "b", "a", "c"],
        "flag": [True, False, True, True],
    }
    if library == "pandas":
        size = module.CategoricalDtype(LEVELS, ordered=True)
        dtypes = {"single": "float32", "small": "int8", "size": size}
        return module.DataFrame(columns).astype(dtypes)
    dtypes = {
        "single": module.Float32,
        "small": module.Int8,
        "size": module.Enum(LEVELS),
    }
    return module.DataFrame(columns, schema_overrides=dtypes)


def decoded(actionability, values, X, index=None):
    """Encoded rows in the container of `X`, from its rows at `index`."""
    rows = as_rows(X)
    index = np.arange(rows.n_rows) if index is None else index
    origins = actionability.encode(rows)
    returning = actionability.survives_encoding(rows, origins)
    return actionability.decode(values, origins[index], rows, index, returning)


frames = pytest.mark.parametrize("library", ["pandas", "polars"])


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        # Deviations from the median 2.5: 1.5, 0.5, 1.5, 0.5; of the second column
        # 0, 0, 0, 4.
        ("mad", [1.0, 1 / np.sqrt(3)]),
        ("std", [1 / np.sqrt(1.25), 1 / np.sqrt(3)]),
        ("gower", [1 / 3 / 2, 1 / 4 / 2]),
        ({1: 7.0}, [1.0, 7.0]),
    ],
)
def test_costs_of_a_unit(distance, expected):
    X = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0], [3.0, 9.0]])
    assert_allclose(feasible_of(X, distance=distance).costs, expected)


@pytest.mark.parametrize("distance", ["mad", "std", "gower"])
@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e155, 1e307])
def test_costs_of_tiny_and_huge_numbers(distance, scale):
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[:20, 1] = 0  # their median deviation is zero
    expected = feasible_of(X, distance=distance).costs
    costs = feasible_of(X * scale, distance=distance).costs * scale
    assert_allclose(costs, expected)


@pytest.mark.parametrize("n_rows", [2, 3, 100])
def test_median_absolute_deviations_are_those_of_scipy(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 5))
    costs = feasible_of(X, np.full(n_rows, 0.1)).costs
    assert_array_equal(costs, 1 / median_abs_deviation(X))


def test_costs_of_constant_and_missing_columns():
    X = np.array([[1.0, np.nan, np.nan], [1.0, np.nan, 3.0], [1.0, np.nan, 5.0]])
    assert_allclose(feasible_of(X).costs, [1, 1, 1])


def test_weights_are_repeated_rows():
    X = np.random.default_rng(0).normal(size=(9, 3))
    counts = np.arange(9)
    weighted = feasible_of(X, counts.astype(float))
    repeated = feasible_of(np.repeat(X, counts, axis=0))
    assert_allclose(weighted.costs, repeated.costs)


def test_a_change_of_category_costs_one():
    X = np.array([["a", "x"], ["b", "y"], ["c", "y"]], dtype=object)
    actionability = feasible_of(X)
    values = actionability.encode(as_rows(X))
    assert_array_equal(values, [[0, 0], [1, 1], [2, 1]])
    assert_array_equal(actionability.distances(values, values[[2, 2, 2]]), [2, 1, 0])


def test_missing_and_unseen_levels():
    known = np.array([["a"], ["b"], [None]], dtype=object)
    actionability = feasible_of(known)
    assert actionability.levels == [["a", "b"]]
    seen = as_rows(np.array([["b"], ["z"], [None], [np.nan]], dtype=object))
    values = actionability.encode(seen)
    assert_array_equal(values, [[1], [-1], [np.nan], [np.nan]])
    # What is unseen or missing may change to a known level.
    assert_array_equal(actionability.projected(values, values), values)
    to_first = actionability.projected(np.zeros((4, 1)), values)
    assert_array_equal(to_first, np.zeros((4, 1)))
    assert_array_equal(actionability.n_changed(to_first, values), np.ones(4))


@frames
def test_declared_levels_that_no_row_has(library):
    """They have their place in the order, and nothing may change to them."""
    known = frame(library)[["size"]]
    actionability = feasible_of(known, directions={0: "decrease"})
    assert actionability.levels == [LEVELS]
    assert_array_equal(actionability.possible_levels[0], [True, False, True])
    values = np.array([[1.0], [2.0], [np.nan]])
    to_first = actionability.projected(np.zeros((3, 1)), values)
    assert_array_equal(to_first, [[0], [0], [np.nan]])
    to_second = actionability.projected(np.ones((3, 1)), values)
    assert_array_equal(to_second, values)


@pytest.mark.parametrize(
    ("distance", "expected"), [("mad", 1), ("gower", 0.5), ({0: 3.0}, 3), ("std", 1)]
)
def test_missing_entries_are_filled_for_one_unit(distance, expected):
    X = np.array([[1.0, 5.0], [2.0, 6.0], [4.0, np.nan]])
    actionability = feasible_of(X, distance=distance)
    origins = np.array([[np.nan, 5.0]] * 2)
    values = np.array([[3.0, 5.0], [np.nan, 5.0]])
    assert_array_equal(actionability.projected(values, origins), values)
    assert_allclose(actionability.distances(values, origins), [expected, 0])
    assert_array_equal(actionability.n_changed(values, origins), [1, 0])
    stays = feasible_of(X, missing_stays=True)
    assert_array_equal(stays.projected(values, origins), origins)


def test_missing_levels_of_nullable_texts():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"t": pandas.array(["b", None, "a"], dtype="string")})
    actionability = feasible_of(X)
    assert actionability.levels == [["a", "b"]]
    assert_array_equal(actionability.encode(as_rows(X)), [[1], [np.nan], [0]])


def test_numbers_stay_within_ranges_and_directions():
    X = np.array([[0.0, 0.0, 0.0], [5.0, 1.0, 2.0]])
    actionability = feasible_of(
        X, ranges={0: (-1, 2)}, directions={1: "increase", 2: "decrease"}
    )
    # A number outside of its range may enter it, and nothing else is between.
    low, high = actionability.permitted_limits(X)
    assert_array_equal(low, [[-1, 0, -np.inf], [-1, 1, -np.inf]])
    assert_array_equal(high, [[2, np.inf, 0], [2, np.inf, 2]])
    low, high = actionability.limits(X)
    assert_array_equal(low, [[-1, 0, -np.inf], [-1, 1, -np.inf]])
    assert_array_equal(high, [[2, np.inf, 0], [5, np.inf, 2]])
    projected = actionability.projected(np.full((2, 3), 4.0), X)
    assert_array_equal(projected, [[2, 4, 0], [2, 4, 2]])
    assert_array_equal(actionability.projected(X, X), X)
    low, high = actionability.intervals(X, X)
    assert_array_equal(low[:, 0], [-1, 5])
    assert_array_equal(high[:, 0], [2, 5])


def test_a_direction_may_lead_into_a_range_or_away_from_it():
    X = np.array([[0.0, 0.0], [9.0, 9.0]])
    ways = {0: "increase", 1: "decrease"}
    actionability = feasible_of(X, ranges={0: (2, 3), 1: (2, 3)}, directions=ways)
    projected = actionability.projected(np.full((2, 2), 2.5), X)
    assert_array_equal(projected, [[2.5, 0], [9, 2.5]])


def test_two_whole_numbers_and_no_others():
    X, two = np.array([[0.0], [1.0]]), np.array([True])
    actionability = feasible_of(X, within_data=two, two_valued=two)
    origins = np.array([[3.0], [0.5], [-1.0], [np.nan]])
    for target, expected in ((2.0, [1, 1, 1, 1]), (-0.4, [0, 0, 0, 0])):
        projected = actionability.projected(np.full((4, 1), target), origins)
        assert_array_equal(projected[:, 0], expected)
    for limits in ("permitted_range", "direction"):
        free = actionability.without_limits(limits)
        projected = free.projected(np.full((4, 1), 2.0), origins)
        assert_array_equal(projected, np.ones((4, 1)))


def test_a_range_beyond_the_dtype_holds_nothing():
    X = np.array([[0], [3]], dtype=np.uint8)
    actionability = feasible_of(X, ranges={0: (-1, -1)})
    origins = actionability.encode(as_rows(X))
    projected = actionability.projected(np.zeros((2, 1)), origins)
    assert_array_equal(projected, origins)


def test_what_does_not_vary_is_kept():
    X = np.array([[0.1, 0.2], [np.nan, 0.4]])
    actionability = feasible_of(X, vary=np.array([True, False]))
    projected = actionability.projected(np.full((2, 2), 9.0), X)
    assert_array_equal(projected, [[9, 0.2], [9, 0.4]])


def test_a_missing_value_replaces_none():
    X = np.array([[0.1, 0.2]])
    actionability = feasible_of(X)
    assert_array_equal(actionability.projected(np.array([[np.nan, 3]]), X), [[0.1, 3]])


def test_whole_numbers_and_their_range():
    X = np.array([[1, 100], [2, 200]], dtype=np.uint8)
    actionability = feasible_of(X, ranges={1: (99.5, 180.5)})
    origins = actionability.encode(as_rows(X))
    projected = actionability.projected(np.array([[-3.2, 99.1], [300.0, 7.0]]), origins)
    # 200 is outside of its range, and enters it.
    assert_array_equal(projected, [[0, 100], [255, 100]])
    native = decoded(actionability, projected, X)
    assert_array_equal(native, projected)
    assert native.dtype == np.uint8


def test_whole_numbers_of_nullable_columns():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"n": pandas.array([1, None, 3], dtype="Int8")})
    actionability = feasible_of(X)
    origins = actionability.encode(as_rows(X))
    projected = actionability.projected(np.full((3, 1), 1e6), origins)
    assert_array_equal(projected, [[127], [127], [127]])
    projected[0] = 1
    native = decoded(actionability, projected, X)
    assert native["n"].dtype == X["n"].dtype
    assert native["n"].tolist() == [1, 127, 127]


@pytest.mark.parametrize("value", [0.1, 1 / 3, -0.7, 1e300])
def test_small_floats_are_held_exactly_and_within_limits(value):
    X = np.array([[0.0], [1.0]], dtype=np.float32)
    actionability = feasible_of(X, ranges={0: (-0.7, 1 / 3)})
    origins = actionability.encode(as_rows(X[:1]))
    projected = actionability.projected(np.array([[value]]), origins)
    assert projected[0, 0] == np.float32(projected[0, 0])
    assert -0.7 <= projected[0, 0] <= 1 / 3


def test_levels_that_are_not_possible_become_the_rows_own():
    X = np.array([["a"], ["b"], ["c"]], dtype=object)
    actionability = feasible_of(X, ranges={0: ["a", "b"]})
    origins = actionability.encode(as_rows(X))
    projected = actionability.projected(np.full((3, 1), 2.0), origins)
    assert_array_equal(projected, origins)
    projected = actionability.projected(np.full((3, 1), 1.0), origins)
    assert_array_equal(projected, np.ones((3, 1)))


@frames
def test_ordered_levels_go_one_way(library):
    X = frame(library)
    place = list(X.columns).index("size")
    actionability = feasible_of(X, directions={place: "increase"})
    origins = actionability.encode(as_rows(X))
    for level in range(len(LEVELS)):
        values = origins.copy()
        values[:, place] = level
        found = actionability.projected(values, origins)[:, place]
        assert (found >= origins[:, place]).all()


@frames
def test_decoded_rows_have_the_same_dtypes(library):
    X = frame(library)
    rows, actionability = as_rows(X), feasible_of(X)
    origins = actionability.encode(rows)
    index = np.array([3, 0, 0])
    values = actionability.projected(origins[index[::-1]] + 0.3, origins[index])
    native = decoded(actionability, values, X, index)
    assert list(native.columns) == list(X.columns)
    assert list(native.dtypes) == list(X.dtypes)
    assert_array_equal(actionability.encode(as_rows(native)), values)


@frames
def test_unchanged_rows_are_the_rows(library):
    X = frame(library)
    rows, actionability = as_rows(X), feasible_of(X)
    index = np.array([2, 1, 1])
    origins = actionability.encode(rows)[index]
    native = decoded(actionability, origins, X, index)
    assert native.equals(rows.take(index).native)


def test_frozen_cells_keep_all_their_bits():
    """A whole number of 64 bits is no float: it comes from the row, not from codes."""
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"id": [2**62 + 1, 2**53 + 1], "x": [0.0, 1.0]})
    rows, actionability = as_rows(X), feasible_of(X)
    origins = actionability.encode(rows)
    values = origins.copy()
    values[:, 1] = 7.0
    native = decoded(actionability, values, X)
    assert native["id"].tolist() == [2**62 + 1, 2**53 + 1]


@pytest.mark.parametrize(
    "make",
    [
        containers.pandas_numbers,
        containers.pandas_categories,
        containers.pandas_default_text,
    ],
)
def test_any_column_comes_back(make):
    X = make()
    rows, actionability = as_rows(X), feasible_of(X)
    origins = actionability.encode(rows)
    index = np.arange(rows.n_rows)
    donors = origins[::-1]
    values = actionability.projected(donors, origins)
    native = decoded(actionability, values, X, index)
    assert native.dtypes.equals(X.dtypes)
    assert_array_equal(actionability.encode(as_rows(native)), values)


def test_the_input_is_left_alone():
    X = np.array([[0.0, 1.0], [2.0, 3.0]])
    X.setflags(write=False)
    actionability = feasible_of(X)
    values = actionability.encode(as_rows(X)) + 1.0
    before = values.copy()
    native = decoded(actionability, values, X)
    assert_array_equal(values, before)
    assert_array_equal(native, X + 1)


def test_without_a_range_the_limits_of_the_dtype_are_left():
    X = frame("pandas")
    actionability = feasible_of(X, ranges={1: (2, 3), 3: (0, 9), 4: ["low"]})
    free = actionability.without_limits("permitted_range")
    values = actionability.encode(as_rows(X))
    for found, expected in zip(
        free.limits(values), feasible_of(X).limits(values), strict=True
    ):
        assert_array_equal(found, expected)
    assert_array_equal(free.possible_levels[4], [True, False, True])


def problem_of(X, rows, **limits):
    """Rows to be led to predictions above two, with the constraints of a table."""
    model = LinearRegression().fit(X, np.arange(len(X)))
    outcome = TargetOutcome.of_model(model, (2.0, None))
    return SearchProblem(outcome, feasible_of(X, **limits), as_rows(rows))


def test_steps_around_numbers():
    """Small steps both ways within the limits; whole numbers change by one."""
    X = np.array([[0.0, 1.0], [4.0, 2.0], [8.0, 3.0], [4.0, 4.0]])
    rows = np.array([[4.0, 4.0], [0.0, 1.0]])
    problem = problem_of(X, rows, ranges={1: (1.0, 4.0)})
    index = np.array([1, 0, 1])
    values = problem.values[index]
    trials, of, between = problem.shifted_copies(values, index, [0, 1])
    np.testing.assert_array_equal(of, [1, 1, 0, 0, 1, 1] * 2)
    below, above = trials.reshape(2, 3, 2, 2)
    steps = 1e-4 / problem.actionability.costs
    np.testing.assert_allclose(above[:, 0, 0] - values[:, 0], steps[0])
    np.testing.assert_allclose(values[:, 0] - below[:, 0, 0], steps[0])
    np.testing.assert_array_equal(above[:, 0, 1], values[:, 1])
    # At the ends of a range only one way is open.
    np.testing.assert_allclose(between, np.tile([2, 1] * steps, (3, 1)))
    problem.actionability._set_steps(np.ones(2))
    _, _, between = problem.shifted_copies(values, index, [0])
    np.testing.assert_array_equal(between, 2)


def test_distinct_rows_and_their_answers():
    """Equal rows count once; a problem under other limits has the same answers."""
    X = np.arange(4.0)[:, None]
    problem = problem_of(X, np.array([[3.0], [0.0], [3.0]]))
    distinct = problem.actionability.distinct(problem.rows)
    np.testing.assert_array_equal(distinct.native, [[0.0], [3.0]])
    np.testing.assert_array_equal(problem.fulfilled, [True, False, True])
    of_known = problem.rows_on_target(problem, np.array([0, 1]))
    np.testing.assert_array_equal(of_known, [[True, False, True]] * 2)
    assert problem.holds(problem.values[:0], np.zeros(0, dtype=int)).shape == (0,)
    free = problem.actionability.without_limits("features_to_vary")
    assert problem.with_actionability(free).actionability is free
    assert problem.actionability is not free
