"""The network of features that act together."""

from collections.abc import Callable, Sequence
from itertools import combinations
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sklearn_interpret._core.effects.functional_anova import (
    main_effect,
    maximal_sets,
    superset_importance,
)
from sklearn_interpret._core.effects.h_statistics import rounding_floor
from sklearn_interpret._core.statistics.permutations import random_donors
from sklearn_interpret._core.statistics.weighted import Moments
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.parallel import held_rows
from sklearn_interpret._model.perturbation.perturbed import (
    Replacement,
    altered_responses,
    plain_responses,
)
from sklearn_interpret._model.validation import Sample
from sklearn_interpret.interactions._base import BaseInteraction, drop_single_output


class VariableInteractionNetwork(BaseInteraction):
    """Hooker's network: which features the response joins, and how firmly.

    Two features are joined where the response is no sum of a function without the one
    and a function without the other. How firmly is the share of the response's variance
    that belongs to the two of them, with or without further features: the *superset
    importance* of the pair. Sets of three and more are looked for where all of their
    subsets were found, up to `max_order`.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    features : None, int, str, bool mask, or list of ints and strs, default=None
        Features and groups to look at, by position or name; None takes all. The others
        stay as they are in each row.
    threshold : float, default=0.01
        Share of the response's variance that a set of features has to exceed to be
        found.
    max_order : int, default=2
        Largest number of features in the sets that are looked at.
    n_repeats : int, default=10
        How many values each feature is given in each row, at least two.
    feature_groups : dict of str to list, default=None
        Features that are taken as one.
    response_method : str, list of str or callable, default="auto"
        "auto" is `predict` of regressors, and `predict_proba`, else
        `decision_function`, of classifiers. Also a method's name, a list of names of
        which the first found is used, "centered_log_proba", or ``f(estimator, X)``.
    target : class label or int, default=None
        Output to keep. None keeps the only one, the positive class of a binary
        classifier, or all.
    subsample : int, float or None, default=None
        How many rows to work on: a number, a share, or all.
    random_state : int, RandomState or None, default=None
        Draws the subsample, and the rows from which values are taken.
    n_jobs : int or None, default=None
        Workers.
    verbose : int, default=0
        Verbosity of the loop.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    graph_ : dict of tuple of two str to float or ndarray of shape (k,)
        The pairs found, by their names, and their strengths: shares of the variance of
        the response. Several outputs have one each, and a pair is found where that of
        any exceeds `threshold`.
    adjacency_ : ndarray of shape (p, p) or (k, p, p)
        The same as a symmetric matrix over the p features and groups, zero for pairs
        that were not found. Several outputs lead.
    cliques_ : list of tuple of str
        The largest sets of features that may act together: the response is, up to what
        `threshold` lets pass, a sum of functions of these. All of their subsets of up
        to `max_order` features were found, and of larger ones nothing is known.
        Features of less effect than `threshold` are in none.
    strengths_ : dict of tuple of str to float or ndarray of shape (k,)
        Strengths of all sets that were looked at, found or not; that of a single
        feature is the share of all that it takes part in, its total effect.
    standard_errors_ : dict of tuple of str to float or ndarray of shape (k,)
        Standard errors of the strengths, over the rows.
    main_effects_ : ndarray of shape (p,) or (k, p)
        Variance of the partial dependence on each feature, as a share of that of the
        response.
    features_ : list of tuple of int
        Columns of each feature or group.
    player_names_ : list of str
        Their names.
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
        In `fit`: unknown or repeated features, a non-finite response, a fitted model
        passed bare without `y`.

    Notes
    -----
    For n rows and R = `n_repeats` the model gets n (1 + R s) rows, where s is the
    number of sets looked at, the length of `strengths_`: all single features, all pairs
    of those that exceed `threshold`, and all larger sets whose subsets were all found.
    A set cannot be stronger than one of its subsets, so that none is missed.

    The values of each feature come from other rows, drawn for each feature on its own:
    the strengths are those of features that do not depend on each other. Where they do,
    the model answers for rows that could not be, and shares may exceed 1.

    Strengths are estimates: of sets near `threshold`, whether they are found depends on
    the draws; look at `standard_errors_`. A set without any effect has exactly none.
    Main effects compare draws of the same value in different rows, and are noisier.

    References
    ----------
    Hooker, G. (2004). Discovering additive structure in black box functions. KDD.
    https://doi.org/10.1145/1014052.1014122

    Liu, R. and Owen, A. B. (2006). Estimating mean dimensionality of analysis of
    variance decompositions. Journal of the American Statistical Association 101.
    https://doi.org/10.1198/016214505000001410

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from sklearn_interpret.interactions import VariableInteractionNetwork
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(50, 3))
    >>> y = X[:, 0] * X[:, 1] + X[:, 2]
    >>> model = make_pipeline(PolynomialFeatures(2), LinearRegression())
    >>> network = VariableInteractionNetwork(model, random_state=0).fit(X, y)
    >>> list(network.graph_)
    [('x0', 'x1')]
    >>> network.cliques_
    [('x0', 'x1'), ('x2',)]
    """

    _parameter_constraints = {
        **BaseInteraction._parameter_constraints,
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "max_order": [Interval(Integral, 2, None, closed="left")],
        "n_repeats": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        features: Any = None,
        threshold: float = 0.01,
        max_order: int = 2,
        n_repeats: int = 10,
        feature_groups: dict[str, Any] | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.threshold = threshold
        self.max_order = max_order
        self.n_repeats = n_repeats
        self.feature_groups = feature_groups
        self.response_method = response_method
        self.target = target
        self.subsample = subsample
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _choose_sample(self, rows, y, weights):
        """All rows: `_inspect` draws from them, and goes on drawing."""
        return Sample.of(rows, y, weights)

    def _inspect(self, sample, response, on_block):
        rng = check_random_state(self.random_state)
        sample = self._draw(sample, self.subsample, rng)
        self._resolve_players(sample.rows)
        plain = plain_responses(response, sample.rows)
        loop = {"n_jobs": self.n_jobs, "verbose": self.verbose, "on_block": on_block}
        search = _Search(self.features_, sample, response, plain, loop)
        search.draw(self.n_repeats, rng)
        found, level = [], [(player,) for player in range(len(self.features_))]
        while level:
            keep = len(level[0]) < self.max_order
            passed = search.look_at(level, self.threshold, keep=keep)
            found += passed
            level = _candidates(passed, set(found)) if keep else []
        self._set_results(search, found, response)

    def _set_results(self, search, found, response):
        names, n_outputs = self.player_names_, search.n_outputs

        def named(sets, values):
            return {
                tuple(names[player] for player in players): (
                    float(values[players][0]) if n_outputs == 1 else values[players]
                )
                for players in sets
            }

        edges = [players for players in found if len(players) == 2]
        self.strengths_ = named(search.strengths, search.strengths)
        self.standard_errors_ = named(search.strengths, search.standard_errors)
        self.graph_ = named(edges, search.strengths)
        adjacency = np.zeros((n_outputs, len(names), len(names)))
        for first, second in edges:
            strength = search.strengths[first, second]
            adjacency[:, first, second] = adjacency[:, second, first] = strength
        self.adjacency_ = drop_single_output(adjacency)
        self.main_effects_ = drop_single_output(np.transpose(search.main_effects))
        sets = maximal_sets(
            (players[0] for players in found if len(players) == 1),
            edges,
            search.strengths.keys() - set(found),
        )
        self.cliques_ = [tuple(names[player] for player in one) for one in sets]
        self.output_names_ = response.output_names(n_outputs)


def _candidates(passed, known):
    """Sets of one player more whose subsets of one player less were all found."""
    players = sorted({player for one in passed for player in one})
    return [
        (*one, player)
        for one in passed
        for player in players
        if player > one[-1]
        and all(part in known for part in combinations((*one, player), len(one)))
    ]


class _Search:
    """Finite differences of the response over sets of players, and their sizes.

    Parameters
    ----------
    players : list of tuple of int
        Columns of each player.
    sample : Sample
        Rows and weights.
    response : Response
        The model.
    plain : ndarray of shape (n_rows, k)
        Responses to the rows.
    loop : dict
        `n_jobs`, `verbose` and `on_block`.

    Attributes
    ----------
    strengths, standard_errors : dict of tuple of int to ndarray of shape (k,)
        Of all sets looked at.
    main_effects : ndarray of shape (n_players, k)
        Of the players, once these are looked at.
    """

    def __init__(self, players, sample, response, plain, loop):
        self._players, self._rows, self._weights = players, sample.rows, sample.weights
        self._response, self._plain, self._loop = response, plain, loop
        self.n_outputs = plain.shape[1]
        self._floor = rounding_floor(plain, sample.weights)
        variance = Moments.of_rows(plain, sample.weights).variance
        # Of a constant response no set has any.
        self._variance = np.where(variance > self._floor, variance, np.inf)
        self.strengths, self.standard_errors = {}, {}
        self.main_effects = np.empty((len(players), self.n_outputs))
        self._differences = {}

    def draw(self, n_repeats, rng):
        """Draw donors for each player: one for each row and repeat."""
        seeds = rng.randint(np.iinfo(np.int32).max, size=len(self._players))
        self._donors = []
        for seed in seeds:
            own = np.random.RandomState(seed)
            drawn = [random_donors(self._weights, own) for _ in range(n_repeats)]
            self._donors.append(np.stack(drawn, axis=1))

    def look_at(self, sets, threshold, *, keep):
        """Find the strengths of sets of a size; the sets that exceed the threshold.

        With `keep` their differences stay for sets that have them within.
        """
        passed = []
        size = self._donors[0].size * self.n_outputs * np.dtype(np.float64).itemsize
        at_once = held_rows(size)
        for start in range(0, len(sets), at_once):
            part = sets[start : start + at_once]
            for players, answers in zip(part, self._answers(part), strict=True):
                differences = self._over(players, answers)
                self._measure(players, differences)
                if (self.strengths[players] > threshold).any():
                    passed.append(players)
                    if keep:
                        self._differences[players] = differences
        return passed

    def _answers(self, sets):
        """Responses with all players of each set drawn anew: (n_rows, n_draws, k)."""
        replacements = []
        for players in sets:
            places = [
                (j, self._donors[one]) for one in players for j in self._players[one]
            ]
            columns, codes = zip(*places, strict=True)
            levels = tuple(self._rows.column(j) for j in columns)
            replacements.append(Replacement(columns, levels, codes, together=True))
        blocks = altered_responses(
            self._response, self._rows, replacements, _as_they_are, **self._loop
        )
        return (np.concatenate(one) for one in blocks)

    def _over(self, players, answers):
        """The finite difference over a set."""
        differences = answers - self._plain[:, None]
        for size in range(1, len(players)):
            for part in combinations(players, size):
                differences -= self._differences[part]
        return differences

    def _measure(self, players, differences):
        order, weights, floor = len(players), self._weights, self._floor
        importance, error = superset_importance(differences, order, weights, floor)
        self.strengths[players] = importance / self._variance
        self.standard_errors[players] = error / self._variance
        if order == 1:
            points = self._rows.encode(self._players[players[0]])[0]
            drawn = points[self._donors[players[0]]]
            effect = main_effect(differences, drawn, weights, floor)
            self.main_effects[players[0]] = effect / self._variance


def _as_they_are(which, index, variants, answers):
    return answers
