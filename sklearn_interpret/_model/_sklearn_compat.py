"""Every private or version-dependent scikit-learn name that the library needs.

A comment at each name says which public name is missing.
"""

from __future__ import annotations

# ruff: noqa: F401  -- names are imported here for the other modules
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from inspect import signature
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

# Missing: a public decorator that validates parameters and sets the config for `fit`.
from sklearn.base import _fit_context as fit_context
from sklearn.base import is_regressor

# Missing: a public record of the rows that each stage of boosting is fitted to.
from sklearn.ensemble._gradient_boosting import (
    _random_sample_mask as random_sample_mask,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier

# Missing: public bases of linear models, and of searches over parameters.
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.linear_model._base import LinearModel as BaseLinearModel

# Missing: a public list of all metrics that pairwise_distances takes.
from sklearn.metrics.pairwise import _VALID_METRICS as PAIRWISE_METRICS
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

# Missing: a public way to take samples of any kind of container, as resample does.
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils import compute_class_weight

# Missing: a public way to ask for pandas.
from sklearn.utils._optional_dependencies import check_pandas_support

# Missing: public parameter constraints.
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils._param_validation import Interval as _Interval

# Missing: a public way to hand metadata on that is validated when routing is off.
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled

# Missing: public checks of sample_weight, and of input_features in
# get_feature_names_out; a public way to take rows of those parameters of `fit` that
# have one entry per row.
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_method_params as parameters_of_rows
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

try:  # Missing: public blocks of the HTML representation of estimators.
    from sklearn.utils._repr_html.estimator import _VisualBlock as VisualBlock
except ImportError:  # scikit-learn < 1.7
    from sklearn.utils._estimator_html_repr import _VisualBlock as VisualBlock

F = TypeVar("F", bound=Callable[..., Any])
# Packages whose lines warnings do not point at: the first caller outside is shown.
_PACKAGES = "sklearn.", "sklearn_interpret."

try:  # scikit-learn >= 1.9
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    HAS_CALLBACKS = True
except ImportError:
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An empty mixin: scikit-learn before 1.9 has no callbacks."""

    def with_callbacks(method: F) -> F:
        """Return the method unchanged."""
        return method


class Interval(_Interval):
    """scikit-learn's Interval, without booleans and integers above 64 bits."""

    def __init__(
        self, type: type, left: float | None, right: float | None, *, closed: str
    ) -> None:
        if type is Integral and right is None:
            right = 2**63
        super().__init__(type, left, right, closed=closed)

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool) and super().is_satisfied_by(val)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the first caller outside of scikit-learn and this package."""
    # Python 3.12 can do so by itself: `skip_file_prefixes` of `warnings.warn`.
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(_PACKAGES):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_deprecated(name: str, since: str, replacement: str) -> None:
    """Warn of a name that is removed two minor versions after `since`, as "0.2"."""
    major, minor = map(int, since.split("."))
    warn(
        f"Use {replacement}: {name} is deprecated since version {since} and will be "
        f"removed in {major}.{minor + 2}.",
        FutureWarning,
    )


def has_category_splits(tree: object) -> bool:
    """Whether the `tree_` of a model may split by sets of categories.

    From scikit-learn 1.10 on; its thresholds mean nothing at such nodes.
    """
    n_categories = getattr(tree, "n_categories", None)
    return n_categories is not None and bool(np.any(np.asarray(n_categories) > 0))


def has_callbacks(estimator: Any) -> bool:
    """Whether callbacks were set, by the user or by an estimator around this one."""
    # Missing: a public way to know.
    return bool(getattr(estimator, "_skl_callbacks", ()))


def root_callback_context(
    estimator: Any, max_subtasks: int, task_name: str = "fit"
) -> Any:
    """Root callback context of a call, or None before scikit-learn 1.9."""
    if not HAS_CALLBACKS:
        return None
    return estimator._init_callback_context(task_name, max_subtasks=max_subtasks)


def callback_subcontext(context: Any, task_name: str, max_subtasks: int = 0) -> Any:
    """Context of a part of a task; None if `context` is None."""
    if context is None:
        return None
    return context.subcontext(task_name=task_name, max_subtasks=max_subtasks)


@contextmanager
def callback_task(context: Any, estimator: Any) -> Iterator[None]:
    """Call the callbacks of `context` at the begin and the end of its task."""
    if context is None:
        yield
        return
    context.call_on_fit_task_begin(estimator=estimator)
    yield
    context.call_on_fit_task_end(estimator=estimator)


def report_percent(context: Any, estimator: Any) -> None:
    """Report another percent of a task to the callbacks."""
    if has_callbacks(estimator):
        with callback_task(callback_subcontext(context, "percent"), estimator):
            pass


def propagated_callbacks(
    context: Any, sub_estimator: Any
) -> AbstractContextManager[Any]:
    """Context manager that propagates callbacks to a sub-estimator that takes them."""
    if context is None or not hasattr(sub_estimator, "set_callbacks"):
        return nullcontext()
    return context.propagate_callback_context(sub_estimator)


def has_independent_labels(estimator: Any) -> bool:
    """Whether a classifier is multilabel: its `classes_` are not exclusive."""
    # Two labels have two columns of probabilities, like a binary classifier, but these
    # do not sum to one. Missing: a public attribute of all fitted multilabel
    # classifiers, like `multilabel_` of OneVsRestClassifier.
    while isinstance(estimator, FrozenEstimator | Pipeline):
        frozen = isinstance(estimator, FrozenEstimator)
        estimator = estimator.estimator if frozen else estimator[-1]
    if hasattr(estimator, "multilabel_"):
        return bool(estimator.multilabel_)
    binarizer = getattr(estimator, "_label_binarizer", None)  # of neural networks
    return getattr(binarizer, "y_type_", None) == "multilabel-indicator"


def weights_of_classes(
    model: Any, y: NDArray[Any], sample_weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Factors of the rows' weights due to `class_weight` of a classifier."""
    # Missing: a fitted attribute that says so. Linear models count weighted rows since
    # `compute_class_weight` can; RidgeClassifier counts rows.
    accepts = "sample_weight" in signature(compute_class_weight).parameters
    counted = accepts and not isinstance(model, RidgeClassifier)
    weights = {"sample_weight": sample_weight} if counted else {}
    of_class = compute_class_weight(
        model.class_weight, classes=model.classes_, y=y, **weights
    )
    return of_class[np.searchsorted(model.classes_, y)]


def scorer_takes_weights(scorer: Any) -> bool | None:
    """Whether the metric of a scikit-learn scorer takes weights; None for others."""
    # The scorer's own signature has `sample_weight` either way. Missing: a public way.
    accepts = getattr(scorer, "_accept_sample_weight", None)
    if accepts is not None:
        return bool(accepts())
    function = getattr(scorer, "_score_func", None)  # scikit-learn < 1.7
    if function is None:
        return None
    return "sample_weight" in signature(function).parameters


def scorer_of_classes(scorer: Any, classes: NDArray[Any]) -> Any:
    """A scorer of probabilities or scores that takes the model's classes.

    scikit-learn takes the classes of the rows for them, and for two classes the last
    one of the rows for the positive one. Other scorers are returned as they are.
    """
    # Missing: a public way to give a scorer of a name the parameter of its metric.
    function = getattr(scorer, "_score_func", None)
    if function is None or scorer._response_method == "predict":
        return scorer
    parameters, options = signature(function).parameters, {}
    if "labels" in parameters:
        options["labels"] = classes
    # The Brier score of scikit-learn < 1.7 has this alone.
    positive = parameters.get("pos_label")
    if len(classes) == 2 and positive and (options or positive.default is None):
        options["pos_label"] = classes[1]
    if not options:
        return scorer
    informed = copy(scorer)
    informed._kwargs = {**options, **scorer._kwargs}
    return informed


def columns_of_transformers(column_transformer: Any) -> dict[str, list[int]]:
    """Positions of the columns for each transformer, by name ("remainder" for one)."""
    # Missing: a public attribute like `output_indices_`, which is about the outputs;
    # `transformers_` has the columns as the user gave them: names, slices, masks.
    return column_transformer._transformer_to_input_indices


def recursion_partial_dependence(
    estimator: Any, grid: NDArray[np.float64], columns: Sequence[int]
) -> NDArray[np.float64]:
    """Averages by scikit-learn's weighted tree traversal, (n_outputs, n_points).

    Parameters
    ----------
    estimator : fitted tree, forest or boosting estimator
        A model, neither frozen nor in a pipeline.
    grid : ndarray of shape (n_points, n_columns)
        Points.
    columns : sequence of int
        Columns that the points replace.
    """
    # Missing: a public entry to the traversal that takes a grid; the public
    # `partial_dependence` builds its own and refuses integer columns.
    if not hasattr(estimator, "_compute_partial_dependence_recursion"):
        raise ValueError(
            f'{type(estimator).__name__} has no traversal for method="recursion"; '
            "scikit-learn's DecisionTreeRegressor, RandomForestRegressor, "
            "ExtraTreesRegressor, GradientBoosting* and HistGradientBoosting* have "
            'one, and method="brute" takes any model.'
        )
    if getattr(estimator, "n_outputs_", 1) > 1:
        # scikit-learn would average only the first output.
        raise ValueError(
            f'method="recursion" takes one output, and the {type(estimator).__name__} '
            f'has {estimator.n_outputs_} outputs: use method="brute".'
        )
    offset = _recursion_offset(estimator)
    # The traversals are compiled for these dtypes only.
    points = np.asarray(grid, dtype=np.float32, order="C")
    target = np.asarray(columns, dtype=np.intp)
    try:
        with warnings.catch_warnings():
            # It warns that the init predictor is ignored: the offset adds it.
            warnings.filterwarnings("ignore", "Using recursion method", UserWarning)
            averages = estimator._compute_partial_dependence_recursion(points, target)
    except NotImplementedError as error:  # weights or categories in the model
        raise ValueError(f'method="recursion" is refused: {error}') from error
    return np.atleast_2d(averages) + offset


def _recursion_offset(estimator: Any) -> NDArray[np.float64] | float:
    """The constant that the traversal leaves out: the initial score of boosting."""
    if hasattr(estimator, "_baseline_prediction"):
        # Missing: public links of the losses.
        link = type(estimator._loss.link).__name__
        if is_regressor(estimator) and link != "IdentityLink":
            raise ValueError(
                f'method="recursion" averages raw scores, and loss={estimator.loss!r} '
                'predicts on another scale: use method="brute".'
            )
        return np.reshape(estimator._baseline_prediction, (-1, 1))
    if hasattr(estimator, "_raw_predict_init"):
        if estimator.init not in (None, "zero"):
            raise ValueError(
                'method="recursion" cannot average the init estimator '
                f'{estimator.init!r} without rows: use method="brute".'
            )
        start = np.zeros((1, estimator.n_features_in_), dtype=np.float32)
        return estimator._raw_predict_init(start).T
    return 0.0


def weights_of_fit(
    ensemble: Any, weights: NDArray[np.float64]
) -> tuple[bool, NDArray[np.float64]]:
    """Whether an ensemble draws its samples by weight, and the weights of rows.

    The ensembles of scikit-learn 1.9 do, and keep the weights of rows, times those of
    classes; before, these, here `weights`, multiply the numbers of draws.
    """
    if not hasattr(ensemble, "_sample_weight"):
        return False, weights
    kept = ensemble._sample_weight
    return True, np.ones(len(weights)) if kept is None else kept


def rows_of_fit(model: Any) -> Any:
    """Rows that a model of nearest neighbours was fitted on, as it keeps them."""
    return model._fit_X
