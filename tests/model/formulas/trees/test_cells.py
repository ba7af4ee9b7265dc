"""Cells of trees: guesses of thresholds spare questions, and change no boundary."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret._model.formulas.trees.cells import TreeCells
from sklearn_interpret.counterfactuals import ExactCounterfactual

FOREST = RandomForestClassifier(5, max_depth=4, random_state=0)


def cells_and_calls(model, X, y, monkeypatch):
    """The cells that a search makes, and how often it encodes rows for them."""
    calls, codes_at = [], TreeCells._codes_at

    def counted(self, *arguments):
        calls.append(arguments)
        return codes_at(self, *arguments)

    monkeypatch.setattr(TreeCells, "_codes_at", counted)
    search = ExactCounterfactual(model).fit(X, y)._searcher
    monkeypatch.setattr(TreeCells, "_codes_at", codes_at)
    return search.cells, len(calls)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize(
    ("model", "are_close"),
    [
        (FOREST, True),
        (HistGradientBoostingClassifier(max_iter=5, random_state=0), True),
        (make_pipeline(StandardScaler(), FOREST), False),
    ],
    ids=["forest", "boosting", "scaled forest"],
)
def test_guesses_of_thresholds_change_no_boundary(model, are_close, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X = (100 * rng.normal(size=(120, 3)) * [1, 1e-3, 1e6]).astype(dtype)
    y = (X @ [1, 1e3, 1e-6] > 0).astype(int)
    guessed, n_calls = cells_and_calls(model, X, y, monkeypatch)
    monkeypatch.setattr(TreeCells, "_positions_near_thresholds", lambda *_: [])
    searched, most_calls = cells_and_calls(model, X, y, monkeypatch)
    for name in ("low", "high", "cell_codes"):
        for one, other in zip(
            getattr(guessed, name), getattr(searched, name), strict=True
        ):
            np.testing.assert_array_equal(one, other)
    # A scaler moves thresholds away from the two guesses of each.
    assert n_calls < 0.6 * most_calls if are_close else n_calls <= most_calls + 2
