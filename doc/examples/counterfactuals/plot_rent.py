"""
What would make this flat cheaper?
==================================

Flats to let (drawn here, with a fixed seed): size, number of rooms, floor, year of
construction, which is not known of some, district, and whether there is a balcony. A
pipeline imputes and scales the numbers, encodes the categories, and boosts trees on
what comes out. What would a flat have to be like to cost at most 750 a month? Of a
regressor one wishes an interval of its prediction.

See two ways to pay less than 750: a much smaller flat in the same district (blue), or a
somewhat smaller one near the airport (orange).
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret.counterfactuals import (
    CounterfactualDisplay,
    GrowingSpheres,
    WachterCounterfactual,
)
from sklearn_interpret.exceptions import NoCounterfactualWarning

DISTRICTS = {"Centre": 4.5, "Harbour": 3.0, "Hill": 1.5, "South": 0.0, "Airport": -1.5}

rng = np.random.default_rng(0)
n_rows = 800
rooms = rng.integers(1, 6, n_rows)
size = (18 * rooms + rng.normal(14, 9, n_rows)).clip(18).round()
year = rng.integers(1900, 2021, n_rows).astype(float)
district = rng.choice(list(DISTRICTS), n_rows)
X = pd.DataFrame(
    {
        "size": size,
        "rooms": rooms,
        "floor": rng.integers(0, 7, n_rows),
        "year": np.where(rng.random(n_rows) < 0.2, np.nan, year),
        "district": pd.Categorical(district, list(DISTRICTS)),
        "balcony": rng.random(n_rows) < 0.5,
    }
)
price = 11 + np.array([DISTRICTS[name] for name in district])
price += 0.8 * X["balcony"] + 0.2 * X["floor"] + 0.03 * np.maximum(year - 1980, 0)
y = (X["size"] * price * rng.normal(1, 0.05, n_rows)).round()

numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
columns = make_column_transformer(
    (numbers, ["size", "rooms", "floor", "year"]),
    (OneHotEncoder(drop="if_binary"), ["district", "balcony"]),
)
model = make_pipeline(columns, GradientBoostingRegressor(random_state=0)).fit(X, y)
rents = model.predict(X)
flats = X[(rents > 950) & (rents < 1400)].iloc[:10]

# %%
# Two ways of looking
# -------------------
#
# Counterfactuals are looked for in the table, not in the columns that the pipeline
# makes of it: rooms stay whole numbers, districts stay districts, a missing year stays
# missing, and the rows that come back are rows of the same table, which the pipeline
# takes.
#
# ``GrowingSpheres`` and ``WachterCounterfactual`` ask for no more than predictions. The
# table compares how far they go, and with how many changes; ``max_changes=1`` asks for
# single ones.
LESS = (None, 750)
frozen = FrozenEstimator(model)
print("                               found  mean distance  mean changes")
for most in (None, 1):
    asked = {"desired": LESS, "max_changes": most}
    for inspector in (
        GrowingSpheres(frozen, random_state=0, **asked),
        WachterCounterfactual(frozen, **asked),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoCounterfactualWarning)
            explanation = inspector.fit(X).explain(flats)
        name = type(inspector).__name__ + (", single" if most else "")
        print(f"{name:31}{len(explanation.origin):3}/{len(flats)}", end="")
        print(f"{explanation.distances.mean():13.2f}", end="")
        print(f"{explanation.n_changed.mean():14.2f}")

# %%
# One flat, two answers
# ---------------------
#
# Nobody knows when this flat was built, and the answers leave it at that. Each feature
# stands over its distribution in the table: one sees how unusual the flat would become.
row = int(flats["year"].isna().to_numpy().argmax())
display = CounterfactualDisplay.from_estimator(
    model,
    X,
    row=X.index.get_loc(flats.index[row]),
    desired=LESS,
    features_to_vary=["size", "rooms", "floor", "district", "balcony"],
    permitted_range={"size": (20, 150), "rooms": (1, 6)},
    n_counterfactuals=2,
    random_state=0,
    target_name="rent",
    unit="a month",
)
print(display.to_frame().to_string())
