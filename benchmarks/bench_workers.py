"""Time of two workers divided by that of one: processes here, and a Dask cluster.

A perfect spread is 0.5. Workers are processes of one thread each, and the models use
one thread, so that nothing but the number of workers differs. Processes are started
and sent their imports before anything is timed. Results must not depend on workers.

Cases `threads` show what a second thread of BLAS costs where matrices are small:
processor time, which adds up threads, with two divided by that with one.

One worker needs 10 to 20 seconds for a case. Workers of the cluster keep memory that
is freed, as processes do elsewhere. `tree-shap-dask-trimming` shows workers as Dask
starts them: they give it back to the system, and numpy asks for it again each time.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from effect_pairs import table
from joblib import parallel_config
from pair import Case, Result, duration, own_ratio, seconds, spread
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

from sklearn_interpret.additive import GAMRegressor
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.influence import RegressionInfluence
from sklearn_interpret.prototypes import KMedoids
from sklearn_interpret.shapley import KernelSHAP, LinearSHAP, TreeSHAP


@dataclass(frozen=True)
class Sizes:
    """Rows, trees and explained rows of a run, and whether targets are judged."""

    n_rows: int
    n_features: int
    n_trees: int
    n_explained: int
    n_sampled: int
    judged: bool

    @cache  # noqa: B019 - there is one for each run
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows and their targets."""
        return table(self.n_rows, self.n_features)

    @cache  # noqa: B019
    def fitted(self) -> FrozenEstimator:
        """Return the model."""
        model = RandomForestRegressor(self.n_trees, max_depth=10, random_state=0)
        return FrozenEstimator(model.fit(*self.data()))

    @cache  # noqa: B019
    def fitted_line(self) -> FrozenEstimator:
        """Return a linear model; its own fit takes what threads it gets."""
        return FrozenEstimator(LinearRegression().fit(*self.data()))


FULL = Sizes(10_000, 12, 300, 2_000, 16, judged=True)
# Dask's settings for its workers.
_TRIM_OF_DASK = 65536
QUICK = Sizes(300, 5, 10, 50, 6, judged=False)


def tree_shap(sizes: Sizes) -> np.ndarray:
    """Shapley values from the trees."""
    X, y = sizes.data()
    return TreeSHAP(sizes.fitted()).fit(X, y).explain(X[: sizes.n_explained]).values


def kernel_shap(sizes: Sizes) -> np.ndarray:
    """Shapley values from the model's predictions."""
    X, y = sizes.data()
    inspector = KernelSHAP(sizes.fitted(), background=X[:50], random_state=0).fit(X, y)
    return inspector.explain(X[: sizes.n_sampled]).values


def permutation_importance(sizes: Sizes) -> np.ndarray:
    """Importances by repeated permutation."""
    inspector = PermutationImportance(
        sizes.fitted(), method="permutation", n_repeats=4, random_state=0
    )
    return inspector.fit(*sizes.data()).importances_


@contextmanager
def cluster(*, trim_at=None):
    """Spread the loops over two processes of a Dask cluster.

    They give freed memory back to the system from `trim_at` bytes on; None: they keep
    what they will soon need again.
    """
    import dask
    from distributed import Client, LocalCluster

    variable = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        dask.config.set({variable: trim_at}),
        LocalCluster(**options) as local,
        Client(local),
        parallel_config("dask"),
    ):
        yield


def processes():
    """Spread the loops over two processes of joblib."""
    return parallel_config("loky", n_jobs=2)


def two_workers(
    name: str,
    work: Callable[[Sizes], Any],
    spread_by: Callable,
    sizes: Sizes,
    **run: Any,
) -> Result:
    """The same work by two workers and by one."""

    def alone():
        with parallel_config("sequential"):
            return work(sizes)

    def difference(first, second):
        return np.abs(first - second).max() / np.abs(second).max()

    with spread_by():
        return own_ratio(
            name,
            "one worker",
            partial(work, sizes),
            alone,
            agreement=difference,
            tolerance=1e-10,
            at_most=0.7 if sizes.judged else None,
            **run,
        )


def gam(sizes: Sizes) -> np.ndarray:
    """Predictions of an additive model."""
    X, y = sizes.data()
    return GAMRegressor().fit(X, y).predict(X[:100])


def medoids(sizes: Sizes) -> np.ndarray:
    """Medoids of the rows."""
    X, _ = sizes.data()
    return KMedoids(n_clusters=20, n_init=1, random_state=0).fit(X).cluster_centers_


def diagnostics(sizes: Sizes) -> np.ndarray:
    """Cook's distances of the rows."""
    influence = RegressionInfluence(sizes.fitted_line()).fit(*sizes.data())
    return influence.cooks_distances_


def linear_shap(sizes: Sizes) -> np.ndarray:
    """Shapley values of correlated features."""
    X, y = sizes.data()
    inspector = LinearSHAP(sizes.fitted_line(), perturbation="correlation").fit(X, y)
    return inspector.explain(X[: sizes.n_explained]).values


def two_threads(
    name: str, work: Callable[[Sizes], Any], sizes: Sizes, repeats: int
) -> Result:
    """Processor time of the same work with two threads of BLAS, and with one."""

    def spent(threads: int) -> float:
        with threadpool_limits(threads):
            return seconds(partial(work, sizes), time.process_time)

    work(sizes)
    times = np.array([[spent(2), spent(1)] for _ in range(repeats)])
    ratios = times[:, 0] / times[:, 1]
    within = np.median(ratios) <= 1.3 or not sizes.judged
    return Result(
        name,
        "one thread",
        *map(duration, np.median(times, axis=0)),
        spread(ratios, ".2f") + " x",
        "<= 1.3" if sizes.judged else "-",
        "-",
        "ok" if within else "above target",
    )


def cases(sizes: Sizes, **timing: Any) -> dict[str, Case]:
    """Return the cases by name; models are fitted when a case runs."""
    spreads = {"processes": processes}
    if find_spec("distributed"):
        spreads["dask"] = cluster
    works = {
        "tree-shap": tree_shap,
        "kernel-shap": kernel_shap,
        "permutation": permutation_importance,
    }
    found = {
        f"{of_work}-{of_spread}": partial(
            two_workers, work=work, spread_by=spread_by, sizes=sizes, **timing
        )
        for of_work, work in works.items()
        for of_spread, spread_by in spreads.items()
    }
    on_threads = {
        "gam": gam,
        "k-medoids": medoids,
        "regression-influence": diagnostics,
        "linear-shap": linear_shap,
    }
    found |= {
        f"threads-{of_work}": partial(
            two_threads, work=work, sizes=sizes, repeats=timing["repeats"]
        )
        for of_work, work in on_threads.items()
    }
    if "dask" in spreads:
        fewer = replace(sizes, n_trees=sizes.n_trees // 5, judged=False)
        found["tree-shap-dask-trimming"] = partial(
            found["tree-shap-dask"],
            spread_by=partial(cluster, trim_at=_TRIM_OF_DASK),
            sizes=fewer,
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    command_line = parser(__doc__)
    command_line.set_defaults(budget=30.0)  # two turns of each case: minutes in all
    options: argparse.Namespace = command_line.parse_args(arguments)
    if options.clock == "cpu":
        raise SystemExit("--clock cpu does not see the workers' processes")
    # The share of each of two workers is one thread, however many cores there are.
    os.environ["LOKY_MAX_CPU_COUNT"] = "2"
    return run_chosen(partial(cases, QUICK if options.quick else FULL), options)


if __name__ == "__main__":
    sys.exit(main())
