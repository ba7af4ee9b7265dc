"""Display of the effects of one feature within regions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.axes import values_along
from sklearn_interpret._model.rows.tables import with_outputs
from sklearn_interpret._model.surrogates.tree_rules import leaf_order
from sklearn_interpret._plotting.axes import Slot
from sklearn_interpret._plotting.colours import colours
from sklearn_interpret._plotting.displays import Display, SplitParams
from sklearn_interpret._plotting.labels import NAME_WIDTH, lines_of, literal
from sklearn_interpret._plotting.panels.displays import (
    PanelDisplay,
    curve_columns,
    effect_columns,
)
from sklearn_interpret._plotting.panels.entries import find_entries, sort_by_grid
from sklearn_interpret._plotting.panels.lines import (
    Artists,
    Effect,
    LinePanel,
    PlotOptions,
)
from sklearn_interpret._plotting.sources import response_name
from sklearn_interpret._plotting.tree_diagram import draw_tests, tree_fits
from sklearn_interpret.effects._plot._effect import most_varied_outputs, output_texts
from sklearn_interpret.effects._regional_effects import RegionalEffects, SplitTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._plotting.panels.lines import Panel
    from sklearn_interpret._plotting.sources import Data
    from sklearn_interpret.explanations import Condition

ALL_ROWS, IN_REGION = "effect over all rows", "effect in the region"
# Texts of the legend in place of the texts of `LinePanel`, less the number in front.
# The effect over all rows is drawn as the line of a fold.
LEGEND_TEXTS = {" rows": "single rows", " folds": ALL_ROWS}
TITLE_LINES = 3  # largest number of lines of conditions
MOST_LEAVES = 8  # the tests of more regions have no room in a panel
LEAF_HEIGHT = 0.5  # inches for the number of a region below the tests


@dataclass(eq=False, repr=False)
class RegionalEffectDisplay(Display, PanelDisplay):
    """Effects of one feature within regions in which the curves of rows are alike.

    The first panel has the tree of splits, and each other one a region: the effect over
    its rows, the curves of single rows, and the effect over all rows for comparison.
    Curves are centred: less their mean over the grid, as the regions are about
    differences in shape. With several outputs each has a colour, and there are no
    curves of single rows; `target` chooses one.

    Parameters
    ----------
    grid_values : ndarray of shape (G,)
        Points along the feature, or its levels.
    curves : ndarray of shape (n_regions, G) or (k, n_regions, G)
        The effect within each region.
    average : ndarray of shape (G,) or (k, G)
        The effect over all rows.
    feature_name : str
        The feature.
    conditions : list of list of str
        The conditions of each region, in words; none for the region of all rows.
    individual : ndarray of shape (n, G) or (k, n, G), default=None
        Centred curves of the rows.
    region : ndarray of shape (n,), default=None
        Position of the region of each row. Without it there are no curves of single
        rows and no marks of the data.
    rows : ndarray of shape (n,), default=None
        Positions of the rows in the data, for the table; None counts them.
    data : ndarray of shape (n,), default=None
        Values of the feature in the rows, to be marked on the axes.
    tree : dict, default=None
        The tree of splits: "left" and "right", arrays of the child nodes of rows that
        pass a test and of others (-1 for leaves), and "tests" in words. Its leaves from
        left to right are the regions. None draws no tree.
    output_names : list, default=None
        Names of the outputs; None where there is one that needs no name.
    response_name : str, default="response"
        Name of the response, for labels.
    categorical : bool, default=None
        Whether the feature is a category; None takes it so if its values are not
        numbers.
    by_similarity : bool, default=False
        Whether the levels are ordered by similarity, as the label then says.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes of shape (n_rows, n_columns)
        The axes, None where there is no panel.
    lines_ : list of list of Line2D
        For each region, one line per output.
    average_lines_ : list of list of Line2D
        For each region, the effect over all rows, one line per output; none where there
        is one region.
    curves_ : list of LineCollection or None
        The curves of single rows in each region.
    rug_ : list of LineCollection or None
        The marks of the data at the bottom of each region's panel.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    sklearn_interpret.effects.RegionalEffects : The numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.effects import RegionalEffectDisplay
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> y = np.where(X[:, 1] > 0, 1, -1) * X[:, 0]
    >>> model = RandomForestRegressor(20, random_state=0).fit(X, y)
    >>> display = RegionalEffectDisplay.from_estimator(model, X, feature=0)
    >>> display.conditions
    [['x1 ≤ 0.004'], ['x1 > 0.004']]
    """

    _kinds = (RegionalEffects,)
    _choices = frozenset({"feature"})
    _leading = ("feature",)
    _shows_rows = True
    _artist_names = ("lines", "curves", "rug")

    grid_values: NDArray[Any]
    curves: NDArray[np.float64]
    average: NDArray[np.float64]
    _: KW_ONLY
    feature_name: str
    conditions: list[list[str]]
    individual: NDArray[np.float64] | None = None
    region: NDArray[np.intp] | None = None
    rows: NDArray[np.intp] | None = None
    data: NDArray[Any] | None = None
    tree: dict[str, Any] | None = None
    output_names: list[Any] | None = None
    response_name: str = "response"
    categorical: bool | None = None
    by_similarity: bool = False

    @classmethod
    def _parameter_names(cls) -> set[str]:
        return super()._parameter_names() - {"features"}

    @classmethod
    def _split_params(cls, params: dict[str, Any], fitted: bool) -> SplitParams:
        split = super()._split_params(params, fitted)
        feature = split.choices.get("feature")
        if not (fitted or feature is None or params.get("joint")):
            split.inspector["features"] = [feature]
        return split

    @classmethod
    def _from_inspector(
        cls, inspector: RegionalEffects, data: Data, *, feature: int | str | None = None
    ) -> Self:
        """The display of one entry.

        feature : int or str, default=None
            The feature (or feature group) to draw. None takes the one whose
            heterogeneity the splits lower most.
        """
        decrease = inspector.heterogeneity_[:, 0] - inspector.heterogeneity_[:, -1]
        entry = int(decrease.argmax())
        if feature is not None:
            (entry,) = find_entries(inspector, [feature])
        axes = (axis,) = inspector.axes_[entry]
        lines: dict[str, Any] = {"curves": inspector.curves_}
        lines["average"] = inspector.average_
        if inspector.individual_ is not None:
            lines["individual"] = inspector.individual_
        lines = {
            name: sort_by_grid(by_entry[entry], axes)
            for name, by_entry in lines.items()
        }
        if inspector.individual_ is not None:
            for name, curves in lines.items():
                lines[name] = curves - curves.mean(axis=-1, keepdims=True)
        tree: dict[str, Any] = {"left": [], "right": [], "tests": []}
        division = 0 if inspector.joint else entry
        _add_tests(inspector._split_tests(inspector._roots[division]), tree)
        regions, index = inspector._region_lists[division], inspector.sample_indices_
        rows = inspector._check_rows(data.X, reset=False)
        if index.max() >= rows.n_rows:
            raise ValueError(
                f"The rows that were inspected are needed: X has {rows.n_rows} rows, "
                f"and row {index.max()} is in a region."
            )
        return cls(
            sort_by_grid(inspector.grid_values_[entry], axes),
            **lines,
            feature_name=axis.name,
            conditions=[
                list(map(_condition_text, region.conditions)) for region in regions
            ],
            region=np.argmax(
                [np.isin(index, region.rows) for region in regions], axis=0
            ),
            rows=index,
            data=values_along(axis.columns, rows.take(index), axis.categorical),
            tree=tree,
            output_names=output_texts(inspector),
            response_name=response_name(inspector),
            categorical=axis.categorical,
            by_similarity=axis.by_similarity,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        n_curves: int | None = 100,
        n_cols: int = 3,
        rug: bool = True,
        curve_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the tree of splits, and one panel per region.

        All regions have the same range of values. Of more than 12 outputs, those that
        vary most are drawn. The tree is left out where there is one region, or more
        than 8.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is drawn on as it is where there is one
            panel, and divided into a grid where there are several. An array has one
            axes per panel, that of the tree first.
        n_curves : int, default=100
            Largest number of single rows' curves in a region, evenly spaced among its
            rows; None draws all.
        n_cols : int, default=3
            Largest number of panels in a row, of a grid made here.
        rug : bool, default=True
            Mark the data of each region at the bottom: ticks (quantiles where there are
            many), or bars for the share of each level.
        curve_kw : dict, default=None
            Style of the curves of single rows.
        line_kw : dict, default=None
            Style of the effects within regions.
        rug_kw : dict, default=None
            Style of the ticks and bars at the bottom.

        Returns
        -------
        self : object
            The display.
        """
        effects, overall = self._region_effects()
        options, outputs = (
            PlotOptions.of_arguments(locals()),
            most_varied_outputs(effects),
        )
        if len(outputs) == 1:
            label = ALL_ROWS if len(effects) == 1 else IN_REGION
            options.line_kw = {"label": label, **(line_kw or {})}
        # The effect over all rows is drawn as the line of a fold is.
        options.fold_kw = {"alpha": 0.9, "linewidth": 1.2}
        options.fold_kw |= {"linestyle": "--"} if overall.levels is None else {}
        panels: list[Panel] = [
            self._region_panel(position, effect, overall, outputs, n_curves)
            for position, effect in enumerate(effects)
        ]
        if self.tree is not None and 1 < len(effects) <= MOST_LEAVES:
            panels.insert(0, TreePanel(self.tree))
        n_outputs, note = len(overall.values), None
        if len(outputs) < n_outputs:
            note = f"The {len(outputs)} most varied of {n_outputs} outputs"
        self._render_panels(panels, ax, options, n_cols=n_cols, share_y=True, note=note)
        return self

    def _region_effects(self) -> tuple[list[Effect], Effect]:
        """The `Effect` of each region, and the `Effect` of all rows."""
        grid, levelled = np.asarray(self.grid_values), self.categorical
        if levelled is None:
            levelled = grid.dtype.kind not in "iufmM"
        axis = (self.feature_name,), (grid,), (levelled,)
        curves = np.moveaxis(with_outputs(self.curves, 2), 1, 0)
        overall = Effect(*axis, with_outputs(self.average, 1))
        return [Effect(*axis, values) for values in curves], overall

    def _region_panel(
        self,
        position: int,
        effect: Effect,
        overall: Effect,
        outputs: NDArray[np.intp],
        n_curves: int | None,
    ) -> RegionPanel:
        has_one_output = len(outputs) == 1
        panel_kwargs: dict[str, Any] = {}
        heading = "All rows"
        if len(self.conditions) > 1:
            heading = f"Region {position}"
            effect = replace(effect, folds=overall.values[None])
        if self.region is not None:
            inside = np.flatnonzero(self.region == position)
            heading += f" ({len(inside)} row{'' if len(inside) == 1 else 's'})"
            if self.data is not None:
                panel_kwargs["data"] = np.asarray(self.data)[inside]
            if has_one_output and self.individual is not None and n_curves != 0:
                step = ceil(len(inside) / (n_curves or len(inside)))
                curves = with_outputs(self.individual, 2)[outputs[0]]
                panel_kwargs["curves"] = curves[inside[::step]]
        condition_lines = lines_of(self.conditions[position], NAME_WIDTH, TITLE_LINES)
        names, palette = self._named_outputs(len(effect.values)), colours(len(outputs))
        return RegionPanel(
            self.feature_name,
            [
                effect.series(output, names[output], colour)
                for output, colour in zip(outputs, palette, strict=True)
            ],
            self._response_label(self.output_names, 0 if has_one_output else None),
            "ALE, mean 0" if self.individual is None else "Centred ICE",
            levels=effect.levels,
            by_similarity=self.by_similarity,
            heading="\n".join([heading, *condition_lines]),
            **panel_kwargs,
        )

    def _set_artists(self, artists: list[Artists], lower: list[Artists | None]) -> None:
        regions = artists[-len(self.conditions) :]
        super()._set_artists(regions, lower)
        self.average_lines_ = [
            [line for (line,) in region_artists.fold_lines]
            for region_artists in regions
        ]

    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame.

        Returns
        -------
        pandas.DataFrame
            One line per point, with the columns "feature", "region" (missing for the
            effect over all rows), "output", "x" and "value", and "row" where rows have
            curves of their own (missing for the effects).
        """
        effects, overall = self._region_effects()
        outputs, blocks = self._named_outputs(len(overall.values)), []
        for position, effect in enumerate(effects):
            region_blocks = effect_columns(effect, outputs)
            if self.individual is not None and self.region is not None:
                inside = np.flatnonzero(self.region == position)
                curves = with_outputs(self.individual, 2)[:, inside]
                rows = inside if self.rows is None else np.asarray(self.rows)[inside]
                region_blocks += curve_columns(effect, outputs, curves, rows)
            blocks += [{**block, "region": position} for block in region_blocks]
        return self._long_frame([*blocks, *effect_columns(overall, outputs)])


@dataclass(frozen=True)
class RegionPanel(LinePanel):
    """Effects within a region, and thinner ones over all rows."""

    heading: str = ""  # number and conditions of the region

    def draw(self, ax: Axes, options: PlotOptions) -> Artists:
        """Draw on an axes; return the artists."""
        artists = super().draw(ax, options)
        entries = artists.entries
        for text in sorted(entries, key=lambda text: text.endswith(" folds")):
            name = LEGEND_TEXTS.get(text.lstrip("0123456789"), text)
            entries[name] = entries.pop(text)
        return artists

    def label(self, ax: Axes, *, with_y: bool = True) -> None:
        """Name the axes and the region."""
        super().label(ax, with_y=with_y)
        ax.set_title(literal(self.heading), fontsize="medium")


@dataclass(frozen=True)
class TreePanel:
    """The splits, above the numbers of the regions."""

    tree: dict[str, Any]  # as `draw_tests` takes it

    values_along = None
    tidy_numbers = staticmethod(lambda ax: None)

    def slot(self, below: bool) -> Slot:
        """Space that the panel needs."""
        return Slot()

    def draw(self, ax: Axes, options: PlotOptions) -> Artists:
        """Draw on an axes; return the artists."""
        draw_tests(ax, self.tree, (0, 1), LEAF_HEIGHT)
        prefix = "region\n" if tree_fits(ax, self.tree) else ""
        for position in range(len(leaf_order(self.tree))):
            ax.text(
                position,
                0.95,
                f"{prefix}{position}",
                ha="center",
                va="top",
                size="small",
            )
        ax.set(xticks=[], yticks=[])
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        return Artists()

    def label(self, ax: Axes, *, with_y: bool = True) -> None:
        """Name the panel."""
        ax.set_title("Splits", fontsize="medium")


def _condition_text(condition: Condition | str) -> str:
    """A condition with a sign for "less than or equal"."""
    return str(condition).replace(" <= ", " ≤ ")


def _add_tests(test: SplitTest | None, tree: dict[str, Any]) -> int:
    """Add a test, or a leaf, to the lists that `draw_tests` takes; return its node."""
    node = len(tree["tests"])
    tree["tests"].append(_condition_text(test.condition if test else ""))
    tree["left"].append(-1)  # a leaf, until there are children
    tree["right"].append(-1)
    if test is not None:
        tree["left"][node] = _add_tests(test.below, tree)
        tree["right"][node] = _add_tests(test.elsewhere, tree)
    return node
