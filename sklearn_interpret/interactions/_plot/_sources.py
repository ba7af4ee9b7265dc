"""Displays of interactions from predictors, inspectors and folds."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_interpret._model.replacement.replaced import count_outputs
from sklearn_interpret._model.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._plotting.displays import Display, FoldsMixin
from sklearn_interpret._plotting.sources import check_same_in_folds, response_name
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.interactions._h_statistic import HStatistic
from sklearn_interpret.interactions._partial_dependence_interaction import (
    PartialDependenceInteraction,
)


class InteractionSources(Display):
    """Constructors of a display of one output's interactions."""

    # Where an inspector has told: its response, and the output.
    response_name = output_name = None

    def _set_response(self, inspector, target):
        """Itself, when it knows of which response and output it is."""
        output = output_position(inspector.output_names_, target)
        self.response_name = response_name(inspector)
        self.output_name = inspector.output_names_[output]
        return self

    def _label(self):
        """What the strengths are, and of which response."""
        if self.response_name is None:
            return self.strength_name
        response = self._response_label([self.output_name], 0)
        return f"{self.strength_name}\n{response}"

    @classmethod
    def _check_request(cls, estimator, X, parameters):
        """Refuse to choose among several outputs, before the work is done."""
        if parameters.get("target") is None:
            method = parameters.get("response_method", "auto")
            response = make_response(estimator, method)
            n_outputs = count_outputs(response, as_rows(X).take([0]))
            output_position(response.output_names(n_outputs), None)


class PairSources(FoldsMixin, InteractionSources):
    """Constructors of the display of pairs."""

    _kinds = (HStatistic, PartialDependenceInteraction)
    _choices = frozenset({"target", "unnormalized"})

    @classmethod
    def _from_inspector(
        cls,
        inspector,
        X,
        sample_weight,
        *,
        target: Any = None,
        unnormalized: bool = False,
    ):
        """The display of a fitted inspector's pairs.

        unnormalized : bool, default=False
            Whether H statistics are shown as the standard deviation of the
            interaction, in the response's unit, and not as shares.
        """
        arrays = _pair_arrays(inspector, target=target, unnormalized=unnormalized)
        return cls(**arrays)._set_response(inspector, target)

    @classmethod
    def _from_folds(cls, inspectors, X, sample_weight, **choices):
        folds = [_pair_arrays(inspector, **choices) for inspector in inspectors]
        first = folds[0]
        check_same_in_folds([fold["feature_names"] for fold in folds], "features")
        check_same_in_folds([fold["strength_name"] for fold in folds], "quantities")
        arrays = {name: first[name] for name in ("feature_names", "strength_name")}
        for name in ("pairwise", "overall"):
            if first[name] is not None:
                values = np.array([fold[name] for fold in folds])
                arrays[name] = values.mean(axis=0)
                arrays[f"{name}_std"] = values.std(axis=0)
        display = cls(**arrays, spread_name=f"{len(folds)} folds")
        return display._set_response(inspectors[0], choices.get("target"))


def one_output(values, n_axes, output):
    """Values of one output, where several lead."""
    return values[output] if np.ndim(values) > n_axes else values


def _pair_arrays(inspector, *, target=None, unnormalized=False):
    """Constructor arguments that hold what an inspector of pairs found."""
    output = output_position(inspector.output_names_, target)
    arrays = {"feature_names": list(inspector.player_names_), "overall": None}
    if isinstance(inspector, PartialDependenceInteraction):
        arrays["pairwise"] = one_output(inspector.pairwise_, 2, output)
        arrays["strength_name"] = (
            "Interaction by partial dependence\n(deviation of deviations)"
        )
        return arrays
    ending = "unnormalized_" if unnormalized else ""
    for name, n_axes in (("pairwise", 2), ("overall", 1)):
        values = getattr(inspector, f"{name}_{ending}")
        arrays[name] = one_output(values, n_axes, output)
        spread = getattr(inspector, f"{name}_std_")
        if spread is not None and not unnormalized:
            arrays[f"{name}_std"] = one_output(spread, n_axes, output)
            arrays["spread_name"] = f"{inspector.n_repeats} subsamples"
    share = "H²\n(share of the variance of the joint effect)"
    root = "H\n(root of the share of the joint effect's variance)"
    arrays["strength_name"] = share if inspector.squared else root
    if unnormalized:
        arrays["strength_name"] = (
            "Unnormalized H\n(standard deviation of the interaction)"
        )
    return arrays
