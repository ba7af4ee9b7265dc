"""Targets: a class, a probability or an interval, of the response or of its sums."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from scipy.special import logit

from sklearn_interpret._model.responses.predictors import (
    check_has_classes,
    is_classifier,
    unfrozen,
)
from sklearn_interpret._model.responses.response import Response, make_response
from sklearn_interpret._model.rows.features import near_names
from sklearn_interpret._model.rows.plain import PlainState
from sklearn_interpret.exceptions import UnreadableModelError

_INVERSE = {"identity": lambda response: response, "logistic": logit, "exp": np.log}

# Relative difference of distances that count as equal.
SAME = 1e-6
_DOUBLE = np.finfo(np.float64).eps
# Rounding errors of links, in units of the precision.
_ULPS = 4


@dataclass(frozen=True)
class TargetOutcome:
    """The target of a model's answers, built by :meth:`of`.

    Parameters
    ----------
    estimator : fitted predictor
        The model.
    response : Response
        Scores of all classes, or one output.
    interval : (float, float) or None
        The target interval of the response; None for a class.
    wanted : int or None
        Position of the target class; None for any other than the row's own.
    """

    estimator: object
    response: Response
    interval: tuple | None = None
    wanted: int | None = None

    @classmethod
    def of_model(cls, estimator, desired, target=None):
        """The target that `desired` names; a ValueError says what is accepted."""
        interval = _interval(desired)
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
        several = hasattr(desired, "__len__") and not isinstance(desired, str)
        several &= getattr(desired, "shape", None) != ()
        found = () if several else np.flatnonzero(classes == desired)
        if not len(found):
            raise ValueError(
                f'desired={desired!r} is neither "other", nor an interval (low, high) '
                "of a probability, nor a class of the model; "
                f"{near_names(desired, classes.tolist(), 'its classes are')}"
                + " It holds for all rows: explain those of other targets apart."
                * several
            )
        return cls(estimator, response, wanted=int(found[0]))

    @property
    def is_other(self):
        """Whether the target is any class but a row's own."""
        return self.interval is None and self.wanted is None

    def asked(self, X):
        """Rows about which the model is asked."""
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

    def __init__(self, outcome, native):
        self.outcome, self.native = outcome, native

    @cached_property
    def answers(self):
        """Class positions (n,) that the model predicts; None for intervals."""
        if self.outcome.interval is not None:
            return None
        response = self.outcome.response
        if response.decides_answers:
            return self._of_classes.argmax(axis=1)
        return response.answers(self.native)

    @cached_property
    def scores(self):
        """Scores (n, n_outputs) of rows; one output for an interval."""
        scores = self.outcome.response(self.native)
        if self.outcome.interval is not None and scores.shape[1] > 1:
            raise ValueError(
                f"target=None: the model has {scores.shape[1]} outputs, as y has "
                "columns: pass the index of the one that should change."
            )
        return scores

    @property
    def _of_classes(self):
        """Scores (n, n_classes) of all classes."""
        if self.scores.shape[1] > 1:
            return self.scores
        log_odds = self.outcome.response.method == "decision_function"
        return np.hstack([-self.scores if log_odds else 1 - self.scores, self.scores])

    def margins(self, own=None):
        """Margins of the answers, (n,): not negative where they satisfy the target.

        `own` are the classes of the origins, for the target of any other class.
        """
        outcome = self.outcome
        if outcome.interval is not None:
            low, high = outcome.interval
            return np.minimum(self.scores[:, 0] - low, high - self.scores[:, 0])
        scores = self._of_classes
        rows, others = np.arange(len(scores)), scores.copy()
        position = own if outcome.is_other else np.full(len(rows), outcome.wanted)
        others[rows, position] = -np.inf
        margins = scores[rows, position] - others.max(axis=1)
        return -margins if outcome.is_other else margins

    def holds(self, own=None):
        """Whether the model's own answers satisfy the target, (n,)."""
        if self.outcome.interval is not None:
            return self.margins() >= 0
        wanted = self.outcome.wanted
        return self.answers != own if wanted is None else self.answers == wanted


@dataclass(frozen=True)
class SumTarget:
    """A target of the sums (k,) that a response is a function of.

    It has one or several ways, ``weights @ sums >= needs`` each.

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
    interval: tuple | None = None
    wanted: int | None = None
    output: int = 0
    margin: float = 0.0
    rounding: tuple = (0.0, 0.0)
    tied_class: int = 0

    @classmethod
    def of_outcome(
        cls, outcome, n_sums, link, scale, margin, *, precision=_DOUBLE, tied_class=0
    ):
        """The target of the sums whose `link` is the response of a `TargetOutcome`.

        `precision` is that of the numbers which the model returns.
        """
        error = _ULPS * precision
        if outcome.interval is None:
            n_classes = len(outcome.response.classes)
            if n_sums not in (n_classes, 1) or (n_sums == 1 and n_classes != 2):
                raise UnreadableModelError(
                    f"{n_sums} sums do not determine which of {n_classes} classes wins."
                )
            rounding = 0.0 if link == "identity" else error / scale
            return cls(
                n_sums,
                wanted=outcome.wanted,
                margin=margin,
                rounding=(rounding, rounding),
                tied_class=tied_class,
            )
        if link not in _INVERSE or (n_sums > 1 and link == "logistic"):
            raise UnreadableModelError(
                f"desired={outcome.interval!r} is an interval of a response that is no "
                "known function of a single sum; a class can be the target."
            )
        (low, high), rounding = outcome.interval, (0.0, 0.0)
        if link != "identity":
            if link == "logistic" and outcome.response.target == 0:
                low, high = 1 - high, 1 - low
            most = 1 if link == "logistic" else np.inf
            ends = np.clip([low, high], 0, most)
            with np.errstate(divide="ignore", invalid="ignore"):
                # The ends 0 and 1 of all responses stay: only rounding leads beyond.
                errors = np.fmin(error, np.fmin(ends, most - ends) / 2)
                errors = error * ends if link == "exp" else errors
                inverse = _INVERSE[link]
                wide = inverse(ends + errors * [-1, 1]) / scale
                low, high = inverse(ends) / scale
                rounding = tuple(np.nan_to_num(np.abs(wide - [low, high]), posinf=0.0))
        # Sums of other outputs may be there too.
        output = outcome.response.target or 0 if n_sums > 1 else 0
        return cls(n_sums, (low, high), output, margin=margin, rounding=rounding)

    def ways(self, own):
        """Ways: weights (m, k), needs (m,), whether equality will do, rounding errors.

        `own` is the class of the origin.
        """
        if self.interval is not None:
            low, high = self.interval
            weights, needs = np.zeros((2, self.n_sums)), np.array([low, -high])
            weights[:, self.output] = 1, -1
            # Infinite needs cannot be met; those of open ends are no needs.
            some = needs > -np.inf
            needs = needs[some] + self.margin
            return [(weights[some], needs, some[some], np.array(self.rounding)[some])]
        if self.n_sums == 1:
            wanted = 1 - own if self.wanted is None else self.wanted
            sign = 1.0 if wanted == 1 else -1.0
            equal = np.array([wanted == self.tied_class])
            needs, rounding = np.array([self.margin]), np.array(self.rounding[:1])
            return [(np.array([[sign]]), needs, equal, rounding)]
        if self.wanted is not None:
            others = np.delete(np.arange(self.n_sums), self.wanted)
            return [self._beats([(self.wanted, other) for other in others])]
        # One class that beats the own is enough: then another class wins.
        return [
            self._beats([(other, own)]) for other in range(self.n_sums) if other != own
        ]

    def _beats(self, pairs):
        better, worse = np.array(pairs).T
        unit = np.eye(self.n_sums)
        # Of equal sums the first class wins.
        needs, rounding = np.tile([[self.margin], [self.rounding[0]]], len(pairs))
        return unit[better] - unit[worse], needs, better < worse, rounding


def _interval(desired):
    """An interval as two floats; None where `desired` is none."""
    if not isinstance(desired, tuple | list) or len(desired) != 2:
        return None
    if not all(part is None or _is_number(part) for part in desired):
        return None
    low = -np.inf if desired[0] is None else float(desired[0])
    high = np.inf if desired[1] is None else float(desired[1])
    if not low <= high or (low, high) == (-np.inf, np.inf):
        raise ValueError(
            f"desired={desired!r} must be an interval (low, high), low <= high, one "
            "of which may be None."
        )
    return low, high


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)
