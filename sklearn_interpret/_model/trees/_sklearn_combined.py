"""Scikit-learn's ensembles of other estimators, where they add up.

All that is read is public.
"""

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.trees.structure.joining import join_trees
from sklearn_interpret._model.trees._sklearn_trees import (
    PRECISION,
    node_outputs,
    plain_model,
    tree_of,
)
from sklearn_interpret._model.trees.combining import Member, combined, read_part
from sklearn_interpret._model.trees.encoders import ColumnSelector
from sklearn_interpret.exceptions import UnreadableModelError


def _added_up(estimator, members, methods, *, n_columns):
    """The sum of members, by the first method that adds up over them."""
    models = [member.model for member in members]
    classes = getattr(estimator, "classes_", None)
    for method in methods:
        scores = method == "decision_function"
        if all(_adds_up(model, method) for model in models):
            break
    else:
        raise UnreadableModelError(
            f"what {' or '.join(methods)} of its members return is no plain sum of "
            "trees, and so is no mean of it."
        )
    k = models[0].ensemble.n_outputs if classes is None or scores else len(classes)
    return combined(
        members,
        n_columns=n_columns,
        n_outputs=k,
        raw_method=method,
        # A mean of scores is no function of the mean of the probabilities.
        link=None if scores else "identity",
        response_method=None if scores else method,
        classes=classes,
    )


def _adds_up(model, method):
    """Whether what a method of a model returns is a sum of trees."""
    if method == "decision_function":
        return model.raw_method == method
    return model.response_method == method and model.link == "identity"


def _read_bagging(estimator, read):
    check_is_fitted(estimator)
    members = []
    parts = zip(estimator.estimators_, estimator.estimators_features_, strict=True)
    for member, columns in parts:
        model = read_part("member", member, read)
        # Frames reach the members as arrays, and classes as their positions.
        votes = model.response_method == "predict_proba" and model.link == "identity"
        members.append(
            Member(
                model,
                weight=1 / len(estimator.estimators_),
                columns=np.asarray(columns),
                outputs=np.asarray(model.classes) if votes else None,
                first=ColumnSelector(tuple(columns)),
            )
        )
    regresses = isinstance(estimator, BaggingRegressor)
    return _added_up(
        estimator,
        members,
        ["predict"] if regresses else ["predict_proba", "decision_function"],
        n_columns=estimator.n_features_in_,
    )


def _read_voting(estimator, read):
    check_is_fitted(estimator)
    if getattr(estimator, "voting", "soft") == "hard":
        raise UnreadableModelError(
            "voting='hard' predicts the class of most votes, which is no sum of trees; "
            "voting='soft' is."
        )
    weights = np.ones(len(estimator.estimators_))
    if estimator.weights is not None:
        pairs = zip(estimator.estimators, estimator.weights, strict=True)
        weights = np.array([w for (_, member), w in pairs if member != "drop"])
    members = [
        Member(read_part("member", member, read), weight=weight)
        for member, weight in zip(
            estimator.estimators_, weights / weights.sum(), strict=True
        )
    ]
    regresses = isinstance(estimator, VotingRegressor)
    return _added_up(
        estimator,
        members,
        ["predict" if regresses else "predict_proba"],
        # The ensemble asks its first member, which may be a pipeline that can't tell.
        n_columns=members[0].model.n_columns,
    )


def _read_ada_classifier(estimator, _):
    """Votes of trees: a leaf adds its weight to its class, and takes from the others.

    References
    ----------
    J. Zhu, H. Zou, S. Rosset and T. Hastie (2009). Multi-class AdaBoost.
    """
    check_is_fitted(estimator)
    n_classes = estimator.n_classes_
    if n_classes == 1:
        raise UnreadableModelError("it has seen a single class.")
    weights = estimator.estimator_weights_ / estimator.estimator_weights_.sum()
    trees = []
    for member, weight in zip(estimator.estimators_, weights, strict=False):
        if not isinstance(member, DecisionTreeClassifier):
            raise UnreadableModelError(
                f"its members are {type(member).__name__}; only the votes of single "
                "trees add up."
            )
        chosen = node_outputs(member).argmax(axis=1)
        chosen = np.searchsorted(estimator.classes_, member.classes_[chosen])
        votes = np.where(
            np.arange(n_classes) == chosen[:, None], weight, -weight / (n_classes - 1)
        )
        if n_classes == 2:
            votes = votes[:, 1:] - votes[:, :1]
        trees.append(tree_of(member, votes))
    k = 1 if n_classes == 2 else n_classes
    return plain_model(
        estimator,
        join_trees(
            trees,
            base=np.zeros(k),
            n_features=estimator.n_features_in_,
            precision=PRECISION,
        ),
        "decision_function",
        link="logistic" if k == 1 else "softmax",
        link_scale=1.0 if k == 1 else 1 / (n_classes - 1),
        response_method="predict_proba",
        classes=estimator.classes_,
    )


def _refuse_ada_regressor(*_):
    raise UnreadableModelError(
        "it predicts a weighted median of its trees, which is no sum of them."
    )


READERS = {
    AdaBoostClassifier: _read_ada_classifier,
    AdaBoostRegressor: _refuse_ada_regressor,
    BaggingClassifier: _read_bagging,
    BaggingRegressor: _read_bagging,
    VotingClassifier: _read_voting,
    VotingRegressor: _read_voting,
}
