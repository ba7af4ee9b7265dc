"""Groups of features in explanations, and their sums."""

import pickle
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret.explanations import Explanation
from sklearn_interpret.explanations._selection import one_output
from sklearn_interpret.shapley import BreakDownExplanation

GROUPS = {"place": {"map": ["lat", "lon"], "town": ["town"]}, "size": ["rooms", "area"]}
NAMES = ["rooms", "lat", "age", "lon", "town", "area"]


def make(n_outputs=None, **fields):
    rng = np.random.default_rng(0)
    outputs = () if n_outputs is None else (n_outputs,)
    fields = {"groups": GROUPS, "feature_names": NAMES, **fields}
    values = rng.normal(size=(4, 6, *outputs))
    base = np.ones((4, *outputs))
    predictions = base + values.sum(axis=1)
    return Explanation(values, base, predictions=predictions, **fields)


@st.composite
def nested(draw):
    """Nested groups of some of so many features, and the number of features."""
    n_features = draw(st.integers(1, 9))
    shuffled = draw(st.permutations([f"x{j}" for j in range(n_features)]))
    members = shuffled[: draw(st.integers(1, n_features))]

    def split(names, depth):
        if len(names) == 1 or depth == 3 or not draw(st.booleans()):
            return list(names)
        cut = draw(st.integers(1, len(names) - 1))
        parts = names[:cut], names[cut:]
        return {f"g{k}": split(part, depth + 1) for k, part in enumerate(parts)}

    return {"all": split(members, 0)}, n_features


@given(nested(), st.sampled_from([None, 2]))
def test_sums_of_members(drawn, n_outputs):
    groups, n_features = drawn
    rng = np.random.default_rng(0)
    shape = (3, n_features) if n_outputs is None else (3, n_features, n_outputs)
    values = rng.normal(size=shape)
    explanation = Explanation(
        values,
        np.zeros(values.sum(axis=1).shape),
        standard_errors=np.abs(values),
        data=rng.normal(size=(3, n_features)),
        groups=groups,
    )
    levels = 0
    for levels in range(9):
        try:
            grouped = explanation.by_group(levels)
        except ValueError:
            break
        # Without columns in common, the columns say which features a group has.
        columns = list(map(list, grouped.columns))
        assert sorted(chain.from_iterable(columns)) == list(range(n_features))
        assert [min(members) for members in columns] == sorted(map(min, columns))
        expected = [values[:, members].sum(axis=1) for members in columns]
        assert_allclose(grouped.values, np.stack(expected, axis=1))
        errors = [np.abs(values[:, members]).sum(axis=1) for members in columns]
        assert_allclose(grouped.standard_errors, np.stack(errors, axis=1))
        assert_allclose(grouped.values.sum(axis=1), values.sum(axis=1))
        assert grouped.groups is None
    assert levels >= 1


def test_levels():
    explanation = make()
    assert explanation.by_group().feature_names == ("size", "place", "age")
    inner = explanation.by_group(1)
    assert inner.feature_names == ("size", "place / map", "age", "town")
    assert_allclose(inner.values[:, 1], explanation.values[:, [1, 3]].sum(axis=1))
    assert_allclose(inner.additivity_error(), 0, atol=1e-12)
    for level in (2, -1, "place"):
        with pytest.raises(ValueError, match="is not one of the 2 levels"):
            explanation.by_group(level)
    with pytest.raises(ValueError, match="has no groups"):
        replace(explanation, groups=None).by_group()


def test_columns_of_groups_are_united():
    explanation = Explanation(
        [[1.0, 2.0, 3.0]],
        [0.0],
        data=[[5, 6, 7, 8]],
        feature_names=["a", "b", "c"],
        columns=[(3, 1), (1, 2), (0,)],
        groups={"ab": ["a", "b"]},
    )
    assert explanation.by_group().columns == ((1, 2, 3), (0,))
    assert make().by_group().columns is None


@pytest.mark.parametrize(
    "groups, error, message",
    [
        ({"g": ["ages"]}, ValueError, "groups has the unknown feature 'ages'.*age"),
        (
            {"g": {"h": ["lat"], "i": ["lat"]}},
            ValueError,
            "groups has 'lat' in 'h' and again in 'i'",
        ),
        ({"g": ["lat", "lat"]}, ValueError, "'lat' in 'g' and again in 'g'"),
        ({"g": []}, ValueError, "the empty group 'g'"),
        ({"g": {"h": {}}}, ValueError, "the empty group 'h'"),
        ([["lat", "lon"]], TypeError, "groups must be a dict of name.*got list"),
    ],
)
def test_what_is_no_group(groups, error, message):
    with pytest.raises(error, match=message):
        make(groups=groups)


def test_groups_are_copied():
    groups = {"g": ("lat", "lon")}
    explanation = make(groups=groups)
    groups["g"] = ["age"]
    assert explanation.groups == {"g": ["lat", "lon"]}
    assert make(groups={}).groups is None
    assert make(groups={"g": "lat"}).groups == {"g": ["lat"]}
    # A group of the one feature of its name is this feature.
    assert make(groups={"lat": ["lat"]}).by_group().feature_names == tuple(NAMES)


def test_groups_survive():
    explanation = make(2)
    for other in (
        explanation[1:3],
        next(iter(explanation)),
        one_output(explanation, 1),
        pickle.loads(pickle.dumps(explanation)),
        Explanation.concatenate(list(explanation)),
    ):
        assert other.groups == GROUPS
    with pytest.raises(ValueError, match="differ in groups"):
        Explanation.concatenate([explanation, replace(explanation, groups=None)])


def test_tables():
    explanation = make(2)
    plain = replace(explanation, groups=None)
    pd.testing.assert_frame_equal(explanation.to_frame(), plain.to_frame())
    lines = explanation[0].to_dict()["results"]
    groups = {line["feature"]: line["group"] for line in lines}
    assert groups == {
        "rooms": "size",
        "lat": "place / map",
        "age": None,
        "lon": "place / map",
        "town": "place",
        "area": "size",
    }
    assert "group" not in plain.to_dict()["results"][0]


def test_texts_have_the_sizes_of_groups():
    explanation = make(groups={"<place>": ["lat", "lon"]})
    sizes = np.abs(explanation.by_group().values).mean(axis=0)
    line = repr(explanation).splitlines()[-1]
    assert line.startswith("mean absolute Shapley value by group: ")
    assert f"<place> {sizes[1]:.3g}" in line
    assert f"&lt;place&gt; {sizes[1]:.3g}" in explanation._repr_html_()
    assert "by group" not in repr(make(groups=None))
    assert "by group" not in repr(explanation[:0]) + explanation[:0]._repr_html_()


def test_steps_of_a_break_down_become_sums():
    steps = BreakDownExplanation(
        [[1.0, 2.0]], [0.0], feature_names=["a", "b"], groups={"g": ["a", "b"]}
    )
    grouped = steps.by_group()
    assert type(grouped) is Explanation
    assert grouped.value_name == "contribution"
    assert_array_equal(grouped.values, [[3.0]])
