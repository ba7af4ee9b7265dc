"""A column that has no effect to show is left out with a note, unless asked for."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator

from sklearn_interpret import additive, effects, rules
from sklearn_interpret.exceptions import InspectionWarning

pd = pytest.importorskip("pandas")

EFFECTS = [
    effects.AccumulatedLocalEffects,
    effects.ConditionalDependence,
    effects.IndividualConditionalExpectation,
    effects.PartialDependence,
    effects.RegionalEffects,
]
LEFT_OUT = "'tags': left out, since the values are neither"


class Height(RegressorMixin, BaseEstimator):
    """A model of any columns that reads one."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.feature_names_in_ = np.array(X.columns, dtype=object)
        return self

    def predict(self, X):
        return X["height"].to_numpy() * 2.0


def table():
    rng = np.random.default_rng(0)
    tags = pd.Series([["a", "b"]] * 60, dtype=object)
    kind = rng.choice(["x", "y", "z"], 60)
    return pd.DataFrame({"tags": tags, "height": rng.normal(size=60), "kind": kind})


MODEL = FrozenEstimator(Height().fit(table()))


@pytest.mark.parametrize("effect", EFFECTS)
def test_named_in_a_warning(effect):
    with pytest.warns(InspectionWarning, match=LEFT_OUT):
        found = effect(MODEL).fit(table())
    plain = effect(MODEL, features=["height", "kind"])
    if effect is not effects.RegionalEffects:  # which could split by the column
        plain.fit(table())
        np.testing.assert_allclose(
            found.feature_importances_, plain.feature_importances_
        )
    assert found.effect_names_ == ["height", "kind"]


@pytest.mark.parametrize("effect", EFFECTS)
def test_raises_where_asked_for(effect):
    with pytest.raises(ValueError, match="'tags' has values that cannot be levels"):
        effect(MODEL, features=["tags", "height"]).fit(table())


def test_noted_in_the_figure():
    display_of = effects.PartialDependenceDisplay.from_estimator
    with pytest.warns(InspectionWarning, match=LEFT_OUT):
        display = display_of(MODEL, table())
    assert "Left out: 'tags'" in display.legend_.get_title().get_text() or any(
        "Left out: 'tags'" in text.get_text() for text in display.figure_.texts
    )


@pytest.mark.parametrize(
    "model", [additive.GAMRegressor(), rules.RuleFitRegressor(random_state=0)]
)
def test_models_of_our_own(model):
    X = table()
    with pytest.warns(InspectionWarning, match=LEFT_OUT):
        model.fit(X, X["height"])
    assert np.corrcoef(model.predict(X), X["height"])[0, 1] > 0.9
