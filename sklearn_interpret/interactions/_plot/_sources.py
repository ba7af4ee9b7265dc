"""From predictors and inspectors to the arrays that are shown."""

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model.perturbation.perturbed import count_outputs
from sklearn_interpret._model.response import check_is_predictor, make_response
from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.tags import check_predictor_is_fitted
from sklearn_interpret._plotting.parameters import refuse_settings
from sklearn_interpret._plotting.sources import fold_estimators
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.interactions._h_statistic import HStatistic
from sklearn_interpret.interactions._partial_dependence_interaction import (
    PartialDependenceInteraction,
)
from sklearn_interpret.interactions._variable_interaction_network import (
    VariableInteractionNetwork,
)


def h_arrays(estimator, data, parameters, *, unnormalized, display):
    """Constructor arguments that hold the interactions of pairs.

    `data` is the pair (X, sample_weight).
    """
    kinds = HStatistic, PartialDependenceInteraction
    inspector, output = _inspected(estimator, data, parameters, kinds, display)
    return _pair_arrays(inspector, output, unnormalized)


def h_fold_arrays(cv_results, data, parameters, *, unnormalized, display):
    """The same for the models of a cross-validation: means and deviations."""
    kinds = HStatistic, PartialDependenceInteraction
    folds = []
    for estimator in fold_estimators(cv_results):
        given = (None, None) if isinstance(estimator, kinds) else data
        inspector, output = _inspected(estimator, given, parameters, kinds, display)
        folds.append(_pair_arrays(inspector, output, unnormalized))
    first = folds[0]
    for name in ("feature_names", "strength_name"):
        if any(fold[name] != first[name] for fold in folds):
            raise ValueError(
                f"The folds differ in {name}: their interactions cannot be averaged."
            )
    arrays = {name: first[name] for name in ("feature_names", "strength_name")}
    for name in ("pairwise", "overall"):
        if first[name] is not None:
            values = np.array([fold[name] for fold in folds])
            arrays[name] = values.mean(axis=0)
            arrays[f"{name}_std"] = values.std(axis=0)
    return {**arrays, "spread_name": f"{len(folds)} folds"}


def network_arrays(estimator, data, parameters, *, display):
    """Constructor arguments that hold a network."""
    kinds = (VariableInteractionNetwork,)
    inspector, output = _inspected(estimator, data, parameters, kinds, display)
    return {
        "adjacency": _one_output(inspector.adjacency_, 2, output),
        "main_effects": _one_output(inspector.main_effects_, 1, output),
        "feature_names": list(inspector.player_names_),
    }


def _inspected(estimator, data, parameters, kinds, display):
    """A fitted inspector, and the position of the output to show.

    A predictor gets the first kind of inspector; one that is fitted stays as it is.
    """
    if isinstance(estimator, BaseInspector):
        _check_kind(estimator, kinds, display)
        check_is_fitted(estimator)
        target = parameters.get("target")
        named = [name for name in parameters if name != "target"]
        refuse_settings(estimator, named, data[1])
        return estimator, _output_position(estimator.output_names_, target)
    check_is_predictor(estimator)
    check_predictor_is_fitted(estimator)
    X, sample_weight = data
    if X is None:
        raise ValueError(
            f"{display} inspects a predictor on rows: pass X, or a fitted inspector."
        )
    target = parameters.get("target")
    if target is None:  # to be known before the work, and not behind it
        response = make_response(estimator, parameters.get("response_method", "auto"))
        n_outputs = count_outputs(response, as_rows(X).take([0]))
        _output_position(response.output_names(n_outputs), None)
    inspector = kinds[0](FrozenEstimator(estimator), **parameters)
    return inspector.fit(X, sample_weight=sample_weight), 0


def _check_kind(inspector, kinds, display):
    """An inspector of another kind answers another question: say so."""
    if not isinstance(inspector, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(
            f"{display} shows a {names}; got {type(inspector).__name__}, which "
            "inspects something else. Pass its estimator_, or another display."
        )


def _output_position(names, target):
    """Position of the output that `target` names; it may be left out for a single one.

    Raises
    ------
    ValueError
        None of the outputs, or one of several is to be chosen.
    """
    names = list(names)
    if len(names) == 1:
        found = [0] if target is None or target == names[0] else []
    else:
        found = [place for place, name in enumerate(names) if name == target]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(
        repr(getattr(name, "item", lambda n=name: n)()) for name in names
    )
    if target is None:
        raise ValueError(
            f"There are {len(names)} outputs: choose one by target=, out of {listed}."
        )
    raise ValueError(f"target={target!r} is not an output; there are {listed}.")


def _one_output(values, n_axes, output):
    """Values of one output, where several lead."""
    return values[output] if np.ndim(values) > n_axes else values


def _pair_arrays(inspector, output, unnormalized):
    """Constructor arguments that hold what an inspector of pairs found."""
    arrays = {"feature_names": list(inspector.player_names_), "overall": None}
    if isinstance(inspector, PartialDependenceInteraction):
        arrays["pairwise"] = _one_output(inspector.pairwise_, 2, output)
        arrays["strength_name"] = (
            "Interaction by partial dependence\n(deviation of deviations)"
        )
        return arrays
    ending = "unnormalized_" if unnormalized else ""
    for name, n_axes in (("pairwise", 2), ("overall", 1)):
        values = getattr(inspector, f"{name}_{ending}")
        arrays[name] = _one_output(values, n_axes, output)
        spread = getattr(inspector, f"{name}_std_")
        if spread is not None and not unnormalized:
            arrays[f"{name}_std"] = _one_output(spread, n_axes, output)
            arrays["spread_name"] = f"{inspector.n_repeats} subsamples"
    share = "H squared\n(share of the variance of the joint effect)"
    root = "H\n(root of the share of the joint effect's variance)"
    arrays["strength_name"] = share if inspector.squared else root
    if unnormalized:
        arrays["strength_name"] = (
            "Unnormalized H\n(standard deviation of the interaction)"
        )
    return arrays
