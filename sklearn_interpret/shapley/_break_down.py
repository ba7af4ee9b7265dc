"""Break-down of predictions along one order of the features."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.rows.features import resolve_features, resolve_groups
from sklearn_interpret.shapley._base_coalitional import BaseCoalitional, Valuer
from sklearn_interpret.shapley._base_explanation import BreakDownExplanation

# Interactions that are smaller than this, relative to the responses that they are
# differences of, are rounding.
_ROUNDING = 1e-12
# Squares that agree so far, relative to the largest, are the same.
_DIGITS = 12


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
        What is made of mean responses before they are compared.
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
        Draws the subsample.
    n_jobs : int or None, default=None
        Workers.
    verbose : int, default=0
        Verbosity of the loop.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    base_values_ : float or ndarray of shape (k,)
        The link of the mean response over the background.
    background_ : {ndarray, sparse matrix, DataFrame}
        The rows of the background.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean absolute attribution over the rows of `fit` that were drawn, mean over
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
        In `fit`: an order that has not every feature once, or has interactions beside
        it; a fitted model passed bare without `y`.

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
    it. What a pair's step adds is shared equally between the two in ``values``;
    ``explanation.steps(row)`` tells which came in together.

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
        self.order = order
        self.interactions = interactions

    def _make_valuer(self):
        if isinstance(self.order, str):
            return _PairingWalk() if self.interactions else _GreedyWalk()
        if self.interactions:
            raise ValueError(
                'interactions=True looks for pairs in order="greedy"; in an order that '
                "is given, name pairs as tuples, and pass interactions=False."
            )
        return _GivenWalk(self._given_path())

    def _given_path(self):
        """Players of each step of an order that the user gave."""
        rows = as_rows(self.background_)
        named = {"named": rows.named}
        groups = resolve_groups(self.feature_groups, rows.names, **named)
        entries = resolve_features(
            list(self.order), rows.names, groups=groups, parameter="order", **named
        )
        place = {
            part: player
            for player, columns in enumerate(self.features_)
            for part in (columns if len(columns) == 1 else ())
        }
        for name, columns in groups.items():
            place[name] = self.features_.index(tuple(columns))
        path, missing = [], dict.fromkeys(range(len(self.features_)))
        for entry in entries:
            for part in entry:
                player = place.get(part)
                if player is None or player not in missing:
                    shown = part if isinstance(part, str) else rows.names[part]
                    reason = "in a group" if player is None else "there twice"
                    raise ValueError(f"order has {shown!r}, which is {reason}.")
                del missing[player]
            path.append(tuple(place[part] for part in entry))
        if missing:
            names = ", ".join(repr(self.player_names_[player]) for player in missing)
            raise ValueError(f"order must name all features; it lacks {names}.")
        return tuple(path)

    def explain(self, X: Any) -> BreakDownExplanation:
        """Share out the response to each row along its order.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        BreakDownExplanation
            Values of shape (n_samples, n_players[, n_outputs]), which together with the
            base values sum to the predictions; and the steps of each row.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        parts = zip(*self._shared(_walked, self._valuer, rows), strict=True)
        values, predictions, steps = map(np.concatenate, parts)
        return self._explanation(
            rows,
            values,
            predictions,
            kind=BreakDownExplanation,
            step_numbers=steps,
        )


def _walked(walk, game, rows):
    played = game.play(rows)
    values, steps = walk.walk(game, played)
    return values, played.predictions, steps


class _Walk(Valuer):
    """Lets players come in along one order for each row.

    A subclass says which (`_paths`).
    """

    def values(self, game, played):
        """Attributions of rows, and None for their standard errors.

        Parameters
        ----------
        game, played : CoalitionGame, PlayedRows
            The game and the rows.
        """
        values, _ = self.walk(game, played)
        return values, None

    def walk(self, game, played):
        """Attributions of rows, and at which step each player came in.

        Parameters
        ----------
        game, played : CoalitionGame, PlayedRows
            The game and the rows.

        Returns
        -------
        values : ndarray of shape (m, n_players, k)
            Players that come in together share equally.
        steps : ndarray of shape (m, n_players), intp
            Numbers of steps, from 0.
        """
        n_players = played.active.shape[1]
        paths = list(self._paths(game, played))
        steps = np.array([_numbers(path, n_players) for path in paths])
        # Only players that differ from the background add something.
        moves = [
            [step for step in path if active[list(step)].any()]
            for path, active in zip(paths, played.active, strict=True)
        ]
        gains = self._gains(game, played, moves)
        values = np.zeros((played.n_rows, n_players, played.predictions.shape[1]))
        for row, (path, gained) in enumerate(zip(moves, gains, strict=True)):
            for step, gain in zip(path, gained, strict=True):
                values[row, list(step)] = gain / len(step)
        return values, steps

    @abstractmethod
    def _paths(self, game, played):
        """Steps of each row in order, tuples of players, all of them once."""

    def _gains(self, game, played, paths):
        """What each step of each row adds, (n_steps, k)."""
        which, coalitions = [], []
        for row, path in enumerate(paths):
            present = np.zeros(played.active.shape[1], dtype=bool)
            for step in path[:-1]:  # all together are the prediction
                present[list(step)] = True
                which.append(row)
                coalitions.append(present.copy())
        shape = len(which), played.active.shape[1]
        coalitions = np.array(coalitions, dtype=bool).reshape(shape)
        worth = played.values(np.array(which, dtype=np.intp), coalitions)
        start = 0
        for row, path in enumerate(paths):
            stop = start + max(len(path) - 1, 0)
            on_the_way = worth[start:stop], played.predictions[row : row + 1]
            levels = np.concatenate([game.base_values[None], *on_the_way])
            yield np.diff(levels, axis=0)[: len(path)]
            start = stop


def _numbers(path, n_players):
    numbers = np.empty(n_players, dtype=np.intp)
    for number, step in enumerate(path):
        numbers[list(step)] = number
    return numbers


@dataclass(frozen=True)
class _GivenWalk(_Walk):
    """The same order for all rows.

    Parameters
    ----------
    path : tuple of tuple of int
        Players of each step.
    """

    path: tuple

    def n_coalitions(self, n_players):
        """As many as there are steps."""
        return len(self.path)

    def _paths(self, game, played):
        return [self.path] * played.n_rows


class _GreedyWalk(_Walk):
    """From the player that alone adds most to the one that alone adds least."""

    def n_coalitions(self, n_players):
        """Each alone; later as many steps."""
        return n_players

    def _paths(self, game, played):
        designed = played.designed(self._design)
        for (players, worth), active in zip(designed, played.active, strict=True):
            # What each entry adds alone: all outputs count, as a mean square.
            path = _greedy(*self._entries(len(players), worth, game.base_values))
            moved = [tuple(players[list(step)].tolist()) for step in path]
            yield moved + [(player,) for player in np.flatnonzero(~active).tolist()]

    def _design(self, n_players):
        return np.eye(n_players, dtype=bool)

    def _entries(self, n_players, worth, base):
        """Candidates for a step, and what is theirs alone, (n_entries, k)."""
        return [(player,) for player in range(n_players)], worth - base


class _PairingWalk(_GreedyWalk):
    """The same, where pairs whose interaction is larger come in together."""

    def n_coalitions(self, n_players):
        """Each alone and each pair."""
        return n_players * (n_players + 1) // 2

    def _design(self, n_players):
        alone = super()._design(n_players)
        pairs = np.array(list(combinations(range(n_players), 2)), dtype=np.intp)
        first, second = pairs.reshape(-1, 2).T
        return np.concatenate([alone, alone[first] | alone[second]])

    def _entries(self, n_players, worth, base):
        entries, alone = super()._entries(n_players, worth[:n_players], base)
        pairs = list(combinations(range(n_players), 2))
        first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        together = worth[n_players:] - base - alone[first] - alone[second]
        size = np.abs(base) + np.abs(worth).max(axis=0, initial=0.0)
        together[np.abs(together) <= _ROUNDING * size] = 0
        return entries + pairs, np.concatenate([alone, together])


def _greedy(entries, gains):
    """Entries from large to small; each player comes in with the first that has it."""
    sizes = np.square(gains).mean(axis=1)
    # Ties must not hang on rounding.
    sizes = np.round(sizes / (sizes.max(initial=0.0) or 1.0), _DIGITS)
    path, taken = [], set()
    for place in np.argsort(-sizes, kind="stable"):
        entry = entries[place]
        if taken.isdisjoint(entry):
            path.append(entry)
            taken.update(entry)
    return path
