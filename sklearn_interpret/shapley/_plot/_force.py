"""Display of predictions between the features that push them up and down."""

from __future__ import annotations

from typing import Any, Self

from sklearn_interpret._plotting.axes import take_single
from sklearn_interpret._plotting.bars import others_text
from sklearn_interpret._plotting.labels import literal, shorten
from sklearn_interpret.shapley._plot._balance import draw_balance, draw_balances
from sklearn_interpret.shapley._plot._base import strongest
from sklearn_interpret.shapley._plot._rows import OrderedRowsDisplay


class ShapleyForceDisplay(OrderedRowsDisplay):
    """Predictions where the forces of the features balance, for one row or many.

    Build it with `from_estimator` or `from_explanation`. For one row, arrows along a
    line lead to the prediction: from the left those of features that raise it, from the
    right those of features that lower it, the strongest next to it. Many rows stand
    side by side: below the line of predictions what raises them, above it what
    lowers them, in one colour for each of the strongest features.

    Parameters
    ----------
    explanation : Explanation
        The explained rows.
    row : int, default=None
        Position of a row to draw alone; None draws all rows.
    target : class label or int, default=None
        The output to draw; None takes the only one.
    response_name : str, default=None
        What the values are shares of; None says "response".
    order : {"similarity", "prediction", "input"}, int or str, default="similarity"
        In which order several rows stand: rows with similar Shapley values side by
        side (hierarchical clustering), by the prediction, as they were given, or by
        the values of a feature, given by position or name.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    row_order_ : ndarray of shape (n_rows,)
        Positions of the rows as drawn, from the left.
    ups_, downs_ : PolyCollection or None
        The arrows of one row, those next to the prediction first.
    labels_ : list of Text
        Text below the arrows of one row.
    areas_ : list of PolyCollection
        The areas of several rows, one for each feature drawn, that of the other
        features last.
    base_line_, prediction_line_ : artist
        Lines at the base value and at the prediction.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    ShapleyWaterfallDisplay : One row, with a line for each feature.

    References
    ----------
    .. [1] Z. Bar-Joseph, D. K. Gifford and T. S. Jaakkola, "Fast optimal leaf ordering
       for hierarchical clustering", Bioinformatics 17, 2001.
       https://doi.org/10.1093/bioinformatics/17.suppl_1.S22

    Examples
    --------
    >>> from sklearn_interpret.explanations import Explanation
    >>> from sklearn_interpret.shapley import ShapleyForceDisplay
    >>> explanation = Explanation(
    ...     [[1.0, -3.0], [0.5, 2.0], [0.0, 1.0]], [10.0, 10.0, 10.0],
    ...     feature_names=["age", "income"],
    ... )
    >>> display = ShapleyForceDisplay.from_explanation(explanation, order="prediction")
    >>> display.row_order_
    array([0, 2, 1])
    >>> one = ShapleyForceDisplay.from_explanation(explanation, row=1)
    >>> [text.get_text() for text in one.labels_]
    ['income (+2.0)', 'age (+0.5)']
    """

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 7,
        force_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one row as a line of arrows, or several as areas.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=7
            Largest number of arrows or colours, the other features' included; None
            draws each feature on its own.
        force_kw : dict, default=None
            Style of the arrows or areas.

        Returns
        -------
        self : object
            The display.
        """
        explanation = self._rows()
        self.row_order_ = self._row_order(explanation)
        shown, parts, _ = strongest(explanation, max_entries)
        single = len(explanation) == 1
        ax = take_single(ax, (9.0, 3.0 if single else 4.2), caller=self._caller())
        self.figure_, self.ax_ = ax.figure, ax
        draw = self._draw_one if single else self._draw_many
        drawn = draw(ax, explanation, parts, shown, force_kw)
        self.ups_, self.downs_, self.areas_ = drawn.ups, drawn.downs, list(drawn.areas)
        self.labels_, self.legend_ = list(drawn.labels), drawn.legend
        self.base_line_, self.prediction_line_ = drawn.base, drawn.prediction
        return self

    def _draw_one(self, ax, explanation, parts, shown, style):
        names = self._entries([(j,) for j in shown])
        ax.set_xlabel(literal(shorten(self._response(), 60)))
        return draw_balance(
            ax,
            parts[0],
            _with_others(names, explanation),
            base=explanation.base_values[0],
            prediction=explanation.predictions_or_sums[0],
            style=style,
        )

    def _draw_many(self, ax, explanation, parts, shown, style):
        names = [explanation.feature_names[j] for j in shown]
        ordered = explanation[self.row_order_]
        drawn = draw_balances(
            ax,
            parts[self.row_order_],
            _with_others(names, explanation),
            n_alone=len(shown),
            bases=ordered.base_values,
            predictions=ordered.predictions_or_sums,
            style=style,
        )
        ax.set_ylabel(literal(shorten(self._response(), 40)))
        self._name_order(ax, explanation)
        return drawn


def _with_others(names, explanation):
    """The names, and one for the net push of the features that have none."""
    n_others = len(explanation.feature_names) - len(names)
    others = others_text(n_others, explanation.columns)
    return names + ([f"{others}, net"] if n_others else [])
