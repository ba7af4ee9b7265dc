"""Bars for the weights of features, with their errors and numbers."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_interpret._plotting.attributions import name_rows
from sklearn_interpret._plotting.axes import axes_inches, merged_style
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    DOWN_COLOUR,
    UP_COLOUR,
    literal,
)
from sklearn_interpret._plotting.numbers import number_text, plain_number_ticks
from sklearn_interpret.surrogates._lime_text import highlight

N_ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Weights:
    """Features and their weights, in the order in which they are drawn.

    Parameters
    ----------
    features : ndarray of shape (n,), intp
        Positions of the features.
    names : list of str
        What the weights are of.
    weights, errors : ndarray of shape (n,)
        Weights and their standard errors, NaN where there are none.
    """

    features: np.ndarray
    names: list
    weights: np.ndarray
    errors: np.ndarray

    @property
    def margins(self):
        """How far the errors reach beyond the weights, zero where there are none."""
        return N_ERRORS * np.nan_to_num(self.errors)

    @property
    def reach(self):
        """How far weights and errors reach from zero."""
        return float((np.abs(self.weights) + self.margins).max(initial=0.0))

    @property
    def largest(self):
        """Largest absolute weight."""
        return float(np.abs(self.weights).max(initial=0.0))

    def named(self, name_of):
        """The same with other names."""
        return replace(self, names=list(map(name_of, self.names)))

    def rounded(self, largest):
        """The same without weights that rounding has left beside a large one."""

        def rounded(numbers):
            return np.array([x if highlight(x, largest) else 0.0 for x in numbers])

        return replace(self, weights=rounded(self.weights), errors=rounded(self.errors))

    def first(self, most):
        """The first `most` of them; None takes all."""
        return self.those(np.arange(len(self.names))[:most])

    def those(self, places):
        """Those at some places."""
        return Weights(
            self.features[places],
            [self.names[place] for place in places],
            self.weights[places],
            self.errors[places],
        )


def draw_weight_bars(ax, weights, *, reach, most, label, what, style, families=None):
    """Draw weights as horizontal bars, the first on top.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    weights : Weights
        What to draw.
    reach : float
        How far the axes reaches to each side of zero.
    most : int or None
        Largest number of bars.
    label : str
        What the bars show.
    what : str
        What the weights are of: "words".
    style : dict or None
        Of the bars.
    families : list of str, optional
        Fonts of the names.

    Returns
    -------
    bars : BarContainer
    errors : LineCollection or None
    """
    from matplotlib.patches import Rectangle

    shown = weights.first(most)
    n_left = len(weights.names) - len(shown.names)
    name_rows(ax, shown.names)
    for tick in ax.get_yticklabels() if families else []:
        tick.set_fontfamily(families)
    if not shown.names:
        ax.text(
            0.5, 0.5, f"no {what}", transform=ax.transAxes, ha="center", va="center"
        )
        ax.set_ylim(-0.6, 0.6)
        ax.set_xticks([])
        return ax.barh([], []), None
    places = np.arange(len(shown.names))[::-1]
    colours = [UP_COLOUR if weight > 0 else DOWN_COLOUR for weight in shown.weights]
    defaults = {"color": colours, "height": 0.7, "zorder": 2}
    bars = ax.barh(places, shown.weights, **merged_style(defaults, style, Rectangle))
    ax.axvline(0, color="0.4", linewidth=0.8, zorder=2.5)
    errors = None
    if shown.margins.any():
        low, high = shown.weights - shown.margins, shown.weights + shown.margins
        errors = ax.hlines(places, low, high, color="black", linewidth=1.0, zorder=3)
        label += "\n(black: two standard errors to each side)"
    if n_left:
        label += f"\n({n_left} weaker {what} have no bar)"
    _set_range(ax, shown, reach)
    _write_numbers(ax, shown, places)
    plain_number_ticks(ax)
    ax.set_xlabel(literal(label))
    ax.spines[["top", "right", "left"]].set_visible(False)
    return bars, errors


def _set_range(ax, shown, reach):
    """A common range on all axes, as far as there are bars, with room for numbers."""
    reach = reach or 1.0
    texts = [number_text(weight, signed=True) for weight in shown.weights]
    inches = (max(map(len, texts), default=0) + 1) / CHARACTERS_PER_INCH
    sides = [(shown.weights < 0).any(), (shown.weights > 0).any()]
    n_sides = max(1, sum(sides))
    width = max(axes_inches(ax)[0] - n_sides * inches, 1.0)
    reach += n_sides * reach * inches / width
    low, high = (reach if there else 0.04 * reach for there in sides)
    ax.set_xlim(-low, high)


def _write_numbers(ax, shown, places):
    for weight, margin, place in zip(shown.weights, shown.margins, places, strict=True):
        down = weight < 0
        colour = DOWN_COLOUR if down else UP_COLOUR if weight > 0 else "0.4"
        ax.annotate(
            number_text(weight, signed=True),
            (weight - margin if down else weight + margin, place),
            xytext=(-3 if down else 3, 0),
            textcoords="offset points",
            ha="right" if down else "left",
            va="center",
            fontsize="small",
            color=colour,
        )
