"""Points at which the conditions of trees begin and cease to hold, as features move."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._core.trees.structure.bits import (
    WORD,
    Conditions,
    RowBits,
    blocks_of_trees,
    first_bits,
    set_bits,
)

# Words of bit sets that are evaluated together, to bound memory.
_MOST_WORDS = 2**18


@dataclass(frozen=True, eq=False)
class MovedFeatures:
    """Features of the trees that move together, and the points to which they move.

    Parameters
    ----------
    features : ndarray of shape (m,), intp
        The features; none where the trees do not split on the moved columns.
    codes : ndarray of shape (n_points, m), int
        Their codes at each point, the last axis of the grid fastest.
    shape : tuple of int
        Number of points along each axis of their grid, one or two.
    """

    features: np.ndarray
    codes: np.ndarray
    shape: tuple

    @property
    def n_points(self):
        """Number of points."""
        return len(self.codes)

    @property
    def words(self):
        """Height of the grid, and number of words for the bits of one of its rows."""
        height, width = (1, *self.shape)[-2:]
        return height, -(-width // 64)

    def sum_up(self, changes, axis):
        """Cumulate changes in place over the grid whose points lie along an axis."""
        shape = *changes.shape[:axis], *self.shape, *changes.shape[axis + 1 :]
        on_grid = changes.reshape(shape)  # a view
        for along in range(axis, axis + len(self.shape)):
            np.cumsum(on_grid, axis=along, out=on_grid)


@dataclass(frozen=True, eq=False)
class ConditionSteps:
    """Points of a player at which each condition begins and ceases to hold.

    A condition is 0 or 1 at each point, and its steps are the differences from each
    point to the next, 0 before the first one; of points on a grid with two axes the
    second differences. Summing them up along the axes gives the condition again. The
    points of all parts are numbered one after another.

    Parameters
    ----------
    starts : ndarray of shape (n_nodes + 1,), intp
        Position of each condition's first step.
    point : ndarray of shape (n_steps,), intp
        The points.
    sign : ndarray of shape (n_steps,), intp
        1 or -1.
    """

    starts: np.ndarray
    point: np.ndarray
    sign: np.ndarray

    @classmethod
    def of_parts(cls, ensemble, paths, parts):
        """The steps of conditions on all parts, the first players of the paths."""
        by_size = {}
        for player, part in enumerate(parts):
            if part.n_points and len(part.features):
                by_size.setdefault(part.words, []).append(player)
        found = [(np.empty(0, dtype=np.intp),) * 3]
        for words, players in by_size.items():
            found += _steps_of_parts(ensemble, paths, parts, players, words)
        node, point, sign = map(np.concatenate, zip(*found, strict=True))
        order = np.argsort(node, kind="stable")
        starts = np.searchsorted(node[order], np.arange(ensemble.n_nodes + 1))
        return cls(starts, point[order], sign[order])

    def of_conditions(self, nodes):
        """All steps of conditions: position in `nodes`, point, and sign, (n,) each."""
        first = self.starts[nodes]
        counts = self.starts[nodes + 1] - first
        which = np.repeat(np.arange(len(nodes)), counts)
        before = np.cumsum(counts) - counts
        steps = np.arange(len(which)) + np.repeat(first - before, counts)
        return which, self.point[steps], self.sign[steps]


def _steps_of_parts(ensemble, paths, parts, players, words):
    """Nodes, points and signs of the steps of conditions on parts of one size.

    The bits of one block of rows stand for the points of all of these parts.
    """
    height, n_words = words
    bits = _point_bits(ensemble, [parts[player] for player in players], words)
    first = np.cumsum([0, *(part.n_points for part in parts)])
    width = np.array([part.shape[-1] for part in parts])
    valid = np.zeros((len(parts) + 1, n_words), dtype=WORD)
    for player in players:
        valid[player, : -(-width[player] // 64)] = first_bits(width[player])
    mine = np.isin(paths.player, players)
    if np.count_nonzero(mine) * bits.n_words <= _MOST_WORDS:
        pieces = [np.flatnonzero(mine)]
    else:
        pieces = blocks_of_trees(ensemble, _MOST_WORDS // bits.n_words)
    for nodes in pieces:
        nodes = nodes[mine[nodes]]
        conditions = Conditions.of_nodes(ensemble, paths, nodes)
        nodes = conditions.nodes
        player = paths.player[nodes]
        sets = conditions.met(bits).reshape(len(nodes), height, n_words)
        for cells, sign in _changes(sets, valid[player][:, None]):
            which, bit = set_bits(cells.reshape(len(nodes), height * n_words))
            row, column = np.divmod(bit, n_words * 64)
            point = first[player[which]] + row * width[player[which]] + column
            yield nodes[which], point, np.full(len(point), sign)


def _point_bits(ensemble, parts, words):
    """The points as rows; each row of a grid starts with a new word."""
    height, n_words = words
    codes = []
    for part in parts:
        width = part.shape[-1]
        place = np.minimum(np.arange(n_words * 64), width - 1)
        of_part = part.codes.reshape(height, width, len(part.features))[:, place]
        codes.append(of_part.reshape(height * n_words * 64, len(part.features)))
    features = np.concatenate([part.features for part in parts])
    return RowBits(ensemble, np.hstack(codes), features)


def _changes(sets, valid):
    """Bit sets (m, height, n_words) of unit steps over both axes, with their signs."""
    sets = sets & valid
    shifted = sets << WORD.type(1)
    shifted[..., 1:] |= sets[..., :-1] >> WORD.type(63)
    for cells, sign in ((sets & ~shifted, 1), (shifted & ~sets & valid, -1)):
        above = np.zeros_like(cells)
        above[:, 1:] = cells[:, :-1]
        yield cells & ~above, sign
        if cells.shape[1] > 1:
            yield above & ~cells, -sign
