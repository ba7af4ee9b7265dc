"""Display of a global surrogate."""

from typing import Any, Self

import numpy as np

from sklearn_interpret._core.statistics.losses import r_squared
from sklearn_interpret._plotting.axes import import_pyplot, named_legend, take_axes
from sklearn_interpret._plotting.labels import literal, shorten
from sklearn_interpret._plotting.layouts import Slot, row_height
from sklearn_interpret._plotting.numbers import number_beside
from sklearn_interpret._plotting.ranking import check_count
from sklearn_interpret._plotting.tables import import_pandas
from sklearn_interpret.surrogates._plot._global_arrays import SurrogateArrays
from sklearn_interpret.surrogates._plot._global_sources import SurrogateSources
from sklearn_interpret.surrogates._plot._leaves import QUANTILES, leaf_order
from sklearn_interpret.surrogates._plot._plain_panels import (
    draw_answers,
    draw_effects,
    strongest,
)
from sklearn_interpret.surrogates._plot._tree_panel import (
    KEY,
    MODEL_COLOUR,
    SURROGATE_COLOUR,
    draw_rules,
    draw_tree,
    fits,
    tree_size,
)

KINDS = ("auto", "tree", "rules", "bar", "scatter")
MOST_LEAVES = 16
RULE_PITCH = 0.78  # inches


class GlobalSurrogateDisplay(SurrogateSources, SurrogateArrays):
    """A surrogate, and what the model answers where the surrogate says one thing.

    Of a tree, the tests stand above the leaves, and in each leaf is the distribution
    of what the model answers to the rows that fall into it, on a common scale; a line
    marks the surrogate's answer. A leaf of one narrow heap is a rule that the model
    keeps; a wide one lumps together rows that the model tells apart. Larger trees are
    shown by the rules of their largest leaves. Linear surrogates are shown by
    coefficients, in units of the response for one standard deviation of the column; any
    other by its answers against the model's. Each title has the fidelity on the rows
    shown.

    Build it with `from_estimator`, or from arrays of your own. Of the rows given to
    `from_estimator`, those in the surrogate's subset are shown, with their weights.

    Parameters
    ----------
    responses : array-like of shape (n_samples,) or (n_samples, n_outputs)
        What the model answers.
    surrogate_responses : array-like of shape (n_samples,) or (n_samples, n_outputs), \
default=None
        What the surrogate answers, where that can be compared.
    trees : sequence of dict, default=None
        The surrogate's tree, or one for each output: arrays ``left`` and ``right`` of
        child nodes (-1 for leaves), lists ``tests`` (what is asked at each node),
        ``yes_left`` (whether rows that pass go left) and ``rules`` (the way to each
        node).
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
        What the model is asked for, for the axis.
    model_name, surrogate_name : str, default=None
        For the title.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes
        One for each output shown.
    bars_ : list
        For each panel, the distributions of its leaves, or the bars or points.
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
    's5 > 0.0244 and bmi ≤ 0.0267'
    """

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "auto",
        max_display: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one panel for each output.

        Parameters
        ----------
        ax : matplotlib Axes or array of those, default=None
            None makes a figure; one axes is divided where there are several panels.
        kind : {"auto", "tree", "rules", "bar", "scatter"}, default="auto"
            "tree" draws tests and leaves, "rules" a line for each of the largest
            leaves, "bar" coefficients, and "scatter" answers against answers. "auto"
            takes the first that there is something for: "rules" for trees of more than
            16 leaves, or where they have no room.
        max_display : int, default=20
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
        canvas = self._canvas(ax, outputs, settled, max_display)
        if (kind, settled) == ("auto", "tree") and ax is not None:
            pairs = zip(canvas.main, outputs, strict=True)
            if not all(fits(one, self._tree(output)) for one, output in pairs):
                settled = "rules"
        self.figure_, self.axes_, self.kind_ = canvas.figure, canvas.axes, settled
        self.bars_, self.texts_ = [], []
        for one, output in zip(canvas.main, outputs, strict=True):
            self._draw(one, output, settled, max_display, bar_kw)
            one.set_title(self._title(output, first=output == outputs[0]))
        self.legend_ = None
        if settled in ("tree", "rules"):
            self._explain_colours(canvas)
        return self

    def _settled(self, kind, outputs):
        """What to draw, where that is left open."""
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

    def _canvas(self, ax, outputs, kind, max_display):
        """Axes for the panels; a figure made here is as large as these need."""
        caller = f"{type(self).__name__}.plot"
        slots = [Slot() for _ in outputs]
        n_columns = 3 if kind in ("bar", "scatter") else 1
        if ax is not None:
            return take_axes(ax, slots, n_columns=n_columns, caller=caller)
        n_columns = min(n_columns, len(outputs))
        n_rows = -(-len(outputs) // n_columns)
        width, height = self._panel_size(outputs, kind, max_display)
        plt = import_pyplot(caller)
        figure = plt.figure(
            figsize=(width * n_columns, height * n_rows), layout="constrained"
        )
        grid = figure.add_gridspec(n_rows, n_columns)
        axes = [
            figure.add_subplot(grid[place // n_columns, place % n_columns])
            for place in range(len(outputs))
        ]
        canvas = take_axes(np.array(axes), slots, n_columns=n_columns, caller=caller)
        canvas.own_figure = True
        return canvas

    def _panel_size(self, outputs, kind, max_display):
        if kind == "tree":
            return tree_size([self._tree(output) for output in outputs])
        if kind == "rules":
            counts = [len(self._leaves(output)) for output in outputs]
            n_lines = min(max(counts), max_display or max(counts))
            return 8.6, row_height(n_lines, RULE_PITCH)
        if kind == "bar":
            _, effects, _ = self._lines(outputs[0])
            shown, _ = strongest(effects, max_display)
            return 6.0, 0.4 + row_height(len(shown))
        return 4.8, 4.4

    def _draw(self, ax, output, kind, max_display, style):
        """One panel."""
        name, texts = self._response_text(output), []
        if kind == "tree":
            tree, leaves = self._tree(output), self._leaves(output)
            marks = draw_tree(ax, tree, leaves, name, style)
            drawn, texts = marks.bars, marks.texts
        elif kind == "rules":
            check_count(max_display, "max_display")
            marks = draw_rules(ax, self._leaves(output), max_display, style)
            drawn, texts = marks.bars, marks.texts
            ax.set_xlabel(name)
        elif kind == "bar":
            names, coefficients, deviations = self._lines(output)
            effects = coefficients * deviations
            drawn = draw_effects(ax, names, effects, max_display, style)
        else:
            values, answers = self._responses()
            if answers is None:
                raise ValueError(
                    "What this surrogate answers cannot be compared with the model's "
                    "response: take a regressor as surrogate."
                )
            drawn = draw_answers(ax, values[:, output], answers[:, output], style)
            ax.set_xlabel(f"Model: {name}")
            ax.set_ylabel(f"Surrogate: {name}")
        self.bars_.append(drawn)
        self.texts_.append(texts)

    def _response_text(self, output):
        """The response, and which output of it where that has a name."""
        names = self._names()
        which = f"[{names[output]}]" if len(names) > 1 else ""
        return literal(shorten(f"{self.response_name}{which}"))

    def _title(self, output, first):
        """Who stands in for whom, and how well."""
        values, answers = self._responses()
        weights, parts = self._weights(), []
        if answers is not None:
            (share,) = r_squared(
                values[:, [output]], answers[:, [output]], weights
            ).tolist()
            parts.append(f"R² = {number_beside(share, 1.0)}")
        if self.agreement is not None:
            parts.append(f"same label for {100 * self.agreement:.0f} % of rows")
        lines = [", ".join(parts)]
        names = [self.surrogate_name, self.model_name]
        if first and all(names):
            lines.insert(0, " in place of ".join(map(shorten, names)))
        if len(self._names()) > 1:
            lines[-1] = f"{shorten(self._names()[output])}: {lines[-1]}"
        return literal("\n".join(line for line in lines if line))

    def _explain_colours(self, canvas):
        """A legend below an own figure, else in words where no other axes is hit."""
        if canvas.own_figure:
            self.legend_ = self._legend(canvas)
            return
        for ax in canvas.main:
            ax.set_xlabel("\n".join(filter(None, [ax.get_xlabel(), KEY])))

    def _legend(self, canvas):
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles = [Patch(facecolor=MODEL_COLOUR)]
        labels = ["What the model answers"]
        if self._responses()[1] is not None:
            handles.append(Line2D([], [], color=SURROGATE_COLOUR, linewidth=1.8))
            labels.append("What the surrogate answers")
        place = {"loc": "outside lower center", "ncols": 2, "frameon": False}
        return named_legend(canvas.figure, handles, labels, fontsize="small", **place)

    def to_frame(self) -> Any:
        """Numbers that are drawn.

        Returns
        -------
        pandas.DataFrame
            Of trees a row for each leaf with rows: its rule, number and share of rows,
            mean and quantiles of the model's answers, and the surrogate's answer. Of
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
            names, coefficients, deviations = self._lines(output)
            effects = coefficients * deviations
            order = strongest(effects, None)[0]
            table = zip(
                [names[j] for j in order],
                coefficients[order],
                deviations[order],
                effects[order],
                strict=True,
            )
            keys = ("column", "coefficient", "standard_deviation", "effect")
            return [dict(zip(keys, row, strict=True)) for row in table]
        values, answers = self._responses()
        answers = np.full_like(values, np.nan) if answers is None else answers
        pairs = zip(values[:, output], answers[:, output], strict=True)
        return [
            {"row": row, "model": model, "surrogate": surrogate}
            for row, (model, surrogate) in enumerate(pairs)
        ]


def _leaf_numbers(leaf):
    names = [f"q{100 * q:02.0f}" for q in QUANTILES]
    quantiles = dict(zip(names, leaf.quantiles.tolist(), strict=True))
    return {
        "leaf": leaf.node,
        "rule": leaf.rule,
        "n_rows": len(leaf.values),
        "share": leaf.share,
        "mean": leaf.mean,
        **quantiles,
        "surrogate": leaf.answer,
    }
