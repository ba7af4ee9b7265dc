"""Searches for rows: what should come out, what may change, and the explained rows."""

from copy import copy

import numpy as np

from sklearn_interpret._core.search.refine import Refinement

# Half of the step of difference quotients, in the unit of a column.
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

    def __init__(self, outcome, actionability, rows, classes=None):
        self.outcome, self.actionability, self.rows = outcome, actionability, rows
        self.values = actionability.encode(rows)
        self._returning = actionability.returning(rows, self.values)
        self.originals = outcome.asked(rows.native)
        self.own = self.originals.answers if classes is None else classes
        self.fulfilled = self.originals.holds(self.own)

    def under(self, actionability):
        """A copy under other constraints on changes."""
        changed = copy(self)
        changed.actionability = actionability
        return changed

    def own_of(self, index):
        """Positions of the classes to be left by the rows at `index`, or None."""
        return None if self.own is None else self.own[index]

    def decode(self, values, index):
        """Changed copies of the rows at `index`, as the model takes them."""
        return self.actionability.decode(
            values, self.values[index], self.rows, index, self._returning
        )

    def asked(self, values, index):
        """Changed copies of the rows at `index`, about which the model is asked."""
        return self.outcome.asked(self.decode(values, index))

    def margins(self, values, index):
        """Margins of the model's answers, at values that are possible."""
        return self.asked(values, index).margins(self.own_of(index))

    def holds(self, values, index):
        """Whether the model's own answers satisfy the target."""
        return self.asked(values, index).holds(self.own_of(index))

    def distances(self, values, index):
        """Distances from the rows at `index`."""
        return self.actionability.distances(values, self.values[index])

    def projected(self, values, index):
        """The nearest values that the rows at `index` may take."""
        return self.actionability.projected(values, self.values[index])

    def refinement(self, values, index, holds):
        """A `Refinement` of encoded rows for which ``holds(values, index)``."""
        return Refinement(
            values,
            self.values[index],
            index,
            costs=self.actionability.costs,
            filling=self.actionability.filling,
            has_units=~self.actionability.categorical,
            holds=holds,
            projected=self.projected,
        )

    def around(self, values, index, columns):
        """Rows a small step below and above encoded rows (n,), in k numbers each.

        Returns
        -------
        trials, index : ndarray of shape (2 n k, n_columns), (2 n k,)
            Those below, then those above.
        between : ndarray of shape (n, k)
            Differences of the two.
        """
        steps = _STEP / self.actionability.costs[columns]
        steps = np.maximum(steps, self.actionability.grid.steps[columns])
        which = np.arange(len(columns))
        trials = np.tile(values[:, None], (2, 1, len(columns), 1))
        shape = trials.shape
        trials[:, :, which, columns] += np.multiply.outer([-1, 1], steps)[:, None]
        index = np.tile(np.repeat(index, len(columns)), 2)
        trials = self.projected(trials.reshape(-1, shape[-1]), index)
        below, above = trials.reshape(shape)[:, :, which, columns]
        return trials, index, above - below

    def satisfying(self, problem, index):
        """Mask of the rows on target for rows of another problem, (n, n_rows)."""
        if self.outcome.is_other:
            return self.own != problem.own[index][:, None]
        return np.tile(self.fulfilled, (len(index), 1))
