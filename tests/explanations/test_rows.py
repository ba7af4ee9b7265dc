"""RowExplanation: how it is built, indexed and shown."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_interpret.explanations import RowExplanation

FIELDS = {
    "rows": np.array([[1.0, 5.0], [9.0, 5.0], [3.0, np.nan], [7.0, 8.0]]),
    "origin": [0, 0, 2, 3],
    "valid": [True, True, True, False],
    "distances": [1.0, 8.0, 0.0, 2.5],
    "status": ["found", "impossible", "unchanged", "failed"],
    "reasons": ["", "income may not fall", "", ""],
    "lower_bounds": [1.0, np.inf, 0.0, 2.0],
    "optimal": [True, True, True, False],
    "predictions": [0.6, 0.7, 0.8, 0.5],
    "original_predictions": [0.1, 0.2, 0.8, 0.3],
    "data": np.array([[1.0, 4.0], [2.0, 4.0], [3.0, np.nan], [5.0, 8.0]]),
    "feature_names": ["age", "income"],
    "output_names": ["yes"],
    "response_name": "probability",
}


@pytest.fixture
def explanation():
    return RowExplanation(**FIELDS)


def test_fields(explanation):
    assert len(explanation) == 4
    assert explanation.origin.dtype == np.intp
    assert explanation.valid.dtype == bool
    assert explanation.optimal.dtype == bool
    assert explanation.feature_names == ("age", "income")


def test_changed_features(explanation):
    """Missing in both is no change."""
    expected = [[False, True], [True, True], [False, False], [True, False]]
    assert_array_equal(explanation.changed, expected)
    assert_array_equal(explanation.n_changed, [1, 2, 0, 1])


def test_little_is_needed():
    explanation = RowExplanation(
        rows=[[1.0]],
        origin=[0],
        valid=[1],
        distances=[0],
        status=["found"],
        data=[[2.0]],
    )
    assert explanation.feature_names == ("x0",)
    assert explanation.reasons.tolist() == [""]
    assert explanation.optimal is None


def test_nothing_found():
    explanation = RowExplanation(
        rows=np.empty((0, 2)),
        origin=[],
        valid=[],
        distances=[],
        status=["failed"],
        reasons=["too far"],
        data=np.zeros((1, 2)),
    )
    assert repr(explanation).splitlines()[1] == "1 failed"
    assert "too far" in explanation._repr_html_()
    assert explanation.n_changed.shape == (0,)
    assert len(explanation[[]]) == 0
    pytest.importorskip("pandas")
    assert len(explanation.to_frame()) == 0


def test_a_row_is_taken_with_all_that_was_found_for_it(explanation):
    taken = explanation[[3, 0]]
    assert_array_equal(taken.origin, [0, 1, 1])
    assert_array_equal(taken.rows, FIELDS["rows"][[3, 0, 1]])
    assert_array_equal(taken.data, FIELDS["data"][[3, 0]])
    assert taken.status.tolist() == ["failed", "found"]
    assert_array_equal(taken.valid, [False, True, True])
    assert_array_equal(taken.distances, [2.5, 1, 8])
    assert_array_equal(taken.predictions, [0.5, 0.6, 0.7])
    assert_array_equal(taken.original_predictions, [0.3, 0.1])
    assert_array_equal(taken.lower_bounds, [2, 1])
    assert_array_equal(taken.optimal, [False, True])


@pytest.mark.parametrize(
    ("index", "positions"),
    [
        (1, [1]),
        (-1, [3]),
        (slice(1, 3), [1, 2]),
        ([True, False, True, False], [0, 2]),
        ([2, 2], [2, 2]),
        ([], []),
    ],
)
def test_indices(explanation, index, positions):
    taken = explanation[index]
    assert taken.status.tolist() == [FIELDS["status"][k] for k in positions]
    sizes = [FIELDS["origin"].count(k) for k in positions]
    assert_array_equal(taken.origin, np.repeat(range(len(sizes)), sizes))
    assert len(taken.rows) == sum(sizes)


@pytest.mark.parametrize("index", ["a", 1.5, (0, 1), None])
def test_bad_indices(explanation, index):
    with pytest.raises(TypeError, match="indexed by rows"):
        explanation[index]


def test_iteration(explanation):
    assert [len(one.rows) for one in explanation] == [2, 0, 1, 1]


def test_table_of_changes(explanation):
    pytest.importorskip("pandas")
    table = explanation.to_frame()
    assert table.columns.tolist() == [
        "row",
        "status",
        "counterfactual",
        "feature",
        "before",
        "after",
    ]
    assert table.to_numpy().tolist() == [
        [0, "found", 0, "income", 4, 5],
        [0, "found", 1, "age", 1, 9],
        [0, "found", 1, "income", 4, 5],
        [3, "failed", 0, "age", 5, 7],
    ]


def test_values_beyond_the_data_are_marked(explanation):
    pytest.importorskip("pandas")
    beyond = np.array([[0, 0], [1, 0], [0, 0], [1, 0]], dtype=bool)
    marked = replace(explanation, beyond_data=beyond)
    assert marked.to_frame()["beyond_data"].tolist() == [False, True, False, True]
    assert repr(marked).endswith("\n2 with values beyond the data")
    assert not marked[2].beyond_data.any()


def test_table_with_boxes(explanation):
    pytest.importorskip("pandas")
    low, high = FIELDS["rows"] - 1, FIELDS["rows"] + 1
    table = replace(explanation, low=low, high=high).to_frame()
    assert table["low"].tolist() == [4, 8, 4, 6]
    assert table["high"].tolist() == [6, 10, 6, 8]


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (4.5, 6.25, "4.5 to 6.25"),
        (-np.inf, 5, "at most 5"),
        (5, np.inf, "at least 5"),
        (-np.inf, 5.87986, "at most 5.879"),  # never more than the box promises
        (5.12341, np.inf, "at least 5.124"),
        (-5.87986, np.inf, "at least -5.879"),
        (4.99996, 5.00004, "4.99996 to 5.00004"),
        (4.99996123, 5.00004567, "4.999962 to 5.000045"),
        (-np.inf, 12345.6, "at most 12345"),
        (-1e-300, 1e300, "-1e-300 to 1e300"),
        (5, 5, "→ 5"),
        (np.nan, np.nan, "→ 5"),
        (-np.inf, np.inf, "→ anything"),
    ],
)
def test_intervals_in_html(explanation, low, high, text):
    boxes = np.full_like(FIELDS["rows"], low, dtype=float), FIELDS["rows"] + 0.0
    boxes[1][:] = high
    html = replace(explanation, low=boxes[0], high=boxes[1])._repr_html_()
    assert text in html


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    module = pytest.importorskip(library)
    pytest.importorskip("pandas")
    rows = module.DataFrame({"n": [3, 1], "c": ["u", "v"]})
    data = module.DataFrame({"n": [3, 2], "c": ["v", "v"]})
    explanation = RowExplanation(
        rows, [0, 1], [True, True], [1, 1], ["found", "found"], data=data
    )
    table = explanation.to_frame()
    assert table[["before", "after"]].to_numpy().tolist() == [["v", "u"], [2, 1]]
    assert type(explanation[1].rows) is module.DataFrame
    assert "v → u" in explanation._repr_html_()


def test_texts(explanation):
    assert repr(explanation) == (
        "RowExplanation(n_rows=4, n_features=2, n_found=3)\n"
        "1 found, 1 impossible, 1 unchanged, 1 failed"
    )
    html = explanation._repr_html_()
    assert "income may not fall" in html
    assert "age: 5 → 7" in html


def test_html_escapes_names_values_and_reasons():
    bad = "<script>alert(1)</script>"
    explanation = RowExplanation(
        rows=np.array([[bad]], dtype=object),
        origin=[0],
        valid=[True],
        distances=[1],
        status=["found", bad],
        reasons=["", bad],
        data=np.array([["a"], ["b"]], dtype=object),
        feature_names=["<b>job</b>"],
    )
    html = explanation._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert html.count("&lt;script&gt;") == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": None}, "data"),
        ({"data": FIELDS["data"][:, :1]}, "rows has 2 columns, but data has 1"),
        ({"data": FIELDS["data"][:2]}, "data has 2 rows"),
        ({"origin": [0, 2, 1, 3]}, "origin must hold increasing"),
        ({"origin": [0, 1, 2, 4]}, "origin must hold increasing"),
        ({"origin": [-1, 1, 2, 3]}, "origin must hold increasing"),
        ({"origin": [0, 1, 2]}, "origin has the shape"),
        ({"valid": [True]}, "valid has the shape"),
        ({"distances": [1.0]}, "distances has the shape"),
        ({"distances": ["far"] * 4}, "distances must be an array of numbers"),
        ({"reasons": [""]}, "reasons has 1 entries"),
        ({"lower_bounds": [1.0]}, "lower_bounds has the shape"),
        ({"optimal": [True]}, "optimal has the shape"),
        ({"low": np.zeros((4, 1))}, "low has the shape"),
        ({"high": np.zeros((2, 2))}, "high has the shape"),
        ({"predictions": [0.5]}, "predictions has the shape"),
        ({"original_predictions": [0.5]}, "original_predictions has the shape"),
        ({"feature_names": ["age"]}, "feature_names has 1 names"),
        ({"feature_names": "ab"}, "feature_names must be a sequence"),
        ({"output_names": ["a", "b"]}, "output_names has 2 names"),
    ],
)
def test_parts_that_do_not_fit(changes, words):
    with pytest.raises(ValueError, match=words):
        RowExplanation(**{**FIELDS, **changes})


def test_given_arrays_are_left_alone(explanation):
    before = explanation.rows.copy()
    explanation.to_frame() if pytest.importorskip("pandas") else None
    explanation._repr_html_()
    assert_array_equal(explanation.rows, before)
