"""scikit-learn's meta-estimators: sums of models, and pipelines.

Only public attributes are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.trees.structure import joining
from sklearn_interpret._model.formulas.column_lineage import first_steps
from sklearn_interpret._model.formulas.formula import errors_in
from sklearn_interpret._model.formulas.formula_class import ModelClass, computes_as
from sklearn_interpret._model.formulas.trees import tree_model
from sklearn_interpret._model.formulas.trees._sklearn_trees import (
    node_outputs,
    plain_model,
    tree_of,
)
from sklearn_interpret._model.formulas.trees.tree_model import TreeModel
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble

    _Reader = Callable[[BaseEstimator], TreeModel]
    _Encoder = Callable[[Any], NDArray[np.floating]]


@dataclass(frozen=True, eq=False)
class Member:
    """A model in a sum of models.

    Parameters
    ----------
    model : TreeModel
        Model of the member.
    weight : float
        Weight of the member in the sum.
    columns : ndarray of int, optional
        Input columns of the member; all columns by default.
    outputs : ndarray of int, optional
        Positions of its outputs among the outputs of the sum; by default in order.
    preprocess : callable, optional
        How the sum transforms the rows for the member, unless they are plain numbers;
        hashable.
    """

    model: TreeModel
    weight: float = 1.0
    columns: NDArray[np.intp] | None = None
    outputs: NDArray[np.intp] | None = None
    preprocess: Callable[[Any], Any] | None = None


def read_part(role: str, estimator: BaseEstimator, read: _Reader) -> TreeModel:
    """Read a model that is part of another model; an error names its class and role."""
    with errors_in(f"its {role} {type(unfrozen(estimator)).__name__} can't be read"):
        return read(estimator)


def sum_of_models(
    members: Sequence[Member], *, n_columns: int, n_outputs: int, **fields: Any
) -> TreeModel:
    """The weighted sum of `Member` models as one TreeModel; `fields` are its others.

    Members that compare plain numbers share the columns as their features. Each other
    encoder adds its own features.
    """
    ensembles = [_scale_member(member, n_outputs) for member in members]
    comparisons = {(trees.precision, trees.strict) for trees in ensembles}
    if len(comparisons) > 1:
        ensembles = [joining.in_float64(trees) for trees in ensembles]
    precision = ensembles[0].precision
    blocks = [_feature_block(member, n_columns, precision) for member in members]
    # Blocks of equal encoders share their features.
    starts: dict[_Encoder, int] = {}
    columns: list[int] = []
    for block in blocks:
        if block.encoder not in starts:
            starts[block.encoder] = len(columns)
            columns += block.columns.tolist()
    encoders = tuple(starts)
    covers = {member.model.cover for member in members}
    return TreeModel(
        ensemble=joining.sum_ensembles(
            [
                joining.with_features(
                    trees, starts[block.encoder] + block.positions, len(columns)
                )
                for trees, block in zip(ensembles, blocks, strict=True)
            ]
        ),
        encoder=(
            encoders[0]
            if len(encoders) == 1
            else tree_model.StackingEncoder(encoders, precision)
        ),
        columns=np.array(columns, dtype=np.intp),
        n_columns=n_columns,
        cover=covers.pop() if len(covers) == 1 else "mixed",
        **fields,
    )


def _scale_member(member: Member, n_outputs: int) -> TreeEnsemble:
    """The trees of a member with its weight, and its outputs among those of the sum."""
    trees = joining.scale_outputs(member.model.ensemble, member.weight)
    if member.outputs is None:
        return trees
    return joining.with_outputs(trees, member.outputs, n_outputs)


class _FeatureBlock(NamedTuple):
    """Features that one encoder makes for members of a sum."""

    encoder: _Encoder
    columns: NDArray[np.intp]  # the input column of each feature
    positions: NDArray[np.intp]  # in the block, of the features of a member's trees


def _feature_block(
    member: Member, n_columns: int, precision: np.dtype[np.floating]
) -> _FeatureBlock:
    """The features of a member in a sum of models."""
    model = member.model
    if isinstance(model.encoder, tree_model.ArrayEncoder):
        cast = replace(model.encoder, n_columns=n_columns, precision=precision)
        positions = np.arange(n_columns) if member.columns is None else member.columns
        return _FeatureBlock(cast, np.arange(n_columns), positions)
    encoder = model.encoder
    if member.preprocess is not None:
        encoder = tree_model.ChainedEncoder(member.preprocess, encoder)
    columns = model.columns
    if member.columns is not None:
        columns = member.columns[columns]
    return _FeatureBlock(encoder, columns, np.arange(len(columns)))


def _sum_by_method(
    estimator: BaseEstimator,
    members: Sequence[Member],
    methods: list[str],
    *,
    n_columns: int,
) -> TreeModel:
    """The sum of members, by the first method that is a sum of trees in each member."""
    models = [member.model for member in members]
    sums = [name for name in methods if all(_is_sum_of_trees(m, name) for m in models)]
    if not sums:
        raise UnreadableModelError(
            f"{' or '.join(methods)} of its members is not a plain sum of trees, and "
            "neither is their mean."
        )
    method, classes = sums[0], getattr(estimator, "classes_", None)
    are_scores = method == "decision_function"
    n_outputs = models[0].ensemble.n_outputs
    if classes is not None and not are_scores:
        n_outputs = len(classes)
    return sum_of_models(
        members,
        n_columns=n_columns,
        n_outputs=n_outputs,
        raw_method=method,
        # The mean of probabilities is not a function of the mean of scores.
        link=None if are_scores else "identity",
        response_method=None if are_scores else method,
        classes=classes,
    )


def _is_sum_of_trees(model: TreeModel, method: str) -> bool:
    """Whether a method of a model returns a sum of trees."""
    if method == "decision_function":
        return model.raw_method == method
    return model.response_method == method and model.link == "identity"


def _read_bagging(estimator: BaseEstimator, read: _Reader) -> TreeModel:
    check_is_fitted(estimator)
    members = []
    for member, columns in zip(
        estimator.estimators_, estimator.estimators_features_, strict=True
    ):
        model = read_part("member", member, read)
        # Members get frames as arrays, and classes as positions.
        has_shares = model.response_method == "predict_proba"
        has_shares &= model.link == "identity"
        members.append(
            Member(
                model,
                weight=1 / len(estimator.estimators_),
                columns=np.asarray(columns),
                outputs=np.asarray(model.classes) if has_shares else None,
                preprocess=tree_model.ColumnSelector(tuple(columns)),
            )
        )
    regresses = isinstance(estimator, BaggingRegressor)
    return _sum_by_method(
        estimator,
        members,
        ["predict"] if regresses else ["predict_proba", "decision_function"],
        n_columns=estimator.n_features_in_,
    )


def _read_voting(estimator: BaseEstimator, read: _Reader) -> TreeModel:
    check_is_fitted(estimator)
    if getattr(estimator, "voting", "soft") == "hard":
        raise UnreadableModelError(
            "voting='hard' predicts the class of most votes, not a sum of trees; "
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
    return _sum_by_method(
        estimator,
        members,
        ["predict" if regresses else "predict_proba"],
        # The ensemble's own attribute fails if its first member is a pipeline without
        # it.
        n_columns=members[0].model.n_columns,
    )


def _read_ada_classifier(estimator: BaseEstimator, _: object) -> TreeModel:
    """Votes of trees: weight for a leaf's class, -weight / (K - 1) for other classes.

    J. Zhu, H. Zou, S. Rosset and T. Hastie (2009). Multi-class AdaBoost.
    """
    check_is_fitted(estimator)
    n_classes = estimator.n_classes_
    if n_classes == 1:
        raise UnreadableModelError("it has seen a single class.")
    weights = estimator.estimator_weights_ / estimator.estimator_weights_.sum()
    trees = []
    for member, weight in zip(estimator.estimators_, weights, strict=False):
        if not computes_as(member, DecisionTreeClassifier):
            raise UnreadableModelError(
                f"its members are {type(member).__name__}; only the votes of single "
                "trees add up."
            )
        winners = node_outputs(member).argmax(axis=1)
        winners = np.searchsorted(estimator.classes_, member.classes_[winners])
        votes = np.where(
            np.arange(n_classes) == winners[:, None], weight, -weight / (n_classes - 1)
        )
        if n_classes == 2:
            votes = votes[:, 1:] - votes[:, :1]
        trees.append(tree_of(member, votes))
    k = 1 if n_classes == 2 else n_classes
    return plain_model(
        estimator,
        trees,
        np.zeros(k),
        "decision_function",
        link="logistic" if k == 1 else "softmax",
        link_scale=1.0 if k == 1 else 1 / (n_classes - 1),
        response_method="predict_proba",
        classes=estimator.classes_,
    )


def _refuse_ada_regressor(*_: object) -> NoReturn:
    raise UnreadableModelError(
        "it predicts a weighted median of its trees, which is not their sum."
    )


def read_pipeline(estimator: BaseEstimator, read: _Reader) -> TreeModel:
    """Trees after steps that work column by column; features are input columns."""
    check_is_fitted(estimator)
    model = read_part("last step", estimator.steps[-1][1], read)
    steps, columns, n_columns = first_steps(estimator, model.n_columns)
    if steps is None:
        return model
    return replace(
        model,
        encoder=tree_model.ChainedEncoder(
            tree_model.StepsEncoder(steps), model.encoder
        ),
        columns=columns[model.columns],
        n_columns=n_columns,
    )


READERS: dict[ModelClass, tree_model.Reader] = {
    AdaBoostClassifier: _read_ada_classifier,
    AdaBoostRegressor: _refuse_ada_regressor,
    BaggingClassifier: _read_bagging,
    BaggingRegressor: _read_bagging,
    Pipeline: read_pipeline,
    VotingClassifier: _read_voting,
    VotingRegressor: _read_voting,
}
