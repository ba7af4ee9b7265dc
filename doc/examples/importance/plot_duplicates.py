"""
What becomes of a feature's importance when the table has copies of it?
=======================================================================

The response is 2 x income + age + noise. A second table holds, besides, two features
that are income almost to the digit (a correlation of 0.999), as wages and taxes might
be. Random forests learn both tables equally well, and share the splits on income out
over the three columns of the second.

See income at the top left, alone: 1.4. At the top right it shares this with two copies,
and looks weaker than age. Taken as one group (bottom left), the three have it all
again.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.importance import (
    SAGE,
    PermutationImportance,
    PermutationImportanceDisplay,
)

COPIES = ["income", "wages", "taxes"]
N_TRAIN, N_ROWS = 700, 1400

rng = np.random.default_rng(0)
single = pd.DataFrame(
    rng.normal(size=(N_ROWS, 4)), columns=["income", "age", "height", "shoe size"]
)
noise = rng.normal(size=N_ROWS)
copies = {
    name: single["income"] + 0.04 * rng.normal(size=N_ROWS) for name in COPIES[1:]
}
copied = single.assign(**copies)
y = 2 * single["income"] + single["age"] + noise


def fit(X):
    """Return a forest that was fitted on the first half of the rows."""
    forest = RandomForestRegressor(60, max_features=2, random_state=0)
    return forest.fit(X[:N_TRAIN], y[:N_TRAIN])


def importance(model, X, **parameters):
    """Return the importances on the other half of the rows, fitted."""
    inspector = PermutationImportance(
        FrozenEstimator(model), n_repeats=5, random_state=0, **parameters
    )
    return inspector.fit(X[N_TRAIN:], y[N_TRAIN:])


# %%
# Four ways of asking
# -------------------
#
# Permuting one of the three leaves the others to tell the truth: each looks far less
# important than income alone did. Moved together, as a group, they have what income had
# alone. Conditional importance permutes among rows whose other features are alike; it
# asks what one column says beyond the others, which for each of the three is next to
# nothing.
alone, beside = fit(single), fit(copied)
group = {"income and copies": COPIES}
found = {
    "income alone": importance(alone, single),
    "with two copies": importance(beside, copied),
    "copies as a group": importance(beside, copied, feature_groups=group),
    "with two copies, conditional": importance(beside, copied, conditional=True),
}
print("Importance of income on test rows (decrease of R squared)")
for name, inspector in found.items():
    print(f"  {name:30}{inspector.feature_importances_[0]:8.3f}")

# %%
# With a common scale, the bars of income shrink from panel to panel, and that of the
# group is as long as the first:
figure, axes = plt.subplots(2, 2, figsize=(7.2, 6.4), layout="constrained")
for ax, (name, inspector) in zip(axes.flat, found.items(), strict=True):
    PermutationImportanceDisplay.from_estimator(inspector, ax=ax)
    ax.set_title(name)
right = max(ax.get_xlim()[1] for ax in axes.flat)
for ax in axes.flat:
    ax.set_xlim(right=right)

# %%
# SAGE values
# -----------
#
# SAGE asks how much of the loss a feature removes, on average over what else is known.
# Where the copies are unknown, income removes much, and where they are known, little.
# So the copies divide among them what income has alone, and it does not vanish: the
# three values sum to about as much.
few = slice(N_TRAIN, N_TRAIN + 100)
values = SAGE(FrozenEstimator(beside), subsample=30, random_state=0)
values.fit(copied[few], y[few])
_ = PermutationImportanceDisplay.from_estimator(values)

# %%
# What has the forest learnt by heart?
# ------------------------------------
#
# Importances on the rows that the forest was fitted on stand beside those on rows that
# it never saw. Height and shoe size say nothing of the response: what importance they
# have on rows of training is memory, and on the others it is zero.
display = PermutationImportanceDisplay.from_estimator(
    beside,
    copied[:N_TRAIN],
    y[:N_TRAIN],
    X_test=copied[N_TRAIN:],
    y_test=y[N_TRAIN:],
    n_repeats=5,
    random_state=0,
)
table = display.to_frame()
table = table[table["repeat"].isna()]
table = table.pivot(index="feature", columns="sample", values="importance")
print(table[["train", "test"]].round(3).to_string())
