"""A survival model that needs no other library, and tables for scikit-survival."""

from functools import partial

import numpy as np
from scipy.special import expit, log_expit
from sklearn.linear_model import LinearRegression


def logistic_survival(end, times):
    """Probability to survive times, if ends are logistic."""
    return expit(end - np.asarray(times))


def logistic_hazard(end, times):
    """Cumulative hazard at times, if ends are logistic."""
    return -log_expit(end - np.asarray(times))


class LogisticEnds(LinearRegression):
    """A model of times, all of which are events."""

    def predict_survival_function(self, X):
        """A function of time for each row."""
        return [partial(logistic_survival, end) for end in self._ends(X)]

    def predict_cumulative_hazard_function(self, X):
        """A function of time for each row."""
        return [partial(logistic_hazard, end) for end in self._ends(X)]

    def _ends(self, X):
        return np.atleast_1d(self.predict(X))  # scipy's scalar for a row of COO
