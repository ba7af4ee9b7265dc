"""Changes undone and shrunk while something holds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.search.refine import Refinement


def refinement_of(values, origins, holds, projected=None, costs=None, has_units=None):
    n_columns = values.shape[1]
    return Refinement(
        values,
        origins,
        np.arange(len(values)),
        costs=np.ones(n_columns) if costs is None else np.asarray(costs),
        missing_change_sizes=np.full(n_columns, 5.0),
        has_units=np.ones(n_columns, dtype=bool) if has_units is None else has_units,
        holds=holds,
        projected=projected or (lambda values, index: values),
    )


def undone_one_by_one(value, origin, costs, holds):
    """The plain way: a pass from the costliest change to the cheapest."""
    value = value.copy()
    for j in np.argsort(-np.abs(value - origin) * costs, kind="stable"):
        trial = value.copy()
        trial[j] = origin[j]
        if holds(trial[None], None)[0]:
            value = trial
    return value


@pytest.mark.parametrize("seed", range(5))
def test_undone_as_one_by_one(seed):
    rng = np.random.default_rng(seed)
    weights, costs = rng.uniform(0.1, 1, size=6), rng.uniform(0.1, 1, size=6)
    origins, values = np.zeros((10, 6)), rng.uniform(1, 3, size=(10, 6))

    def holds(values, index):
        return values @ weights >= 1.5

    refinement = refinement_of(values, origins, holds, costs=costs)
    refinement.undo()
    for found, value in zip(refinement.values, values, strict=True):
        expected = undone_one_by_one(value, np.zeros(6), costs, holds)
        assert_array_equal(found, expected)


def test_a_share_is_undone_where_there_are_units():
    """A change without units is undone, or left; what saves nothing is left."""

    def holds(values, index):
        return (values[:, 0] >= 2) & (values[:, 1] >= 1) & (values[:, 3] >= 0.5)

    values = np.array([[4.0, 4.0, 3.0, 1.0]])
    refinement = refinement_of(
        values,
        np.zeros((1, 4)),
        holds,
        projected=lambda values, index: np.where([0, 0, 0, 1], np.ceil(values), values),
        has_units=np.array([True, False, False, True]),
    )
    refinement.undo(share=0.5)
    assert_array_equal(refinement.values, [[2.0, 4.0, 0.0, 1.0]])


def test_shrunk_to_the_bound():
    def holds(values, index):
        return values @ [1.0, 2.0] >= 3.0

    refinement = refinement_of(np.array([[9.0, 9.0]]), np.zeros((1, 2)), holds)
    refinement.refine()
    assert_allclose(refinement.values, [[0.0, 1.5]], rtol=1e-5)
    assert holds(refinement.values, None)


def test_steps_are_shrunk_together():
    """Bounds that do not depend on each other are all reached."""

    def holds(values, index):
        return (values >= [0.25, 0.5, 0.75]).all(axis=1)

    refinement = refinement_of(np.full((4, 3), 10.0), np.zeros((4, 3)), holds)
    refinement.refine()
    assert_allclose(refinement.values, [[0.25, 0.5, 0.75]] * 4, rtol=1e-5)
    assert holds(refinement.values, None).all()


def test_whole_numbers_stay_whole():
    def holds(values, index):
        return values[:, 0] >= 3.2

    refinement = refinement_of(
        np.array([[90.0]]),
        np.zeros((1, 1)),
        holds,
        lambda values, index: np.rint(values),
    )
    refinement.refine()
    assert refinement.values.tolist() == [[4.0]]


def test_categories_are_undone_or_kept():
    def holds(values, index):
        return values[:, 0] == 2

    refinement = refinement_of(
        np.array([[2.0, 5.0]]),
        np.zeros((1, 2)),
        holds,
        has_units=np.zeros(2, dtype=bool),
    )
    refinement.refine()
    assert refinement.values.tolist() == [[2.0, 0.0]]


def test_what_is_missing_stays():
    values, origins = np.array([[np.nan, 2.0]]), np.array([[np.nan, 0.0]])
    refinement = refinement_of(values, origins, lambda values, index: values[:, 1] >= 1)
    refinement.refine()
    assert_allclose(refinement.values, [[np.nan, 1.0]], rtol=1e-5)


def test_what_was_missing_is_undone_as_a_whole():
    """It costs the same whatever it becomes, here more than the other change."""
    values, origins = np.array([[7.0, 2.0]] * 2), np.array([[np.nan, 0.0]] * 2)

    def holds(values, index):
        return ~np.isnan(values[:, 0]) | (values[:, 1] >= 1) & (index == 0)

    refinement = refinement_of(values, origins, holds)
    refinement.refine()
    assert_allclose(refinement.values, [[np.nan, 1.0], [7.0, 0.0]], rtol=1e-5)
    assert_allclose(refinement.costs_of_changes(), [[0, 1], [5, 0]], rtol=1e-5)


def test_each_point_asks_for_itself():
    bounds = np.array([1.0, 2.0, 4.0])
    seen = []

    def holds(values, index):
        seen.append(len(index))
        return values[:, 0] >= bounds[index]

    refinement = refinement_of(np.full((3, 1), 8.0), np.zeros((3, 1)), holds)
    refinement.refine()
    assert_allclose(refinement.values[:, 0], bounds, rtol=1e-5)
    assert (refinement.values[:, 0] >= bounds).all()
    assert {size % 3 for size in seen} == {0}


def test_no_points():
    refinement = refinement_of(np.empty((0, 2)), np.empty((0, 2)), None)
    refinement.refine()
    assert refinement.values.shape == (0, 2)
