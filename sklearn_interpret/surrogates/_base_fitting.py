"""Fits a surrogate to the samples around a row."""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from sklearn_interpret._core.local.linear_surrogates import (
    Moments,
    by_weight,
    forward,
    largest_first,
    sampling_errors,
)
from sklearn_interpret._core.statistics.losses import r_squared


def least_angles(moments, output, size):
    """The features that least angle regression takes first.

    Parameters
    ----------
    moments : Moments
        Moments of the samples.
    output : int
        The answer.
    size : int
        How many features.

    Returns
    -------
    ndarray of shape (size,), intp
        Those that it never takes come last.
    """
    cross = moments.cross[:, output]
    spread = np.sqrt(moments.gram.diagonal())
    moving = np.flatnonzero(spread > 0)
    taken = moving[:0]
    if len(moving) and cross[moving].any():
        with warnings.catch_warnings():
            # Features that others make up for are left out: that is all it says.
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, active, _ = lars_path_gram(
                Xy=cross[moving].copy(),
                Gram=moments.gram[np.ix_(moving, moving)].copy(),
                n_samples=1,
                max_iter=size,
                method="lar",
            )
        taken = moving[np.asarray(active, dtype=np.intp)][:size]
    rest = np.setdiff1d(np.arange(len(cross)), taken)
    rest = rest[np.argsort(-np.abs(cross[rest]), kind="stable")]
    return np.concatenate([taken, rest])[:size]


SELECTIONS = {
    "lars": least_angles,
    "forward": forward,
    "highest_weights": by_weight,
    "none": lambda moments, output, size: np.arange(len(moments.mean)),
}


@dataclass(frozen=True, eq=False)
class LocalFit:
    """A surrogate for each output around one row.

    Parameters
    ----------
    coefficients : ndarray of shape (p, k)
        Zero for features that are not used.
    selected : ndarray of shape (p, k), bool
        Features that are used.
    intercept, prediction, fidelity : ndarray of shape (k,)
        What it answers where the design is zero, what it answers for the row, and
        its weighted R^2 on the samples.
    errors : ndarray of shape (p, k) or None
        Standard errors of the coefficients.
    linear : bool
        Whether coefficients are slopes; else they are importances, and the intercept is
        the mean answer.
    """

    coefficients: np.ndarray
    selected: np.ndarray
    intercept: np.ndarray
    prediction: np.ndarray
    fidelity: np.ndarray
    errors: np.ndarray | None
    linear: bool

    def strongest(self, output):
        """Features in use, those of the largest coefficients first."""
        used = np.flatnonzero(self.selected[:, output])
        return used[largest_first(np.abs(self.coefficients[used, output]))]


def arrays_of(fits, places=None, n_features=None):
    """What surrogates have found, put together for all rows.

    Parameters
    ----------
    fits : list of LocalFit
        A surrogate for each row.
    places : list of ndarray of intp, default=None
        For each row the positions of its features among those of all rows; None where
        all rows have the same.
    n_features : int, default=None
        Number of features of all rows, where `places` is given.

    Returns
    -------
    dict
        "values", "selected" and, where there are some, "standard_errors", of shape
        (n_rows, n_features, k), zero where a row lacks a feature; "base_values", the
        intercepts, (n_rows, k).
    """
    parts = {"values": "coefficients", "selected": "selected"}
    if fits[0].errors is not None:
        parts["standard_errors"] = "errors"
    arrays = {}
    for name, part in parts.items():
        found = [getattr(fit, part) for fit in fits]
        if places is not None:
            found = _spread(found, places, n_features)
        arrays[name] = np.stack(list(found))
    arrays["base_values"] = np.stack([fit.intercept for fit in fits])
    return arrays


def _spread(found, places, n_features):
    """Arrays (p, k) at their places among all features."""
    for own, place in zip(found, places, strict=True):
        everywhere = np.zeros((n_features, own.shape[1]), dtype=own.dtype)
        everywhere[place] = own
        yield everywhere


def by_output(arrays):
    """Arrays (..., k) without the axis of outputs where there is a single one."""
    return {
        name: array[..., 0] if array.shape[-1] == 1 else array
        for name, array in arrays.items()
    }


class SurrogateFitter:
    """Selects features and fits surrogates to them.

    Parameters
    ----------
    n_features : int or None
        How many features a surrogate uses; None means all.
    selection : str
        How they are found: a key of `SELECTIONS`.
    surrogate : estimator or None, default=None
        What is fitted to them; None means least squares.
    """

    def __init__(self, n_features, selection, surrogate=None):
        self.n_features = n_features
        self.selection = selection
        self.surrogate = surrogate

    def fit(self, around):
        """Fit a surrogate for each output.

        Parameters
        ----------
        around : Neighbourhood
            Samples, answers and weights.

        Returns
        -------
        LocalFit
        """
        p, k = around.design.shape[1], around.answers.shape[1]
        moments = around.moments
        if moments is None:
            moments = Moments.of_samples(around.design, around.answers, around.weights)
        size = p if self.n_features is None else min(self.n_features, p)
        coefficients, errors = np.zeros((2, p, k))
        selected, linear = np.zeros((p, k), dtype=bool), True
        intercept, prediction, fidelity = np.empty((3, k))
        select = SELECTIONS["none" if size == p else self.selection]
        for output in range(k):
            chosen = np.sort(select(moments, output, size))
            selected[chosen, output] = True
            fit_one = self._least_squares if self.surrogate is None else self._others
            *found, linear = fit_one(around, moments, chosen, output)
            coefficients[chosen, output], errors[chosen, output] = found[:2]
            intercept[output], prediction[output], fidelity[output] = found[2:]
        return LocalFit(
            coefficients=coefficients,
            selected=selected,
            intercept=intercept,
            prediction=prediction,
            fidelity=fidelity,
            errors=None if self.surrogate is not None else errors,
            linear=linear,
        )

    def _least_squares(self, around, moments, chosen, output):
        coefficients = moments.coefficients(chosen, output)
        intercept = moments.intercept(chosen, coefficients, output)
        design, answers = around.design[:, chosen], around.answers[:, output]
        fitted = intercept + design @ coefficients
        errors = 0.0
        if around.moments is None and not around.complete:
            errors = sampling_errors(design, answers - fitted, around.weights)
        fidelity = _share(answers, fitted, around.weights)
        prediction = intercept + around.own[chosen] @ coefficients
        return coefficients, errors, intercept, prediction, fidelity, True

    def _others(self, around, moments, chosen, output):
        """As the surrogate that was given does it."""
        design, answers = around.design[:, chosen], around.answers[:, output]
        model = clone(self.surrogate)
        model.fit(design, answers, sample_weight=around.weights)
        linear = hasattr(model, "coef_")
        if linear:
            coefficients = np.ravel(model.coef_)
            intercept = float(np.ravel(model.intercept_)[0])
        elif hasattr(model, "feature_importances_"):
            coefficients = model.feature_importances_
            intercept = float(moments.answer[output])
        else:
            raise TypeError(
                f"surrogate={self.surrogate!r} has neither coef_ nor "
                "feature_importances_ after fit: it tells nothing about features."
            )
        fidelity = _share(answers, model.predict(design), around.weights)
        prediction = model.predict(around.own[None, chosen])[0]
        return coefficients, 0.0, intercept, prediction, fidelity, linear


def _share(answers, fitted, weights):
    """Weighted R^2 of a single output."""
    return r_squared(answers[:, None], fitted[:, None], weights)[0]
