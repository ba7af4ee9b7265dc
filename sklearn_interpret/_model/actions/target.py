"""What a model should answer instead: another class, a probability, an interval."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from sklearn_interpret._model.response import (
    Response,
    is_classifier,
    make_response,
    unfrozen,
)
from sklearn_interpret._model.rows.features import shortened


@dataclass(frozen=True)
class TargetOutcome:
    """A wish for the model's answers, built by :meth:`of`.

    Parameters
    ----------
    estimator : fitted predictor
        The model.
    response : Response
        What the wish is about: scores of all classes, or one output.
    interval : (float, float) or None
        The wished interval of the response; None where a class is wished.
    wanted : int or None
        Position of the wished class; None for any other than the row's own.
    """

    estimator: object
    response: Response
    interval: tuple | None = None
    wanted: int | None = None

    @classmethod
    def of(cls, estimator, desired, target=None):
        """The wish that `desired` names; a ValueError says what is accepted."""
        interval = _interval(desired)
        if not is_classifier(estimator):
            if interval is None:
                raise ValueError(
                    f"desired={desired!r}: of a regressor an interval (low, high) of "
                    "the prediction can be wished, with None for an open end."
                )
            return cls(estimator, make_response(estimator, "predict", target), interval)
        if interval is not None:
            if not hasattr(estimator, "predict_proba"):
                raise ValueError(
                    f"desired={desired!r} is an interval of a probability, and "
                    f"{type(unfrozen(estimator)).__name__} has no predict_proba: pass "
                    'a class, or "other".'
                )
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
            raise ValueError("desired needs a model of one set of classes.")
        if isinstance(desired, str) and desired == "other" and "other" not in classes:
            return cls(estimator, response)
        several = hasattr(desired, "__len__") and not isinstance(desired, str)
        several &= getattr(desired, "shape", None) != ()
        found = () if several else np.flatnonzero(classes == desired)
        if not len(found):
            raise ValueError(
                f'desired={desired!r} is neither "other", nor one of the classes '
                f"{shortened(classes.tolist())}, nor an interval (low, high) of a "
                "probability."
                + " It holds for all rows: explain those of other wishes apart."
                * several
            )
        return cls(estimator, response, wanted=int(found[0]))

    @property
    def is_other(self):
        """Whether any class but a row's own is wished."""
        return self.interval is None and self.wanted is None

    def answers(self, X):
        """Class positions (n,) that the model predicts; None for intervals."""
        if self.interval is not None:
            return None
        return self.response.answers(X)

    def scores(self, X):
        """Scores (n, n_outputs) of rows; one output where an interval is wished."""
        scores = self.response(X)
        if self.interval is not None and scores.shape[1] > 1:
            raise ValueError(
                f"target=None: the model has {scores.shape[1]} outputs, as y has "
                "columns: pass the index of the one that should change."
            )
        return scores

    def margins(self, X, own=None):
        """By how much the answers are as wished, (n,): not negative where they are.

        `own` are the classes that the origins of the rows have, for the wish of any
        other one.
        """
        scores = self.scores(X)
        if self.interval is not None:
            low, high = self.interval
            return np.minimum(scores[:, 0] - low, high - scores[:, 0])
        if scores.shape[1] == 1:
            of_log_odds = self.response.method == "decision_function"
            other = -scores if of_log_odds else 1 - scores
            scores = np.hstack([other, scores])
        position = own if self.is_other else np.full(len(scores), self.wanted)
        rows = np.arange(len(scores))
        chosen = scores[rows, position]
        scores[rows, position] = -np.inf
        margins = chosen - scores.max(axis=1)
        return -margins if self.is_other else margins

    def holds(self, X, own=None):
        """Whether the model answers rows as wished, (n,), when it is asked."""
        if self.interval is not None:
            return self.margins(X) >= 0
        answers = self.answers(X)
        return answers != own if self.is_other else answers == self.wanted


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
