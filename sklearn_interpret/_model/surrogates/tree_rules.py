"""A fitted tree in words: its tests, and the rule that leads to each node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.dates import date_between, date_text
from sklearn_interpret._model.rows.number_format import (
    MINUS,
    only_number,
    rounded_between,
    with_same_decimals,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.surrogates.inner_predictors import (
        Column,
        InnerPredictor,
    )

LEAF = -1  # in place of a child node, as in scikit-learn
MANY_LABELS = 4  # more successive levels are written as a range


class _Step(NamedTuple):
    """A step of a path through the tree."""

    node: int
    went_left: bool


def read_tree(
    inner: InnerPredictor, rows: Rows
) -> tuple[dict[str, Any], NDArray[np.intp]]:
    """The tree of a surrogate in words, and the leaves of rows.

    Parameters
    ----------
    inner : InnerPredictor
        The inner predictor, which is a tree.
    rows : Rows
        Thresholds are rounded as far as none of these rows changes sides.

    Returns
    -------
    tree : dict
        Arrays ``left`` and ``right`` of child nodes for rows that pass a test and for
        the others, -1 for leaves, the root first; lists ``tests`` of the nodes, and
        ``rules``, the path to each node in words.
    leaves : ndarray of shape (n_rows,)
        Node of each row.
    """
    columns = inner.columns_of(rows)
    words = _TreeInWords(inner.predictor.tree_, inner.describe_columns(rows), columns)
    nodes = range(words.tree.node_count)
    tests, passes_left = zip(*map(words.test, nodes), strict=True)
    below, above = words.tree.children_left, words.tree.children_right
    tree = {
        "left": np.where(passes_left, below, above),
        "right": np.where(passes_left, above, below),
        "tests": list(tests),
        "rules": words.rules(),
    }
    return tree, inner.predictor.apply(columns.native)


def leaf_order(tree: dict[str, Any]) -> list[int]:
    """Leaves of a tree from left to right."""
    return [node for node in parents_first(tree) if tree["left"][node] < 0]


def parents_first(tree: dict[str, Any]) -> list[int]:
    """Nodes of a tree: each before its left part, and this before its right part."""
    order, waiting = [], [0]
    while waiting:
        node = int(waiting.pop())
        order.append(node)
        if tree["left"][node] >= 0:
            waiting += [tree["right"][node], tree["left"][node]]
    return order


class _TreeInWords:
    """Splits and paths of a tree in words.

    Parameters
    ----------
    tree : sklearn.tree._tree.Tree
        The tree.
    described : list of Column
        Columns of the tree in words.
    columns : Rows
        The rows as the tree gets them.
    """

    def __init__(self, tree: Any, described: list[Column], columns: Rows) -> None:
        self.tree = tree
        used = np.unique(tree.feature[tree.children_left != LEAF]).tolist()
        self._columns = described
        # Trees compare float32.
        self._values = {
            j: columns.column_array(j).astype(np.float32).astype(np.float64)
            for j in used
        }
        is_missing = {j: np.isnan(values) for j, values in self._values.items()}
        self._distinct = {j: np.unique(self._values[j][~is_missing[j]]) for j in used}
        self._has_missing = {j: bool(is_missing[j].any()) for j in used}
        # For each column, its thresholds as texts.
        self._texts: dict[int, dict[float, str]] = {}

    def test(self, node: int) -> tuple[str, bool]:
        """The test of a node, and whether rows that pass it go left."""
        if self.tree.children_left[node] == LEAF:
            return "", True
        j = self.tree.feature[node]
        column, threshold = self._columns[j], self.tree.threshold[node]
        if column.category is not None:
            return str(column), False
        missing_left = self._has_missing[j] and self.tree.missing_go_to_left[node]
        or_missing = " or missing" if missing_left else ""
        only = self._only_text(j, None, threshold)
        if column.levels is None and only is not None:
            return f"{column.name} = {only}{or_missing}", True
        if column.levels is None:
            return (f"{column.name} ≤ {self._shorten(j, threshold)}{or_missing}", True)
        cut = int(np.floor(threshold)) + 1
        low, high = column.levels[:cut], column.levels[cut:]
        if len(high) == 1 and (missing_left or not self._has_missing[j]):
            return f"{column.name} = {high[0]}", False
        if len(low) == 1 or column.in_order(column.levels) != [*column.levels]:
            return f"{column.name} = {_join_by_or(column, low)}{or_missing}", True
        return f"{column.name} ≤ {low[-1]}{or_missing}", True

    def _only_text(self, j: int, low: float | None, high: float | None) -> str | None:
        """The number within an interval where the rows have two whole ones, as text."""
        if self._columns[j].date_dtype is not None:
            return None
        only = only_number(self._distinct[j], low, high)
        return None if only is None else f"{only:.0f}".replace("-", MINUS)

    def _shorten(self, j: int, threshold: float) -> str:
        """A threshold as short as the rows allow."""
        column, values = self._columns[j], self._distinct[j]
        if column.date_dtype is not None:
            below, above = values[values <= threshold], values[values > threshold]
            low, high = [*below[-1:], threshold][0], [*above[:1], threshold + 1][0]
            return date_text(date_between(low, high, column.date_dtype))
        if column.is_integer:
            threshold = np.floor(threshold)
            return f"{threshold:.0f}" if abs(threshold) < 1e15 else f"{threshold:g}"
        if j not in self._texts:
            inner = self.tree.children_left != LEAF
            splits_column = inner & (self.tree.feature == j)
            thresholds = np.unique(self.tree.threshold[splits_column])
            texts = [rounded_between(value, self._values[j]) for value in thresholds]
            texts = with_same_decimals(texts)
            self._texts[j] = dict(zip(thresholds, texts, strict=True))
        return self._texts[j][threshold]

    def rules(self) -> list[str]:
        """The path to each node in words, conditions on one feature merged."""
        rules = [""] * self.tree.node_count
        waiting: list[tuple[int, tuple[_Step, ...]]] = [(0, ())]
        while waiting:
            node, path = waiting.pop()
            rules[node] = self._path_text(path)
            left, right = self.tree.children_left[node], self.tree.children_right[node]
            if left != LEAF:
                waiting.append((left, (*path, _Step(node, went_left=True))))
                waiting.append((right, (*path, _Step(node, went_left=False))))
        return rules

    def _path_text(self, path: tuple[_Step, ...]) -> str:
        """A path in words."""
        by_feature: dict[int | str, list[_Step]] = {}
        for step in path:
            j = int(self.tree.feature[step.node])
            column = self._columns[j]
            # Indicators of one feature's categories have its name.
            key = j if column.category is None else column.name
            by_feature.setdefault(key, []).append(step)
        return " and ".join(map(self._merge_steps, by_feature.values())) or "all rows"

    def _merge_steps(self, steps: list[_Step]) -> str:
        """All conditions on one feature, as one."""
        columns = [self._columns[self.tree.feature[node]] for node, _ in steps]
        if columns[0].category is not None:
            return _categories_text(columns, [went_left for _, went_left in steps])
        threshold = self.tree.threshold
        lows = [threshold[node] for node, went_left in steps if not went_left]
        highs = [threshold[node] for node, went_left in steps if went_left]
        low, high = max(lows, default=None), min(highs, default=None)
        j = self.tree.feature[steps[0].node]
        if columns[0].levels is not None:
            text = _levels_text(columns[0], columns[0].levels, low, high)
        else:
            text = self._interval_text(columns[0].name, j, low, high)
        takes_missing = self._has_missing[j] and all(
            bool(self.tree.missing_go_to_left[node]) == went_left
            for node, went_left in steps
        )
        return f"{text} or missing" if takes_missing else text

    def _interval_text(
        self, name: str, j: int, low: float | None, high: float | None
    ) -> str:
        """The interval of a number above `low` and up to `high`, as text."""
        only = self._only_text(j, low, high)
        if only is not None:
            return f"{name} = {only}"
        lower = "" if low is None else self._shorten(j, low)
        if high is None:
            return f"{name} > {lower}"
        upper = f"{name} ≤ {self._shorten(j, high)}"
        return f"{lower} < {upper}" if lower else upper


def _categories_text(columns: list[Column], absent: list[bool]) -> str:
    """The category of a feature that is present, else those that are not."""
    for column, is_absent in zip(columns, absent, strict=True):
        if not is_absent:
            return str(column)
    left_out = columns[0].in_order([str(column.category) for column in columns])
    return f"{columns[0].name} ≠ {', '.join(left_out)}"


def _levels_text(
    column: Column, levels: tuple[str, ...], low: float | None, high: float | None
) -> str:
    """The levels at positions above `low` and up to `high`, as text."""
    first = 0 if low is None else int(np.floor(low)) + 1
    stop = len(levels) if high is None else int(np.floor(high)) + 1
    allowed = levels[first:stop]
    in_order = column.in_order(levels) == [*levels]
    if len(allowed) > MANY_LABELS and in_order:
        return f"{column.name} from {allowed[0]} to {allowed[-1]}"
    return f"{column.name} = {_join_by_or(column, allowed)}"


def _join_by_or(column: Column, levels: Sequence[str]) -> str:
    """Some levels of a column, joined by "or"."""
    return " or ".join(column.in_order(levels))
