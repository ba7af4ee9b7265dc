"""Regional effects: effects of features within regions in which curves are alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.effects.regions import RegionSearch, RowCurves
from sklearn_interpret._core.rules.coded_conditions import all_hold
from sklearn_interpret._core.statistics.weighted import known_moments
from sklearn_interpret._inspectors.condition_space import ConditionSpace
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.responses.response import (
    drop_single_output,
    plain_responses,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.axes import interval_axis
from sklearn_interpret._model.rows.features import resolve_features
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.number_format import entry_text
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.effects._axes import (
    GRID_CONSTRAINTS,
    AxisRequest,
    grid_quantiles,
    make_grid_axis,
    number_of_points,
)
from sklearn_interpret.effects._base import (
    BaseEffect,
    Points,
    grid_replacement,
    row_curves,
)
from sklearn_interpret.effects._local_effects import local_effects, similar_levels_first
from sklearn_interpret.explanations import Condition

if TYPE_CHECKING:
    from sklearn_interpret._core.effects.accumulation import LocalEffects
    from sklearn_interpret._core.effects.regions import RegionNode
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.axes import Axis
    from sklearn_interpret._model.rows.sample import Sample

# Heterogeneity below this share of the largest response is rounding error.
_ROUNDING = 1e-9
# A split must gain a share `min_gain` of the heterogeneity of all rows, which counts as
# at least this share of the response's standard deviation: models that were fitted to
# noise have spurious interactions up to about this size.
_LEAST_HETEROGENEITY = 0.2


@dataclass(frozen=True)
class Region:
    """A region of the data, within which curves of rows are alike.

    Parameters
    ----------
    conditions : tuple of Condition
        The conditions that its rows meet, at most one for each feature; none for the
        region of all rows.
    rows : ndarray of shape (n,), int
        Positions of its rows in the `X` of `fit`.
    n_rows : float
        Their number, as the sum of their weights.
    heterogeneity : float
        Differences in shape between the curves of its rows, in units of the response.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret.effects import Region
    >>> from sklearn_interpret.explanations import Condition
    >>> young = Condition(0, "age", high=30.0)
    >>> region = Region((young,), np.array([0]), n_rows=1.0, heterogeneity=0.0)
    >>> print(region)
    age <= 30
    >>> region.holds([[28], [31]])
    array([ True, False])
    """

    conditions: tuple[Condition, ...]
    rows: NDArray[np.intp] = field(repr=False, compare=False)
    n_rows: float
    heterogeneity: float

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions)) or "all rows"

    def holds(self, X: Any) -> NDArray[np.bool_]:
        """Whether rows are in the region.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), bool
            True where all conditions hold.
        """
        rows = as_rows(X)
        return all_hold([self.conditions], rows, rows.n_rows)[0]


class SplitTest(NamedTuple):
    """A split of rows in two; missing values are split off by a test above it."""

    condition: Condition
    below: SplitTest | None  # where the condition holds; None for a region
    elsewhere: SplitTest | None


class _EntryCurves(NamedTuple):
    """Curves of rows along the axis of an entry."""

    curves: RowCurves  # alike within regions
    # From positions of rows to their effect, (k, G).
    effect_of: Callable[[NDArray[np.intp]], NDArray[np.float64]]


@lazy_transformer
@estimator_dataclass
class RegionalEffects(BaseEffect):
    """Effects of features within regions in which the curves of rows are alike.

    An average curve hides that a feature acts differently on different rows. A tree of
    splits divides the rows so that the curves (ICE), or the local effects (ALE), of the
    rows of a region differ as little as possible: REPID and GADGET. All thresholds
    between the values of a feature are tried.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    effect : {"ice", "ale"}, default="ice"
        Curves that should be alike: individual curves less their means, or differences
        over the intervals of a feature. The latter need no combination of values that
        does not occur in the data.
    features : None, int, str, bool mask, or list of ints and strs, default=None
        Features whose effects are divided; None takes every feature.
    split_features : None, int, str, bool mask, or list of ints and strs, default=None
        Features that conditions may be about. None takes all; those of a feature alone
        are never about itself.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame. Levels of a split feature are split in the
        order of the first principal component of their mean curves.
    feature_groups : dict of str to list, default=None
        Features that are replaced together, by their observed joint values.
    joint : bool, default=False
        Find one division for all features together, rather than one for each.
    max_depth : int, default=2
        Largest number of splits above a region.
    min_samples_leaf : int or float, default=0.05
        Least number of the rows of a region, or share of all, by weight. Rows where a
        split feature is missing are a region of their own, of any size.
    min_gain : float, default=0.1
        Least share of a feature's variance between curves (`joint`: of all features')
        that a split explains. A variance below 4 % of the response's counts as this:
        models that were fitted to noise have spurious interactions of that size.
    alpha : float, default=None
        Largest p-value of a split, such as 0.05: the share of at least 5 / `alpha`
        permutations of the curves among the rows of the region whose best split is as
        good. None accepts all splits that gain enough.
    grid_resolution : int, default=20
        Largest number of points, or of intervals with ``effect="ale"``, along a numeric
        feature.
    percentiles : tuple of two floats, default=(0.05, 0.95)
        Quantiles between which the equally spaced points of curves lie.
    custom_values : dict of feature to array-like, default=None
        Points or edges to use instead.
    method : {"auto", "tree", "brute"}, default="auto"
        As in :class:`PartialDependence`.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        As in :class:`PartialDependence`.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all, which then share their regions.
    subsample : int, float or None, default=None
        Number or share of the rows that are divided; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the subsample and the permutations.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    regions_ : list of list of Region, or list of Region
        For each entry of `features` its regions; with `joint` those of all of them.
    heterogeneity_ : ndarray of shape (n_entries, `max_depth` + 1)
        Differences in shape between the curves of a region, before any split and after
        each level of splits: the square root of their mean variance over the rows, the
        grid, and the outputs. With ``effect="ale"`` a difference stands for the
        straight line that rises as much over each interval.
    grid_values_ : list of ndarray of shape (G,)
        For each entry the points along it, edges of intervals, or levels.
    curves_ : list of ndarray of shape (n_regions, G)
        The effect within each region: partial dependence, or accumulated local
        effects; with several outputs these lead, as in (k, n_regions, G).
    average_ : list of ndarray of shape (G,)
        The effect over all rows; with several outputs these lead.
    individual_ : list of ndarray of shape (n, G), or None
        Curves of the rows; with several outputs these lead. None with
        ``effect="ale"``.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Heterogeneity before any split; zero for features that are not inspected.
    features_ : list of tuple of int
        Columns of each entry.
    effect_names_ : list of str
        Name of each entry.
    axes_ : list of tuple of Axis
        The axis of each entry.
    sample_indices_ : ndarray of shape (n,)
        Rows of `X` that are divided.
    categorical_features_ : ndarray of bool of shape (`n_features_in_`,)
        Which features are categorical.
    output_names_ : list
        Class labels, or positions of outputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: as :class:`PartialDependence`; if `features` or `split_features` has a
        pair.

    References
    ----------
    Herbinger, J., Bischl, B. & Casalicchio, G. (2022). REPID: Regional Effect Plots
    with implicit Interaction Detection. AISTATS 25.
    https://doi.org/10.48550/arXiv.2202.07254

    Herbinger, J., Wright, M. N., Nagler, T., Bischl, B. & Casalicchio, G. (2024).
    Decomposing Global Feature Effects Based on Feature Interactions. Journal of Machine
    Learning Research 25(381). https://doi.org/10.48550/arXiv.2306.00541

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.effects import RegionalEffects
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> y = np.where(X[:, 1] > 0, 1, -1) * X[:, 0]
    >>> model = RandomForestRegressor(20, random_state=0)
    >>> effects = RegionalEffects(model, features=[0]).fit(X, y)
    >>> print(effects.to_text())
    x0: heterogeneity 0.515 -> 0.07779 -> 0.07779
      x1 <= 0.004: 241 rows, heterogeneity 0.08537
      x1 > 0.004: 259 rows, heterogeneity 0.07001
    """

    effect: str = "ice"
    features: Any = None
    split_features: Any = None
    categorical_features: ArrayLike | None = "auto"
    feature_groups: dict[str, Any] | None = None
    joint: bool = False
    max_depth: int = 2
    min_samples_leaf: float = 0.05
    min_gain: float = 0.1
    alpha: float | None = None
    grid_resolution: int = 20
    percentiles: tuple[float, float] = (0.05, 0.95)
    custom_values: dict[Any, Any] | None = None
    method: str = "auto"

    grid_values_: Points = field(init=False)
    average_: list[NDArray[np.float64]] = field(init=False)
    regions_: list[Any] = field(init=False)
    heterogeneity_: NDArray[np.float64] = field(init=False)
    curves_: list[NDArray[np.float64]] = field(init=False)
    individual_: list[NDArray[np.float64]] | None = field(init=False)
    sample_indices_: NDArray[np.intp] = field(init=False)

    _max_order = 1
    _weights_count_rows = _errors_count_rows = True

    _parameter_constraints = {
        **BaseEffect._parameter_constraints,
        **GRID_CONSTRAINTS,
        "effect": [StrOptions({"ice", "ale"})],
        "split_features": "no_validation",
        "joint": ["boolean"],
        "max_depth": [Interval(Integral, 1, None, closed="left")],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 0.5, closed="neither"),
        ],
        "min_gain": [Interval(Real, 0, 1, closed="both")],
        "alpha": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def _make_axis(self, sample: Sample, request: AxisRequest) -> Axis:
        if self.effect == "ale" and not self._is_level_axis(request.columns):
            return interval_axis(
                sample,
                request.columns[0],
                n_intervals=request.size,
                custom=request.custom,
            )
        axis = make_grid_axis(self, sample, request)
        if (
            self.effect == "ice"
            or request.custom is not None
            or sample.rows.is_ordered(request.columns[0])
        ):
            return axis
        return similar_levels_first(axis, sample, self.categorical_features_)

    _size_of_axes, _quantiles_of = number_of_points, grid_quantiles

    def _measure(self, sample: Sample, response: Response) -> int:
        self.grid_values_ = [axis.displayed for (axis,) in self.axes_]
        self.sample_indices_ = sample.index
        outputs = plain_responses(response, sample.rows)
        entries = (self._ice_curves if self.effect == "ice" else self._ale_curves)(
            sample, response
        )
        self._space = ConditionSpace(sample.rows, self.categorical_features_)
        # The search has one tree for each entry, or one for all entries together.
        curves = [entry.curves for entry in entries]
        if self.joint:
            curves = [_join_curves(curves, have_same_weights=self.effect == "ice")]
        self._roots = self._search_regions(sample, curves, outputs)
        roots = self._roots * len(entries) if self.joint else self._roots
        self.heterogeneity_ = np.array(
            [
                [
                    entry.curves.spread([node.rows for node in root.nodes_at(level)])
                    for level in range(self.max_depth + 1)
                ]
                for entry, root in zip(entries, roots, strict=True)
            ]
        )
        divisions = [
            [self._make_region(node, entry_curves, sample) for node in _leaves(root)]
            for entry_curves, root in zip(curves, self._roots, strict=True)
        ]
        self.regions_ = divisions[0] if self.joint else divisions
        all_rows = np.arange(sample.rows.n_rows)
        averages = [entry.effect_of(all_rows) for entry in entries]
        self.average_ = list(map(drop_single_output, averages))
        self.curves_ = []
        for entry, root in zip(entries, roots, strict=True):
            effects = [entry.effect_of(node.rows) for node in _leaves(root)]
            self.curves_.append(drop_single_output(np.stack(effects, axis=1)))
        return len(averages[0])

    def _ice_curves(self, sample: Sample, response: Response) -> list[_EntryCurves]:
        """Curves of rows less their means; the effect of rows is their mean curve."""
        grids = list(map(grid_replacement, self.axes_))
        responses = row_curves(
            self.method, response, sample.rows, grids, n_jobs=self.n_jobs
        )
        self.individual_ = list(map(drop_single_output, responses))
        weights = sample.weights
        return [
            _EntryCurves(
                RowCurves(_curve_shapes(entry_responses), weights[:, None]),
                partial(_mean_curve, entry_responses, weights),
            )
            for entry_responses in responses
        ]

    def _ale_curves(self, sample: Sample, response: Response) -> list[_EntryCurves]:
        """Differences of rows over steps; the effect of rows accumulates them."""
        effects, state = local_effects(
            self.axes_,
            sample,
            response,
            self.method,
            keep_rows=True,
            n_jobs=self.n_jobs,
        )
        self.individual_ = None
        weights, nodes = sample.weights, state.nodes[:]
        return [
            _EntryCurves(
                _local_differences(effect, weights),
                partial(_accumulated_effect, effect, nodes, weights),
            )
            for effect in effects
        ]

    def _search_regions(
        self, sample: Sample, curves: list[RowCurves], outputs: NDArray[np.float64]
    ) -> list[RegionNode]:
        """The tree of regions of each entry, or of all together."""
        variance = known_moments(outputs, sample.weights).variance.mean()
        rows, min_rows = sample.rows, self.min_samples_leaf
        if not isinstance(min_rows, Integral):
            min_rows = min_rows * sample.weights.sum()
        allowed = resolve_features(
            self.split_features,
            rows.names,
            named=rows.named,
            max_order=1,
            parameter="split_features",
        )
        rng = check_random_state(self.random_state)
        excluded: list[tuple[int, ...]] = [()] if self.joint else self.features_
        roots = []
        for entry in with_progress(range(len(curves))):
            columns = [int(j) for (j,) in allowed if j not in excluded[entry]]
            search = RegionSearch(
                self._space.table,
                sample.weights,
                columns,
                self.max_depth,
                min_rows,
                self.min_gain,
                significance=self.alpha,
                rng=rng,
            )
            root = search.grow(
                curves[entry],
                least_spread=_LEAST_HETEROGENEITY * np.sqrt(variance),
                rounding=_ROUNDING * np.abs(outputs).max(),
            )
            roots.append(root)
        return roots

    def _make_region(
        self, node: RegionNode, curves: RowCurves, sample: Sample
    ) -> Region:
        """The public `Region` of a leaf."""
        conditions = [
            self._make_condition(j, codes) for j, codes in node.allowed.items()
        ]
        weight = float(sample.weights[node.rows].sum())
        spread = float(curves.take(node.rows).spread([slice(None)]))
        return Region(tuple(conditions), sample.index[node.rows], weight, spread)

    def _make_condition(self, column: int, allowed: NDArray[np.bool_]) -> Condition:
        """The condition that a column has one of the allowed codes."""
        return self._space.of_codes(column, np.flatnonzero(allowed))

    def _split_condition(self, node: RegionNode, child: RegionNode) -> Condition:
        """The condition that rows of a node meet in one of its children."""
        return self._make_condition(node.column, child.allowed[node.column])

    def _importance(self, entry: int) -> float:
        return self.heterogeneity_[entry][0]

    @property
    def _region_lists(self) -> list[list[Region]]:
        """Lists of regions: one for each entry, or a single one."""
        return [self.regions_] if self.joint else self.regions_

    @empty_for_no_rows
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Region of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_entries), or (n_samples, 1) with `joint`
            Positions in the entry's list of `regions_`. -1 for rows in none: with a
            category that `fit` did not see, or a missing value where it saw none.
        """
        rows = self._check_rows(X, reset=False)
        self._show_missing_to_model(range(len(self.axes_)), rows)
        columns = []
        for regions in self._region_lists:
            conditions = [region.conditions for region in regions]
            holds = all_hold(conditions, rows, rows.n_rows)
            columns.append(np.where(holds.any(axis=0), holds.argmax(axis=0), -1))
        return np.stack(columns, axis=1).astype(np.float64)

    def _column_names(self, input_features: ArrayLike | None) -> list[str]:
        """Names of features, each followed by "region"."""
        players = [(axis.columns, axis.name) for (axis,) in self.axes_]
        names, _ = self._names_out(input_features, players)
        return ["region"] if self.joint else [f"{name} region" for name in names]

    def to_text(self, digits: int = 4) -> str:
        """Return the splits as text.

        Parameters
        ----------
        digits : int, default=4
            Significant digits of the heterogeneity.

        Returns
        -------
        str
            For each entry, a line with its heterogeneity before any split and after
            each level of splits, and below it the tree of the conditions.
        """
        check_is_fitted(self)
        lines, divisions = [], iter(zip(self._roots, self._region_lists, strict=True))
        for name, spreads in zip(self.effect_names_, self.heterogeneity_, strict=True):
            path = " -> ".join(entry_text(spread, digits) for spread in spreads)
            lines.append(f"{name}: heterogeneity {path}")
            if not self.joint:
                root, regions = next(divisions)
                lines += self._tree_lines(root, iter(regions), "  ", digits)
        for root, regions in divisions:
            lines.append("all features:")
            lines += self._tree_lines(root, iter(regions), "  ", digits)
        return "\n".join(lines)

    def _tree_lines(
        self, node: RegionNode, regions: Iterator[Region], indent: str, digits: int
    ) -> list[str]:
        """Lines of the tree below a node, whose leaves are the next regions."""
        lines = []
        for child in node.children:
            line = f"{indent}{self._split_condition(node, child)}"
            if not child.children:
                region = next(regions)
                line += f": {region.n_rows:g} rows, "
                line += f"heterogeneity {entry_text(region.heterogeneity, digits)}"
            lines += [line, *self._tree_lines(child, regions, indent + "  ", digits)]
        return lines

    def _split_tests(self, node: RegionNode) -> SplitTest | None:
        """The tests of the splits below a node, or None for a leaf."""
        if not node.children:
            return None
        children = [self._split_tests(child) for child in node.children]
        has_missing = node.children[-1].allowed[node.column][-1]
        missing_test = children.pop() if has_missing else None
        condition = self._split_condition(node, node.children[0])
        test = children[0]
        if len(children) > 1:
            test = SplitTest(replace(condition, low=None), *children)
        if not has_missing:
            return test
        is_observed = Condition(node.column, condition.name)
        return SplitTest(is_observed, test, missing_test)

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each region. Columns "feature" (not with `joint`), "region" (its
        position), "conditions" in words, "n_rows" and "heterogeneity".
        """
        names: list[Any] = [None] if self.joint else self.effect_names_
        return [
            ({} if self.joint else {"feature": name})
            | {
                "region": np.arange(len(regions)),
                "conditions": list(map(str, regions)),
                "n_rows": [region.n_rows for region in regions],
                "heterogeneity": [region.heterogeneity for region in regions],
            }
            for name, regions in zip(names, self._region_lists, strict=True)
        ]

    def _result_units(self) -> dict[str, str]:
        return {}

    def _result_facts(self) -> dict[str, Any]:
        return {
            f"heterogeneity of {name}": np.asarray(spreads).tolist()
            for name, spreads in zip(
                self.effect_names_, self.heterogeneity_, strict=True
            )
        }


def _leaves(root: RegionNode) -> list[RegionNode]:
    """The regions below a node."""
    return root.nodes_at(np.inf)


def _curve_shapes(responses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Responses (k, n, G) as curves of rows less their means: (n, k G)."""
    if not responses.size:
        return np.empty((responses.shape[1], 0))
    shapes = responses - responses.mean(axis=2, keepdims=True)
    return np.moveaxis(shapes, 1, 0).reshape(shapes.shape[1], -1)


def _local_differences(effect: LocalEffects, weights: NDArray[np.float64]) -> RowCurves:
    """Differences of rows over the steps of an axis.

    Steps over which a row has no difference have weight zero. A difference is scaled to
    the standard deviation, over the axis, of the line that rises by it at each step.
    """
    n_rows, (n_outputs, n_steps) = len(weights), effect.local.shape
    values, step_weights = np.zeros((2, n_rows, n_outputs, n_steps))
    if effect.step_moments.row_differences:
        index, steps, differences = effect.step_moments.all_row_differences
        # The variance of the uniform distribution between 0 and 1 is 1 / 12.
        values[index, :, steps] = differences * n_steps / np.sqrt(12)
        step_weights[index, :, steps] = weights[index, None]
    return RowCurves(values.reshape(n_rows, -1), step_weights.reshape(n_rows, -1))


def _join_curves(curves: list[RowCurves], *, have_same_weights: bool) -> RowCurves:
    """Curves of several features, one after the other, as one."""
    values = np.hstack([entry_curves.values for entry_curves in curves])
    weights = [entry_curves.weights for entry_curves in curves]
    return RowCurves(values, weights[0] if have_same_weights else np.hstack(weights))


def _mean_curve(
    responses: NDArray[np.float64], weights: NDArray[np.float64], rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Weighted mean curve (k, G) of some rows."""
    return np.average(responses[:, rows], axis=1, weights=weights[rows])


def _accumulated_effect(
    effect: LocalEffects,
    nodes: NDArray[np.integer],
    weights: NDArray[np.float64],
    rows: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Accumulated local effects (k, n_nodes) of some rows."""
    weights_of_rows = np.zeros(len(weights))
    weights_of_rows[rows] = weights[rows]
    return effect.with_weights(nodes, weights_of_rows).effect(centred=True)
