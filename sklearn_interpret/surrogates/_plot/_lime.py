"""Display of the surrogate around one row of a table, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from sklearn_interpret._plotting.labels import literal, shorten
from sklearn_interpret._plotting.ranked_bars import name_rows, row_height
from sklearn_interpret.surrogates._lime_tabular import LimeTabular
from sklearn_interpret.surrogates._plot._base import LocalDisplay

if TYPE_CHECKING:
    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret.surrogates._plot._base import Weights

# Inches: width of the only panel, of one of several, and height of a title.
_WIDTH = 7.0
_NARROW_WIDTH = 5.0
_TITLE_HEIGHT = 0.4


class LimeDisplay(LocalDisplay):
    """Weights of the surrogate around one row, as bars.

    Build it with `from_estimator` or `from_explanation`. Orange bars raise the
    response, blue ones lower it. Each stands for a condition that the row meets, such
    as "age > 50", or for one standard deviation of a feature. The title has the model's
    response and the local R² of the surrogate: the lower it is, the less the bars say.

    Parameters
    ----------
    explanation : LocalExplanation
        The explained row, or several of which `row` is drawn.
    row : int, default=None
        Position of the row to draw; None takes the only one.
    target : class label or int, default=None
        The output to draw; None draws all, side by side, or of more than six the
        three of the largest responses.
    response_name : str, default=None
        Response that the weights add to; None says "response".

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of Axes of shape (n_outputs,)
        One for each output.
    bars_ : list of BarContainer
        For each output the bars, from the top.
    errors_ : list of LineCollection or None
        Two standard errors to each side of the bars' ends, where there are some.

    See Also
    --------
    LimeTabular : Explains rows.
    LimeTextDisplay : For texts.
    LimeImageDisplay : For images.

    Examples
    --------
    >>> from sklearn_interpret.surrogates import LimeDisplay, LocalExplanation
    >>> explanation = LocalExplanation(
    ...     values=[[0.5, 0.0, -2.0]],
    ...     base_values=[1.0],
    ...     feature_names=["age", "income", "debt"],
    ...     scales=[10.0, 1.0, 1.0],
    ... )
    >>> display = LimeDisplay.from_explanation(explanation)
    >>> display.to_frame()[["feature", "weight", "effect"]]
      feature  weight  effect
    0     age     0.5     5.0
    1    debt    -2.0    -2.0
    """

    _kinds = (LimeTabular,)

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 12,
        n_cols: int = 3,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is divided up for several outputs.
        max_entries : int, default=12
            Largest number of bars; None shows all features that are selected.
        n_cols : int, default=3
            Largest number of outputs side by side.
        bar_kw : dict, default=None
            Style of the bars.

        Returns
        -------
        self : LimeDisplay
            The display.

        Raises
        ------
        ValueError
            Several rows and no `row`; an unknown `target`.
        """
        row, outputs = self._position(), self._outputs()
        weights = [self._weights(row, output) for output in outputs]
        n_bars = max(len(output_weights[:max_entries]) for output_weights in weights)
        width = _WIDTH if len(outputs) == 1 else _NARROW_WIDTH
        size = width, row_height(n_bars) + _TITLE_HEIGHT
        canvas = self._take_grid(ax, len(outputs), n_cols, size)
        for axes, output_weights, output in zip(
            self.axes_, weights, outputs, strict=True
        ):
            axes.set_title(literal(self._title(row, output)), fontsize="medium")
            name_rows(axes, output_weights.names[:max_entries])
        if canvas.own_figure:
            # Settles the width that names leave to bars and numbers.
            canvas.figure.figure.draw_without_rendering()
        bar_kwargs: Style = {"kind": "features", "max_entries": max_entries}
        self._draw_bars(self.axes_, outputs, weights, bar_kw, **bar_kwargs)
        return self

    def _label(self, output: int) -> str:
        """Label of the axis along which the bars are drawn."""
        response = shorten(self._response(output), self._most_letters)
        if (self.explanation.scales == 1).all():
            return f"{response}\n(what it adds)"
        if self.explanation.conditions is None:
            return f"{response}\n(change for one standard deviation more)"
        return f"{response}\n(what it adds, or one standard deviation more)"

    def _names_of(self, row: int) -> Sequence[str]:
        return self.explanation.labels(row)

    def to_frame(self) -> Any:
        """Weights of the features that are selected, as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each feature and output, the largest effects of an output first:
            columns "output", "feature", "condition", "weight", "effect" (the weight
            times the feature's scale) and "standard_error" (of the effect, NaN where
            there is none).

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        return self._weights_frame(self._columns)

    def _columns(self, row: int, weights: Weights) -> dict[str, Any]:
        explanation = self.explanation
        texts = explanation.texts(row)
        return {
            "feature": [explanation.feature_names[j] for j in weights.features],
            "condition": [texts[j] for j in weights.features],
            "weight": weights.weights / explanation.scales[weights.features],
            "effect": weights.weights,
            "standard_error": weights.errors,
        }
