"""Where the conditions of trees begin and cease to hold, as something moves."""

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

# Words of the conditions that are worked on at once.
_WORDS_AT_ONCE = 2**18


@dataclass(frozen=True, eq=False)
class MovedFeatures:
    """Features of the trees that move together, and the points to which they move.

    Parameters
    ----------
    features : ndarray of shape (m,), intp
        The features; none where the trees do not look at what moves.
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
        """Rows of the grid, and words that the bits of each take."""
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
    """Where along its player's points each condition begins and ceases to hold.

    A condition is 0 or 1 at each point, and its steps are the differences from each
    point to the next, 0 before the first one; of points on a grid with two axes the
    second differences. Summing them up along the axes gives the condition again. The
    points of all parts are numbered one after another.

    Parameters
    ----------
    starts : ndarray of shape (n_nodes + 1,), intp
        Where each condition's steps start.
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
        grids, lines = {}, []
        for player, part in enumerate(parts):
            if _is_line(part, ensemble):
                lines.append(player)
            elif part.n_points and len(part.features):
                grids.setdefault(part.words, []).append(player)
        found = [(np.empty(0, dtype=np.intp),) * 3]
        found += _of_lines(ensemble, paths, parts, lines)
        for words, players in grids.items():
            found += _of_grids(ensemble, paths, parts, players, words)
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


def _is_line(part, ensemble):
    """Whether a part is one number, at increasing points of which none is missing."""
    if len(part.features) != 1 or len(part.shape) != 1 or not part.n_points:
        return False
    codes, kinds = part.codes[:, 0], ensemble.split_codes
    (feature,) = part.features
    if kinds.categorical[feature] or codes[-1] >= kinds.n_codes[feature] - 1:
        return False
    return bool((np.diff(codes) > 0).all())


def _of_lines(ensemble, paths, parts, players):
    """Nodes, points and signs of the steps of conditions that are intervals."""
    if not players:
        return
    low, high = paths.code_intervals(ensemble)
    first = np.cumsum([0, *(part.n_points for part in parts)])
    for player in players:
        nodes = np.flatnonzero(paths.player == player)
        codes = parts[player].codes[:, 0]
        begin = np.searchsorted(codes, low[nodes], side="left")
        end = np.searchsorted(codes, high[nodes], side="right")
        holds = begin < end
        ceases = holds & (end < len(codes))
        for point, at, sign in ((begin, holds, 1), (end, ceases, -1)):
            yield nodes[at], first[player] + point[at], np.full(at.sum(), sign)


def _of_grids(ensemble, paths, parts, players, words):
    """Nodes, points and signs of the steps of the conditions on some parts.

    All of the parts are moved at once, in rows that stand for the points of each.
    """
    height, n_words = words
    bits = _point_bits(ensemble, [parts[player] for player in players], words)
    first = np.cumsum([0, *(part.n_points for part in parts)])
    width = np.array([part.shape[-1] for part in parts])
    valid = np.zeros((len(parts) + 1, n_words), dtype=WORD)
    for player in players:
        valid[player, : -(-width[player] // 64)] = first_bits(width[player])
    mine = np.isin(paths.player, players)
    if np.count_nonzero(mine) * bits.n_words <= _WORDS_AT_ONCE:
        pieces = [np.flatnonzero(mine)]
    else:
        pieces = blocks_of_trees(ensemble, _WORDS_AT_ONCE // bits.n_words)
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
    """The points as rows; those of each row of a grid start a word of their own."""
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
