"""Shapley values of linear models.

Interventional values are coefficients times deviations from the mean. Values for
correlated columns (Aas, Jullum & Loland, 2021) come from Gaussian conditional means, in
blocks of columns that are correlated with each other (`_core/games`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from sklearn_interpret._core.games.gaussian_conditionals import gaussian_blocks
from sklearn_interpret._core.statistics.weighted import Moments, shares_of
from sklearn_interpret._inspectors.attribution import Attributions
from sklearn_interpret._inspectors.formula_attribution import BaseFormulaAttribution
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.players import NESTING_CONSTRAINTS
from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.formulas.linear import (
    LinearModel,
    explained_linear,
    map_to_players,
)
from sklearn_interpret._model.parallel import (
    batch_rows,
    limit_blas,
    run_in_threads,
    slices,
)

if TYPE_CHECKING:
    from sklearn_interpret._core.games.gaussian_conditionals import Block
    from sklearn_interpret._model.formulas.linear import ExplainedLinear
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Rows in one block of the sums of moments: fixed, so that results do not depend on
# memory.
_BLOCK_ROWS = 1024
# Largest number of columns of a covariance, which then takes 800 MB.
_MOST_COLUMNS = 10_000


@estimator_dataclass
class LinearSHAP(BaseFormulaAttribution):
    """Shapley values of linear models.

    The response is :math:`b_0 + \\sum_j b_j x_j`, or a link function of it. With
    "interventional" the Shapley value of a feature is

    .. math:: \\phi_j = b_j (x_j - \\mathrm{mean}_i\\, x^{(i)}_j)

    over the rows of the background. With "correlation" the value of a set S of features
    is the mean response given :math:`x_S`, for jointly Gaussian features.

    Parameters
    ----------
    estimator : estimator
        A linear model, or a pipeline that ends in one and whose other steps work column
        by column; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    within_groups : bool, default=False
        Whether each feature gets a value inside its groups (Owen, 1977; Winter, 1989):
        the members of a group join one after the other, and share its value.
    causal_order : list of lists of features, default=None
        All features or groups, causes first: each joins after those of earlier lists
        (Frye et al., 2020). None takes all orders.
    perturbation : {"interventional", "correlation"}, default="interventional"
        "interventional" takes absent features from the background, independently of the
        present ones: a feature with a coefficient of zero has a value of zero.
        "correlation" takes their conditional mean given the present ones: correlated
        features share their effect.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows that define mean and covariance; all are used, with equal weights. None
        takes the rows of `fit`, with their weights.
    feature_groups : dict of str to list or dict, or "correlation", default=None
        Features that are one player of the game or, with `within_groups`, are credited
        together; dicts nest groups in groups. "correlation", for `within_groups` alone,
        makes a binary tree of the features by the correlations of their ranks.
    response_method : str or list of str, default="auto"
        "auto" explains the linear function: predictions of regressors, the decision
        function of classifiers, the linear predictor of generalized linear models.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=None
        Number or share of the rows of `fit` in the background; None takes all.
    random_state : int, RandomState or None, default=None
        Seed of the subsample, and of the permutations of large blocks of features.
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
        The mean response over the background.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute attribution over the rows of `fit`, mean over
        outputs. Computed on first access.
    features_, player_names_ : list
        Columns and name of each player.
    response_method_ : str
        The explained response: a method of the model, or "margin" for the linear
        predictor of a model with a log link.
    output_names_ : list
        Class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, if the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: if the model is not linear, or the response is not, like a
        probability.
    ValueError
        In `fit`: "correlation" of more than 10000 columns.

    Notes
    -----
    If a pipeline makes several columns of a feature (one-hot, splines), these are one
    player, and mean and covariance are those of the derived columns. Sparse rows stay
    sparse; the result is an array.

    With "correlation", absent columns have the conditional mean
    :math:`\\mu_{-S} + \\Sigma_{-S,S} \\Sigma_{SS}^{+} (x_S - \\mu_S)` in :math:`v(S)`.
    The pseudo-inverse, of correlations, is for collinear columns; it matters only for
    rows unlike all of the background. Features that are not connected by correlations
    form separate blocks. In blocks of up to 15 players (fewer if they have many
    columns) the values are exact; larger ones take 16 to 256 pairs of a random
    permutation and its reverse, drawn in `fit`. Standard errors come from the variance
    between pairs, with Student's quantile for their number. They measure only this
    sampling, not the error of the covariance.

    References
    ----------
    Lundberg, S. M. & Lee, S.-I. (2017). A unified approach to interpreting model
    predictions. Advances in Neural Information Processing Systems 30.

    Chen, H., Janizek, J. D., Lundberg, S. & Lee, S.-I. (2020). True to the model or
    true to the data? https://arxiv.org/abs/2006.16234

    Aas, K., Jullum, M. & Loland, A. (2021). Explaining individual predictions when
    features are dependent: More accurate approximations to Shapley values. Artificial
    Intelligence 298. https://doi.org/10.1016/j.artint.2021.103502

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_interpret.shapley import LinearSHAP
    >>> X, y = load_diabetes(return_X_y=True)
    >>> inspector = LinearSHAP(Ridge(alpha=0.1)).fit(X, y)
    >>> explanation = inspector.explain(X[:2])
    >>> expected = inspector.estimator_.coef_ * (X[:2] - X.mean(axis=0))
    >>> bool(abs(explanation.values - expected).max() < 1e-9)
    True
    """

    within_groups: bool = False
    causal_order: Sequence[Any] | None = None

    _for_any_model = "KernelSHAP takes any model."
    _takes_partitions = True

    _parameter_constraints = {
        **BaseFormulaAttribution._parameter_constraints,
        **NESTING_CONSTRAINTS,
        "perturbation": [StrOptions({"interventional", "correlation"})],
    }

    def _make_response(self) -> ExplainedLinear:
        return explained_linear(self.estimator_, self.response_method, self.target)

    @limit_blas(1)
    def _fit_base_values(
        self, background: Sample, response: ExplainedLinear
    ) -> NDArray[np.float64]:
        del self.background_  # its mean and covariance are kept
        self._linear = response
        response.check(background.rows)
        model = response.model
        player = self._players(model.columns)
        moments = background.map_reduce(partial(_column_moments, model), Moments.merge)
        mean, player_blocks = moments.mean, None
        if self.perturbation == "correlation":
            products = background.map_reduce(
                partial(_deviation_products, model, mean), np.add
            )
            covariance = products / moments.weight
            rng = np.random.default_rng(
                check_random_state(self.random_state).randint(2**31)
            )
            player_blocks = gaussian_blocks(
                covariance, model.coefficients, player, rng, self._nesting.hierarchy
            )
        self._values = _LinearValues(
            model, mean, player, len(self.features_), player_blocks
        )
        return mean @ model.coefficients + model.intercept

    def _attribute(self, rows: Rows) -> Attributions:
        n_outputs = len(self.output_names_)
        n_numbers = len(self._values.mean) + len(self.features_) * n_outputs
        # The columns, the values, and two further arrays of each size, as doubles.
        block_rows = batch_rows(rows.row_bytes + 3 * 8 * n_numbers)
        blocks = [rows.sliced(block) for block in slices(rows.n_rows, block_rows)]
        predictions = [self._linear.predictions(block.native) for block in blocks]
        tasks = [(self._values, block) for block in blocks]
        results = run_in_threads(
            _LinearValues.shapley_values, tasks, n_jobs=self.n_jobs
        )
        values, errors = zip(*results, strict=True)
        fields = {} if errors[0] is None else {"standard_errors": _join_blocks(errors)}
        return Attributions(_join_blocks(values), _join_blocks(predictions), fields)


def _join_blocks(arrays: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Concatenated arrays; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


@dataclass(frozen=True, eq=False)
class _LinearValues:
    """Computes the values of players; it is sent to workers, unlike the inspector."""

    model: LinearModel
    mean: NDArray[np.float64]  # of the model's columns
    player: NDArray[np.intp]  # of each of the model's columns
    n_players: int
    # Players that are correlated with each other; None for interventional values.
    player_blocks: list[Block] | None

    def shapley_values(
        self, rows: Rows
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Values (m, n_players, k) of rows, and their standard errors if sampled."""
        derived = self.model.derived_columns(rows.native)
        if self.player_blocks is not None:
            return self._correlated_values(self.player_blocks, derived)
        coefficients = self.model.coefficients
        is_column_player = np.array_equal(self.player, np.arange(self.n_players))
        values = np.zeros((derived.shape[0], self.n_players, coefficients.shape[1]))
        # A player has the sum over its columns of coefficient times deviation. Each
        # output is computed in place: `values` may be the largest array.
        for output, output_coefs in enumerate(coefficients.T):
            output_values = values[:, :, output]
            to_players = map_to_players(output_coefs, self.player, self.n_players)
            if sparse.issparse(derived):
                output_values -= self.mean @ to_players
                stored = (derived @ to_players).tocoo()
                output_values[stored.row, stored.col] += stored.data
            elif is_column_player:
                np.subtract(derived, self.mean, out=output_values)
                output_values *= output_coefs
            else:
                output_values[:] = (derived - self.mean) @ to_players
        return values, None

    def _correlated_values(
        self, player_blocks: list[Block], derived: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Values of correlated players, and their standard errors if sampled."""
        derived = derived.toarray() if sparse.issparse(derived) else derived
        deviations = derived - self.mean
        n_outputs = self.model.coefficients.shape[1]
        values = np.zeros((len(derived), self.n_players, n_outputs))
        is_sampled = any(block.sampled for block in player_blocks)
        errors = np.zeros_like(values)
        for block in player_blocks:
            values[:, block.players], block_errors = block.values(deviations)
            if is_sampled:
                errors[:, block.players] = block_errors
        return values, errors if is_sampled else None


def _derived_blocks(model: LinearModel, rows: Rows) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of rows, as slices, and the model's columns for them."""
    for block in slices(rows.n_rows, _BLOCK_ROWS):
        yield block, model.derived_columns(rows.sliced(block).native)


def _column_moments(model: LinearModel, background: Sample) -> Moments:
    """Weight and mean of the columns, with squared deviations of zero.

    Dense columns are summed as deviations from the first row: constant ones are exact.
    """
    shares = shares_of(background.weights)
    mean, origin = np.zeros(len(model.columns)), 0.0
    for block, derived in _derived_blocks(model, background.rows):
        if not sparse.issparse(derived):
            if block.start == 0:
                origin = derived[0].copy()
            derived = derived - origin
        mean += derived.T @ shares[block]
    total = np.asarray(background.total_weight)
    return Moments(total, mean + origin, np.zeros(len(mean)))


def _deviation_products(
    model: LinearModel, mean: NDArray[np.float64], background: Sample
) -> NDArray[np.float64]:
    """Weighted products of the columns' deviations, (n_derived, n_derived)."""
    if len(mean) > _MOST_COLUMNS:
        raise ValueError(
            f'perturbation="correlation" needs the covariance of {len(mean)} columns; '
            f'at most {_MOST_COLUMNS} are taken. "interventional" has no such limit.'
        )
    products, weights = np.zeros((len(mean), len(mean))), background.weights
    for block, derived in _derived_blocks(model, background.rows):
        derived = derived.toarray() if sparse.issparse(derived) else derived
        deviations = (derived - mean) * np.sqrt(weights[block, None])
        products += deviations.T @ deviations
    return products
