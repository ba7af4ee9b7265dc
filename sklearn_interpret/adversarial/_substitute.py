"""Attack on a model by way of a substitute that imitates it (Papernot et al. 2017)."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from sklearn_interpret._core.statistics.losses import agreement
from sklearn_interpret._core.statistics.weighted import known_moments
from sklearn_interpret._model._sklearn_compat import HasMethods, Interval
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.actions.target import TargetOutcome
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.surrogates.surrogate_predictions import fit_surrogate
from sklearn_interpret.adversarial._base import AttackResult, BaseAttack
from sklearn_interpret.adversarial._projected_gradient import ProjectedGradient

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.adversarial._base import BaseGradientAttack

# Steps of the default substitute, a network.
_MAX_ITER = 300
# Share of the distinct rows that are never seeds: the agreement is measured on them.
_HELD_OUT = 0.1


@dataclass(eq=False, repr=False)
class SubstituteAttack(BaseAttack):
    r"""Attack on a substitute that has learned the model's labels (Papernot et al.).

    The model is a black box: it is asked for labels alone. A model with slopes learns
    them, and is attacked in its place; many rows that fool it fool the model too.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    attack : attack or None, default=None
        The attack on the substitute, around anything, such as
        ``ProjectedGradient(None, epsilon=0.2)``. Its parameters say what the target is
        and what may change. None takes :class:`ProjectedGradient`.
    substitute : estimator or None, default=None
        The model that learns; a clone of it is fitted. None takes a multi-layer
        perceptron of scaled columns. Columns of categories are encoded for one that
        does not take them.
    n_seeds : int, default=100
        Number of rows of `fit` that the model is asked about; a tenth of the distinct
        rows, and at least one, are left for `agreement_`.
    n_rounds : int, default=2
        Number of rounds that add rows. Each doubles them, and the queries.
    step_size : float, default=0.1
        Distance of added rows from those that they come from, in standard deviations of
        each number.
    max_queries : int or None, default=None
        Largest number of rows sent to the model to be learned; None sets no limit.
    random_state : int, RandomState or None, default=None
        Draws the seeds; also that of `attack` and `substitute` where they have None.
    n_jobs : int or None, default=None
        Workers, which share the rows.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    substitute_ : estimator
        The fitted substitute; a :class:`~sklearn.dummy.DummyClassifier` where the model
        gives all seeds one label, and nothing is found.
    attack_ : attack
        The attack, fitted around the substitute.
    n_queries_ : int
        How many rows the model was asked about for the substitute to learn.
    agreement_ : float
        Share of the rows of `fit` that were no seeds on which both give the same label,
        or both a prediction inside or outside of the interval; of all rows if these are
        equal. The queries for it are not counted.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: a substitute without slopes, or one that the attack does not take.
    ValueError
        In `fit`: no row of the target class among those that the model was asked about,
        and what the attack refuses.
    TypeError
        In `fit`: an `attack` that is not an attack, a sparse table.

    See Also
    --------
    HopSkipJump : Asks the model for labels as well, many for each row.

    Notes
    -----
    With the labels O(x) of the model, and the substitute's scores f, the rows S
    become, in each round,

    .. math:: S \cup \{x + \lambda\,\mathrm{sign}\,\nabla (f_k - f_{O(x)})(x)
        : x \in S\},

    k being the best other class at x: rows are added on the way to the boundary. The
    numbers move by `step_size` standard deviations, whole ones by one at least, within
    the bounds of the attack; of a regressor, the way that its prediction rises.

    Rows are led away from the label that the substitute gives them. `valid`, and the
    robust scores, are what the model says. Where the attack has a budget, the sizes of
    a robustness curve take its place.

    References
    ----------
    Papernot, N., McDaniel, P., Goodfellow, I., Jha, S., Celik, Z. B. & Swami, A.
    (2017). Practical black-box attacks against machine learning. ASIA CCS.
    https://doi.org/10.1145/3052973.3053009

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn_interpret.adversarial import ProjectedGradient, SubstituteAttack
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> attack = SubstituteAttack(
    ...     RandomForestClassifier(20, random_state=0),
    ...     attack=ProjectedGradient(None, epsilon=0.5, random_state=0),
    ...     n_seeds=30,
    ...     n_rounds=2,
    ...     random_state=0,
    ... ).fit(X, y)
    >>> attack.n_queries_
    120
    >>> bool(attack.agreement_ > 0.9)
    True
    >>> attack.score(X, y) > attack.robust_score(X, y)
    True
    """

    estimator: Any
    _: KW_ONLY
    attack: Any = None
    substitute: Any = None
    n_seeds: int = 100
    n_rounds: int = 2
    step_size: float = 0.1
    max_queries: int | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    substitute_: Any = field(init=False)
    attack_: BaseAttack = field(init=False)
    n_queries_: int = field(init=False)
    agreement_: float = field(init=False)

    _parameter_constraints = {
        **BaseAttack._parameter_constraints,
        "attack": [BaseAttack, None],
        "substitute": [HasMethods(["fit", "predict"]), None],
        "n_seeds": [Interval(Integral, 1, None, closed="left")],
        "n_rounds": [Interval(Integral, 0, None, closed="left")],
        "step_size": [Interval(Real, 0, None, closed="neither")],
        "max_queries": [Interval(Integral, 1, None, closed="left"), None],
    }

    def _default_sizes(self, budget: str) -> NDArray[np.float64]:
        return self.attack_._default_sizes(budget)

    def _with_size(self, size: float) -> SubstituteAttack:
        limited = copy(self)
        limited.attack_ = self.attack_._with_size(size)
        return limited

    def _make_response(self) -> Any:
        random = check_random_state(self.random_state)
        self._seed = random.randint(2**31)
        attack = ProjectedGradient(None) if self.attack is None else self.attack
        self.attack_ = _clone_with_seed(attack, self._seed)
        self._budget = attack._budget
        # The attack's target, as a target of the model instead of the substitute.
        attack_on_model = copy(self.attack_)
        attack_on_model.estimator_ = self.estimator_
        return attack_on_model._make_response()

    def _make_actionability(
        self, rows: Rows, weights: NDArray[np.float64]
    ) -> Actionability:
        return self.attack_._make_actionability(rows, weights)

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        seeds, held_out = self._draw_seeds(sample, actionability)
        learned = sample.rows.take(seeds)  # rows that the substitute is fitted to
        labels = _predict_labels(outcome, learned.native)
        moments = known_moments(actionability.encode(sample.rows), sample.weights)
        moves = self.step_size * np.sqrt(moments.variance)
        moves = np.where(actionability.integer, np.maximum(np.rint(moves), 1), moves)
        self._learn(learned, labels, outcome)
        for _ in with_progress(range(self.n_rounds)):
            room = (self.max_queries or np.inf) - learned.n_rows
            if room <= 0 or self._is_blank:
                break
            added = self._augment_rows(learned, labels, actionability, moves)
            if room < added.n_rows:
                added = added.take(np.arange(room) * added.n_rows // room)
            labels = np.concatenate([labels, _predict_labels(outcome, added.native)])
            learned = learned.followed_by(added)
            self._learn(learned, labels, outcome)
        self.n_queries_ = learned.n_rows
        self.agreement_ = self._agreement(sample, outcome, held_out)
        classes: Any = outcome.response.classes
        wanted = outcome.wanted
        if wanted is not None and classes[wanted] not in labels:
            raise ValueError(
                f"n_seeds={self.n_seeds}: none of {len(labels)} labels of the model is "
                f"target={self.attack_.target!r}. Pass more seeds."
            )
        self.attack_.set_params(estimator=FrozenEstimator(self.substitute_))
        if outcome.interval is not None:
            self.attack_.set_params(target=None)  # it learned one output
        if not self._is_blank:
            self.attack_.fit(sample.rows.native, sample_weight=sample.weights)

    def _draw_seeds(
        self, sample: Sample, actionability: Actionability
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Positions of seeds, drawn by weight, and of all rows that equal no seed.

        Seeds are evenly spaced in the sorted rows: a row of weight two counts as two
        rows.
        """
        values = actionability.encode(sample.rows)
        # Equal rows are a group.
        _, first_of_group, group = np.unique(
            values, axis=0, return_index=True, return_inverse=True
        )
        group = group.reshape(-1)
        ends = np.cumsum(np.bincount(group, sample.weights))
        n_seeds = min(self.n_seeds, self.max_queries or self.n_seeds)
        start = np.random.RandomState(self._seed).uniform()
        points = (np.arange(n_seeds) + start) / n_seeds * ends[-1]
        groups = np.unique(np.minimum(np.searchsorted(ends, points), len(ends) - 1))
        n_held_out = max(1, int(_HELD_OUT * len(ends)))
        max_groups = max(len(ends) - n_held_out, 1)
        if len(groups) > max_groups:
            groups = groups[np.arange(max_groups) * len(groups) // max_groups]
        is_held_out = ~np.isin(group, groups)
        if not is_held_out.any():  # all rows are equal
            is_held_out[:] = True
        return first_of_group[groups], np.flatnonzero(is_held_out)

    def _learn(self, rows: Rows, labels: NDArray[Any], outcome: TargetOutcome) -> None:
        """Set `substitute_`, fitted to labels of rows."""
        substitute = self.substitute
        self._is_blank = outcome.interval is None and (labels == labels[0]).all()
        if self._is_blank:
            substitute = DummyClassifier()
        elif substitute is None:
            kind = MLPRegressor if outcome.interval is not None else MLPClassifier
            substitute = make_pipeline(StandardScaler(), kind(max_iter=_MAX_ITER))
        substitute = _clone_with_seed(substitute, self._seed)
        with warnings.catch_warnings():
            # The substitute need not converge.
            warnings.simplefilter("ignore", ConvergenceWarning)
            weights = np.ones(rows.n_rows)
            self.substitute_ = fit_surrogate(substitute, rows, labels, weights)

    def _augment_rows(
        self,
        rows: Rows,
        labels: NDArray[Any],
        actionability: Actionability,
        moves: NDArray[np.float64],
    ) -> Rows:
        """New rows: each of some rows, moved towards the boundary of the substitute."""
        model = self.substitute_
        classes = getattr(model, "classes_", None)
        if classes is None:
            outcome = TargetOutcome(
                model, make_response(model, "predict"), (0.0, np.inf)
            )
        else:
            methods = ["decision_function", "predict_proba"]
            outcome = TargetOutcome(model, make_response(model, methods))
            classes = np.searchsorted(classes, labels)
        problem = SearchProblem(outcome, actionability, rows, classes)
        margins, index = Margins(problem), np.arange(rows.n_rows)
        rival, _ = margins.deciding_margin(
            margins.margins(rows.native, problem.classes)
        )
        rival = rival if classes is not None else np.zeros_like(rival)
        slopes = margins.slopes(problem, problem.values, index, rival)
        values = problem.projected(problem.values + moves * np.sign(slopes), index)
        return as_rows(problem.decode(values, index))

    def _agreement(
        self, sample: Sample, outcome: TargetOutcome, index: NDArray[np.intp]
    ) -> float:
        """Share of some rows on which the model and the substitute agree."""
        rows = sample.rows.take(index)
        labels = _predict_labels(outcome, rows.native)
        substitute_labels = self.substitute_.predict(rows.native)
        if outcome.interval is not None:
            low, high = outcome.interval
            labels, substitute_labels = (
                (low <= y) & (y <= high) for y in (labels, substitute_labels)
            )
        return agreement(labels, substitute_labels, sample.weights[index])

    def _attack(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        if self._is_blank:
            return AttackResult(problem.values[index])
        # The attack leaves the substitute's label, which may differ from the model's.
        substitute_problem = self.attack_._make_problem(problem.rows.take(index), None)
        return AttackResult(self.attack_._attack_all(substitute_problem).values)

    def _why_failed(self) -> str:
        if self._is_blank:
            return "the model gave all seeds one label"
        return "what was found for the substitute does not fool the model"


def _clone_with_seed(
    estimator: BaseEstimator | BaseGradientAttack, seed: int
) -> BaseEstimator | BaseGradientAttack:
    """A clone in which the seed replaces each `random_state` of None."""
    seeded = clone(estimator)
    unseeded_params = [
        name
        for name, value in seeded.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is None
    ]
    return seeded.set_params(**dict.fromkeys(unseeded_params, seed))


def _predict_labels(outcome: TargetOutcome, native: Any) -> NDArray[Any]:
    """Predictions of the model: labels, or numbers."""
    if outcome.interval is not None:
        return outcome.response(native)[:, 0]
    return outcome.response.labels(native)
