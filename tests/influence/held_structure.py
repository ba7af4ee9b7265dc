"""Models of trees fitted again with their structure held: slow loops over leaves."""

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import is_classifier

from sklearn_interpret._model.formulas.trees.tree_response import read_trees


def class_of(model):
    return type(model).__name__


def leaves_of(model, X):
    """Leaves (m, n_stages, k), by the libraries' own methods where they have one."""
    name = class_of(model)
    if name.startswith("LGBM"):
        leaves = model.predict(X, pred_leaf=True)
    elif name.startswith("Hist"):
        trees = read_trees(model)
        leaves = trees.ensemble.apply(trees.encode(X))
    else:
        leaves = model.apply(X)
    k = 1
    if is_classifier(model) and len(model.classes_) > 2:
        k = len(model.classes_)
    return np.asarray(leaves).reshape(len(leaves), -1, k)


def settings(model, k):
    """Learning rate, penalty of leaves, and factor of the second derivatives."""
    name, params = class_of(model), model.get_params()
    share = (k - 1) / k if k > 1 else 1
    if name.startswith("Gradient"):
        return params["learning_rate"] * share, 0, 1
    if name.startswith("Hist"):
        return params["learning_rate"], params["l2_regularization"], 1
    l2, factor = params["reg_lambda"], 1 / share
    if name.startswith("XGB"):
        l2, factor = 1 if l2 is None else l2, 2 if k > 1 else 1
        params["learning_rate"] = params["learning_rate"] or 0.3
    return params["learning_rate"], l2, factor


def indicators(model, y):
    """Targets (n, k)."""
    if not is_classifier(model):
        return np.asarray(y, dtype=float).reshape(len(y), -1)
    table = (np.asarray(y)[:, None] == model.classes_).astype(float)
    return table[:, 1:] if table.shape[1] == 2 else table


def boosted_scores(model, leaves, targets, weights, new, in_bag=None, start=None):
    """Scores (m, k) of rows in leaves `new`, with the values of leaves fitted again."""
    n, n_stages, k = leaves.shape
    rate, l2, factor = settings(model, k)
    means_of = {1: expit}.get(k, lambda scores: softmax(scores, axis=1))
    if not is_classifier(model):
        means_of = np.array
    if start is None:
        start = weights @ targets / weights.sum()
        if is_classifier(model):
            start = np.log(start / (1 - start)) if k == 1 else np.log(start)
    scores, scores_of_new = np.tile(start, (n, 1)), np.tile(start, (len(new), 1))
    for t in range(n_stages):
        means = means_of(scores)
        slopes = means - targets
        curvatures = factor * means * (1 - means)
        if not is_classifier(model):
            curvatures = np.ones_like(means)
        used = weights if in_bag is None else weights * in_bag[t]
        for c in range(k):
            for leaf in np.unique(leaves[:, t, c]):
                inside = leaves[:, t, c] == leaf
                total = used[inside] @ curvatures[inside, c]
                if total > 0:
                    step = used[inside] @ slopes[inside, c] / (total + l2)
                    scores[inside, c] -= rate * step
                    scores_of_new[new[:, t, c] == leaf, c] -= rate * step
    return scores_of_new


def leaf_means(trees, samples, X, targets, weights, new):
    """Means (m, k) of the targets in the leaves of new rows, averaged over trees."""
    means = np.zeros((len(new), targets.shape[1]))
    for tree, rows in zip(trees, samples, strict=True):
        leaves, of_new = tree.apply(X), tree.apply(new)
        counts = np.bincount(rows, minlength=len(X)) * weights
        for leaf in np.unique(of_new):
            inside = leaves == leaf
            mean = counts[inside] @ targets[inside] / counts[inside].sum()
            means[of_new == leaf] += mean / len(trees)
    return means


def without_each_row(scores_of, weights, size=1e-4):
    """Changes (m, n, k) to first order, by central differences of the weights."""
    changes = []
    for row in range(len(weights)):
        step = np.zeros(len(weights))
        step[row] = size * weights[row]
        changes.append(scores_of(weights - step) - scores_of(weights + step))
    return np.stack(changes, axis=1) / (2 * size)
