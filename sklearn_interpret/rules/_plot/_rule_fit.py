"""Display of the importances of rules and features in a sparse sum."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.base import default_names
from sklearn_interpret._model.rows.number_format import column_texts, number_text
from sklearn_interpret._plotting.colours import NEUTRAL_COLOUR, PALETTE, sign_colours
from sklearn_interpret._plotting.displays import DisplayMixin
from sklearn_interpret._plotting.labels import literal
from sklearn_interpret._plotting.ranked_bars import (
    append_combined,
    draw_ranked_bars,
    rank_entries,
    row_height,
    sign_legend,
)
from sklearn_interpret._plotting.sources import ForwardedSignature, model_within
from sklearn_interpret.rules._rule_fit import RuleFitClassifier, RuleFitRegressor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

# Inches: height of a bar with a rule of three lines, and width of a panel.
_BAR_PITCH = 0.5
_PANEL_WIDTH = 6.4


@dataclass(eq=False, repr=False)
class RuleFitDisplay(DisplayMixin):
    """Importances of the rules, linear terms and features in a sparse sum of rules.

    Build it with `from_estimator`. An importance is the standard deviation of a term's
    contributions to the response, in its unit. Bars of rules are coloured by the sign
    of their coefficient, which is next to the bar. Features without importance have no
    bar.

    Parameters
    ----------
    rules : sequence of str
        Rules and linear terms in words.
    coefficients, rule_importances : array-like of shape (n_rules,)
        Their coefficients and importances.
    feature_importances : array-like of shape (n_features,)
        Importances of the features.
    feature_names : sequence of str, default=None
        Their names; None makes up ``x0``, ``x1``...
    response_name : str, default="prediction"
        Response that rules and linear terms add to.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of Axes of shape (2,)
        That of the rules and that of the features.
    bars_ : list of BarContainer
        Their bars.
    legend_ : Legend
        Meaning of the colours of the rules.

    See Also
    --------
    RuleFitRegressor, RuleFitClassifier : The models that are shown.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_interpret.rules import RuleFitDisplay, RuleFitRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RuleFitRegressor(max_rules=100, random_state=0).fit(X, y)
    >>> display = RuleFitDisplay.from_estimator(model)
    >>> len(display.axes_)
    2
    """

    rules: Any
    coefficients: ArrayLike
    rule_importances: ArrayLike
    feature_importances: ArrayLike
    _: KW_ONLY
    feature_names: Any = None
    response_name: str = "prediction"

    @ForwardedSignature
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **params: Any) -> Self:
        """Draw the importances of a fitted model.

        Parameters
        ----------
        estimator : RuleFitRegressor or RuleFitClassifier
            A fitted model, or a pipeline or search that ends with one.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of `plot`.

        Returns
        -------
        RuleFitDisplay
            The display, drawn.

        Raises
        ------
        TypeError
            Another estimator.
        """
        kinds = RuleFitRegressor, RuleFitClassifier
        model, _ = model_within(estimator, kinds, cls.__name__)
        entries = [*model.rules_, *model.linear_terms_]
        display = cls(
            list(map(model._rule_text, entries)),
            [entry.coef for entry in entries],
            [entry.importance for entry in entries],
            model.feature_importances_,
            feature_names=getattr(model, "feature_names_in_", None),
            response_name=_response_name(model),
        )
        return display.plot(ax, **params)

    def plot(self, ax: Any = None, *, max_entries: int | None = 10) -> Self:
        """Draw the importances.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is divided up.
        max_entries : int, default=10
            Largest number of bars in a panel; those of least importance share the last
            one, which is the mean of theirs. None shows all.

        Returns
        -------
        self : RuleFitDisplay
            The display.

        Raises
        ------
        ValueError
            As many importances and coefficients as there are rules are needed.
        """
        rules, coefficients = list(self.rules), np.asarray(self.coefficients, float)
        rule_importances = np.asarray(self.rule_importances, dtype=np.float64)
        feature_importances = np.asarray(self.feature_importances, dtype=np.float64)
        if not len(rules) == len(coefficients) == len(rule_importances):
            raise ValueError(
                f"There are {len(rules)} rules, {len(coefficients)} coefficients and "
                f"{len(rule_importances)} rule_importances; as many of each are needed."
            )
        names = self.feature_names
        n_features = len(feature_importances)
        names = default_names(n_features) if names is None else list(names)
        used = np.flatnonzero(feature_importances)
        n_bars = max(len(rules), len(used))
        n_bars = min(n_bars, max_entries or n_bars)
        size = _PANEL_WIDTH, row_height(n_bars, _BAR_PITCH)
        canvas = self._take_grid(ax, 2, 2, size)
        left, right = self.axes_
        texts = [number_text(value, signed=True) for value in coefficients]
        rule_colours = sign_colours(coefficients)
        feature_colours = np.full(len(used), PALETTE[2])
        names, used_importances = [names[j] for j in used], feature_importances[used]
        limits = max_entries, n_bars
        self.bars_ = [
            _draw_panel(left, rules, rule_importances, rule_colours, texts, *limits),
            _draw_panel(right, names, used_importances, feature_colours, None, *limits),
        ]
        quantity = f"standard deviation of what is added to the {self.response_name}"
        left.set_xlabel(
            literal(
                f"importance of rules and lines (numbers: coefficients):\n{quantity}"
            )
        )
        n_unused = n_features - len(used)
        note = f"\n({n_unused} without any are not shown)" * (n_unused > 0)
        right.set_xlabel(f"importance of features{note}")
        sign_names = "raises it: coefficient above 0", "lowers it: below 0"
        self.legend_ = sign_legend(canvas.frame or left, *sign_names)
        return self

    def to_frame(self) -> Any:
        """Return the rules and linear terms as a table, the most important first.

        Returns
        -------
        pandas.DataFrame
            Columns "rule", "coef" and "importance".

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        columns = {
            "rule": list(self.rules),
            "coef": self.coefficients,
            "importance": self.rule_importances,
        }
        frame = self._frame(columns)
        return frame.sort_values("importance", ascending=False, kind="stable")


def _response_name(estimator: RuleFitRegressor) -> str:
    """Name of the response that rules add to."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return "prediction"
    return "log-odds" if len(classes) > 2 else f"log-odds of {classes[-1]}"


def _draw_panel(
    ax: Axes,
    names: list[str],
    importances: NDArray[np.float64],
    colours: NDArray[Any],
    texts: list[str] | None,
    max_entries: int | None,
    n_bars: int,
) -> BarContainer:
    """Bars of a panel that has room for `n_bars`, the most important on top."""
    selected, remaining = rank_entries(importances, max_entries)
    lengths = append_combined(importances, selected, remaining)
    palette = colours[selected].tolist()
    names = [names[k] for k in selected]
    texts = column_texts(importances) if texts is None else texts
    texts = [texts[k] for k in selected]
    if len(remaining):
        palette.append(NEUTRAL_COLOUR)
        names.append(f"mean of {len(remaining)} others")
        texts.append("")
    empty_names = [""] * (n_bars - len(names))
    bar_kwargs = {"palette": palette, "texts": texts}
    bars, _ = draw_ranked_bars(ax, names + empty_names, lengths, None, **bar_kwargs)
    return bars
