"""Display of regression diagnostics: residuals over leverages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.number_format import number_text
from sklearn_interpret._plotting.axes import named_legend
from sklearn_interpret._plotting.colours import PALETTE, shade, stand_out
from sklearn_interpret._plotting.curves import draw_thin_lines
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.labels import shorten_all, write_near
from sklearn_interpret._plotting.points import draw_points, point_area
from sklearn_interpret.influence._regression_influence import RegressionInfluence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.sources import Data

_CONTOUR_POINTS = 400
_NAME_LENGTH = 18  # most characters of a row's name
# Height of a line of text and width of a character, in font sizes.
_LINE_HEIGHT = 1.15
_CHARACTER_WIDTH = 0.6
# Share of the width of the axes beyond which a name has no room to the right.
_FAR_RIGHT = 0.75


class _NameBox(NamedTuple):
    """The room that a name takes, in points."""

    left: float
    right: float
    height: float


@dataclass(eq=False, repr=False)
class RegressionInfluenceDisplay(Display):
    """Residuals over leverages, with contours of Cook's distance.

    A row changes the fit much if it is far from the fit and far from the other rows:
    beyond the contours. The rows of the largest Cook's distances are named. Build it
    with `from_estimator`, or from arrays of your own.

    Parameters
    ----------
    leverages : array-like of shape (n,)
        Leverages.
    residuals : array-like of shape (n,)
        Externally studentized residuals; rows without one (NaN, of leverage one) are
        not drawn.
    cooks_distances : array-like of shape (n,)
        Cook's distances.
    effective_dof : float
        Number of parameters, or the sum of the leverages.
    residual_dof : float, default=None
        Residual degrees of freedom; None where the dispersion is known.
    row_names : sequence of length n, default=None
        Names of the rows; None takes positions.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    points_ : PathCollection
        One point for each row.
    named_points_ : PathCollection
        The points of the named rows.
    contours_ : list of list of Line2D
        For each level the contour above zero, and that below.
    texts_ : list of Annotation
        Names of rows, that of the largest distance first.
    legend_ : Legend or None
        Name of the contours, if any pass through the axes.

    See Also
    --------
    sklearn_interpret.influence.RegressionInfluence : The diagnostics.

    Notes
    -----
    A Cook's distance D has, at the leverage h, the standardized residual
    :math:`r = \\pm \\sqrt{D\\, k\\, (1 - h) / h}`, where k is `effective_dof`, and the
    studentized residual :math:`r \\sqrt{(m - 1) / (m - r^2)}`, where m is
    `residual_dof`. That is exact for least squares with weights of one; elsewhere the
    contours are near those of the rows' own distances.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.influence import RegressionInfluenceDisplay
    >>> X, y = [[1], [2], [3], [4], [10]], [1.1, 1.9, 3.2, 3.9, 3.0]
    >>> model = LinearRegression().fit(X, y)
    >>> display = RegressionInfluenceDisplay.from_estimator(model, X, y, max_names=1)
    >>> display.texts_[0].get_text()
    '4'
    """

    _kinds = (RegressionInfluence,)
    _without = frozenset({"target_name", "unit"})

    leverages: ArrayLike
    residuals: ArrayLike
    cooks_distances: ArrayLike
    _: KW_ONLY
    effective_dof: float
    residual_dof: float | None = None
    row_names: Sequence[Any] | None = None

    @classmethod
    def _from_inspector(cls, inspector: RegressionInfluence, data: Data) -> Self:
        dispersion_is_known = inspector._dispersion_is_known
        return cls(
            inspector.leverages_,
            inspector.residuals_studentized_,
            inspector.cooks_distances_,
            effective_dof=inspector.effective_dof_,
            residual_dof=None if dispersion_is_known else inspector.residual_dof_,
            row_names=inspector._row_names,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        levels: Sequence[float] = (0.5, 1.0),
        max_names: int = 5,
        point_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the points, the contours and the names.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        levels : sequence of float, default=(0.5, 1.0)
            Cook's distances to draw contours of.
        max_names : int, default=5
            How many rows to name, those of the largest distances.
        point_kw : dict, default=None
            Style of the points.
        line_kw : dict, default=None
            Style of the contours.

        Returns
        -------
        self : RegressionInfluenceDisplay
            The display.

        Raises
        ------
        ValueError
            Arrays of different lengths; no row with a residual; a level that is not
            positive, or a negative number of names.
        """
        columns = self._check_columns()
        distances = np.asarray(levels, dtype=np.float64)
        if not (distances > 0).all():
            raise ValueError(f"levels={distances.tolist()} must be positive.")
        if max_names < 0:
            raise ValueError(f"max_names={max_names!r} must not be negative.")
        leverages, residuals = columns["leverage"], columns["residual_studentized"]
        points = np.stack([leverages, residuals])
        is_finite = np.isfinite(residuals)
        if not is_finite.any():
            raise ValueError("residuals holds no finite number: nothing can be drawn.")
        ax = self._take_axes(ax)
        order = np.argsort(-np.where(is_finite, columns["cooks_distance"], -np.inf))
        named_rows = order[: min(max_names, is_finite.sum())]
        unnamed_rows = np.setdiff1d(np.flatnonzero(is_finite), named_rows)
        point_style: Style = {"alpha": 0.8, "linewidths": 0, "zorder": 2.5}
        point_style |= {"s": point_area(int(is_finite.sum())), "style": point_kw}
        self.points_, self.named_points_ = (
            draw_points(
                ax, *points[:, rows], color=stand_out(colour, ax), **point_style
            )
            for rows, colour in ((unnamed_rows, PALETTE[0]), (named_rows, PALETTE[1]))
        )
        _set_limits(ax, leverages[is_finite], residuals[is_finite])
        ax.axhline(0, color=shade(ax, 0.5), linewidth=0.8, zorder=1.5)
        self._draw_contours(ax, distances, line_kw)
        names = shorten_all([columns["row"][row] for row in named_rows], _NAME_LENGTH)
        self.texts_ = _name_points(
            ax, leverages[named_rows], residuals[named_rows], names
        )
        label = "Leverage"
        if self.texts_:
            label += "\n(names: largest Cook's distances)"
        if not is_finite.all():
            label += f"\n(rows without a residual, not drawn: {(~is_finite).sum()})"
        ax.set(xlabel=label, ylabel="Studentized residual")
        return self

    def _check_columns(self) -> dict[str, Any]:
        """The display's arrays by column name, after a check of their shapes."""
        columns: dict[str, Any] = {
            "leverage": np.asarray(self.leverages, dtype=np.float64),
            "residual_studentized": np.asarray(self.residuals, dtype=np.float64),
            "cooks_distance": np.asarray(self.cooks_distances, dtype=np.float64),
        }
        n_rows = len(columns["leverage"])
        names = range(n_rows) if self.row_names is None else self.row_names
        columns = {"row": list(names), **columns}
        if {np.shape(values)[:2] for values in columns.values()} != {(n_rows,)}:
            shapes = [np.shape(values) for values in columns.values()]
            raise ValueError(
                "row_names, leverages, residuals and cooks_distances have the shapes "
                f"{shapes}; (n,) is needed for each."
            )
        return columns

    def _draw_contours(
        self, ax: Axes, levels: NDArray[np.float64], style: Style | None
    ) -> None:
        """Contours above and below zero, named in the middle of their visible part."""
        (_, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        residuals = np.linspace(0, max(-bottom, top), _CONTOUR_POINTS)
        style = {"linestyle": "--", "alpha": 1, **(style or {})}
        self.contours_, first_line = [], []
        for level in levels:
            x, curves = self._leverages_at(level, residuals), [residuals, -residuals]
            lines = draw_thin_lines(ax, x, curves, shade(ax, 0.65), style)
            self.contours_.append(lines)
            for y in curves:
                visible = np.flatnonzero((x < right) & (bottom < y) & (y < top))
                if len(visible):
                    first_line, middle = lines[:1], visible[len(visible) // 2]
                    _name_contour(ax, x[middle], y[middle], number_text(level))
        ax.set(xlim=(0, right), ylim=(bottom, top))
        self.legend_ = None
        if first_line:
            self.legend_ = named_legend(
                ax, first_line, ["Cook's distance"], fontsize="small", framealpha=0.85
            )

    def _leverages_at(
        self, distance: float, residuals: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Leverages at which studentized residuals have a Cook's distance."""
        # Cook's distance is r² h / (p (1 - h)), of the standardized residual r, the
        # leverage h and the effective degrees of freedom p.
        squares, dof = np.square(residuals), self.residual_dof
        if dof is not None:  # from studentized to standardized residuals
            squares = squares * dof / (dof - 1 + squares)
        scaled_distance = distance * self.effective_dof
        return scaled_distance / (scaled_distance + squares)

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A line for each row, that of the largest Cook's distance first: columns
            "row", "leverage", "residual_studentized" and "cooks_distance".

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        return self._frame(self._check_columns()).sort_values(
            "cooks_distance", ascending=False, kind="stable", ignore_index=True
        )


def _set_limits(
    ax: Axes, leverages: NDArray[np.float64], residuals: NDArray[np.float64]
) -> None:
    """Set limits with room for all points and their names."""
    low, high = min(residuals.min(), 0.0), max(residuals.max(), 0.0)
    margin = 0.1 * (high - low) or 1.0
    ax.set(xlim=(0, 1.08 * leverages.max() or 1.0), ylim=(low - margin, high + margin))


def _name_contour(ax: Axes, x: float, y: float, text: str) -> None:
    """Write the level of a contour on it."""
    alignment: dict[str, Any] = {"ha": "center", "va": "center"}
    if x > 0.9 * ax.get_xlim()[1]:  # in a corner
        alignment = {"ha": "right", "va": "top" if y > 0 else "bottom"}
    write_near(ax, text, (x, y), over=1, fontsize="x-small", zorder=2.3, **alignment)


def _name_points(
    ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64], names: list[str]
) -> list[Any]:
    """Write names next to points, to the left at the far right, without overlaps."""
    to_left = x > _FAR_RIGHT * ax.get_xlim()[1]
    points = ax.transData.transform(np.column_stack([x, y]))
    points *= 72 / ax.figure.figure.dpi  # from pixels
    texts, boxes = [], []
    text_style: Style = {"va": "center", "zorder": 3.5, "annotation_clip": False}
    for i, name in enumerate(names):
        alignment, offset = ("right", -5) if to_left[i] else ("left", 5)
        text = write_near(
            ax, name, (x[i], y[i]), (offset, 0), ha=alignment, **text_style
        )
        font_size, text_start = float(text.get_fontsize()), points[i, 0] + offset
        text_end = text_start + np.sign(offset) * _CHARACTER_WIDTH * font_size * len(
            name
        )
        boxes.append(
            _NameBox(
                min(text_start, text_end),
                max(text_start, text_end),
                _LINE_HEIGHT * font_size,
            )
        )
        texts.append(text)
    heights = points[:, 1].copy()
    order = np.argsort(heights)
    for rank, i in enumerate(order):
        for j in order[:rank]:
            if boxes[i].left < boxes[j].right and boxes[j].left < boxes[i].right:
                heights[i] = max(heights[i], heights[j] + boxes[i].height)
        texts[i].xyann = texts[i].xyann[0], heights[i] - points[i, 1]
    return texts
