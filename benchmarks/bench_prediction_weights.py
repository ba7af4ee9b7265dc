"""Weights of training targets: sums against predictions, time, and quantile-forest.

`sums-...` are the differences of weighted sums and predictions, relative to the
predictions. `time-...` is the time of the weights of 1000 rows in a model of 10 000, in
seconds of ours. Conditional means of quantile-forest, with its weighted leaves, are
weighted sums too.
"""

import sys
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
from command_line import parser, run_chosen
from pair import Case, Result, duration, paired_seconds, spread
from sklearn.base import RegressorMixin
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from sklearn_interpret.influence import PredictionWeights

MODELS: dict[str, RegressorMixin] = {
    "forest": RandomForestRegressor(100, random_state=0),
    "extra": ExtraTreesRegressor(100, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=100, max_depth=4),
    "histogram": HistGradientBoostingRegressor(max_iter=100, max_depth=4),
    "neighbors": KNeighborsRegressor(),
    "ridge": Ridge(),
    "kernel": KernelRidge(kernel="rbf", gamma=0.1),
}
# Histogram boosting has gradients of single precision.
TOLERANCES = {"histogram": 1e-6}
# Seconds of the weights of 1000 rows.
TARGETS = {"forest": 2.0, "boosting": 5.0}


@cache
def fitted(name: str, n_rows: int) -> tuple[PredictionWeights, np.ndarray]:
    """Return the weights of a model, and a thousand rows, or as many as it has."""
    X, y = make_friedman1(n_rows + min(n_rows, 1000), random_state=0)
    model = MODELS[name].fit(X[:n_rows], y[:n_rows])
    inspector = PredictionWeights(FrozenEstimator(model)).fit(X[:n_rows], y[:n_rows])
    return inspector, X[n_rows:]


def sums(name: str, *, model: str, n_rows: int) -> Result:
    """Compare weighted sums with predictions."""
    inspector, X = fitted(model, n_rows)
    explanation = inspector.explain(X)
    size = np.abs(explanation.predictions).max()
    error = float(np.abs(explanation.additivity_error()).max() / size)
    tolerance = TOLERANCES.get(model, 1e-12)
    return Result(
        name,
        "the model's predictions",
        *"---",
        f"<= {tolerance:g}",
        f"{error:.1e}",
        "ok" if error <= tolerance else "DISAGREES",
    )


def seconds(
    name: str, *, model: str, n_rows: int, clock: Callable[[], float]
) -> Result:
    """Measure the time of the weights of a thousand rows, the least of three."""
    inspector, X = fitted(model, n_rows)
    times = []
    for _ in range(3):
        start = clock()
        inspector.transform(X)
        times.append(clock() - start)
    target = TARGETS[model] if n_rows == 10_000 else None
    reached = target is None or min(times) <= target
    return Result(
        name,
        "-",
        duration(min(times)),
        *"--",
        "-" if target is None else f"<= {target:g} s",
        "-",
        "ok" if reached else "above target",
    )


def against_quantile_forest(name: str, *, n_rows: int, timing: Any) -> Result:
    """Compare conditional means, and the times of quantiles."""
    inspector, X = fitted("forest", n_rows)
    shares = [0.05, 0.5, 0.95]
    try:
        from quantile_forest import RandomForestQuantileRegressor
    except ImportError as error:
        note = f"{type(error).__name__}: {error}"
        return Result(name, "quantile-forest", *"-----", "peer missing", note)
    table, targets = make_friedman1(n_rows + min(n_rows, 1000), random_state=0)
    forest = RandomForestQuantileRegressor(
        100, random_state=0, max_samples_leaf=None
    ).fit(table[:n_rows], targets[:n_rows])
    params = {"weighted_leaves": True, "weighted_quantile": True}
    theirs = forest.predict(X, quantiles="mean", **params)
    means = inspector.transform(X) @ targets[:n_rows]
    difference = float(np.abs(means - theirs).max())
    times = paired_seconds(
        lambda: inspector.predict_quantiles(X, shares),
        lambda: forest.predict(X, quantiles=shares, **params),
        **timing,
    )
    return Result(
        name,
        f"quantile-forest {version('quantile-forest')}",
        *map(duration, np.median(times, axis=0)),
        spread(times[:, 1] / times[:, 0], ".2f") + " x",
        "-",
        f"{difference:.1e}",
        "ok" if difference <= 1e-10 * np.abs(targets).max() else "DISAGREES",
        "the same forest; differences are those of means",
    )


def cases(n_rows: int, **timing: Any) -> dict[str, Case]:
    """Return the measurements by name."""
    timed = {"n_rows": n_rows, "clock": timing["clock"]}
    return {
        **{f"sums-{name}": partial(sums, model=name, n_rows=500) for name in MODELS},
        **{f"time-{name}": partial(seconds, model=name, **timed) for name in TARGETS},
        "quantiles": partial(
            against_quantile_forest, n_rows=n_rows // 5, timing=timing
        ),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen cases; returns 1 when results disagree, else 0."""
    chosen = parser(__doc__).parse_args(arguments)
    return run_chosen(partial(cases, 500 if chosen.quick else 10_000), chosen)


if __name__ == "__main__":
    sys.exit(main())
