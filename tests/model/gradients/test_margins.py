"""Slopes of margins equal differences of the margins, whichever way they are had."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from sklearn_interpret._model.actions.actionability import Actionability, SearchProblem
from sklearn_interpret._model.actions.target import TargetOutcome
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret._model.rows.arrays import as_rows

X, Y = load_iris(return_X_y=True)


SOME = np.arange(3, 150, 7)
WISHES = [
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


def task_of(model, desired, target, classes=slice(None)):
    """Some rows, units that differ, and a wish of a fitted model."""
    y = np.c_[Y, Y**2] if target is not None else Y
    keep = np.isin(Y, np.unique(Y)[classes])
    outcome = TargetOutcome.of(model.fit(X[keep], y[keep]), desired, target)
    rows = as_rows(X[keep])
    actionability = Actionability(
        rows,
        np.ones(keep.sum()),
        categorical=np.zeros(4, dtype=bool),
        vary=np.array([True, True, False, True]),
        ranges={},
        directions={},
        distance="std",
    )
    return SearchProblem(outcome, actionability, rows)


@pytest.mark.parametrize(("model", "desired", "target", "by_formula"), WISHES, ids=str)
@pytest.mark.parametrize("classes", [slice(None), slice(1, 3)])
def test_slopes_of_margins(model, desired, target, by_formula, classes):
    problem = task_of(model, desired, target, classes)
    index = SOME[problem.rows.n_rows > SOME]
    margins = Margins(problem)
    assert margins.by_formula is by_formula
    own = None if problem.own is None else problem.own[index]
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


@pytest.mark.parametrize(("model", "desired", "target", "_"), WISHES, ids=str)
def test_the_binding_margin_says_whether_the_wish_holds(model, desired, target, _):
    problem = task_of(model, desired, target)
    margins, index = Margins(problem), np.arange(150)
    # Rows that cross over to other classes, with the own class of their first half.
    values = problem.values[np.random.default_rng(0).permutation(150)]
    native = problem.decode(values, index)
    rival, margin = margins.binding(margins.margins(native, problem.own))
    assert_array_equal(margin > 0, problem.holds(values, index))
    assert (rival < margins.n_rivals).all()
