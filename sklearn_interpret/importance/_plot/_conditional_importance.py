"""Display of tests whether features are needed, given the others."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from sklearn_interpret._model.rows.number_format import number_beside, p_text
from sklearn_interpret._plotting.axes import has_side_room
from sklearn_interpret._plotting.colours import colours, ink, paper
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.labels import literal_lines, write_near
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
    pvalue_legend,
    row_height,
)
from sklearn_interpret._plotting.sources import check_numbers
from sklearn_interpret.importance._conditional_importance_test import (
    ConditionalImportanceTest,
)

if TYPE_CHECKING:
    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.sources import Data

_WIDTH = 6.0  # inches of a figure without columns of scores
_HEADING_HEIGHT = 0.4  # inches of the headings above the axes
_COLUMN_WIDTH = 46  # points of a column of scores
_POINTS_PER_INCH = 72
# Columns with the scores of the two models behind a test.
_SCORES = "target R²", "feature R²"
_SCORES_NOTE = "R²: held-out, of predictions\nfrom the other features"
# Marks of selected features.
_MARK = {"marker": "D", "s": 30, "zorder": 3}
# Texts of the axis, by test.
_NAMES = {
    "gcm": "Share of the target's residual variance\ndue to the feature's residuals",
    "pcm": "Share of the target's residual variance\ndue to its effect's residuals",
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
        The numbers on the right, column by column; none on given axes that are narrow,
        or of several in a figure whose layout makes no room for them.
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
      feature  importance  adjusted_pvalue  selected
    0  income        0.30            0.001      True
    1     age        0.01            0.200     False
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
    def _from_inspector(cls, inspector: ConditionalImportanceTest, data: Data) -> Self:
        loss = "Brier score" if is_classifier(inspector) else "squared error"
        return cls(
            inspector.importances_,
            feature_names=list(inspector.player_names_),
            pvalues=inspector.adjusted_pvalues_,
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
        table = self._table_columns(max_entries)
        scores = {name: table[name] for name in _SCORES if name in table}
        width = _WIDTH + len(scores) * _COLUMN_WIDTH / _POINTS_PER_INCH
        size = width, row_height(len(table["feature"])) + _HEADING_HEIGHT
        canvas = self._make_canvas(ax, 1, 1, size)
        (self.ax_,) = canvas.main
        self._draw_bars(table, bar_kw)
        self.scores_ = self._write_scores(scores)
        self.legend_ = pvalue_legend(
            canvas,
            self.bars_,
            table["selected"],
            self.alpha,
            self.pvalue_name,
            mark=self.marks_,
            intervals=self.intervals_,
            note=_SCORES_NOTE if self.scores_ else None,
        )
        return self

    def _draw_bars(self, table: dict[str, Any], style: Style | None) -> None:
        """Bars, intervals, marks and p-values."""
        ax, lengths, selected = self.ax_, table["importance"], table["selected"]
        name_rows(ax, table["feature"])
        places = np.arange(len(lengths))[::-1]
        self.bars_ = draw_bars(
            ax, places, lengths, colours(1)[0], style, height=BAR_HEIGHT
        )
        make_pale(self.bars_, ~selected)
        ends = [np.zeros(len(lengths)), lengths]
        self.intervals_ = None
        if "low" in table:
            ends += [table["low"], table["high"]]
            self.intervals_ = draw_spreads(ax, places, *ends[2:])
        mark_style: Style = {"facecolor": ink(ax), "edgecolor": paper(ax), **_MARK}
        self.marks_ = draw_points(ax, lengths[selected], places[selected], **mark_style)
        texts, reach = list(map(p_text, table["pvalue"])), np.max(ends, axis=0)
        self.labels_ = label_ends(ax, reach, places, lengths, texts=texts, gap=8)
        n_left_out = len(self.feature_names) - len(lengths)
        label = literal_lines(self.importance_name)
        label += f"\n(features not drawn: {n_left_out})" * (n_left_out > 0)
        finish_bars(ax, np.array(ends), label, room=P_ROOM)

    def _table_columns(self, max_entries: int | None) -> dict[str, Any]:
        """Columns of the table by name, the most important features first."""
        n_features = len(self.feature_names)
        lengths, pvalues, low, high = (
            self._check_array(name, (n_features,))
            for name in ("importances", "pvalues", "intervals_low", "intervals_high")
        )
        scores = self._check_array("nuisance_scores", (n_features, 2), finite=False)
        order = np.argsort(-lengths, kind="stable")[:max_entries]
        table: dict[str, Any] = {"importance": lengths}
        if low is not None:
            table |= {"low": low, "high": high}
        table |= {"pvalue": pvalues, "selected": pvalues < self.alpha}
        if scores is not None:
            named_scores = zip(_SCORES, scores.T, strict=True)
            table |= {
                name: values
                for name, values in named_scores
                if not np.isnan(values).all()
            }
        table = {name: column[order] for name, column in table.items()}
        return {"feature": [str(self.feature_names[j]) for j in order], **table}

    def _check_array(
        self, name: str, shape: tuple[int, ...], **check_kwargs: bool
    ) -> Any:
        """An array of the display, or None; its shape fits the names."""
        values = getattr(self, name)
        owner = f"{len(self.feature_names)} feature names"
        if values is None:
            return None
        return check_numbers(values, name, [shape], owner, **check_kwargs)

    def _write_scores(self, scores: dict[Any, Any]) -> list[Any]:
        """Columns of numbers to the right of the axes, with headings, if they fit."""
        width = len(scores) * _COLUMN_WIDTH / _POINTS_PER_INCH
        if not has_side_room(self.ax_, width):
            return []
        written = []
        heading: dict[str, Any] = {"ha": "right", "va": "bottom"}
        heading["xycoords"] = "axes fraction"
        number: dict[str, Any] = {"ha": "right", "va": "center"}
        number["xycoords"] = ("axes fraction", "data")
        for column, (name, values) in enumerate(scores.items(), start=1):
            right, text = _COLUMN_WIDTH * column, name.replace(" ", "\n")
            write_near(self.ax_, text, (1, 1), (right, 3), **heading)
            for row, score in enumerate(values, start=1):
                text = "" if np.isnan(score) else number_beside(score, 1.0)
                anchor = (1, len(values) - row)
                written.append(write_near(self.ax_, text, anchor, (right, 0), **number))
        return written

    def to_frame(self) -> Any:
        """Results of all features, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A line for each feature, in the order of the figure, with the columns
            "feature", "importance", "low" and "high" (where there are intervals),
            "adjusted_pvalue" ("pvalue" where nothing is adjusted), "selected",
            "target R²" and "feature R²" (where they are known).
        """
        table = self._table_columns(None)
        if self.pvalue_name != "p":
            table = {
                n.replace("pvalue", "adjusted_pvalue"): c for n, c in table.items()
            }
        return self._frame(table)
