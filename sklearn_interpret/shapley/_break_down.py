"""Break-down of predictions along one order of the features (Staniak & Biecek, 2018).

A path is the order for one row: a list of steps, each of which adds one player or a
pair to those before. Contributions are differences of values of the coalitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.progress import phases
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_features, resolve_groups
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley._base import Attributor, BaseCoalitional

if TYPE_CHECKING:
    from sklearn_interpret._model.replacement.response_games import (
        ResponseGame,
        ResponseRowGames,
    )

# Interactions below this, relative to the responses, are rounding errors.
_RELATIVE_ROUNDING = 1e-12
# Sizes of steps, relative to the largest, are rounded to this number of decimals, so
# that rounding errors do not break ties.
_TIE_DECIMALS = 12

Step = tuple[int, ...]  # players, one or two


@dataclass(frozen=True, eq=False, repr=False)
class BreakDownExplanation(Explanation):
    """Attributions along one order of the features for each row.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_features[, n_outputs])
        Contribution of each feature to each response, in the response's unit.
    base_values : array-like of shape (n_rows[, n_outputs])
        The response without any feature, where the steps start.
    predictions, data, feature_names, output_names : array-like, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    response_name, target_name : str, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    standard_errors, columns, approximation : array-like or str, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    value_name : str, default="contribution"
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    groups : dict, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    partial : bool, default=False
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    step_numbers : array-like of shape (n_rows, n_features), default=None
        The step, counted from 0, at which each feature was added. Features added
        together have the same number, and share the contribution of the step equally.
        None adds the features in order.

    Examples
    --------
    >>> from sklearn_interpret.shapley import BreakDownExplanation
    >>> explanation = BreakDownExplanation(
    ...     [[0.5, 2.0, 0.5]],
    ...     [1.0],
    ...     feature_names=["age", "town", "sex"],
    ...     step_numbers=[[1, 0, 1]],
    ... )
    >>> explanation.steps(0)
    [(1,), (0, 2)]
    >>> explanation.step_names(0)
    ['town', 'age:sex']
    """

    value_name: str = field(default="contribution", kw_only=True)
    step_numbers: NDArray[np.intp] = field(default=cast(Any, None), kw_only=True)

    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *Explanation._arrays_by_row,
        "step_numbers",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = self.values.shape[:2]
        numbers = self.step_numbers
        if numbers is None:
            numbers = np.broadcast_to(np.arange(shape[1]), shape)
        numbers = np.asarray(numbers)
        if numbers.shape != shape or numbers.dtype.kind not in "iu":
            raise ValueError(
                f"step_numbers has the shape {numbers.shape} and the dtype "
                f"{numbers.dtype}; whole numbers of the shape {shape} are needed."
            )
        self._set("step_numbers", numbers.astype(np.intp))

    def steps(self, row: int) -> list[tuple[int, ...]]:
        """Positions of the features added at each step of a row, in order.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        list of tuple of int
            One position for most steps, two if a pair was added together.
        """
        numbers = self.step_numbers[row]
        return [
            tuple(np.flatnonzero(numbers == number).tolist())
            for number in np.unique(numbers)
        ]

    def step_names(self, row: int) -> list[str]:
        """Names of the steps of a row, in order; a pair is called ``"a:b"``.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        list of str
            One for each step.
        """
        return [
            ":".join(self.feature_names[j] for j in step) for step in self.steps(row)
        ]


@estimator_dataclass
class BreakDown(BaseCoalitional):
    """Attributions along one order of the features.

    Features are added one after the other, and each gets the change of the mean
    response:

    .. math:: \\mathrm{value}_{\\pi(t)} = v(\\{\\pi(1), ..., \\pi(t)\\})
        - v(\\{\\pi(1), ..., \\pi(t - 1)\\})

    v(S) is the mean response with the row's own values of the features in S, and the
    others taken jointly from the rows of the background. Base value and attributions
    sum to the prediction.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    order : "greedy" or list, default="greedy"
        "greedy" sorts the features of each row by the change of the mean response that
        each causes alone, the largest first. A list of all features and groups, by name
        or position, is the order for all rows; a tuple of two adds both in one
        step.
    interactions : bool, default=False
        Whether a greedy order may add two features in one step, where their interaction
        is larger than both single effects.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    link : {"identity", "logit"}, default="identity"
        Function of the mean responses that are attributed; "logit" maps probabilities
        to log-odds, and 0 and 1 to -36 and 36 with a warning.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows that replace absent features; all are used, with equal weights. None draws
        `subsample` of the rows of `fit`, with their weights.
    feature_groups : dict of str to list, default=None
        Named groups of features that are added together and share one attribution.
    response_method : str, list of str or callable, default="auto"
        "auto" takes `predict` of regressors, and of classifiers `predict_proba` or else
        `decision_function`. Or names of methods, of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps a single output, the
        positive class of a binary classifier, or else all outputs.
    subsample : int, float or None, default=100
        Number or share of the rows of `fit` in the background; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the subsample.
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
        The mean response over the background, after the link.
    background_ : {ndarray, sparse matrix, DataFrame}
        The rows of the background.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute attribution over the drawn rows of `fit`, and over outputs.
        Computed on first access.
    features_, player_names_ : list
        Columns and name of each player.
    response_method_, output_names_ : str or callable, list
        The explained response; class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, if the columns have any; class labels.

    Raises
    ------
    ValueError
        In `fit`: an order that lacks or repeats a feature, or ``interactions=True``
        with a given order.

    Warns
    -----
    SaturatedResponseWarning
        If mean responses of 0 or 1 are clipped, with ``link="logit"``.

    See Also
    --------
    ShapleyWaterfallDisplay : Draws the steps in their order.

    Notes
    -----
    The values depend on the order; Shapley values are their average over all orders.
    Features with the same value in the row and in all of the background have no effect,
    and come last in a greedy order. Several outputs share one order: effects are ranked
    by their mean square over outputs. With `target` the order is that of one output.

    With interactions, single effects :math:`v(i) - v(\\emptyset)` and interactions
    :math:`v(ij) - v(i) - v(j) + v(\\emptyset)` are sorted in one list by size. Features
    are added down the list; entries with a feature that was added before are skipped.
    In ``values`` a pair shares the contribution of its step equally; `explain` returns
    a :class:`BreakDownExplanation`, whose ``steps(row)`` shows the pairs.

    For p features the model gets about 2 p times the background's rows for each
    explained row, or about :math:`p^2 / 2` times with interactions.

    References
    ----------
    Staniak, M. & Biecek, P. (2018). Explanations of model predictions with live and
    breakDown packages. The R Journal 10(2). https://doi.org/10.32614/RJ-2018-072

    Gosiewska, A. & Biecek, P. (2019). Do not trust additive explanations.
    https://arxiv.org/abs/1903.11420

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.shapley import BreakDown
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 0] * X[:, 1] + X[:, 2] / 2
    >>> model = RandomForestRegressor(n_estimators=20, random_state=0)
    >>> inspector = BreakDown(model, interactions=True, random_state=0).fit(X, y)
    >>> explanation = inspector.explain([[1.5, 1.5, 1.0, 0.0]])
    >>> explanation.step_names(0)
    ['x0:x1', 'x2', 'x3']
    """

    order: str | Sequence[Any] = "greedy"
    interactions: bool = False

    _parameter_constraints = {
        **BaseCoalitional._parameter_constraints,
        "order": [StrOptions({"greedy"}), list, tuple, np.ndarray],
        "interactions": ["boolean"],
    }
    _explanation_class: ClassVar[type[Explanation]] = BreakDownExplanation

    def explain(self, X: Any) -> BreakDownExplanation:
        """Attribute the response to each row to the features, step by step.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        BreakDownExplanation
            Values of shape (n_samples, n_features[, n_outputs]), of features or of
            groups, and the steps at which they were added; base values plus values sum
            to the predictions.
        """
        return cast(BreakDownExplanation, super().explain(X))

    def _make_attributor(self) -> Attributor:
        if isinstance(self.order, str):
            return _PathAttributor(with_pairs=self.interactions)
        if self.interactions:
            raise ValueError(
                'interactions=True looks for pairs in order="greedy"; in an order that '
                "is given, name pairs as tuples, and pass interactions=False."
            )
        return _PathAttributor(path=self._custom_path())

    def _custom_path(self) -> list[Step]:
        """Players of each step of the user's order."""
        if isinstance(self.order, np.ndarray) and self.order.ndim == 0:
            raise ValueError(f"order={self.order!r} must be a list of features.")
        rows = as_rows(self.background_)
        names, named = rows.names, rows.named
        groups = resolve_groups(self.feature_groups, names, named=named)
        entries = resolve_features(
            list(self.order), names, named=named, groups=groups, parameter="order"
        )
        # Players by the name of a group, or by their single column.
        players: dict[int | str, int] = {
            name: self.features_.index(tuple(columns))
            for name, columns in groups.items()
        }
        for player, columns in enumerate(self.features_):
            if len(columns) == 1:
                players[columns[0]] = player
        missing = set(range(len(self.features_)))
        for key in chain.from_iterable(entries):
            if players.get(key) not in missing:
                name = key if isinstance(key, str) else names[key]
                reason = "there twice" if key in players else "in a group"
                raise ValueError(f"order has {name!r}, which is {reason}.")
            missing.remove(players[key])
        if missing:
            lacking = ", ".join(repr(self.player_names_[j]) for j in sorted(missing))
            raise ValueError(f"order must name all features; it lacks {lacking}.")
        return [tuple(players[key] for key in entry) for entry in entries]


@dataclass(frozen=True)
class _PathAttributor(Attributor):
    """Attributions along a path, the same for all rows or a greedy one for each."""

    path: list[Step] | None = None  # None: greedy
    with_pairs: bool = False  # in greedy paths

    def n_coalitions(self, n_players: int) -> int:
        """Each single player, and each pair if pairs may be steps."""
        n_pairs = n_players * (n_players - 1) // 2
        return n_players + n_pairs * self.with_pairs

    def n_asked(self, n_players: int) -> int:
        """Those of the candidates of a greedy path, and of the path."""
        n_candidates = 0 if self.path is not None else self.n_coalitions(n_players)
        return n_candidates + n_players - 1

    def fewest_coalitions(self, n_players: int) -> int:
        """All: there are no fewer."""
        return self.n_asked(n_players)

    def attribute(
        self, game: ResponseGame, row_games: ResponseRowGames
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]]]:
        """Attributions, and the step at which each player was added.

        Players of one step share its contribution equally.
        """
        n_rows, n_players = row_games.active.shape
        progress = phases(1 + (self.path is None))
        if self.path is None:
            next(progress)
            paths = list(self._greedy_paths(game, row_games))
        else:
            paths = [self.path] * n_rows
        step_numbers = np.empty((n_rows, n_players), dtype=np.intp)
        for numbers, path in zip(step_numbers, paths, strict=True):
            for number, step in enumerate(path):
                numbers[list(step)] = number
        # Only active players, which differ from the background, have contributions.
        active_paths = [
            [step for step in path if active[list(step)].any()]
            for path, active in zip(paths, row_games.active, strict=True)
        ]
        values = np.zeros((n_rows, n_players, len(game.base_values)))
        next(progress)
        contributions = _contributions(game, row_games, active_paths)
        for row, row_contributions in enumerate(contributions):
            pairs = zip(active_paths[row], row_contributions, strict=True)
            for step, contribution in pairs:
                values[row, list(step)] = contribution / len(step)
        return values, {"step_numbers": step_numbers}

    def _candidate_steps(self, n_players: int) -> list[Step]:
        """Possible steps: each player, then each pair of players."""
        singles = ((player,) for player in range(n_players))
        pairs = combinations(range(n_players), 2) if self.with_pairs else ()
        return [*singles, *pairs]

    def _coalitions_of_candidate_steps(self, n_players: int) -> NDArray[np.bool_]:
        """The players of each candidate, (n_candidates, n_players)."""
        steps = self._candidate_steps(n_players)
        coalitions = np.zeros((len(steps), n_players), dtype=bool)
        for coalition, step in zip(coalitions, steps, strict=True):
            coalition[list(step)] = True
        return coalitions

    def _greedy_paths(
        self, game: ResponseGame, row_games: ResponseRowGames
    ) -> Iterator[list[Step]]:
        """Steps of each row: steps of its active players, then the other players."""
        empty = game.base_values
        values_by_row = row_games.values_by_design(self._coalitions_of_candidate_steps)
        for (players, values), active in zip(
            values_by_row, row_games.active, strict=True
        ):
            steps = self._candidate_steps(len(players))
            effects = values - empty
            single_effects, pair_effects = np.split(effects, [len(players)])  # views
            if len(pair_effects):
                # Inclusion and exclusion: v(ij) - v(i) - v(j) + v(empty).
                pairs = np.array(steps[len(players) :])
                pair_effects -= single_effects[pairs].sum(axis=1)
                size = np.abs(empty) + np.abs(values).max(axis=0)
                pair_effects[np.abs(pair_effects) <= _RELATIVE_ROUNDING * size] = 0
            path = [
                tuple(players[list(step)].tolist())
                for step in _greedy_path(steps, effects)
            ]
            yield path + [(player,) for player in np.flatnonzero(~active).tolist()]


def _greedy_path(steps: list[Step], effects: NDArray[np.float64]) -> list[Step]:
    """Steps by falling size, without those of players that an earlier step has added.

    The size is the mean square of the effects (n_steps, k) over outputs.
    """
    sizes = np.square(effects).mean(axis=1)
    sizes = np.round(sizes / (sizes.max(initial=0.0) or 1.0), _TIE_DECIMALS)
    path: list[Step] = []
    players: set[int] = set()
    for position in np.argsort(-sizes, kind="stable"):
        if players.isdisjoint(steps[position]):
            path.append(steps[position])
            players.update(steps[position])
    return path


def _contributions(
    game: ResponseGame, row_games: ResponseRowGames, paths: list[list[Step]]
) -> Iterator[NDArray[np.float64]]:
    """Yield the contributions of the steps of each row, (n_steps, k)."""
    n_players = row_games.active.shape[1]
    rows, members = [], []
    for row, path in enumerate(paths):
        present = np.zeros(n_players, dtype=bool)
        for step in path[:-1]:  # the value after the last step is the prediction
            present[list(step)] = True
            rows.append(row)
            members.append(present.copy())
    coalitions = np.array(members, dtype=bool).reshape(-1, n_players)
    values = row_games.coalition_values(np.array(rows, dtype=np.intp), coalitions)
    start = 0
    for path, prediction in zip(paths, row_games.predictions, strict=True):
        stop = start + max(len(path) - 1, 0)
        along_path = np.vstack([game.base_values, values[start:stop], prediction])
        # An empty path has the base value and the prediction, but no step.
        yield np.diff(along_path, axis=0)[: len(path)]
        start = stop
