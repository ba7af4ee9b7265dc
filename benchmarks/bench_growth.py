"""How the time of every estimator grows with rows and with columns.

Each estimator of tables, but those that enumerate, is fitted to tables of growing size,
with its defaults around a fitted model, and explains five rows where it explains rows.
An exponent above the one allowed is `above target`. Estimators stop at the size at
which the next would take too long.
Memory is the largest of a process of its own: what a row adds to it.
"""

import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from growth import Growth, judge
from pair import Result, largest_memory, seconds
from sklearn.base import is_regressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

from sklearn_interpret import (
    additive,
    adversarial,
    counterfactuals,
    decomposition,
    diagnosis,
    effects,
    importance,
    influence,
    interactions,
    linear,
    prototypes,
    report,
    rules,
    shapley,
    surrogates,
)

ROWS, N_COLUMNS = (1000, 2000, 4000, 8000, 16000), 10
COLUMNS, N_ROWS = (10, 20, 40, 80, 160), 500
QUICK_ROWS, QUICK_COLUMNS = (250, 500, 1000), (5, 10, 20)
# Rows between which memory is compared, and KB that a row may add: a hundred times its
# ten numbers, and the nodes of forests that grow with the rows.
FEW_AND_MANY, MOST_KB = (2000, 8000), 10.0
# Exponents allowed: sorting, caches and fixed costs move those of linear time.
LINEAR, SQUARE = 1.3, 2.3
# Seconds of a size after which the next, of twice the work or four times, is left out.
MOST_SECONDS = 8.0

FOREST = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
CLASSIFIER = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
LOGISTIC = LogisticRegression(max_iter=1000)

Make = Callable[[Any], Any]
# By class: the model, and arguments where defaults do not fit.
OF_MODELS: dict[Any, tuple[Any, dict[str, Any]]] = {
    adversarial.FastGradientSign: (LOGISTIC, {}),
    adversarial.HopSkipJump: (LOGISTIC, {"random_state": 0}),
    adversarial.MinimalPerturbation: (LOGISTIC, {}),
    adversarial.OnePixelAttack: (LOGISTIC, {"random_state": 0}),
    adversarial.ProjectedGradient: (LOGISTIC, {"random_state": 0}),
    adversarial.SubstituteAttack: (CLASSIFIER, {"random_state": 0}),
    counterfactuals.Anchors: (CLASSIFIER, {"random_state": 0}),
    counterfactuals.ExactCounterfactual: (LOGISTIC, {}),
    counterfactuals.GrowingSpheres: (LOGISTIC, {"random_state": 0}),
    counterfactuals.WachterCounterfactual: (LOGISTIC, {}),
    decomposition.NaiveBayesContributions: (GaussianNB(), {}),
    decomposition.NeighborContributions: (KNeighborsRegressor(), {}),
    decomposition.TreePathContributions: (FOREST, {}),
    diagnosis.ErrorSlices: (Ridge(), {}),
    effects.AccumulatedLocalEffects: (FOREST, {}),
    effects.ConditionalDependence: (FOREST, {}),
    effects.IndividualConditionalExpectation: (Ridge(), {"features": [0, 1]}),
    effects.PartialDependence: (FOREST, {}),
    effects.RegionalEffects: (FOREST, {"features": [0, 1]}),
    importance.ConditionalImportanceTest: (Ridge(), {"test": "gcm"}),
    importance.DropColumnImportance: (Ridge(), {}),
    importance.PartialDependenceImportance: (FOREST, {}),
    importance.PermutationImportance: (Ridge(), {"random_state": 0}),
    importance.PermutationTest: (Ridge(), {"n_permutations": 10, "random_state": 0}),
    importance.SAGE: (FOREST, {"random_state": 0}),
    influence.DataValues: (KNeighborsRegressor(), {}),
    influence.DeletionDiagnostics: (Ridge(), {}),
    influence.InfluenceFunctions: (LOGISTIC, {}),
    influence.PredictionWeights: (Ridge(), {"n_kept": 10}),
    influence.RegressionInfluence: (LinearRegression(), {}),
    interactions.HStatistic: (FOREST, {"subsample": 500}),
    interactions.PartialDependenceInteraction: (FOREST, {"subsample": 500}),
    interactions.VariableInteractionNetwork: (Ridge(), {"random_state": 0}),
    linear.CoefficientInference: (LogisticRegression(C=np.inf, max_iter=1000), {}),
    report.InspectionReport: (Ridge(), {"random_state": 0}),
    shapley.BreakDown: (LOGISTIC, {}),
    shapley.KernelSHAP: (LOGISTIC, {"random_state": 0}),
    shapley.LinearSHAP: (Ridge(), {}),
    shapley.ShapleySampling: (LOGISTIC, {"random_state": 0}),
    shapley.ShapleyValues: (FOREST, {"random_state": 0}),
    shapley.TreeSHAP: (FOREST, {}),
    surrogates.GlobalSurrogate: (FOREST, {"min_fidelity": None}),
    surrogates.LimeTabular: (FOREST, {"random_state": 0, "min_fidelity": None}),
}
OF_TABLES: dict[Any, dict[str, Any]] = {
    additive.GAMClassifier: {},
    additive.GAMRegressor: {},
    linear.SparseLinearClassifier: {"n_features_to_select": 5},
    linear.SparseLinearRegressor: {},
    prototypes.KMedoids: {"n_clusters": 10, "random_state": 0},
    prototypes.MMDCritic: {"n_prototypes": 5},
    prototypes.NearestPrototypeClassifier: {},
    prototypes.NearestPrototypeRegressor: {},
    rules.BayesianRuleListClassifier: {"random_state": 0, "n_samples": 100},
    rules.OneRClassifier: {},
    rules.RIPPERClassifier: {"random_state": 0},
    rules.RuleFitClassifier: {"random_state": 0, "max_rules": 200},
    rules.RuleFitRegressor: {"random_state": 0, "max_rules": 200},
    rules.SkopeRulesClassifier: {"random_state": 0},
}
# Those that fit the model themselves.
REFITTING = {
    diagnosis.ErrorSlices,
    influence.DeletionDiagnostics,
    importance.ConditionalImportanceTest,
    importance.DropColumnImportance,
    importance.PermutationTest,
    report.InspectionReport,
}
# Work that is larger by its nature: all pairs of rows, or of rows and leaves, where
# forests grow with their rows,
SQUARE_IN_ROWS = {
    effects.AccumulatedLocalEffects,
    effects.PartialDependence,
    effects.RegionalEffects,
    importance.SAGE,
    influence.DataValues,
    influence.DeletionDiagnostics,
    prototypes.KMedoids,
    prototypes.MMDCritic,
    prototypes.NearestPrototypeClassifier,
    prototypes.NearestPrototypeRegressor,
    shapley.ShapleyValues,
    shapley.TreeSHAP,
}
# and pairs of columns, products of columns, or for each column a fit or changed rows.
SQUARE_IN_COLUMNS = {
    additive.GAMClassifier,
    additive.GAMRegressor,
    counterfactuals.Anchors,
    counterfactuals.GrowingSpheres,
    counterfactuals.WachterCounterfactual,
    diagnosis.ErrorSlices,
    importance.ConditionalImportanceTest,
    importance.PermutationTest,
    importance.DropColumnImportance,
    importance.PermutationImportance,
    importance.SAGE,
    influence.InfluenceFunctions,
    interactions.HStatistic,
    interactions.PartialDependenceInteraction,
    interactions.VariableInteractionNetwork,
    linear.CoefficientInference,
    linear.SparseLinearClassifier,
    linear.SparseLinearRegressor,
    shapley.BreakDown,
    shapley.KernelSHAP,
    shapley.ShapleySampling,
}


def table(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of which the first columns matter, and numbers as targets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.5 * rng.normal(size=n_rows)
    return X, y


def work(kind: Any, n_rows: int, n_columns: int) -> Callable[[], Any]:
    """Return a call that fits an estimator, and explains rows where it can."""
    X, y = table(n_rows, n_columns)
    if kind in OF_TABLES:
        estimator = kind(**OF_TABLES[kind])
        targets = y if is_regressor(estimator) else y > 0
        return lambda: estimator.fit(X, targets)
    model, arguments = OF_MODELS[kind]
    targets = y if is_regressor(model) else (y > 0).astype(int)
    fitted = model if kind in REFITTING else FrozenEstimator(model.fit(X, targets))
    inspector = kind(fitted, **arguments)

    def fit_and_explain() -> None:
        inspector.fit(X, targets)
        if hasattr(inspector, "explain"):
            inspector.explain(X[:5])

    return fit_and_explain


def growth_of(
    name: str,
    *,
    kind: Any,
    along: str,
    sizes: tuple[int, ...],
    limit: float | None,
    threads: int,
    clock: Callable[[], float],
) -> Result:
    """Time an estimator at growing sizes, until the next would take too long."""
    times: list[float] = []
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for size in sizes:
            if times and times[-1] > MOST_SECONDS:
                break
            n_rows, n_columns = (size, N_COLUMNS) if along == "rows" else (N_ROWS, size)
            call = work(kind, n_rows, n_columns)
            times.append(min(seconds(call, clock) for _ in range(2)))
    measured = Growth(name, along, np.array(sizes[: len(times)]), np.array(times))
    return judge(measured, limit=limit if len(times) > 1 else None)


def peak(kind: Any, n_rows: int) -> float:
    """Return the largest memory of this process after the work."""
    warnings.simplefilter("ignore")
    work(kind, n_rows, N_COLUMNS)()
    return largest_memory()


def memory_of(name: str, *, kind: Any, limit: float | None, threads: int) -> Result:
    """Compare the memory of few rows and of many, each in a new process."""
    peaks = []
    for n_rows in FEW_AND_MANY:
        pool = ProcessPoolExecutor(
            1, get_context("spawn"), initializer=threadpool_limits, initargs=(threads,)
        )
        with pool:
            peaks.append(pool.submit(peak, kind, n_rows).result())
    few, many = FEW_AND_MANY
    by_row = (peaks[1] - peaks[0]) / 1024 / (many - few)
    return Result(
        name,
        f"{few} rows",
        *(f"{peak / 2**20:.0f} MiB" for peak in reversed(peaks)),
        f"{by_row:.1f} KB a row to {many}",
        "-" if limit is None else f"<= {limit:g}",
        "-",
        "ok" if limit is None or by_row <= limit else "above target",
    )


def cases(
    sizes: dict[str, tuple[int, ...]],
    has_target: bool,
    *,
    threads: int,
    repeats: int,
    clock: Callable[[], float],
    budget: float,
) -> dict[str, Callable[[str], Result]]:
    """Return all cases by name: an estimator, and rows or columns."""
    del repeats, budget
    kinds = (*OF_MODELS, *OF_TABLES)
    squares = {"rows": SQUARE_IN_ROWS, "columns": SQUARE_IN_COLUMNS}
    return {
        f"{kind.__name__}-{along}": partial(
            growth_of,
            kind=kind,
            along=along,
            sizes=sizes[along],
            limit=(SQUARE if kind in squares[along] else LINEAR)
            if has_target
            else None,
            threads=threads,
            clock=clock,
        )
        for kind in kinds
        for along in ("rows", "columns")
    } | {
        f"{kind.__name__}-memory": partial(
            memory_of,
            kind=kind,
            limit=None if kind in SQUARE_IN_ROWS else MOST_KB,
            threads=threads,
        )
        for kind in kinds
        if has_target
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    chosen = parser(__doc__).parse_args(arguments)
    sizes = {"rows": ROWS, "columns": COLUMNS}
    if chosen.quick:
        sizes = {"rows": QUICK_ROWS, "columns": QUICK_COLUMNS}
    return run_chosen(partial(cases, sizes, not chosen.quick), chosen)


if __name__ == "__main__":
    sys.exit(main())
