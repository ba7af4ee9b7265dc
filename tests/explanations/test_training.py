"""A number for each training row: parts that fit, tables, HTML."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklearn_interpret.explanations import TrainingExplanation, WeightExplanation
from sklearn_interpret.influence import InfluenceDisplay, InfluenceTreeDisplay

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


def assert_equal(left, right):
    left = left.toarray() if sparse.issparse(left) else left
    assert_allclose(left, right, rtol=1e-15)


def test_sparse_values_are_like_dense_ones():
    dense = explanation(values=VALUES * [1, 0, 1])
    found = explanation(values=sparse.coo_array(dense.values))
    assert isinstance(found.values, sparse.csr_array)
    assert len(found) == 2
    assert repr(found) == repr(dense)
    assert found._repr_html_() == dense._repr_html_()
    assert_array_equal(found.mean_sizes, dense.mean_sizes)
    for k in (1, 3, 9):
        assert_array_equal(found.largest(k), dense.largest(k))
        assert found.to_frame(k).equals(dense.to_frame(k))
    frame = dense.to_frame()  # all that is stored
    assert found.to_frame().equals(frame[frame["value"] != 0].reset_index(drop=True))
    for index in (1, slice(1), [1, 0], [False, True]):
        part = pickle.loads(pickle.dumps(found[index]))
        assert_equal(part.values, dense[index].values)
        assert part.data.equals(dense[index].data)
    assert [len(row.to_frame()) for row in found] == [2, 1]
    assert found.to_dict()["results"][0]["value"] == 0.5
    for row in (None, 0, -1):
        displays = [
            InfluenceDisplay.from_explanation(given, row=row)
            for given in (found, dense)
        ]
        widths = [bar.get_width() for bar in displays[0].bars_]
        assert widths == [bar.get_width() for bar in displays[1].bars_]
        assert displays[0].to_frame().equals(displays[1].to_frame())


@pytest.mark.parametrize("targets", [[3.0, 1.0, 2.0], [[3.0, 1.0], [0.0, 1.0], [2, 5]]])
def test_sparse_weights_are_like_dense_ones(targets):
    targets = np.array(targets)
    predictions = VALUES @ targets
    parts = {"target_values": targets, "base_values": 0 * predictions}
    parts |= {"predictions": predictions, "output_names": range(predictions.ndim)}
    dense = WeightExplanation(VALUES, FRAME, **parts)
    found = WeightExplanation(sparse.csr_array(VALUES), FRAME, **parts)
    assert_equal(found.effective_neighbors, dense.effective_neighbors)
    assert_equal(found.additivity_error(), dense.additivity_error())
    by_output, expected = found.contributions, dense.contributions
    if targets.ndim == 1:
        by_output, expected = [by_output], expected[:, :, None]
    outputs = zip(by_output, np.moveaxis(expected, 2, 0), strict=True)
    for contributions, of_output in outputs:
        assert isinstance(contributions, sparse.csr_array)
        assert_equal(contributions, of_output)
    tree, of_dense = (
        InfluenceTreeDisplay.from_explanation(given) for given in (found, dense)
    )
    assert tree.to_frame().equals(of_dense.to_frame())


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
