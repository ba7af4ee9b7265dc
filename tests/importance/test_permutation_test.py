"""The permutation test of importances (PIMP)."""

from functools import partial
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import DataConversionWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.statistics.permutations import DISTRIBUTIONS, upper_tail
from sklearn_interpret._model.replacement.all_pairs import loss_increases
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.exceptions import FixedSumWarning
from sklearn_interpret.importance import PermutationImportance, PermutationTest
from tests.importance.quick import Covariances, linear_table, mixed_frame

X, Y = linear_table()

# The test of the importances that models have themselves.
of_its_own = partial(PermutationTest, importance_getter="auto")


@pytest.mark.thorough
def test_pvalues_of_noise_are_uniform():
    """Of features next to a real one, which has the smallest p-value there is."""
    rng = np.random.default_rng(0)
    noise, real = [], []
    for seed in range(100):
        X = rng.normal(size=(40, 3))
        y = X[:, 0] + rng.normal(size=40)
        test = of_its_own(Covariances(), n_permutations=19, random_state=seed)
        pvalues = test.fit(X, y).pvalues_
        real.append(pvalues[0])
        noise += pvalues[1:].tolist()
    counts = np.bincount(np.round(20 * np.array(noise)).astype(int), minlength=21)
    assert counts[0] == 0
    assert stats.chisquare(counts[1:]).pvalue > 0.01
    assert np.mean(np.array(real) <= 0.05) > 0.95


@pytest.mark.thorough
@pytest.mark.parametrize(
    "model, n_tables",
    [(LinearRegression(), 15), (DecisionTreeRegressor(max_depth=3, random_state=0), 5)],
)
def test_pvalues_hold_next_to_a_strong_feature(model, n_tables):
    """Those of noise are uniform, and a weaker feature is found."""
    found = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 5))
        y = 4 * X[:, 0] + 2 * X[:, 1] + 0.5 * rng.normal(size=60)
        test = PermutationTest(model, n_permutations=9, random_state=seed)
        found.append(test.fit(X, y).pvalues_)
    found = np.array(found)
    counts = np.bincount(np.rint(10 * found[:, 2:]).astype(int).ravel(), minlength=11)
    assert counts[0] == 0
    assert (found[:, :2] == 0.1).mean(axis=0).min() >= 0.9
    if isinstance(model, LinearRegression):
        assert stats.chisquare(counts[1:]).pvalue > 0.01
    # Where a tree leaves noise alone, it has no importance, and no small p-value.
    assert counts[1] <= 0.2 * counts.sum()


def test_importances_of_held_out_rows_by_a_plain_loop():
    """The tree's importances are those over all pairs of rows of a fold."""
    X, y = linear_table(20)
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X[:10], y[:10])
    sample = Sample.of_positive_weight(as_rows(X[10:]), y[10:], np.arange(1.0, 11.0))
    increases = loss_increases(model, sample, [(0,), (1, 3)], np.array([2.0]), None)
    weights = sample.weights / sample.weights.sum()
    for found, columns in zip(increases, [[0], [1, 3]], strict=True):
        for i, row in enumerate(X[10:]):
            hybrid = np.tile(row, (10, 1))
            hybrid[:, columns] = X[10:, columns]
            errors = 2 * (model.predict(hybrid) - y[10 + i]) ** 2
            before = 2 * (model.predict(row[None])[0] - y[10 + i]) ** 2
            assert found[i] == pytest.approx(weights @ errors - before, abs=1e-12)


def test_importances_of_held_out_rows_have_no_scale():
    X, y = linear_table(50)
    first, other = (
        PermutationTest(LinearRegression(), n_permutations=4, random_state=0)
        for _ in range(2)
    )
    first.fit(X, y)
    other.fit(X * [1, 100, 0.01, 1], 1000 * y - 7)
    assert_allclose(other.importances_, first.importances_, atol=1e-9)
    assert (np.abs(first.importances_) <= 1).all()


@pytest.mark.parametrize("getter", ["auto", "feature_importances_"])
def test_importances_of_a_fixed_sum_are_warned_of(getter):
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    test = PermutationTest(
        tree, n_permutations=4, importance_getter=getter, random_state=0
    )
    with pytest.warns(FixedSumWarning, match="sum to 1 for all targets"):
        test.fit(X, Y)
    of_its_own(LinearRegression(), n_permutations=4).fit(X, Y)  # without a warning
    of_its_own(tree, n_permutations=4).fit(X[:, :1], Y)  # nothing to share with


@pytest.mark.thorough
def test_classes_that_are_rare():
    """A class that a fold has never seen is no error, and labels may be any."""
    X, _ = linear_table(30)
    y = np.where(X[:, 0] > 0, "yes", "no").astype(object)
    y[3] = "perhaps"
    for model in (RandomForestClassifier(3, random_state=0), LinearSVC()):
        test = PermutationTest(model, n_permutations=9, random_state=0).fit(X, y)
        assert test.pvalues_[0] == 0.1


def test_what_the_held_out_importances_need():
    X, y = linear_table(30)
    with pytest.raises(
        ValueError, match=r"two folds of at least two rows.*n_samples = 3"
    ):
        PermutationTest(LinearRegression()).fit(X[:3], y[:3])
    both = np.column_stack([y > 0, y > 1])
    with pytest.raises(ValueError, match=r"one target, but y has the shape \(30, 2\)"):
        PermutationTest(RandomForestClassifier(2, random_state=0)).fit(X, both)
    outputs = np.column_stack([y, 1000 * X[:, 2]])
    test = PermutationTest(LinearRegression(), n_permutations=9, random_state=0)
    assert test.fit(X, outputs).pvalues_[[0, 2]].tolist() == [0.1, 0.1]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(5, max_depth=4, random_state=0),
        RandomForestClassifier(5, max_depth=4, random_state=0),
    ],
)
def test_real_features_are_found_in_forests(model):
    """Also next to a feature of many values, which impurity importances favour."""
    X, y = linear_table(100)
    X[:, :2] = np.sign(X[:, :2])
    y = 2 * X[:, 0] - X[:, 1]
    if isinstance(model, RandomForestClassifier):
        y = y > 0
    test = PermutationTest(model, n_permutations=15, random_state=0, alpha=0.1)
    test.fit(X, y)
    assert test.pvalues_[0] == 1 / 16
    assert (test.pvalues_[2:] > 0.1).all()
    assert test.get_support()[0]
    assert not test.get_support()[2:].any()


def test_pvalues_count_the_null_importances():
    test = of_its_own(LinearRegression(), n_permutations=25, random_state=0)
    test.fit(X, Y)
    assert test.null_importances_.shape == (25, 4)
    assert_allclose(test.importances_[:, 0], np.abs(test.estimator_.coef_))
    assert_array_equal(test.importances_mean_, test.feature_importances_)
    counted = 1 + (test.null_importances_ >= test.importances_.T).sum(axis=0)
    assert_allclose(test.pvalues_, counted / 26)
    assert_array_equal(test.get_support(), test.pvalues_ < 0.05)


def test_null_importances_are_those_of_shuffled_targets():
    """A model of one feature: the null is that of all correlations, exactly known."""
    X, y = linear_table(6)
    X = X[:, :1]
    test = of_its_own(Covariances(), n_permutations=400, random_state=0).fit(X, y)
    centred = y - y.mean()
    all_of_them = [abs(np.array(p) @ X[:, 0]) / 6 for p in permutations(centred)]
    found = test.null_importances_[:, 0]
    assert np.isclose(found[:, None], all_of_them, atol=1e-12).any(axis=1).all()
    assert stats.ks_2samp(found, all_of_them).pvalue > 0.01


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_distributions_agree_on_their_own_draws(distribution):
    rng = np.random.default_rng(0)
    draws = {
        "empirical": rng.uniform(size=(2000, 1)),
        "normal": rng.normal(3, 2, size=(2000, 1)),
        "lognormal": rng.lognormal(1, 0.5, size=(2000, 1)),
        "gamma": rng.gamma(2.5, 3.0, size=(2000, 1)),
    }[distribution]
    for share in (0.5, 0.1, 0.02):
        observed = np.quantile(draws, [1 - share])
        assert upper_tail(observed, draws, distribution)[0] == pytest.approx(
            share, rel=0.25
        )


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("n_draws", [2, 5, 20])
@pytest.mark.parametrize("distribution", ["normal", "lognormal"])
def test_pvalues_of_few_draws_are_uniform(distribution, n_draws):
    # One more draw from the null is as likely as any: also in the far tail, where an
    # estimated deviation taken for the true one rejects five times too often.
    draws = np.random.default_rng(0).normal(1, 2, size=(1 + n_draws, 200_000))
    if distribution == "lognormal":
        draws = np.exp(draws)
    pvalues = upper_tail(draws[0], draws[1:], distribution)
    for level in (0.5, 0.05, 0.05 / 40):
        error = np.sqrt(level / len(pvalues))
        assert np.mean(pvalues <= level) == pytest.approx(level, abs=4 * error)


def test_fitted_distributions_at_their_edges():
    null = np.array([[1.0, 2.0, 5.0], [2.0, 2.0, 6.0], [3.0, 2.0, 7.0]])
    observed = np.array([-1.0, 2.0, 6.0])
    for distribution in ("lognormal", "gamma"):
        tail = upper_tail(observed, null, distribution)
        assert tail[0] == 1  # nothing positive is smaller
        assert tail[1] == 1  # draws all alike are counted
        assert 0.3 < tail[2] < 0.7
    normal = upper_tail(observed, null, "normal")
    assert normal[1] == 1
    assert normal[2] == pytest.approx(0.5)


def test_a_distribution_of_positive_numbers_needs_them():
    test = of_its_own(
        DecisionTreeRegressor(max_depth=1, random_state=0),
        n_permutations=8,
        distribution="gamma",
        random_state=0,
    )
    with pytest.raises(ValueError, match=r"distribution='gamma' is for positive.*'x0'"):
        test.fit(X, Y)


def test_frozen_models_are_tested_by_clones_of_theirs():
    model = LinearRegression().fit(X, Y)
    coefficients = model.coef_.copy()
    frozen = of_its_own(FrozenEstimator(model), n_permutations=5, random_state=0)
    fresh = of_its_own(LinearRegression(), n_permutations=5, random_state=0)
    frozen.fit(X, Y)
    fresh.fit(X, Y)
    assert_array_equal(model.coef_, coefficients)
    assert_allclose(frozen.null_importances_, fresh.null_importances_)
    assert_allclose(frozen.pvalues_, fresh.pvalues_)
    with pytest.raises(ValueError, match=r"requires y.*clones of the model"):
        frozen.fit(X)


def test_groups_are_tested_by_their_sum():
    groups = {"first": [0, 2]}
    alone = of_its_own(LinearRegression(), n_permutations=9, random_state=0)
    alone.fit(X, Y)
    test = of_its_own(
        LinearRegression(), n_permutations=9, random_state=0, feature_groups=groups
    ).fit(X, Y)
    assert test.player_names_ == ["first", "x1", "x3"]
    null = alone.null_importances_
    expected = np.column_stack([null[:, 0] + null[:, 2], null[:, 1], null[:, 3]])
    assert_allclose(test.null_importances_, expected)
    assert test.feature_importances_[0] == test.feature_importances_[2]
    assert len(test.pvalues_) == 3
    assert len(test.get_support()) == 4


def test_weights_go_to_every_fit():
    X, y = linear_table(40)
    weights = np.r_[np.ones(20), np.zeros(20)]
    weighted = of_its_own(Covariances(), n_permutations=7, random_state=0)
    weighted.fit(X, y, sample_weight=weights)
    cut = of_its_own(Covariances(), n_permutations=7, random_state=0)
    cut.fit(X[:20], y[:20])
    assert_allclose(weighted.null_importances_, cut.null_importances_)
    assert_allclose(weighted.pvalues_, cut.pvalues_)
    heavy = np.r_[np.full(20, 1000.0), np.full(20, 1e-6)]
    weighted.fit(X, y, sample_weight=heavy)
    # Targets of rows that weigh next to nothing are next to never drawn.
    spread = np.abs(cut.null_importances_).mean(), weighted.null_importances_.mean()
    assert spread[1] == pytest.approx(spread[0], rel=0.5)
    frozen = FrozenEstimator(Covariances().fit(X, y, weights))
    again = of_its_own(frozen, n_permutations=7, random_state=0)
    again.fit(X, y, sample_weight=weights)
    assert_allclose(again.null_importances_, cut.null_importances_)


def test_draws_differ():
    X, y = linear_table(30)
    one, other = (
        of_its_own(Covariances(), n_permutations=6, random_state=seed).fit(X, y)
        for seed in (3, 4)
    )
    assert (other.null_importances_ != one.null_importances_).any()


def test_fit_parameters_reach_every_fit():
    seen = []

    class Listening(LinearRegression):
        def fit(self, X, y, sample_weight=None, note=None):
            seen.append(note)
            return super().fit(X, y, sample_weight)

    X, y = linear_table()
    test = of_its_own(Listening(), n_permutations=3, random_state=0)
    test.fit(X, y, note="heard")
    assert seen == ["heard"] * 4
    assert not hasattr(test, "_given")


def test_where_importances_are_found():
    pipeline = make_pipeline(StandardScaler(), LinearRegression())
    found = [
        PermutationTest(
            pipeline, n_permutations=4, random_state=0, importance_getter=getter
        ).fit(X, Y)
        for getter in (
            "auto",
            "named_steps.linearregression.coef_",
            lambda model: np.abs(model[-1].coef_),
        )
    ]
    for test in found:
        assert_allclose(test.pvalues_, found[0].pvalues_)
        assert_allclose(test.importances_, found[0].importances_)
    labels = np.digitize(Y, [-1, 1])
    test = of_its_own(LogisticRegression(), n_permutations=3, random_state=0)
    test.fit(X, labels)
    coefficients = np.abs(test.estimator_.coef_).sum(axis=0)
    assert_allclose(test.feature_importances_, coefficients)


def test_any_model_inside_of_permutation_importance():
    X, y = linear_table(80)
    inner = PermutationImportance(KNeighborsRegressor(), n_repeats=2, random_state=0)
    test = of_its_own(inner, n_permutations=9, random_state=0).fit(X, y)
    assert test.pvalues_[0] == 0.1
    assert_array_equal(test.feature_importances_, test.estimator_.feature_importances_)


def test_pipelines_that_change_the_columns():
    X, y = mixed_frame()
    encode = make_column_transformer(
        (OneHotEncoder(), ["colour"]), remainder="passthrough"
    )
    pipeline = make_pipeline(encode, LinearRegression())
    test = of_its_own(pipeline, n_permutations=9, random_state=0)
    with pytest.raises(ValueError, match=r"coef_ of shape \(5,\), but X has 3 feat"):
        test.fit(X, y)
    inside = PermutationImportance(pipeline, n_repeats=2, random_state=0)
    test = of_its_own(inside, n_permutations=4, random_state=0, alpha=0.3)
    test.set_output(transform="pandas").fit(X, y)
    assert test.pvalues_[:2].tolist() == [0.2, 0.2]
    kept = test.transform(X)
    assert isinstance(kept, pd.DataFrame)
    assert kept["colour"].dtype == X["colour"].dtype


def test_inside_of_scikit_learn():
    test = PermutationTest(LinearRegression(), n_permutations=19, random_state=0)
    selector = SelectFromModel(test, threshold=0.5).fit(X, Y)
    assert selector.get_support().tolist() == [True, True, False, False]
    pipeline = make_pipeline(test.set_params(alpha=0.2), LinearRegression())
    assert pipeline.fit(X, Y).score(X, Y) > 0.9


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"importance_getter": "weights_"}, "importance_getter='weights_' fails"),
        (
            {"importance_getter": lambda model: np.full(4, np.nan)},
            "returns values that are not finite",
        ),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        of_its_own(LinearRegression(), **parameters).fit(X, Y)


def test_models_without_importances():
    with pytest.raises(ValueError, match="none of coef_, feature_importances_ in the"):
        of_its_own(KNeighborsRegressor()).fit(X, Y)


def test_targets_in_a_column():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = X[:, 0] > 0
    test = PermutationTest(LogisticRegression(), n_permutations=3, random_state=0)
    expected = test.fit(X, y).null_importances_
    with pytest.warns(DataConversionWarning, match="A column-vector y"):
        found = test.fit(X, y[:, None]).null_importances_
    assert_array_equal(found, expected)


def test_weights_count_copies():
    rng = np.random.default_rng(0)
    X, y, weights = rng.random((15, 4)), rng.normal(size=15), rng.integers(0, 4, 15)
    test = PermutationTest(LinearRegression(), n_permutations=5, random_state=0)
    null = clone(test).fit(X, y, sample_weight=weights).null_importances_
    copies = rng.permutation(np.arange(15).repeat(weights))
    again = clone(test).fit(X[copies], y[copies]).null_importances_
    assert_allclose(null, again, rtol=0, atol=1e-9)
    many = clone(test).fit(X, y, sample_weight=99 * weights).null_importances_
    assert np.abs(many - null).max() > 1e-3  # targets are drawn


@pytest.mark.parametrize("routing", [False, True])
def test_copies_have_no_weights_in_pipelines(routing):
    rng = np.random.default_rng(0)
    X, y, weights = rng.random((15, 2)), rng.normal(size=15), rng.integers(1, 4, 15)
    with config_context(enable_metadata_routing=routing):
        last = LinearRegression()
        if routing:
            last.set_fit_request(sample_weight=True)
        model = make_pipeline(FunctionTransformer(), last)
        test = PermutationTest(model, n_permutations=5, random_state=0)
        null = clone(test).fit(X, y, sample_weight=weights).null_importances_
        copies = np.arange(15).repeat(weights)
        again = test.fit(X[copies], y[copies]).null_importances_
    assert_allclose(null, again, rtol=0, atol=1e-9)
