"""Trees: TreeSHAP and exact effects against shap, woodelf, scikit-learn and others.

Run ``python benchmarks/bench_trees.py --help``; README.md tells how to set up the
peers and how to read the table.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from effect_pairs import (
    TOLERANCE,
    ale_against_alibi,
    ale_against_pyale,
    even_grids,
    frame,
    largest_difference,
    our_ale,
    our_pd,
    pd_against_sklearn,
    table,
)
from growth import Growth, draw, judge, measure
from pair import (
    Case,
    CountingRegressor,
    Pair,
    Result,
    bounded_memory,
    own_ratio,
    run_pair,
)
from sklearn.ensemble import HistGradientBoostingRegressor
from tree_pairs import (
    INTERACTIONS,
    VALUES,
    Models,
    against_shap,
    against_woodelf,
    our_inspector,
    our_shap,
    pd_against_woodelf,
    relative_difference,
)

SUM_TOLERANCE = 1e-9
# Of one row from the fitted model: at most three times shap's time.
FIRST_ROW = 1 / 3
# Of rows of an inspector that is fitted: times shap, by the largest number of rows; so
# many seconds are little enough.
FEW = {100: 1.0, 1000: 2.5}
LITTLE = 0.002
# Of very many rows, wide ones: times woodelf, by perturbation.
SCALE = {"path": 4, "interventional": 3}
SCALE_ROWS = 10_000, 100_000, 300_000
# Targets of path-dependent values, by model: times shap, times woodelf.
PATH = {"gb": (25, 7), "rf": (15, 9), "hgb": (15, None), "deep": (3.5, 4)}
# Of exact partial dependence: times scikit-learn's brute force, times woodelf.
PARTIAL_DEPENDENCE = {"gb": (100, 2), "hgb": (50, 2), "deep": (10, None)}
BOUNDED = ("gb", "rf", "hgb")
# Little, in MiB, so that the small sizes fill it too.
WORKING_MEMORY = 64
# Timing noise on top of linear, and of constant.
LINEAR, CONSTANT = 1.1, 0.1


@dataclass(frozen=True)
class Sizes:
    """How much work; `judged` tells whether the targets apply to these sizes.

    Attributes
    ----------
    wide : Models
        Those of the cases of very many rows.
    few_rows : tuple of int
        Rows explained where few are.
    rows, deep_rows : int
        Rows explained, by a bounded model and by the fully grown forest.
    some_rows : int
        Rows explained where each takes a peer long.
    background, little_background : int
        Background rows.
    pd_rows, many_rows : int
        Rows of partial dependence, and of the large cases.
    memory_rows : tuple of int
        Rows, and background rows, between which memory should not grow.
    growth, grids : tuple of int
        Rows and grid values of the plot.
    """

    models: Models
    wide: Models
    few_rows: tuple[int, ...]
    rows: int
    deep_rows: int
    some_rows: int
    background: int
    little_background: int
    pd_rows: int
    many_rows: int
    memory_rows: tuple[int, int]
    growth: tuple[int, ...]
    grids: tuple[int, ...]
    judged: bool

    def target(self, value: float | None) -> float | None:
        """Return the target at the sizes it was set for, None at others."""
        return value if self.judged else None

    def explained(self, kind: str) -> np.ndarray:
        """Return the rows that are explained for one kind of model."""
        return self.models.new_rows(self.deep_rows if kind == "deep" else self.rows)

    def reference(self, n_rows: int) -> np.ndarray:
        """Return background rows, others than those explained."""
        return self.models.new_rows(n_rows, seed=2)


FULL = Sizes(
    models=Models(20, 100, 10_000, 5000),
    wide=Models(127, 100, 10_000, 0),
    few_rows=(1, 10, 100, 1000),
    rows=10_000,
    deep_rows=1000,
    some_rows=1000,
    background=10_000,
    little_background=100,
    pd_rows=2000,
    many_rows=100_000,
    memory_rows=(25_000, 400_000),
    growth=(2000, 8000, 32_000, 128_000, 400_000),
    grids=(10, 100, 1000, 10_000),
    judged=True,
)
QUICK = Sizes(
    models=Models(5, 20, 1000, 500),
    wide=Models(12, 20, 1000, 0),
    few_rows=(1, 10),
    rows=300,
    deep_rows=100,
    some_rows=50,
    background=500,
    little_background=20,
    pd_rows=300,
    many_rows=3000,
    memory_rows=(1000, 8000),
    growth=(100, 400, 1600, 6400),
    grids=(10, 100, 1000),
    judged=False,
)


Timing = dict[str, Any]


def paired(build: Callable[..., Pair], *args: Any, timing: Timing, **params: Any):
    """Return the case of a pair, which is built when it is run."""
    return lambda name: run_pair(build(name, *args, **params), **timing)


def path_cases(sizes: Sizes, timing: Timing) -> dict[str, Case]:
    """Path-dependent values of many rows."""
    cases = {}
    for kind, (shap_ratio, woodelf_ratio) in PATH.items():
        X = sizes.explained(kind)
        for peer, build, ratio in (
            ("shap", against_shap, shap_ratio),
            ("woodelf", against_woodelf, woodelf_ratio),
        ):
            target = sizes.target(ratio)
            work = sizes.models, kind, X
            case = paired(build, *work, target=target, timing=timing)
            cases[f"path-{kind}-{peer}"] = case
    return cases


def few_cases(sizes: Sizes, timing: Timing) -> dict[str, Case]:
    """Few rows of a fitted inspector, and the first row from the fitted model."""
    X = sizes.models.new_rows(max(sizes.few_rows))
    backgrounds = {
        "path": None,
        "interventional": sizes.reference(sizes.little_background),
    }
    cases = {}
    for kind, (what, background) in product(PATH, backgrounds.items()):
        pair = partial(paired, against_shap, sizes.models, kind, background=background)
        target = sizes.target(FIRST_ROW)
        cases[f"first-{kind}-{what}"] = pair(X[:1], target=target, timing=timing)
        for n_rows in sizes.few_rows:
            cases[f"few-{kind}-{what}-{n_rows}"] = pair(
                X[:n_rows],
                again=True,
                target=sizes.target(next(FEW[most] for most in FEW if n_rows <= most)),
                enough=LITTLE,
                timing=timing,
            )
    return cases


def few_pairs(name: str, kind: str, sizes: Sizes) -> Pair:
    """Interaction values of a hundred rows by fitted inspectors, against shapiq."""
    models = replace(sizes.models, n_features=min(10, sizes.models.n_features))
    model, X = models.fitted(kind), models.new_rows(100)
    inspector = our_inspector(model, X)

    @cache
    def explainer() -> Any:
        import shapiq

        return shapiq.TreeExplainer(model, index="SII", max_order=2, min_order=1)

    def difference(ours: np.ndarray, theirs: Any) -> float:
        first, second = np.triu_indices(X.shape[1], 1)
        halves = [
            [row[pair] / 2 for pair in zip(first, second, strict=True)]
            for row in theirs
        ]
        return relative_difference(models.spread(kind), ours[:, first, second], halves)

    return Pair(
        name,
        lambda: inspector.interaction_values(X),
        lambda: explainer().explain_X(X),
        "shapiq",
        difference,
        SUM_TOLERANCE,
        target_ratio=sizes.target(2),
    )


def one_row(name: str, kind: str, sizes: Sizes, timing: Timing) -> Result:
    """Values of a row by a fitted inspector, in times of the model's prediction."""
    model, X = sizes.models.fitted(kind), sizes.models.new_rows(1)
    inspector = our_inspector(model, X)
    explain, predict = partial(inspector.explain, X), partial(model.predict, X)
    at_most = sizes.target(2)
    return own_ratio(
        name, "the model's predict", explain, predict, at_most=at_most, **timing
    )


def warm_cases(sizes: Sizes, timing: Timing) -> dict[str, Case]:
    """Pairs of few rows, and one row, by inspectors that have their tables."""
    return {
        f"pairs-{kind}-shapiq": paired(few_pairs, kind, sizes, timing=timing)
        for kind in BOUNDED
    } | {
        f"one-{kind}-predict": partial(one_row, kind=kind, sizes=sizes, timing=timing)
        for kind in BOUNDED
    }


def off_splits(model: Any, X: np.ndarray) -> np.ndarray:
    """Move values next to a split of XGBoost away from it.

    woodelf sends the last number of single precision below a split to the wrong side.
    """
    nodes = model.get_booster().trees_to_dataframe()
    for feature, splits in nodes[nodes.Feature != "Leaf"].groupby("Feature").Split:
        values = X[:, int(feature[1:])]
        splits = np.unique(splits)
        place = np.searchsorted(splits, values)
        beside = splits[[np.maximum(place - 1, 0), place.clip(max=len(splits) - 1)]]
        values[(np.abs(values - beside) < 1e-6).any(axis=0)] += 1e-4
    return X


def scale_pair(name: str, what: str, n_rows: int, sizes: Sizes) -> Pair:
    """Very many wide rows, against as many others."""
    rows, others = (partial(sizes.wide.new_rows, n_rows, seed) for seed in (1, 2))
    apart = partial(off_splits, sizes.wide.fitted("xgb"))
    background = apart(others()) if what == "interventional" else None
    target = sizes.target(SCALE[what])
    return against_woodelf(
        name, sizes.wide, "xgb", apart(rows()), background=background, target=target
    )


def scale_cases(sizes: Sizes, timing: Timing) -> dict[str, Case]:
    """Values at scale, by perturbation and number of rows."""
    row_counts = SCALE_ROWS if sizes.judged else (sizes.many_rows,)
    return {
        f"scale-{what}-{n_rows}": paired(scale_pair, what, n_rows, sizes, timing=timing)
        for what, n_rows in product(SCALE, row_counts)
    }


def interventional_cases(sizes: Sizes, timing: Timing) -> dict[str, Case]:
    """Interventional values, with more background rows than shap can bear."""
    cases = {}
    for kind in BOUNDED:
        X = sizes.explained(kind)
        few, many = map(sizes.reference, (sizes.little_background, sizes.background))
        for against, build, rows, background, ratio in (
            ("shap", against_shap, X[: sizes.some_rows], few, 10),
            ("woodelf", against_woodelf, X[: sizes.some_rows], many, 4),
            ("woodelf-many", against_woodelf, X, many, 6),
        ):
            cases[f"interventional-{kind}-{against}"] = paired(
                build,
                sizes.models,
                kind,
                rows,
                background=background,
                target=sizes.target(ratio),
                timing=timing,
            )
    return cases


def sum_of_interactions(name: str, sizes: Sizes, timing: Timing) -> Result:
    """Interventional interactions, whose rows sum to the values; shap has none."""
    model = sizes.models.fitted("gb")
    X = sizes.models.new_rows(sizes.some_rows)
    background = sizes.reference(sizes.background)

    def agreement(interactions, values):
        spread = sizes.models.spread("gb")
        return relative_difference(spread, interactions.sum(axis=2), values)

    return own_ratio(
        name,
        "our values",
        partial(our_shap, INTERACTIONS, model, X, background),
        partial(our_shap, VALUES, model, X, background),
        agreement=agreement,
        tolerance=SUM_TOLERANCE,
        **timing,
    )


def interaction_cases(sizes: Sizes, timing: Timing) -> dict[str, Case]:
    """Interaction values of both perturbations."""
    work = sizes.models, "gb", sizes.models.new_rows(sizes.some_rows)
    params = {"quantity": INTERACTIONS, "timing": timing}
    background = sizes.reference(sizes.little_background)
    return {
        "interactions-gb-shap": paired(
            against_shap, *work, target=sizes.target(50), **params
        ),
        "interactions-gb-woodelf": paired(
            against_woodelf, *work, target=None, **params
        ),
        "interactions-gb-woodelf-base": paired(
            against_woodelf, *work, background=background, target=None, **params
        ),
        "interactions-gb-sum": partial(sum_of_interactions, sizes=sizes, timing=timing),
    }


def pd_against_brute(
    name: str, models: Models, kind: str, X: np.ndarray, *, target: float | None
) -> Pair:
    """The exact curves against scikit-learn's predictions on perturbed rows."""
    model = models.fitted(kind)
    return pd_against_sklearn(name, model, X, method="auto", target=target)


def pd_many_rows(name: str, kind: str, sizes: Sizes, timing: Timing) -> Result:
    """The same curves over many more rows."""
    model = sizes.models.fitted(kind)
    many, few = (
        partial(our_pd, model, X, even_grids(X), method="auto")
        for X in map(sizes.models.new_rows, (sizes.many_rows, sizes.pd_rows))
    )
    against = f"our {sizes.pd_rows} rows"
    return own_ratio(name, against, many, few, at_most=sizes.target(5), **timing)


def pd_cases(sizes: Sizes, timing: Timing) -> dict[str, Case]:
    """Exact partial dependence of all features."""
    X = sizes.models.new_rows(sizes.pd_rows)
    cases = {}
    for kind, (brute_ratio, woodelf_ratio) in PARTIAL_DEPENDENCE.items():
        for peer, build, ratio in (
            ("sklearn", pd_against_brute, brute_ratio),
            ("woodelf", pd_against_woodelf, woodelf_ratio),
        ):
            target = sizes.target(ratio)
            work = sizes.models, kind, X
            case = paired(build, *work, target=target, timing=timing)
            cases[f"pd-{kind}-{peer}"] = case
        cases[f"pd-{kind}-rows"] = partial(
            pd_many_rows, kind=kind, sizes=sizes, timing=timing
        )
    return cases


def ale_pair(
    name: str, build: Callable[..., Pair], container: Callable, sizes: Sizes
) -> Pair:
    """Effects of boosted trees over the many rows that they are fitted on."""
    X, y = table(sizes.many_rows, sizes.models.n_features)
    X = container(X)
    model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
    return build(name, model, X, target=sizes.target(8))


def ale_brute(name: str, sizes: Sizes, timing: Timing) -> Result:
    """Our path for any model: the same one, with its kind hidden."""
    X, y = table(sizes.many_rows, sizes.models.n_features)
    model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
    return own_ratio(
        name,
        "our exact effects",
        partial(our_ale, CountingRegressor(model), X),
        partial(our_ale, model, X),
        agreement=lambda a, b: largest_difference(a.effects_, b.effects_),
        tolerance=TOLERANCE,
        **timing,
    )


def ale_cases(sizes: Sizes, timing: Timing) -> dict[str, Case]:
    """Accumulated local effects of all features."""
    return {
        "ale-hgb-pyale": paired(
            ale_pair, ale_against_pyale, frame, sizes, timing=timing
        ),
        "ale-hgb-alibi": paired(
            ale_pair, ale_against_alibi, np.asarray, sizes, timing=timing
        ),
        "ale-hgb-brute": partial(ale_brute, sizes=sizes, timing=timing),
    }


def large_work(
    what: str, sizes: Sizes, *, n_rows: int, n_background: int, **params: Any
) -> Callable[[], Any]:
    """Return the cases with two workers and with many rows."""
    X = sizes.models.new_rows(n_rows)
    quantity, _, kind = what.partition("-")
    model = sizes.models.fitted(kind)
    if quantity == "pd":
        return partial(our_pd, model, X, even_grids(X), method="auto", **params)
    if quantity == "ale":
        return partial(our_ale, model, X, **params)
    background = {"path": None, "interventional": sizes.reference(n_background)}[
        quantity
    ]
    return partial(our_shap, VALUES, model, X, background, **params)


def two_jobs(name: str, what: str, n_rows: int, sizes: Sizes, timing: Timing) -> Result:
    """Two workers against one, of one thread each; the results must be equal."""
    one, two = (
        large_work(
            what, sizes, n_rows=n_rows, n_background=sizes.background, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    )

    def agreement(first, second):
        if hasattr(first, "average_"):
            first, second = first.average_, second.average_
        return largest_difference(list(first), list(second))

    # The processor's time adds up workers, or leaves them out.
    timing = {**timing, "clock": time.perf_counter}
    return own_ratio(
        name,
        "n_jobs=2",
        one,
        two,
        agreement=agreement,
        at_least=sizes.target(1.6),
        **timing,
    )


def job_cases(sizes: Sizes, timing: Timing) -> dict[str, Case]:
    """The large cases with two workers."""
    rows = {
        "path-gb": sizes.many_rows,
        "path-deep": sizes.deep_rows,
        "interventional-gb": sizes.many_rows,
        "pd-deep": sizes.many_rows,
    }
    return {
        f"jobs-{what}": partial(
            two_jobs, what=what, n_rows=n_rows, sizes=sizes, timing=timing
        )
        for what, n_rows in rows.items()
    }


def memory(name: str, what: str, sizes: Sizes) -> Result:
    """Many times the rows, and as many times the background."""
    small, large = (
        large_work(what, sizes, n_rows=n_rows, n_background=n_rows)
        for n_rows in sizes.memory_rows
    )
    limit = sizes.target(1)
    return bounded_memory(
        name, small, large, working_memory=WORKING_MEMORY, limit=limit
    )


def memory_cases(sizes: Sizes) -> dict[str, Case]:
    """Peak memory beyond the results."""
    names = "path-gb", "interventional-gb", "pd-gb", "ale-gb"
    return {f"memory-{what}": partial(memory, what=what, sizes=sizes) for what in names}


@dataclass(frozen=True)
class GrowthPlan:
    """The growing quantity, the work at one size, and the largest exponent allowed."""

    size_name: str
    work: Callable[[int], Callable[[], Any]]
    amounts: tuple[int, ...]
    limit: float | None

    def run(self, name: str, growths: list[Growth], timing: Timing) -> Result:
        """Measure, keep the points for the plot, judge."""
        found = measure(name, self.size_name, self.work, self.amounts, **timing)
        growths.append(found)
        return judge(found, limit=self.limit)


def growth_cases(
    sizes: Sizes, growths: list[Growth], timing: Timing
) -> dict[str, Case]:
    """Time over rows explained, background rows and grid values, boosted trees."""

    def rows(what):
        little = sizes.little_background
        return lambda n: large_work(what, sizes, n_rows=n, n_background=little)

    def background(n):
        work = {"n_rows": sizes.some_rows, "n_background": n}
        return large_work("interventional-gb", sizes, **work)

    def grid(n):
        X = sizes.models.new_rows(sizes.pd_rows)
        model = sizes.models.fitted("gb")
        return partial(our_pd, model, X, even_grids(X, n), method="auto")

    linear = sizes.growth, sizes.target(LINEAR)
    constant = sizes.grids, sizes.target(CONSTANT)
    plans = {
        "path-rows": GrowthPlan("rows explained", rows("path-gb"), *linear),
        "interventional-rows": GrowthPlan(
            "rows explained", rows("interventional-gb"), *linear
        ),
        "background": GrowthPlan("background rows", background, *linear),
        "pd-rows": GrowthPlan("rows averaged", rows("pd-gb"), *linear),
        "pd-grid": GrowthPlan("grid values", grid, *constant),
    }
    return {
        f"growth-{name}": partial(plan.run, growths=growths, timing=timing)
        for name, plan in plans.items()
    }


def cases(
    sizes: Sizes, growths: list[Growth], at_scale: bool, **timing: Any
) -> dict[str, Case]:
    """Return the cases by name; models are fitted when a case runs."""
    return {
        **few_cases(sizes, timing),
        **warm_cases(sizes, timing),
        **path_cases(sizes, timing),
        **interventional_cases(sizes, timing),
        **interaction_cases(sizes, timing),
        **pd_cases(sizes, timing),
        **ale_cases(sizes, timing),
        **job_cases(sizes, timing),
        **memory_cases(sizes),
        **growth_cases(sizes, growths, timing),
        **(scale_cases(sizes, timing) if at_scale else {}),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    options = parser(__doc__)
    options.add_argument(
        "--plot", metavar="PNG", help="save what the growth cases measured"
    )
    options = options.parse_args(arguments)
    growths = []
    sizes = QUICK if options.quick else FULL
    # They take long, and much memory: by name only.
    at_scale = any(text.startswith("scale") for text in options.only)
    status = run_chosen(partial(cases, sizes, growths, at_scale), options)
    if options.plot and growths:
        draw(growths, options.plot)
        print(f"saved {options.plot}")
    return status


if __name__ == "__main__":
    sys.exit(main())
