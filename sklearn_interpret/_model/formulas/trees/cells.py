"""Cells of the columns of a table, within which all trees are constant."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._core.trees.structure.paths import TreePaths

# Larger numbers are taken for infinite.
_MOST = 1e30


class TreeCells:
    """The trees of a model as boxes of cells of the input columns.

    A cell of a number is an interval whose ends belong to it, that of a category a
    level. Where trees see more of a number than on which side of thresholds it lies
    (its column is encoded as categories), its cells are the values of known rows.

    Parameters
    ----------
    model : TreeModel
        The model.
    ensemble : TreeEnsemble
        Its trees, with the outputs wanted.
    problem : SearchProblem
        Known rows.
    """

    def __init__(self, model, ensemble, problem):
        self.model, self.ensemble, self._problem = model, ensemble, problem
        self.actionability, known = problem.actionability, problem.values
        codes = self.codes(problem.rows)
        self.low, self.high, self.cell_codes, self.ordered = [], [], [], []
        searched = self._boundaries()
        for j in range(model.n_columns):
            cells = None
            if not self.actionability.categorical[j]:
                cells = self._intervals(j, searched.get(j), known[:, j], codes)
            self.ordered.append(cells is not None)
            low, high, of_cells = cells or self._points(j, known[:, j])
            self.low.append(low)
            self.high.append(high)
            self.cell_codes.append(of_cells)
        self._make_boxes()

    def codes(self, rows):
        """Codes of rows as the trees compare them."""
        return self.ensemble.codes(self.model.encode(rows.native))

    def _features(self, j):
        return np.flatnonzero(self.model.columns == j)

    def _codes_at(self, columns, values, features):
        """Codes of a known row with one number replaced; -1 where the model refuses.

        Those of one feature of the column each, (n, 1), or of several, (n, k): columns
        share the rows that are encoded.
        """
        n = len(values)
        if not n:
            return np.empty((0, features.shape[1]), dtype=np.int32)
        row = np.empty(n, dtype=np.intp)
        for j in np.unique(columns):
            row[columns == j] = np.arange((columns == j).sum())
        n_rows = row.max() + 1
        changed = np.repeat(self._problem.values[:1], n_rows, axis=0)
        changed[row, columns] = values
        try:
            native = self._problem.decode(changed, np.zeros(n_rows, dtype=np.intp))
            with np.errstate(all="ignore"):
                codes = self.ensemble.codes(self.model.encode(native))
                return codes[row[:, None], features]
        except ValueError:
            if n == 1:
                return np.full((1, features.shape[1]), -1, dtype=np.int32)
        halves = slice(n // 2), slice(n // 2, None)
        return np.concatenate(
            [
                self._codes_at(columns[half], values[half], features[half])
                for half in halves
            ]
        )

    def _boundaries(self):
        """Last numbers before each threshold, by column, as positions on its grid."""
        codes = self.ensemble.split_codes
        sought = [
            (j, feature, rank)
            for feature, j in enumerate(self.model.columns.tolist())
            if not (self.actionability.categorical[j] or codes.categorical[feature])
            for rank in range(len(codes.thresholds[feature]))
        ]
        if not sought:
            return {}
        column, feature, rank = np.array(sought).T
        grids = {j: self._grid(j) for j in np.unique(column).tolist()}
        low, high = np.array([grids[j].ends for j in column.tolist()]).T
        below, above = (
            self._codes_on(grids, column, ends, feature) for ends in (low, high)
        )
        split = (below <= rank) & (above > rank)
        guesses = self._near_thresholds(grids, column, feature, rank)
        at = np.flatnonzero(split)
        while len(at):
            # The difference of two places may exceed the largest integer.
            middle = (low[at] >> 1) + (high[at] >> 1) + (low[at] & high[at] & 1)
            if guesses:
                guess = guesses.pop()[at]
                middle = np.where((low[at] < guess) & (guess < high[at]), guess, middle)
            left = self._codes_on(grids, column[at], middle, feature[at]) <= rank[at]
            low[at] = np.where(left, middle, low[at])
            high[at] = np.where(left, high[at], middle)
            at = at[high[at] - 1 > low[at]]
        return {
            j: (grid, np.unique(low[(column == j) & split]))
            for j, grid in grids.items()
        }

    def _near_thresholds(self, grids, columns, features, ranks):
        """Places just below and just above thresholds, of trees that see the numbers.

        These may see them in single precision.
        """
        known = self.ensemble.split_codes.thresholds
        pairs = zip(features.tolist(), ranks.tolist(), strict=True)
        thresholds = np.array([known[feature][rank] for feature, rank in pairs])
        with np.errstate(over="ignore"):
            single = thresholds.astype(np.float32)
        ends = [np.nextafter(single, np.float32(end)) for end in (-np.inf, np.inf)]
        places = np.empty((2, len(columns)), dtype=np.int64)
        for j, grid in grids.items():
            at = columns == j
            places[:, at] = [grid.places(end[at].astype(np.float64)) for end in ends]
        return [places[0] - 1, places[1] + 1]

    def _grid(self, j):
        """The numbers that a column may hold."""
        dtype = self._problem.rows.column_array(j).dtype
        if self.actionability.integer[j] or dtype.kind in "iu":
            most = 2**53
            if dtype.kind in "iu":
                limits = np.iinfo(dtype)
                return _Grid(None, (max(limits.min, -most), min(limits.max, most)))
            return _Grid(None, (-most, most))
        return _Grid.of_floats(dtype.type if dtype.type in _INTEGERS else np.float64)

    def _codes_on(self, grids, columns, places, features):
        values = np.empty(len(columns))
        for j in np.unique(columns).tolist():
            at = columns == j
            values[at] = grids[j].numbers(places[at])
        return self._codes_at(columns, values, features[:, None])[:, 0]

    def _intervals(self, j, searched, known, codes):
        """Cells of a number, and their codes; None where these are no intervals."""
        features = self._features(j)
        if self.ensemble.split_codes.categorical[features].any():
            return None
        low, high = np.array([-np.inf]), np.array([np.inf])
        if searched is not None:
            grid, last = searched
            low = np.append(low, grid.numbers(last + 1))
            high = np.append(grid.numbers(last), high)
        ends = np.array([np.append(high[:1], low[1:]), np.append(high[:-1], low[-1:])])
        # A single cell without ends: any number represents it.
        ends[np.isinf(ends)] = np.append(known[~np.isnan(known)], 0.0)[0]
        at_low, at_high = (self._codes_of(j, end) for end in ends)
        if (at_low != at_high).any():
            return None
        present = np.flatnonzero(~np.isnan(known))
        cell = self._cell_of_number(
            known[present], low, high, at_low, codes[present][:, features]
        )
        return None if (cell < 0).any() else (low, high, at_low)

    def _points(self, j, known):
        """Cells that are levels or known values, and their codes."""
        if self.actionability.categorical[j]:
            values = np.arange(len(self.actionability.levels[j]), dtype=np.float64)
        else:
            values = np.unique(known[~np.isnan(known)])
        return values, values, self._codes_of(j, values)

    def _codes_of(self, j, values):
        """Codes (n, k) of values of a column, in its features."""
        features = self._features(j)
        features = np.broadcast_to(features, (len(values), len(features)))
        return self._codes_at(np.full(len(values), j), values, features)

    @staticmethod
    def _cell_of_number(values, low, high, cell_codes, codes):
        """Cells of numbers whose codes are known; -1 where they have none."""
        first = np.clip(np.searchsorted(low, values, side="right") - 1, 0, None)
        cells = np.full(len(values), -1)
        # Numbers of other precision may lie between two cells: their codes decide.
        for cell in (np.minimum(first + 1, len(low) - 1), first):
            same = (cell_codes[cell] == codes).all(axis=1)
            cells[same] = cell[same]
        return cells

    def own_cells(self, values, codes):
        """Cells of encoded rows (n, n_columns), given their codes; -1 for none."""
        cells = np.full(values.shape, -1)
        for j, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            at = np.flatnonzero(~np.isnan(values[:, j]))
            if not len(low):
                continue
            own = values[at, j]
            if self.ordered[j]:
                features = self._features(j)
                cells[at, j] = self._cell_of_number(
                    own, low, high, self.cell_codes[j], codes[at][:, features]
                )
            else:
                place = np.minimum(np.searchsorted(low, own), len(low) - 1)
                cells[at, j] = np.where(low[place] == own, place, -1)
        return cells

    def _make_boxes(self):
        """Leaves as boxes: `tree`, `leaf`, `low_cells`, `high_cells`, `condition`."""
        trees = self.ensemble
        paths = TreePaths.of_ensemble(
            trees, self.model.columns, n_players=self.model.n_columns
        )
        self.paths = paths
        sizes = np.array([max(len(low), 1) for low in self.low])
        low, high = np.zeros(trees.n_nodes, dtype=int), np.zeros(trees.n_nodes, int)
        inner = np.flatnonzero(~trees.is_leaf)
        left, right = trees.left[inner], trees.right[inner]
        n_left = self._n_left(inner)
        high[left], low[right] = n_left - 1, n_left
        high[right] = sizes[self.model.columns[trees.feature[inner]]] - 1
        for nodes, previous in paths.merged:
            low[nodes] = np.maximum(low[nodes], low[previous])
            high[nodes] = np.minimum(high[nodes], high[previous])
        leaves = np.concatenate(
            [nodes[trees.is_leaf[nodes]] for nodes in trees.levels()]
        )
        tree = self._tree_of(leaves)
        order = np.argsort(tree, kind="stable")
        self.leaf, self.tree = leaves[order], tree[order]
        box, condition = paths.conditions_of(self.leaf)
        column = paths.player[condition]
        shape = (len(self.leaf), self.model.n_columns)
        self.condition = np.full(shape, -1)
        self.condition[box, column] = condition
        self.low_cells = np.zeros(shape, dtype=int)
        self.high_cells = np.tile(sizes - 1, (shape[0], 1))
        self.low_cells[box, column] = low[condition]
        self.high_cells[box, column] = high[condition]
        self.repeated = np.zeros(shape, dtype=bool)
        for j in np.flatnonzero(~np.array(self.ordered)).tolist():
            self._split_by_runs(j)

    def _tree_of(self, leaves):
        tree = np.full(self.ensemble.n_nodes, -1)
        tree[self.ensemble.roots] = np.arange(self.ensemble.n_trees)
        for nodes in self.ensemble.levels()[1:]:
            tree[nodes] = tree[self.ensemble.parents[nodes]]
        return tree[leaves]

    def _n_left(self, inner):
        """How many of the first cells go left, where cells have an order."""
        trees = self.ensemble
        n_left = np.zeros(len(inner), dtype=int)
        for feature in np.unique(trees.feature[inner]).tolist():
            j = self.model.columns[feature]
            if self.ordered[j]:
                at = trees.feature[inner] == feature
                which = np.flatnonzero(self._features(j) == feature)[0]
                codes = self.cell_codes[j][:, which]
                ranks = trees.split_codes.rank[inner[at]]
                n_left[at] = np.searchsorted(codes, ranks, side="right")
        return n_left

    def _met(self, j):
        """Which cells of a column without order meet the conditions on it: by node."""
        trees, features = self.ensemble, self._features(j)
        n_cells = len(self.low[j])
        met = {}
        for nodes in trees.levels():
            inner = nodes[~trees.is_leaf[nodes]]
            inner = inner[self.model.columns[trees.feature[inner]] == j]
            which = np.searchsorted(features, trees.feature[inner])
            codes = self.cell_codes[j][:, which].T
            goes_left = trees.goes_left(
                np.repeat(inner, n_cells), codes.ravel().astype(np.intp)
            ).reshape(len(inner), n_cells)
            for node, left in zip(inner.tolist(), goes_left, strict=True):
                for child, mask in (
                    (trees.left[node], left),
                    (trees.right[node], ~left),
                ):
                    above = met.get(self.paths.previous[child])
                    met[child] = mask if above is None else mask & above
        return met

    def _split_by_runs(self, j):
        """Make boxes of consecutive cells of a column out of each box."""
        met = self._met(j)
        index, low, high, again = [], [], [], []
        for box, condition in enumerate(self.condition[:, j].tolist()):
            if condition < 0:
                runs = [(0, self.high_cells[box, j])]
            else:
                steps = np.diff(np.r_[0, met[condition].astype(int), 0])
                ends = np.flatnonzero(steps < 0) - 1
                runs = list(zip(np.flatnonzero(steps > 0), ends, strict=True))
                # Rows with a value outside of all cells may still reach the box.
                runs = runs or [(len(self.low[j]), len(self.low[j]) - 1)]
            for k, (first, last) in enumerate(runs):
                index.append(box)
                low.append(first)
                high.append(last)
                again.append(k > 0)
        for name in (
            "leaf",
            "tree",
            "condition",
            "low_cells",
            "high_cells",
            "repeated",
        ):
            setattr(self, name, getattr(self, name)[index])
        self.low_cells[:, j], self.high_cells[:, j] = low, high
        self.repeated[:, j] = again

    def conditions_met(self, codes):
        """Which conditions a row meets, given its codes (n_features,): by node."""
        trees = self.ensemble
        inner = np.flatnonzero(~trees.is_leaf)
        left = trees.goes_left(inner, codes[trees.feature[inner]])
        met = np.ones(trees.n_nodes, dtype=bool)
        met[trees.left[inner]], met[trees.right[inner]] = left, ~left
        for nodes, previous in self.paths.merged:
            met[nodes] &= met[previous]
        return met

    def boxes_of(self, codes, fixed, outside):
        """Boxes that are left where some columns (n_columns,) stay as in a row.

        Columns that are not fixed, but in which the row lies `outside` of all cells,
        have its own value for a last cell.

        Returns
        -------
        tree, leaf : ndarray of shape (n_boxes,), intp
        low, high : ndarray of shape (n_boxes, n_free), intp
            First and last cells of the columns that are not fixed.
        """
        met = np.append(self.conditions_met(codes), True)  # True for no condition
        kept = met[self.condition[:, fixed]].all(axis=1)
        kept &= ~self.repeated[:, fixed].any(axis=1)
        # Boxes that only missing values reach have no cells.
        kept &= (self.low_cells <= self.high_cells)[:, ~(fixed | outside)].all(axis=1)
        box = np.flatnonzero(kept)
        low, high = self.low_cells[box], self.high_cells[box]
        for j in np.flatnonzero(outside).tolist():
            enters = met[self.condition[box, j]] & ~self.repeated[box, j]
            last = len(self.low[j])
            next_to = enters & (high[:, j] == last - 1) & (low[:, j] <= high[:, j])
            high[next_to, j] = last
            some = np.flatnonzero(low[:, j] <= high[:, j])
            alone = np.flatnonzero(enters & ~next_to)
            taken = np.concatenate([some, alone])
            box, low, high = box[taken], low[taken], high[taken]
            low[len(some) :, j] = high[len(some) :, j] = last
        if outside.any():
            order = np.argsort(self.tree[box], kind="stable")
            box, low, high = box[order], low[order], high[order]
        return self.tree[box], self.leaf[box], low[:, ~fixed], high[:, ~fixed]


@dataclass(frozen=True)
class _Grid:
    """Numbers by their position: floats of a type, or whole numbers."""

    dtype: type | None
    ends: tuple

    @classmethod
    def of_floats(cls, dtype):
        most = dtype(min(_MOST, float(np.finfo(dtype).max)))
        most = int(most.view(_INTEGERS[dtype]))
        return cls(dtype, (-most, most))

    def numbers(self, places):
        if self.dtype is None:
            return places.astype(np.float64)
        sizes = np.abs(places).astype(_INTEGERS[self.dtype]).view(self.dtype)
        return np.where(places < 0, -sizes, sizes).astype(np.float64)

    def places(self, numbers):
        """Positions of numbers, of those beyond the ends the ends."""
        numbers = numbers.clip(*self.numbers(np.array(self.ends)))
        if self.dtype is None:
            return np.rint(numbers).astype(np.int64)
        sizes = np.abs(numbers).astype(self.dtype).view(_INTEGERS[self.dtype])
        return np.where(numbers < 0, -sizes, sizes).astype(np.int64)


_INTEGERS = {np.float16: np.int16, np.float32: np.int32, np.float64: np.int64}
