"""
How is a model inspected on a folder of files?
==============================================

A table that does not fit in memory is read batch by batch. Results are those of the
whole table: quantiles are exact, and sums are added up in passes over the files.

See the effect of the hour on rentals of bicycles over 100 000 rows. It was computed
from four files, of which a batch at a time was in memory.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from pyarrow import dataset
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.additive import GAMRegressor
from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
)
from sklearn_interpret.partitions import RowBatches
from sklearn_interpret.shapley import TreeSHAP

# %%
# A folder of Parquet files
# -------------------------
#
# Each file has simulated rentals of one year, with two peaks a day.
folder = Path(tempfile.mkdtemp())
for year in range(4):
    rng = np.random.default_rng(year)
    table = pd.DataFrame(
        {
            "hour": rng.uniform(0, 24, 25_000).astype(np.float32),
            "temperature": rng.normal(12, 8, 25_000).astype(np.float32),
            "weekday": pd.Categorical(rng.choice(["work", "weekend"], 25_000)),
        }
    )
    peaks = np.exp(-((table["hour"] - 8) ** 2) / 4) + np.exp(
        -((table["hour"] - 18) ** 2) / 8
    )
    work = table["weekday"] == "work"
    table["rentals"] = 50 + 100 * peaks * work + 3 * table["temperature"]
    table["rentals"] += rng.normal(0, 10, 25_000)
    table.to_parquet(folder / f"year-{year}.parquet", index=False)
files = dataset.dataset(folder)
batches = RowBatches(files, y="rentals")

# %%
# The model is fitted to a sample of the rows.
sample = files.head(10_000).to_pandas()
X, y = sample.drop(columns="rentals"), sample["rentals"]
model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
frozen = FrozenEstimator(model)

# %%
# Effects over all rows
# ---------------------
#
# Edges of the intervals are quantiles of all 100 000 rows. The counts of rows in the
# intervals say so.
effects = AccumulatedLocalEffects(frozen).fit(batches)
print([int(counts.sum()) for counts in effects.interval_counts_])
_ = AccumulatedLocalEffectsDisplay.from_estimator(effects, X)

# %%
# Mean absolute Shapley values are sums over the rows, too. Those of single rows are not
# kept.
shap = TreeSHAP(frozen, perturbation="path_dependent").fit(batches)
importances = zip(shap.feature_names_in_, shap.feature_importances_, strict=True)
print({name: round(float(size), 1) for name, size in importances})

# %%
# A model of all rows
# -------------------
#
# An additive model is fitted to the files themselves: it needs three passes. Its
# standard errors are those of 100 000 rows.
gam = GAMRegressor().fit(batches)
print(gam.term_names_.tolist(), gam.effective_dof_.round(1))
print("explained share of the deviance:", round(float(gam.deviance_explained_), 3))
