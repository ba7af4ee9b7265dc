"""Surrogates fitted to the samples around a row."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from sklearn_interpret._core.local.linear_surrogates import (
    LocalMoments,
    by_weight,
    forward,
    largest_first,
)
from sklearn_interpret._core.statistics.losses import r_squared
from sklearn_interpret._model.responses.predictors import (
    is_classifier,
    weight_parameter,
)
from sklearn_interpret._model.surrogates.surrogate_predictions import check_surrogate


def least_angles(moments, output, size):
    """The first `size` features of least angle regression."""
    cross = moments.cross[:, output]
    varying = np.flatnonzero(moments.gram.diagonal() > 0)
    taken = varying[:0]
    if cross[varying].any():
        with warnings.catch_warnings():
            # The warning is about collinear features, which are left out.
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, active, _ = lars_path_gram(
                Xy=cross[varying].copy(),
                Gram=moments.gram[np.ix_(varying, varying)].copy(),
                n_samples=1,
                max_iter=size,
                method="lar",
            )
        taken = varying[np.asarray(active, dtype=np.intp)]
    # Features that it never takes come last.
    rest = np.setdiff1d(np.arange(len(cross)), taken)
    rest = rest[np.argsort(-np.abs(cross[rest]), kind="stable")]
    return np.concatenate([taken, rest])[:size]


# Methods of feature selection: ``f(moments, output, size)`` returns positions.
SELECTIONS = {
    "lars": least_angles,
    "forward": forward,
    "highest_weights": by_weight,
    "none": lambda moments, output, size: np.arange(len(moments.mean)),
}


def check_local_surrogate(surrogate):
    """Refuse estimators that cannot be fitted to weighted responses."""
    check_surrogate(surrogate)
    name = type(surrogate).__name__
    if is_classifier(surrogate):
        raise ValueError(
            f"surrogate: {name} is a classifier, and responses are numbers: pass a "
            "regressor."
        )
    if weight_parameter(surrogate) != "sample_weight":
        raise ValueError(
            f"surrogate: the fit of {name} takes no sample_weight, by which near "
            "samples count more."
        )


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Samples around a row, in the features of the surrogate.

    Parameters
    ----------
    design : ndarray of shape (n, p), float
        Samples.
    responses : ndarray of shape (n, k)
        The model's responses to them.
    weights : ndarray of shape (n,)
        Kernel weights of the samples.
    own : ndarray of shape (p,)
        The row itself, in the features of the design.
    complete : bool, default=False
        Whether these are all possible samples, so that nothing is random.
    moments : LocalMoments, default=None
        Exact moments of the distribution of samples, if known: the surrogate is fitted
        to these, and the samples are only used for its fidelity.
    """

    design: np.ndarray
    responses: np.ndarray
    weights: np.ndarray
    own: np.ndarray
    complete: bool = False
    moments: LocalMoments | None = None


@dataclass(frozen=True, eq=False)
class LocalFit:
    """A surrogate for each output around one row.

    Parameters
    ----------
    coefficients, errors : ndarray of shape (p, k)
        Coefficients, zero for features that are not used, and their standard errors,
        which are None for a user's surrogate.
    selected : ndarray of shape (p, k), bool
        Mask of the features in use.
    intercept, prediction, fidelity : ndarray of shape (k,)
        The surrogate's value where the design is zero, its value for the row, and its
        weighted R² on the samples.
    linear : bool
        Whether coefficients are slopes; else they are importances, and the intercept is
        the mean response.
    """

    coefficients: np.ndarray
    errors: np.ndarray | None
    selected: np.ndarray
    intercept: np.ndarray
    prediction: np.ndarray
    fidelity: np.ndarray
    linear: bool

    def strongest(self, output):
        """Features in use, those of the largest coefficients first."""
        used = np.flatnonzero(self.selected[:, output])
        return used[largest_first(np.abs(self.coefficients[used, output]))]


def fit_locally(samples, n_features, selection, surrogate=None):
    """Select features of a neighbourhood and fit a surrogate to them for each output.

    Parameters
    ----------
    samples : Neighbourhood
        Samples, responses and weights.
    n_features : int or None
        Number of features that a surrogate uses; None means all.
    selection : str
        Method of selection: a key of `SELECTIONS`.
    surrogate : estimator or None, default=None
        Estimator that is fitted to them; None means least squares.

    Returns
    -------
    LocalFit
    """
    p, k = samples.design.shape[1], samples.responses.shape[1]
    moments, weights = samples.moments, samples.weights
    # Scale by powers of two: squares do not overflow, and no digit changes.
    units = np.ldexp(1.0, np.frexp(np.abs(samples.responses).max(axis=0))[1] - 1)
    if moments is None:
        scaled = samples.responses / units
        moments = LocalMoments.of_samples(samples.design, scaled, weights)
    else:
        moments = replace(
            moments, response=moments.response / units, cross=moments.cross / units
        )
    sampled = samples.moments is None and not samples.complete
    size = p if n_features is None else int(min(n_features, p))
    select = SELECTIONS["none" if size == p else selection]
    coefficients, errors = np.zeros((2, p, k))
    selected, linear = np.zeros((p, k), dtype=bool), True
    intercept, prediction, fidelity = np.empty((3, k))
    for output, (response, unit) in enumerate(
        zip(samples.responses.T, units, strict=True)
    ):
        chosen = np.sort(select(moments, output, size))
        selected[chosen, output] = True
        design, own = samples.design[:, chosen], samples.own[None, chosen]
        if surrogate is None:
            slopes = moments.coefficients(chosen, output)
            start = unit * moments.intercept(chosen, slopes, output)
            slopes = unit * slopes
            predicted, at_row = (start + part @ slopes for part in (design, own))
            if sampled:
                missed = (response - predicted) / unit
                found = moments.sampling_errors(chosen, design, missed, weights)
                errors[chosen, output] = unit * found
        else:
            model = clone(surrogate).fit(design, response, sample_weight=weights)
            slopes, start, linear = _read(model, unit * moments.response[output])
            predicted, at_row = map(model.predict, (design, own))
        coefficients[chosen, output] = slopes
        intercept[output], prediction[output] = start, at_row[0]
        fidelity[output] = r_squared(response[:, None], predicted[:, None], weights)[0]
    return LocalFit(
        coefficients=coefficients,
        errors=None if surrogate is not None else errors,
        selected=selected,
        intercept=intercept,
        prediction=prediction,
        fidelity=fidelity,
        linear=linear,
    )


def _read(model, mean_response):
    """Coefficients and intercept of a user's surrogate, and whether it is linear."""
    if hasattr(model, "coef_"):
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]), True
    if hasattr(model, "feature_importances_"):
        return model.feature_importances_, float(mean_response), False
    raise TypeError(
        f"surrogate={model!r} has neither coef_ nor feature_importances_ after fit: "
        "it has no weights of features."
    )


def fields_of(fits, places=None, n_features=None):
    """Fields of a `LocalExplanation` from the surrogates of all rows.

    Parameters
    ----------
    fits : list of LocalFit
        A surrogate for each row.
    places : list of ndarray of intp, default=None
        Positions of each row's features among those of all rows; None if all rows have
        the same features.
    n_features : int, default=None
        Number of features of all rows, if `places` is not None.

    Returns
    -------
    dict
        Arrays (n_rows, k), or (n_rows, n_features, k) with zeros for missing features.
    """
    parts = {"values": "coefficients", "selected": "selected"}
    if fits[0].errors is not None:
        parts["standard_errors"] = "errors"
    fields = {
        name: _stacked([getattr(fit, part) for fit in fits], places, n_features)
        for name, part in parts.items()
    }
    fields["base_values"] = np.stack([fit.intercept for fit in fits])
    fields["fidelity"] = np.stack([fit.fidelity for fit in fits])
    fields["local_predictions"] = np.stack([fit.prediction for fit in fits])
    return fields


def _stacked(arrays, places, n_features):
    """Stacked arrays (p, k), each at its places among all features."""
    if places is None:
        return np.stack(arrays)
    shape = len(arrays), n_features, arrays[0].shape[1]
    stacked = np.zeros(shape, dtype=arrays[0].dtype)
    for row, array, place in zip(stacked, arrays, places, strict=True):
        row[place] = array
    return stacked


def by_output(arrays):
    """Arrays (..., k) without the axis of outputs if there is a single one."""
    return {
        name: array[..., 0] if array.shape[-1] == 1 else array
        for name, array in arrays.items()
    }
