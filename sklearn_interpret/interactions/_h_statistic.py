"""H statistics of the strength of interactions (Friedman & Popescu 2008)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from functools import partial
from itertools import chain, combinations
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from sklearn_interpret._core.effects import h_statistics
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.sklearn_bases import (
    TransformerMixin,
    feature_names_out,
)
from sklearn_interpret._model._sklearn_compat import Interval, warn
from sklearn_interpret._model.progress import phases, shows_progress, with_progress
from sklearn_interpret._model.replacement.dependence_at_rows import dependence_at_rows
from sklearn_interpret._model.replacement.replaced import choose_evaluator
from sklearn_interpret._model.replacement.replacement import Replacement
from sklearn_interpret._model.responses.response import drop_single_output
from sklearn_interpret._model.row_limit import announce_rows
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.interactions._base import (
    BaseInteraction,
    SetNumbers,
    iter_tuples,
    warn_of_undefined,
)

if TYPE_CHECKING:
    from sklearn_interpret._core.effects.h_statistics import Strength
    from sklearn_interpret._model.replacement.dependence_at_rows import DependenceAtRows
    from sklearn_interpret._model.replacement.tree_dependence_at_rows import (
        TreeDependenceAtRows,
    )
    from sklearn_interpret._model.responses.response import Response

    Dependence = DependenceAtRows | TreeDependenceAtRows

# Values of triples of names; with several outputs arrays.
ValuesOfTriples = dict[tuple[str, str, str], float | NDArray[np.float64]]

# Triples that take about a minute with any model: more raise a warning.
_MANY_TRIPLES = 1e6

_ADVICE = (
    "Use fewer features or pairs (features=, pairs=) or fewer rows (subsample=), with "
    "whose square the number grows, or VariableInteractionNetwork, which sends a few "
    "rows for each row and set"
)


class _Statistics(NamedTuple):
    """Strengths of interactions in one draw of rows."""

    pairwise: Strength  # (n_pairs, k)
    overall: Strength  # (n_players, k)
    three_way: Strength  # (n_triples, k)
    total: Strength  # of all interactions together, (1, k)
    constants: NDArray[np.float64]  # mean interaction effects of pairs, (n_pairs, k)


@lazy_transformer
@estimator_dataclass
class HStatistic(TransformerMixin, BaseInteraction):
    """Friedman and Popescu's H statistics: how strongly features interact.

    With all partial dependences centred over the rows,

    .. math::

        H_{jk}^2 = \\frac{\\sum_i w_i (PD_{jk} - PD_j - PD_k)^2}{\\sum_i w_i PD_{jk}^2},
        \\qquad
        H_j^2 = \\frac{\\sum_i w_i (f - PD_j - PD_{-j})^2}{\\sum_i w_i f^2},

    each evaluated at the rows themselves.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    features : None, int, str, bool mask, or list of ints and strs, default=None
        Features and groups to inspect, by position or name; None takes all.
    pairs : None or list of pairs of ints and strs, default=None
        Pairs of them; None takes all pairs.
    three_way : bool or list of triples of ints and strs, default=False
        Triples whose interaction beyond that of their pairs is measured. True takes
        all triples whose pairs are all in `pairs`.
    squared : bool, default=True
        Whether statistics are H^2, a share of variance, or H.
    method : {"auto", "tree", "brute"}, default="auto"
        "brute" sends rows to the model. "tree" computes the same numbers from the
        model's trees: the response must be a sum of trees of a known library, or a
        link function of one, such as the probabilities of boosting. "auto" is "tree"
        where that works, and else "brute".
    n_repeats : int, default=1
        Number of draws of `subsample`. Statistics are means over the draws.
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
        Draws the subsamples.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    pairwise_ : ndarray of shape (p, p) or (k, p, p)
        H^2, or H, of each pair of the p features and groups; symmetric, zero on the
        diagonal, NaN for pairs not in `pairs_`. With several outputs their axis comes
        first.
    pairwise_unnormalized_ : ndarray of the same shape
        Square root of the mean numerator, in the units of the response.
    pairwise_numerator_, pairwise_denominator_ : ndarray of the same shape
        Weighted means of the squares over the rows.
    pairwise_std_ : ndarray of the same shape, or None
        Standard deviation of `pairwise_` over the draws; None for a single one.
    overall_ : ndarray of shape (p,) or (k, p)
        H^2, or H, of each feature with all others together.
    overall_unnormalized_, overall_numerator_, overall_denominator_ : ndarray
        As for pairs.
    overall_std_ : ndarray of the shape of `overall_`, or None
        As for pairs.
    three_way_ : dict of tuple of three str to float or ndarray of shape (k,)
        H^2, or H, of each triple of features.
    three_way_unnormalized_, three_way_numerator_, three_way_denominator_ : dict
        As for pairs.
    total_ : float or ndarray of shape (k,)
        Share of the response's variance that the sum of all partial dependences does
        not explain; NaN if `features` omits some.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        `overall_unnormalized_`, mean over outputs; members of a group have the group's
        value, omitted features have zero.
    features_ : list of tuple of int
        Columns of each feature or group.
    player_names_ : list of str
        Their names.
    pairs_ : list of tuple of two ints
        Positions of the pairs in `player_names_`.
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
        In `fit`: unknown or repeated features, pairs or triples; several repeats
        without a subsample; a single row; a non-finite response, or one whose squares
        are not finite; a fitted model not frozen without `y`.
    UnreadableModelError
        In `fit` with "tree": the trees can't be read, or the response is neither their
        sum nor a link function of it.

    Notes
    -----
    For n rows, p features and m pairs the model gets at most n (n - 1) (p + m) + n rows
    with "brute", fewer if values repeat, since no row is sent twice. `subsample` makes
    n smaller. With "tree" it gets only a few rows, to check the trees, and time grows
    about linearly with n for sums, and as n^2 for functions of sums.

    H^2 is a ratio. If the denominator, the joint effect of the pair, is weak, the ratio
    of two small numbers is unreliable, and with dependent features it can exceed 1:
    look at `pairwise_unnormalized_` as well. A ratio of zero to zero counts as zero. If
    only the denominator is zero, the response is constant over the rows but not over
    perturbed rows: the share is undefined, and set to zero with an
    :class:`~sklearn_interpret.exceptions.UndefinedShareWarning`.

    References
    ----------
    Friedman, J. H. and Popescu, B. E. (2008). Predictive learning via rule ensembles.
    Annals of Applied Statistics 2(3). https://doi.org/10.1214/07-AOAS148

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from sklearn_interpret.interactions import HStatistic
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(50, 3))
    >>> y = X[:, 0] * X[:, 1] + X[:, 2]
    >>> model = make_pipeline(PolynomialFeatures(2), LinearRegression())
    >>> h = HStatistic(model).fit(X, y)
    >>> h.pairwise_.round(2)
    array([[0.  , 0.78, 0.  ],
           [0.78, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    >>> h.transform(X[:1]).round(2)
    array([[-0.02,  0.  ,  0.  ]])
    """

    features: Any = None
    pairs: Any = None
    three_way: Any = False
    squared: bool = True
    method: str = "auto"
    n_repeats: int = 1
    feature_groups: dict[str, Any] | None = None

    pairwise_: NDArray[np.float64] = field(init=False)
    pairwise_unnormalized_: NDArray[np.float64] = field(init=False)
    pairwise_numerator_: NDArray[np.float64] = field(init=False)
    pairwise_denominator_: NDArray[np.float64] = field(init=False)
    pairwise_std_: NDArray[np.float64] | None = field(init=False)
    overall_: NDArray[np.float64] = field(init=False)
    overall_unnormalized_: NDArray[np.float64] = field(init=False)
    overall_numerator_: NDArray[np.float64] = field(init=False)
    overall_denominator_: NDArray[np.float64] = field(init=False)
    overall_std_: NDArray[np.float64] | None = field(init=False)
    three_way_: ValuesOfTriples = field(init=False)
    three_way_unnormalized_: ValuesOfTriples = field(init=False)
    three_way_numerator_: ValuesOfTriples = field(init=False)
    three_way_denominator_: ValuesOfTriples = field(init=False)
    total_: float | NDArray[np.float64] = field(init=False)
    feature_importances_: NDArray[np.float64] = field(init=False)

    _parameter_constraints = {
        **BaseInteraction._parameter_constraints,
        "three_way": "no_validation",
        "squared": ["boolean"],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
    }

    def _choose_sample(
        self, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        """All rows: each repeat draws from them."""
        if self.n_repeats > 1 and self.subsample is None:
            raise ValueError(
                f"n_repeats={self.n_repeats} draws several subsamples, but subsample="
                "None takes all rows: pass a subsample, or n_repeats=1."
            )
        return Sample.of_positive_weight(rows, y, weights)

    def _inspect(self, sample: Sample, response: Response) -> None:
        rng = check_random_state(self.random_state)
        first = subsample = self._draw(sample, self.subsample, rng)
        self._refuse_single_row(first.rows)
        self._resolve_pairs(first.rows)
        triples, draws = self._resolve_triples(first.rows), []
        for repeat in with_progress(range(self.n_repeats)):
            if repeat:
                subsample = self._draw(sample, self.subsample, rng)
            responses = self._dependence_at_rows(subsample, response)
            if not repeat:
                sets = self._pairs, _extra_pairs(self._pairs, triples), triples
                n_sent = self.n_repeats * responses.most_rows(*sets)
                n_rows, n_features = subsample.rows.n_rows, len(self.features_)
                n_sets = n_features + len(self._pairs) + len(triples)
                parts = {"rows": n_rows, "other rows": n_rows, "sets": n_sets}
                announce_rows(n_sent, parts, _ADVICE, power=2)
                n_sums = responses.most_sums(self._pairs, triples)
                self._warn_of_sums(self.n_repeats * n_sums)
            draws.append(self._measure_draw(subsample, responses, triples))
        self._constants = draws[0].constants
        self._set_results(draws, triples)
        n_outputs = draws[0].overall.numerator.shape[1]
        self.output_names_ = response.output_names(n_outputs)
        self._background, self._weights = first.rows.native, first.weights

    def _resolve_triples(self, rows: Rows) -> list[tuple[int, ...]]:
        """Triples of positions of players."""
        if self.three_way is None or self.three_way is False:
            return []
        if self.three_way is not True:
            return self._resolve_sets(rows, "three_way", 3)
        # Triangles of the graph of pairs: edges[i, j] = 1 for i < j.
        edges = np.zeros((len(self.features_),) * 2, dtype=np.float32)
        edges[tuple(np.sort(self._pairs, axis=1).T)] = 1
        n_triples = ((edges @ edges) * edges).sum(dtype=np.float64)
        if n_triples > _MANY_TRIPLES:
            warn(
                "Pass a list of triples (three_way=), or fewer features or pairs "
                f"(features=, pairs=): three_way=True means {n_triples:.2g} triples "
                "for HStatistic, which takes more than a minute.",
                CostlyInspectionWarning,
            )
        return [
            (first, int(second), int(third))
            for first, neighbours in enumerate(edges)
            for second in np.flatnonzero(neighbours)
            for third in np.flatnonzero(neighbours * edges[second])
        ]

    def _dependence_at_rows(self, sample: Sample, response: Response) -> Dependence:
        """Partial dependence at the values of the rows of a sample."""
        return dependence_at_rows(
            self.method,
            response,
            sample.rows,
            sample.weights,
            self.features_,
            averaged=True,
            n_jobs=self.n_jobs,
        )

    def _measure_draw(
        self, sample: Sample, responses: Dependence, triples: list[tuple[int, ...]]
    ) -> _Statistics:
        """The statistics of one draw of rows."""
        weights, predictions = sample.weights, responses.predictions
        n_players, progress = len(self.features_), phases(2)
        next(progress)
        moments = h_statistics.overall_moments(
            _blocks_of_players(responses, n_players), n_players, predictions, weights
        )
        floor = h_statistics.rounding_floor(predictions, weights)
        sum_of_effects = np.zeros_like(predictions)
        for effect in map(responses.dependence_on, range(n_players)):
            # Rounding errors of a term are rounding errors of the difference.
            floor = np.maximum(floor, h_statistics.rounding_floor(effect, weights))
            sum_of_effects = sum_of_effects + effect
        overall = h_statistics.overall_strengths(moments, predictions, weights, floor)
        next(progress)
        pairwise, three_way, constants = _strengths_of_sets(
            responses, self._pairs, triples, weights, floor
        )
        total = h_statistics.strength(predictions, sum_of_effects, weights, floor)
        return _Statistics(pairwise, overall, three_way, total[None], constants)

    def _set_results(
        self, draws: list[_Statistics], triples: list[tuple[int, ...]]
    ) -> None:
        """Set the fitted attributes from the statistics of each draw of rows."""
        names = self.player_names_
        as_matrices = partial(
            h_statistics.as_matrices, pairs=self._pairs, n_players=len(names)
        )
        keys = [tuple(names[player] for player in triple) for triple in triples]

        def by_triple(values: NDArray[np.float64]) -> dict[Any, Any]:
            outputs_last = np.moveaxis(drop_single_output(values.T), -1, 0)
            return dict(zip(keys, outputs_last, strict=True))

        players = np.arange(len(names))[:, None]
        self._set_statistic("pairwise", draws, self._pairs, as_matrices)
        self._set_statistic("overall", draws, players, np.transpose)
        self._set_statistic("three_way", draws, triples, by_triple)
        self._set_statistic("total", draws, [()], np.ravel)
        if sum(map(len, self.features_)) < self.n_features_in_:
            self.total_ = np.full_like(self.total_, np.nan)[()]
        sizes = np.atleast_2d(self.overall_unnormalized_).mean(axis=0)
        self.feature_importances_ = np.zeros(self.n_features_in_)
        for columns, size in zip(self.features_, sizes, strict=True):
            self.feature_importances_[list(columns)] = size

    def _set_statistic(
        self,
        statistic: str,
        draws: list[_Statistics],
        sets: NDArray[np.intp] | list[tuple[int, ...]],
        arrange: Callable[[NDArray[np.float64]], Any],
    ) -> None:
        """Set the attributes of one statistic for sets of players.

        `arrange` brings numbers of the sets (n_sets, k) into the form of the
        attributes.
        """
        names, is_total = self.player_names_, statistic == "total"
        strengths: list[Strength] = [getattr(draw, statistic) for draw in draws]
        undefined = np.any([draw.is_undefined for draw in strengths], axis=(0, 2))
        warn_of_undefined(
            f"{statistic}_",
            [[names[player] for player in sets[k]] for k in np.flatnonzero(undefined)],
            f"Use {'overall' if is_total else statistic}_unnormalized_, the size of "
            "the interaction",
        )
        shares = np.stack([draw.squared for draw in strengths])
        if not (self.squared or is_total):
            shares = np.sqrt(shares)
        results = {"": shares.mean(axis=0)}
        if not is_total:
            for name in ("unnormalized", "numerator", "denominator"):
                arrays = [getattr(draw, name) for draw in strengths]
                results[f"{name}_"] = np.mean(arrays, axis=0)
        if statistic in ("pairwise", "overall"):
            setattr(self, f"{statistic}_std_", None)
            if len(draws) > 1:
                results["std_"] = shares.std(axis=0, ddof=1)
        for ending, values in results.items():
            values = arrange(values)
            if not isinstance(values, dict):
                values = drop_single_output(values)
            setattr(self, f"{statistic}_{ending}", values)

    def _numbers_of_sets(self) -> Iterator[SetNumbers]:
        names = np.array(self.player_names_, dtype=object)
        first, second = self._pairs.T
        yield SetNumbers(
            names[:, None], self._statistic_columns("overall", slice(None))
        )
        if len(first):
            columns = self._statistic_columns("pairwise", first, second)
            yield SetNumbers(names[self._pairs], columns)
        if self.three_way_:
            sizes = self.three_way_unnormalized_
            by_triple = {"strength": self.three_way_, "unnormalized": sizes}
            columns = {c: np.vstack([*v.values()]) for c, v in by_triple.items()}
            yield SetNumbers(list(self.three_way_), columns)

    def _statistic_columns(
        self, statistic: str, *players: slice | NDArray[np.intp]
    ) -> dict[str, NDArray[np.float64]]:
        """Numbers of a statistic for sets of players, (n, k), by table column."""
        endings = {"strength": "", "unnormalized": "unnormalized_", "std": "std_"}
        arrays = {c: getattr(self, f"{statistic}_{end}") for c, end in endings.items()}
        shape = len(self.output_names_), *[len(self.player_names_)] * len(players)
        return {
            column: values.reshape(shape)[:, *players].T
            for column, values in arrays.items()
            if values is not None
        }

    def _result_facts(self) -> dict[str, Any]:
        return {"statistic": "H²" if self.squared else "H"}

    def _result_units(self) -> dict[str, str]:
        return {"unnormalized": self._response_name}

    @empty_for_no_rows
    @shows_progress
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Interaction effect of each pair at each row.

        The centred partial dependence on both minus those on each, over the rows of
        `fit` (of the first draw, if there are several).

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_pairs x n_outputs)
            Effects, with the outputs of a pair in adjacent columns.

        Raises
        ------
        ValueError
            If a value does not fit the dtypes of `fit`, such as an unknown category.
        """
        rows = self._check_rows(X, reset=False)
        n_outputs = len(self.output_names_)
        pairs = self.pairs_
        if not pairs:
            return np.empty((rows.n_rows, 0))
        players = np.unique(self._pairs).tolist()
        sets: list[tuple[int, ...]] = [*((player,) for player in players), *pairs]
        averages = dict(zip(sets, self._averages_at(rows, sets), strict=True))
        effects = np.empty((rows.n_rows, len(pairs), n_outputs))
        for k, (first, second) in enumerate(pairs):
            effects[:, k] = averages[first, second]
            effects[:, k] -= averages[first,] + averages[second,]
        effects -= self._constants
        return effects.reshape(rows.n_rows, -1)

    def _averages_at(
        self, rows: Rows, sets: list[tuple[int, ...]]
    ) -> list[NDArray[np.float64]]:
        """Partial dependence on sets of players at rows: for each, (n_rows, k)."""
        background = as_rows(self._background)
        codes_of_rows, replacements = [], []
        for players in sets:
            columns = tuple(j for player in players for j in self.features_[player])
            codes, _, first = rows.encode(columns)
            levels = tuple(
                background.cast(j, rows.column_array(j)[first]) for j in columns
            )
            variants = (np.arange(len(first))[None],) * len(columns)
            codes_of_rows.append(codes)
            replacements.append(Replacement(columns, levels, variants))
        model = choose_evaluator(
            self.method, self._make_response(), background, replacements
        )
        averages = model.averages(self._weights, with_errors=False, n_jobs=self.n_jobs)
        return [
            means[codes]
            for means, codes in zip(averages.means, codes_of_rows, strict=True)
        ]

    get_feature_names_out = feature_names_out

    def _column_names(self, input_features: ArrayLike | None) -> list[str]:
        """Names such as "a x b", followed by the output's if there are several."""
        players = zip(self.features_, self.player_names_, strict=True)
        names, outputs = self._names_out(input_features, players)
        return [
            f"{names[first]} x {names[second]}{output}"
            for first, second in self.pairs_
            for output in outputs
        ]


def _blocks_of_players(
    responses: Dependence, n_players: int
) -> Iterator[tuple[slice, slice, NDArray[np.float64], NDArray[np.float64]]]:
    """Rows, players, effects and dependence on all others, block by block."""
    for rows, players, without_player in responses.dependence_on_others():
        numbers = range(n_players)[players]
        effects = [responses.dependence_on(player, rows) for player in numbers]
        yield rows, players, np.stack(effects, axis=1), without_player


def _pairs_of(triples: list[tuple[int, ...]]) -> set[frozenset[int]]:
    """Pairs of the features of triples."""
    return {frozenset(pair) for triple in triples for pair in combinations(triple, 2)}


def _extra_pairs(
    pairs: NDArray[np.intp], triples: list[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """Pairs that triples need, besides those that are measured."""
    needed = _pairs_of(triples)
    extra = needed - set(map(frozenset, iter_tuples(pairs))) if needed else ()
    return sorted(tuple(sorted(pair)) for pair in extra)


def _strengths_of_sets(
    responses: Dependence,
    pairs: NDArray[np.intp],
    triples: list[tuple[int, ...]],
    weights: NDArray[np.float64],
    floor: NDArray[np.float64],
) -> tuple[Strength, Strength, NDArray[np.float64]]:
    """Strengths of pairs and triples, and the mean joint effects of pairs."""
    needed = _pairs_of(triples)
    extra_sets = [*_extra_pairs(pairs, triples), *triples]
    n_sets, n_outputs = len(pairs) + len(extra_sets), responses.predictions.shape[1]
    strengths = h_statistics.Strength(*np.zeros((2, n_sets, n_outputs)))
    constants = np.empty((len(pairs), n_outputs))
    joint_of_pair: dict[frozenset[int], NDArray[np.float64]] = {}
    sets = chain(iter_tuples(pairs), extra_sets)
    joints = with_progress(
        responses.joint(chain(iter_tuples(pairs), extra_sets)), n_sets
    )
    for k, (players, joint) in enumerate(zip(sets, joints, strict=True)):
        terms: Any = sum(map(responses.dependence_on, players))
        if len(players) == 3:
            pairs_of_triple = map(frozenset, combinations(players, 2))
            terms = sum(joint_of_pair[pair] for pair in pairs_of_triple) - terms
            strengths[k] = h_statistics.strength(joint, terms, weights, floor)
            continue
        if frozenset(players) in needed:
            joint_of_pair[frozenset(players)] = joint
        if k < len(pairs):
            strengths[k] = h_statistics.strength(joint, terms, weights, floor)
            constants[k] = np.average(joint - terms, axis=0, weights=weights)
    return strengths[: len(pairs)], strengths[n_sets - len(triples) :], constants
