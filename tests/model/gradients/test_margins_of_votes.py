"""Margins of wishes, where pairs of classes vote."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from sklearn_interpret._model.actions.actionability import Actionability
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.actions.target import TargetOutcome
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret._model.rows.arrays import as_rows


def task_of(model, X):
    rows, p = as_rows(X), X.shape[1]
    actionability = Actionability(
        rows,
        np.ones(len(X)),
        categorical=np.zeros(p, dtype=bool),
        vary=np.ones(p, dtype=bool),
        ranges={},
        directions={},
        distance="raw",
    )
    return SearchProblem(TargetOutcome.of(model, "other"), actionability, rows)


@pytest.fixture
def votes():
    """A table and a model in which a class that beats the own does not always win."""
    X, y = make_blobs(120, 2, centers=6, cluster_std=4.0, random_state=0)
    return SVC(gamma=0.5).fit(X, y), X


def test_a_positive_margin_is_another_answer(votes):
    model, X = votes
    margins, grid = (
        Margins(task_of(model, X)),
        np.random.default_rng(0).uniform(-10, 10, (2000, 2)),
    )
    answers = model.predict(grid)
    _, of_answers = margins.binding(margins.margins(grid, answers))
    assert (of_answers <= 0).all()
    _, of_others = margins.binding(margins.margins(grid, (answers + 1) % 6))
    assert (of_others > 0).mean() > 0.9


def test_slopes_are_those_of_the_margins(votes):
    model, X = votes
    problem, index = task_of(model, X), np.arange(20)
    margins = Margins(problem)
    for rival in range(6):
        rivals = np.full(len(index), rival)
        some = problem.own[index] != rival
        slopes = margins.slopes(problem, problem.values[index], index, rivals)
        for j in range(2):
            ends = []
            for step in (-1e-5, 1e-5):
                moved = X[index].copy()
                moved[:, j] += step
                ends.append(margins.margins(moved, problem.own[index])[:, rival])
            with np.errstate(invalid="ignore"):
                expected = (ends[1] - ends[0]) / 2e-5
            assert_allclose(slopes[some, j], expected[some], atol=1e-4)
