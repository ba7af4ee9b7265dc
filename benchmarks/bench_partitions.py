"""Rows in partitions against the same rows in memory: time, memory, agreement.

A folder of Parquet files (float32) is written once. Each work runs in a process of its
own, once from the whole table in memory and once from batches, both from the files on;
rows per second of processor time and the peak of the memory are the process's. All
libraries have one thread. `exponent`: of the processor time of batches, from the
smallest number of rows to the largest. `dask`: wall time of two workers in processes,
against one, the shortest of three runs each; in a further run, one of two is killed.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pyarrow
from pair import largest_memory
from pyarrow import dataset, parquet
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.additive import GAMRegressor
from sklearn_interpret.effects import AccumulatedLocalEffects, PartialDependence
from sklearn_interpret.linear import CoefficientInference
from sklearn_interpret.partitions import RowBatches
from sklearn_interpret.shapley import TreeSHAP

FEATURES = [f"x{j}" for j in range(30)]
ROWS_OF_FILE = 250_000
TOLERANCE, MOST_BYTES, LEAST_RATE, MOST_EXPONENT = 1e-12, 1.5e9, 0.9, 1.05
MOST_WALL = 0.65


def write(folder: Path, n_rows: int) -> None:
    """Write tables of a response with effects, interactions and noise."""
    for part in range(-(-n_rows // ROWS_OF_FILE)):
        rng = np.random.default_rng(part)
        X = rng.normal(size=(ROWS_OF_FILE, 30)).astype(np.float32)
        X[:, 5] = X[:, 5].round(1)
        y = (
            np.sin(X[:, 0])
            + X[:, 1] * X[:, 2]
            + 0.5 * X[:, 3]
            + rng.normal(size=len(X))
        )
        columns = [*X.T, y.astype(np.float32)]
        table = pyarrow.table(dict(zip([*FEATURES, "y"], columns, strict=True)))
        parquet.write_table(table, folder / f"{part:03}.parquet", row_group_size=2**17)


def models(folder: Path) -> None:
    """Fit the models of some rows, and keep them."""
    frame = parquet.read_table(folder / "000.parquet").to_pandas()[:100_000]
    for name, model in (
        ("trees", HistGradientBoostingRegressor(max_iter=50, random_state=0)),
        ("line", LinearRegression()),
    ):
        joblib.dump(model.fit(frame[FEATURES], frame["y"]), folder / f"{name}.joblib")


def work(name: str, folder: Path) -> object:
    """Return the unfitted estimator of a work."""
    if name == "gam":
        return GAMRegressor(terms=FEATURES[:5])
    kind = "line" if name == "ols" else "trees"
    model = FrozenEstimator(joblib.load(folder / f"{kind}.joblib"))
    return {
        "pd": lambda: PartialDependence(model, features=["x0", "x1", "x5"]),
        "ale": lambda: AccumulatedLocalEffects(model),
        "shap": lambda: TreeSHAP(model, perturbation="path_dependent"),
        "ols": lambda: CoefficientInference(model),
    }[name]()


WORKS = "pd", "ale", "shap", "gam", "ols"


def result(name: str, fitted: object) -> list[np.ndarray]:
    """Return the numbers of a fitted work."""
    names = {
        "pd": "average_",
        "ale": "effects_",
        "shap": "feature_importances_",
        "gam": "coef_",
        "ols": "standard_errors_",
    }
    found = getattr(fitted, names[name])
    return [
        np.asarray(part) for part in (found if isinstance(found, list) else [found])
    ]


def files(folder: Path, n_rows: int) -> list[str]:
    """Return the files of the first rows."""
    return [str(path) for path in sorted(folder.glob("*.parquet"))][
        : n_rows // ROWS_OF_FILE
    ]


def measure(name: str, folder: Path, n_rows: int, how: str) -> None:
    """Do a work in this process, and print what it took."""
    estimator, names = work(name, folder), files(folder, n_rows)
    needs_y = name in ("gam", "ols")
    started = time.process_time()
    warnings.simplefilter("ignore")  # the line was fitted to some of the rows
    if how == "memory":
        frame = dataset.dataset(names).to_table().to_pandas(self_destruct=True)
        y = frame.pop("y")
        estimator.fit(frame, y if needs_y else None)
    else:
        estimator.fit(RowBatches(dataset.dataset(names), y="y"))
    found = result(name, estimator)
    took = time.process_time() - started
    json.dump(
        {
            "seconds": took,
            "peak": largest_memory(),
            "found": [f.tolist() for f in found],
        },
        sys.stdout,
    )


def measured(name: str, folder: Path, n_rows: int, how: str) -> dict:
    """Do a work in a new process."""
    command = [
        sys.executable,
        __file__,
        "--measure",
        name,
        str(folder),
        str(n_rows),
        how,
    ]
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    environment = {**os.environ, **threads}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    return json.loads(done.stdout)


def difference(first: dict, second: dict) -> float:
    """Return the largest difference of two results, relative to the largest number."""
    pairs = [
        (np.array(own), np.array(other))
        for own, other in zip(first["found"], second["found"], strict=True)
    ]
    return max(np.abs(a - b).max() / (np.abs(b).max() or 1.0) for a, b in pairs)


def compare(name: str, folder: Path, n_memory: int, sizes: list[int]) -> bool:
    """Print the line of a work; return whether results agree."""
    memory = measured(name, folder, n_memory, "memory")
    batches = {
        n: measured(name, folder, n, "batches") for n in sorted({*sizes, n_memory})
    }
    apart = float(difference(batches[n_memory], memory))
    rate = memory["seconds"] / batches[n_memory]["seconds"]
    first, last = min(batches), max(batches)
    exponent = math.log(batches[last]["seconds"] / batches[first]["seconds"])
    exponent /= math.log(last / first)
    peak = max(found["peak"] for found in batches.values())
    agrees = apart <= TOLERANCE
    line = [
        f"{name:<5} {n_memory} rows in memory {memory['seconds']:.1f} s",
        f"{memory['peak'] / 1e6:.0f} MB",
        f"in batches {batches[n_memory]['seconds']:.1f} s",
        f"rate {rate:.2f}" + " (slow)" * (rate < LEAST_RATE),
        f"{last} rows {batches[last]['seconds']:.1f} s",
        f"peak {peak / 1e6:.0f} MB" + " (large)" * (peak > MOST_BYTES),
        f"exponent {exponent:.3f}" + " (steep)" * (exponent > MOST_EXPONENT),
        f"difference {apart:.1e} {'agrees' if agrees else 'DISAGREES'}",
    ]
    print(*line, sep=", ", flush=True)
    return agrees


def with_dask(folder: Path, n_rows: int) -> bool:
    """Print wall times of one worker and of two; return whether all results agree.

    Workers keep freed memory, as the user guide tells.
    """
    from dask import config, dataframe
    from distributed import Client, LocalCluster

    found: dict[str, list[tuple[float, dict[str, list[object]]]]] = {}
    variable = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
    runs = [("one", 1, 0), ("two", 2, 0)] * 3 + [("killed", 2, 1)]
    for label, n_workers, killed in runs:
        with (
            config.set({variable: None}),
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            Client(cluster) as client,
        ):
            table = dataframe.read_parquet(files(folder, n_rows))
            client.run(work, "ale", folder)  # imports
            started = time.perf_counter()
            if killed:
                kill_later(client)
            fitted = work("ale", folder).fit(table[FEATURES])
            took = time.perf_counter() - started
            numbers = {"found": [f.tolist() for f in result("ale", fitted)]}
            found.setdefault(label, []).append((took, numbers))
    one, two, killed = (min(took for took, _ in each) for each in found.values())
    expected = found["one"][0][1]
    apart = max(
        difference(numbers, expected) for each in found.values() for _, numbers in each
    )
    line = [
        f"dask  {n_rows} rows: one worker {one:.1f} s, two {two:.1f} s",
        f"ratio {two / one:.2f}" + " (slow)" * (two / one > MOST_WALL),
        f"one of two killed {killed:.1f} s",
        f"difference {apart:.1e} {'agrees' if apart == 0 else 'DISAGREES'}",
    ]
    print(*line, sep=", ")
    return apart == 0


def kill_later(client: object) -> None:
    """Kill a worker's process while it works."""
    import signal
    import threading

    pid = next(iter(client.run(os.getpid).values()))
    threading.Timer(3.0, os.kill, (pid, signal.SIGKILL)).start()


def main() -> int:
    """Run the works that the options choose; return the exit status."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--only", nargs="+", default=[*WORKS, "dask"])
    options.add_argument("--quick", action="store_true", help="up to 1 million rows")
    options.add_argument("--folder", help="where files are, or will be")
    options.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        name, folder, n_rows, how = given.measure
        measure(name, Path(folder), int(n_rows), how)
        return 0
    n_memory, sizes = (
        (500_000, [1_000_000]) if given.quick else (2_000_000, [1_000_000, 20_000_000])
    )
    folder = Path(given.folder or tempfile.mkdtemp())
    if not (folder / "line.joblib").exists():
        folder.mkdir(exist_ok=True)
        write(folder, max(sizes))
        models(folder)
    agree = [
        with_dask(folder, n_memory)
        if name == "dask"
        else compare(name, folder, n_memory, sizes)
        for name in given.only
    ]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
