"""Features by position, name, mask, pair and group."""

from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_interpret._model.rows.base import default_names
from sklearn_interpret._model.rows.features import (
    feature_index,
    resolve_categorical,
    resolve_features,
    resolve_groups,
    resolve_keys,
    resolve_players,
)

NAMES = ["age", "sex", "bmi", "income"]


def test_default_names_are_scikit_learns():
    assert default_names(3) == ["x0", "x1", "x2"]


@pytest.mark.parametrize(
    "feature, index", [(0, 0), (3, 3), (np.int8(2), 2), ("bmi", 2), (np.str_("age"), 0)]
)
def test_a_feature_by_position_or_name(feature, index):
    found = feature_index(feature, NAMES)
    assert found == index
    assert type(found) is int


@pytest.mark.parametrize(
    "feature, error, message",
    [
        (4, ValueError, "features has the position 4, but X has 4 features: .* 0 to 3"),
        (-1, ValueError, "features has the position -1"),
        ("incme", ValueError, "unknown feature 'incme'; did you mean 'income'"),
        ("zzz", ValueError, "known names: 'age', 'sex', 'bmi', 'income'"),
        (1.0, TypeError, "takes positions .* and names .* got 1.0 of type float"),
        (True, TypeError, "got True of type bool"),
        (None, TypeError, "got None"),
    ],
)
def test_a_feature_that_is_none(feature, error, message):
    with pytest.raises(error, match=message):
        feature_index(feature, NAMES)


def test_names_need_named_data():
    with pytest.raises(ValueError, match="X has no feature names"):
        feature_index("x0", ["x0"], named=False)


def test_the_parameter_is_named():
    with pytest.raises(ValueError, match="pairs has the unknown feature"):
        feature_index("b", ["a"], parameter="pairs")


def test_many_known_names_are_cut_short():
    with pytest.raises(ValueError, match=r"'x9', \.\.\.\.$"):
        feature_index("?", default_names(300))


@pytest.mark.parametrize(
    "features, expected",
    [
        (None, [(0,), (1,), (2,), (3,)]),
        (2, [(2,)]),
        ("bmi", [(2,)]),
        ([3, "age"], [(3,), (0,)]),
        (np.array([1, 0]), [(1,), (0,)]),
        (np.array(["sex", "bmi"]), [(1,), (2,)]),
        ([("age", "bmi"), 1], [(0, 2), (1,)]),
        ([["age", 3]], [(0, 3)]),
        ([True, False, False, True], [(0,), (3,)]),
        (np.array([False, True, True, False]), [(1,), (2,)]),
        ((0, 1), [(0,), (1,)]),
        (iter([0, "sex"]), [(0,), (1,)]),
    ],
)
def test_features_as_tuples_of_columns(features, expected):
    assert resolve_features(features, NAMES) == expected


@pytest.mark.parametrize(
    "features, error, message",
    [
        ([], ValueError, "features is empty"),
        ([False] * 4, ValueError, "features is empty"),
        ([True, False], ValueError, "mask of length 2, but X has 4"),
        ([0, "age"], ValueError, r"the entry \('age',\) more than once"),
        ([(0, 1), (1, 0)], ValueError, "more than once"),
        ([(0, "age")], ValueError, "a feature twice"),
        ([(0, 1, 2)], ValueError, "of 3 features; one to 2 features"),
        ([()], ValueError, "of 0 features"),
        ([0.5], TypeError, "got 0.5 of type float"),
        ([True, 1], TypeError, "got True of type bool"),
        (True, TypeError, "got True of type bool"),
        (1.5, TypeError, "got 1.5 of type float"),
        ([("age", "bmy")], ValueError, "did you mean 'bmi'"),
    ],
)
def test_bad_features(features, error, message):
    with pytest.raises(error, match=message):
        resolve_features(features, NAMES)


def test_the_order_of_pairs_is_a_parameter():
    with pytest.raises(ValueError, match="of 2 features; one to 1 features"):
        resolve_features([(0, 1)], NAMES, max_order=1)


def test_groups_stand_in_for_their_members():
    groups = {"body": [0, 2]}
    assert resolve_features(None, NAMES, groups=groups) == [(1,), (3,), ("body",)]
    assert resolve_features(["body", ("sex", "body")], NAMES, groups=groups) == [
        ("body",),
        (1, "body"),
    ]
    assert resolve_features("body", NAMES, named=False, groups=groups) == [("body",)]


def test_groups_as_columns():
    assert resolve_groups(None, NAMES) == {}
    groups = {"body": ["age", 2], "rest": "sex", "one": 3}
    expected = {"body": [0, 2], "rest": [1], "one": [3]}
    assert resolve_groups(groups, NAMES) == expected
    assert resolve_groups({"g": slice(1, None)}, NAMES) == {"g": [1, 2, 3]}


@pytest.mark.parametrize(
    "groups, error, message",
    [
        ([["age"]], TypeError, "must be a dict"),
        ({"a": []}, ValueError, "the empty group 'a'"),
        ({"a": [0, 1], "b": [1]}, ValueError, "'sex' in 'a' and again in 'b'"),
        ({"a": [0, "age"]}, ValueError, "'age' in 'a' and again in 'a'"),
        ({"bmi": [0, 1]}, ValueError, "the name of a feature outside"),
        ({"a": ["agee"]}, ValueError, "feature_groups has the unknown .* 'age'"),
    ],
)
def test_bad_groups(groups, error, message):
    with pytest.raises(error, match=message):
        resolve_groups(groups, NAMES)


def test_a_group_may_have_the_name_of_a_member():
    assert resolve_groups({"bmi": ["bmi", "age"]}, NAMES) == {"bmi": [2, 0]}


@pytest.mark.parametrize(
    "groups, entries, players, player_names",
    [
        ({}, None, [(0,), (1,), (2,), (3,)], NAMES),
        ({"g": [3, 1]}, None, [(0,), (3, 1), (2,)], ["age", "g", "bmi"]),
        ({"g": [3, 1]}, [("g",), (0,)], [(3, 1), (0,)], ["g", "age"]),
        ({}, [(2,)], [(2,)], ["bmi"]),
    ],
)
def test_players(groups, entries, players, player_names):
    assert resolve_players(NAMES, groups, entries) == (players, player_names)


@pytest.mark.parametrize("entries", [[("g",), (1,)], [(1,), ("g",)]])
def test_a_feature_is_one_player_alone(entries):
    with pytest.raises(ValueError, match="shares a column"):
        resolve_players(NAMES, {"g": [1, 2]}, entries)


def test_entries_of_pairs_alone_under_another_name():
    take = {"min_order": 2, "parameter": "pairs"}
    assert resolve_features([("age", 2)], NAMES, **take) == [(0, 2)]
    for bad, message in [
        ([0], r"pairs has the entry \(0,\) of 1 features; 2 to 2 features"),
        ([], "pairs is empty: name at least one entry of 2 features"),
        ([("age", "bmy")], "pairs has the unknown feature 'bmy'"),
        ([(0, 0)], "pairs has the entry .* a feature twice"),
        ([(0, 1), (1, 0)], "pairs has the entry .* more than once"),
    ]:
        with pytest.raises(ValueError, match=message):
            resolve_features(bad, NAMES, **take)


ROWS = SimpleNamespace(
    names=NAMES,
    named=True,
    n_columns=4,
    detected_categorical=np.array([False, True, False, True]),
)


@pytest.mark.parametrize(
    "given, expected",
    [
        ("auto", [1, 3]),
        (None, []),
        ([], []),
        (["age", 1], [0, 1]),
        ("bmi", [2]),
        (2, [2]),
        ([True, False, False, False], [0]),
        (np.array([False, False, True, True]), [2, 3]),
        (np.array([3]), [3]),
    ],
)
def test_categorical_flags(given, expected):
    flags = resolve_categorical(given, ROWS)
    assert flags.dtype == bool
    assert np.flatnonzero(flags).tolist() == expected


@pytest.mark.parametrize(
    "given, error, message",
    [
        ("atuo", ValueError, "categorical_features has the unknown feature 'atuo'"),
        ([9], ValueError, "categorical_features has the position 9"),
        ([True], ValueError, "mask of length 1"),
        ([None], TypeError, "categorical_features takes positions"),
        (1.5, TypeError, "categorical_features takes positions"),
    ],
)
def test_bad_categorical_features(given, error, message):
    with pytest.raises(error, match=message):
        resolve_categorical(given, ROWS)


def test_resolving_leaves_what_was_detected_alone():
    flags = resolve_categorical("auto", ROWS)
    flags[:] = True
    assert ROWS.detected_categorical.tolist() == [False, True, False, True]


def test_keys_of_a_dict_become_columns_and_groups():
    resolve = {"named": True, "parameter": "custom_values", "groups": {"body": [0, 2]}}
    assert resolve_keys(None, NAMES, parameter="custom_values") == {}
    assert resolve_keys({"sex": 1, 3: 2, "body": 3}, NAMES, **resolve) == {
        1: 1,
        3: 2,
        "body": 3,
    }


@pytest.mark.parametrize(
    "mapping, error, message",
    [
        ([1], TypeError, "custom_values must be a dict keyed by features; got list"),
        ({"sexx": 1}, ValueError, "custom_values has the unknown feature 'sexx'"),
        ({1: 0, "sex": 0}, ValueError, "custom_values has the feature 'sex' twice"),
    ],
)
def test_bad_keys(mapping, error, message):
    with pytest.raises(error, match=message):
        resolve_keys(mapping, NAMES, parameter="custom_values")


def test_players_stand_in_the_order_of_their_first_columns():
    assert resolve_players(NAMES, {"body": [2, 1], "money": [3]}) == (
        [(0,), (2, 1), (3,)],
        ["age", "body", "money"],
    )
    assert resolve_players(["a", "b"], {}) == ([(0,), (1,)], ["a", "b"])


def test_players_of_chosen_entries():
    groups = {"body": [2, 1]}
    entries = resolve_features(["income", "body"], NAMES, groups=groups)
    assert resolve_players(NAMES, groups, entries) == (
        [(3,), (2, 1)],
        ["income", "body"],
    )
