"""Owen and Winter values: agreement with shap, and times on groups of features.

shap's two explainers are exact for what they take (`orders`: both are compared with the
mean over all orders that keep groups together): `CoalitionExplainer` takes groups of
any size, also nested; `PartitionExplainer` a binary tree, which is a nesting of groups
of two, given enough evaluations. Ours are asked for the same nesting.

They ask the model for each explained row, and need minutes for a thousand: their time
is taken on a few rows, and multiplied by the ratio of the numbers of rows. Explainers
are constructed before that, ours are not.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from effect_pairs import table
from pair import (
    Case,
    CountingRegressor,
    Result,
    duration,
    own_ratio,
    paired_seconds,
    spread,
)
from sklearn.base import RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.shapley import ExactShapley, ShapleySampling, TreeSHAP

Timing = dict[str, Any]
# Groups of features, nested: a list of columns and lists.
Tree = list[Any]

TOLERANCE = 1e-10
# Times theirs, and times our own without groups.
TARGET, MOST = 100.0, 4.0


@dataclass(frozen=True)
class Sizes:
    """Sizes of the models and of what is explained, and whether targets are judged."""

    n_trees: int
    n_rows: int
    n_few: int
    judged: bool

    def target(self, value: float) -> float | None:
        """Return the target, or None where none is set."""
        return value if self.judged else None


FULL = Sizes(100, 1000, 5, judged=True)
QUICK = Sizes(10, 20, 2, judged=False)

# Few features, for which all orders can be listed.
FLAT: Tree = [[0, 1, 2], [3, 4], [5, 6]]
LONELY: Tree = [[0], [1], [2, 3], [4, 5, 6]]
NESTED: Tree = [[[0, 1], [2]], [[3], [4, 5, 6]]]
BINARY: Tree = [[0, 1], [[2, 3], [[4, 5], 6]]]
# Twenty features in six groups.
ENDS = (0, 4, 8, 11, 14, 17, 20)
SIX: Tree = [list(range(*ends)) for ends in pairwise(ENDS)]


def halved(members: Tree) -> Any:
    """Return the members as a balanced binary tree."""
    if len(members) == 1:
        return members[0]
    middle = (len(members) + 1) // 2
    return [halved(members[:middle]), halved(members[middle:])]


def named(tree: Tree, name: str = "group") -> dict[str, Any]:
    """Return nested groups as both packages take them: dicts, and lists of columns."""
    groups: dict[str, Any] = {}
    for number, part in enumerate(tree):
        inner = part if isinstance(part, list) else [part]
        nests = any(isinstance(one, list) for one in inner)
        label = f"{name}_{number}"
        groups[label] = named(inner, label) if nests else inner
    return groups


def n_columns(tree: Any) -> int:
    """Return the number of columns below a node."""
    return sum(map(n_columns, tree)) if isinstance(tree, list) else 1


def linkage(tree: Tree) -> np.ndarray:
    """Return a binary tree as shap takes it: one row for each merge."""
    merges: list[list[float]] = []

    def merge(node: Any) -> int:
        if not isinstance(node, list):
            return int(node)
        left, right = map(merge, node)
        # The height is of no account, as long as it is positive.
        merges.append([left, right, len(merges) + 1, n_columns(node)])
        return n_columns(tree) + len(merges) - 1

    merge(tree)
    return np.array(merges)


def orders(tree: Any) -> Iterator[tuple[int, ...]]:
    """Yield the orders of columns that keep each group together."""
    if not isinstance(tree, list):
        yield (tree,)
        return
    for parts in permutations(tree):
        for inner in product(*(list(orders(part)) for part in parts)):
            yield sum(inner, ())


def by_orders(
    model: RegressorMixin, background: np.ndarray, row: np.ndarray, tree: Tree
) -> np.ndarray:
    """Return a row's values by their definition: means over all permitted orders."""
    p = len(row)
    members = (np.arange(2**p)[:, None] >> np.arange(p)) & 1
    mixed = np.where(members[:, None] == 1, row, background)
    answers = model.predict(mixed.reshape(-1, p)).reshape(2**p, -1).mean(axis=1)
    values, n_orders = np.zeros(p), 0
    for order in orders(tree):
        joined = np.cumsum([0, *(1 << column for column in order)])
        values[list(order)] += np.diff(answers[joined])
        n_orders += 1
    return values / n_orders


@cache
def boosted(n_trees: int, n_features: int, max_depth: int) -> RegressorMixin:
    """Return boosted trees."""
    model = GradientBoostingRegressor(
        n_estimators=n_trees, max_depth=max_depth, random_state=0
    )
    return model.fit(*table(2000, n_features))


def ours(
    estimator: Callable[..., Any],
    model: RegressorMixin,
    background: np.ndarray,
    tree: Tree,
    rows: np.ndarray,
    **params: Any,
) -> np.ndarray:
    """Return our values within groups."""
    inspector = estimator(
        FrozenEstimator(model),
        background=background,
        feature_groups=named(tree),
        within_groups=True,
        **params,
    )
    return inspector.fit(background).explain(rows).values


def without_groups(
    model: RegressorMixin, background: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Return our Shapley values without groups."""
    inspector = TreeSHAP(FrozenEstimator(model), background=background)
    return inspector.fit(background).explain(rows).values


def masker(background: np.ndarray, binary: Tree) -> Any:
    """Return shap's background, with a clustering, which both explainers ask for."""
    import shap

    found = shap.maskers.Partition(
        background, max_samples=len(background), clustering=linkage(binary)
    )
    found.feature_names = list(range(background.shape[1]))
    return found


def coalition(
    model: RegressorMixin, background: np.ndarray, tree: Tree
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the values of shap's coalition explainer as a function of rows."""
    import shap

    # The clustering is not used: the groups are.
    cover = masker(background, halved(list(range(background.shape[1]))))
    explainer = shap.CoalitionExplainer(
        model.predict, cover, partition_tree=named(tree)
    )
    return lambda rows: explainer(rows, silent=True).values


def partition(
    model: RegressorMixin, background: np.ndarray, tree: Tree
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the values of shap's partition explainer as a function of rows."""
    import shap

    explainer = shap.PartitionExplainer(model.predict, masker(background, tree))
    # All that there are: with fewer, parts of the tree share alike.
    return lambda rows: explainer(rows, max_evals=10**6, silent=True).values


def definition(name: str, *, tree: Tree, peer: Callable[..., Any]) -> Result:
    """Compare all with the mean over orders that keep groups together."""
    model = boosted(20, 7, 6)
    background, rows = table(50, 7, 1)[0][:9], table(3, 7, 2)[0]
    truth = np.array([by_orders(model, background, row, tree) for row in rows])
    given = model, background, tree

    def difference(values: np.ndarray) -> float:
        return float(np.abs(values - truth).max())

    own = {
        "TreeSHAP": difference(ours(TreeSHAP, *given, rows)),
        "ExactShapley": difference(ours(ExactShapley, *given, rows)),
    }
    try:
        theirs = f"{difference(peer(*given)(rows)):.1e}"
    except ImportError as error:
        theirs = f"{type(error).__name__}: {error}"
    worst = max(own.values())
    return Result(
        name,
        "all permitted orders",
        *"---",
        f"<= {TOLERANCE:g}",
        f"{worst:.1e}",
        "ok" if worst <= TOLERANCE else "DISAGREES",
        ", ".join(f"{label} {error:.1e}" for label, error in own.items())
        + f"; shap {peer.__name__} {theirs}",
    )


def sampled(name: str, *, sizes: Sizes) -> Result:
    """Compare sampled values with exact ones, in their standard errors."""
    model = boosted(20, 7, 6)
    background, rows = table(50, 7, 1)[0][:20], table(5, 7, 2)[0]
    exact = ours(ExactShapley, model, background, NESTED, rows)
    inspector = ShapleySampling(
        FrozenEstimator(model),
        background=background,
        feature_groups=named(NESTED),
        within_groups=True,
        n_permutations=100 if sizes.judged else 10,
        random_state=0,
    )
    explained = inspector.fit(background).explain(rows)
    errors = np.maximum(explained.standard_errors, TOLERANCE)
    worst = float((np.abs(explained.values - exact) / errors).max())
    return Result(
        name,
        "ours, exact",
        *"--",
        f"{worst:.1f} standard errors",
        "<= 5",
        f"{np.abs(explained.values - exact).max():.1e}",
        "ok" if worst <= 5 or not sizes.judged else "DISAGREES",
    )


def by_few_rows(
    name: str,
    *,
    model: RegressorMixin,
    own: Callable[[np.ndarray, np.ndarray], np.ndarray],
    peer: Callable[..., Any],
    tree: Tree,
    sizes: Sizes,
    target: float | None,
    timing: Timing,
) -> Result:
    """Compare times where theirs is taken on a few of the rows, and scaled."""
    X, _ = table(100 + sizes.n_rows, model.n_features_in_, 3)
    background, rows = X[:100], X[100:]
    few = rows[: sizes.n_few]
    try:
        theirs = peer(model, background, tree)
        own_few = own(background, rows)[: len(few)]
        difference = float(np.abs(own_few - theirs(few)).max())
    except ImportError as error:
        note = f"{type(error).__name__}: {error}"
        return Result(name, "shap", *"-----", "peer missing", note)
    times = paired_seconds(lambda: own(background, rows), lambda: theirs(few), **timing)
    times[:, 1] *= len(rows) / len(few)
    ratios = times[:, 1] / times[:, 0]
    reached = target is None or np.median(ratios) >= target
    return Result(
        name,
        f"shap {version('shap')} {peer.__name__}",
        *map(duration, np.median(times, axis=0)),
        spread(ratios, ".1f") + " x",
        "-" if target is None else f">= {target:g}",
        f"{difference:.1e}",
        ("ok" if reached else "below target")
        if difference <= TOLERANCE
        else "DISAGREES",
        f"theirs from {len(few)} of {len(rows)} rows",
    )


def growth(name: str, *, tree: Tree, sizes: Sizes, timing: Timing) -> Result:
    """Compare our time with groups and without."""
    model = boosted(sizes.n_trees, 20, 6)
    X, _ = table(100 + sizes.n_rows, 20, 3)
    given = model, X[:100]
    return own_ratio(
        name,
        "ours, without groups",
        lambda: ours(TreeSHAP, *given, tree, X[100:]),
        lambda: without_groups(*given, X[100:]),
        at_most=sizes.target(MOST),
        **timing,
    )


def model_rows(name: str, *, tree: Tree) -> Result:
    """Compare the rows that the model is sent, at the same values."""
    X, _ = table(60, 8, 3)
    background, rows = X[:50], X[50:53]
    spies = CountingRegressor(boosted(20, 8, 6)), CountingRegressor(boosted(20, 8, 6))
    try:
        theirs = coalition(spies[1], background, tree)(rows)
    except ImportError as error:
        note = f"{type(error).__name__}: {error}"
        return Result(name, "shap", *"-----", "peer missing", note)
    own = ours(ExactShapley, spies[0], background, tree, rows)
    difference = float(np.abs(own - theirs).max())
    few = spies[0].n_rows_ <= spies[1].n_rows_
    return Result(
        name,
        f"shap {version('shap')} coalition",
        *(f"{spy.n_rows_}" for spy in spies),
        f"{spies[1].n_rows_ / spies[0].n_rows_:.2f} x fewer rows",
        ">= 1",
        f"{difference:.1e}",
        ("ok" if few else "below target") if difference <= TOLERANCE else "DISAGREES",
    )


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name; models are fitted when a case runs."""

    def trees(name: str, *, tree: Tree, peer: Callable[..., Any]) -> Result:
        model = boosted(sizes.n_trees, 20, 6)
        return by_few_rows(
            name,
            model=model,
            own=lambda background, rows: ours(TreeSHAP, model, background, tree, rows),
            peer=peer,
            tree=tree,
            sizes=sizes,
            target=sizes.target(TARGET),
            timing=timing,
        )

    def any_model(name: str) -> Result:
        # The wrapper hides the trees.
        model = CountingRegressor(boosted(20, 8, 6))
        tree: Tree = [[0, 1, 2], [3, 4, 5], [6, 7]]
        return by_few_rows(
            name,
            model=model,
            own=lambda background, rows: ours(
                ExactShapley, model, background, tree, rows
            ),
            peer=coalition,
            tree=tree,
            sizes=Sizes(0, 2 * sizes.n_few, sizes.n_few, sizes.judged),
            target=sizes.target(1.0),
            timing=timing,
        )

    binary = halved([halved(group) for group in SIX])
    return {
        "orders-flat": partial(definition, tree=FLAT, peer=coalition),
        "orders-lonely": partial(definition, tree=LONELY, peer=coalition),
        "orders-nested": partial(definition, tree=NESTED, peer=coalition),
        "orders-binary": partial(definition, tree=BINARY, peer=partition),
        "sampled": partial(sampled, sizes=sizes),
        "groups": partial(trees, tree=SIX, peer=coalition),
        "binary": partial(trees, tree=binary, peer=partition),
        "growth-groups": partial(growth, tree=SIX, sizes=sizes, timing=timing),
        "growth-binary": partial(growth, tree=binary, sizes=sizes, timing=timing),
        "any-model": any_model,
        "any-model-rows": partial(model_rows, tree=[[0, 1, 2], [3, 4, 5], [6, 7]]),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    chosen = parser(__doc__).parse_args(arguments)
    sizes = QUICK if chosen.quick else FULL
    return run_chosen(partial(cases, sizes), chosen)


if __name__ == "__main__":
    sys.exit(main())
