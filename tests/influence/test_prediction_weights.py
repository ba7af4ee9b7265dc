"""Prediction weights: weighted sums of the training targets are the predictions."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.training_weights.base import TrainingWeights
from sklearn_interpret._model.training_weights.readers import READERS
from sklearn_interpret.exceptions import AdditivityWarning, UnreadableModelError
from sklearn_interpret.influence import InfluenceDisplay, PredictionWeights
from tests.figures import draw

RNG = np.random.default_rng(0)
N = 120
X = RNG.normal(size=(N, 4))
NEW = RNG.normal(size=(15, 4))
Y = X[:, 0] ** 2 + X[:, 1] + RNG.normal(size=N)
OUTPUTS = np.column_stack([Y, np.exp(X[:, 2])])
LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [0, 1.5])]
TWO_LABELS = np.column_stack([LABELS, np.where(X[:, 2] > 0, "up", "down")])


FEW = {"n_estimators": 7, "random_state": 0}
SHALLOW = {"min_samples_leaf": 5, **FEW}


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(**FEW),
        BaggingRegressor(max_features=0.5, **FEW),
        KNeighborsRegressor(),
        RadiusNeighborsRegressor(4.0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sparse_rows(model):
    rows = sparse.csr_array(np.where(X > -0.5, X, 0))
    values = PredictionWeights(model).fit(rows, Y).transform(rows[:9])
    dense = PredictionWeights(model).fit(rows.toarray(), Y)
    assert_allclose(values, dense.transform(rows[:9].toarray()), atol=1e-12)
    assert_allclose(values @ Y, dense.predict(rows[:9].toarray()))


@pytest.mark.parametrize("bootstrap", [True, False])
def test_definition_of_forests(bootstrap):
    forest = RandomForestRegressor(bootstrap=bootstrap, min_samples_leaf=3, **FEW)
    inspector = PredictionWeights(forest).fit(X, Y)
    fitted = inspector.estimator_
    expected = np.zeros((len(NEW), N))
    for tree, sample in zip(
        fitted.estimators_, fitted.estimators_samples_, strict=True
    ):
        for row, leaf in enumerate(tree.apply(NEW)):
            in_leaf = [i for i in sample if tree.apply(X[[i]])[0] == leaf]
            for i in in_leaf:
                expected[row, i] += 1 / len(in_leaf) / len(fitted.estimators_)
    assert_allclose(inspector.transform(NEW), expected, atol=1e-14)


def test_weights_are_changes_with_the_structure_fixed():
    """A tree of the same splits, whose leaves are fitted again."""
    tree = DecisionTreeRegressor(max_depth=3).fit(X, Y)
    values = PredictionWeights(FrozenEstimator(tree)).fit(X, Y).transform(NEW)
    for i in (0, 50, 119):
        changed = Y + (np.arange(N) == i)
        leaves, leaves_of_new = tree.apply(X), tree.apply(NEW)
        after = [changed[leaves == leaf].mean() for leaf in leaves_of_new]
        assert_allclose(after - tree.predict(NEW), values[:, i], atol=1e-14)


def test_pipelines_frames_and_targets():
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"r{i}" for i in range(N)])
    series = pd.Series(LABELS, index=frame.index, name="kind")
    model = make_pipeline(StandardScaler(), RandomForestClassifier(**SHALLOW))
    inspector = PredictionWeights(model, target={"a": 1, "c": -1}).fit(frame, series)
    explanation = inspector.explain(frame[:5])
    probabilities = inspector.predict_proba(frame[:5])
    assert_allclose(explanation.predictions, probabilities[:, 0] - probabilities[:, 2])
    assert_allclose(explanation.additivity_error(), 0, atol=1e-12)
    assert set(np.unique(explanation.target_values)) == {-1, 0, 1}
    assert list(explanation.training_names) == list(frame.index)
    assert explanation.target_name == "kind"
    display = InfluenceDisplay.from_explanation(explanation, row=0)
    largest = explanation[0].largest(1)[0, 0]
    name = display.ax_.get_yticklabels()[0].get_text()
    assert name == f"r{largest}: kind={LABELS[largest]}"
    draw(display.figure_)
    display = InfluenceDisplay.from_estimator(inspector)
    assert_allclose(display.bars_[0].get_width(), inspector.leverages_.max())
    display = InfluenceDisplay.from_estimator(inspector, frame[:1])
    assert_allclose(display.bars_[0].get_width(), explanation.values[0].max())


def test_weights_of_rows_for_the_last_step_of_a_pipeline():
    model, weights = make_pipeline(StandardScaler(), Ridge()), np.arange(N) % 3.0
    expected = PredictionWeights(model).fit(X, Y, sample_weight=weights)
    assert not expected.transform(NEW)[:, ::3].any()
    inspector = PredictionWeights(model).fit(X, Y, ridge__sample_weight=weights)
    assert_array_equal(inspector.transform(NEW), expected.transform(NEW))


def test_own_weights_of_the_training_rows():
    inspector = PredictionWeights(RandomForestRegressor(**FEW)).fit(X, Y)
    with config_context(working_memory=0.1):  # many blocks
        leverages = inspector.leverages_
    values = inspector.transform(X)
    assert_allclose(leverages, np.diag(values))
    assert_allclose(inspector.effective_dof_, np.trace(values))
    assert_allclose(inspector.effective_neighbors_, 1 / (values**2).sum(axis=1))
    assert_allclose(
        inspector.explain(X).effective_neighbors, inspector.effective_neighbors_
    )
    frame = inspector.to_frame()
    assert_allclose(frame["value"], np.sort(leverages)[::-1])
    assert_allclose(
        frame.attrs["effective degrees of freedom"], inspector.effective_dof_
    )


def test_the_largest_are_kept():
    forest = RandomForestRegressor(**FEW)
    every = PredictionWeights(forest).fit(X, Y).transform(NEW)
    few = PredictionWeights(forest, n_kept=3).fit(X, Y).transform(NEW)
    assert isinstance(few, sparse.csr_array)
    order = np.argsort(-every, axis=1, kind="stable")[:, :3]  # of ties the first
    expected = np.zeros_like(every)
    np.put_along_axis(expected, order, np.take_along_axis(every, order, 1), 1)
    assert_array_equal(few.toarray(), expected)


def test_the_largest_are_kept_without_a_dense_array():
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(500, 3)), rng.normal(size=(20_000, 3))
    models = [RandomForestRegressor(**SHALLOW), Ridge()]
    for model in models:
        inspector = PredictionWeights(model, n_kept=5).fit(rows, rows[:, 0])
        with config_context(working_memory=16):
            tracemalloc.start()
            explanation = inspector.explain(new)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert peak < 8 * 20_000 * 500 / 4
        assert np.diff(explanation.values.indptr).max() == 5
        alone = inspector.transform(new[-1:])
        assert_allclose(explanation.values[[-1]].toarray(), alone.toarray(), rtol=1e-12)


def test_as_many_are_kept_as_there_are():
    inspector = PredictionWeights(KNeighborsClassifier(5), n_kept=999).fit(X, LABELS)
    explanation = inspector.explain(NEW)
    assert explanation.values.nnz == 5 * len(NEW)
    assert_allclose(explanation.additivity_error(), 0, atol=1e-12)
    assert len(explanation.contributions) == 3  # of each class
    assert inspector.explain(NEW[:0]).values.shape == (0, N)
    assert inspector.set_params(n_jobs=2).transform(NEW).nnz == 5 * len(NEW)
    with pytest.raises(ValueError, match="sparse"):  # as scikit-learn's encoders
        inspector.set_output(transform="pandas").transform(NEW)


@pytest.mark.parametrize("y", [Y, np.round(Y), OUTPUTS], ids=["y", "ties", "outputs"])
def test_quantiles_are_of_the_weighted_distribution(y):
    inspector = PredictionWeights(RandomForestRegressor(min_samples_leaf=5, **FEW))
    values = inspector.fit(X, y).transform(NEW)
    shares = np.array([0, 0.05, 0.5, 0.77, 1])
    quantiles = inspector.predict_quantiles(NEW, shares)
    assert quantiles.shape == (len(NEW), len(shares), *y.shape[1:])
    targets = y.reshape(N, -1)
    expected = np.empty((len(NEW), len(shares), targets.shape[1]))
    for row, k in np.ndindex(len(NEW), targets.shape[1]):
        has_weight = values[row] > 0
        support = np.sort(targets[has_weight, k])
        below = [values[row][targets[:, k] <= v].sum() + 1e-12 for v in support]
        expected[row, :, k] = [support[np.argmax(below >= share)] for share in shares]
    assert_allclose(quantiles.reshape(expected.shape), expected)
    one = inspector.predict_quantiles(NEW, 0.5)
    assert_allclose(one, quantiles[:, 2])


class Negative(TrainingWeights):
    """Weights that are no distribution."""

    row_bytes = 8

    def weights(self, rows):
        return np.tile([-1.0] + [2.0 / (N - 1)] * (N - 1), (rows.n_rows, 1))


def test_quantiles_need_a_distribution():
    inspector = PredictionWeights(KNeighborsRegressor()).fit(X, Y)
    with pytest.raises(ValueError, match=r"q=2 must be shares from 0 to 1"):
        inspector.predict_quantiles(NEW, 2)
    inspector._weights = Negative()
    with pytest.raises(ValueError, match="no distribution: some are negative"):
        inspector.predict_quantiles(NEW, 0.5)
    with pytest.warns(AdditivityWarning, match="do not sum to the predictions of 15"):
        inspector.explain(NEW)
    inspector = PredictionWeights(KNeighborsClassifier()).fit(X, LABELS)
    with pytest.raises(ValueError, match="Quantiles are of numbers"):
        inspector.predict_quantiles(NEW, 0.5)


class FromOneHalf(TrainingWeights):
    """Training starts from 0.5, and the mean of all rows is added at half its size."""

    offset, row_bytes = 0.5, 8

    def weights(self, rows):
        return np.full((rows.n_rows, N), 0.5 / N)


class HalfMean(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.mean_ = 0.5 + 0.5 * (y - 0.5).mean(axis=0)
        return self

    def predict(self, X):
        return np.full((len(X), *np.shape(self.mean_)), self.mean_)


@pytest.mark.parametrize(
    ("y", "target"), [(Y, None), (OUTPUTS, None), (OUTPUTS, {0: 1, 1: -2})]
)
def test_training_may_start_from_a_prediction(y, target, monkeypatch):
    monkeypatch.setitem(READERS, HalfMean, lambda model, data: FromOneHalf())
    inspector = PredictionWeights(HalfMean(), target=target).fit(X, y)
    explanation = inspector.explain(NEW)
    assert_allclose(explanation.additivity_error(), 0, atol=1e-12)
    assert_allclose(explanation.base_values[0], 0.5 if target is None else -0.5)
    with pytest.raises(ValueError, match="they do not sum to one"):
        inspector.predict_quantiles(NEW, 0.5)


class Doubled(DecisionTreeRegressor):
    def predict(self, X, check_input=True):
        return 2 * super().predict(X, check_input)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (GaussianNB(), "no formula of its training weights is known"),
        (RandomForestRegressor(2, criterion="absolute_error"), "do not have the mean"),
        (DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0]), "monotonic_cst is set"),
        (BaggingRegressor(KNeighborsRegressor()), "KNeighborsRegressor is no tree"),
        (Doubled(), "predict of its own"),
        (BaggingRegressor(Doubled()), "Doubled is no tree"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_models_that_cannot_be_read(model, reason):
    y = LABELS if isinstance(model, GaussianNB) else Y
    with pytest.raises(UnreadableModelError, match=reason):
        PredictionWeights(model).fit(X, y)


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(**FEW), KNeighborsRegressor()], ids=["trees", "knn"]
)
def test_a_frozen_model_takes_its_own_training_rows_only(model):
    frozen = PredictionWeights(FrozenEstimator(clone(model).fit(X, Y)))
    assert_allclose(frozen.fit(X, Y).explain(NEW).additivity_error(), 0, atol=1e-12)
    for others in [(X, Y[::-1]), (X[::-1], Y), (X[:50], Y[:50])]:
        with pytest.raises(UnreadableModelError):
            frozen.fit(*others)
    with pytest.raises(ValueError, match="requires y to be passed"):
        frozen.fit(X)


def test_rows_without_neighbours_and_other_responses():
    inspector = PredictionWeights(RadiusNeighborsRegressor(4.0)).fit(X, Y)
    with pytest.raises(ValueError, match="1 rows have no neighbour within radius=4"):
        inspector.transform([[0.0] * 4, [99.0] * 4])
    inspector = PredictionWeights(KNeighborsClassifier(), response_method="predict")
    with pytest.raises(UnreadableModelError, match="are what predict_proba returns"):
        inspector.fit(X, LABELS)


@pytest.mark.parametrize(
    "model", [GradientBoostingRegressor(n_estimators=20), Ridge(), KernelRidge()]
)
def test_other_targets_or_weights_than_those_of_the_fit(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    weights = rng.integers(1, 4, 60)
    inspector = PredictionWeights(FrozenEstimator(clone(model).fit(X, y)))
    inspector.fit(X, y)
    with pytest.raises(UnreadableModelError, match="do not give the predictions"):
        inspector.fit(X, y[::-1])
    weighted = clone(model).fit(X, y, sample_weight=weights)
    with pytest.raises(UnreadableModelError, match="do not give the predictions"):
        PredictionWeights(FrozenEstimator(weighted)).fit(X, y)
    PredictionWeights(FrozenEstimator(weighted)).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_other_targets_are_refused_far_from_zero(offset):
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = offset + X[:, 0]
    for model in (Ridge(), RandomForestRegressor(10, random_state=0)):
        frozen = FrozenEstimator(model.fit(X, y))
        PredictionWeights(frozen).fit(X, y)
        with pytest.raises(UnreadableModelError, match="needs the rows, in their"):
            PredictionWeights(frozen).fit(X, y[::-1])


def test_later_changes_of_the_rows():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0].copy()
    inspector = PredictionWeights(RandomForestRegressor(10, random_state=0)).fit(X, y)
    expected = PredictionWeights(inspector.estimator).fit(X.copy(), y).effective_dof_
    X *= 0
    assert inspector.effective_dof_ == expected


@pytest.mark.parametrize("model", [KernelRidge(), GaussianProcessRegressor()])
def test_stored_rows_are_other_rows(model):
    X = np.random.default_rng(0).normal(size=(40, 3))
    frozen = FrozenEstimator(model.fit(X, X[:, 0]))
    with pytest.raises(UnreadableModelError, match="fitted on 40 rows"):
        PredictionWeights(frozen).fit(X[:30], X[:30, 0])
    order = np.arange(40)[::-1]
    with pytest.raises(UnreadableModelError, match="needs the rows, in their order"):
        PredictionWeights(frozen).fit(X[order], X[order, 0] * 2)
    PredictionWeights(frozen).fit(X, X[:, 0])
