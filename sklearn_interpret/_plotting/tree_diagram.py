"""The tests of a tree above its leaves.

A tree is a dict: arrays ``left`` and ``right`` of the child nodes, of rows that pass a
test and of others (-1 for leaves), and a list ``tests`` of the condition at each node.
:func:`sklearn.tree.plot_tree` draws fitted trees alone, in the columns that they see.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.surrogates.tree_rules import leaf_order, parents_first
from sklearn_interpret._plotting.axes import Style, axes_inches
from sklearn_interpret._plotting.colours import paper, shade
from sklearn_interpret._plotting.labels import lines_of, literal, shorten, wrap_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

# Sizes in inches.
LEAF_HEIGHT = 2.3
LEVEL_HEIGHT = 0.85  # of a level of tests
LEAF_WIDTH = 1.2
LEAST_LEAF_WIDTH = 0.62  # narrower leaves do not stand next to each other
SMALL_PER_INCH = 13  # letters of 8.3 points per inch
# Least and largest number of letters in a line of a test.
LEAST_LETTERS = 7
MOST_LETTERS = 28
# Shares of a level: from its upper end to its test, and from there to the answers.
TEST_OFFSET = 0.42
ANSWER_OFFSET = 0.43


class NodePositions(NamedTuple):
    """Where the nodes of a tree stand."""

    across: NDArray[np.float64]  # (n_nodes,): leaves at 0, 1, ..., tests between
    depths: NDArray[np.intp]  # (n_nodes,): 0 for the root
    tests: list[int]  # nodes that are no leaves, parents first


def _node_positions(tree: dict[str, Any]) -> NodePositions:
    """Positions of nodes, midway between their children, and their depths."""
    left, right = np.asarray(tree["left"]), np.asarray(tree["right"])
    across, depths = np.zeros(len(left)), np.zeros(len(left), dtype=np.intp)
    leaves = leaf_order(tree)
    across[leaves] = np.arange(len(leaves))
    is_leaf = left < 0
    tests = [node for node in parents_first(tree) if not is_leaf[node]]
    for node in tests:
        depths[[left[node], right[node]]] = depths[node] + 1
    for node in reversed(tests):
        across[node] = (across[left[node]] + across[right[node]]) / 2
    return NodePositions(across, depths, tests)


def tree_size(trees: list[dict[str, Any]]) -> tuple[float, float]:
    """Width and height in inches of a panel for each tree."""
    n_leaves = max(len(leaf_order(tree)) for tree in trees)
    depth = max(int(_node_positions(tree).depths.max()) for tree in trees)
    width = float(np.clip(1.0 + LEAF_WIDTH * n_leaves, 5.6, 14.0))
    return width, 1.4 + LEAF_HEIGHT + LEVEL_HEIGHT * depth


def tree_fits(ax: Axes, tree: dict[str, Any]) -> bool:
    """Whether the leaves of a tree have room next to each other."""
    return axes_inches(ax)[0] / len(leaf_order(tree)) >= LEAST_LEAF_WIDTH


def draw_tests(
    ax: Axes,
    tree: dict[str, Any],
    limits: tuple[float, float],
    leaf_height: float = LEAF_HEIGHT,
) -> tuple[list[Text], float]:
    """Draw the tests of a tree above its leaves, which stand at 0, 1, ...

    The leaves take the heights between the `limits` of the y axis, which grows upwards
    by the room for the tests. `leaf_height` is the height of the leaves in inches.
    Returns the texts, and the share of the height that the leaves have.
    """
    low, high = limits
    positions = _node_positions(tree)
    across, depth = positions.across, int(positions.depths.max())
    leaf_share = leaf_height / (leaf_height + LEVEL_HEIGHT * depth)
    if axes_inches(ax)[1] > 2:  # leaves of low axes have no room anyway
        leaf_share = max(leaf_share, 0.3)
    top = low + (high - low) / leaf_share
    ax.set(xlim=(-0.5, across.max() + 0.5), ylim=(low, top))
    level_height = (top - high) / max(depth, 1)
    heights = np.full(len(across), high, dtype=np.float64)  # of the leaves
    test_depths = positions.depths[positions.tests]
    heights[positions.tests] = top - (test_depths + TEST_OFFSET) * level_height
    texts = []
    for node in positions.tests:
        for child, answer in ((tree["left"][node], "yes"), (tree["right"][node], "no")):
            x = [across[node], across[child], across[child]]
            y = [heights[node], heights[node], heights[child]]
            ax.plot(x, y, color=shade(ax, 0.55), linewidth=1, zorder=1)
            point = across[child], heights[node] - ANSWER_OFFSET * level_height
            box = {"facecolor": paper(ax), "linewidth": 0, "pad": 0.8}
            texts.append(_write(ax, point, answer, box, 0.75, zorder=1.5))
    for node in positions.tests:
        text = _test_text(tree["tests"][node], _room_for_test(ax, node, positions))
        box = {"boxstyle": "round,pad=0.25", "facecolor": paper(ax)}
        box |= {"edgecolor": shade(ax, 0.55), "linewidth": 0.8}
        point = across[node], heights[node]
        texts.append(_write(ax, point, text, box, 1.0, zorder=2, linespacing=1.05))
    return texts, leaf_share


def _write(
    ax: Axes,
    point: tuple[float, float],
    text: str,
    box: Style,
    strength: float,
    **style_kwargs: Any,
) -> Text:
    """Write small letters in a box around a point."""
    style_kwargs |= {"ha": "center", "va": "center", "fontsize": "small"}
    return ax.text(*point, text, bbox=box, color=shade(ax, strength), **style_kwargs)


def _room_for_test(ax: Axes, node: int, positions: NodePositions) -> float:
    """Inches between the tests next to a test, or the ends of the axis."""
    across, depths, tests = positions
    neighbours = across[[test for test in tests if depths[test] == depths[node]]]
    distances = np.abs(neighbours - across[node])
    ends = 2 * (across[node] + 0.5), 2 * (across.max() + 0.5 - across[node])
    nearest = min(*distances[distances > 0], *ends)
    return nearest * axes_inches(ax)[0] / (across.max() + 1)


def _test_text(test: str, room: float) -> str:
    """A test over the lines for which there is room, in inches."""
    letters = int(np.clip((room - 0.15) * SMALL_PER_INCH, LEAST_LETTERS, MOST_LETTERS))
    if len(test) <= letters:
        return literal(test)
    if " in {" in test:
        return literal("\n".join(lines_of([test], letters, 3)))
    # The bound begins with the last sign; a test without one is a name.
    name, bound = re.findall(r"^(.*?)((?: [≤=] [^≤=]*)?)$", test)[0]
    lines = [wrap_name(name, letters), shorten(bound, max(letters, 12))]
    return literal("\n".join(lines).rstrip())
