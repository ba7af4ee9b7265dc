"""A wish for a model's answers in terms of the sums that they are functions of."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from sklearn_interpret.exceptions import UnreadableModelError

_INVERSE = {
    "identity": lambda response: response,
    "logistic": logit,
    "exp": np.log,
}

# Relative difference of distances that are the same.
SAME = 1e-6
_DOUBLE = np.finfo(np.float64).eps
# Rounding errors of links, in units of the precision.
_ULPS = 4


@dataclass(frozen=True)
class SumTarget:
    """Ways in which sums (k,) can be as wished: ``weights @ sums >= needs`` each.

    Parameters
    ----------
    n_sums : int
        How many sums there are: one for two classes or an interval, or one per class.
    interval : (float, float) or None
        The wished interval of one sum.
    wanted : int or None
        Position of the wished class; None for any other.
    output : int
        Position of the sum that the interval is of.
    margin : float
        By how much more than needed the sums have to be as wished.
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
    def of(
        cls, outcome, n_sums, link, scale, margin, *, precision=_DOUBLE, tied_class=0
    ):
        """What a `TargetOutcome` means for sums whose `link` the response is.

        `precision` is that of the numbers which the model returns.
        """
        error = _ULPS * precision
        if outcome.interval is None:
            n_classes = len(outcome.response.classes)
            if n_sums not in (n_classes, 1) or (n_sums == 1 and n_classes != 2):
                raise UnreadableModelError(
                    f"{n_sums} sums do not tell which of {n_classes} classes wins."
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
                "known function of a single sum; a class can be wished."
            )
        (low, high), rounding = outcome.interval, (0.0, 0.0)
        if link != "identity":
            if link == "logistic" and outcome.response.target == 0:
                low, high = 1 - high, 1 - low
            most = 1 if link == "logistic" else np.inf
            ends = np.clip([low, high], 0, most)
            with np.errstate(divide="ignore", invalid="ignore"):
                # Ends of all responses stay: none is beyond but for rounding.
                errors = np.fmin(error, np.fmin(ends, most - ends) / 2)
                errors = error * ends if link == "exp" else errors
                inverse = _INVERSE[link]
                wide = inverse(ends + errors * [-1, 1]) / scale
                low, high = inverse(ends) / scale
                rounding = tuple(np.nan_to_num(np.abs(wide - [low, high]), posinf=0.0))
        # Sums of other outputs than the target's may be there still.
        output = outcome.response.target or 0 if n_sums > 1 else 0
        return cls(n_sums, (low, high), output, margin=margin, rounding=rounding)

    def ways(self, own):
        """Each way: weights (m, k), needs (m,), which of them may be met with equality.

        And rounding errors of the needs (m,). `own` is the class that the origin has.
        """
        if self.interval is not None:
            low, high = self.interval
            weights, needs = np.zeros((2, self.n_sums)), np.array([low, -high])
            weights[:, self.output] = 1, -1
            # A need that is infinite cannot be met; all else is enough for the other.
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
        # One class that beats the own is enough: whichever wins is another.
        return [
            self._beats([(other, own)]) for other in range(self.n_sums) if other != own
        ]

    def _beats(self, pairs):
        better, worse = np.array(pairs).T
        unit = np.eye(self.n_sums)
        # Among equal sums the first class wins.
        needs, rounding = np.tile([[self.margin], [self.rounding[0]]], len(pairs))
        return unit[better] - unit[worse], needs, better < worse, rounding
