"""Display of a change of a mean: steps from the old to the new one, or over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.number_format import column_texts, number_beside
from sklearn_interpret._plotting.axes import add_legend, axes_inches
from sklearn_interpret._plotting.colours import colours, ink, paper, shade
from sklearn_interpret._plotting.curves import draw_line
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    label_levels,
    literal,
    literal_lines,
    plain_number_ticks,
    shorten,
    write_near,
)
from sklearn_interpret._plotting.ranked_bars import (
    append_combined,
    draw_signed_arrows,
    draw_spreads,
    finish_rows,
    label_ends,
    name_pitch,
    name_rows,
    others_text,
    rank_entries,
    row_height,
)
from sklearn_interpret.diagnosis._change import Change
from sklearn_interpret.diagnosis._change_attribution import ChangeAttribution
from sklearn_interpret.diagnosis._plot._error_slices import loss_name
from sklearn_interpret.explanations._selection import output_position

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._plotting.sources import Data

_SIZE = (7.0, 4.2)  # inches of a figure over time
_STEP_HEIGHT = 0.72  # share of the height of a line
_ARRAYS = "values", "low", "high", "old", "new"
_OFFSET = 0.03  # from line to line over time, in distances from table to table


@dataclass(eq=False, repr=False)
class ChangeDisplay(Display):
    """Steps of a change of the mean response or loss, or lines of several changes.

    One change is drawn as steps from the old to the new mean, the largest steps first.
    Several changes are drawn as a line for each of the features with the largest
    contributions. Thin lines are confidence intervals. Use `from_estimator` or
    `from_change`.

    Parameters
    ----------
    changes : Change or Changes
        A change, or several by name in their order in time.
    show_loss : bool, default=False
        Whether to draw the change of the loss.
    target : class label or int, default=None
        The output to draw; None takes the only one.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    ups_, downs_ : PolyCollection
        The steps up and down of one change.
    labels_ : list of Annotation
        The sizes of the steps.
    lines_ : list of Line2D
        For several changes, the lines, the total change last. For one change, lines at
        the old and the new mean.
    intervals_ : list of LineCollection
        The intervals.
    legend_ : matplotlib Legend or None
        The legend of several changes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.diagnosis import ChangeDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = LinearRegression().fit(X, X[:, 0] - X[:, 1])
    >>> display = ChangeDisplay.from_estimator(model, X, X_new=X + [1, 0.5, 1])
    >>> display.to_frame()[["feature", "change"]].round(2)
      feature  change
    0      x0     1.0
    1      x1    -0.5
    2      x2     0.0
    """

    _kinds = (ChangeAttribution,)
    _without = frozenset()
    _choices = frozenset({"X_new", "y_new", "weight_new", "show_loss", "target"})

    changes: Any
    _: KW_ONLY
    show_loss: bool = False
    target: Any = None

    @classmethod
    def _from_inspector(
        cls,
        inspector: ChangeAttribution,
        data: Data,
        *,
        X_new: Any = None,
        y_new: ArrayLike | None = None,
        weight_new: ArrayLike | None = None,
        show_loss: bool = False,
        target: Any = None,
    ) -> Self:
        """The display of the change to new rows.

        X_new : {array-like, sparse matrix, DataFrame} or dict, default=None
            New rows, or tables by name, as in ``ChangeAttribution.compare``. Required.
        y_new : array-like of shape (n_samples,), default=None
            Their targets.
        weight_new : array-like of shape (n_samples,), default=None
            Their weights.
        """
        if X_new is None:
            raise ValueError(f"{cls.__name__} compares X with new rows: pass X_new.")
        change = inspector.compare(X_new, y_new, weight_new)
        return cls(change, show_loss=show_loss, target=target)

    @classmethod
    def from_change(
        cls,
        change: Any,
        *,
        show_loss: bool = False,
        target: Any = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        max_entries: int | None = 8,
        step_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw a change, or several.

        Parameters
        ----------
        change : Change or Changes
            What ``ChangeAttribution.compare`` returns, or a dict of changes by name.
        show_loss : bool, default=False
            Whether to draw the change of the loss.
        target : class label or int, default=None
            The output to draw; None takes the only one.
        target_name : str, default=None
            Name of the target in labels.
        unit : str, default=None
            Unit of the response, for labels.
        ax : matplotlib Axes, default=None
            As in `plot`.
        max_entries : int, default=8
            As in `plot`.
        step_kw, line_kw : dict, default=None
            As in `plot`.

        Returns
        -------
        display : ChangeDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            Several outputs of which one must be chosen; no change of a loss.
        """
        display = cls(change, show_loss=show_loss, target=target)
        display._name_response(target_name, unit)
        return display.plot(
            ax, max_entries=max_entries, step_kw=step_kw, line_kw=line_kw
        )

    def _drawn(self) -> dict[str, Change]:
        """The output that is drawn of each change, by name."""
        changes = self.changes if self._is_several else {"": self.changes}
        if not changes:
            raise ValueError("There are no changes to draw.")
        if self.show_loss:
            return {name: _one_output(e.loss, None) for name, e in changes.items()}
        return {name: _one_output(e, self.target) for name, e in changes.items()}

    @property
    def _is_several(self) -> bool:
        return isinstance(self.changes, Mapping)

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 8,
        step_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the steps, or the lines.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=8
            Largest number of steps or lines; the last one is the sum of all other
            features. None shows all features.
        step_kw : dict, default=None
            Style of the steps.
        line_kw : dict, default=None
            Style of the lines of several changes.

        Returns
        -------
        self : ChangeDisplay
            The display.

        Raises
        ------
        ValueError
            Several outputs of which one must be chosen; no change of a loss; a
            `max_entries` that is not a positive whole number.
        """
        drawn = self._drawn()
        if self._is_several:
            self._plot_lines(ax, drawn, max_entries, line_kw)
        else:
            self._plot_steps(ax, drawn[""], max_entries, step_kw)
        return self

    def _label(self, change: Change) -> str:
        """Name of the mean, for an axis."""
        if self.show_loss:
            return f"Mean {loss_name(change.response_name)}"
        self.response_name = loss_name(change.response_name)
        label = self._response_label(change.output_names, 0)
        return f"Mean {label[:1].lower()}{label[1:]}"

    def _plot_steps(
        self, ax: Any, change: Change, max_entries: int | None, style: Any
    ) -> None:
        """Steps from the old to the new mean, the largest on top."""
        order, names, sizes = _ranked(change, change.values, max_entries)
        # The sum of all other features has no interval.
        reach = np.zeros((2, len(sizes)))
        reach[:, : len(order)] = np.nan_to_num(
            [change.low[order], change.high[order]] - change.values[order]
        )
        ends = change.old + np.cumsum(sizes)
        starts = ends - sizes
        ax = self._take_axes(ax, (7.0, row_height(len(names), name_pitch(names)) + 0.3))
        name_rows(ax, names)
        places = np.arange(len(names))[::-1]
        edges = np.concatenate([starts, *(ends + reach)])
        span = float(np.ptp(edges)) or max(abs(change.old), 1.0)
        texts = column_texts(sizes, signed=True)
        # The numbers at the arrows need room within the axes.
        inches = (max(map(len, texts)) + 2) / CHARACTERS_PER_INCH
        margin = max(0.08, inches / max(axes_inches(ax)[0] - 2 * inches, 1.0)) * span
        ax.set_xlim(edges.min() - margin, edges.max() + margin)
        self.ups_, self.downs_ = draw_signed_arrows(
            ax, starts, ends, places, _STEP_HEIGHT, 0.015 * span, style
        )
        low, high = places[1:] + _STEP_HEIGHT / 2, places[:-1] - _STEP_HEIGHT / 2
        ax.vlines(starts[1:], low, high, color=shade(ax, 0.45), linewidth=0.8)
        known = reach[1] > reach[0]
        intervals = (ends + reach)[:, known]
        self.intervals_ = [draw_spreads(ax, places[known], *intervals, zorder=3)]
        outer = ends + np.where(sizes >= 0, reach[1], reach[0])
        self.labels_ = label_ends(ax, outer, places, sizes, texts=texts, signed=True)
        self._mark_means(ax, change, span)
        label = literal(shorten(self._label(change), 60))
        if known.any():
            label += f"\n(thin lines: {_level_text(change)} of the steps)"
        finish_rows(ax, label, hidden=("top", "right", "left"))

    def _mark_means(self, ax: Axes, change: Change, span: float) -> None:
        """Lines and numbers at the old and at the new mean."""
        from matplotlib.patheffects import withStroke

        for label in self.labels_:  # which a line may cross
            label.set_path_effects([withStroke(linewidth=3, foreground=paper(ax))])
        self.lines_ = []
        is_rising = change.old <= change.new
        for name, mean, on_left, line_style in (
            ("old", change.old, is_rising, "--"),
            ("new", change.new, not is_rising, "-"),
        ):
            colour = ink(ax) if name == "new" else shade(ax, 0.5)
            line = ax.axvline(
                mean, color=colour, linestyle=line_style, linewidth=0.9, zorder=0.8
            )
            self.lines_.append(line)
            write_near(
                ax,
                f"{name} mean\n{number_beside(mean, span)}",
                (mean, 1.0),
                (-3 if on_left else 3, 2),
                xycoords=ax.get_xaxis_transform(),
                va="bottom",
                ha="right" if on_left else "left",
            )

    def _plot_lines(
        self, ax: Any, drawn: dict[str, Change], max_entries: int | None, style: Any
    ) -> None:
        """Lines of the contributions over time."""
        outputs = list(drawn.values())
        values, low, high = (
            np.stack([getattr(output, name) for output in outputs], axis=1)
            for name in ("values", "low", "high")
        )
        order, names, curves = _ranked(outputs[0], values, max_entries)
        canvas = self._make_canvas(ax, 1, 1, _SIZE)
        (self.ax_,) = canvas.main
        ax, times = self.ax_, np.arange(float(len(outputs)))
        ax.axhline(0, color=shade(ax, 0.6), linewidth=0.8, zorder=1)
        self.lines_, self.intervals_ = [], []
        for i, (curve, colour) in enumerate(
            zip(curves, colours(len(curves)), strict=True)
        ):
            x = times + (i - (len(curves) - 1) / 2) * _OFFSET
            line = draw_line(ax, x, curve, colour, style)
            self.lines_.append(line)
            if i < len(order):
                ends = low[order[i]], high[order[i]]
                self.intervals_.append(
                    ax.vlines(x, *ends, color=line.get_color(), linewidth=1.1, zorder=2)
                )
        total = np.array([output.new - output.old for output in outputs])
        total_style = {"linestyle": "--", "linewidth": 1.4}
        self.lines_.append(draw_line(ax, times, total, ink(ax), total_style))
        ax.set_xlim(-0.3, len(times) - 0.7)
        label_levels(ax, list(drawn))
        label = self._label(outputs[0])
        ax.set_ylabel(literal_lines(f"Change of the\n{label[:1].lower()}{label[1:]}"))
        plain_number_ticks(ax, "y")
        ax.spines[["top", "right"]].set_visible(False)
        labels = [literal(shorten(name, 30)) for name in [*names, "total change"]]
        note = f"vertical lines: {_level_text(outputs[0])}"
        self.legend_ = add_legend(canvas, self.lines_, labels, note)

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A line for each feature, the largest contribution first: columns "feature",
            "change", "low", "high"; of one change "start" and "end", the mean before
            and after the step; of several, "table" and the means "old" and "new".
        """
        blocks = []
        for name, change in self._drawn().items():
            order, _ = rank_entries(np.abs(change.values), None)
            columns: dict[str, Any] = {
                "feature": [str(change.feature_names[j]) for j in order],
                "change": change.values[order],
                "low": change.low[order],
                "high": change.high[order],
            }
            if self._is_several:
                means = {"old": change.old, "new": change.new}
                columns = {"table": [name] * len(order), **columns, **means}
            else:
                columns["end"] = change.old + np.cumsum(columns["change"])
                columns["start"] = columns["end"] - columns["change"]
            blocks.append(columns)
        return self._frame(*blocks)


def _level_text(change: Change) -> str:
    return f"{100 * (1 - change.alpha):.4g} % intervals"


def _ranked(
    change: Change, values: NDArray[np.float64], max_entries: int | None
) -> tuple[NDArray[np.intp], list[str], NDArray[np.float64]]:
    """Largest contributions: features, names and values, with the sum of all others."""
    sizes = np.abs(values).reshape(len(values), -1).sum(axis=1)
    order, remaining = rank_entries(sizes, max_entries)
    names = [str(change.feature_names[j]) for j in order]
    if len(remaining):
        names.append(others_text(len(remaining)))
    return order, names, append_combined(values, order, remaining, np.sum)


def _one_output(change: Change | None, target: Any) -> Change:
    """The change of a class label or position; None for the only one."""
    if change is None:
        raise ValueError(
            "There is no change of a loss: pass targets to fit and to compare."
        )
    position = output_position(change.output_names, target)
    if np.ndim(change.values) == 1:
        return change
    arrays = {name: getattr(change, name)[..., position] for name in _ARRAYS}
    return replace(change, **arrays, output_names=[change.output_names[position]])
