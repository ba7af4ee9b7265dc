"""Display of the mean size of Shapley interaction values, as a table of pairs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.parallel import rows_in_memory, slices
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._plotting.colours import NEUTRAL_COLOUR, SEQUENTIAL_MAP
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.labels import literal, shorten
from sklearn_interpret._plotting.matrices import check_strengths, draw_table, table_size
from sklearn_interpret._plotting.sources import response_name
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.shapley._plot._base import ShapleyDisplay
from sklearn_interpret.shapley._values import ShapleyValues

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

    from sklearn_interpret._plotting.sources import Data

# Notes below the table.
NOTES = (
    "diagonal: main effects, grey beyond the pairs' scale",
    "other cells: half of the pair's interaction",
)


@dataclass(eq=False, repr=False)
class ShapleyInteractionDisplay(Display):
    """Mean absolute Shapley interaction values, as a table of pairs of features.

    Build it with `from_estimator`, for an inspector that has `interaction_values`, or
    from an array of your own, such as
    ``np.abs(inspector.interaction_values(X)).mean(axis=0)``. On the diagonal are the
    main effects. What a pair does together is split into halves, one in each of its two
    cells. The strongest feature is on top. The colours span the pairs; main effects
    beyond their scale are grey.

    Parameters
    ----------
    interactions : array-like of shape (n_features, n_features)
        Mean absolute interaction values, symmetric, in the response's unit.
    feature_names : sequence of str
        Name of each feature.
    response_name : str, default="response"
        Response that the values add up to.
    output_names : sequence, default=None
        Name of the output; None where there is one without a name.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    heatmap_ : QuadMesh
        The table, the strongest feature first.
    labels_ : list of Text
        The numbers, where cells have room for them.
    colorbar_ : matplotlib Colorbar
        The colour bar.

    See Also
    --------
    ShapleyDependenceDisplay : The interaction values of one pair, row by row.
    HStatisticDisplay : Interactions of partial dependences.

    Examples
    --------
    >>> from sklearn_interpret.shapley import ShapleyInteractionDisplay
    >>> display = ShapleyInteractionDisplay(
    ...     [[2.0, 0.5], [0.5, 1.0]], feature_names=["age", "income"]
    ... ).plot()
    >>> display.to_frame()
      feature feature2  interaction_value
    0     age      age                2.0
    1  income   income                1.0
    2     age   income                0.5
    """

    interactions: ArrayLike
    _: KW_ONLY
    feature_names: Any
    response_name: str = "response"
    output_names: Any = None

    _kinds = (ShapleyValues, "interaction_values")
    _choices: ClassVar[frozenset[str]] = frozenset({"target"})
    _shows_rows: ClassVar[bool] = True
    _check_request = ShapleyDisplay._check_request

    @classmethod
    def _from_inspector(cls, inspector: Any, data: Data, *, target: Any = None) -> Self:
        if not hasattr(inspector, "interaction_values"):
            raise TypeError(
                f"{type(inspector).__name__} has found an algorithm without "
                'interaction values: choose algorithm="exact", "kernel" or "tree".'
            )
        rows = as_rows(data.X)
        names, outputs = inspector.player_names_, inspector.output_names_
        output, n_features = output_position(outputs, target), len(names)
        total = np.zeros((n_features, n_features, len(outputs)))
        for rows_slice in slices(rows.n_rows, rows_in_memory(total.nbytes)):
            values = inspector.interaction_values(rows.sliced(rows_slice).native)
            total += np.abs(values).reshape(-1, *total.shape).sum(axis=0)
        return cls(
            total[..., output] / rows.n_rows,
            feature_names=names,
            response_name=response_name(inspector),
            output_names=[outputs[output]],
        )

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 10,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the table of the strongest features.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=10
            Largest number of features; None shows all. The others are left out.
        heatmap_kw : dict, default=None
            Style of the table.

        Returns
        -------
        self : object
            The display.

        Raises
        ------
        ValueError
            A `max_entries` that is not a positive int, or an array that is not a table
            of strengths.
        """
        table = self._check_interactions()
        order = np.argsort(-table.sum(axis=1), kind="stable")[:max_entries]
        ax = self._take_axes(ax, table_size(len(order)))
        strengths = table[np.ix_(order, order)]
        largest_pair = strengths[np.triu_indices(len(order), 1)].max(initial=0.0)
        response = shorten(self._response_label(self.output_names, 0), 44)
        label = literal(f"{response}\n(mean |interaction value|)")
        style = heatmap_kw or {}
        if 0 < largest_pair < strengths.max():
            style = {"cmap": _map_of_pairs(), **style}
        names, highest = self.feature_names, largest_pair or None
        self.heatmap_, self.colorbar_, self.labels_ = draw_table(
            ax, table, names, order, label, style, notes=NOTES, highest=highest
        )
        return self

    def _check_interactions(self) -> NDArray[np.float64]:
        """The interactions, symmetric and without missing values."""
        table = np.asarray(self.interactions, dtype=np.float64)
        shape = (len(self.feature_names),) * 2
        if table.shape == shape and np.allclose(table, table.T):
            table = (table + table.T) / 2  # without rounding errors
        table = check_strengths(table, shape, "interactions")
        if np.isnan(table).any():
            raise ValueError("interactions has missing values.")
        return table

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame, all features and pairs on lines of their own.

        Returns
        -------
        pandas.DataFrame
            One line per pair, from the strongest down, with the columns "feature",
            "feature2" (the same for a main effect) and "interaction_value".
        """
        table = self._check_interactions()
        pairs = np.triu_indices(len(table))
        order = np.argsort(-table[pairs], kind="stable")
        first, second = (positions[order] for positions in pairs)
        names = np.array(list(map(str, self.feature_names)), dtype=object)
        return self._frame(
            {
                "feature": names[first],
                "feature2": names[second],
                "interaction_value": table[first, second],
            }
        )


def _map_of_pairs() -> Colormap:
    """Colours of pairs, with grey for main effects that are stronger than all pairs."""
    import matplotlib

    shades = matplotlib.colormaps[SEQUENTIAL_MAP].with_extremes(over=NEUTRAL_COLOUR)
    shades.colorbar_extend = "max"  # type: ignore[assignment]
    return shades
