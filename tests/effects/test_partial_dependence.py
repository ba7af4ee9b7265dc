"""Partial dependence: against scikit-learn and its definition, and what it costs."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import RegularGridInterpolator
from sklearn import config_context
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.effects import (
    EffectComparisonDisplay,
    PartialDependence,
    PartialDependenceDisplay,
)
from sklearn_interpret.effects import IndividualConditionalExpectation as ICE
from sklearn_interpret.effects import (
    IndividualConditionalExpectationDisplay as ICEDisplay,
)
from tests.effects.data import classes, encoded, mixed_frame, numeric_table
from tests.references import averages as reference
from tests.references.memory import peak_memory
from tests.references.models import asker, frozen, rows_of

X, Y = numeric_table()

EXACT = {"rtol": 1e-10, "atol": 1e-10}
DISPLAYS = {PartialDependence: PartialDependenceDisplay, ICE: ICEDisplay}


def weights_of(kind, n_rows):
    """No weights, or real ones with a zero among them."""
    if kind == "unweighted":
        return None
    weights = np.random.default_rng(5).random(n_rows)
    weights[3] = 0
    return weights


def assert_as_scikit_learn(model, X, entry, weights, categorical=None, **params):
    """Same averages and curves as the brute force on its own grid."""
    parts = entry if isinstance(entry, tuple) else (entry,)
    theirs = partial_dependence(
        model,
        X,
        list(parts),
        sample_weight=weights,
        categorical_features=categorical,
        grid_resolution=7,
        method="brute",
        kind="both",
        **params,
    )
    params |= {
        "features": [entry],
        "categorical_features": "auto" if categorical is None else categorical,
        "custom_values": dict(zip(parts, theirs["grid_values"], strict=True)),
    }
    model, average = FrozenEstimator(model), theirs["average"]
    effect = PartialDependence(model, **params).fit(X, sample_weight=weights)
    assert_allclose(effect.average_[0].reshape(average.shape), average, **EXACT)
    effect = ICE(model, **params).fit(X, sample_weight=weights)
    assert_allclose(effect.average_[0].reshape(average.shape), average, **EXACT)
    kept = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
    assert_array_equal(effect.sample_indices_, kept)
    curves = theirs["individual"][:, kept]
    assert_allclose(effect.curves_[0].reshape(curves.shape), curves, **EXACT)


@pytest.mark.parametrize("weighted", ["unweighted", "weighted"])
@pytest.mark.parametrize("entry", [1, (0, 2)])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_scikit_learn_brute_force_on_numbers(n_classes, entry, weighted):
    X, y = numeric_table()
    predictor = RandomForestClassifier if n_classes else RandomForestRegressor
    y = classes(y, n_classes) if n_classes else y
    model = predictor(8, random_state=0).fit(X, y)
    assert_as_scikit_learn(model, X, entry, weights_of(weighted, len(X)))


@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scikit_learn_brute_force_by_response_method(n_classes, method):
    model = LogisticRegression().fit(X, classes(Y, n_classes))
    assert_as_scikit_learn(model, X, 0, None, response_method=method)


@pytest.mark.parametrize("weighted", ["unweighted", "weighted"])
def test_scikit_learn_brute_force_on_several_outputs(weighted):
    model = RandomForestRegressor(8, random_state=0).fit(X, np.c_[Y, -Y, X[:, 0]])
    assert_as_scikit_learn(model, X, (0, 1), weights_of(weighted, len(X)))


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    ("entry", "weighted"),
    [
        ("colour", "weighted"),
        ("town", "unweighted"),
        ("new", "weighted"),
        (("size", "colour"), "unweighted"),
        (("town", "colour"), "weighted"),
    ],
)
@pytest.mark.parametrize("n_classes", [0, 3])
def test_scikit_learn_brute_force_on_categories(n_classes, entry, weighted):
    X, y = mixed_frame()
    predictor = RandomForestClassifier if n_classes else RandomForestRegressor
    model = encoded(predictor(8, random_state=0))
    model.fit(X, classes(y, n_classes) if n_classes else y)
    assert_as_scikit_learn(
        model, X, entry, weights_of(weighted, len(X)), ["colour", "town", "new"]
    )


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("entry", ["size", "rooms", "colour", ("rooms", "new")])
def test_the_definition(entry):
    X, y = mixed_frame(n_rows=25)
    model = encoded(DecisionTreeRegressor(max_depth=4, random_state=0)).fit(X, y)
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    effect = PartialDependence(
        FrozenEstimator(model), features=[entry], grid_resolution=6
    ).fit(X, sample_weight=weights)
    axes = effect.axes_[0]
    columns = effect.features_[0]
    points = [
        (a, b) if len(axes) == 2 else (a,)
        for a in axes[0].values
        for b in (axes[1].values if len(axes) == 2 else [None])
    ]
    ask, rows = asker(model, X), rows_of(X)
    expected = reference.partial_dependence(ask, rows, columns, points, weights)
    assert_allclose(effect.average_[0].ravel(), expected, **EXACT)
    curves = np.array(
        [reference.individual_curve(ask, row, columns, points) for row in rows]
    )
    assert_allclose(
        effect.standard_errors_[0].ravel(),
        reference.standard_error(curves, weights),
        **EXACT,
    )


def test_centring_subtracts_the_mean_of_the_curve_at_the_rows():
    weights = np.random.default_rng(2).integers(1, 4, len(X)).astype(float)
    params = {"features": [0, (0, 1)], "grid_resolution": 9}
    plain = PartialDependence(Ridge(), **params).fit(X, Y, weights)
    centred = PartialDependence(Ridge(), centered=True, **params).fit(X, Y, weights)
    at_rows = np.interp(X[:, 0], plain.grid_values_[0], plain.average_[0])
    assert_allclose(
        centred.average_[0],
        plain.average_[0] - np.average(at_rows, weights=weights),
        **EXACT,
    )
    assert_allclose(
        np.average(centred.transform(X), axis=0, weights=weights), 0, atol=1e-12
    )
    difference = plain.average_[1] - centred.average_[1]
    assert_allclose(difference, difference[0, 0], **EXACT)


def test_the_missing_value_is_a_point_of_its_own():
    X, y = numeric_table()
    X[::7, 0] = np.nan
    model = HistGradientBoostingRegressor(max_iter=10).fit(X, y)
    effect = PartialDependence(FrozenEstimator(model), features=[0, 1]).fit(X)
    ask = asker(model, X)
    expected = reference.partial_dependence(
        ask, X.tolist(), (0,), [(np.nan,)], np.ones(len(X))
    )
    assert_allclose(effect.missing_average_[0], expected[0], **EXACT)
    assert effect.missing_average_[1] is None
    assert_allclose(effect.transform(X)[::7, 0], expected[0], **EXACT)
    assert np.isfinite(effect.grid_values_[0]).all()


def test_transform_is_the_curve_at_the_rows():
    X, y = mixed_frame()
    model = encoded(RandomForestRegressor(5, random_state=0))
    effect = PartialDependence(
        model, features=["size", "colour", ("size", "rooms")], grid_resolution=5
    ).fit(X, y)
    found = effect.transform(X)
    assert found.shape == (len(X), 2)
    assert_allclose(
        found[:, 0], np.interp(X["size"], effect.grid_values_[0], effect.average_[0])
    )
    by_level = dict(zip(effect.grid_values_[1], effect.average_[1], strict=True))
    assert_allclose(found[:, 1], [by_level[c] for c in X["colour"]])
    assert list(effect.get_feature_names_out()) == ["size", "colour"]


def test_importance_is_the_spread_of_the_curve():
    weights = np.random.default_rng(2).integers(1, 4, len(X))
    effect = PartialDependence(Ridge(), features=[0, 2]).fit(X, Y, weights)
    repeated = np.repeat(effect.transform(X), weights, axis=0)
    assert_allclose(
        effect.feature_importances_, [repeated[:, 0].std(), 0, repeated[:, 1].std()]
    )


# Scikit-learn's recursion


RECURSIVE = [
    DecisionTreeRegressor(max_depth=4, random_state=0),
    RandomForestRegressor(6, max_depth=4, random_state=0),
    GradientBoostingRegressor(n_estimators=12, random_state=0),
    GradientBoostingRegressor(n_estimators=12, loss="huber", random_state=0),
    GradientBoostingRegressor(n_estimators=12, init="zero", random_state=0),
    HistGradientBoostingRegressor(max_iter=12, random_state=0),
    HistGradientBoostingRegressor(max_iter=12, loss="absolute_error", random_state=0),
]
RECURSIVE_CLASSIFIERS = [
    GradientBoostingClassifier(n_estimators=12, random_state=0),
    HistGradientBoostingClassifier(max_iter=12, random_state=0),
]


def assert_recursion(model, X, values):
    """As scikit-learn's traversal, and exact where there is nothing to average.

    With two features in the model, a traversal that fixes both has one leaf at the end
    of each tree: it is the model's own raw score, which settles the constant.
    """
    with warnings.catch_warnings():
        # It warns that init="zero" is left out, which is right: zero is left out.
        warnings.simplefilter("ignore")
        theirs = [
            partial_dependence(model, X, entry, method="recursion", grid_resolution=6)
            for entry in ([0], [0, 1])
        ]
    grids = theirs[1]["grid_values"]
    effect = PartialDependence(
        FrozenEstimator(model),
        features=[0, (0, 1)],
        method="recursion",
        custom_values=dict(enumerate(grids)),
    ).fit(X)
    # The traversal itself rounds points to float32.
    mesh = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, 2)
    expected = values(mesh.astype(np.float32)).reshape(len(mesh), -1).T
    surface = np.reshape(effect.average_[1], expected.shape)
    assert_allclose(surface, expected, **EXACT)
    left_out = (expected - theirs[1]["average"].reshape(expected.shape))[:, :1]
    assert_allclose(
        np.atleast_2d(effect.average_[0]), theirs[0]["average"] + left_out, **EXACT
    )
    assert effect.standard_errors_ is None


@pytest.mark.parametrize("model", RECURSIVE, ids=repr)
def test_recursion_of_regressors(model):
    X, y = numeric_table(n_rows=200, n_features=3)
    X = X[:, :2]
    assert_recursion(model.fit(X, y), X, model.predict)


@pytest.mark.parametrize("model", RECURSIVE_CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_recursion_of_classifiers(model, n_classes):
    X, y = numeric_table(n_rows=200, n_features=3)
    X = X[:, :2]
    assert_recursion(model.fit(X, classes(y, n_classes)), X, model.decision_function)


def test_recursion_of_extra_trees():
    X, y = numeric_table(n_rows=200)
    X = X[:, :2]
    model = ExtraTreesRegressor(6, max_depth=4, random_state=0).fit(X, y)
    grid = np.linspace(-1, 1, 5)
    effect = PartialDependence(
        FrozenEstimator(model),
        features=[(0, 1)],
        method="recursion",
        custom_values={0: grid, 1: grid},
    ).fit(X)
    mesh = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1)
    expected = model.predict(mesh.reshape(-1, 2)).reshape(5, 5)
    assert_allclose(effect.average_[0], expected, **EXACT)


def test_recursion_of_the_negative_class_changes_sign():
    X, y = numeric_table(n_rows=200)
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(
        X, classes(y, 2)
    )
    params = {"features": [0], "method": "recursion"}
    low, mid = (
        PartialDependence(FrozenEstimator(model), target=label, **params).fit(X)
        for label in model.classes_
    )
    assert_array_equal(low.average_[0], -mid.average_[0])


def refused(model, X, match, sample_weight=None, **params):
    params = {"features": [0], **params}
    effect = PartialDependence(FrozenEstimator(model), method="recursion", **params)
    with pytest.raises(ValueError, match=match):
        effect.fit(X, sample_weight=sample_weight)


def test_recursion_is_refused_where_it_would_be_wrong():
    weights = np.arange(1.0, len(X) + 1)
    tree = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, Y)
    refused(tree, X, "sample_weight", sample_weight=weights)
    refused(tree, X, "categorical", categorical_features=[0])
    refused(tree, X, "response_method", response_method="predict")
    refused(LinearRegression().fit(X, Y), X, "LinearRegression")
    forest = RandomForestClassifier(3, random_state=0).fit(X, classes(Y, 2))
    refused(forest, X, "RandomForestClassifier")
    started = GradientBoostingRegressor(
        init=Ridge(), n_estimators=3, random_state=0
    ).fit(X, Y)
    refused(started, X, "init")
    weighted = HistGradientBoostingRegressor(max_iter=3).fit(X, Y, weights)
    refused(weighted, X, "recursion")
    poisson = HistGradientBoostingRegressor(max_iter=3, loss="poisson").fit(X, Y**2)
    refused(poisson, X, "poisson")


def test_recursion_is_refused_for_several_outputs():
    for model in (
        DecisionTreeRegressor(max_depth=2, random_state=0),
        RandomForestRegressor(3, random_state=0),
    ):
        refused(model.fit(X, np.c_[Y, -2 * Y]), X, "outputs")


# Weights, invariances, closed forms


def wave(a, b, c):
    return np.sin(3 * a) + a * b - c**2


def test_of_a_linear_model_it_is_a_line():
    effect = PartialDependence(LinearRegression()).fit(X, Y)
    model = effect.estimator_
    for j, (grid, average) in enumerate(
        zip(effect.grid_values_, effect.average_, strict=True)
    ):
        expected = model.predict(X).mean() + model.coef_[j] * (grid - X[:, j].mean())
        assert_allclose(average, expected, **EXACT)


def test_of_an_additive_model_it_is_the_term():
    effect = PartialDependence(
        frozen(lambda a, b, c: np.exp(a) + b**3 + 5), features=[0, 1, 2, (0, 1)]
    ).fit(X)
    first, second, third = effect.grid_values_[:3]
    rest = np.exp(X[:, 0]).mean()
    assert_allclose(effect.average_[1], second**3 + 5 + rest, **EXACT)
    assert_allclose(np.ptp(effect.average_[2]), 0, atol=1e-12)
    expected = np.exp(first)[:, None] + second[None, :] ** 3 + 5
    assert_allclose(effect.average_[3], expected, **EXACT)
    assert third.shape == effect.average_[2].shape


# What the model is sent


def test_each_row_is_sent_once_per_grid_point():
    X, _ = numeric_table(n_rows=50)
    model = frozen(wave)
    PartialDependence(model, features=[0, (1, 2)], grid_resolution=10).fit(X)
    assert sum(model.estimator.sizes_) == 50 * 10 + 50 * 10 * 10


@pytest.mark.parametrize("n_points", [10, 50, 100])
def test_calls_do_not_grow_with_the_grid_while_the_batch_holds_it(n_points):
    X, _ = numeric_table(n_rows=200)
    model = frozen(wave)
    PartialDependence(model, grid_resolution=n_points).fit(X)
    assert len(model.estimator.sizes_) == 3


def test_calls_are_bounded_by_rows_over_the_batch():
    X, _ = numeric_table(n_rows=2000)
    model = frozen(wave)
    with config_context(working_memory=1):
        PartialDependence(model, grid_resolution=100).fit(X)
        batch = 2**20 // 4 // (8 * 3)
    sizes = model.estimator.sizes_
    assert sum(sizes) == 3 * 2000 * 100
    assert max(sizes) <= batch
    assert len(sizes) <= 3 * (2000 * 100 / batch * 1.1 + 1)


@pytest.mark.thorough
def test_peak_memory_does_not_grow_with_the_grid():
    X = np.random.default_rng(0).normal(size=(2000, 20))
    peaks = []
    for n_points in (50, 50, 500):  # the first loads what is loaded once
        model = frozen(lambda *c: c[0] * c[1])
        effect = PartialDependence(model, features=[0], grid_resolution=n_points)
        with config_context(working_memory=1):
            peaks.append(peak_memory(partial(effect.fit, X)))
    # All altered rows together would take 16 and 160 MB.
    assert peaks[2] - peaks[1] < 2**20
    assert peaks[2] < 2 * 2**20


def curves_by_hand(model, X, columns, points):
    """Responses (n_outputs, n_rows, n_points) to rows with columns set to points."""
    curves = []
    for point in points:
        altered = X.copy()
        altered[:, columns] = point
        curves.append(model.predict(altered).reshape(len(X), -1))
    return np.transpose(curves)


@pytest.mark.parametrize("entry", [0, (0, 1)], ids=["one-way", "two-way"])
def test_standard_errors_of_centred_curves_are_those_of_their_shape(entry):
    """Each row's curve centred by the rows' weights on its points, then the spread."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(60, 3)), rng.integers(1, 4, size=60)
    y = X[:, 0] * X[:, 2] + 5 * X[:, 2] + X[:, 1]
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    grid = np.linspace(-1.5, 1.5, 5)
    options = {"features": [entry], "custom_values": {0: grid, 1: grid}}
    centred, plain = (
        PartialDependence(FrozenEstimator(model), centered=centered, **options).fit(
            X, sample_weight=weights
        )
        for centered in (True, False)
    )
    columns = [entry] if isinstance(entry, int) else list(entry)
    points = np.stack(np.meshgrid(*[grid] * len(columns), indexing="ij"), axis=-1)
    flat = points.reshape(-1, len(columns))
    curves = curves_by_hand(model, X, columns, flat)[0]
    at_rows = RegularGridInterpolator(
        [grid] * len(columns), np.eye(len(flat)).reshape(*points.shape[:-1], -1)
    )(np.clip(X[:, columns], grid[0], grid[-1]))
    masses = np.average(at_rows, axis=0, weights=weights)
    shapes = curves - (curves @ masses)[:, None]
    repeated = np.repeat(shapes, weights, axis=0)
    expected = repeated.std(axis=0, ddof=1) / np.sqrt(len(repeated))
    assert_allclose(centred.standard_errors_[0].ravel(), expected, rtol=0, atol=1e-12)
    assert_allclose(
        centred.average_[0].ravel(), repeated.mean(axis=0), rtol=0, atol=1e-12
    )
    assert centred.standard_errors_[0].mean() < plain.standard_errors_[0].mean() / 2


@pytest.mark.parametrize("method", ["tree", "brute"])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_standard_errors_of_shapes_are_those_of_centred_curves(method, n_outputs):
    """Of a frame with a number, a whole number, a category and missing values."""
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=80), rng.integers(0, 5, 80), rng.integers(0, 3, 80)]
    X[::9, 0] = np.nan
    weights = rng.integers(1, 4, size=80)
    y = 10 * X[:, 2] + X[:, 1] * X[:, 2] + np.nan_to_num(X[:, 0])
    y = y if n_outputs == 1 else np.c_[y, y**2]
    model = FrozenEstimator(RandomForestRegressor(5, random_state=0).fit(X, y))
    effect = PartialDependence(
        model,
        features=[0, 1, 2, (0, 1)],
        categorical_features=[2],
        grid_resolution=6,
        method=method,
    ).fit(X, sample_weight=weights)
    assert effect.shape_standard_errors_[3] is None
    before = effect.standard_errors_
    effect.set_params(centered=True)
    assert effect.shape_standard_errors_[3] is None
    for ours, theirs in zip(effect.standard_errors_, before, strict=True):
        assert_array_equal(ours, theirs)
    for j in range(3):
        grid = effect.grid_values_[j]
        points = np.append(grid, np.nan) if j == 0 else grid
        curves = curves_by_hand(model, X, [j], points[:, None])
        missing = np.isnan(X[:, j])
        at_rows = np.zeros((len(X), len(points)))
        at_rows[missing, -1] = 1
        for place in range(len(grid)):
            bump = np.eye(len(grid))[place]
            at_rows[~missing, place] = np.interp(X[~missing, j], grid, bump)
        masses = np.average(at_rows, axis=0, weights=weights)
        for output, own in enumerate(curves):
            shapes = np.repeat(own - (own @ masses)[:, None], weights, axis=0)
            expected = shapes.std(axis=0, ddof=1) / np.sqrt(len(shapes))
            found = effect.shape_standard_errors_[j].reshape(n_outputs, -1)[output]
            assert_allclose(found, expected[: len(grid)], atol=1e-12)


@pytest.mark.parametrize("method", ["tree", "brute"])
def test_the_shape_of_an_effect_without_interactions_is_exact(method):
    """The level of its curve is uncertain all the same."""
    model = GradientBoostingRegressor(n_estimators=30, max_depth=1, random_state=0).fit(
        X, 100 * Y
    )
    effect = PartialDependence(FrozenEstimator(model), method=method).fit(X)
    assert effect.standard_errors_[0].min() > 1
    for errors in effect.shape_standard_errors_:
        assert_allclose(errors, 0, atol=1e-9)
    centred = effect.set_params(centered=True, features=[0, (0, 1)]).fit(X)
    for level, shape in zip(
        centred.standard_errors_, centred.shape_standard_errors_, strict=True
    ):
        assert_array_equal(level, shape)


@pytest.mark.parametrize(
    "kind, params",
    [
        (PartialDependence, {"method": "tree", "centered": True}),
        (PartialDependence, {"method": "brute"}),
        (ICE, {"derivative": True, "center": {0: 0.4}}),
    ],
    ids=["tree", "brute", "curves"],
)
def test_results_are_in_the_order_of_custom_values(kind, params):
    """Sorted points give the same numbers in another order, and the same figure."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(30, 2)), rng.integers(1, 4, size=30)
    y = X[:, 0] ** 3 + X[:, 0] * X[:, 1]
    X[:5, 0] = np.nan
    model = FrozenEstimator(HistGradientBoostingRegressor(max_iter=5).fit(X, y))
    grid, order = np.array([-1.5, -0.7, 0.0, 0.9, 1.5]), [3, 0, 4, 1, 2]
    of_sorted, shuffled = (
        kind(model, features=[0, (1, 0)], custom_values={0: points}, **params).fit(
            X, sample_weight=weights
        )
        for points in (grid, grid[order])
    )
    assert_array_equal(shuffled.grid_values_[0], grid[order])
    assert_array_equal(shuffled.grid_values_[1][1], grid[order])
    for name in (
        *("average_", "standard_errors_", "shape_standard_errors_"),
        *("curves_", "derivatives_", "derivative_std_"),
    ):
        pairs = [getattr(one, name, []) for one in (of_sorted, shuffled)]
        for expected, found in zip(*pairs, strict=True):
            if expected is not None:
                assert_allclose(found, expected[..., order], **EXACT)
    assert_allclose(
        shuffled.feature_importances_, of_sorted.feature_importances_, **EXACT
    )
    names = of_sorted.get_feature_names_out().tolist()
    places = [names.index(name) for name in shuffled.get_feature_names_out()]
    assert_allclose(shuffled.transform(X), of_sorted.transform(X)[:, places], **EXACT)
    frames = [
        DISPLAYS[kind].from_estimator(one, X).to_frame()
        for one in (of_sorted, shuffled)
    ]
    pd.testing.assert_frame_equal(*frames)
    if kind is PartialDependence:
        display = EffectComparisonDisplay.from_estimator([shuffled], X, 0)
        assert_array_equal(display.points[0], grid)
        assert_allclose(
            np.diff(display.effects[0][0]), np.diff(of_sorted.average_[0]), **EXACT
        )
