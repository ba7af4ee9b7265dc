"""Network of interacting features (Hooker 2004).

Sets grow: players whose strength is above the threshold form pairs, pairs whose
strength is above it form triples, and so on. `_Strengths` measures sets by finite
differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import chain, combinations
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from sklearn_interpret._core.effects import functional_anova
from sklearn_interpret._core.effects.h_statistics import rounding_floor
from sklearn_interpret._core.statistics.permutations import random_donors
from sklearn_interpret._core.statistics.weighted import Moments
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.parallel import rows_in_memory
from sklearn_interpret._model.progress import phases, with_progress
from sklearn_interpret._model.replacement.replaced import ReplacedResponses
from sklearn_interpret._model.replacement.replacement import Replacement
from sklearn_interpret._model.responses.response import (
    drop_single_output,
    plain_responses,
)
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.interactions._base import (
    BaseInteraction,
    SetNumbers,
    warn_of_undefined,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response

# A number for each set of names, or an array of numbers of several outputs.
ValuesOfSets = dict[tuple[str, ...], float | NDArray[np.float64]]


@estimator_dataclass
class VariableInteractionNetwork(BaseInteraction):
    """Hooker's network of interacting features, with the strengths of interactions.

    Two features interact if the response is not a sum of a function without the first
    and a function without the second. The strength is the share of the response's
    variance due to interactions of the two, with or without other features:
    the *superset importance* of the pair. Sets of three and more, up to `max_order`,
    are measured if all of their subsets were found.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    features : None, int, str, bool mask, or list of ints and strs, default=None
        Features and groups to inspect, by position or name; None takes all. The others
        keep their values in each row.
    threshold : float, default=0.01
        Share of the response's variance above which a set of features is found.
    max_order : int, default=2
        Largest number of features in a set that is measured.
    n_repeats : int, default=10
        Number of random values of each feature in each row, at least two.
    feature_groups : dict of str to list, default=None
        Features that count as one.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        "auto" is `predict` of regressors, and `predict_proba`, else
        `decision_function`, of classifiers. Also a method's name, a list of names of
        which the first found is used, "centered_log_proba", or ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=None
        Number or share of the rows to use; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the subsample, and the rows from which values are taken.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    graph_ : dict of tuple of two str to float or ndarray of shape (k,)
        The pairs found, by names, with their strengths: shares of the variance of the
        response. There is one per output, and a pair is found if any exceeds
        `threshold`.
    adjacency_ : ndarray of shape (p, p) or (k, p, p)
        The same as a symmetric matrix over the p features and groups, zero for pairs
        that were not found. With several outputs their axis comes first.
    cliques_ : list of tuple of str
        The largest sets of features that may interact: up to `threshold`, the response
        is a sum of functions of these. All of their subsets of up to `max_order`
        features were found; larger ones were not measured. Features whose total effect
        is below `threshold` are in no set.
    strengths_ : dict of tuple of str to float or ndarray of shape (k,)
        Strengths of all measured sets, found or not; that of a single feature is its
        total effect, the share of all components that contain it.
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
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: unknown or repeated features, a single row, a response that is not
        finite or whose squares are not, a fitted model not frozen without `y`.

    Notes
    -----
    For n rows and R = `n_repeats` the model gets n (1 + R s) rows, where s is the
    number of sets measured, the length of `strengths_`: all single features, all pairs
    of those that exceed `threshold`, and all larger sets whose subsets were all found.
    A set cannot be stronger than any of its subsets, so no set is missed.

    The values of each feature come from other rows, drawn independently for each
    feature: the strengths are those of independent features. If features depend on each
    other, the model gets unrealistic rows, and shares may exceed 1.

    If the response is constant over the rows, but not over perturbed rows, shares are
    undefined: they are set to zero, with an
    :class:`~sklearn_interpret.exceptions.UndefinedShareWarning`.

    Strengths are estimates (see `standard_errors_`): whether a set near `threshold` is
    found depends on the draws. A set without any effect has a strength of exactly zero.
    Main effects are estimated from draws of the same value in different rows, and are
    noisier.

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

    features: Any = None
    threshold: float = 0.01
    max_order: int = 2
    n_repeats: int = 10
    feature_groups: dict[str, Any] | None = None

    graph_: dict[tuple[str, str], float | NDArray[np.float64]] = field(init=False)
    adjacency_: NDArray[np.float64] = field(init=False)
    cliques_: list[tuple[str, ...]] = field(init=False)
    strengths_: ValuesOfSets = field(init=False)
    standard_errors_: ValuesOfSets = field(init=False)
    main_effects_: NDArray[np.float64] = field(init=False)

    _errors_count_rows = True

    _parameter_constraints = {
        **BaseInteraction._parameter_constraints,
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "max_order": [Interval(Integral, 2, None, closed="left")],
        "n_repeats": [Interval(Integral, 2, None, closed="left")],
    }

    def _choose_sample(
        self, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        """All rows: `_inspect` draws subsample and donors from one generator."""
        return Sample.of_positive_weight(rows, y, weights)

    def _inspect(self, sample: Sample, response: Response) -> None:
        rng = check_random_state(self.random_state)
        sample = self._draw(sample, self.subsample, rng)
        self._refuse_single_row(sample.rows)
        self._resolve_players(sample.rows)
        donors = _draw_donors(sample, len(self.features_), self.n_repeats, rng)
        strengths = _Strengths(self.features_, sample, response, donors, self.n_jobs)
        n_players, all_strong_sets = len(self.features_), []
        candidates: list[tuple[int, ...]] = [(player,) for player in range(n_players)]
        progress = phases(min(self.max_order, n_players))
        while candidates:
            next(progress)
            needs_larger_sets = len(candidates[0]) < self.max_order
            strong_sets = strengths.measure(
                candidates, self.threshold, keep_differences=needs_larger_sets
            )
            all_strong_sets += strong_sets
            candidates = _larger_sets(strong_sets) if needs_larger_sets else []
        self._set_results(strengths, all_strong_sets, response)

    def _set_results(
        self,
        strengths: _Strengths,
        strong_sets: list[tuple[int, ...]],
        response: Response,
    ) -> None:
        """Set the fitted attributes, from the strengths and the strong sets."""
        names, n_outputs = self.player_names_, strengths.n_outputs

        def by_names(
            sets: Iterable[tuple[int, ...]],
            values: dict[tuple[int, ...], NDArray[np.float64]],
        ) -> dict[Any, Any]:
            return {
                tuple(names[player] for player in players): (
                    float(values[players][0]) if n_outputs == 1 else values[players]
                )
                for players in sets
            }

        undefined = [(names[player],) for player in strengths.undefined]
        warn_of_undefined("strengths_", undefined, "Inspect more, or other, rows")
        edges = [players for players in strong_sets if len(players) == 2]
        self.strengths_ = by_names(strengths.by_set, strengths.by_set)
        self.standard_errors_ = by_names(strengths.by_set, strengths.standard_errors)
        self.graph_ = by_names(edges, strengths.by_set)
        adjacency = np.zeros((n_outputs, len(names), len(names)))
        for first, second in edges:
            strength = strengths.by_set[first, second]
            adjacency[:, first, second] = adjacency[:, second, first] = strength
        self.adjacency_ = drop_single_output(adjacency)
        self.main_effects_ = drop_single_output(np.transpose(strengths.main_effects))
        cliques = functional_anova.maximal_sets(
            (players[0] for players in strong_sets if len(players) == 1),
            edges,
            strengths.by_set.keys() - set(strong_sets),
        )
        self.cliques_ = [
            tuple(names[player] for player in clique) for clique in cliques
        ]
        self.output_names_ = response.output_names(n_outputs)

    def _numbers_of_sets(self) -> Iterator[SetNumbers]:
        for order in range(1, self.max_order + 1):
            sets = [members for members in self.strengths_ if len(members) == order]
            if not sets:
                continue
            columns = {
                "strength": np.vstack([self.strengths_[members] for members in sets]),
                "standard_error": np.vstack(
                    [self.standard_errors_[members] for members in sets]
                ),
            }
            if order == 1:
                players = [self.player_names_.index(name) for (name,) in sets]
                columns["main_effect"] = np.atleast_2d(self.main_effects_).T[players]
            yield SetNumbers(sets, columns)

    def _result_facts(self) -> dict[str, Any]:
        return {"cliques": self.cliques_}


def _larger_sets(strong: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Sets of one more player, all of whose subsets of this size are strong."""
    strong_sets, players = set(strong), sorted({*chain.from_iterable(strong)})
    return [
        (*members, player)
        for members in strong
        for player in players
        if player > members[-1]
        and strong_sets.issuperset(combinations((*members, player), len(members)))
    ]


def _draw_donors(
    sample: Sample, n_players: int, n_repeats: int, rng: np.random.RandomState
) -> list[NDArray[np.intp]]:
    """Random donor rows of each player, (n_rows, n_repeats)."""
    donors = []
    for seed in rng.randint(np.iinfo(np.int32).max, size=n_players):
        player_rng = np.random.RandomState(seed)
        draws = [random_donors(sample.weights, player_rng) for _ in range(n_repeats)]
        donors.append(np.stack(draws, axis=1))
    return donors


class _Strengths:
    """Strengths of sets of players, from finite differences of the response.

    `measure` fills `by_set` and `standard_errors`, dicts by set of arrays (k,), and
    `main_effects` (n_players, k).
    """

    def __init__(
        self,
        columns_of_players: list[tuple[int, ...]],
        sample: Sample,
        response: Response,
        donors: list[NDArray[np.intp]],
        n_jobs: int | None,
    ) -> None:
        self._columns_of_players, self._donors = columns_of_players, donors
        self._rows, self._weights = sample.rows, sample.weights
        self._response, self._n_jobs = response, n_jobs
        self._predictions = plain_responses(response, sample.rows)
        self.n_outputs = self._predictions.shape[1]
        self._floor = rounding_floor(self._predictions, sample.weights)
        variance = Moments.of_rows(self._predictions, sample.weights).variance
        # Shares of the variance of a constant response are zero. They are `undefined`
        # for players that change the response of perturbed rows.
        self.undefined: list[int] = []
        self._variance = np.where(variance > self._floor, variance, np.inf)
        self.by_set: dict[tuple[int, ...], NDArray[np.float64]] = {}
        self.standard_errors: dict[tuple[int, ...], NDArray[np.float64]] = {}
        self.main_effects = np.empty((len(columns_of_players), self.n_outputs))
        self._differences: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def measure(
        self, sets: list[tuple[int, ...]], threshold: float, *, keep_differences: bool
    ) -> list[tuple[int, ...]]:
        """Measure sets of one size; return the sets that are above the threshold.

        The finite differences of strong sets are kept if larger sets will need them.
        """
        strong_sets = []
        # A float for each row, repeat and output.
        set_bytes = 8 * self._donors[0].size * self.n_outputs
        batch_size = rows_in_memory(set_bytes)
        for start in with_progress(range(0, len(sets), batch_size)):
            batch = sets[start : start + batch_size]
            for players, responses in zip(
                batch, self._redrawn_responses(batch), strict=True
            ):
                differences = self._finite_difference(players, responses)
                self._set_strength(players, differences)
                if (self.by_set[players] > threshold).any():
                    strong_sets.append(players)
                    if keep_differences:
                        self._differences[players] = differences
        return strong_sets

    def _redrawn_responses(
        self, sets: list[tuple[int, ...]]
    ) -> Iterator[NDArray[np.float64]]:
        """Responses with all players of each set redrawn: (n_rows, n_draws, k)."""
        replacements = []
        for players in sets:
            donors = {
                j: self._donors[player]
                for player in players
                for j in self._columns_of_players[player]
            }
            columns, codes = tuple(donors), tuple(donors.values())
            levels = tuple(self._rows.column(j) for j in columns)
            replacements.append(Replacement(columns, levels, codes, together=True))
        model = ReplacedResponses(self._response, self._rows, replacements)
        blocks = model.responses(_keep_responses, n_jobs=self._n_jobs)
        return map(np.concatenate, blocks)

    def _finite_difference(
        self, players: tuple[int, ...], responses: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Responses less those of the original rows and differences of all subsets."""
        differences = responses - self._predictions[:, None]
        for size in range(1, len(players)):
            for subset in combinations(players, size):
                differences -= self._differences[subset]
        return differences

    def _set_strength(
        self, players: tuple[int, ...], differences: NDArray[np.float64]
    ) -> None:
        """Set the strength of a set, and the main effect of a single player."""
        order, weights, floor = len(players), self._weights, self._floor
        importance, error = functional_anova.superset_importance(
            differences, order, weights, floor
        )
        self.by_set[players] = importance / self._variance
        self.standard_errors[players] = error / self._variance
        if order == 1:
            player = players[0]
            if (np.isinf(self._variance) & (importance > 0)).any():
                self.undefined.append(player)
            codes = self._rows.encode(self._columns_of_players[player])[0]
            new_codes = codes[self._donors[player]]
            effect = functional_anova.main_effect(
                differences, new_codes, weights, floor
            )
            self.main_effects[player] = effect / self._variance


def _keep_responses(
    replacement: int,
    index: NDArray[np.intp],
    variants: slice,
    responses: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The responses of a block, none of which is reduced."""
    return responses
