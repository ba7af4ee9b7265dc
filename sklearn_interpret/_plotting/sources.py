"""Inspectors to draw, from a predictor, an inspector or a cross-validation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from functools import cache, wraps
from numbers import Integral
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.refits import Splits
from sklearn_interpret._model.adapters.adapt import as_predictor
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.responses.predictors import (
    check_is_predictor,
    check_predictor_is_fitted,
    is_classifier,
    unfrozen,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.base import BaseInspector


class Taker(NamedTuple):
    """Parameters that users may set, and the function or class that takes them."""

    names: AbstractSet[str]
    function: Callable[..., Any]  # it documents them


class Data(NamedTuple):
    """Rows to inspect a predictor on, with their targets and weights."""

    X: Any = None
    y: Any = None
    sample_weight: Any = None

    def take(self, index: NDArray[np.intp] | list[int]) -> Data:
        """Some of the rows, by position."""
        y, weights = (
            None if array is None else np.asarray(array)[index]
            for array in (self.y, self.sample_weight)
        )
        return Data(as_rows(self.X).native_at(index), y, weights)


def is_inspector(estimator: Any, kinds: Sequence[Any] = ()) -> bool:
    """Whether an estimator is an inspector, and no predictor to be inspected."""
    return isinstance(estimator, BaseInspector) or _is_one_of(estimator, kinds)


def inspector_of(
    estimator: Any,
    data: Data,
    parameters: dict[str, Any],
    *,
    kinds: Sequence[Any],
    display: str,
    kind: type | None = None,
    check: Callable[..., None] | None = None,
) -> Any:
    """A fitted inspector of a fitted predictor; a fitted inspector is returned.

    Parameters
    ----------
    estimator : fitted predictor or inspector
        A predictor is inspected as it is; an inspector is not fitted again.
    data : Data
        Rows to inspect a predictor on.
    parameters : dict
        Parameters of the inspector; of one that is fitted they are refused.
    kinds : sequence of classes and str
        Inspectors that can be drawn: their classes, or a method that they must have.
        The first, a class, inspects predictors.
    display : str
        Name of the display, for errors.
    kind : class, default=None
        Inspects predictors instead of the first of the kinds, with its parameters.
    check : callable, default=None
        ``check(estimator, X, parameters)`` refuses a request before the inspection
        runs.
    """
    if is_inspector(estimator, kinds):
        refuse_other_inspectors(estimator, kinds, display)
        check_predictor_is_fitted(estimator)
        _refuse_parameters(estimator, parameters, data.sample_weight)
        return estimator
    predictor = as_predictor(FrozenEstimator(estimator))
    check_is_predictor(predictor)
    check_predictor_is_fitted(predictor)
    if data.X is None:
        raise ValueError(
            f"{display} inspects a predictor on rows: pass X, or a fitted inspector."
        )
    if check is not None:
        check(unfrozen(predictor), data.X, parameters)
    inspector = (kind or kinds[0])(FrozenEstimator(estimator), **parameters)
    return inspector.fit(data.X, data.y, sample_weight=data.sample_weight)


def model_within(
    estimator: Any, kinds: Sequence[Any], display: str
) -> tuple[Any, list[Any]]:
    """The fitted model of some kinds in pipelines and searches, and the steps before.

    Kinds are classes, or attributes that the model must have.

    Raises
    ------
    NotFittedError
        An estimator is not fitted.
    TypeError
        There is no such model.
    """
    model = unfrozen(estimator)
    steps: list[Any] = []
    check_is_fitted(model)
    while not _is_one_of(model, kinds):
        if hasattr(model, "best_estimator_"):
            model = unfrozen(model.best_estimator_)
        elif isinstance(model, Pipeline):
            if len(model) > 1:
                steps.append(model[:-1])
            model = unfrozen(model[-1])
        else:
            raise TypeError(
                f"{display} shows {_kind_names(kinds, 'an estimator')}, and pipelines "
                f"that end with one; got {type(model).__name__}."
            )
        check_is_fitted(model)
    return model, steps


def inspectors_of_folds(
    estimators: list[Any],
    data: Data | list[Data],
    parameters: dict[str, Any],
    *,
    kinds: Sequence[Any],
    display: str,
    again: bool = False,
    **options: Any,
) -> list[Any]:
    """One inspector for each fold of a cross-validation.

    A fold's predictor is inspected as by `inspector_of`. A fold's fitted inspector is
    drawn as it is; the display checks that the results are comparable. Curves over a
    grid are not, since each fold has a grid of its own rows: with `again`, the
    inspector's predictor is inspected on `data`, with the inspector's parameters,
    which `parameters` overrule.

    Parameters
    ----------
    estimators : list of fitted predictors or inspectors
        Those of the folds.
    data : Data, or list of Data
        Rows to inspect the predictors on: the same for all folds, or each fold's own.
    parameters, kinds, display
        As in `inspector_of`.
    again : bool, default=False
        Whether fitted inspectors are replaced by those of their predictors on `data`.
    **options : object
        As in `inspector_of`.
    """
    data_of_folds = data if isinstance(data, list) else [data] * len(estimators)
    has_seed = "random_state" in parameter_names(kinds[0])
    shares_seed = len(estimators) > 1 and has_seed
    if shares_seed:
        # With a number as seed, all folds draw the same rows.
        state = check_random_state(parameters.get("random_state"))
        seed = state.randint(np.iinfo(np.int32).max)
    inspectors = []
    for estimator, fold_data in zip(estimators, data_of_folds, strict=True):
        settings, is_fitted = dict(parameters), is_inspector(estimator, kinds)
        if is_fitted and again:
            refuse_other_inspectors(estimator, kinds, display)
            check_predictor_is_fitted(estimator)
            settings = {**estimator.get_params(deep=False), **parameters}
            del settings["estimator"]
            estimator, is_fitted = estimator.estimator_, False
        is_number = isinstance(settings.get("random_state"), Integral)
        if shares_seed and not is_fitted and not is_number:
            settings["random_state"] = seed
        inspector = inspector_of(
            estimator, fold_data, settings, kinds=kinds, display=display, **options
        )
        inspectors.append(inspector)
    return inspectors


def fold_estimators(cv_results: Mapping[str, Any]) -> list[Any]:
    """The models in the results of `cross_validate`."""
    if not isinstance(cv_results, Mapping) or "estimator" not in cv_results:
        raise ValueError(
            'cv_results has no key "estimator": pass return_estimator=True to '
            "cross_validate."
        )
    return list(cv_results["estimator"])


def fold_rows(cv_results: Mapping[str, Any], data: Data) -> list[list[Data]] | None:
    """Each fold's `Data` of training, and of test, or None without indices or rows."""
    if data.X is None or "indices" not in cv_results:
        return None
    indices = cv_results["indices"]
    n_rows = as_rows(data.X).n_rows
    largest = max(int(np.max(i)) for i in (*indices["train"], *indices["test"]))
    if largest >= n_rows:
        raise ValueError(
            f"cv_results has the index {largest}, but X has {n_rows} rows: pass the "
            "rows that went to cross_validate."
        )
    return [list(map(data.take, indices[subset])) for subset in ("train", "test")]


def name_models(estimators: Any) -> dict[str, Any]:
    """Fitted predictors by name; those of a list by class, and number where equal.

    Raises
    ------
    TypeError
        Neither a dict nor a list, an empty one, or inspectors in it.
    """
    if isinstance(estimators, list | tuple):
        kinds = [type(steps_and_model(each)[1]).__name__ for each in estimators]
        names = [
            f"{kind} {number}" if kinds.count(kind) > 1 else kind
            for number, kind in enumerate(kinds, 1)
        ]
        estimators = dict(zip(names, estimators, strict=True))
    models = list(estimators.values()) if isinstance(estimators, Mapping) else []
    if not models or any(map(is_inspector, models)):
        raise TypeError(
            f"estimators={estimators!r} must be a dict or list of fitted predictors."
        )
    return dict(zip(map(str, estimators), models, strict=True))


def splits_of(cv_results: Mapping[str, Any]) -> Splits:
    """How the rows of a cross-validation were split; without indices, as K folds."""
    if "indices" not in cv_results:
        return Splits(1 / max(len(cv_results["estimator"]) - 1, 1), are_known=False)
    indices = cv_results["indices"]
    pairs = zip(indices["test"], indices["train"], strict=True)
    ratio = float(np.mean([len(test) / len(train) for test, train in pairs]))
    tested = np.concatenate(indices["test"])
    rows = np.union1d(tested, np.concatenate(indices["train"]))
    return Splits(ratio, are_folds=len(tested) == len(rows) == len(np.unique(tested)))


def check_same_in_folds(values: Sequence[Any], nouns: str) -> None:
    """Refuse to draw models together whose `values`, one for each, differ."""
    if any(value != values[0] for value in values):
        raise ValueError(
            f"The models have different {nouns}, which cannot be averaged or compared: "
            f"{values!r}."
        )


def refuse_other_inspectors(estimator: Any, kinds: Sequence[Any], display: str) -> None:
    """Refuse an inspector of another kind."""
    if isinstance(estimator, BaseInspector) and not _is_one_of(estimator, kinds):
        raise TypeError(
            f"{display} shows {_kind_names(kinds, 'an inspector')}; got "
            f"{type(estimator).__name__}, which inspects something else. Pass its "
            "estimator_, or another display."
        )


def _kind_names(kinds: Sequence[Any], noun: str) -> str:
    """Names of kinds: of classes, or of methods or attributes that are needed."""
    texts = [
        f"{noun} that has {kind}" if isinstance(kind, str) else kind.__name__
        for kind in kinds
    ]
    return " or ".join(texts)


def _is_one_of(estimator: Any, kinds: Sequence[Any]) -> bool:
    """Whether an estimator is of a class, or has an attribute, among some kinds."""
    return any(
        hasattr(estimator, kind)
        if isinstance(kind, str)
        else isinstance(estimator, kind)
        for kind in kinds
    )


def _refuse_parameters(
    inspector: Any, parameters: dict[str, Any], sample_weight: Any
) -> None:
    """Refuse parameters that can only be set before an inspector is fitted."""
    names = [*parameters, *(["sample_weight"] if sample_weight is not None else [])]
    if names:
        raise ValueError(
            f"The {type(inspector).__name__} is fitted and is shown as it is; "
            f"{', '.join(names)} can only be set before its fit."
        )


def keyword_names(
    function: Callable[..., Any], *, without: tuple[str, ...] = ("self", "ax")
) -> set[str]:
    """Names of a function's parameters."""
    return set(inspect.signature(function).parameters) - set(without)


def parameter_names(kind: type) -> set[str]:
    """Names of an inspector's parameters, except its predictor."""
    return keyword_names(kind, without=("estimator",))


def check_count(count: Any, parameter: str) -> None:
    """Refuse what is neither None nor a positive whole number."""
    is_number = isinstance(count, Integral) and not isinstance(count, bool)
    if count is not None and not (is_number and count >= 1):
        raise ValueError(
            f"{parameter}={count!r} must be a positive whole number, or None for all."
        )


def check_numbers(
    values: ArrayLike,
    name: str,
    shapes: Sequence[tuple[int | None, ...]],
    owner: str,
    *,
    finite: bool = True,
) -> NDArray[np.float64]:
    """Numbers that have one of the shapes, in which None is any length.

    `owner` says in an error what the lengths belong to.
    """
    numbers = np.asarray(values, dtype=np.float64)
    fits = any(
        len(shape) == numbers.ndim
        and all(
            needed in (None, length)
            for needed, length in zip(shape, numbers.shape, strict=True)
        )
        for shape in shapes
    )
    if fits and not numbers.size:
        raise ValueError(
            f"{name} has the shape {numbers.shape}, for {owner}: there is nothing "
            "to draw."
        )
    if not fits:
        needed = " or ".join(map(str, shapes)).replace("None", "n")
        raise ValueError(
            f"{name} has the shape {numbers.shape}; {needed} is needed, for {owner}."
        )
    if finite and not np.isfinite(numbers).all():
        position = first_position(~np.isfinite(numbers))
        raise ValueError(f"{name} is not finite at position {position}.")
    return numbers


def first_position(mask: NDArray[np.bool_]) -> Any:
    """Position of the first True: a number, or a tuple of several."""
    position = np.argwhere(mask)[0].tolist()
    return position[0] if len(position) == 1 else tuple(position)


def split_keywords(
    keywords: Mapping[str, Any], takers: Sequence[AbstractSet[str]]
) -> list[dict[str, Any]]:
    """Keyword arguments for each set of names; shared names go to all of their sets."""
    return [
        {name: value for name, value in keywords.items() if name in names}
        for names in takers
    ]


def refuse_unknown(
    keywords: Collection[str], names: Sequence[str], display: str
) -> None:
    """Refuse keywords that are not among the names of parameters."""
    for name in keywords:
        if name not in names:
            near = get_close_matches(name, names, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else ", ".join(names)
            raise TypeError(f"{display} has no parameter {name!r}; {hint}")


def response_name(inspector: Any) -> str:
    """Name of a fitted inspector's response."""
    return getattr(inspector, "_response_name", "response")


def outputs_have_names(inspector: Any) -> bool:
    """Whether outputs have names: classes and times do, and so does a chosen output."""
    classifies = is_classifier(getattr(inspector, "estimator_", None))
    has_texts = isinstance(next(iter(inspector.output_names_), None), str)
    return classifies or has_texts or getattr(inspector, "target", None) is not None


class _ForwardedSignature:
    """A class method whose signature and docstring name the parameters in `**params`.

    Its class lists them in `_takers(name of the method)`. Of two parameters of the same
    name, the first counts. It is no `classmethod`, for which Sphinx shows the docstring
    of the function behind it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __get__(
        self, instance: DisplayMixin | None, owner: type[DisplayMixin]
    ) -> Callable[..., Any]:
        function = self.function
        if inspect.isabstract(owner) or not hasattr(owner, "_takers"):
            return MethodType(function, owner)
        takers = owner._takers(function.__name__)
        signature = _insert_parameters(inspect.signature(function), takers, owner)

        def forward(*args: Any, **kwargs: Any) -> DisplayMixin:
            refuse_unknown(kwargs, list(signature.parameters)[1:], owner.__name__)
            return function(**signature.bind(*args, **kwargs).arguments)

        method: Any = wraps(function)(forward)
        method.__signature__ = signature
        if function.__doc__ is not None:  # Python -OO leaves docstrings out
            named = signature.parameters
            doc = _insert_entries(function.__doc__, takers, named, owner._without)
            kind = getattr(owner, "_kinds", [owner])[0]
            method.__doc__ = doc.replace(
                "the display's inspector", f":class:`{kind.__name__}`"
            )
        return MethodType(method, owner)


if TYPE_CHECKING:  # checkers find the parameters in the stubs
    from sklearn_interpret._plotting.displays import DisplayMixin

    ForwardedSignature = classmethod
else:
    ForwardedSignature = _ForwardedSignature


def _insert_parameters(
    signature: inspect.Signature, takers: Sequence[Taker], owner: type[DisplayMixin]
) -> inspect.Signature:
    """A signature with the parameters of the takers in place of `**params`."""
    # Features are a parameter of most displays, but not of all.
    without = {"features"}.difference(*(taker.names for taker in takers))
    without |= owner._without
    named = {
        name: parameter
        for name, parameter in signature.parameters.items()
        if parameter.kind != parameter.VAR_KEYWORD and name not in without
    }
    for taker in takers:
        for name, parameter in inspect.signature(taker.function).parameters.items():
            if name in taker.names:
                kind: Any = parameter.KEYWORD_ONLY
                if name in owner._leading:
                    kind = parameter.POSITIONAL_OR_KEYWORD
                named.setdefault(name, parameter.replace(kind=kind))
    ordered = sorted(named.values(), key=lambda parameter: parameter.kind)
    return signature.replace(parameters=ordered)


def _insert_entries(
    doc: str,
    takers: Sequence[Taker],
    named: Mapping[str, inspect.Parameter],
    without: AbstractSet[str],
) -> str:
    """A docstring with the takers' entries in place of the entry of `**params`."""
    before, _, after = inspect.cleandoc(doc).partition("\n**params : dict\n")
    entries = {
        name: text
        for name, text in _parameter_entries(before).items()
        if name not in without
    }
    for taker in takers:
        for name, text in _parameter_entries(taker.function.__doc__).items():
            if name in taker.names:
                entries.setdefault(name, text)
    before = before[: before.index("\n\nParameters\n")]
    title = "\n\nParameters\n----------"
    texts = [f"{name} {entries[name]}" for name in named if name in entries]
    return "\n".join([before + title, *texts, "", after.partition("\n\n")[2], ""])


@cache
def _parameter_entries(doc: str | None) -> dict[str, str]:
    """Type and text of each parameter in a docstring."""
    entry = r"^(\w+(?:, \w+)*) (: .*(?:\n+ .+)*)"
    matches = re.findall(entry, inspect.cleandoc(doc or ""), re.MULTILINE)
    # An attribute may have the name of a parameter; the parameter comes first.
    return {
        name: text for names, text in reversed(matches) for name in names.split(", ")
    }
