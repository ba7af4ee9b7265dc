"""
Which effect can be trusted when features are correlated?
=========================================================

Two features are uniform and go together (a normal copula of correlation 0.99), and the
response is x0 + x1² + noise, as in section 4 of Apley & Zhu (2020). A random forest
learns it well where there are rows, which is along the diagonal, and knows nothing of
the corners. Three kinds of effect then part.

See how the M-plot (orange) is far too steep in both features, and how accumulated local
effects (green) follow the truth (dashed) up to the ends, where the partial dependence
(blue) goes astray.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
    ConditionalDependence,
    ConditionalDependenceDisplay,
    EffectComparisonDisplay,
    PartialDependence,
)

rng = np.random.default_rng(0)
normal = rng.multivariate_normal([0, 0], [[1, 0.99], [0.99, 1]], size=3000)
X = norm.cdf(normal)
y = X[:, 0] + X[:, 1] ** 2 + rng.normal(scale=0.1, size=len(X))
model = RandomForestRegressor(60, min_samples_leaf=10, random_state=0).fit(X, y)

# %%
# Where the rows are, and where partial dependence asks
# -----------------------------------------------------
#
# Partial dependence sets x0 to 0.9 in *every* row, also in those where x1 is 0.1: it
# averages predictions over points where no row ever was. Trees answer there with the
# nearest leaf that they have, and the two features share that between them by chance.
figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.4), layout="constrained")
left.plot(*X[:1000].T, ".", markersize=2, color="tab:gray")
left.plot(np.full(200, 0.9), X[:200, 1], ".", markersize=3, color="tab:orange")
left.set(xlabel="x0", ylabel="x1", aspect="equal")
left.set_title("rows, and where x0 is set to 0.9")
x = np.linspace(0, 1, 60)
grid = np.stack(np.meshgrid(x, x), axis=-1)
error = model.predict(grid.reshape(-1, 2)) - (grid[..., 0] + grid[..., 1] ** 2).ravel()
image = right.pcolormesh(
    x, x, error.reshape(60, 60), cmap="PuOr", vmin=-0.9, vmax=0.9, rasterized=True
)
right.set(xlabel="x0", ylabel="x1", aspect="equal", title="prediction minus truth")
_ = figure.colorbar(image, ax=right)

# %%
# Three effects and the truth
# ---------------------------
#
# - *Partial dependence* averages over the corners too, and shows what the forest makes
#   up there: both curves are flattened at their ends.
# - The *M-plot* averages over real rows only, but credits each feature with the effect
#   of the other: both of its curves look like x + x².
# - *Accumulated local effects* do neither, and find x and x².
frozen = FrozenEstimator(model)
effects = {
    "partial dependence": PartialDependence(
        frozen, grid_resolution=60, percentiles=(0, 1), subsample=1000, random_state=0
    ).fit(X),
    "M-plot": ConditionalDependence(frozen).fit(X),
    "accumulated local effects": AccumulatedLocalEffects(frozen).fit(X),
}
TRUTH = {"x0": lambda x: x, "x1": lambda x: x**2}
TEXT = {"x0": "truth: x", "x1": "truth: x²"}

# sphinx_gallery_thumbnail_number = 2
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.8), layout="constrained")
for j, (name, truth) in enumerate(TRUTH.items()):
    display = EffectComparisonDisplay.from_estimator(
        list(effects.values()), X, feature=j, ax=axes[j]
    )
    centred = truth(x) - truth(X[:, j]).mean()
    looks = {"color": plt.rcParams["text.color"], "zorder": 5}
    (line,) = axes[j].plot(x, centred, "--", label=TEXT[name], **looks)
    handles = [*display.legend_.legend_handles, line]
    texts = [text.get_text() for text in display.legend_.get_texts()]
    axes[j].legend(handles, [*texts, TEXT[name]], fontsize="small", frameon=False)
    axes[j].set_title(f"effects of {name}")

# %%
# The same in numbers: root mean square distance to the truth over the central 90 % of
# the rows.
print(f"{'':28}{'x0':>8}{'x1':>8}")
for name, effect in effects.items():
    print(f"{name:28}", end="")
    for j, truth in enumerate(TRUTH.values()):
        low, high = np.quantile(X[:, j], [0.05, 0.95])
        rows = X[(low < X[:, j]) & (X[:, j] < high)]
        print(
            f"{(effect.transform(rows)[:, j] - truth(rows[:, j])).std():8.3f}", end=""
        )
    print()

# %%
# The M-plot by itself has its use, as a description of the rows: what does the model
# predict, on average, for rows that have this value?
_ = ConditionalDependenceDisplay.from_estimator(effects["M-plot"], X)

# %%
# Two models on the same axes
# ---------------------------
#
# The accumulated local effects of a linear regression are drawn on the axes of those of
# the forest, and join their legend. A line cannot bend: its effect of x1 is straight.
display = AccumulatedLocalEffectsDisplay.from_estimator(
    model, X, target_name="y", line_kw={"label": "random forest"}
)
_ = AccumulatedLocalEffectsDisplay.from_estimator(
    LinearRegression().fit(X, y),
    X,
    target_name="y",
    line_kw={"label": "linear regression"},
    ax=display.axes_,
)
