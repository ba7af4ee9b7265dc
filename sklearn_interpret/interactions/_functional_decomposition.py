"""Functional decomposition of a model's response."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.weighted import Moments, shares_of_variance
from sklearn_interpret._inspectors.attribution import Attributions, check_no_overflow
from sklearn_interpret._inspectors.formula_attribution import BaseFormulaAttribution
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.formula_class import computes_as
from sklearn_interpret._model.formulas.linear import explained_linear
from sklearn_interpret._model.formulas.trees.tree_response import explained_response
from sklearn_interpret._model.parallel import rows_in_memory, slices
from sklearn_interpret._model.progress import shows_progress
from sklearn_interpret._model.replacement.response_components import (
    ComponentsOfCoalitions,
    ComponentsOfTrees,
    LinearTerms,
)
from sklearn_interpret._model.replacement.response_games import CoalitionGame
from sklearn_interpret._model.responses.predictors import is_classifier, unfrozen
from sklearn_interpret._model.responses.response import Response, make_response
from sklearn_interpret._model.row_limit import counting_rows
from sklearn_interpret._model.rows.tables import as_objects
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.explanations import InteractionExplanation

if TYPE_CHECKING:
    from sklearn_interpret._model.formulas.linear import ExplainedLinear
    from sklearn_interpret._model.formulas.trees.tree_response import TreeResponse
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

    # The response that is decomposed.
    Explained = TreeResponse | ExplainedLinear | Response

# What to do where too many rows would go to the model.
_ADVICE = (
    "Pass fewer rows, a smaller background (subsample), a smaller max_order or "
    "feature_groups"
)


@dataclass(frozen=True)
class _GamTerms:
    """An additive model's response as intercept and terms."""

    response: Response

    @classmethod
    def of_response(
        cls, gam: Any, response: Response, response_method: Any
    ) -> _GamTerms | None:
        """The terms of a response, or None if the response is not their sum."""
        if is_classifier(gam):
            if response_method == "auto":
                response = replace(response, method="decision_function")
            return cls(response) if response.method == "decision_function" else None
        is_linear = response.method == "predict" and gam.link in (None, "identity")
        return cls(response) if is_linear and gam.family == "normal" else None

    def players_of_terms(
        self, player_of_column: NDArray[np.intp]
    ) -> list[tuple[int, ...]]:
        """Players of the intercept, which are none, and of each term."""
        players: list[tuple[int, ...]] = [()]
        for term in unfrozen(self.response.estimator)._terms:
            positions = [column.position for column in term.ordered_columns]
            players.append(tuple(np.unique(player_of_column[positions]).tolist()))
        return players

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """Values of intercept and terms, (n_rows, n_terms * k)."""
        explanation = unfrozen(self.response.estimator).explain(X)
        terms = [explanation.base_values, *np.moveaxis(explanation.values, 1, 0)]
        values = np.stack([self.response.read(term) for term in terms], axis=1)
        return values.reshape(len(values), -1)


class _Variances(NamedTuple):
    """Variances over the rows of `fit`, for each output."""

    of_components: NDArray[np.float64]  # (n_components, k)
    shares: NDArray[np.float64]  # in the response's, (n_components, k)
    unexplained: NDArray[np.float64]  # the remainder's share, (k,)


@estimator_dataclass
class FunctionalDecomposition(BaseFormulaAttribution):
    """Parts of the response that belong to sets of features.

    The component of a set U is what the mean response with U's values of a row adds to
    the components of its subsets:

    .. math:: g_U(x) = \\sum_{T \\subseteq U} (-1)^{|U| - |T|} v_x(T), \\qquad
        f(x) = \\sum_U g_U(x)

    v(T) is the mean response with the row's own values of the features in T;
    `perturbation` defines the others. With "interventional", g of one feature is its
    centred partial dependence.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    max_order : int, default=2
        Largest number of features of a component; more than there are mean all.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    perturbation : {"interventional", "path_dependent"}, default="interventional"
        "interventional" takes absent features jointly from the rows of the background.
        "path_dependent" sends a row both ways at splits on absent features, with the
        shares of the training rows as weights; for sums of trees only.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows that replace absent features; all are used, with equal weights. None takes
        the rows of `fit`, with their weights.
    feature_groups : dict of str to list, default=None
        Features that are taken together, as one.
    response_method : str or list of str, default="auto"
        "auto" decomposes the sum of the trees, the linear function or the sum of the
        terms of a model that is one, and else `predict` of regressors, `predict_proba`
        or `decision_function` of classifiers. Also a method of the model.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=None
        Number or share of the rows of `fit` in the background; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the subsample.
    n_jobs : int or None, default=None
        Number of workers that ask the model.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    interactions_ : list of tuple of int
        Positions in `player_names_` of the features of each component, by size. Sets
        whose component is zero everywhere, since the model never joins them, may lack.
    base_values_ : float or ndarray of shape (k,)
        Component of the empty set: the mean response.
    variances_ : ndarray of shape (n_components,) or (n_components, k)
        Variance of each component over the rows of `fit`. Computed on first access.
    shares_ : ndarray of shape (n_components,) or (n_components, k)
        Covariance of each component with the response over the rows of `fit`, relative
        to the response's variance. The shares and `unexplained_` sum to one; negative
        ones are of components that work against the others. Zero for a response that
        does not vary. Computed on first access.
    unexplained_ : float or ndarray of shape (k,)
        The same share of what components of more than `max_order` features add.
        Computed on first access.
    background_ : {ndarray, sparse matrix, DataFrame}
        The rows of the background; "path_dependent" has none.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Sum over the components of a feature of their standard deviations over their
        sizes, mean over outputs. Computed on first access.
    features_ : list of tuple of int
        Columns of each player.
    player_names_ : list of str
        Name of each player.
    response_method_ : str or callable
        The response that is decomposed: a method of the model, or "margin" for a sum
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
        In `fit`: "path_dependent" with a response other than a sum of trees.
    ValueError
        In `fit`: a background with "path_dependent", a non-finite response, a fitted
        model not frozen without `y`.

    Warns
    -----
    CostlyInspectionWarning
        If more than 1e8 rows are about to be sent to the model.

    Notes
    -----
    Sums of trees, linear models and :class:`~sklearn_interpret.additive.GAMRegressor`
    are read, and their components are exact. Any other model gets, for each row, the
    coalitions of at most `max_order` features, times the rows of the background.

    References
    ----------
    Hiabu, M., Meyer, J. T. & Wright, M. N. (2023). Unifying local and global model
    explanations by functional decomposition of low dimensional structures. AISTATS.
    https://doi.org/10.48550/arXiv.2208.06151

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> from sklearn_interpret.interactions import FunctionalDecomposition
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingRegressor(n_estimators=20, random_state=0)
    >>> inspector = FunctionalDecomposition(model, max_order=3).fit(X, y)
    >>> explanation = inspector.explain(X[:2])
    >>> bool(abs(explanation.remainder).max() < 1e-9)
    True
    >>> round(inspector.unexplained_, 9)
    0.0
    """

    max_order: int = 2
    max_rows: int | None = None

    _for_any_model = 'perturbation="interventional" takes any model.'

    interactions_: list[tuple[int, ...]] = field(init=False)

    _parameter_constraints = {
        **BaseFormulaAttribution._parameter_constraints,
        "max_order": [Interval(Integral, 1, None, closed="left")],
        "perturbation": [StrOptions({"interventional", "path_dependent"})],
        "response_method": [str, list, tuple, callable],
    }

    def _make_response(self) -> Response:
        if self.perturbation == "path_dependent" and self.background is not None:
            raise ValueError(
                'perturbation="path_dependent" uses no background: pass '
                "background=None."
            )
        return make_response(self.estimator_, self.response_method, self.target)

    def _inspect(self, sample: Sample, response: Response) -> None:
        super()._inspect(sample, response)
        explained = self._explained
        self._response_name = getattr(explained, "name", "response")
        self.output_names_ = explained.output_names(len(self._source.base_values))
        method: Any = explained.method  # the user's function, if that was passed
        self.response_method_ = method

    def _fit_base_values(
        self, background: Sample, response: Response
    ) -> NDArray[np.float64]:
        self._variances: _Variances | None = None
        self._explained, self._source = self._read_source(
            background.rows, background.weights, response
        )
        self.interactions_ = self._source.sets
        return self._source.base_values

    def _read_source(
        self, background: Rows, weights: NDArray[np.float64], response: Response
    ) -> tuple[Explained, ComponentsOfTrees | ComponentsOfCoalitions]:
        """The response that is decomposed, and the source of its components."""
        path_dependent = self.perturbation == "path_dependent"
        if path_dependent:
            del self.background_
        n_players = len(self.features_)
        order = min(self.max_order, n_players)
        model = self.estimator_, self.response_method, self.target
        trees = read_formula([explained_response], *model, required=path_dependent)
        if trees is not None and trees.additive:
            return trees, ComponentsOfTrees(
                trees,
                background,
                None if path_dependent else weights,
                self._players(trees.model.columns),
                n_players,
                order,
            )
        if path_dependent:
            raise UnreadableModelError(
                f'response_method="{trees.method}" of this model is not the sum of its '
                'trees, and can be decomposed with perturbation="interventional" only.'
            )
        explained, terms, players = self._read_terms(background, response)
        game = CoalitionGame(terms, background, weights, self.features_)
        return explained, ComponentsOfCoalitions(game, players, order)

    def _read_terms(
        self, background: Rows, response: Response
    ) -> tuple[Explained, Any, list[tuple[int, ...]]]:
        """The response that is decomposed, its terms, and the players of each term.

        The terms are a function of rows, like a `Response` with an output for each
        term.
        """
        model = self.estimator_, self.response_method, self.target
        linear = read_formula([explained_linear], *model, rows=background)
        if linear is not None:
            players = self._players(linear.model.columns)
            linear_terms = LinearTerms(linear, players, len(self.features_))
            return linear, linear_terms, linear_terms.players
        # Imported here, since most models are not additive models.
        from sklearn_interpret.additive import GAMClassifier, GAMRegressor

        gam = unfrozen(self.estimator_)
        if computes_as(gam, GAMRegressor, GAMClassifier) and gam.offset is None:
            terms = _GamTerms.of_response(gam, response, self.response_method)
            if terms is not None:
                players = self._players(np.arange(self.n_features_in_))
                return terms.response, terms, terms.players_of_terms(players)
        everybody = tuple(range(len(self.features_)))
        return response, response, [everybody]

    @empty_for_no_rows
    @shows_progress
    def explain(  # type: ignore[override]  # values belong to sets of features
        self, X: Any
    ) -> InteractionExplanation:
        """Components of the responses to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        InteractionExplanation
            Components of shape (n_samples, n_components[, n_outputs]); base values,
            components and the remainder sum to the predictions.

        Warns
        -----
        CostlyInspectionWarning
            If more than 1e8 rows are about to be sent to the model.
        """
        rows = self._check_rows(X, reset=False)
        values, predictions, _ = self._attribute(rows)
        base_values = np.broadcast_to(self.base_values_, predictions.shape)
        if predictions.shape[1] == 1:
            values, base_values = values[:, :, 0], base_values[:, 0]
            predictions = predictions[:, 0]
        grouped = len(self.features_) < self.n_features_in_
        return InteractionExplanation(
            values,
            base_values,
            self.interactions_,
            predictions=predictions,
            data=rows.native,
            feature_names=self.player_names_,
            output_names=self.output_names_,
            response_name=self._response_name,
            target_name=self._target_name,
            columns=self.features_ if grouped else None,
            largest_order=self._source.largest_order,
        )

    def _attribute(self, rows: Rows) -> Attributions:
        """Components (m, n_components, k), predictions (m, k); no further fields."""
        self._source.announce(rows.n_rows, _ADVICE)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            values, predictions = self._source.decompose(rows, n_jobs=self.n_jobs)
        check_no_overflow(predictions, "predictions")
        check_no_overflow(values, "components")
        return Attributions(values, predictions, {})

    @property
    def variances_(self) -> NDArray[np.float64]:
        """Variance of each component over the rows of `fit`; on first access."""
        variances = self._variances_and_shares().of_components
        return variances[:, 0] if variances.shape[1] == 1 else variances

    @property
    def shares_(self) -> NDArray[np.float64]:
        """Shares of the components in the response's variance; on first access."""
        shares = self._variances_and_shares().shares
        return shares[:, 0] if shares.shape[1] == 1 else shares

    @property
    def unexplained_(self) -> float | NDArray[np.float64]:
        """Share of the remainder in the response's variance; on first access."""
        unexplained = self._variances_and_shares().unexplained
        return unexplained if len(unexplained) > 1 else float(unexplained[0])

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each component and output: columns "interaction" (names of the
        features), "order" (their number), "output" where there are several, "variance"
        over the rows of `fit`, and "share" of that of the response. The last line of an
        output is the remainder, which has a share alone. Computed from the rows of
        `fit`, like `variances_`.
        """
        variances, shares, unexplained = self._variances_and_shares()
        names = as_objects([name for _, name in self._attributed()])
        orders = np.array([*map(len, self.interactions_)], dtype=np.float64)
        blocks, several_outputs = [], len(self.output_names_) > 1
        for output, label in enumerate(self.output_names_):
            ranks = np.argsort(-np.abs(shares[:, output]), kind="stable")
            blocks.append(
                {
                    "interaction": as_objects([*names[ranks], "remainder"]),
                    "order": np.append(orders[ranks], np.nan),
                }
                | ({"output": label} if several_outputs else {})
                | {
                    "variance": np.append(variances[ranks, output], np.nan),
                    "share": np.append(shares[ranks, output], unexplained[output]),
                }
            )
        return blocks

    def _result_units(self) -> dict[str, str]:
        return {}

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Standard deviations of a feature's components over their sizes, summed."""
        variances = self._variances_and_shares().of_components
        deviations = np.sqrt(variances).mean(axis=1)
        importances = np.zeros(self.n_features_in_)
        for players, deviation in zip(self.interactions_, deviations, strict=True):
            for player in players:
                importances[list(self.features_[player])] += deviation / len(players)
        return importances

    def _variances_and_shares(self) -> _Variances:
        """Variances over the rows of `fit`, computed on the first call."""
        check_is_fitted(self)
        if self._variances is None:
            sample = self._sample_for("variances_")
            # Components, remainder and response, and their sums with the response.
            n_numbers = 2 * (len(self.interactions_) + 2) * len(self.output_names_)
            row_bytes = 4 * 8 * n_numbers  # floats of 8 bytes in four arrays
            blocks = slices(sample.rows.n_rows, rows_in_memory(row_bytes))
            block_moments = (self._block_moments(sample, block) for block in blocks)
            errors = np.errstate(over="ignore", invalid="ignore")
            with counting_rows(self), errors:
                moments = reduce(Moments.merge, block_moments)
                variance = moments.variance
            if not np.isfinite(variance).all():
                raise ValueError(
                    "The variances of the components are beyond the largest float: "
                    "explain the response in a larger unit."
                )
            response, (variances, sums) = variance[0], np.split(variance[1:], 2)
            shares = shares_of_variance(variances, sums, response, moments.mean[0])
            self._variances = _Variances(variances[:-1], shares[:-1], shares[-1])
        return self._variances

    def _block_moments(self, sample: Sample, block: slice) -> Moments:
        """Moments (2 n_components + 3, k) over some rows of `fit`.

        They are the moments of the response, of the components and the remainder, and
        of the sums of each component, and of the remainder, with the response.
        """
        values, predictions, _ = self._attribute(sample.rows.sliced(block))
        remainder = predictions - np.atleast_1d(self.base_values_) - values.sum(axis=1)
        addends = np.concatenate([values, remainder[:, None]], axis=1)
        response = predictions[:, None]
        columns = np.concatenate([response, addends, addends + response], axis=1)
        return Moments.of_rows(columns, sample.weights[block])

    def _attributed(self) -> list[tuple[tuple[int, ...], str]]:
        """Columns and name of each component."""
        names = [
            " x ".join(self.player_names_[player] for player in players)
            for players in self.interactions_
        ]
        columns = [
            tuple(column for player in players for column in self.features_[player])
            for players in self.interactions_
        ]
        return list(zip(columns, names, strict=True))
