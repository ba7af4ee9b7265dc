"""Local effects: differences of the response over steps, summed up over rows."""

from functools import cached_property

import numpy as np

from sklearn_interpret._core.effects.accumulation import (
    accumulated_standard_errors,
    first_order_effect,
    neighbour_covariances,
    second_order_effect,
)
from sklearn_interpret._core.statistics.weighted import Moments


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
    """Reduces answers at visited nodes to moments of the differences over steps.

    Parameters
    ----------
    nodes : list of tuple of NodeAxis
        One or two axes of each entry.
    weights : ndarray of shape (n_rows,)
        Weights of all rows.
    keep_rows : bool
        Whether to keep the differences themselves.
    """

    def __init__(self, nodes, weights, keep_rows):
        self.nodes = nodes
        self.weights = weights
        self.keep_rows = keep_rows

    def __call__(self, which, index, cells, answers):
        """Steps of some rows.

        Parameters
        ----------
        which : int
            The entry.
        index : ndarray of shape (n,)
            The rows.
        cells : list of ndarray of shape (n,)
            Their cells along each axis, all inside.
        answers : ndarray of shape (n, n_visits, k)
            Their answers.

        Returns
        -------
        Steps
        """
        nodes = self.nodes[which]
        # Cells may be held in few bits, too few for what is reckoned with them.
        cells = [codes.astype(np.int32) for codes in cells]
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


class AnswersAtVisits:
    """Reduces answers of the model to rows whose cells are known.

    Parameters
    ----------
    cells : list of list of ndarray of shape (n_rows,)
        For each entry and axis the cells of all rows.
    reduce : StepDifferences
        What reduces them.
    """

    def __init__(self, cells, reduce):
        self.cells = cells
        self.reduce = reduce

    def __call__(self, which, index, variants, answers):
        cells = [codes[index] for codes in self.cells[which]]
        return self.reduce(which, index, cells, answers)


class DifferencesOverSteps:
    """Reduces differences over steps as if they came from answers of the model.

    Parameters
    ----------
    reduce : StepDifferences
        What reduces answers.
    """

    def __init__(self, reduce):
        self.reduce = reduce

    def __call__(self, which, index, steps, differences):
        kept, answers = steps.answers(differences)
        cells = [codes[kept] for codes in steps.cells]
        return self.reduce(which, index[kept], cells, answers)


class StepsOfRows:
    """The steps that some rows take between the nodes next to them.

    Parameters
    ----------
    nodes : tuple of NodeAxis
        One or two axes.
    cells : list of ndarray of shape (n,)
        Cell of each row along each of them; -1 for rows that are in none.

    Attributes
    ----------
    ends : list of ndarray of shape (n,)
        For each kind of step the node that each row steps to, -1 for none.
    """

    def __init__(self, nodes, cells):
        self.nodes = nodes
        # Cells may be held in few bits, too few for what is reckoned with them.
        self.cells = [codes.astype(np.int32) for codes in cells]
        self._inside = np.all([codes >= 0 for codes in self.cells], axis=0)
        self._visits, self.ends = self._kinds()

    def _kinds(self):
        """For each kind of step the visit that it goes by, with a sign; its ends."""
        kinds = [(0, 1, 0)]
        for axis, cells in zip(self.nodes, self.cells, strict=True):
            width = 3 if axis.by_level else 2
            # Of the two visits of a step one stands for it, the middle one of levels
            # and the first one of intervals being zero.
            found = []
            for low, high, steps in axis.differences(cells):
                visit, sign = (low, -1) if axis.by_level and low == 0 else (high, 1)
                ends = np.where(self._inside & (steps >= 0), steps + 1, -1)
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
        return [kind[:2] for kind in kinds], [ends for _, _, ends in kinds]

    def answers(self, differences):
        """Answers at the visited nodes that differ over the steps as given.

        Parameters
        ----------
        differences : list of ndarray of shape (n, k)
            For each kind of step.

        Returns
        -------
        kept : ndarray of shape (m,)
            Positions of the rows that are inside.
        answers : ndarray of shape (m, n_visits, k)
        """
        kept = np.flatnonzero(self._inside)
        n_visits = int(np.prod([3 if axis.by_level else 2 for axis in self.nodes]))
        answers = np.zeros((len(kept), n_visits, differences[0].shape[1]))
        for (visit, sign), step in zip(self._visits, differences, strict=False):
            answers[:, visit] = sign * step[kept]
        return kept, answers


def cell_weights(nodes, cells, weights):
    """Weight of some rows in each cell of one or two axes.

    Parameters
    ----------
    nodes : tuple of NodeAxis
        The axes.
    cells : list of ndarray of shape (n,)
        Cell of each row along each of them; -1 for rows that are in none.
    weights : ndarray of shape (n,)
        Their weights.

    Returns
    -------
    inside : ndarray of shape (n_cells,) or (n_cells_1, n_cells_2)
        The weights.
    outside : float
        Weight of the rows that are in no cell.
    """
    shape = tuple(max(axis.n_cells, 0) for axis in nodes)
    inside = np.all([codes >= 0 for codes in cells], axis=0)
    outside = 0.0
    if not inside.all():
        outside = weights[~inside].sum()
        cells, weights = [codes[inside] for codes in cells], weights[inside]
    if not len(weights) or 0 in shape:
        return np.zeros(shape), outside
    cells = [codes.astype(np.intp) for codes in cells]
    groups = cells[0] if len(cells) == 1 else np.ravel_multi_index(cells, shape)
    found = np.bincount(groups, weights, int(np.prod(shape)))
    return found.reshape(shape), outside


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
