"""Display of interactions of pairs, and of each feature with all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics.refits import learner_half_width
from sklearn_interpret._plotting.axes import side_legend
from sklearn_interpret._plotting.colours import colours
from sklearn_interpret._plotting.displays import FoldsMixin
from sklearn_interpret._plotting.labels import JOIN, literal_lines
from sklearn_interpret._plotting.matrices import check_strengths, draw_table, table_size
from sklearn_interpret._plotting.ranked_bars import (
    LEARNER,
    append_combined,
    draw_bars,
    draw_spreads,
    finish_rows,
    label_ends,
    name_rows,
    rank_entries,
    row_height,
)
from sklearn_interpret._plotting.sources import check_same_in_folds
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.interactions._h_statistic import HStatistic
from sklearn_interpret.interactions._partial_dependence_interaction import (
    PartialDependenceInteraction,
)
from sklearn_interpret.interactions._plot._sources import InteractionSources, one_output

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.legend import Legend

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.sources import Data

NUMBER_ROOM = 0.16  # share of the longest bar, for the numbers to the right of it
WIDTH, LEGEND_WIDTH = 6.4, 1.6  # inches


@dataclass(frozen=True)
class Group:
    """Bars of features, or of pairs, the strongest first."""

    title: str
    names: list[tuple[str, ...]]  # name of a feature, or names of a pair
    values: NDArray[np.float64]  # (n_bars,): strengths
    spreads: NDArray[np.float64]  # (n_bars,): standard deviations, NaN where unknown
    n_others: int  # number of features or pairs whose mean the last bar is

    def __len__(self) -> int:
        return len(self.names)

    @property
    def has_spreads(self) -> bool:
        """Whether there are standard deviations."""
        return bool(np.isfinite(self.spreads).any())


@dataclass(eq=False, repr=False)
class HStatisticDisplay(FoldsMixin, InteractionSources):
    """Strengths of interactions, as bars or as a heat map.

    Bars show each feature with all others, and the strongest pairs. It shows
    :class:`HStatistic`, and the pairs of :class:`PartialDependenceInteraction`.

    Build it with `from_estimator` or `from_cv_results`, or from arrays of your own.
    Both take ``unnormalized=True``, which shows standard deviations, in the units of
    the response, in place of H squared.

    Parameters
    ----------
    pairwise : array-like of shape (n_features, n_features)
        Symmetric strengths of the pairs, NaN for those that were not looked at; the
        diagonal is left out.
    feature_names : sequence of str
        Name of each feature.
    overall : array-like of shape (n_features,), default=None
        Strengths of each feature with all others.
    pairwise_std : array-like of shape (n_features, n_features), default=None
        Standard deviations of the strengths.
    overall_std : array-like of shape (n_features,), default=None
        As for pairs.
    strength_name : str, default="Interaction"
        Name of the numbers, for the axis.
    spread_name : str, default="draws"
        Name of the draws that the standard deviations are over.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    bars_ : list of BarContainer
        Bars of the features, where there is `overall`, and of the pairs, the first
        line's first. Empty for a heat map.
    spreads_ : list of LineCollection
        One standard deviation to each side, for each of `bars_`; of folds, intervals of
        95 % for the learner's strength, of models on other data.
    labels_ : list of Text
        The numbers at the bars, or on the cells of a small heat map.
    heatmap_ : QuadMesh or None
        The heat map.
    colorbar_ : matplotlib Colorbar or None
        Its colour bar.
    legend_ : matplotlib Legend or None
        The legend of the bars.

    Examples
    --------
    >>> from sklearn_interpret.interactions import HStatisticDisplay
    >>> display = HStatisticDisplay(
    ...     [[0, 0.3], [0.3, 0]], feature_names=["age", "income"], overall=[0.2, 0.1]
    ... ).plot()
    >>> len(display.bars_)
    2
    >>> display.to_frame()
      feature feature2  strength
    0     age     <NA>       0.2
    1  income     <NA>       0.1
    2     age   income       0.3
    """

    _kinds = (HStatistic, PartialDependenceInteraction)
    _choices = frozenset({"target", "unnormalized"})
    _options = {"kind": ("bar", "heatmap")}

    pairwise: ArrayLike
    _: KW_ONLY
    feature_names: Any
    overall: ArrayLike | None = None
    pairwise_std: ArrayLike | None = None
    overall_std: ArrayLike | None = None
    strength_name: str = "Interaction"
    spread_name: str = "draws"

    @classmethod
    def _from_inspector(
        cls,
        inspector: HStatistic | PartialDependenceInteraction,
        data: Data,
        *,
        target: Any = None,
        unnormalized: bool = False,
    ) -> Self:
        """The display of a fitted inspector's pairs.

        unnormalized : bool, default=False
            Whether H statistics are shown as the standard deviation of the
            interaction, in the response's unit, and not as shares.
        """
        arrays = _pair_arrays(inspector, target=target, unnormalized=unnormalized)
        return cls(**arrays)._set_response(inspector, target)

    @classmethod
    def _from_folds(
        cls,
        inspectors: list[Any],
        data: Data,
        *,
        target: Any = None,
        unnormalized: bool = False,
    ) -> Self:
        """The display of the mean over folds.

        unnormalized : bool, default=False
            As in `from_estimator`.
        """
        choices = {"target": target, "unnormalized": unnormalized}
        folds = [_pair_arrays(inspector, **choices) for inspector in inspectors]
        first = folds[0]
        check_same_in_folds([fold["feature_names"] for fold in folds], "features")
        check_same_in_folds([fold["strength_name"] for fold in folds], "quantities")
        arrays = {name: first[name] for name in ("feature_names", "strength_name")}
        by_fold = {}
        for name in ("pairwise", "overall"):
            if first[name] is not None:
                values = np.array([fold[name] for fold in folds])
                arrays[name] = values.mean(axis=0)
                by_fold[name] = values
        display = cls(**arrays)
        display._by_fold = by_fold
        return display._set_response(inspectors[0], target)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "bar",
        max_entries: int | None = 10,
        bar_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the strongest interactions.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        kind : {"bar", "heatmap"}, default="bar"
            Bars for the features and for the strongest pairs, or a table of the pairs
            of the strongest features.
        max_entries : int, default=10
            Largest number of features, and of pairs; None shows all. Of bars, those
            beyond it share a line, which is their mean.
        bar_kw : dict, default=None
            Style of the bars.
        heatmap_kw : dict, default=None
            Style of the heat map.

        Returns
        -------
        self : object
            The display.

        Raises
        ------
        ValueError
            An unknown kind, a `max_entries` that is not a positive whole number, arrays
            that do not fit each other, or nothing to draw.
        """
        arrays = self._check_arrays()
        self.bars_: list[Any] = []
        self.spreads_: list[Any] = []
        self.labels_: list[Any] = []
        self.heatmap_: QuadMesh | None = None
        self.colorbar_: Colorbar | None = None
        self.legend_: Legend | None = None
        if kind == "heatmap":
            self._plot_table(ax, arrays, max_entries, heatmap_kw)
        else:
            self._plot_bars(ax, arrays, max_entries, bar_kw)
        return self

    def _check_arrays(self) -> dict[str, Any]:
        """The four arrays by name, checked against the names of the features."""
        n_features = len(self.feature_names)
        shapes = {"pairwise": (n_features, n_features), "overall": (n_features,)}
        shapes |= {f"{name}_std": shape for name, shape in shapes.items()}
        arrays: dict[str, Any] = {
            name: check_strengths(getattr(self, name), shape, name)
            for name, shape in shapes.items()
        }
        for name, folds in (self._by_fold or {}).items():
            arrays[f"{name}_std"] = learner_half_width(folds, self._splits)
        if arrays["overall"] is None and not len(measured_pairs(arrays["pairwise"])):
            raise ValueError("There is no pair of features: nothing to draw.")
        return arrays

    def _make_groups(
        self, arrays: dict[str, Any], max_entries: int | None
    ) -> list[Group]:
        """The bars of features, if their strengths are given, and of pairs."""
        names = list(map(str, self.feature_names))
        groups = []
        if arrays["overall"] is not None:
            strengths, spreads = arrays["overall"], arrays["overall_std"]
            singles = [(name,) for name in names]
            title = "with all others"
            groups.append(make_group(title, singles, strengths, spreads, max_entries))
        pairs = measured_pairs(arrays["pairwise"])
        if len(pairs):
            indices, spreads = tuple(pairs.T), arrays["pairwise_std"]
            spreads = None if spreads is None else spreads[indices]
            pair_names = [(names[first], names[second]) for first, second in pairs]
            strengths = arrays["pairwise"][indices]
            group = make_group("pairs", pair_names, strengths, spreads, max_entries)
            groups.append(group)
        return groups

    def _plot_bars(
        self,
        ax: Axes,
        arrays: dict[str, Any],
        max_entries: int | None,
        style: Style | None,
    ) -> None:
        groups = self._make_groups(arrays, max_entries)
        n_lines = sum(map(len, groups)) + len(groups) - 1  # an empty one between groups
        has_legend = len(groups) > 1 or any(group.has_spreads for group in groups)
        width = WIDTH + LEGEND_WIDTH if has_legend else WIDTH
        ax = self._take_axes(ax, (width, row_height(n_lines)))
        places, palette = name_lines(ax, groups), colours(len(groups))
        ends = [
            self._draw_group(group, positions, colour, style)
            for group, positions, colour in zip(groups, places, palette, strict=True)
        ]
        longest = np.concatenate(ends).max()
        ax.set_xlim(0, longest * (1 + NUMBER_ROOM) if longest > 0 else 1.0)
        label = self._strength_label().replace("\n(", " (")
        finish_rows(ax, literal_lines(label))
        handles = [bars.patches[0] for bars in self.bars_] if len(groups) > 1 else []
        texts = [group.title for group in groups][: len(handles)]
        if self.spreads_:
            handles.append(self.spreads_[0])
            if self._by_fold is None:
                texts.append(f"± 1 std of {self.spread_name}")
            else:
                texts.append(self._learner_text(LEARNER))
        self.legend_ = side_legend(ax, handles, texts, corner="lower right")

    def _draw_group(
        self,
        group: Group,
        positions: NDArray[np.float64],
        colour: str,
        style: Style | None,
    ) -> NDArray[np.float64]:
        """Bars of a group with their spread and numbers; how far they reach."""
        bars = draw_bars(self.ax_, positions, group.values, colour, style, height=0.74)
        if group.n_others:
            bars.patches[-1].set_alpha(0.45)
        self.bars_.append(bars)
        ends = group.values
        if group.has_spreads:
            low, high = group.values - group.spreads, group.values + group.spreads
            low = np.maximum(low, 0)
            self.spreads_.append(draw_spreads(self.ax_, positions, low, high))
            ends = np.fmax(ends, high)
        self.labels_ += label_ends(self.ax_, ends, positions, group.values)
        return ends

    def _plot_table(
        self,
        ax: Axes,
        arrays: dict[str, Any],
        max_entries: int | None,
        style: Style | None,
    ) -> None:
        table = arrays["pairwise"]
        if not len(measured_pairs(table)):
            raise ValueError("There is no pair of features: nothing to draw.")
        np.fill_diagonal(table, np.nan)
        strengths = np.nan_to_num(table)
        order = np.lexsort((-strengths.sum(axis=1), -strengths.max(axis=1)))
        order = order if max_entries is None else order[: max(max_entries, 2)]
        lines = literal_lines(self._strength_label()).split("\n")
        # The colour bar has no space for the explanation in brackets.
        name = "\n".join(line for line in lines if not line.startswith("("))
        ax = self._take_axes(ax, table_size(len(order)))
        artists = draw_table(ax, table, self.feature_names, order, name, style)
        self.heatmap_, self.colorbar_, self.labels_ = artists

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame, all features and pairs on lines of their own.

        Returns
        -------
        pandas.DataFrame
            With the columns "feature", "feature2" (missing for a feature with all
            others), "strength" and, where there are standard deviations, "std", or
            where there are folds, "low" and "high" of the learner's intervals; in the
            order of the bars.
        """
        groups = self._make_groups(self._check_arrays(), None)
        names = [name for group in groups for name in group.names]
        columns = {
            "feature": [name[0] for name in names],
            "feature2": [name[1] if len(name) > 1 else None for name in names],
            "strength": np.concatenate([group.values for group in groups]),
        }
        if any(group.has_spreads for group in groups):
            strengths = columns["strength"]
            spreads = np.concatenate([group.spreads for group in groups])
            if self._by_fold is None:
                columns["std"] = spreads
            else:
                columns |= {"low": strengths - spreads, "high": strengths + spreads}
        return self._frame(columns).astype({"feature2": "string"})


def measured_pairs(pairwise: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions (n_pairs, 2) of the pairs j < k that have a strength."""
    upper = np.triu(np.ones_like(pairwise, dtype=bool), 1)
    return np.argwhere(upper & ~np.isnan(pairwise))


def make_group(
    title: str,
    names: Sequence[tuple[str, ...]],
    values: NDArray[np.float64],
    spreads: NDArray[np.float64] | None,
    max_entries: int | None,
) -> Group:
    """Bars of the strongest entries, and one for the mean of the others."""
    selected, remaining = rank_entries(values, max_entries)
    names = [names[position] for position in selected]
    spreads = np.full(len(values), np.nan) if spreads is None else spreads
    spreads = spreads[selected]
    if len(remaining):
        names.append((f"mean of {len(remaining)} others",))
        spreads = np.append(spreads, np.nan)
    return Group(
        title,
        names,
        append_combined(values, selected, remaining),
        spreads,
        len(remaining),
    )


def name_lines(ax: Axes, groups: list[Group]) -> list[NDArray[np.float64]]:
    """Name the bars of all groups; return their positions, with gaps between groups."""
    names = []
    for group in groups:
        names += [JOIN.join(name) for name in group.names] + [""]
    name_rows(ax, names[:-1])
    n_lines = len(names) - 1
    starts = np.cumsum([0, *(len(group) + 1 for group in groups)])
    return [
        n_lines - 1.0 - start - np.arange(len(group))
        for start, group in zip(starts, groups, strict=False)
    ]


def _pair_arrays(
    inspector: Any, *, target: Any = None, unnormalized: bool = False
) -> dict[str, Any]:
    """Constructor arguments for the strengths of an inspector of pairs."""
    output = output_position(inspector.output_names_, target)
    arrays: dict[str, Any] = {"feature_names": list(inspector.player_names_)}
    arrays["overall"] = None
    if isinstance(inspector, PartialDependenceInteraction):
        arrays["pairwise"] = one_output(inspector.pairwise_, 2, output)
        arrays["strength_name"] = (
            "Interaction by partial dependence\n(deviation of deviations)"
        )
        return arrays
    ending = "unnormalized_" if unnormalized else ""
    for name, n_axes in (("pairwise", 2), ("overall", 1)):
        values = getattr(inspector, f"{name}_{ending}")
        arrays[name] = one_output(values, n_axes, output)
        spread = getattr(inspector, f"{name}_std_")
        if spread is not None and not unnormalized:
            arrays[f"{name}_std"] = one_output(spread, n_axes, output)
            arrays["spread_name"] = f"{inspector.n_repeats} subsamples"
    if unnormalized:
        text = "Unnormalized H\n(standard deviation of the interaction)"
    elif inspector.squared:
        text = "H²\n(share of the variance of the joint effect)"
    else:
        text = "H\n(root of the share of the joint effect's variance)"
    return arrays | {"strength_name": text}
