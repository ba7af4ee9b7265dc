"""Tables as plain text, and values for JSON."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from sklearn_interpret._model.rows.tables import (
    effect_blocks,
    json_value,
    lines_of,
    text_of_facts,
    text_table,
    versions,
)


def test_numbers_of_a_column_have_the_same_decimals():
    text = text_table(
        [{"feature": ["bmi", "age"], "importance": [12.3456, -0.02], "n": [3, 20]}]
    )
    assert text.splitlines() == [
        "feature  importance   n",
        "bmi           12.35   3",
        "age           -0.02  20",
    ]


def test_numbers_in_units_of_their_own_have_their_own_digits():
    columns = {"term": ["bmi", "age"], "coef": [12345.678, -0.00012345]}
    text = text_table([columns], 3, own_units={"coef"})
    assert text.splitlines()[1:] == ["bmi       12346", "age   -0.000123"]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_entries_are_blank(missing):
    text = text_table([{"a": ["x", missing], "b": [1.5, missing]}])
    assert text.split("\n")[1:] == ["x  1.5", ""]


def test_pvalues_flags_and_signs():
    columns = {"adjusted_pvalue": [0.04975, 1e-9], "kept": [True, False]}
    text = text_table([columns | {"rule": ["x > \N{MINUS SIGN}1", "y"]}])
    assert text.splitlines()[1:] == [
        "         0.0498  True   x > -1",
        "       < 0.0001  False  y",
    ]


def test_blocks_below_each_other_and_no_lines():
    blocks = [{"a": "x", "b": np.array([1, 2])}, {"a": "y", "c": [0.5]}]
    assert list(lines_of(blocks)) == [
        {"a": "x", "b": 1, "c": None},
        {"a": "x", "b": 2, "c": None},
        {"a": "y", "b": None, "c": 0.5},
    ]
    assert text_table([]) == text_table([{"a": []}]) == ""


def test_facts():
    facts = {"family": "normal", "intercept": [1.23456, -2.0]}
    assert text_of_facts(facts, 3) == "family     normal\nintercept  1.23, -2"


def test_points_of_pairs_and_of_rows():
    grid, outputs = ([0.0, 1.0], ["a", "b"]), ["no", "yes"]
    values = np.arange(8.0).reshape(2, 2, 2)
    _, second = effect_blocks(["x", "z"], grid, {"value": values}, outputs, fold=3)
    assert second["x"].tolist() == [0, 0, 1, 1]
    assert second["x2"].tolist() == ["a", "b", "a", "b"]
    assert second["value"].tolist() == [4, 5, 6, 7]
    assert (second["output"], second["fold"], second["feature2"]) == ("yes", 3, "z")
    curves = np.arange(6.0).reshape(1, 3, 2)
    (block,) = effect_blocks(["x"], grid[:1], {"value": curves}, [0], rows=[7, 8, 9])
    assert block["row"].tolist() == [7, 7, 8, 8, 9, 9]
    assert block["x"].tolist() == [0, 1] * 3
    assert block["value"].tolist() == [0, 1, 2, 3, 4, 5]


@dataclass
class Point:
    x: float
    when: pd.Timestamp


def test_values_for_json():
    value = {
        1: np.float32(0.5),
        ("a", "b"): [np.nan, np.inf, None, pd.NaT],
        "flags": np.array([True, False]),
        "label": np.str_("x"),
        "count": np.int64(3),
        "point": Point(-np.inf, pd.Timestamp("2024-03-05")),
        "nested": ((1, 2), np.array(["u", 7], dtype=object)),
    }
    found = json_value(value)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found == {
        "1": 0.5,
        "a, b": [None] * 4,
        "flags": [True, False],
        "label": "x",
        "count": 3,
        "point": {"x": None, "when": "2024-03-05 00:00:00"},
        "nested": [[1, 2], ["u", 7]],
    }


def test_versions():
    found = versions("pandas")
    assert found["numpy"] == np.__version__
    assert list(found) == ["sklearn_interpret", "sklearn", "numpy", "pandas"]
