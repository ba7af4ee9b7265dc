"""Display of a network of features on a circle."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._plotting.matrices import check_strengths
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.interactions._plot._circle import strongest_subnetwork
from sklearn_interpret.interactions._plot._network import Network, NetworkMixin
from sklearn_interpret.interactions._plot._sources import InteractionSources, one_output
from sklearn_interpret.interactions._variable_interaction_network import (
    VariableInteractionNetwork,
)

if TYPE_CHECKING:
    from sklearn_interpret._plotting.sources import Data


@dataclass(eq=False, repr=False)
class VariableInteractionNetworkDisplay(InteractionSources, NetworkMixin):
    """Features on a circle, joined where they interact.

    The stronger an edge, the wider and darker it is; the larger a node, the larger the
    feature's effect alone. Features without an edge are grey.

    Build it with `from_estimator`, or from arrays of your own, such as the strengths
    that other inspectors find for pairs.

    Parameters
    ----------
    adjacency : array-like of shape (n_features, n_features)
        Symmetric strengths of the edges, zero or NaN where there is none; the diagonal
        is left out.
    feature_names : sequence of str
        Name of each feature.
    main_effects : array-like of shape (n_features,), default=None
        Sizes of the nodes; None draws them alike.
    strength_name : str, default="Share of variance"
        Name of the numbers, for the legend.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    edges_ : LineCollection
        The edges, the weakest first.
    nodes_ : PathCollection
        The nodes, in the order of the features.
    labels_ : list of Annotation
        Their names.
    legend_ : matplotlib Legend or None
        Widths and sizes of some strengths and main effects.
    note_ : Text or None
        Numbers of edges and features that are not drawn.

    See Also
    --------
    sklearn_interpret.interactions.VariableInteractionNetwork : What it shows.

    Examples
    --------
    >>> from sklearn_interpret.interactions import VariableInteractionNetworkDisplay
    >>> display = VariableInteractionNetworkDisplay(
    ...     [[0, 0.3], [0.3, 0]], feature_names=["age", "income"]
    ... ).plot()
    >>> display.to_frame()
      feature feature2  strength
    0     age   income       0.3
    """

    _kinds = (VariableInteractionNetwork,)
    _choices = frozenset({"target"})

    adjacency: ArrayLike
    _: KW_ONLY
    feature_names: Any
    main_effects: ArrayLike | None = None
    strength_name: str = "Share of variance"

    @classmethod
    def _from_inspector(
        cls, inspector: VariableInteractionNetwork, data: Data, *, target: Any = None
    ) -> Self:
        output = output_position(inspector.output_names_, target)
        display = cls(
            one_output(inspector.adjacency_, 2, output),
            main_effects=one_output(inspector.main_effects_, 1, output),
            feature_names=list(inspector.player_names_),
        )
        return display._set_response(inspector, target)

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 40,
        max_edges: int | None = 60,
        edge_kw: dict[str, Any] | None = None,
        node_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the network.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure. The axes' frame is switched off.
        max_entries : int, default=40
            Largest number of features: those with the strongest edges, and then those
            with the largest main effects. None shows all.
        max_edges : int, default=60
            Largest number of edges, the strongest; None shows all. A note says what is
            not drawn.
        edge_kw, node_kw : dict, default=None
            Styles of the edges and of the nodes.

        Returns
        -------
        self : object
            The display.

        Raises
        ------
        ValueError
            A `max_entries` or `max_edges` that is not a positive whole number, or
            arrays that do not fit each other.
        """
        network = Network(list(self.feature_names), *self._check_arrays())
        self._draw_network(ax, network, max_entries, max_edges, edge_kw, node_kw)
        return self

    def _check_arrays(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Adjacency and main effects, checked against the names."""
        n_features = len(self.feature_names)
        adjacency = check_strengths(
            self.adjacency, (n_features, n_features), "adjacency"
        )
        return adjacency, check_strengths(
            self.main_effects, (n_features,), "main_effects"
        )

    def to_frame(self) -> Any:
        """All edges as a DataFrame, the strongest first, and all main effects.

        Returns
        -------
        pandas.DataFrame
            With the columns "feature", "feature2" and "strength"; where there are main
            effects, these follow in the column "main_effect", on one line for each
            feature, without a second one.
        """
        adjacency, main_effects = self._check_arrays()
        names = list(map(str, self.feature_names))
        subnetwork = strongest_subnetwork(adjacency, main_effects, None, None)
        firsts, seconds = subnetwork.edges[::-1].T
        n_nodes = 0 if main_effects is None else len(names)
        seconds = [names[position] for position in seconds] + [None] * n_nodes
        columns = {
            "feature": [names[position] for position in firsts] + names[:n_nodes],
            "feature2": seconds,
            "strength": np.append(subnetwork.strengths[::-1], np.full(n_nodes, np.nan)),
        }
        if main_effects is not None:
            unknown = np.full(len(firsts), np.nan)
            columns["main_effect"] = np.append(unknown, main_effects)
        return self._frame(columns).astype({"feature2": "string"})
