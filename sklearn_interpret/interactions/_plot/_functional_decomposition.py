"""Display of a functional decomposition: shares of variance, curves and surfaces."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.dates import as_dates
from sklearn_interpret._plotting.axes import Slot
from sklearn_interpret._plotting.colours import NEUTRAL_COLOUR, PALETTE, colours, shade
from sklearn_interpret._plotting.feature_values import FeatureReader
from sklearn_interpret._plotting.labels import JOIN, shorten, two_lines
from sklearn_interpret._plotting.panels.displays import PanelDisplay
from sklearn_interpret._plotting.panels.lines import (
    Artists,
    Effect,
    LinePanel,
    PlotOptions,
    Series,
    SurfacePanel,
)
from sklearn_interpret._plotting.ranked_bars import (
    BAR_HEIGHT,
    append_combined,
    draw_bars,
    finish_rows,
    label_ends,
    name_rows,
    rank_entries,
    reach_ends,
)
from sklearn_interpret._plotting.surfaces import cell_bounds, colour_limits
from sklearn_interpret.explanations import InteractionExplanation
from sklearn_interpret.interactions._plot._components import (
    ROUNDING,
    ComponentDisplay,
    variances_and_shares,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.feature_values import FeatureValues
    from sklearn_interpret._plotting.panels.lines import Panel

MOST_CELLS = 24  # along a feature; more distinct values than this share cells
ROWS_PER_CELL = 4  # mean number of rows in the cells of two such features
ROW_HEIGHT = 0.28  # inches of a bar
TEXT_HEIGHT, TEXT_WIDTH = 0.7, 0.3  # inches for the texts around the bars
RESPONSE_LENGTH, NAME_LENGTH = 28, 22  # characters of the response, of a component


@dataclass
class SharePanel:
    """Shares of variance as ranked bars."""

    names: list[str]  # of the bars, the first on top
    shares: NDArray[np.float64]
    response: str
    n_components: int  # number of bars of single components; further bars are grey
    style: Style | None
    bars: Any = None
    labels: list[Any] = field(default_factory=list)

    values_along = None

    def slot(self, below: bool) -> Slot:
        """Space that the panel needs."""
        height = TEXT_HEIGHT + ROW_HEIGHT * len(self.names)
        return Slot(below, level_width=TEXT_WIDTH, height=height)

    def draw(self, ax: Axes, options: PlotOptions) -> Artists:
        """Draw on an axes; the bars are kept."""
        places = np.arange(len(self.names))[::-1]
        name_rows(ax, self.names, NAME_LENGTH)
        (colour,) = colours(1)
        palette = [colour] * self.n_components
        palette += [NEUTRAL_COLOUR] * (len(self.names) - self.n_components)
        self.bars = draw_bars(
            ax, places, self.shares, palette, self.style, height=BAR_HEIGHT
        )
        negative = bool((self.shares < 0).any())
        reach_ends(ax, self.shares, np.abs(self.shares).max() or 1.0, 5)
        self.labels = label_ends(ax, self.shares, places, self.shares, signed=negative)
        if negative:
            ax.axvline(0, color=shade(ax, 0.6), linewidth=0.8, zorder=2.5)
        return Artists()

    def tidy_numbers(self, ax: Axes) -> None:
        """Shares have few ticks."""

    def label(self, ax: Axes, *, with_y: bool = True) -> None:
        """Name the axis of the shares."""
        offsets = ", below 0 offsetting others" if (self.shares < 0).any() else ""
        finish_rows(ax, two_lines(self.response, f"share of variance{offsets}"))


@dataclass(eq=False, repr=False)
class FunctionalDecompositionDisplay(PanelDisplay, ComponentDisplay):
    """Components of a response: shares of variance, curves and surfaces.

    Bars show the share of each component in the variance of the response over the rows:
    its covariance with the response, relative to that variance. The other panels show
    the components of one and two features that vary most. Curves are lines through the
    values at the rows; a pair of a number and a category of few levels has a curve for
    each level, other pairs have a cell for each value, or interval of values, with the
    mean of its rows.

    Build it with `from_estimator` or `from_explanation`.

    Parameters
    ----------
    explanation : InteractionExplanation
        Components of two rows or more.
    target : class label or int, default=None
        The output to draw; None takes the only one.
    response_name : str, default=None
        Name of the response; None takes the explanation's.
    categorical_features : "auto", None, bool mask or list of ints and strs, \
default="auto"
        Columns of the data that are categories. "auto" takes those whose dtype is
        category, object, string or bool.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of Axes
        The axes, None where there is no panel; the first has the bars.
    bars_ : BarContainer
        The shares of variance, the longest first; those of several sets are grey.
    labels_ : list of Annotation
        The numbers at the bars.
    lines_ : list of list of Line2D
        For each panel its curves; none for the bars.
    heatmaps_ : list of QuadMesh or None
        For each panel its surface.
    colorbars_ : list of Colorbar or None
        For each panel its colour bar.
    rug_ : list of LineCollection or None
        For each panel the marks of the data at the bottom.
    legend_ : matplotlib Legend or None
        The legend of the figure.

    See Also
    --------
    InteractionNetworkDisplay : All components, without their course.

    Notes
    -----
    Shares sum to one. That of a component that works against the others is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> from sklearn_interpret.interactions import FunctionalDecompositionDisplay
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 3))
    >>> model = GradientBoostingRegressor(random_state=0).fit(X, X[:, 0] * X[:, 1])
    >>> display = FunctionalDecompositionDisplay.from_estimator(
    ...     model, X, max_panels=1, n_cols=1
    ... )
    >>> display.to_frame().interaction[0]
    'x0 x x1'
    """

    _artist_names = ("lines", "heatmaps", "colorbars", "rug")

    explanation: InteractionExplanation
    _: KW_ONLY
    target: Any = None
    response_name: str | None = None
    categorical_features: Any = "auto"

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 7,
        max_panels: int | None = 5,
        n_cols: int = 3,
        share_y: bool = True,
        rug: bool = True,
        bar_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw shares of variance, curves and surfaces.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is divided into a grid. An array has one
            axes per panel.
        max_entries : int, default=7
            Largest number of bars; None shows all. The components beyond it share a
            grey bar.
        max_panels : int, default=5
            Largest number of curves and surfaces; None shows all of one or two
            features.
        n_cols : int, default=3
            Largest number of panels in a row, of a grid made here.
        share_y : bool, default=True
            Give all curves one range of values, and all surfaces one range of colours.
        rug : bool, default=True
            Mark the data at the bottom of curves.
        bar_kw, line_kw, rug_kw, heatmap_kw : dict, default=None
            Styles of bars, curves, marks and surfaces.

        Returns
        -------
        self : object
            The display.

        Raises
        ------
        ValueError
            A limit that is not a positive whole number, values that are not components,
            or fewer than two rows.
        """
        options = PlotOptions.of_arguments(locals())
        explanation = self._check_components()
        variances, shares = variances_and_shares(explanation)
        bars = self._share_panel(explanation, shares, max_entries, bar_kw)
        reader = FeatureReader(explanation, self.categorical_features)
        selected = _drawable_components(explanation, reader, variances[:-1])[
            :max_panels
        ]
        values = explanation.values[:, list(filter(self._is_pair, selected))]
        limits = colour_limits(values, diverging=True) if share_y else None
        panels = [
            self._component_panel(explanation, reader, component, limits)
            for component in selected
        ]
        panels.insert(0, bars)
        self._render_panels(panels, ax, options, n_cols=n_cols, share_y=share_y)
        self.bars_, self.labels_ = bars.bars, bars.labels
        return self

    def _check_components(self) -> InteractionExplanation:
        """The components of the output that is drawn."""
        explanation = self._output_explanation()
        if explanation.index != "component":
            raise ValueError(
                f"{type(self).__name__} shows components; these values are "
                f"{explanation.index}."
            )
        if len(explanation) < 2:
            raise ValueError(
                f"{type(self).__name__} shows variances over rows: two or more are "
                f"needed, got {len(explanation)}."
            )
        return explanation

    def _share_panel(
        self,
        explanation: InteractionExplanation,
        shares: NDArray[np.float64],
        max_entries: int | None,
        style: Style | None,
    ) -> SharePanel:
        """The panel of shares; grey bars are the sum of the rest and the remainder."""
        shares, remainder = shares[:-1], shares[-1]
        selected, remaining = rank_entries(np.abs(shares), max_entries)
        sets, features = explanation.interactions, explanation.feature_names
        names = [
            JOIN.join(features[j] for j in sets[component]) for component in selected
        ]
        lengths = append_combined(shares, selected, remaining, np.sum)
        if len(remaining):
            names.append(f"sum of {len(remaining)} others")
        if remainder:
            order = max(map(len, explanation.interactions))
            names.append(f"more than {order} feature{'s' if order > 1 else ''}")
            lengths = np.append(lengths, remainder)
        return SharePanel(names, lengths, self._response_text(), len(selected), style)

    def _response_text(self) -> str:
        return shorten(self._full_response_label(), RESPONSE_LENGTH)

    def _is_pair(self, component: int) -> bool:
        return len(self.explanation.interactions[component]) == 2

    def _component_panel(
        self,
        explanation: InteractionExplanation,
        reader: FeatureReader,
        component: int,
        limits: tuple[float, float] | None,
    ) -> Panel:
        """The panel of a component; surfaces have their own colours without limits."""
        values = explanation.values[:, component]
        members = map(reader.feature_values, explanation.interactions[component])
        features = [feature for feature in members if feature is not None]
        if len(features) == 1:
            return self._curve_panel(features[0], values)
        features.sort(key=lambda feature: feature.levels is not None)
        first, second = features
        is_mixed = first.levels is None and second.levels is not None
        if is_mixed and len(second.level_texts) <= len(PALETTE):
            return self._curves_by_level_panel(first, second, values)
        observed = first.is_observed & second.is_observed
        effect = _mean_surface(first, second, values, observed)
        if limits is None:
            limits = colour_limits(effect.values, diverging=True)
        return SurfacePanel(effect, 0, limits, self._response_text(), "component", True)

    def _curve_panel(
        self, feature: FeatureValues, values: NDArray[np.float64]
    ) -> LinePanel:
        """The panel of a main effect."""
        observed, (colour,) = feature.is_observed, colours(1)
        series = _mean_line(feature, values, observed, None, colour)
        missing = None if observed.all() else [values[~observed].mean()]
        return LinePanel(
            feature.name,
            [series],
            self._response_text(),
            "component",
            levels=feature.levels,
            data=feature.cells()[observed],
            zero=True,
            missing=missing,
        )

    def _curves_by_level_panel(
        self,
        feature: FeatureValues,
        category: FeatureValues,
        values: NDArray[np.float64],
    ) -> LinePanel:
        """The panel of a number and a category: a curve for each level."""
        observed = feature.is_observed & category.is_observed
        levels = np.unique(category.numbers[observed]).astype(np.intp)
        series = [
            _mean_line(
                feature,
                values,
                observed & (category.numbers == level),
                f"{category.name}: {category.level_texts[level]}",
                colour,
            )
            for level, colour in zip(levels, colours(len(levels)), strict=True)
        ]
        title = JOIN.join([feature.name, category.name])
        return LinePanel(
            feature.name,
            series,
            self._response_text(),
            "component",
            data=feature.numbers[observed],
            zero=True,
            title=title,
        )

    def to_frame(self) -> Any:
        """Shares of variance, as a DataFrame, the largest first.

        Returns
        -------
        pandas.DataFrame
            One line per component, with its "interaction" (names), its "order" (number
            of features), its "variance" over the rows, and its "share" of that of the
            response, a covariance. The last line is the remainder, without an order.
            The numbers of curves and surfaces are those of the explanation.
        """
        explanation = self._check_components()
        variances, shares = variances_and_shares(explanation)
        ranks, _ = rank_entries(np.abs(shares[:-1]), None)
        ranks = np.append(ranks, len(shares) - 1)
        names = [*explanation.interaction_names, "remainder"]
        orders = [*map(len, explanation.interactions), None]
        columns = {
            "interaction": [names[component] for component in ranks],
            "order": [orders[component] for component in ranks],
            "variance": variances[ranks],
            "share": shares[ranks],
        }
        return self._frame(columns).astype({"order": "Int64"})


def _drawable_components(
    explanation: InteractionExplanation,
    reader: FeatureReader,
    variances: NDArray[np.float64],
) -> list[int]:
    """Components of one and two features with values in the data, by variance."""
    order, _ = rank_entries(variances, None)
    rounding = ROUNDING * explanation.predictions.var()
    sets = explanation.interactions
    return [
        component
        for component in order.tolist()
        if reader.has_data
        and variances[component] > rounding
        and len(sets[component]) < 3
        and not any(map(reader.is_group, sets[component]))
    ]


def _mean_line(
    feature: FeatureValues,
    values: NDArray[np.float64],
    mask: NDArray[np.bool_],
    label: Any,
    colour: str,
) -> Series:
    """Means of some rows' values at each distinct number, as a line."""
    x, index = np.unique(feature.numbers[mask], return_inverse=True)
    sums = np.bincount(index, values[mask], len(x))
    series_kwargs = {"label": label, "colour": colour, "dates": feature.date_dtype}
    return Series(x, sums / np.bincount(index), **series_kwargs)


def _mean_surface(
    first: FeatureValues,
    second: FeatureValues,
    values: NDArray[np.float64],
    observed: NDArray[np.bool_],
) -> Effect:
    """Means of the rows' values in the cells of two features."""
    n_rows = int(observed.sum())
    max_cells = int(np.clip(np.sqrt(n_rows / ROWS_PER_CELL), 4, MOST_CELLS))
    x, y = (
        _make_cells(feature, feature.numbers[observed], max_cells)
        for feature in (first, second)
    )
    shape = len(x.places), len(y.places)
    codes = x.codes * shape[1] + y.codes
    sums, counts = (
        np.bincount(codes, weights, shape[0] * shape[1])
        for weights in (values[observed], np.ones(n_rows))
    )
    means = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return Effect(
        (first.name, second.name),
        (as_dates(x.places, first.date_dtype), as_dates(y.places, second.date_dtype)),
        (first.levels is not None, second.levels is not None),
        means.reshape(1, *shape),
        bounds=(x.bounds, y.bounds),
    )


class _Cells(NamedTuple):
    """Cells along one feature."""

    places: NDArray[Any]  # their centres, or the levels
    codes: NDArray[np.intp]  # the cell of each row
    bounds: NDArray[np.float64]  # where cells begin and end, (n_cells + 1,)


def _make_cells(
    feature: FeatureValues, numbers: NDArray[np.float64], max_cells: int
) -> _Cells:
    """A cell for each level, or each of few numbers; cells of quantiles for many."""
    if feature.levels is not None:
        levels = np.array(feature.levels, dtype=object)
        bounds = cell_bounds(np.arange(len(levels)))
        return _Cells(levels, numbers.astype(np.intp), bounds)
    distinct, codes = np.unique(numbers, return_inverse=True)
    if len(distinct) <= MOST_CELLS:
        return _Cells(distinct, codes, cell_bounds(distinct))
    bounds = np.unique(np.quantile(numbers, np.linspace(0, 1, max_cells + 1)))
    codes = np.searchsorted(bounds[1:-1], numbers, side="right")
    return _Cells((bounds[:-1] + bounds[1:]) / 2, codes, bounds)
