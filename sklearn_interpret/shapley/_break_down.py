"""Break-down of predictions along one order of the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_features, resolve_groups
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley._base import BaseCoalitional, Valuer

# Interactions smaller than this, relative to the responses that they are differences
# of, are rounding.
_ROUNDING = 1e-12
# Squares that agree in so many digits, relative to the largest, are ties.
_DIGITS = 12


@dataclass(frozen=True, eq=False, repr=False)
class BreakDownExplanation(Explanation):
    """Attributions along one order of the features for each row.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_features[, n_outputs])
        What each feature gave to each response, in the response's unit.
    base_values : array-like of shape (n_rows[, n_outputs])
        Where the steps start from: the response without any feature.
    predictions, data, feature_names, output_names : array-like, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    response_name, target_name : str, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    standard_errors, columns, approximation : array-like or str, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    value_name : str, default="contribution"
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    step_numbers : array-like of shape (n_rows, n_features), default=None
        The step, counted from 0, at which each feature came in. Features that came in
        together have the same, and their values share what the step added. None takes
        the features in their order.

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
    step_numbers: Any = field(default=None, kw_only=True)

    _arrays_by_row: ClassVar[tuple] = (*Explanation._arrays_by_row, "step_numbers")

    def __post_init__(self):
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
        """Positions of the features that came in at each step of a row, in order.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        list of tuple of int
            One position for most steps, two for those of a pair.
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


class BreakDown(BaseCoalitional):
    """Attributions along one order of the features.

    Features come in one after the other, and each gets what the mean response changes
    by:

    .. math:: \\mathrm{value}_{\\pi(t)} = v(\\{\\pi(1), ..., \\pi(t)\\})
        - v(\\{\\pi(1), ..., \\pi(t - 1)\\})

    v(S) is the mean response where the features in S are the row's own and the others
    come together from the rows of the background. Base value and attributions sum to
    the prediction.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    order : "greedy" or list, default="greedy"
        "greedy" takes features from the one that alone changes the mean response most
        to the one that does least, in an order of each row's own. A list of all
        features and groups, by name or position, is the order for all rows; a pair of
        them in it is one step.
    interactions : bool, default=False
        Whether pairs whose interaction is larger than what either feature does alone
        come in together, in a greedy order.
    link : {"identity", "logit"}, default="identity"
        What is made of mean responses before they are shared out; "logit" takes
        probabilities to log-odds, those of 0 and 1 to -36 and 36, with a warning.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows to take absent features from; all are used, and weigh the same. None draws
        `subsample` of the rows of `fit`, with their weights.
    feature_groups : dict of str to list, default=None
        Features that are one player of the game together.
    response_method : str, list of str or callable, default="auto"
        "auto" takes `predict` of regressors, and of classifiers `predict_proba` or else
        `decision_function`. Or names of methods, of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label or int, default=None
        Output to keep. None keeps the only one, the positive class of a binary
        classifier, or all.
    subsample : int, float or None, default=100
        How many rows of `fit` serve as background: a number, a share, or all.
    random_state : int, RandomState or None, default=None
        Draws the subsample.
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
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute attribution over the drawn rows of `fit`, and over outputs.
        Computed on first access.
    features_, player_names_ : list
        Columns and name of each player.
    response_method_, output_names_ : str or callable, list
        What is explained; class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    ValueError
        In `fit`: an order that lacks or repeats a feature, or `interactions` with one.

    Warns
    -----
    SaturatedResponseWarning
        With ``link="logit"``, mean responses of 0 or 1, which are clipped.

    See Also
    --------
    ShapleyWaterfallDisplay : Draws the steps in their order.

    Notes
    -----
    The values depend on the order; Shapley values are their average over all orders.
    Features that are the same in the row and in all of the background add nothing, and
    come last in a greedy order. With several outputs there is one order for all, by the
    mean square over outputs; `target` gives an output its own.

    With interactions, what a feature does alone, :math:`v(i) - v(\\emptyset)`, and what
    two do together beyond that, :math:`v(ij) - v(i) - v(j) + v(\\emptyset)`, are put in
    one list from large to small, and a feature comes in with the first entry that has
    it. In ``values`` a pair shares equally what its step adds; `explain` returns a
    :class:`BreakDownExplanation`, whose ``steps(row)`` tells which came in together.

    For p features a row takes about 2 p times the background's rows, with interactions
    about :math:`p^2 / 2` times.

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

    _parameter_constraints = {
        **BaseCoalitional._parameter_constraints,
        "order": [StrOptions({"greedy"}), list, tuple, np.ndarray],
        "interactions": ["boolean"],
    }
    _explanation_class: ClassVar[type] = BreakDownExplanation

    def __init__(
        self,
        estimator: Any,
        *,
        order: str | Sequence[Any] = "greedy",
        interactions: bool = False,
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
        self.estimator = estimator
        self.order = order
        self.interactions = interactions
        self.link = link
        self.background = background
        self.feature_groups = feature_groups
        self.response_method = response_method
        self.target = target
        self.subsample = subsample
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _make_valuer(self):
        if isinstance(self.order, str):
            return _Steps(with_pairs=self.interactions)
        if self.interactions:
            raise ValueError(
                'interactions=True looks for pairs in order="greedy"; in an order that '
                "is given, name pairs as tuples, and pass interactions=False."
            )
        return _Steps(path=self._given_path())

    def _given_path(self):
        """Players of each step of an order that the user gave."""
        if isinstance(self.order, np.ndarray) and self.order.ndim == 0:
            raise ValueError(f"order={self.order!r} must be a list of features.")
        rows = as_rows(self.background_)
        named = {"named": rows.named}
        groups = resolve_groups(self.feature_groups, rows.names, **named)
        entries = resolve_features(
            list(self.order), rows.names, groups=groups, parameter="order", **named
        )
        players = {name: self.features_.index(tuple(groups[name])) for name in groups}
        for player, columns in enumerate(self.features_):
            if len(columns) == 1:
                players[columns[0]] = player
        missing = set(range(len(self.features_)))
        for part in (part for entry in entries for part in entry):
            if players.get(part) not in missing:
                shown = part if isinstance(part, str) else rows.names[part]
                reason = "there twice" if part in players else "in a group"
                raise ValueError(f"order has {shown!r}, which is {reason}.")
            missing.remove(players[part])
        if missing:
            names = ", ".join(repr(self.player_names_[j]) for j in sorted(missing))
            raise ValueError(f"order must name all features; it lacks {names}.")
        return tuple(tuple(players[part] for part in entry) for entry in entries)


@dataclass(frozen=True)
class _Steps(Valuer):
    """Lets players come in step by step, one or two at a time.

    Along `path`, a tuple of tuples of players; None takes a greedy order for each row,
    with pairs or without.
    """

    path: tuple | None = None
    with_pairs: bool = False

    def n_coalitions(self, n_players):
        """Each player alone and, for pairs, each two; or as many as there are steps."""
        n_pairs = n_players * (n_players - 1) // 2
        return n_players + n_pairs * self.with_pairs

    def values(self, game, played):
        """Attributions, and at which step each player came in.

        Players that come in together share equally.
        """
        n_rows, n_players = played.active.shape
        paths = [self.path] * n_rows
        if self.path is None:
            paths = list(self._greedy_paths(game, played))
        step_numbers = np.empty((n_rows, n_players), dtype=np.intp)
        for numbers, path in zip(step_numbers, paths, strict=True):
            for number, step in enumerate(path):
                numbers[list(step)] = number
        # Only players that differ from the background add something.
        moves = [
            [step for step in path if active[list(step)].any()]
            for path, active in zip(paths, played.active, strict=True)
        ]
        values = np.zeros((n_rows, n_players, len(game.base_values)))
        gains = _gains(game, played, moves)
        for row, (path, gained) in enumerate(zip(moves, gains, strict=True)):
            for step, gain in zip(path, gained, strict=True):
                values[row, list(step)] = gain / len(step)
        return values, {"step_numbers": step_numbers}

    def _candidates(self, n_players):
        """Possible steps: each player and, after these, each pair."""
        singles = [(player,) for player in range(n_players)]
        pairs = list(combinations(range(n_players), 2)) if self.with_pairs else []
        return singles + pairs

    def _design(self, n_players):
        steps = self._candidates(n_players)
        design = np.zeros((len(steps), n_players), dtype=bool)
        for coalition, step in zip(design, steps, strict=True):
            coalition[list(step)] = True
        return design

    def _greedy_paths(self, game, played):
        """For each row its active players' steps, then the other players."""
        base = game.base_values
        designed = played.designed(self._design)
        for (players, worth), active in zip(designed, played.active, strict=True):
            steps = self._candidates(len(players))
            gains = worth - base
            alone, together = gains[: len(players)], gains[len(players) :]
            if len(together):
                together -= alone[np.array(steps[len(players) :])].sum(axis=1)
                size = np.abs(base) + np.abs(worth).max(axis=0)
                together[np.abs(together) <= _ROUNDING * size] = 0
            path = _largest_first(steps, gains)
            moved = [tuple(players[list(step)].tolist()) for step in path]
            yield moved + [(player,) for player in np.flatnonzero(~active).tolist()]


def _largest_first(steps, gains):
    """Steps from large to small; each player comes in with the first that has it.

    All outputs count, as a mean square of the gains (n_steps, k).
    """
    sizes = np.square(gains).mean(axis=1)
    # Rounding must not break ties.
    sizes = np.round(sizes / (sizes.max(initial=0.0) or 1.0), _DIGITS)
    path, taken = [], set()
    for place in np.argsort(-sizes, kind="stable"):
        if taken.isdisjoint(steps[place]):
            path.append(steps[place])
            taken.update(steps[place])
    return path


def _gains(game, played, paths):
    """Contributions of the steps of each row, (n_steps, k)."""
    n_players = played.active.shape[1]
    rows, coalitions = [], []
    for row, path in enumerate(paths):
        present = np.zeros(n_players, dtype=bool)
        for step in path[:-1]:  # all together are the prediction
            present[list(step)] = True
            rows.append(row)
            coalitions.append(present.copy())
    coalitions = np.array(coalitions, dtype=bool).reshape(-1, n_players)
    worth = played.values(np.array(rows, dtype=np.intp), coalitions)
    start = 0
    for path, prediction in zip(paths, played.predictions, strict=True):
        stop = start + max(len(path) - 1, 0)
        levels = np.vstack([game.base_values, worth[start:stop], prediction])
        yield np.diff(levels, axis=0)[: len(path)]
        start = stop
