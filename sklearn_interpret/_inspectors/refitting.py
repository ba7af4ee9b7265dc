"""Base of inspectors that fit clones of the model on parts of the rows."""

from __future__ import annotations

from numbers import Real
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from sklearn_interpret._model._sklearn_compat import parameters_of_rows, routing_enabled
from sklearn_interpret._model.responses.predictors import (
    is_classifier,
    unfrozen,
    weight_parameter,
)


class RefittingMixin:
    """Adds clones of the model, and parameters of their `fit` on parts of the rows."""

    _refits = True
    _why_targets = "clones of the model are fitted, also where it is a FrozenEstimator."

    def _fit_estimator(self, X, y, sample_weight, params, context):
        groups = None
        if hasattr(self, "cv") and routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            groups = routed.splitter.split.get("groups")
        elif hasattr(self, "cv"):
            params = dict(params)
            groups = params.pop("groups", None)
        if groups is not None:
            groups = column_or_1d(groups)
            check_consistent_length(X, groups)
        super()._fit_estimator(X, y, sample_weight, params, context)
        self._given = X, self._estimator_fit_params(sample_weight, params), groups

    def _unfitted(self):
        """A clone of the estimator to fit."""
        return clone(unfrozen(self._get_estimator()))

    def _fit_parameters(self, index):
        """Parameters of the estimator's `fit` for rows at these positions."""
        X, params, _ = self._given
        return parameters_of_rows(X, params, index)

    def _parameters_of_copies(self, sample):
        """Parameters of the estimator's `fit`, with the weights of these rows."""
        # Where metadata is routed, a pipeline takes the plain name.
        names = weight_parameter(self._get_estimator()), "sample_weight"
        return {
            name: sample.weights if name in names else values
            for name, values in self._fit_parameters(sample.index).items()
        }

    def _splits(self, sample, y, cv):
        """Positions of training and test rows within the sample."""
        # The user's positions count rows of weight zero, which the sample lacks.
        are_positions = not (cv is None or isinstance(cv, Real) or hasattr(cv, "split"))
        if are_positions:
            splits = list(cv)
        else:
            groups = self._given[2]
            if groups is not None:
                groups = groups[sample.index]
                if not hasattr(cv, "split"):
                    raise ValueError(
                        f"cv={cv!r} does not split by the groups given to fit: pass "
                        "sklearn.model_selection.GroupKFold() or another splitter."
                    )
            cv = check_cv(cv, y, classifier=is_classifier(self.estimator_))
            splits = cv.split(sample.rows.native, y, groups)
        n_rows = self._given[0].shape[0] if are_positions else sample.rows.n_rows
        places = np.full(n_rows, -1)
        of_sample = sample.index if are_positions else slice(None)
        places[of_sample] = np.arange(sample.rows.n_rows)
        pairs = [_present(places, split) for split in splits]
        if not pairs or None in pairs:
            why = "it yields nothing: pass a list, since an iterator works only once."
            if pairs:
                why = f"split {pairs.index(None)} of {n_rows} rows is not."
            raise ValueError(
                "cv must yield pairs (train, test) of positions of rows, neither of "
                f"them empty; {why}"
            )
        return pairs

    def get_metadata_routing(self) -> MetadataRouter:
        """Routing of metadata: to the estimator's `fit`, and `groups` to `cv`.

        Returns
        -------
        MetadataRouter
            Metadata of the estimator's `fit` and of the splitter's `split`.
        """
        router: MetadataRouter = cast(Any, super()).get_metadata_routing()
        if hasattr(self, "cv"):
            mapping = MethodMapping().add(caller="fit", callee="split")
            splitter = self.cv if hasattr(self.cv, "split") else check_cv(None)
            router.add(splitter=splitter, method_mapping=mapping)
        return router


def _present(places, split):
    """Positions within the sample of the rows of a split; None if invalid."""
    try:
        train, test = (places[np.asarray(rows)] for rows in split)
    except (TypeError, ValueError, IndexError):
        return None
    train, test = train[train >= 0], test[test >= 0]
    return (train, test) if train.size and test.size else None
