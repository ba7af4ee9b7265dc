"""The tables of models that are read say what the readers are."""

import runpy
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret.adversarial import MinimalPerturbation
from sklearn_interpret.counterfactuals import ExactCounterfactual
from sklearn_interpret.decomposition import TreePathContributions
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.interactions import HStatistic
from sklearn_interpret.shapley import TreeSHAP

SCRIPT = Path(__file__).parents[1] / ".ci" / "make_model_table.py"
MADE = runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize("path", MADE["PAGES"], ids=lambda path: path.name)
def test_tables_are_those_of_the_readers(path):
    text = path.read_text(encoding="utf-8")
    assert text == MADE["page"](path), f"run python .ci/{SCRIPT.name}"
    assert "XGBoost" in text


def tree_models():
    """Kinds of scikit-learn's classes that are read as trees, and a model of each."""
    for kind in MADE["kinds"]()[:2]:
        for cls in kind.classes:
            if isinstance(cls, tuple) or cls.__name__ in MADE["HOLDERS"]:
                continue
            if not cls.__module__.startswith("sklearn."):
                continue
            if "Voting" not in cls.__name__:
                model = cls()
            elif "Classifier" in cls.__name__:
                model = cls([("tree", DecisionTreeClassifier())], voting="soft")
            else:
                model = cls([("tree", DecisionTreeRegressor())])
            if "n_estimators" in model.get_params():
                model.set_params(n_estimators=3)
            yield pytest.param(kind, model, id=cls.__name__)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "model"), list(tree_models()))
def test_methods_are_exact(kind, model):
    """Without rows that go to the model beyond those of the table."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = X[:, 0] + X[:, 1] * X[:, 2]
    desired = {"desired": (0.0, None)}
    if is_classifier(model):
        y, desired = y > 0, {}
    # What is asked of the model costs rows: few are allowed.
    settings = {"max_rows": 2 * len(X)}
    if hasattr(model, "score_samples"):
        assert 'response_method="score_samples" effects and int' in kind.exact
        settings["response_method"] = "score_samples"
    methods = {
        "effects": partial(PartialDependence, **settings),
        "interactions": partial(HStatistic, **settings),
        "permutation importance of all": partial(
            PermutationImportance, method="exact", max_rows=2 * len(X)
        ),
        "Shapley values": TreeSHAP,
        "TreeSHAP": TreeSHAP,
        "paths": TreePathContributions,
        "TreePathContributions": TreePathContributions,
        "counterfactuals": partial(ExactCounterfactual, **desired),
        "adversarial": partial(MinimalPerturbation, norm="inf", **desired),
    }
    named = [name for name in methods if name in kind.exact]
    assert len(named) == (4 if "TreeSHAP" in kind.exact else 7)
    for name in named:
        inspector = methods[name](model).fit(X, y)
        if hasattr(inspector, "explain"):
            inspector.explain(X[:1])
