"""scikit-learn's two kinds of gradient boosting.

Private names, confined to this module: the initial scores of GradientBoosting
(`_raw_predict_init`), and nearly all of HistGradientBoosting (`_predictors`,
`_baseline_prediction`, `_preprocessor`, `_bin_mapper`, `_loss`), which has no public
access to its trees. Missing: a public form of the trees, like `tree_`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._core.trees.structure.joining import in_float64
from sklearn_interpret._model.formulas.formula_class import ModelClass, computes_as
from sklearn_interpret._model.formulas.trees._sklearn_combined import (
    Member,
    read_part,
    sum_of_models,
)
from sklearn_interpret._model.formulas.trees._sklearn_trees import (
    PRECISION,
    plain_model,
    tree_of,
)
from sklearn_interpret._model.formulas.trees.tree_model import (
    ArrayEncoder,
    Reader,
    TransformerEncoder,
    TreeModel,
)
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def _score_fields(estimator: BaseEstimator, k: int) -> dict[str, Any]:
    """Fields of `TreeModel` about the raw scores of a classifier or regressor."""
    if not hasattr(estimator, "classes_"):
        return {"raw_method": "predict", "response_method": "predict"}
    return {
        "raw_method": "decision_function",
        "response_method": "predict_proba",
        "link": "logistic" if k == 1 else "softmax",
        "classes": estimator.classes_,
    }


def read_boosting(
    estimator: BaseEstimator, read: Callable[[BaseEstimator], TreeModel]
) -> TreeModel:
    check_is_fitted(estimator)
    n_steps, k = estimator.estimators_.shape
    # Weights of the trees that scikit-survival boosts with dropout.
    rates = estimator.learning_rate * getattr(estimator, "_scale", np.ones(n_steps))
    trees = []
    for (step, output), member in np.ndenumerate(estimator.estimators_):
        value = np.zeros((member.tree_.node_count, k))
        value[:, output] = rates[step] * member.tree_.value[:, 0, 0]
        trees.append(tree_of(member, value))
    constant = _constant_start(estimator)
    model = plain_model(
        estimator,
        trees,
        np.zeros(k) if constant is None else constant,
        # The raw score of the exponential loss is half the log-odds.
        link_scale=2.0 if estimator.loss == "exponential" else 1.0,
        tied_class=1,
        **_score_fields(estimator, k),
    )
    return model if constant is not None else _add_start(model, estimator, read)


def _constant_start(estimator: BaseEstimator) -> NDArray[np.float64] | None:
    """Raw scores before the first tree; None if they depend on the row."""
    start = estimator.init_
    random = isinstance(start, DummyClassifier) and start.strategy == "stratified"
    constant = computes_as(start, DummyClassifier, DummyRegressor)
    if start != "zero" and (random or not constant):
        return None
    row = np.zeros((1, estimator.n_features_in_), dtype=PRECISION)
    return estimator._raw_predict_init(row)[0]


def _add_start(
    model: TreeModel,
    estimator: BaseEstimator,
    read: Callable[[BaseEstimator], TreeModel],
) -> TreeModel:
    """Trees added to the predictions of an `init` model."""
    start = estimator.init_
    if isinstance(estimator, GradientBoostingClassifier):
        raise UnreadableModelError(
            f"it starts from the log-odds of {type(start).__name__}, which are not a "
            "sum of trees; init=None and init='zero' are constants."
        )
    init = read_part("init", start, read)
    if init.response_method != "predict" or init.link != "identity":
        raise UnreadableModelError(
            f"it starts from {type(start).__name__}, whose predictions are not a "
            "plain sum of trees."
        )
    if isinstance(init.encoder, ArrayEncoder | TransformerEncoder):
        # Boosting casts the rows to float32 before `init` gets them. The output of a
        # pipeline's steps keeps double precision.
        trees = in_float64(init.ensemble) if init.ensemble.strict else init.ensemble
        init = replace(init, ensemble=replace(trees, precision=PRECISION))
    cast = ArrayEncoder(estimator.n_features_in_, PRECISION)
    return sum_of_models(
        [Member(init, preprocess=cast), Member(model)],
        n_columns=model.n_columns,
        n_outputs=1,
        raw_method=model.raw_method,
        response_method=model.response_method,
    )


# Link functions of scikit-learn's losses.
_LINKS = {
    "IdentityLink": "identity",
    "LogLink": "exp",
    "LogitLink": "logistic",
    "MultinomialLogit": "softmax",
}


def _read_hist_boosting(estimator: BaseEstimator, _: object) -> TreeModel:
    check_is_fitted(estimator)
    base = np.ravel(estimator._baseline_prediction)
    bitsets, set_of_column = estimator._bin_mapper.make_known_categories_bitsets()
    known_categories = _bool_table(bitsets)
    trees = [
        _hist_tree(predictor, output, len(base), known_categories, set_of_column)
        for iteration in estimator._predictors
        for output, predictor in enumerate(iteration)
    ]
    n_columns = estimator.n_features_in_
    ensemble = join_trees(
        trees, base=base, n_features=n_columns, precision=np.dtype(np.float64)
    )
    encoder, columns = _hist_encoder(estimator)
    link = _LINKS.get(type(estimator._loss.link).__name__)
    scores = _score_fields(estimator, len(base))
    if "classes" not in scores and link != "identity":
        scores["raw_method"] = None
    return TreeModel(
        ensemble=ensemble,
        encoder=encoder,
        columns=columns,
        n_columns=n_columns,
        cover="rows",
        **{**scores, "link": link},
    )


def _hist_tree(
    predictor: Any,
    output: int,
    k: int,
    known_categories: NDArray[np.bool_],
    set_of_column: NDArray[Any],
) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    categorical = nodes["is_categorical"].astype(bool) & ~leaf
    sets = np.where(categorical, nodes["bitset_idx"].astype(np.intp), -1)
    left_bits = _bool_table(predictor.raw_left_cat_bitsets)
    known_bits = np.zeros_like(left_bits)
    feature = nodes["feature_idx"][categorical]
    known_bits[sets[categorical]] = known_categories[set_of_column[feature]]
    value = np.zeros((len(nodes), k))
    value[:, output] = nodes["value"]
    return Tree(
        left=np.where(leaf, -1, nodes["left"].astype(np.intp)),
        right=np.where(leaf, -1, nodes["right"].astype(np.intp)),
        feature=nodes["feature_idx"],
        threshold=nodes["num_threshold"],
        value=value,
        cover=nodes["count"],
        missing_left=nodes["missing_go_to_left"].astype(bool),
        category_set=sets,
        categories_left=left_bits,
        # Categories that go left are looked up first, so they count as known.
        categories_known=known_bits | left_bits,
    )


def _bool_table(bitsets: NDArray[Any]) -> NDArray[np.bool_]:
    """Bit sets of 32-bit words as a table of bool, one row per set."""
    words = np.ascontiguousarray(bitsets, dtype="<u4")
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return bits.astype(bool)


def _hist_encoder(
    estimator: BaseEstimator,
) -> tuple[ArrayEncoder | TransformerEncoder, NDArray[np.intp]]:
    """The model's encoder, and the input column of each of its features."""
    n_columns = estimator.n_features_in_
    transformer = estimator._preprocessor
    if transformer is None:
        encoder = ArrayEncoder(n_columns, np.dtype(np.float64))
        return encoder, np.arange(n_columns)
    # The preprocessor puts the categorical columns first.
    categorical = estimator.is_categorical_
    columns = np.concatenate(
        [np.flatnonzero(categorical), np.flatnonzero(~categorical)]
    )
    return TransformerEncoder(transformer), columns


READERS: dict[ModelClass, Reader] = {
    GradientBoostingClassifier: read_boosting,
    GradientBoostingRegressor: read_boosting,
    HistGradientBoostingClassifier: _read_hist_boosting,
    HistGradientBoostingRegressor: _read_hist_boosting,
}
