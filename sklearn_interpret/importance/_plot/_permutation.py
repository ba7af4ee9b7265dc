"""Display of importances with their spread, on one or two samples of rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics.refits import learner_half_width
from sklearn_interpret._model.rows.number_format import p_text
from sklearn_interpret._plotting.axes import Style, side_legend
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    colours,
    ink,
    paper,
    stand_out,
)
from sklearn_interpret._plotting.labels import literal_lines
from sklearn_interpret._plotting.points import draw_points
from sklearn_interpret._plotting.ranked_bars import (
    LEARNER,
    NUMBER_ROOM,
    P_ROOM,
    append_combined,
    draw_bars,
    draw_boxes,
    draw_spreads,
    finish_bars,
    grey_last,
    label_ends,
    make_pale,
    name_rows,
    others_text,
    rank_entries,
    row_height,
    side_by_side,
)
from sklearn_interpret._plotting.sources import check_numbers
from sklearn_interpret.importance._plot._sources import ImportanceSources

SAMPLES = ("train", "test")
WIDTH, LEGEND_WIDTH = 6.0, 1.5  # inches
# Lines of a null distribution, and points of folds: above bars and spreads.
NULL_STYLE = {"linewidth": 2.2, "zorder": 2.5}
FOLD_STYLE = {"s": 14, "linewidth": 0.8, "zorder": 3}


@dataclass(frozen=True)
class Lines:
    """The numbers of the lines of a display, the first on top."""

    names: list[str]
    samples: list[
        NDArray[np.float64]
    ]  # draws of each sample of rows, (n_lines, n_draws)
    # Importances of models of shuffled targets, (n_lines, n_permutations).
    null: NDArray[np.float64] | None
    pvalues: NDArray[np.float64] | None  # (n_lines,): NaN in a last line of others
    errors: NDArray[np.float64] | None  # standard errors, zero in a last line of others
    n_others: int  # number of features whose mean the last line is

    def __len__(self) -> int:
        return len(self.names)

    @property
    def places(self) -> NDArray[np.intp]:
        """Positions of the lines."""
        return np.arange(len(self.names))[::-1]


@dataclass(eq=False, repr=False)
class PermutationImportanceDisplay(ImportanceSources):
    """Importance of features, as bars with their spread, or as boxes.

    It shows every inspector of :mod:`sklearn_interpret.importance` but
    ``ConditionalImportanceTest``. Importances on test rows are below those on the
    training rows: features to which the model has overfitted matter less on the test
    rows. Features beyond `max_entries`, those nearest to no effect, share the last
    line, which is the mean of theirs.

    Build it with `from_estimator` or `from_cv_results`, or from arrays of your own.

    Parameters
    ----------
    importances : array-like of shape (n_features,) or (n_features, n_draws)
        Importances, or several draws of each.
    feature_names : sequence of str
        Name of each feature.
    test_importances : array-like of shape (n_features,) or (n_features, n_draws), \
default=None
        The same on test rows.
    null_importances : array-like of shape (n_permutations, n_features), default=None
        Importances where nothing relates the features to the targets.
    pvalues : array-like of shape (n_features,), default=None
        Shown at the bars.
    standard_errors : array-like of shape (n_features,), default=None
        Standard errors of single importances: two to each side are drawn.
    alpha : float, default=None
        Bars of features whose p-value is not below it are pale.
    importance_name : str, default="Importance"
        Name of the numbers, for the axis.
    draws_name : str, default="repeats"
        Name of the draws; "folds" are shown one by one.
    no_effect : float, default=0.0
        The importance of a feature without effect, where bars start; 1 for ratios.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    bars_ : list of BarContainer
        For each sample of rows (train, test), its bars or boxes, the first line's
        first. Where a null distribution has boxes, these.
    spreads_ : list of LineCollection
        For each sample, one standard deviation (or two standard errors) to each side of
        the means; of results of `cross_validate`, intervals of 95 % for the learner's
        importance, of models on other data; or the boxes' whiskers, to the smallest and
        the largest draw.
    points_ : list of PathCollection
        For each sample, its folds; with boxes of a null distribution, the importances.
    null_ : LineCollection, BarContainer or None
        The null distribution.
    labels_ : list of Annotation
        The numbers or p-values at the bars, where there is one sample.
    legend_ : matplotlib Legend or None
        The legend, where there is more than plain bars.

    See Also
    --------
    sklearn_interpret.importance.PermutationImportance : What it mostly shows.

    Examples
    --------
    >>> from sklearn_interpret.importance import PermutationImportanceDisplay
    >>> display = PermutationImportanceDisplay(
    ...     [[0.1, 0.3], [0.5, 0.7]], feature_names=["age", "income"]
    ... ).plot()
    >>> display.ax_.get_yticklabels()[0].get_text()
    'income'
    >>> display.to_frame()
      feature  importance  std  repeat
    0  income         0.6  0.1    <NA>
    1     age         0.2  0.1    <NA>
    2  income         0.5  NaN       0
    3     age         0.1  NaN       0
    4  income         0.7  NaN       1
    5     age         0.3  NaN       1
    """

    _options = {"kind": ("bar", "box")}

    importances: ArrayLike
    _: KW_ONLY
    feature_names: Any
    test_importances: ArrayLike | None = None
    null_importances: ArrayLike | None = None
    pvalues: ArrayLike | None = None
    standard_errors: ArrayLike | None = None
    alpha: float | None = None
    importance_name: str = "Importance"
    draws_name: str = "repeats"
    no_effect: float = 0.0

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "bar",
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one line for each feature, the most important on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        kind : {"bar", "box"}, default="bar"
            Bars for the means, or boxes for the draws, which have to be several; with
            a null distribution the boxes are its.
        max_entries : int, default=20
            Largest number of lines; None shows all.
        bar_kw : dict, default=None
            Style of the bars or boxes.

        Returns
        -------
        self : object
            The display.

        Raises
        ------
        ValueError
            An unknown kind, boxes of single numbers, a `max_entries` that is not a
            positive whole number, or arrays that do not fit each other.
        """
        lines = self._make_lines(max_entries)
        has_several_draws = max(draws.shape[1] for draws in lines.samples) > 1
        if kind == "box" and lines.null is None and not has_several_draws:
            raise ValueError(
                'kind="box" shows the draws of each importance, and there is one draw '
                'only: use kind="bar".'
            )
        has_two_samples = len(lines.samples) > 1
        has_marks = lines.null is not None or lines.errors is not None
        has_legend = has_several_draws or has_two_samples or has_marks
        height = row_height(len(lines), 0.44 if has_two_samples else 0.36)
        ax = self._take_axes(ax, (WIDTH + LEGEND_WIDTH * has_legend, height))
        self.bars_: list[Any] = []
        self.spreads_: list[Any] = []
        self.points_: list[Any] = []
        self._entries: dict[str, Any] = {}  # of the legend: handles by text
        self.null_: Any = None
        draw_marks = self._mark_quartiles if kind == "box" else self._mark_means
        extents = np.stack(
            [np.full(len(lines), self.no_effect), *draw_marks(lines, bar_kw)]
        )
        name_rows(ax, lines.names)
        self.labels_ = self._label_lines(lines, extents)
        self._finish_axes(extents)
        return self

    def _check_array(self, name: str, *shapes: tuple[int | None, ...]) -> Any:
        """An array of the display, or None; its shape fits the names."""
        values = getattr(self, name)
        owner = f"{len(self.feature_names)} feature names"
        return None if values is None else check_numbers(values, name, shapes, owner)

    def _make_lines(self, max_entries: int | None) -> Lines:
        """The `Lines` of the features shown, and one for the mean of the others."""
        n_features = len(self.feature_names)
        samples = [
            self._check_array(name, (n_features,), (n_features, None)).reshape(
                n_features, -1
            )
            for name in ("importances", "test_importances")
            if getattr(self, name) is not None
        ]
        null = self._check_array("null_importances", (None, n_features))
        errors = self._check_array("standard_errors", (n_features,))
        pvalues = self._check_array("pvalues", (n_features,))
        selected, remaining = line_order(samples, self.no_effect, max_entries)
        names = [str(self.feature_names[j]) for j in selected]
        if len(remaining):
            names.append(f"mean of {others_text(len(remaining))}")
        if pvalues is not None:
            pvalues = np.append(pvalues[selected], [np.nan][: len(remaining)])
        if errors is not None:
            errors = np.append(errors[selected], [0.0][: len(remaining)])
        null = None if null is None else append_combined(null.T, selected, remaining)
        samples = [append_combined(draws, selected, remaining) for draws in samples]
        return Lines(names, samples, null, pvalues, errors, len(remaining))

    def _mark_means(
        self, lines: Lines, style: Style | None
    ) -> list[NDArray[np.float64]]:
        """Bars for the means, with spread, folds and null; how far each reaches."""
        ax, extents = self.ax_, []
        offsets, height = side_by_side(len(lines.samples))
        palette = colours(len(lines.samples))
        for offset, draws, colour in zip(offsets, lines.samples, palette, strict=True):
            places, means = lines.places + offset, draws.mean(axis=1)
            bar_kwargs: Style = {"height": height, "starts": self.no_effect}
            lengths = means - self.no_effect
            self.bars_.append(
                draw_bars(ax, places, lengths, colour, style, **bar_kwargs)
            )
            extents.append(means)
            text = f"{draws.shape[1]} {self.draws_name}"
            if draws.shape[1] > 1 and self.draws_name == "folds":
                positions = np.repeat(places, draws.shape[1])
                point_style: Style = {
                    "facecolor": paper(ax),
                    "edgecolor": ink(ax),
                    **FOLD_STYLE,
                }
                self.points_.append(
                    draw_points(ax, draws.ravel(), positions, **point_style)
                )
                extents += [draws.min(axis=1), draws.max(axis=1)]
                self._entries[text] = self.points_[0]
            half_width, name = (
                self._learner_half_width(lines),
                self._learner_text(LEARNER),
            )
            if draws.shape[1] > 1 and self.draws_name != "folds":
                half_width, name = standard_deviation(draws), f"± 1 std of {text}"
            if half_width is not None:
                low, high = means - half_width, means + half_width
                self.spreads_.append(draw_spreads(ax, places, low, high))
                extents += [low, high]
                self._entries[name] = self.spreads_[0]
        if lines.errors is not None:
            extents += self._mark_errors(lines, lines.errors, offsets[0])
        if len(lines.samples) > 1:
            handles = [bars.patches[0] for bars in self.bars_]
            self._entries = dict(zip(SAMPLES, handles, strict=True)) | self._entries
        elif lines.n_others:
            grey_last(self.bars_[0])
        if lines.null is not None:
            extents += self._mark_null(lines, lines.null)
        if lines.pvalues is not None and self.alpha is not None:
            for bars in self.bars_:
                pale_handle = make_pale(bars, lines.pvalues >= self.alpha)
                if pale_handle is not None:
                    self._entries.setdefault(f"p ≥ {self.alpha:g}", pale_handle)
        return extents

    def _learner_half_width(self, lines: Lines) -> NDArray[np.float64] | None:
        """Half-widths (n_lines,) of the learner's intervals, or None.

        Those on training rows hold for test rows, too. The jackknife needs folds that
        share rows, which test rows do not.
        """
        training = lines.samples[0].T
        if self._splits is None or len(training) < 2:
            return None
        return learner_half_width(training, self._splits)

    def _mark_errors(
        self, lines: Lines, errors: NDArray[np.float64], offset: float
    ) -> list[NDArray[np.float64]]:
        """Lines of two standard errors to each side; how far these reach."""
        means = lines.samples[0].mean(axis=1)
        extents = [means - 2 * errors, means + 2 * errors]
        self.spreads_.append(draw_spreads(self.ax_, lines.places + offset, *extents))
        self._entries["± 2 standard errors"] = self.spreads_[-1]
        return extents

    def _mark_null(
        self, lines: Lines, null: NDArray[np.float64]
    ) -> list[NDArray[np.float64]]:
        """Lines on the bars for the null distribution; how far these reach."""
        from matplotlib.patheffects import withStroke

        tail = 0.05 if self.alpha is None else self.alpha
        extents = np.quantile(null, [tail, 1 - tail], axis=1)
        # The outline makes the lines stand out against the bars.
        outline = [withStroke(linewidth=5, foreground=paper(self.ax_))]
        line_style: Style = {"color": ink(self.ax_), **NULL_STYLE}
        line_style["path_effects"] = outline
        self.null_ = self.ax_.hlines(lines.places, *extents, **line_style)
        text = f"null: {100 * tail:g} % to {100 - 100 * tail:g} %"
        self._entries[text] = self.null_
        return [*extents]

    def _mark_quartiles(
        self, lines: Lines, style: Style | None
    ) -> list[NDArray[np.float64]]:
        """Boxes of the draws, with whiskers to the smallest and the largest one.

        Where there is a null distribution the boxes are its, and points the
        importances. Returns how far the marks reach.
        """
        ax, extents = self.ax_, []
        samples, palette = lines.samples, colours(len(lines.samples))
        if lines.null is not None:
            samples, palette = [lines.null], [NEUTRAL_COLOUR]
        offsets, height = side_by_side(len(samples))
        for offset, draws, colour in zip(offsets, samples, palette, strict=True):
            places = lines.places + offset
            boxes, whiskers = draw_boxes(ax, places, draws, colour, style, height)
            self.bars_.append(boxes)
            self.spreads_.append(whiskers)
            extents += [draws.min(axis=1), draws.max(axis=1)]
        handles = [boxes.patches[0] for boxes in self.bars_]
        if lines.null is None:
            if len(samples) > 1:
                self._entries = dict(zip(SAMPLES, handles, strict=True))
            text = f"range of {samples[0].shape[1]} {self.draws_name}"
            self._entries[text] = self.spreads_[0]
            return extents
        self.null_ = self.bars_[0]
        point_style: Style = {"s": 30, "marker": "D", "zorder": 3}
        point_style["color"] = stand_out(colours(1)[0], ax)
        for draws in lines.samples:
            means = draws.mean(axis=1)
            self.points_.append(draw_points(ax, means, lines.places, **point_style))
            extents.append(means)
        self._entries["importance"] = self.points_[0]
        self._entries[f"{lines.null.shape[1]} null importances"] = handles[0]
        return extents

    def _label_lines(self, lines: Lines, extents: NDArray[np.float64]) -> list[Any]:
        """Numbers, or p-values, to the right of all marks of a line."""
        if len(lines.samples) > 1:
            return []
        means, texts = lines.samples[0].mean(axis=1), None
        if lines.pvalues is not None:
            texts = list(map(p_text, lines.pvalues))
        gap = 8 if self.points_ else 4
        reach = extents.max(axis=0)
        return label_ends(self.ax_, reach, lines.places, means, texts=texts, gap=gap)

    def _finish_axes(self, extents: NDArray[np.float64]) -> None:
        """Limits, ticks, axis label and legend."""
        ax, room = self.ax_, None
        if self.labels_:
            room = NUMBER_ROOM if self.pvalues is None else P_ROOM
        label = literal_lines(self.importance_name)
        finish_bars(ax, extents, label, start=self.no_effect, room=room)
        texts, handles = list(self._entries), list(self._entries.values())
        self.legend_ = side_legend(ax, handles, texts, corner="lower right")

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame, all features on lines of their own.

        Returns
        -------
        pandas.DataFrame
            One line per feature (and sample of rows), in the order of the figure, with
            the columns "feature", "sample" ("train" or "test", where there are both),
            "importance" (the mean over the draws), "std" (over the draws, where these
            are several; "low" and "high" of the learner's intervals, of results of
            `cross_validate`) and "pvalue" (where there are p-values). Where there are
            several draws, each has lines, too, with the column "repeat" or "fold"
            (missing for the mean).
        """
        lines = self._make_lines(None)
        draw_column = {"repeats": "repeat", "folds": "fold"}.get(
            self.draws_name, "draw"
        )
        mean_blocks, draw_blocks = [], []
        for draws, label in zip(lines.samples, SAMPLES, strict=False):
            columns: dict[str, Any] = {"feature": lines.names}
            if len(lines.samples) > 1:
                columns["sample"] = label
            mean_block = {**columns, "importance": draws.mean(axis=1)}
            half_width = self._learner_half_width(lines)
            if half_width is not None:
                mean_block["low"] = mean_block["importance"] - half_width
                mean_block["high"] = mean_block["importance"] + half_width
            elif draws.shape[1] > 1:
                mean_block["std"] = standard_deviation(draws)
            if draws.shape[1] > 1:
                draw_blocks += [
                    {**columns, "importance": draw, draw_column: number}
                    for number, draw in enumerate(draws.T)
                ]
            if lines.pvalues is not None:
                mean_block["pvalue"] = lines.pvalues
            if lines.errors is not None:
                mean_block["standard_error"] = lines.errors
            mean_blocks.append(mean_block)
        return self._frame(*mean_blocks, *draw_blocks, integer_column=draw_column)


def line_order(
    samples: list[NDArray[np.float64]], no_effect: float, max_entries: int | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Features from the largest importance down, and those that are not shown.

    Features are ranked by the larger distance of their means from `no_effect` in the
    `samples` (each of shape (p, n_draws)); those shown are ordered by the larger mean.
    """
    means = np.stack([sample.mean(axis=1) for sample in samples])
    selected, remaining = rank_entries(
        np.abs(means - no_effect).max(axis=0), max_entries
    )
    selected = np.sort(selected)
    return selected[np.argsort(-means.max(axis=0)[selected], kind="stable")], remaining


def standard_deviation(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation of each line's draws, without overflow."""
    scale = np.abs(draws).max(initial=0.0)
    return scale * (draws / scale).std(axis=1) if scale > 0 else np.zeros(len(draws))
