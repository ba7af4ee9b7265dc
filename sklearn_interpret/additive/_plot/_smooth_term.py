"""Display of the terms of an additive model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit
from sklearn.utils.validation import check_consistent_length

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.tables import with_outputs
from sklearn_interpret._plotting.axes import letters_along
from sklearn_interpret._plotting.colours import PALETTE, colours, shade, stand_out
from sklearn_interpret._plotting.curves import FEW_POINTS, draw_thin_lines
from sklearn_interpret._plotting.labels import literal, shorten
from sklearn_interpret._plotting.panels.displays import EntryDisplay, effect_columns
from sklearn_interpret._plotting.panels.lines import (
    Artists,
    LinePanel,
    PlotOptions,
    SurfacePanel,
    level_places,
    level_text,
)
from sklearn_interpret._plotting.points import (
    clipped_range,
    draw_points,
    jitter_positions,
    point_area,
)
from sklearn_interpret._plotting.sources import ForwardedSignature, model_within
from sklearn_interpret._plotting.surfaces import colour_limits
from sklearn_interpret.additive._gam import RESPONSES
from sklearn_interpret.additive._gam_classifier import GAMClassifier
from sklearn_interpret.additive._gam_regressor import GAMRegressor
from sklearn_interpret.explanations._selection import output_position

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.panels.lines import Effect, Panel, Series
    from sklearn_interpret.additive._gam import BaseGAM

CONFIDENCE = 0.95  # of the bands
# Largest number of rows whose data and residuals a display keeps.
MAX_DATA_ROWS = 5000
# Share of the partial residuals in each tail that does not widen the axes: residuals of
# rare classes are huge.
CLIPPED_SHARE = 0.01
# `fit` saw no rows between points of a curve that are farther apart than this share of
# the range of x.
WIDE_STEP = 0.1
# Characters of a label of a panel in a grid.
LABEL_WIDTH = 28
# Most values of a number for each of which another number has a line.
_MOST_LINES = 4


@dataclass(frozen=True)
class TermPanel(LinePanel):
    """Lines along one feature, and partial residuals."""

    # For each line, the feature's values and the residuals.
    residuals: Sequence[tuple[NDArray[Any], NDArray[np.float64]]] = ()
    # Residuals extend the axes by at most this multiple of the range of the lines:
    # residuals of log-odds are far away, and would flatten the lines.
    residual_reach: float = np.inf

    def draw(self, ax: Axes, options: PlotOptions) -> Artists:
        """Draw on an axes; return the artists."""
        artists = super().draw(ax, options)
        if self.residuals:
            artists.points = self._draw_residuals(ax, options.residual_kw, artists)
        return artists

    def _draw_series(
        self,
        ax: Axes,
        series: Series,
        x: NDArray[np.float64],
        colour: ColorType,
        style: Style,
        options: PlotOptions,
        artists: Artists,
    ) -> None:
        """Draw a line; where `fit` saw no rows it is thin, and has no band."""
        are_few, is_gap = len(x) <= FEW_POINTS, np.diff(x) > WIDE_STEP * np.ptp(x)
        series = replace(series, as_points=are_few)
        if (are_few or is_gap.any()) and not self.has_levels:
            draw_thin_lines(ax, x, [series.y], colour, None)
        if is_gap.any() and not are_few:
            # Between two gaps a point has no line, and is drawn as a point.
            isolated = np.append(True, is_gap) & np.append(is_gap, True)
            points = replace(series.map_y(lambda y: y[isolated]), as_points=True)
            super()._draw_series(
                ax, points, x[isolated], colour, style, options, Artists()
            )
            ends = np.flatnonzero(is_gap) + 1
            x = np.insert(x, ends, np.nan)
            series = series.map_y(lambda y: np.insert(y, ends, np.nan))
        super()._draw_series(ax, series, x, colour, style, options, artists)

    def _draw_residuals(
        self, ax: Axes, style: Style | None, artists: Artists
    ) -> list[Any]:
        """Draw the partial residuals of each line; the axes widen to most of them."""
        is_only_line, point_artists = len(self.series) == 1, []
        n_points = max(len(values) for _, values in self.residuals)
        pairs = zip(self.residuals, artists.lines, strict=True)
        low, high = ax.dataLim.intervalx if self.across else ax.dataLim.intervaly
        reach, are_clipped = self.residual_reach * max(high - low, 1.0), False
        for seed, ((x, y), line) in enumerate(pairs):
            point_style: Style = {"s": point_area(n_points), "linewidth": 0}
            point_style["zorder"] = 1.2
            point_style["color"] = (
                shade(ax, 0.45) if is_only_line else stand_out(line.get_color(), ax)
            )
            point_style["alpha"] = 0.5
            if self.levels is not None:
                x = jitter_positions(level_places(x, self.levels), seed)
            limits = ax.dataLim.frozen()
            horizontal, vertical = (y, x) if self.across else (x, y)
            points = draw_points(ax, horizontal, vertical, style, **point_style)
            ax.dataLim.set(limits)
            ends = np.clip(clipped_range(y, CLIPPED_SHARE), low - reach, high + reach)
            are_clipped |= (y < ends[0]).any() or (y > ends[1]).any()
            # Widen the axes to the ends, at a place along the line that is in view.
            along = np.full(2, np.asarray(line.get_xydata())[0, int(self.across)])
            corners = (ends, along) if self.across else (along, ends)
            ax.update_datalim(np.transpose(corners))
            point_artists.append(points)
        ax.autoscale_view()
        text = "residuals, some out of view" if are_clipped else "partial residuals"
        artists.entries[text] = point_artists[0]
        return point_artists

    def label(self, ax: Axes, *, with_y: bool = True) -> None:
        """Name the axes; the term also on panels whose scale is to the left."""
        super().label(ax, with_y=with_y)
        if not with_y and not self.across:
            ax.set_ylabel(literal(fill(self.first_line, letters_along(ax, 1))))


@dataclass(eq=False, repr=False)
class SmoothTermDisplay(EntryDisplay):
    """The terms of an additive model: curves, levels and surfaces, with bands.

    Build it with `from_estimator`. A label such as "s(age, 3.2)" has a term's effective
    degrees of freedom; the scale is that of the linear predictor. Terms sum to zero
    over the rows of `fit`, which a thin line marks.

    Parameters
    ----------
    values : list of ndarray of shape (G,), or pair of those
        For each term, values or levels of its feature or features.
    effects : list of ndarray of shape (G,) or (G1, G2)
        The effects there; with several outputs these lead.
    feature_names : list of str or pair of str
        The features of each term.
    effective_dof : array-like of shape (n_terms,) or (n_outputs, n_terms), \
default=None
        Effective degrees of freedom.
    standard_errors : list of ndarray, default=None
        Standard errors, of the shapes of `effects`.
    residual_dof : float, default=None
        Degrees of freedom of Student's distribution, of which the bands have 95 %; None
        is the normal one.
    output_names : list, default=None
        Names of the outputs; None where there is one that needs no name.
    response_name : str, default="prediction"
        Name of the sum of the terms, for labels.
    data : list of ndarray of shape (n,), or pair of those, default=None
        The features' values in the data, to be marked on the axes.
    residuals : list of ndarray of shape (n,), default=None
        Partial residuals of the same rows; with several outputs these lead.
    missing_effects : list of array-like of shape (n_outputs,) or None, default=None
        The effect of a missing value, of terms that have one.
    importances : list of float, default=None
        Ranks the terms for `max_entries`; None takes the spread of the effects.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes of shape (n_rows, n_columns)
        The axes, None where there is no panel.
    lines_ : list of list of Line2D
        For each panel, one line per output, or per level of a second feature.
    bands_ : list of list of artist
        For each panel, one band (or set of error bars) per line.
    missing_ : list of list of Line2D
        For each panel, one mark per line where values are missing.
    rug_ : list of LineCollection or None
        The marks of the data at the bottom of each panel.
    points_ : list
        Partial residuals, a list of PathCollection of each panel of lines; the data's
        points, a PathCollection, of each surface; None where there are none.
    contours_ : list of QuadContourSet or None
        Contours of each panel.
    heatmaps_ : list of QuadMesh or None
        Heat maps of each panel.
    colorbars_ : list of Colorbar or None
        Colour bars of each panel.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    sklearn_interpret.additive.GAMRegressor : An additive model of numbers.
    sklearn_interpret.additive.GAMClassifier : An additive model of classes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_interpret.additive import GAMRegressor, SmoothTermDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> gam = GAMRegressor(terms=["age", "bmi", "bp"]).fit(X, y)
    >>> display = SmoothTermDisplay.from_estimator(gam, X, terms=["bmi", "bp"])
    >>> [ax.get_xlabel() for ax in display.axes_.flat]
    ['bmi', 'bp']
    """

    _band_text = "95 % band"
    _artist_names = (
        *("lines", "bands", "missing", "rug", "points"),
        *("contours", "heatmaps", "colorbars"),
    )

    values: list[Any]
    effects: list[Any]
    _: KW_ONLY
    feature_names: list[Any]
    effective_dof: ArrayLike | None = None
    standard_errors: list[Any] | None = None
    residual_dof: float | None = None
    output_names: list[Any] | None = None
    response_name: str = "prediction"
    data: list[Any] | None = None
    residuals: list[Any] | None = None
    missing_effects: list[Any] | None = None
    importances: list[float] | None = None

    @ForwardedSignature
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        terms: Any = None,
        target: Any = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Draw the terms of a fitted additive model.

        Parameters
        ----------
        estimator : fitted GAMRegressor or GAMClassifier
            The model, or a pipeline or search around it.
        X : {array-like, DataFrame} of shape (n_samples, n_features), default=None
            Rows that are marked, of many some; a pipeline's own input. None leaves
            them out.
        y : array-like of shape (n_samples,), default=None
            Their targets, for partial residuals. None leaves these out.
        terms : int, str, pair of str, or list of those, default=None
            Positions, names or features of the terms to show; None means all.
        target : class label, default=None
            Of several classes, the one to show; None shows all.
        target_name : str, default=None
            Name of the target in labels; None takes the name of `y`, if it has one.
        unit : str, default=None
            Unit of the linear predictor.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of `plot`.

        Returns
        -------
        display : SmoothTermDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            The estimator is no additive model; an unknown parameter.
        ValueError
            An unknown term or class; `y` without `X`; bad input.
        """
        kinds = GAMRegressor, GAMClassifier
        model, steps = model_within(estimator, kinds, cls.__name__)
        for step in steps if X is not None else ():
            X = step.transform(X)
        if y is not None and X is None:
            raise ValueError("Partial residuals belong to rows: pass X with y.")
        outputs, output_names = _resolve_outputs(model, target)
        if terms is None:
            selected = list(range(len(model.term_names_)))
        else:
            selected = terms if isinstance(terms, list) else [terms]
            selected = [model._term_position(term) for term in selected]
        if not selected:
            raise ValueError("terms=[] names no term to show.")
        curves = [_term_curve(model, term, outputs) for term in selected]
        dofs = np.reshape(model.effective_dof_, (-1, len(model.term_names_)))
        names = [model._names_of_features(term) for term in selected]
        display = cls(
            [curve.values for curve in curves],
            [curve.effects for curve in curves],
            standard_errors=[curve.errors for curve in curves],
            residual_dof=model._dispersion_dof,
            missing_effects=[curve.missing_effects for curve in curves],
            feature_names=[pair if len(pair) > 1 else pair[0] for pair in names],
            effective_dof=dofs[np.ix_(outputs, selected)],
            output_names=output_names,
            response_name=RESPONSES[model._link],
            **({} if X is None else _row_arrays(model, X, y, selected, outputs)),
        )
        name = getattr(y, "name", None)
        if target_name is None and isinstance(name, str):
            target_name = name
        display._name_response(target_name, unit)
        return display.plot(ax=ax, **params)

    def plot(
        self,
        ax: Any = None,
        *,
        n_cols: int = 3,
        max_entries: int | None = 20,
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        residual_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one panel per term; of pairs of features, one per output too.

        A pair of a number and a category of up to 12 levels, or a number of up to 4
        values, has a line for each of them.
        The axes leave out partial residuals that are among the 1 % largest or smallest,
        and those of log-odds that are farther from the lines than their range; the
        legend says so.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is drawn on as it is where there is one
            panel, and divided into a grid where there are several. An array has one
            axes per panel.
        n_cols : int, default=3
            Largest number of panels in a row, of a grid made here.
        max_entries : int, default=20
            Largest number of terms, those that vary most. None shows all; the figure
            grows with them.
        share_y : bool, default=True
            Give all panels the same range of values: those of lines one axis, those of
            surfaces one range of colours, that of all effects shown.
        rug : bool, default=True
            Mark the data: ticks at the bottom (quantiles where there are many), bars
            for the share of each level, points on surfaces.
        band : bool, default=True
            Draw 95 % intervals, by Student's distribution of `residual_dof`.
        line_kw : dict, default=None
            Style of lines and of the points of categories.
        band_kw : dict, default=None
            Style of bands and error bars.
        rug_kw : dict, default=None
            Style of the ticks and bars at the bottom.
        residual_kw : dict, default=None
            Style of the partial residuals.
        contour_kw : dict, default=None
            Style of contours (pairs of numbers).
        heatmap_kw : dict, default=None
            Style of heat maps (other pairs).
        points_kw : dict, default=None
            Style of the data's points on surfaces.

        Returns
        -------
        self : SmoothTermDisplay
            The display.
        """
        options = PlotOptions.of_arguments(locals())
        n_terms = self._n_entries
        selected = self._most_important(range(n_terms), max_entries)
        note = None
        if len(selected) < n_terms:
            note = f"The {len(selected)} that vary most of {n_terms} terms"
        limits = None
        if share_y and len(selected):
            selected_effects = [np.ravel(self.effects[term]) for term in selected]
            limits = colour_limits(np.concatenate(selected_effects), diverging=True)
        panels = [
            panel for term in selected for panel in self._entry_panels(term, limits)
        ]
        self._render_panels(
            panels, ax, options, n_cols=n_cols, share_y=share_y, note=note
        )
        return self

    def _entry_effect(self, entry: int) -> Effect:
        effect = self._make_effect(entry, self.values[entry], self.effects[entry])
        if self.standard_errors is None:
            return effect
        errors = with_outputs(self.standard_errors[entry], self._n_axes(entry))
        half_widths = (
            stdtrit(self.residual_dof or np.inf, (1 + CONFIDENCE) / 2) * errors
        )
        low, high = effect.values - half_widths, effect.values + half_widths
        return replace(effect, low=low, high=high)

    def _output_residuals(
        self, term: int, n_outputs: int
    ) -> NDArray[np.float64] | list[Any]:
        """Partial residuals (n_outputs, n), or None for each output."""
        if self.residuals is None:
            return [None] * n_outputs
        return np.reshape(self.residuals[term], (n_outputs, -1))

    def _term_text(
        self, names: tuple[str, ...], term: int, outputs: int | slice
    ) -> str:
        """The term with its effective degrees of freedom."""
        if self.effective_dof is None:
            return f"s({':'.join(names)})"
        dofs = np.reshape(self.effective_dof, (-1, self._n_entries))
        return term_label(names, dofs[outputs, term])

    @property
    def _residual_reach(self) -> float:
        """Multiple of the range of the lines by which residuals widen the axes."""
        return 1.0 if self.response_name == RESPONSES["logit"] else np.inf

    def _response_text(self, output: int | None) -> str:
        """Name of the sum of the terms."""
        return shorten(self._response_label(self.output_names, output), LABEL_WIDTH)

    def _entry_panels(
        self, term: int, limits: tuple[float, float] | None
    ) -> list[Panel]:
        """Panels of a term; `limits` of colours are None for a term's own."""
        effect = self._entry_effect(term)
        n_outputs, names = len(effect.values), effect.names
        residuals = self._output_residuals(term, n_outputs)
        if len(names) == 1:
            return [self._one_way_panel(term, effect, residuals)]
        if effect.levelled == (True, False):  # the number goes along x
            effect = effect.swap_features()
        n_levels = len(effect.places[1])
        by_level = effect.levelled == (False, True) and n_levels <= len(PALETTE)
        limits = limits or colour_limits(effect.values, diverging=True)
        panels: list[Panel] = []
        for output in range(n_outputs):
            texts = {
                "first_line": self._term_text(names, term, output),
                "second_line": self._response_text(output),
            }
            panel: Panel
            if by_level:
                y = residuals[output]
                panel = self._panel_of_levels(effect, y, output, **texts)
            else:
                panel = SurfacePanel(effect, output, limits, diverging=True, **texts)
            panels.append(panel)
        return panels

    def _are_levels(
        self, entry: int, places: tuple[NDArray[Any], ...]
    ) -> tuple[bool, ...]:
        """Which features are categories, or have few values next to one of many."""
        are_levels = super()._are_levels(entry, places)
        are_few = tuple(len(values) <= _MOST_LINES for values in places)
        return are_few if not any(are_levels) and len(set(are_few)) > 1 else are_levels

    def _one_way_panel(
        self, term: int, effect: Effect, residuals: NDArray[np.float64] | list[Any]
    ) -> TermPanel:
        """The panel of a term of one feature: a line for each output."""
        n_outputs = len(effect.values)
        line_residuals = []
        if self.residuals is not None and effect.data is not None:
            x = effect.data[0]
            line_residuals = [(x, output_residuals) for output_residuals in residuals]
        return self._make_term_panel(
            effect,
            self._named_outputs(n_outputs),
            line_residuals,
            first_line=self._term_text(effect.names, term, slice(None)),
            second_line=self._response_text(0 if n_outputs == 1 else None),
            missing=self.missing_effects and self.missing_effects[term],
        )

    def _panel_of_levels(
        self,
        effect: Effect,
        residuals: NDArray[np.float64] | None,
        output: int,
        **texts: str,
    ) -> TermPanel:
        """The panel of a number and a category: a line for each level."""
        levels, line_residuals = effect.places[1], []
        labels = [f"{effect.names[1]}: {level_text(level)}" for level in levels]
        if residuals is not None and effect.data is not None:
            x, codes = effect.data[0], level_places(effect.data[1], levels)
            index = [np.flatnonzero(codes == k) for k in range(len(levels))]
            line_residuals = [(x[rows], residuals[rows]) for rows in index]
        names = self.output_names or []
        title = names[output] if len(names) > 1 else None
        effect_by_level = effect.by_level(output)
        return self._make_term_panel(
            effect_by_level, labels, line_residuals, title=title, **texts
        )

    def _make_term_panel(
        self,
        effect: Effect,
        labels: Sequence[Any],
        residuals: Sequence[tuple[NDArray[Any], NDArray[np.float64]]],
        **panel_kwargs: Any,
    ) -> TermPanel:
        """A panel of lines along one feature, and of partial residuals."""
        palette = colours(len(labels))
        return TermPanel(
            effect.names[0],
            [
                effect.series(k, label, colour)
                for k, (label, colour) in enumerate(zip(labels, palette, strict=True))
            ],
            levels=effect.levels,
            data=None if effect.data is None else effect.data[0],
            zero=True,
            residuals=residuals,
            residual_reach=self._residual_reach,
            **panel_kwargs,
        )

    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame.

        Returns
        -------
        pandas.DataFrame
            One line per point: "term", "output", "x", "value"; "x2" where there are
            pairs, and "low" and "high" where there are bands.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        blocks = []
        for term in range(self._n_entries):
            effect = self._entry_effect(term)
            outputs = self._named_outputs(len(effect.values))
            name = ":".join(effect.names)
            blocks += effect_columns(effect, outputs, term=name)
        table = self._long_frame(blocks)
        return table.drop(columns=["feature", "feature2"], errors="ignore")


def _resolve_outputs(
    model: BaseGAM, target: bool | str | None
) -> tuple[list[int], list[Any] | None]:
    """Positions of the linear predictors that are shown, and their classes or None."""
    labels = getattr(model, "classes_", np.empty(0)).tolist()
    labels = labels[1:] if len(labels) == 2 else labels
    outputs = list(range(np.size(model.intercept_)))
    if target is not None:
        outputs = [output_position(labels or outputs, target)]
    return outputs, [labels[k] for k in outputs] if labels else None


class _Curve(NamedTuple):
    """A term at values of its features."""

    values: Any  # (G,), or of a pair a list of two
    effects: NDArray[np.float64]  # (n_outputs, G) or (n_outputs, G1, G2)
    errors: NDArray[np.float64]  # standard errors of the effects
    missing_effects: NDArray[np.float64] | None  # of a missing value, (n_outputs,)


def _term_curve(model: BaseGAM, term: int, outputs: list[int]) -> _Curve:
    """The curve or surface of a term of a fitted model."""
    fitted = model._terms[term]
    axes = fitted.axes()
    shape = (len(outputs), *map(len, axes))
    _, *effects_and_errors = model.partial_effect(term)
    effects, errors = (
        np.atleast_2d(numbers.T)[outputs].reshape(shape)
        for numbers in effects_and_errors
    )
    missing, (column, *more_columns) = None, fitted.ordered_columns
    if column.missing and column.labels is None and not more_columns:
        _, missing, _ = model.partial_effect(term, [np.nan])
        missing = np.ravel(missing)[outputs]
    return _Curve(axes if more_columns else axes[0], effects, errors, missing)


def _row_arrays(
    model: BaseGAM, X: Any, y: Any, terms: list[int], outputs: list[int]
) -> dict[str, Any]:
    """Data, residuals and importances of the terms at some of the rows."""
    rows = as_rows(X)
    check_consistent_length(rows.native, y)
    if rows.n_rows > MAX_DATA_ROWS:
        rng = np.random.default_rng(0)
        indices = np.sort(rng.choice(rows.n_rows, MAX_DATA_ROWS, replace=False))
        rows = rows.take(indices)
        y = y if y is None else np.asarray(y)[indices]

    def by_term(values: NDArray[np.float64]) -> NDArray[np.float64]:
        shape = (rows.n_rows, -1, len(model.term_names_))
        return np.asarray(values).reshape(shape).transpose(2, 1, 0)[terms][:, outputs]

    data = []
    for term in terms:
        columns = model._terms[term].ordered_columns
        values = [
            rows.numbers(column.position)
            if column.labels is None
            else rows.column_array(column.position)
            for column in columns
        ]
        data.append(values if len(values) > 1 else values[0])
    spreads = by_term(model.transform(rows.native)).std(axis=2).max(axis=1)
    arrays = {"data": data, "importances": spreads.tolist()}
    if y is not None:
        arrays["residuals"] = list(by_term(model.partial_residuals(rows.native, y)))
    return arrays


def term_label(names: tuple[str, ...], dofs: NDArray[np.float64] | float) -> str:
    """A term with its effective degrees of freedom, as in "s(age, 3.2)"."""
    low, high = (f"{dof:.1f}" for dof in (np.min(dofs), np.max(dofs)))
    text = low if low == high else f"{low} to {high}"
    name = shorten(":".join(names), LABEL_WIDTH - len(text) - 5)
    return f"s({name}, {text})"
