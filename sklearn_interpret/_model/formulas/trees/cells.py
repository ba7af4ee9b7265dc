"""Cells of the columns of a table, within which all trees are constant.

:class:`TreeCells` finds the cells of each column, by bisection on the grid of numbers
that the column may hold (:class:`_Grid`), and writes the leaves of the trees as boxes
of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.paths import TreePaths

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._model.actions.problem import SearchProblem
    from sklearn_interpret._model.formulas.trees.tree_model import TreeModel
    from sklearn_interpret._model.rows.base import Rows

# Larger numbers are taken for infinite: far beyond thresholds of real data, and their
# squares are finite.
_LARGEST = 1e30
# Larger whole numbers are not exact in double precision.
_LARGEST_INTEGER = 2**53
# Integers whose bits are those of positive floats are in the same order.
_INTEGERS: dict[Any, Any] = {
    np.float16: np.int16,
    np.float32: np.int32,
    np.float64: np.int64,
}


class _ColumnCells(NamedTuple):
    """The cells of one column, in the order of their numbers."""

    low: NDArray[np.float64]  # (n_cells,): lowest and
    high: NDArray[np.float64]  # highest number of each cell
    codes: NDArray[np.integer]  # (n_cells, k): codes in the k features of the column


@dataclass(frozen=True)
class _Boxes:
    """The leaves of trees as boxes of cells, in the order of the trees."""

    tree: NDArray[np.intp]  # (n_boxes,)
    leaf: NDArray[np.intp]  # (n_boxes,)
    condition: NDArray[np.intp]  # (n_boxes, n_columns): the last on a column, or -1
    low: NDArray[np.intp]  # (n_boxes, n_columns): first and
    high: NDArray[np.intp]  # last cell of each box
    # (n_boxes, n_columns): whether a leaf has an earlier box of the column's cells.
    repeated: NDArray[np.bool_]

    def take(self, boxes: list[int]) -> _Boxes:
        """Some of the boxes, by their positions."""
        return _Boxes(**{name: array[boxes] for name, array in vars(self).items()})


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
        Trees of the model, with the outputs of the target.
    problem : SearchProblem
        Known rows.
    """

    def __init__(
        self, model: TreeModel, ensemble: TreeEnsemble, problem: SearchProblem
    ) -> None:
        self.model, self.ensemble, self._problem = model, ensemble, problem
        self.actionability, values = problem.actionability, problem.values
        codes = self.codes(problem.rows)
        # By column; whether its cells are intervals of numbers.
        self.low, self.high, self.cell_codes, self.ordered = [], [], [], []
        boundaries = self._boundaries()
        for j in range(model.n_columns):
            intervals = None
            if not self.actionability.categorical[j]:
                intervals = self._split_number(
                    j, boundaries.get(j), values[:, j], codes
                )
            self.ordered.append(intervals is not None)
            cells = intervals or self._cells_of_values(j, values[:, j])
            self.low.append(cells.low)
            self.high.append(cells.high)
            self.cell_codes.append(cells.codes)
        self.paths = TreePaths.of_ensemble(
            ensemble, model.columns, n_players=model.n_columns
        )
        self._boxes = self._leaf_boxes()
        for j in np.flatnonzero(~np.array(self.ordered)).tolist():
            self._boxes = self._split_by_runs(j)

    def codes(self, rows: Rows) -> NDArray[np.integer]:
        """Codes of rows as the trees compare them."""
        return self.ensemble.codes(self.model.encode(rows.native))

    def _features_of_column(self, j: int) -> NDArray[np.intp]:
        """The features that the trees make of a column."""
        return np.flatnonzero(self.model.columns == j)

    def _codes_at(
        self,
        columns: NDArray[np.intp],
        values: NDArray[np.float64],
        features: NDArray[np.intp],
    ) -> NDArray[np.integer]:
        """Codes of a known row with one number replaced; -1 where the model refuses.

        For each value (n,) in its column (n,), the codes (n, k) of k features of this
        column.
        """
        n = len(values)
        if not n:
            return np.empty((0, features.shape[1]), dtype=np.int32)
        # One encoded row has a value in each column: fewer rows are encoded.
        row = np.empty(n, dtype=np.intp)
        for j in np.unique(columns):
            row[columns == j] = np.arange((columns == j).sum())
        n_rows = row.max() + 1
        changed_values = np.repeat(self._problem.values[:1], n_rows, axis=0)
        changed_values[row, columns] = values
        try:
            native = self._problem.decode(
                changed_values, np.zeros(n_rows, dtype=np.intp)
            )
            with np.errstate(all="ignore"):
                codes = self.ensemble.codes(self.model.encode(native))
                return codes[row[:, None], features]
        except ValueError:
            if n == 1:
                return np.full((1, features.shape[1]), -1, dtype=np.int32)
        # Halves are asked about, until the values that the model refuses stand alone.
        halves = slice(n // 2), slice(n // 2, None)
        return np.concatenate(
            [
                self._codes_at(columns[half], values[half], features[half])
                for half in halves
            ]
        )

    def _boundaries(self) -> dict[int, tuple[_Grid, NDArray[np.intp]]]:
        """Last numbers before each threshold, by column, as positions on its grid.

        Bisection of all thresholds together: the codes of a number say on which side of
        a threshold, the rank of a feature, it lies.
        """
        codes = self.ensemble.split_codes
        thresholds = [
            (j, feature, rank)
            for feature, j in enumerate(self.model.columns.tolist())
            if not (self.actionability.categorical[j] or codes.categorical[feature])
            for rank in range(len(codes.thresholds[feature]))
        ]
        if not thresholds:
            return {}
        column, feature, rank = np.array(thresholds).T
        grids = {j: self._grid_of_column(j) for j in np.unique(column).tolist()}
        low, high = np.array([grids[j].end_positions for j in column.tolist()]).T
        lowest, highest = (
            self._codes_on_grids(grids, column, positions, feature)
            for positions in (low, high)
        )
        is_between = (lowest <= rank) & (highest > rank)
        guesses = self._positions_near_thresholds(grids, column, feature, rank)
        active = np.flatnonzero(is_between)
        while len(active):
            start, stop = low[active], high[active]
            # The difference of two positions may exceed the largest integer.
            middle = (start >> 1) + (stop >> 1) + (start & stop & 1)
            if guesses:
                guess = guesses.pop()[active]
                middle = np.where((start < guess) & (guess < stop), guess, middle)
            codes_of_middle = self._codes_on_grids(
                grids, column[active], middle, feature[active]
            )
            is_left = codes_of_middle <= rank[active]
            low[active] = np.where(is_left, middle, start)
            high[active] = np.where(is_left, stop, middle)
            active = active[high[active] - 1 > low[active]]
        return {
            j: (grid, np.unique(low[(column == j) & is_between]))
            for j, grid in grids.items()
        }

    def _positions_near_thresholds(
        self,
        grids: dict[int, _Grid],
        columns: NDArray[np.intp],
        features: NDArray[np.intp],
        ranks: NDArray[np.intp],
    ) -> list[NDArray[np.intp]]:
        """Positions next to thresholds, below and above: first guesses of a bisection.

        Trees may see the numbers in single precision.
        """
        by_feature = self.ensemble.split_codes.thresholds
        pairs = zip(features.tolist(), ranks.tolist(), strict=True)
        thresholds = np.array([by_feature[feature][rank] for feature, rank in pairs])
        with np.errstate(over="ignore"):
            in_single = thresholds.astype(np.float32)
        neighbours = [
            np.nextafter(in_single, np.float32(end)) for end in (-np.inf, np.inf)
        ]
        positions = np.empty((2, len(columns)), dtype=np.int64)
        for j, grid in grids.items():
            in_column = columns == j
            positions[:, in_column] = [
                grid.positions(end[in_column].astype(np.float64)) for end in neighbours
            ]
        return [positions[0] - 1, positions[1] + 1]

    def _grid_of_column(self, j: int) -> _Grid:
        """The numbers that a column may hold."""
        dtype = self._problem.rows.column_array(j).dtype
        if self.actionability.integer[j] or dtype.kind in "iu":
            lowest, highest = -_LARGEST_INTEGER, _LARGEST_INTEGER
            if dtype.kind in "iu":
                limits = np.iinfo(dtype)
                lowest, highest = max(limits.min, lowest), min(limits.max, highest)
            return _Grid(None, (lowest, highest))
        return _Grid.of_floats(dtype.type if dtype.type in _INTEGERS else np.float64)

    def _codes_on_grids(
        self,
        grids: dict[int, _Grid],
        columns: NDArray[np.intp],
        positions: NDArray[np.intp],
        features: NDArray[np.intp],
    ) -> NDArray[np.integer]:
        """As `_codes_at`, (n,): of positions on grids, and one feature each."""
        values = np.empty(len(columns))
        for j in np.unique(columns).tolist():
            in_column = columns == j
            values[in_column] = grids[j].numbers(positions[in_column])
        return self._codes_at(columns, values, features[:, None])[:, 0]

    def _split_number(
        self,
        j: int,
        boundaries: tuple[_Grid, NDArray[np.intp]] | None,
        values: NDArray[np.float64],
        codes: NDArray[np.integer],
    ) -> _ColumnCells | None:
        """Cells of a number; None where the cells are no intervals.

        `values` and `codes` are of known rows; their codes must be those of the cells.
        """
        features = self._features_of_column(j)
        if self.ensemble.split_codes.categorical[features].any():
            return None
        low, high = np.array([-np.inf]), np.array([np.inf])
        if boundaries is not None:
            grid, last_positions = boundaries
            low = np.append(low, grid.numbers(last_positions + 1))
            high = np.append(grid.numbers(last_positions), high)
        cell_ends = np.array(
            [np.append(high[:1], low[1:]), np.append(high[:-1], low[-1:])]
        )
        # A single cell without ends: any number represents it.
        cell_ends[np.isinf(cell_ends)] = np.append(values[~np.isnan(values)], 0.0)[0]
        low_codes, high_codes = (
            self._value_codes(j, values_of_cells) for values_of_cells in cell_ends
        )
        if (low_codes != high_codes).any():
            return None
        cells = _ColumnCells(low, high, low_codes)
        present_rows = np.flatnonzero(~np.isnan(values))
        positions = self._cells_of_numbers(
            values[present_rows], cells, codes[present_rows][:, features]
        )
        return None if (positions < 0).any() else cells

    def _cells_of_values(
        self, j: int, column_values: NDArray[np.float64]
    ) -> _ColumnCells:
        """Cells that are levels or known values."""
        if self.actionability.categorical[j]:
            values = np.arange(len(self.actionability.levels[j] or ()), dtype=float)
        else:
            values = np.unique(column_values[~np.isnan(column_values)])
        return _ColumnCells(values, values, self._value_codes(j, values))

    def _value_codes(self, j: int, values: NDArray[np.float64]) -> NDArray[np.integer]:
        """Codes (n, k) of values of a column, in its features."""
        features = self._features_of_column(j)
        features = np.broadcast_to(features, (len(values), len(features)))
        return self._codes_at(np.full(len(values), j), values, features)

    @staticmethod
    def _cells_of_numbers(
        values: NDArray[np.float64], cells: _ColumnCells, codes: NDArray[np.integer]
    ) -> NDArray[np.intp]:
        """Cells of numbers (n,) whose codes (n, k) are known; -1 for none."""
        cells_below = np.clip(
            np.searchsorted(cells.low, values, side="right") - 1, 0, None
        )
        positions = np.full(len(values), -1)
        # Numbers of other precision may lie between two cells: their codes decide.
        for cell in (np.minimum(cells_below + 1, len(cells.low) - 1), cells_below):
            matches = (cells.codes[cell] == codes).all(axis=1)
            positions[matches] = cell[matches]
        return positions

    def row_cells(
        self, values: NDArray[np.float64], codes: NDArray[np.integer]
    ) -> NDArray[np.intp]:
        """Cells of encoded rows (n, n_columns), given their codes; -1 for none."""
        positions = np.full(values.shape, -1)
        for j, low in enumerate(self.low):
            present_rows = np.flatnonzero(~np.isnan(values[:, j]))
            if not len(low):
                continue
            column_values = values[present_rows, j]
            if self.ordered[j]:
                cells = _ColumnCells(low, self.high[j], self.cell_codes[j])
                column_codes = codes[present_rows][:, self._features_of_column(j)]
                positions[present_rows, j] = self._cells_of_numbers(
                    column_values, cells, column_codes
                )
            else:
                nearest = np.minimum(np.searchsorted(low, column_values), len(low) - 1)
                is_listed = low[nearest] == column_values
                positions[present_rows, j] = np.where(is_listed, nearest, -1)
        return positions

    def _leaf_boxes(self) -> _Boxes:
        """Boxes of leaves, without the conditions on columns that have no order."""
        trees, paths = self.ensemble, self.paths
        n_cells = np.array([max(len(low), 1) for low in self.low])
        # First and last cells that meet the condition of each node but the roots.
        low, high = np.zeros((2, trees.n_nodes), dtype=int)
        inner = np.flatnonzero(~trees.is_leaf)
        left, right = trees.left[inner], trees.right[inner]
        n_left = self._n_cells_left(inner)
        high[left], low[right] = n_left - 1, n_left
        high[right] = n_cells[self.model.columns[trees.feature[inner]]] - 1
        # The cells also meet the conditions above on the same column.
        for nodes, previous in paths.narrowing_steps:
            low[nodes] = np.maximum(low[nodes], low[previous])
            high[nodes] = np.minimum(high[nodes], high[previous])
        leaves = np.concatenate([nodes[trees.is_leaf[nodes]] for nodes in trees.levels])
        tree = np.searchsorted(trees.roots, leaves, side="right") - 1
        order = np.argsort(tree, kind="stable")
        leaf, tree = leaves[order], tree[order]
        box, condition = paths.conditions_of(leaf)
        column = paths.player[condition]
        shape = (len(leaf), self.model.n_columns)
        conditions = np.full(shape, -1)
        conditions[box, column] = condition
        low_cells = np.zeros(shape, dtype=int)
        high_cells = np.tile(n_cells - 1, (shape[0], 1))
        low_cells[box, column] = low[condition]
        high_cells[box, column] = high[condition]
        repeated = np.zeros(shape, dtype=bool)
        return _Boxes(tree, leaf, conditions, low_cells, high_cells, repeated)

    def _n_cells_left(self, inner: NDArray[np.intp]) -> NDArray[np.intp]:
        """How many of the first cells go left, where cells have an order."""
        trees = self.ensemble
        n_left = np.zeros(len(inner), dtype=int)
        for feature in np.unique(trees.feature[inner]).tolist():
            j = self.model.columns[feature]
            if self.ordered[j]:
                splits = np.flatnonzero(trees.feature[inner] == feature)
                position = np.flatnonzero(self._features_of_column(j) == feature)[0]
                codes = self.cell_codes[j][:, position]
                ranks = trees.split_codes.rank[inner[splits]]
                n_left[splits] = np.searchsorted(codes, ranks, side="right")
        return n_left

    def _cells_that_meet(self, j: int) -> dict[int, NDArray[np.bool_]]:
        """Masks of the cells of a column that meet the conditions on it: by node."""
        trees, features = self.ensemble, self._features_of_column(j)
        n_cells = len(self.low[j])
        cells_met: dict[int, NDArray[np.bool_]] = {}
        for nodes in trees.levels:
            inner = nodes[~trees.is_leaf[nodes]]
            inner = inner[self.model.columns[trees.feature[inner]] == j]
            positions = np.searchsorted(features, trees.feature[inner])
            codes = self.cell_codes[j][:, positions].T
            goes_left = trees.goes_left(
                np.repeat(inner, n_cells), codes.ravel().astype(np.intp)
            ).reshape(len(inner), n_cells)
            for node, cells_left in zip(inner.tolist(), goes_left, strict=True):
                children = trees.left[node], trees.right[node]
                masks = cells_left, ~cells_left
                for child, meets in zip(children, masks, strict=True):
                    # The condition above on the same column.
                    previous = cells_met.get(self.paths.previous[child])
                    cells_met[child] = meets if previous is None else meets & previous
        return cells_met

    def _split_by_runs(self, j: int) -> _Boxes:
        """The boxes, cut into boxes of consecutive cells of a column without order."""
        cells_met, boxes = self._cells_that_meet(j), self._boxes
        index, firsts, lasts, is_repeated = [], [], [], []
        for box, condition in enumerate(boxes.condition[:, j].tolist()):
            if condition < 0:
                runs = [(0, boxes.high[box, j])]
            else:
                changes = np.diff(np.r_[0, cells_met[condition].astype(int), 0])
                run_ends = np.flatnonzero(changes < 0) - 1
                runs = list(zip(np.flatnonzero(changes > 0), run_ends, strict=True))
                # Rows with a value outside of all cells may still reach the box.
                runs = runs or [(len(self.low[j]), len(self.low[j]) - 1)]
            for k, (first, last) in enumerate(runs):
                index.append(box)
                firsts.append(first)
                lasts.append(last)
                is_repeated.append(k > 0)
        split_boxes = boxes.take(index)
        split_boxes.low[:, j], split_boxes.high[:, j] = firsts, lasts
        split_boxes.repeated[:, j] = is_repeated
        return split_boxes

    def conditions_met(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Mask (n_nodes,) of the conditions met by a row with codes (n_features,)."""
        trees = self.ensemble
        inner = np.flatnonzero(~trees.is_leaf)
        left = trees.goes_left(inner, codes[trees.feature[inner]])
        met = np.ones(trees.n_nodes, dtype=bool)
        met[trees.left[inner]], met[trees.right[inner]] = left, ~left
        for nodes, previous in self.paths.narrowing_steps:
            met[nodes] &= met[previous]
        return met

    def reachable_boxes(
        self,
        codes: NDArray[np.integer],
        fixed: NDArray[np.bool_],
        outside: NDArray[np.bool_],
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Boxes within reach where `fixed` columns (n_columns,) stay as in a row.

        Other columns, in which the row lies `outside` of all cells, have one more cell
        for its value, the last one.

        Returns
        -------
        tree, leaf : ndarray of shape (n_boxes,), intp
        low, high : ndarray of shape (n_boxes, n_free), intp
            First and last cells of the columns that are not fixed.
        """
        boxes = self._boxes
        is_met = np.append(self.conditions_met(codes), True)  # True for no condition
        is_reachable = is_met[boxes.condition[:, fixed]].all(axis=1)
        is_reachable &= ~boxes.repeated[:, fixed].any(axis=1)
        # Boxes that only missing values reach have no cells.
        has_cells = boxes.low <= boxes.high
        is_reachable &= has_cells[:, ~(fixed | outside)].all(axis=1)
        box_index = np.flatnonzero(is_reachable)
        low, high = boxes.low[box_index], boxes.high[box_index]
        for j in np.flatnonzero(outside).tolist():
            # Boxes that the row's value enters get its cell: where it is the next one
            # to theirs they grow by it, else they get a second box of it alone.
            enters = (
                is_met[boxes.condition[box_index, j]] & ~boxes.repeated[box_index, j]
            )
            last = len(self.low[j])
            grows = enters & (high[:, j] == last - 1) & (low[:, j] <= high[:, j])
            high[grows, j] = last
            boxes_inside = np.flatnonzero(low[:, j] <= high[:, j])
            separate_boxes = np.flatnonzero(enters & ~grows)
            index = np.concatenate([boxes_inside, separate_boxes])
            box_index, low, high = box_index[index], low[index], high[index]
            low[len(boxes_inside) :, j] = high[len(boxes_inside) :, j] = last
        if outside.any():
            order = np.argsort(boxes.tree[box_index], kind="stable")
            box_index, low, high = box_index[order], low[order], high[order]
        tree, leaf = boxes.tree[box_index], boxes.leaf[box_index]
        return tree, leaf, low[:, ~fixed], high[:, ~fixed]


@dataclass(frozen=True)
class _Grid:
    """The numbers that a column may hold, in order: floats of a type, or integers.

    The position of an integer is itself, that of a float the integer of the same bits,
    with the sign of the float.
    """

    dtype: Any  # a numpy type; None for integers
    end_positions: tuple[int, int]  # the lowest and highest position

    @classmethod
    def of_floats(cls, dtype: Any) -> _Grid:
        """The floats of a type, up to `_LARGEST` on both sides of zero."""
        largest = dtype(min(_LARGEST, float(np.finfo(dtype).max)))
        highest = int(largest.view(_INTEGERS[dtype]))
        return cls(dtype, (-highest, highest))

    def numbers(self, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Numbers at positions."""
        if self.dtype is None:
            return positions.astype(np.float64)
        absolute = np.abs(positions).astype(_INTEGERS[self.dtype]).view(self.dtype)
        return np.where(positions < 0, -absolute, absolute).astype(np.float64)

    def positions(self, numbers: NDArray[np.float64]) -> NDArray[np.intp]:
        """Nearest positions of numbers; the ends for those beyond."""
        numbers = numbers.clip(*self.numbers(np.array(self.end_positions)))
        if self.dtype is None:
            return np.rint(numbers).astype(np.int64)
        absolute = np.abs(numbers).astype(self.dtype).view(_INTEGERS[self.dtype])
        return np.where(numbers < 0, -absolute, absolute).astype(np.int64)
