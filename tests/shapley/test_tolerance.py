"""Errors and rows of the model that a call may cost, and calls that are interrupted."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._core.games.coalitions import design_within, paired_design
from sklearn_interpret._model import parallel
from sklearn_interpret._model.conditionals import conditional_games
from sklearn_interpret._model.replacement import response_games
from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.importance import SAGE
from sklearn_interpret.shapley import (
    BreakDown,
    ExactShapley,
    KernelSHAP,
    ShapleySampling,
    ShapleyValues,
    _base,
)

X = np.random.default_rng(0).normal(size=(120, 12))


class Costly(RegressorMixin, BaseEstimator):
    """A function with interactions that counts its rows and time, and may stop."""

    n_rows, stops_at = 0, np.inf
    time, seconds, seconds_of_call = 0.0, 0.0, 0.0

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        Costly.n_rows += len(X)
        if Costly.n_rows > Costly.stops_at:
            raise KeyboardInterrupt
        Costly.time += Costly.seconds_of_call + Costly.seconds * len(X)
        products = np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] * X[:, 3] * (X[:, 4] > 0)
        return products + 0.2 * X[:, 5:].sum(axis=1) + np.maximum(X[:, 5], X[:, 6])


@pytest.fixture(autouse=True)
def start(monkeypatch):
    Costly.n_rows, Costly.stops_at = 0, np.inf
    Costly.seconds = Costly.seconds_of_call = 0.0
    for module in (response_games, conditional_games, _base):
        monkeypatch.setattr(module, "perf_counter", lambda: Costly.time)


MODEL = FrozenEstimator(Costly())
SETTINGS = {"subsample": 10, "random_state": 0, "verbose": 0}


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (KernelSHAP, {}),
        (ShapleySampling, {"n_permutations": 2000}),
        (ShapleySampling, {"n_permutations": 2000, "antithetic": False}),
        pytest.param(
            *(KernelSHAP, {"dependence": "gaussian"}), marks=pytest.mark.thorough
        ),
    ],
)
def test_errors_are_below_the_tolerance(kind, options):
    rows = X[:30]
    dependence = {k: v for k, v in options.items() if k == "dependence"}
    exact = ExactShapley(MODEL, **SETTINGS, **dependence).fit(X).explain(rows)
    largest = np.abs(exact.values).max(axis=1)
    n_rows = []
    for tolerance in (0.3, 0.1):
        inspector = kind(MODEL, tolerance=tolerance, **SETTINGS, **options).fit(X)
        Costly.n_rows = 0
        explanation = inspector.explain(rows)
        n_rows.append(Costly.n_rows)
        errors = np.abs(explanation.values - exact.values).max(axis=1)
        if not dependence:  # whose errors include those of draws
            assert (errors <= tolerance * largest).mean() >= 0.9
            reached = 2.5 * explanation.standard_errors.max(axis=1)
            assert (reached <= tolerance * np.abs(explanation.values).max(axis=1)).all()
        assert_allclose(explanation.additivity_error(), 0, atol=1e-10)
    assert 2 * n_rows[0] < n_rows[1] or n_rows[0] < n_rows[1] < 30 * 10 * 4096


def test_designs_are_nested():
    for n_players in (5, 8, 13):
        largest = paired_design(n_players, 300, np.random.default_rng(1))
        before = set()
        for number in (2 * n_players + 4, 60, 100, 299, 300, 1000):
            rng = np.random.default_rng(2)
            design = design_within(largest, number, rng)
            pairs = {row.tobytes() for row in design}
            assert len(pairs) == len(design) <= max((number - 2) // 2, 0)
            assert before <= pairs
            before = pairs
        assert len(before) == len(largest)


@pytest.mark.parametrize(
    ("kind", "options"),
    [(KernelSHAP, {}), (ShapleySampling, {"tolerance": 1e-6}), (ShapleyValues, {})],
)
@pytest.mark.parametrize("max_rows", [3_000, 20_000])
def test_most_rows(kind, options, max_rows):
    if kind is ShapleyValues:
        options = {"algorithm": "kernel"}
    inspector = kind(MODEL, max_rows=max_rows, **SETTINGS, **options).fit(X)
    Costly.n_rows = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CostlyInspectionWarning)
        explanation = inspector.explain(X[:10])
    assert 0.7 * max_rows < Costly.n_rows <= max_rows
    assert_allclose(explanation.additivity_error(), 0, atol=1e-10)
    with pytest.raises(ValueError, match=r"allows \d+ of the 120 rows"):
        inspector.set_params(max_rows=2000).fit(X).explain(X)


@pytest.mark.parametrize("kind", [KernelSHAP, ShapleySampling, ExactShapley, BreakDown])
def test_fewest_rows(kind):
    rows = X[:, :8]  # the model takes the sum of those that it has
    inspector = kind(MODEL, **SETTINGS).fit(rows)
    inspector.set_params(max_rows=1)
    with pytest.raises(ValueError, match="max_rows=1 is less than") as refusal:
        inspector.explain(rows[:5])
    # Advice that cannot be followed is not given.
    assert "allows" not in str(refusal.value)
    needed = int(str(refusal.value).split(" is less than ")[1].split(":")[0])
    for max_rows in (needed - 1, needed):
        inspector.set_params(max_rows=max_rows)
        Costly.n_rows = 0
        if max_rows < needed:
            with pytest.raises(ValueError, match="4 of the 5 rows to be explained, or"):
                inspector.explain(rows[:5])
            inspector.explain(rows[:4])
        else:
            inspector.explain(rows[:5])
        assert Costly.n_rows <= max_rows


@pytest.mark.parametrize("kind", [KernelSHAP, ShapleySampling, ExactShapley])
def test_regressions_send_each_row_once(kind):
    rows, groups = X[:, :7], {"first": [0, 1], "second": [2, 3, 4], "third": [5, 6]}
    options = SETTINGS | {"feature_groups": groups}
    inspector = kind(MODEL, dependence="regression", **options).fit(rows)
    plain = inspector.explain(rows[:3])
    inspector.set_params(max_rows=3)
    Costly.n_rows = 0
    assert_array_equal(inspector.explain(rows[:3]).values, plain.values)
    assert Costly.n_rows == 3
    with pytest.raises(ValueError, match="allows 3 of the 4 rows"):
        inspector.explain(rows[:4])


def test_all_coalitions_if_the_rows_suffice():
    groups = {"first": [0, 1, 2], "second": [3, 4, 5, 6, 7, 8]}
    options = SETTINGS | {"feature_groups": groups}
    exact = ShapleyValues(MODEL, **options).fit(X).explain(X[:3])
    enough = 3 * (1 + 30 * 10)
    for max_rows in (enough, enough - 1):
        inspector = ShapleyValues(MODEL, max_rows=max_rows, **options).fit(X)
        Costly.n_rows = 0
        explanation = inspector.explain(X[:3])
        assert Costly.n_rows <= max_rows
        assert (explanation.standard_errors.max() == 0) == (max_rows == enough)
        if max_rows == enough:
            assert_array_equal(explanation.values, exact.values)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (KernelSHAP, {"tolerance": 0.1}),
        (KernelSHAP, {"dependence": "gaussian", "max_rows": 3000}),
        (ShapleySampling, {}),
        (ExactShapley, {"max_rows": 5000}),
        (BreakDown, {}),
        (ShapleyValues, {}),
    ],
)
def test_no_rows(kind, options):
    rows = X[:, :7]
    inspector = kind(MODEL, **SETTINGS, **options).fit(rows)
    one, Costly.n_rows = inspector.explain(rows[:1]), 0
    nothing = inspector.explain(rows[:0])
    assert nothing.values.shape == inspector.transform(rows[:0]).shape == (0, 7)
    assert (nothing.standard_errors is None) == (one.standard_errors is None)
    if hasattr(inspector, "interaction_values"):
        assert inspector.interaction_values(rows[:0]).shape == (0, 7, 7)
    assert Costly.n_rows == 0


def test_most_rows_of_exact_values():
    inspector = ExactShapley(MODEL, max_rows=50_000, **SETTINGS).fit(X)
    with pytest.raises(ValueError, match=r"allows 1 of the 3 rows"):
        inspector.explain(X[:3])
    Costly.n_rows = 0
    inspector.explain(X[:1])
    assert Costly.n_rows <= 50_000


def test_rows_that_do_not_reach_the_tolerance():
    inspector = KernelSHAP(MODEL, n_coalitions=60, tolerance=1e-3, **SETTINGS).fit(X)
    with pytest.warns(CostlyInspectionWarning, match="3 of 3 rows have not reached"):
        stopped = inspector.explain(X[:3])
    everything = KernelSHAP(MODEL, n_coalitions=60, **SETTINGS).fit(X).explain(X[:3])
    assert_allclose(stopped.values, everything.values)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (KernelSHAP, {"n_coalitions": 40}),
        (KernelSHAP, {"n_coalitions": 40, "tolerance": 1e-9}),
        (ShapleySampling, {"n_permutations": 4}),
        (BreakDown, {}),
        (KernelSHAP, {"n_coalitions": 40, "dependence": "gaussian"}),
    ],
)
@pytest.mark.parametrize("seconds", [0.025, 0.004])  # the background's take 0.04
@pytest.mark.filterwarnings("ignore:(Allow more|Use fewer)")
def test_interrupted_calls_keep_finished_rows(kind, options, seconds):
    inspector = kind(MODEL, **options, **SETTINGS).fit(X)
    complete = inspector.explain(X[:5])
    Costly.seconds = seconds  # more than a second for each row
    inspector.fit(X)
    Costly.n_rows = 0
    inspector.explain(X[:3])
    Costly.n_rows, Costly.stops_at = 0, Costly.n_rows - 1
    with pytest.warns(CostlyInspectionWarning, match="explanation has 2 of 5 rows"):
        partial = inspector.explain(X[:5])
    assert partial.partial
    assert not complete.partial
    assert_allclose(partial.values, complete.values[:2], atol=1e-12)
    assert_array_equal(partial.data, X[:2])
    Costly.n_rows = 0
    with (
        pytest.warns(CostlyInspectionWarning, match="2 of 5"),
        pytest.raises(KeyboardInterrupt),
    ):
        inspector.transform(X[:5])
    Costly.n_rows, Costly.stops_at = 0, 10
    with pytest.raises(KeyboardInterrupt):
        inspector.explain(X[:5])
    with pytest.raises(KeyboardInterrupt):
        _ = inspector.feature_importances_


def test_partial_is_seen():
    pytest.importorskip("pandas")
    inspector = KernelSHAP(MODEL, n_coalitions=40, **SETTINGS)
    Costly.seconds = 0.025
    inspector.fit(X)
    complete = inspector.explain(X[:2])
    Costly.n_rows, Costly.stops_at = 0, 500
    with pytest.warns(CostlyInspectionWarning, match="1 of 5 rows"):
        partial = inspector.explain(X[:5])
    assert repr(partial).startswith("Explanation(n_rows=1, n_features=12, partial=True")
    assert "partial, as the call was interrupted" in partial._repr_html_()
    assert partial.to_frame().attrs == {"partial": True}
    assert "partial" not in repr(complete) + complete._repr_html_()
    assert not complete.to_frame().attrs
    assert partial.concatenate([complete, partial]).partial


def test_quick_models_have_few_blocks(monkeypatch):
    blocks = []
    games = response_games.CoalitionGame.games_of_rows

    def games_of_rows(game, rows):
        blocks.append(rows.n_rows)
        return games(game, rows)

    monkeypatch.setattr(response_games.CoalitionGame, "games_of_rows", games_of_rows)
    inspector = KernelSHAP(MODEL, n_coalitions=40, **SETTINGS).fit(X)
    inspector.explain(X)
    assert blocks == [len(X)]
    # The first call, of few rows, takes long; others do not.
    Costly.seconds_of_call = 0.04
    inspector.fit(X)
    Costly.seconds_of_call = 0.0
    blocks.clear()
    inspector.explain(X)
    assert len(blocks) == 2
    assert blocks[0] < 10


@pytest.mark.filterwarnings("ignore:`sklearn.utils.parallel.delayed`")
def test_workers_keep_finished_tasks(monkeypatch):
    def interrupted(*args, **options):
        def results(calls):
            for call in list(calls)[:2]:
                yield call[0](*call[1])
            raise KeyboardInterrupt

        return results

    monkeypatch.setattr(parallel, "Parallel", interrupted)
    results = parallel.run(pow, [(2, 2), (3, 2), (4, 2)], n_jobs=2)
    assert [next(results), next(results)] == [4, 9]
    with pytest.raises(KeyboardInterrupt):
        next(results)


def test_time_is_announced():
    Costly.seconds = 0.03
    inspector = KernelSHAP(MODEL, n_coalitions=2048, **SETTINGS).fit(X)
    Costly.stops_at = 0
    with (
        pytest.warns(CostlyInspectionWarning, match=r"2455320 rows .* about \d+ hours"),
        pytest.raises(KeyboardInterrupt),
    ):
        inspector.explain(X)


def test_interrupted_sage():
    y = MODEL.predict(X)
    sage = SAGE(MODEL, tolerance=0.001, **SETTINGS)
    Costly.n_rows, Costly.stops_at = 0, 300_000
    with pytest.warns(CostlyInspectionWarning, match="smaller standard errors"):
        sage.fit(X, y)
    assert sage.n_permutations_ > 0
    Costly.n_rows, Costly.stops_at = 0, 1000
    with pytest.raises(KeyboardInterrupt):
        sage.fit(X, y)


@pytest.mark.parametrize("max_rows", [100_000, 150_000])
def test_sage(max_rows):
    y = MODEL.predict(X)
    plain = SAGE(MODEL, **SETTINGS).fit(X, y)
    loose = SAGE(MODEL, tolerance=0.5, **SETTINGS).fit(X, y)
    assert loose.n_permutations_ <= plain.n_permutations_
    Costly.n_rows = 0
    limited = SAGE(MODEL, tolerance=0.001, max_rows=max_rows, **SETTINGS)
    with pytest.warns(
        CostlyInspectionWarning, match="have not reached tolerance=0.001"
    ):
        limited.fit(X, y)
    assert 0.7 * max_rows < Costly.n_rows <= max_rows
    assert limited.method_ == "sampling"
    with pytest.raises(ValueError, match=r"max_rows=5000 .* \d+ of the 120 rows"):
        SAGE(MODEL, max_rows=5000, **SETTINGS).fit(X, y)
    few = {"few": list(range(6)), "others": list(range(6, 12))}
    with pytest.raises(ValueError, match="max_rows=1000 is less than"):
        SAGE(MODEL, method="exact", feature_groups=few, max_rows=1000, **SETTINGS).fit(
            X, y
        )


class CostlyCalls(Costly):
    """The same, which counts its calls."""

    n_calls = 0

    def predict(self, X):
        CostlyCalls.n_calls += 1
        return super().predict(X)


def test_calls_that_cost_get_many_rows():
    Costly.seconds_of_call = 0.25
    rows = {"subsample": 50, "random_state": 0, "verbose": 0}
    inspector = KernelSHAP(FrozenEstimator(CostlyCalls()), **rows).fit(X)
    CostlyCalls.n_calls = 0
    explanation = inspector.explain(X[:2])
    assert CostlyCalls.n_calls <= 4  # of 103 600 rows for each, and predictions
    plain = KernelSHAP(MODEL, **rows).fit(X).explain(X[:2])
    assert_allclose(explanation.values, plain.values, atol=1e-12)
