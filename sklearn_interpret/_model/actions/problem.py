"""Searches for rows: what should come out, what may change, and the explained rows."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.search.refine import Refinement

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.target import AskedRows, TargetOutcome
    from sklearn_interpret._model.rows.base import Rows

# Half of the step of difference quotients, in the unit of a column: curvature adds an
# error of about 1e-8, and rounding one of 1e-12, or 1e-3 in single precision.
_STEP = 1e-4


class SearchProblem:
    """The rows to be explained, encoded, and the model's answers to changed copies.

    Parameters
    ----------
    outcome : TargetOutcome
        The target.
    actionability : Actionability
        The constraints on changes.
    rows : Rows
        The explained rows.
    classes : ndarray of shape (n_rows,), int, default=None
        Positions of the classes to be left, where the target is any other; None takes
        the model's own answers.
    """

    def __init__(
        self,
        outcome: TargetOutcome,
        actionability: Actionability,
        rows: Rows,
        classes: NDArray[np.intp] | None = None,
    ) -> None:
        self.outcome, self.actionability, self.rows = outcome, actionability, rows
        self.values = actionability.encode(rows)
        self._survive_encoding = actionability.survives_encoding(rows, self.values)
        self.originals = outcome.asked(rows.native)
        self.classes: Any = self.originals.answers if classes is None else classes
        self.fulfilled = self.originals.holds(self.classes)

    def with_actionability(self, actionability: Actionability) -> SearchProblem:
        """A copy under other constraints on changes."""
        changed = copy(self)
        changed.actionability = actionability
        return changed

    def classes_of(self, index: Any) -> Any:
        """Positions of the classes to be left by the rows at `index`, or None."""
        return None if self.classes is None else self.classes[index]

    def decode(self, values: NDArray[np.float64], index: NDArray[np.intp]) -> Any:
        """Changed copies of the rows at `index`, as the model takes them."""
        return self.actionability.decode(
            values, self.values[index], self.rows, index, self._survive_encoding
        )

    def asked(self, values: NDArray[np.float64], index: NDArray[np.intp]) -> AskedRows:
        """Changed copies of the rows at `index`, about which the model is asked."""
        return self.outcome.asked(self.decode(values, index))

    def margins(
        self, values: NDArray[np.float64], index: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Margins of the model's answers, at values that are possible."""
        return self.asked(values, index).margins(self.classes_of(index))

    def holds(
        self, values: NDArray[np.float64], index: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Whether the model's own answers satisfy the target."""
        return self.asked(values, index).holds(self.classes_of(index))

    def distances(
        self, values: NDArray[np.float64], index: NDArray[np.intp] | list[int]
    ) -> NDArray[np.float64]:
        """Distances from the rows at `index`."""
        return self.actionability.distances(values, self.values[index])

    def projected(
        self, values: NDArray[np.float64], index: NDArray[np.intp] | list[int]
    ) -> NDArray[np.float64]:
        """The nearest values that the rows at `index` may take."""
        return self.actionability.projected(values, self.values[index])

    def refinement(
        self,
        values: NDArray[np.float64],
        index: NDArray[np.intp],
        holds: Callable[..., NDArray[np.bool_]],
    ) -> Refinement:
        """A `Refinement` of encoded rows for which ``holds(values, index)`` is true."""
        return Refinement(
            values,
            self.values[index],
            index,
            costs=self.actionability.costs,
            missing_change_sizes=self.actionability.filling,
            has_units=~self.actionability.categorical,
            holds=holds,
            projected=self.projected,
        )

    def shifted_copies(
        self,
        values: NDArray[np.float64],
        index: NDArray[np.intp],
        columns: NDArray[np.intp],
    ) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
        """Rows a small step below and above encoded rows (n,), in k numbers each.

        Returns
        -------
        trials, index : ndarray of shape (2 n k, n_columns), (2 n k,)
            The rows below, then the rows above; positions of their explained rows.
        between : ndarray of shape (n, k)
            Differences of the changed numbers above and below.
        """
        steps = _STEP / self.actionability.costs[columns]
        steps = np.maximum(steps, self.actionability.grid.steps[columns])
        positions = np.arange(len(columns))
        trials = np.tile(values[:, None], (2, 1, len(columns), 1))
        shape = trials.shape
        trials[:, :, positions, columns] += np.multiply.outer([-1, 1], steps)[:, None]
        index = np.tile(np.repeat(index, len(columns)), 2)
        trials = self.projected(trials.reshape(-1, shape[-1]), index)
        below, above = trials.reshape(shape)[:, :, positions, columns]
        return trials, index, above - below

    def rows_on_target(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Mask of the rows on target for rows of another problem, (n, n_rows)."""
        if self.outcome.is_other:
            return self.classes != problem.classes[index][:, None]
        return np.tile(self.fulfilled, (len(index), 1))
