"""Display of a global surrogate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.losses import mean_r_squared
from sklearn_interpret._model.rows.number_format import number_text
from sklearn_interpret._model.surrogates.tree_rules import leaf_order
from sklearn_interpret._plotting.axes import named_legend
from sklearn_interpret._plotting.colours import PALETTE, colours, shade, stand_out
from sklearn_interpret._plotting.curves import note_empty
from sklearn_interpret._plotting.labels import literal, plain_number_ticks, shorten
from sklearn_interpret._plotting.points import MANY_POINTS, draw_points, point_area
from sklearn_interpret._plotting.ranked_bars import draw_ranked_bars, row_height
from sklearn_interpret._plotting.tree_diagram import tree_fits, tree_size
from sklearn_interpret.surrogates._leaves_and_coefficients import (
    coefficient_columns,
    leaf_columns,
)
from sklearn_interpret.surrogates._local_explanation import r_squared_text
from sklearn_interpret.surrogates._plot._global_arrays import SurrogateArrays
from sklearn_interpret.surrogates._plot._leaves import (
    MODEL_COLOUR,
    SURROGATE_COLOUR,
    draw_rules,
    draw_tree,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.container import BarContainer
    from matplotlib.legend import Legend

    from sklearn_interpret._plotting.axes import Canvas, Style

# Kinds that draw leaves.
TREE_KINDS = ("tree", "rules")
MOST_LEAVES = 16  # of a tree drawn with its tests
NARROW_NAMES = 28  # characters of two names in one line over a narrow panel
# What bars and lines are, below axes that have no legend.
KEY = "bars: the model, line: the surrogate"
KEY_OF_SHARES = "wide bars: the model, narrow ones: the surrogate"
TIMES = "\N{MULTIPLICATION SIGN}"


class GlobalSurrogateDisplay(SurrogateArrays):
    """A surrogate, and how the model responds where the surrogate predicts one value.

    Of a tree, the tests stand above the leaves, and in each leaf is the distribution
    of the model's responses to the rows that fall into it, on a common scale; a line
    marks the surrogate's response. A leaf with one narrow peak is a rule that the model
    keeps; a wide one joins rows of different responses. A tree that gives
    the probabilities of all classes is drawn once: each leaf has the mean probabilities
    of the model on each other, and next to them the surrogate's. Larger trees are
    shown by the rules of their largest leaves. Linear surrogates are shown by
    coefficients, in units of the response for one standard deviation of the column; any
    other by its responses against the model's. Each title has the fidelity on the rows
    shown.

    Build it with `from_estimator`, or from arrays of your own. Of the rows given to
    `from_estimator`, those in the surrogate's subset are shown, with their weights.

    Parameters
    ----------
    responses : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Responses of the model.
    surrogate_responses : array-like of shape (n_samples,) or (n_samples, n_outputs), \
default=None
        Those of the surrogate, where they can be compared.
    trees : sequence of dict, default=None
        The surrogate's tree, or one for each output: arrays ``left`` and ``right`` of
        child nodes, of rows that pass a test and of others (-1 for leaves), lists
        ``tests`` (the condition at each node) and ``rules`` (the way to each node).
    leaves : array-like of shape (n_samples,) or (n_samples, n_trees), default=None
        Node of each row in each tree.
    coefficients : array-like of shape (n_outputs, n_columns), default=None
        Of a linear surrogate; one row will do for all outputs.
    deviations : array-like of shape (n_outputs, n_columns), default=None
        Standard deviations of the columns; one row will do for all outputs.
    column_names : sequence of str, default=None
        Names of the columns that the coefficients belong to.
    output_names : sequence, default=None
        Names of the outputs: class labels, or positions.
    target : class label or int, default=None
        The output to show; None shows all, one panel each.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    agreement : float, default=None
        Share of rows to which model and surrogate give the same label.
    response_name : str, default="response"
        Name of the model's response, for the axis.
    model_name, surrogate_name : str, default=None
        For the title.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes
        One for each output shown, or one for the shares of all classes.
    bars_ : list
        For each panel, the distributions of its leaves, or the bars or points; of
        shares a BarContainer for each class of the model, and then of the surrogate.
    texts_ : list of list of Text
        For each panel, what is written into the diagram of its tree.
    kind_ : str
        The kind that was drawn.
    legend_ : matplotlib Legend or None
        Of trees in a figure of their own: whose colours these are.

    See Also
    --------
    sklearn_interpret.surrogates.GlobalSurrogate : What it shows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.svm import SVR
    >>> from sklearn_interpret.surrogates import GlobalSurrogateDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SVR(C=100).fit(X, y)
    >>> display = GlobalSurrogateDisplay.from_estimator(model, X, random_state=0)
    >>> len(display.to_frame())
    8
    >>> display.to_frame()["rule"][5]
    's5 > 0.02440 and bmi ≤ 0.02670'
    """

    _options = {"kind": ("auto", "tree", "rules", "bar", "scatter")}
    # Texts for bars and lines of a tree, in a legend and below an axes.
    _legend_texts = ("Responses of the model", "Mean response of the surrogate")
    _key = KEY

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "auto",
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one panel for each output, or one for the shares of all classes.

        Parameters
        ----------
        ax : matplotlib Axes or array of those, default=None
            None makes a figure; one axes is divided where there are several panels.
        kind : {"auto", "tree", "rules", "bar", "scatter"}, default="auto"
            "tree" draws tests and leaves, "rules" a line for each of the largest
            leaves, "bar" coefficients, and "scatter" responses over responses. "auto"
            takes the first for which the surrogate has results: "rules" for trees of
            more than 16 leaves, or where these have no room.
        max_entries : int, default=20
            Largest number of lines or bars, fewer where lines have no room; None
            shows all.
        bar_kw : dict, default=None
            Style of the distributions, bars or points.

        Returns
        -------
        self : object
            The display.

        Raises
        ------
        ValueError
            A kind that is unknown, or for which the surrogate has no results; arrays
            that do not fit each other; an unknown target, or too many outputs.
        """
        outputs = self._shown_outputs()
        resolved_kind = self._resolve_kind(kind, outputs)
        draws_shares = resolved_kind in TREE_KINDS and self._are_shares()
        panels = [outputs] if draws_shares else [[output] for output in outputs]
        size = self._panel_size(outputs, resolved_kind, max_entries)
        n_columns = 1 if resolved_kind in TREE_KINDS else 3
        canvas = self._take_grid(ax, len(panels), n_columns, size)
        if (kind, resolved_kind) == ("auto", "tree") and ax is not None:
            pairs = zip(canvas.main, panels, strict=True)
            if not all(tree_fits(axes, self._tree(panel[0])) for axes, panel in pairs):
                resolved_kind = "rules"
        self.axes_, self.kind_ = canvas.axes, resolved_kind
        draws = {"tree": self._draw_tree, "rules": self._draw_rules}
        draw = {"bar": self._draw_bar, **draws}.get(resolved_kind, self._draw_scatter)
        self.bars_, self.texts_ = [], []
        for axes, panel in zip(canvas.main, panels, strict=True):
            bars, texts = draw(axes, panel, max_entries, bar_kw)
            self.bars_.append(bars)
            self.texts_.append(texts)
            axes.set_title(self._title(panel, first=panel == panels[0]))
        trees = resolved_kind in TREE_KINDS
        self.legend_ = self._legend(canvas, draws_shares) if trees else None
        return self

    def _resolve_kind(self, kind: str, outputs: list[int]) -> str:
        """The kind to draw, in place of "auto"."""
        if kind == "auto":
            if self.trees is not None:
                sizes = [len(leaf_order(self._tree(output))) for output in outputs]
                return "tree" if max(sizes) <= MOST_LEAVES else "rules"
            return "scatter" if self.coefficients is None else "bar"
        by_kind = {"tree": "trees", "rules": "trees", "bar": "coefficients"}
        needed = by_kind.get(kind, "surrogate_responses")
        if getattr(self, needed) is None:
            raise ValueError(
                f"kind={kind!r} shows {needed.replace('_', ' ')}, and there are none."
            )
        return kind

    def _panel_size(
        self, outputs: list[int], kind: str, max_entries: int | None
    ) -> tuple[float, float]:
        """Width and height of a panel in a figure of its own, in inches."""
        if kind == "tree":
            return tree_size([self._tree(output) for output in outputs])
        if kind == "rules":
            counts = [len(self._leaves(output)) for output in outputs]
            return 8.6, row_height(min(max(counts), max_entries or max(counts)), 0.7)
        if kind == "bar":
            n_columns = len(self._columns(outputs[0])[0])
            return 6.0, 0.4 + row_height(min(n_columns, max_entries or n_columns))
        return 4.8, 4.4

    def _draw_tree(
        self, ax: Axes, outputs: list[int], max_entries: int | None, style: Style | None
    ) -> tuple[list[Any], list[Any]]:
        """Tests above the leaves."""
        leaves, name = list(map(self._leaves, outputs)), self._response_text(outputs)
        return draw_tree(ax, self._tree(outputs[0]), leaves, name, style)

    def _draw_rules(
        self, ax: Axes, outputs: list[int], max_entries: int | None, style: Style | None
    ) -> tuple[list[Any], list[Any]]:
        """A line for each leaf."""
        ax.set_xlabel(self._response_text(outputs))
        return draw_rules(ax, list(map(self._leaves, outputs)), max_entries, style)

    def _draw_bar(
        self, ax: Axes, outputs: list[int], max_entries: int | None, style: Style | None
    ) -> tuple[BarContainer, list[Any]]:
        """Coefficients times deviations, the strongest on top."""
        names, coefficients, deviations = self._columns(outputs[0])
        effects = coefficients * deviations
        order = np.argsort(-np.abs(effects), kind="stable")
        order = order[np.isfinite(effects[order])]
        if not len(order):
            note_empty(ax, "a class that the surrogate has not learnt")
        selected, remaining = order[:max_entries], order[len(order[:max_entries]) :]
        bars, _ = draw_ranked_bars(
            ax, [names[j] for j in selected], effects[selected], style
        )
        label = f"Coefficient {TIMES} standard deviation of the column"
        if len(remaining):
            largest = number_text(np.abs(effects[remaining]).max())
            label += f"\n({len(remaining)} others, none beyond {largest})"
        ax.set_xlabel(label)
        return bars, []

    def _draw_scatter(
        self, ax: Axes, outputs: list[int], max_entries: int | None, style: Style | None
    ) -> tuple[Collection, list[Any]]:
        """Responses of the surrogate over those of the model."""
        values, surrogate = self._responses()
        if surrogate is None:
            raise ValueError(
                "The surrogate's predictions cannot be compared with the model's "
                "response: take a regressor as surrogate."
            )
        name = self._response_text(outputs)
        ax.set(xlabel=f"Model: {name}", ylabel=f"Surrogate: {name}")
        pair = values[:, outputs[0]], surrogate[:, outputs[0]]
        return _draw_responses(ax, *pair, style), []

    def _response_text(self, outputs: list[int]) -> str:
        """The response, and which output of it where that has a name."""
        output = outputs[0] if len(outputs) == 1 else None
        return literal(shorten(self._response_label(self._names(), output)))

    def _title(self, outputs: list[int], first: bool) -> str:
        """Names of the surrogate and of the model, and the fidelity."""
        values, surrogate = self._responses()
        measures = []
        if surrogate is not None:
            pair = values[:, outputs], surrogate[:, outputs]
            measures.append(r_squared_text(mean_r_squared(*pair, self._weights())))
        if self.agreement is not None:
            measures.append(f"same label for {100 * self.agreement:.0f} % of rows")
        lines = [", ".join(measures)]
        if first and self.surrogate_name and self.model_name:
            names = [shorten(self.surrogate_name), shorten(self.model_name)]
            on_one_line = self.kind_ in TREE_KINDS
            if sum(map(len, names)) <= NARROW_NAMES:
                on_one_line = True
            separator = " " if on_one_line else "\n"
            lines.insert(0, f"{separator}in place of ".join(names))
        if len(outputs) < len(self._names()):
            lines[-1] = f"{shorten(self._names()[outputs[0]])}: {lines[-1]}"
        return literal("\n".join(line for line in lines if line))

    def _legend(self, canvas: Canvas, draws_shares: bool) -> Legend | None:
        """A legend of the colours; words below axes of the user."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        _, surrogate_responses = self._responses()
        has_surrogate, title = surrogate_responses is not None, None
        if draws_shares:
            labels, title = self._names(), KEY_OF_SHARES if has_surrogate else None
            palette = [stand_out(c, canvas.main[0]) for c in colours(len(labels))]
            handles: list[Any] = [Patch(color=colour) for colour in palette]
        elif canvas.own_figure:
            handles = [Patch(facecolor=MODEL_COLOUR)]
            if has_surrogate:
                handles.append(Line2D([], [], color=SURROGATE_COLOUR, linewidth=1.8))
            labels = list(self._legend_texts[: len(handles)])
        else:
            for ax in canvas.main:
                ax.set_xlabel("\n".join(filter(None, [ax.get_xlabel(), self._key])))
            return None
        owner: Any = canvas.main[0]
        location: dict[str, Any] = {"loc": "upper center"}
        if canvas.own_figure:
            owner, location = canvas.figure, {"loc": "outside lower center"}
        else:
            location["bbox_to_anchor"] = (0.5, -0.12)
        legend_kwargs: Style = {"fontsize": "small", "frameon": False}
        legend_kwargs["title_fontsize"] = "small"
        legend_kwargs["ncols"] = min(len(labels), 5)
        return named_legend(
            owner, handles, labels, title=title, **location, **legend_kwargs
        )

    def to_frame(self) -> Any:
        """Numbers that are drawn.

        Returns
        -------
        pandas.DataFrame
            Of trees a row for each leaf with rows: its rule, number and share of rows,
            mean and quantiles of the model's responses, and the surrogate's mean. Of
            linear surrogates a row for each column, the strongest first; of others a
            row for each row of the data. Several outputs stand below each other.
        """
        names, outputs = self._names(), self._shown_outputs()
        return self._frame(
            *({"output": names[output], **self._numbers(output)} for output in outputs)
        )

    def _numbers(self, output: int) -> dict[str, Any]:
        """Columns of the table of one output."""
        if self.trees is not None:
            return leaf_columns(self._leaves(output))
        if self.coefficients is not None:
            return coefficient_columns(*self._columns(output))
        values, surrogate = self._responses()
        surrogate = np.full_like(values, np.nan) if surrogate is None else surrogate
        columns = {"model": values[:, output], "surrogate": surrogate[:, output]}
        return {"row": range(len(values)), **columns}


def _draw_responses(
    ax: Axes,
    values: NDArray[np.float64],
    surrogate: NDArray[np.float64],
    style: Style | None,
) -> Collection:
    """Points, or the density of many, of the surrogate's responses over the model's."""
    responses = np.concatenate([values, surrogate])
    low, high = float(responses.min()), float(responses.max())
    room = 0.04 * (high - low) or 0.5
    ends = low - room, high + room
    if len(values) > MANY_POINTS:
        style_kwargs: Style = {"gridsize": 40, "mincnt": 1, "bins": "log"}
        style_kwargs["cmap"] = "viridis"
        style_kwargs |= {"linewidths": 0.1, "extent": (*ends, *ends), **(style or {})}
        points: Collection = ax.hexbin(values, surrogate, **style_kwargs)
    else:
        style_kwargs = {"s": point_area(len(values)), "color": PALETTE[0], "alpha": 0.6}
        style_kwargs |= {"linewidths": 0, "zorder": 2}
        points = draw_points(ax, values, surrogate, style, **style_kwargs)
    ax.plot(ends, ends, color=shade(ax, 0.8), linewidth=1, zorder=1.5, linestyle="--")
    ax.set(xlim=ends, ylim=ends)
    for axis in "xy":
        plain_number_ticks(ax, axis)
    ax.spines[["top", "right"]].set_visible(False)
    return points
