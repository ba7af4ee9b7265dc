"""Responses of a model that are sums of its trees, or known functions of such sums.

:func:`read_trees` reads the trees of a model, whatever the response;
:func:`tree_response` and :func:`explained_response` read a response of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import NotFittedError

from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
from sklearn_interpret._model.formulas.formula import Comparison, Formula, errors_in
from sklearn_interpret._model.formulas.formula_class import ModelClass, formula_class
from sklearn_interpret._model.formulas.trees import (
    _catboost,
    _explainable_boosting,
    _lightgbm,
    _sklearn_boosting,
    _sklearn_combined,
    _sklearn_trees,
    _survival,
    _xgboost,
)
from sklearn_interpret._model.formulas.trees.tree_model import Reader, TreeModel
from sklearn_interpret._model.parallel import LazyRows
from sklearn_interpret._model.responses.model_difference import (
    ModelDifference,
    check_equal_outputs,
)
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret._model.responses.response import (
    CENTERED_LOG_PROBA,
    Response,
    make_response,
)
from sklearn_interpret._model.row_limit import ask_model
from sklearn_interpret._model.rows.base import copy_of
from sklearn_interpret.exceptions import NonFiniteResponseError, UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.rows.base import Rows


def _read_difference(estimator: Any, read: Callable[[Any], TreeModel]) -> TreeModel:
    """The weighted sum of responses, each of which is a sum of trees."""
    members = []
    for weight, response in estimator.terms():
        model = _sklearn_combined.read_part("member", response.estimator, read)
        if not _is_sum(model, response):
            raise UnreadableModelError(_say_why(model, response))
        selected = replace(model, ensemble=_select_outputs(model, response))
        members.append(_sklearn_combined.Member(selected, weight))
    counts = [member.model.ensemble.n_outputs for member in members]
    check_equal_outputs(counts)
    return _sklearn_combined.sum_of_models(
        members,
        n_columns=members[0].model.n_columns,
        n_outputs=counts[0],
        raw_method="predict",
        response_method="predict",
    )


# Classes of other libraries are given by package and name, so that no other library is
# imported here.
_READERS: dict[ModelClass, Reader] = {
    **_sklearn_trees.READERS,
    **_sklearn_boosting.READERS,
    **_sklearn_combined.READERS,
    **_xgboost.READERS,
    **_lightgbm.READERS,
    **_catboost.READERS,
    **_explainable_boosting.READERS,
    **_survival.READERS,
    ModelDifference: _read_difference,
}

READABLE = (
    "scikit-learn's DecisionTree*, ExtraTree*, RandomForest*, ExtraTrees*, "
    "IsolationForest, GradientBoosting*, HistGradientBoosting*, Bagging*, Voting* and "
    "AdaBoostClassifier of such trees; XGBoost's, LightGBM's and CatBoost's "
    "scikit-learn estimators and Boosters; interpret's ExplainableBoosting*; "
    "scikit-survival's trees, forests and "
    "GradientBoostingSurvivalAnalysis; a Pipeline that ends in one of them, if the "
    "steps before work column by column; a ModelDifference of sums of trees"
)

# Relative rounding error of libraries that sum hundreds of trees in float32,
_TOLERANCE = 1e-5
# and in float64.
_DOUBLE_TOLERANCE = 1e-9

# Difference below which scores are ties, relative to them and to the leaves: the
# predicted class must not depend on the order in which trees were summed.
_TIE = 1e-12

# Bytes per feature of a row's numbers and codes during encoding.
_CODING_BYTES = 12

# Number of evenly spaced rows, spots, at which the trees are compared with the model:
# one cheap call; trees that were misread differ at nearly every row.
_N_SPOTS = 8


@dataclass(frozen=True, eq=False)
class TreeResponse(Formula):
    """A response of a model as the sum of its trees, or as a function of that sum.

    Build it with :func:`tree_response` or :func:`explained_response`.

    Parameters
    ----------
    response : Response
        The model's response, with the selected outputs.
    model : TreeModel
        The model's trees, as they were read.
    ensemble : TreeEnsemble
        The trees with the outputs that the response selects; with all outputs if it is
        a function of their sum.
    why_not_additive : str or None, default=None
        Why the response is not the sum itself, but a function of the sum; None if the
        response is the sum.
    """

    response: Response
    model: TreeModel
    ensemble: TreeEnsemble
    why_not_additive: str | None = None

    @property
    def additive(self) -> bool:
        """Whether the response is the plain sum of the trees."""
        return self.why_not_additive is None

    @property
    def method(self) -> str | Callable[..., Any]:
        """The model's method that returns the response, or "margin" if none does."""
        if not self.additive:
            return self.response.method
        # A private method, or one that needs parameters, is not what a user calls.
        name = self.model.raw_method
        if name is None or name.startswith("_") or self.model.raw_params:
            return "margin"
        return name

    @property
    def name(self) -> str:
        """Name of the response."""
        # The sum that a link turns into probabilities is named by the inverse link.
        link = self.model.link if self.additive else "identity"
        if link == "logistic" and self.model.link_scale == 1:
            return "log-odds"
        return {"exp": "log", "isolation": "margin"}.get(link or "", self.response.name)

    def output_names(self, n_outputs: int) -> list[Any]:
        """Names of the outputs."""
        return self.response.output_names(n_outputs)

    def link_sums(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Responses (..., n_outputs) from sums of the trees (..., n_sums)."""
        if self.additive:
            return sums
        responses = self._apply_link(sums.reshape(-1, sums.shape[-1]))
        if not np.isfinite(responses).all():
            raise NonFiniteResponseError(
                "The model's response is not finite for some rows with values of other "
                "rows of X, or of a grid."
            )
        return responses.reshape(*sums.shape[:-1], -1)

    def slope(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Derivative of the response with respect to its single sum, (n, 1)."""
        scale = self.model.link_scale
        if self.model.link == "exp":
            return self.link_sums(sums) * scale
        # The probability of the first class falls with the sum.
        low, high = self.link_sums(np.array([[-np.inf], [np.inf]]))
        probability = expit(sums * scale)
        return (high - low) * scale * probability * (1 - probability)

    def predictions(self, X: Any) -> NDArray[Any]:
        """The model's responses to native rows: (n_rows, n_outputs), in its precision.

        If no method returns the sum of the trees, they are computed from the trees.
        """
        estimator, model = self.response.estimator, self.model
        X = copy_of(X)  # some steps and models change their input
        if not self.additive:
            method = getattr(estimator, str(self.response.method))
            returned = np.asarray(ask_model(method, X, X.shape[0]))
            values = self.response.read(returned)
        elif model.raw_method is None:
            return self.ensemble.raw(model.encode(X))
        else:
            raw_response = partial(model.raw_response, estimator)
            returned = ask_model(raw_response, X, X.shape[0])
            values = self.response.read(model.as_returned(returned))
        return values.astype(np.float32) if returned.dtype == np.float32 else values

    def predict_codes(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Responses (n_rows, n_outputs) of the trees to rows given by their codes."""
        sums = self.ensemble.raw_of_codes(codes)
        return sums if self.additive else self._apply_link(sums)

    def _comparisons(self, rows: Rows) -> Iterator[Comparison]:
        """One comparison of the model and the trees, on a few of the rows."""
        spot_rows = rows.take(_spot_positions(rows.n_rows))
        expected = self.predictions(spot_rows.native)
        tolerance = _TOLERANCE if expected.dtype == np.float32 else _DOUBLE_TOLERANCE
        yield self._comparison(expected, self.codes(spot_rows)[:], tolerance)

    @property
    def _mismatch(self) -> str:
        function = "sum" if self.additive else "function"
        return (
            f"The response of {_class_name(self.response)} is not the {function} of "
            "the trees that were read from it."
        )

    def surely_accepts(self, rows: Rows) -> bool:
        """Whether the model surely accepts `Rows`: finite numbers, numeric splits."""
        model, trees = self.model, self.ensemble
        if trees.split_codes.categorical.any() or not model.takes_numbers:
            return False
        return rows.are_within(np.finfo(trees.precision).max)

    def codes(self, rows: Rows) -> CodedRows:
        """Codes of `Rows` as the trees compare them, computed lazily."""
        return CodedRows(self.model, self.ensemble, rows)

    def encode_and_check(self, rows: Rows) -> NDArray[Any] | CodedRows:
        """Codes of `Rows`, an array if small, after a spot check against the model.

        Raises
        ------
        UnreadableModelError
            If the trees do not reproduce the model's response.
        ValueError
            If the model refuses the rows.
        """
        codes, spots = self.codes(rows).compute_with_spots()
        spot_rows = rows.take(spots)
        self.check_agreement(spot_rows.native, self.codes(spot_rows)[:])
        return codes

    def check_agreement(self, X: Any, codes: NDArray[Any]) -> None:
        """Raise if trees and model disagree on native rows, given with their codes."""
        if not self._comparison(self.response(X), codes, _TOLERANCE).agrees():
            raise UnreadableModelError(self._mismatch)

    def _comparison(
        self, expected: NDArray[np.float64], codes: NDArray[Any], tolerance: float
    ) -> Comparison:
        """The model's responses to rows next to the trees' responses to their codes."""
        base = self.ensemble.base
        leaves = self.ensemble.value[self.ensemble.apply_codes(codes)]
        with np.errstate(over="ignore", invalid="ignore"):
            # Sizes of the terms bound the rounding of the sum, even if terms cancel.
            computed = base + leaves.sum(axis=1)
            size = abs(base) + abs(leaves).sum(axis=1)
            if not self.additive:
                computed = self._apply_link(computed)
                size = (1 + size.max(axis=1, keepdims=True)) * (1 + np.abs(expected))
            return Comparison(expected, computed, tolerance * size)

    def _apply_link(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The response as a function of the sums (n, n_sums)."""
        if _predicts_labels(self.response):
            return self._predict_labels(sums)
        returned = self.model.response(sums)
        if self.response.method == "predict_log_proba":
            with np.errstate(divide="ignore"):
                returned = np.log(returned)
        return self.response.read(self.model.as_returned(returned))

    def _predict_labels(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predicted labels from sums of scores: a 0/1 column for each class."""
        labels, scores = self.model.classes, self.model.as_returned(sums)
        predict = partial(
            _predict_positions,
            leaf_size=self._leaf_size,
            tied_class=self.model.tied_class,
        )
        # The response reads positions of classes in place of their labels.
        if not isinstance(labels, list):
            n_classes = 0 if labels is None else len(labels)
            positions = predict(scores, n_classes)
            indicators = np.zeros((len(positions), n_classes))
            for j in range(n_classes):
                indicators[:, j] = positions == j
            return self.response.select_output(indicators)
        numbers = list(map(len, labels))  # of classes, for each output
        by_position = replace(self.response, classes=list(map(np.arange, numbers)))
        return by_position.read(np.column_stack(list(map(predict, scores, numbers))))

    @cached_property
    def _leaf_size(self) -> float:
        """Largest absolute value of the leaves and the base."""
        leaves_and_base = self.ensemble.value, self.ensemble.base
        return max(np.abs(numbers).max(initial=0) for numbers in leaves_and_base)


class CodedRows(LazyRows):
    """Codes of rows as trees compare them, computed lazily.

    Parameters
    ----------
    model : TreeModel
        Model that encodes rows.
    ensemble : TreeEnsemble
        Trees whose codes are computed.
    rows : Rows
        Rows to encode.
    """

    def __init__(self, model: TreeModel, ensemble: TreeEnsemble, rows: Rows) -> None:
        self.model, self.ensemble = model, ensemble
        dtype = np.min_scalar_type(int(ensemble.split_codes.n_codes.max(initial=1)) - 1)
        n_features = ensemble.n_features
        super().__init__(rows, n_features, dtype, _CODING_BYTES * n_features)

    def _compute(self, rows: Rows) -> NDArray[Any]:
        return self.ensemble.codes(self.model.encode(rows.native))

    def compute_with_spots(self) -> tuple[NDArray[Any] | CodedRows, NDArray[np.intp]]:
        """The codes, as an array if it is small, and positions of rows to check.

        The positions are those of evenly spaced rows, and for each feature of the first
        row with a missing or infinite value, which the model may refuse.
        """
        spots = [_spot_positions(len(self))]
        all_finite = np.ones(self.n_columns, dtype=bool)  # features, in the rows so far
        codes = self.empty(len(self)) if self.is_small else None
        for block in self.batches(0, len(self)):
            numbers = self.model.encode(self.rows.sliced(block).native)
            not_finite = ~np.isfinite(numbers)
            if not_finite.any():
                features = np.flatnonzero(not_finite.any(axis=0) & all_finite)
                spots.append(block.start + not_finite[:, features].argmax(axis=0))
                all_finite[features] = False
            if codes is not None:
                codes[block] = self.ensemble.codes(numbers)
        return self if codes is None else codes, np.unique(np.concatenate(spots))


def _spot_positions(n_rows: int) -> NDArray[np.intp]:
    """Positions of some evenly spaced rows."""
    return np.linspace(0, n_rows - 1, min(_N_SPOTS, n_rows)).astype(np.intp)


def read_trees(estimator: BaseEstimator) -> TreeModel:
    """Read a fitted model as a sum of trees.

    Parameters
    ----------
    estimator : fitted estimator
        A model of trees, possibly in a :class:`~sklearn.frozen.FrozenEstimator`, or a
        pipeline that ends in one after steps that work column by column.

    Returns
    -------
    TreeModel

    Raises
    ------
    UnreadableModelError
        If the model can't be read; the message names the class, the reason, and what
        can be read.
    """
    name = type(unfrozen(estimator)).__name__
    with errors_in(f"The trees of {name} can't be read", READABLE):
        return _read(estimator)


def _read(estimator: BaseEstimator) -> TreeModel:
    """Read a model, or raise an error that says the reason in one sentence."""
    estimator = unfrozen(estimator)
    known_class = formula_class(estimator, _READERS)
    if known_class is None:
        raise UnreadableModelError("it is not a known model of trees.")
    reader = _READERS[known_class]
    if isinstance(known_class, type):
        return reader(estimator, _read)
    return _read_exported(estimator, reader)


def _read_exported(estimator: BaseEstimator, reader: Reader) -> TreeModel:
    """Read a model of another library, whose exporter may fail in any way."""
    try:
        return reader(estimator, _read)
    except (NotFittedError, UnreadableModelError):
        raise
    except Exception as error:
        raise UnreadableModelError(
            f"its library exports no trees that give its predictions ({error})."
        ) from error


def tree_response(
    response: Response, *, additive: bool = False, labels: bool = True
) -> TreeResponse:
    """Read a model whose response is a sum of its trees, or a function of that sum.

    Plain sums are `predict` of regressors without a link function, `predict_proba` of
    single trees and forests, and `decision_function` of boosted classifiers. Functions
    of sums are the probabilities and labels of boosted classifiers, the labels of
    forests, logarithms of probabilities, and predictions with a log link.

    Parameters
    ----------
    response : Response
        The model and its method.
    additive : bool, default=False
        Whether only a plain sum is accepted.
    labels : bool, default=True
        Whether labels are accepted; rounding decides between classes of equal score.

    Returns
    -------
    TreeResponse

    Raises
    ------
    UnreadableModelError
        If the model can't be read, or its trees sum to something else.
    """
    model = read_trees(response.estimator)
    if _is_sum(model, response):
        return TreeResponse(response, model, _select_outputs(model, response))
    why_not_additive = _say_why(model, response)
    is_accepted = not additive and (labels or not _predicts_labels(response))
    if not is_accepted or not _is_function_of_sums(model, response):
        raise UnreadableModelError(why_not_additive)
    return TreeResponse(response, model, model.ensemble, why_not_additive)


def explained_response(
    estimator: BaseEstimator,
    response_method: str | Sequence[str] | Callable[..., Any] = "auto",
    target: Any = None,
) -> TreeResponse:
    """Choose the response that Shapley values of trees explain.

    Parameters
    ----------
    estimator : fitted estimator
        The model.
    response_method : str or list of str, default="auto"
        "auto" is the sum of the trees: probabilities of forests, margins of boosting.
        Otherwise a method of the model.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}.

    Returns
    -------
    TreeResponse
        The sum of trees, or a logistic or exponential function of a single one.

    Raises
    ------
    UnreadableModelError
        If the model can't be read, or the response is another one.
    """
    model = read_trees(estimator)
    if isinstance(response_method, str) and response_method == "auto":
        response = make_response(estimator, "auto", target)
        if model.raw_method != "predict_proba" and response.classes is not None:
            # One signed column stands for two classes, as in a decision function.
            response = replace(response, method="decision_function")
        return TreeResponse(response, model, _select_outputs(model, response))
    response = make_response(estimator, response_method, target)
    if callable(response.method):
        raise UnreadableModelError(
            "A callable response_method can't be explained by the trees alone."
        )
    if _is_sum(model, response):
        return TreeResponse(response, model, _select_outputs(model, response))
    one_sum = model.link in ("logistic", "exp") and model.ensemble.n_outputs == 1
    labels = _predicts_labels(response)
    if one_sum and response.method == model.response_method and not labels:
        return TreeResponse(response, model, model.ensemble, _say_why(model, response))
    raise UnreadableModelError(
        f'response_method="{response.method}" of {_class_name(response)} can\'t be '
        'explained by its trees: only their sum can (response_method="auto"), and '
        "responses that are a logistic or exponential function of one sum."
    )


def _select_outputs(model: TreeModel, response: Response) -> TreeEnsemble:
    """The trees with the outputs that the response selects."""
    trees, identity = model.ensemble, np.eye(model.ensemble.n_outputs)
    selection = response.read(model.as_returned(identity))
    if np.array_equal(selection, identity):
        return trees
    return replace(trees, value=trees.value @ selection, base=trees.base @ selection)


def _additive_methods(model: TreeModel) -> set[str]:
    """Methods that return the plain sum of the trees."""
    methods: set[str | None] = set()
    if not model.raw_params:
        methods.add(model.raw_method)
    if model.link == "identity" and model.link_scale == 1:
        methods.add(model.response_method)
    return {name for name in methods if name is not None}


def _is_sum(model: TreeModel, response: Response) -> bool:
    """Whether the response is the plain sum of the trees."""
    if callable(response.method) or _predicts_labels(response):
        return False
    return response.method in _additive_methods(model)


def _say_why(model: TreeModel, response: Response) -> str:
    """Message: the response is not the plain sum of the trees, which one is."""
    method, methods = response.method, _additive_methods(model)
    method = repr(method) if callable(method) else f'response_method="{method}"'
    instead = " or ".join(f'response_method="{name}"' for name in sorted(methods))
    reason = f"{method} of {_class_name(response)} is not the plain sum of its trees"
    return reason + (f"; {instead} is." if instead else ".")


def _is_function_of_sums(model: TreeModel, response: Response) -> bool:
    """Whether the response is a known function of the sums of the trees."""
    method = response.method
    if callable(method):
        return False
    if _predicts_labels(response):
        return "predict_proba" in (model.raw_method, model.response_method)
    if method in ("predict_log_proba", CENTERED_LOG_PROBA):
        method = "predict_proba"
    return model.link is not None and method == model.response_method


def _predicts_labels(response: Response) -> bool:
    """Whether the response is the label of a class."""
    return response.method == "predict" and response.classes is not None


def _predict_positions(
    scores: NDArray[np.float64], n_classes: int, leaf_size: float, tied_class: int = 0
) -> NDArray[np.intp]:
    """Position (n,) of the largest score (n, k); ties go to the first.

    `leaf_size` is the largest size of a leaf, in units of which scores are rounded.
    """
    if scores.shape[1] < n_classes:  # one signed column for two classes
        margins = scores[:, 0]
        is_tied = np.abs(margins) <= _TIE * leaf_size
        return np.where(is_tied, tied_class, margins > 0).astype(np.intp)
    # Column by column: `max` along a short axis is several times slower.
    largest = reduce(np.maximum, scores.T)
    size = np.maximum(reduce(np.maximum, np.abs(scores).T), leaf_size)
    position = np.zeros(len(scores), dtype=np.intp)
    for j in range(scores.shape[1] - 1, -1, -1):
        position[scores[:, j] >= largest - _TIE * size] = j
    return position


def _class_name(response: Response) -> str:
    """Class name of the model."""
    return type(unfrozen(response.estimator)).__name__
