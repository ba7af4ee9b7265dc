"""Display of the features that influential training rows have in common."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.surrogates.inner_predictors import inner_predictors
from sklearn_interpret._model.surrogates.surrogate_predictions import fit_surrogate
from sklearn_interpret._model.surrogates.tree_rules import read_tree
from sklearn_interpret.explanations import TrainingExplanation
from sklearn_interpret.influence._plot._influence import InfluenceSources
from sklearn_interpret.surrogates import GlobalSurrogateDisplay

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


class _InfluenceTreeDrawing(GlobalSurrogateDisplay):
    """The drawing of a tree, with a legend about training rows."""

    _legend_texts = ("Values of the rows", "Their mean")
    _key = "bars: values of the rows, line: their mean"


@dataclass(eq=False, repr=False)
class InfluenceTreeDisplay(InfluenceSources):
    """A small tree that predicts the influence of training rows from their features.

    Its rules describe influential rows: those in the leaf with the highest line deserve
    a look. Each leaf shows the distribution of the influence of its rows, the mean size
    of their values over the explained rows; of :class:`DataValues` these values, of
    which the lowest deserve a look. The title has the share of the variance that the
    tree explains.

    Build it with `from_estimator` or `from_explanation`.

    Parameters
    ----------
    explanation : TrainingExplanation
        Values of training rows, with these rows.
    max_depth : int, default=3
        Largest depth of the tree.
    min_samples_leaf : int or float, default=0.02
        Smallest number, or share, of rows in a leaf.

    Attributes
    ----------
    tree_ : DecisionTreeRegressor or Pipeline
        The tree; where rows have categories, behind encoders of these.
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    bars_ : list
        Distributions of the leaves.
    texts_ : list of Text
        Texts of the diagram.
    legend_ : matplotlib Legend or None
        In a figure of its own: names of bars and lines.

    See Also
    --------
    sklearn_interpret.influence.InfluenceDisplay : The most influential rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.influence import (
    ...     DeletionDiagnostics,
    ...     InfluenceTreeDisplay,
    ... )
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> diagnostics = DeletionDiagnostics(LinearRegression()).fit(X, y)
    >>> display = InfluenceTreeDisplay.from_estimator(diagnostics, max_depth=2)
    >>> display.to_frame()[["rule", "n_rows"]].shape
    (4, 2)
    """

    _options = {"kind": ("auto", "tree", "rules")}

    explanation: TrainingExplanation
    _: KW_ONLY
    max_depth: int = 3
    min_samples_leaf: int | float = 0.02

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "auto",
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        kind : {"auto", "tree", "rules"}, default="auto"
            "tree" draws tests and leaves, "rules" a line for each of the largest
            leaves; "auto" the first, where the leaves have room.
        bar_kw : dict, default=None
            Style of the distributions.

        Returns
        -------
        self : InfluenceTreeDisplay
            The display.

        Raises
        ------
        TypeError
            No explanation of training rows.
        ValueError
            Values of groups, or without the training rows; bad parameters.
        """
        self.tree_, drawing = self._fit_tree()
        drawing.plot(ax, kind=kind, bar_kw=bar_kw)
        self.figure_, self.legend_ = drawing.figure_, drawing.legend_
        (self.ax_,) = drawing.axes_.ravel()
        (self.bars_,), (self.texts_,) = drawing.bars_, drawing.texts_
        return self

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row for each leaf: its rule, number and share of rows, and mean and
            quantiles of their influence.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        self._pandas()  # an error comes before the work
        _, drawing = self._fit_tree()
        return drawing.to_frame().drop(columns=["output", "surrogate"])

    def _fit_tree(self) -> tuple[BaseEstimator, _InfluenceTreeDrawing]:
        """The fitted tree, and its drawing."""
        explanation = self._check_explanation()
        if explanation.training_data is None:
            raise ValueError(
                "explanation has no training_data, as that of groups of rows: the tree "
                "predicts the influence of single rows from their features."
            )
        rows, influence = as_rows(explanation.training_data), explanation.mean_sizes
        if explanation.smallest_first:
            influence = explanation.values.mean(axis=0)
            (known,) = np.nonzero(~np.isnan(influence))
            rows, influence = rows.take(known), influence[known]
        tree = DecisionTreeRegressor(
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            random_state=0,
        )
        tree = fit_surrogate(tree, rows, influence, np.ones(rows.n_rows))
        (inner,) = inner_predictors(tree)
        tree_texts, leaves = read_tree(inner, rows)
        drawing = _InfluenceTreeDrawing(
            influence,
            tree.predict(rows.native),
            trees=[tree_texts],
            leaves=leaves,
            response_name=explanation.value_name.capitalize(),
        )
        return tree, drawing
