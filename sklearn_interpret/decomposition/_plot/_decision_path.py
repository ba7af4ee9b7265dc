"""Display of the path of one row through one tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.number_format import number_beside, number_text
from sklearn_interpret._plotting.axes import add_legend
from sklearn_interpret._plotting.colours import PALETTE, shade
from sklearn_interpret._plotting.curves import draw_line
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.labels import (
    literal,
    plain_number_ticks,
    row_text,
    write_near,
)
from sklearn_interpret._plotting.ranked_bars import (
    draw_stacked_bars,
    name_rows,
    row_height,
)
from sklearn_interpret._plotting.sources import check_numbers
from sklearn_interpret.decomposition._tree_path import TreePathContributions
from sklearn_interpret.explanations._selection import names_of_rows, row_position

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

    from sklearn_interpret._plotting.axes import Canvas, Style
    from sklearn_interpret._plotting.sources import Data

_MEAN_COLOUR = PALETTE[0]


@dataclass(eq=False, repr=False)
class DecisionPathDisplay(Display):
    """The path of one row through one tree, from the root on top to the leaf.

    Each line is a node: the condition that the row meets to get there, the tree's
    response to the training rows in it, and their number. The response of a classifier
    is the shares of the classes; otherwise it is the mean, with one standard deviation
    of the leaves below to each side.

    Build it with `from_estimator`, which takes positions of the row and of the tree.

    Parameters
    ----------
    conditions : sequence of str
        Condition that leads to each node; what the root has is up to you.
    values : array-like of shape (n_nodes,) or (n_nodes, n_classes)
        Means, or shares of classes.
    n_rows : array-like of shape (n_nodes,)
        Training rows in each node, or what stands for them.
    deviations : array-like of shape (n_nodes,), default=None
        Standard deviations around the means.
    output_names : sequence, default=None
        Names of the classes; None makes up positions.
    response_name : str, default="response"
        Name of the response, whose means these are.
    count_name : str, default="training rows"
        Name of the counts in `n_rows`.
    tree_name : str, default=""
        Which tree of how many it is; "" for an only one.
    total : float, default=None
        Sum of all trees for the row, with the base value; None if unknown.
    row_name : object, default=None
        Name of the row; None leaves it out.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    bars_ : list of BarContainer
        Shares of the classes, class by class; empty for means.
    lines_ : list of Line2D
        Means from node to node; empty for shares.
    texts_ : list of Text
        Numbers to the right of the nodes.
    legend_ : matplotlib Legend or None
        Names of the classes.

    See Also
    --------
    TreePathContributions : What the steps of all trees add up to, for each feature.

    Notes
    -----
    Means, deviations and shares are those of the leaves below the node, weighed by
    their training rows; trees of forests have their own, whose mean is the forest's,
    and trees of boosting what they add to the margin. Thresholds of steps behind others
    in a pipeline are those of the transformed columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_interpret.decomposition import DecisionPathDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> display = DecisionPathDisplay.from_estimator(model, X, row=60)
    >>> display.conditions
    ['all rows', 'petal width (cm) > 0.8', 'petal width (cm) ≤ 1.75']
    """

    conditions: Sequence[str]
    values: ArrayLike
    n_rows: ArrayLike
    _: KW_ONLY
    deviations: ArrayLike | None = None
    output_names: Sequence[Any] | None = None
    response_name: str = "response"
    count_name: str = "training rows"
    tree_name: str = ""
    total: float | None = None
    row_name: Any = None

    _kinds = (TreePathContributions,)
    _choices = frozenset({"row", "tree"})
    _shows_rows = True

    @classmethod
    def _from_inspector(
        cls,
        inspector: TreePathContributions,
        data: Data,
        *,
        row: int = 0,
        tree: int = 0,
    ) -> Self:
        """The display of one row's path.

        row : int, default=0
            Position in `X` of the row whose path is drawn.
        tree : int, default=0
            Position of the tree in the model. Boosting of several classes has a tree
            for each class in each iteration.
        """
        rows = as_rows(data.X)
        position = row_position(row, rows.n_rows, "row")
        sample = rows.take([position])
        path = inspector.decision_path(sample.native, tree=tree)
        are_shares, model = path.are_shares, inspector.estimator_
        tree_name, total = "", None
        if path.n_trees > 1:
            tree_name = f"tree {tree + 1} of {path.n_trees}"
            if not are_shares:
                explanation = inspector.explain(sample.native)
                totals = np.ravel(explanation.predictions_or_sums)
                total = float(totals[path.output])
        return cls(
            path.conditions,
            path.means if are_shares else path.means[:, 0],
            path.cover,
            deviations=None if are_shares else path.deviations[:, 0],
            output_names=list(model.classes_) if are_shares else None,
            response_name="share" if are_shares else inspector._response_name,
            count_name=path.cover_name,
            tree_name=tree_name,
            total=total,
            row_name=names_of_rows(data.X, rows.n_rows)[position],
        )

    def _arrays(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]:
        """Checked values (n_nodes[, n_outputs]), numbers of rows, and deviations."""
        n_nodes = len(self.conditions)
        shapes, owner = [(n_nodes,), (n_nodes, None)], f"{n_nodes} conditions"
        values = check_numbers(self.values, "values", shapes, owner)
        counts = check_numbers(self.n_rows, "n_rows", shapes[:1], owner)
        deviations = self.deviations
        if deviations is not None:
            deviations = check_numbers(deviations, "deviations", shapes[:1], owner)
        return values, counts, deviations

    def plot(self, ax: Any = None, *, node_kw: dict[str, Any] | None = None) -> Self:
        """Draw a line for each node.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        node_kw : dict, default=None
            Style of the bars of shares, or of the line of means.

        Returns
        -------
        self : DecisionPathDisplay
            The display.
        """
        values, counts, deviations = self._arrays()
        canvas = self._take_grid(ax, 1, 1, (7.5, row_height(len(counts), 0.42)))
        (ax,) = canvas.main
        self.ax_ = ax
        name_rows(ax, self.conditions)
        heights = np.arange(len(counts))[::-1]
        self.bars_: list[Any] = []
        self.lines_: list[Any] = []
        self.legend_: Legend | None = None
        if values.ndim == 2:
            self._draw_shares(canvas, heights, values, node_kw)
        else:
            self._draw_means(ax, heights, values, deviations, node_kw)
        self.texts_ = self._write_counts(ax, heights, counts)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.set_xlabel(literal(self._label(values)))
        return self

    def _class_names(self, shares: NDArray[np.float64]) -> list[str]:
        return list(map(str, self._named_outputs(shares.shape[1])))

    def _label(self, values: NDArray[np.float64]) -> str:
        """Label of the x axis."""
        suffix = f" in {self.tree_name}" if self.tree_name else ""
        if self.row_name is not None:
            suffix += f", {row_text(self.row_name)}"
        if values.ndim == 2:
            return f"Share of the classes{suffix}"
        label = f"{self._response_label(None)}{suffix}, mean of the node"
        if self.deviations is not None:
            label += " ± standard deviation of its leaves"
        if self.total is not None:
            label += f"\nAll trees together: {number_text(self.total, 4)}"
        return label

    def _draw_shares(
        self,
        canvas: Canvas,
        heights: NDArray[Any],
        shares: NDArray[np.float64],
        style: Style | None,
    ) -> None:
        """Shares of the classes, one behind the other."""
        self.bars_ = draw_stacked_bars(self.ax_, heights, shares, style, height=0.62)
        self.ax_.set_xlim(0, 1)
        handles: list[Artist] = [bars.patches[0] for bars in self.bars_]
        self.legend_ = add_legend(canvas, handles, self._class_names(shares))

    def _draw_means(
        self,
        ax: Axes,
        heights: NDArray[Any],
        means: NDArray[np.float64],
        deviations: NDArray[np.float64] | None,
        style: Style | None,
    ) -> None:
        """Means from node to node, and deviations around them."""
        ax.axvline(means[0], color=shade(ax, 0.4), linewidth=0.8, linestyle=":")
        if deviations is not None:
            low, high = means - deviations, means + deviations
            line_style: Style = {"color": shade(ax, 0.3), "linewidth": 5}
            ax.hlines(heights, low, high, zorder=1.5, **line_style)
        self.lines_ = [draw_line(ax, means, heights, _MEAN_COLOUR, style)]
        # Numbers stand away from the line that comes from the node above.
        alignments = {-1: "right", 0: "center", 1: "left"}
        signs = np.sign(np.diff(means, prepend=means[0]))
        for mean, height, sign in zip(means, heights, signs, strict=True):
            text = number_beside(mean, np.ptp(means))
            text_style: Style = {"ha": alignments[sign]}
            write_near(ax, text, (mean, height), (sign, 6), over=0.7, **text_style)
        ax.margins(x=0.15)  # for the numbers at the points
        plain_number_ticks(ax)

    def _write_counts(
        self, ax: Axes, heights: NDArray[Any], counts: NDArray[np.float64]
    ) -> list[Any]:
        """Numbers of training rows to the right of the nodes, with a heading."""
        lines = [(len(counts) - 0.45, self.count_name)]
        lines += zip(heights, (number_text(count, 4) for count in counts), strict=True)
        text_style: Style = {"va": "center", "xycoords": ax.get_yaxis_transform()}
        return [
            write_near(ax, text, (1.02, height), **text_style) for height, text in lines
        ]

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row for each node: its condition and number of rows, and the mean and
            standard deviation, or a column for each class.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        values, counts, deviations = self._arrays()
        table = {"condition": list(self.conditions), "n_rows": counts}
        if values.ndim == 2:
            table |= dict(zip(self._class_names(values), values.T, strict=True))
        else:
            table["mean"] = values
            if deviations is not None:
                table["std"] = deviations
        return self._frame(table)
