"""Targets: a class, a probability or an interval, of the response or of its sums.

A `TargetOutcome` is what a user asks for; `AskedRows` have a model's answers to rows. A
`SumTarget` is the same target as inequalities of the sums that a known response is a
function of: those of trees, or linear functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from sklearn_interpret._model.responses.predictors import (
    check_has_classes,
    is_classifier,
    unfrozen,
)
from sklearn_interpret._model.responses.response import (
    Contrast,
    Response,
    make_response,
)
from sklearn_interpret._model.rows.features import near_names
from sklearn_interpret._model.rows.plain import PlainState
from sklearn_interpret.exceptions import UnreadableModelError

# Inverses of the links from sums to responses.
_INVERSE: dict[str, Callable[[Any], Any]] = {
    "identity": lambda response: response,
    "logistic": logit,
    "exp": np.log,
}
# Relative difference of distances that count as equal: a few times the gap of programs.
SAME = 1e-6
_DOUBLE = np.finfo(np.float64).eps
# Rounding errors of a link in units of the precision: the sum, its scale, the link and
# its inverse round once each.
_ULPS = 4


class LinearSystem(NamedTuple):
    """Inequalities ``weights @ sums >= needs`` of k sums, all of which must hold."""

    weights: NDArray[np.float64]  # (m, k)
    needs: NDArray[np.float64]  # (m,)
    allows_equality: NDArray[np.bool_]  # (m,), else sums must exceed the need
    rounding: NDArray[np.float64]  # (m,), errors that the link adds, in units of sums


@dataclass(frozen=True)
class TargetOutcome:
    """The target of a model's answers, built by :meth:`of_model`.

    Parameters
    ----------
    estimator : fitted predictor
        The model.
    response : Response
        Scores of all classes, or one output.
    interval : (float, float) or None
        The target interval of the response; None for a class.
    wanted : int or None
        Position of the target class; None for any other than that of the row.
    """

    estimator: Any
    response: Response
    interval: tuple[float, float] | None = None
    wanted: int | None = None

    def __post_init__(self) -> None:
        for target in (self.response.target, self.wanted):
            if isinstance(target, Contrast):
                raise ValueError(
                    f"target: a contrast is not searched for: {target.name}"
                )

    @classmethod
    def of_model(cls, estimator: Any, desired: Any, target: Any = None) -> Self:
        """The target that `desired` names; a ValueError says what is accepted."""
        interval = _as_interval(desired)
        if not is_classifier(estimator):
            if interval is None:
                raise ValueError(
                    f"desired={desired!r}: a regressor takes an interval (low, high) "
                    "of the prediction, with None for an open end."
                )
            return cls(estimator, make_response(estimator, "predict", target), interval)
        if interval is not None:
            if not hasattr(estimator, "predict_proba"):
                raise ValueError(
                    f"desired={desired!r} is an interval of a probability, and "
                    f"{type(unfrozen(estimator)).__name__} has no predict_proba: pass "
                    'a class, or "other".'
                )
            check_has_classes(estimator)
            response = make_response(estimator, "predict_proba", target)
            if target is None and len(response.classes) > 2:
                raise ValueError(
                    f"desired={desired!r} is an interval of a probability, and the "
                    f"model has {len(response.classes)} classes: pass the class as "
                    "target."
                )
            return cls(estimator, response, interval)
        methods = ["decision_function", "predict_proba", "predict"]
        response = make_response(estimator, methods)
        classes = response.classes
        if not isinstance(classes, np.ndarray):
            check_has_classes(estimator)
            raise ValueError("desired needs a model of one set of classes.")
        if isinstance(desired, str) and desired == "other" and "other" not in classes:
            return cls(estimator, response)
        is_sequence = hasattr(desired, "__len__") and not isinstance(desired, str)
        is_sequence &= getattr(desired, "shape", None) != ()
        positions = [] if is_sequence else np.flatnonzero(classes == desired).tolist()
        if not positions:
            raise ValueError(
                f'desired={desired!r} is neither "other", nor an interval (low, high) '
                "of a probability, nor a class of the model; "
                f"{near_names(desired, classes.tolist(), 'its classes are')}"
                + " It holds for all rows: explain those of other targets apart."
                * is_sequence
            )
        return cls(estimator, response, wanted=positions[0])

    @property
    def is_other(self) -> bool:
        """Whether the target is any class but that of the row."""
        return self.interval is None and self.wanted is None

    def asked(self, X: Any) -> AskedRows:
        """Rows with the model's answers to them, which are computed when needed."""
        return AskedRows(self, X)


class AskedRows(PlainState):
    """Rows, and what a model says of them: each is asked once, when it is needed.

    Parameters
    ----------
    outcome : TargetOutcome
        The target, and the model.
    native : native container
        The rows.
    """

    def __init__(self, outcome: TargetOutcome, native: Any) -> None:
        self.outcome, self.native = outcome, native

    @cached_property
    def answers(self) -> Any:
        """Class positions (n,) that the model predicts; None for intervals."""
        if self.outcome.interval is not None:
            return None
        response = self.outcome.response
        if response.decides_answers:
            return self._class_scores.argmax(axis=1)
        return response.answers(self.native)

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """Scores (n, n_outputs) of rows; one output for an interval."""
        scores = self.outcome.response(self.native)
        if self.outcome.interval is not None and scores.shape[1] > 1:
            raise ValueError(
                f"target=None: the model has {scores.shape[1]} outputs, as y has "
                "columns: pass the index of the one that should change."
            )
        return scores

    @property
    def _class_scores(self) -> NDArray[np.float64]:
        """Scores (n, n_classes) of all classes."""
        if self.scores.shape[1] > 1:
            return self.scores
        log_odds = self.outcome.response.method == "decision_function"
        return np.hstack([-self.scores if log_odds else 1 - self.scores, self.scores])

    def margins(
        self, origin_classes: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        """Margins of the answers, (n,): not negative where they satisfy the target.

        `origin_classes` are the classes of the origins; the target "any other class"
        needs them.
        """
        outcome = self.outcome
        if outcome.interval is not None:
            low, high = outcome.interval
            return np.minimum(self.scores[:, 0] - low, high - self.scores[:, 0])
        scores = self._class_scores
        rows, rivals = np.arange(len(scores)), scores.copy()
        classes = (
            origin_classes if outcome.is_other else np.full(len(rows), outcome.wanted)
        )
        rivals[rows, classes] = -np.inf
        margins = scores[rows, classes] - rivals.max(axis=1)
        return -margins if outcome.is_other else margins

    def holds(
        self, origin_classes: NDArray[np.intp] | None = None
    ) -> NDArray[np.bool_]:
        """Whether the model's answers satisfy the target, (n,)."""
        if self.outcome.interval is not None:
            return self.margins() >= 0
        wanted = self.outcome.wanted
        if wanted is None:
            return self.answers != origin_classes
        return self.answers == wanted


@dataclass(frozen=True)
class SumTarget:
    """A target of the sums (k,) that a response is a function of.

    It holds where one of several systems, ``weights @ sums >= needs``, does.

    Parameters
    ----------
    n_sums : int
        Number of sums: one for two classes or an interval, or one per class.
    interval : (float, float) or None
        The target interval of one sum.
    wanted : int or None
        Position of the target class; None for any other.
    output : int
        Position of the sum that has the interval.
    margin : float
        Excess of the sums over their needs.
    rounding : (float, float)
        Rounding errors of the link, in units of the sums, at the ends of the interval.
    tied_class : {0, 1}
        Which of two classes wins where their one sum is zero.
    """

    n_sums: int
    interval: tuple[float, float] | None = None
    wanted: int | None = None
    output: int = 0
    margin: float = 0.0
    rounding: tuple[float, float] = (0.0, 0.0)
    tied_class: int = 0

    @classmethod
    def of_outcome(
        cls,
        outcome: TargetOutcome,
        n_sums: int,
        link: str | None,
        scale: float,
        margin: float,
        *,
        precision: float = _DOUBLE,
        tied_class: int = 0,
    ) -> Self:
        """The target of the sums whose `link` is the response of a `TargetOutcome`.

        `precision` is the machine epsilon of the numbers that the model returns.
        """
        link_error = _ULPS * precision
        if outcome.interval is None:
            n_classes = len(outcome.response.classes)
            if n_sums not in (n_classes, 1) or (n_sums == 1 and n_classes != 2):
                raise UnreadableModelError(
                    f"{n_sums} sums do not determine which of {n_classes} classes wins."
                )
            end_rounding = 0.0 if link == "identity" else link_error / scale
            return cls(
                n_sums,
                wanted=outcome.wanted,
                margin=margin,
                rounding=(end_rounding, end_rounding),
                tied_class=tied_class,
            )
        if link not in _INVERSE or (n_sums > 1 and link == "logistic"):
            raise UnreadableModelError(
                f"desired={outcome.interval!r} is an interval of a response that is no "
                "known function of a single sum; a class can be the target."
            )
        (low, high), rounding = outcome.interval, np.zeros(2)
        if link != "identity":
            if link == "logistic" and outcome.response.target == 0:
                low, high = 1 - high, 1 - low
            largest = 1 if link == "logistic" else np.inf
            ends = np.clip([low, high], 0, largest)
            with np.errstate(divide="ignore", invalid="ignore"):
                # The ends 0 and 1 of all responses stay: only rounding leads beyond.
                errors = np.fmin(link_error, np.fmin(ends, largest - ends) / 2)
                errors = link_error * ends if link == "exp" else errors
                inverse = _INVERSE[link]
                widened = inverse(ends + errors * [-1, 1]) / scale
                low, high = inverse(ends) / scale
                rounding = np.nan_to_num(np.abs(widened - [low, high]), posinf=0.0)
        # Where there is a sum for each output, the target's sum has the interval.
        output: Any = outcome.response.target or 0 if n_sums > 1 else 0
        errors_at_ends = float(rounding[0]), float(rounding[1])
        return cls(n_sums, (low, high), output, margin=margin, rounding=errors_at_ends)

    def systems(self, origin_class: int) -> list[LinearSystem]:
        """The systems any of which is enough, for a row of the class `origin_class`."""
        if self.interval is not None:
            low, high = self.interval
            weights, needs = np.zeros((2, self.n_sums)), np.array([low, -high])
            weights[:, self.output] = 1, -1
            # Infinite needs cannot be met; those of open ends are no needs.
            has_end = needs > -np.inf
            needs = needs[has_end] + self.margin
            rounding = np.array(self.rounding)[has_end]
            allows_equality = np.ones(len(needs), dtype=bool)
            return [LinearSystem(weights[has_end], needs, allows_equality, rounding)]
        if self.n_sums == 1:
            wanted = 1 - origin_class if self.wanted is None else self.wanted
            sign = 1.0 if wanted == 1 else -1.0
            allows_equality = np.array([wanted == self.tied_class])
            needs, rounding = np.array([self.margin]), np.array(self.rounding[:1])
            return [LinearSystem(np.array([[sign]]), needs, allows_equality, rounding)]
        if self.wanted is not None:
            others = np.delete(np.arange(self.n_sums), self.wanted)
            return [self._system_of_wins(np.full(len(others), self.wanted), others)]
        # To beat the class of the origin is enough: then another class wins.
        origin = np.array([origin_class])
        rivals = np.delete(np.arange(self.n_sums), origin_class)
        return [self._system_of_wins(np.array([rival]), origin) for rival in rivals]

    def _system_of_wins(
        self, winners: NDArray[np.intp], losers: NDArray[np.intp]
    ) -> LinearSystem:
        """The sum of each winning class exceeds that of a losing one."""
        indicators = np.eye(self.n_sums)
        # Where sums are equal, the first class wins.
        return LinearSystem(
            weights=indicators[winners] - indicators[losers],
            needs=np.full(len(winners), self.margin, dtype=np.float64),
            allows_equality=winners < losers,
            rounding=np.full(len(winners), self.rounding[0]),
        )


def _as_interval(desired: Any) -> tuple[float, float] | None:
    """An interval as two floats; None where `desired` is no interval."""
    if not isinstance(desired, tuple | list) or len(desired) != 2:
        return None
    if not all(end is None or _is_number(end) for end in desired):
        return None
    low = -np.inf if desired[0] is None else float(desired[0])
    high = np.inf if desired[1] is None else float(desired[1])
    if not low <= high or (low, high) == (-np.inf, np.inf):
        raise ValueError(
            f"desired={desired!r} must be an interval (low, high), low <= high, one "
            "of which may be None."
        )
    return low, high


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)
