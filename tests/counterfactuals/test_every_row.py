"""What searches find and prove, against all rows that a row may become.

The values of the rows are often none of those that they may take. The benchmark asks
the same of more tables.
"""

import warnings
from itertools import chain, product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.counterfactuals import (
    Anchors,
    ExactCounterfactual,
    GrowingSpheres,
    WachterCounterfactual,
)
from sklearn_interpret.exceptions import NoAnchorWarning
from tests.references.actionability import MODELS, SmallProblem

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.NoCounterfactualWarning"
)


def rows_of_box(found):
    """Rows of whole numbers, and the corners, of the box around the row of a frame."""
    columns = []
    for j, name in enumerate(found.rows):
        low, high = max(found.low[0, j], -9), min(found.high[0, j], 9)
        own = found.rows[name].iloc[0]
        if np.isnan(low) or own < low or own > high:
            columns.append([own])
        else:
            whole = np.arange(np.ceil(low), np.floor(high) + 1)
            columns.append(np.unique([low, high, own, *whole]))
    rows = pd.DataFrame(list(product(*columns)), columns=found.rows.columns)
    return rows.astype(found.rows.dtypes)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("fives", range(8))
def test_proofs(kind, fives):
    n_found = 0
    for seed in range(5 * fives, 5 * fives + 5):
        rng = np.random.default_rng(seed)
        problem = SmallProblem.drawn(rng, kind)
        objective = ["distance", "distance", "n_changed"][rng.integers(3)]
        search = ExactCounterfactual(
            FrozenEstimator(problem.model),
            constraints=problem.constraints,
            objective=objective,
            region=bool(rng.integers(2)),
            **problem.limits,
        ).fit(problem.known)
        for row, found, is_possible, bounds in problem.found_by(search):
            least, fewest, of_few = bounds
            where = f"seed {seed}, row {row}"
            nearest = of_few if objective == "n_changed" else least
            assert is_possible, where
            expected = "found" if np.isfinite(nearest) else "impossible"
            assert found.status == [expected], where
            assert found.lower_bounds[0] <= nearest * (1 + 1e-9), where
            if np.isfinite(nearest):
                n_found += 1
                assert found.optimal.all(), where
                assert_allclose(found.distances, [nearest], rtol=1e-6, err_msg=where)
                if objective == "n_changed":
                    assert found.n_changed == [fewest], where
            if np.isfinite(nearest) and found.low is not None:
                rows, own = rows_of_box(found), problem.model.predict(found.data)
                assert problem.holds(rows, own).all(), where
    assert n_found


@pytest.mark.thorough
@pytest.mark.parametrize(
    "method", [GrowingSpheres, WachterCounterfactual], ids=lambda c: c.__name__
)
@pytest.mark.parametrize("kind", MODELS)
def test_heuristics(method, kind):
    """They return possible rows; that they miss few is a matter of the benchmark."""
    quick = {"n_samples": 20} if method is GrowingSpheres else {}
    n_found = 0
    for seed in range(10):
        problem = SmallProblem.drawn(np.random.default_rng(seed), kind)
        problem.constraints = []
        model = FrozenEstimator(problem.model)
        search = method(model, random_state=0, **quick, **problem.limits)
        search.fit(problem.known)
        for row, found, is_possible, (least, *_) in problem.found_by(search):
            where = f"seed {seed}, row {row}"
            n_found += found.status == ["found"]
            assert is_possible, where
            assert (found.distances >= least * (1 - 1e-9)).all(), where
    assert n_found


@pytest.mark.thorough
def test_anchors():
    """Rules hold for rows whose values are in no bin, or are no level of `fit`."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        problem = SmallProblem.drawn(rng, "tree")
        search = Anchors(
            FrozenEstimator(problem.model),
            n_samples=100,
            discretize=[True, False][seed % 2],
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoAnchorWarning)
            found = search.fit(problem.known).explain(problem.rows)
        assert found.holds(problem.rows).diagonal().all(), f"seed {seed}"
        holds = found.holds(problem.known)
        assert_allclose(found.coverage, holds.mean(axis=1))
        for condition in chain.from_iterable(found.rules):
            assert condition.holds(problem.known).any(), f"seed {seed}"
