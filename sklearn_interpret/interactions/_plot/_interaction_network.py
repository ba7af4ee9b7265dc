"""Display of components as a network of features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret.explanations import InteractionExplanation
from sklearn_interpret.explanations._selection import row_position
from sklearn_interpret.interactions._plot._components import (
    ROUNDING,
    ComponentDisplay,
    variances_and_shares,
)
from sklearn_interpret.interactions._plot._network import (
    LargerSet,
    Network,
    NetworkMixin,
)


@dataclass(eq=False, repr=False)
class InteractionNetworkDisplay(ComponentDisplay, NetworkMixin):
    """Components of a response as a network: of a model, or of one row.

    Features are nodes, pairs are edges, and larger sets are filled hulls. Of several
    rows, sizes and widths show the components' shares of the variance of the response,
    and colours the signs where some shares are negative. Of one row, they show the
    absolute values, and colours show the signs.

    Build it with `from_estimator` or `from_explanation`.

    Parameters
    ----------
    explanation : InteractionExplanation
        Components, or the values of an interaction index.
    row : int, default=None
        Row to draw, counted from 0. None takes all rows, or the only one.
    target : class label or int, default=None
        The output to draw; None takes the only one.
    response_name : str, default=None
        Name of the response; None takes the explanation's.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    edges_ : LineCollection
        The pairs, the weakest first.
    nodes_ : PathCollection
        The features, in their order.
    sets_ : list of Polygon
        The sets of three features and more, the strongest first.
    labels_ : list of Annotation
        Names of the features.
    legend_ : matplotlib Legend or None
        Widths and sizes of some pairs and features, and the larger sets.
    note_ : Text or None
        Numbers of edges, features and larger sets that are not drawn.

    See Also
    --------
    FunctionalDecompositionDisplay : Curves and surfaces of the components.

    Examples
    --------
    >>> from sklearn_interpret.explanations import InteractionExplanation
    >>> from sklearn_interpret.interactions import InteractionNetworkDisplay
    >>> explanation = InteractionExplanation(
    ...     [[1.0, -3.0, 0.5]], [10.0], [(0,), (1,), (0, 1)], predictions=[8.5],
    ...     feature_names=["age", "income"],
    ... )
    >>> InteractionNetworkDisplay.from_explanation(explanation).to_frame()
      interaction  order  value
    0      income      1   -3.0
    1         age      1    1.0
    2  age x income      2    0.5
    """

    explanation: InteractionExplanation
    _: KW_ONLY
    row: int | None = None
    target: Any = None
    response_name: str | None = None

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 40,
        max_edges: int | None = 60,
        max_sets: int | None = 3,
        edge_kw: dict[str, Any] | None = None,
        node_kw: dict[str, Any] | None = None,
        set_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the network.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure. The axes' frame is switched off.
        max_entries : int, default=40
            Largest number of features: those of the strongest pairs, and then those of
            the largest main effects. None shows all.
        max_edges : int, default=60
            Largest number of pairs, the strongest; None shows all.
        max_sets : int, default=3
            Largest number of larger sets, the strongest; None shows all.
        edge_kw, node_kw, set_kw : dict, default=None
            Styles of pairs, features and larger sets.

        Returns
        -------
        self : object
            The display.

        Raises
        ------
        ValueError
            A limit that is not a positive whole number, or nothing to draw.
        """
        limits, styles = (max_entries, max_edges), (edge_kw, node_kw)
        self._draw_network(ax, self._make_network(), *limits, *styles, max_sets, set_kw)
        return self

    def _make_network(self) -> Network:
        """The network: features as nodes, pairs as edges, and larger sets."""
        explanation, values, signed = self._values_of_sets()
        n_features = len(explanation.feature_names)
        adjacency = np.zeros((n_features, n_features))
        main_effects = np.zeros(n_features)
        larger_sets = []
        for members, value in zip(explanation.interactions, values, strict=True):
            if len(members) == 1:
                main_effects[members[0]] = value
            elif len(members) == 2:
                adjacency[members], adjacency[members[::-1]] = value, value
            elif value:
                larger_sets.append(LargerSet(members, value))
        larger_sets.sort(key=lambda larger_set: -abs(larger_set.strength))
        names = list(explanation.feature_names)
        return Network(names, adjacency, main_effects, larger_sets, signed)

    def _values_of_sets(
        self,
    ) -> tuple[InteractionExplanation, NDArray[np.float64], bool]:
        """The explanation drawn, a number for each set, and whether it has a sign."""
        explanation = self._output_explanation()
        if self.row is not None:
            explanation = explanation[[row_position(self.row, len(explanation))]]
        if len(explanation) > 1:
            shares = variances_and_shares(explanation)[1][:-1]
            return explanation, shares, bool((shares < 0).any())
        (values,) = explanation.values
        smallest = ROUNDING * np.abs(values).sum()
        return explanation, np.where(np.abs(values) > smallest, values, 0.0), True

    @property
    def _shows_one_row(self) -> bool:
        return self.row is not None or len(self.explanation) == 1

    def _strength_label(self) -> str:
        """Title of the legend."""
        if not self._shows_one_row:
            return f"Share of variance\n{self._full_response_label()}"
        index = self.explanation.index
        quantity = "Component" if index == "component" else index
        return f"{quantity}\n{self._append_row_name(self._full_response_label())}"

    def to_frame(self) -> Any:
        """All numbers drawn, as a DataFrame, the strongest first.

        Returns
        -------
        pandas.DataFrame
            One line per set of features, with its "interaction" (names), its "order"
            (number of features), and its "share" of the variance, or the "value" of
            one row.
        """
        explanation, values, _ = self._values_of_sets()
        ranks = np.argsort(-np.abs(values), kind="stable")
        columns = {
            "interaction": [
                explanation.interaction_names[position] for position in ranks
            ],
            "order": [len(explanation.interactions[position]) for position in ranks],
            "value" if self._shows_one_row else "share": values[ranks],
        }
        return self._frame(columns)
