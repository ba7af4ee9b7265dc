"""The rows to be explained and those of `fit`, encoded for a search."""

import numpy as np


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
        own = outcome.answers(rows.native)
        self.own = own if classes is None or own is None else classes
        self.fulfilled = np.zeros(rows.n_rows, dtype=bool)
        if not outcome.is_other:
            self.fulfilled = outcome.holds(rows.native)
        elif classes is not None:
            self.fulfilled = own != classes

    def own_of(self, index):
        """Positions of the classes to be left by the rows at `index`, or None."""
        return None if self.own is None else self.own[index]

    def decode(self, values, index):
        """Changed copies of the rows at `index`, as the model takes them."""
        return self.actionability.decode(
            values, self.values[index], self.rows, index, self._returning
        )

    def margins(self, values, index):
        """Margins of the model's answers, at values that are possible."""
        return self.outcome.margins(self.decode(values, index), self.own_of(index))

    def holds(self, values, index):
        """Whether the model's own answers satisfy the target."""
        return self.outcome.holds(self.decode(values, index), self.own_of(index))

    def distances(self, values, index):
        """Distances from the rows at `index`."""
        return self.actionability.distances(values, self.values[index])

    def projected(self, values, index):
        """The nearest values that the rows at `index` may take."""
        return self.actionability.projected(values, self.values[index])


class KnownRows:
    """The distinct rows of `fit`, and which of them satisfy the target.

    Parameters
    ----------
    rows : Rows
        The rows.
    outcome : TargetOutcome
        The target.
    actionability : Actionability
        Encodes them.
    """

    def __init__(self, rows, outcome, actionability):
        values = actionability.encode(rows)
        # Missing entries count as equal.
        comparable = np.nan_to_num(values, nan=np.inf)
        _, first = np.unique(comparable, axis=0, return_index=True)
        self.values, self.rows = values[first], rows.take(first)
        native = self.rows.native
        self._answers = outcome.answers(native)
        self._holds = None if outcome.is_other else outcome.holds(native)

    def satisfying(self, problem, index):
        """Which satisfy the target of rows of a problem at `index`, (n, n_known)."""
        if self._holds is None:
            return self._answers != problem.own[index][:, None]
        return np.tile(self._holds, (len(index), 1))
