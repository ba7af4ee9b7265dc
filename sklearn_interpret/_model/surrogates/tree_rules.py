"""A fitted tree in words: its tests, and the rule that leads to each node."""

import numpy as np

from sklearn_interpret._model.rows.dates import date_between, date_text
from sklearn_interpret._model.rows.number_format import (
    MINUS,
    only_number,
    rounded_between,
    with_same_decimals,
)

LEAF = -1
MANY_LABELS = 4


def read_tree(inner, rows):
    """The tree of a surrogate in words, and the leaves of rows.

    Parameters
    ----------
    inner : InnerPredictor
        Its predictor is a tree.
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
    words = _TreeInWords(inner.predictor.tree_, inner.described(rows), columns)
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


def leaf_order(tree):
    """Leaves of a tree from left to right."""
    return [node for node in parents_first(tree) if tree["left"][node] < 0]


def parents_first(tree):
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
        Its columns in words.
    columns : Rows
        The rows as it gets them.
    """

    def __init__(self, tree, described, columns):
        self.tree = tree
        used = np.unique(tree.feature[tree.children_left != LEAF]).tolist()
        self._columns = described
        # Trees compare float32.
        self._values = {
            j: columns.column_array(j).astype(np.float32).astype(np.float64)
            for j in used
        }
        self._distinct = {
            j: np.unique(v[~np.isnan(v)]) for j, v in self._values.items()
        }
        self._texts = {}  # for each column, its thresholds as texts
        self._missing = {j: bool(np.isnan(v).any()) for j, v in self._values.items()}

    def test(self, node):
        """The test of a node, and whether rows that pass it go left."""
        if self.tree.children_left[node] == LEAF:
            return "", True
        j = self.tree.feature[node]
        column, threshold = self._columns[j], self.tree.threshold[node]
        if column.category is not None:
            return str(column), False
        left = self._missing[j] and self.tree.missing_go_to_left[node]
        or_missing = " or missing" if left else ""
        only = self._only(j, None, threshold)
        if column.levels is None and only is not None:
            return f"{column.name} = {only}{or_missing}", True
        if column.levels is None:
            return f"{column.name} ≤ {self._number(j, threshold)}{or_missing}", True
        cut = int(np.floor(threshold)) + 1
        low, high = column.levels[:cut], column.levels[cut:]
        if len(high) == 1 and (left or not self._missing[j]):
            return f"{column.name} = {high[0]}", False
        if len(low) == 1 or column.in_order(column.levels) != [*column.levels]:
            return f"{column.name} = {_any_of(column, low)}{or_missing}", True
        return f"{column.name} ≤ {low[-1]}{or_missing}", True

    def _only(self, j, low, high):
        """The number within an interval where the rows have two whole ones, as text."""
        if self._columns[j].date_dtype is not None:
            return None
        only = only_number(self._distinct[j], low, high)
        return None if only is None else f"{only:.0f}".replace("-", MINUS)

    def _number(self, j, threshold):
        """A threshold as short as the rows allow."""
        if self._columns[j].date_dtype is not None:
            values, dtype = self._distinct[j], self._columns[j].date_dtype
            below, above = values[values <= threshold], values[values > threshold]
            low, high = [*below[-1:], threshold][0], [*above[:1], threshold + 1][0]
            return date_text(date_between(low, high, dtype))
        if self._columns[j].whole:
            threshold = np.floor(threshold)
            return f"{threshold:.0f}" if abs(threshold) < 1e15 else f"{threshold:g}"
        if j not in self._texts:
            inner = self.tree.children_left != LEAF
            own = np.unique(self.tree.threshold[inner & (self.tree.feature == j)])
            texts = [rounded_between(one, self._values[j]) for one in own]
            self._texts[j] = dict(zip(own, with_same_decimals(texts), strict=True))
        return self._texts[j][threshold]

    def rules(self):
        """The path to each node in words, conditions on one feature merged."""
        rules = [""] * self.tree.node_count
        waiting = [(0, ())]
        while waiting:
            node, path = waiting.pop()
            rules[node] = self._rule(path)
            left, right = self.tree.children_left[node], self.tree.children_right[node]
            if left != LEAF:
                waiting.append((left, (*path, (node, True))))
                waiting.append((right, (*path, (node, False))))
        return rules

    def _rule(self, path):
        """A path of pairs (node, whether it went left) in words."""
        by_feature = {}
        for node, went_left in path:
            j = int(self.tree.feature[node])
            column = self._columns[j]
            key = j if column.category is None else column.name
            by_feature.setdefault(key, []).append((node, went_left))
        return " and ".join(map(self._condition, by_feature.values())) or "all rows"

    def _condition(self, steps):
        """All conditions on one feature, as one."""
        columns = [self._columns[self.tree.feature[node]] for node, _ in steps]
        if columns[0].category is not None:
            return _categories_text(columns, [went_left for _, went_left in steps])
        threshold = self.tree.threshold
        lows = [threshold[node] for node, went_left in steps if not went_left]
        highs = [threshold[node] for node, went_left in steps if went_left]
        low, high = max(lows, default=None), min(highs, default=None)
        j = self.tree.feature[steps[0][0]]
        if columns[0].levels is not None:
            text = _levels_text(columns[0], low, high)
        else:
            text = self._interval(columns[0].name, j, low, high)
        takes_missing = self._missing[j] and all(
            bool(self.tree.missing_go_to_left[node]) == went_left
            for node, went_left in steps
        )
        return f"{text} or missing" if takes_missing else text

    def _interval(self, name, j, low, high):
        only = self._only(j, low, high)
        if only is not None:
            return f"{name} = {only}"
        if low is None:
            return f"{name} ≤ {self._number(j, high)}"
        if high is None:
            return f"{name} > {self._number(j, low)}"
        return f"{self._number(j, low)} < {name} ≤ {self._number(j, high)}"


def _categories_text(columns, absent):
    """The category of a feature that is present, else those that are not."""
    for column, is_absent in zip(columns, absent, strict=True):
        if not is_absent:
            return str(column)
    left_out = columns[0].in_order([column.category for column in columns])
    return f"{columns[0].name} ≠ {', '.join(left_out)}"


def _levels_text(column, low, high):
    first = 0 if low is None else int(np.floor(low)) + 1
    stop = len(column.levels) if high is None else int(np.floor(high)) + 1
    allowed = column.levels[first:stop]
    in_order = column.in_order(column.levels) == [*column.levels]
    if len(allowed) > MANY_LABELS and in_order:
        return f"{column.name} from {allowed[0]} to {allowed[-1]}"
    return f"{column.name} = {_any_of(column, allowed)}"


def _any_of(column, levels):
    return " or ".join(column.in_order(levels))
