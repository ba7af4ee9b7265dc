"""OneR and RIPPER against Weka's OneR and JRip, fitted and tested on the same folds.

The shares of right predictions in ten folds are those of Weka 3.6.14 with its defaults:
``java -cp weka.jar weka.classifiers.rules.JRip -t train.arff -T test.arff``, with the
categories of the tables as nominal attributes.
"""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from sklearn_interpret.rules import OneRClassifier, RIPPERClassifier
from tests.references.tables import monks, tic_tac_toe


def digits(n_rows=600):
    """Return the first of scikit-learn's digits."""
    X, y = load_digits(return_X_y=True)
    return X[:n_rows], y[:n_rows]


# Table, and how often OneR and JRip are right.
WEKA = {
    "iris": (partial(load_iris, return_X_y=True), 0.920, 0.933),
    "wine": (partial(load_wine, return_X_y=True), 0.792, 0.927),
    "cancer": (partial(load_breast_cancer, return_X_y=True), 0.880, 0.944),
    "digits": (digits, 0.243, 0.798),
    "tic-tac-toe": (tic_tac_toe, 0.699, 0.977),
    "noisy monks": (monks, 0.711, 0.898),
}


@pytest.mark.thorough(after=1)
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.NoRuleWarning")
@pytest.mark.parametrize("name", WEKA)
@pytest.mark.parametrize(
    "model", [OneRClassifier(), RIPPERClassifier(random_state=0)], ids=str
)
def test_as_accurate_as_weka(model, name):
    load, *of_weka = WEKA[name]
    expected = of_weka[isinstance(model, RIPPERClassifier)]
    X, y = load()
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    accuracy = np.mean(cross_val_predict(model, X, y, cv=folds) == y)
    assert accuracy > expected - 2 * np.sqrt(expected * (1 - expected) / len(y))
