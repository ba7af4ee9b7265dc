"""Tables, and a model that takes next to no time to be fitted again and again."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin


def linear_table(n_rows=60, n_features=4, seed=0):
    """Independent features, and targets that two of them make with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, 2 * X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=n_rows)


def mixed_frame(n_rows=60, seed=0):
    """A frame with a category, and its targets."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "colour": pd.Categorical(rng.choice(["red", "blue", "green"], n_rows)),
            "noise": rng.normal(size=n_rows),
        }
    )
    y = frame["size"] + 2.0 * (frame["colour"] == "red")
    return frame, y.to_numpy()


class Covariances(RegressorMixin, BaseEstimator):
    """Covariances with the targets as coefficients: quick, and each feature alone."""

    def fit(self, X, y, sample_weight=None):
        """Set `coef_`."""
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        centred = y - np.average(y, weights=weights)
        self.coef_ = (weights * centred) @ X / weights.sum()
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        """Give linear predictions."""
        return X @ self.coef_
