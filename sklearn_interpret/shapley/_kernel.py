"""Shapley values of any model from some of the coalitions."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sklearn_interpret._core.games.coalitions import paired_design
from sklearn_interpret._core.games.exact import (
    all_coalitions,
    interactions_of_all,
    values_of_all,
)
from sklearn_interpret._core.games.gaussian_process import EvenSurrogate, OddSurrogate
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.parallel import held_rows, limit_threads
from sklearn_interpret.shapley._base import InteractionValuesMixin
from sklearn_interpret.shapley._base_coalitional import BaseCoalitional, Valuer


class KernelSHAP(InteractionValuesMixin, BaseCoalitional):
    r"""Shapley values of any model, estimated from some of the coalitions of features.

    The Shapley value of a feature is its fair share of the difference between the
    response to a row and the mean response:

    .. math:: \phi_j = \sum_{S \not\ni j} \frac{|S|!\,(p - |S| - 1)!}{p!}
        \left(v(S \cup j) - v(S)\right)

    v(S) is the mean response to the background's rows with the features in S taken from
    the explained row. A smooth function of the coalition is put through the values of
    those that were asked about; its Shapley values are known.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    n_coalitions : int or "auto", default="auto"
        How many coalitions are known of each row, among them the empty one and that of
        all features, which cost nothing; the others come in pairs, so that of an odd
        number one is not used. Where there are no more than this, all are taken and the
        values are exact. "auto" is ``2 * p + 2048`` for p players.
    link : {"identity", "logit"}, default="identity"
        What is made of mean responses before they are shared out. "logit" takes
        probabilities to log-odds.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows to take absent features from; all are used, and weigh the same. None takes
        the rows of `fit`, of which `subsample` are drawn, with their weights.
    feature_groups : dict of str to list, default=None
        Features that are one player of the game together.
    response_method : str, list of str or callable, default="auto"
        "auto" asks regressors for `predict` and classifiers for `predict_proba`, else
        `decision_function`. A method's name, several of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label or int, default=None
        Output to keep. None keeps the only one, the positive class of a binary
        classifier, or all.
    subsample : int, float or None, default=100
        How many rows of `fit` serve as background: a number, a share, or all.
    random_state : int, RandomState or None, default=None
        Draws the subsample and, once in `fit`, the coalitions.
    n_jobs : int or None, default=None
        Workers, which share the rows to explain.
    verbose : int, default=0
        Verbosity of the loop.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    base_values_ : float or ndarray of shape (k,)
        The mean response over the background, after the link.
    background_ : {ndarray, sparse matrix, DataFrame}
        The rows of the background.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean absolute Shapley value over the rows of `fit` that were drawn, mean over
        outputs. Computed when first asked for.
    features_ : list of tuple of int
        Columns of each player.
    player_names_ : list of str
        Name of each player.
    response_method_ : str or callable
        What is explained.
    output_names_ : list
        Class labels, or positions of outputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: fewer than 4 coalitions, a fitted model passed bare without `y`. With
        ``link="logit"``, mean responses that are no probabilities between 0 and 1.

    See Also
    --------
    ExactShapley : All coalitions, for few features.
    TreeSHAP : Exact for models of trees, at a small part of the cost.
    ShapleySampling : From permutations.

    Notes
    -----
    A row costs `n_coalitions` - 2 rows of the model for each row of the background, and
    one more. Features that have one and the same value in the row and all of the
    background are worth nothing, and are no players: a row with few others has few
    coalitions, and exact values.

    Every coalition is asked about with its complement, since a Shapley value depends on
    :math:`o(S) = (v(S) - v(S^c)) / 2` alone; interaction values depend on the half sum.
    Sizes of coalitions come up equally often, and are taken whole where there are few.
    A Gaussian process over coalitions, in whose kernel a term weighs the less, the more
    features it joins, is put through the known o(S): the values are its mean, which is
    linear in the answers and whose weights are the same for all rows with as many
    players; a linear game is found as it is, where there are pairs enough for each
    player alone. Up to 50 players, how fast the weights of terms fall is chosen of two
    kernels for each row, by what is missed of each pair when the others are known.
    Hence the values of a sum of two models are the sums of their values only as far as
    they are exact; those of the outputs of one model keep their sums.

    The standard errors in ``explain(X).standard_errors`` are those of the process,
    scaled by what it misses. Intervals of two of them held the exact value in 93 to
    98 % of the cases in games of boosted trees, neural networks and products of four
    features; of a game that is linear they are rounding. They speak of the coalitions
    left out, not of the choice of the background.

    For p players that differ from the background and m pairs, ``(m + 1)(m + 3 p + 1)``
    numbers are kept while a row is valued, up to 50 players twice as many, and three
    times as many for a moment while they are made. This takes time in proportion to
    ``(m + p) ** 3``, once for each number of such players.

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

    _parameter_constraints = {
        **BaseCoalitional._parameter_constraints,
        "n_coalitions": [
            Interval(Integral, 4, None, closed="left"),
            StrOptions({"auto"}),
        ],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        n_coalitions: int | str = "auto",
        link: str = "identity",
        background: Any = None,
        feature_groups: dict[str, Any] | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = 100,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            link=link,
            background=background,
            feature_groups=feature_groups,
            response_method=response_method,
            target=target,
            subsample=subsample,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_coalitions = n_coalitions

    def _make_valuer(self):
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return _PairedCoalitions(self.n_coalitions, seed)

    def _pairs(self, rows):
        return np.concatenate(list(self._shared(_paired, self._valuer, rows)))


def _paired(valuer, game, rows):
    return valuer.interactions(game, game.play(rows))


class _PairedCoalitions(Valuer):
    """Asks about coalitions and their complements.

    Parameters
    ----------
    n_coalitions : int or "auto"
        How many are known, with the empty one and that of all players.
    seed : int
        Of the draws.
    """

    def __init__(self, n_coalitions, seed):
        self._n, self._seed = n_coalitions, seed
        self._surrogates = {}

    def __getstate__(self):
        return {**self.__dict__, "_surrogates": {}}  # large, and soon made again

    def n_coalitions(self, n_players):
        """How many are known."""
        wanted = 2 * n_players + 2048 if self._n == "auto" else self._n
        return min(wanted, 2**n_players)

    def _is_complete(self, n_players):
        return self.n_coalitions(n_players) == 2**n_players

    def _design(self, n_players):
        """One coalition of each pair, (n_pairs, n_players)."""
        rng = np.random.default_rng([self._seed, n_players])
        return paired_design(n_players, self.n_coalitions(n_players), rng)

    def _coalitions(self, n_players):
        if self._is_complete(n_players):
            return all_coalitions(n_players)
        pairs = self._design(n_players)
        return np.concatenate([pairs, ~pairs])

    def values(self, game, played):
        """Attributions and their standard errors."""
        n_players, k = played.active.shape[1], len(game.base_values)
        values, errors = np.zeros((2, played.n_rows, n_players, k))
        for row, players, known in self._known(game, played):
            if self._is_complete(len(players)):
                values[row, players] = values_of_all(known)
                continue
            first, second = _halves(known)
            found = self._surrogate(OddSurrogate, len(players)).values(first - second)
            values[row, players], errors[row, players] = found
        return values, errors

    def interactions(self, game, played):
        """Interaction values, with what is left to each player on the diagonal."""
        n_players, k = played.active.shape[1], len(game.base_values)
        pairs = np.zeros((played.n_rows, n_players, n_players, k))
        for row, players, known in self._known(game, played):
            if self._is_complete(len(players)):
                values, found = values_of_all(known), interactions_of_all(known)
            else:
                first, second = _halves(known)
                odd = self._surrogate(OddSurrogate, len(players))
                even = self._surrogate(EvenSurrogate, len(players))
                values, _ = odd.values(first - second)
                found = even.interactions(first + second)
            own = np.arange(len(players))
            found[own, own] = values - found.sum(axis=1)
            pairs[row][np.ix_(players, players)] = found
        return pairs

    def _known(self, game, played):
        """Rows with players, these, and values of coalitions between both ends.

        Rows with as many players come together. Threads would change the last bits of
        what is made of them.
        """
        numbers = np.unique(played.active.sum(axis=1)).tolist()
        coalitions = {number: self._coalitions(number) for number in numbers}
        answers = list(played.designed(coalitions.get))
        order = sorted(range(len(answers)), key=lambda row: len(answers[row][0]))
        with limit_threads(1):
            for row in order:
                players, inner = answers[row]
                if len(players):
                    ends = game.base_values[None], played.predictions[row, None]
                    yield row, players, np.concatenate([ends[0], inner, ends[1]])

    def _surrogate(self, kind, n_players):
        """The surrogate for so many players; some are kept."""
        key = kind, n_players
        if key not in self._surrogates:
            made = kind(self._design(n_players))
            kept = self._surrogates
            while kept and sum(s.nbytes for s in (made, *kept.values())) > held_rows(1):
                del kept[next(iter(kept))]  # the oldest
            kept[key] = made
        return self._surrogates[key]


def _halves(known):
    """Half the values of the pairs, that of all players and nobody first.

    Parameters
    ----------
    known : ndarray of shape (2 + 2 * n_pairs, k)
        Nobody, one of each pair, their complements, all players.

    Returns
    -------
    first, second : ndarray of shape (1 + n_pairs, k)
        Of one of each pair, and of their complements.
    """
    half = len(known) // 2
    first = np.concatenate([known[-1:], known[1:half]])
    second = np.concatenate([known[:1], known[half:-1]])
    return first / 2, second / 2
