"""Slopes of margins equal differences of the margins, whichever way they are had."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_blobs
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from sklearn_interpret._model.actions.actionability import Actionability
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.actions.target import TargetOutcome
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret._model.rows.arrays import as_rows

X, Y = load_iris(return_X_y=True)


SOME = np.arange(3, 150, 7)
OUTCOMES = [
    *(
        (model, "other", None, by_formula)
        for model, by_formula in [
            (LogisticRegression(max_iter=1000), True),
            (make_pipeline(StandardScaler(), SVC()), True),
            (GaussianNB(), False),
            (CalibratedClassifierCV(SVC(), cv=3), False),
        ]
    ),
    (SVC(), 1, None, True),
    (GaussianNB(), 2, None, False),
    (SVR(), (0.5, 1.2), None, True),
    (LinearRegression(), (None, 1.2), 1, True),
]


def problem_of(model, X, desired="other", target=None, fixed=(), distance="raw"):
    """A target outcome of a fitted model, with rows."""
    rows, p = as_rows(X), X.shape[1]
    actionability = Actionability(
        rows,
        np.ones(len(X)),
        categorical=np.zeros(p, dtype=bool),
        vary=~np.isin(range(p), fixed),
        ranges={},
        directions={},
        distance=distance,
    )
    return SearchProblem(
        TargetOutcome.of_model(model, desired, target), actionability, rows
    )


def fitted_problem(model, desired, target, classes=slice(None)):
    """Some classes of the irises, and a model of them."""
    y = np.c_[Y, Y**2] if target is not None else Y
    keep = np.isin(Y, np.unique(Y)[classes])
    model.fit(X[keep], y[keep])
    return problem_of(model, X[keep], desired, target, fixed=[2], distance="std")


@pytest.mark.parametrize(
    ("model", "desired", "target", "by_formula"), OUTCOMES, ids=str
)
@pytest.mark.parametrize("classes", [slice(None), slice(1, 3)])
def test_slopes_of_margins(model, desired, target, by_formula, classes):
    problem = fitted_problem(model, desired, target, classes)
    index = SOME[problem.rows.n_rows > SOME]
    margins = Margins(problem)
    assert margins.by_formula is by_formula
    own = None if problem.classes is None else problem.classes[index]
    values, costs = problem.values[index], problem.actionability.costs

    def at(moved):
        return margins.margins(problem.decode(moved, index), own)

    every = at(values)
    assert every.shape == (len(index), margins.n_rivals)
    for rival in range(margins.n_rivals):
        some = np.isfinite(every[:, rival])
        if not some.any():
            continue
        rivals = np.full(len(index), rival)
        found = margins.slopes(problem, values, index, rivals)
        assert_array_equal(found[:, 2], 0)
        for j in (0, 1, 3):
            low, high = values.copy(), values.copy()
            low[:, j] -= 1e-5 / costs[j]
            high[:, j] += 1e-5 / costs[j]
            with np.errstate(invalid="ignore"):
                expected = (at(high) - at(low))[:, rival] / 2e-5
            scale = np.abs(found[some]).max()
            tolerance = scale * (1e-6 if by_formula else 1e-4)
            assert_allclose(found[some, j], expected[some], rtol=0, atol=tolerance)


@pytest.mark.parametrize("model, desired, target, _", OUTCOMES, ids=str)
def test_the_binding_margin_says_whether_the_outcome_holds(model, desired, target, _):
    problem = fitted_problem(model, desired, target)
    margins, index = Margins(problem), np.arange(150)
    # Rows that cross over to other classes, with the own class of their first half.
    values = problem.values[np.random.default_rng(0).permutation(150)]
    native = problem.decode(values, index)
    rival, margin = margins.deciding_margin(margins.margins(native, problem.classes))
    assert_array_equal(margin > 0, problem.holds(values, index))
    assert (rival < margins.n_rivals).all()


# Where pairs of classes vote


@pytest.fixture
def votes():
    """A table and a model in which a class that beats the own does not always win."""
    X, y = make_blobs(120, 2, centers=6, cluster_std=4.0, random_state=0)
    return SVC(gamma=0.5).fit(X, y), X


def test_a_positive_margin_is_another_answer(votes):
    model, X = votes
    margins, grid = (
        Margins(problem_of(model, X)),
        np.random.default_rng(0).uniform(-10, 10, (2000, 2)),
    )
    answers = model.predict(grid)
    _, of_answers = margins.deciding_margin(margins.margins(grid, answers))
    assert (of_answers <= 0).all()
    _, of_others = margins.deciding_margin(margins.margins(grid, (answers + 1) % 6))
    assert (of_others > 0).mean() > 0.9


def test_slopes_are_those_of_the_margins(votes):
    model, X = votes
    problem, index = problem_of(model, X), np.arange(20)
    margins = Margins(problem)
    for rival in range(6):
        rivals = np.full(len(index), rival)
        some = problem.classes[index] != rival
        slopes = margins.slopes(problem, problem.values[index], index, rivals)
        for j in range(2):
            ends = []
            for step in (-1e-5, 1e-5):
                moved = X[index].copy()
                moved[:, j] += step
                ends.append(margins.margins(moved, problem.classes[index])[:, rival])
            with np.errstate(invalid="ignore"):
                expected = (ends[1] - ends[0]) / 2e-5
            assert_allclose(slopes[some, j], expected[some], atol=1e-4)
