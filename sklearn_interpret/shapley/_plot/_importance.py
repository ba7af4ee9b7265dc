"""Display of the mean size of Shapley values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics.refits import learner_half_width
from sklearn_interpret._inspectors.nested_groups import (
    append_group_sums,
    checked_groups,
    group_entries,
    walk,
)
from sklearn_interpret._model.rows.number_format import column_texts, number_text
from sklearn_interpret._plotting.axes import side_legend
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    PALETTE,
    colours,
    ink,
    paper,
)
from sklearn_interpret._plotting.displays import FoldsMixin
from sklearn_interpret._plotting.labels import (
    drawn_output_name,
    literal,
    response_label,
    shorten,
    write_near,
)
from sklearn_interpret._plotting.ranked_bars import (
    LEARNER,
    draw_bars,
    draw_spreads,
    finish_rows,
    row_height,
    side_by_side,
)
from sklearn_interpret._plotting.sources import (
    Taker,
    check_numbers,
    check_same_in_folds,
)
from sklearn_interpret.explanations._selection import one_output, output_position
from sklearn_interpret.shapley._plot._base import ShapleyDisplay, check_explanation
from sklearn_interpret.shapley._plot._groups import Lines, grouped_lines

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.sources import Data

BAR_HEIGHT = 0.78  # share of the height of a line
# The bar of the other features lengthens the axis at most by this factor.
MOST_STRETCHED = 1.5


@dataclass(eq=False, repr=False)
class ShapleyImportanceDisplay(FoldsMixin, ShapleyDisplay):
    """Importance of features: their mean absolute Shapley values, as bars.

    Build it with `from_estimator` or `from_explanation`, or from arrays of your own.
    Several outputs are stacked in one bar for each feature. Features beyond
    `max_entries` share the last bar, which is the sum of theirs; so do outputs beyond
    the twelve colours of the palette.

    Where the explanation has groups, a group has the bar of its mean absolute sum, and
    thinner bars of its members below it, which may cancel in the sum. Groups within
    groups are drawn alike. If features are in more than two groups, one in the other,
    as in those of a hierarchical clustering, only features have bars, and the groups
    are a tree on the left.

    Parameters
    ----------
    importances : ndarray of shape (n_features[, n_outputs])
        Mean absolute Shapley values, in the response's unit. With `groups` they are
        followed by the mean absolute sums of each group's values, (n_features +
        n_groups[, n_outputs]): each group is followed by the groups within it.
    feature_names : sequence of str
        Name of each feature.
    output_names : sequence, default=None
        Names of the outputs; None takes positions.
    response_name : str, default="response"
        Response that the values add up to.
    fold_importances : ndarray of shape (n_folds, n_features[, n_outputs]), default=None
        The importances of several models, of which `importances` is the mean; with
        those of groups, too.
    value_name : str, default="Shapley value"
        Name of the values whose mean sizes these are.
    groups : dict, default=None
        Groups of features, as those of an
        :class:`~sklearn_interpret.explanations.Explanation`.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    bars_ : list of BarContainer
        For each output, the bars from the most important feature down, the others'
        last.
    labels_ : list of Text
        The numbers at the bars, where there is one output and no fold.
    fold_points_ : list of PathCollection
        For each fold, its points: one for each bar, or stack of bars.
    spreads_ : LineCollection or None
        Intervals of 95 % for the learner's importance, of models on other data.
    legend_ : matplotlib Legend or None
        The legend, where there are several outputs or folds.

    See Also
    --------
    ShapleySummaryDisplay : The values behind the means.

    Examples
    --------
    >>> from sklearn_interpret.explanations import Explanation
    >>> from sklearn_interpret.shapley import ShapleyImportanceDisplay
    >>> explanation = Explanation(
    ...     [[1.0, -3.0], [0.5, 2.0]], [10.0, 10.0], feature_names=["age", "income"]
    ... )
    >>> display = ShapleyImportanceDisplay.from_explanation(explanation)
    >>> display.to_frame()
      feature  importance
    0  income        2.50
    1     age        0.75

    A group has a bar above those of its features:

    >>> explanation = Explanation(
    ...     [[0.5, 0.25, -1.0], [0.5, -0.25, 2.0]],
    ...     [3.0, 3.0],
    ...     feature_names=["latitude", "longitude", "rooms"],
    ...     groups={"location": ["latitude", "longitude"]},
    ... )
    >>> display = ShapleyImportanceDisplay.from_explanation(explanation)
    >>> display.to_frame().fillna("-")
          group    feature  importance
    0         -      rooms        1.50
    1  location          -        0.50
    2  location   latitude        0.50
    3  location  longitude        0.25
    """

    _options = {"arrangement": ("stacked", "grouped")}

    importances: ArrayLike
    _: KW_ONLY
    feature_names: Any
    output_names: Any = None
    response_name: str = "response"
    fold_importances: ArrayLike | None = None
    value_name: str = "Shapley value"
    groups: dict[str, Any] | None = None

    @classmethod
    def _choice_names(cls) -> frozenset[str] | set[str]:
        return {"target", "response_name"}

    @classmethod
    def _takers(cls, method: str) -> list[Taker]:
        explanation_taker = Taker(cls._choice_names(), cls._make_display)
        return [explanation_taker, *super()._takers(method)]

    @classmethod
    def _make_display(  # type: ignore[override]  # it has choices of its own
        cls, explanation: Any, *, target: Any = None, response_name: str | None = None
    ) -> Self:
        """The display of an explanation.

        target : class label or int, default=None
            Of several outputs, the one to show; None shows all.
        response_name : str, default=None
            Name of the response; None takes that of the explanation.
        """
        check_explanation(explanation)
        names = explanation.output_names
        if response_name is None:
            response_name = explanation.response_name or "response"
        elif target is not None:
            output = drawn_output_name(
                response_name, names, output_position(names, target)
            )
            response_name = response_label(response_name, output)
        if len(names) == 1 or target is not None:
            explanation = one_output(explanation, target)
        entries = group_entries(explanation.groups, explanation.feature_names)
        return cls(
            np.abs(append_group_sums(explanation.values, entries)).mean(axis=0),
            feature_names=explanation.feature_names,
            output_names=explanation.output_names,
            response_name=response_name,
            value_name=explanation.value_name,
            groups=explanation.groups,
        )

    @classmethod
    def _from_folds(cls, inspectors: list[Any], data: Data, **choices: Any) -> Self:
        displays = [
            cls._from_inspector(inspector, data, **choices) for inspector in inspectors
        ]
        first = displays[0]
        check_same_in_folds(
            [list(display.feature_names) for display in displays], "features"
        )
        outputs = [
            (display.response_name, display.output_names) for display in displays
        ]
        check_same_in_folds(outputs, "outputs")
        check_same_in_folds([display.groups for display in displays], "groups")
        folds = np.stack([display.importances for display in displays])
        return cls(
            folds.mean(axis=0),
            feature_names=first.feature_names,
            output_names=first.output_names,
            response_name=first.response_name,
            fold_importances=folds,
            value_name=first.value_name,
            groups=first.groups,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        arrangement: str = "stacked",
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one bar for each feature, the most important on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=20
            Largest number of bars; None shows all.
        arrangement : {"stacked", "grouped"}, default="stacked"
            Whether the bars of several outputs stand behind or below each other.
        bar_kw : dict, default=None
            Style of the bars.

        Returns
        -------
        self : object
            The display.

        Raises
        ------
        ValueError
            An unknown arrangement, or a `max_entries` that is not a positive int.
        """
        importances, lines = self._ranked_lines(max_entries)
        output_names = self._named_outputs(importances.shape[1])
        of_features = importances[: len(self.feature_names)]
        names, reduce_outputs = _drawn_outputs(of_features, output_names)
        lengths = lines.sums(reduce_outputs(importances))
        has_others = bool(lines.are_combined[-1]) and lines.depths[-1] == 0
        stacks = arrangement == "stacked"
        texts = [line.name("sum of ") for line in lines.lines]
        pitch = 0.36 if stacks else 0.2 + 0.16 * len(names)
        ax = self._take_axes(ax, (6.4, row_height(len(texts), pitch)))
        palette = colours(len(names))
        if len(names) < importances.shape[1]:
            palette[-1] = NEUTRAL_COLOUR
        heights = self._draw_bars(ax, lengths, lines.heights, palette, stacks, bar_kw)
        if len(names) == 1:
            for row in np.flatnonzero(lines.are_combined):
                self.bars_[0].patches[row].set_facecolor(NEUTRAL_COLOUR)
        lines.write_names(ax, texts)
        ends = lengths.sum(axis=1) if stacks else lengths.max(axis=1)
        self.fold_points_: list[Any] = []
        self.labels_: list[Any] = []
        self.spreads_: LineCollection | None = None
        if self.fold_importances is not None:
            folds = np.asarray(self.fold_importances, dtype=np.float64)
            folds = reduce_outputs(folds.reshape(*folds.shape[:2], -1))
            fold_lengths = np.stack(list(map(lines.sums, folds)))
            fold_ends = self._draw_folds(ax, fold_lengths, heights, stacks)
            ends = np.maximum(ends, fold_ends)
        elif len(names) == 1:
            # The sum of many features has a precision of its own.
            numbers = np.array(list(map(number_text, lengths[:, 0])), dtype=object)
            is_single = ~lines.are_combined
            numbers[is_single] = column_texts(lengths[is_single, 0])
            label_style = {"padding": 3, "fontsize": "small"}
            self.labels_ = ax.bar_label(self.bars_[0], numbers, **label_style)
        self._set_limits(ax, ends, has_others, lengths[-1].sum())
        self._label_axes(ax, names)
        return self

    def _label_axes(self, ax: Axes, names: list[Any]) -> None:
        """Label of the axis, and the legend of several outputs."""
        output = 0 if len(names) == 1 else None
        response = shorten(self._response_label(self.output_names, output), 60)
        finish_rows(ax, literal(f"{response}\n(mean |{self.value_name}|)"))
        handles: list[Artist] = []
        if len(names) > 1:
            handles += [bars.patches[0] for bars in self.bars_]
        texts, legend_kwargs = list(names[: len(handles)]), {"title": "output"}
        if self.spreads_ is not None:
            handles, legend_kwargs = [*handles, self.spreads_], {}
            texts.append(self._learner_text(LEARNER))
        self.legend_ = side_legend(
            ax, handles, texts, corner="lower right", **legend_kwargs
        )

    def _ranked_lines(
        self, max_entries: int | None
    ) -> tuple[NDArray[np.float64], Lines]:
        """Importances with an axis of outputs, and their lines, the largest on top."""
        names = list(map(str, self.feature_names))
        entries = group_entries(checked_groups(self.groups, names), names)
        n_entries = len(walk(entries))
        shapes = [(n_entries,), (n_entries, None)]
        owner = f"{len(names)} feature names"
        if self.groups is not None:
            owner += f" and {n_entries - len(names)} groups"
        importances = check_numbers(self.importances, "importances", shapes, owner)
        importances = importances.reshape(n_entries, -1)
        return importances, grouped_lines(entries, importances.sum(axis=1), max_entries)

    def _draw_bars(
        self,
        ax: Axes,
        lengths: NDArray[np.float64],
        relative_heights: NDArray[np.float64],
        palette: list[str],
        stacks: bool,
        style: Style | None,
    ) -> NDArray[np.float64]:
        """Set the bars; return their places, (n_lines, 1) or (n_lines, n_outputs)."""
        offsets, bar_height = np.zeros(1), BAR_HEIGHT
        starts = np.cumsum(lengths, axis=1) - lengths
        if not stacks:
            offsets, bar_height = side_by_side(lengths.shape[1], BAR_HEIGHT)
            starts = np.zeros_like(lengths)
        heights = (
            np.arange(len(lengths))[::-1, None] + offsets * relative_heights[:, None]
        )
        bar_heights = bar_height * relative_heights
        y_by_output = np.broadcast_to(heights, lengths.shape).T
        by_output = zip(y_by_output, lengths.T, palette, starts.T, strict=True)
        self.bars_ = [
            draw_bars(ax, y, sizes, colour, style, height=bar_heights, starts=start)
            for y, sizes, colour, start in by_output
        ]
        return heights

    def _draw_folds(
        self,
        ax: Axes,
        folds: NDArray[np.float64],
        heights: NDArray[np.float64],
        stacks: bool,
    ) -> NDArray[np.float64]:
        """Folds as points at the ends of bars, or stacks, with the learner's intervals.

        Returns the largest end of each line.
        """
        ends = folds.sum(axis=2, keepdims=True) if stacks else folds
        mean, half_width = ends.mean(axis=0), learner_half_width(ends, self._splits)
        low, high = mean - half_width, mean + half_width
        if len(ends) > 1:
            y = np.broadcast_to(heights, mean.shape)
            self.spreads_ = draw_spreads(ax, y, low, high)
        point_style: Style = {"facecolor": paper(ax), "edgecolor": ink(ax)}
        point_style |= {"linewidth": 0.8, "s": 16, "zorder": 3}
        y = heights.T
        self.fold_points_ = [ax.scatter(x.T, y, **point_style) for x in ends]
        return np.fmax(ends.max(axis=0), high).max(axis=1)

    def _set_limits(
        self,
        ax: Axes,
        ends: NDArray[np.float64],
        has_others: bool,
        sum_of_others: float,
    ) -> None:
        """End the axis at the longest bar; cut the bar of the others if far longer.

        The sum of hundreds of features may be so long that no other bar could be read.
        """
        longest = ends.max(initial=0.0)
        longest_feature = ends[:-1].max(initial=0.0) if has_others else 0.0
        is_cut = 0 < MOST_STRETCHED * longest_feature < longest
        right = MOST_STRETCHED * longest_feature if is_cut else longest
        room_factor = 1.14 if self.labels_ else 1.04
        ax.set_xlim(0, room_factor * right if right > 0 else 1.0)
        if not is_cut:
            return
        n_features = len(ends) - 1
        for label in self.labels_[n_features:]:
            label.remove()
        text = f"{number_text(sum_of_others)}, beyond the axis \N{RIGHTWARDS ARROW}"
        text_style = {
            "xycoords": ax.get_yaxis_transform(),
            "ha": "right",
            "va": "center",
        }
        note = write_near(ax, text, (1, 0), (-4, 0), over=1, **text_style)
        self.labels_ = [*self.labels_[:n_features], note]

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame, all features on lines of their own.

        Returns
        -------
        pandas.DataFrame
            One line per feature and output, from the most important feature down, with
            the columns "feature", "output" (where there are several) and "importance";
            where there are groups, also a line for each group, without a feature, and
            the column "group" ("outer / inner" for a group within another);
            where there are folds, also "low" and "high" of the learner's intervals, and
            a line for each fold, with the column "fold" (missing for the mean).
        """
        importances, lines = self._ranked_lines(None)
        entries, n_outputs = lines.entries, importances.shape[1]
        order = [entry.position for entry in entries]
        names = [None if entry.children else entry.name for entry in entries]
        groups = [entry.group for entry in entries]
        labels = {"feature": names}
        if self.groups is not None:
            labels = {"group": groups, **labels}
        columns: dict[str, Any] = {
            name: np.repeat(np.array(column, dtype=object), n_outputs)
            for name, column in labels.items()
        }
        if n_outputs > 1:
            columns["output"] = list(self._named_outputs(n_outputs)) * len(order)
        blocks = [{**columns, "importance": importances[order].ravel()}]
        if self.fold_importances is not None:
            folds = np.asarray(self.fold_importances, dtype=np.float64)[:, order]
            half_width = learner_half_width(folds, self._splits).ravel()
            mean = blocks[0]["importance"]
            blocks[0] |= {"low": mean - half_width, "high": mean + half_width}
            blocks += [
                {**columns, "importance": values.ravel(), "fold": number}
                for number, values in enumerate(folds)
            ]
        return self._frame(*blocks, integer_column="fold")


def _drawn_outputs(
    importances: NDArray[np.float64], names: Sequence[Any]
) -> tuple[list[Any], Callable[[NDArray[np.float64]], NDArray[np.float64]]]:
    """Names of the outputs drawn, and a function that takes them from (..., n_outputs).

    The palette has twelve colours that readers can distinguish: of more outputs, the
    most important are drawn alone, and the others by their sum, in grey.
    """
    if importances.shape[1] <= len(PALETTE):
        return list(names), lambda array: array
    order = np.argsort(-importances.sum(axis=0), kind="stable")
    selected = np.sort(order[: len(PALETTE) - 1])
    others = np.setdiff1d(order, selected)

    def reduce_outputs(array: NDArray[np.float64]) -> NDArray[np.float64]:
        total = array[..., others].sum(axis=-1, keepdims=True)
        return np.concatenate([array[..., selected], total], axis=-1)

    return [
        *(names[k] for k in selected),
        f"sum of {len(others)} others",
    ], reduce_outputs
