"""Rows that calls send to the model: counted, announced before, and limited."""

import sys
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.tree import ExtraTreeRegressor

from sklearn_interpret._model import row_limit
from sklearn_interpret.counterfactuals import GrowingSpheres
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.importance import (
    ConditionalImportanceTest,
    PermutationImportance,
)
from sklearn_interpret.interactions import HStatistic, PartialDependenceInteraction
from sklearn_interpret.shapley import BreakDown, ExactShapley
from tests.instances import ARGUMENTS, own_arguments, takes

X = np.random.default_rng(0).normal(size=(60, 5))
Y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + X[:, 3]
Y /= np.ptp(Y)
LIMITED = [c for c in ARGUMENTS if takes(c, "max_rows")]


class Opaque(RegressorMixin, BaseEstimator):
    """A model without a formula that can be read."""

    def fit(self, X, y, sample_weight=None):
        self.n_features_in_ = X.shape[1]
        self.coef = np.linalg.lstsq(X, y, rcond=None)[0]
        return self

    def predict(self, X):
        return np.tanh(X @ self.coef) + np.abs(X[:, 0] * X[:, -1])


class Recorder:
    """Rows that the models got, and how many there would be, as was announced."""

    def __init__(self, monkeypatch):
        self.n_rows, self.promised = 0, None
        for model_class in (Opaque, ExtraTreeRegressor):
            predict = partial(self.predict, model_class.predict)
            monkeypatch.setattr(
                model_class, "predict", lambda m, X, predict=predict: predict(m, X)
            )
        original = row_limit.announce_rows
        for name, module in list(sys.modules.items()):
            is_ours = name.startswith("sklearn_interpret.") and module is not row_limit
            if is_ours and getattr(module, "announce_rows", None) is original:
                announce = partial(self.announce, original)
                monkeypatch.setattr(module, "announce_rows", announce)

    def predict(self, original, model, X):
        self.n_rows += len(X)
        return original(model, X)

    def announce(self, original, n_rows, *args, **kwargs):
        self.promised = self.n_rows + n_rows
        original(n_rows, *args, **kwargs)

    def rows_of(self, call):
        """Rows that a call sends, and the error's text."""
        self.n_rows, self.promised = 0, None
        try:
            call()
        except ValueError as error:
            return self.n_rows, str(error)
        return self.n_rows, ""


@pytest.fixture
def recorder(monkeypatch):
    return Recorder(monkeypatch)


def cases():
    """Inspectors around both models; a few are quick."""
    for inspector_class in LIMITED:
        for number, arguments in enumerate(own_arguments(inspector_class)):
            if "importance_getter" in arguments:
                arguments = arguments | {"importance_getter": "permutation"}
            if arguments.get("test") in ("loco", "gcm"):
                continue  # the rows of refits, as they are, do not count
            for model in (Opaque(), ExtraTreeRegressor(max_depth=3, random_state=0)):
                name = f"{inspector_class.__name__}-{number}-{type(model).__name__}"
                is_quick = number == 0 and isinstance(model, Opaque)
                marks = () if is_quick else pytest.mark.thorough
                yield pytest.param(
                    inspector_class, arguments, model, id=name, marks=marks
                )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("inspector_class", "arguments", "model"), list(cases()))
def test_limit(inspector_class, arguments, model, recorder):
    around = FrozenEstimator(clone(model).fit(X, Y))

    def calls(max_rows=None):
        """The `fit` of an inspector, and a method of a fitted one."""
        new = inspector_class(around, **arguments)
        fitted = clone(new).fit(X, Y)
        for inspector in (new, fitted):
            inspector.set_params(max_rows=max_rows)
        methods = [n for n in ("explain", "compare", "transform") if hasattr(new, n)]
        yield partial(new.fit, X, Y)
        for name in methods[:1]:
            yield partial(getattr(fitted, name), X[:7])

    for number, call in enumerate(calls()):
        n_rows, error = recorder.rows_of(call)
        assert not error
        if recorder.promised is not None:
            assert n_rows <= recorder.promised <= 1.1 * n_rows
        if not n_rows:
            continue
        # The steps of BreakDown are known when it has asked.
        enough = n_rows if inspector_class is not BreakDown else int(1.1 * n_rows)
        n_sent, error = recorder.rows_of([*calls(enough)][number])
        assert not error
        assert n_sent <= enough
        half = max(n_rows // 2, 1)
        n_sent, error = recorder.rows_of([*calls(half)][number])
        assert n_sent <= half
        assert not error or f"max_rows={half}" in error


def test_what_is_possible_is():
    model = FrozenEstimator(Opaque().fit(X, Y))
    for inspector in (
        PartialDependence(model, grid_resolution=5, max_rows=900),
        PermutationImportance(model, n_repeats=3, max_rows=500, random_state=0),
        PermutationImportance(model, method="exact", max_rows=5000),
        HStatistic(model, max_rows=10_000),
    ):
        with pytest.raises(ValueError, match="of the 60 rows are possible") as refusal:
            inspector.fit(X, Y)
        possible = int(str(refusal.value).split(": ")[1].split(" of")[0])
        assert possible > 10
        inspector.fit(X[:possible], Y[:possible])


def test_errors():
    model = FrozenEstimator(Opaque().fit(X, Y))
    effect = PartialDependence(model, features=[0], grid_resolution=5, max_rows=299)
    with pytest.raises(ValueError) as refusal:
        effect.fit(X)
    assert str(refusal.value) == (
        "max_rows=299 is less than the 300 rows that go to the model (60 rows x 5 "
        "values): 59 of the 60 rows are possible. Use fewer rows (subsample), fewer "
        "features, or fewer values of each."
    )
    search = GrowingSpheres(model, desired=(2, None), max_rows=300, random_state=0)
    with pytest.raises(ValueError, match=r"max_rows=300 is reached: \d+ rows were"):
        search.fit(X).explain(X)


@pytest.mark.filterwarnings("ignore")
def test_workers_count():
    model = FrozenEstimator(Opaque().fit(X, Y))
    with row_limit.counting_rows() as count:
        PartialDependence(model, grid_resolution=5, n_jobs=2, max_rows=1500).fit(X)
    assert count.n_sent == 1500
    # A search that is not announced has one worker.
    search = GrowingSpheres(model, desired=(0.6, None), n_jobs=2, random_state=0)
    search.fit(X).set_params(max_rows=500)
    with row_limit.counting_rows() as count, pytest.raises(ValueError, match="reached"):
        search.explain(X)
    assert count.n_sent <= 500


def test_outer_limit_holds_inside():
    """A call that calls another inspector counts its rows, too."""
    model = FrozenEstimator(Opaque().fit(X, Y))
    outer = ExactShapley(model, max_rows=100)
    with (
        row_limit.counting_rows(outer),
        pytest.raises(ValueError, match="max_rows=100"),
    ):
        PartialDependence(model).fit(X)


def test_no_false_warning_for_trees():
    """The trees are read, and few rows are sent: not 1e8."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 30))
    trees = GradientBoostingRegressor(n_estimators=5, random_state=0)
    trees.fit(rows, rows[:, 0] * rows[:, 1])
    inspector = PartialDependenceInteraction(
        FrozenEstimator(trees), max_rows=2000, grid_resolution=15
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", CostlyInspectionWarning)
        inspector.fit(rows)


def test_warning(monkeypatch):
    monkeypatch.setattr(row_limit, "_MANY_ROWS", 1000)
    model = FrozenEstimator(Opaque().fit(X, Y))
    for inspector in (
        PartialDependence(model),
        PermutationImportance(model),
        PartialDependenceInteraction(model, grid_resolution=3),
    ):
        with pytest.warns(
            CostlyInspectionWarning, match="rows go to the model"
        ) as all_:
            inspector.fit(X, Y)
        assert len(all_) == 1
        assert str(all_[0].message).startswith("Use fewer ")


def test_redrawn_rows_count():
    test = ConditionalImportanceTest(
        Opaque(), test="hrt", n_samples=25, max_rows=700, cv=2, random_state=0
    )
    with pytest.raises(ValueError, match="max_rows=700"):
        test.fit(X, Y)
