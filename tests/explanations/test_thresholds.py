"""Thresholds in texts leave the rows on their sides."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret._model.rows.number_format import short_threshold
from sklearn_interpret.counterfactuals import Anchors
from sklearn_interpret.effects import RegionalEffects
from sklearn_interpret.explanations import Condition
from sklearn_interpret.rules import RIPPERClassifier
from sklearn_interpret.surrogates import LimeTabular

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "seconds": 1.6e9 + RNG.uniform(0, 100, 120),
        "far": 1e6 + RNG.normal(size=120),
        "near": RNG.normal(size=120),
    }
)
LABELS = ((TABLE["seconds"] > 1.6e9 + 40) & (TABLE["far"] > 1e6)).astype(int)
MODEL = FrozenEstimator(DecisionTreeClassifier(max_depth=4).fit(TABLE, LABELS))
_CONDITION = r"(?:(\S+) < )?(\w+) (?:(?:<=|≤) (\S+)|> (\S+))"


def rows_of_text(text):
    """Rows for which conditions hold as they are written."""
    holds = np.ones(len(TABLE), dtype=bool)
    for condition in text.split(" and "):
        low, name, high, above = re.search(_CONDITION, condition).groups()
        low, high = float(low or above or -np.inf), float(high or np.inf)
        holds &= (low < TABLE[name]) & (TABLE[name] <= high)
    return holds


@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.NoAnchorWarning")
def test_anchors():
    anchors = Anchors(MODEL, precision=0.6, n_samples=200, random_state=0).fit(TABLE)
    found = anchors.explain(TABLE[:8])
    holds = found.holds(TABLE)
    for rule, of_rule in zip(found.rules, holds, strict=True):
        for digits in (4, None):
            text = " and ".join(condition.to_text(digits) for condition in rule)
            assert not rule or (rows_of_text(text) == of_rule).all()
    assert any(map(len, found.rules))


def test_rule_lists():
    model = RIPPERClassifier(random_state=0).fit(TABLE, LABELS)
    first = model.to_text().splitlines()[0]
    (applies,) = {int(first.rpartition("THEN ")[2])}
    rows = rows_of_text(first.partition("IF ")[2].partition(" THEN")[0])
    assert rows.any()
    assert (model.predict(TABLE[rows]) == applies).all()


def test_bins_of_local_surrogates():
    lime = LimeTabular(MODEL, n_samples=200, random_state=0).fit(TABLE)
    for text in lime.explain(TABLE[:1]).conditions[0]:
        rows = rows_of_text(text)
        assert rows[0], text
        assert rows.mean() == 0.25


def test_regions():
    text = RegionalEffects(MODEL, features=["near", "far"]).fit(TABLE).to_text()
    assert "e+09" not in text


@pytest.mark.parametrize("low", [1000003.25, 12345.678, 1e-7])
def test_conditions_have_all_digits_of_a_decimal(low):
    condition = Condition(0, "x", low=low)
    assert float(str(condition).partition("> ")[2]) == low
    assert str(Condition(0, "x", high=1 / 3)) == "x <= 0.3333"


def test_short_thresholds():
    values = np.sort(1e6 + RNG.normal(size=200))
    for below, above in pairwise(values):
        assert below <= short_threshold(below, above) < above
    assert short_threshold(1.0, np.nextafter(1.0, 2)) == 1.0
