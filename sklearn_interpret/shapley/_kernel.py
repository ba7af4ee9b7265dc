"""Shapley values of any model from some of the coalitions (Lundberg & Lee, 2017).

Coalitions are drawn in pairs: one and its complement. The odd part of the game, half
the difference within pairs, gives the Shapley values; the even part, half the sum, the
interaction values. A surrogate is fitted to each part (`_core/games`).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sklearn_interpret._core.games.coalitions import design_within, paired_design
from sklearn_interpret._core.games.gaussian_process import (
    EvenSurrogate,
    OddSurrogate,
    surrogate_bytes,
)
from sklearn_interpret._inspectors.dependence import error_of_dependence
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions, warn
from sklearn_interpret._model.parallel import working_bytes
from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.shapley import _base
from sklearn_interpret.shapley._base import AllCoalitions, BaseCoalitional

if TYPE_CHECKING:
    from sklearn_interpret.shapley._base import Attributor

# Largest number of sampled coalitions: time grows with the cube of their number, memory
# with its square.
_MOST_SAMPLED = 2**15
# Largest number of coalitions if all are taken: all coalitions of 20 players.
_MOST_OF_ALL = 2**20
# Largest number of pairs from which each row gets a kernel of its own: it takes time
# proportional to the cube, half a second of 1500.
_MOST_BY_ROW = 1500
# Surrogates of fewer bytes raise no warning, even with no working memory.
_NEGLIGIBLE_BYTES = 2**20

Surrogate = TypeVar("Surrogate", OddSurrogate, EvenSurrogate)


@estimator_dataclass
class KernelSHAP(BaseCoalitional):
    """Shapley values of any model, estimated from some of the coalitions of features.

    A smooth function of coalitions is fitted to the values of some, and its Shapley
    values (see :class:`ExactShapley`) are computed in closed form.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    n_coalitions : int or "auto", default="auto"
        Number of coalitions of each row, including the empty one and that of all
        features, which are free; the others come in pairs. If at most this number
        exists, all are taken and the values are exact. "auto" is ``2 * p + 2048`` for p
        players, or the largest number from ``2 * p + 4`` on whose arrays fit into
        scikit-learn's ``working_memory`` in `fit`.
    tolerance : float, default=None
        Largest error of a row's values that is allowed, as a share of its largest
        value: a row takes no more coalitions once 2.5 times its largest standard error
        is below. A warning says how many rows do not reach it. None takes all of them.
    dependence : str, regressor, callable or None, default=None
        How absent features depend on the present ones. None takes them from the
        background as they are; other kinds give :math:`v(S) = E[f(X) | X_S = x_S]`,
        estimated from all rows of `fit`, or of `background`. "gaussian" and "copula"
        draw from normal distributions, of numbers or of ranks and levels, once for each
        row of the background; "neighbors" weighs as many nearest rows; "regression", or
        a regressor, is fitted to the response for each coalition. A callable
        ``sampler(X, columns, n_draws)`` returns `n_draws` rows for each row of X, with
        its values at the positions `columns`. "auto" takes the smallest
        `dependence_error_`.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model: fewer coalitions are
        evaluated if needed, and an error before says what is possible. None is no
        limit.
    link : {"identity", "logit"}, default="identity"
        Function of the mean responses that are attributed; "logit" maps probabilities
        to log-odds, and 0 and 1 to -36 and 36 with a warning.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows that replace absent features; all are used, with equal weights. None draws
        `subsample` of the rows of `fit`, with their weights.
    feature_groups : dict of str to list, default=None
        Features that are one player of the game.
    response_method : str, list of str or callable, default="auto"
        "auto" takes `predict` of regressors, and of classifiers `predict_proba` or else
        `decision_function`. Or names of methods, of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=100
        Number or share of the rows of `fit` in the background; None takes all.
    random_state : int, RandomState or None, default=None
        Seed of the subsample and of the coalitions, which are drawn once in `fit`.
    n_jobs : int or None, default=None
        Number of workers, among which the rows to explain are split.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    base_values_ : float or ndarray of shape (k,)
        The mean response over the background, after the link; with `dependence`, over
        all rows of `fit` if `background` is None.
    background_ : {ndarray, sparse matrix, DataFrame}
        The rows of the background.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute attribution over the drawn rows of `fit`, and over outputs.
        Computed on first access.
    features_, player_names_ : list
        Columns and name of each player.
    dependence_ : str, regressor or callable
        The kind of dependence, with `dependence`.
    dependence_error_ : float
        Mean of (f(X) - v(S))**2 over held-out rows and random coalitions: what one kind
        has less than another is nearer to the true v. Computed on first access.
    dependence_errors_ : dict of str to float
        The same for each kind, with ``dependence="auto"``.
    response_method_, output_names_ : str or callable, list
        The explained response; class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, if the columns have any; class labels.

    Raises
    ------
    ValueError
        In `fit`: more than 32768 coalitions, unless these are all. With
        ``link="logit"``, mean responses that are not probabilities.

    Warns
    -----
    SaturatedResponseWarning
        If mean responses of 0 or 1 are clipped, with ``link="logit"``.
    CostlyInspectionWarning
        In `fit`: if the arrays for the coalitions and players exceed scikit-learn's
        ``working_memory``.

    See Also
    --------
    ExactShapley : All coalitions, for few features.
    TreeSHAP : Exact for models of trees, at a small part of the cost.
    ShapleySampling : Estimates from permutations.

    Notes
    -----
    For each explained row the model gets `n_coalitions` - 2 rows for each row of the
    background, and one more. Features with the same value in the row and all of the
    background have a Shapley value of zero and are no players: a row with few others
    has few coalitions, and exact values.

    Every coalition is taken with its complement, since Shapley values depend only on
    :math:`o(S) = (v(S) - v(S^c)) / 2`, and interaction values on the half sum. All
    sizes get the same number of coalitions; sizes with fewer coalitions are taken
    whole.
    The values are the mean of a Gaussian process over coalitions, given the known o(S).
    Its kernel gives less weight to terms of more features; up to 50 players, the better
    of two such kernels is chosen for each row by leave-one-out errors of the pairs.
    Where coalitions are limited, by a number up to 3000, `tolerance` or `max_rows`,
    each row also tries a kernel of its own, which gives more weight to terms of
    features with large interaction values. It takes milliseconds for 300 coalitions,
    and half a second for 3000.
    The mean is linear in o(S) for each kernel: outputs of one model keep their sums,
    but the values of a sum of two models are the sums of their values only as far as
    they are exact. A linear game is reproduced exactly if the pairs identify the main
    effects.

    ``explain(X).standard_errors`` are the larger of two. One is that of the process.
    With :math:`\\sigma_j^2`, the variance of a value under the kernel, and :math:`r_m`,
    the leave-one-out residual of pair m of M in units of its standard deviation,

    .. math:: \\mathrm{se}_j^2 = 1.5\\, t^2\\, \\sigma_j^2\\,
        \\mathrm{mean}_m\\, r_m^2 .

    t is Student's 97.5 % quantile divided by the normal's, with M + 1 - p degrees of
    freedom. With fewer pairs than players it has M, and the larger error of two kernels
    is taken, one of which leaves a third of the variance to terms of three players and
    more. Where a row's own kernel is taken, the variance is a weighted geometric mean
    with that of the best other kernel. Main effects are one more observation in the
    mean: known coalitions that look linear do not prove that the others are. The other
    error is that of the values as sums over pairs, and matters if nearly all are known:

    .. math:: \\mathrm{se}_j^2 = 1.5 \\sum_s t_s^2\\, \\overline{e_s^2} \\sum_S
        \\left(\\frac{2}{p} \\binom{p - 1}{|S| - 1}^{-1}\\right)^2

    S are the unknown coalitions with player j in pairs of size s,
    :math:`\\overline{e_s^2}` is the mean squared leave-one-out residual of known pairs
    of the size, and :math:`t_s` has their number as degrees of freedom.
    Intervals of 1.96 standard errors to each side held the exact value in 90 % of the
    cases or more, at all numbers of coalitions from four up, in games of trees, neural
    networks, interactions and products (``benchmarks/bench_coverage.py``); for a linear
    game, whose values are exact, they are some thousandths of the values. They measure
    the sampling of coalitions, not the choice of the background.

    For p players that differ from the background and m pairs, ``(m + 1)(m + 3 p + 1)``
    numbers are kept, twice as many for up to 50 players, and three times as many during
    construction, in time proportional to ``(m + p) ** 3``, once for each p.

    References
    ----------
    Lundberg, S. M. & Lee, S.-I. (2017). A unified approach to interpreting model
    predictions. Advances in Neural Information Processing Systems 30.
    https://doi.org/10.48550/arXiv.1705.07874

    Covert, I. & Lee, S.-I. (2021). Improving KernelSHAP: practical Shapley value
    estimation via linear regression. Proceedings of AISTATS 130.
    https://doi.org/10.48550/arXiv.2012.01536

    Musco, C. & Witter, R. T. (2025). Provably accurate Shapley value estimation via
    leverage score sampling. International Conference on Learning Representations.
    https://doi.org/10.48550/arXiv.2410.01917

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_interpret.shapley import KernelSHAP
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> inspector = KernelSHAP(model, n_coalitions=256, subsample=20, random_state=0)
    >>> explanation = inspector.fit(X, y).explain(X[:2])
    >>> explanation.values.shape
    (2, 30)
    >>> bool(abs(explanation.additivity_error()).max() < 1e-12)
    True
    >>> bool(explanation.standard_errors.max() < 0.05)
    True
    """

    n_coalitions: int | str = "auto"
    tolerance: float | None = None
    dependence: Any = None

    dependence_: Any = field(init=False)
    dependence_error_ = property(error_of_dependence)
    dependence_errors_: dict[str, float] = field(init=False)

    _parameter_constraints = {
        **BaseCoalitional._parameter_constraints,
        "n_coalitions": [
            Interval(Integral, 4, None, closed="left"),
            StrOptions({"auto"}),
        ],
    }

    interaction_values = _base.interaction_values

    def _make_attributor(self) -> Attributor:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        attributor = _PairedCoalitions(self.n_coalitions, seed, working_bytes())
        n_players = len(self.features_)
        self._check_size(attributor.n_coalitions(n_players), n_players)
        return attributor

    def _check_size(self, n_coalitions: int, n_players: int) -> None:
        """Refuse too many coalitions, and warn if the coalitions take much memory."""
        takes_all = n_coalitions == 2**n_players
        most = _MOST_OF_ALL if takes_all else _MOST_SAMPLED
        if n_coalitions > most:
            raise ValueError(
                f"n_coalitions={self.n_coalitions} of {n_players} players are more "
                f"than {most}, which is the most. feature_groups joins players."
            )
        needed = _bytes_needed(n_coalitions // 2 - 1, n_players)
        if needed > max(working_bytes(), _NEGLIGIBLE_BYTES) and not takes_all:
            warn(
                "Use fewer n_coalitions, or fewer players by feature_groups: "
                f"{n_coalitions} coalitions of {n_players} players take about "
                f"{needed / 2**20:.0f} MiB, more than the working memory of "
                f"{working_bytes() / 2**20:.0f} MiB. ShapleySampling, or LinearSHAP "
                "and TreeSHAP where the model allows it, take none.",
                CostlyInspectionWarning,
            )


class _PairedCoalitions(AllCoalitions):
    """Estimates from some coalitions and their complements."""

    sampled = True

    def __init__(
        self,
        n_coalitions: int | str,
        seed: int,
        most_bytes: int,
        largest: _PairedCoalitions | None = None,
    ) -> None:
        self._n_coalitions, self._seed = n_coalitions, seed
        self._most_bytes = most_bytes
        self._largest = largest  # whose pairs these are part of
        self._surrogates: dict[tuple[type, int], Any] = {}  # by kind and n_players

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_surrogates": {}}  # large, and cheap to rebuild

    def n_coalitions(self, n_players: int) -> int:
        """Number of coalitions that are evaluated."""
        is_auto = isinstance(self._n_coalitions, str)
        number = 2 * n_players + 2048 if is_auto else int(self._n_coalitions)
        if number >= 2**n_players:
            return 2**n_players
        return self._largest_number_in_memory(n_players) if is_auto else number

    def _largest_number_in_memory(self, n_players: int) -> int:
        """Largest number of coalitions whose surrogates fit, or the smallest allowed.

        At least as many as identify the main effects, at most the default of "auto".
        """
        n_pairs = range(n_players + 1, n_players + 1024)
        needed = partial(_bytes_needed, n_players=n_players)
        n_fitting = bisect_right(n_pairs, self._most_bytes, key=needed)
        # The empty and the grand coalition are one more pair.
        return 2 * (n_pairs[max(n_fitting - 1, 0)] + 1)

    def _is_complete(self, n_players: int) -> bool:
        return self.n_coalitions(n_players) == 2**n_players

    def _draw_design(self, n_players: int) -> NDArray[np.bool_]:
        """One coalition of each pair, (n_pairs, n_players)."""
        rng = np.random.default_rng([self._seed, n_players])
        n_coalitions = self.n_coalitions(n_players)
        if self._largest is None:
            return paired_design(n_players, n_coalitions, rng)
        return design_within(self._largest._draw_design(n_players), n_coalitions, rng)

    def fewest_coalitions(self, n_players: int) -> int:
        """As many as identify main effects, or all."""
        return min(2 * n_players + 4, 2**n_players)

    def within(self, n_coalitions: int, n_players: int) -> _PairedCoalitions:
        """Some of the same pairs, at most a number of coalitions for each row."""
        number = min(n_coalitions, self.n_coalitions(n_players))
        return type(self)(number, self._seed, self._most_bytes, self._largest or self)

    def coalitions(self, n_players: int) -> NDArray[np.bool_]:
        """One coalition of each pair, then the complements; or all coalitions."""
        if self._is_complete(n_players):
            return super().coalitions(n_players)
        design = self._draw_design(n_players)
        return np.concatenate([design, ~design])

    def attributions(
        self, responses: NDArray[np.float64], n_players: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | float]:
        """Attributions and their standard errors."""
        if self._is_complete(n_players):
            return super().attributions(responses, n_players)
        member, complement = _half_values_by_pair(responses)
        relevance = None
        # A limited number: the model is likely to take longer than a kernel of the row.
        if not isinstance(self._n_coalitions, str) and len(member) <= _MOST_BY_ROW:
            squares = self.interactions(responses, n_players) ** 2
            relevance = squares.sum(axis=(1, 2)) / (squares.sum() or 1.0)
        surrogate = self._surrogate(OddSurrogate, n_players)
        return surrogate.values(member - complement, relevance)

    def interactions(
        self, responses: NDArray[np.float64], n_players: int
    ) -> NDArray[np.float64]:
        """Interaction values, zero on the diagonal."""
        if self._is_complete(n_players):
            return super().interactions(responses, n_players)
        member, complement = _half_values_by_pair(responses)
        surrogate = self._surrogate(EvenSurrogate, n_players)
        return surrogate.interactions(member + complement)

    def _surrogate(self, kind: type[Surrogate], n_players: int) -> Surrogate:
        """The surrogate for `n_players`, cached as far as memory allows."""
        key, surrogates = (kind, n_players), self._surrogates
        if key not in surrogates:
            design = self._draw_design(n_players)
            _, needed = surrogate_bytes(*design.shape)
            allowed = working_bytes() - needed
            while surrogates and sum(s.nbytes for s in surrogates.values()) > allowed:
                oldest = next(iter(surrogates))
                del surrogates[oldest]
            surrogates[key] = kind(design)
        return surrogates[key]


def _bytes_needed(n_pairs: int, n_players: int) -> int:
    """Bytes of a surrogate for values, kept while one for interactions is made."""
    return sum(surrogate_bytes(n_pairs, n_players))


def _half_values_by_pair(
    responses: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Half the values of one coalition of each pair, and of its complement.

    Both arrays are (1 + n_pairs, k), and begin with the pair of the grand and the empty
    coalition. `responses` are the values of the empty coalition, of one coalition of
    each pair, of the complements, and of the grand coalition.
    """
    half = len(responses) // 2
    member = np.concatenate([responses[-1:], responses[1:half]])
    complement = np.concatenate([responses[:1], responses[half:-1]])
    return member / 2, complement / 2
