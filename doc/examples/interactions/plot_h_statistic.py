"""
Which features act together? The H statistic on Friedman's function
===================================================================

Of five features Friedman's first function joins two:

.. math::
    y = 10 \\sin(\\pi x_0 x_1) + 20 (x_2 - 0.5)^2 + 10 x_3 + 5 x_4 + \\text{noise}.

The pair is x0 and x1, and nothing else. A gradient boosting has learned it from rows.
Do the H statistics of Friedman and Popescu find the pair, and only that one?

See the one long orange bar: the pair of x0 and x1. All other pairs are close to zero.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.effects import PartialDependenceDisplay
from sklearn_interpret.interactions import (
    HStatistic,
    HStatisticDisplay,
    PartialDependenceInteraction,
)

X, y = make_friedman1(800, n_features=7, noise=0.5, random_state=0)
model = HistGradientBoostingRegressor(max_leaf_nodes=8, random_state=0).fit(X, y)
frozen = FrozenEstimator(model)

# %%
# One pair
# --------
#
# The upper bars are the share of the variance of the response that comes from what a
# feature does together with all others: x0 and x1 stand out. The lower bars are pairs,
# and of these x0:x1 is many times as long as the next. That the others are not quite
# zero is the model's doing: it has learned a little of the noise, too.
h = HStatistic(frozen).fit(X)
_ = HStatisticDisplay.from_estimator(h, X)

# %%
# What the pair does
# ------------------
#
# Above the partial dependences of x0 and x1, below that of both together. If the two
# did not interact, the surface would be the sum of the curves: cut along x0, it would
# have the same shape at every x1. It does not: along the lower edge it is flat, and
# along the upper edge it rises and falls.
_ = PartialDependenceDisplay.from_estimator(model, X, [0, 1, (0, 1)], n_cols=2)

# %%
# Ratios of small numbers
# -----------------------
#
# H² is a ratio. A larger model, which has learned more of the noise, has given x5 and
# x6, which have no effect at all, a little of one, and a good part of that together:
# next to nothing above the line, next to nothing below it, and a ratio larger than that
# of the true pair.
large = HistGradientBoostingRegressor(max_iter=150, random_state=0).fit(X, y)
noisy = HStatistic(FrozenEstimator(large)).fit(X)
print("pair      H²   standard deviation of what the pair does")
for j, k in ((0, 1), (2, 3), (5, 6)):
    size = noisy.pairwise_unnormalized_[j, k]
    print(f"x{j}:x{k} {noisy.pairwise_[j, k]:7.3f} {size:8.3f}")

# %%
# The same statistics in units of the response show what matters, and what is noise.
_ = HStatisticDisplay.from_estimator(noisy, X, unnormalized=True, kind="heatmap")

# %%
# How sure is that?
# -----------------
#
# Statistics of small samples vary. Here 25 to 200 of the rows are drawn 20 times each,
# and the spread over the draws stands beside the mean. It falls with the number of
# rows, but even with few of them x0:x1 is far from a pair that does not interact.
sizes = (25, 50, 100, 200)
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for (j, k), colour in (((0, 1), "tab:orange"), ((2, 3), "tab:blue")):
    draws = [
        HStatistic(
            frozen, pairs=[(j, k)], subsample=size, n_repeats=20, random_state=0
        ).fit(X)
        for size in sizes
    ]
    means = np.array([draw.pairwise_[j, k] for draw in draws])
    spread = np.array([draw.pairwise_std_[j, k] for draw in draws])
    ax.errorbar(sizes, means, spread, marker="o", color=colour, label=f"x{j}:x{k}")
ax.set(xlabel="rows", ylabel="H², mean ± one standard deviation", xscale="log")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
_ = ax.legend(frameon=False)

# %%
# Another measure
# ---------------
#
# ``PartialDependenceInteraction`` (Greenwell, Boehmke & McCarthy) asks how unevenly the
# partial dependence of one feature is spread along the other. It is in units of the
# response, and finds the same pair.
other = PartialDependenceInteraction(frozen, grid_resolution=10).fit(X)
_ = HStatisticDisplay.from_estimator(other, X)
