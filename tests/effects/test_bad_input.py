"""Bad and odd input: a clear error, a defined result, or a warning of our own."""

import warnings
from contextlib import nullcontext
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.effects import AccumulatedLocalEffects as ALE
from sklearn_interpret.effects import ConditionalDependence, PartialDependence
from sklearn_interpret.effects import IndividualConditionalExpectation as ICE
from sklearn_interpret.exceptions import (
    ConstantFeatureWarning,
    EmptyIntervalWarning,
    LowWeightWarning,
    UnseenCategoryWarning,
)
from tests.effects.data import mixed_frame, numeric_table
from tests.references.models import Formula, frozen

GRID = [PartialDependence, ICE]
INTERVALS = [ConditionalDependence, ALE]
EFFECTS = GRID + INTERVALS
X, Y = numeric_table(n_rows=30)
FRAME = pd.DataFrame(X, columns=["alpha", "beta", "gamma"])
MIXED, _ = mixed_frame(n_rows=30)

every_effect = pytest.mark.parametrize("effect", EFFECTS)


def first(*columns):
    return np.asarray(columns[0], dtype=float)


def total(*columns):
    """Counts every column, whatever it holds: missing values and text as zero."""
    counts = np.zeros(len(columns[0]))
    for column in columns:
        if np.asarray(column).dtype.kind in "iufb":
            counts += np.nan_to_num(np.asarray(column, dtype=float))
    return counts


def values_of(fitted):
    """The averages, or the effects."""
    return fitted.effects_ if hasattr(fitted, "effects_") else fitted.average_


def fit(effect, X, y=None, sample_weight=None, *, formula=first, **params):
    """Inspect a formula on rows that need not be rows at all."""
    names = X if isinstance(X, pd.DataFrame | pl.DataFrame) else None
    return effect(frozen(formula, names), **params).fit(X, y, sample_weight)


def order_of(levels):
    return {"features": ["colour"], "categorical_order": {"colour": levels}}


COLOUR = {"features": ["colour"]}
TOWN = {"features": ["town"], "categorical_features": []}
GROUP = {"feature_groups": {"g": ["colour", "new"]}}
WITH_MEMBER = {"features": [("g", "new")]} | GROUP
LISTS = {"colour": [["red"], ["blue"]]}
DOUBLE = ["red", "red", "green", "blue", "amber"]
WEIGHTS = [
    (-np.ones(30), "negative; its smallest is -1"),
    (np.zeros(30), "[Ss]ample.weight"),
    (np.ones(3), "sample_weight"),
    (np.ones((30, 1)), "[Ss]ample weights must be 1D"),
    (np.full(30, np.nan), "sample_weight contains NaN"),
    (np.full(30, np.inf), "sample_weight contains infinity"),
]
# What partial dependence refuses for all with the same base.
OF_THE_BASE = [
    (np.empty((0, 3)), {}, r"0 sample\(s\)"),
    (np.empty((3, 0)), {}, r"0 feature\(s\)"),
    *((X, {"sample_weight": weights}, message) for weights, message in WEIGHTS),
    (MIXED, TOWN, "'town' is not numeric"),
    (MIXED, COLOUR | {"custom_values": LISTS}, "'colour' has a value that cannot be"),
    (MIXED, WITH_MEMBER, r"\('g', 'new'\), whose parts share"),
    (FRAME, {"custom_values": {"alpa": [1]}}, r"custom_values .*'alpa'; did you mean"),
]
OF_CENTERS = [
    *((X, {"center": bad}, "center") for bad in ("nowhere", np.nan, [1])),
    *((X, {"center": bad}, "center") for bad in ({0: "x"}, {7: 0})),
    (MIXED, COLOUR | {"center": "violet"}, "center='violet' .*'colour'.*levels"),
    (X, {"features": [(0, 1)], "center": 0.5}, r"center=0\.5 is for features alone"),
]
OF_ORDERS = [
    (MIXED, order_of(["red", "green"]), "'colour' must have each of its levels once"),
    (MIXED, order_of(DOUBLE), "each of its levels once"),
    (MIXED, order_of(3), "'colour' must be a sequence"),
    (MIXED, order_of([["red"]]), "'colour' must be a sequence"),
]
REFUSED = [
    *((PartialDependence, *case) for case in OF_THE_BASE),
    *((ICE, *case) for case in OF_CENTERS),
    *((ALE, *case) for case in OF_ORDERS),
]


@pytest.mark.parametrize(("effect", "rows", "params", "message"), REFUSED)
def test_refused(effect, rows, params, message):
    with pytest.raises(ValueError, match=message):
        fit(effect, rows, **params)


@every_effect
@pytest.mark.parametrize("group", ["red", ("blue",), ("blue", True, 1)])
def test_custom_levels_of_a_group(effect, group):
    custom = {"features": ["g"], "custom_values": {"g": [("red", True), group]}}
    with pytest.raises(ValueError, match=r"'g' has 2 columns.* tuples of 2"):
        fit(effect, MIXED, **custom, **GROUP)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (pa.Table.from_pandas(FRAME), "pyarrow.*Table; supported containers"),
        (np.ma.array(X, mask=X > 1), "masked array"),
        (FRAME.rename(columns={"beta": 1}), "string names"),
    ],
    ids=["pyarrow", "masked", "mixed names"],
)
def test_other_types(rows, message):
    with pytest.raises(TypeError, match=message):
        PartialDependence(frozen(first)).fit(rows)


# The rows


@pytest.mark.parametrize("answer", ["a", 1j])
def test_responses_that_are_no_numbers(answer):
    with pytest.raises(ValueError, match="model's response is not an array of real"):
        fit(PartialDependence, X, formula=lambda *c: np.full(len(c[0]), answer))


def test_points_of_pairs():
    with pytest.raises(TypeError, match="custom_values takes positions"):
        fit(PartialDependence, FRAME, custom_values={("alpha", "beta"): [1, 2]})


def test_repeated_column_names():
    with pytest.raises(ValueError, match="column name 'alpha' more than once"):
        PartialDependence(frozen(first)).fit(FRAME.rename(columns={"beta": "alpha"}))


def test_a_matrix():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        rows = np.asmatrix(X)
        with pytest.raises(TypeError, match=r"np\.matrix is not supported"):
            fit(PartialDependence, rows)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dates(library):
    rows = pd.DataFrame({"day": pd.date_range("2020", periods=30), "a": X[:, 0]})
    if library == "polars":
        rows = pl.from_pandas(rows)
    model = {"formula": lambda day, a: np.asarray(a, dtype=float)}
    fitted = fit(PartialDependence, rows, **model)
    assert fitted.grid_values_[0].dtype == "M8[D]"
    # They may be levels.
    fitted = fit(
        PartialDependence, rows, features=["day"], categorical_features=["day"], **model
    )
    assert len(values_of(fitted)[0]) == 30


def test_infinity():
    rows = X.copy()
    rows[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*'x1'"):
        fit(PartialDependence, rows, features=[1])
    fit(PartialDependence, rows, features=[0])


@every_effect
def test_one_row(effect):
    with pytest.warns(
        ConstantFeatureWarning, match="'x[012]' .*: it has one observed value"
    ):
        fitted = fit(effect, X[:1])
    expected = 0 if effect is ALE else X[0, 0]
    assert_array_equal(values_of(fitted), np.full((3, 1), expected))
    assert_array_equal(fitted.feature_importances_, 0)


@every_effect
def test_a_constant_column(effect):
    rows = np.c_[X[:, 0], np.full(30, 7.0)]
    with pytest.warns(
        ConstantFeatureWarning, match="'x1' .*: it has one observed value"
    ):
        fitted = fit(effect, rows, features=[1, (0, 1)])
    assert values_of(fitted)[0].shape == (1,)
    assert fitted.feature_importances_[1] == pytest.approx(0, abs=1e-15)
    assert np.isfinite(fitted.transform(rows)).all()


@every_effect
@pytest.mark.parametrize("features", [None, [1], [(0, 1)], [1, 0, (1, 0)]])
def test_a_column_without_any_value(effect, features):
    rows = np.c_[X[:, 0], np.full(30, np.nan)]
    with pytest.warns(
        ConstantFeatureWarning, match="'x1' .*: it has no observed value"
    ):
        fitted = fit(effect, rows, features=features)
    for names, values in zip(fitted.effect_names_, values_of(fitted), strict=True):
        assert (values.size == 0) == ("x1" in names)
    if features != [(0, 1)]:
        assert fitted.feature_importances_[1] == pytest.approx(0, abs=1e-15)
        found = fitted.transform(rows)
        assert len(found) == 30
        assert found.shape[1] == len(fitted.get_feature_names_out())


def test_a_column_without_any_value_still_has_a_response():
    rows = np.c_[X[:, 0], np.full(30, np.nan)]
    with pytest.warns(ConstantFeatureWarning):
        fitted = fit(PartialDependence, rows, features=[1], centered=True)
    assert fitted.missing_average_[0] == pytest.approx(0, abs=1e-12)
    with pytest.warns(ConstantFeatureWarning):
        fitted = fit(PartialDependence, rows, features=[1])
    assert fitted.missing_average_[0] == pytest.approx(X[:, 0].mean())


def test_a_pair_without_any_value_can_be_centred():
    rows = np.c_[X[:, 0], np.full(30, np.nan)]
    with pytest.warns(ConstantFeatureWarning):
        fitted = fit(PartialDependence, rows, features=[(0, 1)], centered=True)
    assert fitted.average_[0].size == 0


@every_effect
def test_a_grid_larger_than_the_data(effect):
    params = {"grid_resolution": 10**6} if effect in GRID else {"n_intervals": 10**6}
    fitted = fit(effect, X[:5], **params)
    assert all(values.shape == (5,) for values in values_of(fitted))


@every_effect
def test_odd_numbers(effect):
    for kind in (np.float16, np.longdouble, object):
        values = values_of(fit(effect, X.astype(kind)))
        assert all(np.isfinite(part).all() for part in values)
    rows = pd.DataFrame(
        {
            "decimal": [Decimal(place) for place in range(30)],
            "nullable": pd.array([None, *range(29)], dtype="Int64"),
            "sparse": pd.arrays.SparseArray(X[:, 0].round()),
            "month": pd.period_range("2020", periods=30, freq="M"),
            "bin": pd.cut(X[:, 0], 4),
        }
    )
    values = values_of(fit(effect, rows, formula=lambda *c: np.arange(len(c[0]))))
    assert all(np.isfinite(part).all() for part in values)


# Features


# Points of the user's own


@pytest.mark.parametrize("effect", GRID)
def test_a_single_point_is_what_was_asked_for(effect):
    fitted = fit(effect, X, features=[0], custom_values={0: [0.5]})
    assert_array_equal(fitted.average_[0], [0.5])


@pytest.mark.parametrize("effect", INTERVALS)
def test_edges_beyond_all_data(effect):
    rows = FRAME.iloc[:5]
    custom = {"alpha": [50, 51, 52]}
    match = "2 intervals of the feature 'alpha'"
    warns = pytest.warns(EmptyIntervalWarning, match=match)
    with warns if effect is ALE else nullcontext():
        fitted = fit(effect, rows, features=["alpha"], custom_values=custom)
    assert fitted.n_missing_[0] == 5
    assert_array_equal(fitted.interval_counts_[0], [0, 0])


# The model and its response


@every_effect
def test_huge_responses_are_fine(effect):
    values = values_of(fit(effect, X, formula=lambda *c: c[0] * 1e70))
    plain = values_of(fit(effect, X))
    assert_allclose(values[0], plain[0] * 1e70)


def test_a_frozen_model_of_other_features():
    model = FrozenEstimator(LinearRegression().fit(FRAME, Y))
    with pytest.raises(ValueError, match="alpa"):
        PartialDependence(model).fit(FRAME.rename(columns={"alpha": "alpa"}))
    with pytest.raises(ValueError, match=r"2 features.*3 features"):
        PartialDependence(FrozenEstimator(LinearRegression().fit(X, Y))).fit(X[:, :2])


@pytest.mark.parametrize(
    "effect, warns",
    [
        (PartialDependence(frozen(first)), True),
        (ConditionalDependence(frozen(first)), True),
        (ALE(frozen(first), confidence_level=0.9), True),
        (ALE(frozen(first)), True),
        (ICE(frozen(first)), False),
    ],
)
def test_weights_of_less_than_two_rows(effect, warns):
    """Standard errors take a weight for the number of times that a row is there."""
    effect.fit(X, sample_weight=np.full(30, 2 / 30 + 1e-9))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        effect.fit(X, sample_weight=np.full(30, 1 / 30))
    assert [warning.category for warning in caught] == [LowWeightWarning] * warns
    assert not caught or "it sums to 1, less" in str(caught[0].message)


@every_effect
@pytest.mark.parametrize("scale", [1e-90, 1e-20, 1e20, 1e90])
def test_tiny_and_huge_weights(effect, scale):
    plain = fit(effect, X)
    with_errors = (PartialDependence, ConditionalDependence, ALE)
    few = scale < 1 and effect in with_errors
    with pytest.warns(LowWeightWarning) if few else nullcontext():
        scaled = fit(effect, X, sample_weight=np.full(30, scale))
    for ours, theirs in zip(values_of(plain), values_of(scaled), strict=True):
        assert_allclose(ours, theirs, atol=1e-12)
    if effect in with_errors:
        assert all(np.isfinite(part).all() for part in scaled.standard_errors_)


# Other parameters


# New rows


@every_effect
def test_new_rows_of_pairs_only(effect):
    fitted = fit(effect, MIXED, features=[("size", "new")])
    with pytest.raises(ValueError, match="features has pairs only"):
        fitted.transform(MIXED)


@pytest.mark.parametrize("effect", [PartialDependence, ConditionalDependence, ALE])
def test_new_rows_with_other_categories(effect):
    fitted = fit(effect, MIXED, features=["town", "size"])
    fresh = MIXED.assign(town=["Rom", *MIXED["town"][1:]])
    with pytest.warns(UnseenCategoryWarning, match="'town' .* Rom"):
        found = fitted.transform(fresh)
    expected = fitted.transform(MIXED)
    expected[0, 0] = np.nan
    assert_array_equal(found, expected)


@pytest.mark.parametrize("effect", [PartialDependence, ConditionalDependence, ALE])
def test_new_rows_with_infinity_or_text(effect):
    fitted = fit(effect, MIXED, features=["size"])
    with pytest.raises(ValueError, match=r"infinity.*'size'"):
        fitted.transform(MIXED.assign(size=np.inf))
    with pytest.raises(ValueError, match="'size' is not numeric"):
        fitted.transform(MIXED.assign(size="a"))


@every_effect
def test_new_rows_in_another_container(effect):
    fitted = fit(effect, MIXED, features=["size", "town", "new"], formula=total)
    with warnings.catch_warnings():
        # Old scikit-learn does not find the names of new polars.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        found = fitted.transform(pl.from_pandas(MIXED))
    assert_allclose(found, fitted.transform(MIXED))


def test_the_formula_speaks_for_itself():
    """A model without feature names is asked with names, and warns by itself."""
    with pytest.warns(UserWarning, match="Formula was fitted without feature names"):
        PartialDependence(frozen(first, X)).fit(FRAME)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PartialDependence(FrozenEstimator(Formula(first).fit(FRAME))).fit(FRAME)


# Numbers at the ends of what there is


@every_effect
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("framed", [False, True])
def test_the_largest_whole_numbers(effect, dtype, framed):
    """As a float the largest one is one more, which the dtype cannot hold."""
    ends = np.iinfo(dtype)
    rows = np.array([[ends.min, 1], [ends.max, 2], [5, 3], [7, 4]] * 5, dtype=dtype)
    rows = pd.DataFrame(rows, columns=["alpha", "beta"]) if framed else rows
    found = fit(effect, rows, formula=lambda a, b: np.asarray(a) / 2.0**64)
    (axis,) = found.axes_[0]
    assert axis.values[[0, -1]].tolist() == [float(ends.min), float(ends.max)]
    low, high = np.ravel(values_of(found)[0])[[0, -1]]
    assert high - low == pytest.approx((float(ends.max) - float(ends.min)) / 2.0**64)


HUGE = 1.7e308 * np.random.default_rng(0).uniform(-1, 1, size=(40, 2))
HUGE[0], HUGE[1] = 1.7e308, -1.7e308


@every_effect
@pytest.mark.parametrize("size", [1.0, 1e-300])
@pytest.mark.parametrize("resolution", [2, 5, 40])
def test_numbers_whose_sums_and_differences_overflow(effect, size, resolution):
    params = {"grid_resolution": resolution, "percentiles": (0, 1)}
    if effect in INTERVALS:
        params = {"n_intervals": resolution}
    params["features"] = [0, (0, 1)]
    found = fit(effect, size * HUGE, formula=lambda a, b: a / (1e308 * size), **params)
    plain = fit(effect, HUGE / 1e308, formula=lambda a, b: a, **params)
    for ours, theirs in zip(values_of(found), values_of(plain), strict=True):
        assert_allclose(ours, theirs, atol=1e-9)
    if effect is not ICE:
        at_rows = found.transform(size * HUGE), plain.transform(HUGE / 1e308)
        assert_allclose(*at_rows, atol=1e-9)
    if effect is ConditionalDependence:
        centers = found.centers_[0] / (1e308 * size)
        assert_allclose(centers, plain.centers_[0], rtol=1e-9)


@every_effect
def test_whole_numbers_beyond_floats_are_refused(effect):
    column = np.array([[1], [2], [10**400]], dtype=object)
    with pytest.raises(ValueError, match="feature 'x0' is not numeric"):
        effect(frozen(lambda x: np.zeros(len(x)), column)).fit(column)
