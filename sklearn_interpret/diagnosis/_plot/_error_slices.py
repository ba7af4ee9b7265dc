"""Displays of slices in which a model's loss differs from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._model.rows.number_format import p_text
from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.colours import colours, ink, paper
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    literal,
    literal_lines,
    shorten,
    tick_positions,
    wrap_name,
)
from sklearn_interpret._plotting.ranked_bars import (
    BAR_HEIGHT,
    P_ROOM,
    draw_bars,
    draw_spreads,
    finish_bars,
    label_ends,
    make_pale,
    name_pitch,
    name_rows,
    pvalue_legend,
    row_height,
)
from sklearn_interpret._plotting.sources import check_numbers
from sklearn_interpret._plotting.surfaces import (
    colour_limits,
    draw_colour_bar,
    draw_empty_cells,
    draw_heat_map,
)
from sklearn_interpret.diagnosis._error_slices import ErrorSlice, ErrorSlices

if TYPE_CHECKING:
    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.sources import Data
    from sklearn_interpret.explanations import Condition

_WIDTH = 7.2  # inches
_LEGEND_HEIGHT = 0.4  # inches
_CELL = 0.5  # inches of a cell of a heat map
_TICK = 0.19  # inches from name to name
_MOST_WIDTH = 5.2  # inches of all cells
_AROUND = 1.8  # inches of labels and colour bar around it
# Attributes of slices in the table of the display.
_COLUMNS = (
    "share",
    "mean_loss",
    "mean_loss_elsewhere",
    "difference",
    "low",
    "high",
    "adjusted_pvalue",
)
_LOSS_NAMES = {
    "squared_error": "squared error",
    "absolute_error": "absolute error",
    "log_loss": "log loss",
    "brier": "Brier score",
    "zero_one": "share of wrong classes",
}


def loss_name(loss: Any) -> str:
    """A loss in words."""
    if isinstance(loss, str):
        return _LOSS_NAMES.get(loss, loss)
    return str(getattr(loss, "__name__", "loss"))


@dataclass(eq=False, repr=False)
class ErrorSlicesDisplay(Display):
    """Slices of large or small loss, as bars with intervals and p-values.

    The length of a bar is the mean loss in the slice less the mean loss elsewhere, over
    the rows that did not take part in the search. Slices whose adjusted p-value is not
    below `alpha` are pale. Use `from_estimator`, or pass slices of your own.

    Parameters
    ----------
    slices : sequence of ErrorSlice
        The slices.
    alpha : float, default=0.05
        Slices with adjusted p-values of at least `alpha` are pale; the intervals have
        the level 1 - `alpha`.
    loss_name : str, default="loss"
        Name of the loss, for the axis.
    pvalue_name : str, default="adjusted p"
        Name of the p-values, for the legend.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    bars_ : BarContainer
        The bars, from the top down.
    intervals_ : LineCollection
        The intervals.
    labels_ : list of Annotation
        The p-values at the bars.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    SliceLossDisplay : The losses around one slice.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.diagnosis import ErrorSlices, ErrorSlicesDisplay
    >>> X = np.random.default_rng(0).uniform(size=(400, 2))
    >>> y = np.where(X[:, 0] > 0.8, 5.0, 1.0) * np.sin(40 * X[:, 1])
    >>> slices = ErrorSlices(LinearRegression(), random_state=0).fit(X, y)
    >>> display = ErrorSlicesDisplay.from_estimator(slices)
    >>> display.to_frame()[["slice", "difference"]].head(1).round(1)
            slice  difference
    0  x0 > 0.798        13.4
    """

    _kinds = (ErrorSlices,)
    _without = frozenset({"target_name", "unit"})

    slices: Sequence[ErrorSlice]
    _: KW_ONLY
    alpha: float = 0.05
    loss_name: str = "loss"
    pvalue_name: str = "adjusted p"

    @classmethod
    def _from_inspector(cls, inspector: ErrorSlices, data: Data) -> Self:
        return cls(
            inspector.slices_,
            alpha=inspector.alpha,
            loss_name=loss_name(inspector.loss_),
            pvalue_name="p" if inspector.correction is None else "adjusted p",
        )

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw a bar for each slice, in the given order.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=20
            Largest number of bars; None shows all.
        bar_kw : dict, default=None
            Style of the bars.

        Returns
        -------
        self : ErrorSlicesDisplay
            The display.

        Raises
        ------
        ValueError
            There are no slices, or a `max_entries` that is not a positive whole number.
        """
        slices = list(self.slices)[:max_entries]
        # A slice without a row in the half that tests it has no difference.
        tested = [entry for entry in slices if np.isfinite(entry.difference)]
        if not tested:
            raise ValueError("There are no slices to draw.")
        names = [f"{entry} ({100 * entry.share:.2g} % of rows)" for entry in tested]
        height = row_height(len(names), name_pitch(names)) + _LEGEND_HEIGHT
        canvas = self._make_canvas(ax, 1, 1, (_WIDTH, height))
        (self.ax_,) = canvas.main
        name_rows(self.ax_, names)
        places = np.arange(len(tested))[::-1]
        lengths, low, high, pvalues = (
            np.array([getattr(entry, name) for entry in tested])
            for name in ("difference", "low", "high", "adjusted_pvalue")
        )
        self.bars_ = draw_bars(
            self.ax_, places, lengths, colours(1)[0], bar_kw, height=BAR_HEIGHT
        )
        make_pale(self.bars_, pvalues >= self.alpha)
        self.intervals_ = draw_spreads(self.ax_, places, low, high)
        reach = np.maximum(np.maximum(lengths, high), 0)
        self.labels_ = label_ends(
            self.ax_, reach, places, lengths, texts=list(map(p_text, pvalues)), gap=8
        )
        label = f"Mean {self.loss_name} in the slice less elsewhere\n"
        label += "(rows that did not take part in the search)"
        ends = np.array([np.zeros(len(lengths)), lengths, low, high])
        finish_bars(self.ax_, ends, literal_lines(label), room=P_ROOM)
        self.legend_ = pvalue_legend(
            canvas,
            self.bars_,
            pvalues < self.alpha,
            self.alpha,
            self.pvalue_name,
            intervals=self.intervals_,
        )
        return self

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A line for each slice, with the columns "slice", "share", "mean_loss",
            "mean_loss_elsewhere", "difference", "low", "high", "adjusted_pvalue".
        """
        columns = {
            name: [getattr(entry, name) for entry in self.slices] for name in _COLUMNS
        }
        return self._frame({"slice": list(map(str, self.slices)), **columns})


@dataclass(eq=False, repr=False)
class SliceLossDisplay(Display):
    """Mean loss by the bins of one or two features, with a slice as a frame.

    The means are over all rows of `fit`, including the half that found the slice. For a
    slice with three conditions, they are over the rows for which the third one holds.

    Parameters
    ----------
    means : array-like of shape (n_bins, n_bins) or (n_bins, 1)
        Mean losses; NaN in bins without rows.
    bins : list of list of str
        Names of the bins of the one or two features.
    feature_names : sequence of str
        Names of the features.
    frame : list of (int, int)
        First and last bin of the slice, by feature.
    loss_name : str, default="loss"
        Name of the loss, for the colour bar.
    title : str, default=None
        The slice in words.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    mesh_ : QuadMesh
        The cells.
    frame_ : Rectangle
        The frame.
    colour_bar_ : Colorbar
        The colour bar.

    See Also
    --------
    ErrorSlicesDisplay : All slices, with intervals.

    Examples
    --------
    >>> from sklearn_interpret.diagnosis import SliceLossDisplay
    >>> bins = [["<= 2", "> 2"], ["no", "yes"]]
    >>> display = SliceLossDisplay(
    ...     [[1.0, 1.2], [0.9, 3.0]], bins=bins, feature_names=["age", "new"],
    ...     frame=[(1, 1), (1, 1)],
    ... ).plot()
    >>> display.frame_.get_xy()
    (0.5, 0.5)
    """

    _kinds = (ErrorSlices,)
    _choices = frozenset({"number"})
    _without = frozenset({"target_name", "unit"})

    means: ArrayLike
    _: KW_ONLY
    bins: Sequence[Sequence[str]]
    feature_names: Sequence[str]
    frame: Sequence[tuple[int, int]]
    loss_name: str = "loss"
    title: str | None = None

    @classmethod
    def _from_inspector(
        cls, inspector: ErrorSlices, data: Data, *, number: int = 0
    ) -> Self:
        """The display of one slice.

        number : int, default=0
            Position of the slice in `slices_`.
        """
        n_slices = len(inspector.slices_)
        if not -n_slices <= number < n_slices:
            raise ValueError(
                f"number={number!r} is out of range: there are {n_slices} slices."
            )
        table = inspector._loss_tables[number]
        return cls(
            table.means,
            bins=[list(map(_bin_text, bins)) for bins in table.bins],
            feature_names=[bins[0].name for bins in table.bins],
            frame=table.bin_ranges,
            loss_name=loss_name(inspector.loss_),
            title=str(inspector.slices_[number]),
        )

    def plot(self, ax: Any = None, *, mesh_kw: dict[str, Any] | None = None) -> Self:
        """Draw the cells, and the frame.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        mesh_kw : dict, default=None
            Style of the cells.

        Returns
        -------
        self : SliceLossDisplay
            The display.

        Raises
        ------
        ValueError
            Arrays that do not fit each other.
        """
        bins = [*self.bins, [""]][:2]
        shape = len(bins[0]), len(bins[1])
        owner = f"bins of {' and '.join(map(str, self.feature_names))}"
        means = check_numbers(self.means, "means", [shape], owner, finite=False)
        cell = min(_CELL, _MOST_WIDTH / max(shape))
        width, height = (max(cell * n, 1.0) + _AROUND for n in shape)
        ax = self._take_axes(ax, (width, height))
        bounds = [np.arange(0.0, n + 1) - 0.5 for n in shape]
        limits = colour_limits(means)
        self.mesh_ = draw_heat_map(ax, bounds[0], bounds[1], means, limits, mesh_kw)
        draw_empty_cells(ax, bounds[0], bounds[1], np.isnan(means))
        texts = [[literal(shorten(name, 14)) for name in names] for names in bins]
        inches = axes_inches(ax)
        across, up = (
            tick_positions(len(names), max(int(length / _TICK), 2))
            for names, length in zip(bins, inches, strict=True)
        )
        style: Style = {"fontsize": "small"}
        ax.set_xticks(across, [texts[0][i] for i in across], rotation=90, **style)
        ax.set_yticks(up, [texts[1][i] for i in up], **style)
        ax.tick_params(length=0)
        labels = [
            literal(shorten(name, max(int(length * CHARACTERS_PER_INCH), 12)))
            for name, length in zip(self.feature_names, inches, strict=False)
        ]
        ax.set_xlabel(labels[0])
        ax.set_ylabel("".join(labels[1:]))
        if self.title:
            title = wrap_name(self.title, int(1.4 * inches[0] * CHARACTERS_PER_INCH))
            ax.set_title(literal(title), fontsize="medium")
        self._draw_frame()
        label = f"mean {self.loss_name}"
        self.colour_bar_ = draw_colour_bar(ax, self.mesh_, literal(label))
        return self

    def _draw_frame(self) -> None:
        """The slice: a line around its bins."""
        from matplotlib.patches import Rectangle
        from matplotlib.patheffects import withStroke

        (left, right), (bottom, top) = [*self.frame, (0, 0)][:2]
        self.frame_ = Rectangle(
            (left - 0.5, bottom - 0.5),
            right - left + 1,
            top - bottom + 1,
            fill=False,
            edgecolor=ink(self.ax_),
            linewidth=2.5,
            clip_on=False,
            zorder=3,
            # It is seen on the darkest and on the brightest cells.
            path_effects=[withStroke(linewidth=5, foreground=paper(self.ax_))],
        )
        self.ax_.add_patch(self.frame_)

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A line for each cell: a column for the bin of each feature, "mean_loss", and
            "in_slice".
        """
        means = np.asarray(self.means, dtype=np.float64)
        indices = np.indices(means.shape).reshape(2, -1)
        columns: dict[str, Any] = {
            str(name): [names[i] for i in index]
            for name, names, index in zip(
                self.feature_names, self.bins, indices, strict=False
            )
        }
        inside = np.all(
            [
                (first <= index) & (index <= last)
                for index, (first, last) in zip(indices, self.frame, strict=False)
            ],
            axis=0,
        )
        return self._frame({**columns, "mean_loss": means.ravel(), "in_slice": inside})


def _bin_text(condition: Condition) -> str:
    """A bin without the name of its feature."""
    text = str(condition).replace(f" < {condition.name} <= ", " to ")
    return text.removeprefix(f"{condition.name} ").removeprefix("= ")
