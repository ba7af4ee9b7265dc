"""A number for each training row: parts that fit, tables, HTML."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sklearn_interpret.explanations import TrainingExplanation

VALUES = np.array([[0.5, -2.0, 1.0], [0.0, 1.0, -1.5]])
FRAME = pd.DataFrame({"<b>": [1, 2, 3], "c": list("xyz")}, index=["p", "q", "<i>r"])


def explanation(**parts):
    given = {"values": VALUES, "training_data": FRAME, "data": FRAME[:2]}
    return TrainingExplanation(**{**given, **parts})


def test_the_largest_and_their_means():
    found = explanation()
    assert len(found) == 2
    assert_array_equal(found.largest(2), [[1, 2], [2, 1]])
    assert_array_equal(found.mean_sizes, [0.25, 1.5, 1.25])
    assert found.feature_names == ("<b>", "c")
    assert found.training_names == ("p", "q", "<i>r")
    assert "1.5 (q), 1.25 (<i>r), 0.25 (p)" in repr(found)
    html = found._repr_html_()
    assert "&lt;i&gt;r: 1" in html
    assert "<i>" not in html


def test_frames():
    frame = explanation().to_frame()
    assert frame["row"].tolist() == ["p", "p", "p", "q", "q", "q"]
    assert frame["training_row"].tolist() == ["p", "q", "<i>r"] * 2
    assert frame["value"].tolist() == VALUES.ravel().tolist()
    first = explanation().to_frame(1)
    assert first["training_row"].tolist() == ["q", "<i>r"]
    assert first["value"].tolist() == [-2.0, -1.5]


def test_parts_and_copies():
    found = explanation(predictions=[1.0, 2.0], training_targets=[0, 1, 0])
    second = pickle.loads(pickle.dumps(found))[1]
    assert_array_equal(second.values, VALUES[1:])
    assert_array_equal(second.predictions, [2.0])
    assert second.data.equals(FRAME[1:2])
    assert second.training_data.equals(FRAME)


def test_groups_have_names_and_no_rows():
    found = TrainingExplanation(VALUES, training_names=["a", "b", "c"])
    assert found.to_frame(1)["training_row"].tolist() == ["b", "c"]
    assert TrainingExplanation(np.empty((0, 3))).to_frame().empty


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"values": [1.0, 2.0]}, "n_training"),
        ({"values": [["a", "b", "c"]]}, "numbers"),
        ({"training_data": FRAME[:2]}, "training_data has 2 rows"),
        ({"training_names": ["a"]}, "training_names has 1"),
        ({"training_names": "abc"}, "training_names"),
        ({"training_targets": [1]}, "training_targets has 1"),
        ({"data": FRAME}, "data has 3 rows"),
        ({"predictions": [1.0]}, "predictions"),
    ],
)
def test_parts_that_do_not_fit(parts, message):
    with pytest.raises(ValueError, match=message):
        explanation(**parts)
