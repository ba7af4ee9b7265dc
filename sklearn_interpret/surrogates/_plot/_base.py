"""Base of the displays of local surrogates: their arrays and their labels."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_interpret._plotting.bars import (
    draw_bars,
    draw_spreads,
    label_ends,
    name_rows,
    reach_ends,
)
from sklearn_interpret._plotting.colours import shade, sign_colours
from sklearn_interpret._plotting.curves import note_empty
from sklearn_interpret._plotting.displays import OneRowDisplay
from sklearn_interpret._plotting.labels import (
    column_texts,
    literal,
    number_text,
    plain_number_ticks,
    shorten,
)
from sklearn_interpret._plotting.tables import stacked
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.surrogates._lime_text import highlight
from sklearn_interpret.surrogates._local_explanation import (
    LocalExplanation,
    r_squared_text,
)

# Outputs drawn side by side where none is chosen, and as many of more.
MOST_OUTPUTS, FEW_OUTPUTS = 6, 3
N_ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Weights:
    """Features and their weights, in the order in which they are drawn."""

    features: np.ndarray  # (n,): positions of the features
    names: list  # what the weights are of
    weights: np.ndarray
    errors: np.ndarray  # standard errors, NaN where there are none

    def __len__(self):
        return len(self.names)

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

    def rounded(self, largest):
        """A copy in which weights that are only rounding errors are zero."""

        def rounded(numbers):
            return np.array([x if highlight(x, largest) else 0.0 for x in numbers])

        return replace(self, weights=rounded(self.weights), errors=rounded(self.errors))

    def first(self, most):
        """The first `most` of them; None takes all."""
        return self.those(np.arange(len(self))[:most])

    def those(self, places):
        """The weights at some places."""
        return Weights(
            self.features[places],
            [self.names[place] for place in places],
            self.weights[places],
            self.errors[places],
        )


class LocalDisplay(OneRowDisplay):
    """Base of the displays of one surrogate each."""

    _explanation_kind = LocalExplanation

    def _outputs(self):
        """Positions of the outputs that are drawn; of many the largest responses."""
        names = self.explanation.output_names
        if self.target is not None:
            return [output_position(names, self.target)]
        if len(names) <= MOST_OUTPUTS:
            return list(range(len(names)))
        return self._largest_outputs(FEW_OUTPUTS)

    def _largest_outputs(self, n):
        """Positions of the outputs of the largest responses to the sample."""
        responses = self.explanation[self._position()].predictions_or_sums.reshape(-1)
        return np.argsort(-responses, kind="stable")[:n].tolist()

    def _note(self, output):
        """A line below the first panel that tells of outputs that have none."""
        outputs = self._outputs()
        left = len(self.explanation.output_names) - len(outputs)
        if self.target is not None or not left or output != outputs[0]:
            return ""
        return f"\n({left} outputs of smaller responses are not shown)"

    def _weights(self, row, output):
        """Effects of the selected features, the largest first."""
        explanation = self.explanation

        def own(array):
            return array[row] if array.ndim == 2 else array[row, :, output]

        effects, selected = own(explanation.effects), own(explanation.selected)
        errors = np.full(len(effects), np.nan)
        if explanation.standard_errors is not None:
            errors = own(explanation.standard_errors) * explanation.scales
        order = np.argsort(-np.abs(effects), kind="stable")
        order = order[selected[order]]
        texts = self._names_of(row)
        names = [texts[j] for j in order]
        return Weights(order, names, effects[order], errors[order])

    def _frame(self, columns):
        """A table with lines for each output: `columns(row, weights)`."""
        row = self._position()
        parts = []
        for output in self._outputs():
            weights = self._weights(row, output)
            names = [self.explanation.output_names[output]] * len(weights)
            parts.append({"output": names, **columns(row, weights)})
        return stacked(parts, caller=f"{type(self).__name__}.to_frame")

    def _names_of(self, row):
        """A name for each feature of a sample."""
        return self.explanation.feature_names

    def _response(self, output):
        """The response drawn, with its output where there are several."""
        names = self.explanation.output_names
        return self._response_label(names, output)

    def _title(self, row, output):
        """The model's response, and how well the surrogate follows it: two lines."""

        def known(field, text):
            array = getattr(self.explanation, field)
            return [] if array is None else [text(np.ravel(array[row])[output])]

        first = [shorten(self._response(output), 48)]
        first += known("predictions", number_text)
        second = known("local_predictions", lambda x: f"surrogate = {number_text(x)}")
        second += known("fidelity", lambda share: f"local {r_squared_text(share)}")
        return f"{': '.join(first)}\n{', '.join(second)}"


def draw_weights(
    ax, weights, *, reach, most, label, what, style, note="", families=None
):
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
    note : str, default=""
        Further lines below the label.
    families : list of str, optional
        Fonts of the names.

    Returns
    -------
    bars : BarContainer
    errors : LineCollection or None
    """
    shown = weights.first(most)
    name_rows(ax, shown.names)
    for tick in ax.get_yticklabels() if families else []:
        tick.set_fontfamily(families)
    if not len(shown):
        note_empty(ax, f"no {what}")
        ax.set(ylim=(-0.6, 0.6), xticks=[])
        return ax.barh([], []), None
    values, margins = shown.weights, shown.margins
    places = np.arange(len(shown))[::-1]
    bars = draw_bars(ax, places, values, sign_colours(values), style, height=0.7)
    ax.axvline(0, color=shade(ax, 0.6), linewidth=0.8, zorder=2.5)
    errors = None
    if margins.any():
        ends = values - margins, values + margins
        errors = draw_spreads(ax, places, *ends, linewidth=1.0, zorder=3)
        label += "\n(thin lines: ±2 standard errors)"
    if len(shown) < len(weights):
        label += f"\n({len(weights) - len(shown)} weaker {what} have no bar)"
    longest = max(map(len, column_texts(values, signed=True)))
    reach_ends(ax, values, reach or 1.0, longest)
    ends = values + np.where(values < 0, -margins, margins)
    label_ends(ax, ends, places, values, signed=True, gap=3)
    plain_number_ticks(ax)
    ax.set_xlabel(literal(label + note))
    ax.spines[["top", "right", "left"]].set_visible(False)
    return bars, errors
