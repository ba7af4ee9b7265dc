"""Break-down of predictions along one order of the features."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._explanation import Explanation
from sklearn_interpret._model.containers import as_rows
from sklearn_interpret._model.features import resolve_features, resolve_groups
from sklearn_interpret._model.seams import StrOptions
from sklearn_interpret.shapley._base_coalitional import BaseCoalitional
from sklearn_interpret.shapley._walks import GivenWalk, GreedyWalk, PairingWalk


@dataclass(frozen=True, eq=False, repr=False)
class BreakDownExplanation(Explanation):
    """Attributions along one order of the features for each row.

    Parameters
    ----------
    values, base_values, predictions, data, feature_names, output_names : object
        As in :class:`~sklearn_interpret.base.Explanation`.
    standard_errors, columns : object
        As there.
    step_numbers : array-like of shape (n_rows, n_features), default=None
        The step, counted from 0, at which each feature came in. Features that came in
        together have the same, and their values share what the step added. None takes
        the features in their order.

    See Also
    --------
    BreakDown : Makes such explanations.

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
            return PairingWalk() if self.interactions else GreedyWalk()
        if self.interactions:
            raise ValueError(
                'interactions=True looks for pairs in order="greedy"; in an order that '
                "is given, name pairs as tuples, and pass interactions=False."
            )
        return GivenWalk(self._given_path())

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
