"""Models of several outputs, of labels alone, that overwrite their input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret.adversarial import (
    FastGradientSign,
    HopSkipJump,
    OnePixelAttack,
    ProjectedGradient,
    SubstituteAttack,
)
from sklearn_interpret.counterfactuals import (
    ExactCounterfactual,
    GrowingSpheres,
    WachterCounterfactual,
)
from sklearn_interpret.decomposition import TreePathContributions
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.linear import CoefficientInference
from sklearn_interpret.shapley import TreeSHAP
from sklearn_interpret.surrogates import GlobalSurrogate

X = np.random.default_rng(0).normal(size=(40, 3))
Y = X[:, 0] + X[:, 1] > 0.2
QUICK = {"n_steps": 1, "n_draws": 4, "random_state": 0}


@pytest.mark.parametrize(
    "search",
    [
        FastGradientSign(None, desired=(3, None)),
        OnePixelAttack(None, desired=(3, None)),
        ExactCounterfactual(None, desired=(3, None)),
        GrowingSpheres(None, desired=(3, None)),
        SubstituteAttack(None, attack=FastGradientSign(None, desired=(3, None))),
    ],
    ids=lambda search: type(search).__name__,
)
def test_one_of_several_outputs_has_to_be_named(search):
    search.set_params(estimator=LinearRegression())
    with pytest.raises(ValueError, match=r"target=None: the model has 2 outputs"):
        search.fit(X, X[:, :2])


@pytest.mark.filterwarnings("ignore:Allow more changes")
@pytest.mark.parametrize(
    "attack", [HopSkipJump(None, **QUICK), OnePixelAttack(None, random_state=0)]
)
def test_nothing_that_may_vary(attack):
    frame = pd.DataFrame({"kind": pd.Categorical(list("xyxy"))})
    attack.set_params(estimator=make_pipeline(OneHotEncoder(), LogisticRegression()))
    assert not attack.fit(frame, [0, 1, 0, 1]).explain(frame).valid.any()


def test_votes_are_labels_alone():
    members = [("l", LogisticRegression()), ("t", DecisionTreeClassifier(max_depth=2))]
    votes = FrozenEstimator(VotingClassifier(members).fit(X, Y))
    with pytest.raises(UnreadableModelError, match=r"labels alone.*HopSkipJump"):
        ProjectedGradient(votes).fit(X)
    for search in (
        HopSkipJump(votes, **QUICK),
        GrowingSpheres(votes, desired="other", random_state=0),
        WachterCounterfactual(votes, desired="other", random_state=0),
    ):
        found = search.fit(X).explain(X[:4])
        assert found.valid.all()
        assert (votes.predict(found.rows) != votes.predict(X[:4])).all()
    with pytest.raises(ValueError, match="VotingClassifier has no predict_proba"):
        GrowingSpheres(votes, desired=(0.5, None)).fit(X)


def overwrite_rows(kind, monkeypatch):
    """Let a library's class overwrite what it predicts for."""
    for name in ("predict", "predict_proba", "decision_function"):
        if not hasattr(kind, name):
            continue

        original = getattr(kind, name)

        def ruin(self, rows, original=original):
            answers = original(self, rows.copy())
            rows[...] = 77
            return answers

        monkeypatch.setattr(kind, name, ruin)


@pytest.mark.parametrize(
    "inspector, model",
    [
        (HopSkipJump(None, **QUICK), LogisticRegression()),
        (FastGradientSign(None), LogisticRegression()),
        (GrowingSpheres(None, desired="other", random_state=0), LogisticRegression()),
        (CoefficientInference(None), LinearRegression()),
        (GlobalSurrogate(None), LogisticRegression()),
        (TreePathContributions(None), RandomForestClassifier(3, random_state=0)),
        (TreeSHAP(None), RandomForestClassifier(3, random_state=0)),
    ],
    ids=lambda part: type(part).__name__,
)
def test_rows_stay_as_they_are(inspector, model, monkeypatch):
    y = Y if hasattr(model, "predict_proba") else X[:, 0]
    inspector.set_params(estimator=FrozenEstimator(model.fit(X, y)))
    overwrite_rows(type(model), monkeypatch)
    rows = X.copy()
    inspector.fit(rows, y)
    for method in ("explain", "transform", "robust_score"):
        if hasattr(inspector, method):
            getattr(inspector, method)(rows)
            assert (rows == X).all(), method
