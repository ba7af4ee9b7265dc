"""Display of the weights of a linear model, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.colours import PALETTE, shade, stand_out
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.labels import (
    plain_log_ticks,
    plain_number_ticks,
    two_lines,
)
from sklearn_interpret._plotting.points import draw_points
from sklearn_interpret._plotting.ranked_bars import (
    draw_spreads,
    name_rows,
    rank_entries,
    row_height,
)
from sklearn_interpret._plotting.sources import check_numbers, response_name
from sklearn_interpret.linear._coefficient_inference import CoefficientInference

if TYPE_CHECKING:
    from sklearn_interpret._plotting.sources import Data

_WIDTH = 6.0  # inches
# Names of the exponentials of weights, by the response.
_RATIOS = {"log-odds": "Odds ratio", "log": "Ratio of means"}


@dataclass(eq=False, repr=False)
class CoefficientDisplay(Display):
    """Weights of a linear model as points, with their confidence intervals.

    The line at zero, or at one for ratios, marks no effect. Weights are in units of
    the terms, and can be compared only where these can. Build it with `from_estimator`,
    which leaves the intercept out, or from arrays of your own.

    Parameters
    ----------
    coef : array-like of shape (n_terms,)
        Weights.
    intervals_low, intervals_high : array-like of shape (n_terms,)
        Ends of their intervals; NaN for terms without one.
    term_names : sequence of str
        Name of each term.
    confidence_level : float, default=0.95
        Level of the intervals, for the axis.
    response_name : {"prediction", "log-odds", "log"}, default="prediction"
        Name of the sum of the weighted terms, for the axis.
    output_names : sequence, default=None
        The class of log-odds alone.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    points_ : PathCollection
        The weights, from the top down.
    intervals_ : LineCollection
        Their intervals, where there are any.
    zero_ : Line2D
        The line of no effect.

    See Also
    --------
    sklearn_interpret.linear.CoefficientInference : The table of weights.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.linear import CoefficientDisplay
    >>> X, y = [[1, 0], [2, 1], [3, 1], [4, 3], [6, 2]], [1.1, 1.9, 3.2, 3.9, 6.0]
    >>> model = LinearRegression().fit(X, y)
    >>> CoefficientDisplay.from_estimator(model, X, y).to_frame().round(2)
      term  coef   low  high
    0   x0  1.03  0.80  1.27
    1   x1 -0.11 -0.51  0.29
    """

    _kinds = (CoefficientInference,)
    _without = frozenset()

    coef: ArrayLike
    intervals_low: ArrayLike
    intervals_high: ArrayLike
    _: KW_ONLY
    term_names: Sequence[str]
    confidence_level: float = 0.95
    response_name: str = "prediction"
    output_names: Sequence[Any] | None = None

    @classmethod
    def _from_inspector(cls, inspector: CoefficientInference, data: Data) -> Self:
        names = inspector.get_feature_names_out().tolist()
        return cls(
            inspector.coef_[: len(names)],
            inspector.intervals_low_[: len(names)],
            inspector.intervals_high_[: len(names)],
            term_names=names,
            confidence_level=inspector.confidence_level,
            response_name=response_name(inspector),
            output_names=inspector.output_names_ if is_classifier(inspector) else None,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        exponentiate: bool = False,
        point_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw a line for each term, in the order of the terms.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=20
            Largest number of terms, those whose weights are largest relative to their
            intervals; None shows all.
        exponentiate : bool, default=False
            Draw odds ratios in place of weights of log-odds, and ratios of means in
            place of weights of their logarithm, on a logarithmic axis.
        point_kw : dict, default=None
            Style of the points.
        line_kw : dict, default=None
            Style of the intervals.

        Returns
        -------
        self : CoefficientDisplay
            The display.

        Raises
        ------
        ValueError
            Arrays of different lengths, weights that are not finite, a `max_entries`
            that is not a positive whole number, or `exponentiate` for weights of
            predictions.
        """
        coef, low, high = self._check_arrays()
        widths = np.where(high > low, high - low, np.inf)
        selected, remaining = rank_entries(np.abs(coef) / widths, max_entries)
        if len(remaining):  # no line sums them: it shows the next term
            selected = np.append(selected, remaining[:1])
        selected = np.sort(selected)
        ax = self._take_axes(ax, (_WIDTH, row_height(len(selected))))
        places = np.arange(len(selected))[::-1]
        has_interval = np.isfinite(low + high)[selected]
        if exponentiate:
            coef, low, high = self._exponentiate(coef, low, high)
            ax.set_xscale("log")
        ends = low[selected][has_interval], high[selected][has_interval]
        self.intervals_ = draw_spreads(ax, places[has_interval], *ends, linewidth=2)
        self.intervals_.set(**(line_kw or {}))
        point_style = {"color": stand_out(PALETTE[0], ax), "s": 36, "zorder": 3}
        self.points_ = draw_points(ax, coef[selected], places, point_kw, **point_style)
        name_rows(ax, [self.term_names[term] for term in selected])
        line_style = {"color": shade(ax, 0.6), "linewidth": 0.9, "zorder": 1}
        self.zero_ = ax.axvline(1 if exponentiate else 0, **line_style)
        if exponentiate:
            plain_log_ticks(ax, axes_inches(ax)[0])
        else:
            plain_number_ticks(ax)
        ax.set_xlabel(self._axis_label(exponentiate, len(coef) - len(selected)))
        ax.spines[["top", "right"]].set_visible(False)
        return self

    def _exponentiate(self, *weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Exponentials of weights, where they are ratios."""
        if self.response_name not in _RATIOS:
            raise ValueError(
                "exponentiate=True is for weights of log-odds or of the logarithm of "
                f"the mean; these are of the {self.response_name}."
            )
        with np.errstate(over="ignore"):
            return np.exp(weights)

    def _axis_label(self, exponentiate: bool, n_left_out: int) -> str:
        """Label of the axis, with the number of terms that are not drawn."""
        quantity, response = "Weight", self._response_label(self.output_names, 0)
        if exponentiate:
            quantity = _RATIOS[self.response_name]
            response = response.removeprefix("Log-").removeprefix("Log of ")
        interval = f"with its {100 * self.confidence_level:.4g} % interval"
        label = two_lines(f"{quantity}, {interval}", response)
        return f"{label}\n(terms not drawn: {n_left_out})" if n_left_out else label

    def _check_arrays(self) -> list[NDArray[np.float64]]:
        """Weights and ends of their intervals, after a check of their shapes."""
        n_terms = len(self.term_names)
        shapes, owner = [(n_terms,)], f"{n_terms} term names"
        return [
            check_numbers(
                getattr(self, name), name, shapes, owner, finite=name == "coef"
            )
            for name in ("coef", "intervals_low", "intervals_high")
        ]

    def to_frame(self) -> Any:
        """All weights and intervals, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A line for each term: columns "class" (where there is one), "term", "coef",
            "low" and "high".

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        names = "coef", "low", "high"
        columns: dict[str, Any] = dict(zip(names, self._check_arrays(), strict=True))
        columns = {"term": list(self.term_names), **columns}
        if self.output_names is not None:
            columns = {"class": self.output_names[0], **columns}
        return self._frame(columns)
