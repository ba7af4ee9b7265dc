"""Display of rules: in words, with the classes of the rows they hold for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._model.rows.number_format import number_text, value_text
from sklearn_interpret._plotting.axes import add_legend, axes_inches
from sklearn_interpret._plotting.colours import PALETTE, shade, sign_colours, text_on
from sklearn_interpret._plotting.displays import DisplayMixin
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    lines_of,
    literal,
    plain_number_ticks,
    shorten,
    write_near,
)
from sklearn_interpret._plotting.ranked_bars import (
    draw_bars,
    draw_stacked_bars,
    label_ends,
)
from sklearn_interpret._plotting.sources import ForwardedSignature, model_within
from sklearn_interpret.rules._rules import Rule, rule_columns

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

    from sklearn_interpret._plotting.axes import Style

# Inches: width of a figure, height of a line of words, and of the title and the axis.
_FIGURE_WIDTH = 9.0
_LINE_HEIGHT = 0.165
_MARGIN_HEIGHT = 1.2
# Letters in a line of a rule, half of the figure's width, and lines of a rule.
_LETTERS = 46
_MAX_LINES = 4
# Lines: space between two rules, and thickness of a bar.
_GAP = 0.9
_BAR = 1.2
# Letters of a class name in the column of predictions.
_CLASS_LETTERS = 14
# Points: mean width of a small letter, and from the columns to the axes' edge.
_LETTER_WIDTH = 5.2
_EDGE = 6.0
_LEAST_BARS_SHARE = 0.3  # of the axes, next to the columns


def _percent_text(share: float) -> str:
    """A share in per cent, of two digits where it is small."""
    return f"{number_text(100 * share, 2)} %"


@dataclass(eq=False, repr=False)
class RulesDisplay(DisplayMixin):
    """Rules in words, with the classes of the rows for which each holds.

    Build it with `from_estimator`. Each rule has a line: its conditions, bars for the
    shares of the classes (of a regression, for predictions or coefficients), the class
    predicted, the number and share of rows, and the precision, of which a narrow axes
    has the first. Of a list, the first rule that holds for a row decides.

    Parameters
    ----------
    rules : sequence of Rule
        The rules, all with shares of the classes or all without.
    classes : array-like of shape (n_classes,), default=None
        Names of the classes.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    bars_ : list of BarContainer
        The bars of each class, or of the numbers.
    texts_ : list of Text
        Texts next to the bars, and in those of many classes.
    legend_ : Legend or None
        Names of the classes, if there are few.

    See Also
    --------
    RIPPERClassifier : A list of rules.
    SkopeRulesClassifier : Rules that vote.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.rules import OneRClassifier, RulesDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = RulesDisplay.from_estimator(OneRClassifier().fit(X, y))
    >>> display.to_frame()[["rule", "prediction", "coverage"]].head(2)
                                 rule  prediction  coverage
    0         petal width (cm) <= 0.8           0  0.333333
    1  0.8 < petal width (cm) <= 1.75           1  0.360000
    """

    rules: Sequence[Rule]
    _: KW_ONLY
    classes: ArrayLike | None = None

    @ForwardedSignature
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **params: Any) -> Self:
        """Draw the rules of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            A model that has `rules_`, or a pipeline or search that ends with one.
        ax : matplotlib Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of `plot`.

        Returns
        -------
        display : RulesDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            The estimator has no rules.
        """
        model, _ = model_within(estimator, ("rules_",), cls.__name__)
        display = cls(model.rules_, classes=getattr(model, "classes_", None))
        return display.plot(ax, **params)

    def plot(
        self,
        ax: Any = None,
        *,
        max_rules: int | None = 12,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the rules.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_rules : int, default=12
            Largest number of rules that are drawn: the first, and the default where
            there is one. None draws all.
        bar_kw : dict, default=None
            Style of the bars.

        Returns
        -------
        self : RulesDisplay
            The display.

        Raises
        ------
        ValueError
            No rules, or shares of another number of classes than there are.
        """
        rules, classes, n_left_out = self._drawn_rules(max_rules)
        self._name_rules(ax, rules, n_left_out)
        if classes is None:
            self._draw_numbers(rules, bar_kw)
        else:
            self._draw_shares(rules, classes, bar_kw)
        return self

    def _drawn_rules(self, max_rules: int | None) -> tuple[list[Rule], Any, int]:
        """Rules to be drawn, the classes of their shares, how many are left out."""
        rules = list(self.rules)
        if not rules:
            raise ValueError("rules is empty: there is nothing to draw.")
        n_shares = {None if rule.shares is None else len(rule.shares) for rule in rules}
        classes: Any = None
        if n_shares != {None}:
            classes = self.classes
            if classes is None:
                classes = range(max(filter(None, n_shares)))
            if n_shares != {len(classes)}:
                raise ValueError(
                    f"rules must all have shares of {len(classes)} classes; they have "
                    f"{' or '.join(sorted(map(str, n_shares)))}."
                )
        n_left_out = 0
        if max_rules is not None and len(rules) > max_rules:
            n_left_out = len(rules) - max_rules
            default = [] if rules[-1].conditions or max_rules == 1 else rules[-1:]
            rules = rules[: max_rules - len(default)] + default
        return rules, classes, n_left_out

    def _name_rules(self, ax: Axes, rules: list[Rule], n_left_out: int) -> None:
        """Axes with the conditions of the rules to the left."""
        letters, max_lines = _LETTERS, _MAX_LINES
        if hasattr(ax, "get_position"):
            width, height = axes_inches(ax)
            letters = int(np.clip(width * CHARACTERS_PER_INCH / 2, 16, _LETTERS))
            lines_per_rule = height / _LINE_HEIGHT / len(rules) - _GAP
            max_lines = int(np.clip(lines_per_rule, 1, _MAX_LINES))
        conditions = [[*map(str, rule.conditions)] or ["otherwise"] for rule in rules]
        words = [
            lines_of(rule_conditions, letters, max_lines)
            for rule_conditions in conditions
        ]
        n_lines = np.array([len(lines) + _GAP for lines in words])  # with the gaps
        size = _FIGURE_WIDTH, n_lines.sum() * _LINE_HEIGHT + _MARGIN_HEIGHT
        self._canvas = self._take_grid(ax, 1, 1, size)
        (self.ax_,) = self._canvas.main
        self.legend_: Legend | None = None
        self.texts_: list[Any] = []
        self._centres = n_lines.cumsum() - n_lines / 2
        texts = [literal("\n".join(lines)) for lines in words]
        self.ax_.set_yticks(self._centres, texts, fontsize="small")
        self.ax_.set_ylim(n_lines.sum(), 0)
        self.ax_.tick_params(axis="y", length=0, grid_linewidth=0)
        # A layout, or `make_room`, takes the room of the words from the axes.
        longest = max(len(line) for lines in words for line in lines)
        figure_width = self._canvas.figure.figure.get_figwidth()
        self._axes_width = figure_width - longest * _LETTER_WIDTH / 72
        if ax is not None:
            self._axes_width = 0.75 * axes_inches(ax)[0]
        if n_left_out:
            more_rules = "more rule" if n_left_out == 1 else "more rules"
            title = f"{n_left_out} {more_rules} not shown"
            self.ax_.set_title(title, loc="left", fontsize="small")

    def _draw_shares(
        self, rules: list[Rule], classes: Sequence[Any], style: Style | None
    ) -> None:
        """Stacked bars, with a legend; names in the bars if the legend has no room."""
        shares = np.array([rule.shares for rule in rules])
        bars = draw_stacked_bars(self.ax_, self._centres, shares, style, height=_BAR)
        self.bars_, names = bars, [value_text(name) for name in classes]
        self._write_columns(rules, "predicts", (0, 1))
        self.ax_.set_xlabel("share of each class", x=self._bars_share / 2)
        if self._canvas.own_figure and len(classes) <= len(PALETTE):
            handles: list[Artist] = [class_bars.patches[0] for class_bars in bars]
            self.legend_ = add_legend(self._canvas, handles, names)
            return
        room = self._bars_share * self._axes_width * CHARACTERS_PER_INCH
        text_style: Style = {"fontsize": "small", "ha": "center", "va": "center"}
        for class_bars, name in zip(bars, names, strict=True):
            for bar in class_bars:
                if 0 < len(name) + 1 <= bar.get_width() * room:
                    text_style["color"] = text_on(bar.get_facecolor())
                    x, y = bar.get_center()
                    text = self.ax_.text(x, y, literal(name), **text_style)
                    self.texts_.append(text)

    def _draw_numbers(self, rules: list[Any], style: Style | None) -> None:
        """Bars of the coefficients, or predictions, of the rules."""
        attribute = "coef" if hasattr(rules[0], "coef") else "prediction"
        values = np.array(
            [getattr(rule, attribute) for rule in rules], dtype=np.float64
        )
        fills = sign_colours(values)
        bars = draw_bars(self.ax_, self._centres, values, fills, style, height=_BAR)
        self.bars_ = [bars]
        self.ax_.axvline(0, color=shade(self.ax_, 0.5), linewidth=0.8, zorder=1)
        self.ax_.margins(x=0.25)
        limits = self.ax_.get_xlim()
        of_class = attribute == "coef" and rules[0].prediction is not None
        self._write_columns(rules, "class" if of_class else None, limits)
        self.ax_.set_xlabel(attribute, x=self._bars_share / 2)
        self.texts_ += label_ends(self.ax_, values, self._centres, values, signed=True)

    def _write_columns(
        self, rules: list[Rule], heading: str | None, limits: tuple[float, float]
    ) -> None:
        """Classes, where they have a heading, coverage, precision: as many as fit."""
        columns = {}
        if heading is not None:
            predicted = [value_text(rule.prediction) for rule in rules]
            columns[heading] = [shorten(name, _CLASS_LETTERS) for name in predicted]
        columns |= self._coverage_column(rules)
        values = [rule.precision for rule in rules]
        if set(values) != {None}:
            columns["precision"] = ["" if v is None else f"{v:.2f}" for v in values]
        ax, edge = self.ax_, _EDGE
        widths = {
            name: _LETTER_WIDTH * (max(map(len, [name, *texts])) + 2)
            for name, texts in columns.items()
        }
        most = (1 - _LEAST_BARS_SHARE) * 72 * self._axes_width - _EDGE
        while sum(widths.values()) > most and widths:  # the bars would lie behind them
            widths.popitem()
        text_style: Style = {"xycoords": ax.get_yaxis_transform(), "ha": "right"}
        for heading_text, width in reversed(widths.items()):
            texts = columns[heading_text]
            head = write_near(
                ax, heading_text, (1, 0), (-edge, 4), va="bottom", **text_style
            )
            cells = [
                write_near(
                    ax, text, (1, position), (-edge, 0), va="center", **text_style
                )
                for position, text in zip(self._centres, texts, strict=True)
            ]
            self.texts_ += [head, *cells]
            edge += width
        # The bars have the rest of the axes.
        self._bars_share = 1 - edge / 72 / self._axes_width
        max_ticks = int(np.clip(2 * self._bars_share * self._axes_width, 1, 6))
        plain_number_ticks(ax, most=max_ticks)
        ax.set_xlim(limits)
        low, high = limits
        ax.set_xticks([tick for tick in ax.get_xticks() if low <= tick <= high])
        ax.set_xlim(low, low + (high - low) / self._bars_share)

    def _coverage_column(self, rules: list[Rule]) -> dict[str, list[str]]:
        """A column with numbers and shares of rows; shares if numbers are unknown."""
        shares = [_percent_text(rule.coverage) for rule in rules]
        totals = [r.n_rows / r.coverage for r in self.rules if r.n_rows and r.coverage]
        if not totals:
            return {"coverage": shares}
        counts = [number_text(rule.n_rows or 0.0) for rule in rules]
        pairs = zip(counts, shares, strict=True)
        return {f"of {totals[0]:,.0f} rows": [f"{n} ({s})" for n, s in pairs]}

    def to_frame(self) -> Any:
        """Return all rules as a table, one row for each.

        Returns
        -------
        pandas.DataFrame
            As `to_frame` of the model.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        _, classes, _ = self._drawn_rules(None)
        return self._frame(rule_columns(self.rules, classes))
