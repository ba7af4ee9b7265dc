"""Explanations by words removed: what they refuse, and rows of them."""

import numpy as np
import pytest

from sklearn_interpret.explanations import RemovalExplanation


def explanation(**changes):
    parts = {
        "pieces": [["a", " ", "b"], []],
        "removed": [[True, False, False], []],
        "words": [["a"], []],
        "texts": [" b", None],
        "answers": [1, None],
        "original_answers": [0, 0],
        "status": ["found", "failed"],
        "optimal": [True, False],
        "reasons": ["", "no luck"],
        "predictions": [0.7, np.nan],
        "original_predictions": [0.2, 0.3],
        "data": ["a b", ""],
        **changes,
    }
    return RemovalExplanation(**parts)


def test_rows_words_and_places():
    whole = explanation()
    assert whole.feature_names == ("a",)
    assert whole.n_removed.tolist() == [1, 0]
    assert whole.spans(0) == [(0, 1)]
    assert [whole.text(row) for row in range(2)] == [
        "without 'a': 0 -> 1",
        "failed: no luck",
    ]
    last = whole[-1]
    assert last.data == [""]
    assert last.status.tolist() == ["failed"]
    assert last.original_predictions.tolist() == [0.3]
    assert [len(one) for one in whole] == [1, 1]
    assert repr(whole[[0] * 7]).endswith("...")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": [["a"]]}, "words has 1 entries; 2 rows"),
        ({"removed": [[True], []]}, "pieces has 3 pieces of text 0, but removed has 1"),
        ({"predictions": [1.0]}, "predictions has the shape"),
        ({"original_predictions": [[1.0]]}, "original_predictions has the shape"),
        ({"data": ["a b"]}, "data has 1 rows"),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        explanation(**changes)
