"""k-medoids: time and sum of distances against the kmedoids package's FasterPAM.

Both sides compute the distances, too. Ours starts as often as it does by default, the
peer once: the mean of our sums over those of theirs, on five tables from many seeds,
must not be above one, whatever our first start, and our time not above three times
theirs. With one start ours should take no longer than theirs, grow no faster than rows
to the power of 2.1, and take a tenth of the memory.
"""

import sys
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Pair, Result, own_ratio, peak_memory, run_pair, spread
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_blobs
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.prototypes import KMedoids

PEER = "kmedoids"
SEEDS = range(20)
# Two local optima of one table may be this far apart.
APART = 0.03


def tables() -> dict[str, np.ndarray]:
    """Return five tables of rows."""
    rng = np.random.default_rng(0)
    return {
        "blobs": make_blobs(1000, n_features=5, centers=15, random_state=0)[0],
        "cancer": StandardScaler().fit_transform(load_breast_cancer().data),
        "diabetes": load_diabetes().data,
        "digits": load_digits().data,
        "uniform": rng.random((1000, 2)),
    }


def ours(
    X: np.ndarray, n_clusters: int, seed: int, init: str, n_init: int = 3
) -> float:
    """Return the sum of distances that KMedoids finds."""
    model = KMedoids(n_clusters=n_clusters, init=init, n_init=n_init, random_state=seed)
    return model.fit(X).inertia_


def theirs(X: np.ndarray, n_clusters: int, seed: int) -> float:
    """Return the sum of distances that the peer finds, from its own random start."""
    from kmedoids import fasterpam

    distances = pairwise_distances(X)
    return fasterpam(distances, n_clusters, random_state=seed, n_cpu=1).loss


def above(found: float, expected: float) -> float:
    """Return by which share a sum is above another."""
    return max(found / expected - 1, 0.0)


def compare_sums(name: str, *, init: str, n_clusters: int) -> Result:
    """Compare sums of distances on five tables, from many seeds each."""
    try:
        ratios = [
            ours(X, n_clusters, seed, init) / theirs(X, n_clusters, seed)
            for X in tables().values()
            for seed in SEEDS
        ]
    except ImportError as error:
        return Result(name, PEER, *"-----", "peer missing", str(error))
    mean = np.mean(ratios)
    return Result(
        name,
        f"{PEER} {version(PEER)}",
        f"{mean:.5f}",
        "1",
        spread(ratios, ".4f") + " x",
        "<= 1",
        "-",
        "ok" if mean <= 1 else "DISAGREES",
    )


def timed(
    name: str, *, X: np.ndarray, n_clusters: int, init: str, n_init: int, **run: Any
) -> Result:
    """Time both on one table."""
    pair = Pair(
        name,
        lambda: ours(X, n_clusters, 0, init, n_init),
        lambda: theirs(X, n_clusters, 0),
        PEER,
        agreement=above,
        tolerance=APART,
        target_ratio=None if len(X) < 2000 else 1 / n_init,
    )
    return run_pair(pair, **run)


def memory(name: str, *, X: np.ndarray, n_clusters: int) -> Result:
    """Compare the peaks of memory on one table."""
    mine = peak_memory(lambda: ours(X, n_clusters, 0, "build", 1)) / 2**20
    try:
        other = peak_memory(lambda: theirs(X, n_clusters, 0)) / 2**20
    except ImportError as error:
        return Result(name, PEER, *"-----", "peer missing", str(error))
    return Result(
        name,
        f"{PEER} {version(PEER)}",
        f"{mine:.1f} MiB",
        f"{other:.1f} MiB",
        f"{mine / other:.3f} x",
        "<= 0.1",
        "-",
        "ok" if mine <= other / 10 or len(X) < 10_000 else "above target",
    )


def cases(*, quick: bool, **run: Any) -> dict[str, Case]:
    """Return all cases by name."""
    n_rows = 300 if quick else 2000
    found: dict[str, Case] = {
        f"sum of distances, {init}": partial(compare_sums, init=init, n_clusters=10)
        for init in ("build", "random")
    }
    for n_features, n_clusters in ((2, 10), (10, 10), (10, 30), (64, 10)):
        X = np.random.default_rng(0).normal(size=(n_rows, n_features))
        for init in ("build", "random"):
            name = f"{n_rows} x {n_features}, k={n_clusters}, {init}"
            work = {"X": X, "n_clusters": n_clusters, "init": init}
            found[name] = partial(timed, n_init=3, **work, **run)
    small, large = (
        np.random.default_rng(0).normal(size=(n, 10)) for n in (n_rows, 5 * n_rows)
    )
    for n_clusters in (10, 50):
        for X in (small, large):
            work = {"X": X, "n_clusters": n_clusters}
            name = f"{len(X)} x 10, k={n_clusters}, one start"
            found[name] = partial(timed, init="build", n_init=1, **work, **run)
        found[f"memory, {len(large)} rows, k={n_clusters}"] = partial(memory, **work)
        found[f"{len(large)} rows, k={n_clusters}"] = partial(
            own_ratio,
            against="a fifth of the rows",
            first=partial(ours, large, n_clusters, 0, "build", 1),
            second=partial(ours, small, n_clusters, 0, "build", 1),
            at_most=5**2.1,
            **run,
        )
    return found


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    sys.exit(run_chosen(partial(cases, quick=options.quick), options))
