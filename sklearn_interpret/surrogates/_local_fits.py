"""Surrogates fitted to the samples around a row.

`fit_locally` selects features of a `Neighbourhood` by one of `SELECTIONS` and fits a
surrogate for each output of the model; `fields_of` stacks the `LocalFit` of all rows.
Shapes: n samples, p features and k outputs.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from sklearn_interpret._core.local.linear_surrogates import (
    LocalMoments,
    largest_first,
    select_by_weight,
    select_forward,
)
from sklearn_interpret._core.statistics.losses import r_squared
from sklearn_interpret._model.responses.predictors import (
    is_classifier,
    weight_parameter,
)
from sklearn_interpret._model.surrogates.surrogate_predictions import check_surrogate

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def least_angles(moments: LocalMoments, output: int, size: int) -> NDArray[np.intp]:
    """The first `size` features of least angle regression."""
    cross = moments.cross[:, output]
    varying = np.flatnonzero(moments.gram.diagonal() > 0)
    active = varying[:0]
    if cross[varying].any():
        with warnings.catch_warnings():
            # The warning is about collinear features, which are left out.
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, order, _ = lars_path_gram(
                Xy=cross[varying].copy(),
                Gram=moments.gram[np.ix_(varying, varying)].copy(),
                n_samples=1,
                max_iter=size,
                method="lar",
            )
        active = varying[np.asarray(order, dtype=np.intp)]
    # Features that the path never takes come last.
    others = np.setdiff1d(np.arange(len(cross)), active)
    others = others[np.argsort(-np.abs(cross[others]), kind="stable")]
    return np.concatenate([active, others])[:size]


# Methods of feature selection: ``f(moments, output, size)`` returns positions.
SELECTIONS = {
    "lars": least_angles,
    "forward": select_forward,
    "highest_weights": select_by_weight,
    "none": lambda moments, output, size: np.arange(len(moments.mean)),
}


def check_local_surrogate(surrogate: BaseEstimator) -> None:
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
    origin : ndarray of shape (p,)
        The row itself, in the features of the design.
    complete : bool, default=False
        Whether the samples are all possible samples, so that nothing is random.
    moments : LocalMoments, default=None
        Exact moments of the distribution of samples, if known: the surrogate is fitted
        to these, and the samples are only used for its fidelity.
    """

    design: np.ndarray
    responses: np.ndarray
    weights: np.ndarray
    origin: np.ndarray
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

    def strongest(self, output: int) -> NDArray[np.intp]:
        """Features in use, the largest coefficients first."""
        used = np.flatnonzero(self.selected[:, output])
        return used[largest_first(np.abs(self.coefficients[used, output]))]


def fit_locally(
    samples: Neighbourhood,
    n_features: int | None,
    selection: str,
    surrogate: BaseEstimator | None = None,
) -> LocalFit:
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
    weights = samples.weights
    moments, units = _scaled_moments(samples)
    is_sampled = samples.moments is None and not samples.complete
    size = p if n_features is None else int(min(n_features, p))
    select = SELECTIONS["none" if size == p else selection]
    coefficients, errors = np.zeros((2, p, k))
    selected, is_linear = np.zeros((p, k), dtype=bool), True
    intercept, prediction, fidelity = np.empty((3, k))
    for output, unit in enumerate(units):
        response = samples.responses[:, output]
        features = np.sort(select(moments, output, size))
        selected[features, output] = True
        design, origin = samples.design[:, features], samples.origin[None, features]
        if surrogate is None:
            scaled_slopes = moments.coefficients(features, output)
            constant = unit * moments.intercept(features, scaled_slopes, output)
            slopes = unit * scaled_slopes
            predicted, at_row = (constant + rows @ slopes for rows in (design, origin))
            if is_sampled:
                residuals = (response - predicted) / unit
                errors[features, output] = unit * moments.sampling_errors(
                    features, design, residuals, weights
                )
        else:
            model = clone(surrogate).fit(design, response, sample_weight=weights)
            mean_response = unit * moments.response[output]
            slopes, constant, is_linear = _read_surrogate(model, mean_response)
            predicted, at_row = map(model.predict, (design, origin))
        coefficients[features, output] = slopes
        intercept[output], prediction[output] = constant, at_row[0]
        (fidelity[output],) = r_squared(response[:, None], predicted[:, None], weights)
    return LocalFit(
        coefficients=coefficients,
        errors=None if surrogate is not None else errors,
        selected=selected,
        intercept=intercept,
        prediction=prediction,
        fidelity=fidelity,
        linear=is_linear,
    )


def _scaled_moments(samples: Neighbourhood) -> tuple[LocalMoments, NDArray[np.float64]]:
    """Moments of the responses in units, powers of two, and the units (k,).

    Squares of responses in these units do not overflow, and no digit changes.
    """
    _, exponents = np.frexp(np.abs(samples.responses).max(axis=0))
    units, moments = np.ldexp(1.0, exponents - 1), samples.moments
    if moments is None:
        scaled = samples.responses / units
        return LocalMoments.of_samples(samples.design, scaled, samples.weights), units
    response, cross = moments.response / units, moments.cross / units
    return replace(moments, response=response, cross=cross), units


def _read_surrogate(
    model: Any, mean_response: float
) -> tuple[NDArray[np.float64], float, bool]:
    """Coefficients and intercept of a user's surrogate, and whether it is linear."""
    if hasattr(model, "coef_"):
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]), True
    if hasattr(model, "feature_importances_"):
        return model.feature_importances_, float(mean_response), False
    raise TypeError(
        f"surrogate={model!r} has neither coef_ nor feature_importances_ after fit: "
        "it has no weights of features."
    )


def fields_of(
    fits: list[LocalFit],
    positions: list[NDArray[np.intp]] | None = None,
    n_features: int | None = None,
) -> dict[str, NDArray[Any]]:
    """Fields of a `LocalExplanation` from the surrogates of all rows.

    Parameters
    ----------
    fits : list of LocalFit
        A surrogate for each row.
    positions : list of ndarray of intp, default=None
        Positions of each row's features among those of all rows; None if all rows have
        the same features.
    n_features : int, default=None
        Number of features of all rows, if `positions` is not None.

    Returns
    -------
    dict
        Arrays (n_rows, k), or (n_rows, n_features, k) with zeros for missing features.
    """
    attributes = {"values": "coefficients", "selected": "selected"}
    if fits[0].errors is not None:
        attributes["standard_errors"] = "errors"
    fields = {
        name: _stack([getattr(fit, attr) for fit in fits], positions, n_features)
        for name, attr in attributes.items()
    }
    fields["base_values"] = np.stack([fit.intercept for fit in fits])
    fields["fidelity"] = np.stack([fit.fidelity for fit in fits])
    fields["local_predictions"] = np.stack([fit.prediction for fit in fits])
    return fields


def _stack(
    arrays: list[NDArray[Any]],
    positions: list[NDArray[np.intp]] | None,
    n_features: int | None,
) -> NDArray[Any]:
    """Stacked arrays (p, k), each at its positions among all features."""
    if positions is None or n_features is None:
        return np.stack(arrays)
    shape = len(arrays), n_features, arrays[0].shape[1]
    stacked = np.zeros(shape, dtype=arrays[0].dtype)
    for row, array, columns in zip(stacked, arrays, positions, strict=True):
        row[columns] = array
    return stacked


def drop_output_axis(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Arrays (..., k) without the axis of outputs if there is a single one."""
    return {
        name: array[..., 0] if array.shape[-1] == 1 else array
        for name, array in arrays.items()
    }
