"""
How is an inspector of one's own written?
=========================================

Which range of answers does a model give? An inspector for that takes a few lines:
``BaseInspector`` fits or takes the model, checks the input, finds the response, draws a
subsample, and stands in for the model in pipelines and searches.

See that the models' predictions have a narrower range than the truth (top), and that
larger leaves make it narrower still.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import cross_validate

from sklearn_interpret.base import BaseInspector, Sample
from sklearn_interpret.estimator_checks import (
    check_estimator,
    estimator_checks_generator,
)

# %%
# The class
# ---------
#
# Parameters are stored as they come; those that ``BaseInspector`` knows, such as
# ``response_method`` and ``subsample``, are checked and obeyed by it, others are named
# in ``_parameter_constraints``. The one hook is ``_inspect``: it gets a ``Sample``,
# whose ``rows`` and ``weights`` are checked, and the ``response``, a function of rows.


class ResponseQuantiles(BaseInspector):
    """Quantiles of a model's responses.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect.
    levels : tuple of float, default=(0.05, 0.25, 0.5, 0.75, 0.95)
        Shares of the rows that have at most the quantile.
    response_method, subsample, random_state
        As in other inspectors.

    Attributes
    ----------
    quantiles_ : ndarray of shape (n_levels, n_outputs)
        The quantiles.
    """

    _parameter_constraints = {**BaseInspector._parameter_constraints, "levels": [tuple]}

    def __init__(
        self,
        estimator,
        *,
        levels=(0.05, 0.25, 0.5, 0.75, 0.95),
        response_method="auto",
        subsample=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.levels = levels
        self.response_method = response_method
        self.subsample = subsample
        self.random_state = random_state

    def _inspect(self, sample: Sample, response):
        responses = response(sample.rows.native)
        self.quantiles_ = self._quantiles(responses, sample.weights)

    def _quantiles(self, responses, weights):
        return np.quantile(
            responses, self.levels, weights=weights, method="inverted_cdf", axis=0
        )


# %%
# Its use
# -------
#
# A frozen model is inspected as it is; others are fitted. It is cross-validated as the
# model is: the inspector of each fold has the answers to the rows of the fit.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
models = {
    "linear model": RidgeCV().fit(X, y),
    "forest": RandomForestRegressor(50, random_state=0).fit(X, y),
    "forest, large leaves": RandomForestRegressor(
        50, min_samples_leaf=30, random_state=0
    ).fit(X, y),
}
inspectors = {
    name: ResponseQuantiles(FrozenEstimator(model)).fit(X)
    for name, model in models.items()
}
folds = cross_validate(ResponseQuantiles(RidgeCV()), X, y, return_estimator=True)
print("R² in the folds:", folds["test_score"].round(2))
medians = [float(fold.quantiles_[2, 0]) for fold in folds["estimator"]]
print("Medians:", np.round(medians))

# %%
# Answers lie nearer to the middle than the truth does, and the more so the larger the
# leaves of the trees are: a model that says less about single patients.
figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
rows = {"truth": np.quantile(y, inspectors["forest"].levels)[:, None]}
rows |= {name: inspector.quantiles_ for name, inspector in inspectors.items()}
for place, quantiles in enumerate(rows.values()):
    ax.plot(quantiles[[0, -1]], [place, place], color="tab:blue", linewidth=1.5)
    ax.plot(quantiles[[1, -2]], [place, place], color="tab:blue", linewidth=6)
    ax.plot(quantiles[2], place, "o", color="tab:orange", zorder=3)
ax.set_yticks(range(len(rows)), rows)
ax.invert_yaxis()
_ = ax.set_xlabel("progression: 5, 25, 50, 75 and 95 % quantiles")

# %%
# Is the contract kept?
# ---------------------
#
# ``check_estimator`` runs every check that applies to what the inspector can do: input
# is never changed, a ``fit`` that fails leaves nothing behind, and so on. The first
# promise that is not kept raises an error. Here all are:
check_estimator(ResponseQuantiles(LinearRegression()))


# %%
# A version that forgets the weights, and what the checks say of it, one by one. A row
# of weight two is to count as two rows.
class Forgetful(ResponseQuantiles):
    """The same without weights."""

    def _quantiles(self, responses, weights):
        return np.quantile(responses, self.levels, axis=0)


for name, check in estimator_checks_generator(Forgetful(LinearRegression())):
    try:
        check(Forgetful(LinearRegression()))
    except AssertionError:
        print("not kept:", name)
