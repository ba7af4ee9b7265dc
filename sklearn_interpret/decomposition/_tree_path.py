"""Contributions of features along the decision paths of trees (Saabas, 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.path_contributions import PathContributions
from sklearn_interpret._inspectors.attribution import Attributions, BaseAttribution
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model.formulas.trees.decision_path import (
    DecisionPath,
    decision_path,
)
from sklearn_interpret._model.formulas.trees.tree_response import explained_response
from sklearn_interpret._model.parallel import rows_in_memory, slices
from sklearn_interpret._model.surrogates.inner_predictors import inner_predictors
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn_interpret._model.formulas.trees.tree_response import TreeResponse
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


@estimator_dataclass
class TreePathContributions(BaseAttribution):
    """Contributions of features along the decision paths of trees (Saabas).

    The response of a tree to a row is the mean of the root, plus the changes of the
    mean from node to node on the way to the row's leaf. Each change goes to the feature
    that is split on:

    .. math:: f(x) = \\bar f_{root} + \\sum_j \\sum_{t:\\; j(t) = j}
        \\left(\\bar f_{child(t, x)} - \\bar f_t\\right)

    over the nodes t of the path. Of a sum of trees, contributions add up.

    Parameters
    ----------
    estimator : estimator
        A model of trees, or a pipeline that ends in one and whose other steps work
        column by column; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    response_method : str or list of str, default="auto"
        "auto" explains the sum of the trees: predictions of regressors, probabilities
        of forests, margins of boosted classifiers and of regressors with a log link.
        Otherwise a method of the model that returns this sum.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    base_values_ : float or ndarray of shape (k,)
        The mean response of the roots.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute contribution over the rows of `fit`, mean over outputs. Computed
        at its first use.
    response_method_ : str
        The explained response: the method of the model that returns it, or "margin" for
        the sum of the trees where no method returns that alone.
    output_names_ : list
        Class labels, or positions of outputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    UnreadableModelError
        In `fit`: the trees of the model cannot be read, or the response is not
        their sum, as the probabilities of boosting.

    See Also
    --------
    sklearn_interpret.shapley.TreeSHAP : Fair shares, which do not depend on the order
        of the splits.
    DecisionPathDisplay : The path of one row through one tree.

    Notes
    -----
    The mean of a node is that of the leaves below it, weighed by their training rows.
    It is the node's own value in trees that predict means, and is also there for
    boosting, whose libraries keep none. Some libraries count training rows without
    their weights, and XGBoost keeps sums of second derivatives instead.

    Splits near the root get less than they would get further down: of features that act
    together, the one split on last takes what both do. Shapley values take the mean
    over all orders.

    References
    ----------
    Palczewska, A., Palczewski, J., Marchese Robinson, R., & Neagu, D. (2014).
    Interpreting random forest classification models using a feature contribution
    method. https://doi.org/10.1007/978-3-319-04717-1_9

    Saabas, A. (2014). Interpreting random forests.
    http://blog.datadive.net/interpreting-random-forests/

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.decomposition import TreePathContributions
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(n_estimators=20, random_state=0)
    >>> inspector = TreePathContributions(model).fit(X, y)
    >>> explanation = inspector.explain(X[:2])
    >>> explanation.values.shape
    (2, 10)
    >>> bool(abs(explanation.additivity_error()).max() < 1e-9)
    True
    """

    response_method: str | Sequence[str] = "auto"
    target: Any = None

    response_method_: str = field(init=False)

    _for_any_model = "BreakDown and KernelSHAP take any model."

    _parameter_constraints = {
        **BaseAttribution._parameter_constraints,
        "response_method": [str, list, tuple],
    }

    def _make_response(self) -> TreeResponse:
        trees = explained_response(self.estimator_, self.response_method, self.target)
        if not trees.additive:
            raise UnreadableModelError(
                f'{trees.why_not_additive} response_method="auto" explains the sum.'
            )
        return trees

    def _fit_base_values(
        self, sample: Sample, response: TreeResponse
    ) -> NDArray[np.float64]:
        self._trees = response
        self.response_method_ = str(response.method)
        self._follows_trees = response.agrees(sample.rows)
        self._paths = PathContributions(
            response.ensemble, response.model.columns, self.n_features_in_
        )
        return self._paths.base_values

    def decision_path(self, X: Any, *, tree: int = 0) -> DecisionPath:
        """Follow one row through one tree.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (1, n_features)
            The row.
        tree : int, default=0
            Position of the tree in the model.

        Returns
        -------
        DecisionPath
            Conditions, cover, means and standard deviations of the nodes.

        Raises
        ------
        ValueError
            More than one row, or no such tree.
        """
        rows = self._check_rows(X, reset=False)
        if rows.n_rows != 1:
            raise ValueError(f"X has {rows.n_rows} rows; one is needed.")
        first_predictor, *_ = inner_predictors(self.estimator_)
        encoded = first_predictor.describe_columns(rows)
        return decision_path(self._trees, rows, tree, self._names, encoded)

    def _attribute(self, rows: Rows) -> Attributions:
        trees = self._trees
        asks_model = not (self._follows_trees and trees.surely_accepts(rows))
        coded = trees.codes(rows)
        block_rows = rows_in_memory(coded.row_bytes + self._paths.row_bytes)
        blocks = []
        for batch in slices(rows.n_rows, block_rows):
            values, predictions = self._paths.values(coded[batch])
            if asks_model:
                predictions = trees.predictions(rows.sliced(batch).native)
            blocks.append((values, predictions))
        values, predictions = map(np.concatenate, zip(*blocks, strict=True))
        return Attributions(values, predictions, {"value_name": "contribution"})
