"""Tables, models and losses that the tests of importance share."""

import numpy as np

LABELS = np.array(["no", "perhaps", "yes"], dtype=object)


def table(n_rows=40, n_features=4, seed=0):
    """Numbers with repeated values; a target in which features act together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).round(1)
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) / 4
    return X, y


def labels_of(y, n_classes):
    """Classes by quantiles of a number, as strings."""
    edges = np.quantile(y, np.arange(1, n_classes) / n_classes)
    return LABELS[np.searchsorted(edges, y)]


def log_loss_of(classes):
    """The logarithmic loss of a row of probabilities."""
    place = {label: k for k, label in enumerate(classes)}

    def loss(label, probabilities):
        return -np.log(np.clip(probabilities[place[label]], 2**-52, 1 - 2**-52))

    return loss


def brier_of(classes):
    """The squared error of a row of probabilities, halved for two classes."""

    def loss(label, probabilities):
        errors = ((classes == label) - probabilities) ** 2
        return errors.sum() / (2 if len(classes) == 2 else 1)

    return loss
