"""Interactions: H statistics against the definition, artemis and a plain loop.

Run ``python benchmarks/bench_interactions.py --help``; README.md tells how to set up
the peer and how to read the table.
"""

import sys
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from effect_pairs import frame, table
from pair import (
    Case,
    Pair,
    Result,
    count_rows,
    own_ratio,
    own_time,
    paired_seconds,
    run_pair,
    spread,
)
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
)
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.interactions import HStatistic

TOLERANCE = 1e-8
N_FEATURES = 10
# Rows per call of `predict` for the definition and for the loop.
BATCH = 100_000
# Sets of features for which the definition is evaluated; its time is scaled up from
# these.
PART = ((0,), (1,), (0, 1), tuple(range(1, N_FEATURES)))


@dataclass(frozen=True)
class Sizes:
    """How much work; `judged` tells whether the targets apply to these sizes."""

    n_trees: int
    fitted_rows: int
    few_rows: int
    rows: int
    many_rows: int
    classified_rows: int
    classified_features: int
    judged: bool

    def target(self, value: float) -> float | None:
        """Return the target at the sizes it was set for, None at others."""
        return value if self.judged else None

    @cache  # noqa: B019 - there is one for each run
    def model(self) -> GradientBoostingRegressor:
        """Boosted trees of depth 6, fitted on an array."""
        model = GradientBoostingRegressor(
            n_estimators=self.n_trees, max_depth=6, random_state=0
        )
        return model.fit(*table(self.fitted_rows, N_FEATURES))

    @cache  # noqa: B019
    def model_of_frames(self) -> GradientBoostingRegressor:
        """The same model, fitted on a frame."""
        X, y = table(self.fitted_rows, N_FEATURES)
        return GradientBoostingRegressor(
            n_estimators=self.n_trees, max_depth=6, random_state=0
        ).fit(frame(X), y)


FULL = Sizes(100, 5000, 100, 2000, 10_000, 858, 15, judged=True)
QUICK = Sizes(10, 500, 20, 100, 500, 100, 6, judged=False)


def new_rows(n_rows: int) -> np.ndarray:
    """Return rows that no model was fitted on."""
    return table(n_rows, N_FEATURES, seed=1)[0]


def ours(model: Any, X: Any, **params: Any) -> HStatistic:
    """All pairs, and every feature with all others."""
    return HStatistic(FrozenEstimator(model), **params).fit(X)


def partial_dependence(model: Any, X: np.ndarray, columns: tuple) -> np.ndarray:
    """Centred partial dependence at the rows' own values, with batched predict."""
    columns = list(columns)
    step = max(1, BATCH // len(X))
    found = []
    for start in range(0, len(X), step):
        donors = X[start : start + step]
        mixed = np.tile(X, (len(donors), 1))
        mixed[:, columns] = np.repeat(donors[:, columns], len(X), axis=0)
        found.append(model.predict(mixed).reshape(len(donors), -1).mean(axis=1))
    found = np.concatenate(found)
    return found - found.mean()


def squared(whole: np.ndarray, *terms: np.ndarray) -> float:
    """H^2 from centred partial dependences."""
    return float(((whole - sum(terms)) ** 2).sum() / (whole**2).sum())


def definition_of_part(model: Any, X: np.ndarray) -> tuple[float, float]:
    """H^2 of the first two features, and of the first with all others."""
    first, second, both, others = (partial_dependence(model, X, s) for s in PART)
    f = model.predict(X)
    return squared(both, first, second), squared(f - f.mean(), first, others)


def definition_of_all(model: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """H^2 of all pairs and all features: a loop that asks for everything once."""
    features = range(X.shape[1])
    alone = [partial_dependence(model, X, (j,)) for j in features]
    f = model.predict(X)
    f = f - f.mean()
    pairwise, overall = np.zeros((len(features),) * 2), np.zeros(len(features))
    for j, k in combinations(features, 2):
        both = partial_dependence(model, X, (j, k))
        pairwise[j, k] = pairwise[k, j] = squared(both, alone[j], alone[k])
    for j in features:
        others = partial_dependence(model, X, tuple(k for k in features if k != j))
        overall[j] = squared(f, alone[j], others)
    return pairwise, overall


def difference(found: HStatistic, expected: tuple[Any, Any]) -> float:
    """Return the largest absolute difference of all H^2."""
    pairwise, overall = expected
    return max(
        float(np.abs(found.pairwise_ - pairwise).max()),
        float(np.abs(found.overall_ - overall).max()),
    )


def against_definition(name: str, sizes: Sizes, timing: dict[str, Any]) -> Result:
    """All rows; the definition's time is extrapolated from a part of the sets."""
    model, X = sizes.model(), new_rows(sizes.rows)
    all_of_them, part = partial(ours, model, X), partial(definition_of_part, model, X)
    found, (pair, overall) = all_of_them(), part()
    missed = max(abs(found.pairwise_[0, 1] - pair), abs(found.overall_[0] - overall))
    n_sets = 2 * N_FEATURES + N_FEATURES * (N_FEATURES - 1) // 2
    times = paired_seconds(all_of_them, part, **timing)
    times[:, 1] *= n_sets / len(PART)
    ratios = times[:, 1] / times[:, 0]
    target = sizes.target(200)
    reached = target is None or np.median(ratios) >= target
    return Result(
        name,
        "batched predict",
        *(f"{middle:.3f} s" for middle in np.median(times, axis=0)),
        spread(ratios, ".0f") + " x",
        "-" if target is None else f">= {target:g}",
        f"{missed:.1e}",
        "DISAGREES"
        if not missed <= TOLERANCE
        else ("ok" if reached else "below target"),
        f"theirs is {n_sets} / {len(PART)} of the time for {len(PART)} of {n_sets} "
        "sets of features, whose results are compared",
    )


def many_rows(name: str, sizes: Sizes, timing: dict[str, Any]) -> Result:
    """How much more time more rows take."""
    model = sizes.model()
    many, few = (
        partial(ours, model, new_rows(n)) for n in (sizes.many_rows, sizes.rows)
    )
    against = f"our {sizes.rows} rows"
    return own_ratio(name, against, many, few, at_most=sizes.target(10), **timing)


def against_artemis(
    name: str, sizes: Sizes, *, method: str, target: float | None
) -> Pair:
    """Both are given a frame."""
    model, X = sizes.model_of_frames(), frame(new_rows(sizes.few_rows))

    def artemis():
        from artemis.interactions_methods.model_agnostic import FriedmanHStatisticMethod

        peer = FriedmanHStatisticMethod()
        peer.fit(model, X)
        return peer.ovo, peer.ova

    def agreement(found, expected):
        pairs, features = expected
        place = {name: position for position, name in enumerate(X)}
        pairwise = np.zeros((N_FEATURES, N_FEATURES))
        for first, second, value in pairs.itertuples(index=False):
            j, k = place[first], place[second]
            pairwise[j, k] = pairwise[k, j] = value
        overall = np.zeros(N_FEATURES)
        for feature, value in features.itertuples(index=False):
            overall[place[feature]] = value
        return difference(found, (pairwise, overall))

    work = partial(ours, model, X, method=method)
    return Pair(name, work, artemis, "pyartemis", agreement, TOLERANCE, target)


def against_loop(name: str, sizes: Sizes, *, method: str, target: float | None) -> Pair:
    """A loop over sets of features, with batched predict."""
    model, X = sizes.model(), new_rows(sizes.few_rows)
    work = partial(ours, model, X, method=method)
    loop = partial(definition_of_all, model, X)
    return Pair(name, work, loop, "numpy", difference, TOLERANCE, target)


def of_probabilities(name: str, sizes: Sizes, *, model: Any, n_classes: int) -> Pair:
    """Classifiers with the settings they come with, on rows of few distinct values."""
    X, y = table(sizes.classified_rows, sizes.classified_features)
    X = X.round(1)
    edges = np.quantile(y, np.arange(1, n_classes) / n_classes)
    model = model.fit(X, np.searchsorted(edges, y))

    def agreement(found, expected):
        return difference(found, (expected.pairwise_, expected.overall_))

    work, brute = (partial(ours, model, X, method=way) for way in ("tree", "brute"))
    target = sizes.target(4)
    return Pair(name, work, brute, "scikit-learn", agreement, 1e-10, target)


def rows_sent(name: str, X: np.ndarray, sizes: Sizes) -> Result:
    """Every distinct row that is needed, once."""
    sets = [
        columns
        for order in (1, 2, N_FEATURES - 1)
        for columns in combinations(range(N_FEATURES), order)
    ]
    needed = [X]
    for columns in map(list, sets):
        mixed = np.repeat(X[None], len(X), axis=0)
        mixed[:, :, columns] = X[:, None, columns]
        needed.append(mixed.reshape(-1, N_FEATURES))
    needed = np.unique(np.concatenate(needed), axis=0)
    return count_rows(
        name, lambda model: ours(model, X), sizes.model(), expected=len(needed)
    )


def beyond_the_model(name: str, sizes: Sizes, timing: dict[str, Any]) -> Result:
    """Our time beyond the model's."""
    X = new_rows(sizes.few_rows)
    inspect = partial(ours, X=X, method="brute")
    return own_time(name, inspect, sizes.model(), limit=sizes.target(0.3), **timing)


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name; models are fitted when a case runs."""

    def paired(build, method, target):
        target = None if target is None else sizes.target(target)
        return lambda name: run_pair(
            build(name, sizes, method=method, target=target), **timing
        )

    def probabilities(model, n_classes):
        return lambda name: run_pair(
            of_probabilities(name, sizes, model=model, n_classes=n_classes), **timing
        )

    # What artemis spends in `predict` alone is a tenth of its time: rows that are sent
    # cannot be 20 times as fast, and no target is set for them.
    few = new_rows(sizes.few_rows)
    return {
        "h-trees-definition": partial(against_definition, sizes=sizes, timing=timing),
        "h-trees-many-rows": partial(many_rows, sizes=sizes, timing=timing),
        "h-trees-artemis": paired(against_artemis, "auto", 20),
        "h-link-hist-boosting": probabilities(
            HistGradientBoostingClassifier(random_state=0), 2
        ),
        "h-link-boosting": probabilities(GradientBoostingClassifier(random_state=0), 2),
        "h-link-classes": probabilities(GradientBoostingClassifier(random_state=0), 3),
        "h-any-artemis": paired(against_artemis, "brute", None),
        "h-any-loop": paired(against_loop, "brute", 1),
        "h-any-own-time": partial(beyond_the_model, sizes=sizes, timing=timing),
        "h-any-rows": partial(rows_sent, X=few, sizes=sizes),
        "h-any-rows-rounded": partial(rows_sent, X=few.round(1), sizes=sizes),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options = parser(__doc__).parse_args(arguments)
    return run_chosen(partial(cases, QUICK if options.quick else FULL), options)


if __name__ == "__main__":
    sys.exit(main())
