"""The display of importances: its contract, and what it draws."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.statistics.refits import Splits, learner_half_width
from sklearn_interpret.importance import (
    SAGE,
    DropColumnImportance,
    PartialDependenceImportance,
    PermutationImportance,
    PermutationImportanceDisplay,
    PermutationTest,
)
from tests.figures import all_texts, draw
from tests.importance.quick import linear_table

NAMES = ["first", "second", "third", "fourth"]


def draws(n_features=4, n_draws=6, scale=1.0, seed=0):
    """Importances, the first features' the largest, and some below zero."""
    rng = np.random.default_rng(seed)
    means = np.linspace(2, -0.2, n_features)[:, None]
    return scale * (means + 0.1 * rng.normal(size=(n_features, n_draws)))


def shown(values, names=None, **arguments):
    """A display of arrays, drawn."""
    looks = {
        name: arguments.pop(name)
        for name in ("kind", "max_entries", "bar_kw", "ax")
        if name in arguments
    }
    if names is None:
        names = [f"x{i}" for i in range(len(values))]
    display = PermutationImportanceDisplay(values, feature_names=names, **arguments)
    return display.plot(**looks)


def with_null(n_features=4, **arguments):
    """Constructor arguments of a permutation test."""
    rng = np.random.default_rng(1)
    null = np.abs(rng.normal(size=(30, n_features)))
    return {
        "null_importances": null,
        "pvalues": np.linspace(0.01, 0.9, n_features),
        "alpha": 0.05,
        **arguments,
    }


def lengths(bars):
    return np.array([patch.get_width() for patch in bars.patches])


def names(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def legend_texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


@pytest.fixture(scope="module")
def regression():
    X, y = linear_table()
    X = pd.DataFrame(X, columns=NAMES)
    return LinearRegression().fit(X[:40], y[:40]), X, y


EVERY_KIND = [
    {},
    {"test_importances": draws(seed=3)},
    {"kind": "box"},
    {"kind": "box", "test_importances": draws(seed=3)},
    {"draws_name": "folds"},
    with_null(),
    with_null(kind="box"),
]
every_kind = pytest.mark.parametrize("arguments", EVERY_KIND)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("n_features", [1, 300])
@pytest.mark.parametrize("kind", ["bar", "box"])
def test_all_sizes(n_features, kind):
    for arguments in ({}, {"test_importances": draws(n_features, seed=5)}):
        display = shown(draws(n_features), kind=kind, **arguments)
        display.figure_.canvas.draw()
        width, height = display.figure_.get_size_inches()
        assert 4 < width < 12
        assert 2 < height < 12
    display = shown(draws(n_features), kind=kind, **with_null(n_features))
    display.figure_.canvas.draw()
    assert len(display.to_frame()) == n_features * 7


@pytest.mark.thorough(after=3)
@every_kind
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e300])
def test_all_magnitudes(arguments, scale):
    arguments = dict(arguments)
    for name in ("test_importances", "null_importances"):
        if name in arguments:
            arguments[name] = scale * arguments[name]
    display = shown(draws(scale=scale), **arguments)
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    assert np.isfinite([low, high]).all()
    assert low < high
    assert np.isfinite(display.to_frame()["importance"]).all()


@every_kind
def test_names_are_drawn_literally(arguments):
    odd = [r"$\frac{broken$", "_under_", "<b>&^x$", "a_feature_that_goes_on_" * 9]
    display = shown(draws(), odd, importance_name="$ of\n_score_", **arguments)
    texts = all_texts(display.figure_)
    for name in [*odd[:3], "$ of_score_"]:
        assert any(name in text for text in texts), name
    assert all(len(text) < 80 for text in texts)


def test_bars_are_means_from_the_largest_down():
    values = draws()[[2, 0, 3, 1]]
    display = shown(values, ["c", "a", "d", "b"])
    (bars,) = display.bars_
    assert names(display) == ["a", "b", "c", "d"]
    means = values.mean(axis=1)[[1, 3, 0, 2]]
    assert_allclose(lengths(bars), means)
    heights = [patch.get_y() + patch.get_height() / 2 for patch in bars.patches]
    assert_allclose(heights, [3, 2, 1, 0])
    ends = np.array([s[:, 0] for s in display.spreads_[0].get_segments()])
    spread = values.std(axis=1)[[1, 3, 0, 2]]
    assert_allclose(ends, np.column_stack([means - spread, means + spread]))
    assert legend_texts(display) == ["± 1 std of 6 repeats"]
    written = [t.get_text().replace("\N{MINUS SIGN}", "-") for t in display.labels_]
    # The largest has three digits, and all have its decimals.
    assert written == [f"{mean:.2f}" for mean in means]
    low, high = display.ax_.get_xlim()
    assert low < ends.min() < ends.max() < high


def test_plain_numbers_have_plain_bars():
    display = shown([0.5, 2.0])
    assert display.legend_ is None
    assert display.spreads_ == display.points_ == []
    assert display.ax_.get_xlim()[0] == 0
    assert [text.get_text() for text in display.labels_] == ["2.0", "0.5"]


def test_train_and_test_stand_side_by_side():
    train, test = draws(), draws(seed=7)[::-1]
    display = shown(train, NAMES, test_importances=test)
    assert legend_texts(display) == ["train", "test", "± 1 std of 6 repeats"]
    order = np.argsort(-np.maximum(train.mean(axis=1), test.mean(axis=1)))
    assert names(display) == [NAMES[j] for j in order]
    for bars, values in zip(display.bars_, (train, test), strict=True):
        assert_allclose(lengths(bars), values.mean(axis=1)[order])
    upper, lower = (bars.patches[0] for bars in display.bars_)
    assert upper.get_y() == pytest.approx(lower.get_y() + lower.get_height())
    assert to_hex(upper.get_facecolor()) != to_hex(lower.get_facecolor())
    assert display.labels_ == []
    frame = display.to_frame()
    assert frame.columns.tolist() == [
        "feature",
        "sample",
        "importance",
        "std",
        "repeat",
    ]
    means = frame[frame["repeat"].isna()]
    assert means["sample"].tolist() == ["train"] * 4 + ["test"] * 4
    expected = np.r_[train.mean(axis=1)[order], test.mean(axis=1)[order]]
    assert_allclose(means["importance"], expected)
    expected = np.r_[train.std(axis=1)[order], test.std(axis=1)[order]]
    assert_allclose(means["std"], expected)
    fourth = frame[frame["repeat"] == 3]
    assert_allclose(fourth["importance"], np.r_[train[order, 3], test[order, 3]])


def test_the_others_have_their_mean():
    values = draws(30)
    display = shown(values, max_entries=6)
    assert names(display)[-1] == "mean of 25 other features"
    distance = np.abs(values.mean(axis=1))
    kept = np.argsort(-distance, kind="stable")[:5]
    rest = np.setdiff1d(np.arange(30), kept)
    assert names(display)[:-1] == [f"x{j}" for j in kept]
    expected = [*values[kept].mean(axis=1), values[rest].mean()]
    assert_allclose(lengths(display.bars_[0]), expected)
    colours = [to_hex(patch.get_facecolor()) for patch in display.bars_[0].patches]
    assert len(set(colours[:-1])) == 1
    assert colours[-1] != colours[0]
    assert display.to_frame()["feature"].nunique() == 30
    display.plot(max_entries=None)
    assert len(names(display)) == 30


def test_what_is_far_below_none_is_shown():
    display = shown([3.0, 0.1, -2.0, 0.2, 0.0], list("abcde"), max_entries=3)
    assert names(display) == ["a", "c", "mean of 3 other features"]
    # Beside the line of no effect, where the bar leaves room.
    assert [text.xy[0] for text in display.labels_] == pytest.approx([3, 0, 0.1])
    assert display.labels_[1].get_text() == "\N{MINUS SIGN}2.0"
    far = shown([0.0, 0.1], list("ab"), test_importances=[-5.0, 0.2], max_entries=1)
    assert names(far) == ["mean of 2 other features"]


def test_ratios_start_at_one():
    display = shown([1.5, 0.9, 1.0], list("abc"), no_effect=1.0)
    assert names(display) == ["a", "c", "b"]
    starts = [patch.get_x() for patch in display.bars_[0].patches]
    assert_allclose(starts, [1, 1, 1])
    assert_allclose(lengths(display.bars_[0]), [0.5, 0, -0.1])
    low, high = display.ax_.get_xlim()
    assert 0.8 < low < 0.9
    assert 1.5 < high < 1.7
    assert [text.xy[0] for text in display.labels_] == [1.5, 1, 1]


def test_inspectors_say_where_there_is_no_effect(regression):
    model, X, y = regression
    for comparison, start in (("ratio", 1.0), ("difference", 0.0)):
        display = PermutationImportanceDisplay.from_estimator(
            model, X, y, comparison=comparison, random_state=0
        )
        assert display.no_effect == start


def test_boxes_hold_the_quartiles():
    values = draws(3, 9)
    display = shown(values, kind="box")
    quartiles = np.quantile(values, [0.25, 0.75], axis=1)
    boxes = display.bars_[0].patches
    assert_allclose([box.get_x() for box in boxes], quartiles[0])
    assert_allclose(lengths(display.bars_[0]), np.diff(quartiles, axis=0)[0])
    ends = np.array([s[:, 0] for s in display.spreads_[0].get_segments()])
    assert_allclose(ends, np.c_[values.min(axis=1), values.max(axis=1)])
    assert legend_texts(display) == ["range of 9 repeats"]
    with pytest.raises(ValueError, match=r"kind=\"box\" shows the draws"):
        shown([1.0, 2.0], kind="box")


def test_folds_are_points():
    values = draws(3, 4)
    display = shown(values, draws_name="folds")
    (points,) = display.points_
    offsets = np.asarray(points.get_offsets())
    assert_allclose(offsets[:, 0], values.ravel())
    assert_allclose(offsets[:, 1], np.repeat([2, 1, 0], 4))
    assert display.spreads_ == []
    assert legend_texts(display) == ["4 folds"]
    frame = display.to_frame()
    assert frame["fold"].isna().sum() == 3
    assert_allclose(frame[frame["fold"] == 2]["importance"], values[:, 2])


def test_standard_errors():
    display = PermutationImportanceDisplay(
        [3.0, 1.0, 2.0], feature_names=list("abc"), standard_errors=[0.1, 0.3, 0.2]
    ).plot(max_entries=2)
    (spread,) = display.spreads_
    reach = [segment[:, 0] for segment in spread.get_segments()]
    assert_allclose(reach, [[2.8, 3.2], [1.5, 1.5]])
    assert display.legend_.get_texts()[0].get_text() == "± 2 standard errors"
    assert display.to_frame()["standard_error"].tolist() == [0.1, 0.2, 0.3]


def test_null_distributions_and_pvalues():
    arguments = with_null()
    display = shown([2.0, 1.0, 0.5, 0.1], NAMES, **arguments)
    ends = np.array([s[:, 0] for s in display.null_.get_segments()])
    null = arguments["null_importances"]
    assert_allclose(ends, np.quantile(null, [0.05, 0.95], axis=0).T)
    texts = [text.get_text() for text in display.labels_]
    assert texts == ["p = 0.01", "p = 0.307", "p = 0.603", "p = 0.9"]
    alphas = [patch.get_alpha() for patch in display.bars_[0].patches]
    assert alphas[0] is None
    assert all(alpha < 1 for alpha in alphas[1:])
    assert legend_texts(display) == ["null: 5 % to 95 %", "p ≥ 0.05"]
    frame = display.to_frame()
    assert_allclose(frame["pvalue"], arguments["pvalues"])
    folded = shown([2.0, 1.0, 0.5, 0.1], NAMES, max_entries=2, **arguments)
    assert [text.get_text() for text in folded.labels_] == ["p = 0.01", ""]
    assert len(folded.null_.get_segments()) == 2
    tiny = shown([1.0], ["a"], pvalues=[1e-9])
    assert [text.get_text() for text in tiny.labels_] == ["p < 0.0001"]


def test_null_distributions_as_boxes():
    arguments = with_null()
    display = shown([2.0, 1.0, 0.5, 0.1], NAMES, kind="box", **arguments)
    assert display.null_ is display.bars_[0]
    low, high = np.quantile(arguments["null_importances"], [0.25, 0.75], axis=0)
    assert_allclose(lengths(display.null_), high - low)
    (points,) = display.points_
    assert_allclose(points.get_offsets()[:, 0], [2.0, 1.0, 0.5, 0.1])
    assert legend_texts(display) == ["importance", "30 null importances"]


@pytest.mark.parametrize("count", [0, -3, 2.5, True, "all"])
def test_numbers_of_lines(count):
    with pytest.raises(ValueError, match=r"max_entries=.*positive whole number"):
        shown(draws(), max_entries=count)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"kind": "violin"}, "kind='violin' must be one of bar, box"),
        ({"names": list("abc")}, r"importances has the shape \(4, 6\).*for 3"),
        ({"test_importances": np.ones(3)}, r"test_importances has the shape \(3,\)"),
        ({"null_importances": np.ones((4, 9))}, "null_importances has the shape"),
        ({"pvalues": np.ones((4, 2))}, r"pvalues has the shape \(4, 2\)"),
        ({"pvalues": np.full(4, np.nan)}, "pvalues is not finite.*position 0"),
        (
            {"test_importances": [1, 2, np.inf, np.nan]},
            "test_importances is not finite.*position 2",
        ),
    ],
)
def test_arrays_that_do_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        shown(draws(), **arguments)


def test_style():
    display = shown(draws(), bar_kw={"fc": "red"})
    assert to_hex(display.bars_[0].patches[0].get_facecolor()) == "#ff0000"


def test_predictors_are_inspected_as_they_are(regression, monkeypatch):
    model, X, y = regression
    before, coefficients = X.copy(), model.coef_.copy()
    display = PermutationImportanceDisplay.from_estimator(
        model, X[:40], y[:40], n_repeats=3, random_state=0, max_entries=3
    )
    inspector = PermutationImportance(
        FrozenEstimator(model), n_repeats=3, random_state=0
    ).fit(X[:40], y[:40])
    assert_array_equal(display.importances, inspector.importances_)
    assert display.feature_names == NAMES
    assert len(names(display)) == 3
    pd.testing.assert_frame_equal(X, before)
    assert_array_equal(model.coef_, coefficients)
    label = display.ax_.get_xlabel()
    assert label == "Permutation importance\n(decrease of R²)"
    monkeypatch.setattr(PermutationImportance, "fit", None)
    again = PermutationImportanceDisplay.from_estimator(inspector)
    pd.testing.assert_frame_equal(display.to_frame(), again.to_frame())


def test_over_fitting_shows_as_the_difference(regression):
    _, X, y = regression
    noisy = y + 2 * np.random.default_rng(0).normal(size=len(y))
    model = DecisionTreeRegressor(random_state=0).fit(X[:40], noisy[:40])
    arguments = {"n_repeats": 4, "random_state": 0}
    display = PermutationImportanceDisplay.from_estimator(
        model, X[:40], noisy[:40], X_test=X[40:], y_test=noisy[40:], **arguments
    )
    inspector = PermutationImportance(FrozenEstimator(model), **arguments)
    held_out = inspector.fit(X[40:], noisy[40:]).importances_
    assert_array_equal(display.test_importances, held_out)
    noise = [NAMES.index(name) for name in ("third", "fourth")]
    gap = display.importances.mean(axis=1) - held_out.mean(axis=1)
    assert (gap[noise] > 0.1).all()
    fitted = inspector.fit(X[:40], noisy[:40])
    again = PermutationImportanceDisplay.from_estimator(
        fitted, X_test=X[40:], y_test=noisy[40:]
    )
    pd.testing.assert_frame_equal(display.to_frame(), again.to_frame())


def test_weights_of_both_samples(regression):
    model, X, y = regression
    weights = np.r_[np.ones(15), np.zeros(5)]
    one = PermutationImportanceDisplay.from_estimator(
        model,
        X[:20],
        y[:20],
        X_test=X[20:40],
        y_test=y[20:40],
        sample_weight=weights,
        test_sample_weight=weights,
        random_state=0,
    )
    other = PermutationImportanceDisplay.from_estimator(
        model, X[:15], y[:15], X_test=X[20:35], y_test=y[20:35], random_state=0
    )
    assert_allclose(one.importances, other.importances)
    assert_allclose(one.test_importances, other.test_importances)


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    "make, text, has",
    [
        (
            lambda: DropColumnImportance(LinearRegression(), cv=3),
            "Drop-column importance\n(decrease of R² without the feature)",
            "points_",
        ),
        (
            lambda: PartialDependenceImportance(LinearRegression()),
            "Partial dependence importance\n(standard deviation of the curve)",
            "labels_",
        ),
        (
            lambda: PermutationTest(
                LinearRegression(), n_permutations=9, importance_getter="auto"
            ),
            "The model's own importance",
            "null_",
        ),
        (
            lambda: PermutationTest(LinearRegression(), n_permutations=9),
            "Importance on held-out rows\n(mean increase of loss / its rms)",
            "null_",
        ),
        (
            lambda: PermutationImportance(
                LinearRegression(),
                scoring="neg_mean_absolute_error",
                comparison="ratio",
                n_repeats=2,
            ),
            "Permutation importance\n(ratio of losses: neg_mean_absolute_error)",
            "spreads_",
        ),
        (
            lambda: PermutationImportance(
                LinearRegression(), conditional=True, method="exact", scoring="r2"
            ),
            "Conditional permutation importance\n(decrease of r2)",
            "labels_",
        ),
        (
            lambda: SAGE(LinearRegression()),
            "SAGE value\n(decrease of squared error)",
            "labels_",
        ),
    ],
)
def test_every_inspector_of_the_family(regression, make, text, has):
    _, X, y = regression
    inspector = make().fit(X, y)
    display = PermutationImportanceDisplay.from_estimator(inspector)
    draw(display.figure_)
    assert display.ax_.get_xlabel() == text
    assert getattr(display, has)
    assert_array_equal(display.importances, inspector.importances_)
    if not isinstance(inspector, PermutationImportance):
        with pytest.raises(TypeError, match="repeats a PermutationImportance on test"):
            PermutationImportanceDisplay.from_estimator(inspector, X_test=X, y_test=y)


@pytest.mark.thorough
def test_errors_of_sampled_values_are_drawn():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 5))
    sage = SAGE(KNeighborsRegressor(), method="sampling", random_state=0)
    sage.fit(rows, rows.prod(axis=1))
    assert PermutationImportanceDisplay.from_estimator(sage).spreads_


def test_one_of_several_scores(regression):
    model, X, y = regression
    asked = {"scoring": ["r2", "neg_mean_absolute_error"], "n_repeats": 2}
    display = PermutationImportanceDisplay.from_estimator(
        model, X, y, **asked, random_state=0, score_name="neg_mean_absolute_error"
    )
    asked["scoring"] = "neg_mean_absolute_error"
    other = PermutationImportanceDisplay.from_estimator(
        model, X, y, **asked, random_state=0
    )
    assert_allclose(display.importances, other.importances)
    assert "decrease of neg_mean_absolute_error" in display.ax_.get_xlabel()
    with pytest.raises(ValueError, match=r"score_name='mae'.*'neg_mean_absolute"):
        PermutationImportanceDisplay.from_estimator(
            model, X, y, **asked, score_name="mae"
        )


def test_targets_of_a_test_sample_need_its_rows(regression):
    model, X, y = regression
    with pytest.raises(ValueError, match="need X_test"):
        PermutationImportanceDisplay.from_estimator(model, X, y, y_test=y)


@pytest.fixture(scope="module")
def folds(regression):
    _, X, y = regression
    results = cross_validate(
        LinearRegression(), X, y, cv=3, return_estimator=True, return_indices=True
    )
    return results, X, y


def test_folds_have_their_own_rows(folds):
    results, X, y = folds
    asked = {"n_repeats": 2, "random_state": 0}
    display = PermutationImportanceDisplay.from_cv_results(results, X, y, **asked)
    for fold, model in enumerate(results["estimator"]):
        for part, values in (
            ("train", display.importances),
            ("test", display.test_importances),
        ):
            index = results["indices"][part][fold]
            alone = PermutationImportance(FrozenEstimator(model), **asked)
            alone.fit(X.iloc[index], y[index])
            assert_allclose(values[:, fold], alone.importances_mean_)
    texts = ["train", "test", "3 folds", "learner's value, 95 %"]
    assert legend_texts(display) == texts
    sizes = [len(part) for part in (index, results["indices"]["train"][fold])]
    reach = learner_half_width(display.importances.T, Splits(sizes[0] / sizes[1]))
    frame = display.to_frame()
    frame = frame[frame["fold"].isna()]
    for _, rows in frame.groupby("sample"):
        order = [list(X.columns).index(name) for name in rows["feature"]]
        assert_allclose(rows["low"], rows["importance"] - reach[order], rtol=0.01)
        assert_allclose(rows["high"], rows["importance"] + reach[order], rtol=0.01)
    assert len(display.spreads_) == 2
    assert len(display.points_) == 2
    with pytest.raises(ValueError, match="but X has 40 rows: pass the rows that went"):
        PermutationImportanceDisplay.from_cv_results(results, X[:40], y[:40])


def test_folds_without_indices_share_all_rows(folds):
    results, X, y = folds
    results = {"estimator": results["estimator"]}
    display = PermutationImportanceDisplay.from_cv_results(
        results, X, y, n_repeats=2, random_state=0, kind="box"
    )
    alone = [
        PermutationImportance(FrozenEstimator(model), n_repeats=2, random_state=0)
        .fit(X, y)
        .importances_mean_
        for model in results["estimator"]
    ]
    assert_allclose(display.importances, np.transpose(alone))
    assert display.test_importances is None
    with pytest.raises(ValueError, match="return_estimator=True"):
        PermutationImportanceDisplay.from_cv_results({}, X, y)


def test_folds_of_inspectors(folds):
    results, X, y = folds
    inspector = PermutationImportance(LinearRegression(), n_repeats=2, random_state=0)
    of_inspectors = cross_validate(
        inspector, X, y, cv=3, return_estimator=True, return_indices=True
    )
    one = PermutationImportanceDisplay.from_cv_results(of_inspectors, X, y)
    other = PermutationImportanceDisplay.from_cv_results(
        results, X, y, n_repeats=2, random_state=0
    )
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())
    spreads = PartialDependenceImportance(LinearRegression(), grid_resolution=4)
    of_spreads = cross_validate(spreads, X, y, cv=3, return_estimator=True)
    display = PermutationImportanceDisplay.from_cv_results(of_spreads, X, y)
    expected = [one.importances_mean_ for one in of_spreads["estimator"]]
    assert_allclose(display.importances, np.transpose(expected))


def test_fitted_inspectors_of_folds_are_shown_as_they_are(folds, monkeypatch):
    _, X, y = folds
    inspector = PermutationImportance(LinearRegression(), n_repeats=2, random_state=0)
    results = cross_validate(inspector, X, y, cv=3, return_estimator=True)
    other = PartialDependenceImportance(LinearRegression()).fit(X, y)
    monkeypatch.setattr(PermutationImportance, "fit", None)
    display = PermutationImportanceDisplay.from_cv_results(results, X, y)
    expected = [one.importances_mean_ for one in results["estimator"]]
    assert_allclose(display.importances, np.transpose(expected))
    assert display.test_importances is None
    mixed = {"estimator": [results["estimator"][0], other]}
    with pytest.raises(ValueError, match="different quantities, which cannot"):
        PermutationImportanceDisplay.from_cv_results(mixed, X, y)


def test_legend_says_what_pale_bars_are():
    display = PermutationImportanceDisplay(
        [0.1, 0.5], feature_names=["a", "b"], pvalues=[0.4, 0.01], alpha=0.05
    ).plot()
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["p ≥ 0.05"]
    display = PermutationImportanceDisplay(
        [0.1, 0.5], feature_names=["a", "b"], pvalues=[0.04, 0.01], alpha=0.05
    ).plot()
    assert display.legend_ is None
