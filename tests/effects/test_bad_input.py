"""Bad and odd input: a clear error, a defined result, or a warning of our own."""

import warnings
from contextlib import nullcontext
from decimal import Decimal
from zlib import crc32

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    ConditionalDependence,
    IndividualConditionalExpectation,
    PartialDependence,
)
from sklearn_interpret.exceptions import (
    ConstantFeatureWarning,
    EmptyIntervalWarning,
    InspectionWarning,
    LowWeightWarning,
    UnseenCategoryWarning,
)
from tests.effects.data import mixed_frame, numeric_table
from tests.references.models import Formula, frozen

GRID = [PartialDependence, IndividualConditionalExpectation]
INTERVALS = [ConditionalDependence, AccumulatedLocalEffects]
EFFECTS = GRID + INTERVALS
X, Y = numeric_table(n_rows=30)
FRAME = pd.DataFrame(X, columns=["alpha", "beta", "gamma"])
MIXED, _ = mixed_frame(n_rows=30)

every_effect = pytest.mark.parametrize("effect", EFFECTS)
# For what their base class refuses.
one_effect = pytest.mark.parametrize("effect", [PartialDependence])


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


# The rows


@pytest.mark.parametrize("shape, missing", [((0, 3), "sample"), ((3, 0), "feature")])
def test_an_empty_table(shape, missing):
    with pytest.raises(ValueError, match=rf"0 {missing}\(s\)"):
        fit(PartialDependence, np.empty(shape))


@pytest.mark.parametrize("answer", ["a", 1j])
def test_responses_that_are_no_numbers(answer):
    with pytest.raises(ValueError, match="model's response is not an array of real"):
        fit(PartialDependence, X, formula=lambda *c: np.full(len(c[0]), answer))


def test_lists_are_no_levels():
    custom = {"colour": [["red"], ["blue"]]}
    with pytest.raises(ValueError, match="'colour' has a value that cannot be a level"):
        fit(PartialDependence, MIXED, features=["colour"], custom_values=custom)


@one_effect
@pytest.mark.parametrize(
    "rows, message",
    [
        (pa.Table.from_pandas(FRAME), "pyarrow.*Table; supported containers"),
        (pl.from_pandas(FRAME).lazy(), "polars.*LazyFrame; supported containers"),
        (np.ma.array(X, mask=X > 1), "masked array"),
        (FRAME.rename(columns={"beta": 1}), "string names"),
    ],
    ids=["pyarrow", "lazy", "masked", "mixed names"],
)
def test_other_containers(effect, rows, message):
    with pytest.raises(TypeError, match=message):
        effect(frozen(first)).fit(rows)


@one_effect
def test_a_matrix(effect):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        rows = np.asmatrix(X)
        with pytest.raises(TypeError, match=r"np\.matrix is not supported"):
            fit(effect, rows)


@one_effect
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dates(effect, library):
    rows = pd.DataFrame({"day": pd.date_range("2020", periods=30), "a": X[:, 0]})
    if library == "polars":
        rows = pl.from_pandas(rows)
    model = {"formula": lambda day, a: np.asarray(a, dtype=float)}
    with pytest.raises(ValueError, match=r"'day' is not numeric.*categorical_features"):
        fit(effect, rows, **model)
    # They may stand beside the feature, and may be levels.
    fit(effect, rows, features=["a"], **model)
    fitted = fit(effect, rows, features=["day"], categorical_features=["day"], **model)
    assert len(values_of(fitted)[0]) == 30


@one_effect
def test_repeated_column_names(effect):
    with pytest.raises(ValueError, match="column name 'alpha' more than once"):
        effect(frozen(first)).fit(FRAME.rename(columns={"beta": "alpha"}))


@one_effect
def test_text_that_is_called_numeric(effect):
    with pytest.raises(ValueError, match="'town' is not numeric"):
        fit(effect, MIXED, features=["town"], categorical_features=[])


@one_effect
def test_infinity(effect):
    rows = X.copy()
    rows[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*'x1'"):
        fit(effect, rows, features=[1])
    fit(effect, rows, features=[0])


@every_effect
def test_one_row(effect):
    with pytest.warns(ConstantFeatureWarning, match="'x[012]' has one observed value"):
        fitted = fit(effect, X[:1])
    expected = 0 if effect is AccumulatedLocalEffects else X[0, 0]
    assert_array_equal(values_of(fitted), np.full((3, 1), expected))
    assert_array_equal(fitted.feature_importances_, 0)


@every_effect
def test_one_column(effect):
    fitted = fit(effect, X[:, :1])
    assert len(values_of(fitted)) == 1
    assert fitted.feature_importances_.shape == (1,)


@every_effect
def test_a_constant_column(effect):
    rows = np.c_[X[:, 0], np.full(30, 7.0)]
    with pytest.warns(ConstantFeatureWarning, match="'x1' has one observed value"):
        fitted = fit(effect, rows, features=[1, (0, 1)])
    assert values_of(fitted)[0].shape == (1,)
    assert fitted.feature_importances_[1] == pytest.approx(0, abs=1e-15)
    assert np.isfinite(fitted.transform(rows)).all()


@every_effect
@pytest.mark.parametrize("features", [None, [1], [(0, 1)], [1, 0, (1, 0)]])
def test_a_column_without_any_value(effect, features):
    rows = np.c_[X[:, 0], np.full(30, np.nan)]
    with pytest.warns(ConstantFeatureWarning, match="'x1' has no observed value"):
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


@one_effect
def test_a_group_next_to_its_member(effect):
    with pytest.raises(ValueError, match=r"\('g', 'colour'\), whose parts share"):
        fit(
            effect,
            MIXED,
            features=[("g", "colour")],
            feature_groups={"g": ["colour", "new"]},
        )


# Points of the user's own


@one_effect
@pytest.mark.parametrize("library", ["numpy", "pandas", "polars"])
def test_fractions_for_whole_numbers(effect, library):
    rows = pd.DataFrame({"a": np.arange(10), "b": np.arange(10) ** 2})
    rows = {"numpy": rows.to_numpy, "pandas": rows.copy}.get(
        library, lambda: pl.from_pandas(rows)
    )()
    match = r"'(a|x0)' has dtype .nt64, which cannot hold .*0\.5"
    with pytest.raises(ValueError, match=match):
        fit(effect, rows, features=[0], custom_values={0: [0.5, 1.5]})
    fit(effect, rows, features=[0], custom_values={0: [0.0, 4.0, 9.0]})


@every_effect
@pytest.mark.parametrize("group", ["red", ("blue",), ("blue", True, 1)])
def test_custom_levels_of_a_group(effect, group):
    with pytest.raises(ValueError, match=r"'g' has 2 columns.* tuples of 2"):
        fit(
            effect,
            MIXED,
            features=["g"],
            feature_groups={"g": ["colour", "new"]},
            custom_values={"g": [("red", True), group]},
        )


@one_effect
def test_custom_values_of_unknown_features(effect):
    with pytest.raises(ValueError, match=r"custom_values .*'alpa'; did you mean"):
        fit(effect, FRAME, custom_values={"alpa": [1, 2]})
    with pytest.raises(TypeError, match="custom_values takes positions"):
        fit(effect, FRAME, custom_values={("alpha", "beta"): [1, 2]})
    with pytest.raises(ValueError, match="'custom_values' parameter"):
        fit(effect, FRAME, custom_values=[1, 2])


@pytest.mark.parametrize("effect", GRID)
def test_a_single_point_is_what_was_asked_for(effect):
    fitted = fit(effect, X, features=[0], custom_values={0: [0.5]})
    assert_array_equal(fitted.average_[0], [0.5])


@pytest.mark.parametrize("effect", INTERVALS)
def test_edges_beyond_all_data(effect):
    rows = FRAME.iloc[:5]
    custom = {"alpha": [50, 51, 52]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyIntervalWarning)
        fitted = fit(effect, rows, features=["alpha"], custom_values=custom)
    assert fitted.n_missing_[0] == 5
    assert_array_equal(fitted.interval_counts_[0], [0, 0])


def test_edges_beyond_all_data_warn():
    with pytest.warns(EmptyIntervalWarning, match="2 intervals of the feature 'x0'"):
        fit(AccumulatedLocalEffects, X, features=[0], custom_values={0: [50, 51, 52]})


# The model and its response


@every_effect
def test_huge_responses_are_fine(effect):
    values = values_of(fit(effect, X, formula=lambda *c: c[0] * 1e70))
    plain = values_of(fit(effect, X))
    assert_allclose(values[0], plain[0] * 1e70)


@one_effect
def test_a_frozen_model_of_other_features(effect):
    model = FrozenEstimator(LinearRegression().fit(FRAME, Y))
    with pytest.raises(ValueError, match="alpa"):
        effect(model).fit(FRAME.rename(columns={"alpha": "alpa"}))
    with pytest.raises(ValueError, match=r"2 features.*3 features"):
        effect(FrozenEstimator(LinearRegression().fit(X, Y))).fit(X[:, :2])


@one_effect
@pytest.mark.parametrize(
    "weights, message",
    [
        (-np.ones(30), "sample_weight must not be negative; its smallest is -1"),
        (np.zeros(30), "[Ss]ample.weight"),
        (np.ones(3), "sample_weight"),
        (np.ones((30, 1)), "[Ss]ample weights must be 1D"),
        (np.full(30, np.nan), "sample_weight contains NaN"),
        (np.full(30, np.inf), "sample_weight contains infinity"),
    ],
)
def test_weights(effect, weights, message):
    with pytest.raises(ValueError, match=message):
        fit(effect, X, sample_weight=weights)


@pytest.mark.parametrize(
    "effect, warns",
    [
        (PartialDependence(frozen(first)), True),
        (ConditionalDependence(frozen(first)), True),
        (AccumulatedLocalEffects(frozen(first), confidence_level=0.9), True),
        (AccumulatedLocalEffects(frozen(first)), False),
    ],
)
def test_weights_of_less_than_two_rows(effect, warns):
    """Standard errors take a weight for the number of times that a row is there."""
    effect.fit(X, sample_weight=np.full(30, 2 / 30 + 1e-9))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        effect.fit(X, sample_weight=np.full(30, 1 / 30))
    assert [warning.category for warning in caught] == [LowWeightWarning] * warns
    assert not caught or "sample_weight sums to 1, less" in str(caught[0].message)


@every_effect
@pytest.mark.parametrize("scale", [1e-90, 1e-20, 1e20, 1e90])
def test_tiny_and_huge_weights(effect, scale):
    plain = fit(effect, X)
    few = scale < 1 and effect in (PartialDependence, ConditionalDependence)
    with pytest.warns(LowWeightWarning) if few else nullcontext():
        scaled = fit(effect, X, sample_weight=np.full(30, scale))
    for ours, theirs in zip(values_of(plain), values_of(scaled), strict=True):
        assert_allclose(ours, theirs, atol=1e-12)
    if effect in (PartialDependence, ConditionalDependence):
        assert all(np.isfinite(part).all() for part in scaled.standard_errors_)


# Other parameters


@pytest.mark.parametrize(
    "effect, name, value",
    [
        (PartialDependence, "centered", "no"),
        (IndividualConditionalExpectation, "derivative", "yes"),
        (IndividualConditionalExpectation, "center", "nowhere"),
        (IndividualConditionalExpectation, "center", np.nan),
        (IndividualConditionalExpectation, "center", [1]),
        (IndividualConditionalExpectation, "center", {0: "x"}),
        (IndividualConditionalExpectation, "center", {7: 0}),
        (AccumulatedLocalEffects, "centered", "no"),
    ],
)
def test_own_parameters(effect, name, value):
    with pytest.raises(ValueError, match=name):
        fit(effect, X, **{name: value})


def test_a_center_that_is_no_level():
    with pytest.raises(ValueError, match=r"center='violet' .*'colour'.*levels"):
        fit(
            IndividualConditionalExpectation,
            MIXED,
            features=["colour"],
            center="violet",
        )
    with pytest.raises(ValueError, match=r"center=0\.5 is for features alone"):
        fit(IndividualConditionalExpectation, X, features=[(0, 1)], center=0.5)


@pytest.mark.parametrize(
    "order, message",
    [
        (["red", "green"], "'colour' must have each of its levels once"),
        (["red", "red", "green", "blue", "amber"], "each of its levels once"),
        (3, "'colour' must be a sequence"),
        ([["red"]], "'colour' must be a sequence"),
    ],
)
def test_orders_that_are_none(order, message):
    with pytest.raises(ValueError, match=message):
        fit(
            AccumulatedLocalEffects,
            MIXED,
            features=["colour"],
            categorical_order={"colour": order},
        )


# New rows


@every_effect
def test_new_rows_of_other_features(effect):
    fitted = fit(effect, MIXED, features=["size"])
    with pytest.raises(ValueError, match="sise"):
        fitted.transform(MIXED.rename(columns={"size": "sise"}))
    with pytest.raises(ValueError, match="same order"):
        fitted.transform(MIXED[MIXED.columns[::-1]])
    with pytest.raises(ValueError, match="new"):
        fitted.transform(MIXED[["size", "rooms", "colour", "town"]])
    with pytest.raises(ValueError, match="new"):
        fitted.transform(MIXED[["size", "rooms", "colour", "town"]][:0])
    with pytest.raises(ValueError, match="input_features"):
        fitted.get_feature_names_out(["a"])


@every_effect
def test_new_rows_of_pairs_only(effect):
    fitted = fit(effect, MIXED, features=[("size", "new")])
    with pytest.raises(ValueError, match="features has pairs only"):
        fitted.transform(MIXED)


@pytest.mark.parametrize(
    "effect", [PartialDependence, ConditionalDependence, AccumulatedLocalEffects]
)
def test_new_rows_with_other_categories(effect):
    fitted = fit(effect, MIXED, features=["town", "size"])
    fresh = MIXED.assign(town=["Rom", *MIXED["town"][1:]])
    with pytest.warns(UnseenCategoryWarning, match="'town' .* Rom"):
        found = fitted.transform(fresh)
    expected = fitted.transform(MIXED)
    expected[0, 0] = np.nan
    assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "effect", [PartialDependence, ConditionalDependence, AccumulatedLocalEffects]
)
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


def bounded(*columns):
    """A response in [-1, 1] that every column moves."""
    response = np.zeros(len(columns[0]))
    for place, column in enumerate(columns):
        hashes = [crc32(f"{place} {value}".encode()) % 1000 for value in column]
        response += np.cos(np.array(hashes, dtype=float))
    return response / len(columns)


@every_effect
@pytest.mark.parametrize("n_rows", [1, 2, 9])
def test_effects_stay_within_the_responses(effect, n_rows):
    """Of small tables of every kind of column; tests/fuzzing.py has odder ones."""
    rows = MIXED[:n_rows].copy()
    rows["empty"] = np.nan
    rows.loc[0, ["size", "town"]] = [np.nan, None]
    params = {"grid_resolution": 4} if effect in GRID else {"n_intervals": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InspectionWarning)
        params["features"] = [*rows.columns, ("size", "town"), ("empty", "rooms")]
        fitted = fit(effect, rows, formula=bounded, **params)
        found = fitted.transform(rows)
    for name, values in zip(fitted.effect_names_, values_of(fitted), strict=True):
        if effect is not ConditionalDependence or isinstance(name, str):
            assert np.isfinite(values).all()
            assert np.abs(values).max(initial=0) <= (1 if effect in GRID else 40)
    assert found.shape == (n_rows, len(fitted.get_feature_names_out()))
    assert not np.isinf(found).any()
    assert fitted.feature_importances_.shape == (rows.shape[1],)
    assert (fitted.feature_importances_ >= 0).all()


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
    if effect is not IndividualConditionalExpectation:
        at_rows = found.transform(size * HUGE), plain.transform(HUGE / 1e308)
        assert_allclose(*at_rows, atol=1e-9)
    if effect is ConditionalDependence:
        centers = found.centers_[0] / (1e308 * size)
        assert_allclose(centers, plain.centers_[0], rtol=1e-9)


@pytest.mark.parametrize("effect", INTERVALS)
def test_any_number_of_intervals(effect):
    many, all_rows = (fit(effect, X, n_intervals=n) for n in (10**18, len(X)))
    for ours, theirs in zip(values_of(many), values_of(all_rows), strict=True):
        assert_array_equal(ours, theirs)


@every_effect
def test_whole_numbers_beyond_floats_are_refused(effect):
    column = np.array([[1], [2], [10**400]], dtype=object)
    with pytest.raises(ValueError, match="feature 'x0' is not numeric"):
        effect(frozen(lambda x: np.zeros(len(x)), column)).fit(column)
