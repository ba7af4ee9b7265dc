"""Display of tests whether features are needed, given the others."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from sklearn_interpret._plotting.axes import add_legend, has_side_room
from sklearn_interpret._plotting.colours import colours, ink, paper
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.labels import (
    literal_lines,
    number_beside,
    p_text,
    write_near,
)
from sklearn_interpret._plotting.points import draw_points
from sklearn_interpret._plotting.ranked_bars import (
    BAR_HEIGHT,
    P_ROOM,
    draw_bars,
    draw_spreads,
    finish_bars,
    label_ends,
    make_pale,
    name_rows,
    row_height,
)
from sklearn_interpret._plotting.sources import checked_numbers
from sklearn_interpret.importance._conditional_importance_test import (
    ConditionalImportanceTest,
)

_WIDTH, _HEADING = 6.0, 0.4  # inches of a figure, and of what is above its axes
_COLUMN = 46  # points, the width of a column of scores
_POINTS_PER_INCH = 72
_MARK = {"marker": "D", "s": 30, "zorder": 3}
# Texts of the axis, by test.
_NAMES = {
    "gcm": "Share of the target's residual variance\nthat the feature's explains",
    "pcm": "Variance added to the prediction,\nin units of the residual variance",
    "hrt": "Increase of the {loss}\nwith redrawn values of the feature",
    "loco": "Increase of the {loss}\nwithout the feature",
}


@dataclass(eq=False, repr=False)
class ConditionalImportanceDisplay(Display):
    """Tests of features given the others, as bars with p-values.

    A mark at the end of a bar says that the feature is needed, given the others: its
    adjusted p-value is below `alpha`; other bars are pale. The numbers on the right
    are held-out R² of the two regressions that the test rests on. Build it with
    `from_estimator`, or from arrays of your own.

    Parameters
    ----------
    importances : array-like of shape (n_features,)
        Importances.
    feature_names : sequence of str
        Name of each feature.
    pvalues : array-like of shape (n_features,)
        Adjusted p-values, shown at the bars.
    alpha : float, default=0.05
        Features with p-values below it are marked; the intervals have the level
        1 - `alpha`.
    intervals_low, intervals_high : array-like of shape (n_features,), default=None
        Ends of the intervals of the importances.
    nuisance_scores : array-like of shape (n_features, 2), default=None
        Held-out R² of the predictions of target and feature from the other features.
        A column of NaN is not shown.
    importance_name : str, default="Importance"
        Name of the importances, for the axis.
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
    intervals_ : LineCollection or None
        The intervals.
    marks_ : PathCollection
        Marks at the features with p-values below `alpha`.
    labels_ : list of Annotation
        The p-values at the bars.
    scores_ : list of Annotation
        The numbers on the right, column by column; none on given axes of several in a
        figure whose layout makes no room for them.
    legend_ : matplotlib Legend
        The legend.

    See Also
    --------
    sklearn_interpret.importance.ConditionalImportanceTest : What it shows.

    Examples
    --------
    >>> from sklearn_interpret.importance import ConditionalImportanceDisplay
    >>> display = ConditionalImportanceDisplay(
    ...     [0.01, 0.3], feature_names=["age", "income"], pvalues=[0.2, 0.001]
    ... ).plot()
    >>> display.ax_.get_yticklabels()[0].get_text()
    'income'
    >>> display.to_frame()
      feature  importance  pvalue  selected
    0  income        0.30   0.001      True
    1     age        0.01   0.200     False
    """

    _kinds = (ConditionalImportanceTest,)
    _without = frozenset({"target_name", "unit"})

    importances: ArrayLike
    _: KW_ONLY
    feature_names: Any
    pvalues: ArrayLike
    alpha: float = 0.05
    intervals_low: ArrayLike | None = None
    intervals_high: ArrayLike | None = None
    nuisance_scores: ArrayLike | None = None
    importance_name: str = "Importance"
    pvalue_name: str = "adjusted p"

    @classmethod
    def _from_inspector(cls, inspector, data):
        loss = "Brier score" if is_classifier(inspector) else "squared error"
        return cls(
            inspector.importances_,
            feature_names=list(inspector.player_names_),
            pvalues=inspector.adjusted_p_values_,
            alpha=inspector.alpha,
            intervals_low=getattr(inspector, "intervals_low_", None),
            intervals_high=getattr(inspector, "intervals_high_", None),
            nuisance_scores=inspector.nuisance_scores_,
            importance_name=_NAMES[inspector.test].format(loss=loss),
            pvalue_name="p" if inspector.correction is None else "adjusted p",
        )

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw a bar for each feature, the most important on top.

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
        self : ConditionalImportanceDisplay
            The display.

        Raises
        ------
        ValueError
            A `max_entries` that is not a positive whole number, or arrays that do not
            fit each other.
        """
        table, n_left_out = self._columns(max_entries)
        names, lengths = table.pop("feature"), table["importance"]
        scores = {h: table[h] for h in ("target R²", "feature R²") if h in table}
        width = _WIDTH + len(scores) * _COLUMN / _POINTS_PER_INCH
        size = width, row_height(len(names)) + _HEADING
        canvas = self._make_canvas(ax, 1, 1, size)
        (ax,) = canvas.main
        self.ax_ = ax
        places = np.arange(len(names))[::-1]
        name_rows(ax, names)
        looks = {"height": BAR_HEIGHT}
        self.bars_ = draw_bars(ax, places, lengths, colours(1)[0], bar_kw, **looks)
        ends = [np.zeros(len(names)), lengths]
        self.intervals_ = None
        if "low" in table:
            ends += [table["low"], table["high"]]
            self.intervals_ = draw_spreads(ax, places, *ends[2:])
        marked = table["selected"]
        looks = {"facecolor": ink(ax), "edgecolor": paper(ax), **_MARK}
        self.marks_ = draw_points(ax, lengths[marked], places[marked], **looks)
        pale = make_pale(self.bars_, ~marked)
        texts = [p_text(pvalue) for pvalue in table["pvalue"]]
        reach = np.max(ends, axis=0)
        self.labels_ = label_ends(ax, reach, places, lengths, texts=texts, gap=8)
        label = literal_lines(self.importance_name)
        label += f"\n(features not drawn: {n_left_out})" * (n_left_out > 0)
        finish_bars(ax, np.array(ends), label, room=P_ROOM)
        self.scores_ = self._write_scores(scores, places)
        self.legend_ = self._explain(canvas, pale)
        return self

    def _columns(self, max_entries):
        """Columns of the table by name, the most important first; how many are left."""
        n_features = len(self.feature_names)
        lengths, pvalues, low, high = (
            self._checked(name, (n_features,))
            for name in ("importances", "pvalues", "intervals_low", "intervals_high")
        )
        scores = self._checked("nuisance_scores", (n_features, 2), finite=False)
        order = np.argsort(-lengths, kind="stable")[:max_entries]
        table = {"importance": lengths}
        if low is not None:
            table |= {"low": low, "high": high}
        table |= {"pvalue": pvalues, "selected": pvalues < self.alpha}
        if scores is not None:
            known = zip(("target R²", "feature R²"), scores.T, strict=True)
            table |= {name: one for name, one in known if not np.isnan(one).all()}
        table = {name: column[order] for name, column in table.items()}
        names = [str(self.feature_names[j]) for j in order]
        return {"feature": names, **table}, n_features - len(order)

    def _checked(self, name, shape, **how):
        values, of = getattr(self, name), f"{len(self.feature_names)} feature names"
        return (
            None
            if values is None
            else checked_numbers(values, name, [shape], of, **how)
        )

    def _write_scores(self, scores, places):
        """Columns of numbers to the right of the axes, with headings."""
        ax, written = self.ax_, []
        if not has_side_room(ax):
            return written
        looks = {"ha": "right", "annotation_clip": False}
        for column, (heading, values) in enumerate(scores.items(), start=1):
            right = _COLUMN * column
            above = {"va": "bottom", "xycoords": "axes fraction", **looks}
            write_near(ax, heading.replace(" ", "\n"), (1, 1), (right, 3), **above)
            level = {"va": "center", "xycoords": ("axes fraction", "data"), **looks}
            written += [
                write_near(
                    ax, number_beside(score, 1.0), (1, place), (right, 0), **level
                )
                for score, place in zip(values, places, strict=True)
                if np.isfinite(score)
            ]
        return written

    def _explain(self, canvas, pale):
        """The legend of marks, pale bars and intervals."""
        marks = self.marks_ if len(self.marks_.get_offsets()) else None
        below, above = (f"{self.pvalue_name} {sign} {self.alpha:g}" for sign in "<≥")
        entries = {below: marks, above: pale}
        entries[f"{100 * (1 - self.alpha):.4g} % interval"] = self.intervals_
        entries = {text: handle for text, handle in entries.items() if handle}
        return add_legend(canvas, list(entries.values()), list(entries))

    def to_frame(self) -> Any:
        """Results of all features, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A line for each feature, in the order of the figure, with the columns
            "feature", "importance", "low" and "high" (where there are intervals),
            "pvalue", "selected", "target R²" and "feature R²" (where they are known).
        """
        return self._frame(self._columns(None)[0])
