"""Explanations by sets of features: what they refuse, their indices and tables."""

import numpy as np
import pandas as pd
import pytest

from sklearn_interpret.explanations import InteractionExplanation

NAMES = ["age", "<b>income</b>", "debt"]
SETS = [(0,), (1,), (2,), (0, 1), (0, 1, 2)]
VALUES = np.array([[1.0, -2.0, 0.5, 3.0, 6.0], [0.0, 1.0, 0.0, -1.0, 0.0]])


def explanation(**changes):
    parts = {
        "values": VALUES,
        "base_values": [10.0, 10.0],
        "interactions": SETS,
        "predictions": 10 + VALUES.sum(axis=1),
        "feature_names": NAMES,
        "data": pd.DataFrame(np.zeros((2, 3)), columns=NAMES, index=["first", "last"]),
        **changes,
    }
    return InteractionExplanation(**parts)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": VALUES[:, 1:]}, r"values has the shape \(2, 4\); \(n_rows, 5\)"),
        ({"interactions": [*SETS[:4], (1, 0)]}, r"entry \(1, 0\); its members must"),
        ({"interactions": [*SETS[:4], ()]}, r"entry \(\); its members must"),
        ({"interactions": [*SETS[:4], (0, 3)]}, "but there are 3 feature_names"),
        ({"base_values": [1.0]}, "base_values has the shape"),
        ({"predictions": [1.0]}, "predictions has the shape"),
        ({"data": np.zeros((3, 3))}, "data has 3 rows"),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        explanation(**changes)


def test_predictions_and_names_are_needed():
    with pytest.raises(TypeError, match="predictions"):
        InteractionExplanation(VALUES, [0.0, 0.0], SETS, feature_names=NAMES)
    with pytest.raises(TypeError, match="feature_names"):
        InteractionExplanation(VALUES, [0.0, 0.0], SETS, predictions=[0.0, 0.0])


def test_rows_and_orders():
    whole = explanation()
    assert whole.interaction_names[3:] == (
        "age x <b>income</b>",
        "age x <b>income</b> x debt",
    )
    np.testing.assert_array_equal(whole.remainder, [0.0, 0.0])
    last = whole[-1]
    np.testing.assert_array_equal(last.values, VALUES[1:])
    assert last.data.index.tolist() == ["last"]
    assert last.interactions == whole.interactions
    pairs = whole.order(2)
    assert pairs.interactions == ((0, 1),)
    np.testing.assert_array_equal(pairs.values, [[3.0], [-1.0]])
    np.testing.assert_array_equal(pairs.remainder, [5.5, 1.0])
    assert whole.order(4).values.shape == (2, 0)


def test_shapley_values_share_components_equally():
    values = explanation().to_explanation()
    expected = [[1 + 1.5 + 2, -2 + 1.5 + 2, 0.5 + 2], [-0.5, 0.5, 0.0]]
    np.testing.assert_allclose(values.values, expected)
    np.testing.assert_allclose(values.additivity_error(), 0, atol=1e-12)
    assert values.data.index.tolist() == ["first", "last"]


@pytest.mark.parametrize(
    ("index", "pair"), [("SII", 3 + 6 / 2), ("k-SII", 3 + 6 / 2), ("STII", 3 + 6 / 3)]
)
def test_an_index_shares_larger_components(index, pair):
    """A triple adds to a pair 1 / 2 of it (Shapley), or 1 / 3 (Shapley-Taylor)."""
    found = explanation().to_index(index)
    assert found.index == index
    assert found.values[0, found.interactions.index((0, 1))] == pytest.approx(pair)
    if index != "SII":
        np.testing.assert_allclose(found.remainder, 0, atol=1e-12)


@pytest.mark.parametrize("index", ["SII", "k-SII", "STII", "FSII", "BII"])
def test_an_order_beyond_all_sets_is_that_of_the_largest(index):
    """10**9 would make tables of as many numbers."""
    found = explanation().to_index(index, order=10**9)
    whole = explanation().to_index(index, order=3)
    assert found.interactions == whole.interactions
    np.testing.assert_array_equal(found.values, whole.values)


@pytest.mark.parametrize("method", ["order", "to_index"])
@pytest.mark.parametrize("order", [0, -1, 1.5, "2", None])
def test_orders_that_are_no_positive_numbers(method, order):
    whole = explanation()
    with pytest.raises((TypeError, ValueError), match=r"(order|r) (==|must)"):
        whole.order(order) if method == "order" else whole.to_index("SII", order=order)


def test_index_of_no_rows():
    nothing = explanation()[:0].to_index("k-SII", order=2)
    assert nothing.values.shape == (0, len(nothing.interactions))


@pytest.mark.parametrize("index", [["SII"], None, 2, "sii"])
def test_indices_that_are_no_names(index):
    with pytest.raises(ValueError, match=r"index=.* must be one of SII, k-SII"):
        explanation().to_index(index)


def test_what_has_no_index():
    whole = explanation()
    with pytest.raises(ValueError, match=r"index='SSI' must be one of SII"):
        whole.to_index("SSI")
    with pytest.raises(ValueError, match=r"at most 2 features.*max_order=3"):
        whole.order(2).to_index("SII")
    with pytest.raises(ValueError, match="these values are SII"):
        whole.to_index("SII").to_explanation()


def test_table_and_html():
    table = explanation().to_frame()
    assert table.index.tolist() == ["first", "last"]
    assert table.columns.tolist() == list(explanation().interaction_names)
    np.testing.assert_array_equal(table.to_numpy(), VALUES)
    html = explanation()._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;income" in html
    two = explanation(
        values=np.stack([VALUES, -VALUES], axis=2),
        base_values=np.zeros((2, 2)),
        predictions=np.zeros((2, 2)),
        output_names=["yes", "no"],
    )
    assert two.to_frame().columns.names == ["interaction", "output"]
    assert two.to_frame()["age", "no"].tolist() == [-1.0, 0.0]
    assert "no" in two._repr_html_()
    assert "n_outputs=2" in repr(two)
    empty = explanation(
        values=VALUES[:0], base_values=[], predictions=np.zeros(0), data=None
    )
    assert all(f"<th>{name}" in empty._repr_html_() for name in ("age", "debt"))
    assert "age" in repr(explanation())
