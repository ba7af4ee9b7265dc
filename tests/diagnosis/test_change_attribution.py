"""What moved a mean: against all coalitions of all pairs of rows, and in simulations.

`benchmarks/bench_diagnosis.py` asks more tables and models.
"""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.additive import GAMRegressor
from sklearn_interpret.diagnosis import Change, ChangeAttribution, Changes
from sklearn_interpret.diagnosis import _change_attribution as module

RNG = np.random.default_rng(0)
TARGETS = "targets given features"


def table(n, shift=0.0, rng=RNG):
    X = rng.normal(size=(n, 4))
    X[:, 1] += shift
    X[:, 2] = rng.integers(0, 3, n)
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)


X, Y = table(60)
X_NEW, Y_NEW = table(45, 1.0)
MODELS = [
    GradientBoostingRegressor(n_estimators=20, random_state=0),
    RandomForestRegressor(5, random_state=0),
    Ridge(),
    GAMRegressor(),
    SVR(),
]


def literal_change(predict, old, new, old_weights, new_weights, players):
    """Mean gains of players over all orders and all pairs of rows."""
    values = np.zeros(len(players))
    orders = list(permutations(range(len(players))))
    shares = np.outer(old_weights, new_weights) / old_weights.sum() / new_weights.sum()
    pairs = list(product(range(len(old)), range(len(new))))
    for order in orders:
        mixed = old[[i for i, _ in pairs]].copy()
        before = predict(mixed)
        for player in order:
            for column in players[player]:
                mixed[:, column] = new[[k for _, k in pairs], column]
            after = predict(mixed)
            values[player] += shares.ravel() @ (after - before) / len(orders)
            before = after
    return values


def total(change):
    return np.abs(change.values.sum(axis=0) - (change.new - change.old)).max()


@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.ExtrapolationWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_adds_up(model, weighted):
    weights = RNG.uniform(0, 3, len(X)) if weighted else None
    new_weights = RNG.uniform(0, 3, len(X_NEW)) if weighted else None
    model = FrozenEstimator(model.fit(X, Y))
    inspector = ChangeAttribution(model, random_state=0).fit(X, Y, weights)
    change = inspector.compare(X_NEW, Y_NEW, new_weights)
    expected = np.average(model.predict(X_NEW), weights=new_weights)
    assert_allclose(change.new, expected)
    assert_allclose(change.old, np.average(model.predict(X), weights=weights))
    assert_allclose(change.old, inspector.base_values_)
    assert total(change) < 1e-10
    losses = (Y_NEW - model.predict(X_NEW)) ** 2
    assert_allclose(change.loss.new, np.average(losses, weights=new_weights))
    assert total(change.loss) < 1e-10
    assert change.loss.feature_names[-1] == TARGETS
    assert (change.standard_errors >= 0).all()


@pytest.mark.parametrize(
    "model", [DecisionTreeRegressor(max_depth=4, random_state=0), Ridge()]
)
@pytest.mark.parametrize("groups", [None, {"two": [0, 2]}])
def test_exact_values_are_those_of_all_orders_and_pairs(model, groups):
    model = FrozenEstimator(model.fit(X, Y))
    old, new = X[:12], X_NEW[:9]
    weights, new_weights = RNG.uniform(1, 2, 12), RNG.uniform(1, 2, 9)
    inspector = ChangeAttribution(model, feature_groups=groups)
    change = inspector.fit(old, sample_weight=weights).compare(
        new, sample_weight=new_weights
    )
    assert inspector.method_ == "exact"
    players = [(0,), (1,), (2,), (3,)] if groups is None else [(0, 2), (1,), (3,)]
    expected = literal_change(model.predict, old, new, weights, new_weights, players)
    assert_allclose(change.values, expected, atol=1e-10)
    assert change.feature_names == inspector.player_names_


def test_both_samples_give_the_values_and_the_error():
    """By row, values are the mean gains of the pairs of the row."""
    model = FrozenEstimator(DecisionTreeRegressor(max_depth=4).fit(X, Y))
    change = ChangeAttribution(model).fit(X).compare(X_NEW)

    def by_row(old, new):
        ones = np.ones(1)
        players = [(j,) for j in range(4)]
        return literal_change(
            model.predict, old, new, np.ones(len(old)), np.ones(len(new)), players
        ), ones

    old = np.array([by_row(row[None], X_NEW)[0] for row in X])
    new = np.array([by_row(X, row[None])[0] for row in X_NEW])
    assert_allclose(old.mean(axis=0), change.values, atol=1e-10)
    assert_allclose(new.mean(axis=0), change.values, atol=1e-10)
    variance = old.var(axis=0, ddof=1) / len(old) + new.var(axis=0, ddof=1) / len(new)
    assert_allclose(change.standard_errors, np.sqrt(variance), atol=1e-10)


def test_loss_model_is_split_as_any_model(monkeypatch):
    """The parts of the loss are those of all orders, for each fold's model."""
    models, fit = [], module.HistGradientBoostingRegressor.fit

    def recorded(self, X, y, sample_weight=None):
        models.append((fit(self, X, y, sample_weight), X))
        return self

    monkeypatch.setattr(module.HistGradientBoostingRegressor, "fit", recorded)
    old, y = table(70)
    new, y_new = table(9, 1.0)
    model = FrozenEstimator(LinearRegression().fit(X, Y))
    change = ChangeAttribution(model, random_state=0).fit(old, y).compare(new, y_new)
    assert len(models) == 5
    losses, new_losses = (
        (y - model.predict(old)) ** 2,
        (y_new - model.predict(new)) ** 2,
    )
    expected, players = np.zeros(5), [(j,) for j in range(4)]
    for fold_model, train in models:
        is_test = ~(old[:, None] == train).all(axis=2).any(axis=1)
        test, share = old[is_test], is_test.mean()
        ones = np.ones(len(test)), np.ones(len(new))
        values = literal_change(fold_model.predict, test, new, *ones, players)
        expected[:4] += share * values
        rest = new_losses.mean() - fold_model.predict(new).mean()
        rest -= losses[is_test].mean() - fold_model.predict(test).mean()
        expected[4] += share * rest
    assert_allclose(change.loss.values, expected, atol=1e-10)
    assert total(change.loss) < 1e-10


def test_sampled_values_agree_with_those_of_all_pairs():
    model = FrozenEstimator(SVR().fit(X, Y))
    players = [(j,) for j in range(4)]
    ones = np.ones(len(X)), np.ones(len(X_NEW))
    expected = literal_change(model.predict, X, X_NEW, *ones, players)
    inspector = ChangeAttribution(model, n_permutations=200, random_state=0).fit(X)
    change = inspector.compare(X_NEW)
    assert inspector.method_ == "sampling"
    assert_allclose(change.values, expected, atol=0.05)
    assert_allclose(inspector.compare(X_NEW).values, change.values, rtol=0)


def test_errors_of_sampled_values_are_those_of_exact_ones():
    trees = FrozenEstimator(MODELS[0].fit(X, Y))
    exact = ChangeAttribution(trees).fit(X).compare(X_NEW)
    called = FrozenEstimator(Called(trees).fit(X))
    sampled = ChangeAttribution(called, n_permutations=100, random_state=0).fit(X)
    assert sampled.method_ == "sampling"
    change = sampled.compare(X_NEW)
    assert_allclose(change.standard_errors, exact.standard_errors, rtol=0.1)
    assert_allclose(change.values, exact.values, atol=0.05)


class Called(RegressorMixin, BaseEstimator):
    """A model that is only called."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return self.model.predict(X)


@pytest.mark.parametrize("n_new", [40, 23])
def test_sampled_pairs_are_unbiased(n_new):
    """Also with unequal weights: the mean over seeds is the exact value."""
    model = FrozenEstimator(SVR().fit(X, Y))
    old, new = X[:40], X_NEW[:n_new]
    weights, new_weights = RNG.choice([1.0, 8.0], 40), RNG.choice([1.0, 8.0], n_new)
    players = [(j,) for j in range(4)]
    expected = literal_change(model.predict, old, new, weights, new_weights, players)
    found = []
    for seed in range(40):
        inspector = ChangeAttribution(model, n_permutations=2, random_state=seed)
        inspector.fit(old, sample_weight=weights)
        found.append(inspector.compare(new, sample_weight=new_weights).values)
    error = np.std(found, axis=0, ddof=1) / np.sqrt(40)
    assert (np.abs(np.mean(found, axis=0) - expected) < 4 * error + 1e-12).all()


def test_additive_models_are_exact_when_sampled():
    line = Ridge().fit(X, Y)
    model = FrozenEstimator(Called(line).fit(X))
    change = ChangeAttribution(model).fit(X).compare(X_NEW)
    expected = (X_NEW.mean(axis=0) - X.mean(axis=0)) * line.coef_
    assert_allclose(change.values, expected, atol=1e-12)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("kind", ["trees", "linear", "kernel"])
def test_alarms_without_a_change(kind):
    model = {"trees": MODELS[0], "linear": Ridge(), "kernel": SVR()}[kind]
    model = FrozenEstimator(model.fit(*table(300)))
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, 1])
        old, new = table(80, rng=rng)[0], table(60, rng=rng)[0]
        inspector = ChangeAttribution(model, n_permutations=8, random_state=seed)
        change = inspector.fit(old).compare(new)
        alarms += (change.adjusted_pvalues < 0.05).any()
    assert alarms <= 5


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("shifted", [1, 0])
def test_a_shift_is_named_first(shifted):
    model = FrozenEstimator(MODELS[0].fit(*table(500)))
    first = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, 2])
        old, new = table(200, rng=rng)[0], table(200, rng=rng)[0]
        new[:, shifted] += 1.0
        change = ChangeAttribution(model).fit(old).compare(new)
        largest = np.abs(change.values).argmax()
        first += largest == shifted and change.adjusted_pvalues[largest] < 0.05
    assert first >= 95


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("n", [50, 500, 5000])
@pytest.mark.parametrize("kind", ["linear", "product"])
def test_intervals_hold(kind, n):
    """Of a linear function, and of a product of independent features."""
    if kind == "linear":
        model = LinearRegression().fit(X, X @ [1.0, 2.0, 0.0, 0.0])
        truth = np.array([1.0, 1.0, 0.0, 0.0])
    else:
        model = Product().fit(X)
        # Means of the features go from (0, 1) to (1, 1.5).
        truth = np.array([1 * (1 + 1.5) / 2, 0.5 * (0 + 1) / 2, 0.0, 0.0])
    inside = []
    for seed in range(150):
        rng = np.random.default_rng([seed, 3])
        old = rng.exponential(size=(n, 4)) - [1, 0, 0, 0]
        new = rng.exponential(size=(n, 4)) + [0, 0.5, 0, 0]
        inspector = ChangeAttribution(FrozenEstimator(model), n_permutations=4)
        change = inspector.set_params(random_state=seed).fit(old).compare(new)
        inside.append((change.low - 1e-9 <= truth) & (truth <= change.high + 1e-9))
    assert np.mean(inside, axis=0).min() >= 0.9


class Product(LinearRegression):
    """Not linear: x0 x1."""

    def fit(self, X, y=None):
        self.coef_, self.n_features_in_ = np.zeros(4), X.shape[1]
        return self

    def predict(self, X):
        return X[:, 0] * X[:, 1]


def noisy_table(rng, n, share, factor=1.0):
    """Targets are noisy where the flag is set."""
    X = np.column_stack([rng.normal(size=n), rng.random(n) < share])
    return X, X[:, 0] + factor * (1 + 3 * X[:, 1]) * rng.normal(size=n)


@pytest.mark.thorough
@pytest.mark.parametrize("change_of", ["nothing", "columns", "targets"])
def test_parts_of_the_loss(change_of):
    """A larger share of noisy rows is a change of columns; more noise is not."""
    rng = np.random.default_rng(0)
    model = FrozenEstimator(LinearRegression().fit(*noisy_table(rng, 500, 0.2)))
    share, factor = {"nothing": (0.2, 1), "columns": (0.7, 1), "targets": (0.2, 3)}[
        change_of
    ]
    columns = targets = 0
    for seed in range(25):
        rng = np.random.default_rng([seed, 4])
        (old, y), (new, y_new) = (
            noisy_table(rng, 800, 0.2),
            noisy_table(rng, 800, share, factor),
        )
        inspector = ChangeAttribution(model, random_state=seed).fit(old, y)
        loss = inspector.compare(new, y_new).loss
        columns += loss.adjusted_pvalues[1] < 0.05 and loss.values[1] > 0
        targets += loss.adjusted_pvalues[2] < 0.05
    if change_of == "columns":
        assert columns >= 24
        assert targets <= 4
    elif change_of == "targets":
        assert targets >= 24
        assert columns <= 4
    else:
        assert targets + columns <= 4


def test_old_losses_are_held_out():
    """A model that knows its training rows by heart has a loss on them all the same."""
    model = DecisionTreeRegressor(random_state=0)
    change = ChangeAttribution(model, cv=3).fit(X, Y).compare(X_NEW, Y_NEW)
    assert change.loss.old > 0.1
    frozen = FrozenEstimator(model.fit(X, Y))
    assert ChangeAttribution(frozen).fit(X, Y).compare(X_NEW, Y_NEW).loss.old == 0


def test_classes():
    X, y = make_classification(
        120, 4, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1
    )
    for model, old in [
        (RandomForestClassifier(5, max_depth=3), 1e-10),
        (GradientBoostingClassifier(n_estimators=5), 1e-10),
    ]:
        inspector = ChangeAttribution(model, n_permutations=2).fit(X, y)
        change = inspector.compare(X[:50] + 0.5, y[:50])
        assert change.values.shape == (4, 3)
        assert change.old.shape == (3,)
        assert total(change) < old
        assert change.response_name == "probability"
        assert change.loss.response_name == "log_loss"
        assert change.loss.values.shape == (5,)
        assert "output" in change.to_frame()
        one = ChangeAttribution(model, target=2).fit(X, y).compare(X[:50] + 0.5)
        assert one.values.shape == (4,)
        assert one.output_names == [2]
    binary = ChangeAttribution(LogisticRegression()).fit(X, y > 0)
    assert binary.compare(X).values.shape == (4,)
    without = ChangeAttribution(SVC(), n_permutations=2, cv=2, loss="zero_one")
    without.fit(X, y > 0)
    assert without.compare(X, y > 0).loss.response_name == "zero_one"


def frames():
    old = pd.DataFrame(X, columns=list("abcd"))
    old["level"] = pd.Categorical(RNG.choice(["low", "high"], len(X)))
    new = pd.DataFrame(X_NEW, columns=list("abcd"))
    new["level"] = pd.Categorical(
        RNG.choice(["low", "high"], len(X_NEW)), categories=["high", "low"]
    )
    encoder = OneHotEncoder(handle_unknown="ignore")
    transformer = make_column_transformer((encoder, ["level"]), remainder="passthrough")
    return old, new, transformer


@pytest.mark.parametrize("model", [Ridge(), SVR()])
def test_frames_of_categories(model):
    old, new, transformer = frames()
    old_copy, new_copy = old.copy(), new.copy()
    inspector = ChangeAttribution(make_pipeline(transformer, model)).fit(old, Y)
    change = inspector.compare(new, Y_NEW)
    assert change.feature_names == [*"abcd", "level"]
    assert max(total(change), total(change.loss)) < 1e-10
    pd.testing.assert_frame_equal(old, old_copy)
    pd.testing.assert_frame_equal(new, new_copy)


def test_frames_of_polars():
    polars = pytest.importorskip("polars")
    old, new = (polars.DataFrame(each, schema=list("abcd")) for each in (X, X_NEW))
    change = ChangeAttribution(SVR(), random_state=0).fit(old, Y).compare(new, Y_NEW)
    expected = ChangeAttribution(SVR(), random_state=0).fit(X, Y)
    assert_allclose(change.values, expected.compare(X_NEW, Y_NEW).values)
    assert change.feature_names == list("abcd")


def test_one_row_of_one_feature():
    model = FrozenEstimator(LinearRegression().fit([[0.0], [1.0]], [0.0, 2.0]))
    with pytest.warns(UserWarning, match="two rows"):
        inspector = ChangeAttribution(model).fit([[1.0]], [2.0], [1.0])
    with pytest.warns(UserWarning, match="two rows"):
        change = inspector.compare([[3.0]], [7.0], [1.0])
    assert_allclose(change.values, [4.0])
    assert np.isnan(change.standard_errors).all()
    assert change.pvalues.tolist() == [1.0]
    assert_allclose(change.loss.values.sum(), 1.0)


def test_columns_of_one_value():
    X = np.column_stack([np.arange(20.0), np.ones(20), np.zeros(20)])
    model = FrozenEstimator(LinearRegression().fit(RNG.normal(size=(9, 3)), range(9)))
    change = ChangeAttribution(model).fit(X).compare(X + [0, 0, 1])
    assert change.values[1] == 0
    assert change.pvalues[1] == 1
    # All rows moved: one of as many divisions of the rows into two tables.
    assert change.standard_errors[2] < 1e-12
    assert 0 < change.pvalues[2] < 1e-9
    same = ChangeAttribution(model).fit(X[:2]).compare(X[:2] + [0, 0, 1])
    assert same.pvalues[2] > 0.3


def test_several_tables():
    inspector = ChangeAttribution(Ridge(), random_state=0).fit(X, Y)
    changes = inspector.compare({"May": (X, Y), "June": (X_NEW, Y_NEW), "July": X_NEW})
    assert isinstance(changes, Changes)
    assert list(changes) == ["May", "June", "July"]
    alone = inspector.compare(X_NEW, Y_NEW)
    assert_allclose(changes["June"].values, alone.values)
    assert_allclose(changes["June"].loss.values, alone.loss.values)
    # Each is one of three in the correction.
    assert (changes["June"].adjusted_pvalues >= alone.adjusted_pvalues).all()
    assert changes["July"].loss is None
    frame = changes.to_frame()
    assert frame["table"].value_counts().to_dict() == {"May": 9, "June": 9, "July": 4}
    assert "June\nmean prediction" in str(changes)
    assert changes._repr_html_().startswith("<pre>")


def test_texts_and_tables():
    change = ChangeAttribution(Ridge()).fit(X, Y).compare(X_NEW, Y_NEW)
    assert isinstance(change, Change)
    frame = change.to_frame()
    assert frame["response"].tolist() == ["prediction"] * 4 + ["squared_error"] * 5
    assert frame["feature"][0] == "x1"
    assert repr(change) == str(change) == change.to_text()
    assert_allclose(frame["change"][:4].sum(), change.new - change.old)
    assert "targets given features" in change.to_text()
    assert change._repr_html_().count("mean ") == 2


def test_callable_losses_and_none():
    def pinball(y, prediction):
        return np.maximum(0.9 * (y - prediction), 0.1 * (prediction - y))

    change = ChangeAttribution(Ridge(), loss=pinball).fit(X, Y).compare(X_NEW, Y_NEW)
    assert change.loss.response_name == "pinball"
    assert total(change.loss) < 1e-10
    none = ChangeAttribution(Ridge(), loss=None).fit(X, Y).compare(X_NEW, Y_NEW)
    assert none.loss is None


def test_bad_input():
    inspector = ChangeAttribution(FrozenEstimator(Ridge().fit(X, Y))).fit(X)
    with pytest.raises(ValueError, match="pass y to fit"):
        inspector.compare(X_NEW, Y_NEW)
    with pytest.raises(ValueError, match="dict of tables"):
        inspector.compare({"May": X_NEW}, Y_NEW)
    with pytest.raises(ValueError, match="dict of tables"):
        inspector.compare({})
    with pytest.raises(ValueError, match="features"):
        inspector.compare(X_NEW[:, :2])
