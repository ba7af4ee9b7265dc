"""RIPPER where the rules are known."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_wine

from sklearn_interpret.rules import RIPPERClassifier


def known_rules(n_rows, noise):
    """Return rows of flags, classes by a rule of three parts, and noisy ones."""
    rng = np.random.default_rng(0)
    X = rng.choice(["t", "f"], size=(n_rows, 10))
    is_t = X == "t"
    truth = (is_t[:, 0] & is_t[:, 1]) | (~is_t[:, 2] & is_t[:, 3] & is_t[:, 4])
    return X, truth, truth ^ (rng.random(n_rows) < noise)


@pytest.mark.parametrize("prune", [True, False])
def test_known_rules_are_found(prune):
    X, truth, _ = known_rules(600, 0)
    model = RIPPERClassifier(prune=prune, random_state=0).fit(X, truth)
    assert model.score(X, truth) == 1


def test_pruning_is_for_noise():
    X, truth, noisy = known_rules(600, 0.1)
    pruned = RIPPERClassifier(random_state=0).fit(X, noisy)
    grown = RIPPERClassifier(prune=False).fit(X, noisy)
    assert len(pruned.rules_) < 10 < len(grown.rules_)
    assert pruned.score(X, truth) == 1 > grown.score(X, truth)


def test_rare_classes_come_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] > 1, "rare", np.where(X[:, 1] > 0.3, "some", "most"))
    model = RIPPERClassifier(random_state=0).fit(X, y)
    order = [rule.prediction for rule in model.rules_]
    assert order == sorted(order, key=["rare", "some", "most"].index)
    assert model.score(X, y) > 0.95


@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.NoRuleWarning")
def test_min_weight_is_of_the_class():
    X = np.arange(12.0)[:, None]
    y = X[:, 0] >= 10
    for min_weight, n_rules in ((2, 2), (3, 1)):
        model = RIPPERClassifier(prune=False, min_weight=min_weight).fit(X, y)
        assert len(model.rules_) == n_rules


def test_columns_are_called_by_their_rules():
    X, y = load_wine(return_X_y=True)
    model = RIPPERClassifier(random_state=0).fit(X, y)
    names = model.get_feature_names_out().tolist()
    assert names == list(map(str, model.rules_))
    assert_array_equal(model.transform(X)[:, -1], 1)
    given = model.get_feature_names_out([f"column {j}" for j in range(X.shape[1])])
    assert given[0] == names[0].replace("x", "column ")
    with pytest.raises(ValueError, match="input_features"):
        model.get_feature_names_out(["one"])
    model.rules_ = model.rules_[:1] * 2
    assert model.get_feature_names_out().tolist() == [names[0], f"{names[0]} (2)"]
