"""A fitted tree in words: its tests, and the rule that leads to each node."""

import numpy as np

LEAF = -1
FEWEST_DIGITS = 3
MANY_LABELS = 4


def read_tree(part, rows):
    """The tree of a surrogate, in words, and the leaves of rows.

    Parameters
    ----------
    part : Part
        Whose predictor is a tree.
    rows : Rows
        To be sorted into leaves. Thresholds are rounded as far as these rows still fall
        where they fall.

    Returns
    -------
    tree : dict
        Arrays ``left`` and ``right`` of child nodes, -1 for leaves, the root first;
        lists ``tests``, what is asked at a node, ``yes_left``, whether rows that pass
        go left, and ``rules``, the way to a node in words.
    leaves : ndarray of shape (n_rows,)
        Node of each row.
    """
    columns = part.columns_of(rows)
    reader = _Reader(part.last.tree_, part.described(rows), columns)
    tests = [reader.test(node) for node in range(reader.n_nodes)]
    tree = {
        "left": reader.tree.children_left.copy(),
        "right": reader.tree.children_right.copy(),
        "tests": [text for text, _ in tests],
        "yes_left": [yes_left for _, yes_left in tests],
        "rules": reader.rules(),
    }
    return tree, part.last.apply(columns.native)


class _Reader:
    """Puts splits into words.

    Parameters
    ----------
    tree : sklearn.tree._tree.Tree
        The tree.
    described : list of Column
        What its columns are.
    columns : Rows
        The rows as it gets them.
    """

    def __init__(self, tree, described, columns):
        self.tree = tree
        self.n_nodes = tree.node_count
        used = np.unique(tree.feature[tree.children_left != LEAF]).tolist()
        self._columns = described
        # Trees look at float32, and so the rows must be compared.
        self._values = {
            j: columns.values(j).astype(np.float32).astype(np.float64) for j in used
        }
        self._missing = {j: bool(np.isnan(v).any()) for j, v in self._values.items()}

    def test(self, node):
        """What is asked at a node, and whether rows that pass go left."""
        if self.tree.children_left[node] == LEAF:
            return "", True
        j = self.tree.feature[node]
        column, threshold = self._columns[j], self.tree.threshold[node]
        if column.category is not None:
            return str(column), False
        left = self.tree.missing_go_to_left[node]
        if column.levels is not None:
            return self._test_of_levels(column, threshold, j, left)
        text = f"{column.name} ≤ {self._number(j, threshold)}"
        if not self._missing[j]:
            return text, True
        if left:
            return f"{text} or missing", True
        return text, True

    def _test_of_levels(self, column, threshold, j, left):
        cut = int(np.floor(threshold)) + 1
        low, high = column.levels[:cut], column.levels[cut:]
        if len(high) == 1 and not (self._missing[j] and not left):
            return f"{column.name} = {high[0]}", False
        text = f"{column.name} = {low[0]}" if len(low) == 1 else ""
        text = text or f"{column.name} ≤ {low[-1]}"
        return (f"{text} or missing" if self._missing[j] and left else text), True

    def _number(self, j, threshold):
        """A threshold as short as the rows allow."""
        if self._columns[j].whole:
            threshold = np.floor(threshold)
            return f"{threshold:.0f}" if abs(threshold) < 1e15 else f"{threshold:g}"
        return rounded_between(threshold, self._values[j])

    def rules(self):
        """The way to each node in words, conditions on one feature drawn together."""
        rules = [""] * self.n_nodes
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
        by_feature = {}
        for node, went_left in path:
            j = int(self.tree.feature[node])
            column = self._columns[j]
            key = j if column.category is None else column.name
            by_feature.setdefault(key, []).append((node, j, went_left))
        parts = [self._condition(steps) for steps in by_feature.values()]
        return " and ".join(parts) if parts else "all rows"

    def _condition(self, steps):
        """All conditions on one feature, as one."""
        j = steps[0][1]
        column = self._columns[j]
        if column.category is not None:
            return self._condition_of_categories(column.name, steps)
        lows = [self.tree.threshold[n] for n, _, went_left in steps if not went_left]
        highs = [self.tree.threshold[n] for n, _, went_left in steps if went_left]
        low, high = max(lows, default=None), min(highs, default=None)
        if column.levels is not None:
            text = _levels_text(column, low, high)
        else:
            text = self._interval(column.name, j, low, high)
        takes_missing = self._missing[j] and all(
            bool(self.tree.missing_go_to_left[n]) == went_left
            for n, _, went_left in steps
        )
        return f"{text} or missing" if takes_missing else text

    def _condition_of_categories(self, name, steps):
        taken = [self._columns[j].category for _, j, left in steps if not left]
        if taken:
            return f"{name} = {taken[0]}"
        refused = [self._columns[j].category for _, j, _ in steps]
        return f"{name} ≠ {', '.join(refused)}"

    def _interval(self, name, j, low, high):
        if low is None:
            return f"{name} ≤ {self._number(j, high)}"
        if high is None:
            return f"{name} > {self._number(j, low)}"
        return f"{self._number(j, low)} < {name} ≤ {self._number(j, high)}"


def _levels_text(column, low, high):
    first = 0 if low is None else int(np.floor(low)) + 1
    stop = len(column.levels) if high is None else int(np.floor(high)) + 1
    allowed = column.levels[first:stop]
    if len(allowed) > MANY_LABELS:
        return f"{column.name} from {allowed[0]} to {allowed[-1]}"
    return f"{column.name} = {' or '.join(allowed)}"


def rounded_between(threshold, values):
    """A threshold in few digits that parts numbers as it does itself.

    Parameters
    ----------
    threshold : float
        What is at most this is on the one side.
    values : ndarray of shape (n,)
        NaN allowed.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._model.surrogates.tree_rules import rounded_between
    >>> rounded_between(16.79512, np.array([16.7, 16.9]))
    '16.8'
    """
    below = values[values <= threshold].max(initial=-np.inf)
    above = values[values > threshold].min(initial=np.inf)
    for text in _roundings(threshold):
        if below <= float(text) < above:
            break
    number = float(text)
    if 1e-4 <= abs(number) < 1e6:
        text = np.format_float_positional(number, trim="-")
    return text.replace("-", "\N{MINUS SIGN}")


def _roundings(number):
    """A number in more and more digits, rounded to the nearest and downwards."""
    for digits in range(FEWEST_DIGITS, 18):
        nearest = f"{number:.{digits}g}"
        yield nearest
        if number and float(nearest) > number:
            unit = 10.0 ** (np.floor(np.log10(abs(number))) - digits + 1)
            yield f"{float(nearest) - unit:.{digits}g}"
