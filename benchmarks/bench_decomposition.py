"""Contributions along decision paths, against treeinterpreter's and a table of nodes.

The table is the obvious fast way: for each tree the contributions at every node, found
level by level, and one `apply` to look rows up in it. Ours is timed without and with
`fit`, which reads the trees. It fails where contributions are not the same.
"""

import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Pair, Result, run_pair
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.decomposition import TreePathContributions

Contributions = np.ndarray


@cache
def forest(kind: str, n_rows: int, n_columns: int, n_trees: int) -> tuple[Any, Any]:
    """Return a forest of fully grown trees, and the rows that it was fitted on."""
    if kind == "regression":
        X, y = make_regression(n_rows, n_columns, noise=10, random_state=0)
        return RandomForestRegressor(n_trees, random_state=0).fit(X, y), X
    X, y = make_classification(
        n_rows, n_columns, n_informative=5, n_classes=3, random_state=0
    )
    return RandomForestClassifier(n_trees, random_state=0).fit(X, y), X


def by_inspector(inspector: TreePathContributions, X: np.ndarray) -> Contributions:
    """Return our contributions, (n_rows, n_columns, k)."""
    values = inspector.explain(X).values
    return values if values.ndim == 3 else values[:, :, None]


def fitted(model: Any, X: np.ndarray) -> TreePathContributions:
    """Return an inspector of a fitted model."""
    return TreePathContributions(FrozenEstimator(model)).fit(X)


def by_treeinterpreter(model: Any, X: np.ndarray) -> Contributions:
    """Return the contributions that treeinterpreter finds."""
    from treeinterpreter import treeinterpreter

    _, _, values = treeinterpreter.predict(model, X)
    return values if values.ndim == 3 else values[:, :, None]


def by_table(model: Any, X: np.ndarray) -> Contributions:
    """Return contributions by a table of all nodes for each tree."""
    total = 0.0
    for member in model.estimators_:
        tree = member.tree_
        value = tree.value.transpose(0, 2, 1)[..., 0]
        table = np.zeros((tree.node_count, X.shape[1], value.shape[1]))
        nodes = np.zeros(1, dtype=np.intp)
        while len(nodes):
            nodes = nodes[tree.children_left[nodes] >= 0]
            children = tree.children_left[nodes], tree.children_right[nodes]
            for child in children:
                table[child] = table[nodes]
                table[child, tree.feature[nodes]] += value[child] - value[nodes]
            nodes = np.concatenate(children)
        total = total + table[member.apply(X)]
    return total / len(model.estimators_)


def largest(ours: Contributions, theirs: Contributions) -> float:
    """Return the largest difference, in parts of the largest contribution."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def against(
    name: str,
    *,
    sizes: tuple[str, int, int, int],
    peer: Callable[..., Contributions],
    package: str,
    with_fit: bool,
    target: float | None,
    **run: Any,
) -> Result:
    """Compare with a peer on one forest."""
    model, X = forest(*sizes)
    inspector = fitted(model, X)
    pair = Pair(
        name,
        lambda: by_inspector(fitted(model, X) if with_fit else inspector, X),
        partial(peer, model, X),
        package,
        agreement=largest,
        tolerance=1e-12,
        target_ratio=target,
    )
    return run_pair(pair, **run)


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    forests = {
        "small": ("regression", 100, 5, 10),
        "small classes": ("classification", 100, 10, 10),
        "large": ("regression", 2000, 10, 100),
        "wide": ("regression", 2000, 200, 100),
        "classes": ("classification", 2000, 10, 100),
    }
    found: dict[str, Case] = {}
    for kind, sizes in forests.items():
        judged = not kind.startswith("small") and not quick
        if quick:
            sizes = (sizes[0], 100, min(sizes[2], 70), 5)
        common = {"sizes": sizes, **run}
        if sizes[0] == "classification":  # with numpy 2 it fails for regressors
            found[f"{kind}, treeinterpreter"] = partial(
                against,
                peer=by_treeinterpreter,
                package="treeinterpreter",
                with_fit=True,
                target=None,
                **common,
            )
        for with_fit in (False, True):
            found[f"{kind}, table{', and fit' * with_fit}"] = partial(
                against,
                peer=by_table,
                package="scikit-learn",
                with_fit=with_fit,
                target=1.0 if judged and not with_fit else None,
                **common,
            )
    return found


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))
