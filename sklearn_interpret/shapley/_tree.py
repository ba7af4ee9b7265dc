"""Exact Shapley values of tree ensembles (Lundberg et al., 2020).

`TreeValues` computes the values; this module checks that they add up to predictions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._core.trees.shapley.values import add_value_parts
from sklearn_interpret._inspectors.attribution import Attributions
from sklearn_interpret._inspectors.formula_attribution import BaseFormulaAttribution
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.players import NESTING_CONSTRAINTS
from sklearn_interpret._inspectors.sklearn_bases import available_if
from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.formulas.trees.tree_response import explained_response
from sklearn_interpret._model.parallel import LazyRows, batch_rows, slices
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.shapley import _base
from sklearn_interpret.shapley._tree_values import TreeValues

if TYPE_CHECKING:
    from sklearn_interpret._model.formulas.trees.tree_response import TreeResponse
    from sklearn_interpret._model.rows.partitioned import PartitionedSample

# About the number of rows that are predicted to check that values sum to predictions,
# where there are at least twice as many. Chosen by hand: errors show in most rows.
_CHECKED_ROWS = 10_000


@estimator_dataclass
class TreeSHAP(BaseFormulaAttribution):
    """Exact Shapley values and interaction values of sums of trees.

    The Shapley value of a feature is its fair share of the difference between the
    response to a row and the mean response:

    .. math:: \\phi_j = \\sum_{S \\not\\ni j} \\frac{|S|!\\,(p - |S| - 1)!}{p!}
        \\left(v(S \\cup j) - v(S)\\right)

    v(S) is the mean response with the row's own values of the features in S;
    `perturbation` defines the others.

    Parameters
    ----------
    estimator : estimator
        A model of trees, or a pipeline that ends in one and whose other steps work
        column by column; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    within_groups : bool, default=False
        Whether each feature gets a value inside its groups (Owen, 1977; Winter, 1989):
        the members of a group join one after the other, and share its value.
    causal_order : list of lists of features, default=None
        All features or groups, causes first: each joins after those of earlier lists
        (Frye et al., 2020). None takes all orders.
    perturbation : {"interventional", "path_dependent"}, default="interventional"
        "interventional" takes absent features jointly from the rows of the background.
        "path_dependent" sends a row both ways at splits on absent features, with the
        shares of the training rows as weights; it uses no background.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows that replace absent features; all are used, with equal weights. None takes
        the rows of `fit`, with their weights.
    feature_groups : dict of str to list or dict, or "correlation", default=None
        Features that are one player of the game or, with `within_groups`, are credited
        together; dicts nest groups in groups. "correlation", for `within_groups` alone,
        makes a binary tree of the features by the correlations of their ranks.
    response_method : str or list of str, default="auto"
        "auto" explains the sum of the trees: predictions of regressors, probabilities
        of forests, margins of boosted classifiers and of regressors with a log link.
        "predict_proba" of a boosted binary classifier and "predict" of a regressor with
        a log link are explained with `perturbation="interventional"`, approximately:
        see the Notes.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=None
        Number or share of the rows of `fit` in the background; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the subsample.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    base_values_ : float or ndarray of shape (k,)
        The response without any feature: its mean over the background, or over the
        cover of the trees.
    background_ : {ndarray, sparse matrix, DataFrame}
        The rows of the background; "path_dependent" has none.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute Shapley value over the rows of `fit`, mean over outputs. Computed
        on first access.
    features_ : list of tuple of int
        Columns of each player.
    player_names_ : list of str
        Name of each player.
    response_method_ : str
        The explained response: a method of the model, or "margin" for a sum of trees
        that no method returns.
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
    UnreadableModelError
        In `fit`: if the trees of the model can't be read, or the response is not a
        function of their sum.
    ValueError
        In `fit`: a background with ``perturbation="path_dependent"``, a response
        that only "interventional" can explain, a fitted model not frozen without `y`.

    Notes
    -----
    The values are exact if the response is the sum of the trees. A function g of the
    sum F (probabilities of boosting, means with a log link) is a game that depends on
    all trees jointly. Its values here are rescaled margins: for each background row z,
    the feature's contribution to the sum times a slope,

    .. math:: \\mathrm{mean}_z\\; \\phi_j^F(x, z)\\,
        \\frac{g(F(x)) - g(F(z))}{F(x) - F(z)} .

    They sum to the prediction, but can differ from the Shapley values of g by as much
    as their size; ``explain(X).approximation`` says "rescaled margins".
    :class:`ShapleyValues` does not use them: for such a response it evaluates
    coalitions with the model, all of them (:class:`ExactShapley`) or, for many
    features, some (:class:`KernelSHAP`).

    In `fit` the response of the trees is compared with the model's for a few rows of
    the background. If they agree, predictions of explained rows are those of the trees,
    in double precision; a model that sums in single precision, like XGBoost, differs
    from them by about 1e-5 of their size. Of 20 000 rows or more, the trees predict
    about 10 000; the other predictions are sums of values. Otherwise the model predicts
    all rows, and :class:`~sklearn_interpret.exceptions.AdditivityWarning` reports the
    difference. The model also predicts if it may refuse the rows: with missing,
    infinite or non-numeric values, splits on categories, or steps of a pipeline.

    Trees are cut into small subtrees. The contributions of a subtree depend on a few
    bits, which of its conditions a row meets: they are tabulated once, and looked up
    for each row. Tables are not used for few rows. Up to rounding, a row's values do
    not depend on the other rows or on `n_jobs`.

    A path-dependent explanation needs the training rows' shares at the splits. Some
    libraries store them without the rows' weights, and XGBoost stores sums of second
    derivatives instead.

    References
    ----------
    Lundberg, S. M., Erion, G., Chen, H., et al. (2020). From local explanations to
    global understanding with explainable AI for trees. Nature Machine Intelligence
    2(1). https://doi.org/10.1038/s42256-019-0138-9

    Owen, G. (1972). Multilinear extensions of games. Management Science 18(5).
    https://doi.org/10.1287/mnsc.18.5.64

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.shapley import TreeSHAP
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(n_estimators=20, max_depth=4, random_state=0)
    >>> inspector = TreeSHAP(model).fit(X, y)
    >>> explanation = inspector.explain(X[:2])
    >>> explanation.values.shape
    (2, 10)
    >>> gained = explanation.base_values + explanation.values.sum(axis=1)
    >>> bool(abs(gained - inspector.predict(X[:2])).max() < 1e-9)
    True
    """

    within_groups: bool = False
    causal_order: Sequence[Any] | None = None

    _for_any_model = "KernelSHAP takes any model."
    _takes_partitions = True
    _caches = (*BaseFormulaAttribution._caches, "_cached_tree_values")

    _parameter_constraints = {
        **BaseFormulaAttribution._parameter_constraints,
        **NESTING_CONSTRAINTS,
        "perturbation": [StrOptions({"interventional", "path_dependent"})],
    }

    interaction_values = available_if(_base.has_one_level)(_base.interaction_values)

    def _make_response(self) -> TreeResponse:
        trees = explained_response(self.estimator_, self.response_method, self.target)
        if self.perturbation == "path_dependent":
            if self.background is not None:
                raise ValueError(
                    'perturbation="path_dependent" uses no background: pass '
                    "background=None."
                )
            if not trees.additive:
                raise ValueError(
                    f'response_method="{trees.method}" of this model is '
                    "not the sum of its trees, and can be explained with "
                    'perturbation="interventional" only.'
                )
        return trees

    def _fit_base_values(
        self, background: Sample | PartitionedSample, response: TreeResponse
    ) -> NDArray[np.float64]:
        self._trees, self._shares, rows = response, None, background.rows
        self._follows_trees = response.agrees(rows)
        if self.perturbation == "path_dependent":
            del self.background_
            self._cached_tree_values = self._make_tree_values()
            return self._cached_tree_values.game.base_values()
        if not isinstance(background, Sample):
            raise ValueError(
                'perturbation="interventional" needs its background in memory, and '
                "X is in partitions: pass background, a sample of the rows, or "
                'perturbation="path_dependent".'
            )
        self._shares = shares_of(background.weights)
        codes = response.codes(rows).array_if_small()
        self._cached_tree_values = self._make_tree_values(codes)
        base_values = np.zeros(response.ensemble.n_outputs)
        asks_model = self._asks_model(rows)
        for block in slices(rows.n_rows, batch_rows(rows.row_bytes)):
            for batch, predicted in self._predict(
                rows, block, codes[block], asks_model
            ):
                if predicted.dtype != np.float64:  # the precision of explanations
                    predicted = response.predict_codes(codes[batch])
                base_values += self._shares[batch] @ predicted
        return base_values

    def _make_tree_values(
        self, codes: LazyRows | NDArray[np.integer] | None = None
    ) -> TreeValues:
        """`TreeValues` of the players; `codes` are the background's, if known."""
        players = self._players(self._trees.model.columns)
        if self._shares is not None and codes is None:
            codes = self._trees.codes(as_rows(self.background_)).array_if_small()
        return TreeValues.of_response(
            self._trees,
            players,
            len(self.features_),
            codes,
            self._shares,
            self._nesting.hierarchy,
        )

    def _tree_values(self) -> TreeValues:
        if self._cached_tree_values is None:
            self._cached_tree_values = self._make_tree_values()
        return self._cached_tree_values

    def _asks_model(self, rows: Rows) -> bool:
        """Whether the model must predict.

        It may refuse rows that its trees take, or differ from them.
        """
        return not (self._follows_trees and self._trees.surely_accepts(rows))

    def _predict(
        self, rows: Rows, block: slice, codes: NDArray[np.integer], asks_model: bool
    ) -> Iterator[tuple[slice, NDArray[np.floating]]]:
        """Yield batches of a block of rows, as slices of all, and their predictions."""
        for batch in slices(len(codes), batch_rows(rows.row_bytes)):
            in_rows = slice(block.start + batch.start, block.start + batch.stop)
            if asks_model:
                yield in_rows, self._trees.predictions(rows.sliced(in_rows).native)
            else:
                yield in_rows, self._trees.predict_codes(codes[batch])

    def _attribute(self, rows: Rows) -> Attributions:
        n_outputs = self._trees.ensemble.n_outputs
        values = np.zeros((rows.n_rows, len(self.features_), n_outputs))
        asks_model, tree_values = self._asks_model(rows), self._tree_values()
        predictions: Any = None
        # Exact values sum to the predictions: some rows suffice to check that.
        is_exact = self._trees.additive and not asks_model
        checks_some_rows = is_exact and rows.n_rows >= 2 * _CHECKED_ROWS
        if checks_some_rows:
            predictions = np.empty((rows.n_rows, n_outputs))
        for block, codes in tree_values.coded_blocks(rows, 1, self.n_jobs):
            parts = tree_values.value_parts(codes, 1, self.n_jobs)
            if checks_some_rows:
                add_value_parts(values[block].transpose(2, 1, 0), parts)
                predictions[block] = self.base_values_ + values[block].sum(axis=1)
                checked = slice(block.start, block.stop, rows.n_rows // _CHECKED_ROWS)
                predictions[checked] = self._trees.predict_codes(codes[:: checked.step])
                continue
            # Predictions are computed while workers compute the parts.
            for batch, predicted in self._predict(rows, block, codes, asks_model):
                if predictions is None:
                    predictions = np.empty((rows.n_rows, n_outputs), predicted.dtype)
                predictions[batch] = predicted
            add_value_parts(values[block].transpose(2, 1, 0), parts)
        approximation = None if self._trees.additive else "rescaled margins"
        return Attributions(values, predictions, {"approximation": approximation})

    def _pair_values(self, rows: Rows) -> NDArray[np.float64]:
        n_players, n_outputs = len(self.features_), self._trees.ensemble.n_outputs
        pairs = np.zeros((rows.n_rows, n_players, n_players, n_outputs))
        asks_model, tree_values = self._asks_model(rows), self._tree_values()
        for block, codes in tree_values.coded_blocks(rows, 2, self.n_jobs):
            # A view of the diagonal, which holds the values until pairs are completed.
            values = np.einsum("ijjk->ijk", pairs[block])
            parts = tree_values.value_parts(codes, 1, self.n_jobs, last_order=2)
            if asks_model:
                for _ in self._predict(rows, block, codes, asks_model):
                    pass  # the model raises its errors
            add_value_parts(values.transpose(2, 1, 0), parts)
            parts = tree_values.value_parts(codes, 2, self.n_jobs)
            add_value_parts(pairs[block].transpose(3, 1, 2, 0), parts)
        for block in slices(rows.n_rows, batch_rows(2 * pairs[:1].nbytes)):
            _complete_pairs(pairs[block])
        return pairs


def _complete_pairs(pairs: NDArray[np.float64]) -> None:
    """Complete matrices from upper halves, with Shapley values on the diagonal.

    In place; rows then sum to the Shapley values.
    """
    players = np.arange(pairs.shape[1])
    values = pairs[:, players, players]
    pairs[:, players, players] = 0
    pairs += pairs.transpose(0, 2, 1, 3).copy()
    pairs[:, players, players] = values - pairs.sum(axis=2)
