"""Display of a global surrogate."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from sklearn_interpret._core.statistics.losses import mean_r_squared
from sklearn_interpret._plotting.axes import Slot, merged_style, named_legend, take_axes
from sklearn_interpret._plotting.bars import (
    check_count,
    draw_bars,
    label_ends,
    name_rows,
    row_height,
)
from sklearn_interpret._plotting.colours import OKABE_ITO, shade, sign_colours
from sklearn_interpret._plotting.labels import (
    literal,
    number_text,
    plain_number_ticks,
    shorten,
)
from sklearn_interpret._plotting.points import MANY_POINTS, point_area
from sklearn_interpret._plotting.tables import import_pandas
from sklearn_interpret.surrogates._local_explanation import r_squared_text
from sklearn_interpret.surrogates._plot._global_arrays import (
    QUANTILES,
    SurrogateArrays,
    SurrogateSources,
    leaf_order,
)
from sklearn_interpret.surrogates._plot._tree_panel import (
    KEY,
    KEY_OF_SHARES,
    MODEL_COLOUR,
    SURROGATE_COLOUR,
    draw_rules,
    draw_tree,
    fits,
    share_colours,
    tree_size,
)

KINDS = ("auto", "tree", "rules", "bar", "scatter")
MOST_LEAVES = 16
RULE_PITCH = 0.78  # inches
NUMBER_ROOM = 0.2
NARROW_NAMES = 28  # characters of two names side by side over a narrow panel
TIMES = "\N{MULTIPLICATION SIGN}"


class GlobalSurrogateDisplay(SurrogateSources, SurrogateArrays):
    """A surrogate, and how the model responds where the surrogate predicts one value.

    Of a tree, the tests stand above the leaves, and in each leaf is the distribution
    of the model's responses to the rows that fall into it, on a common scale; a line
    marks the surrogate's response. A leaf with one narrow peak is a rule that the model
    keeps; a wide one lumps together rows that the model tells apart. A tree that gives
    the probabilities of all classes is drawn once: each leaf has the mean probabilities
    of the model on each other, and beside them the surrogate's. Larger trees are
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
        What was drawn, where that was left open.
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

    # What bars and lines of a tree are: in a legend, and in short below an axes.
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
            takes the first that there is something for: "rules" for trees of more than
            16 leaves, or where they have no room.
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
            A kind that is unknown, or that the surrogate has nothing for; arrays that
            do not fit each other; an unknown target, or too many outputs.
        """
        outputs = self._shown_outputs()
        settled = self._settled(kind, outputs)
        together = settled in ("tree", "rules") and self._are_shares()
        panels = [outputs] if together else [[output] for output in outputs]
        canvas = self._canvas(ax, panels, settled, max_entries)
        if (kind, settled) == ("auto", "tree") and ax is not None:
            pairs = zip(canvas.main, panels, strict=True)
            if not all(fits(one, self._tree(panel[0])) for one, panel in pairs):
                settled = "rules"
        self.figure_, self.axes_, self.kind_ = canvas.figure, canvas.axes, settled
        self.bars_, self.texts_ = [], []
        for one, panel in zip(canvas.main, panels, strict=True):
            self._draw(one, panel, settled, max_entries, bar_kw)
            one.set_title(self._title(panel, first=panel == panels[0]))
        self.legend_ = None
        if settled in ("tree", "rules"):
            self._explain_colours(canvas, together)
        return self

    def _settled(self, kind, outputs):
        """Default of what is drawn."""
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} must be one of {', '.join(KINDS)}.")
        if kind == "auto":
            if self.trees is not None:
                sizes = [len(leaf_order(self._tree(output))) for output in outputs]
                return "tree" if max(sizes) <= MOST_LEAVES else "rules"
            return "scatter" if self.coefficients is None else "bar"
        needed = {"tree": "trees", "rules": "trees", "bar": "coefficients"}
        needed = needed.get(kind, "surrogate_responses")
        if getattr(self, needed) is None:
            raise ValueError(
                f"kind={kind!r} shows {needed.replace('_', ' ')}, and there are none."
            )
        return kind

    def _canvas(self, ax, panels, kind, max_entries):
        """Axes for the panels; a figure made here is as large as these need."""
        return take_axes(
            ax,
            [Slot()] * len(panels),
            n_columns=3 if kind in ("bar", "scatter") else 1,
            caller=f"{type(self).__name__}.plot",
            panel_size=self._panel_size(
                [panel[0] for panel in panels], kind, max_entries
            ),
        )

    def _panel_size(self, outputs, kind, max_entries):
        if kind == "tree":
            return tree_size([self._tree(output) for output in outputs])
        if kind == "rules":
            counts = [len(self._leaves(output)) for output in outputs]
            n_lines = min(max(counts), max_entries or max(counts))
            return 8.6, row_height(n_lines, RULE_PITCH)
        if kind == "bar":
            _, coefficients, _ = self._columns(outputs[0])
            shown, _ = _strongest(coefficients, max_entries)
            return 6.0, 0.4 + row_height(len(shown))
        return 4.8, 4.4

    def _draw(self, ax, outputs, kind, max_entries, style):
        """One panel, of one output or, of shares, of all."""
        output = outputs[0]
        name = self._response_text(output if len(outputs) == 1 else None)
        names, texts = [self._names()[each] for each in outputs], []
        if kind == "tree":
            tree, leaves = self._tree(output), list(map(self._leaves, outputs))
            drawn, texts = draw_tree(ax, tree, leaves, names, name, style)
        elif kind == "rules":
            check_count(max_entries, "max_entries")
            leaves = list(map(self._leaves, outputs))
            drawn, texts = draw_rules(ax, leaves, names, max_entries, style)
            ax.set_xlabel(name)
        elif kind == "bar":
            names, coefficients, deviations = self._columns(output)
            effects = coefficients * deviations
            drawn = _draw_effects(ax, names, effects, max_entries, style)
        else:
            values, surrogate = self._responses()
            if surrogate is None:
                raise ValueError(
                    "What this surrogate predicts cannot be compared with the model's "
                    "response: take a regressor as surrogate."
                )
            pair = values[:, output], surrogate[:, output]
            drawn = _draw_responses(ax, *pair, style)
            ax.set_xlabel(f"Model: {name}")
            ax.set_ylabel(f"Surrogate: {name}")
        self.bars_.append(drawn)
        self.texts_.append(texts)

    def _response_text(self, output):
        """The response, and which output of it where that has a name."""
        return literal(shorten(self._response_label(self._names(), output)))

    def _title(self, outputs, first):
        """Which model the surrogate replaces, and how well."""
        values, surrogate = self._responses()
        weights, parts = self._weights(), []
        if surrogate is not None:
            pair = values[:, outputs], surrogate[:, outputs]
            share = mean_r_squared(*pair, weights)
            parts.append(r_squared_text(share))
        if self.agreement is not None:
            parts.append(f"same label for {100 * self.agreement:.0f} % of rows")
        lines = [", ".join(parts)]
        names = [self.surrogate_name, self.model_name]
        if first and all(names):
            names = list(map(shorten, names))
            wide = self.kind_ in ("tree", "rules")
            between = " " if wide or sum(map(len, names)) <= NARROW_NAMES else "\n"
            lines.insert(0, f"{between}in place of ".join(names))
        if len(outputs) < len(self._names()):
            lines[-1] = f"{shorten(self._names()[outputs[0]])}: {lines[-1]}"
        return literal("\n".join(line for line in lines if line))

    def _explain_colours(self, canvas, together):
        """A legend below an own figure, else in words where no other axes is hit."""
        if together:
            self.legend_ = self._legend_of_shares(canvas)
            return
        if canvas.own_figure:
            self.legend_ = self._legend(canvas)
            return
        for ax in canvas.main:
            ax.set_xlabel("\n".join(filter(None, [ax.get_xlabel(), self._key])))

    def _legend_of_shares(self, canvas):
        from matplotlib.patches import Patch

        (ax,) = canvas.main
        names = self._names()
        handles = [Patch(color=colour) for colour in share_colours(ax, len(names))]
        looks = {"ncols": min(len(names), 5), "fontsize": "small", "frameon": False}
        if self._responses()[1] is not None:
            looks |= {"title": KEY_OF_SHARES, "title_fontsize": "small"}
        if canvas.own_figure:
            looks["loc"] = "outside lower center"
            return named_legend(canvas.figure, handles, names, most=18, **looks)
        looks |= {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12)}
        return named_legend(ax, handles, names, most=18, **looks)

    def _legend(self, canvas):
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles = [Patch(facecolor=MODEL_COLOUR)]
        labels = list(self._legend_texts[:1])
        if self._responses()[1] is not None:
            handles.append(Line2D([], [], color=SURROGATE_COLOUR, linewidth=1.8))
            labels = self._legend_texts
        place = {"loc": "outside lower center", "ncols": 2, "frameon": False}
        return named_legend(canvas.figure, handles, labels, fontsize="small", **place)

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
        pandas = import_pandas(f"{type(self).__name__}.to_frame")
        rows = []
        for output in self._shown_outputs():
            name = self._names()[output]
            rows += [{"output": name, **row} for row in self._numbers(output)]
        return pandas.DataFrame(rows)

    def _numbers(self, output):
        """Rows of the table of one output."""
        if self.trees is not None:
            return map(_leaf_numbers, self._leaves(output))
        if self.coefficients is not None:
            names, coefficients, deviations = self._columns(output)
            effects = coefficients * deviations
            return [
                {
                    "column": names[j],
                    "coefficient": coefficients[j],
                    "standard_deviation": deviations[j],
                    "effect": effects[j],
                }
                for j in _strongest(effects, None)[0]
            ]
        values, surrogate = self._responses()
        surrogate = np.full_like(values, np.nan) if surrogate is None else surrogate
        pairs = zip(values[:, output], surrogate[:, output], strict=True)
        return [
            {"row": row, "model": response, "surrogate": prediction}
            for row, (response, prediction) in enumerate(pairs)
        ]


def _leaf_numbers(leaf):
    names = [f"q{100 * q:02.0f}" for q in QUANTILES]
    return {
        "leaf": leaf.node,
        "rule": leaf.rule,
        "n_rows": len(leaf.values),
        "share": leaf.share,
        "mean": leaf.mean,
        **dict(zip(names, leaf.quantiles.tolist(), strict=True)),
        "surrogate": leaf.surrogate,
    }


def _strongest(effects, max_entries):
    """Positions of the effects that are shown, the largest first, and of the others."""
    check_count(max_entries, "max_entries")
    order = np.argsort(-np.abs(effects), kind="stable")
    return order[:max_entries], order[len(order[:max_entries]) :]


def _draw_effects(ax, names, effects, max_entries, style):
    """Bars for coefficients times deviations (q,), the strongest on top."""
    shown, others = _strongest(effects, max_entries)
    values = effects[shown]
    places = np.arange(len(shown))[::-1]
    bars = draw_bars(ax, places, values, sign_colours(values), style, height=0.78)
    low, high = min(values.min(), 0.0), max(values.max(), 0.0)
    span = high - low if high > low else 1.0
    room = [NUMBER_ROOM * span * bool(end) for end in (low < 0, high > 0)]
    ax.set_xlim(low - room[0], high + room[1] if high > low else 1.0)
    label_ends(ax, values, places, values, signed=True)
    ax.axvline(0, color=shade(ax, 0.8), linewidth=0.8, zorder=2.3)
    name_rows(ax, [names[j] for j in shown])
    plain_number_ticks(ax)
    label = f"Coefficient {TIMES} standard deviation of the column"
    if len(others):
        most = np.abs(effects[others]).max()
        label += f"\n({len(others)} others, none beyond {number_text(most)})"
    ax.set_xlabel(label)
    ax.spines[["top", "right"]].set_visible(False)
    return bars


def _draw_responses(ax, values, surrogate, style):
    """Points, or the density of many, of the surrogate's responses over the model's."""
    from matplotlib.collections import PathCollection

    both = np.concatenate([values, surrogate])
    low, high = float(both.min()), float(both.max())
    room = 0.04 * (high - low) or 0.5
    ends = low - room, high + room
    if len(values) > MANY_POINTS:
        looks = {"gridsize": 40, "mincnt": 1, "bins": "log", "cmap": "viridis"}
        looks |= {"linewidths": 0.1, "extent": (*ends, *ends), **(style or {})}
        shown = ax.hexbin(values, surrogate, **looks)
    else:
        looks = {"s": point_area(len(values)), "color": OKABE_ITO[0], "alpha": 0.6}
        looks |= {"linewidths": 0, "zorder": 2}
        looks = merged_style(looks, style, PathCollection)
        shown = ax.scatter(values, surrogate, **looks)
    ax.plot(ends, ends, color=shade(ax, 0.8), linewidth=1, zorder=1.5, linestyle="--")
    ax.set(xlim=ends, ylim=ends)
    for axis in "xy":
        plain_number_ticks(ax, axis)
    ax.spines[["top", "right"]].set_visible(False)
    return shown
