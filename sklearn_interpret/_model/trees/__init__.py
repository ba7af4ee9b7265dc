"""Readers: the trees of a fitted model as one flat ensemble, whatever its library."""

from sklearn_interpret._model.tags import unfrozen
from sklearn_interpret._model.trees import (
    _catboost,
    _lightgbm,
    _pipelines,
    _sklearn_boosting,
    _sklearn_combined,
    _sklearn_trees,
    _xgboost,
)
from sklearn_interpret._model.trees.tree_model import TreeModel
from sklearn_interpret.exceptions import UnreadableModelError

__all__ = ["TreeModel", "read_trees"]

_SCIKIT_LEARN = {
    **_sklearn_trees.READERS,
    **_sklearn_boosting.READERS,
    **_sklearn_combined.READERS,
    **_pipelines.READERS,
}

# By package and name of the class: these libraries are not imported by us.
_OTHERS = {**_xgboost.READERS, **_lightgbm.READERS, **_catboost.READERS}

READABLE = (
    "scikit-learn's DecisionTree*, ExtraTree*, RandomForest*, ExtraTrees*, "
    "IsolationForest, GradientBoosting*, HistGradientBoosting*, Bagging*, Voting* and "
    "AdaBoostClassifier of such trees; XGBoost's, LightGBM's and CatBoost's "
    "scikit-learn estimators; a Pipeline that ends in one of them, if the steps before "
    "work column by column"
)


def read_trees(estimator):
    """Read a fitted model as a sum of trees.

    Parameters
    ----------
    estimator : fitted estimator
        A model of trees, one inside of :class:`~sklearn.frozen.FrozenEstimator`, or a
        pipeline that ends in one, behind steps that work column by column.

    Returns
    -------
    TreeModel

    Raises
    ------
    UnreadableModelError
        Naming what was seen, why it can't be read, and what can.
    """
    try:
        return _read(estimator)
    except UnreadableModelError as error:
        name = type(unfrozen(estimator)).__name__
        raise UnreadableModelError(
            f"The trees of {name} can't be read: {error} What can be read: {READABLE}."
        ) from error


def _read(estimator):
    """Read a model, or say in one sentence why not."""
    estimator = unfrozen(estimator)
    for cls in type(estimator).__mro__:
        key = cls.__module__.partition(".")[0], cls.__name__
        reader = _SCIKIT_LEARN.get(cls) or _OTHERS.get(key)
        if reader is not None:
            return reader(estimator, _read)
    raise UnreadableModelError("it is no model of trees that is known here.")
