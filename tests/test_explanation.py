"""The result of local methods: shapes, rows, tables, and nothing unescaped in HTML."""

import pickle
import sys
from dataclasses import FrozenInstanceError
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret.explanations import Explanation

RNG = np.random.default_rng(0)


def make(n_rows=4, n_features=3, n_outputs=None, **fields):
    """An additive explanation with every optional field."""
    outputs = () if n_outputs is None else (n_outputs,)
    values = RNG.normal(size=(n_rows, n_features, *outputs))
    base_values = np.full((n_rows, *outputs), 2.0)
    defaults = {
        "predictions": base_values + values.sum(axis=1),
        "data": RNG.normal(size=(n_rows, n_features)),
        "feature_names": [f"f{j}" for j in range(n_features)],
        "output_names": None if n_outputs is None else list("abcdefgh"[:n_outputs]),
        "standard_errors": np.abs(values) / 10,
    }
    return Explanation(values, base_values, **(defaults | fields))


class Cells(HTMLParser):
    """Tags and texts of a table."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_fields_become_float_arrays_and_tuples():
    explanation = Explanation([[1, 2]], [3], feature_names=["a", "b"])
    assert explanation.values.dtype == explanation.base_values.dtype == np.float64
    assert explanation.feature_names == ("a", "b")
    assert explanation.output_names == (0,)
    assert explanation.predictions is explanation.standard_errors is None


def test_names_are_made_up_by_position():
    explanation = Explanation(np.zeros((1, 2, 3)), np.zeros((1, 3)))
    assert explanation.feature_names == ("x0", "x1")
    assert explanation.output_names == (0, 1, 2)


def test_an_explanation_is_frozen():
    with pytest.raises(FrozenInstanceError):
        make().values = 0


@pytest.mark.parametrize("n_outputs", [None, 1, 2])
@pytest.mark.parametrize(
    "index, rows",
    [
        (1, [1]),
        (-1, [3]),
        (np.int64(2), [2]),
        (slice(1, 3), [1, 2]),
        (slice(None, None, -2), [3, 1]),
        ([3, 0, 3], [3, 0, 3]),
        (np.array([False, True, True, False]), [1, 2]),
        ([], []),
    ],
)
def test_rows_keep_their_axis(index, rows, n_outputs):
    whole = make(n_outputs=n_outputs)
    part = whole[index]
    assert len(part) == len(rows)
    for name in ("values", "base_values", "predictions", "standard_errors", "data"):
        assert_array_equal(getattr(part, name), getattr(whole, name)[rows])
    assert part.feature_names == whole.feature_names
    assert part.output_names == whole.output_names


def test_rows_of_what_is_not_there():
    explanation = Explanation(np.ones((2, 2)), np.zeros(2))[0]
    assert explanation.predictions is explanation.data is None


@pytest.mark.parametrize("index", ["f0", (0, 1), 1.0, True, None, [0.0], [[0]]])
def test_an_index_that_is_not_one_of_rows(index):
    with pytest.raises(TypeError, match="indexed by rows"):
        make()[index]


@pytest.mark.parametrize("index", [4, [0, 9], [True, False]])
def test_an_index_out_of_range(index):
    with pytest.raises(IndexError):
        make()[index]


def test_iterating_gives_single_rows():
    explanation = make()
    rows = list(explanation)
    assert [len(row) for row in rows] == [1] * 4
    assert_array_equal(np.concatenate([row.values for row in rows]), explanation.values)


def test_rows_of_frames_stay_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"a": [1, 2], "b": pandas.Categorical(["u", "v"])}, index=["r", "s"]
    )
    part = Explanation(np.zeros((2, 2)), np.zeros(2), data=frame)[1]
    pandas.testing.assert_frame_equal(part.data, frame.iloc[[1]])


@pytest.mark.parametrize("n_outputs", [None, 3])
def test_additivity_error_is_what_sums_miss(n_outputs):
    explanation = make(n_outputs=n_outputs)
    assert_allclose(explanation.additivity_error(), 0, atol=1e-14)
    shifted = make(predictions=np.zeros(4), n_outputs=None)
    assert_array_equal(shifted.additivity_error(), 2.0 + shifted.values.sum(axis=1))


def test_additivity_needs_predictions():
    with pytest.raises(ValueError, match="no predictions"):
        make(predictions=None).additivity_error()


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"values": np.zeros(3)}, r"values has the shape \(3,\)"),
        ({"values": np.zeros((1, 1, 1, 1))}, "values has the shape"),
        ({"values": [["a"]]}, "values must be an array of numbers"),
        ({"values": [[1.0], [1.0, 2.0]]}, "values must be an array of numbers"),
        ({"base_values": 0.0}, r"base_values has the shape \(\)"),
        ({"base_values": np.zeros((4, 1))}, r"these values need \(4,\)"),
        ({"predictions": np.zeros(3)}, "predictions has the shape"),
        ({"standard_errors": np.zeros((3, 4))}, "standard_errors has the shape"),
        ({"feature_names": ["a"]}, "feature_names has 1 names; these values need 3"),
        ({"feature_names": "abc"}, "got the string 'abc'"),
        ({"output_names": ["no", "yes"]}, "output_names has 2 names"),
        ({"data": np.zeros((3, 4))}, "data has 3 rows; 4 rows are explained"),
        ({"data": np.zeros((4, 5))}, "data has 5 columns, but values has 3"),
        ({"data": None, "columns": [[0], [1], [2]]}, "data is None"),
        ({"columns": [[0], [1]]}, "columns has 2 entries"),
        ({"columns": [[0], [1], [3]]}, "columns has the position 3"),
        ({"columns": [[0], [1], [-1]]}, "columns has the position -1"),
    ],
)
def test_parts_that_do_not_fit(fields, message):
    fields = dict(fields)
    values = fields.pop("values", np.zeros((4, 3)))
    base_values = fields.pop("base_values", np.zeros(4))
    data = fields.pop("data", np.zeros((4, 3)))
    with pytest.raises(ValueError, match=message):
        Explanation(values, base_values, data=data, **fields)


def test_shapes_are_told_apart_by_axes_and_not_by_sizes():
    """Rows, features and outputs in equal number: nothing is taken for another."""
    explanation = make(n_rows=3, n_features=3, n_outputs=3)
    assert_array_equal(
        explanation.to_frame().to_numpy(), explanation.values.reshape(3, 9)
    )
    with pytest.raises(ValueError, match="base_values"):
        Explanation(np.zeros((3, 3, 3)), np.zeros(3))


def test_a_table_with_one_column_per_feature():
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame(np.zeros((2, 2)), index=["r", "s"])
    values = [[1.0, 2.0], [3.0, 4.0]]
    explanation = Explanation(values, [0, 0], data=data, feature_names=["a", "b"])
    expected = pandas.DataFrame(
        values, index=["r", "s"], columns=pandas.Index(["a", "b"], dtype=object)
    )
    pandas.testing.assert_frame_equal(explanation.to_frame(), expected)


def test_a_table_with_one_column_per_feature_and_output():
    pytest.importorskip("pandas")
    explanation = make(n_outputs=2)
    frame = explanation.to_frame()
    assert frame.columns.names == ["feature", "output"]
    assert_array_equal(frame["f1"]["b"], explanation.values[:, 1, 1])
    assert_array_equal(
        frame.xs("a", axis=1, level="output"), explanation.values[:, :, 0]
    )


@pytest.mark.parametrize(
    "library, method", [("pandas", "to_frame"), ("shap", "to_shap")]
)
def test_an_absent_library_is_named(monkeypatch, library, method):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=f"{method} needs {library}"):
        getattr(make(data=None), method)()


@pytest.mark.parametrize("n_outputs", [None, 2])
def test_what_is_handed_to_shap(monkeypatch, n_outputs):
    """Copies, under the names that shap gives them."""
    stand_in = SimpleNamespace(Explanation=lambda **fields: SimpleNamespace(**fields))
    monkeypatch.setitem(sys.modules, "shap", stand_in)
    explanation = make(n_outputs=n_outputs)
    handed = explanation.to_shap()
    for ours, theirs in (
        ("values", "values"),
        ("base_values", "base_values"),
        ("data", "data"),
        ("standard_errors", "error_std"),
    ):
        left, right = getattr(explanation, ours), getattr(handed, theirs)
        assert_array_equal(left, right)
        assert not np.shares_memory(left, right)
    assert handed.feature_names == ["f0", "f1", "f2"]
    assert handed.output_names == (None if n_outputs is None else ["a", "b"])


def test_shap_takes_it():
    shap = pytest.importorskip("shap")
    explanation = make()
    handed = explanation.to_shap()
    assert isinstance(handed, shap.Explanation)
    assert_array_equal(handed[1:].values, explanation.values[1:])


def test_shap_gets_mixed_data_as_objects(monkeypatch):
    pandas = pytest.importorskip("pandas")
    stand_in = SimpleNamespace(Explanation=lambda **fields: SimpleNamespace(**fields))
    monkeypatch.setitem(sys.modules, "shap", stand_in)
    data = pandas.DataFrame({"b": ["u", "v"], "a": [1, 2]})
    explanation = Explanation(
        np.zeros((2, 2)), np.zeros(2), data=data, columns=[[1], [0]]
    )
    assert explanation.to_shap().data.tolist() == [[1, "u"], [2, "v"]]
    grouped = Explanation(np.zeros((2, 1)), np.zeros(2), data=data, columns=[[0, 1]])
    assert grouped.to_shap().data is None


EVIL = "<script>alert('x')</script>"


def test_no_name_and_no_entry_reaches_html_unescaped():
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({EVIL: [EVIL, "b"], "b": [EVIL, None]})
    html = Explanation(
        np.ones((2, 2, 2)),
        np.zeros((2, 2)),
        data=data,
        feature_names=[EVIL, "b & c"],
        output_names=[EVIL, "<b>"],
    )._repr_html_()
    read = Cells(html)
    assert set(read.tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert EVIL in read.texts  # a name, told as it is
    assert "b & c" in read.texts
    assert "<b>" in read.texts
    assert f"+1 ({EVIL})" in read.texts  # an entry of the data


def test_html_shows_few_rows_and_the_strongest_features():
    values = np.zeros((100, 300))
    values[:, 7], values[:, 200] = -3.0, 2.0
    html = Explanation(values, np.full(100, 0.5))._repr_html_()
    texts = Cells(html).texts
    assert texts[1:5] == ["row", "base value", "x7", "x200"]
    assert texts.count("0.5") == 5
    assert "-3" in texts
    assert len(html) < 4000


def test_html_of_groups_shows_all_their_columns():
    data = np.array([[1.0, 2.5, 3.0]])
    explanation = Explanation([[1.0, 2.0]], [0.0], data=data, columns=[[0, 2], [1]])
    assert {"+1 (1, 3)", "+2 (2.5)"} <= set(Cells(explanation._repr_html_()).texts)


@pytest.mark.parametrize("n_outputs", [None, 2])
def test_no_rows(n_outputs):
    empty = make(n_outputs=n_outputs)[[]]
    assert len(empty) == 0
    assert "n_rows=0" in repr(empty)
    assert "<td>" not in empty._repr_html_()
    assert empty.to_frame().shape == (0, 3 * (n_outputs or 1))
    assert empty.additivity_error().shape == empty.base_values.shape


def test_repr_names_the_strongest_features():
    values = np.tile(np.arange(6.0), (2, 1))
    assert repr(Explanation(values, np.zeros(2))) == (
        "Explanation(n_rows=2, n_features=6)\n"
        "mean absolute Shapley value: x5 5, x4 4, x3 3, x2 2, x1 1, ..."
    )
    assert "n_outputs=2" in repr(make(n_outputs=2))


def test_an_explanation_pickles():
    explanation = make(n_outputs=2)
    again = pickle.loads(pickle.dumps(explanation))
    assert_array_equal(again.values, explanation.values)
    assert again.output_names == explanation.output_names


def test_dict_names_each_number():
    explanation = Explanation(
        np.arange(8.0).reshape(2, 2, 2),
        [[0.0, 1.0], [0.0, 1.0]],
        standard_errors=np.full((2, 2, 2), 0.5),
        data=pd.DataFrame({"age": [30, 40], "job": ["a", None]}, index=["u", "v"]),
        feature_names=["age", "job"],
        output_names=["no", "yes"],
        response_name="probability",
        target_name="ill",
    )
    found = explanation.to_dict()
    assert found["names"] == {
        "features": ["age", "job"],
        "outputs": ["no", "yes"],
        "target": "ill",
        "response": "probability",
    }
    assert found["units"] == {"shapley_value": "probability"}
    row = {"row": "v", "base_values": [0.0, 1.0], "data": {"age": 40, "job": None}}
    assert found["rows"][1] == row
    assert found["results"][5] == {
        "row": "v",
        "feature": "age",
        "output": "yes",
        "shapley_value": 5.0,
        "standard_error": 0.5,
    }
    one = explanation[[1]].to_dict()
    assert one["rows"] == found["rows"][1:]
    assert one["results"] == found["results"][4:]
