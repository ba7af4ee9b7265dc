"""Inspectors to draw, from a predictor, an inspector or a cross-validation."""

import inspect
import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache, wraps
from numbers import Integral
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.refits import Splits
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.responses.predictors import (
    check_is_predictor,
    check_predictor_is_fitted,
    is_classifier,
    unfrozen,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.base import BaseInspector


class Data(NamedTuple):
    """Rows to inspect a predictor on, with their targets and weights."""

    X: Any = None
    y: Any = None
    sample_weight: Any = None

    def take(self, index):
        """Some of the rows, by position."""
        rest = (None if each is None else np.asarray(each)[index] for each in self[1:])
        return Data(as_rows(self.X).native_at(index), *rest)


def is_inspector(estimator, kinds=()):
    """Whether it is an inspector, and no predictor to be inspected."""
    return isinstance(estimator, BaseInspector) or _is_one_of(estimator, kinds)


def inspector_of(estimator, data, parameters, *, kinds, display, kind=None, check=None):
    """A fitted inspector of a fitted predictor, or the fitted inspector given.

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
    check_is_predictor(estimator)
    check_predictor_is_fitted(estimator)
    if data.X is None:
        raise ValueError(
            f"{display} inspects a predictor on rows: pass X, or a fitted inspector."
        )
    if check is not None:
        check(estimator, data.X, parameters)
    inspector = (kind or kinds[0])(FrozenEstimator(estimator), **parameters)
    return inspector.fit(data.X, data.y, sample_weight=data.sample_weight)


def model_within(estimator, kinds, display):
    """The fitted model of some kinds in pipelines and searches, and the steps before.

    Kinds are classes, or attributes that the model must have.

    Raises
    ------
    NotFittedError
        An estimator is not fitted.
    TypeError
        There is no such model.
    """
    model, steps = unfrozen(estimator), []
    check_is_fitted(model)
    while not _is_one_of(model, kinds):
        if hasattr(model, "best_estimator_"):
            model = unfrozen(model.best_estimator_)
        elif isinstance(model, Pipeline):
            steps += [model[:-1]] if len(model) > 1 else []
            model = unfrozen(model[-1])
        else:
            raise TypeError(
                f"{display} shows {_names(kinds, 'an estimator')}, and pipelines that "
                f"end with one; got {type(model).__name__}."
            )
        check_is_fitted(model)
    return model, steps


def inspectors_of_folds(
    estimators, data, parameters, *, kinds, display, again=False, **options
):
    """One inspector for each fold of a cross-validation.

    A fold's predictor is inspected as by `inspector_of`. A fold's fitted inspector is
    drawn as it is; the display checks that the results are comparable. Curves over a
    grid are not, since each fold has a grid of its own rows: with `again`, the
    inspector's predictor is inspected on the given rows, with the inspector's
    parameters, except those given.

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
    parts = data if isinstance(data, list) else [data] * len(estimators)
    seeded = len(estimators) > 1 and "random_state" in parameter_names(kinds[0])
    if seeded:
        # A number, so that all folds draw the same rows.
        state = check_random_state(parameters.get("random_state"))
        seed = state.randint(np.iinfo(np.int32).max)
    inspectors = []
    for estimator, part in zip(estimators, parts, strict=True):
        settings, shown = dict(parameters), is_inspector(estimator, kinds)
        if shown and again:
            refuse_other_inspectors(estimator, kinds, display)
            check_predictor_is_fitted(estimator)
            settings = {**estimator.get_params(deep=False), **parameters}
            del settings["estimator"]
            estimator, shown = estimator.estimator_, False
        numbered = isinstance(settings.get("random_state"), Integral)
        if seeded and not shown and not numbered:
            settings["random_state"] = seed
        inspector = inspector_of(
            estimator, part, settings, kinds=kinds, display=display, **options
        )
        inspectors.append(inspector)
    return inspectors


def fold_estimators(cv_results):
    """The models in the results of `cross_validate`."""
    if not isinstance(cv_results, Mapping) or "estimator" not in cv_results:
        raise ValueError(
            'cv_results has no key "estimator": pass return_estimator=True to '
            "cross_validate."
        )
    return list(cv_results["estimator"])


def fold_rows(cv_results, data):
    """Each fold's `Data` of training, and of test, or None without indices or rows."""
    if data.X is None or "indices" not in cv_results:
        return None
    indices = cv_results["indices"]
    n_rows = as_rows(data.X).n_rows
    largest = max(int(np.max(i)) for part in ("train", "test") for i in indices[part])
    if largest >= n_rows:
        raise ValueError(
            f"cv_results has the index {largest}, but X has {n_rows} rows: pass the "
            "rows that went to cross_validate."
        )
    return [list(map(data.take, indices[part])) for part in ("train", "test")]


def named_models(estimators):
    """Fitted predictors by name; those of a list by class, and place where equal.

    Raises
    ------
    TypeError
        Neither a dict nor a list, an empty one, or inspectors in it.
    """
    if isinstance(estimators, list | tuple):
        kinds = [type(steps_and_model(one)[1]).__name__ for one in estimators]
        names = [
            f"{kind} {place}" if kinds.count(kind) > 1 else kind
            for place, kind in enumerate(kinds, 1)
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


def check_same_in_folds(values, what):
    """Refuse to draw models together that differ; `values` has one entry for each."""
    if any(value != values[0] for value in values):
        raise ValueError(
            f"The models have different {what}, which cannot be averaged or compared: "
            f"{values!r}."
        )


def refuse_other_inspectors(estimator, kinds, display):
    """Refuse an inspector of another kind."""
    if isinstance(estimator, BaseInspector) and not _is_one_of(estimator, kinds):
        raise TypeError(
            f"{display} shows {_names(kinds, 'an inspector')}; got "
            f"{type(estimator).__name__}, which inspects something else. Pass its "
            "estimator_, or another display."
        )


def _names(kinds, what):
    """Names of kinds: of classes, and of methods or attributes that are needed."""
    texts = [
        f"{what} that has {kind}" if isinstance(kind, str) else kind.__name__
        for kind in kinds
    ]
    return " or ".join(texts)


def _is_one_of(estimator, kinds):
    return any(
        hasattr(estimator, kind)
        if isinstance(kind, str)
        else isinstance(estimator, kind)
        for kind in kinds
    )


def _refuse_parameters(inspector, parameters, sample_weight):
    """Refuse parameters that can only be set before an inspector is fitted."""
    names = [*parameters, *(["sample_weight"] if sample_weight is not None else [])]
    if names:
        raise ValueError(
            f"The {type(inspector).__name__} is fitted and is shown as it is; "
            f"{', '.join(names)} can only be set before its fit."
        )


def keyword_names(function, *, without=("self", "ax")):
    """Names of a function's parameters."""
    return set(inspect.signature(function).parameters) - set(without)


def parameter_names(kind):
    """Names of an inspector's parameters, except its predictor."""
    return keyword_names(kind, without=("estimator",))


def check_count(count, parameter):
    """Refuse what is neither None nor a positive whole number."""
    whole = isinstance(count, Integral) and not isinstance(count, bool)
    if count is not None and not (whole and count >= 1):
        raise ValueError(
            f"{parameter}={count!r} must be a positive whole number, or None for all."
        )


def checked_numbers(values, name, shapes, of, *, finite=True):
    """Numbers that have one of the shapes, in which None is any length.

    `of` says in an error what the lengths belong to.
    """
    values = np.asarray(values, dtype=np.float64)
    fits = any(
        len(shape) == values.ndim
        and all(n in (None, own) for n, own in zip(shape, values.shape, strict=True))
        for shape in shapes
    )
    if fits and not values.size:
        raise ValueError(
            f"{name} has the shape {values.shape}, for {of}: there is nothing to draw."
        )
    if not fits:
        needed = " or ".join(map(str, shapes)).replace("None", "n")
        raise ValueError(
            f"{name} has the shape {values.shape}; {needed} is needed, for {of}."
        )
    if finite and not np.isfinite(values).all():
        bad = np.argwhere(~np.isfinite(values))[0].tolist()
        place = bad[0] if len(bad) == 1 else tuple(bad)
        raise ValueError(f"{name} is not finite at position {place}.")
    return values


def split_keywords(given, takers):
    """Keyword arguments for each set of names; one that several know goes to all."""
    return [
        {name: value for name, value in given.items() if name in names}
        for names in takers
    ]


def refuse_unknown(given, known, display):
    """Refuse names that are not among the known ones, with near matches."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else ", ".join(known)
            raise TypeError(f"{display} has no parameter {name!r}; {hint}")


def response_name(inspector):
    """Name of a fitted inspector's response."""
    return getattr(inspector, "_response_name", "response")


def outputs_have_names(inspector):
    """Whether outputs have names: classes do, and a chosen one of several."""
    classifies = is_classifier(getattr(inspector, "estimator_", None))
    return classifies or getattr(inspector, "target", None) is not None


class _ForwardedSignature:
    """A class method whose signature and docstring name the parameters in `**params`.

    Its class lists them in `_takers(name of the method)`: pairs of names, and of a
    function or class that has them as parameters, and documents them. Of two that
    have the same name, the first counts. It is no `classmethod`, for which Sphinx shows
    the docstring of the function behind it.
    """

    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner):
        function = self.function
        if inspect.isabstract(owner) or not hasattr(owner, "_takers"):
            return MethodType(function, owner)
        takers = owner._takers(function.__name__)
        signature = _with_parameters(inspect.signature(function), takers, owner)

        @wraps(function)
        def method(*args, **kwargs):
            refuse_unknown(kwargs, list(signature.parameters)[1:], owner.__name__)
            return function(**signature.bind(*args, **kwargs).arguments)

        method.__signature__ = signature
        if function.__doc__ is not None:  # Python -OO leaves docstrings out
            named = signature.parameters
            doc = _with_entries(function.__doc__, takers, named, owner._without)
            kind = getattr(owner, "_kinds", [owner])[0]
            method.__doc__ = doc.replace(
                "the display's inspector", f":class:`{kind.__name__}`"
            )
        return MethodType(method, owner)


if TYPE_CHECKING:  # checkers find the parameters in the stubs
    ForwardedSignature = classmethod
else:
    ForwardedSignature = _ForwardedSignature


def _with_parameters(own, takers, owner):
    """A signature with the parameters of the takers in place of `**params`."""
    # Features are a parameter of most displays, but not of all.
    without = {"features"}.difference(*(names for names, _ in takers)) | owner._without
    named = {
        name: parameter
        for name, parameter in own.parameters.items()
        if parameter.kind != parameter.VAR_KEYWORD and name not in without
    }
    for names, taker in takers:
        for name, parameter in inspect.signature(taker).parameters.items():
            if name in names:
                by_position = name in owner._leading
                kind = "POSITIONAL_OR_KEYWORD" if by_position else "KEYWORD_ONLY"
                kind = getattr(inspect.Parameter, kind)
                named.setdefault(name, parameter.replace(kind=kind))
    ordered = sorted(named.values(), key=lambda parameter: parameter.kind)
    return own.replace(parameters=ordered)


def _with_entries(doc, takers, named, without):
    """A docstring with the takers' entries in place of that of `**params`."""
    before, _, rest = inspect.cleandoc(doc).partition("\n**params : dict\n")
    found = {n: t for n, t in _entries(before).items() if n not in without}
    for names, taker in takers:
        found = {n: t for n, t in _entries(taker.__doc__).items() if n in names} | found
    before = before[: before.index("\n\nParameters\n")]
    title = "\n\nParameters\n----------"
    texts = [f"{n} {found[n]}" for n in named if n in found]
    return "\n".join([before + title, *texts, "", rest.partition("\n\n")[2], ""])


@cache
def _entries(doc):
    """Type and text of each parameter in a docstring."""
    entry = r"^(\w+(?:, \w+)*) (: .*(?:\n+ .+)*)"
    found = re.findall(entry, inspect.cleandoc(doc or ""), re.MULTILINE)
    # An attribute may have the name of a parameter; the parameter comes first.
    return {n: text for names, text in reversed(found) for n in names.split(", ")}
