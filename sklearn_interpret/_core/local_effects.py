"""Local effects: differences of the response over steps, summed up over rows."""

from functools import cached_property

import numpy as np

from sklearn_interpret._core.effects import (
    accumulated_standard_errors,
    first_order_effect,
    neighbour_covariances,
    second_order_effect,
)
from sklearn_interpret._core.weighted import Moments


class Steps:
    """Differences over steps within one block of rows.

    Parameters
    ----------
    moments : Moments of shape (n_groups, k)
        Of the differences, by step (pairs of steps flattened).
    shared : Moments of shape (n_levels, 3 k), or None
        Of the differences of rows that take part in two steps, as
        `neighbour_covariances` wants it; None for intervals and pairs.
    rows : list of tuples (index, group, difference) of arrays
        The differences themselves, for the bootstrap; empty without it.
    """

    def __init__(self, moments, shared, rows):
        self.moments = moments
        self.shared = shared
        self.rows = rows

    def merge(self, other):
        """The steps of two blocks of rows together."""
        shared = self.shared
        if shared is not None:
            shared = shared.merge(other.shared)
        moments = self.moments.merge(other.moments)
        return Steps(moments, shared, self.rows + other.rows)


class StepDifferences:
    """Reduces answers at visited nodes to moments of the differences over steps."""

    def __init__(self, nodes, cells, weights, keep_rows):
        self.nodes = nodes
        self.cells = cells
        self.weights = weights
        self.keep_rows = keep_rows

    def __call__(self, which, index, variants, answers):
        nodes = self.nodes[which]
        # Cells may be held in few bits, too few for what is reckoned with them.
        cells = [codes[index].astype(np.int32) for codes in self.cells[which]]
        shared = None
        if len(nodes) == 1:
            found = _first_differences(nodes[0], cells[0], answers)
            if nodes[0].by_level:
                shared = _shared_rows(nodes[0], cells[0], answers, self.weights[index])
        else:
            found = _second_differences(nodes, cells, answers)
        found = list(found)
        places, groups, differences = (
            found[0]
            if len(found) == 1
            else map(np.concatenate, zip(*found, strict=True))
        )
        n_groups = int(np.prod([axis.n_steps for axis in nodes]))
        rows = index[places]
        moments = Moments.of_groups(differences, groups, n_groups, self.weights[rows])
        kept = [(rows, groups, differences)] if self.keep_rows else []
        return Steps(moments, shared, kept)


class StepsOfRows:
    """The steps that rows take between the nodes next to them.

    Parameters
    ----------
    nodes : tuple of NodeAxis
        One or two axes.
    cells : list of ndarray of shape (n_rows,)
        Cell of each row along each of them.
    inside : ndarray of shape (n_rows,), bool
        Rows that are in some cell of each.
    """

    def __init__(self, nodes, cells, inside):
        self.nodes = nodes
        self.cells = cells
        self.inside = inside

    @cached_property
    def _steps(self):
        """For each kind of step the visit that it goes by, a sign, and its end."""
        kinds = [(0, 1, 0)]
        known = self.inside
        for axis, cells in zip(self.nodes, self.cells, strict=True):
            width = 3 if axis.by_level else 2
            # Of the two visits of a step one stands for it, the middle one of levels
            # and the first one of intervals being zero.
            found = []
            for low, high, steps in axis.differences(cells.astype(np.int32)):
                visit, sign = (low, -1) if axis.by_level and low == 0 else (high, 1)
                ends = np.where(known & (steps >= 0), steps + 1, -1)
                found.append((visit, sign, ends))
            kinds = [
                (
                    width * before + visit,
                    sign_before * sign,
                    np.where(
                        (ends_before >= 0) & (ends >= 0),
                        axis.n_nodes * ends_before + ends,
                        -1,
                    ),
                )
                for before, sign_before, ends_before in kinds
                for visit, sign, ends in found
            ]
        n_nodes = int(np.prod([axis.n_nodes for axis in self.nodes]))
        small = np.min_scalar_type(-max(1, n_nodes))
        return [(visit, sign, ends.astype(small)) for visit, sign, ends in kinds]

    @property
    def ends(self):
        """For each kind of step the node that each row steps to, -1 for none."""
        return [ends for _, _, ends in self._steps]

    def answers(self, index, differences):
        """Answers at the visited nodes that differ over the steps as given.

        Parameters
        ----------
        index : ndarray of shape (n,)
            Rows.
        differences : list of ndarray of shape (n, k)
            For each kind of step.

        Returns
        -------
        index : ndarray of shape (m,)
            Those of the rows that are inside.
        answers : ndarray of shape (m, n_visits, k)
        """
        kept = np.flatnonzero(self.inside[index])
        n_visits = int(np.prod([3 if axis.by_level else 2 for axis in self.nodes]))
        answers = np.zeros((len(kept), n_visits, differences[0].shape[1]))
        for (visit, sign, _), step in zip(self._steps, differences, strict=False):
            answers[:, visit] = sign * step[kept]
        return index[kept], answers


class DifferencesAsAnswers:
    """Reduces differences over steps as if they came from answers of the model.

    Parameters
    ----------
    steps : list of StepsOfRows
        The steps behind each replacement's differences.
    reduce : callable
        As :class:`StepDifferences`.
    """

    def __init__(self, steps, reduce):
        self.steps = steps
        self.reduce = reduce

    def __call__(self, which, index, differences):
        index, answers = self.steps[which].answers(index, differences)
        return self.reduce(which, index, slice(0, answers.shape[1]), answers)


def _first_differences(axis, cells, answers):
    """Rows, steps and differences of the response over them."""
    for low, high, steps in axis.differences(cells):
        differences = answers[:, high] - answers[:, low]
        places = np.arange(len(steps))
        if axis.by_level:
            places = np.flatnonzero(steps >= 0)
            steps, differences = steps[places], differences[places]
        yield places, steps, differences


def _shared_rows(axis, cells, answers, weights):
    """Moments by level of the differences of rows that take part in two steps."""
    places = np.flatnonzero((cells > 0) & (cells < axis.n_steps))
    at = answers[places]
    below, above = at[:, 1] - at[:, 0], at[:, 2] - at[:, 1]
    values = np.hstack([below, above, below + above])
    return Moments.of_groups(values, cells[places], axis.n_nodes, weights[places])


def _second_differences(axes, cells, answers):
    """Rows, pairs of steps and second differences of the response over them."""
    first, second = axes
    width = 3 if second.by_level else 2
    answers = answers.reshape(len(answers), -1, width, answers.shape[2])
    for low_1, high_1, steps_1 in first.differences(cells[0]):
        for low_2, high_2, steps_2 in second.differences(cells[1]):
            places = np.flatnonzero((steps_1 >= 0) & (steps_2 >= 0))
            at = answers[places]
            differences = (at[:, high_1, high_2] - at[:, low_1, high_2]) - (
                at[:, high_1, low_2] - at[:, low_1, low_2]
            )
            groups = steps_1[places] * second.n_steps + steps_2[places]
            yield places, groups, differences


class LocalEffects:
    """Local effects of one entry, and what follows from them.

    Parameters
    ----------
    nodes : tuple of NodeAxis
        One or two axes.
    cell_weights : ndarray of shape (n_cells,) or (n_cells_1, n_cells_2)
        Weight of the rows in each cell.
    steps : Steps or None
        The differences over all rows; None where no row was asked for.
    n_outputs : int
        k.
    """

    def __init__(self, nodes, cell_weights, steps, n_outputs):
        self.nodes = nodes
        self.cell_weights = cell_weights
        self.steps = steps
        self.moments = None if steps is None else steps.moments
        self.n_outputs = n_outputs
        self._shape = tuple(max(axis.n_steps, 0) for axis in nodes)

    def redrawn(self, cell_weights, weights):
        """The same differences under other weights of the rows."""
        if self.moments is None:
            return self
        index, groups, differences = self._rows
        moments = Moments.of_groups(
            differences, groups, int(np.prod(self._shape)), weights[index]
        )
        steps = Steps(moments, None, [])
        return LocalEffects(self.nodes, cell_weights, steps, self.n_outputs)

    @cached_property
    def _rows(self):
        return tuple(map(np.concatenate, zip(*self.steps.rows, strict=True)))

    def _by_step(self, values):
        return values.T.reshape(-1, *self._shape)

    @property
    def step_weights(self):
        """Weight behind each local effect."""
        if self.moments is None:
            return np.zeros(self._shape)
        return self.moments.weight.reshape(self._shape)

    @property
    def local(self):
        """Mean differences, zero where there is no row: (k, n_steps...)."""
        if self.moments is None:
            return np.zeros((self.n_outputs, *self._shape))
        return self._by_step(self.moments.mean)

    @property
    def shown_local(self):
        """Mean differences, with NaN in two-way cells that hold no row."""
        if len(self.nodes) == 1:
            return self.local
        return np.where(self.step_weights > 0, self.local, np.nan)

    @property
    def local_std(self):
        """Standard deviation of the differences over the rows."""
        if self.moments is None:
            return np.zeros((self.n_outputs, *self._shape))
        return self._by_step(np.sqrt(self.moments.variance))

    @property
    def effect_error(self):
        """Standard errors of the first-order effect."""
        (axis,) = self.nodes
        if self.moments is None:
            return np.zeros((self.n_outputs, axis.n_nodes))
        errors = self._by_step(self.moments.standard_error)
        covariances = None
        if self.steps.shared is not None:
            covariances = neighbour_covariances(self.moments, self.steps.shared)
        return accumulated_standard_errors(errors, self.cell_weights, axis, covariances)

    def effect(self, centred):
        """The accumulated effect at the nodes."""
        if self.moments is None:
            shape = tuple(axis.n_nodes for axis in self.nodes)
            return np.zeros((self.n_outputs, *shape))
        if len(self.nodes) == 1:
            return first_order_effect(
                self.local, self.cell_weights, self.nodes[0], centred=centred
            )
        return second_order_effect(
            self.local, self.step_weights, self.cell_weights, self.nodes
        )
