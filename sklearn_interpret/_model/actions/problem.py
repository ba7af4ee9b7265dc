"""The rows to be explained, and the rows of `fit`, as a search sees them."""

import numpy as np


class SearchProblem:
    """The rows to be explained, encoded, and what the model says of changed ones.

    Parameters
    ----------
    outcome : TargetOutcome
        What the model should answer.
    actionability : Actionability
        What rows may become.
    rows : Rows
        The explained rows.
    classes : ndarray of shape (n_rows,), int, default=None
        Positions of the classes that others are wished than; None takes the model's
        own answers.
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

    def decode(self, values, index):
        """Changed copies of the rows at `index`, as the model takes them."""
        return self.actionability.decode(
            values, self.values[index], self.rows, index, self._returning
        )

    def margins(self, values, index):
        """By how much the model's answers are as wished; values that may be taken."""
        own = None if self.own is None else self.own[index]
        return self.outcome.margins(self.decode(values, index), own)

    def holds(self, values, index):
        """Whether the model answers as wished when asked about the rows themselves."""
        own = None if self.own is None else self.own[index]
        return self.outcome.holds(self.decode(values, index), own)

    def distances(self, values, index):
        """Distances from the rows at `index`."""
        return self.actionability.distances(values, self.values[index])

    def projected(self, values, index):
        """The nearest values that the rows at `index` may take."""
        return self.actionability.projected(values, self.values[index])


class KnownRows:
    """The rows of `fit`, each once, and which of them the model answers as wished.

    Parameters
    ----------
    rows : Rows
        The rows.
    outcome : TargetOutcome
        What the model should answer.
    actionability : Actionability
        Encodes them.
    """

    def __init__(self, rows, outcome, actionability):
        values = actionability.encode(rows)
        # Missing ones are equal.
        comparable = np.nan_to_num(values, nan=np.inf)
        _, first = np.unique(comparable, axis=0, return_index=True)
        self.values, self.rows = values[first], rows.take(first)
        native = self.rows.native
        self._answers = outcome.answers(native)
        self._holds = None if outcome.is_other else outcome.holds(native)

    def wished(self, problem, index):
        """Which are as wished for the rows of a task at `index`: (n, n_known)."""
        if self._holds is None:
            return self._answers != problem.own[index][:, None]
        return np.tile(self._holds, (len(index), 1))
