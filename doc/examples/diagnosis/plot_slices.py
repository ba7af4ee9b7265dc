"""
A planted slice is found
========================

The noise of this made table is three times as large where two conditions hold. No
feature alone shows it clearly, but ``ErrorSlices`` finds both conditions.

See that the frame in the second figure is about where 0.6 < dose <= 0.9 and the ward
is "north".
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from sklearn_interpret.diagnosis import (
    ErrorSlices,
    ErrorSlicesDisplay,
    SliceLossDisplay,
)

# %%
# The rows of the slice are 7.5 % of all rows.
rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "dose": rng.uniform(size=3000),
        "age": rng.integers(20, 80, 3000),
        "ward": rng.choice(["north", "south", "east", "west"], 3000),
        "weight": rng.normal(75, 12, 3000),
    }
).astype({"ward": "category"})
planted = X["dose"].between(0.6, 0.9) & (X["ward"] == "north")
noise = np.where(planted, 3, 1) * rng.normal(size=3000)
y = 5 * X["dose"] + 0.05 * X["age"] + noise

# %%
# The model is fitted in five folds. Each slice was found in one half of the rows. Its
# loss, interval and p-value come from the other half.
model = HistGradientBoostingRegressor(categorical_features="from_dtype")
slices = ErrorSlices(model, loss="absolute_error", random_state=0).fit(X, y)
display = ErrorSlicesDisplay.from_estimator(slices)

# %%
# Several slices overlap with the planted one, because they may share half of their rows
# with each other. The first one is the clearest.
best = slices.slices_[0]
shared = (best.holds(X) & planted).sum()
print(f"{best}: {shared} of its {best.n_rows:.0f} rows are planted")
_ = SliceLossDisplay.from_estimator(slices)

# %%
# Where the noise is the same everywhere, no slice has a small adjusted p-value.
even = ErrorSlices(model, loss="absolute_error", random_state=0)
even.fit(X, y - noise + rng.normal(size=3000))
print(min(part.adjusted_pvalue for part in even.slices_))
