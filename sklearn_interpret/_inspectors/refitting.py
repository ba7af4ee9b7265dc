"""Base of inspectors that fit clones of the model on parts of the rows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from sklearn_interpret._model._sklearn_compat import parameters_of_rows, routing_enabled
from sklearn_interpret._model.adapters.adapt import check_can_be_refitted
from sklearn_interpret._model.responses.predictors import (
    is_classifier,
    unfrozen,
    weight_parameter,
)
from sklearn_interpret._model.rows.plain import PlainState
from sklearn_interpret._model.rows.validation import FitArguments
from sklearn_interpret.base import BaseInspector

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.rows.sample import Sample

    # Positions of training rows and of test rows.
    _Split = tuple[NDArray[np.intp], NDArray[np.intp]]

# Mark of rows of `fit` that have weight zero, and so are not in the sample.
_NOT_IN_SAMPLE = -1


@dataclass(frozen=True, eq=False)
class FitInput(PlainState):
    """The input of `fit`."""

    X: Any  # the rows, in the user's container
    params: dict[str, Any]  # of the estimator's `fit`
    groups: NDArray[Any] | None  # of the rows, for `cv`


class RefittingMixin(BaseInspector):
    """Adds clones of the model, and parameters of their `fit` on parts of the rows."""

    _refits = True
    _why_targets = "clones of the model are fitted, also where it is a FrozenEstimator."

    def _fit_estimator(self, arguments: FitArguments, context: Any) -> None:
        """Fit the estimator; keep the input of `fit` for further fits."""
        X, _, sample_weight, params = arguments
        groups = None
        if hasattr(self, "cv") and routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            groups = routed.splitter.split.get("groups")
        elif hasattr(self, "cv"):
            params = dict(params)
            groups = params.pop("groups", None)
            arguments = arguments._replace(params=params)
        if groups is not None:
            groups = column_or_1d(groups)
            check_consistent_length(X, groups)
        super()._fit_estimator(arguments, context)
        self._fit_input = FitInput(X, self._estimator_fit_params(arguments), groups)

    def _clone(self) -> BaseEstimator:
        """A clone of the estimator to fit."""
        name = type(self).__name__
        check_can_be_refitted(self.estimator, name)
        model = unfrozen(self._get_estimator())
        copy = clone(model)
        if copy is model:
            raise TypeError(
                f"{name} fits the model again, and a {type(model).__name__} cannot be "
                "fitted again."
            )
        return copy

    def _fit_parameters(self, index: NDArray[np.intp]) -> dict[str, Any]:
        """Parameters of the estimator's `fit` for rows at these positions."""
        return parameters_of_rows(self._fit_input.X, self._fit_input.params, index)

    def _parameters_with_weights(self, sample: Sample) -> dict[str, Any]:
        """Parameters of the estimator's `fit` for a sample, with its weights."""
        # Where metadata is routed, a pipeline takes the plain name.
        weight_names = weight_parameter(self._get_estimator()), "sample_weight"
        return {
            name: sample.weights if name in weight_names else values
            for name, values in self._fit_parameters(sample.index).items()
        }

    def _splits(self, sample: Sample, y: NDArray[Any] | None, cv: Any) -> list[_Split]:
        """Positions of training and test rows within the sample."""
        if cv is None or isinstance(cv, Real) or hasattr(cv, "split"):
            splitter = check_cv(cv, y, classifier=is_classifier(self.estimator_))
            groups = self._groups_of(sample, cv)
            splits = splitter.split(sample.rows.native, y, groups)
            position_in_sample = np.arange(sample.rows.n_rows)
        else:
            # The user's positions count rows of weight zero, which the sample lacks.
            splits = list(cv)
            position_in_sample = np.full(self._fit_input.X.shape[0], _NOT_IN_SAMPLE)
            position_in_sample[sample.index] = np.arange(sample.rows.n_rows)
        checked_splits = [
            _checked_split(number, split, position_in_sample)
            for number, split in enumerate(splits)
        ]
        if not checked_splits:
            _refuse_splits(
                "it yields nothing: pass a list, since an iterator works only once."
            )
        return checked_splits

    def _groups_of(self, sample: Sample, cv: Any) -> NDArray[Any] | None:
        """Groups of the rows of a sample, for a `cv` that splits by them."""
        groups = self._fit_input.groups
        if groups is None:
            return None
        if not hasattr(cv, "split"):
            raise ValueError(
                f"cv={cv!r} does not split by the groups given to fit: pass "
                "sklearn.model_selection.GroupKFold() or another splitter."
            )
        return groups[sample.index]

    def get_metadata_routing(self) -> MetadataRouter:
        """Routing of metadata: to the estimator's `fit`, and `groups` to `cv`.

        Returns
        -------
        MetadataRouter
            Metadata of the estimator's `fit` and of the splitter's `split`.
        """
        router = super().get_metadata_routing()
        if hasattr(self, "cv"):
            mapping = MethodMapping().add(caller="fit", callee="split")
            splitter = self.cv if hasattr(self.cv, "split") else check_cv(None)
            router.add(splitter=splitter, method_mapping=mapping)
        return router


def _checked_split(
    number: int, split: Any, position_in_sample: NDArray[np.intp]
) -> _Split:
    """Training and test rows of a pair of `cv`, as positions within the sample."""
    train = test = np.empty(0, dtype=np.intp)
    with suppress(TypeError, ValueError, IndexError):
        train, test = (position_in_sample[np.asarray(rows)] for rows in split)
    train, test = train[train != _NOT_IN_SAMPLE], test[test != _NOT_IN_SAMPLE]
    if not (train.size and test.size):
        _refuse_splits(f"split {number} of {len(position_in_sample)} rows is not.")
    return train, test


def _refuse_splits(fault: str) -> NoReturn:
    raise ValueError(
        "cv must yield pairs (train, test) of positions of rows, neither of them "
        f"empty; {fault}"
    )
