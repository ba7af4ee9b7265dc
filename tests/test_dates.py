"""Dates are ordered numbers in every family, and are shown as dates.

What has a column of dates must be what has the column of their days, of an equal model.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin, is_classifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_interpret import (
    additive,
    counterfactuals,
    effects,
    interactions,
    prototypes,
    rules,
    shapley,
    surrogates,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.explanations import RowExplanation

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

N_ROWS = 200
FIRST = 19358  # 2023-01-01 as days since 1970-01-01


def _table():
    rng = np.random.default_rng(0)
    days = FIRST + rng.integers(0, 700, N_ROWS)
    frame = pd.DataFrame(
        {
            "booked": days,
            "nights": rng.integers(1, 15, N_ROWS),
            "price": rng.normal(100, 20, N_ROWS).round(1),
            "room": pd.Categorical.from_codes(
                rng.integers(3, size=N_ROWS), ["single", "double", "suite"]
            ),
        }
    )
    y = 3 * np.sin((days - FIRST) / 110) + 0.4 * frame["nights"]
    y += frame["room"].cat.codes + rng.normal(0, 0.3, N_ROWS)
    return frame, y.to_numpy()


OF_DAYS, Y = _table()
OF_DATES = OF_DAYS.assign(
    booked=pd.Series(OF_DAYS["booked"].to_numpy().astype("M8[D]")).astype("M8[us]")
)
CLASSES = (np.median(Y) < Y).astype(int)


def as_numbers(X):
    """All columns as numbers, dates as days: the first step of the models."""
    rows = as_rows(X)
    columns = [
        rows.encode_column(j)[0] if rows.is_categorical(j) else rows.numbers(j)
        for j in range(rows.n_columns)
    ]
    return np.stack(columns, axis=1)


def numbers_of_rooms(X):
    X = X.copy()
    X["room"] = X["room"].cat.codes
    return as_numbers(X)


def model(boosting=HistGradientBoostingRegressor):
    steps = FunctionTransformer(numbers_of_rooms), boosting(max_iter=20)
    y = CLASSES if is_classifier(steps[-1]) else Y
    return FrozenEstimator(make_pipeline(*steps).fit(OF_DAYS, y))


REGRESSOR = model()
CLASSIFIER = model(HistGradientBoostingClassifier)


def both(inspector):
    """The inspector fitted to dates, and to their days."""
    y = CLASSES if is_classifier(inspector) else Y
    return [
        type(inspector)(**inspector.get_params(deep=False)).fit(X, y)
        for X in (OF_DATES, OF_DAYS)
    ]


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    ("effect", "few", "points", "values"),
    [
        (effects.PartialDependence, "grid_resolution", "grid_values_", "average_"),
        (
            effects.IndividualConditionalExpectation,
            "grid_resolution",
            "grid_values_",
            "average_",
        ),
        (effects.AccumulatedLocalEffects, "n_intervals", "edges_", "effects_"),
        (effects.ConditionalDependence, "n_intervals", "edges_", "average_"),
    ],
)
def test_effects(effect, few, points, values):
    features = ["booked", ("booked", "price")]
    dates, days = both(effect(REGRESSOR, features=features, **{few: 12}))
    for found, expected in zip(
        getattr(dates, values), getattr(days, values), strict=True
    ):
        assert_allclose(found, expected)
    own, (first, _) = getattr(dates, points)
    assert own.dtype == first.dtype == "M8[D]"
    assert_array_equal(own.astype(int), getattr(days, points)[0])
    assert_allclose(dates.feature_importances_, days.feature_importances_)


def test_custom_dates():
    given = ["2023-05-06", pd.Timestamp("2024-01-01"), np.datetime64("2024-03-05")]
    pdp = effects.PartialDependence(
        REGRESSOR, features=["booked"], custom_values={"booked": given}
    )
    assert_array_equal(
        pdp.fit(OF_DATES).grid_values_[0], np.array(given, dtype="M8[D]")
    )
    pdp.set_params(custom_values={"booked": [19787.0]})
    with pytest.raises(ValueError, match=r"date feature 'booked' must be dates"):
        pdp.fit(OF_DATES)
    ice = effects.IndividualConditionalExpectation(REGRESSOR, features=["booked"])
    ice.set_params(center="2024-03-05").fit(OF_DATES)
    days = effects.IndividualConditionalExpectation(REGRESSOR, features=["booked"])
    days.set_params(center=19787).fit(OF_DAYS)
    assert_allclose(ice.average_[0], days.average_[0])


class Hours(RegressorMixin, BaseEstimator):
    """A model of the time of the day."""

    def fit(self, X, y=None):
        self.dtype_ = X["when"].dtype
        self.feature_names_in_ = np.array(X.columns, dtype=object)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        assert X["when"].dtype == self.dtype_
        return as_rows(X).numbers(0) % 1 * 24


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_times_keep_their_minutes(library):
    when = pd.date_range("2024-03-05", periods=50, freq="37min", tz="Europe/Berlin")
    X = pd.DataFrame({"when": when, "x": np.arange(50.0)})
    X = pl.from_pandas(X) if library == "polars" else X
    fitted = Hours().fit(X)
    pdp = effects.PartialDependence(FrozenEstimator(fitted), features=["when"]).fit(X)
    assert pdp.grid_values_[0].dtype == "M8[m]"
    assert str(pdp.grid_values_[0][1]) == "2024-03-05T00:37"
    display = effects.CeterisParibusDisplay.from_estimator(
        FrozenEstimator(fitted), X, row=1, features=["when"]
    )
    (mark,) = display.marks_[0]
    assert_allclose(mark.get_ydata(), 37 / 60)


@pytest.mark.parametrize(
    "display",
    [
        effects.PartialDependenceDisplay,
        effects.AccumulatedLocalEffectsDisplay,
        effects.ConditionalDependenceDisplay,
        effects.IndividualConditionalExpectationDisplay,
        effects.EffectComparisonDisplay,
    ],
)
def test_axes_of_dates(display):
    from matplotlib.dates import ConciseDateFormatter, num2date

    of_one = display is effects.EffectComparisonDisplay
    features = {"feature": "booked"} if of_one else {"features": ["booked"]}
    drawn = display.from_estimator(REGRESSOR, OF_DATES, **features)
    ax = np.ravel(drawn.axes_)[0]
    assert isinstance(ax.xaxis.get_major_formatter(), ConciseDateFormatter)
    low, high = (num2date(end).year for end in ax.get_xlim())
    assert 2022 <= low <= 2023
    assert 2024 <= high <= 2025
    assert drawn.to_frame()["x"].dtype.kind == "M"


def test_linear_terms_of_dates():
    slope = 0.01 * OF_DAYS["booked"].to_numpy()
    dates, days = (
        rules.RuleFitRegressor(random_state=0, max_rules=10).fit(X, slope)
        for X in (OF_DATES, OF_DAYS)
    )
    (line,) = (term for term in dates.linear_terms_ if term.name == "booked")
    assert "from 2023-" in str(line)
    assert_allclose(dates.predict(OF_DATES), days.predict(OF_DAYS))


def test_durations_are_along_days():
    X = OF_DATES.assign(booked=OF_DATES["booked"] - pd.Timestamp("2023-01-01"))
    display = effects.PartialDependenceDisplay.from_estimator(
        REGRESSOR, X, features=["booked"]
    )
    assert np.ravel(display.axes_)[0].get_xlabel() == "booked (days)"


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize(
    "rule",
    [
        rules.RIPPERClassifier(random_state=0),
        rules.OneRClassifier(),
        rules.SkopeRulesClassifier(random_state=0),
        rules.RuleFitClassifier(max_rules=40, n_folds=2, random_state=0),
        rules.RuleFitRegressor(random_state=0),
        rules.BayesianRuleListClassifier(random_state=0),
    ],
)
def test_rules(rule):
    dates, days = both(rule)
    assert_array_equal(dates.predict(OF_DATES), days.predict(OF_DAYS))
    assert "booked = " not in dates.to_text()
    assert "booked in " not in dates.to_text()


def test_conditions_are_dates():
    rule = rules.RuleFitRegressor(max_rules=60, random_state=0).fit(OF_DATES, Y)
    conditions = [c for one in rule.rules_ for c in one.conditions if c.feature == 0]
    assert conditions
    numbers = as_rows(OF_DATES).numbers(0)
    for condition in conditions:
        low = -np.inf if condition.low is None else condition.low.astype(int)
        high = np.inf if condition.high is None else condition.high.astype(int)
        assert_array_equal(
            condition.holds(OF_DATES), (low < numbers) & (numbers <= high)
        )
        text = str(condition).replace("booked", "").replace("<=", "").replace("<", "")
        for date in text.replace(">", "").split():
            np.datetime64(date, "D")
    assert " 2023-" in rule.to_text()


@pytest.mark.filterwarnings("ignore:.*no rule was found")
def test_anchors():
    dates, days = both(counterfactuals.Anchors(CLASSIFIER, random_state=0))
    found, expected = dates.explain(OF_DATES[:4]), days.explain(OF_DAYS[:4])
    assert_array_equal(found.precision, expected.precision)
    assert_array_equal(found.holds(OF_DATES), expected.holds(OF_DAYS))
    assert any("booked" in found.text(row) for row in range(4))
    assert "19" not in "".join(map(found.text, range(4))).replace("2019", "")
    display = counterfactuals.AnchorsDisplay.from_explanation(found, row=0)
    assert len(display.axes_) == len(found.rules[0])


@pytest.mark.parametrize(
    "search",
    [
        counterfactuals.GrowingSpheres(CLASSIFIER, random_state=0),
        counterfactuals.WachterCounterfactual(CLASSIFIER, random_state=0),
    ],
)
def test_counterfactuals_are_whole_days_within_the_data(search):
    search.set_params(features_to_vary=["booked"])
    dates, days = both(search)
    with pytest.warns(UserWarning, match="nothing was found"):
        found, expected = dates.explain(OF_DATES[:20]), days.explain(OF_DAYS[:20])
    assert_allclose(found.distances, expected.distances)
    booked = found.rows["booked"]
    assert booked.dtype == OF_DATES["booked"].dtype
    assert len(booked) > 5
    assert (booked == booked.dt.normalize()).all()
    assert booked.between(OF_DATES["booked"].min(), OF_DATES["booked"].max()).all()
    before = CLASSIFIER.predict(OF_DATES.iloc[found.origin])
    assert (CLASSIFIER.predict(found.rows) != before).all()
    assert_array_equal(found.to_frame()["after"], booked)
    bounds = {"booked": ("2023-06-01", pd.Timestamp("2023-08-01"))}
    search.set_params(permitted_range=bounds)
    with pytest.warns(UserWarning, match="nothing was found"):
        limited = search.fit(OF_DATES, CLASSES).explain(OF_DATES[:20]).rows["booked"]
    assert limited.between("2023-06-01", "2023-08-01").all()
    search.set_params(permitted_range={"booked": (3, 4)})
    with pytest.raises(ValueError, match=r"'booked'; a pair \(low, high\) of dates"):
        search.fit(OF_DATES, CLASSES)


def test_waterfall_says_the_day():
    shap = shapley.ShapleyValues(REGRESSOR, random_state=0).fit(OF_DATES)
    explanation = shap.explain(OF_DATES[:30])
    day = str(OF_DATES["booked"][0])[:10]
    display = shapley.ShapleyWaterfallDisplay.from_explanation(explanation, row=0)
    texts = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert f"booked = {day}" in texts
    table = display.to_frame().set_index("feature")
    assert str(table.loc["booked", "value"]) == day
    assert day in explanation[:1]._repr_html_()
    dependence = shapley.ShapleyDependenceDisplay.from_explanation(
        explanation, feature="booked"
    )
    places = np.sort(dependence.points_[0].get_offsets()[:, 0])
    assert_array_equal(places, np.sort(OF_DAYS["booked"][:30]))
    assert dependence.to_frame()["x"].dtype.kind == "M"


def test_surrogate_tree():
    dates, days = both(surrogates.GlobalSurrogate(REGRESSOR))
    assert_allclose(dates.feature_importances_, days.feature_importances_)
    assert_allclose(dates.predict(OF_DATES), days.predict(OF_DAYS))
    display = surrogates.GlobalSurrogateDisplay.from_estimator(dates, OF_DATES)
    texts = " ".join(display.to_frame()["rule"])
    assert "booked ≤ 202" in texts


def test_lime():
    dates, days = both(surrogates.LimeTabular(REGRESSOR, random_state=0, n_samples=500))
    found = dates.explain(OF_DATES[:3])
    assert_allclose(found.values, days.explain(OF_DAYS[:3]).values)


def test_regions_split_at_dates():
    X = OF_DATES.assign(price=OF_DATES["price"] - 100)
    late = np.where(OF_DAYS["booked"] > 19700, X["price"], -X["price"])
    turns = HistGradientBoostingRegressor(max_iter=20)
    turns = make_pipeline(FunctionTransformer(numbers_of_rooms), turns).fit(X, late)
    found = effects.RegionalEffects(FrozenEstimator(turns), features=["price"]).fit(X)
    assert "booked <= 2023-12-" in found.to_text()
    assert len(np.unique(found.transform(X))) > 1


def test_gam():
    dates, days = both(additive.GAMRegressor())
    assert_allclose(dates.predict(OF_DATES), days.predict(OF_DAYS))
    values, found, _ = dates.partial_effect("booked")
    assert values.dtype == "M8[D]"
    assert_allclose(found, days.partial_effect("booked", values.astype(int))[1])
    given = ["2024-03-05", pd.Timestamp("2023-05-06")]
    _, found, _ = dates.partial_effect("booked", given)
    assert_allclose(found, days.partial_effect("booked", [19787, 19483])[1])
    strict = additive.GAMRegressor(extrapolation="error").fit(OF_DATES, Y)
    with pytest.raises(ValueError, match=r"'booked' has the value 2030-01-01.*2024-"):
        strict.predict(OF_DATES.assign(booked=pd.Timestamp("2030-01-01")))
    pair = additive.GAMRegressor(terms=["booked", ("booked", "price")])
    assert pair.fit(OF_DATES, Y).partial_effect(1)[0].dtype == object


@pytest.mark.parametrize(
    "estimator",
    [
        prototypes.MMDCritic(n_prototypes=3, n_criticisms=2),
        prototypes.KMedoids(n_clusters=3, metric="gower", random_state=0),
    ],
)
def test_prototypes(estimator):
    dates, days = both(estimator)
    assert_array_equal(dates.prototype_indices_, days.prototype_indices_)
    display = prototypes.PrototypeDisplay.from_estimator(dates, OF_DATES)
    assert display.to_frame()["booked"].dtype.kind == "M"


def test_medoids_of_numbers_and_dates():
    medoids = prototypes.KMedoids(n_clusters=3, random_state=0)
    some = ["booked", "nights"]
    assert_array_equal(
        medoids.fit(OF_DATES[some]).prototype_indices_.copy(),
        medoids.fit(OF_DAYS[some]).prototype_indices_,
    )


def test_components():
    parts = interactions.FunctionalDecomposition(REGRESSOR, random_state=0)
    dates, days = both(parts)
    found = dates.explain(OF_DATES[:40])
    assert_allclose(found.values, days.explain(OF_DAYS[:40]).values)
    display = interactions.FunctionalDecompositionDisplay.from_explanation(found)
    assert len(display.axes_)


def test_a_missing_level_beside_dates_stays_a_missing_level():
    dates = pd.DataFrame(
        {"booked": pd.to_datetime(["2024-03-01", "2024-03-02"]), "room": [None, None]}
    )
    changed = dates.assign(booked=dates["booked"][::-1].to_numpy(), room="single")
    explanation = RowExplanation(
        changed, [0, 1], [True] * 2, [1.0] * 2, data=dates, status=["found"] * 2
    )
    table = explanation.to_frame().set_index(["row", "feature"])["before"]
    assert table[0, "x1"] is not pd.NaT
    assert table[0, "x0"] == pd.Timestamp("2024-03-01")
