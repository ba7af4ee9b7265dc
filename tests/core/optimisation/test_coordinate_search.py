"""Search by single coordinates."""

import numpy as np
import pytest

from sklearn_interpret._core.optimisation.coordinate_search import coordinate_search


def search(margin, grid, *, n_columns, most_changes=np.inf, max_iter=50):
    """A search from zero, over the same values in all columns."""
    grid = np.asarray(grid, dtype=float)

    def moves(values, rows):
        trials = np.repeat(values, n_columns * len(grid), axis=0)
        of = np.repeat(rows, n_columns * len(grid))
        column = np.tile(np.repeat(np.arange(n_columns), len(grid)), len(rows))
        trials[np.arange(len(trials)), column] = np.tile(grid, n_columns * len(rows))
        return trials, of

    return coordinate_search(
        np.zeros((1, n_columns)),
        moves,
        lambda values, rows: margin(values),
        lambda values, rows: (np.abs(values).sum(axis=1), (values != 0).sum(axis=1)),
        aim=1e-3,
        most_changes=most_changes,
        max_iter=max_iter,
    )


def test_the_cheapest_coordinate_is_taken():
    found, _ = search(lambda v: v @ [1.0, 2.0] - 3.9, [0, 1, 2, 3, 4], n_columns=2)
    assert found.tolist() == [[0, 2]]


def test_several_coordinates_are_needed():
    found, _ = search(lambda v: v.sum(axis=1) - 2.5, [0, 1], n_columns=4)
    assert found.sum() == 3


def test_a_move_is_taken_back_when_another_makes_it_needless():
    def margin(values):
        return np.maximum(values[:, 0] - 0.5, 3 * values[:, 1] - 5.5)

    found, _ = search(margin, [0, 1, 2], n_columns=2)
    assert found.tolist() == [[1, 0]]


@pytest.mark.parametrize(("most", "reached"), [(1, False), (2, True)])
def test_no_more_changes_than_allowed(most, reached):
    def margin(values):
        return np.minimum(values.sum(axis=1), 2) - 1.5

    found, _ = search(margin, [0, 1], n_columns=3, most_changes=most)
    assert (found != 0).sum() <= most
    assert (margin(found)[0] > 0) == reached


def test_the_number_of_moves_is_bounded():
    found, n_steps = search(
        lambda v: v.sum(axis=1) - 9.5, [0, 1], n_columns=10, max_iter=3
    )
    assert found.sum() == 3
    assert n_steps == 3
